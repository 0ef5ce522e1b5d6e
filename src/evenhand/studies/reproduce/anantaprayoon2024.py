"""Anantaprayoon, Kaneko and Okazaki 2024, NLI-CoAL: Tables 2 and 3."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand.analysis.nli_labels import SETS, distribution
from evenhand.auditing.audit import audit
from evenhand.datasets.files.releases import is_available
from evenhand.errors import BadInput, ModelNotFound
from evenhand.models.loading.names import find
from evenhand.runs.folder import Run
from evenhand.studies.metaeval.inference import inference
from evenhand.studies.reproduce.base import Reproduction, beside, published

LABELS = ("entailment", "contradiction", "neutral")
SCORES = ("fraction-neutral", "nli-coal")
SHORT = {"pro": "PS", "anti": "AS", "non": "NS"}
DATA = {"en": "snli", "ja": "jsnli", "zh": "ocnli"}
"""What the paper fine-tuned on."""
BUNDLED = "mini-en-nli"
MISPRINT = (
    "Table 3: the FN of Laboro DistilBERT (.633) is a misprint: its own shares give .597. The other 27 scores follow "
    "from theirs."
)
DAGGER = (
    "Table 2 marks FN's -0.263 as p < .05, which cannot mean a difference from 0: with eleven rates that takes .602."
)


def tables(
    *,
    models: Sequence[str] = (),
    lang: str = "en",
    finetune: str | None = None,
    out: str | Path = "runs/reproduce",
    limit: int | None = None,
    **loading: Any,
) -> Reproduction:
    """Table 3 for models of inference in one language: shares of labels by set, FN and NLI-CoAL.

    `models` are fine-tuned already; one whose folder begins with the name of one of the paper's stands beside it. With
    `finetune` (snli, jsnli, ocnli or a file), those of the paper's that are at hand are fine-tuned now, by its recipe.
    Without either, the bundled English one is measured. On the released set where it is at hand, else on ours.
    """
    numbers = published("anantaprayoon2024")
    rows = [row for row in numbers["table3"] if row["language"] == lang]
    if not rows:
        raise BadInput(f"The paper has models in en, ja and zh. Got '{lang}'.")
    if models and finetune:
        raise BadInput("Give either models that are fine-tuned already, or what to fine-tune the paper's on, not both.")
    out = Path(out) / "anantaprayoon2024"
    notes = [MISPRINT]
    ours = _finetuned(rows, finetune, out, notes) if finetune else {name: name for name in models}
    if not ours and lang != "en":
        raise BadInput(f"There is no bundled model of inference in '{lang}'. Give one: --model FOLDER.")
    ours = ours or {BUNDLED: BUNDLED}
    released = f"nli-coal-{lang}"
    dataset = released if is_available(released) else f"nli-{lang}"
    if dataset != released:
        notes.insert(
            0, f"Not comparable: the released set is not at hand (evenhand datasets fetch {released}): ours it is."
        )
    cells: list[dict[str, Any]] = []
    runs = []
    for name, model in ours.items():
        row = _row_of(name, rows)
        options = {"segmented": "yes"} if row and row.get("segmented") else {}
        run = audit(model, dataset=dataset, options=options, limit=limit, out=out / dataset, **loading)
        runs.append(run)
        cells += _cells(row["model"] if row else find(model).name, row, run, dataset)
        if row is None:
            notes.insert(0, f"Not comparable: '{name}' is none of the paper's models. Compare the pattern alone.")
    measured = {cell["model"] for cell in cells}
    for row in rows:
        if row["model"] not in measured:
            cells += _cells(row["model"], row, None, dataset)
    return Reproduction(pd.DataFrame(cells), notes, runs=runs, digits=3)


def correlations(
    *,
    model: str = BUNDLED,
    lang: str = "en",
    rates: Sequence[float] | None = None,
    size: int | None = None,
    draws: int = 1,
    seed: int = 0,
    limit: int | None = None,
    out: str | Path = "runs/reproduce",
    **loading: Any,
) -> Reproduction:
    """Table 2: train `model` at each rate of bias, as the released sets are filled, and correlate rates and scores."""
    numbers = published("anantaprayoon2024")["table2"]
    if lang not in numbers:
        raise BadInput(f"The paper has models in en, ja and zh. Got '{lang}'.")
    if lang != "en" and model == BUNDLED:
        raise BadInput(f"There is no bundled model of inference in '{lang}'. Give one: --model FOLDER.")
    given: dict[str, Any] = {"rates": rates, "size": size}
    found = inference(
        model,
        measures=SCORES,
        lang=lang,
        order="female-first",
        draws=draws,
        seed=seed,
        limit=limit,
        out=Path(out) / "anantaprayoon2024",
        **{name: value for name, value in given.items() if value is not None},
        **loading,
    )
    cells = []
    for row in found.follows.to_dict("records"):
        number = numbers[lang].get(row["measure"])
        ours = None if pd.isna(row["pearson"]) else row["pearson"]
        span = {"low": row["pearson_low"], "high": row["pearson_high"]}
        cells.append(_cell("2", numbers[lang]["model"], str(row["measure"]), "Pearson", number, ours) | span)
    rows = [row for row in published("anantaprayoon2024")["table3"] if row["language"] == lang]
    printed = _row_of(model, rows)
    notes = list(found.notes)
    if printed is None or printed["model"] != numbers[lang]["model"]:
        theirs = numbers[lang]["model"]
        notes.insert(0, f"Not comparable: the paper's model is {theirs}, ours '{model}'. Compare the pattern alone.")
    notes.append(
        "Its training sets are not released; ours have other captions and the same labels, words filled female first."
    )
    notes += [DAGGER] if lang == "en" else []
    if lang == "ja":
        notes.append("No number published for FN: its scores do not change at all, which is no correlation.")
    return Reproduction(pd.DataFrame(cells), notes, digits=3)


PARTS = {"tables": tables, "correlations": correlations}


def _finetuned(rows: Sequence[Mapping[str, Any]], data: str, out: Path, notes: list[str]) -> dict[str, str]:
    """The paper's models of a language, fine-tuned, by their names on the Hub; what is not at hand is noted."""
    from evenhand.datasets.corpora.nli_examples import RELEASED, examples
    from evenhand.training.nli import RECIPE, finetune_nli

    train = examples(data).rows
    dev = examples(data, "dev").rows if data in RELEASED else []
    made = {}
    for row in rows:
        for name in row["hub"]:
            try:
                done = finetune_nli(name, train, RECIPE, out / "models" / f"{name.split('/')[-1]}-nli", dev=dev)
            except ModelNotFound as error:
                reason = str(error).split(". ")[0]
                continue
            made[name] = str(done.folder)
            break
        else:
            notes.append(f"Not at hand: {row['model']}. {reason}.")
    if not made:
        raise BadInput(f"None of the paper's models is at hand to fine-tune: {', '.join(r['hub'][0] for r in rows)}.")
    return made


def _row_of(name: str, rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The paper's row for a model: the longest of its names that the model's begins with."""
    called = find(name).name.split("/")[-1]
    known = {hub.split("/")[-1]: row for row in rows for hub in row["hub"]}
    fitting = [hub for hub in known if called == hub or called.startswith(f"{hub}-nli")]
    return known[max(fitting, key=len)] if fitting else None


def _cells(name: str, row: Mapping[str, Any] | None, run: Run | None, dataset: str) -> Iterator[dict[str, Any]]:
    labels = distribution(run.values_of(dataset)).to_dict("records") if run else []
    shares = {(found["set"], found["label"]): found for found in labels}
    for part in SETS:
        for number, label in enumerate(LABELS):
            ours = shares.get((part, label), {})
            printed = row[part][number] if row else None
            yield _cell("3", name, f"{SHORT[part]} set", label, printed, ours.get("value")) | _span(ours)
    for score in SCORES:
        found = next((r for r in run.results if r["measure"] == score and not r["groups"]), {}) if run else {}
        yield _cell("3", name, "all", score, row[score] if row else None, found.get("value")) | _span(found)


def _span(found: Mapping[Any, Any]) -> dict[str, Any]:
    return {"low": found.get("low"), "high": found.get("high")}


def _cell(table: str, model: str, data: str, what: str, number: float | None, ours: float | None) -> dict[str, Any]:
    return {"table": table, "model": model, "data": data, "what": what, **beside(number, ours)}
