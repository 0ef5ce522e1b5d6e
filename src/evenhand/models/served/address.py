"""Where a served model is: its name, the server's address and the key, which is never shown."""

import os
import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from evenhand.errors import BadInput
from evenhand.models.loading.names import SERVED

DEFAULT_URL = "https://api.openai.com/v1"
SHORTEST = 8
"""Characters of a key that is a secret; a shorter one ("none", "EMPTY") is a placeholder, and is found in words."""


@dataclass(frozen=True, slots=True)
class Address:
    """A model's name on the server, the server's base URL, and the key to it."""

    name: str
    base_url: str
    key: str = field(default="", repr=False)

    @classmethod
    def of(cls, name: str, base_url: str | None = None) -> "Address":
        """The address of "openai:NAME"; without `base_url` that of OPENAI_BASE_URL, or OpenAI's own.

        The key is that of OPENAI_API_KEY: an argument would be in the history of a shell, or in a notebook.
        """
        model = name.removeprefix(SERVED)
        if not model.strip() or not model.isprintable():
            raise BadInput(f"A served model is {SERVED}NAME, with the name that the server knows it by. Got '{name}'.")
        given = base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_URL
        key = os.environ.get("OPENAI_API_KEY", "").strip()
        if not key.isascii() or not key.isprintable() or set("'\"` ") & set(key):
            raise BadInput("OPENAI_API_KEY has characters that no key has. Copy it again, without quotation marks.")
        url = _checked(given)
        if given == DEFAULT_URL and not key:
            raise BadInput(
                f"'{name}' at {DEFAULT_URL} needs a key: set OPENAI_API_KEY. Or give the address of your own server: "
                "`base_url='http://localhost:8000/v1'`."
            )
        return cls(model, url, key)

    def redacted(self, text: str) -> str:
        """A text of the server's without the key; one that is in the model's name, too, is no secret."""
        secret = len(self.key) >= SHORTEST and self.key not in self.name
        return text.replace(self.key, "(key)") if secret else text


def _checked(given: str) -> str:
    """The URL without a slash at its end; an error if it is none, or has a part that may be a secret."""
    url = given.strip()
    if set("@?#") & set(url):
        raise BadInput(
            "The `base_url` holds a password or a key, or what may be one (before @, behind ? or #), which would end "
            "up in runs. Leave it out, and set OPENAI_API_KEY instead."
        )
    if not is_url(url):
        raise BadInput(f"`base_url` is the address of a server, in ASCII: http://localhost:8000/v1. Got '{given}'.")
    return url.rstrip("/")


def is_url(text: str) -> bool:
    """Whether a text is an address for http or https."""
    try:
        parts = urlsplit(text)
        return bool(parts.hostname and parts.port != 0 and re.fullmatch("(?i:https?)://[!-~]+", text))
    except ValueError:
        return False
