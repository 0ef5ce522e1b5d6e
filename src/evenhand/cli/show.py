"""`evenhand show`, `rescore`, `report`, `figures`, `export`: print a run, score it again, write its page and files.

`evenhand compare` and `table`: several runs in one table, to compare them or for a paper. `evenhand runs` and `serve`:
the runs in a folder with their headline numbers, in the terminal or in the browser.
"""

import logging
import os
import sys
from pathlib import Path
from typing import Annotated, Any, Unpack

from evenhand.cli import terminal
from evenhand.cli.terminal import Json, Names, Plugins, print_json, print_or_write
from evenhand.core.files import check_new, read_parsed, real_path
from evenhand.core.parameters import COMPARED, Argument, Export, Force, Rescore, Says, Several, TableOptions
from evenhand.errors import BadInput, RunError, check_known

FORMS = {".json": "json", ".md": "markdown", ".csv": "csv", ".tex": "latex"}
log = logging.getLogger(__name__)


def show(
    run: Annotated[Path, Argument("A run folder.")],
    full: Annotated[bool, Says("Print every value, not only the main ones.", "--full")] = False,
    dataset: Annotated[Names, Several("Print every value of this dataset.")] = None,
    frequency: Annotated[Path | None, Says("With --full: a .tsv file of attributes and corpus frequencies.")] = None,
    command: Annotated[bool, Says("Print the command that made the run.", "--command")] = False,
    as_json: Json = False,
    plugin: Plugins = None,
) -> None:
    """Print the results of a run: the main ones, or every value."""
    from evenhand.runs.folder import StoredRun

    loaded = StoredRun.load(run)
    if command:
        from evenhand.auditing.spec import commands

        terminal.show(*commands(loaded.record))
        return
    check_known("dataset of this run", dataset or (), loaded.datasets)
    if as_json:
        print_json([row for row in loaded.results if not dataset or row["dataset"] in dataset])
    elif full or dataset or frequency:
        from evenhand.show.terminal import scorecard

        terminal.show(scorecard(loaded, dataset or (), frequency=_read_frequencies(frequency) if frequency else None))
    else:
        print_answer(loaded)


def rescore(as_json: Json = False, plugin: Plugins = None, **given: Unpack[Rescore]) -> None:
    """Score a run again from its stored answers, without the model."""
    from evenhand.calls.audit import rescore as rescore_run

    run = rescore_run(**given)
    if as_json:
        print_json(run.results)
    else:
        print_answer(run)
    terminal.check_pages([run.path])


def print_answer(run: Any, *, whole: bool = True) -> None:
    """Print the main results of a run on one screen, or without `whole` only the first lines of it."""
    from evenhand.show.terminal import answer, brief, fit_width

    width = fit_width(terminal.width())
    logged = terminal.logged_lines()
    terminal.show(answer(run, width, logged) if whole else brief(run, logged), width=width)


def _read_frequencies(path: Path) -> dict[str, float]:
    """The number of each word, from a file with a word, a tab and a number on each line."""
    try:
        rows = [line.split("\t") for line in read_parsed(path, str.splitlines) if line.strip()]
        return {word: float(number) for word, number in rows}
    except (OSError, ValueError) as error:
        raise BadInput(f"'{path}' must have a word, a tab and a number on each line. Got: {error}.") from error


def report(
    runs: Annotated[list[Path], Argument("One run, or several side by side.", "RUN...")],
    out: Annotated[
        Path | None, Says("The file to write. Default: report.html, in the run's folder or, for several runs, here.")
    ] = None,
    force: Force = False,
    plugin: Plugins = None,
) -> None:
    """Write the HTML page of one or more runs.

    The page is one file with scorecard, charts and sentences. It needs no network.
    """
    from evenhand.runs.folder import StoredRun
    from evenhand.show.page.runs import save

    terminal.show(str(save([StoredRun.load(run) for run in runs], out, force=force)))


def figures(
    runs: Annotated[list[Path], Argument("Run folders; several are drawn side by side.", "RUN...")],
    out: Annotated[Path, Says("The folder for the charts.")] = Path("figures"),
    suffix: Annotated[str, Says("svg, pdf, png or html.", "--format")] = "svg",
    corpus: Annotated[str | None, Says("Mark the professions in this corpus or file.", "--seen")] = None,
    force: Force = False,
    plugin: Plugins = None,
) -> None:
    """Draw charts of runs.

    Draws what the runs measured: BEC-Pro by profession, pronoun templates, sentence pairs, NLI labels.
    """
    from evenhand.datasets.corpora.texts import sentences
    from evenhand.papers.equalising import professions_in
    from evenhand.runs.folder import StoredRun
    from evenhand.show.figures import draw

    loaded, known = [StoredRun.load(run) for run in runs], None
    if corpus is not None:
        scores = loaded[0].scores
        words: list[str] = scores["profession"].dropna().tolist() if "profession" in scores else []
        known = professions_in(words, sentences(corpus))
    for path in draw(loaded, out, suffix, known, force=force):
        terminal.show(str(path))


def export(**given: Unpack[Export]) -> None:
    """Write runs as csv, LaTeX, BibTeX, a model card and more.

    Every value is written with its interval.
    """
    from evenhand.formats import export as export_runs

    text = export_runs(**given)
    if "out" not in given and "into" not in given:
        terminal.show(text.removesuffix("\n"))


def compare(
    runs: Annotated[list[Path], COMPARED],
    form: Annotated[
        str | None, Says("table (default), csv, json, latex, markdown.", "--as", show_default=False)
    ] = None,
    as_json: Json = False,
    as_markdown: Annotated[bool, Says("", "--markdown", hidden=True)] = False,
    chart: Annotated[Path | None, Says("Draw the changes to a .svg, .pdf, .png or .html file.")] = None,
    out: Annotated[Path | None, Says("Write to a .csv, .json, .md or .tex file.")] = None,
    force: Force = False,
    plugin: Plugins = None,
) -> None:
    """Compare runs with a baseline, item by item.

    Shows what changed, by how much, and whether it could be chance. The first run is the baseline.
    """
    from evenhand.run import compare as compare_runs
    from evenhand.show import comparison

    form = _form(form, as_json, as_markdown, out)
    if chart is not None:
        from evenhand.show.plots import check_suffix, save  # drawing libraries take time to load

        check_suffix(chart)
        check_new(chart, force, "chart")
    if out is not None:
        check_new(out, force)
    compared = compare_runs(*runs, judged=form not in ("csv", "json"))
    if chart is not None:
        from evenhand.show.figures import changes

        save(changes(compared), chart)
    if form == "table":
        terminal.show(comparison.terminal(compared), *([f"Chart: {chart}"] if chart is not None else []))
    else:
        plain = {"json": compared.to_json, "csv": compared.to_csv}
        print_or_write(plain[form]() if form in plain else getattr(comparison, form)(compared), out)


def _form(form: str | None, as_json: bool, as_markdown: bool, out: Path | None) -> str:
    """The format to print or write: the format that the options name, otherwise that of the file's ending."""
    if as_markdown:
        log.warning("--markdown is deprecated, and will be removed in 0.3.0: use --as markdown.")
    forms = [name for name in (form, as_json and "json", as_markdown and "markdown") if name]
    if len(set(forms)) > 1:
        raise BadInput(f"Choose one form of the comparison. Got {' and '.join(forms)}.")
    check_known("form of a comparison", forms, ["table", *sorted(FORMS.values())])
    if forms == ["table"] and out is not None:
        raise BadInput(f"The form 'table' can only be printed. Got --out '{out}'. Choose another form with --as.")
    if not forms and out is not None and out.suffix not in FORMS:
        raise BadInput(f"--out must end in {', '.join(FORMS)}, unless --as names the form. Got '{out}'.")
    return forms[0] if forms else FORMS[out.suffix] if out else "table"


def table(
    to: Annotated[
        str | None, Says("latex, csv or markdown. Default: by the ending of `out`.", "--as", "FORMAT")
    ] = None,
    out: Annotated[Path | None, Says("A file to write to. Default: print.")] = None,
    force: Force = False,
    plugin: Plugins = None,
    **given: Unpack[TableOptions],
) -> None:
    """Write one table of several models for a paper.

    Models by numbers, each with its interval and how large its lean is. Details and trust stand in a note below.
    """
    from evenhand.show.paper_table import table as make

    forms = {suffix: form for suffix, form in FORMS.items() if form != "json"}
    to = to or forms.get(out.suffix if out else ".md", "")
    check_known("format of a table", [to], forms.values())
    if out is not None:
        check_new(out, force)
    print_or_write(getattr(make(**given), f"to_{to}")(), out)


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
        raise BadInput(f"There is no folder '{folder}'. Give the folder that contains the runs.")
    if remove is not None:
        _remove(folder, remove, yes)
        return
    described = [_describe_run(folder, listed) for listed in Runs(folder).all()]
    if as_json:
        print_json([about | {"results": [_row_as_json(row) for row in rows]} for about, rows in described])
    elif described:
        terminal.show(*(_run_table(about, rows) for about, rows in described))
    else:
        terminal.show(f"There are no runs in {folder}.")


def _describe_run(folder: Path, listed: Any) -> tuple[dict[str, Any], list[Any]]:
    """A run as plain data, and its headline rows, which are empty if the run is unfinished or cannot be read."""
    from evenhand.runs.folder import StoredRun

    is_root = listed.folder == real_path(folder).name and (folder / "run.json").exists()
    path = folder if is_root else folder / listed.folder
    about = {"run": str(path), "state": listed.state, "started": listed.started, "model": listed.model}
    try:
        rows = StoredRun.load(path).headlines() if listed.state == "finished" else []
    except RunError as error:
        return about | {"state": "damaged", "why": str(error)}, []
    return about | {"why": listed.why}, rows


def _subject(row: Any) -> str:
    return ", ".join(filter(None, (row.estimand, row.contrast, *row.groups.values()))) or "all"


def _row_as_json(row: Any) -> dict[str, Any]:
    names = ("dataset", "measure", "estimand", "contrast", "groups", "value", "low", "high", "n")
    plain = {name: None if (value := getattr(row, name)) != value else value for name in names}  # NaN != NaN
    return plain | {"partial": row.task.partial, "of": _subject(row), "lean": row.verdict.word}


def _run_table(about: dict[str, Any], rows: list[Any]) -> Any:
    from rich.console import Group

    from evenhand.show.tables import line, table

    title = line(f"{about['run']}  ", "bold").append(f"{about['started'][:16]}  {about['model']}", "dim")
    if not rows:
        return Group(title, line(f"  {about['state']}: {about['why']}", "yellow"))
    heads = ["  dataset", "measure", "of", "value [95 % interval]", "leans"]
    lines = []
    for row in rows:
        measure = f"{row.measure} (sample)" if row.task.partial else row.measure
        lines.append([f"  {row.dataset}", measure, _subject(row), row.shown(row.spec), row.verdict.word])
    return Group(title, table(heads, lines, left=[*heads[:3], "leans"]))


def _remove(folder: Path, name: str, yes: bool) -> None:
    from evenhand.runs import folder as run_folder

    path = folder / name if (folder / name).is_dir() else Path(name)
    if not any((path / file).exists() for file in ("run.json", run_folder.ANSWERS)):
        raise BadInput(f"'{name}' is not a run in '{folder}'. See `evenhand runs {folder}`.")
    terminal.confirm(f"Delete the run '{path}', with its answers and results?", yes=yes)
    with run_folder.lock_folder(path):
        run_folder.clear(path)
    remaining = sorted(file.name for file in path.iterdir())
    if remaining:
        terminal.show(f"Deleted the run in {path}. Other files stay there: {', '.join(remaining)}.")
    else:
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
    from evenhand.web.server import listen

    server = listen(folder, host=host, port=port, token=token, models=model or ())
    terminal.show(f"Serving {folder} at {server.address}", "Ctrl-C ends it.")
    server.run(open_it=open_it)
    sys.stdout.flush()
    os._exit(terminal.OK)  # a thread that still loads a model would keep the process alive for seconds
