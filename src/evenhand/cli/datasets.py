"""`evenhand datasets`: list, show, export, fetch and lint datasets; `evenhand measures`: list the measures."""

import csv
import json
import math
from pathlib import Path
from typing import Annotated, Any, Unpack

import typer

from evenhand.cli import terminal
from evenhand.cli.terminal import Json, Names, Plugins, option_values, print_json
from evenhand.core.files import check_new, write_whole
from evenhand.core.parameters import Argument, Force, Lint, Says, Several
from evenhand.errors import BadInput, check_known

BREAKS = r"[\t\r\n]"
TABLES = ("tsv", "csv", "jsonl")
"""Formats of tables, by the endings of their files. A field of the last two may have line breaks."""
Name = Annotated[str, Argument("A dataset. `evenhand datasets list` has the names.")]
Options = Annotated[Names, Several("An option of the dataset.", "--option", "NAME=VALUE")]

app = typer.Typer(help="List, show, export, fetch and lint datasets.", no_args_is_help=True, rich_markup_mode=None)


@app.command("list", epilog="Example: evenhand datasets list")
def datasets_list(plugin: Plugins = None) -> None:
    """List the datasets."""
    from evenhand import datasets
    from evenhand.show.page import readings

    for name, builder in sorted(datasets.BUILDERS.items()):
        if needed := datasets.needed_by(name):
            terminal.show(f"{name}  from your own file: --option {needed[0]}=FILE")
            continue
        try:
            dataset = datasets.load(name)
            terminal.show(f"{name}  {len(dataset.items):,} items, {dataset.language}. {dataset.about}")
        except BadInput as error:  # a released corpus that was not fetched
            about = (builder.__doc__ or "").partition("\n")[0]
            terminal.show(f"{name}  {readings.dataset(name).rstrip('?')}. {about} Not here: {error}")


@app.command("show", epilog="Example: evenhand datasets show tgb --rows 20")
def datasets_show(
    name: Name,
    rows: Annotated[int, Says("How many rows to print.", min=1)] = 10,
    option: Options = None,
    plugin: Plugins = None,
) -> None:
    """Describe a dataset and print its first rows."""
    from evenhand import datasets
    from evenhand.core.dataset import table_of

    dataset = datasets.load(name, **option_values(option))
    terminal.show(f"{dataset.name}, version {dataset.version}: {len(dataset.items):,} items. {dataset.about}")
    for label, text in (("Source", dataset.source), ("Licence", dataset.licence), ("Flaws", dataset.flaws)):
        if text:
            terminal.show(f"{label}: {text}")
    with table_of(dataset) as table:
        shown = table.head(rows).replace(BREAKS, " ", regex=True)
        shown.index = shown.index.astype(str).str.replace(BREAKS, " ", regex=True)
        lines = shown.to_csv(sep="\t", quoting=csv.QUOTE_NONE).rstrip("\n")
    terminal.show("", lines)


@app.command("export", epilog="Example: evenhand datasets export becpro-en --out becpro.tsv")
def datasets_export(
    name: Name,
    out: Annotated[Path, Says("The .tsv, .csv or .jsonl file to write; for lm-eval, a folder.")],
    form: Annotated[
        str, Says("lm-eval: a task of lm-evaluation-harness. Default: the ending of `out`.", "--as", "FORMAT")
    ] = "",
    option: Options = None,
    force: Force = False,
) -> None:
    """Write a dataset as a table, or as a task of lm-eval.

    If the dataset was released, the columns have the names of the release.
    """
    from evenhand import datasets
    from evenhand.core.dataset import table_of

    check_known("format", [form] if form else [], (*TABLES, "lm-eval"))
    if form == "lm-eval":
        from evenhand.integrations.lm_eval import tasks

        options, its_own = option_values(option), datasets.options_of(name)
        dataset = datasets.load(name, **{key: value for key, value in options.items() if key in its_own})
        rest = {key: value for key, value in options.items() if key not in its_own}
        task = tasks.write(dataset, out, options=rest, force=force)
        chat = " --apply_chat_template" * task.endswith(tasks.CHAT)
        run = f"lm_eval --include_path {out} --tasks {task}{chat} --log_samples --output_path OUT --model ..."
        own = "".join(f" --dataset {name} --option {file}={options[file]}" for file in datasets.needed_by(name))
        then = f"evenhand import OUT/MODEL/samples_{task}_DATE.jsonl --name MODEL{own}"
        terminal.show(f"Task {task} in {out}. Run it: {run}", f"Then: {then}")
        return
    ending = out.suffix.removeprefix(".")
    if ending not in TABLES or ending != (form or ending):
        wanted = f".{form}" if form else f".{', .'.join(TABLES)}"
        raise BadInput(f"`out` must end in {wanted}. Got '{out}'.")
    check_new(out, force)
    with table_of(datasets.load(name, **option_values(option))) as table:
        if ending == "jsonl":
            rows = table.rename_axis(str(table.index.name or "id")).reset_index().astype(object)
            listed = rows.where(rows.notna(), None).to_dict("records")
            text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in listed)
        elif ending == "csv":  # texts in quotation marks: a field may have any kind of line break
            text = table.to_csv(quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        else:
            _check_breaks(table.reset_index().astype(str), out)
            text = table.to_csv(sep="\t", quoting=csv.QUOTE_NONE, lineterminator="\n")
        data = text.encode()
    write_whole(out, lambda file: file.write(data))
    terminal.show(f"{len(table):,} rows in {out}")


def _check_breaks(cells: Any, out: Path) -> None:
    """Raise BadInput if a cell has a tab or a line break, which a .tsv file cannot have."""
    for column in map(str, cells.columns):
        if (broken := cells[column].str.contains(BREAKS)).any():
            row = str(cells[broken].iloc[0, 0])
            raise BadInput(
                f"A .tsv file cannot have tabs or line breaks in its fields. The column '{column}' of the row '{row}' "
                f"has one. Choose another ending: {out.stem}.csv and {out.stem}.jsonl can have them."
            )


@app.command("fetch", epilog="Example: evenhand datasets fetch gap")
def datasets_fetch(name: Annotated[str, Argument("A released corpus: gap, nli-coal-en, ...")]) -> None:
    """Download a released corpus and verify its checksum.

    No other command downloads data.
    """
    from evenhand.datasets.files.releases import RELEASES, fetch

    paths = fetch(name)
    terminal.show(*map(str, paths), f"Please cite: {RELEASES[name].citation}.", f"Licence: {RELEASES[name].licence}.")


@app.command("lint", epilog="Example: evenhand datasets lint pairs.csv")
def datasets_lint(
    out: Annotated[Path | None, Says("Write all faults to this .tsv file.")] = None,
    force: Force = False,
    shown: Annotated[int, Says("How many faults to print per rule.", "--show", min=0)] = 3,
    as_json: Json = False,
    **given: Unpack[Lint],
) -> None:
    """Look for faults in sentence pairs.

    Finds pairs that differ in more than gendered words, nearly repeat others, or give a gender away. The exit
    code is 1 if it finds any.
    """
    from evenhand.checks.lint import lint
    from evenhand.show.tables import lint_table

    if out:
        check_new(out, force)
    if given["model"] == "none":
        given["model"] = None
    result = lint(**given)
    if out:
        text = result.frame.to_csv(sep="\t", index=False, quoting=csv.QUOTE_NONE, lineterminator="\n")
        write_whole(out, lambda file: file.write(text.encode()))
    if as_json:
        about = {name: getattr(result, name) for name in ("pairs", "clean", "failing", "unchecked")}
        print_json({**about, "faults": result.frame.to_dict("records")})
    else:
        terminal.show(lint_table(result.pairs, result.clean, result.failing, result.frame, shown))
    if result.faults:
        raise typer.Exit(1)


def measures(plugin: Plugins = None) -> None:
    """List the measures and how to read them."""
    from evenhand.core.measure import Traits
    from evenhand.measures import MEASURES

    for name, measure in sorted(MEASURES.items()):
        neutral = "no neutral value" if math.isnan(measure.neutral) else f"neutral at {measure.neutral:g}"
        terminal.show(f"{name} (version {measure.version}, {neutral})")
        terminal.show(f"    {str(measure.__doc__ or ' ').splitlines()[0]}\n    {measure.reading}")
        if answers := Traits.of(measure).answers:
            terminal.show(f"    made of {', '.join(answers)}")
