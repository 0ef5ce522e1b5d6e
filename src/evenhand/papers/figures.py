"""The figures of the papers, drawn from runs."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import altair as alt
import pandas as pd

from evenhand import Drawing, Run
from evenhand.papers import charts
from evenhand.papers.equalising import FEWEST, Equalising, appd, before_after, by_size, equalising
from evenhand.papers.nli_labels import distribution
from evenhand.papers.workforce import by_profession, profession_means, shares
from evenhand.show.figures import Charts, check_measured, colours_of
from evenhand.show.plots import with_title

HELD_BY = {"female": "women", "male": "men", "balanced": "women and men"}
MOST_WORDS = 70
"""Most words of a chart that names them all."""
OTHER_TEMPLATES = ["tbd-simple", "tbd-becpro"]


def workforce_on_page(measured: Any) -> Iterator[Drawing]:
    """Each profession of BEC-Pro against the share of women in it, of one run."""
    if len(measured.runs) > 1 or not measured.dataset.startswith("becpro") or measured.measure != "association":
        return
    means = by_profession(measured.scores[0]).dropna(subset=["difference"])
    if means["profession"].isin(shares()).sum() >= FEWEST:
        yield Drawing(
            charts.workforce_scatter(means, shares()),
            "Each dot is a profession; the higher, the more it speaks for women (nats). If the dashed line were level, "
            "it would not matter to the model who holds the profession.",
        )


def labels_on_page(measured: Any) -> Iterator[Drawing]:
    """The share of each label in each set."""
    rows = _labels(dict(zip(measured.names, measured.runs, strict=True)), measured.dataset)
    if measured.measure == "nli-coal" and len(rows) and rows["value"].notna().all():
        caption = "Labels by set. ● marks those that a stereotype would give; “neutral” is always right."
        yield Drawing(charts.label_bars(rows), caption)


def pronouns_on_page(measured: Any) -> Iterator[Drawing]:
    """Every profession in two runs, where that was measured."""
    scores = measured.scores
    if len(scores) != 2 or measured.measure != "pronoun" or not {"category", "better", "profession"} <= set(scores[0]):
        return
    words = before_after(*scores).dropna(subset=["before", "after"])
    fitted = equalising(words, seed=measured.task.seed)
    if fitted is not None and words["better"].nunique() == 1:
        before, after = measured.names
        yield Drawing(
            charts.pronoun_scatter(words, fitted.lines),
            f"Each dot is a profession: from left to right in {before}, from bottom to top in {after}; on the full "
            f"line both are the same. In the second they lie {fitted.spread.shown('.2f')} times as far apart.",
        )


def words_on_page(measured: Any) -> Iterator[Drawing]:
    """The words behind the value of an association test, of one run; a chart for each test."""
    scores = measured.scores[0]
    if len(measured.runs) > 1 or measured.task.kinds is None or not {"side", "set", "word"} <= set(scores):
        return
    scores = scores.dropna(subset=["score"])
    for test, part in scores.groupby("test") if "test" in scores else [("", scores)]:
        words = part.groupby(["word", "side", "set"], as_index=False)["score"].mean()
        if words["side"].nunique() == 2 and words["score"].nunique() > 1 and len(words) <= MOST_WORDS:
            yield Drawing(
                charts.target_words(words, str(test)),
                "Each dot is a word: to the right it is nearer to the first attributes (men's words, in our own sets), "
                "to the left to the second. Thin lines are the means of the two sets.",
            )


def becpro(runs: Mapping[str, Run]) -> Charts:
    """Bars for each profession group, and the scatter against the workforce."""
    check_measured(list(runs.values()), "association")
    found: Charts = {}
    first, models = next(iter(runs.values())), ", ".join(runs)
    tasks = [task for task in first.record.tasks if task.dataset_builder.startswith("becpro")]
    for task in (task for task in tasks if task.measure == "association"):
        dataset = task.dataset
        start, of = (f"{dataset}-", f", {dataset}") if len({t.dataset for t in tasks}) > 1 else ("", "")
        means = pd.concat(
            profession_means(run.scores_of(dataset), seed=task.seed).assign(run=name) for name, run in runs.items()
        )
        for group, part in means.groupby("prof_gender"):
            title = f"{models}{of}: professions held by {HELD_BY[str(group)]}"
            found[f"{start}professions-{group}"] = charts.profession_bars(part, title=title)
        for place, (name, run) in enumerate(runs.items(), 1):
            title = f"{name}{of}: association and the workforce (US)"
            number = f"-{place}" if len(runs) > 1 else ""
            means_of = by_profession(run.scores_of(dataset))
            found[f"{start}workforce{number}"] = with_title(charts.workforce_scatter(means_of, shares()), title)
    return found


def pronouns(runs: Mapping[str, Run], seen: Collection[str] | None) -> Charts:
    """Bars for each category, with the professions in `seen` marked, and the scatter of two runs."""
    check_measured(list(runs.values()), "pronoun")
    scores = [_pronoun_scores(run) for run in runs.values()]
    if scores[0].empty:
        return {}
    words = appd(scores[0])
    models = ", ".join(runs)
    rows = pd.concat(_words(run).assign(run=name) for name, run in runs.items())
    found: Charts = {}
    for category, part in words.groupby("category"):
        better = "closer to 0" if set(part["better"]) == {"closer to 0"} else "farther from 0, on its side,"
        mine = rows[rows["category"] == category]
        title = f"{models}: {category} ({better} is better)"
        found[f"pronoun-{category}"] = charts.pronoun_bars(mine, colours_of(runs), seen, title=title)
    if len(runs) == 2:
        both = before_after(*scores)
        fitted = equalising(both, seed=next(iter(runs.values())).record.tasks[0].seed)
        found |= {"pronoun-change": _scatter(models, both, fitted)} if fitted is not None else {}
    return found


def _words(run: Run) -> pd.DataFrame:
    """The value of each word with its interval: category, profession, appd, low, high."""
    return pd.DataFrame(
        {
            **{name: row.groups[name] for name in ("category", "profession")},
            **{"appd": row.value, "low": row.low, "high": row.high},
        }
        for dataset in run.datasets
        if dataset.partition(" (")[0] not in OTHER_TEMPLATES
        for row in run.values_of(dataset, "pronoun")
        if {"category", "profession"} <= set(row.groups)
    )


def _scatter(models: str, words: pd.DataFrame, fitted: Equalising) -> alt.TopLevelMixin:
    note = [
        f"{name}: slope {line.slope:.2f} [{line.slope_low:.2f}, {line.slope_high:.2f}], "
        f"intercept {line.intercept:+.2f}, r {line.r:.2f} [{line.r_low:.2f}, {line.r_high:.2f}]"
        for name, line in fitted.lines.items()
    ]
    note += [f"professions: spread x {fitted.spread.shown('.2f')}", f"Merely equalised? {fitted.verdict}"]
    return with_title(charts.pronoun_scatter(words, fitted.lines), f"{models}: pronouns in both", note)


def pairs(runs: Mapping[str, Run]) -> Charts:
    """ASLD on samples of growing size."""
    found: Charts = {}
    for place, (name, run) in enumerate(runs.items(), 1):
        tasks = [task for task in run.record.tasks if task.measure == "likelihood-difference" and "category" in task.by]
        for task in tasks:
            first, of = (f"{task.dataset}-", f" on {task.dataset}") if len(tasks) > 1 else ("", "")
            rows = by_size(run.scores_of(*task.name), seed=task.seed)
            key = f"{first}sample-size" + (f"-{place}" if len(runs) > 1 else "")
            title = f"{name}{of}: ASLD on samples, 5 draws each"
            found |= {key: charts.sample_sizes(rows, title=title)} if len(rows) else {}
    return found


def labels(runs: Mapping[str, Run]) -> Charts:
    """Labels by set."""
    found: Charts = {}
    for dataset in next(iter(runs.values())).datasets:
        rows = _labels(runs, dataset)
        if len(rows):
            note = [f"{name}: {_coal(run, dataset)}" for name, run in runs.items()]
            title = f"{dataset}: labels by set"
            note += ["● labels that a stereotype would give"]
            found[f"labels-{dataset}"] = with_title(charts.label_bars(rows), title, note)
    return found


def _labels(runs: Mapping[str, Run], dataset: str) -> pd.DataFrame:
    """The labels of each run by set; empty unless all have them."""
    frames = [distribution(run.values_of(dataset)).assign(model=name) for name, run in runs.items()]
    return pd.concat(frames) if all(len(frame) for frame in frames) else pd.DataFrame()


def _coal(run: Run, dataset: str) -> str:
    return ", ".join(
        f"{name} {row.brief('.3f')}"
        for measure, name in (("nli-coal", "NLI-CoAL"), ("fraction-neutral", "FN"))
        for row in run.values_of(dataset, measure)
        if not row.groups and row.known
    )


def _pronoun_scores(run: Run) -> pd.DataFrame:
    """The scores of pronouns, without the same professions in other kinds of templates."""
    scores = run.scores[run.scores["measure"] == "pronoun"]
    scores = scores.drop(columns=[c for c in scores.columns if c != "score" and scores[c].isna().all()])
    return scores[~scores["dataset"].str.partition(" (")[0].isin(OTHER_TEMPLATES)] if len(scores) else scores
