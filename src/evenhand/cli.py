"""The command line: arguments, one call, print. Heavy imports wait until a command needs them."""

import csv
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from evenhand import __version__, terminal
from evenhand.commands.nli import app as nli_app
from evenhand.errors import BadInput
from evenhand.launched import processes

app = typer.Typer(
    name="evenhand",
    help="Measure gender bias in language models, with intervals.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
datasets_app = typer.Typer(
    help="List, look at, export, fetch and lint datasets.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(datasets_app, name="datasets")
app.add_typer(nli_app, name="nli")

Options = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="An option of a dataset or measure: masks=words. Repeatable."),
]
Json = Annotated[bool, typer.Option("--json", help="Print results as JSON, for machines.")]


TOGETHER = ("debias", "nli")
"""Commands that several processes may run together."""


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
) -> None:
    """Measure gender bias in language models, with intervals."""
    if version:
        terminal.show(f"evenhand {__version__}")
        raise typer.Exit
    if processes() > 1 and context.invoked_subcommand not in TOGETHER:
        raise BadInput(
            f"'evenhand {context.invoked_subcommand}' runs in one process. Got {processes()}: start it without a "
            f"launcher. Several processes can train: {', '.join(TOGETHER)}."
        )


@app.command()
def audit(
    models: Annotated[
        list[str] | None,
        typer.Argument(metavar="MODEL", help="Bundled names, folders or Hub ids. Default: the bundled mini-en."),
    ] = None,
    suite: Annotated[
        str,
        typer.Option(
            help="becpro, emotions, gbef, kinds, nli, or all: nli for a model of inference, "
            "for a masked one the others without kinds."
        ),
    ] = "all",
    lang: Annotated[str, typer.Option(help="Language of the suite: en or de; nli: en, ja or zh.")] = "en",
    templates: Annotated[Path | None, typer.Option(help="Measure your own sentences: a template file (TOML).")] = None,
    pairs: Annotated[
        Path | None, typer.Option(help="Measure your own sentence pairs: csv, tsv, jsonl or parquet.")
    ] = None,
    dataset: Annotated[str | None, typer.Option(help="Measure one dataset, by name, instead of a suite.")] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(help="With a dataset: a measure by name; default: all that suit it. Repeatable."),
    ] = None,
    option: Options = None,
    limit: Annotated[int | None, typer.Option(help="A sample of so many items each: a smoke run, partial.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    out: Annotated[Path, typer.Option(help="Runs go to OUT/<model>/.")] = Path("runs"),
    revision: Annotated[str | None, typer.Option(help="Branch, tag or commit on the Hub.")] = None,
    dtype: Annotated[str, typer.Option(help="float32, bfloat16 or float16.")] = "float32",
    device: Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1, mps. Default: cuda if there is one.")] = None,
    batch_size: Annotated[str, typer.Option(metavar="N|auto", help="Inputs in a batch.")] = "auto",
    trust_remote_code: Annotated[bool, typer.Option(help="Run code that a Hub model brings along.")] = False,
    labels: Annotated[
        str,
        typer.Option(
            metavar="A,B,C", help="What a classifier's outputs stand for, if it does not say: entailment,neutral,..."
        ),
    ] = "",
    as_json: Json = False,
) -> None:
    """Measure models and print their scorecards. The same command again goes on where it was stopped."""
    from evenhand.auditing import audit as audit_one
    from evenhand.auditing import run_folder
    from evenhand.models.names import DEFAULT

    models = models or [DEFAULT]
    folders = [run_folder(model, out) for model in models]
    if len(set(folders)) < len(folders):
        raise BadInput(f"Two models would share a run folder: {', '.join(map(str, folders))}. Audit them apart.")
    runs = []
    try:
        for model in models:
            run = audit_one(
                model,
                suite=suite,
                lang=lang,
                templates=templates,
                pairs=pairs,
                dataset=dataset,
                measure=measure or (),
                options=_parsed(option),
                limit=limit,
                seed=seed,
                out=out,
                revision=revision,
                dtype=dtype,
                device=device,
                batch_size=batch_size if batch_size == "auto" else _whole(batch_size),
                trust_remote_code=trust_remote_code,
                labels=labels,
            )
            runs.append(run)
            if not as_json:
                _print_scorecard(run)
        if len(runs) > 1 and not as_json:
            _print_side_by_side(runs, out)
    finally:
        if as_json and runs:  # also those that were done before a later one failed
            _print_json([row for run in runs for row in run.results])


@app.command()
def rescore(run: Annotated[Path, typer.Argument(help="A run folder.")], as_json: Json = False) -> None:
    """Score a run again from the answers it kept, without its model."""
    from evenhand.auditing import rescore as rescore_run

    scored = rescore_run(run)
    if as_json:
        _print_json(scored.results)
    else:
        _print_scorecard(scored)


@app.command()
def show(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    frequency: Annotated[
        Path | None, typer.Option(help="A .tsv of attribute and corpus frequency: do scores merely follow it?")
    ] = None,
) -> None:
    """Print the scorecard of a run again."""
    from evenhand.folder import Run

    _print_scorecard(Run.load(run), _numbers(frequency) if frequency else None)


@app.command()
def figures(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    after: Annotated[
        Path | None, typer.Argument(help="A run of the same model after debiasing, to set beside it.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where the figures go.")] = Path("figures"),
    suffix: Annotated[str, typer.Option("--format", help="svg, png or html.")] = "svg",
    corpus: Annotated[
        str | None, typer.Option("--seen", help="gap, mt-gender or a text file: mark the professions that are in it.")
    ] = None,
) -> None:
    """Draw what the run has measured: BEC-Pro, pronoun templates, sentence pairs, labels of inference."""
    from evenhand.folder import Run
    from evenhand.report.figures import draw

    loaded = Run.load(run)
    for path in draw(loaded, Run.load(after) if after else None, out, suffix, _seen(loaded, corpus)):
        terminal.show(str(path))


@app.command()
def reproduce(
    paper: Annotated[str, typer.Argument(help="bartl2020 or barza2023.")],
    model: Annotated[
        list[str] | None, typer.Option(help="The English model, before; for barza2023 repeatable, default its six.")
    ] = None,
    post: Annotated[str | None, typer.Option(help="The same model after fine-tuning, if you have it.")] = None,
    finetune: Annotated[str | None, typer.Option(help="Fine-tune now: gap, or a text file.")] = None,
    recipe: Annotated[
        str | None, typer.Option(help="bartl-paper, bartl-released, bartl-released-padded or default (quick).")
    ] = None,
    german_model: Annotated[str | None, typer.Option(help="A German model, for Table 5.")] = None,
    mode: Annotated[
        str | None, typer.Option("--as", help="paper (default): as the paper says; released: as its code does.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Runs and fine-tuned models go here.")] = Path("runs/reproduce"),
    as_json: Json = False,
) -> None:
    """Run a paper's study and print its tables beside ours."""
    from evenhand.report.tables import reproduction
    from evenhand.reproducing import reproduce as run_study

    if paper == "bartl2020" and len(model or ()) > 1:
        raise BadInput(f"bartl2020 is a study of one English model. Got {', '.join(model or ())}.")
    options: dict[str, Any] = {"models": model} if paper == "barza2023" else {"model": model[0] if model else None}
    options |= {"post": post, "finetune": finetune, "recipe": recipe, "german_model": german_model, "mode": mode}
    done = run_study(paper, out=out, **{name: value for name, value in options.items() if value is not None})
    if as_json:
        terminal.show(done.cells.to_json(orient="records", indent=1))
    else:
        terminal.show(reproduction(done.cells, done.notes, done.claims))


@app.command()
def swap(
    file: Annotated[Path, typer.Argument(help="Texts: txt (a document a line), csv, tsv, jsonl or parquet.")],
    out: Annotated[Path | None, typer.Option(help="Default: FILE.swapped.EXT, beside it.")] = None,
    column: Annotated[str, typer.Option(help="Where the texts are, in a csv, tsv, jsonl or parquet file.")] = "text",
    share: Annotated[float, typer.Option(help="The share of documents to rewrite: 0.5 for a balanced corpus.")] = 1.0,
    augment: Annotated[bool, typer.Option(help="Keep each document, and its counterpart beside it.")] = False,
    names: Annotated[bool, typer.Option(help="Swap first names too.")] = True,
    name_list: Annotated[str | None, typer.Option(help="Your own names: male, tab, female, on each line.")] = None,
    trail: Annotated[bool, typer.Option(help="Write every edit to OUT.trail.jsonl.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of the choice of documents.")] = 0,
    jobs: Annotated[int | None, typer.Option(help="Processes. Default: one for each core.")] = None,
) -> None:
    """Swap the gender of texts: he and she, her to him or his as grammar wants, nouns, titles, first names."""
    from evenhand.swapping import swap as swap_file

    done = swap_file(
        file,
        out,
        column=column,
        share=share,
        augment=augment,
        names=names,
        name_list=name_list,
        trail=trail,
        seed=seed,
        jobs=jobs,
    )
    edits = ", ".join(f"{rule} {n:,}" for rule, n in done.edits.items())
    terminal.show(f"{done.rewritten:,} of {done.documents:,} documents rewritten. Edits: {edits or 'none'}.")
    terminal.show(f"Written: {done.out}" + (f", {done.trail}" if done.trail else ""))


@app.command()
def debias(
    model: Annotated[str, typer.Argument(help="A bundled name, a folder or a Hub id.")] = "mini-en",
    out: Annotated[Path, typer.Option(help="OUT/model is the new model, OUT/before and OUT/after the runs.")] = Path(
        "runs/debiased"
    ),
    corpus: Annotated[
        str, typer.Option(help="balanced (bundled), gap, gap-flipped, mt-gender, or a text file.")
    ] = "balanced",
    share: Annotated[
        float | None, typer.Option(help="Share of documents to swap. Default: 0.5, or 0 where the corpus is balanced.")
    ] = None,
    remind: Annotated[
        list[str] | None, typer.Option(help="Add reminders: pregnant, breastfeed, or a file. Repeatable.")
    ] = None,
    repeat: Annotated[int, typer.Option(help="How many times each reminder is there.")] = 1,
    recipe: Annotated[
        str, typer.Option(help="default, bartl-paper, bartl-released or bartl-released-padded.")
    ] = "default",
    suite: Annotated[str, typer.Option(help="What to measure before and after.")] = "all",
    limit: Annotated[int | None, typer.Option(help="Measure a sample of so many items each.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
) -> None:
    """Fine-tune a model on gender-swapped text, and compare it before and after: what was gained, what was lost."""
    from evenhand.debiasing import debias as debias_model
    from evenhand.report.tables import debiased

    done = debias_model(
        model,
        out=out,
        corpus=corpus,
        share=share,
        remind=remind or (),
        repeat=repeat,
        recipe=recipe,
        suite=suite,
        limit=limit,
        seed=seed,
    )
    terminal.show(debiased(done.balance, done.changes, done.language, done.alarms))
    terminal.show(f"Model: {done.model}", f"Runs: {done.before.path}, {done.after.path}")


@app.command()
def corpus(
    files: Annotated[list[str], typer.Argument(help="Text files, a document a line, or gap, mt-gender, balanced.")],
    seed: Annotated[int, typer.Option(help="Seed of the intervals.")] = 0,
    as_json: Json = False,
) -> None:
    """Count who is in a corpus, beside which professions, and in what company."""
    from evenhand.corpus import count
    from evenhand.datasets.texts import documents
    from evenhand.report.tables import counted

    found = {Path(file).name: count(documents(file), seed=seed) for file in files}
    if as_json:
        _print_json({name: one.as_json() for name, one in found.items()})
        return
    for name, one in found.items():
        terminal.show(counted(name, one.summary, one.beside, one.contexts))


@app.command()
def measures() -> None:
    """List the measures: what they give, and how to read it."""
    from evenhand.measures import MEASURES

    for name, measure in sorted(MEASURES.items()):
        neutral = "no neutral value" if math.isnan(measure.neutral) else f"neutral at {measure.neutral:g}"
        terminal.show(f"{name} (version {measure.version}, {neutral})")
        terminal.show(f"    {(measure.__doc__ or '').splitlines()[0]}\n    {measure.reading}")


@datasets_app.command("list")
def datasets_list() -> None:
    """List the datasets."""
    from evenhand import datasets

    for name in sorted(datasets.BUILDERS):
        if needed := datasets.needed_by(name):
            terminal.show(f"{name}  from a file of yours: --option {needed[0]}=FILE")
            continue
        try:
            dataset = datasets.load(name)
            terminal.show(f"{name}  {len(dataset.items):,} items, {dataset.language}. {dataset.about}")
        except BadInput as error:  # a released corpus that is not there
            terminal.show(f"{name}  {error}")


@datasets_app.command("show")
def datasets_show(
    name: str, rows: Annotated[int, typer.Option(help="How many rows.", min=1)] = 10, option: Options = None
) -> None:
    """Print what a dataset is, and its first rows."""
    from evenhand import datasets

    dataset = datasets.load(name, **_parsed(option))
    terminal.show(f"{dataset.name}, version {dataset.version}: {len(dataset.items):,} items. {dataset.about}")
    for label, text in (("Source", dataset.source), ("Licence", dataset.licence), ("Flaws", dataset.flaws)):
        if text:
            terminal.show(f"{label}: {text}")
    terminal.show("", dataset.table().head(rows).to_csv(sep="\t", quoting=csv.QUOTE_NONE).rstrip("\n"))


@datasets_app.command("export")
def datasets_export(name: str, out: Annotated[Path, typer.Option(help="A .tsv file.")], option: Options = None) -> None:
    """Write all rows of a dataset as tab-separated values, with the release's column names where there is one."""
    from evenhand import datasets
    from evenhand.folder import write_whole

    if out.suffix != ".tsv":
        raise BadInput(f"Datasets are exported as .tsv. Got '{out}'.")
    table = datasets.load(name, **_parsed(option)).table()
    write_whole(out, lambda file: table.to_csv(file, sep="\t", quoting=csv.QUOTE_NONE, lineterminator="\n"))
    terminal.show(f"{len(table):,} rows in {out}")


@datasets_app.command("fetch")
def datasets_fetch(name: Annotated[str, typer.Argument(help="A released corpus: gap, nli-coal-en, ...")]) -> None:
    """Download a released corpus, with its checksum: nothing else does."""
    from evenhand.datasets.fetch import RELEASES, fetch

    paths = fetch(name)
    terminal.show(*map(str, paths), f"Please cite: {RELEASES[name].citation}.", f"Licence: {RELEASES[name].licence}.")


@datasets_app.command("lint")
def datasets_lint(
    file: Annotated[str, typer.Argument(help="Sentence pairs: csv, tsv, jsonl or parquet; or a dataset's name.")],
    stereotype: Annotated[str, typer.Option(help="The column of the stereotypes.")] = "stereotype",
    counterpart: Annotated[str, typer.Option(help="The column of the counterparts.")] = "counterpart",
    model: Annotated[str, typer.Option(help="Whose pieces to count; none: leave that rule out.")] = "mini-en",
    out: Annotated[Path | None, typer.Option(help="Write every fault to this .tsv.")] = None,
    shown: Annotated[int, typer.Option("--show", help="Faults to print for each rule.", min=0)] = 3,
    as_json: Json = False,
) -> None:
    """Look for pairs that differ in more than gendered words, or leak a gender. Ends with 1 where there are any."""
    from evenhand.folder import write_whole
    from evenhand.linting import lint
    from evenhand.report.tables import linted

    found = lint(file, stereotype=stereotype, counterpart=counterpart, model=None if model == "none" else model)
    if out:
        text = found.frame.to_csv(sep="\t", index=False, quoting=csv.QUOTE_NONE, lineterminator="\n")
        write_whole(out, lambda file: file.write(text.encode()))
    if as_json:
        about = {"pairs": found.pairs, "clean": found.clean, "failing": found.failing, "unchecked": found.unchecked}
        _print_json({**about, "faults": found.frame.to_dict("records")})
    else:
        terminal.show(linted(found.pairs, found.clean, found.failing, found.frame, shown))
    if found.faults:
        raise typer.Exit(1)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and end with its exit code."""
    sys.exit(terminal.run(app, arguments))


def _print_scorecard(run: Any, frequency: dict[str, float] | None = None) -> None:
    from evenhand.analysis.findings import findings
    from evenhand.report.tables import scorecard

    terminal.show(scorecard(run, findings(run, frequency=frequency)))


def _print_side_by_side(runs: Sequence[Any], out: Path) -> None:
    from evenhand.analysis.side_by_side import comparable, side_by_side
    from evenhand.report.figures import draw_models
    from evenhand.report.tables import models

    tasks = comparable(runs[0])
    readings = {task["measure"]: task["reading"] for task in runs[0].about["tasks"]}
    for dataset, measure in tasks:
        terminal.show(models(side_by_side(runs, dataset, measure), dataset, measure, readings[measure]))
    if runs[0].about["partial"]:
        terminal.show(f"Partial: a sample of {runs[0].about['limit']} items of each dataset.")
    for path in draw_models(runs, tasks, out):
        terminal.show(f"Chart: {path}")


def _seen(run: Any, corpus: str | None) -> set[str] | None:
    """The professions of the run that the corpus has."""
    if corpus is None:
        return None
    from evenhand.analysis.equalising import seen
    from evenhand.datasets.texts import sentences

    words = run.scores["profession"].dropna() if "profession" in run.scores else []
    return seen(words, sentences(corpus))


def _print_json(data: object) -> None:
    terminal.show(json.dumps(data, indent=1, ensure_ascii=False))


def _parsed(options: list[str] | None) -> dict[str, str]:
    parsed = {}
    for option in options or []:
        name, sign, value = option.partition("=")
        if not (name and sign and value):
            raise BadInput(f"An option is NAME=VALUE, as in masks=words. Got '{option}'.")
        parsed[name] = value
    return parsed


def _numbers(path: Path) -> dict[str, float]:
    """A two-column file: a word, a number."""
    try:
        rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        return {word: float(number) for word, number in rows}
    except (OSError, ValueError) as error:
        raise BadInput(f"'{path}' must have a word, a tab and a number on each line. Got: {error}.") from error


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise BadInput(f"--batch-size must be 'auto' or a whole number from 1. Got '{text}'.")
    return int(text)
