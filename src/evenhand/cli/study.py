"""`evenhand corpus`, `metaeval` and `reproduce`: count texts, study measures, repeat the study of a paper."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypedDict, Unpack

import typer

from evenhand.cli import terminal
from evenhand.cli.terminal import Json, Names, as_options, print_json
from evenhand.core.files import write_whole
from evenhand.core.parameters import (
    COLUMN,
    OWN_NAMES,
    WORD_PAIRS,
    Argument,
    Cluster,
    Force,
    Lang,
    Learn,
    Limit,
    Says,
    Seed,
    select_parameters,
)
from evenhand.errors import BadInput

log = logging.getLogger(__name__)
PARTS = "barza2023: also reminders, learning-curve, mt-gender, corpora. anantaprayoon2024: also correlations."
PAPER = "bartl2020, barza2023, anantaprayoon2024, ... Without it, all are listed."
LINES = "Each line of a text file is a document. Default: each file of a folder, or each paragraph of one file."


class CorpusOptions(Learn, Cluster, total=False):
    """The options of `corpus` that the counting and training functions have too."""

    lang: Lang
    seed: Seed


def corpus(
    files: Annotated[
        list[str], Argument("Files (txt, csv, tsv, jsonl, parquet), folders, or balanced, gap, mt-gender.")
    ],
    column: Annotated[Names, COLUMN] = None,
    lines: Annotated[bool, Says(LINES, "--lines")] = False,
    words: Annotated[Path | None, Says("Words to count instead of professions, one per line.")] = None,
    word_pairs: Annotated[Path | None, WORD_PAIRS] = None,
    names: Annotated[Path | None, Says(OWN_NAMES)] = None,
    out: Annotated[Path | None, Says("A folder for the page and all numbers. With `train`: runs/corpus.")] = None,
    force: Force = False,
    train: Annotated[bool, Says("Also measure what a debiased model learns from each corpus.")] = False,
    as_json: Json = False,
    **given: Unpack[CorpusOptions],
) -> None:
    """Count women and men in texts, and the words near them.

    Counts gendered words and first names, the professions they occur with, and the words around them.
    Texts are English, or in any language with --word-pairs.
    With --train, also measures what a debiased model learns from each corpus.
    """
    from evenhand.calls.learning import check_folder, learned, name_files, write_folder
    from evenhand.show.corpus import corpus_tables
    from evenhand.show.tables import learned_table
    from evenhand.text.counting import Corpus, count_all, read_vocabulary

    sources = name_files(files)
    corpora = {name: Corpus(source, tuple(column or ()), lines) for name, source in sources.items()}
    lang = given.get("lang")
    vocabulary = read_vocabulary(words, word_pairs, names, lang)
    if out is not None and not train:
        check_folder(out, force)
    where = select_parameters(given, Cluster)
    counts = count_all(corpora, vocabulary=vocabulary, lang=lang, seed=given["seed"], out=out, **where)
    for name, count in counts.items():
        if count.documents == 1 and count.sentences > 1 and count.unit == "paragraph":
            log.warning(f"'{name}' is one paragraph: it has no empty lines. If each line is a document, give --lines.")
        if not as_json:
            terminal.show(corpus_tables(name, count))
    if out is not None:
        lists = {"words": words, "word pairs": word_pairs, "names": names}
        page = write_folder(out, corpora, counts, vocabulary, lists, lang)
        if not as_json:
            terminal.show(f"Page: {page}")
    lessons = None
    if train:
        how = {**select_parameters(given, Learn), "seed": given["seed"], "columns": tuple(column or ()), "lines": lines}
        lessons = learned(sources, out=out or Path("runs/corpus"), **how)
    if as_json:
        rows = {name: count.as_json() for name, count in counts.items()}
        print_json(rows if lessons is None else {"counts": rows, "learned": lessons.as_json()})
    elif lessons is not None:
        terminal.show(learned_table(lessons.sentences, lessons.asld, lessons.lean, lessons.changes))


class MetaevalOptions(TypedDict, total=False):
    """The options of the studies in `papers.metaeval`."""

    measures: Annotated[Any, Says("Measures, separated by commas. Default: all that suit it.", kind=str)]
    rates: Annotated[Any, Says("Rates of bias, separated by commas. Default: 0, 0.1, ..., 1.", kind=str)]
    size: Annotated[int | None, Says("Examples per rate. Default: NLI 30,000, masked 6,000.")]
    draws: Annotated[int, Says("Models to train per rate.", "--seeds", default=1)]
    lang: Annotated[str | None, Says("NLI: en, ja or zh. Default: en.")]
    order: Annotated[str | None, Says("NLI: stratified, or female-first as in the released sets.")]
    correct: Annotated[
        float | None, Says("NLI: share of correct examples. Default: 1/3 as released; the paper says 0.5.")
    ]
    evaluate: Annotated[
        str | None, Says("NLI: measure on bundled pairs (default), or on released ones: down-sampled, dev, test.")
    ]
    epochs: Annotated[int | None, Says("NLI: training epochs. Default: 3, as in the paper.")]
    learning_rate: Annotated[float | None, Says("NLI: the learning rate. Default: 2e-5.", "--lr")]
    recipe: Annotated[str | None, Says("Masked: how to fine-tune, as for evenhand debias.")]
    limit: Limit
    seed: Seed
    out: Annotated[Path, Says("The folder for the results.", default="runs/metaeval")]


def metaeval(
    model: Annotated[str, Says("An NLI classifier or masked model to start from.")] = "mini-en-nli",
    as_json: Json = False,
    **given: Unpack[MetaevalOptions],
) -> None:
    """Train models with known bias, and see which measures track it.

    Run the same command again to resume a study that was stopped.
    """
    from evenhand import models
    from evenhand.papers import charts
    from evenhand.papers.metaeval import inference, masked_response
    from evenhand.show import plots
    from evenhand.show.tables import dose_response as table

    kind = models.load(model).kind
    if kind == "causal":
        raise BadInput(f"'{model}' is a causal model, which metaeval cannot train. Start from a masked one.")
    wrong = ["recipe"] if kind == "nli" else ["lang", "order", "correct", "evaluate", "epochs", "learning_rate"]
    if unknown := [name for name in wrong if name in given]:
        raise BadInput(f"'{model}' is a {kind} model, which has no option {unknown[0]}.")
    run_study: Callable[..., Any] = inference if kind == "nli" else masked_response
    study, out = run_study(model, **given), given["out"].expanduser()
    tables = {out / f"points-{study.name}.tsv": study.points, out / f"follows-{study.name}.tsv": study.follows}
    for path, frame in tables.items():
        write_whole(path, lambda file: frame.to_csv(file, sep="\t", index=False, float_format="%.6g"))  # noqa: B023
    chart = out / f"dial-{study.name}.svg"
    plots.save(charts.dose_response(study.points, title=f"{study.model}: values against the rate of bias"), chart)
    if as_json:
        terminal.show(study.follows.to_json(orient="records", indent=1))
    else:
        written = (f"Written: {path}" for path in (*tables, chart))
        terminal.show(table(study.model, study.follows, study.notes), *written)


class ReproduceOptions(TypedDict, total=False):
    """The options of the studies of papers; each study has some of them."""

    part: Annotated[str, Says(PARTS, default="tables")]
    post: Annotated[str | None, Says("The same model after fine-tuning, if you have one.")]
    finetune: Annotated[str | None, Says("Fine-tune now: gap or a text file. anantaprayoon2024: snli, jsnli, ocnli.")]
    lang: Annotated[str | None, Says("anantaprayoon2024: en (default), ja or zh.")]
    recipe: Annotated[str | None, Says("How to fine-tune, as for evenhand debias.")]
    splitter: Annotated[str | None, Says("bartl2020 --finetune: sentencex (default), or nltk as in the paper.")]
    draws: Annotated[int | None, Says("How many times to sample and train.")]
    limit: Limit
    seed: Annotated[int | None, Says("The random seed.")]
    german_model: Annotated[str | None, Says("A German model, for Table 5 of bartl2020.")]
    scores: Annotated[Path | None, Says("bartl2020: associations from elsewhere, with columns Sentence and Pre_Assoc.")]
    mode: Annotated[str | None, Says("bartl2020: paper (default), or released, as the authors' code.", "--as")]
    vectors: Annotated[Path | None, Says("bolukbasi2016, caliskan2017: a file of word vectors.")]
    embedding: Annotated[str | None, Says("caliskan2017: compare with word2vec (default) or glove.")]
    out: Annotated[Path, Says("The folder for runs and fine-tuned models.", default="runs/reproduce")]


def reproduce(
    context: typer.Context,
    paper: Annotated[str | None, Argument(PAPER)] = None,
    model: Annotated[Names, Says("The model to measure; some tables take several.")] = None,
    corpus: Annotated[Names, Says("Texts to train on; the part corpora takes two.")] = None,
    size: Annotated[list[int] | None, Says("Sentences to train on; learning-curve takes several.")] = None,
    as_json: Json = False,
    **given: Unpack[ReproduceOptions],
) -> None:
    """Repeat a paper's study and print its tables next to ours.

    Run the same command again to resume a study that was stopped.
    """
    from evenhand.papers import PAPERS, options_of, summary_of
    from evenhand.papers import reproduce as run_study
    from evenhand.papers.sections import reproduction

    if paper is None:
        listed = {
            f"{name} --part {part}".removesuffix(" --part tables"): (name, part)
            for name in PAPERS
            for part in PAPERS[name]
        }
        terminal.show(*(f"{words}: {summary_of(*study)}" for words, study in listed.items()))
        return
    known, inputs = options_of(paper, given["part"]), dict[str, Any]()
    for name, several, values in (("model", "models", model), ("corpus", "corpora", corpus), ("size", "sizes", size)):
        if values and len(values) > 1 and several not in known:
            raise BadInput(f"This study takes one --{name}. Got {', '.join(map(str, values))}.")
        if values:
            inputs |= {several: values} if several in known else {name: values[0]}
    given["out"] = given["out"].expanduser()
    study = run_study(paper, **given, **inputs)
    if as_json:
        terminal.show(study.cells.to_json(orient="records", indent=1))
    else:
        text = reproduction(study.cells, as_options(study.notes, context), study.claims, study.digits, study.across)
        terminal.show(text, *(f"Chart: {chart}" for chart in study.charts))
