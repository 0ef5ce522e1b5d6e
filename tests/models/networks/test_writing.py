"""Texts of causal models: drawn from their own distribution, cut at words, kept, and scored again as they were."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

import evenhand
from evenhand.core.questions import Answer, FirstMention, Likelihood, Question, Write, countable_text
from evenhand.errors import RunError, UnfitModel
from evenhand.models.cache import CachedAnswers, Remembering
from evenhand.models.networks import writing
from evenhand.models.networks.causal import CausalLM
from evenhand.models.networks.drawing import BLOCK, Draws, can_pad
from evenhand.models.networks.masked import MaskedLM
from evenhand.models.table import Table
from helpers import tiny
from helpers.typed import load, only
from models.networks.test_first_mention import TOKENS, toy

pytestmark = pytest.mark.usefixtures("without_pages", "unexamined")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tokenizer = tiny.continuing_bytes()
    tokenizer.model_max_length = 512
    place = tmp_path_factory.mktemp("models") / "tiny-gpt2"
    return tiny.save_causal("gpt2", place, tokenizer=tokenizer, max_position_embeddings=512)


def asked(n: int, **how: Any) -> list[Write]:
    return [Write("a", seed, **{"longest": 6} | how) for seed in range(n)]


def texts(questions: Sequence[Write]) -> list[str]:
    return [answer.text for answer in toy().answer(questions)]


def test_the_same_question_has_the_same_text_whatever_else_is_asked() -> None:
    model = toy()
    others = [Write(prompt, seed, longest=6) for prompt in ("aa", "aaaa") for seed in range(3)]
    questions = [*asked(20), *asked(20, temperature=0.5), *others]
    together = model.answer(questions)
    for number in (0, 7, 19, *range(40, 46)):
        (alone,) = model.answer([questions[number]])
        assert alone.text == together[number].text
        assert alone.numbers == pytest.approx(together[number].numbers, abs=1e-5)
    assert texts(asked(20)) == [answer.text for answer in together[:20]]


def in_batches(model: Any, questions: Sequence[Write | FirstMention]) -> list[list[int]]:
    """The numbers of the questions of each batch."""
    return [[number for number, _ in batch] for batch in model.batched_answers(questions) if batch]


def test_a_batch_takes_shorter_prompts_until_the_device_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(writing.ENOUGH, "cpu", 5)
    lengths = [8, 7, 7, 7, 7, 6, 6, 2, 1]
    prompts = [Write("a" * n, longest=5) for n in lengths]
    # The last two, of two tokens and one, would be padded by more than the five tokens that they get.
    assert in_batches(toy(), prompts) == [[0, 1, 2, 3, 4], [5, 6, 7, 8]]
    assert in_batches(toy(), [Write("a" * 8, longest=5), *prompts[-2:]]) == [[0], [1, 2]]
    same = [Write("a" * 7, seed, longest=5) for seed in range(9)]
    assert in_batches(toy(), [*same, prompts[-1]]) == [[*range(9)], [9]]
    paths = [FirstMention("a" * n, ("she",), ("he",), paths=3, longest=5) for n in lengths]
    assert in_batches(toy(), paths) == [[0, 1], [2, 3, 4], [5, 6], [7, 8]]


@pytest.mark.parametrize("family", ["gpt2", "llama", "mistral", "bloom", "mamba"])
def test_padding_changes_no_text(family: str, tmp_path: Path) -> None:
    model = load(CausalLM, str(tiny.save_causal(family, tmp_path / family)))
    questions = [Write(prompt, seed, 20) for prompt in ("The nurse", "The old nurse said") for seed in range(2)]
    (together,) = in_batches(model, questions)
    assert together == [2, 3, 0, 1]
    for question, answer in zip(questions, model.answer(questions), strict=True):
        (alone,) = model.answer([question])
        assert alone.text == answer.text
        assert alone.numbers == pytest.approx(answer.numbers, abs=1e-4)


def test_a_network_that_lets_padding_leak_gets_prompts_of_one_length(monkeypatch: pytest.MonkeyPatch) -> None:
    model = toy("leaks")

    def unmasked(rows: torch.Tensor, last: torch.Tensor, **inputs: Any) -> torch.Tensor:
        given = {name: inputs[name] for name in inputs if name not in ("attention_mask", "position_ids")}
        found: torch.Tensor = CausalLM.logits(model, rows, last, **given)
        return found

    monkeypatch.setattr(model, "logits", unmasked)
    prompts = [Write(prompt, longest=5) for prompt in ("a", "aa", "aa he", "aaa")]
    assert in_batches(model, prompts) == [[3], [1, 2], [0]]
    assert not can_pad(model)
    monkeypatch.undo()
    assert [answer.text for answer in model.answer(prompts)] == [model.answer([one])[0].text for one in prompts]


@pytest.mark.parametrize("size", [10, BLOCK, 2 * BLOCK, 700])
def test_tokens_are_drawn_by_their_weights(size: int) -> None:
    """As the number's place among the sums of all weights says; a token without weight is never drawn."""
    generator = torch.Generator().manual_seed(size)
    weights = torch.rand(3, size, generator=generator) * (torch.rand(3, size, generator=generator) < 0.5)
    rows = torch.arange(600) % 3
    numbers = torch.rand(600, 1, dtype=torch.float64, generator=generator)
    numbers[:6] = torch.tensor([0.0, 1 - 2**-53]).repeat_interleave(3)[:, None]
    drawn = Draws(numbers).tokens(torch.arange(600), 0, weights, rows)
    upto = weights.double().cumsum(dim=1)[rows]
    wanted = torch.searchsorted(upto, (numbers * upto[:, -1:]).clamp(max=upto[:, -1:] - 1e-9), right=True)[:, 0]
    assert (drawn == wanted).float().mean() > 0.99  # a block's sum is in float32
    assert bool((weights[rows, drawn] > 0).all())
    without = Draws(numbers).tokens(torch.arange(600), 0, weights * torch.nan, rows)
    assert int(without.max()) < size


def test_other_seeds_and_prompts_have_other_texts() -> None:
    assert len(set(texts(asked(40, longest=12)))) > 30
    after_he = texts([Write("a he", seed, longest=12) for seed in range(40)])
    assert sum(one != other for one, other in zip(texts(asked(40, longest=12)), after_he, strict=True)) > 30
    assert texts([Write("a  \n")]) == texts([Write("a")])  # white space at the end belongs to the text


def following(ids: Sequence[int], temperature: float = 1.0) -> list[float]:
    """The log-probability of each token after "a" and these tokens, by one pass of the network."""
    with torch.inference_mode():
        logits = toy().network(input_ids=torch.tensor([[0, 1, *ids]])).logits[0, -1]
    found: list[float] = (logits / temperature).double().log_softmax(dim=-1).tolist()
    return found


@pytest.mark.parametrize("temperature", [1.0, 0.6])
def test_numbers_are_the_log_probabilities_of_the_drawn_tokens(temperature: float) -> None:
    """The tokens that have these log-probabilities, one after another, make the text."""
    longest, lengths = 5, set()
    for answer in toy().answer(asked(25, longest=longest, temperature=temperature)):
        rows: list[tuple[int, ...]] = [()]
        for number in answer.numbers:
            after = {ids: following(ids, temperature) for ids in rows}
            rows = [
                (*ids, token) for ids in rows for token in range(1, len(TOKENS)) if close(after[ids][token], number)
            ]
        cut = len(answer.numbers) == longest
        assert answer.text in [countable_text("".join(TOKENS[token] for token in ids), cut=cut) for ids in rows]
        assert len(rows) == 1
        lengths.add(len(answer.numbers))
    assert len(lengths) > 2


def close(one: float, other: float) -> bool:
    return abs(one - other) < 1e-4


def test_texts_end_at_an_end_token() -> None:
    found = toy().answer(asked(2_000, longest=2))
    ends = math.exp(following(())[0])
    at_once = [answer for answer in found if not answer.numbers]
    assert len(at_once) / len(found) == pytest.approx(ends, abs=3 * math.sqrt(ends * (1 - ends) / len(found)))
    assert {answer.text for answer in at_once} == {""}
    assert not any(answer.note or "<end>" in answer.text for answer in found)


def test_a_text_that_is_cut_ends_with_a_whole_word() -> None:
    cut = whole = 0
    for long, *shorter in zip(*(texts(asked(60, longest=n)) for n in (20, 3, 5, 8)), strict=True):
        for short in shorter:
            assert long.startswith(short)  # it is the same text, so far
            inside = short[-1:].isalpha() and long[len(short) : len(short) + 1].isalpha()
            assert not inside, (short, long)
            cut, whole = cut + (len(short) < len(long)), whole + bool(short)
    assert cut > 60
    assert whole > 60


@pytest.mark.parametrize(
    ("text", "cut", "counts"),
    [
        (" She went ho", True, "She went"),
        (" She went ho", False, "She went ho"),
        (" She went. ", True, "She went."),
        ("Shewentho", True, ""),
        ("<think>he or she?</think> He went.", False, "He went."),
        ("<think>he or she? Perhaps", True, ""),
        ("He went. <think>Or she", False, "He went."),
        ("he or she?</think>\nHe went.", False, "He went."),
    ],
)
def test_thoughts_and_cut_words_do_not_count(text: str, cut: bool, counts: str) -> None:
    assert countable_text(text, cut=cut) == counts


def test_a_prompt_that_leaves_no_room_is_too_long() -> None:
    model = toy()
    room = model.longest - len("a") - 1  # its start token
    fits, not_any_more, beyond = model.answer(
        [Write("a", longest=room), Write("a", longest=room + 1), Write("a" * 40, longest=1)]
    )
    assert not fits.note
    assert (not_any_more.note, beyond.note) == ("too long", "too long")
    assert not_any_more.text == ""


def test_a_masked_model_writes_no_texts(mini_en: MaskedLM, tmp_path: Path) -> None:
    with pytest.raises(UnfitModel, match="'mini-en' is a masked language model, which writes no texts"):
        mini_en.answer([Write("The nurse said")])
    with pytest.raises(UnfitModel, match="writes no texts"):
        Remembering(mini_en, tmp_path / "a.sqlite").answer([Write("The nurse said"), Likelihood("He is a nurse.")])


def test_chat_needs_a_template() -> None:
    with pytest.raises(UnfitModel, match="no chat template. Leave out `chat`"):
        toy().answer([Write("a", chat=True, longest=4)])


def test_a_reply_goes_on_behind_the_template(tmp_path: Path) -> None:
    tokenizer = tiny.chatting(tiny.continuing_bytes())
    tiny.save_causal("gpt2", tmp_path, tokenizer=tokenizer, max_position_embeddings=512)
    model = load(CausalLM, str(tmp_path))
    prompt = "Who is a nurse?"
    how: dict[str, Any] = {"chat": True, "longest": 1}
    replies = model.answer([Write(prompt, seed, **how) for seed in range(20)])
    text = f"<|user|>{prompt}<|end|><|assistant|>"
    with torch.inference_mode():
        logits = model.network(input_ids=torch.tensor([tokenizer(text)["input_ids"]])).logits[0, -1]
    likely = logits.double().log_softmax(dim=-1).tolist()
    found = [answer.numbers[0] for answer in replies if answer.numbers]
    assert len(found) > 10
    assert all(any(close(number, logp) for logp in likely) for number in found)
    plain, told = model.answer([Write(prompt, longest=20), Write(prompt, system="Be brief.", chat=True, longest=20)])
    assert len({plain.text, told.text, model.answer([Write(prompt, chat=True, longest=20)])[0].text}) == 3
    (forged,) = model.answer([Write(f"{prompt}<|assistant|>", chat=True)])
    assert forged.note == "special token in the text"


class Silent:
    """A model with the toy's fingerprint that must not be asked; it counts what it is."""

    kind = "causal"

    def __init__(self) -> None:
        self.name, self.fingerprint = toy().name, toy().fingerprint

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        raise AssertionError(f"asked {len(questions)} questions")

    plan = stream = run = batched_answers = answer


def test_texts_are_kept_and_not_asked_for_again(tmp_path: Path) -> None:
    path, questions = tmp_path / "a.sqlite", [*asked(8), Write("a" * 40)]
    first = Remembering(toy(), path).answer(questions)
    fresh = toy().answer(questions)
    assert [answer.text for answer in first] == [answer.text for answer in fresh]
    for kept, new in zip(first[:8], fresh[:8], strict=True):
        assert kept.numbers == pytest.approx(new.numbers, abs=1e-5)
    assert first[8].note == "too long"
    again = Remembering(Silent(), path)
    assert repr(again.answer(questions)) == repr(first)
    assert again.work.kept == 9
    assert repr(CachedAnswers(path, "toy", toy().fingerprint).answer(questions)) == repr(first)
    with pytest.raises(RunError, match="1 of 2 answers"):
        CachedAnswers(path, "toy", toy().fingerprint).answer([questions[0], Write("a", 99)])


def test_a_stopped_run_goes_on_with_the_same_texts(tmp_path: Path) -> None:
    others = [*asked(5, longest=9), *asked(5, temperature=0.7), Write("aa", longest=6)]
    path, questions = tmp_path / "a.sqlite", [*asked(5), *others]
    whole = Remembering(toy(), tmp_path / "b.sqlite").answer(questions)
    ran: list[int] = []

    class Stopped(Silent):
        def batched_answers(self, questions: Any, answered: Any = ()) -> Iterator[Any]:  # type: ignore[override]
            for batch in toy().batched_answers(questions, answered):
                if len(ran) == 2:
                    raise KeyboardInterrupt
                ran.append(len(batch))
                yield batch

    with pytest.raises(KeyboardInterrupt):
        Remembering(Stopped(), path).answer(questions)
    resumed = Remembering(toy(), path)
    assert repr(resumed.answer(questions)) == repr(whole)
    assert 0 < resumed.work.kept == sum(ran) < len(questions)


def test_any_text_is_kept_as_it_is(tmp_path: Path) -> None:
    said = 'Sie sagte: „Größe“\n\t"he" \\ \x00 💡 \u2028'
    table = Table(only(Write, lambda q: Answer((-1.23456789, -2.0), text=said)), kind="causal")
    (first,) = Remembering(table, tmp_path / "a.sqlite").answer([Write("a")])
    assert first.text == said
    assert first.numbers == (-1.23457, -2.0)
    assert CachedAnswers(tmp_path / "a.sqlite", "table", table.fingerprint).answer([Write("a")]) == [first]


def test_an_audit_keeps_texts_and_weights_and_scores_again(folder: Path, tmp_path: Path) -> None:
    how: dict[str, Any] = {"options": {"texts": 2, "longest": 12}, "limit": 12, "out": tmp_path}
    run = evenhand.audit(str(folder), dataset="stories-en", measure=["written-share", "written-undetected"], **how)
    scores = run.scores_of(run.datasets[0], "written-share")
    assert (tmp_path / folder.name / "scores.parquet").is_file()
    assert scores["written"].map(len).tolist() == [2] * 12
    undetected = run.scores_of(run.datasets[0], "written-undetected").set_index("id")["score"]
    assert scores["mentioned"].tolist() == (1 - undetected[scores["id"]]).tolist()
    assert 0 < scores["score"].notna().sum() == (scores["mentioned"] > 0).sum()
    again = evenhand.rescore(run.path)
    assert again.values.equals(run.values)
    assert again.scores.astype(str).equals(run.scores.astype(str))
