"""Swapping gender: how often it is right on texts labelled by hand, and how fast it is beside a tagger.

    python benchmarks/swap.py

Right or wrong is measured on GAP, if it is under EVENHAND_DATA; without it the speed alone is, on our own balanced
corpus. The peer, HanTa (Wartena 2019; pip install hanta), only splits the same text into sentences and words and tags
them: what a swap that relies on a tagger does before it begins. Without it our own speed alone is measured.
"""

import csv
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from sentencex import segment

from evenhand.datasets.corpora.balanced_texts import generate
from evenhand.mitigation.name_lists import bundled
from evenhand.mitigation.names import Naming
from evenhand.mitigation.pronouns import SURE, score
from evenhand.mitigation.swap import Swapper

LABELS = Path(__file__).parents[1] / "tests" / "mitigation"
TOKEN = re.compile(r"\w+|[^\w\s]")
OURS, PEERS = 3_000_000, 60_000
"""Characters of text for each; the peer is slow."""
CHUNK = 20_000
"""Characters handed to a worker at a time."""


def gap() -> list[dict[str, str]]:
    """GAP's rows; none where it is not there."""
    folder = Path(os.environ.get("EVENHAND_DATA", ""), "gap")
    found = []
    for part in ("development", "validation", "test"):
        path = folder / f"gap-{part}.tsv"
        if not path.is_file():
            return []
        with path.open(encoding="utf-8") as file:
            found += list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return found


def labels(name: str) -> Iterator[dict[str, str]]:
    with (LABELS / name).open(encoding="utf-8") as file:
        yield from csv.DictReader(file, delimiter="\t")


def accuracy(annotated: Sequence[dict[str, str]]) -> Iterator[dict[str, Any]]:
    """her and his on our labels; names on GAP's annotations and on our labels."""
    texts = {row["ID"]: row["Text"] for row in annotated}
    right, total = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for row in labels("her-his.tsv"):
        word, start = row["word"].lower(), int(row["offset"])
        if word == "hers":
            continue
        possessive = score(texts[row["document"]], start, start + 3) > (0 if word == "her" else SURE)
        total[word, row["source"]] += 1
        right[word, row["source"]] += possessive == (row["label"] == "possessive")
    for word, source, about in (
        ("her", "later", "drawn after the rules were written"),
        ("her", "fresh", "seen while they were"),
        ("her", "random", "seen while they were"),
        ("her", "hard", "chosen to be hard"),
        ("his", "random", "at random"),
    ):
        yield share(f"{word}, {source}", right[word, source], total[word, source], f"labelled by hand, {about}")
    yield from names(annotated, texts)


def names(annotated: Sequence[dict[str, str]], texts: dict[str, str]) -> Iterator[dict[str, Any]]:
    naming, table = Naming(), bundled()
    places = {name: {edit.start for edit in naming(text)} for name, text in texts.items()}
    hits = [
        int(row[f"{side}-offset"]) in places[row["ID"]]
        for row in annotated
        for side in "AB"
        if " " in row[side] and row[side].split()[0].lower() in table and row[side][0].isupper()
    ]
    yield share("names found", sum(hits), len(hits), "full names annotated by GAP whose first word is in our list")
    swapped = Counter(
        row["label"]
        for row in labels("names.tsv")
        if row["draw"] == "last" and int(row["offset"]) in places[row["document"]]
    )
    note = "other swapped names, drawn at random and read by hand; the aim is under 2"
    yield share("swapped, but no person", swapped["other"], swapped.total(), note)


def share(name: str, part: int, whole: int, note: str) -> dict[str, Any]:
    return row(name, 100 * part / whole, unit="%", note=f"{part} of {whole}: {note}")


def row(name: str, ours: float, peer: float | None = None, *, unit: str, note: str) -> dict[str, Any]:
    return {"name": name, "ours": ours, "peer": peer, "ratio": peer and ours / peer, "unit": unit, "note": note}


def speed(documents: Iterable[str], what: str) -> Iterator[dict[str, Any]]:
    """Megabytes a second on one core and two, words only and with names, and the tagger's on as many."""
    text = "\n".join(documents)
    long = text * (OURS // len(text) + 1)
    ours, peers = chunks(long[:OURS]), chunks(text[:PEERS])
    tagging = find_spec("HanTa") is not None
    if not tagging:
        print("HanTa is not installed (pip install hanta): there is no peer to compare with.", file=sys.stderr)
    note = f"{what}; the peer is HanTa, tagging alone" if tagging else f"{what}; no peer: HanTa is not installed"
    for jobs in (1, 2):
        peer = rate(tag, peers, jobs) if tagging else None
        for name, work in (("words only", swap_words), ("with names", swap_names)):
            here = f"swap, {name}, {jobs} core{'s' * (jobs > 1)}"
            yield row(here, rate(work, ours, jobs), peer, unit="MB/s", note=note)


def chunks(text: str) -> list[str]:
    return [text[start : start + CHUNK] for start in range(0, len(text), CHUNK)]


def rate(work: Callable[[str], None], texts: Sequence[str], jobs: int) -> float:
    """Megabytes of text a second, once everything is loaded; of processor time on one core, by the clock on two."""
    size = sum(len(text.encode()) for text in texts) / 1e6
    if jobs == 1:
        work(texts[0])
        start = time.process_time()
        for text in texts:
            work(text)
        return size / (time.process_time() - start)
    context = get_context("spawn") if "torch" in sys.modules else None  # its threads do not survive a fork
    with ProcessPoolExecutor(jobs, context) as pool:
        list(pool.map(work, [texts[0]] * 8 * jobs))
        start = time.perf_counter()
        list(pool.map(work, texts))
        return size / (time.perf_counter() - start)


@cache
def swapper(names: bool) -> Swapper:
    return Swapper(names=Naming() if names else None)


def swap_words(text: str) -> None:
    for line in text.splitlines():
        swapper(False)(line)


def swap_names(text: str) -> None:
    for line in text.splitlines():
        swapper(True)(line)


@cache
def tagger() -> Any:
    from HanTa.HanoverTagger import HanoverTagger

    return HanoverTagger("morphmodel_en.pgz")


def tag(text: str) -> None:
    for line in text.splitlines():
        for sentence in segment("en", line):
            tagger().tag_sent(TOKEN.findall(sentence))


def rows() -> Iterator[dict[str, Any]]:
    """One row for each thing measured, as soon as it is: name, ours, peer, ratio, unit, note."""
    if annotated := gap():
        yield from accuracy(annotated)
        yield from speed((row["Text"] for row in annotated), "GAP's texts")
    else:
        print("GAP is not under EVENHAND_DATA: the speed alone is measured, on our own corpus.", file=sys.stderr)
        named = [text.replace("She ", "Mary Smith ").replace("He ", "John Brown ") for text in generate()]
        documents = (" ".join(named[i : i + 4]) for i in range(0, len(named), 4))
        yield from speed(documents, "our balanced corpus with names")


def main() -> None:
    """Print them."""
    print(f"{'':32}{'ours':>8}{'peer':>9}{'ratio':>8}")
    for found in rows():
        peer = f"{found['peer']:9.3f}{found['ratio']:8.0f}" if found["peer"] else " " * 17
        print(f"{found['name']:32}{found['ours']:8.2f}{peer} {found['unit']:5} {found['note']}", flush=True)


if __name__ == "__main__":
    main()
