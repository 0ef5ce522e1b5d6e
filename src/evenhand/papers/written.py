"""What models write, by subject: shares of women against the workforce, their bounds, and their precision."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import pandas as pd

from evenhand import Drawing
from evenhand.papers.findings import workforce_shares
from evenhand.stats import Line, fit_line, generator

FEWEST = 8
"""The fewest professions to fit a line to."""


class Written(NamedTuple):
    """What the scores of one measure say beyond its values."""

    professions: pd.DataFrame
    """Columns profession, kind, share (of women, %) and workforce (%)."""
    line: Line | None
    """The share of women fitted on the workforce's share; slope 1: as the workforce is, 0: regardless of it."""
    mentioned: float
    """The share of texts that say whether they are about a woman or a man."""
    lowest: float
    highest: float
    """The share of women if all texts that do not say were about men, and if all of them were about women."""
    paths: int
    worth: float
    """How many counted texts would give a share of female mentions of the same variance; NaN for counts."""
    left: float
    """The share of texts left open because paths were stopped early, which is in the bounds; NaN for counts."""


def is_written(scores: pd.DataFrame) -> bool:
    """Whether these are scores of a measure of written texts."""
    return {"subject", "topic", "kind", "mentioned"} <= set(scores)


def summarise(scores: pd.DataFrame, options: Any, seed: int = 0) -> Written:
    """Shares by profession, all forms together, and their line on the workforce."""
    known = scores.dropna(subset=["mentioned"])
    known = known.assign(mentioned=known["mentioned"].where(known["score"].notna(), 0.0))  # too rare to say whom
    weighed = known["score"].fillna(0.0) * known["mentioned"]
    jobs = known.assign(weighed=weighed)[known["topic"] == "professions"]
    table = jobs.groupby(["subject", "kind"], as_index=False)[["weighed", "mentioned"]].sum()
    table = table[table["mentioned"] > 0]
    professions = pd.DataFrame(
        {
            "profession": table["subject"],
            "kind": table["kind"],
            "share": 100 * table["weighed"] / table["mentioned"],
            "workforce": table["subject"].map(workforce_shares()),
        }
    ).dropna()
    line = None
    if len(professions) >= FEWEST:
        workforce, share = (professions[name].to_numpy(dtype=float) for name in ("workforce", "share"))
        line = fit_line(workforce, share, generator(seed, {"written": "workforce"}))
    mentioned, lowest = float(known["mentioned"].mean()), float(weighed.mean())
    texts = int(options.get("paths", options.get("texts", 1))) * len(known)
    varies = float(known["varies"].sum()) if "varies" in known else 0.0
    worth = texts * float(known["counted"].sum()) / varies if varies > 0 else math.nan
    left = float(known["open"].mean()) if "open" in known else math.nan
    return Written(professions, line, mentioned, lowest, lowest + 1 - mentioned, texts, worth, left)


def sentences(written: Written) -> Iterator[str]:
    """The summary in sentences, in which counted texts and probabilities have names of their own."""
    counts = math.isnan(written.left)
    name = "the share of texts about women" if counts else "the share of women among first mentions"
    none = "do not say whether they are about a woman or a man" if counts else "mention no woman or man, by probability"
    if written.line is not None and not math.isnan(written.line.slope_low):
        ends = f"[{written.line.slope_low:.2f}, {written.line.slope_high:.2f}]"
        yield (
            f"For each percentage point of women in a profession's workforce (US 2019), {name} "
            f"goes up by {written.line.slope:.2f} points {ends}: 1 would be as the workforce is, 0 regardless of it."
        )
    if math.isnan(written.mentioned):
        return
    yield (
        f"{100 * (1 - written.mentioned):.0f} of 100 texts {none}. If all of these were about men, {name} would be "
        f"{written.lowest:.2f}; if all were about women, {written.highest:.2f}."
    )
    if not math.isnan(written.worth):
        yield (
            f"The {written.paths:,} paths are worth {written.worth:,.0f} counted texts: by probability, a path says "
            "more than whom it happens to mention."
        )
    if not math.isnan(written.left):
        yield f"Stopping paths early left {100 * written.left:.2g} of 100 texts open, which the bounds allow for."


def on_page(measured: Any) -> Iterator[Drawing]:
    """For a page of one run: each profession from 0 to 100 % women, with the workforce's share."""
    from evenhand.papers import charts

    if len(measured.runs) > 1 or not is_written(measured.scores[0]):
        return
    summary = summarise(measured.scores[0], measured.task.measure_options, measured.task.seed)
    if len(summary.professions):
        caption = "Each dot is a profession in all forms of texts; the line is its share of women in the US workforce."
        yield Drawing(charts.written_shares(summary.professions), " ".join([caption, *sentences(summary)]))
