"""The numbers of a corpus in words, for terminal and page."""

from typing import Any

from evenhand.stats.estimate import Estimate
from evenhand.text.shares import FEWEST, Counted, Ratio

LEANS = {
    "female": "● more women",
    "male": "● more men",
    "not shown": "○ no lean shown",
    "too few": "○ too few documents",
}
"""The verdict in words, by the one rule."""


def lean(word: str) -> str:
    """A verdict in words; a dash where there is none."""
    return LEANS.get(word, "–")


def percent(share: Estimate) -> str:
    """A share and its interval in percent: 47.5 % [45.8, 49.4]; a dash where there is none."""
    if not share.known:
        return "–"
    ends = f" [{100 * share.low:.1f}, {100 * share.high:.1f}]" if share.spans else ""
    return f"{100 * share.value:.1f} %{ends}"


def size(found: Counted) -> str:
    """How large a corpus is."""
    sizes = {found.unit: found.documents, "sentence": found.sentences}
    return ", ".join(f"{n:,} {what}{'s' if n != 1 else ''}" for what, n in sizes.items())


def cautions(found: Counted) -> list[str]:
    """Warnings about the numbers: files that were skipped, and paragraphs that were counted as documents."""
    told = []
    if found.unit == "paragraph":
        told.append("Paragraphs of one text are not independent of each other, so the true intervals are wider.")
    if found.skipped:
        files = "; ".join(f"{name}: {why}" for name, why in found.skipped.items())
        told.append(f"Not counted, since not English: {files}")
    return told


def shares(found: Counted) -> dict[str, Ratio]:
    """The counts of women and men, by gendered words and by first names."""
    return {"gendered words": found.words, "first names": found.names}


def number_tested(found: Counted) -> str:
    """How many words were tested."""
    return f"{found.tested:,} were tested" if found.tested else f"none is in {FEWEST} sentences about one of them alone"


def around(found: Counted) -> dict[str, dict[str, str]]:
    """The words that occur more often with women, and with men, than chance explains, the largest |z| first.

    Each has its number of sentences there and, in brackets, the expected one: "nursing 12 (5)".
    """
    told: dict[str, dict[str, str]] = {"women": {}, "men": {}}
    rows: Any = found.contexts.sort_values("z", key=abs, ascending=False, kind="stable").to_dict("records")
    for row in rows:
        here, expected = row["female"], row["expected_female"]
        if row["z"] > 0:
            here, expected = row["male"], row["female"] + row["male"] - expected
        told["men" if row["z"] > 0 else "women"][row["word"]] = f"{row['word']} {here:,} ({expected:,.0f})"
    return told
