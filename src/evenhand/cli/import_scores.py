"""`evenhand import`: make a run from scores that were computed elsewhere."""

from pathlib import Path
from typing import Annotated, Any

from evenhand.cli import common, terminal
from evenhand.cli.common import Names, arg, opt
from evenhand.cli.show import print_answer


def import_scores(
    file: Annotated[
        list[Path],
        arg(
            "csv, tsv, jsonl, parquet, txt (one number per line), files of lm-evaluation-harness or StereoSet, "
            "logs of our tasks in inspect (.eval, .json)."
        ),
    ],
    dataset: Annotated[str | None, opt("The dataset that was scored. Logs of our own tasks name it.", "NAME")] = None,
    measure: Annotated[Names, opt("The measure of the scores. Default: what suits. Repeatable.", "NAME")] = None,
    name: Annotated[str | None, opt("The model's name. Default: the log's, or the file's.", "MODEL")] = None,
    columns: Annotated[
        Names, opt("Column of id, text, other or score: text=Sentence. Repeatable.", "--column", "NAME=COLUMN")
    ] = None,
    option: common.Options = None,
    kind: Annotated[str | None, opt("The kind of model, if you know it: masked, causal or nli.", "KIND")] = None,
    seed: common.Seed = 0,
    out: Annotated[Path, opt("Write the run to OUT/<model>/.")] = Path("runs"),
    fresh: Annotated[bool, opt("Replace an existing run.", "--fresh")] = False,
    yes: Annotated[bool, opt("With --fresh: do not ask.", "--yes")] = False,
    as_json: common.Json = False,
) -> None:
    """Make a run from scores that were computed elsewhere.

    Rows are matched with the items of the dataset by id or text. The run records where its scores come from.
    """
    from evenhand.auditing.audit import run_folder
    from evenhand.auditing.importing.scores import name_of
    from evenhand.calls import from_scores

    folders = {one: run_folder(name or name_of(one), out) for one in file}
    for there in dict.fromkeys(folders.values()) if fresh else ():
        if (there / "run.json").exists():
            terminal.confirm(f"Replace the results in {there}?", yes=yes)
    what: dict[str, Any] = {"dataset": dataset, "measure": measure or None, "options": common.parsed(option)}
    what |= {"name": name, "kind": kind, "seed": seed, "columns": common.parsed(columns, "column", "text=Sentence")}
    runs: dict[Path, Any] = {}
    for one, there in folders.items():
        runs[there] = from_scores(one, out=out, fresh=fresh and there not in runs, **what)
    if as_json:
        common.print_json([row for run in runs.values() for row in run.results])
        return
    for run in runs.values():
        print_answer(run)
