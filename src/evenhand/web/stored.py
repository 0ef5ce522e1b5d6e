"""The page that an audit left in its run folder, if it may be shown: making it again takes seconds."""

import base64
import hashlib
import re
from dataclasses import dataclass
from functools import cache
from html import unescape
from importlib.resources import files
from pathlib import Path

from evenhand._version import __version__
from evenhand.runs.folder import StoredRun
from evenhand.runs.staging import PAGE
from evenhand.web.listing import stamp

LARGEST = 20_000_000
"""Bytes of a page that is read."""
META = re.compile(r"<meta\b[^>]*>", re.I)
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
LINK = re.compile(r"<a\b[^>]*>", re.I)
WITHIN = re.compile(r'<a(?: class="[\w -]*")? href="#[\w-]*">')
"""A link to another place of the same page."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page and its content security policy."""

    html: str
    policy: str


def stored(run: StoredRun) -> Page | None:
    """The page in the run's folder, if it is of these results and this version, and can neither do nor load anything.

    Whoever made the run may have written it. So its policy must allow our own style and scripts and nothing else; what
    a policy does not cover are settings, which must be those of our pages, and links, which must stay within the page.
    """
    path = run.path / PAGE
    if not path.is_file() or path.stat().st_mtime_ns < stamp(run.path):
        return None
    return safe(path) if all(audit.evenhand == __version__ for audit in run.record.audits) else None


def safe(path: Path) -> Page | None:
    """The page in a file, if it can neither do nor load anything: see `stored`."""
    if not path.is_file() or path.stat().st_size > LARGEST:
        return None
    html = path.read_text(encoding="utf-8", errors="replace")
    policies, ours = POLICY.findall(html), META.findall(_template())
    if len(policies) != 1 or META.findall(POLICY.sub("", html)) != [meta for meta in ours if not POLICY.match(meta)]:
        return None
    policy = unescape(policies[0])
    return Page(html, policy) if _strict(policy) and all(map(WITHIN.fullmatch, LINK.findall(html))) else None


def _strict(policy: str) -> bool:
    """Whether a policy allows nothing but pictures within the page, and the files that our pages are made of."""
    allowed = {"img-src": {"data:"}, "style-src": _hashes(".css"), "script-src": _hashes(".js")}
    rules = {name: set(sources) for name, *sources in map(str.split, policy.split(";"))}
    strict = all(sources <= allowed.get(name, set()) | {"'none'"} for name, sources in rules.items())
    return strict and {"default-src", "base-uri", "form-action"} <= set(rules)


@cache
def _hashes(suffix: str) -> set[str]:
    look = [file for file in (files("evenhand") / "report" / "page" / "look").iterdir() if file.name.endswith(suffix)]
    digests = (hashlib.sha256(file.read_text(encoding="utf-8").encode()).digest() for file in look)
    return {f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests}


@cache
def _template() -> str:
    return (files("evenhand") / "report" / "page" / "look" / "page.html.j2").read_text(encoding="utf-8")
