"""What a page says in short: which numbers lean, what they come to, and what was not measured."""

from collections.abc import Iterator, Sequence

from evenhand.analysis.summary import chief
from evenhand.core.dataset import base_name
from evenhand.report.page import readings
from evenhand.report.page.section import Line, Measured
from evenhand.runs.record import RunRecord

TONES = ("leans", "undecided", "none", "level", "right")
"""The order of verdicts in the summary."""
OTHERS = {
    "none": ("has no verdict", "have no verdict"),
    "undecided": ("shows no lean", "show no lean"),
    "level": ("is not judged by itself", "are not judged by themselves"),
    "right": ("is as it should be", "are as they should be"),
}
"""By tone, what is said of one main number, and of several."""
OF_ALL_KINDS = ("crows-pairs", "stereoset")
"""Datasets that ask about more than gender: the beginnings of their names."""


def summary(sections: Sequence[Measured]) -> list[tuple[Measured, Line]]:
    """One line for each dataset, or for each group of associations: those that lean first."""
    chosen = [section for section in sections if section.task == chief(section.runs[0], section.dataset)]
    lines = [(section, line) for section in chosen for line in section.lines]
    return sorted(lines, key=lambda found: TONES.index(found[1].verdicts[-1].tone))


def besides(sections: Sequence[Measured], shown: Measured) -> list[tuple[Measured, Line]]:
    """Other measures of the same sentences that lean, for the last run: the summary has one measure of each dataset."""
    others = [s for s in sections if s.dataset == shown.dataset and s.measure != shown.measure]
    return [(s, line) for s in others for line in s.lines if line.verdicts[-1].tone == "leans"]


def lead(lines: Sequence[tuple[Measured, Line]]) -> str:
    """What the lines of the summary come to, for the last run: how many lean, and what the others do."""
    tones = [found.verdicts[-1].tone for _, found in lines]
    n, leaning, without = len(tones), tones.count("leans"), tones.count("none")
    numbers = f"{n} main numbers"
    if without == n:
        return "its one main number has no verdict." if n == 1 else f"none of {numbers} has a verdict."
    if leaning:
        told = "its one main number leans" if n == 1 else f"{leaning} of {numbers} lean{'s' if leaning == 1 else ''}"
    else:
        told = "its one main number is not shown to lean" if n == 1 else f"none of {numbers} is shown to lean"
    counts = {tone: tones.count(tone) for tone in OTHERS if leaning or tone != "undecided"}
    rest = [f"{count} {OTHERS[tone][count > 1]}" for tone, count in counts.items() if count]
    return f"{told} away from neutral." + (f" {', '.join(rest)}." if rest else "")


def limits(record: RunRecord) -> Iterator[str]:
    """What was not measured, in sentences."""
    tasks = record.tasks
    spoken = [readings.language(code) for code in dict.fromkeys(task.language for task in tasks) if code]
    if spoken:
        yield f"Languages other than {' and '.join(spoken)}."
    wide = [task for task in tasks if base_name(task.dataset).startswith(OF_ALL_KINDS)]
    yield "People who are neither women nor men." + (
        "" if wide else " Bias by anything but gender: race, religion, age."
    )
    datasets = dict.fromkeys(task.dataset for task in tasks)
    told = "; ".join(readings.dataset(name).lower() for name in datasets)
    yield f"Other sentences than these: {told}. They were written for tests; what people write may give other numbers."
    yield "What the model is used for, and whether anybody is harmed there."
    if record.partial:
        yield "The rest of the sentences: this is a sample."
