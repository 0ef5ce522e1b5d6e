"""The page of a run and the comparison of two, as the server shows them."""

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from html import unescape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from starlette.responses import Response

from evenhand._version import __version__
from evenhand.analysis.comparison import compare
from evenhand.errors import BadInput, RunError
from evenhand.runs.folder import StoredRun
from evenhand.runs.staging import PAGE
from evenhand.web.listing import CORPUS, Runs, stamp
from evenhand.web.rendering import html

KEPT = 8
"""Pages and comparisons kept in memory, since they take seconds to make."""
BODY = re.compile(r"<body[^>]*>", re.I)
BACK = '<nav aria-label="Server"><a href="/">← All runs</a></nav>'
LARGEST = 20_000_000
"""Bytes of a page that is read."""
META = re.compile(r"<meta\b[^>]*>", re.I)
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
LINK = re.compile(r"<a\b[^>]*>", re.I)
WITHIN = re.compile(r'<a(?: class="[\w -]*")? href="#[\w-]*">')
"""A link to another place of the same page."""
LOOK = files("evenhand") / "show" / "page" / "look"


@dataclass(frozen=True, slots=True)
class Page:
    """A page and its content security policy."""

    html: str
    policy: str


def page(runs: Sequence[StoredRun]) -> Page:
    """The page of one or more runs: the one that an audit left, if it may be shown, since a new one takes seconds."""
    stored = None
    if len(runs) == 1 and all(audit.evenhand == __version__ for audit in runs[0].record.audits):
        path = runs[0].path / PAGE
        fresh = path.is_file() and path.stat().st_mtime_ns >= stamp(runs[0].path)  # of these results
        stored = safe_page(path) if fresh else None
    return stored or _page(tuple(run.path for run in runs), tuple(stamp(run.path) for run in runs))


def corpora_page(id: str, runs: Runs) -> Page | None:
    """The page of the folder of corpora of this id; None if there is none, an error if it may not be shown."""
    if (folder := runs.find(id, {CORPUS})) is None:
        return None
    runs.check(folder)
    page = safe_page(folder / PAGE)
    if page is None:
        raise RunError(f"'{folder}' has no page of this version. Make it again: evenhand corpus ... --force")
    return page


def sandboxed(page: Page) -> Response:
    """A page with a link back to the list.

    The page can reach nothing, not even this server. It is sandboxed in an origin of its own, since its text comes from
    runs that others may have made.
    """
    policy = f"{page.policy}; frame-ancestors 'none'; sandbox allow-scripts allow-downloads allow-modals"
    linked = BODY.sub(lambda body: body[0] + BACK, page.html, count=1)
    return html(linked, headers={"Content-Security-Policy": policy})


def safe_page(path: Path) -> Page | None:
    """The page in a file, if it can neither do nor load anything.

    Whoever made the run may have written it. So its policy must allow our own style and scripts and nothing else; what
    a policy does not cover are settings, which must be those of our pages, and links, which must stay within the page.
    """
    if not path.is_file() or path.stat().st_size > LARGEST:
        return None
    text = path.read_text(encoding="utf-8", errors="replace")
    policies = POLICY.findall(text)
    if len(policies) != 1 or META.findall(POLICY.sub("", text)) != _settings():
        return None
    policy = unescape(policies[0])
    return Page(text, policy) if _strict(policy) and all(map(WITHIN.fullmatch, LINK.findall(text))) else None


@cache
def _settings() -> list[str]:
    return META.findall(POLICY.sub("", (LOOK / "page.html.j2").read_text(encoding="utf-8")))


def _strict(policy: str) -> bool:
    """Whether a policy allows nothing but pictures within the page, and the files that our pages are made of."""
    allowed = {"img-src": {"data:"}, "style-src": _hashes(".css"), "script-src": _hashes(".js")}
    rules = {name: set(sources) for name, *sources in map(str.split, policy.split(";"))}
    strict = all(sources <= allowed.get(name, set()) | {"'none'"} for name, sources in rules.items())
    return strict and {"default-src", "base-uri", "form-action"} <= set(rules)


@cache
def _hashes(suffix: str) -> set[str]:
    texts = (file.read_text(encoding="utf-8") for file in LOOK.iterdir() if file.name.endswith(suffix))
    digests = (hashlib.sha256(text.encode()).digest() for text in texts)
    return {f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests}


def compared(before: StoredRun, after: StoredRun) -> dict[tuple[str, str], list[Any]]:
    """The groups before and after, by dataset and measure: rows of analysis.comparison, each with its drawing.

    `at_change`, `at_low` and `at_high` are places in it, from 0 to 100 with no change at 50.
    """
    frame = _changed(before.path, after.path, stamp(before.path), stamp(after.path))
    found = {}
    for (dataset, measure), part in frame.groupby(["dataset", "measure"], sort=False):
        numbers = part[["change", "low", "high"]]
        scale = float(np.nanmax([*numbers.abs().to_numpy().flat, 0.0])) or 1.0
        drawn = (50 + 45 * numbers / scale).fillna(50.0).add_prefix("at_")
        found[str(dataset), str(measure)] = list(part.join(drawn).itertuples(index=False))
    return found


@lru_cache(maxsize=KEPT)
def _page(paths: tuple[Path, ...], stamps: tuple[int, ...]) -> Page:
    from evenhand.show.page.runs import page, policy  # drawing takes seconds to import

    return Page(page([StoredRun.load(path) for path in paths]), policy())


@lru_cache(maxsize=KEPT)
def _changed(before: Path, after: Path, *stamps: int) -> pd.DataFrame:
    made = compare([StoredRun.load(before), StoredRun.load(after)])
    if made.shared:
        raise BadInput("These runs are of different samples. Compare the items that both have with: evenhand compare.")
    return made.frame[made.frame["needed"] > 0]  # values that mix stereotype and default get no verdict
