"""The section "Bias, Risks, and Limitations" of a model card, in Markdown."""

import re
from collections.abc import Iterator, Sequence

from evenhand.errors import BadInput
from evenhand.formats.escaping import markdown
from evenhand.formats.facts import headlines, labels, short
from evenhand.runs.folder import StoredRun
from evenhand.runs.record import TaskRecord
from evenhand.stats.verdict import RULE

BEGIN, END = "<!-- evenhand: begin -->", "<!-- evenhand: end -->"
TITLE = "Bias, Risks, and Limitations"
HEADING = re.compile(rf"##?#?\s+{TITLE}\s*#*\s*", re.IGNORECASE)
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
LIMITS = (
    "Values describe predictions on these test sentences. Whether people are harmed depends on what the model is used "
    "for; a value near neutral clears it of one thing, measured in one way.",
    f"A value leans (above or below neutral) where {RULE}. Where no lean is shown, the data do not decide.",
    "The word lists know women and men. Nothing here says how the model treats people of other genders.",
    "Test sentences state stereotypes so that a leaning towards them can be measured. They are not claims.",
)


def model_card(runs: Sequence[StoredRun]) -> str:
    """The section, between markers: every value with its interval, how to read it, and what it cannot show."""
    return _between([f"## {TITLE}", "", *_body(runs)])


def inserted(card: str, runs: Sequence[StoredRun]) -> str:
    """The card with the section in it; everything outside of the markers stays as it is.

    The section replaces an earlier one, or goes below the card's own heading of that name, or to the end.
    """
    lines = card.splitlines(keepends=True)
    end = "\r\n" if 2 * card.count("\r\n") > card.count("\n") else "\n"  # as most lines have
    plain = list(_outside_code(lines))
    begins, ends = ([i for i, line in plain if line == marker] for marker in (BEGIN, END))
    if (len(begins), len(ends)) not in ((0, 0), (1, 1)) or begins > ends:
        raise BadInput(
            f"The card must have '{BEGIN}' once, then '{END}' once, or neither. Got {len(begins)} and {len(ends)}"
            f"{', the wrong way round' if len(begins) == len(ends) == 1 else ''}. Put the markers right."
        )
    first, last = (begins[0], ends[0]) if begins else (len(lines), len(lines) - 1)
    heading = next((i for i, line in plain if HEADING.fullmatch(line) and not first < i < last), None)
    section = model_card(runs) if heading is None else _between([*_body(runs)])
    block = section.replace("\n", end)
    if begins:
        tail = "" if lines[last].endswith(("\n", "\r")) else end  # a card that ends with the marker, without a line end
        return "".join(lines[:first]) + (block.removesuffix(end) if tail else block) + "".join(lines[last + 1 :])
    if heading is not None:
        before, after = "".join(lines[: heading + 1]), "".join(lines[heading + 1 :])
        gap = "" if before.endswith(("\n", "\r")) else end
        return before + gap + end + block + after
    gap = "" if not card else end if card.endswith(("\n", "\r")) else end * 2
    return card + gap + block


def _between(lines: Sequence[str]) -> str:
    return "\n".join([BEGIN, "", *lines, "", END, ""])


def _outside_code(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    fence, opened = "", 0
    for index, line in enumerate(lines):
        found = FENCE.match(line.rstrip("\r\n"))
        if fence:
            if found and found[1].startswith(fence) and not found[2].strip():
                fence = ""
        elif found and not (found[1][0] == "`" and "`" in found[2]):
            fence, opened = found[1], index + 1
        else:
            yield index, line.strip()
    if fence:
        raise BadInput(f"The card's code block that begins in line {opened} is never closed. Close it.")


def _body(runs: Sequence[StoredRun]) -> Iterator[str]:
    (run,) = runs
    tool = f"evenhand {run.record.evenhand}".rstrip()
    yield f"Gender bias of {markdown(run.record.model)}, measured with {markdown(tool)}: values with 95 % intervals."
    if warning := run.record.sample:
        yield from ("", f"**{markdown(warning)}**")
    careful = [f"Careful: {warning}" for warning in run.record.warnings]
    careful += [f"{found.verdict.capitalize()}, {found.check}: {found.says}" for found in run.record.concerns]
    for warning in (*careful, *run.record.caveats):
        yield from ("", markdown(warning))
    dataset = ""
    for task in run.record.tasks:
        if task.dataset != dataset:
            dataset = task.dataset
            texts = (markdown(task.about), task.flaws and f"Known flaws: {markdown(task.flaws)}")
            name = f"**{markdown(dataset)}** (version {task.dataset_version})."
            yield from ("", " ".join(filter(None, (name, *texts))))
        yield from _values(run, task)
    yield from ("", "What these numbers do not show:", "", *(f"- {line}" for line in LIMITS))
    seeds = ", ".join(dict.fromkeys(str(task.seed) for task in run.record.tasks))
    yield from ("", f"Model fingerprint: {markdown(run.record.fingerprint)}; seed {seeds}.")


def _values(run: StoredRun, task: TaskRecord) -> Iterator[str]:
    by, found = task.by or ["items"], headlines(run, task)
    neutral = ", ".join(dict.fromkeys(short(fact.neutral) for fact in found)) or "none"
    name = f"*{markdown(task.measure)}* (version {task.measure_version}; neutral value: {neutral})"
    yield from ("", f"{name}: {markdown(task.reading)}.", "")
    yield _row([*map(markdown, by), "value", "95 % interval", "lean", "n", "unscored"])
    yield _row(["---"] * len(by) + ["---:", "---:", "---", "---:", "---:"])
    for fact in found:
        names = map(markdown, labels(fact))
        interval = markdown(fact.interval(".3f"))
        yield _row([*names, fact.number(".3f"), interval, fact.verdict.word, str(fact.n), str(fact.unscored)])
    for fact in found:
        if not fact.known:
            yield from ("", f"No value of {markdown(fact.of)}: {markdown(fact.note)}.")


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
