"""`evenhand metaeval`: see which measures track bias."""

from pathlib import Path
from typing import Annotated, Any

from evenhand.cli import terminal
from evenhand.cli.common import Json, Limit, Seed, opt
from evenhand.errors import BadInput


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
    from evenhand.report import plots
    from evenhand.report.tables import dose_response as table
    from evenhand.studies.metaeval import dose_response
    from evenhand.studies.metaeval.inference import inference
    from evenhand.studies.metaeval.masked import masked

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
    written = dose_response.write(found, out)
    chart = out / f"dial-{found.name}.svg"
    plots.save(plots.dose_response(found.points, title=f"{found.model}: values against the rate of bias"), chart)
    if as_json:
        terminal.show(found.follows.to_json(orient="records", indent=1))
        return
    terminal.show(table(found.model, found.follows, found.notes), *(f"Written: {path}" for path in (*written, chart)))


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise BadInput(f"A rate of bias is a number between 0 and 1. Got '{text}'.") from error
