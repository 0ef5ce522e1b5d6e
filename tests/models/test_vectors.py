"""Files of static vectors as models: every format, and what is wrong with a file in a sentence."""

import gc
import gzip
import io
import pickle
import struct
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

import evenhand
from evenhand import BadInput, Embed, Fill, Span
from evenhand.core.answers import NO_DIRECTION
from evenhand.core.model import ask
from evenhand.errors import EvenhandError, ModelNotFound, UnfitModel

ROW = struct.pack("<3f", 1, 2, 3)
WORDS = ["nurse", "New_York", "Will", "This is a nurse.", "zero"]
VECTORS = np.array([[1.5, -2.0, 0.25], [0.1, 0.2, 0.3], [1e-3, 2.0, 3.0], [4.0, 5.0, 6.0], [0.0, 0.0, 0.0]], np.float32)


def word2vec(
    path: Path, words: Any = WORDS[:3], vectors: Any = VECTORS, newline: bytes = b"\n", count: int = 0
) -> Path:
    rows = [word.encode() + b" " + row.tobytes() + newline for word, row in zip(words, vectors, strict=False)]
    path.write_bytes(f"{count or len(rows)} {vectors.shape[1]}\n".encode() + b"".join(rows))
    return path


def text(path: Path, header: bool = True, end: str = "\n", words: Any = WORDS[:3]) -> Path:
    lines = [f"{word} {' '.join(map(str, row))}{end}" for word, row in zip(words, VECTORS.tolist(), strict=False)]
    path.write_text((f"{len(lines)} 3\n" if header else "") + "".join(lines), encoding="utf-8")
    return path


def npz(path: Path, words: Any = WORDS, vectors: Any = VECTORS) -> Path:
    np.savez(path, words=np.array(words), vectors=vectors)
    return path


def safetensors(path: Path) -> Path:
    save_file({"vectors": VECTORS}, path)
    path.with_suffix(".words.txt").write_text("\n".join(WORDS), encoding="utf-8")
    return path


def tabs(path: Path) -> Path:
    path.write_text(text(path).read_text(encoding="utf-8").replace(" ", "\t"), encoding="utf-8")
    return path


def packed(path: Path) -> Path:
    with gzip.open(f"{path}.gz", "wb") as file:
        file.write(path.read_bytes())
    path.unlink()
    return Path(f"{path}.gz")


def vector(path: Path, word: str) -> tuple[float, ...]:
    (answer,) = ask(evenhand.load(str(path)), [Embed(word)])
    return answer.numbers if not answer.note else ()


def note(path: Path, word: str) -> str:
    return ask(evenhand.load(str(path)), [Embed(word)])[0].note


@pytest.mark.parametrize(
    "written",
    [
        lambda folder: word2vec(folder / "v.bin"),
        lambda folder: word2vec(folder / "v.bin", newline=b""),
        lambda folder: text(folder / "v.vec"),
        lambda folder: text(folder / "v.txt", end=" \n"),
        lambda folder: text(folder / "glove.txt", header=False),
        lambda folder: tabs(folder / "v.tsv"),
        lambda folder: npz(folder / "v.npz"),
        lambda folder: packed(word2vec(folder / "v.bin")),
        lambda folder: packed(text(folder / "v.vec")),
        lambda folder: packed(npz(folder / "v.npz")),
        lambda folder: safetensors(folder / "v.safetensors"),
    ],
    ids=[
        *("bin", "bin without newlines", "fastText", "word2vec's text", "GloVe", "tabs", "npz"),
        *(".bin.gz", ".vec.gz", ".npz.gz", "safetensors"),
    ],
)
def test_every_format_gives_the_same_vectors(written: Callable[[Path], Path], tmp_path: Path) -> None:
    path = written(tmp_path)
    model: Any = evenhand.load(str(path))
    assert (model.kind, model.about["dimensions"]) == ("vectors", 3)
    for word, row in zip(WORDS[:3], VECTORS.tolist(), strict=False):
        assert vector(path, word) == tuple(row)
    assert vector(path, "New York") == tuple(VECTORS[1].tolist())
    assert ask(model, [Embed("a nurse", Span(2, 7), 3, "last")])[0].numbers == (1.5, -2.0, 0.25)
    assert note(path, "doctor") == "no vector"
    assert model.count_tokens([("a nurse", Span(2, 7)), ("doctor", Span(0, 6))]) == [1, 0]


def test_texts_are_keys_too_and_zeros_are_no_vector(tmp_path: Path) -> None:
    path = npz(tmp_path / "encodings.npz")
    assert vector(path, "This is a nurse.") == (4.0, 5.0, 6.0)
    assert note(path, "zero") == NO_DIRECTION
    model: Any = evenhand.load(str(path))
    assert model.count_tokens([("This is a nurse.", Span(5, 7)), ("That is a nurse.", Span(5, 7))]) == [1, 0]


@pytest.mark.parametrize("texts", [["a", "b"], [["a"], ["b"], ["c"]], []])
def test_encodings_with_other_texts_than_vectors_are_refused(texts: list[Any], tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", emb=np.eye(3), emb_text=np.array(texts))
    with pytest.raises(BadInput):
        evenhand.load(str(tmp_path / "a.npz")).answer([Embed("a")])


def test_encodings_of_seat_are_read_as_they_are_saved_set_by_set(tmp_path: Path) -> None:
    path, both = tmp_path / "seat6.npz", np.array([[1, 2, 3], [4, 5, 6]], np.float32)
    sets: dict[str, Any] = {
        "targ1_text": ["A nurse.", "Both."],
        "targ1": both,
        "attr1_text": ["Both.", "He."],
        "attr1": both[::-1],
    }
    arrays: dict[str, Any] = {name: np.array(part) for name, part in sets.items()}
    np.savez(path, **arrays)
    assert [vector(path, text) for text in ("A nurse.", "Both.", "He.")] == [(1, 2, 3), (4, 5, 6), (1, 2, 3)]
    np.savez(path, **sets | {"attr1": both})
    assert note(path, "Both.") == "several vectors in the file"
    np.savez(path, **sets | {"attr1": both[:1]})
    with pytest.raises(BadInput, match="attr1 and attr1_text are not of one length"):
        evenhand.load(str(path))
    np.savez(path, targ1_text=np.array(["0", "1"]), targ1=both)
    with pytest.raises(BadInput, match="numbers of sentences .* reproduce liang2020"):
        evenhand.load(str(path))


def test_a_word_of_glove_may_have_spaces(tmp_path: Path) -> None:
    path = tmp_path / "glove.txt"
    path.write_text("nurse 1 2 3\n. . . 4 5 6\n", encoding="utf-8")
    assert vector(path, ". . .") == (4.0, 5.0, 6.0)


def test_a_word_with_two_vectors_has_none(tmp_path: Path) -> None:
    path = word2vec(tmp_path / "v.bin", ["nurse", "doctor", "nurse"])
    assert note(path, "nurse") == "several vectors in the file"
    assert vector(path, "doctor") == tuple(VECTORS[1].tolist())


def test_names_are_not_looked_up_among_words_of_small_letters(tmp_path: Path) -> None:
    path = word2vec(tmp_path / "v.bin", ["will", "grace", "nurse"])
    assert note(path, "Will") == "no vector: the vocabulary has no capitals"
    assert note(path, "carpenter") == "no vector"


@pytest.mark.parametrize("broken", [np.nan, np.inf])
def test_a_number_that_is_not_finite_is_no_answer(broken: float, tmp_path: Path) -> None:
    vectors = VECTORS.copy()
    vectors[0, 1] = broken
    assert note(word2vec(tmp_path / "v.bin", vectors=vectors), "nurse") == "not a finite number"


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.bin", b"PK\x03\x04 and so on", "does not begin with the two numbers of a word2vec .bin file"),
        ("a.bin", b"3 3\nnurse " + ROW, "breaks off at word 2, but its header promises 3 words"),
        ("a.bin", b"1 3\nnurse " + struct.pack("<9f", *range(9)), "goes on after the 1 words of 3 dimensions"),
        ("a.bin", b"2 2\nice cream " + struct.pack("<4f", 1, 2, 3, 4), "breaks off at word 2"),
        ("a.bin", b"3 2\nhe %bice cream %bshe %b" % ((struct.pack("<2f", 1, 2),) * 3), "a .bin file have no spaces"),
        ("a.bin", b"0 3\n", "has no words"),
        ("a.txt", b"nurse 1 2 3\ndoctor\n", "line 2: a word and 3 numbers, separated by spaces"),
        ("a.txt", b"2 3\nnurse 1 2 3\n", "has 1 words, but its first line promises 2"),
        ("a.txt", b"nurse 1 2 3\ndoctor 1 2\n", "line 2: a word and 3 numbers, separated by spaces, are expected"),
        ("a.vec", b"2 3\nnurse 1 2 3\ndoctor 1 2 3 4\n", "line 3: a word and 3 numbers, separated by spaces"),
        ("a.bin", (b"3 3\n" + 3 * (b"a " + ROW))[:-8], "breaks off at word 3"),
        ("a.txt", b"nurse 1 2 3\ndoctor 1 x 3\n", "3 numbers.* Got b'doctor 1 x 3'"),
        ("a.txt", b"", "does not begin with a word and its numbers. The file is empty"),
        ("a.txt", b"She is a nurse.\n", "does not begin with a word and its numbers"),
        ("a.txt", b"2 0\nnurse\ndoctor\n", "line 2: a word and 0 numbers, separated by spaces, are expected"),
        ("a.npz", b"no zip", "cannot be read: .*needs two arrays, 'words' and 'vectors'"),
        ("a.npz", b"PK\x03\x04 that was cut", "cannot be read: .*needs two arrays"),
        ("a.npz", b"", "cannot be read: .*needs two arrays"),
        ("a.safetensors", b"none", "cannot be read: .*needs one tensor, and a.words.txt beside it"),
    ],
)
def test_a_broken_file_is_an_error_that_says_where(name: str, content: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=says):
        vector(tmp_path / name, "doctor")


def test_bytes_are_words_and_a_byte_order_mark_is_none(tmp_path: Path) -> None:
    assert vector(npz(tmp_path / "v.npz", np.array([word.encode() for word in WORDS])), "nurse") == tuple(VECTORS[0])
    (tmp_path / "v.txt").write_text("\ufeffnurse 1 2 3\n", encoding="utf-8")
    assert vector(tmp_path / "v.txt", "nurse") == (1.0, 2.0, 3.0)


def test_other_words_beside_a_tensor_are_another_model(tmp_path: Path) -> None:
    path = safetensors(tmp_path / "v.safetensors")
    before, words = evenhand.load(str(path)).fingerprint, tmp_path / "v.words.txt"
    words.write_text("\n".join(reversed(words.read_text("utf-8").splitlines())), encoding="utf-8")
    assert evenhand.load(str(path)).fingerprint != before


def test_a_file_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound, match=r"There is no file '.*none\.bin'"):
        evenhand.load(str(tmp_path / "none.bin"))


@pytest.mark.parametrize(
    ("vectors", "says"),
    [
        (VECTORS[:, :1], "a vector of one number"),
        (VECTORS * 0, "a vector of zeros"),
        (VECTORS * 1e-40, "a vector of zeros"),
        (VECTORS * np.float32(np.nan), "not a finite number"),
        (VECTORS.astype(float) * 1e300, "not a finite number"),
    ],
    ids=["one dimension", "zeros", "too small", "NaN", "too large"],
)
@pytest.mark.filterwarnings("error")
def test_vectors_that_cannot_be_used_are_refused_and_the_doctor_says_so(
    vectors: Any, says: str, tmp_path: Path
) -> None:
    path = npz(tmp_path / "v.npz", vectors=vectors)
    with pytest.raises(UnfitModel, match=f"None of 5 vectors .* can be used: {says}"):
        evenhand.load(str(path))
    (finding,) = evenhand.doctor(path)
    assert (finding.check, finding.verdict) == ("numbers", "unfit")


def claim(path: Path, shape: str) -> Path:
    """An .npz file whose vectors have few bytes and, as they say, this shape."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in (("words", np.array(WORDS)), ("vectors", VECTORS)):
            file = io.BytesIO()
            np.save(file, array)
            archive.writestr(f"{name}.npy", file.getvalue().replace(b"(5, 3)", shape.encode().ljust(6)))
    return path


@pytest.mark.parametrize("shape", ["(10**12, 3)", "(1000000000000, 3)", "(-1, 3)", "(9,)"])
def test_an_array_that_claims_another_shape_is_an_error(shape: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        evenhand.load(str(claim(tmp_path / "v.npz", shape)))


def test_a_single_array_is_no_npz(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", VECTORS)
    (tmp_path / "v.npy").rename(tmp_path / "v.npz")
    with pytest.raises(BadInput, match="needs two arrays"):
        evenhand.load(str(tmp_path / "v.npz"))


def test_a_small_file_that_becomes_a_large_one_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenhand.models.vectors.LARGEST", 10_000)
    np.savez_compressed(tmp_path / "bomb.npz", words=np.array(["a"] * 1000), vectors=np.ones((1000, 300), np.float32))
    with pytest.raises(BadInput, match=r"its [\d,]+ bytes become 1,20\d,\d+"):
        evenhand.load(str(tmp_path / "bomb.npz"))
    np.savez_compressed(
        tmp_path / "fine.npz",
        words=list(map(str, range(1000))),
        vectors=np.random.default_rng(0).normal(size=(1000, 300)),
    )
    assert evenhand.load(str(tmp_path / "fine.npz")).kind == "vectors"


@pytest.mark.parametrize("header", [b"1000000000000 3", b"3 1000000000000", b"9" * 5000 + b" " + b"9" * 5000])
@pytest.mark.parametrize("name", ["v.bin", "v.txt"])
def test_a_header_that_promises_too_much_is_an_error(name: str, header: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(header + b"\nnurse 1 2 3\n")
    with pytest.raises(BadInput):
        evenhand.load(str(tmp_path / name))


def test_words_that_are_no_utf8_do_not_keep_others_from_being_read(tmp_path: Path) -> None:
    words = [b"nurse", b"caf\xe9", b"\xff", b"doctor", b"teacher"]
    assert vector(npz(tmp_path / "v.npz", np.array(words)), "doctor") == tuple(VECTORS[3].tolist())
    (tmp_path / "v.txt").write_bytes(b"nurse 1 2 3\ncaf\xe9 1 2 3\n")
    assert vector(tmp_path / "v.txt", "nurse") == (1.0, 2.0, 3.0)


def test_a_list_of_words_is_a_regular_file_with_a_word_in_each_line(tmp_path: Path) -> None:
    path = safetensors(tmp_path / "v.safetensors")
    beside = path.with_suffix(".words.txt")
    beside.write_text("nurse\nNew\u2028York\nWill\nx\x85y\nzero\n", encoding="utf-8")
    assert vector(path, "Will") == tuple(VECTORS[2].tolist())
    beside.unlink()
    beside.symlink_to("/dev/zero")
    with pytest.raises(BadInput, match="not a regular file"):
        evenhand.load(str(path))


@pytest.mark.parametrize("vectors", [VECTORS[:2], VECTORS[0], VECTORS.astype(int)])
def test_an_array_that_does_not_fit_its_words_is_an_error(vectors: Any, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="Got 5 words"):
        evenhand.load(str(npz(tmp_path / "v.npz", vectors=vectors)))


def test_a_packed_file_is_the_same_model_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "unpacked"))
    (tmp_path / "unpacked").mkdir()
    fingerprint = evenhand.load(str(text(tmp_path / "v.txt"))).fingerprint
    model: Any = evenhand.load(str(packed(tmp_path / "v.txt")))
    assert (model.fingerprint, model.about["source"]) == (fingerprint, str(tmp_path / "v.txt.gz"))
    assert list((tmp_path / "unpacked").rglob("v.txt"))
    del model
    gc.collect()
    assert not list((tmp_path / "unpacked").iterdir())


def test_a_packed_file_that_becomes_too_large_or_is_damaged_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evenhand.models.vectors.LARGEST", 10_000)
    (tmp_path / "bomb.txt").write_bytes(b"nurse 1 2 3\n" * 10_000)
    with pytest.raises(BadInput, match=r"its [\d,]+ bytes become more than 10,000"):
        evenhand.load(str(packed(tmp_path / "bomb.txt")))
    short = packed(text(tmp_path / "short.vec"))
    short.write_bytes(short.read_bytes()[:-12])
    with pytest.raises(BadInput, match="cannot be unpacked"):
        evenhand.load(str(short))
    with pytest.raises(BadInput, match=r"must say what is packed, as in v.bin.gz"):
        evenhand.load(str(packed(text(tmp_path / "v"))))


@pytest.mark.parametrize("name", ["word2vec.kv", "word2vec.bin"])
def test_a_pickle_is_not_read_but_the_error_says_how_to_save_its_vectors(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(pickle.dumps({"key_to_index": {"nurse": 0}}))
    with pytest.raises(EvenhandError, match="save_word2vec_format"):
        evenhand.load(str(tmp_path / name))


def test_vectors_answer_nothing_else(tmp_path: Path) -> None:
    model = evenhand.load(str(npz(tmp_path / "v.npz")))
    with pytest.raises(UnfitModel, match="static vectors.*Fill"):
        model.answer([Fill("a nurse", Span(2, 7), "nurse")])


def test_other_files_are_no_model(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("nurse,1,2,3")
    with pytest.raises(ModelNotFound, match=r"a file of vectors \(.bin, .txt, .tsv, .vec, .npz, .safetensors, .gz\)"):
        evenhand.load(str(tmp_path / "v.csv"))
