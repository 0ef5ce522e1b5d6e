"""Time and memory of large inputs: pairs in an audit, items on a page and in a comparison, megabytes of a corpus.

    python -m benchmarks.scale

writes a table into docs/performance.md; seconds are those on a processor, whatever else the machine does. Each number
comes from a process of its own, with a model that answers by a formula, so that what is measured is everything around a
model. Half of the largest input is measured, too: twice as much should take about twice the time and no more than twice
the memory.
"""

import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import evenhand
from evenhand import Run, Table
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.core.questions import Question
from evenhand.show.page import runs as page

WORDS = ("nurse", "engineer", "teacher", "driver", "lawyer", "cook", "pilot", "baker")
PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
BEGIN, END = "<!-- scale: begin -->", "<!-- scale: end -->"
SIZES = {"audit": 200_000, "page": 100_000, "compare": 100_000, "corpus": 100}
UNITS = {"audit": "pairs", "page": "items", "compare": "items", "corpus": "MB"}


def rule(question: Question) -> list[float]:
    """A log-probability that depends on the text alone."""
    return [-(crc32(repr(question).encode()) % 10_000) / 500 - 1]


def audited(folder: Path, pairs: int, name: str = "formula") -> Run:
    """A run on that many pairs."""
    file = folder / "pairs.csv"
    rows = (f"The {WORDS[n % 8]} {n} said he slept.,The {WORDS[n % 8]} {n} said she slept.\n" for n in range(pairs))
    file.write_text("stereotype,counterpart\n" + "".join(rows))
    table = Table(rule, name, fingerprint=f"{name:f<32}")
    return evenhand.audit(table, pairs=str(file), out=folder / "runs", progress=False)


def corpus(folder: Path, megabytes: int) -> Path:
    """A text of that size, of sentences about women and men."""
    rng, file = random.Random(0), folder / "corpus.txt"
    with file.open("w") as out:
        while out.tell() < megabytes * 1_000_000:
            for _ in range(1_000):
                who = rng.choice(("He", "She", "They", "My sister", "Her brother"))
                out.write(f"{who} met the {rng.choice(WORDS)} {rng.randrange(1000)} times. It rained.\n\n")
    return file


def prepared(what: str, size: int, folder: Path) -> Callable[[], object]:
    """What is to be measured; what it needs is made before."""
    if what == "audit":
        return lambda: audited(folder, size)
    if what == "page":
        run = audited(folder, size)
        return lambda: page.write([run], folder / "page.html")
    if what == "compare":
        before, after = audited(folder, size), audited(folder, size, "other")
        return lambda: str(evenhand.compare(before, after))
    file = corpus(folder, size)
    return lambda: run_command(app, ["corpus", str(file), "--out", str(folder / "counted")])


def measure(what: str, size: int) -> dict[str, float]:
    """The processor's seconds, and the largest memory of the process in MB."""
    with tempfile.TemporaryDirectory() as folder:
        work, start = prepared(what, size, Path(folder)), time.process_time()
        work()
        seconds = time.process_time() - start
    return {"seconds": seconds, "megabytes": peak_memory()}


def peak_memory() -> float:
    """The largest memory of this process so far, in MB.

    By VmHWM where it exists: ru_maxrss of a new process begins with what its parent had.
    """
    status = Path("/proc/self/status")
    if status.exists() and (peak := re.search(r"VmHWM:\s+(\d+) kB", status.read_text(encoding="ascii"))):
        return int(peak[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)


def main() -> None:
    """Measure everything at half its size and at the whole, print the table, and write it into the page."""
    lines = ["| what | half: seconds | MB | whole: seconds | MB |", "|---|--:|--:|--:|--:|"]
    for what, whole in SIZES.items():
        cells = []
        for size in (whole // 2, whole):
            asked = [sys.executable, "-m", "benchmarks.scale", what, str(size)]
            done = subprocess.run(asked, stdout=subprocess.PIPE, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
            found = json.loads(done.stdout.splitlines()[-1])
            cells += [f"{found['seconds']:.0f}", f"{found['megabytes']:,.0f}"]
        lines.append(f"| {what}, {whole:,} {UNITS[what]} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    table = "\n".join((BEGIN, *lines, END))
    PAGE.write_text(re.sub(f"{BEGIN}.*{END}", lambda _: table, PAGE.read_text(encoding="utf-8"), flags=re.S))


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
    else:
        main()
