"""`evenhand reproduce`: run a paper's study."""

from pathlib import Path
from typing import Annotated, Any

import typer

from evenhand.cli import terminal
from evenhand.cli.common import Json, Limit, Names, arg, opt
from evenhand.cli.terminal import as_flags
from evenhand.errors import BadInput


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
    from evenhand.report.papers import reproduction
    from evenhand.studies.reproduce import options_of
    from evenhand.studies.reproduce import reproduce as run_study

    given: dict[str, Any] = {
        "post": post,
        "finetune": finetune,
        "german_model": german_model,
        "mode": mode,
        "scores": scores,
    }
    given |= {"lang": lang, "recipe": recipe, "splitter": splitter, "draws": draws, "limit": limit, "seed": seed}
    known = options_of(paper, part)
    for one, several, values in (("model", "models", model), ("corpus", "corpora", corpus), ("size", "sizes", size)):
        given[several if several in known else one] = values if several in known else _only(one, values)
    done = run_study(
        paper, part, out=out.expanduser(), **{name: value for name, value in given.items() if value is not None}
    )
    if as_json:
        terminal.show(done.cells.to_json(orient="records", indent=1))
        return
    notes = [as_flags(note, context.find_root().command, context.info_name or "") for note in done.notes]
    shown = reproduction(done.cells, notes, done.claims, done.digits, done.across)
    terminal.show(shown, *(f"Chart: {chart}" for chart in done.charts))


def _only(name: str, values: list[Any] | None) -> Any:
    """The only value of an option that may be given once."""
    if values and len(values) > 1:
        raise BadInput(f"This study takes one --{name}. Got {', '.join(map(str, values))}.")
    return values[0] if values else None
