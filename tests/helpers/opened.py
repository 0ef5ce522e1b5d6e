"""A page of the browser, and what went wrong on it."""

import sys
from pathlib import Path

import pytest
from playwright.sync_api import Page

AXE = Path(sys.prefix, "node_modules/axe-core/axe.min.js")


class Opened:
    """A page of the browser, and what went wrong on it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.errors: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))

    def elsewhere(self, *allowed: str) -> list[str]:
        """The requests that went to anything but these beginnings of addresses, or what the page itself holds."""
        return [url for url in self.requests if not url.startswith((*allowed, "data:", "blob:"))]

    def violations(self) -> list[str]:
        """What axe-core finds wrong for people who use a keyboard, a screen reader, or see little."""
        if not AXE.exists():
            pytest.skip("axe-core is not installed: make browser gets it from npm")
        self.page.evaluate(AXE.read_text(encoding="utf-8"))  # evaluated, not added: a strict policy forbids scripts
        found = self.page.evaluate("() => axe.run()")
        return [f"{v['id']}: {v['help']}: {node['target']}" for v in found["violations"] for node in v["nodes"]]
