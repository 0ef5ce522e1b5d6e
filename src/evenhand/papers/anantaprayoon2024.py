"""Anantaprayoon, Kaneko and Okazaki 2024, NLI-CoAL: Tables 2 and 3."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand import Run, audit
from evenhand.datasets import is_available
from evenhand.datasets.corpora import RELEASED, SIZE, examples
from evenhand.errors import BadInput, ModelNotFound
from evenhand.models import find
from evenhand.papers.base import Reproduction, load_published, versus
from evenhand.papers.findings import SETS, distribution
from evenhand.papers.metaeval import RATES, inference

LABELS = ("entailment", "contradiction", "neutral")
SCORES = ("fraction-neutral", "nli-coal")
SHORT = {"pro": "PS", "anti": "AS", "non": "NS"}
BUNDLED = "mini-en-nli"
MISPRINT = (
    "Table 3: the FN of Laboro DistilBERT, .633, is a misprint: its shares give .597. The other 27 scores are right."
)
LANGUAGE_NOTES = {
    "en": "Table 2 marks FN's -0.263 as p < .05, which cannot mean a difference from 0: that takes .602 with 11 rates.",
    "ja": "No number published for FN: its scores do not change at all, so there is no correlation.",
}
FETCH = "evenhand datasets fetch"
OURS = (
    "Trained and measured on sets of ours, with other captions and some other words, filled female-first like the "
    f"released ones. For those: {FETCH} nli-coal-{{lang}} and {FETCH} nli-coal-{{lang}}-controlled."
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
    """Table 3 for NLI classifiers in one language: shares of labels by set, FN and NLI-CoAL.

    `models` are already fine-tuned. A model whose folder begins with the name of a model of the paper is compared with
    that model. With `finetune` (snli, jsnli, ocnli or a file), the available models of the paper are fine-tuned now, by
    the paper's recipe. Without `models` and `finetune`, the bundled English classifier is measured. The dataset is the
    released one if it was fetched, otherwise ours.
    """
    _, rows = _published_tables(lang)
    if models and finetune:
        raise BadInput("Give either models that are already fine-tuned, or `finetune`, not both.")
    out = Path(out) / "anantaprayoon2024"
    notes = [MISPRINT]
    ours = _finetune_models(rows, finetune, out, notes) if finetune else {name: name for name in models}
    if not ours:
        ours = {_bundled_model(lang): BUNDLED}
    released = f"nli-coal-{lang}"
    dataset = released if is_available(released) else f"nli-{lang}"
    if dataset != released:
        notes.insert(0, f"Not comparable: on our set, since the released one is not fetched ({FETCH} {released}).")
    cells: list[dict[str, Any]] = []
    runs = []
    for name, model in ours.items():
        row = _row_of(name, rows)
        options = {"formula": "released"} | ({"segmented": "yes"} if row and row.get("segmented") else {})
        run = audit(model, dataset=dataset, options=options, limit=limit, out=out / dataset, **loading)
        runs.append(run)
        cells += _cells(row["model"] if row else find(model).name, row, run, run.record.audits[-1].tasks[0].dataset)
        if row is None:
            notes.insert(0, f"Not comparable: '{name}' is not one of the paper's models. Compare the pattern alone.")
    measured = {cell["model"] for cell in cells}
    for row in rows:
        if row["model"] not in measured:
            cells += _cells(row["model"], row, None, dataset)
    return Reproduction(pd.DataFrame(cells), notes, runs=runs, digits=3, across=("data", "what"))


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
    """Table 2: train `model` at each rate of bias, and correlate its scores with the rate.

    If both released datasets are fetched, models are trained with the labels of the released sets and measured on the
    released 600 pairs. Otherwise, our own sets are used, which are made in the same way.
    """
    numbers, rows = _published_tables(lang)
    if model == BUNDLED:
        _bundled_model(lang)
    released = is_available(f"nli-coal-{lang}") and is_available(f"nli-coal-{lang}-controlled")
    study = inference(
        model,
        measures=SCORES,
        lang=lang,
        order="female-first",
        evaluate="down-sampled" if released else "bundled",
        draws=draws,
        seed=seed,
        limit=limit,
        out=Path(out) / "anantaprayoon2024",
        rates=RATES if rates is None else rates,
        size=SIZE if size is None else size,
        **loading,
    )
    cells = []
    for row in study.follows.to_dict("records"):
        value = None if pd.isna(row["pearson"]) else row["pearson"]
        ours = {"value": value, "low": row["pearson_low"], "high": row["pearson_high"]}
        about = {"table": "2", "model": numbers["model"], "data": row["measure"], "what": "Pearson"}
        cells.append(versus(numbers.get(row["measure"]), ours, **about))
    printed, theirs = _row_of(model, rows), numbers["model"]
    notes = [
        *study.notes,
        *([] if released else [OURS.format(lang=lang)]),
        *([LANGUAGE_NOTES[lang]] if lang in LANGUAGE_NOTES else []),
    ]
    if printed is None or printed["model"] != theirs:
        notes.insert(0, f"Not comparable: the paper's model is {theirs}, ours '{model}'. Compare the pattern alone.")
    return Reproduction(pd.DataFrame(cells), notes, digits=3, across=("data", "what"))


def _published_tables(lang: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    numbers = load_published("anantaprayoon2024")
    if lang not in numbers["table2"]:
        raise BadInput(f"`lang` must be a language of the paper: en, ja or zh. Got '{lang}'.")
    return numbers["table2"][lang], [row for row in numbers["table3"] if row["language"] == lang]


def _bundled_model(lang: str) -> str:
    if lang != "en":
        raise BadInput(f"There is no bundled NLI classifier in '{lang}'. Give the folder of one as `model`.")
    return BUNDLED


def _finetune_models(rows: Sequence[Mapping[str, Any]], data: str, out: Path, notes: list[str]) -> dict[str, str]:
    """Fine-tune the paper's models: their folders by Hub name. Each unavailable model is added to `notes`."""
    from evenhand.training import NLI_RECIPE, finetune_nli

    train = examples(data).rows
    dev = examples(data, "dev").rows if data in RELEASED else []
    folders = {}
    for row in rows:
        for name in row["hub"]:
            try:
                done = finetune_nli(name, train, NLI_RECIPE, out / "models" / f"{name.split('/')[-1]}-nli", dev=dev)
            except ModelNotFound as error:
                reason = str(error).split(". ")[0]
                continue
            folders[name] = str(done.folder)
            break
        else:
            notes.append(f"Not available: {row['model']}. {reason}.")
    if not folders:
        raise BadInput(f"None of the paper's models is available: {', '.join(r['hub'][0] for r in rows)}.")
    return folders


def _row_of(name: str, rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The paper's row for a model: the row whose Hub name is the longest that the model's name begins with."""
    called = find(name).name.split("/")[-1]
    known = {hub.split("/")[-1]: row for row in rows for hub in row["hub"]}
    fitting = [hub for hub in known if called == hub or called.startswith(f"{hub}-nli")]
    return known[max(fitting, key=len)] if fitting else None


def _cells(name: str, row: Mapping[str, Any] | None, run: Run | None, dataset: str) -> Iterator[dict[str, Any]]:
    labels = distribution(run.values_of(dataset)).to_dict("records") if run else []
    shares = {(share["set"], share["label"]): share for share in labels}
    about = {"table": "3", "model": name}
    for part in SETS:
        for number, label in enumerate(LABELS):
            printed = row[part][number] if row else None
            yield versus(printed, shares.get((part, label)), **about, data=f"{SHORT[part]} set", what=label)
    whole = [r for r in run.results if not (r["groups"] or r["contrast"])] if run else []
    for score in SCORES:
        share = next((r for r in whole if r["measure"] == score), None)
        yield versus(row[score] if row else None, share, **about, data="all", what=score)
