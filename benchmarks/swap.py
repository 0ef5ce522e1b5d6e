"""Swapping gender: how often it is right on texts labelled by hand, and how fast it is beside a tagger.

    python benchmarks/swap.py [--ud FOLDER] [--books FOLDER]

Right or wrong is measured on GAP, if it is under EVENHAND_DATA, with --ud (or EVENHAND_UD) on the gold tags of
Universal Dependencies, *.conllu files of its English treebanks, and with --books (or EVENHAND_BOOKS) on *.txt files, in
which each him and his is made "her" first; without any of these the speed alone is, on our own balanced corpus. The
peer, HanTa (Wartena 2019; pip install hanta), only splits the same text into sentences and words and tags them: what a
swap that relies on a tagger does before it begins. Without it our own speed alone is measured.
"""

import argparse
import csv
import os
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from sentencex import segment
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from evenhand.datasets.corpora.texts import generate
from evenhand.datasets.files.plain_text import unwrap
from evenhand.datasets.gendered import bundled_names
from evenhand.text.asking import Grammar
from evenhand.text.edits import match_case
from evenhand.text.names import Naming
from evenhand.text.pronouns import score
from evenhand.text.swap import Swapper
from evenhand.text.text_files import CHARACTERS

GRAMMARS: tuple[Grammar, ...] = ("rules", "auto")
PARTS = ((True, "test", "test files"), (False, "dev", "dev files, and train files if they are there, read for tuning"))
HIM_OR_HIS = re.compile(r"\b(?:him|his)\b", re.I)
ENTITY = re.compile(r"(?:^|\|)Entity=([^|]*)")
NAMED = re.compile(r"\b(?:name|pseudonym)\b[^.]{,20}$")
"""Before a name that is only mentioned ("my name is Katie"), which is an abstract entity in GUM."""
LABELS = Path(__file__).parents[1] / "tests" / "text"
TOKEN = re.compile(r"\w+|[^\w\s]")
OURS, PEERS = 3_000_000, 60_000
"""Characters of text for each; the peer is slow."""


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
    """her and his on our labels, by rules and with the model; names on GAP's annotations and on our labels."""
    texts = {row["ID"]: row["Text"] for row in annotated}
    marked = [row for row in labels("her-his.tsv") if row["word"].lower() != "hers"]
    found = {grammar: roles(texts, grammar) for grammar in GRAMMARS}
    for word, source, about in (
        ("her", "later", "drawn after the rules were written"),
        ("her", "fresh", "seen while they were"),
        ("her", "random", "seen while they were"),
        ("her", "hard", "chosen to be hard"),
        ("his", "random", "at random"),
    ):
        rows = [row for row in marked if (row["word"].lower(), row["source"]) == (word, source)]
        for grammar, roles_of in found.items():
            right = [roles_of[row["document"], int(row["offset"])] == (row["label"] == "possessive") for row in rows]
            yield share(f"{word}, {source}, {grammar}", sum(right), len(right), f"labelled by hand, {about}")
    yield from names(annotated, texts)


def roles(texts: Mapping[str, str], grammar: Grammar) -> dict[tuple[str, int], bool]:
    """For each text and place of her or his, whether it is taken for a possessive."""
    edits = Swapper(grammar=grammar).find_edits(list(texts.values()))
    return {
        (name, edit.start): edit.rule.endswith("possessive")
        for name, found in zip(texts, edits, strict=True)
        for edit in found
        if edit.rule.startswith(("her", "his"))
    }


@dataclass(frozen=True)
class Sentence:
    """A sentence of a treebank, with the start, form, UPOS, XPOS and innermost entity of each of its words."""

    document: str
    kept: bool
    """Whether it was kept out of tuning: it is in a test file."""
    text: str
    words: list[tuple[int, str, str, str, str]]


def sentences(folder: Path) -> Iterator[Sentence]:
    """The sentences of all *.conllu files; entities are in the last column of GUM and GENTLE alone."""
    for path in sorted(folder.glob("*.conllu")):
        kept = "-train" not in path.name and "-dev" not in path.name
        document, text, at, number = "", "", 0, 0
        words, opened = list[tuple[int, str, str, str, str]](), list[str]()
        for line in [*path.read_text(encoding="utf-8").splitlines(), ""]:
            fields = line.split("\t")
            if line.startswith("# newdoc"):
                number, opened = number + 1, []
                document = f"{path.name} {number}"
            elif line.startswith("# text = "):
                text, at, words = line.removeprefix("# text = "), 0, []
            elif not line and words:
                yield Sentence(document, kept, text, words)
                words = []
            elif len(fields) == 10 and fields[0].isdigit():
                entity = found[1] if (found := ENTITY.search(fields[9])) else ""
                opened += re.findall(r"\(\d+(?:\[\d+/\d+\])?-([a-z]+)", entity)
                start = text.find(fields[1], at)
                if start >= 0:
                    at = start + len(fields[1])
                    words.append((start, fields[1], fields[3], fields[4], opened[-1] if opened else ""))
                del opened[max(0, len(opened) - entity.count(")")) :]


def treebanks(folder: Path) -> Iterator[dict[str, Any]]:
    """her, his and names on the tags of treebanks. Those of -dev and -train were read for tuning, others were not."""
    given = list(sentences(folder))
    yield from tagged_pronouns(given)
    documents = defaultdict[str, list[Sentence]](list)
    for one in given:
        documents[one.document].append(one)
    yield from tagged_names(documents.values())
    text = "\n".join(" ".join(one.text for one in found) for found in documents.values())
    yield row("swap, auto, 1 core, UD", rate(swap_auto, chunks(text[:OURS]), 1), unit="MB/s", note="documents of UD")


def tagged_pronouns(given: Sequence[Sentence]) -> Iterator[dict[str, Any]]:
    """her and his: PRP$ is a possessive, PRP none."""
    gold = {
        (f"{number}", start): (tag == "PRP$", form.lower(), one.kept)
        for number, one in enumerate(given)
        for start, form, _, tag, _ in one.words
        if form.lower() in ("her", "his") and tag in ("PRP", "PRP$")
    }
    texts = {key: given[int(key)].text for key, _ in gold}
    for grammar in GRAMMARS:
        found = roles(texts, grammar)
        for word, possessive, becomes in (("her", False, "him"), ("her", True, "his"), ("his", True, "her")):
            for kept, part, about in PARTS:
                places = [at for at, told in gold.items() if told == (possessive, word, kept)]
                right = sum(found.get(at) == possessive for at in places)
                if places:
                    name = f"{word} -> {becomes}, UD {part}, {grammar}"
                    yield share(name, right, len(places), f"gold tags of UD, {about}")


def books(folder: Path) -> Iterator[dict[str, Any]]:
    """Each him and his is its own label: made "her", it should come back. A "his" without a noun would be "hers"."""
    gold, texts = dict[tuple[str, int], bool](), dict[str, str]()
    for path in sorted(folder.glob("*.txt")):
        text, parts, at, length = unwrap(path.read_text(encoding="utf-8")), list[str](), 0, 0
        for match in HIM_OR_HIS.finditer(text):
            if match[0].lower() == "his" and score(text, *match.span()) < -1:
                continue
            parts += [text[at : match.start()], match_case("her", match[0])]
            length += match.start() - at
            gold[path.name, length] = match[0].lower() == "his"
            at, length = match.end(), length + 3
        texts[path.name] = "".join([*parts, text[at:]])
    for grammar in GRAMMARS:
        found = roles(texts, grammar)
        for possessive, becomes in ((False, "him"), (True, "his")):
            places = [place for place, told in gold.items() if told == possessive]
            right = sum(found.get(place) == possessive for place in places)
            note = f"{len(texts)} books, in which him and his were made her"
            yield share(f"her -> {becomes}, books, {grammar}", right, len(places), note)


def tagged_names(documents: Collection[Sequence[Sentence]]) -> Iterator[dict[str, Any]]:
    """Swapped names that are no persons: in no entity that is one or, where entities are not annotated, no PROPN."""
    edits = swapper(True, "auto").find_edits([joined(one.text for one in found) for found in documents])
    counts = Counter[tuple[bool, bool, bool]]()
    for found, changes in zip(documents, edits, strict=True):
        swapped = {edit.start for edit in changes if edit.rule == "name"}
        annotated, at = any(entity for one in found for *_, entity in one.words), 0
        for one in found:
            for start, _, tag, _, entity in one.words:
                if at + start in swapped:
                    person = entity in ("person", "animal") if annotated else tag == "PROPN"
                    person |= NAMED.search(one.text[:start]) is not None
                    counts[annotated, one.kept, person] += 1
            at += len(one.text) + 1
    for annotated, what in ((True, "no person"), (False, "no proper noun")):
        for kept, part, about in PARTS:
            wrong, whole = (
                counts[annotated, kept, False],
                counts[annotated, kept, False] + counts[annotated, kept, True],
            )
            if whole:
                note = "entities of GUM and GENTLE" if annotated else "tags of treebanks without entities"
                yield share(f"swapped, but {what}, UD {part}", wrong, whole, f"{note}, {about}")


def joined(texts: Iterable[str]) -> str:
    """The sentences of a document; headings and items of lists, which end without a mark, have their own lines."""
    return "".join(
        text + (" " if text.rstrip("\"”’')").endswith((".", "!", "?", ":", ",", ";")) else "\n") for text in texts
    )


def names(annotated: Sequence[dict[str, str]], texts: dict[str, str]) -> Iterator[dict[str, Any]]:
    table = bundled_names()
    edits = swapper(True, "auto").find_edits(list(texts.values()))
    places = {
        name: {edit.start for edit in found if edit.rule == "name"} for name, found in zip(texts, edits, strict=True)
    }
    hits = [
        int(row[f"{side}-offset"]) in places[row["ID"]]
        for row in annotated
        for side in "AB"
        if " " in row[side] and row[side].split()[0].lower() in table and row[side][0].isupper()
    ]
    yield share("names found", sum(hits), len(hits), "full names annotated by GAP whose first word is in our list")
    for draw, which in (("last", "of the census"), ("world", "of the world")):
        swapped = Counter(
            row["label"]
            for row in labels("names.tsv")
            if row["draw"] == draw and int(row["offset"]) in places[row["document"]]
        )
        note = "other swapped names, drawn at random and read by hand; the aim is under 2"
        yield share(f"swapped, but no person, {which}", swapped["other"], swapped.total(), note)


def share(name: str, part: int, whole: int, note: str) -> dict[str, Any]:
    return row(name, 100 * part / whole, unit="%", note=f"{part} of {whole}: {note}")


def row(name: str, ours: float, peer: float | None = None, *, unit: str, note: str) -> dict[str, Any]:
    return {"name": name, "ours": ours, "peer": peer, "ratio": peer and ours / peer, "unit": unit, "note": note}


def speed(documents: Iterable[str], what: str) -> Iterator[dict[str, Any]]:
    """Megabytes a second on one core and two, words only and with names, and the tagger's on as many."""
    text = "\n".join(documents)
    long = text * (2 * OURS // len(text) + 1)
    peers = chunks(text[:PEERS])
    tagging = find_spec("HanTa") is not None
    if not tagging:
        print("HanTa is not installed (pip install hanta): there is no peer to compare with.", file=sys.stderr)
    note = f"{what}; the peer is HanTa, tagging alone" if tagging else f"{what}; no peer: HanTa is not installed"
    for jobs in (1, 2):
        peer = rate(tag, peers, jobs) if tagging else None
        for name, work in (("words only", swap_words), ("with names", swap_names), ("auto", swap_auto)):
            here = f"swap, {name}, {jobs} core{'s' * (jobs > 1)}"
            yield row(here, rate(work, chunks(long[: jobs * OURS]), jobs), peer, unit="MB/s", note=note)


def chunks(text: str) -> list[str]:
    """What a worker gets at a time."""
    return [text[start : start + CHARACTERS] for start in range(0, len(text), CHARACTERS)]


def rate(work: Callable[[str], None], texts: Sequence[str], jobs: int) -> float:
    """Megabytes of text a second, once everything is loaded; of processor time on one core, by the clock on two."""
    size = sum(len(text.encode()) for text in texts) / 1e6
    if jobs == 1:
        with threadpool_limits(1):
            work(texts[0])
            start = time.process_time()
            for text in texts:
                work(text)
            return size / (time.process_time() - start)
    context = get_context("spawn") if "torch" in sys.modules else None  # its threads do not survive a fork
    with ProcessPoolExecutor(jobs, context, use_one_core) as pool:
        list(pool.map(work, [texts[0]] * 8 * jobs))
        start = time.perf_counter()
        list(pool.map(work, texts))
        return size / (time.perf_counter() - start)


def use_one_core() -> None:
    """As a worker of a swap does."""
    threadpool_limits(1)


@cache
def swapper(names: bool, grammar: Grammar) -> Swapper:
    return Swapper(names=Naming() if names else None, grammar=grammar)


def swap_words(text: str) -> None:
    swapper(False, "rules").find_edits(text.splitlines())


def swap_names(text: str) -> None:
    swapper(True, "rules").find_edits(text.splitlines())


def swap_auto(text: str) -> None:
    """Words and names, with the model where rules are unsure."""
    swapper(True, "auto").find_edits(text.splitlines())


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
    if folder := os.environ.get("EVENHAND_UD"):
        yield from treebanks(Path(folder))
    if folder := os.environ.get("EVENHAND_BOOKS"):
        yield from books(Path(folder))
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
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--ud", help="a folder with *.conllu files of Universal Dependencies")
    parser.add_argument("--books", help="a folder with *.txt files")
    given = parser.parse_args()
    os.environ |= {f"EVENHAND_{name.upper()}": folder for name, folder in vars(given).items() if folder}
    print(f"{'':32}{'ours':>8}{'peer':>9}{'ratio':>8}")
    for found in rows():
        peer = f"{found['peer']:9.3f}{found['ratio']:8.0f}" if found["peer"] else " " * 17
        print(f"{found['name']:32}{found['ours']:8.2f}{peer} {found['unit']:5} {found['note']}", flush=True)


if __name__ == "__main__":
    main()
