"""First mentions by probability, held against a model whose texts can all be written down."""

import math
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from evenhand.core.questions import WORD, Answer, FirstMention, Write, masses
from evenhand.models.loading.load import wrap

FEMALE, MALE = ("grandma", "her", "she"), ("he",)
TOKENS = ["<end>", "a", " he", " she", "llo", " grand", "ma", ".", " it", "r"]
LONGEST = 3


@cache
def toy(*more: str) -> Any:
    """A causal model of ten tokens, and some more."""
    vocabulary = [*TOKENS, *more]
    tokenizer = Tokenizer(models.BPE({t.replace(" ", "Ġ"): n for n, t in enumerate(vocabulary)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<end>"])
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>", bos_token="<end>")
    size = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    torch.manual_seed(1)
    config = LlamaConfig(vocab_size=len(vocabulary), max_position_embeddings=32, eos_token_id=0, bos_token_id=0, **size)
    network = LlamaForCausalLM(config).eval()
    with torch.no_grad():
        network.lm_head.weight *= 8
    return wrap(network, fast, name="toy")


@cache
def exact(temperature: float) -> dict[str, float]:
    """The probability of each outcome: all texts of LONGEST tokens and one more, whose only use is to end a word."""
    model = toy()
    found = dict.fromkeys(("female", "male", "neither"), 0.0)
    followed: dict[tuple[int, ...], list[float]] = {}
    network = model.network

    def following(ids: tuple[int, ...]) -> list[float]:
        if ids not in followed:
            with torch.inference_mode():
                logits = network(input_ids=torch.tensor([[0, 1, *ids]])).logits[0, -1]
            followed[ids] = (logits / temperature).double().softmax(dim=-1).tolist()
        return followed[ids]

    def walk(ids: tuple[int, ...], chance: float) -> None:
        text = "".join(TOKENS[token] for token in ids)
        ended = bool(ids) and ids[-1] == 0
        whole = text.replace("<end>", ".")
        words = [m[0] for m in WORD.finditer("a" + whole) if m.end() < len("a" + whole)]
        first = next((word for word in words if word in FEMALE + MALE), None)
        if first:
            found["female" if first in FEMALE else "male"] += chance
        elif ended or len(ids) == LONGEST + 1:
            found["neither"] += chance
        else:
            for token, p in enumerate(following(ids)):
                if len(ids) == LONGEST and TOKENS[token][0].isalpha():
                    found["neither"] += chance * p  # the word goes on beyond the text
                elif len(ids) == LONGEST:
                    last = [m[0] for m in WORD.finditer("a" + text)]
                    open_word = last[-1] if last and ("a" + text)[-1].isalpha() else ""
                    side = "female" if open_word in FEMALE else "male" if open_word in MALE else "neither"
                    found[side] += chance * p
                else:
                    walk((*ids, token), chance * p)

    walk((), 1.0)
    assert math.isclose(sum(found.values()), 1)
    return found


def estimates(n: int, temperature: float, **how: Any) -> np.ndarray:
    """(n, paths, masses) of n estimates."""
    asked = [FirstMention("a", FEMALE, MALE, longest=LONGEST, temperature=temperature, seed=s, **how) for s in range(n)]
    return np.array([masses(answer) for answer in toy().answer(asked)])


@pytest.mark.parametrize(("temperature", "threshold"), [(1.0, 0.0), (1.0, 0.2), (1.0, 1.0), (0.7, 0.003)])
def test_masses_are_unbiased_whatever_the_threshold(temperature: float, threshold: float) -> None:
    found = estimates(700, temperature, paths=8, threshold=threshold, stop=0.0)
    wanted = exact(temperature)
    for column, side in enumerate(("female", "male", "neither")):
        of = found[:, :, column].mean(axis=1)
        error = of.std(ddof=1) / math.sqrt(len(of))
        assert abs(of.mean() - wanted[side]) <= 3 * error + 1e-6, side
    female, male = found[:, :, 0].sum(axis=1), found[:, :, 1].sum(axis=1)
    share = wanted["female"] / (wanted["female"] + wanted["male"])
    ratio = female.sum() / (female + male).sum()
    spread = (female - ratio * (female + male)).std(ddof=1) / math.sqrt(len(found)) / (female + male).mean()
    assert abs(ratio - share) <= 3 * spread + 1e-6


def test_its_variance_is_below_that_of_counting() -> None:
    of = estimates(700, 0.7, paths=8, stop=0.0)[:, :, 0].mean(axis=1)
    p = exact(0.7)["female"]
    assert of.var(ddof=1) < p * (1 - p) / 8


def test_a_word_that_decides_by_itself_is_worth_64_counted_texts() -> None:
    """After "a" the next token decides: no path can come out otherwise than another."""
    asked = [FirstMention("a", FEMALE, MALE, longest=1, stop=0.0, seed=s) for s in range(200)]
    of = np.array([masses(answer) for answer in toy().answer(asked)])[:, :, 0].mean(axis=1)
    p = float(of.mean())
    assert 0.01 < p < 0.99
    assert of.var(ddof=1) < p * (1 - p) / 64


def test_early_stop_leaves_at_most_what_it_says() -> None:
    asked = [FirstMention("a", FEMALE, MALE, paths=4, longest=20, stop=0.4, seed=seed) for seed in range(30)]
    found = np.array([masses(answer) for answer in toy().answer(asked)])
    assert found[:, :, 3].max() <= 0.4
    assert found[:, :, 3].max() > 0
    assert np.allclose(found.sum(axis=2), 1, atol=1e-5)


def test_counted_texts_agree_with_the_masses() -> None:
    """The same model writes what is estimated: `Write` and `FirstMention` draw from one distribution."""
    texts = [a.text for a in toy().answer([Write("a", seed, longest=LONGEST + 1) for seed in range(4_000)])]
    firsts = Counter(next((w for w in WORD.findall(text) if w in FEMALE + MALE), "neither") for text in texts)
    share = sum(firsts[word] for word in FEMALE) / sum(firsts[word] for word in FEMALE + MALE)
    wanted = exact(1.0)["female"] / (exact(1.0)["female"] + exact(1.0)["male"])
    assert share == pytest.approx(wanted, abs=0.05)


def test_the_same_question_has_the_same_answer_whatever_else_is_asked() -> None:
    one = FirstMention("a", FEMALE, MALE, longest=LONGEST, seed=3)
    alone = toy().answer([one])[0]
    others = [FirstMention(prompt, FEMALE, MALE, longest=LONGEST) for prompt in ("aa", "aaaa")]
    among = toy().answer([*(FirstMention("a", FEMALE, MALE, longest=LONGEST, seed=s) for s in range(6)), *others])
    assert alone.numbers == pytest.approx(among[3].numbers, abs=1e-6)
    for question, answer in zip(others, among[6:], strict=True):
        assert toy().answer([question])[0].numbers == pytest.approx(answer.numbers, abs=1e-6)


def test_networks_without_a_cache_give_the_same() -> None:
    questions = [FirstMention(prompt, FEMALE, MALE, longest=LONGEST, seed=3) for prompt in ("a", "aaa")]
    model = toy()
    with_cache: list[Answer] = model.answer(questions)
    assert model._caches
    model._caches = False
    try:
        for answer, other in zip(model.answer(questions), with_cache, strict=True):
            assert answer.numbers == pytest.approx(other.numbers, abs=1e-5)
    finally:
        model._caches = True


def test_a_reply_does_not_go_on_with_the_last_word_of_the_prompt() -> None:
    """Behind the template, which ends with a full stop here, "ma" is a word even if the prompt ends with a letter."""
    model = toy("he")
    model.tokenizer.chat_template = "<end>{{ messages[0]['content'] }}."
    words = (("ma",), ("he",))
    how: dict[str, Any] = {"longest": 1, "stop": 0.0}  # without a second token, the draws do not matter
    reply, behind = model.answer([FirstMention("a", *words, chat=True, **how), FirstMention("a.", *words, **how)])
    one, other = (np.array(masses(answer)).mean(axis=0) for answer in (reply, behind))
    assert min(other[:2]) > 0.01
    assert one == pytest.approx(other, abs=1e-6)


def test_what_a_model_thinks_is_no_part_of_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    model = toy("<think>")
    thought, he, end = len(TOKENS), TOKENS.index(" he"), TOKENS.index(".")
    follows = {1: thought, thought: he, he: end, end: end}

    def certain(rows: torch.Tensor, last: torch.Tensor, input_ids: torch.Tensor, **_: Any) -> torch.Tensor:
        following = torch.tensor([follows[token] for token in input_ids[:, -1].tolist()])
        return 50.0 * torch.nn.functional.one_hot(following, len(TOKENS) + 1)

    monkeypatch.setattr(model, "_caches", False, raising=False)
    monkeypatch.setattr(model, "logits", certain)
    assert masses(model.answer([FirstMention("a", FEMALE, MALE, paths=1, longest=5)])[0])[0] == pytest.approx(
        (0, 0, 1, 0)
    )
    monkeypatch.setitem(follows, 1, he)
    assert masses(model.answer([FirstMention("a", FEMALE, MALE, paths=1, longest=5)])[0])[0].male == pytest.approx(1)


@pytest.mark.parametrize(
    "asked", [Write("a", longest=5, chat=True), FirstMention("a", FEMALE, MALE, longest=5, chat=True)]
)
def test_a_template_that_begins_with_thoughts_gets_no_text(asked: Write | FirstMention) -> None:
    """The end of the thoughts may be beyond the text, and nothing in the reply would say that these are some."""
    model = toy("think")
    model.tokenizer.chat_template = "{{ messages[0]['content'] }}<think>\n"
    (answer,) = model.answer([asked])
    assert "thoughts" in answer.note
    assert answer.text == ""


def test_words_end_where_no_letter_follows() -> None:
    from evenhand.models.planning.word_tokens import WordTokens

    tokens = WordTokens([*TOKENS, " he,", "She said", "x he y"], FEMALE, MALE)
    assert [tokens.after("", n) for n in (2, 5, 7)] == ["he", "grand", ""]
    assert tokens.after("grand", 6) == "grandma"
    assert tokens.after("he", 4) == "hello"
    assert tokens.anywhere.at_end[1].tolist() == [2]
    assert tokens.anywhere.inside[1].tolist() == [10, 12]
    assert tokens.of("grand").at_end[0].tolist() == [6]
    assert tokens.of("he").at_end[0].tolist() == [9]
    assert tokens.of("").inside[0].tolist() == [11]
    assert not any(len(of) for of in (*tokens.of("zebra").at_end, *tokens.of("zebra").inside))
    assert [bool(b) for b in tokens.boundary[:9]] == [True, False, True, True, False, True, False, True, True]


@pytest.mark.parametrize(
    ("how", "word"),
    [
        ({"paths": 0}, "paths"),
        ({"longest": 0}, "longest"),
        ({"temperature": 0.0}, "temperature"),
        ({"threshold": 2.0}, "threshold"),
        ({"stop": 0.9}, "stop"),
        ({"seed": -1}, "seed"),
        ({"system": "Be brief."}, "system"),
        ({"female": ()}, "words in both"),
        ({"female": ("he",)}, "no word may be in both"),
        ({"female": ("Mother Superior",)}, "lower-case"),
    ],
)
def test_questions_that_make_no_sense_are_refused(how: dict[str, Any], word: str) -> None:
    from evenhand.errors import BadInput

    with pytest.raises(BadInput, match=word):
        FirstMention(**{"prompt": "a", "female": FEMALE, "male": MALE} | how)
