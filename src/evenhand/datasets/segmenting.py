"""Japanese cut into words by blanks, as some models were trained to read it."""

from functools import cache
from typing import Any, Literal

from evenhand.errors import BadInput

Segmented = Literal["no", "yes"]


def segmented(text: str) -> str:
    """The text with a blank between words, as fugashi cuts them (MeCab, with the dictionary of unidic-lite)."""
    return " ".join(word.surface for word in _tagger()(text))


def check(option: str) -> bool:
    """Whether texts are to be cut."""
    if option not in ("no", "yes"):
        raise BadInput(f"segmented must be 'no' or 'yes'. Got {option!r}.")
    return option == "yes"


@cache
def _tagger() -> Any:
    try:
        from fugashi import Tagger  # an extra: few need it
    except ImportError as error:
        raise BadInput("Cutting Japanese into words needs fugashi: pip install 'evenhand[ja]'.") from error
    return Tagger()
