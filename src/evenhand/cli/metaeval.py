"""The command that asks whether measures follow bias."""

from pathlib import Path
from typing import Annotated, Any

import typer

from evenhand.cli import terminal
from evenhand.cli.common import Json
from evenhand.errors import BadInput


def metaeval(
    model: Annotated[
        str, typer.Option(help="Start from this one: a model of inference, or a masked language model.")
    ] = "mini-en-nli",
    measures: Annotated[str, typer.Option(help="Names, with commas between. Default: all of its kind.")] = "",
    rates: Annotated[str, typer.Option(help="Rates of bias, with commas between. Default: 0, 0.1, ..., 1.")] = "",
    size: Annotated[
        int | None, typer.Option(help="Training examples at each rate. Default: 30,000, or 6,000 sentences.")
    ] = None,
    seeds: Annotated[int, typer.Option(help="How many models to train at each rate.")] = 1,
    lang: Annotated[str | None, typer.Option(help="Of inference: en, ja or zh. Default: en.")] = None,
    order: Annotated[
        str | None, typer.Option(help="Of inference: stratified, or female-first as the released sets are.")
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Of inference: 3, as in the paper.")] = None,
    rate: Annotated[float | None, typer.Option("--lr", help="Of inference: the learning rate, 2e-5.")] = None,
    recipe: Annotated[str | None, typer.Option(help="Of masked models: how to fine-tune.")] = None,
    limit: Annotated[int | None, typer.Option(help="Measure a sample of so many items each.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    out: Annotated[Path, typer.Option(help="What was measured is kept here.")] = Path("runs/metaeval"),
    as_json: Json = False,
) -> None:
    """Train models of known bias, and see which measures follow it.

    The same command resumes a study that was stopped.
    """
    from evenhand import models
    from evenhand.report import plots
    from evenhand.report.tables import dose_response as table
    from evenhand.studies.metaeval import dose_response
    from evenhand.studies.metaeval.inference import inference
    from evenhand.studies.metaeval.masked import masked

    out = out.expanduser()
    given: dict[str, Any] = {"size": size, "draws": seeds, "limit": limit, "seed": seed, "out": out}
    given |= {"measures": _listed(measures) or None, "rates": [_number(r) for r in _listed(rates)] or None}
    theirs = {"lang": lang, "order": order, "epochs": epochs, "learning_rate": rate}
    kind = models.load(model).kind
    if kind == "causal":
        raise BadInput(f"'{model}' is a causal model, which metaeval cannot train. Start from a masked one.")
    wrong = {"recipe": recipe} if kind == "nli" else theirs
    if named := [name for name, value in wrong.items() if value is not None]:
        raise BadInput(f"'{model}' is a {kind} model, which has no option {named[0]}.")
    given |= theirs if kind == "nli" else {"recipe": recipe}
    study = inference if kind == "nli" else masked
    found = study(model, **{name: value for name, value in given.items() if value is not None})
    written = dose_response.write(found, out)
    chart = out / f"dial-{found.name}.svg"
    plots.save(plots.dose_response(found.points, title=f"{found.model}: values against the rate of bias"), chart)
    if as_json:
        terminal.show(found.follows.to_json(orient="records", indent=1))
        return
    terminal.show(table(found.model, found.follows, found.notes))
    for path in (*written, chart):
        terminal.show(f"Written: {path}")


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise BadInput(f"A rate of bias is a number between 0 and 1. Got '{text}'.") from error
