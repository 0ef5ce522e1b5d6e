"""Vectors of words and sentences: Bolukbasi et al. 2016, Caliskan et al. 2017 (WEAT), Liang et al. 2020 (SEAT)."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evenhand import Dataset, Embed, Run, Span, Target, audit, datasets, load
from evenhand.errors import BadInput, DataNotFound, check_known
from evenhand.papers.base import Reproduction, load_published, published_folder, read_file, versus

BY_DEFINITION = 0.5  # Figure 1 excludes words such as businesswoman: here, by the authors' scores
PAIRS, HE_SHE = "professions by ten pairs", "professions by he and she"
ENCODINGS = (
    "the authors' repository, pliang279/sent_debias, gender_tests/sent_encs*.pkl. Save them as bert-seat6.npz, ...: "
    "arrays targ1, targ2, attr1, attr2, and targ1_text, ...: the number of each row's sentence in sent-weat6.jsonl"
)


def bolukbasi2016(*, vectors: str | Path | None = None, out: str | Path = "runs/reproduce") -> Reproduction:
    """The direct bias of 320 professions (c = 1), and the ranks of the occupations that Figure 1 names as extreme.

    The gender direction of direct bias is the first component of ten pairs; that of Figure 1 is he - she. `vectors` is
    word2vec's file of Google News, by default a part of it under EVENHAND_DATA. Added to the paper: the interval.
    """
    source = published_folder("debiaswe", "the authors' repository, tolga-b/debiaswe, data", "lists of words")
    numbers, data = load_published("bolukbasi2016"), []
    gendered = read_file(source / "professions.json", lambda text: {str(w): float(by) for w, by, _ in json.loads(text)})
    pairs = read_file(source / "definitional_pairs.json", lambda text: [(str(m), str(w)) for w, m in json.loads(text)])
    for name, word_pairs in ((PAIRS, pairs), (HE_SHE, [("he", "she")])):
        men, women = (tuple((w, Span(0, len(w))) for w in side) for side in zip(*word_pairs, strict=True))
        about = {"side": "X"}  # direct bias knows no sides
        items = [Target(w, (w, Span(0, len(w))), (men, women), {**about, "word": w}, paired=True) for w in gendered]
        data.append(Dataset(name=name, items=items, cluster="word", source="debiaswe", licence="MIT"))
    file, missing = _vectors(vectors, [item for each in data for item in each.items], "words/googlenews-subset.npz")
    run = audit(file, dataset=data, measure=["direct-bias", "gender-direction"], out=Path(out) / "bolukbasi2016")
    cells, about = [], {"table": "Direct bias", "direction": "ten pairs", "word": f"{len(gendered)} professions"}
    for what, number in (("direct-bias", numbers["direct_bias"]), ("gender-direction", None)):
        cells.append(versus(number, _ours(run.values_of(PAIRS, what)[0]), **about, what=what))
    notes = ["gender-direction: the share of the pairs' variance that lies in one direction. The paper only draws it."]
    notes += [f"{len(missing)} professions or words of pairs have no vector: {_shorten(missing)}."] if missing else []
    scored = run.scores_of(HE_SHE, "direct-bias").dropna(subset="score").sort_values("score")["id"]
    order = [word for word in scored if abs(gendered[word]) < BY_DEFINITION]
    for side, ours in (("she", order), ("he", order[::-1])):
        ranks = {word: ours.index(word) + 1 if word in ours else None for word in numbers[side]}
        about = {"table": "Figure 1", "direction": side, "what": "rank"}
        cells += [versus(n, ranks[word], **about, word=word.replace("_", " ")) for n, word in enumerate(ranks, 1)]
        if known := [rank for rank in ranks.values() if rank]:
            place = f"Figure 1, {side}: {len(known)} of {len(ranks)} are among our first {max(known)} of {len(ours)}"
            others = _shorten([word for word in ours[: max(known)] if word not in ranks])
            notes.append(f"{place}, in {'the same' if known == sorted(known) else 'another'} order. Others: {others}.")
    return Reproduction(pd.DataFrame(cells), notes, runs=[run], across=("what", "word"))


def caliskan2017(
    *, vectors: str | Path | None = None, embedding: str = "word2vec", out: str | Path = "runs/reproduce"
) -> Reproduction:
    """The effect sizes of WEAT 1 to 10 of the file `vectors`, next to the printed ones of `embedding`.

    `embedding` is word2vec or glove. Words without a vector are excluded and named. Added to the paper: intervals.
    """
    numbers = load_published("caliskan2017")
    check_known("published embedding", [embedding], numbers)
    items: dict[str, Any] = {test: datasets.load("weat", test=test).items for test in numbers[embedding]}
    file, missing = _vectors(vectors, [item for some in items.values() for item in some])
    run, cells, notes = _effect_sizes(file, "weat", numbers[embedding], Path(out) / "caliskan2017")
    for test, words in ((test, _words(some)) for test, some in items.items()):
        if lost := [word for word in words if word in missing]:
            notes.append(f"WEAT {test}: {len(lost)} of {len(words)} words without a vector: {_shorten(lost)}.")
    other = next(name for name in numbers if name != embedding)
    above = (
        f"Published: {embedding}; `embedding={other}` compares with the other. p is two-sided, the paper's one-sided."
    )
    return Reproduction(pd.DataFrame(cells), [above, *notes], runs=[run])


def liang2020(*, out: str | Path = "runs/reproduce") -> Reproduction:
    """The effect sizes of SEAT 6 to 8b of BERT's released encodings, next to the printed ones.

    A test whose file of encodings is missing has the printed number alone. The encodings are saved in `out` as vectors
    by sentence, a model for `audit`. Added to the paper: intervals and p.
    """
    source, numbers = published_folder("published/seat", ENCODINGS, "encodings"), load_published("liang2020")["d"]
    vectors: dict[str, Any] = {}
    files = {test: source / f"bert-seat{test}.npz" for test in numbers}
    here = {test: numbers[test] for test, path in files.items() if path.exists()} or numbers
    for test in here:  # sentences that several tests have are encoded alike
        vectors |= _encodings(files[test], datasets.load("seat", test=test).items)
    file = Path(out) / "liang2020" / "bert.npz"
    file.parent.mkdir(parents=True, exist_ok=True)
    np.savez(file, words=np.array(list(vectors)), vectors=np.array(list(vectors.values())))
    run, cells, notes = _effect_sizes(file, "seat", here, file.parent)
    if missing := {test: number for test, number in numbers.items() if test not in here}:
        cells += [versus(number, None, test=test, words="", what="d") for test, number in missing.items()]
        notes += [f"No encodings of {', '.join(missing)} in {source}. They are in {ENCODINGS}."]
    notes += ["Intervals and p are over words, since sentences about the same word are not independent."]
    return Reproduction(pd.DataFrame(cells), [*notes, f"The encodings, by sentence: {file}"], runs=[run], digits=3)


def _effect_sizes(file: Path, name: str, numbers: Mapping[str, float], out: Path) -> tuple[Run, list[Any], list[str]]:
    """The run, the cells and the notes of the tests of a dataset, by the measure of the same name."""
    cells, notes = list[Any](), list[str]()
    for test, number in numbers.items():
        run = audit(file, dataset=name, measure=name, options={"test": test}, out=out)
        row = next(row for row in run.rows if row.dataset == f"{name} (test={test})" and row.main)
        about = {"test": test, "words": " and ".join(run.scores_of(row.dataset, name)["set"].unique())}
        cells += [versus(number, _ours(row), **about, what="d"), versus(None, row.p, **about, what="p, two-sided")]
        notes += [f"{name.upper()} {test} has no value: {row.note}."] if row.note else []
    return run, cells, notes


def _encodings(path: Path, items: Sequence[Any]) -> dict[str, Any]:
    """The encoding of each sentence of a test."""
    sets = [[item.place[0] for item in items if item.groups["side"] == side] for side in ("X", "Y")]
    sets += [[text for text, _ in side] for side in items[0].attributes]
    encodings: dict[str, Any] = {}
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            for name, texts in zip(("targ1", "targ2", "attr1", "attr2"), sets, strict=True):
                rows = dict(zip(map(int, arrays[f"{name}_text"]), arrays[name], strict=True))
                encodings |= {text: rows[number] for number, text in enumerate(texts)}
    except Exception as error:  # numpy raises many kinds of errors for a file in another format
        raise BadInput(f"'{path}' cannot be read: {error!r}. The encodings are in {ENCODINGS}.") from error
    return encodings


def _vectors(path: str | Path | None, items: Iterable[Any], default: str = "") -> tuple[Path, list[str]]:
    """The file of vectors, by default that under EVENHAND_DATA, and the words of the items without a vector."""
    file = Path(path).expanduser() if path else Path(os.environ.get("EVENHAND_DATA", "")) / default
    if not file.is_file():
        wrong = f"There is no file of vectors '{path}'." if path else "This study needs a file of word vectors."
        raise DataNotFound(f"{wrong} Give word2vec's or GloVe's, as in `vectors=GoogleNews-vectors-negative300.bin`.")
    words, model = _words(items), load(str(file))
    missing = [word for word in words if model.answer([Embed(word)])[0].note]
    if len(missing) == len(words):
        raise BadInput(f"'{file}' has no vector of any word of this study, such as {_shorten(words)}.")
    return file, missing


def _words(items: Iterable[Any]) -> list[str]:
    return list(dict.fromkeys(text for item in items for text, _ in item.words_asked()))


def _shorten(words: Sequence[str], most: int = 8) -> str:
    return ", ".join(words[:most]) + (f" and {len(words) - most} more" if len(words) > most else "")


def _ours(row: Any) -> dict[str, float]:
    return {"value": row.value, "low": row.low, "high": row.high}
