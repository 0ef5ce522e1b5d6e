"""Where a served model is: its name, the server's address and the key, which is never shown."""

import os
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

from evenhand.errors import BadInput
from evenhand.models.loading.names import SERVED

DEFAULT_URL = "https://api.openai.com/v1"
SECRETS = ("key", "token", "secret", "password")
"""Words in the name of a URL's parameter that may hold one."""


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
        if not model.strip():
            raise BadInput(f"A served model is {SERVED}NAME, with the name that the server knows it by. Got '{name}'.")
        given = base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_URL
        key = os.environ.get("OPENAI_API_KEY", "").strip()
        if not key.isascii() or not key.isprintable():
            raise BadInput("OPENAI_API_KEY has characters that no key has. Copy it again, without quotation marks.")
        url = _checked(given)
        if given == DEFAULT_URL and not key:
            raise BadInput(
                f"'{name}' at {DEFAULT_URL} needs a key: set OPENAI_API_KEY. Or give the address of your own server: "
                "`base_url='http://localhost:8000/v1'`."
            )
        return cls(model, url, key)

    def redacted(self, text: str) -> str:
        """A text of the server's without the key."""
        return text.replace(self.key, "(key)") if self.key else text


def _checked(given: str) -> str:
    """The URL without a slash at its end; an error if it is none, or holds a secret, which is not repeated."""
    try:
        parts = urlsplit(given.strip())
        port = parts.port
    except ValueError:
        parts, port = SplitResult("", "", "", "", ""), None
    if parts.username or parts.password or any(word in parts.query.lower() for word in SECRETS):
        raise BadInput(
            "The `base_url` holds a password or a key, which would end up in runs. Set OPENAI_API_KEY instead."
        )
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0 or parts.query or parts.fragment:
        raise BadInput(f"`base_url` is the address of a server, as in http://localhost:8000/v1. Got '{given}'.")
    return given.strip().rstrip("/")
