"""Debias a model: swap texts, fine-tune, measure before and after, and report gains and losses."""

import hashlib
import json
import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from evenhand import models
from evenhand.analysis.change import Change, changes, changes_frame
from evenhand.analysis.comparison import Comparison
from evenhand.calls.audit import audit
from evenhand.calls.train_and_measure import check, recipe_of, train_masked
from evenhand.core.files import prepare, public_path, read_parsed, write_whole
from evenhand.core.items import Pair
from evenhand.core.model import Model
from evenhand.core.progress import showing
from evenhand.core.questions import Likelihood
from evenhand.datasets.corpora.texts import reminders
from evenhand.datasets.gendered import gender
from evenhand.datasets.pairs import tgb
from evenhand.errors import BadInput
from evenhand.models.cache import Remembering
from evenhand.models.loading.names import DEFAULT
from evenhand.run import Run
from evenhand.runs.comparable import distinct_names
from evenhand.runs.folder import ANSWERS, locked
from evenhand.show.page import runs as page
from evenhand.stats.intervals import clustered_interval
from evenhand.stats.significance import sign_flip_test
from evenhand.stats.verdict import enough, moved
from evenhand.text.substitute import substituted
from evenhand.text.swap import WORD
from evenhand.training.processes import is_worker_rank

log = logging.getLogger(__name__)

RECORD, CHANGES = "debias.json", "changes.json"
HELD_OUT = 100
"""Pairs of tgb for the comparison of pseudo-perplexity: no corpus has these sentences."""


@dataclass(frozen=True)
class Debiased:
    """The new model's folder, the runs before and after, and the tables that compare them."""

    model: Path
    before: Run
    after: Run
    balance: pd.DataFrame
    """Gendered words of the corpus, before and after the swap."""
    rows: tuple[Change, ...]
    """What differs between the two runs: `analysis.change.changes`."""
    language: dict[str, float]
    """Pseudo-perplexity on held-out sentences, before and after, and the change of its logarithm with its interval."""

    @property
    def changes(self) -> pd.DataFrame:
        return changes_frame(self.rows)

    @property
    def alarms(self) -> list[str]:
        """Unwanted effects of the debiasing."""
        found = []
        if self.balance["share"].isna().any():
            found.append("The corpus has no gendered words, so there is no share of them.")
        away = [row for row in self.rows if not row.groups and row.moved.startswith("away")]
        for row in (row for row in away if row.name == "gender-agreement"):
            lost = f"{-row.change:.2f} [{-row.high:.2f}, {-row.low:.2f}] of P(right pronoun) - P(wrong one)"
            lost = f"words of one gender (actress, pregnant) lost {lost}"
            if any((other.dataset, other.name) == ("tbd", "pronoun") for other in away):
                found.append(f"It got more biased, and {lost}. Look at the texts: do they speak of both genders?")
            else:
                found.append(f"Over-debiased: {lost}. Add `remind`.")
        text = self.language
        if text and moved(text["low"], text["high"], text["p"], int(text["sentences"]), enough(1)) > 0:
            worse = f"{text['before']:.1f} -> {text['after']:.1f}"
            found.append(f"Its language got worse: pseudo-perplexity {worse} on held-out sentences.")
        return found

    def _repr_html_(self) -> str:
        """What a notebook shows: the alarms, then the comparison of the two runs."""
        name = distinct_names([self.before, self.after])[1]
        compared = Comparison((self.before, self.after), tuple(replace(row, end=name) for row in self.rows))
        told = Markup("").join(Markup("<p><b>Careful:</b> {}</p>").format(alarm) for alarm in self.alarms)
        return str(told) + compared._repr_html_()


def debias(
    model: str = DEFAULT,
    *,
    corpus: str = "balanced",
    out: str | Path,
    share: float | None = None,
    remind: Sequence[str] = (),
    repeat: int = 1,
    recipe: str = "default",
    suite: str = "all",
    limit: int | None = None,
    seed: int = 0,
    progress: bool | None = None,
    **loading: Any,
) -> Debiased:
    """Fine-tune a model on text in which a share of the documents has the other gender, and compare before and after.

    `corpus` is balanced (bundled), gap, gap-flipped, mt-gender or a file. `share` of its documents are swapped: half of
    them, or none of a corpus that is already balanced. `remind` adds sentences in which gendered words have their right
    pronoun (pregnant, breastfeed, or a file), each `repeat` times (Barza 2023, section 6.3). The model goes to
    OUT/model, the runs to OUT/before and OUT/after; the same call resumes what was stopped. Under a launcher (torchrun)
    the first process does all this; the others train with it and end there. `progress` is as for `audit`.
    """
    check(recipe, limit=limit)
    if repeat < 1:
        raise BadInput(f"repeat must be at least 1. Got {repeat}.")
    if seed < 0:
        raise BadInput(f"seed must not be negative. Got {seed}.")
    out = Path(out).expanduser()
    if out.resolve() in (given := Path(model).expanduser().resolve(), *given.parents):
        raise BadInput(f"'{model}' lies in '{out}', where the new model would go. Choose another `out`.")
    prepare(out)
    text = substituted(corpus, share=share, seed=seed)
    extra = [sentence for source in remind for sentence in reminders(source)] * repeat
    folder = out / "model"
    if is_worker_rank():
        train_masked(model, text.sentences + extra, recipe_of(recipe), folder)
        raise SystemExit(0)  # what comes after a debiasing is for one process
    with locked(out), showing(progress):
        base = models.load_masked(model, **loading)
        made_of = repr((base.fingerprint, text.sentences, extra, recipe_of(recipe), suite, limit, seed))
        _claim(out, hashlib.sha256(made_of.encode()).hexdigest())
        asked: dict[str, Any] = {"suite": suite, "limit": limit, "seed": seed, **loading}
        before = audit(model, out=out / "before", **asked)
        train_masked(model, text.sentences + extra, recipe_of(recipe), folder)
        after = audit(str(folder), out=out / "after", **asked)
        language = _language([(before, base), (after, models.load(str(folder), **loading))], seed, limit)
        rows = tuple(changes(before, after))
        done = Debiased(folder, before, after, balance(text.before, text.after), rows, language)
        plain = done.changes.to_json(orient="records", indent=1).encode()
        write_whole(out / CHANGES, lambda file: file.write(plain))
        _record(out, done, corpus, text.share, extra)
        _complete_card(done, corpus, text.share, extra)
        page.write([before, after], out / page.FILE)
        return done


def _claim(out: Path, made_of: str) -> None:
    """Claim the folder for this debiasing; another one's is refused, since its model would be lost."""
    path = out / RECORD
    if path.exists():
        known = ""
        with suppress(OSError, ValueError, KeyError, TypeError):
            known = read_parsed(path, json.loads)["sha256"]
        if known != made_of:
            raise BadInput(f"'{out}' holds a debiasing with another model, texts or settings. Choose another `out`.")
        return
    if runs := ", ".join(sorted(found.parent.name for found in out.glob("*/run.json"))[:3]):
        raise BadInput(f"'{out}' holds other runs: {runs}. Give the debiasing a folder of its own: `out`.")
    for name in ("model/config.json", CHANGES, page.FILE):
        if (out / name).exists():
            raise BadInput(f"'{out / name}' is not of this debiasing, and would be replaced. Choose another `out`.")
    write_whole(path, lambda file: file.write(json.dumps({"sha256": made_of}).encode()))


def _record(out: Path, done: Debiased, corpus: str, share: float, extra: Sequence[str]) -> None:
    """Add to the claim what the page shows: the runs, the training data, what was lost."""
    path = out / RECORD
    record = json.loads(path.read_text(encoding="utf-8")) | {
        "before": done.before.record.fingerprint,
        "after": done.after.record.fingerprint,
        "corpus": public_path(corpus),
        "share": share,
        "reminders": len(extra),
        "balance": json.loads(done.balance.to_json(orient="records")),
        "language": done.language,
        "alarms": done.alarms,
    }
    write_whole(path, lambda file: file.write(json.dumps(record, indent=1).encode()))


def balance(before: Iterable[str], after: Iterable[str]) -> pd.DataFrame:
    """The female and male words of a corpus and their female share (NaN without any), before and after the swap."""
    texts = {"before": before, "after": after}
    counts = [Counter(gender(found[0]) for text in some for found in WORD.finditer(text)) for some in texts.values()]
    frame = pd.DataFrame({"corpus": list(texts), **{side: [n[side] for n in counts] for side in ("female", "male")}})
    return frame.assign(share=frame["female"] / (frame["female"] + frame["male"]))


def _language(of: Sequence[tuple[Run, Model]], seed: int, limit: int | None) -> dict[str, float]:
    """Pseudo-perplexity, exp of the mean negative log-likelihood of a token (Salazar et al. 2020).

    The sentences are those of a run of gbef, whose answers are kept; with `limit`, of at most that many pairs.
    """
    pairs = tgb().items[:: len(tgb().items) // min(HELD_OUT, limit or HELD_OUT)]
    texts = [text for pair in pairs if isinstance(pair, Pair) for text in (pair.stereotype, pair.counterpart)]
    questions = [Likelihood(text) for text in texts]
    answers = [Remembering(model, run.path / ANSWERS).answer(questions) for run, model in of]
    rows = [(a, b) for a, b in zip(*answers, strict=True) if not a.note and not b.note]
    if not rows:
        return {}
    tokens = np.array([len(a.logps) for a, _ in rows], dtype=float)
    here, there = (-np.array([row[side].logp for row in rows]) / tokens for side in (0, 1))
    clusters = [str(i) for i in range(len(rows))]
    rng = np.random.default_rng(seed)
    low, high = clustered_interval(there - here, clusters, rng)
    return {
        "before": float(np.exp(here.mean())),
        "after": float(np.exp(there.mean())),
        "change": float((there - here).mean()),
        "low": low,
        "high": high,
        "p": sign_flip_test(there - here, clusters, rng),
        "sentences": len(rows),
    }


def _complete_card(done: Debiased, corpus: str, share: float, extra: Sequence[str]) -> None:
    """Add the training data and the scores before and after to the model's card."""
    card = done.model / "README.md"
    text = card.read_text(encoding="utf-8").split("\n## Debiased")[0].rstrip()
    lines = [
        f"## Debiased\n\nCorpus: {public_path(corpus)}, a share of {share:g} of its documents with the other gender; "
        f"{len(extra)} reminders.\n",
        "| dataset | measure | group | before | after | change | 95 % interval |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in (row for row in done.rows if row.needed):
        numbers = " | ".join(f"{number:+.3f}" for number in (row.before, row.after, row.change))
        lines.append(f"| {row.dataset} | {row.name} | {row.group} | {numbers} | {row.difference.interval()} |")
    if done.language:
        moved = f"{done.language['before']:.2f} before, {done.language['after']:.2f} after"
        lines.append(f"\nPseudo-perplexity on {done.language['sentences']} held-out sentences: {moved}.")
    lines += [f"\n**{alarm}**" for alarm in done.alarms]
    whole = f"{text}\n\n" + "\n".join(lines) + "\n"
    write_whole(card, lambda file: file.write(whole.encode()))
