"""`evenhand corpus`, `metaeval` and `reproduce`: count texts, study measures, repeat the study of a paper."""

import logging
from pathlib import Path
from typing import Annotated, Any

import typer

from evenhand.cli import common, terminal
from evenhand.cli.common import Json, Limit, Names, Seed, arg, opt, print_json
from evenhand.cli.terminal import as_options
from evenhand.core.files import write_whole
from evenhand.errors import BadInput

log = logging.getLogger(__name__)
LINES = "Each line of a text file is a document. Default: each file of a folder, or each paragraph of one file."


def corpus(
    files: Annotated[list[str], arg("Files (txt, csv, tsv, jsonl, parquet), folders, or balanced, gap, mt-gender.")],
    column: Annotated[Names, opt("A column with texts, if a file is a table. Repeatable. Default: text.")] = None,
    lines: Annotated[bool, opt(LINES, "--lines")] = False,
    words: Annotated[Path | None, opt("Words to count instead of professions, one per line.")] = None,
    word_pairs: Annotated[Path | None, opt(common.WORD_PAIRS)] = None,
    names: Annotated[Path | None, opt("Your own first names, a pair per line: male, tab, female.")] = None,
    out: Annotated[Path | None, opt("A folder for the page and all numbers. With --train: runs/corpus.")] = None,
    force: common.Force = False,
    train: Annotated[bool, opt("Also measure what a debiased model learns from each corpus.")] = False,
    model: Annotated[str, opt("With --train: the model to debias and train.")] = "mini-en",
    debias_on: Annotated[str, opt("With --train: the corpus to debias it on.")] = "balanced",
    size: Annotated[int | None, opt("With --train: sentences per corpus. Default: as in the smallest.")] = None,
    equal: Annotated[bool, opt("With --train: use the same amount of each corpus, or all of it.")] = True,
    draws: Annotated[int, opt("With --train: how many times to sample and train.")] = 1,
    recipe: Annotated[str, opt("With --train: default, bartl-paper or bartl-released.")] = "default",
    limit: Annotated[int | None, opt("With --train: measure a sample of N pairs.", "N")] = None,
    lang: common.Lang = None,
    seed: Seed = 0,
    engine: common.Engine = "local",
    address: common.Address = None,
    workers: common.Workers = None,
    as_json: Json = False,
) -> None:
    """Count women and men in texts, and the words near them.

    Counts gendered words and first names, the professions they occur with, and the words around them.
    Texts are English, or in any language with --word-pairs.
    With --train, also measures what a debiased model learns from each corpus.
    """
    from evenhand.calls.corpus import check_folder, write
    from evenhand.calls.learning import learned, named
    from evenhand.show.tables import counted, learned_table
    from evenhand.text.counting import Corpus, count_all
    from evenhand.text.vocabulary import read_vocabulary

    sources = named(files)
    corpora = {name: Corpus(source, tuple(column or ()), lines) for name, source in sources.items()}
    vocabulary = read_vocabulary(words, word_pairs, names, lang)
    if out is not None and not train:
        check_folder(out, force)
    counts = count_all(
        corpora, vocabulary=vocabulary, lang=lang, seed=seed, engine=engine, address=address, workers=workers, out=out
    )
    for name, one in counts.items():
        if one.documents == 1 and one.sentences > 1 and one.unit == "paragraph":
            log.warning(f"'{name}' is one paragraph: it has no empty lines. If each line is a document, give --lines.")
        if not as_json:
            terminal.show(counted(name, one))
    if out is not None:
        lists = {"words": words, "word pairs": word_pairs, "names": names}
        page = write(out, corpora, counts, vocabulary, lists, lang)
        if not as_json:
            terminal.show(f"Page: {page}")
    trained = None
    if train:
        how: dict[str, Any] = {"model": model, "debias_on": debias_on, "size": size, "equal": equal, "draws": draws}
        how |= {"recipe": recipe, "limit": limit, "seed": seed, "columns": tuple(column or ()), "lines": lines}
        trained = learned(sources, out=out or Path("runs/corpus"), **how)
    if as_json:
        rows = {name: one.as_json() for name, one in counts.items()}
        print_json(rows if trained is None else {"counts": rows, "learned": trained.as_json()})
    elif trained is not None:
        terminal.show(learned_table(trained.sentences, trained.asld, trained.lean, trained.changes))


def metaeval(
    model: Annotated[str, opt("An NLI classifier or masked model to start from.")] = "mini-en-nli",
    measures: Annotated[str, opt("Measures, separated by commas. Default: all that suit it.")] = "",
    rates: Annotated[str, opt("Rates of bias, separated by commas. Default: 0, 0.1, ..., 1.")] = "",
    size: Annotated[int | None, opt("Examples per rate. Default: NLI 30,000, masked 6,000.")] = None,
    seeds: Annotated[int, opt("Models to train per rate.")] = 1,
    lang: Annotated[str | None, opt("NLI: en, ja or zh. Default: en.")] = None,
    order: Annotated[str | None, opt("NLI: stratified, or female-first as in the released sets.")] = None,
    correct: Annotated[
        float | None, opt("NLI: share of correct examples. Default: 1/3 as released; the paper says 0.5.")
    ] = None,
    evaluate: Annotated[
        str | None, opt("NLI: measure on bundled pairs (default), or on released ones: down-sampled, dev, test.")
    ] = None,
    epochs: Annotated[int | None, opt("NLI: training epochs. Default: 3, as in the paper.")] = None,
    rate: Annotated[float | None, opt("NLI: the learning rate. Default: 2e-5.", "--lr")] = None,
    recipe: Annotated[str | None, opt("Masked: how to fine-tune, as for evenhand debias.")] = None,
    limit: Limit = None,
    seed: Seed = 0,
    out: Annotated[Path, opt("The folder for the results.")] = Path("runs/metaeval"),
    as_json: Json = False,
) -> None:
    """Train models with known bias, and see which measures track it.

    Run the same command again to resume a study that was stopped.
    """
    from evenhand import models
    from evenhand.papers import charts
    from evenhand.papers.metaeval import inference, masked
    from evenhand.show import plots
    from evenhand.show.tables import dose_response as table

    out = out.expanduser()
    given: dict[str, Any] = {"size": size, "draws": seeds, "limit": limit, "seed": seed, "out": out}
    given |= {"measures": _listed(measures) or None, "rates": [_number(r) for r in _listed(rates)] or None}
    theirs = {"lang": lang, "order": order, "correct": correct, "evaluate": evaluate}
    theirs |= {"epochs": epochs, "learning_rate": rate}
    kind = models.load(model).kind
    if kind == "causal":
        raise BadInput(f"'{model}' is a causal model, which metaeval cannot train. Start from a masked one.")
    wrong = {"recipe": recipe} if kind == "nli" else theirs
    if named := [name for name, value in wrong.items() if value is not None]:
        raise BadInput(f"'{model}' is a {kind} model, which has no option {named[0]}.")
    given |= theirs if kind == "nli" else {"recipe": recipe}
    study = inference if kind == "nli" else masked
    found = study(model, **{name: value for name, value in given.items() if value is not None})
    tables = {out / f"points-{found.name}.tsv": found.points, out / f"follows-{found.name}.tsv": found.follows}
    for path, frame in tables.items():
        write_whole(path, lambda file: frame.to_csv(file, sep="\t", index=False, float_format="%.6g"))  # noqa: B023
    chart = out / f"dial-{found.name}.svg"
    plots.save(charts.dose_response(found.points, title=f"{found.model}: values against the rate of bias"), chart)
    if as_json:
        terminal.show(found.follows.to_json(orient="records", indent=1))
        return
    terminal.show(table(found.model, found.follows, found.notes), *(f"Written: {path}" for path in (*tables, chart)))


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise BadInput(f"A rate of bias is a number between 0 and 1. Got '{text}'.") from error


def reproduce(
    context: typer.Context,
    paper: Annotated[str, arg("anantaprayoon2024, bartl2020, barza2023, nadeem2021 or pikuliak2024.")],
    part: Annotated[
        str, opt("barza2023: also reminders, learning-curve, mt-gender, corpora. anantaprayoon2024: also correlations.")
    ] = "tables",
    model: Annotated[Names, opt("The model to measure; some tables take several.")] = None,
    post: Annotated[str | None, opt("The same model after fine-tuning, if you have one.")] = None,
    finetune: Annotated[
        str | None, opt("Fine-tune now: gap or a text file. anantaprayoon2024: snli, jsnli, ocnli.")
    ] = None,
    lang: Annotated[str | None, opt("anantaprayoon2024: en (default), ja or zh.")] = None,
    corpus: Annotated[Names, opt("Texts to train on; the part corpora takes two.")] = None,
    recipe: Annotated[str | None, opt("How to fine-tune, as for evenhand debias.")] = None,
    splitter: Annotated[str | None, opt("bartl2020 --finetune: sentencex (default), or nltk as in the paper.")] = None,
    size: Annotated[list[int] | None, opt("Sentences to train on; learning-curve takes several.")] = None,
    draws: Annotated[int | None, opt("How many times to sample and train.")] = None,
    limit: Limit = None,
    seed: Annotated[int | None, opt("The random seed.")] = None,
    german_model: Annotated[str | None, opt("A German model, for Table 5 of bartl2020.")] = None,
    scores: Annotated[
        Path | None, opt("bartl2020: associations from elsewhere, with columns Sentence and Pre_Assoc.")
    ] = None,
    mode: Annotated[str | None, opt("bartl2020: paper (default), or released, as the authors' code.", "--as")] = None,
    out: Annotated[Path, opt("The folder for runs and fine-tuned models.")] = Path("runs/reproduce"),
    as_json: Json = False,
) -> None:
    """Repeat a paper's study and print its tables next to ours.

    Run the same command again to resume a study that was stopped.
    """
    from evenhand.papers import options_of
    from evenhand.papers import reproduce as run_study
    from evenhand.papers.printing import reproduction

    given: dict[str, Any] = {"post": post, "finetune": finetune, "german_model": german_model, "mode": mode}
    given |= {"scores": scores, "lang": lang, "recipe": recipe, "splitter": splitter, "draws": draws}
    given |= {"limit": limit, "seed": seed}
    known = options_of(paper, part)
    for one, several, values in (("model", "models", model), ("corpus", "corpora", corpus), ("size", "sizes", size)):
        given[several if several in known else one] = values if several in known else _only(one, values)
    given = {name: value for name, value in given.items() if value is not None}
    done = run_study(paper, part, out=out.expanduser(), **given)
    if as_json:
        terminal.show(done.cells.to_json(orient="records", indent=1))
        return
    shown = reproduction(done.cells, as_options(done.notes, context), done.claims, done.digits, done.across)
    terminal.show(shown, *(f"Chart: {chart}" for chart in done.charts))


def _only(name: str, values: list[Any] | None) -> Any:
    """The only value of an option that may be given once."""
    if values and len(values) > 1:
        raise BadInput(f"This study takes one --{name}. Got {', '.join(map(str, values))}.")
    return values[0] if values else None
