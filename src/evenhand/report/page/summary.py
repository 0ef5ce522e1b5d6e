"""The page in a few lines: of each dataset the measure that says most, with what it found."""

from collections.abc import Sequence

from evenhand.report.page.section import Headline, Measured

FIRST = (
    "association", "pronoun", "stereotype-share", "nli-coal", "gender-agreement", "log-probability-bias",
)  # fmt: skip
"""Of a dataset's measures, the first of these speaks for it; otherwise its first."""


def summary(sections: Sequence[Measured]) -> list[tuple[Measured, Headline]]:
    """One line for each dataset, or for each group of associations: those that lean first, the farthest first."""
    chosen: dict[str, Measured] = {}
    for section in sections:
        mine = chosen.get(section.dataset)
        if mine is None or _rank(section) < _rank(mine):
            chosen[section.dataset] = section
    lines = [(section, line) for section in chosen.values() for line in section.headlines]
    return sorted(lines, key=lambda found: _order(found[1]))


def _rank(section: Measured) -> int:
    if section.values.kind == "mixed" or section.measure not in FIRST:
        return len(FIRST)
    return FIRST.index(section.measure)


def _order(line: Headline) -> int:
    tones = ("leans", "undecided", "none", "level", "right")
    return tones.index(line.verdicts[-1].tone)
