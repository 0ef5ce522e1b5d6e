import gc
import logging
import os
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"  # before anything imports the Hub's client: tests never look for a network

import pytest
from hypothesis import settings

from evenhand.core.dataset import Dataset
from evenhand.models.networks.masked import MaskedLM
from helpers import durations

# How long an example takes is no result. Each run draws other examples, so that few are enough; `make fuzz` tries more.
EXAMPLES = 100 if "EVENHAND_FUZZ" in os.environ else 30
settings.register_profile("evenhand", deadline=None, max_examples=EXAMPLES)
settings.load_profile("evenhand")

TESTS = Path(__file__).parent


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of `make proof` and of `make durations`."""
    parser.addoption("--proof", action="store_true", help="also run what proves at length what shorter tests claim")
    parser.addoption("--store-durations", action="store_true", help="store how long each file takes")


def pytest_configure(config: pytest.Config) -> None:
    """Measure the files, if asked to."""
    if config.option.store_durations:
        config.pluginmanager.register(durations.Clock())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What a test asks for decides its markers: none can forget them."""
    seconds = durations.stored()
    # What takes longest comes first, so that no process waits for another at the end.
    items.sort(key=lambda item: -seconds.get(item.path.relative_to(TESTS).as_posix(), durations.LONGEST))
    for item in items:
        if "proof" in item.keywords and not config.option.proof:
            item.add_marker(pytest.mark.skip(reason="proves at length what a shorter test claims: make proof"))
        asked = set(getattr(item, "fixturenames", ()))
        if asked & {"data", "models"}:
            item.add_marker("data")
        for marker in {"browser", "hosts"} & asked:
            item.add_marker(marker)


@pytest.fixture(scope="session")
def data() -> Path:
    """The released corpora; tests that ask for them skip where they are not."""
    return _folder("EVENHAND_DATA", "the released corpora")


@pytest.fixture(scope="session")
def models() -> Path:
    """Test models that are not bundled; tests that ask for them skip where they are not."""
    return _folder("EVENHAND_MODELS", "the test models")


@pytest.fixture(scope="session")
def hosts() -> None:
    """The programs that evenhand works with; tests that ask for them skip unless `make hosts` runs them."""
    if not os.environ.get("EVENHAND_HOSTS"):
        pytest.skip("make hosts installs llama.cpp's server with a model, lm-eval and inspect, and runs this")


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for released corpora: tests find those alone that they put there."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("EVENHAND_DATA", str(folder))
    monkeypatch.setattr("evenhand.datasets.files.releases.cache", lambda: tmp_path / "nothing fetched")
    return folder


def _folder(variable: str, what: str) -> Path:
    folder = os.environ.get(variable)
    if not folder or not Path(folder).is_dir():
        pytest.skip(f"{variable} does not point to {what}")
    return Path(folder)


@pytest.fixture(scope="session")
def mini_en() -> MaskedLM:
    from evenhand.models import load_masked

    return load_masked()


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run folders of tests/stored, each by its name; what a test writes into one, no other file of tests sees."""
    from helpers.stored_runs import RECIPES, unpack

    folder = tmp_path_factory.mktemp("stored")
    for name in RECIPES:
        unpack(name, folder)
    return folder


@pytest.fixture(autouse=True, scope="session")
def built_once() -> Iterator[None]:
    """Bundled datasets, which nothing changes, are built once in each process: that takes longer than most audits."""
    from evenhand.datasets import BUILDERS

    with pytest.MonkeyPatch.context() as patch:
        for name in (
            "becpro-de",
            "becpro-en",
            "emotions-en",
            "nli-en",
            "nli-ja",
            "nli-zh",
            "tbd",
            "tbd-gendered",
            "tgb",
        ):
            patch.setitem(BUILDERS, name, _remembered(BUILDERS[name]))
        yield


@pytest.fixture(autouse=True)
def nothing_frozen() -> Iterator[None]:
    """A command freezes all objects at its end. As long as they are, each answer counts them: a fifth of a second."""
    yield
    if gc.get_freeze_count():
        gc.unfreeze()


def _remembered(builder: Callable[..., Dataset]) -> Callable[..., Dataset]:
    known: dict[str, Dataset] = {}

    @wraps(builder)
    def build(**options: Any) -> Dataset:
        key = repr(sorted(options.items()))
        if key not in known:
            known[key] = builder(**options)
        return known[key]

    return build


@pytest.fixture(scope="module")
def unexamined() -> Iterator[None]:
    """Audits do not ask the doctor first: of tiny models that takes longer. For test files that look at no finding."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evenhand.auditing.measuring.preflight", lambda *_: ())
        yield


@pytest.fixture(scope="module")
def few_draws() -> Iterator[None]:
    """Bootstraps and tests are quick. For test files in which nothing depends on how many draws they are of."""
    from helpers.simulated import fewer_draws

    with fewer_draws():
        yield


@pytest.fixture(scope="module")
def without_pages() -> Iterator[Any]:
    """Audits write no page: drawing one takes seconds. For test files that measure much and look at no page."""
    from evenhand.cli import terminal
    from evenhand.show.page import runs as page

    with pytest.MonkeyPatch.context() as patch:
        real = page.write, terminal.check_pages
        patch.setattr(page, "write", lambda runs, path: None)
        patch.setattr(terminal, "check_pages", lambda folders: None)
        yield real


@pytest.fixture
def pages(without_pages: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a test among those: audits write their pages."""
    monkeypatch.setattr("evenhand.show.page.runs.write", without_pages[0])
    monkeypatch.setattr("evenhand.cli.terminal.check_pages", without_pages[1])


@pytest.fixture
def log_as_before() -> Iterator[None]:
    """What a command said of logging (--verbose, --log-file) ends with the test."""
    log = logging.getLogger("evenhand")
    yield
    for handler in log.handlers[:]:
        if isinstance(handler, logging.FileHandler):
            log.removeHandler(handler)
            handler.close()
    for handler in log.handlers:
        handler.setLevel(logging.NOTSET)
    log.setLevel(logging.INFO)
