"""Escape arbitrary text for LaTeX, Markdown and file names."""

import re

_NAMES = [
    *("backslash", "braceleft", "braceright", "asciicircum", "asciitilde"),
    *("less", "greater", "bar", "quotedbl", "asciigrave"),
]
LATEX = {letter: rf"\text{name}{{}}" for letter, name in zip('\\{}^~<>|"`', _NAMES, strict=True)}
LATEX |= {letter: rf"\{letter}" for letter in "$&%#_"} | {"–": "--"}
LATEX |= {letter: f"{{{letter}}}" for letter in "[]*"}  # after \\ a bracket or a star would be an argument of it
"""Braces are written by name since BibTeX counts even escaped ones. \\textquotedbl needs the T1 encoding."""
MARKDOWN = re.compile(r"([\\`*_\[\]<>#|~$&])")
UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
"""Line ends and control characters, which would break a table row."""


def one_line(text: object) -> str:
    """The text on one line, without control characters."""
    return UNSEEN.sub(" ", str(text)).strip()


def latex(text: object) -> str:
    """The text escaped for LaTeX, which then sees no commands or ligatures such as -- or ''."""
    plain = re.sub(r"([-'])(?=\1)", "\\1\0", one_line(text))
    return "".join(LATEX.get(letter, letter) for letter in plain).replace("\0", "{}")


def markdown(text: object) -> str:
    """The text escaped for Markdown, also within a table."""
    return MARKDOWN.sub(r"\\\1", one_line(text))


def slug(text: object) -> str:
    """The text as a name for files, labels and ids: letters, digits, dots, dashes and underscores."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", str(text)).strip("-.") or "unnamed"
