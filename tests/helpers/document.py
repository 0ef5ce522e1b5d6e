"""An HTML page as a tree, so that a test can look in the right place."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"br", "hr", "img", "input", "link", "meta"}


@dataclass
class Element:
    """A tag with its attributes, and what is in it: texts and other elements."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    inside: list["Element | str"] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text in it, with single spaces."""
        return " ".join("".join(self._texts()).split())

    def _texts(self) -> Iterator[str]:
        for part in self.inside:
            if isinstance(part, str):
                yield part
            else:
                yield from part._texts()

    def all(self, what: str) -> list["Element"]:
        """Every element in it, however deep, of a tag, .class or #id, or of both together, as in section.card."""
        return [part for part in self._elements() if part._is(what)]

    def one(self, what: str) -> "Element":
        """The only such element."""
        found = self.all(what)
        assert len(found) == 1, f"{len(found)} elements are {what}"
        return found[0]

    def _elements(self) -> Iterator["Element"]:
        for part in self.inside:
            if isinstance(part, Element):
                yield part
                yield from part._elements()

    def _is(self, what: str) -> bool:
        tag, _, name = what.partition("#")
        if name:
            return tag in ("", self.tag) and self.attributes.get("id") == name
        tag, *classes = what.split(".")
        return tag in ("", self.tag) and set(classes) <= set(self.attributes.get("class", "").split())


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [Element("")]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].inside.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        closed = self.open.pop()
        assert closed.tag == tag, f"</{tag}> closes <{closed.tag}>"

    def handle_data(self, data: str) -> None:
        self.open[-1].inside.append(data)


def parsed(html: str) -> Element:
    """The page; an error where a tag is not closed in its place."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    (root,) = reader.open
    return root
