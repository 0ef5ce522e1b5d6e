"""`evenhand runs`: list the runs in a folder with their headline numbers, or remove one."""

import math
from pathlib import Path
from typing import Annotated, Any

from evenhand.cli import terminal
from evenhand.cli.common import Json, arg, opt, print_json
from evenhand.errors import BadInput, RunError


def runs(
    folder: Annotated[Path, arg("A folder of runs.")] = Path("runs"),
    remove: Annotated[str | None, opt("Delete the run of this name.", "RUN")] = None,
    yes: Annotated[bool, opt("With --remove: do not ask.", "--yes")] = False,
    as_json: Json = False,
) -> None:
    """List runs with one number for each dataset, or remove a run.

    The number is the one that the verdict is about: women minus men if items are partners.
    """
    from evenhand.web.listing import Runs

    if not folder.is_dir():
        raise BadInput(f"There is no folder '{folder}'. Give the folder that audits wrote to.")
    if remove is not None:
        _remove(folder, remove, yes)
        return
    found = [_described(folder, one) for one in Runs(folder).all()]
    if as_json:
        print_json(found)
    elif found:
        terminal.show(*map(_table, found))
    else:
        terminal.show(f"There are no runs in {folder}.")


def _described(folder: Path, listed: Any) -> dict[str, Any]:
    """A run as plain data, with its headline numbers if it can be read."""
    from evenhand.analysis.summary import headlines
    from evenhand.runs.folder import StoredRun

    path = (
        folder if listed.folder == folder.resolve().name and (folder / "run.json").exists() else folder / listed.folder
    )
    row: dict[str, Any] = {"run": str(path), "state": listed.state, "started": listed.started, "model": listed.model}
    if listed.state != "finished":
        return row | {"why": listed.why, "results": []}
    try:
        found = headlines(StoredRun.load(path))
    except RunError as error:
        return row | {"state": "damaged", "why": str(error), "results": []}
    keys = ("dataset", "measure", "estimand", "contrast", "groups")
    of = [", ".join(filter(None, (r.estimand, r.contrast, *r.groups.values()))) or "all" for r in found]
    results = [
        {k: getattr(row, k) for k in keys}
        | {k: None if math.isnan(number := getattr(row, k)) else number for k in ("value", "low", "high")}
        | {"n": row.n, "partial": row.task.partial, "of": name, "lean": row.verdict.word}
        for row, name in zip(found, of, strict=True)
    ]
    return row | {"why": "", "results": results}


def _table(row: dict[str, Any]) -> Any:
    from rich.console import Group

    from evenhand.report.tables import estimate, line, table

    title = line(f"{row['run']}  ", "bold").append(f"{row['started'][:16]}  {row['model']}", "dim")
    if not row["results"]:
        return Group(title, line(f"  {row['state']}: {row['why']}", "yellow"))
    lines = [
        [
            f"  {one['dataset']}",
            one["measure"] + (" (sample)" if one["partial"] else ""),
            one["of"],
            estimate({k: one[k] if one[k] is not None else float("nan") for k in ("value", "low", "high")}).shown(),
            one["lean"],
        ]
        for one in row["results"]
    ]
    heads = ["  dataset", "measure", "of", "value [95 % interval]", "leans"]
    return Group(title, table(heads, lines, left=[*heads[:3], "leans"]))


def _remove(folder: Path, name: str, yes: bool) -> None:
    from evenhand.runs import folder as run_folder

    path = folder / name if (folder / name).is_dir() else Path(name)
    if not any((path / file).exists() for file in ("run.json", run_folder.ANSWERS)):
        raise BadInput(f"'{name}' is not a run in '{folder}'. See `evenhand runs {folder}`.")
    terminal.confirm(f"Delete the run '{path}', with its answers and results?", yes=yes)
    with run_folder.locked(path):
        run_folder.clear(path)
    left = sorted(file.name for file in path.iterdir())
    if left:
        terminal.show(f"Deleted the run in {path}. Other files stay there: {', '.join(left)}.")
        return
    path.rmdir()
    terminal.show(f"Deleted {path}.")
