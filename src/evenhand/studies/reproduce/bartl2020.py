"""Bartl, Nissim and Gatt 2020, Unmasking Contextual Stereotypes: Tables 4 and 5."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from evenhand.analysis import hypotheses
from evenhand.analysis.paired import changes, compared, pairs
from evenhand.auditing.audit import audit
from evenhand.datasets.corpora.texts import sentences
from evenhand.errors import BadInput
from evenhand.models.loading.names import find
from evenhand.runs.folder import Run
from evenhand.studies.reproduce.base import Reproduction, beside, published
from evenhand.studies.train_and_measure import recipe_of, trained

GROUPS = ("balanced", "female", "male")
Mode = Literal["paper", "released"]
REASONS = {
    "paper": [
        "Read as the paper says: one mask for each piece, padding not attended to, nothing cut, masks by position.",
        "The published numbers come from the released code, which does none of these (--as released does as it does).",
        "W and r are those of a paired signed-rank test over 900 pairs, r = z / sqrt(1800); the paper prints every r "
        "negative, the direction is in W (above or below 202,725).",
    ],
    "released": [
        "Read as the released code does: one mask for each word, 16 pieces (longer sentences are cut), padded "
        "with [MASK] that is attended to, 23 English and 5 German rows masked in wrong places.",
        "What is left of a difference is the checkpoint, the library version, and the fine-tuning, whose released code "
        "also pads with [MASK] and predicts that padding (so does --recipe bartl-released-padded).",
    ],
}


def reproduce(
    *,
    model: str = "mini-en",
    post: str | None = None,
    finetune: str | None = None,
    recipe: str | None = None,
    german_model: str | None = None,
    mode: Mode = "paper",
    out: str | Path = "runs/reproduce",
    **loading: Any,
) -> Reproduction:
    """`model` before, and after fine-tuning if asked; `german_model` gives Table 5.

    `post` is a model that is already fine-tuned, `finetune` a corpus to do it with now (`gap` or a text file), by the
    recipe of the mode unless another is named.
    """
    if mode not in REASONS:
        raise BadInput(f"--as must be 'paper' or 'released'. Got {mode!r}.")
    if post and finetune:
        raise BadInput("Give either a fine-tuned model (--post) or a corpus to fine-tune on (--finetune), not both.")
    recipe = recipe or f"bartl-{mode}"
    recipe_of(recipe)  # known, or an error, before any text is looked for
    numbers = published("bartl2020")
    out = Path(out)
    notes = list(REASONS[mode])
    if finetune:
        post = str(_finetuned(model, finetune, recipe, out))
        notes.append(
            "Sentences are cut by sentencex, the paper's by NLTK; its swapped text has every document swapped."
        )
        if not recipe.startswith(f"bartl-{mode}"):
            notes.append(f"Fine-tuned by the recipe '{recipe}', which is neither the paper's nor its code's.")
    before = _measured(model, "en", mode, out, loading)
    after = _measured(post, "en", mode, out / "post", loading) if post else None
    german = _measured(german_model, "de", mode, out, loading) if german_model else None

    cells = [*_table4(numbers["table4"], before, after), *_table5(numbers["table5"], german)]
    for used, key, table in ((model, "model_en", "Table 4"), (german_model, "model_de", "Table 5")):
        names = numbers[key]
        if used and find(used).name not in names:
            notes.insert(0, f"Not comparable: {table} is of {names[0]}, ours of '{used}'. Compare the pattern alone.")
    if after is None:
        notes.append("Columns post and diff, W and r of Table 4 need a fine-tuned model: --post or --finetune gap.")
    if german is None:
        notes.append("Table 5 needs a German model: --german-model MODEL.")
    claims = hypotheses.evaluate(_scores(before), _scores(after) if after else None)
    return Reproduction(pd.DataFrame(cells), notes, claims, [run for run in (before, after, german) if run])


def _measured(model: str, language: str, mode: Mode, out: Path, loading: dict[str, Any]) -> Run:
    out /= language  # a multilingual model is measured in both
    if mode == "paper":
        return audit(model, suite="becpro", lang=language, out=out, **loading)
    from evenhand.models import load_masked
    from evenhand.studies.reproduce.bartl2020_inputs import AsReleased

    wrapped = AsReleased(load_masked(model, **loading))
    return audit(wrapped, suite="becpro", lang=language, out=out, options={"masks": "words"})


def _finetuned(base: str, corpus: str, recipe: str, out: Path) -> Path:
    texts = sentences("gap-flipped" if corpus == "gap" else corpus)  # the paper's own swapped text
    name = f"{find(base).name.replace('/', '--')}--{Path(corpus).stem}--{recipe}"
    return trained(base, texts, recipe_of(recipe), out, name)


def _table4(published: dict[str, Any], before: Run, after: Run | None) -> Iterator[dict[str, Any]]:
    pre = _scores(before)
    moved = changes(pre, _scores(after)) if after else None
    frames = {"pre": pre, "post": _scores(after) if after else None, "diff": moved}
    tested = compared(pairs(moved)).set_index("prof_gender").reindex(GROUPS) if moved is not None else None
    for group in GROUPS:
        for words in ("female", "male"):
            for what, frame in frames.items():
                ours = _mean(frame, group, words) if frame is not None else None
                yield _row("4", group, words, what, published[group][words][what], ours)
        yield from _tests("4", group, published[group]["test"], tested)


def _table5(published: dict[str, Any], run: Run | None) -> Iterator[dict[str, Any]]:
    scores = _scores(run) if run else None
    tested = compared(pairs(scores)).set_index("prof_gender").reindex(GROUPS) if scores is not None else None
    for group in GROUPS:
        for words in ("female", "male"):
            for what, how in (("mean", "mean"), ("sd", "std")):
                ours = _mean(scores, group, words, how) if scores is not None else None
                yield _row("5", group, words, what, published[group][words][what], ours)
        yield from _tests("5", group, published[group]["test"], tested)


def _tests(
    table: str, group: str, published: dict[str, float], tested: pd.DataFrame | None
) -> Iterator[dict[str, Any]]:
    for what, column in (("w", "w"), ("r", "r_printed")):
        ours = float(tested.loc[group, column]) if tested is not None else None  # type: ignore[arg-type]
        yield _row(table, group, "female - male", what.upper() if what == "w" else what, published[what], ours)


def _row(table: str, group: str, words: str, what: str, published: float, ours: float | None) -> dict[str, Any]:
    return {"table": table, "professions": group, "words": words, "what": what, **beside(published, ours)}


def _mean(scores: pd.DataFrame, group: str, words: str, how: str = "mean") -> float:
    part = scores[(scores["prof_gender"] == group) & (scores["gender"] == words)]["score"]
    return float(part.agg(how))


def _scores(run: Run) -> pd.DataFrame:
    return run.scores_of(run.record.tasks[0].dataset)
