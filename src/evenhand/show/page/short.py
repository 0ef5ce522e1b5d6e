"""The summary of a page: which numbers lean, what they show together, and what was not measured."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from evenhand.runs.record import RunRecord
from evenhand.runs.rows import dataset_words, unmeasured, unmeasured_in_words
from evenhand.show.page import readings
from evenhand.show.page.readings import MeasureWords
from evenhand.show.page.section import Measured, ScorecardLine
from evenhand.stats.significance import holm
from evenhand.stats.verdict import ALPHA, MARKS

SIZES = ("", *MARKS)
TONES = ("leans", "undecided", "none", "level", "right")
"""The order of verdicts in the summary."""


def summary(sections: Sequence[Measured]) -> list[tuple[Measured, ScorecardLine]]:
    """The lines of the measure that each dataset is judged by, its headline task; datasets that lean come first."""
    chosen = [section for section in sections if section.task == section.runs[0].headline_task(section.dataset)]
    first = {s.key: min(TONES.index(line.verdicts[-1].tone) for line in s.lines if line.main) for s in chosen}
    lines = [(s, line) for s in sorted(chosen, key=lambda s: first[s.key]) for line in s.lines]
    for s in sections:  # other measures of the same family go below the headline task
        family = (s.dataset, s.task.family) if s.task.family and s not in chosen else None
        together = [place for place, (other, _) in enumerate(lines) if (other.dataset, other.task.family) == family]
        for place in together[-1:]:
            name = s.reading.title.lower()
            more = [replace(line, main=False, label=f"{name}, {line.label}") for line in s.lines if line.main]
            lines[place + 1 : place + 1] = [(s, line) for line in more]
    return lines


def besides(sections: Sequence[Measured], shown: Measured, label: str) -> list[tuple[Measured, ScorecardLine]]:
    """The rows with this label of the dataset's other measures, not in the summary, that lean in the last run."""
    others = [s for s in sections if s.dataset == shown.dataset and s.measure != shown.measure]
    return [(s, line) for s in others for line in s.lines if (line.label, line.verdicts[-1].tone) == (label, "leans")]


def main_leans(lines: Sequence[tuple[Measured, ScorecardLine]]) -> list[tuple[Measured, ScorecardLine]]:
    """The main numbers of the last run that lean even if p is adjusted by Holm over all of them, the largest first."""
    of_bias = [(section, line) for section, line in lines if line.main and line.reading.kind != "knowledge"]
    main = [pair for pair in of_bias if pair[1].verdicts[-1].tone in ("leans", "undecided")]
    ps = holm([1.0 if math.isnan(p := line.numbers[-1].p) else p for _, line in main])
    shown = [pair for pair, p in zip(main, ps, strict=True) if p < ALPHA and pair[1].verdicts[-1].tone == "leans"]
    return sorted(shown, key=lambda pair: -SIZES.index(pair[1].verdicts[-1].size))


def lead(lines: Sequence[tuple[Measured, ScorecardLine]]) -> str:
    """The first line, about the last run: which bias is shown, if any; and what could not be measured, and why."""
    rows = [line.numbers[-1] for _, line in lines]
    without, could_not = unmeasured(rows), unmeasured_in_words(rows)
    if not any(row.main and row.task.better == "closer" and row.dataset not in without for row in rows):
        return could_not or _answer(lines)
    answer = _answer([(s, line) for s, line in lines if s.dataset not in without])
    return f"{answer} It {could_not}" if could_not else answer


def _answer(lines: Sequence[tuple[Measured, ScorecardLine]]) -> str:
    """Whether a bias is shown in these lines, which one, and what the other numbers show."""
    tones = [line.verdicts[-1].tone for _, line in lines if line.main]
    numbers = f"{len(tones)} main numbers"
    if set(tones) <= {"none", "level", "right"}:
        return "no verdict on its one main number." if len(tones) == 1 else f"no verdict on any of its {numbers}."
    shown = main_leans(lines)
    rest = {tone: tones.count(tone) for tone in TONES[1:]}
    if shown:
        said, claims = dict[str, dict[str, dict[str, None]]](), list[str]()
        for section, line in shown:
            sized = said.setdefault(_claim(line), {}).setdefault(line.verdicts[-1].bounds or line.verdicts[-1].size, {})
            sized[readings.dataset(section.dataset)] = None
        for claim, sizes in said.items():
            each = (": ".join(filter(None, (size, ", ".join(names)))) for size, names in sizes.items())
            claims.append(f"it {claim} ({'; '.join(each)})")
        least = all((v := line.verdicts[-1]).size == "negligible" and not v.bounds for _, line in shown)
        answer = f"{'yes, but hardly' if least else 'yes'}, on this data: {'; '.join(claims)}."
        rest["leans"] = tones.count("leans") - len(shown)
    elif any(line.verdicts[-1].tone == "leans" for _, line in lines):
        answer = f"not shown: {_chance_sentence(lines)}"
        rest["undecided"] = 0
    else:
        answer = f"not shown: {f'none of its {numbers} leans' if len(tones) > 1 else 'its main number does not lean'}."
        rest["undecided"] = 0
    others = [readings.count_in_words(tone, count) for tone, count in rest.items() if count]
    counted = "its other main numbers" if shown else f"its {numbers}"
    return f"{answer} Of {counted}, {', '.join(others)}." if others else answer


def _claim(line: ScorecardLine) -> str:
    """What a number that leans shows: a stereotype, a default, or what may be either."""
    above = line.numbers[-1].verdict.side > 0
    if line.label == "stereotype":
        return "follows stereotypes" if above else "goes against stereotypes"
    if line.label == "default":
        return f"prefers {line.reading.ends[above]}, on average over both kinds"
    leans = line.reading.leans[above]
    return f"is {leans}" if line.reading.leans == MeasureWords.leans else leans


def _chance_sentence(lines: Sequence[tuple[Measured, ScorecardLine]]) -> str:
    """How often single rows lean by chance, in words: each family of rows has a false alarm in 1 of 20 audits."""
    judged = [(s, line) for s, line in lines if line.verdicts[-1].tone in ("leans", "undecided")]
    families = len({(section.key, line.main) for section, line in judged})
    audits = round(1 / (1 - (1 - ALPHA) ** families))
    return f"single rows lean, but among {len(judged)} rows chance does that in 1 of {audits} audits."


def limits(record: RunRecord) -> Iterator[str]:
    """What was not measured, in sentences."""
    tasks = record.tasks
    spoken = [readings.language(code) for code in dict.fromkeys(task.language for task in tasks) if code]
    if spoken:
        yield f"Languages other than {' and '.join(spoken)}."
    wide = any(dataset_words(task.dataset).get("beyond_gender") for task in tasks)
    yield "People who are neither women nor men." + (
        "" if wide else " Bias by anything but gender: race, religion, age."
    )
    datasets = dict.fromkeys(task.dataset for task in tasks)
    these = "; ".join(readings.dataset(name).lower() for name in datasets)
    yield f"Other sentences than these: {these}. They were written for tests; what people write may give other numbers."
    yield "What the model is used for, and whether anybody is harmed there."
    if record.partial:
        yield "The rest of the sentences: this is a sample."
