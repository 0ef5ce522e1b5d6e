"""`evenhand runs` and `evenhand serve`: the runs in a folder with their headline numbers; and in the browser."""

import os
import sys
from pathlib import Path
from typing import Annotated, Any

from evenhand.cli import terminal
from evenhand.cli.common import Json, Names, print_json
from evenhand.core.described import Argument, Says, Several
from evenhand.errors import BadInput, RunError


def runs(
    folder: Annotated[Path, Argument("A folder of runs.")] = Path("runs"),
    remove: Annotated[str | None, Says("Delete the run of this name.", "RUN")] = None,
    yes: Annotated[bool, Says("With --remove: do not ask.", "--yes")] = False,
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
        print_json([about | {"results": [_row_as_json(row) for row in rows]} for about, rows in found])
    elif found:
        terminal.show(*(_table(about, rows) for about, rows in found))
    else:
        terminal.show(f"There are no runs in {folder}.")


def _described(folder: Path, listed: Any) -> tuple[dict[str, Any], list[Any]]:
    """A run as plain data, and its headline numbers if it can be read."""
    from evenhand.runs.folder import StoredRun

    whole = listed.folder == folder.resolve().name and (folder / "run.json").exists()
    path = folder if whole else folder / listed.folder
    about = {"run": str(path), "state": listed.state, "started": listed.started, "model": listed.model}
    try:
        rows = StoredRun.load(path).headlines() if listed.state == "finished" else []
    except RunError as error:
        return about | {"state": "damaged", "why": str(error)}, []
    return about | {"why": listed.why}, rows


def _of(row: Any) -> str:
    return ", ".join(filter(None, (row.estimand, row.contrast, *row.groups.values()))) or "all"


def _row_as_json(row: Any) -> dict[str, Any]:
    names = ("dataset", "measure", "estimand", "contrast", "groups", "value", "low", "high", "n")
    found = {name: None if (value := getattr(row, name)) != value else value for name in names}  # NaN is not itself
    return found | {"partial": row.task.partial, "of": _of(row), "lean": row.verdict.word}


def _table(about: dict[str, Any], rows: list[Any]) -> Any:
    from rich.console import Group

    from evenhand.show.tables import line, table

    title = line(f"{about['run']}  ", "bold").append(f"{about['started'][:16]}  {about['model']}", "dim")
    if not rows:
        return Group(title, line(f"  {about['state']}: {about['why']}", "yellow"))
    heads = ["  dataset", "measure", "of", "value [95 % interval]", "leans"]
    lines = []
    for row in rows:
        measure = f"{row.measure} (sample)" if row.task.partial else row.measure
        lines.append([f"  {row.dataset}", measure, _of(row), row.shown(), row.verdict.word])
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


def serve(
    folder: Annotated[Path, Argument("A folder with runs.", "DIR")] = Path("runs"),
    host: Annotated[str, Says("Where to listen. Other machines need a token.")] = "127.0.0.1",
    port: Annotated[int, Says("The port; 0 takes any free one.", min=0, max=65535)] = 8040,
    token: Annotated[
        str | None,
        Says("The token that visitors need. Default: generated and printed if needed.", envvar="EVENHAND_TOKEN"),
    ] = None,
    model: Annotated[Names, Several("Another model to probe: a folder or Hub id.")] = None,
    open_it: Annotated[bool, Says("Open the pages in your browser.", "--open")] = False,
) -> None:
    """Browse runs in the browser.

    List runs, compare two, probe a sentence, swap a text. Stop it with Ctrl-C.
    """
    from evenhand.core.foreign import need

    need("server", "The server")
    from evenhand.web.serving import listen

    listening = listen(folder, host=host, port=port, token=token, models=model or ())
    terminal.show(f"Serving {folder} at {listening.address}", "Ctrl-C ends it.")
    listening.run(open_it=open_it)
    sys.stdout.flush()
    os._exit(terminal.OK)  # a thread that still loads a model would keep the process alive for seconds
