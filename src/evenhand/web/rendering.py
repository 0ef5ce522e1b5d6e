"""Responses from templates, and the files that pages need. All values in templates are escaped."""

from collections.abc import Mapping
from http import HTTPStatus
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import Response

from evenhand._version import __version__

TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}

_environment = Environment(
    loader=PackageLoader("evenhand.web"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_environment.globals["version"] = __version__


def render(template: str, status: int = 200, headers: Mapping[str, str] | None = None, **known: Any) -> Response:
    """The template, filled with values."""
    return html(_environment.get_template(template).render(known), status, headers)


def html(text: str, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A page; lone surrogates, which file names may contain, become question marks."""
    return Response(text.encode("utf-8", "replace"), status, headers, media_type="text/html")


def refusal(status: int, why: str, headers: Mapping[str, str] | None = None) -> Response:
    """The page for a request that is refused."""
    return render("refusal.html", status, headers, title=HTTPStatus(status).phrase, why=why)


def static_files() -> dict[str, Response]:
    """The bundled files that pages refer to, by name; no others can be requested."""
    return {
        file.name: Response(file.read_bytes(), media_type=TYPES[file.name.rpartition(".")[2]])
        for file in (files("evenhand.web") / "static").iterdir()
        if file.is_file()
    }
