"""The section "Bias, Risks, and Limitations" of a model card, in Markdown."""

import re
from collections.abc import Iterator, Sequence

from evenhand.errors import BadInput
from evenhand.formats.cells import labels, markdown, neutral_text, rows_without_parts
from evenhand.runs.folder import StoredRun
from evenhand.stats.verdict import RULE

BEGIN, END = "<!-- evenhand: begin -->", "<!-- evenhand: end -->"
TITLE = "Bias, Risks, and Limitations"
HEADING = re.compile(rf"##?#?\s+{TITLE}\s*#*\s*", re.IGNORECASE)
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


def model_card(runs: Sequence[StoredRun]) -> str:
    """The section, between markers: every value with its interval, how to read it, and what it cannot show."""
    return _with_markers(f"## {TITLE}\n\n{_body(runs)}")


def insert_section(card: str, runs: Sequence[StoredRun]) -> str:
    """The card with the section in it; everything outside of the markers stays as it is.

    The section replaces an earlier one between markers. Otherwise it is inserted below the card's own heading of the
    same name or, if there is none, at the end.
    """
    lines = card.splitlines(keepends=True)
    end = "\r\n" if 2 * card.count("\r\n") > card.count("\n") else "\n"  # the line end of most lines
    plain = list(_outside_code(lines))
    begins, ends = ([i for i, line in plain if line == marker] for marker in (BEGIN, END))
    if (len(begins), len(ends)) not in ((0, 0), (1, 1)) or begins > ends:
        raise BadInput(
            f"The card must have '{BEGIN}' once and below it '{END}' once, or neither. Got {len(begins)} and "
            f"{len(ends)}{', in the wrong order' if len(begins) == len(ends) == 1 else ''}. Correct the markers."
        )
    first, last = (begins[0], ends[0]) if begins else (len(lines), len(lines) - 1)
    heading = next((i for i, line in plain if HEADING.fullmatch(line) and not first < i < last), None)
    section = model_card(runs) if heading is None else _with_markers(_body(runs))
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


def _with_markers(section: str) -> str:
    return f"{BEGIN}\n\n{section}\n\n{END}\n"


def _outside_code(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    fence, opened = "", 0
    for index, line in enumerate(lines):
        match = FENCE.match(line.rstrip("\r\n"))
        if fence:
            if match and match[1].startswith(fence) and not match[2].strip():
                fence = ""
        elif match and not (match[1][0] == "`" and "`" in match[2]):
            fence, opened = match[1], index + 1
        else:
            yield index, line.strip()
    if fence:
        raise BadInput(f"The card's code block that begins in line {opened} is never closed. Close it.")


def _body(runs: Sequence[StoredRun]) -> str:
    from jinja2 import (
        Environment,
        PackageLoader,
        StrictUndefined,
    )  # a tenth of a second, which other exports do not need

    (run,) = runs
    files = PackageLoader("evenhand.formats", "data")
    templates = Environment(loader=files, undefined=StrictUndefined, trim_blocks=True, autoescape=False)
    templates.filters |= {"md": markdown, "neutral_text": neutral_text, "labels": labels}
    card = templates.get_template("model-card.md.j2")
    return card.render(run=run, record=run.record, rows_without_parts=rows_without_parts, rule=RULE)
