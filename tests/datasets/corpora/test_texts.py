"""Documents are cut into sentences by sentencex, or by NLTK where a study wants its split."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from evenhand import BadInput
from evenhand.cli.app import main
from evenhand.datasets.corpora import texts
from evenhand.datasets.corpora.texts import sentences, split
from helpers.packages import without

TEXT = "She met Dr. Smith. He left."


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    """The sentence model that a test makes is no other test's."""
    texts._punkt.cache_clear()
    yield
    texts._punkt.cache_clear()


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of NLTK a module that cuts at semicolons."""

    class PunktTokenizer:
        def __init__(self, language: str) -> None:
            assert language == "english"

        def tokenize(self, text: str) -> list[str]:
            return text.split(";")

    module = ModuleType("nltk.tokenize")
    module.PunktTokenizer = PunktTokenizer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "nltk", ModuleType("nltk"))
    monkeypatch.setitem(sys.modules, "nltk.tokenize", module)


def model(folder: Path, abbreviations: str) -> None:
    """A sentence model in NLTK's format that knows nothing but these abbreviations."""
    place = folder / "tokenizers" / "punkt_tab" / "english"
    place.mkdir(parents=True)
    for name in ("collocations.tab", "ortho_context.tab", "sent_starters.txt"):
        (place / name).touch()
    (place / "abbrev_types.txt").write_text(abbreviations)


@pytest.mark.usefixtures("pretended")
def test_the_splitter_that_is_named_cuts(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("One. Two; three.\n;Four.\n")
    assert sentences(str(tmp_path / "a.txt"), "nltk") == ["One. Two", "three.", "Four."]
    assert sentences(str(tmp_path / "a.txt")) == ["One.", "Two; three.", ";Four."]
    with pytest.raises(BadInput, match="splitter.*'punkt'"):
        sentences(str(tmp_path / "a.txt"), "punkt")  # type: ignore[arg-type]


def test_without_nltk_the_command_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without("nltk", monkeypatch)
    (tmp_path / "a.txt").write_text(TEXT)
    command = ["reproduce", "bartl2020", "--finetune", str(tmp_path / "a.txt"), "--splitter", "nltk"]
    with pytest.raises(SystemExit, match="2"):
        main(command)
    err = capsys.readouterr().err
    assert "--splitter nltk" in err
    assert "pip install 'evenhand[nltk]'" in err


def test_nltk_splits_by_the_model_that_it_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nltk = pytest.importorskip("nltk")
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    with pytest.raises(BadInput, match="nltk.downloader punkt_tab.*NLTK_DATA/tokenizers"):
        split(TEXT, "nltk")
    model(tmp_path, "dr\n")
    assert split(TEXT, "nltk") == ["She met Dr. Smith.", "He left."]
    texts._punkt.cache_clear()
    model(tmp_path / "other", "")
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path / "other")])
    assert split(TEXT, "nltk") == ["She met Dr.", "Smith.", "He left."]


def test_the_swapped_text_has_as_many_sentences_as_the_released_code_counts(data: Path) -> None:
    pytest.importorskip("nltk")
    try:
        split(TEXT, "nltk")
    except BadInput as error:
        pytest.skip(str(error))
    assert len(sentences("gap-flipped", "nltk")) == 13_436
    assert len(sentences("gap", "nltk")) == 13_431
