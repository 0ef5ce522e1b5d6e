"""Fine-tuning, on tiny models."""

import dataclasses
import resource
from pathlib import Path

import pytest
import torch

import evenhand
from evenhand import BadInput, Likelihood, ModelError, RunError
from evenhand.datasets.corpora.texts import sentences
from evenhand.training import loop, mlm
from evenhand.training.loop import CHECKPOINT, write_model
from evenhand.training.mlm import RECIPES, Recipe, finetune
from helpers import tiny

QUICK = Recipe(learning_rate=3e-3, epochs=15, batch=4, warmup=0.1)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.save("bert-uncased", tmp_path_factory.mktemp("models") / "base")


def likelihood(folder: Path) -> float:
    return sum(answer.logp for answer in evenhand.load(str(folder)).answer([Likelihood(t) for t in tiny.TEXTS]))


def test_it_learns_what_it_is_shown_and_leaves_a_card(base: Path, tmp_path: Path) -> None:
    out = finetune(str(base), tiny.TEXTS * 4, dataclasses.replace(QUICK, epochs=8), tmp_path / "tuned")
    assert likelihood(out) > 0.8 * likelihood(base)
    card = (out / "README.md").read_text()
    assert "32 sentences" in card
    assert '"learning_rate": 0.003' in card


def test_the_same_seed_gives_the_same_weights(base: Path, tmp_path: Path) -> None:
    short = dataclasses.replace(QUICK, epochs=1)
    one, other = (finetune(str(base), tiny.TEXTS, short, tmp_path / name) for name in ("one", "other"))
    seeded = finetune(str(base), tiny.TEXTS, dataclasses.replace(short, seed=7), tmp_path / "seeded")
    prints = [evenhand.load(str(folder)).fingerprint for folder in (one, other, seeded)]
    assert prints[0] == prints[1] != prints[2]


def test_a_seventh_of_the_pieces_is_predicted_and_most_of_it_masked(base: Path) -> None:
    tokenizer = evenhand.load(str(base)).tokenizer
    torch.manual_seed(0)
    ids = torch.randint(len(tokenizer.all_special_ids), len(tokenizer), (400, 50))
    ids[:, 0], ids[:, 40:] = tokenizer.cls_token_id, tokenizer.pad_token_id
    attention = (torch.arange(50) < 40).long().expand(400, 50)
    masked, labels = mlm._mask_tokens(ids, attention, tokenizer, 0.15)
    chosen = labels != loop.IGNORED
    assert not chosen[:, 0].any()
    assert not chosen[:, 40:].any()
    assert chosen[:, 1:40].float().mean().item() == pytest.approx(0.15, abs=0.01)
    assert (labels[chosen] == ids[chosen]).all()
    assert (masked[chosen] == tokenizer.mask_token_id).float().mean().item() == pytest.approx(0.8, abs=0.03)
    assert (masked[chosen] == ids[chosen]).float().mean().item() == pytest.approx(0.1, abs=0.03)
    assert (masked[~chosen] == ids[~chosen]).all()


def test_a_loss_that_is_no_number_stops_the_training(base: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"The loss is \w+ at step \d+"):
        finetune(str(base), tiny.TEXTS * 10, dataclasses.replace(QUICK, learning_rate=1e30, clip=1e30), tmp_path / "x")


def test_nothing_to_train_on_is_an_error(base: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="to train on"):
        finetune(str(base), ["", " "], QUICK, tmp_path / "x")


def test_recipes_are_the_papers() -> None:
    assert (RECIPES["bartl-paper"].learning_rate, RECIPES["bartl-released"].learning_rate) == (5e-5, 2e-5)
    assert {RECIPES[name].epochs for name in ("bartl-paper", "bartl-released")} == {3}
    assert {RECIPES[name].batch for name in ("bartl-paper", "bartl-released")} == {1}
    assert [name for name, recipe in RECIPES.items() if recipe.pads_with_mask] == ["bartl-released-padded"]


def test_the_released_padding_is_of_masks_that_are_attended_to_and_predicted(base: Path, tmp_path: Path) -> None:
    tokenizer = evenhand.load(str(base)).tokenizer
    padded = mlm._pad_with_mask([*tiny.TEXTS, ""], tokenizer, 64)
    assert {len(ids) for ids in padded} == {16}  # of at most 11 words
    plain = tokenizer(tiny.TEXTS[0])["input_ids"]
    assert padded[0] == plain + [tokenizer.mask_token_id] * (16 - len(plain))
    ids = torch.tensor(padded * 50)
    _, labels = mlm._mask_tokens(ids, torch.ones_like(ids), tokenizer, 0.15, mask_too=True)
    chosen = (labels != loop.IGNORED) & (ids == tokenizer.mask_token_id)
    assert chosen.sum() / (ids == tokenizer.mask_token_id).sum() == pytest.approx(0.15, abs=0.03)
    assert (labels[chosen] == tokenizer.mask_token_id).all()
    assert not (labels[:, 0] != loop.IGNORED).any()  # [CLS]
    recipe = dataclasses.replace(RECIPES["bartl-released-padded"], epochs=1)
    prints = [
        evenhand.load(str(finetune(str(base), tiny.TEXTS, each, tmp_path / str(n)))).fingerprint
        for n, each in enumerate((recipe, dataclasses.replace(recipe, pads_with_mask=False)))
    ]
    assert prints[0] != prints[1]


def test_texts_are_cut_into_sentences(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("She left. He stayed, Mr. Smith said.\n\nNobody knew.\n")
    assert sentences(str(tmp_path / "a.txt")) == ["She left.", "He stayed, Mr. Smith said.", "Nobody knew."]
    (tmp_path / "b.tsv").write_text("ID\tText\n1\tOne. Two.\n")
    assert sentences(str(tmp_path / "b.tsv")) == ["One.", "Two."]


def test_texts_that_cannot_be_read_are_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty.txt").touch()
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe\xfa")
    (tmp_path / "other.tsv").write_text("ID\tWords\n1\tx\n")
    for name, message in (
        ("empty.txt", "no sentences"),
        ("bad.txt", "is not UTF-8"),
        ("other.tsv", "no column 'Text'"),
        ("none.txt", "There is no file"),
    ):
        with pytest.raises(BadInput, match=message):
            sentences(str(tmp_path / name))
    monkeypatch.delenv("EVENHAND_DATA", raising=False)
    with pytest.raises(BadInput, match="gap_flipped.tsv"):
        sentences("gap-flipped")


def test_gap_has_as_many_sentences_as_the_docs_say(data: Path) -> None:
    """The swapped text has 13,436 by NLTK."""
    assert len(sentences("gap-flipped")) == len(sentences("gap")) == 13_172


def test_a_sentence_of_one_piece_is_a_step_too(base: Path, tmp_path: Path) -> None:
    out = finetune(str(base), ["work"], Recipe(learning_rate=1e-3, epochs=1, batch=1), tmp_path / "one")
    assert "Training loss" in (out / "README.md").read_text()
    assert evenhand.load(str(out)).fingerprint != evenhand.load(str(base)).fingerprint


def test_training_that_was_stopped_goes_on_to_the_same_weights(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = dataclasses.replace(QUICK, epochs=3)
    whole = evenhand.load(str(finetune(str(base), tiny.TEXTS, short, tmp_path / "whole"))).fingerprint
    recent_loss, calls = loop.recent_loss, []

    def stopping(losses: list[float]) -> float:
        calls.append(len(losses))
        if len(losses) == 4:
            raise KeyboardInterrupt
        return recent_loss(losses)

    monkeypatch.setattr(loop, "recent_loss", stopping)
    with pytest.raises(KeyboardInterrupt):
        finetune(str(base), tiny.TEXTS, short, tmp_path / "out", every=0.0)
    assert (tmp_path / "out" / CHECKPOINT).exists()

    def counting(losses: list[float]) -> float:
        calls.append(len(losses))
        return recent_loss(losses)

    monkeypatch.setattr(loop, "recent_loss", counting)
    calls.clear()
    out = finetune(str(base), tiny.TEXTS, short, tmp_path / "out")
    assert calls[0] == 4  # three steps were kept
    assert evenhand.load(str(out)).fingerprint == whole
    assert not (out / CHECKPOINT).exists()


def test_a_checkpoint_of_another_recipe_or_a_broken_one_is_not_used(
    base: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    short = dataclasses.replace(QUICK, epochs=1)
    clean = evenhand.load(str(finetune(str(base), tiny.TEXTS, short, tmp_path / "clean"))).fingerprint
    for name, content in (("broken", b"nothing"), ("other", None)):
        folder = tmp_path / name
        folder.mkdir()
        if content is None:
            torch.save({"made_of": "something else", "losses": [1.0]}, folder / CHECKPOINT)
        else:
            (folder / CHECKPOINT).write_bytes(content)
        assert evenhand.load(str(finetune(str(base), tiny.TEXTS, short, folder))).fingerprint == clean
    assert "cannot be read. Starting over" in caplog.text
    assert "of another model, text or recipe" in caplog.text


def test_a_small_corpus_is_warned_of(base: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    finetune(str(base), tiny.TEXTS, dataclasses.replace(QUICK, epochs=1), tmp_path / "small")
    assert "only 8 sentences" in caplog.text


def test_a_full_disk_is_said_so(base: Path, tmp_path: Path) -> None:
    network = evenhand.load(str(base)).network
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        with pytest.raises(RunError, match="checkpoint.pt' .* disk may be full"):
            finetune(str(base), tiny.TEXTS, QUICK, tmp_path / "out")
        with pytest.raises(RunError, match="model"):
            write_model(tmp_path / "out", network, None, "")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not [path for path in (tmp_path / "out").iterdir() if path.suffix in (".pt", ".md")]
