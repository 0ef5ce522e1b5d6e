"""Barza 2023, the Gender Bias Evaluation Framework: what models are like (Tables 3 to 5), and what they learn."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import Any

import pandas as pd
from scipy.stats import ttest_ind

from evenhand import Blank, LikelihoodDifference, Model, Pair, Pronoun, Run, Span, audit, load, measure
from evenhand.calls.learning import BASE, DEBIASED, PAIRS, draw_curve, learned
from evenhand.calls.train_and_measure import Study, check, recipe_of, trained
from evenhand.datasets.corpora import reminders as sentences_with
from evenhand.datasets.corpora import sampled, sentences
from evenhand.errors import BadInput, ModelNotFound
from evenhand.models import find
from evenhand.papers.base import Reproduction, load_published, versus
from evenhand.papers.equalising import before_after, by_size, equalising, professions_in
from evenhand.stats import clustered_interval, correlate, generator
from evenhand.text import substituted
from evenhand.training import COMBINED, replicate_changes, replicate_means

TABLE_5 = (
    "Table 5: its text says that APPD comes closer to BERT-base as sentences are added. By the table 50 do not help "
    "(pregnancy -.12 -> -.09, breastfeed -.10 -> -.10), only 100 and 150 do."
)

ACROSS = ("model or column", "what")
"""The columns of `cells` that are the columns of the thesis's tables."""


def cell(
    table: str, group: str, column: str, what: str, published: float | None, ours: float | Mapping[Any, Any] | None
) -> dict[str, Any]:
    """A cell of a table: the published number and ours, with our interval if there is one."""
    about = {"table": table, "group": group, "model or column": column, "what": what}
    return versus(published, ours, **about)


def column_of(name: str, numbers: Mapping[str, Any]) -> str:
    """The column of the thesis for a model, or else the model's own name."""
    called = find(name).name
    return next((column for column, names in numbers["models"].items() if called in names), called)


def model_note(model: str) -> list[str]:
    """A note that the model is not the thesis's, or none if it is."""
    if column_of(model, load_published("barza2023")) == "BERT-base":
        return []
    return [f"Not comparable: the thesis's model is BERT-base, ours '{model}'. Compare the pattern alone."]


ASLD, APPD = ("tgb", "likelihood-difference"), ("tbd-gendered", "pronoun")
KINDS = {"simple": "tbd-simple", "BEC-Pro": "tbd-becpro", "TBD": "tbd"}
CLOSE_PLL, CLOSE_PPD = 0.1, 0.01
"""Tolerances: the thesis prints PLL to one decimal and PPD to two."""


def reproduce(
    *, models: Sequence[str] = (), post: str | None = None, out: str | Path = "runs/reproduce", **loading: Any
) -> Reproduction:
    """Table 3 for `models`, by default the six of the thesis that are available; Tables 4 and 5 for the first.

    `post` is the first model after debiasing, for the second columns of Tables 4 and 5. A model that is not in the
    thesis gets its own rows, without published numbers.
    """
    numbers = load_published("barza2023")
    names_of_models = list(models) or [names[0] for names in numbers["models"].values()]
    runs, notes = {}, [*numbers["notes"], TABLE_5]
    for name in names_of_models:
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
        notes.insert(0, _note_closeness(cells))
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
            questions = how.ask(Pair(example["name"], example["stereotype"], example["counterpart"]))
            his, her = (answer.logp for answer in model.answer(questions))
            column = f"{example['name']}, full stop {punctuation}"
            if "pll" in example:
                yield cell("4.1.2", column, "his", "PLL", example["pll"][0], his)
                yield cell("4.1.2", column, "her", "PLL", example["pll"][1], her)
            else:
                yield cell("4.1.2", column, "his, her", "|d|", example["size"], abs(his - her))
    blanks = [Blank(b["text"], b["text"], Span(0, 3), ("He", "She")) for b in numbers["blanks"]]
    measured = measure(model, blanks, Pronoun())
    for example, score in zip(numbers["blanks"], measured.scores, strict=True):
        yield cell("4.2.2", example["text"], "he, she", "PPD", example["ppd"], score.value)
    mean = sum(b["ppd"] for b in numbers["blanks"]) / len(blanks)
    yield cell("4.2.2", "doctor", "he, she", "APPD", mean, measured.value)


def _note_closeness(cells: list[dict[str, Any]]) -> str:
    """A sentence on how close the values for single sentences are, and on whether the thesis scored the full stop."""
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
        for kind, other in combinations(KINDS, 2):
            joined = pd.concat([means[kind], means[other]], axis=1, join="inner").dropna().to_numpy(dtype=float)
            rng = generator(run.task(KINDS[kind], how).seed, {"one": kind, "other": other, "measure": how})
            correlation = correlate(joined[:, 0], joined[:, 1], rng, kind="pearson")
            yield cell("2", how, f"{kind} and {other}", "r", None, asdict(correlation))


def _value(run: Run, dataset: str, measure_name: str, category: str) -> dict[str, Any]:
    """The row of results of a category; that of all categories together is "combined"."""
    for row in run.results:
        label = row["groups"].get("category", "combined")
        inner = {"profession", "about"} & set(row["groups"])
        if (row["dataset"], row["measure"], label) == (dataset, measure_name, category) and not inner:
            return row
    raise BadInput(f"'{run.path}' has no {measure_name} for {category}. Delete the folder and run the study again.")


WORDS = {"pregnancy": "pregnant", "breastfeed": "breastfeed"}
PRONOUNS = {"tbd-gendered": ["pronoun"], "tbd": ["pronoun"]}
COLUMNS = {"gap_50": 1, "gap_100": 2, "gap_150": 3}
"""How many times each of the fifty sentences is added, by column."""


def reminders(
    *,
    model: str = "mini-en",
    corpus: str = "gap-flipped",
    size: int | None = None,
    recipe: str = "default",
    draws: int = 1,
    limit: int | None = None,
    seed: int = 0,
    out: str | Path = "runs/reproduce",
    **loading: Any,
) -> Reproduction:
    """Fine-tune `model` on the swapped corpus alone, and with fifty reminders of each word once, twice, three times.

    `size` is the number of sentences to sample from the corpus, for a small version. Each model is trained `draws`
    times, with other samples and seeds; the intervals cover these draws too.
    """
    study = Study(model, Path(out) / "reminders", PRONOUNS, recipe, draws, limit, seed, loading)
    numbers = load_published("barza2023")["table5"]
    text = substituted(corpus, seed=seed).sentences
    lessons: dict[str, list[str]] = {"alone": []}
    for word, times in product(WORDS.values(), COLUMNS.values()):
        lessons[f"{word}-{times}"] = sentences_with(word) * times
    before = study.base_scores()
    after = {
        name: study.scores(name, lambda draw: [*sampled(text, size, (seed, draw)), *extra])  # noqa: B023
        for name, extra in lessons.items()
    }
    rows = []
    for category, word in WORDS.items():
        models = {"base": before, "debias": after["alone"]} | {c: after[f"{word}-{n}"] for c, n in COLUMNS.items()}
        about = {name: frame[frame["category"] == category] for name, frame in models.items()}
        professions = {name: frame[frame["dataset"] == "tbd"] for name, frame in models.items()}
        for label, frames in ((category, about), (f"professions ({category})", professions)):
            for column, frame in frames.items():
                number = numbers[category][column] if label == category else None
                value = _combined_row(replicate_means(frame, cluster="template", seed=seed))
                rows.append(cell("5", label, column, "APPD", number, value))
        for column in COLUMNS:
            step = _combined_row(replicate_changes(about["debias"], about[column], cluster="template", seed=seed))
            rows.append(cell("5", category, f"{column} - debias", "change", None, step))
    repeated = "once" if draws == 1 else f"{draws} times"
    notes = [
        *model_note(model),
        "APPD, P(he) - P(she): for these two words farther below 0 is better. 'professions' are the ordinary ones, "
        "where closer to 0 is better; they show whether reminders undo the debiasing. The thesis does not have that "
        "row.",
        "The thesis's fifty sentences were taken from the web and never published: ours are our own.",
        TABLE_5,
        f"Ours: {size or len(text):,} sentences of {corpus}, recipe '{recipe}', each model trained {repeated}.",
    ]
    return Reproduction(pd.DataFrame(rows), notes, across=ACROSS)


def _combined_row(table: pd.DataFrame) -> Mapping[str, Any]:
    return dict(table.set_index("group").loc[COMBINED])


def learning_curve(
    *,
    model: str = "mini-en",
    corpus: str = "gap-flipped",
    sizes: Sequence[int] = (500, 1_000, 2_000, 4_000, 6_000, 8_000, 10_000, 12_000),
    draws: int = 5,
    recipe: str = "default",
    limit: int | None = None,
    seed: int = 0,
    out: str | Path = "runs/reproduce",
    **loading: Any,
) -> Reproduction:
    """Fine-tune `model` on samples of growing size of the swapped corpus, `draws` of each size, and measure ASLD."""
    if not sizes or min(sizes) < 1:
        raise BadInput(f"Sizes must be at least 1. Got {', '.join(map(str, sizes)) or 'none'}.")
    out = Path(out) / "learning-curve"
    study = Study(model, out, PAIRS, recipe, draws, limit, seed, loading)
    text = substituted(corpus, seed=seed).sentences
    if max(sizes) > len(text):
        raise BadInput(f"'{corpus}' has {len(text):,} sentences. Got `size={max(sizes)}`: choose at most that many.")
    scores = {0: study.base_scores()}
    for size in sorted(set(sizes)):
        scores[size] = study.scores(f"{size}-sentences", lambda draw: sampled(text, size, (seed, size, draw)))  # noqa: B023
    values = {size: replicate_means(frame, size=True, seed=seed) for size, frame in scores.items()}
    steps = {
        size: replicate_changes(scores[before], scores[size], size=True, seed=seed) for before, size in pairwise(scores)
    }
    cells = [
        cell("Fig. 13", row["group"], f"{size:,} sentences", what, None, row)
        for what, tables in (("ASLD", values), ("change", steps))
        for size, table in tables.items()
        for row in table.to_dict("records")
    ]
    title = f"{find(model).name}: ASLD after debiasing on samples of {corpus}"
    chart = draw_curve(values, out / "figures", title)
    falls = [f"{n:,}" for n, step in steps.items() if (step[step["group"] == COMBINED]["lean"] == "below").all()]
    notes = [
        *model_note(model),
        "Figure 13 has no numbers printed. The thesis sees ASLD fall up to 4,000 sentences and stagnate from 6,000 on. "
        "'change' is against the size before, with its 95 % interval over draws and pairs.",
        f"The combined ASLD is shown to fall only with the step to {', '.join(falls)} sentences."
        if falls
        else "No step is shown to lower the combined ASLD.",
    ]
    return Reproduction(pd.DataFrame(cells), notes, charts=[chart], across=ACROSS)


def mt_gender(
    *,
    model: str = "mini-en",
    corpus: str = "mt-gender",
    recipe: str = "default",
    limit: int | None = None,
    seed: int = 0,
    out: str | Path = "runs/reproduce",
    **loading: Any,
) -> Reproduction:
    """Fine-tune `model` on `corpus`, and compare the pronoun probability differences before and after (section 6.1)."""
    check(recipe, limit=limit)
    out = Path(out) / "mt-gender"
    texts = sentences(corpus)
    after_model = str(trained(model, texts, recipe_of(recipe, seed=seed), out, "after"))
    before = audit(model, suite="gbef", limit=limit, out=out / "runs", seed=seed, **loading)
    after = audit(after_model, suite="gbef", limit=limit, out=out / "runs", seed=seed, **loading)
    words = before_after(_pronoun_scores(before), _pronoun_scores(after))
    known = professions_in(words["profession"], texts)
    ordinary = words[words["better"] == "closer to 0"]
    groups = {
        "professions in the corpus": ordinary[ordinary["profession"].isin(known)],
        "professions not in it": ordinary[~ordinary["profession"].isin(known)],
    }
    rows, shrunk = [], []
    for label, part in groups.items():
        sizes = {name: part[name].abs() for name in ("before", "after")}
        sizes["change"] = sizes["after"] - sizes["before"]
        for what, values in sizes.items():
            rows.append(cell("6.1", f"{len(part)} {label}", what, "|APPD|", None, _mean(values, seed, label + what)))
        shrunk.append(sizes["change"])
    low, high = map(float, ttest_ind(*shrunk, equal_var=False).confidence_interval())  # Welch's
    apart = {"value": float(shrunk[0].mean() - shrunk[1].mean()), "low": low, "high": high}
    rows.append(cell("6.1", "in the corpus - not in it", "change", "|APPD|", None, apart))
    for category, part in words.groupby("category", sort=False):
        for what in ("before", "after"):
            rows.append(cell("6.1", str(category), what, "APPD", None, _mean(part[what], seed, str(category) + what)))
    notes = [
        *model_note(model),
        "The thesis prints no numbers, only bars and a scatter (Figures 8 to 10, 14 to 19). |APPD| closer to 0 is "
        "better. Intervals resample professions.",
    ]
    if effect := equalising(words, seed=seed):
        line, spread = effect.professions, effect.spread
        notes.append(
            f"Figure 10, professions: after = {line.intercept:+.2f} {line.slope:+.2f} x before, "
            f"r {line.r:.2f} [{line.r_low:.2f}, {line.r_high:.2f}]; "
            f"their spread x {spread.value:.2f} [{spread.low:.2f}, {spread.high:.2f}]."
        )
        notes.append(f"Are pronouns merely being equalised? {effect.verdict[:1].upper()}{effect.verdict[1:]}.")
    charts = before.figures(after, seen=known).save(out / "figures")
    return Reproduction(pd.DataFrame(rows), notes, runs=[before, after], charts=charts, across=ACROSS)


def _pronoun_scores(run: Run) -> pd.DataFrame:
    return pd.concat([run.scores_of(name, "pronoun") for name in ("tbd", "tbd-gendered")], ignore_index=True)


def _mean(values: pd.Series, seed: int, name: str) -> dict[str, float]:
    rng = generator(seed, {"of": name})
    low, high = clustered_interval(values.to_numpy(dtype=float), values.index.astype(str).tolist(), rng)
    return {"value": float(values.mean()), "low": low, "high": high}


TOXIC = ("jigsaw-toxic", "jigsaw-severe-toxic")


def corpora(
    *,
    model: str = "mini-en",
    corpora: Sequence[str] = TOXIC,
    debias_on: str = "gap-flipped",
    size: int | None = None,
    draws: int = 1,
    recipe: str = "default",
    limit: int | None = None,
    seed: int = 0,
    out: str | Path = "runs/reproduce",
    **loading: Any,
) -> Reproduction:
    """Debias `model`, fine-tune it on each of two `corpora` (in the thesis, toxic comments), and compare."""
    if len(corpora) != 2:
        raise BadInput(f"Table 4 compares two corpora. Got {len(corpora)}. For other numbers, use `evenhand corpus`.")
    numbers = load_published("barza2023")["table4"]
    columns = dict(zip((BASE, DEBIASED, *corpora), ("base", "debias", "toxic", "severe_toxic"), strict=True))
    how: dict[str, Any] = {"debias_on": debias_on, "size": size, "draws": draws, "recipe": recipe, "limit": limit}
    texts = {name: name for name in corpora}
    results = learned(texts, model=model, out=Path(out) / "corpora", seed=seed, **how, **loading)
    rows = []
    for row in results.asld.to_dict("records"):
        column = columns[row["model"]]
        comparable = tuple(corpora) == TOXIC or row["model"] in (BASE, DEBIASED)
        number = numbers[row["group"]][column] if comparable else None
        rows.append(cell("4", row["group"], column if comparable else row["model"], "ASLD", number, row))
    for row in results.changes.to_dict("records"):
        rows.append(cell("4", row["group"], f"{row['of']} - {row['against']}", "change", None, row))
    sizes = ", ".join(f"{name} {n:,}" for name, n in results.sentences.items())
    notes = [
        *model_note(model),
        "ASLD, mean |d| in nats on our own pairs (the thesis's were never published). The thesis says neither how many "
        "comments it took nor whether the toxic ones include the severely toxic. Ours are equal samples, and include "
        "them (`corpus=jigsaw-toxic-only` leaves them out).",
        f"Sentences trained on: {sizes}; draws: {draws}.",
    ]
    return Reproduction(pd.DataFrame(rows), notes, across=ACROSS)
