"""Optional packages: an extra installs each, and an error names the extra."""

import re
from importlib.metadata import PackageNotFoundError, version

from evenhand.errors import BadInput

PACKAGES: dict[str, tuple[str, ...]] = {
    "gguf": ("gguf", "0.10"),
    "inspect": ("inspect-ai", "0.3.285"),
    "ja": ("fugashi", "1.3"),
    "lm-eval": ("lm-eval", "0.4.13"),
    "nltk": ("nltk", "3.9"),
    "ray": ("ray", "2.40"),
    "server": ("starlette", "1.10", "uvicorn", "0.30"),
}
"""The packages of each extra, each with the oldest version that works; pyproject.toml says the same."""


def need(extra: str, what: str) -> None:
    """Raise if a package of an extra is missing or too old; `what`, which needs it, begins the message."""
    listed = PACKAGES[extra]
    for package, oldest in zip(listed[::2], listed[1::2], strict=True):
        try:
            found = version(package)
        except PackageNotFoundError:
            found = ""
        if not found or _version_numbers(found) < _version_numbers(oldest):
            got = f"version {found} is installed" if found else "it is not installed"
            raise BadInput(
                f"{what} needs {package} {oldest} or newer; {got}. Install it with: pip install 'evenhand[{extra}]'."
            )


def _version_numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text)[:3])
