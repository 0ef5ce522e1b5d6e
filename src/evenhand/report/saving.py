"""Write the page of runs to a file of one's choice."""

from collections.abc import Sequence
from pathlib import Path

from evenhand.core.files import check_new, prepare, write_whole
from evenhand.errors import BadInput
from evenhand.report.page import FILE, page
from evenhand.runs.folder import Run


def save(runs: Sequence[Run], out: str | Path | None = None, *, force: bool = False) -> Path:
    """Write the page, by default to report.html in the folder of one run, or here for several; give its path.

    A file that exists is replaced only with `force`; the page in a run's folder is ours, and always is.
    """
    path = Path(out).expanduser() if out is not None else runs[0].path / FILE if len(runs) == 1 else Path(FILE)
    if path.suffix.lower() not in (".html", ".htm"):
        raise BadInput(f"A page is an HTML file: `out` must end in .html. Got '{path}'.")
    check_new(path, force or path.resolve() in [(run.path / FILE).resolve() for run in runs])
    html = page(runs).encode()
    prepare(path.parent)
    write_whole(path, lambda file: file.write(html))
    return path
