"""The page: one HTML file that shows one or more runs, and needs no network."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from markupsafe import Markup

from evenhand.core.files import check_new, prepare, public_path, real_path, write_whole
from evenhand.errors import BadInput
from evenhand.formats.cells import with_code
from evenhand.runs.comparable import distinct_names, same_task
from evenhand.runs.folder import StoredRun
from evenhand.show.page import provenance, readings
from evenhand.show.page.changes import Changed
from evenhand.show.page.charts import pictures
from evenhand.show.page.items import items_of
from evenhand.show.page.section import Measured
from evenhand.show.page.short import besides, lead, limits, main_leans, summary
from evenhand.stats.verdict import RULE, SIZES

FILE = "report.html"


def page(runs: Sequence[StoredRun]) -> str:
    """The page of one run, or of several runs with the same tasks: side by side, or before and after a debiasing."""
    if not runs:
        raise BadInput("A page needs at least one run. Got none.")
    tasks = runs[0].record.tasks
    for task in tasks:
        same_task(runs, task.dataset, task.measure)
    names, debiased = run_names(runs)
    changed = Changed(runs, names, debiased) if len(runs) == 2 else None
    sections = [Measured(runs, names, task, changed.moves if changed else None) for task in tasks]
    datasets: dict[str, list[Measured]] = {}
    for section in sections:
        datasets.setdefault(section.dataset, []).append(section)
    return render(
        "page.html.j2",
        runs=list(zip(names, runs, strict=True)),
        title=_title(names, runs, debiased is not None),
        datasets={name: (members, items_of(members)) for name, members in datasets.items()},
        sections=sections,
        numbers={section.key: place for place, section in enumerate(sections, 1)},
        summary=summary(sections),
        limits=list(limits(runs[0].record)),
        changed=changed,
        gates=[(name, gate) for name, run in zip(names, runs, strict=True) if (gate := provenance.gate(run))],
    )  # fmt: skip


def run_names(runs: Sequence[StoredRun]) -> tuple[list[str], Mapping[str, Any] | None]:
    """The names of the runs, and the record of the debiasing that made the second of two from the first, if any.

    Without a record the order of two models is unknown, so neither is called before or after.
    """
    debiased = provenance.debiasing(runs)
    if debiased is None:
        return distinct_names(runs), None
    return [f"{when}: {run.record.model}" for when, run in zip(("before", "after"), runs, strict=True)], debiased


def write(runs: Sequence[StoredRun], path: Path) -> None:
    """Write the page."""
    html = page(runs).encode()
    write_whole(path, lambda file: file.write(html))


def policy() -> str:
    """The page's Content-Security-Policy: its own style and script by their hashes, and nothing from anywhere else."""
    digests = (hashlib.sha256(_read_asset(name).encode()).digest() for name in ("style.css", "page.js"))
    style, script = (base64.b64encode(digest).decode() for digest in digests)
    return (
        f"default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _title(names: Sequence[str], runs: Sequence[StoredRun], debiased: bool) -> str:
    if debiased:
        return f"{runs[0].record.model}, before and after debiasing"
    return " and ".join(names) if len(names) <= 2 else f"{len(names)} models side by side"


def _read_asset(name: str) -> str:
    return (files("evenhand.show.page") / "look" / name).read_text(encoding="utf-8")


def render(template: str, /, **known: Any) -> str:
    """The page that the template with this name renders."""
    return str(_environment().get_template(template).render(**known))


def environment(*folders: str) -> Any:
    """A jinja2.Environment of the templates in these folders of show/."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined  # a tenth of a second

    loader = ChoiceLoader([PackageLoader(f"evenhand.show.{folder}", "look") for folder in folders])
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.filters["code"] = with_code
    return made


@cache
def _environment() -> Any:
    """The templates of pages, with our style and script."""
    made = environment("page")
    made.filters["language_name"] = readings.language
    made.globals |= {
        "lead": lead,
        "besides": besides,
        "main_leans": main_leans,
        "pictures": pictures,
        "facts": provenance.facts,
        "sources": provenance.sources,
        "dataset_title": readings.dataset,
        "probability": readings.probability,
        "lean_rule": RULE,
        "size_rule": SIZES,
        "by_chance": readings.BY_CHANCE,
        "public_path": public_path,
        "policy": policy(),
        "style": Markup(_read_asset("style.css")),  # our own files, the only text that is not escaped
        "script": Markup(_read_asset("page.js")),
    }
    return made


def save(runs: Sequence[StoredRun], out: str | Path | None = None, *, force: bool = False) -> Path:
    """Write the page, by default to report.html in the folder of one run, or here for several; return its path.

    An existing file is replaced only with `force`, except for the page in a run's own folder.
    """
    path = Path(out).expanduser() if out is not None else runs[0].path / FILE if len(runs) == 1 else Path(FILE)
    if path.suffix.lower() not in (".html", ".htm"):
        raise BadInput(f"`out` must end in .html, since a page is an HTML file. Got '{path}'.")
    check_new(path, force or real_path(path) in [real_path(run.path / FILE) for run in runs])
    html = page(runs).encode()
    prepare(path.parent)
    write_whole(path, lambda file: file.write(html))
    return path
