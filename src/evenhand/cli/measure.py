"""`evenhand doctor` and `evenhand import`: check a model before it is measured; take scores from elsewhere."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from evenhand.cli import common, terminal
from evenhand.cli.common import Names, arg, opt
from evenhand.cli.show import print_answer
from evenhand.cli.terminal import as_options

NARROW, WIDE = 60, 120
SCORES = (
    "csv, tsv, jsonl, parquet, txt (one number per line), files of lm-evaluation-harness or StereoSet, logs of our "
    "tasks in inspect (.eval, .json)."
)


def doctor(
    context: typer.Context,
    model: Annotated[str, arg("A bundled name, a folder, a Hub id or openai:NAME.")] = "mini-en",
    lang: Annotated[str, opt("The language to measure it in: en, de, ja or zh.")] = "en",
    suite: Annotated[str, opt("Check the words and lengths of this suite.")] = "all",
    revision: common.Revision = None,
    dtype: common.Dtype = "float32",
    device: common.Device = None,
    trust_remote_code: common.RemoteCode = False,
    labels: common.Labels = "",
    model_option: common.ModelOptions = None,
    base_url: common.BaseUrl = None,
    concurrency: common.Concurrency = 8,
    samples: common.Samples = 20,
    as_json: common.Json = False,
    plugin: common.Plugins = None,
) -> None:
    """Check whether a model is fit to be measured.

    Prints a verdict for each check, and what to do. The exit code is 1 if something is unfit.
    """
    from evenhand.checks.doctor import doctor as look
    from evenhand.models.loading.names import find
    from evenhand.show.tables import doctored

    loading: dict[str, Any] = {"revision": revision, "dtype": dtype, "device": device, "labels": labels or ()}
    loading |= {"trust_remote_code": trust_remote_code, "base_url": base_url}
    loading |= {"model_options": common.model_options(model_option)}
    found = look(model, lang=lang, suite=suite, concurrency=concurrency, samples=samples, **loading)
    if as_json:
        common.print_json([asdict(finding) for finding in found])
    else:
        width = min(WIDE, max(NARROW, terminal.width()))
        advice = as_options([finding.do for finding in found], context)
        worded = [replace(finding, do=do) for finding, do in zip(found, advice, strict=True)]
        terminal.show(doctored(find(model).name, worded, width))
    if any(finding.verdict == "unfit" for finding in found):
        raise typer.Exit(1)


def import_scores(
    file: Annotated[list[Path], arg(SCORES)],
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
    from evenhand.calls.audit import from_scores

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
