"""Texts to swap and to count: any characters, in any of the file formats."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.text.swap import swapper
from helpers.fuzzing import Text, call, command, fuzzed

WORDS = st.sampled_from(
    ["he", "She", "her", "HIS", "Mary", "Mr. Smith", "actress", "\u200d", "\x00", "ß", "she's", "\n"]
)
TEXTS = st.lists(WORDS | Text, max_size=12).map(" ".join)


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@fuzzed
@given(text=TEXTS | st.text(max_size=200), names=st.booleans())
def test_a_swapped_text(text: str, names: bool) -> None:
    found = call(lambda: swapper(names=names)(text))
    assert isinstance(found, str)


@fuzzed
@given(
    texts=st.lists(TEXTS, max_size=5),
    suffix=st.sampled_from(["txt", "jsonl", "csv", "tsv"]),
    more=st.sampled_from([(), ("--share", "0.5"), ("--no-names",), ("--no-trail",), ("--augment",), ("--lang", "en")]),
)
def test_a_file_of_texts(folder: Path, texts: list[str], suffix: str, more: tuple[str, ...]) -> None:
    file = folder / f"texts.{suffix}"
    lines = [json.dumps({"text": text}) if suffix == "jsonl" else text for text in texts]
    file.write_text("\n".join(["text", *lines] if suffix in ("csv", "tsv") else lines), encoding="utf-8")
    command("corpus", file, "--json", watched=folder)
    command("swap", file, "--out", folder / f"new.{suffix}", "--force", "--jobs", "1", *more, watched=folder)


@fuzzed
@given(content=st.binary(max_size=400), suffix=st.sampled_from(["txt", "jsonl", "csv", "tsv", "parquet", "gz", ""]))
def test_any_bytes(folder: Path, content: bytes, suffix: str) -> None:
    file = folder / f"texts.{suffix}"
    file.write_bytes(content)
    command("corpus", file, "--lang", "en", "--json", watched=folder)
    command("swap", file, "--out", folder / f"new.{suffix}", "--lang", "en", "--force", "--jobs", "1", watched=folder)
