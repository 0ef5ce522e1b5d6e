"""Commands that are killed at a random moment, and run again: what they leave, beside that of a command never killed.

A command runs in a copy of this process, which has everything imported already: so a kill meets its work, not its
imports. Nothing else may happen in this process: threads and locks do not survive a fork.
"""

import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import altair  # noqa: F401 - this and the others, so that no copy of this process has to
import peft  # noqa: F401
import pyarrow.parquet  # noqa: F401
import transformers.models.roberta.modeling_roberta  # noqa: F401

import evenhand.calls.debias  # noqa: F401
from evenhand import Run
from evenhand.cli.app import app
from evenhand.cli.terminal import run
from evenhand.errors import EvenhandError
from helpers import tiny
from helpers.audited_runs import pairs
from helpers.kills import leftovers, results

TEXTS = "".join(f"He told her that his {i} hats were old. She is a nurse, and Mary knew.\n\n" for i in range(12))
OWN = "notes.md"
"""A file that is none of evenhand's, in every folder that is written to."""
DERIVED = ("report.html", "gate.json")
"""Made of a run's results, and removed before these are replaced."""


@dataclass(frozen=True)
class Case:
    """A command, what a user had before in the folder that it runs in, and what it may leave half done."""

    command: str
    had: tuple[str, ...] = ()
    """Commands that were run there before."""
    resumed: tuple[str, ...] = ()
    """Beginnings of paths that are finished when the command is run again: nothing reads them before."""

    @property
    def name(self) -> str:
        """The name of the command."""
        return self.command.split()[0]


AUDIT = "audit models/one --pairs pairs.csv --out runs --measure"
TRACK = "track models/one models/two --pairs pairs.csv --measure likelihood-lean --out runs"
CASES = (
    Case(f"{AUDIT} stereotype-share --gate policy.toml", (f"{AUDIT} likelihood-lean",)),
    Case(
        "debias models/one --corpus texts.txt --suite emotions --limit 2 --out less",
        resumed=("less/model/", "less/before/", "less/after/", "less/debias.json"),
    ),
    Case(
        "swap texts.txt --out swapped.txt --trail --force", ("swap texts.txt --out swapped.txt --to neutral --trail",)
    ),
    Case("corpus texts.txt others.txt --out counted --force", ("corpus texts.txt --out counted",)),
    Case(TRACK, (f"{TRACK} --limit 6",)),
    Case(
        "reproduce barza2023 --part learning-curve --model models/one --corpus texts.txt --size 4 --size 8 --limit 4"
        " --out again",
        resumed=("again/",),
    ),
    Case(
        "import scores.csv --dataset pairs --option file=pairs.csv --name one --out runs --fresh --yes",
        (f"{AUDIT} likelihood-lean",),
    ),
)


class Different(Exception):
    """What a killed command did that it must not do."""


@dataclass(frozen=True)
class Whole:
    """A folder before a command, what the command leaves there, and the seconds that it took."""

    folder: Path
    before: dict[str, Any]
    after: dict[str, Any]
    seconds: float


def make_inputs(folder: Path) -> int:
    """Fill a folder with models and files for all the commands; an exit code."""
    tiny.save("roberta", folder / "models" / "one")
    tiny.save("roberta", folder / "models" / "two", layer_norm_eps=0.5)
    file = pairs(folder, 12)
    rows = [line.split(",")[:2] for line in file.read_text().splitlines()[1:]]
    made = "".join(f"{one},{other},-{20 + i},-21\n" for i, (one, other) in enumerate(rows))
    (folder / "scores.csv").write_text("text,other,stereotype,counterpart\n" + made)
    (folder / "texts.txt").write_text(TEXTS)
    (folder / "others.txt").write_text(TEXTS.replace("He", "She").replace("nurse", "cook"))
    (folder / "policy.toml").write_text('[[rule]]\nmeasure = "stereotype-share"\nwithin = 0.49\n')
    for name in ("runs", "less", "counted", "again", ""):
        (folder / name).mkdir(exist_ok=True)
        (folder / name / OWN).write_text("What I must not lose.\n")
    return 0


def in_copy(work: Callable[[], int], folder: Path, said: Path, kill_after: float | None = None) -> int:
    """Do the work in a copy of this process, in that folder; its exit code, minus the signal's number if it was killed.

    What it prints goes to the file `said`.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    if (child := os.fork()) == 0:
        code = 70
        try:
            os.chdir(folder)
            with said.open("wb") as file:
                os.dup2(file.fileno(), 1)
                os.dup2(file.fileno(), 2)
            code = work()
            sys.stdout.flush()
        finally:
            os._exit(code)  # whatever is raised: the copy must not go on with what this process does
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def command(line: str, folder: Path, kill_after: float | None = None) -> None:
    """Run a command in a folder to its end, or kill it; an error if it fails by itself."""
    said = folder.with_suffix(".said")
    code = in_copy(lambda: run(app, line.split()), folder, said, kill_after)
    if code not in (0, 1, 3) and (kill_after is None or code != -signal.SIGKILL):  # 1 and 3 are a gate's verdicts
        raise Different(f"`evenhand {line}` ended with {code}:\n{said.read_text(errors='replace')[-2000:]}")


def run_whole(case: Case, inputs: Path, work: Path) -> Whole:
    """Run the command once, without a kill."""
    before, after = work / "before", work / "whole"
    shutil.copytree(inputs, before)
    for line in case.had:
        command(line, before)
    shutil.copytree(before, after)
    start = time.monotonic()
    command(case.command, after)
    seconds = time.monotonic() - start
    return Whole(before, results(before), results(after), seconds)


def check_killed(case: Case, whole: Whole, folder: Path, kill_after: float) -> None:
    """Kill the command after so many seconds and run it again; `Different` if it lost or left something."""
    shutil.copytree(whole.folder, folder)
    command(case.command, folder, kill_after)
    check_kept(case, whole, shutil.copytree(folder, folder.with_name("looked-at")))
    command(case.command, folder)
    found = results(folder)
    if changed := [name for name in sorted({*found, *whole.after}) if found.get(name) != whole.after.get(name)]:
        raise Different(
            f"Run again, it leaves something else than a whole run: {_shown(changed[0], found, whole.after)}"
        )
    if left := leftovers(folder):
        raise Different(f"Run again, it leaves {', '.join(left)}.")


def check_kept(case: Case, whole: Whole, folder: Path) -> None:
    """Raise `Different` if a kill lost what was there, or left something half written; opens runs, so give a copy."""
    for path in sorted(folder.rglob("run.json")):
        if "/." not in f"/{path.relative_to(folder)}":
            Run.load(path.parent)  # its files are those of its record, once they are moved
    found = results(folder)
    hidden = {name for name in found if "/." in f"/{name}" or name.endswith("-journal")}
    for name in sorted({*found, *whole.before} - hidden):
        ends: tuple[Any, Any] = (whole.before.get(name), whole.after.get(name))
        good = found.get(name) in ends or name.strip("/").startswith(case.resumed)
        if name.endswith((" answers", " batches")):  # they are kept as they come, and batches for a while
            good = good or name.endswith(" batches") or all(row in (ends[1] or ends[0]) for row in found[name])
        if name not in found and Path(name).name in DERIVED:
            good = True
        if not good:
            raise Different(f"Killed, it leaves neither what was there nor a whole file: {name}")


def check(case: Case, inputs: Path, work: Path, times: int, seed: int) -> tuple[int, str]:
    """How many of so many kills changed nothing, and what the first other one did."""
    same, first = 0, ""
    whole = run_whole(case, inputs, work)
    for number in range(times):
        after = random.Random(f"{seed} {case.name} {number}").uniform(0, whole.seconds)
        folder = work / str(number)
        folder.mkdir(parents=True)
        try:
            check_killed(case, whole, folder / "killed", after)
        except (Different, EvenhandError) as error:  # such as a run that cannot be read
            first = first or f"{case.name}, killed after {after:.3f} of {whole.seconds:.3f} seconds: {error}"
            continue
        same += 1
        shutil.rmtree(folder)
    return same, first


def _shown(name: str, found: dict[str, Any], expected: dict[str, Any]) -> str:
    return f"{name}\n{str(found.get(name))[:1000]}\nin place of\n{str(expected.get(name))[:1000]}"
