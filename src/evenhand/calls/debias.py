"""Debias a model by a method, measure before and after, and report gains and losses."""

import hashlib
import json
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pandas as pd
from markupsafe import Markup

from evenhand.analysis.change import Change, changes, changes_frame
from evenhand.analysis.comparison import Comparison
from evenhand.calls.audit import audit
from evenhand.calls.train_and_measure import check
from evenhand.core.files import prepare, public_path, read_parsed, real_path, write_whole
from evenhand.core.foreign import foreign
from evenhand.core.items import Pair
from evenhand.core.model import Model, check_model
from evenhand.core.parameters import Debias, Loaded, describe
from evenhand.core.progress import showing
from evenhand.core.questions import Answer, Likelihood
from evenhand.datasets.pairs import tgb
from evenhand.errors import BadInput, UnfitModel
from evenhand.mitigation import add, load, options_of
from evenhand.mitigation.base import Mitigation
from evenhand.mitigation.cds import Cds
from evenhand.models import ModelSource
from evenhand.models.cache import Remembering
from evenhand.models.loading.names import DEFAULT
from evenhand.plugins import load_installed
from evenhand.run import Run
from evenhand.runs.comparable import distinct_names
from evenhand.runs.folder import ANSWERS, lock_folder
from evenhand.show.page import runs as page
from evenhand.stats.intervals import clustered_interval
from evenhand.stats.significance import sign_flip_test
from evenhand.stats.verdict import change_side, clusters_needed
from evenhand.training import is_worker_rank

log = logging.getLogger(__name__)

RECORD, CHANGES = "debias.json", "changes.json"
CORPUS = "balanced"
HELD_OUT = 100
"""Pairs of tgb for the comparison of pseudo-perplexity: no corpus has these sentences."""


@dataclass(frozen=True)
class Debiased:
    """The new model, the runs before and after, and the tables that compare them."""

    model: Path
    """Its folder."""
    before: Run
    after: Run
    balance: pd.DataFrame
    """Numbers of gendered words in the corpus, before and after the swap."""
    rows: tuple[Change, ...]
    """The changes from the run before to the run after, by `analysis.change.changes`."""
    language: dict[str, float]
    """Pseudo-perplexity on held-out sentences, before and after, and the change of its logarithm with its interval."""
    wrapped: Model | None = None
    """The new model if it has no folder, because the method only wraps the base model."""

    @property
    def changes(self) -> pd.DataFrame:
        return changes_frame(self.rows)

    @property
    def alarms(self) -> list[str]:
        """Unwanted effects of the debiasing."""
        alarms = []
        if self.balance["share"].isna().any():
            alarms.append("The corpus has no gendered words, so there is no share of them.")
        away = [row for row in self.rows if row.moved.startswith("away")]
        knowing = [row for row in away if row.name == "gender-agreement"]
        whole = [row for row in knowing if not row.groups]
        lost = "; ".join(
            f"words of one gender ({row.group if row.groups else 'actress, pregnant'}) lost {-row.change:.2f} "
            f"[{-row.high:.2f}, {-row.low:.2f}] of P(right pronoun) - P(wrong one)"
            for row in whole or knowing
        )
        if lost:
            if self.balance.empty or not whole:
                alarms.append(f"{'Over-debiased' if whole else 'Knowledge was lost'}: {lost}.")
            elif any((row.dataset, row.name, row.groups) == ("tbd", "pronoun", {}) for row in away):
                alarms.append(f"It got more biased, and {lost}. Look at the texts: do they speak of both genders?")
            else:
                alarms.append(f"Over-debiased: {lost}. Add `remind`.")
        text = self.language
        if text and change_side(text["low"], text["high"], text["p"], int(text["sentences"]), clusters_needed(1)) > 0:
            worse = f"{text['before']:.1f} -> {text['after']:.1f}"
            alarms.append(f"Its language got worse: pseudo-perplexity {worse} on held-out sentences.")
        return alarms

    def _repr_html_(self) -> str:
        """What a notebook shows: the alarms, then the comparison of the two runs."""
        name = distinct_names([self.before, self.after])[1]
        compared = Comparison((self.before, self.after), tuple(replace(row, end=name) for row in self.rows))
        alarms = Markup("").join(Markup("<p><b>Careful:</b> {}</p>").format(alarm) for alarm in self.alarms)
        return str(alarms) + compared._repr_html_()


@describe(Debias)
def debias(
    model: str | Path | Model = DEFAULT,
    *,
    method: str | Mitigation = Cds.name,
    corpus: str = CORPUS,
    out: str | Path,
    share: float | None = None,
    remind: Sequence[str] = (),
    repeat: int = 1,
    recipe: str = "default",
    suite: str = "all",
    limit: int | None = None,
    seed: int = 0,
    progress: bool | None = None,
    **loading: Unpack[Loaded],
) -> Debiased:
    """Debias a model by a method, and compare before and after.

    The method `cds` fine-tunes it on text in which a share of the documents has the other gender: `share`, `remind`,
    `repeat` and `recipe` are its options. Another one is named, or an object with its own options (docs/extend.md).
    Reminders are sentences in which gendered words have their right pronoun (Barza 2023, section 6.3). The model goes
    to OUT/model, unless the method only wraps it, the runs to OUT/before and OUT/after; the same call resumes what was
    stopped. Under a launcher (torchrun) the first process does all this; the others train with it and end there.
    """
    check(limit=limit)
    options = loading.pop("model_options", None) or {}
    how = _method(method, seed, share=share, remind=tuple(remind), repeat=repeat, recipe=recipe)
    if seed < 0:
        raise BadInput(f"`seed` must not be negative. Got {seed}.")
    if corpus != CORPUS and not how.needs_texts:
        raise BadInput(f"The method '{how.name}' uses no texts. Got the corpus '{corpus}'. Leave out `corpus`.")
    source = ModelSource.of(model, {**loading, **options})
    if how.trains and source.given is not None:
        raise BadInput(f"The method '{how.name}' trains a checkpoint. Got the object '{source.name}'. Give a folder.")
    out = Path(out).expanduser()
    if source.given is None and real_path(out) in (given := real_path(Path(str(model)).expanduser()), *given.parents):
        raise BadInput(
            f"The model '{model}' is in '{out}', the folder of the new model and its runs. Choose another `out`."
        )
    prepare(out)
    guarded = partial(foreign, f"Debiasing by '{how.name}' failed", how)
    with guarded():
        texts = how.texts_of(corpus)
    folder = out / "model"
    if is_worker_rank():
        with guarded():
            if how.trains:
                how.apply(str(model), texts, folder)
        raise SystemExit(0)  # what comes after a debiasing is for one process
    with lock_folder(out), showing(progress):
        base = source.load()
        with guarded():
            how.check(base)
            made_of = repr((base.fingerprint, *how.made_of(texts), suite, limit, seed))
        _claim(out, hashlib.sha256(made_of.encode()).hexdigest())
        what: dict[str, Any] = {"suite": suite, "limit": limit, "seed": seed}
        named: dict[str, Any] = {"model_options": options, **loading} if source.given is None else {}
        before = audit(model if source.given is None else source.given, out=out / "before", **what, **named)
        answers = _held_out_answers(before, base, limit)  # a method may change the model in place
        with guarded():
            made = _check_debiased(how.apply(str(model) if how.trains else base, texts, folder), base)
        settings: Loaded = loading if isinstance(made, str) else {}
        after = audit(made, out=out / "after", **what, **settings)
        if after.record.fingerprint == before.record.fingerprint:
            raise BadInput(f"The method '{how.name}' returned the model as it was, '{made}'. It must give another one.")
        language = _language(answers, _held_out_answers(after, ModelSource.of(made, settings).load(), limit), seed)
        rows = tuple(changes(before, after))
        folder, wrapped = (Path(made), None) if isinstance(made, str) else (folder, made)
        with guarded():
            debiased = Debiased(folder, before, after, how.balance, rows, language, wrapped)
            plain = debiased.changes.to_json(orient="records", indent=1).encode()
            write_whole(out / CHANGES, lambda file: file.write(plain))
            record = json.loads((out / RECORD).read_text(encoding="utf-8"))
            record |= {"before": before.record.fingerprint, "after": after.record.fingerprint}
            record |= ({"corpus": public_path(corpus)} if how.needs_texts else {}) | how.record
            record |= {"language": language, "alarms": debiased.alarms}  # on the page
            write_whole(out / RECORD, lambda file: file.write(json.dumps(record, indent=1).encode()))
            if wrapped is None and real_path(out) in real_path(folder).parents:
                _complete_card(debiased, how.says(public_path(corpus)))
        page.write([before, after], out / page.FILE)
        return debiased


def _method(method: str | Mitigation, seed: int, **given: Any) -> Mitigation:
    """The method by its name with the options `given`, or as an object, which has its own."""
    load_installed()
    options = {name: value for name, value in given.items() if value != getattr(Cds, name)}
    if isinstance(method, str):
        if "seed" in options_of(method):
            options["seed"] = seed
        return load(method, **options)
    if not isinstance(method, Mitigation):
        raise BadInput(f"`method` is a name, or an object that extends evenhand.Mitigation. Got {method!r}.")
    add(type(method))
    if options:
        raise BadInput(f"`{min(options)}` is an option of a method that is named. Give it to the object, {method!r}.")
    return method


def _check_debiased(made: Any, base: Model) -> str | Model:
    """The result of a method: a folder or a model. Raise an error if it is neither, or is the base model unchanged."""
    if isinstance(made, str | Path) and Path(made).is_dir():
        return str(made)
    check_model(made)
    model: Model = made
    if model.fingerprint == base.fingerprint:
        raise BadInput(f"It returned a model with the fingerprint of the base model, {model!r}. Use evenhand.Wrapper.")
    return model


def _claim(out: Path, made_of: str) -> None:
    """Claim the folder for this debiasing. Raise an error if it has another one, whose model would be lost."""
    path = out / RECORD
    if path.exists():
        with suppress(OSError, ValueError, KeyError, TypeError):
            if read_parsed(path, json.loads)["sha256"] == made_of:
                return
        raise BadInput(f"'{out}' holds a debiasing with another model, texts or settings. Choose another `out`.")
    if runs := ", ".join(sorted(file.parent.name for file in out.glob("*/run.json"))[:3]):
        raise BadInput(f"'{out}' holds other runs: {runs}. Give the debiasing a folder of its own: `out`.")
    for name in ("model/config.json", CHANGES, page.FILE):
        if (out / name).exists():
            raise BadInput(f"'{out / name}' is not of this debiasing and would be replaced. Choose another `out`.")
    write_whole(path, lambda file: file.write(json.dumps({"sha256": made_of}).encode()))


def _held_out_answers(run: Run, model: Model, limit: int | None) -> list[Answer]:
    """The log-likelihoods of the tokens of held-out sentences; none if the model cannot be asked for them.

    The sentences are pairs of tgb, at most `limit`. If the run measured gbef, its kept answers are used.
    """
    pairs = [pair for pair in tgb().items if isinstance(pair, Pair)]
    pairs = pairs[:: len(pairs) // min(HELD_OUT, limit or HELD_OUT)]
    texts = [text for pair in pairs for text in (pair.stereotype, pair.counterpart)]
    questions = [Likelihood(text) for text in texts]
    try:
        return Remembering(model, run.path / ANSWERS).answer(questions)
    except (BadInput, UnfitModel) as error:  # a classifier, or an object that answers other questions
        log.warning(f"Pseudo-perplexity was not measured: {error}")
        return []


def _language(before: Sequence[Answer], after: Sequence[Answer], seed: int) -> dict[str, float]:
    """Pseudo-perplexity, exp of the mean negative log-likelihood of a token (Salazar et al. 2020)."""
    rows = [(a, b) for a, b in zip(before, after, strict=False) if not a.note and not b.note]
    if not rows:
        return {}
    tokens = np.array([len(a.logps) for a, _ in rows], dtype=float)
    old, new = (-np.array([row[side].logp for row in rows]) / tokens for side in (0, 1))
    clusters = [str(i) for i in range(len(rows))]
    rng = np.random.default_rng(seed)
    low, high = clustered_interval(new - old, clusters, rng)
    return {
        "before": float(np.exp(old.mean())),
        "after": float(np.exp(new.mean())),
        "change": float((new - old).mean()),
        "low": low,
        "high": high,
        "p": sign_flip_test(new - old, clusters, rng),
        "sentences": len(rows),
    }


def _complete_card(debiased: Debiased, what: str) -> None:
    """Add a section to the model's card: what was done, and the scores before and after."""
    card, language = debiased.model / "README.md", debiased.language
    text = card.read_text(encoding="utf-8") if card.exists() else f"# {debiased.before.record.model}, debiased"
    lines = [text.split("\n## Debiased")[0].rstrip(), f"\n## Debiased\n\n{what}\n"]
    lines.append(
        "| dataset | measure | group | before | after | change | 95 % interval |\n|---|---|---|---|---|---|---|"
    )
    for row in (row for row in debiased.rows if row.needed):
        numbers = " | ".join(f"{number:+.3f}" for number in (row.before, row.after, row.change))
        lines.append(f"| {row.dataset} | {row.name} | {row.group} | {numbers} | {row.difference.interval()} |")
    if language:
        moved = f"{language['before']:.2f} before, {language['after']:.2f} after"
        lines.append(f"\nPseudo-perplexity on {language['sentences']} held-out sentences: {moved}.")
    lines += [f"\n**{alarm}**" for alarm in debiased.alarms]
    write_whole(card, lambda file: file.write("\n".join([*lines, ""]).encode()))
