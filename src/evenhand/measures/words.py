"""The words for measures, which pages and terminals use: docs/extend.md says what each is for."""

import math
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from string import Formatter
from typing import Any, Literal

from evenhand.core.measure import Traits
from evenhand.core.typed import check_types
from evenhand.errors import BadInput, check_known

Kind = Literal["lean", "size", "errors", "level", "knowledge", "quality"]
Two = tuple[str, str] | list[str]
TYPES: dict[str, Any] = {
    **dict.fromkeys(("title", "asks", "ranked", "unit"), str),
    **dict.fromkeys(("ends", "leans", "items", "sentences"), Two),
    **dict.fromkeys(("does_not_show", "cites", "cites_interval"), list[str] | tuple[str, ...]),
    **dict.fromkeys(("offends", "all_genders"), bool),
    **dict.fromkeys(("stereotype", "default", "contrast"), Mapping[str, Any]),
    **{"kind": Kind, "much": str | Two, "factor": float | int, "scale": tuple[float, float] | list[float] | list[int]},
}
VARIANTS = ("stereotype", "default", "contrast")
PLACES = {
    *("times", "relative", "verb", "by", "odds", "apart", "ratio", "percent", "rest", "size", "signed", "n"),
    *("job", "women", "men"),
}
"""The placeholders that `much` and `leans` may contain."""


def words_beside(measure: Any) -> dict[str, Any]:
    """The words for a measure of ours, from the .toml file beside its code, and what follows from its traits."""
    traits = Traits.of(measure)
    kind = {"higher": "quality", "none": "level"}.get(traits.better, "lean")
    words: dict[str, Any] = {"kind": kind, "leans": ("", ""), "unit": traits.unit if traits.unit == "nats" else ""}
    if all(map(math.isfinite, traits.bounds)):
        words["scale"] = traits.bounds
    return words | _read_toml(measure.__module__)[measure.name]


@cache
def _read_toml(module: str) -> dict[str, dict[str, Any]]:
    package, _, name = module.rpartition(".")
    return tomllib.loads((files(package) / f"{name}.toml").read_text(encoding="utf-8"))


def check_words(whose: str, words: Any) -> None:
    """Raise an error that names the word if one is not known, of a wrong type, or has a place that nothing fills."""
    if not isinstance(words, Mapping):
        raise BadInput(f"{whose} has `words` that are no dict. Got {words!r}: see docs/extend.md.")
    check_known(f"word in `words` of {whose[0].lower()}{whose[1:]}", words, TYPES)
    check_types(f"{whose}, in `words`", [(name, value, TYPES[name]) for name, value in words.items()])
    for name in ("ends", "leans", "items", "sentences", "much"):
        texts = words.get(name, ("", ""))
        if not isinstance(texts, str) and len(texts) != 2:
            raise BadInput(f"{whose} needs two texts as `{name}` in `words`. Got {texts!r}.")
        for text in (texts,) if isinstance(texts, str) else texts:
            try:
                places = {place for _, place, *_ in Formatter().parse(text) if place is not None}
            except ValueError as error:
                raise BadInput(
                    f"{whose} has a `{name}` in `words` that cannot be read: {error}. Got {text!r}."
                ) from error
            check_known(
                f"place in `{name}` of `words`", [f"{{{place}}}" for place in places], [f"{{{p}}}" for p in PLACES]
            )
    for name in VARIANTS:
        if name in words:
            check_words(f"{whose} ({name})", words[name])
