"""The summary of a run for one terminal screen: what leans, a row for each main number, and where to read on."""

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from evenhand.runs.folder import StoredRun
from evenhand.show.page import readings
from evenhand.show.page.section import Line, Measured
from evenhand.show.page.short import lead, main_leans, summary
from evenhand.show.tables import VERDICTS, line
from evenhand.stats.verdict import MARKS, RULE, SIZES

NARROWEST, WIDEST = 80, 110
ROWS = 11
"""Rows of the table; more are left to `--full`."""
SENTENCES = 3
"""Leans that get a sentence each; the others are only marked in the table."""
CONCERNS = DETECTABLE = 4
WIDTHS = (7, 17, 28, 10)
"""Column widths of value, interval, verdict and trust; on a wide terminal, the verdict column is wider."""
TWO = (
    "stereotype: what is taken for women's goes with women, men's with men. default: one gender is preferred next to "
    "both (minus, or below .5: men)."
)
Row = tuple[str, str, str, Text, Text]
"""Label, value, interval, verdict, trust."""


def fitted(width: int) -> int:
    """The width of the answer on a terminal of `width` columns: between NARROWEST and WIDEST."""
    return min(WIDEST, max(NARROWEST, width))


def answer(run: StoredRun, width: int = NARROWEST) -> RenderableType:
    """The page of a run in about forty lines at most, for a terminal of `width` columns."""
    sections = [Measured([run], [run.record.model], task, {}) for task in run.record.tasks]
    lines = summary(sections)
    parts = list(_lead(run, lines))
    parts += _cautions(run, sections)
    shown = _rows_that_fit(lines)
    parts += [Text(" "), *_table(shown, width)]
    if told := list(_legend(shown)):
        parts.append(Text(" ".join(told), "dim"))
    if found_if := list(_detectable_leans(shown)):
        listed = [*found_if[:DETECTABLE], *(["more: --full"] if len(found_if) > DETECTABLE else ())]
        parts.append(Text(f"○ no lean shown; a lean that would probably have been found: {'; '.join(listed)}.", "dim"))
    parts += [_remark(f"{why}.", "dim") for why in _reasons(lines)]
    parts += [line(text, "") for text in _next_steps(run, len(lines) - len(shown))]
    return Group(*parts)


def _legend(lines: Sequence[tuple[Measured, Line]]) -> Iterator[str]:
    """What the words and marks of the table mean."""
    verdicts = [found.verdicts[0] for _, found in lines]
    if any(found.label == "stereotype" for _, found in lines):
        yield TWO
    if any(verdict.tone == "leans" for verdict in verdicts):
        yield f"leans: {RULE.partition(' (')[0]}."
    if any(verdict.size in MARKS for verdict in verdicts):
        yield f"{SIZES}."
    if any(verdict.short.endswith("*") for verdict in verdicts):
        yield f"* {readings.BY_CHANCE}."


def brief(run: StoredRun) -> RenderableType:
    """The first lines of the answer, for output that lists several runs."""
    sections = [Measured([run], [run.record.model], task, {}) for task in run.record.tasks]
    return Group(*_lead(run, summary(sections)), *_cautions(run, sections), line(next(_next_steps(run)), ""))


def _lead(run: StoredRun, lines: Sequence[tuple[Measured, Line]]) -> Iterator[RenderableType]:
    yield Text(f"{run.record.model}: {lead(lines)}", "bold")
    yield from (Padding(text, (0, 0, 0, 2)) for text in _sentences(lines))


def _rows_that_fit(lines: Sequence[tuple[Measured, Line]]) -> list[tuple[Measured, Line]]:
    """The main numbers, and the other rows of each dataset where all of them fit in ROWS."""
    left, kept = ROWS - sum(found.main for _, found in lines), set[str]()
    for dataset, count in Counter(section.dataset for section, found in lines if not found.main).items():
        if count <= left:
            left, kept = left - count, {*kept, dataset}
    return [found for found in lines if found[1].main or found[0].dataset in kept]


def _reasons(lines: Sequence[tuple[Measured, Line]]) -> list[str]:
    """The most frequent reason to trust a number with care, if there is one."""
    kinds = ("careful", "not tested")
    found = Counter(f"trust {line.trust.level}: {line.trust.why}" for _, line in lines if line.trust.level in kinds)
    return [why for why, _ in found.most_common(1)]


def _detectable_leans(lines: Sequence[tuple[Measured, Line]]) -> Iterator[str]:
    """For main numbers that show no lean, the smallest lean that such data would show in four of five cases."""
    for section, found in lines:
        number = found.numbers[0]
        if found.main and found.verdicts[0].tone == "undecided" and number.detectable > 0:
            yield f"{section.dataset}, {found.label or 'all'}, {readings.least(number, found.reading)}"


def _dataset_title(section: Measured) -> str:
    """The dataset in words, and its name."""
    told = readings.dataset(section.dataset)
    return f"{told} · {section.dataset}" if told != section.dataset else told


def _sentences(lines: Sequence[tuple[Measured, Line]]) -> Iterator[Text]:
    shown = main_leans(lines)
    for section, found in shown[:SENTENCES]:
        verdict = found.verdicts[0]
        much = f": {verdict.much}" if verdict.much else ""
        label = f", {found.label}" if found.label else ""
        yield Text(f"{verdict.mark} {_dataset_title(section)}{label}: {verdict.short}{much}.")
    if len(shown) > SENTENCES:
        yield Text(f"and {len(shown) - SENTENCES} more, marked below.")


def _cautions(run: StoredRun, sections: Sequence[Measured]) -> list[RenderableType]:
    """Remarks to read before the numbers: caveats, the doctor's concerns, warnings."""
    told = [Text(run.record.sample, "yellow")] if run.record.partial else []
    caveats = dict.fromkeys((s.dataset, s.caveat) for s in sections if s.caveat)
    told += [_remark(f"Careful, {dataset}: {text}", "yellow") for dataset, text in caveats]
    for found in sorted(run.record.concerns, key=lambda found: found.verdict != "unfit"):
        does = f" {found.do}" if found.verdict == "unfit" else ""
        told.append(
            _remark(f"{found.verdict.capitalize()}, {found.check}: {found.says}", VERDICTS[found.verdict], does)
        )
    told += [_remark(f"Careful: {text}", "yellow") for text in run.record.warnings]
    told += [_remark(text, "yellow") for text in _unscored_notes(run)]
    told += [_remark(text, "dim") for text in run.record.caveats[:1]]
    left = len(told) - CONCERNS
    more = [Text(f"{left} more remark{'s' if left > 1 else ''}: --full", "yellow")] if left > 0 else []
    return [*told[:CONCERNS], *more]


def _remark(text: str, style: str, more: str = "") -> Text:
    """The beginning of a remark, and what to do, which is shown whole."""
    most = 3 * NARROWEST
    return Text((text if len(text) <= most else f"{text[: most - 3]}...") + more, style)


def _unscored_notes(run: StoredRun) -> Iterator[str]:
    """How many items of each dataset have no score, by reason, for the measure with the most unscored items."""
    for dataset in run.datasets:
        found = [run.record.unscored.get(f"{dataset}/{task.measure}", {}) for task in run.tasks_on(dataset)]
        most = max(found, key=lambda reasons: sum(reasons.values()), default={})
        if most:
            told = "; ".join(f"{n:,} ({reason})" for reason, n in most.items())
            yield f"Items of {dataset} without a score: {told}."


def _table(lines: Sequence[tuple[Measured, Line]], width: int) -> Iterator[RenderableType]:
    """The main numbers, under a heading for each dataset with its name and its question."""
    room = width - sum(WIDTHS) - len(WIDTHS) - 1  # labels have what they need of it, and verdicts the rest
    label = min(room, max(len(_row(found)[0]) for _, found in lines))
    sizes = label, room - label
    yield _grid([("", "value", "95 % interval", Text("verdict"), Text("trust"))], sizes, "dim")
    datasets: dict[str, list[tuple[Measured, Line]]] = {}
    for section, found in lines:
        datasets.setdefault(section.dataset, []).append((section, found))
    for members in datasets.values():
        section = members[0][0]
        yield Text(
            f"{_dataset_title(section)} · {section.reading.title[:1].lower()}{section.reading.title[1:]}", "bold"
        )
        yield _grid([_row(found) for _, found in members], sizes, "")


def _row(found: Line) -> Row:
    number, verdict, trust = found.numbers[0], found.verdicts[0], found.trust.level
    told = Text(f"{verdict.mark} {verdict.short}")
    label = f"{'  ' if found.main else '    '}{found.label or 'all'}"
    return label, number.text, number.brackets, told, Text(trust, VERDICTS[trust])


def _grid(rows: Sequence[Row], sizes: tuple[int, int], style: str) -> Table:
    shown = Table.grid(padding=(0, 1, 0, 0))
    shown.add_column(width=sizes[0], style=style)
    for place, wide in enumerate(WIDTHS):
        more = sizes[1] if place == 2 else 0
        shown.add_column(width=wide + more, style=style, justify="right" if place < 2 else "left")
    for label, value, interval, verdict, trust in rows:
        shown.add_row(Text(label), value, interval, verdict, trust)
    return shown


def _next_steps(run: StoredRun, more: int = 0) -> Iterator[str]:
    if (page := run.path / "report.html").exists():
        yield f"Page: {page}"
    yield f"All numbers{f' ({more} more rows)' if more else ''}: evenhand show {run.path} --full"
    trainable = any(audit.kind != "vectors" and "server" not in audit.loaded for audit in run.record.audits)
    yield f"Next: {'evenhand debias MODEL, ' if trainable else ''}evenhand gate --suggest RUN"
