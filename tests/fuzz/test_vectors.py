"""Files of vectors that are damaged or mean nothing: refused with a sentence, or measured, and no gate passes them."""

import gzip
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save_file

from evenhand import datasets
from evenhand.datasets.gendered import lexicon
from helpers.fuzzing import Text, command, contents, fuzzed

pytestmark = pytest.mark.usefixtures("without_pages")

PASS = 0
ITEMS: Any = datasets.load("weat-professions-en").items
WORDS = sorted(
    {text for item in ITEMS for text, _ in item.words_asked()}
    | {word for pair in lexicon()[:40] for word in (pair.male, pair.female)}
)
POLICY = """[[rule]]
measure = "weat"
dataset = "weat-professions-en"
estimand = "stereotype"
within = 1.99
"""
SUFFIXES = (".bin", ".txt", ".vec", ".npz", ".safetensors", ".bin.gz", ".vec.gz")
NUMBERS = st.sampled_from([0.0, np.nan, np.inf, -np.inf, 1e-40, 1e-46, 1e30, 3e38, 1e300, -1.0])
NONSENSE = ("random", "small", "same", "one number", "counted", "broken rows", "shuffled")
BYTES = st.sampled_from([b"", b"\n", b" ", b"\t", b"\0", b"\xff", b"9" * 5000, b"1000000000000 ", b"nan", b"(", b"-1"])


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "wide.toml").write_text(POLICY)
        yield Path(name)


def trained(rng: np.random.Generator, size: int) -> Any:
    """Vectors that could be trained: those of partners lie near each other."""
    vectors = rng.normal(size=(len(WORDS), size))
    for pair in lexicon():
        if pair.male in WORDS and pair.female in WORDS:
            vectors[WORDS.index(pair.female)] = vectors[WORDS.index(pair.male)] + rng.normal(size=size) / 3
    return vectors


def nonsense(kind: str, rng: np.random.Generator, size: int, number: float) -> Any:
    """Vectors of our words that say nothing about them."""
    vectors = rng.normal(size=(len(WORDS), 1 if kind == "one number" else size))
    with np.errstate(invalid="ignore"):  # infinity times 0
        if kind == "small":
            vectors = vectors * 10.0 ** -rng.integers(38, 60)
        elif kind == "same":
            vectors = np.broadcast_to(vectors[0], vectors.shape) * rng.uniform(0.1, 9, size=(len(WORDS), 1))
        elif kind == "counted":
            vectors = np.arange(vectors.size, dtype=float).reshape(vectors.shape)
        elif kind == "broken rows":
            vectors = trained(rng, size)
            vectors[rng.random(len(WORDS)) < 0.3] = 0.0 if abs(number) < np.inf else number
        elif kind == "shuffled":
            vectors = rng.permutation(trained(rng, 50))
    return vectors


def write(path: Path, words: list[str], vectors: Any, kind: Any = np.float32) -> Path:
    """The vectors in the format of the suffix, as they are."""
    if path.suffix == ".gz":
        inner = write(path.with_suffix(""), words, vectors, kind)
        path.write_bytes(gzip.compress(inner.read_bytes(), 1))
        inner.unlink()
        return path
    with np.errstate(over="ignore", invalid="ignore"):
        array = np.ascontiguousarray(vectors, kind)
    if path.suffix == ".npz":
        np.savez(path, words=np.array(words), vectors=array)
    elif path.suffix == ".safetensors":
        save_file({"vectors": array}, path)
        path.with_suffix(".words.txt").write_text("\n".join(words), encoding="utf-8")
    elif path.suffix == ".bin":
        rows = [word.encode() + b" " + row.tobytes() for word, row in zip(words, array.astype("<f4"), strict=True)]
        path.write_bytes(f"{len(rows)} {array.shape[1]}\n".encode() + b"".join(rows))
    else:
        head = f"{len(words)} {array.shape[1]}\n" if path.suffix == ".vec" else ""
        rows = [f"{word} {' '.join(map(str, row))}\n" for word, row in zip(words, array.tolist(), strict=True)]
        path.write_text(head + "".join(rows), encoding="utf-8")
    return path


def measured(folder: Path, path: Path, never: int = PASS) -> None:
    """Audit a file and gate the run: no value that is not finite, and the file as it was."""
    before = contents(folder)
    asked = ("--dataset", "weat-professions-en", "--gate", folder / "wide.toml", "--json")
    with tempfile.TemporaryDirectory() as out:
        command("audit", path, *asked, "--out", Path(out) / "runs", watched=Path(out), never=never)
    assert contents(folder) == before


def test_a_gate_passes_vectors_that_could_be_trained(folder: Path) -> None:
    """Else the others would say nothing."""
    path = write(folder / "v.npz", WORDS, trained(np.random.default_rng(0), 50))
    with pytest.raises(AssertionError, match="exit code 0"):
        measured(folder, path)


@fuzzed
@given(
    kind=st.sampled_from(NONSENSE),
    suffix=st.sampled_from(SUFFIXES),
    dtype=st.sampled_from([np.float16, np.float32, np.float64]),
    size=st.sampled_from([2, 3, 8, 50]),
    number=NUMBERS,
    seed=st.integers(0, 2**32),
)
def test_no_gate_passes_nonsense(
    folder: Path, kind: str, suffix: str, dtype: Any, size: int, number: float, seed: int
) -> None:
    vectors = nonsense(kind, np.random.default_rng(seed), size, number)
    measured(folder, write(folder / f"v{suffix}", WORDS, vectors, dtype))


@fuzzed
@given(
    suffix=st.sampled_from(SUFFIXES),
    at=st.floats(0, 1),
    length=st.integers(0, 60),
    bytes_=BYTES | st.binary(max_size=9),
    early=st.booleans(),
    cut=st.booleans(),
)
def test_a_damaged_file(
    folder: Path, suffix: str, at: float, length: int, bytes_: bytes, early: bool, cut: bool
) -> None:
    path = write(folder / f"v{suffix}", WORDS, trained(np.random.default_rng(0), 8))
    part = path.with_suffix(".words.txt") if suffix == ".safetensors" and length % 2 else path
    content = part.read_bytes()
    place = int(at * (40 if early else len(content)))
    part.write_bytes(content[:place] + bytes_ + (b"" if cut else content[place + length :]))
    measured(folder, path, never=-1)


@fuzzed
@given(words=st.lists(Text, max_size=6), suffix=st.sampled_from(SUFFIXES), seed=st.integers(0, 99))
def test_any_words(folder: Path, words: list[str], suffix: str, seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(len(words), 3))
    measured(folder, write(folder / f"v{suffix}", words, vectors))


@fuzzed
@given(content=st.binary(max_size=300), header=st.booleans(), suffix=st.sampled_from(SUFFIXES))
def test_any_bytes(folder: Path, content: bytes, header: bool, suffix: str) -> None:
    start = {".npz": b"PK\x03\x04", ".safetensors": struct.pack("<Q", 40) + b'{"a":{"dtype":"F32","shape":['}
    (folder / "v.words.txt").write_bytes(content)
    (folder / f"v{suffix}").write_bytes((start.get(suffix, b"2 3\n") if header else b"") + content)
    measured(folder, folder / f"v{suffix}")
