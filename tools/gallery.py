"""Make the outputs that docs/gallery.md shows, with the commands that stand there.

    python -m tools.gallery

Files go to docs/gallery/, and the gate's summary into the page. The picture needs Chromium (make browser).
"""

import os
import re
import shutil
import tempfile
from pathlib import Path

from tools.printed import ROOT, printed

PAGE = ROOT / "docs" / "gallery.md"
OUT = ROOT / "docs" / "gallery"
COMMANDS = {
    "evenhand audit mini-en --suite becpro": {"runs/mini-en/report.html": "audit.html"},
    "evenhand export runs/mini-en --as latex --out table.tex": {"table.tex": "table.tex"},
    "evenhand audit mini-en --suite gbef --limit 48 --out gated": {},
    "evenhand gate gated/mini-en --policy examples/policy.toml --github-summary": {},
    "evenhand corpus examples/articles.csv --out runs/articles": {"runs/articles/report.html": "articles.html"},
}
"""What is run, in order and in one folder, and the files of it that are shown."""
SUMMARY = re.compile(r"(?<=<!-- written by tools/gallery.py -->\n\n).*?(?=\n\n<!-- to here -->)", re.S)


def main() -> None:
    """Run the commands, and keep what they leave."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "examples").symlink_to(ROOT / "examples")
        os.environ["GITHUB_STEP_SUMMARY"] = str(folder / "summary.md")
        for command, files in COMMANDS.items():
            printed(command, folder)
            for made, kept in files.items():
                shutil.copy(folder / made, OUT / kept)
        written(folder / "summary.md")
    picture(OUT / "audit.html", OUT / "audit.png")


def written(summary: Path) -> None:
    """Put the gate's summary into the page; its heading becomes bold, since the page has headings of its own."""
    text = re.sub(r"^#+ (.*)$", r"**\1**", summary.read_text(encoding="utf-8").strip(), flags=re.M)
    PAGE.write_text(SUMMARY.sub(lambda _: text, PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def picture(page: Path, out: Path) -> None:
    """The top of a page as a picture."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        opened = browser.new_page(viewport={"width": 1100, "height": 1000})
        opened.goto(page.as_uri())
        opened.screenshot(path=out)


if __name__ == "__main__":
    main()
