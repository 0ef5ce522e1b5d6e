"""Bartl, Nissim and Gatt 2020, Unmasking Contextual Stereotypes: Tables 4 and 5."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from evenhand import Fill, Run, audit, from_scores, models
from evenhand.calls.train_and_measure import recipe_of, trained
from evenhand.datasets import load, rows
from evenhand.datasets.corpora import Splitter, sentences
from evenhand.errors import BadInput, UnfitModel
from evenhand.models.base import OwnInputs, Read, Reading
from evenhand.papers.base import Reproduction, file_name, load_published, versus
from evenhand.papers.findings import changes, evaluate_hypotheses, pairs, signed_ranks

LENGTH = 16  # the next power of two above the length of the longest sentence, in words instead of tokens


class AsReleased(OwnInputs):
    """Wraps a masked model: turns a `Fill` into the input that the released code of Bartl et al. (2020) makes.

    Words to mask are searched for in the sentence, so other matches are masked too ("lodging [MASK]ager"). There is one
    mask per word. Every input is cut or padded to 16 tokens, padded with [MASK], and the padding is attended to. The
    first mask counts as the target, and the token at its position in the unmasked sentence as the target's word.
    """

    def __init__(self, model: Any) -> None:
        super().__init__(model, "as-released", "as released by Bartl et al. 2020")

    def readings(self, questions: Sequence[Any]) -> list[Reading]:
        tokenizer = self.model.tokenizer
        if not all(isinstance(question, Fill) for question in questions):
            raise UnfitModel("The released code of Bartl et al. 2020 answers only questions about blanks.")
        plain_and_masked = [(question.text, masked_text(question, tokenizer.mask_token)) for question in questions]
        texts = list(dict.fromkeys(text for pair in plain_and_masked for text in pair))
        encoded = tokenizer(texts)["input_ids"] if texts else []
        padding = [tokenizer.mask_token_id] * LENGTH
        ids = {text: (*tokens, *padding)[:LENGTH] for text, tokens in zip(texts, encoded, strict=True)}
        return [self._reading(ids[plain], ids[masked]) for plain, masked in plain_and_masked]

    def _reading(self, plain: tuple[int, ...], masked: tuple[int, ...]) -> Reading:
        mask = self.model.tokenizer.mask_token_id
        if self.model.tokenizer.unk_token_id in plain:
            return Reading(note="unknown word")
        if mask not in masked:  # the target was cut off
            return Reading(note="too long")
        first = masked.index(mask)
        return Reading((Read(masked, ((first, plain[first]),)),))


def masked_text(question: Fill, mask: str = "[MASK]") -> str:
    """The sentence as in the released columns Sent_TM (nothing hidden) and Sent_TAM."""
    # A target is found at the start of words too; inside words ("mason") the author corrected it by hand.
    text = re.sub(rf"\b{re.escape(question.answer)}", mask, question.text)
    for span in question.hidden:
        for word in span.of(question.text).split():
            text = re.sub(rf"\b{re.escape(word)}(?!\w)", mask, text)
    return text


GROUPS = ("balanced", "female", "male")
Mode = Literal["paper", "released"]
Columns = Mapping[str, tuple[pd.DataFrame | None, str, Run | None]]


def reproduce(
    *,
    model: str | None = None,
    post: str | None = None,
    finetune: str | None = None,
    recipe: str | None = None,
    splitter: Splitter | None = None,
    german_model: str | None = None,
    scores: str | Path | None = None,
    mode: Mode = "paper",
    out: str | Path = "runs/reproduce",
    **loading: Any,
) -> Reproduction:
    """Measure `model` before and, with `post` or `finetune`, after fine-tuning; `german_model` gives Table 5.

    `post` is a model that is already fine-tuned, `finetune` a corpus to fine-tune on now (`gap` or a text file), by the
    recipe of the mode unless another is named. `splitter` cuts that corpus into sentences: sentencex, or nltk like the
    released code (13,436 sentences of `gap`, where sentencex finds 13,172).

    `scores` replaces the models by a file of associations that somebody else computed, with the columns that the
    released code writes: Sentence, Pre_Assoc and, if there are associations after fine-tuning, Post_Assoc. `model` is
    then the name to show. If the sentences are German, they fill Table 5.
    """
    numbers = load_published("bartl2020")
    if mode not in numbers["reasons"]:
        raise BadInput(f"`mode` must be 'paper' or 'released'. Got {mode!r}.")
    if post and finetune:
        raise BadInput("Give either a fine-tuned model (`post`) or a corpus to fine-tune on (`finetune`), not both.")
    if scores and (post or finetune):
        raise BadInput("`scores` replaces the models, also after fine-tuning. Leave out `post` and `finetune`.")
    if splitter and not finetune:
        raise BadInput("`splitter` needs a corpus to split and fine-tune on. Name one, as in `finetune=gap`.")
    splitter, recipe, out = splitter or "sentencex", recipe or f"bartl-{mode}", Path(out)
    training = recipe_of(recipe)
    notes = list(numbers["reasons"][mode])
    model = model or (Path(scores).stem if scores else "mini-en")
    if finetune:
        texts = sentences("gap-flipped" if finetune == "gap" else finetune, splitter)  # the paper's own swapped text
        post = str(trained(model, texts, training, out, f"{file_name(model)}--{Path(finetune).stem}--{recipe}"))
        differs = ", the paper's by NLTK (`splitter=nltk`)" if splitter == "sentencex" else ", as the paper's are"
        notes.append(f"{len(texts):,} sentences, split by {splitter}{differs}.")
        if finetune == "gap":
            notes.append("In the paper's swapped text every document is swapped.")
        if not recipe.startswith(f"bartl-{mode}"):
            notes.append(f"Fine-tuned by the recipe '{recipe}', which is neither the paper's nor its code's.")
    before, after, german = None, None, None
    if scores:
        notes = [f"Associations imported from {Path(scores).name}: read as whoever computed them read them."]
        imported = _import_runs(Path(scores).expanduser(), model, mode, out)
        before, after, german = (imported.get(name) for name in ("before", "after", "german"))
        if german:
            german_model, model = model, ""
    else:
        before = _audit_model(model, "en", mode, out, loading)
        after = _audit_model(post, "en", mode, out / "post", loading) if post else None
        german = _audit_model(german_model, "de", mode, out, loading) if german_model else None

    pre, last, de = (_scores(run) if run else None for run in (before, after, german))
    moved = changes(pre, last) if pre is not None and last is not None else None
    means: Columns = {"pre": (pre, "mean", before), "post": (last, "mean", after), "diff": (moved, "mean", None)}
    spread: Columns = {"mean": (de, "mean", german), "sd": (de, "std", None)}
    english = _table("4", numbers["table4"], means, moved) if before else ()
    cells = [*english, *_table("5", numbers["table5"], spread, de)]
    for used, key, table in ((model, "model_en", "Table 4"), (german_model, "model_de", "Table 5")):
        names = numbers[key]
        if used and (used if scores else models.find(used).name) not in names:
            notes.insert(0, f"Not comparable: {table} has {names[0]}, ours is '{used}'. Compare the pattern alone.")
    if before and after is None:
        notes.append("Columns post and diff, W, r and p of Table 4 need a fine-tuned model: `post` or `finetune=gap`.")
    if german is None:
        notes.append("Table 5 needs a German model: `german_model`.")
    claims = evaluate_hypotheses(pre, last) if pre is not None else []
    return Reproduction(pd.DataFrame(cells), notes, claims, [run for run in (before, after, german) if run])


def _audit_model(model: str, language: str, mode: Mode, out: Path, loading: dict[str, Any]) -> Run:
    out /= language  # a multilingual model has a run for each language
    forms = {"forms": "agree"} if language == "de" else {}
    if mode == "paper":
        return audit(model, suite="becpro", lang=language, out=out, options=forms, **loading)
    wrapped = AsReleased(models.load_masked(model, **loading))
    return audit(wrapped, suite="becpro", lang=language, out=out, options={"masks": "words", **forms})


def _import_runs(scores: Path, name: str, mode: Mode, out: Path) -> dict[str, Run]:
    """Import the runs of associations: before and, if the file has them, after fine-tuning; or of German sentences."""
    head = next((row for _, row in rows(scores, ("Sentence", "Pre_Assoc"))), {})
    language = "de" if head.get("Sentence") in set(load("becpro-de").table()["Sentence"]) else "en"
    common: dict[str, Any] = {"dataset": f"becpro-{language}", "name": name, "kind": "masked"}
    common["options"] = {"masks": "words"} if mode == "released" else {}

    def run_of(column: str, folder: str = "") -> Run:
        columns = {"text": "Sentence", "score": column}
        return from_scores(scores, columns=columns, out=out / folder / language, **common)

    if language == "de":
        return {"german": run_of("Pre_Assoc")}
    after = {"after": run_of("Post_Assoc", "post")} if "Post_Assoc" in head else {}
    return {"before": run_of("Pre_Assoc")} | after


def _table(
    table: str, published: dict[str, Any], columns: Columns, paired: pd.DataFrame | None
) -> Iterator[dict[str, Any]]:
    """The cells of a table: each column has scores, how to summarise them and the run that has their intervals.

    `paired` are the scores for the signed-rank test.
    """
    tested = signed_ranks(pairs(paired)).set_index("prof_gender").reindex(GROUPS) if paired is not None else None
    for group in GROUPS:
        about = {"table": table, "professions": group}
        for words in ("female", "male"):
            for what, (scores, aggregation, run) in columns.items():
                ours: Any = None
                if run is not None:
                    groups = {"prof_gender": group, "gender": words}
                    ours = next(row for row in run.results if row["groups"] == groups)
                elif scores is not None:
                    part = scores[(scores["prof_gender"] == group) & (scores["gender"] == words)]
                    ours = float(part["score"].agg(aggregation))
                yield versus(published[group][words][what], ours, **about, words=words, what=what)
        for what, key, column in (("W", "w", "w"), ("r", "r", "r_printed"), ("p", "p", "p_printed")):
            statistic = float(tested.loc[group, column]) if tested is not None else None  # type: ignore[arg-type]
            numbers = versus(published[group]["test"][key], statistic, **about, words="female - male", what=what)
            yield numbers | ({"difference": None} if what == "p" else {})  # R prints no p below 2e-16


def _scores(run: Run) -> pd.DataFrame:
    return run.scores_of(run.record.tasks[0].dataset)
