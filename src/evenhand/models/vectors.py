"""Static vectors as a model: vectors of words (word2vec, GloVe, fastText) or of texts. Only asked rows are read."""

import gzip
import hashlib
import mmap
import re
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar
from zipfile import ZipFile

import numpy as np
from numpy.lib.format import read_array
from numpy.typing import NDArray

from evenhand.core.files import LARGEST, read_parsed
from evenhand.core.items import Place
from evenhand.core.model import ask
from evenhand.core.questions import Answer, Embed, Question
from evenhand.errors import BadInput, UnfitModel

Vector = NDArray[np.float32]
HEADER = re.compile(rb"\s*(\d{1,15})[ \t]+(\d{1,15})\s*")
"""The first line of a file: the number of words and the number of dimensions."""
LONGEST_WORD, LONGEST_LINE = 2_000, 2**20
"""The maximum lengths in bytes; that of a word is large, since whole texts may be keys."""
GZ, PACKED = ".gz", 10
"""The suffix of a packed file, and how many times as large it may become; vectors as text shrink to a third."""
LOOKED_AT = 100
"""The number of vectors that are looked at before a file is refused because none can be used."""
WORDS = ".words.txt"
"""The suffix of the file of words beside a .safetensors file, with a word in each line."""
Contents = tuple[int, Iterable[str], Iterable[int], Callable[[int], Vector]]
"""What a file holds: the number of dimensions, the words, the place of each vector, a function that reads a place."""


def read_word2vec(path: Path) -> Contents:
    """A binary file of word2vec: a line with two numbers, then each word, a space and its float32 numbers."""
    with path.open("rb") as file:
        first = file.readline(100)
        if not (header := HEADER.fullmatch(first)):
            raise BadInput(
                f"'{path}' does not begin with the two numbers of a word2vec .bin file. Got {first[:40]!r}. gensim "
                "writes such a file by save_word2vec_format(NAME, binary=True); of fastText, give the .vec file."
            )
        count, size = map(int, header.groups())
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    words, places, place = [], [], len(first)
    for number in range(count):
        end = data.find(b" ", place, place + LONGEST_WORD)
        if end < 0 or end + 1 + 4 * size > len(data):
            wanted = f"{count:,} words of {size} dimensions"
            raise BadInput(f"'{path}' ends or breaks off at word {number + 1:,}, but its header promises {wanted}.")
        word = data[place:end].lstrip(b"\n")
        if not word or min(word) < ord(" "):  # bytes of a number, not a word
            raise BadInput(f"'{path}' breaks off at word {number + 1:,}: the words of a .bin file have no spaces.")
        words.append(word.decode(errors="replace"))
        places.append(end + 1)
        place = end + 1 + 4 * size
    if data[place : place + 2].strip():
        raise BadInput(f"'{path}' goes on after the {count:,} words of {size} dimensions that its header promises.")
    return size, words, places, lambda place: np.frombuffer(data, "<f4", size, place)


def read_text(path: Path) -> Contents:
    """A text file with a word and its numbers in each line; word2vec and fastText have a first line of counts.

    Tabs are read like spaces.
    """
    words, places, place, count = [], [], 0, -1
    with path.open("rb") as file:
        first = file.readline(LONGEST_LINE)
        if header := HEADER.fullmatch(first):
            (count, size), place = map(int, header.groups()), len(first)
        else:
            size = len(first.split()) - 1
            file.seek(0)
            if not _are_numbers(first.split()[1:]):
                got = f"Got {first[:60]!r}" if first else "The file is empty"
                raise BadInput(f"'{path}' does not begin with a word and its numbers. {got}.")
        wanted = f"a word and {size} numbers, separated by spaces,"
        lines = iter(partial(file.readline, LONGEST_LINE), b"")
        for number, line in enumerate(lines, start=2 if header else 1):
            stripped = line.rstrip().replace(b"\t", b" ")
            if stripped.count(b" ") == size > 0:
                word = stripped.partition(b" ")[0]
            else:  # a word may have spaces
                word, *numbers = stripped.rsplit(b" ", size) if size else [b""]
                if len(numbers) != size or not size or _are_numbers(word.split()[1:]):
                    raise BadInput(f"'{path}', line {number:,}: {wanted} are expected. Got {line[:60]!r}...")
            words.append(word.decode(errors="replace").removeprefix("\ufeff"))
            places.append(place)
            place += len(line)
    if count not in (-1, len(words)):
        raise BadInput(f"'{path}' has {len(words):,} words, but its first line promises {count:,}. Is it complete?")

    def read(place: int) -> Vector:
        with path.open("rb") as file:
            file.seek(place)
            line = file.readline().rstrip().replace(b"\t", b" ")
        try:
            return np.array(line.rsplit(b" ", size)[1:], dtype=np.float32)
        except ValueError as error:
            raise BadInput(f"'{path}': {wanted} are expected. Got {line[:60]!r}...") from error

    return size, words, places, read


def _are_numbers(parts: list[bytes]) -> bool:
    """Whether there are parts and all are numbers. Other parts may belong to a word of GloVe that has spaces."""
    try:
        return bool([float(part) for part in parts])
    except ValueError:
        return False


def read_npz(path: Path) -> Contents:
    """A file of numpy with the arrays `words` and `vectors`. Words may be whole texts.

    Or sets of texts, as encodings of SEAT are saved: `targ1` has vectors, `targ1_text` the text of each, and so on.
    """
    try:
        with ZipFile(path) as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist()]
            sets = {f"{name}_text": name for name in names if f"{name}_text" in names and "words" not in names}
            sets = sets or {"words": "vectors"}
            parts = {name: archive.getinfo(f"{name}.npy") for pair in sets.items() for name in pair}
            size = path.stat().st_size
            if (needed := sum(part.file_size for part in parts.values())) > max(LARGEST, PACKED * size):
                raise ValueError(f"its {size:,} bytes become {needed:,}")
            arrays = {name: read_array(archive.open(part)) for name, part in parts.items()}
            if unlike := [
                f"{v} and {t}" for t, v in sets.items() if len(arrays[t]) != len(arrays[v]) and "words" not in sets
            ]:
                raise ValueError(f"{unlike[0]} are not of one length")
            words, vectors = (np.concatenate([arrays[name] for name in side]) for side in (sets, sets.values()))
            words = np.char.decode(words, "utf-8", "replace") if words.dtype.kind == "S" else words
            if words.ndim != 1 and "words" not in sets:
                raise ValueError("its texts are not a list")
            listed = words.tolist() if words.ndim == 1 else []
    except Exception as error:  # zipfile and numpy raise many kinds of errors for damaged files
        raise BadInput(f"'{path}' cannot be read: {error}. It needs two arrays, 'words' and 'vectors'.") from error
    if "words" in sets:
        return _from_array(path, listed, vectors)
    if listed and all(str(text).isdecimal() for text in listed):
        raise BadInput(
            f"'{path}' has numbers of sentences in place of sentences. Save it with the sentences; those of Liang et "
            "al. (2020) are saved so by `evenhand reproduce liang2020`."
        )
    different = {(text, row.tobytes()): place for place, (text, row) in enumerate(zip(listed, vectors, strict=True))}
    places = list(different.values())  # a text that several sets have is there once
    return _from_array(path, [listed[place] for place in places], vectors[places])


def read_safetensors(path: Path) -> Contents:
    """One tensor, with its words in a file beside it, such as vectors.safetensors and vectors.words.txt."""
    from safetensors.numpy import load_file

    beside = path.with_suffix(WORDS)
    try:
        words = read_parsed(beside, lambda text: text.removesuffix("\n").split("\n"))
        (vectors,) = load_file(path).values()
    except Exception as error:  # a type of numbers that numpy lacks is a TypeError, for example
        wanted = f"one tensor, and {beside.name} beside it with a word in each line"
        raise BadInput(f"'{path}' cannot be read: {error}. It needs {wanted}.") from error
    return _from_array(path, words, vectors)


def _from_array(path: Path, words: list[str], vectors: NDArray[Any]) -> Contents:
    if vectors.ndim != 2 or len(words) != len(vectors) or not vectors.size or vectors.dtype.kind != "f":
        got = f"{len(words):,} words, and vectors of shape {vectors.shape} and type {vectors.dtype}"
        raise BadInput(f"'{path}' needs a row of numbers for each word. Got {got}.")
    with np.errstate(over="ignore"):  # what is too large for float32 is no finite number
        rows = vectors.astype(np.float32, copy=False)
    return vectors.shape[1], map(str, words), range(len(words)), rows.__getitem__


FORMATS: dict[str, Callable[[Path], Contents]] = {
    ".bin": read_word2vec,
    ".txt": read_text,
    ".tsv": read_text,
    ".vec": read_text,
    ".npz": read_npz,
    ".safetensors": read_safetensors,
}
"""The function that reads a file, by the suffix of the file."""


NO_VECTOR, SEVERAL = "no vector", "several vectors in the file"
NO_CAPITALS = "no vector: the vocabulary has no capitals"


class Vectors:
    """The vectors of a file. A text is looked up as it is, and, if it is not in the file, with _ in place of spaces.

    A word that occurs twice in the file has no answer. A capitalised word has no answer if the vocabulary has no
    capitals: will is not Will.
    """

    kind: ClassVar[str] = "vectors"

    def __init__(self, path: Path, fingerprint: str, contents: Contents) -> None:
        self.name = path.stem
        self.fingerprint = fingerprint
        size, words, places, self._read = contents
        self._rows: dict[str, int] = {}
        """The place of each word's vector, for `_read`; -1 for a word that has several vectors."""
        for word, place in zip(words, places, strict=True):
            self._rows[word] = -1 if word in self._rows else place
        self.about = {
            "source": str(path),
            "words": len(self._rows),
            "dimensions": size,
            "dtype": "float32",
            "inputs": "static vectors",
        }
        self._capitals = any(word != word.lower() for word in self._rows)
        if not (named := [word for word in self._rows if word.strip()]):
            raise BadInput(f"'{path}' has no words.")
        some = ask(self, [Embed(word) for word in named[:: max(1, len(named) // LOOKED_AT)]])
        if all(answer.note for answer in some):
            says = f"None of {len(some)} vectors of '{path}' that were looked at can be used: {some[0].note}"
            raise UnfitModel(f"{says}. Save the file again, from trained vectors of two or more numbers.", "numbers")

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """The vector of each `Embed`, whatever its layer and pooling."""
        return [self._look_up(question) for question in questions]

    def count_tokens(self, places: Sequence[Place]) -> list[int]:
        """For each place, 1 if its word or its text has a vector, else 0."""
        return [int(any(self._row(key) is not None for key in (span.of(text), text))) for text, span in places]

    def _look_up(self, question: Question) -> Answer:
        if not isinstance(question, Embed):
            raise UnfitModel(
                f"'{self.name}' holds static vectors, which give no probabilities. Got a {type(question).__name__} "
                "question. Use measures of vectors, such as `weat`."
            )
        word = question.target
        row = self._row(word)
        if row is None:
            return Answer.none(NO_VECTOR if self._capitals or word == word.lower() else NO_CAPITALS)
        return Answer(tuple(self._read(row).tolist())) if row >= 0 else Answer.none(SEVERAL)

    def _row(self, word: str) -> int | None:
        row = self._rows.get(word)
        return self._rows.get(word.replace(" ", "_")) if row is None else row


def load(path: Path) -> Vectors:
    """The vectors of a file, which is read by its suffix; a .gz file is unpacked for as long as the model is needed."""
    with ExitStack() as unpacked:
        file = unpack(path, unpacked) if path.suffix.lower() == GZ else path
        ending, digest = file.suffix.lower(), hashlib.sha256()
        if ending not in FORMATS:
            raise BadInput(f"'{path}' must say what is packed, as in {path.stem}.bin.gz. Known: {', '.join(FORMATS)}.")
        contents = FORMATS[ending](file)
        for part in [file, file.with_suffix(WORDS)] if ending == ".safetensors" else [file]:
            with part.open("rb") as opened:
                digest.update(hashlib.file_digest(opened, "sha256").digest())
        model = Vectors(path, digest.hexdigest(), contents)
        weakref.finalize(model, unpacked.pop_all().close)
    return model


def unpack(path: Path, unpacked: ExitStack) -> Path:
    """The file in a temporary folder that a .gz file was unpacked to, if it is not far larger than vectors would be."""
    folder = Path(unpacked.enter_context(TemporaryDirectory(prefix="evenhand-", ignore_cleanup_errors=True)))
    most = max(LARGEST, PACKED * path.stat().st_size)
    try:
        with gzip.open(path) as packed, (folder / path.stem).open("wb") as file:
            while part := packed.read(2**20):
                file.write(part)
                if file.tell() > most:
                    raise ValueError(f"its {path.stat().st_size:,} bytes become more than {most:,}")
    except Exception as error:  # as for .npz; also a full disk
        raise BadInput(f"'{path}' cannot be unpacked into {folder.parent}: {error}.") from error
    return folder / path.stem
