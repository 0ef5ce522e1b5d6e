"""How often written-share misreads whom a text is about, by kind of text: the tables of docs/written.md.

    PYTHONPATH=tests python tools/main_persons.py

`by_majority` is the rule of version 1 of the measure, to compare with.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path

from evenhand.core.items import Prompt
from evenhand.core.questions import WORD
from evenhand.measures.main_person import detect
from helpers.main_persons import LABELLED, Known, made, written

PAGE = Path(__file__).parents[1] / "docs" / "written.md"
BEGIN, END = "<!-- main persons: begin -->", "<!-- main persons: end -->"
KINDS = {
    "plain": "plain: nobody else",
    "quoted": "the other gender in what is quoted",
    "family": "relatives of the other gender",
    "names": "a name, and no gendered word",
    "titles": "a title and a name",
    "colleagues": "colleagues of the other gender, who act",
    "late": "main person named late",
    "dialogue": "a dialogue about the main person",
    "several": "a woman and a man equally",
    "they": "singular they",
    "neither": "nobody, a narrator, a title, a place",
}
LABELS = ("women", "men", "both", "neither")


def by_majority(text: str, item: Prompt) -> str:
    """Whom a text is about by version 1: whom most of its gendered words are for."""
    counts = Counter(WORD.findall(text.lower()))
    women, men = (sum(counts[word] for word in words) for words in (item.female, item.male))
    return "" if women == men else "female" if women > men else "male"


class Found:
    """How a rule reads some texts."""

    def __init__(self, rule: Callable[[str, Prompt], str], texts: Iterable[Known]) -> None:
        pairs = [(known.whom, rule(known.text, known.item)) for known in texts]
        self.texts = len(pairs)
        self.of_somebody = sum(whom != "" for whom, _ in pairs)
        self.detected = sum(found != "" for _, found in pairs)
        self.right = sum(whom == found != "" for whom, found in pairs)

    @property
    def cells(self) -> list[str]:
        """Precision and recall, as counts."""
        recall = f"{self.right} of {self.of_somebody}" if self.of_somebody else "–"
        return [f"{self.right} of {self.detected}" if self.detected else "–", recall]


def by_kind() -> Iterator[str]:
    """The table of the texts that were made: right of those detected, and of those about a woman or a man."""
    yield "| texts | number | version 1: precision | recall | now: precision | recall |"
    yield "|---|--:|--:|--:|--:|--:|"
    groups = [(KINDS[kind], list(some)) for kind, some in groupby(made(), lambda known: known.kind)]
    for title, texts in [*groups, ("all", list(made()))]:
        before, now = Found(by_majority, texts), Found(detect, texts)
        yield f"| {' | '.join([title, str(now.texts), *before.cells, *now.cells])} |"


def by_label() -> Iterator[str]:
    """The table of the texts that a model wrote: what is detected, by label, in each file."""
    first, later = (len(written(file)) for file in LABELLED)
    whom = "women | men | not detected"
    yield f"| label | of {first}, detected: {whom} | of {later} later ones: {whom} |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    found = [Counter((known.kind, detect(known.text, known.item)) for known in written(file)) for file in LABELLED]
    for label in LABELS:
        cells = [str(counts[label, side]) for counts in found for side in ("female", "male", "")]
        yield f"| {' | '.join([label, *cells])} |"


def tables(page: str) -> str:
    """The page with both tables as they are now."""
    new = iter(["\n".join(by_kind()), "\n".join(by_label())])
    return re.sub(f"{BEGIN}.*?{END}", lambda _: f"{BEGIN}\n{next(new)}\n{END}", page, flags=re.S)


def main() -> None:
    """Write the tables."""
    PAGE.write_text(tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
