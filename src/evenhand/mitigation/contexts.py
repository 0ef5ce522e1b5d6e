"""Lists of words that show what a name or title next to them is, from data/name-contexts-en.toml."""

from functools import cache

from evenhand.datasets.files.bundled import read_toml


@cache
def contexts() -> dict[str, frozenset[str]]:
    """The words of each list, by its name."""
    lists = read_toml("name-contexts-en.toml", "evenhand.mitigation")
    return {name: frozenset(words.split()) for name, words in lists.items()}


def any_of(*names: str) -> str:
    """A regular expression for the words of these lists."""
    return "|".join(sorted(word for name in names for word in contexts()[name]))
