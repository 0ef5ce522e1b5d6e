"""What mkdocs does besides its own work when it builds the site (mkdocs.yml): generated pages, links, navigation.

README, CHANGELOG and CONTRIBUTING become pages of the site. The cards of measures and datasets, and the reference of
all public names, are made from the code. Links that lead out of docs/ work on GitHub, and lead there from the site.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
TOP = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
"""Files above docs/ that are pages of the site."""
LINK = re.compile(r"(\]\()([^)#\s]+)(#[^)]*)?(\))")
GROUPS = {
    "Audits and runs": "audit sweep track rescore from_scores Run compare export",
    "Models": "load Model Table Remembering",
    "Datasets and items": "Dataset Partners Sentence Blank Pair Triple Choice NliPair lint",
    "Measures": "Measure measure measure_all Association LikelihoodDifference Pronoun Score Result mean",
    "Questions": "Answer Fill Likelihood Choose Follows Entail Span",
    "Checks and gates": "doctor Gate Rule",
    "Debiasing": "swap debias Mitigation Wrapper",
    "Errors": "EvenhandError BadInput ModelError RunError",
}
"""The public names by subject; those in none of these stand at the end."""
RETURNED = (
    "analysis.comparison.Comparison",
    "gate.verdict.Verdict",
    "analysis.tracking.Track",
    "calls.debias.Debiased",
)
"""What functions return: their attributes are public, their names are not."""


def generated() -> dict[str, Callable[[], str]]:
    """The pages that are made when the site is built, by their place in docs/."""
    from tools import cards

    tops = {page: lambda file=file: (ROOT / file).read_text(encoding="utf-8") for file, page in TOP.items()}
    return {
        **tops,
        "measures/index.md": cards.measures_page,
        "datasets.md": cards.datasets_page,
        "reference/python.md": reference,
    }


def reference() -> str:
    """The page of all public names, which mkdocstrings fills."""
    import evenhand

    groups = {title: names.split() for title, names in GROUPS.items()}
    listed = [name for names in groups.values() for name in names]
    groups["Others"] = [name for name in evenhand.__all__ if name not in listed]
    lines = ["# Python", "", "All of these can be imported from `evenhand`: `from evenhand import audit`.", ""]
    for title, names in groups.items():
        if names:
            lines += [f"## {title}", "", *(f"::: evenhand.{name}\n" for name in names)]
    lines += ["## What they return", "", *(f"::: evenhand.{name}\n" for name in RETURNED)]
    return "\n".join(lines)


def for_site(markdown: str, here: str, pages: Sequence[str], source: str) -> str:
    """A page with links for the site: `here` is its file in the repository, `pages` are the files of the site."""

    def changed(found: re.Match[str]) -> str:
        before, target, anchor, after = found.groups()
        if "://" in target or target.startswith("mailto:"):
            return found[0]
        file = posixpath.normpath(posixpath.join(posixpath.dirname(here), target))
        page = TOP.get(file, file.removeprefix("docs/"))
        if page not in pages and not (ROOT / file).exists():
            return found[0]  # mkdocs says that it is broken
        if page not in pages:
            return f"{before}{source}/blob/main/{file}{anchor or ''}{after}"
        own = TOP.get(here, here.removeprefix("docs/"))
        return f"{before}{posixpath.relpath(page, posixpath.dirname(own) or '.')}{anchor or ''}{after}"

    parts = re.split(r"(```.*?```|`[^`\n]+`)", markdown, flags=re.S)
    return "".join(part if n % 2 else LINK.sub(changed, part) for n, part in enumerate(parts))


def expanded(nav: Sequence[Any], pages: Sequence[str]) -> list[Any]:
    """The navigation, in which a pattern stands for the pages it fits that nothing else names; no empty sections."""
    taken = {entry for entry in _entries(nav) if "*" not in entry}
    return _expanded(nav, pages, taken)


def _expanded(nav: Sequence[Any], pages: Sequence[str], taken: set[str]) -> list[Any]:
    found: list[Any] = []
    for entry in nav:
        if isinstance(entry, dict):
            ((title, inside),) = entry.items()
            if not isinstance(inside, list):
                found.append(entry)
            elif listed := _expanded(inside, pages, taken):
                found.append({title: listed})
        elif "*" in entry:
            fitting = [page for page in sorted(pages) if fnmatch(page, entry) and page.count("/") == entry.count("/")]
            found += (new := [page for page in fitting if page not in taken])
            taken.update(new)
        else:
            found.append(entry)
    return found


def _entries(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    elif isinstance(nav, dict):
        for inside in nav.values():
            yield from _entries(inside)
    else:
        for inside in nav:
            yield from _entries(inside)


def llms(pages: Sequence[tuple[str, str, str]]) -> str:
    """llms.txt (llmstxt.org): what the project is, and a link to each page with its first sentence."""
    import evenhand

    lines = [
        "# evenhand",
        "",
        "> Measures gender bias in language models and text corpora, with intervals: Python and command line, "
        f"version {evenhand.__version__}.",
        "",
        "## Documentation",
        "",
    ]
    lines += [
        f"- [{title}]({address}): {about}" if about else f"- [{title}]({address})" for title, address, about in pages
    ]
    return "\n".join(lines) + "\n"


def first_sentence(markdown: str) -> str:
    """The first sentence of a page's prose, without marks."""
    for paragraph in re.split(r"\n\s*\n", re.sub(r"<!--.*?-->|```.*?```", "", markdown, flags=re.S)):
        text = " ".join(paragraph.split())
        if text and not re.match(r"[#|`>*!<:-]|\d+\.", text) and not paragraph.startswith("    "):
            plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
            return re.split(r"(?<=[.?!])\s", plain)[0]
    return ""


def on_config(config: "MkDocsConfig") -> "MkDocsConfig":
    """Expand the patterns in the navigation."""
    import sys

    sys.path.insert(0, str(ROOT))
    docs = Path(config.docs_dir)
    pages = [*(path.relative_to(docs).as_posix() for path in docs.rglob("*.md")), *generated()]
    config.nav = expanded(config.nav or [], pages)
    return config


def on_files(files: "Files", config: "MkDocsConfig") -> "Files":
    """Add the generated pages."""
    from mkdocs.structure.files import File

    for page, made in generated().items():
        files.append(File.generated(config, page, content=made()))
    return files


def on_page_markdown(markdown: str, page: "Page", config: "MkDocsConfig", files: "Files") -> str:
    """Mend the links."""
    uri = page.file.src_uri
    here = next((file for file, target in TOP.items() if target == uri), f"docs/{uri}")
    return for_site(markdown, here, list(files.src_uris), config.extra["source"])


def on_page_content(html: str, page: "Page", config: "MkDocsConfig", files: "Files") -> str:
    """Keep options together in tables."""
    return unbroken(html)


def unbroken(html: str) -> str:
    """A page in which no browser breaks a line within an option, "--" and "suite", in the code of a table's cells."""

    def option(code: re.Match[str]) -> str:
        return re.sub(
            r"(?<!\S)--[\w-]+", r'<span class="option">\g<0></span>', code[0].replace("<code>--", "<code> --")
        )

    def cell(found: re.Match[str]) -> str:
        return re.sub(r"<code>[^<]*</code>", option, found[0]).replace("<code> <span", "<code><span")

    return re.sub(r"<td\b.*?</td>", cell, html, flags=re.S)


def on_post_build(config: "MkDocsConfig") -> None:
    """Write llms.txt and llms-full.txt, which has the text of all pages."""
    docs, site = Path(config.docs_dir), Path(config.site_dir)
    made = generated()
    listed: list[tuple[str, str, str]] = []
    whole: list[str] = []
    for uri in _entries(config.nav):
        text = made[uri]() if uri in made else (docs / uri).read_text(encoding="utf-8")
        heading = re.search(r"^# (.+)$", text, re.M)
        listed.append((heading[1] if heading else uri, uri.removesuffix(".md") + ".html", first_sentence(text)))
        whole.append(text.strip())
    (site / "llms.txt").write_text(llms(listed), encoding="utf-8")
    (site / "llms-full.txt").write_text("\n\n".join(whole) + "\n", encoding="utf-8")
