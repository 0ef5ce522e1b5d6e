"""The counts of some texts."""

from collections.abc import Iterable, Sequence

from evenhand.datasets.files.language import check_language
from evenhand.text.counting import OURS, Vocabulary, tally
from evenhand.text.shares import CorpusCount, summarise


def count(
    texts: Iterable[str], *, words: Sequence[str] | None = None, lang: str | None = None, seed: int = 0
) -> CorpusCount:
    """Count texts as a corpus; `words` replaces the professions."""
    texts = list(texts)
    check_language(texts, lang)
    vocabulary = OURS if words is None else Vocabulary(tuple(words))
    return summarise(tally(enumerate(filter(str.strip, texts)), vocabulary), vocabulary.gender, seed=seed)
