"""Tables 3 to 5, as far as they need no training, with examples, Figure 6 and the kinds of templates."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand import Blank, LikelihoodDifference, Model, Pair, Pronoun, Run, Span, audit, load, measure
from evenhand.errors import BadInput, ModelNotFound
from evenhand.models import find
from evenhand.papers.base import Reproduction, published, versus
from evenhand.papers.equalising import by_size
from evenhand.stats import correlate, generator

TABLE_5 = (
    "Table 5: its text says that APPD comes closer to BERT-base as sentences are added. By the table 50 do not help "
    "(pregnancy -.12 -> -.09, breastfeed -.10 -> -.10), only 100 and 150 do."
)

ACROSS = ("model or column", "what")
"""The columns of `cells` that are the columns of the thesis's tables."""


def cell(
    table: str, group: str, column: str, what: str, number: float | None, found: float | Mapping[Any, Any] | None
) -> dict[str, Any]:
    """One number of a table, published and ours; ours with its interval if it has one."""
    about = {"table": table, "group": group, "model or column": column, "what": what}
    return versus(number, found, **about)


def column_of(name: str, numbers: Mapping[str, Any]) -> str:
    """The column of the thesis for a model, or else its own name."""
    called = find(name).name
    return next((column for column, names in numbers["models"].items() if called in names), called)


def stands_in(model: str) -> list[str]:
    """A note if the model is not the one of the thesis."""
    if column_of(model, published("barza2023")) == "BERT-base":
        return []
    return [f"Not comparable: the thesis's model is BERT-base, ours '{model}'. Compare the pattern alone."]


ASLD, APPD = ("tgb", "likelihood-difference"), ("tbd-gendered", "pronoun")
KINDS = {"simple": "tbd-simple", "BEC-Pro": "tbd-becpro", "TBD": "tbd"}
CLOSE_PLL, CLOSE_PPD = 0.1, 0.01
"""Tolerances: the thesis prints one decimal and two."""


def reproduce(
    *, models: Sequence[str] = (), post: str | None = None, out: str | Path = "runs/reproduce", **loading: Any
) -> Reproduction:
    """Table 3 for `models`, by default the six of the thesis that are available; Tables 4 and 5 for the first.

    `post` is the first model after debiasing, for the second columns of Tables 4 and 5. A model that is not in the
    thesis gets its own rows, without published numbers.
    """
    numbers = published("barza2023")
    wanted = list(models) or [names[0] for names in numbers["models"].values()]
    runs, notes = {}, [*numbers["notes"], TABLE_5]
    for name in wanted:
        try:
            runs[name] = audit(name, suite="gbef", out=Path(out), **loading)
        except ModelNotFound as error:
            if models:
                raise
            notes.append(f"Not available: {name}. {str(error).split('. ')[0]}.")
    if not runs:
        missing = "None of the thesis's models is available: 'mini-en' stands for BERT-base. Compare the pattern."
        notes.insert(0, missing)
        runs["mini-en"] = audit("mini-en", suite="gbef", out=Path(out), **loading)
    base = next(iter(runs))
    if column_of(base, numbers) != "BERT-base":
        notes.insert(0, f"Tables 4 and 5 and the examples are for BERT-base in the thesis, for '{base}' here.")
    after = {"debias": audit(post, suite="gbef", out=Path(out) / "post", **loading)} if post else {}
    if not after:
        notes.append("The debiased columns of Tables 4 and 5 need a debiased model: `post`.")
    notes.append(
        "Models fine-tuned on toxic comments (Table 4) and with reminders (Table 5): `part=corpora`, `part=reminders`."
    )
    kinds = audit(base, suite="kinds", out=Path(out) / "kinds", **loading)

    columns = {column_of(name, numbers): run for name, run in runs.items()}
    changed = {"base": runs[base], **after}
    cells = [
        *_cells("3", numbers["table3"], ASLD, "ASLD", columns),
        *_cells("4", numbers["table4"], ASLD, "ASLD", changed),
        *_cells("5", numbers["table5"], APPD, "APPD", changed),
        *_examples(numbers, load(base, **loading)),
        *_sizes(runs[base]),
        *_kinds(kinds),
    ]
    if column_of(base, numbers) == "BERT-base":
        notes.insert(0, _settled(cells))
    measured = [*runs.values(), *after.values(), kinds]
    return Reproduction(pd.DataFrame(cells), notes, runs=measured, across=ACROSS)


def _cells(
    table: str, numbers: dict[str, Any], task: tuple[str, str], what: str, runs: dict[str, Run]
) -> Iterator[dict[str, Any]]:
    for category, row in numbers.items():
        for column in dict.fromkeys((*row, *runs)):
            value = _value(runs[column], *task, category) if column in runs else None
            yield cell(table, category, column, what, row.get(column), value)


def _examples(numbers: dict[str, Any], model: Model) -> Iterator[dict[str, Any]]:
    """The values for single sentences in sections 4.1.2 and 4.2.2, with the full stop scored and without."""
    for punctuation in ("kept", "skipped"):
        how = LikelihoodDifference(punctuation=punctuation)
        for example in numbers["pairs"]:
            asked = how.ask(Pair(example["name"], example["stereotype"], example["counterpart"]))
            his, her = (answer.logp for answer in model.answer(asked))
            column = f"{example['name']}, full stop {punctuation}"
            if "pll" in example:
                yield cell("4.1.2", column, "his", "PLL", example["pll"][0], his)
                yield cell("4.1.2", column, "her", "PLL", example["pll"][1], her)
            else:
                yield cell("4.1.2", column, "his, her", "|d|", example["size"], abs(his - her))
    blanks = [Blank(b["text"], b["text"], Span(0, 3), ("He", "She")) for b in numbers["blanks"]]
    found = measure(model, blanks, Pronoun())
    for example, score in zip(numbers["blanks"], found.scores, strict=True):
        yield cell("4.2.2", example["text"], "he, she", "PPD", example["ppd"], score.value)
    mean = sum(b["ppd"] for b in numbers["blanks"]) / len(blanks)
    yield cell("4.2.2", "doctor", "he, she", "APPD", mean, found.value)


def _settled(cells: list[dict[str, Any]]) -> str:
    """A note on how close the values for single sentences are, and whether the thesis scored the full stop."""
    worst = {
        reading: max(abs(c["difference"]) for c in cells if c["table"] == "4.1.2" and c["group"].endswith(reading))
        for reading in ("kept", "skipped")
    }
    ppd = max(abs(c["difference"]) for c in cells if c["table"] == "4.2.2")
    best = min(worst, key=lambda reading: worst[reading])
    verdict = "met" if worst[best] <= CLOSE_PLL and ppd <= CLOSE_PPD else "not met"
    return (
        f"The thesis's values for single sentences are {verdict}: PLL to {worst[best]:.2f} (full stop {best}; "
        f"otherwise {max(worst.values()):.2f}), PPD to {ppd:.3f}."
    )


def _sizes(run: Run) -> Iterator[dict[str, Any]]:
    """Figure 6, which prints no numbers: the mean of five draws of each size."""
    rows = by_size(run.scores_of(*ASLD), seed=run.task(*ASLD).seed)
    for (category, size), part in rows.groupby(["category", "size"]):
        yield cell("Fig. 6", str(category), f"{size} pairs", "ASLD", None, float(part["value"].mean()))


def _kinds(run: Run) -> Iterator[dict[str, Any]]:
    """How far the three kinds of templates agree on professions: Pearson's r of their means, by measure."""
    for how in ("pronoun", "log-probability-bias"):
        means = {kind: run.scores_of(name, how).groupby("profession")["score"].mean() for kind, name in KINDS.items()}
        for one, other in combinations(KINDS, 2):
            joined = pd.concat([means[one], means[other]], axis=1, join="inner").dropna().to_numpy(dtype=float)
            rng = generator(run.task(KINDS[one], how).seed, {"one": one, "other": other, "measure": how})
            found = correlate(joined[:, 0], joined[:, 1], rng, kind="pearson")
            yield cell("2", how, f"{one} and {other}", "r", None, asdict(found))


def _value(run: Run, dataset: str, how: str, category: str) -> dict[str, Any]:
    """The value of a category, with its interval; "combined" stands for all of them."""
    for row in run.results:
        label = row["groups"].get("category", "combined")
        inner = {"profession", "about"} & set(row["groups"])
        if (row["dataset"], row["measure"], label) == (dataset, how, category) and not inner:
            return row
    raise BadInput(f"'{run.path}' has no {how} for {category}. Delete the folder and run the study again.")
