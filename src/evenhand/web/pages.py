"""Responses: filled templates, refusals, the pages of runs and corpora, and the comparison of two runs."""

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from html import unescape
from http import HTTPStatus
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import Response

from evenhand._version import __version__
from evenhand.analysis.comparison import compare
from evenhand.errors import BadInput, RunError
from evenhand.formats.cells import with_code
from evenhand.runs.files import PAGE
from evenhand.runs.folder import StoredRun
from evenhand.web.listing import CORPUS, Runs, stamp

TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
KEPT = 8
"""The number of pages, and of comparisons, kept in memory: each takes seconds to make."""
BODY = re.compile(r"<body[^>]*>", re.I)
BACK = '<nav aria-label="Server"><a href="/">← All runs</a></nav>'
LARGEST = 20_000_000
"""The most bytes of a stored page."""
META = re.compile(r"<meta\b[^>]*>", re.I)
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
LINK = re.compile(r"<a\b[^>]*>", re.I)
WITHIN = re.compile(r'<a(?: class="[\w -]*")? href="#[\w-]*">')
"""A link to another place of the same page."""
LOOK = files("evenhand") / "show" / "page" / "look"

_environment = Environment(
    loader=PackageLoader("evenhand.web"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_environment.globals["version"] = __version__
_environment.filters["code"] = with_code


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


def page(runs: Sequence[StoredRun]) -> str:
    """The page of one or more runs. A single run has a stored page, which is used if it is up to date and safe."""
    stored = None
    if len(runs) == 1 and all(audit.evenhand == __version__ for audit in runs[0].record.audits):
        path = runs[0].path / PAGE
        fresh = path.is_file() and path.stat().st_mtime_ns >= stamp(runs[0].path)
        stored = safe_page(path) if fresh else None
    return stored or _page(tuple(run.path for run in runs), tuple(stamp(run.path) for run in runs))


def corpora_page(id: str, runs: Runs) -> str | None:
    """The page of the corpora folder with this id, or None. Raises RunError if the page is missing, old or unsafe."""
    if (folder := runs.find(id, {CORPUS})) is None:
        return None
    runs.check(folder)
    page = safe_page(folder / PAGE)
    if page is None:
        raise RunError(f"'{folder}' has no page of this version of evenhand. Make one: evenhand corpus ... --force")
    return page


def sandbox(page: str) -> Response:
    """The response with a page and a link back to the list.

    The text of the page comes from runs that others may have made. So the page is sandboxed in an origin of its own,
    and can load nothing, not even from this server.
    """
    policy = f"{_policy()}; frame-ancestors 'none'; sandbox allow-scripts allow-downloads allow-modals"
    linked = BODY.sub(lambda body: body[0] + BACK, page, count=1)
    return html(linked, headers={"Content-Security-Policy": policy})


def safe_page(path: Path) -> str | None:
    """The page in a file, or None unless it can run and load only our own style and script.

    Whoever made the run may have written the page. So its Content-Security-Policy must be that of our pages, which
    allows only their style and script. The policy does not cover meta tags, which must be those of our pages too, nor
    links, which must stay within the page.
    """
    if not path.is_file() or path.stat().st_size > LARGEST:
        return None
    text = path.read_text(encoding="utf-8", errors="replace")
    policies, settings = map(unescape, POLICY.findall(text)), META.findall(POLICY.sub("", text))
    ours = list(policies) == [_policy()] and settings == _meta_tags()
    return text if ours and all(map(WITHIN.fullmatch, LINK.findall(text))) else None


@cache
def _meta_tags() -> list[str]:
    return META.findall(POLICY.sub("", (LOOK / "page.html.j2").read_text(encoding="utf-8")))


def _policy() -> str:
    from evenhand.show.page.runs import policy  # drawing takes seconds to import

    return policy()


def comparison_tables(before: StoredRun, after: StoredRun) -> tuple[list[str], dict[tuple[str, str], list[Any]]]:
    """What could not be measured; and the rows of `analysis.comparison` by dataset and measure, with a drawing of each.

    `at_change`, `at_low` and `at_high` are positions in the drawing, from 0 to 100; no change is at 50.
    """
    could_not, frame = _compare_runs(before.path, after.path, stamp(before.path), stamp(after.path))
    tables = {}
    for (dataset, measure), part in frame.groupby(["dataset", "measure"], sort=False):
        numbers = part[["change", "low", "high"]]
        scale = float(np.nanmax([*numbers.abs().to_numpy().flat, 0.0])) or 1.0
        drawn = (50 + 45 * numbers / scale).fillna(50.0).add_prefix("at_")
        tables[str(dataset), str(measure)] = list(part.join(drawn).itertuples(index=False))
    return could_not, tables


@lru_cache(maxsize=KEPT)
def _page(paths: tuple[Path, ...], stamps: tuple[int, ...]) -> str:
    from evenhand.show.page.runs import page  # drawing takes seconds to import

    return page([StoredRun.load(path) for path in paths])


@lru_cache(maxsize=KEPT)
def _compare_runs(before: Path, after: Path, *stamps: int) -> tuple[list[str], pd.DataFrame]:
    comparison = compare([StoredRun.load(before), StoredRun.load(after)])
    if comparison.shared:
        raise BadInput("These runs measured different samples. Compare their common items with: evenhand compare.")
    frame = comparison.frame
    return comparison.unmeasured, frame[frame["needed"] > 0]  # values that mix stereotype and default get no verdict
