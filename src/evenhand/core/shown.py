"""Objects that show themselves, in a notebook and by `print`, and what a dataset adds to reports of its runs."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from evenhand.errors import BadInput

UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Control characters other than newlines and tabs; they could change what a terminal shows."""


class Shown:
    """An object that a notebook shows as HTML, and `print` as text."""

    __slots__ = ()
    renderer: ClassVar[Any]
    """Has methods `text` and `html`. `evenhand/__init__` sets it, since core cannot import `evenhand.show`."""

    def __str__(self) -> str:
        return str(self.renderer.text(self))

    def _repr_html_(self) -> str:
        return str(self.renderer.html(self))


def replace_control_characters(text: str) -> str:
    """Replace control characters, which a text from an untrusted file may have."""
    return UNSEEN.sub("\ufffd", text.replace("\r\n", "\n"))


@dataclass(frozen=True)
class Drawing:
    """An Altair chart, with a caption that says what it shows."""

    chart: Any
    caption: str


class Sections:
    """Extra charts, tables and text in reports of a dataset's runs; each method is optional.

    Pass an instance to `Dataset(sections=...)`, or list it by the name of its dataset in `SECTIONS` of a plugin.
    """

    shown_here: Collection[str] = ()
    """Measures that `terminal` shows; the table of values then excludes them."""
    ours: ClassVar[Callable[[], Iterable["Sections"]]] = tuple
    """Gives the sections of `evenhand.papers`. `evenhand/__init__` sets it, since core cannot import them."""

    def page(self, measured: Any) -> Iterable[Drawing]:
        """Charts of one measure: `measured` has its `task`, and `runs` with their `names` and frames of `scores`."""
        return ()

    def terminal(self, run: Any, dataset: str, *, frequency: Mapping[str, float] | None = None) -> Iterable[Any]:
        """Lines and tables of rich, or text, for `evenhand show --full`.

        `frequency` has the corpus frequencies of words if the user gives them.
        """
        return ()

    def figures(self, runs: Mapping[str, Any], *, marked: Collection[str] | None = None) -> Mapping[str, Any] | None:
        """Altair charts by name, for files and notebooks, which mark the words in `marked`.

        None, the default, if files and notebooks have the same charts as `page`.
        """
        return None


_BY_DATASET: dict[str, Sections] = {}


def add_sections(dataset: str, sections: Sections) -> None:
    """Register a user's sections under the name of their dataset."""
    if not isinstance(sections, Sections):
        raise BadInput(
            f"Sections of '{dataset}' must be an instance of a class that extends evenhand.Sections. Got {sections!r}. "
            "See docs/extend.md."
        )
    _BY_DATASET[dataset] = sections


def sections_of(datasets: Iterable[str]) -> list[Sections]:
    """The sections of the papers, which check themselves whether they apply, and the sections of these datasets."""
    added = [_BY_DATASET.get(name) or _BY_DATASET.get(name.partition(" (")[0]) for name in dict.fromkeys(datasets)]
    return [*Sections.ours(), *dict.fromkeys(filter(None, added))]
