"""Static vectors as a model: of words (word2vec, GloVe, fastText), or encodings of texts. Only asked rows are read."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from evenhand.core.items import Place
from evenhand.core.questions import Answer, Embed, Question
from evenhand.errors import BadInput, UnfitModel
from evenhand.models.vector_files import FORMATS, WORDS, VectorFile

NO_VECTOR, SEVERAL = "no vector", "several vectors in the file"
NO_CAPITALS = "no vector: the vocabulary has no capitals"


class Vectors:
    """The vectors of a file. A text is looked up as it stands; one of several words also with _ in place of spaces.

    A word that occurs twice in the file has no answer. Nor has a capitalised word in a lower-case vocabulary: will is
    not Will.
    """

    kind: ClassVar[str] = "vectors"

    def __init__(self, name: str, file: VectorFile, fingerprint: str) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self.file = file
        self.about = {
            "source": str(file.path),
            "words": len(file.rows),
            "dimensions": file.size,
            "dtype": "float32",
            "inputs": "static vectors",
        }
        self._capitals = any(word != word.lower() for word in file.rows)

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """The vector of each `Embed`, whatever its layer and pooling."""
        return [self._look_up(question) for question in questions]

    def count_tokens(self, places: Sequence[Place]) -> list[int]:
        """1 for a word that has a vector, or whose text has one; else 0."""
        return [int(any(self._row(key) is not None for key in (span.of(text), text))) for text, span in places]

    def _look_up(self, question: Question) -> Answer:
        if not isinstance(question, Embed):
            raise UnfitModel(
                f"'{self.name}' holds static vectors, which give no probabilities. Got a {type(question).__name__} "
                "question: use measures of vectors, such as `weat`."
            )
        word = question.target
        row = self._row(word)
        if row is None:
            return Answer.none(NO_VECTOR if self._capitals or word == word.lower() else NO_CAPITALS)
        if row < 0:
            return Answer.none(SEVERAL)
        return Answer(tuple(self.file.read(row).tolist()))

    def _row(self, word: str) -> int | None:
        row = self.file.rows.get(word)
        return self.file.rows.get(word.replace(" ", "_")) if row is None else row


def load(path: Path) -> Vectors:
    """The vectors of a file, by its ending."""
    file, digest = FORMATS[path.suffix.lower()](path), hashlib.sha256()
    if not file.rows:
        raise BadInput(f"'{path}' has no words.")
    for part in (path, path.with_suffix(WORDS)):
        if part == path or path.suffix.lower() == ".safetensors":
            with part.open("rb") as opened:
                digest.update(hashlib.file_digest(opened, "sha256").digest())
    return Vectors(path.stem, file, digest.hexdigest())
