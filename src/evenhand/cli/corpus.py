"""`evenhand corpus`: measure how gendered text corpora are."""

from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import terminal
from evenhand.cli.common import Address, Engine, Json, Lang, Seed, Workers, print_json


def corpus(
    files: Annotated[
        list[str], typer.Argument(help="Text files, a document per line; or balanced, gap, mt-gender, ...")
    ],
    train: Annotated[bool, typer.Option(help="Also measure what a debiased model learns from each.")] = False,
    model: Annotated[str, typer.Option(help="With --train: the model to debias and train.")] = "mini-en",
    debias_on: Annotated[str, typer.Option(help="With --train: the corpus to debias it on.")] = "balanced",
    size: Annotated[int | None, typer.Option(help="With --train: sentences per corpus. Default: the fewest.")] = None,
    equal: Annotated[bool, typer.Option(help="With --train: the same amount of each corpus, or all of it.")] = True,
    draws: Annotated[int, typer.Option(help="With --train: how many times to sample and train.")] = 1,
    recipe: Annotated[str, typer.Option(help="With --train: default, bartl-paper or bartl-released.")] = "default",
    limit: Annotated[int | None, typer.Option(metavar="N", help="With --train: measure a sample of N pairs.")] = None,
    out: Annotated[Path, typer.Option(help="With --train: where models and runs are kept.")] = Path("runs/corpus"),
    lang: Lang = None,
    seed: Seed = 0,
    engine: Engine = "local",
    address: Address = None,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Measure how gendered English text corpora are.

    Counts women and men (gendered words, first names), the professions they occur with and the words around them.
    With --train, also measures what a debiased model learns from each corpus.
    """
    from evenhand.report.tables import counted, learned_table
    from evenhand.studies.corpus.counting import count_all
    from evenhand.studies.corpus.learning import learned, named

    corpora = named(files)
    counts = count_all(corpora, lang=lang, seed=seed, engine=engine, address=address, workers=workers)
    if not as_json:
        for name, one in counts.items():
            title = f"{name}: {one.documents:,} documents, {one.sentences:,} sentences"
            kinds = {"gendered words": one.words, "first names": one.names}
            ratios = {kind: (found.female, found.male, found.log) for kind, found in kinds.items()}
            terminal.show(counted(title, ratios, one.score, one.beside, one.contexts))
    trained = None
    if train:
        trained = learned(
            corpora,
            model=model,
            debias_on=debias_on,
            size=size,
            equal=equal,
            draws=draws,
            recipe=recipe,
            limit=limit,
            out=out,
            seed=seed,
        )
    if as_json:
        rows = {name: one.as_json() for name, one in counts.items()}
        print_json(rows if trained is None else {"counts": rows, "learned": trained.as_json()})
    elif trained is not None:
        terminal.show(learned_table(trained.sentences, trained.asld, trained.lean, trained.changes))
