"""Likelihoods that mask nothing, or only what another sentence lacks, are those of the slow and obvious loop."""

import warnings
from pathlib import Path

import pytest

from evenhand import Likelihood
from evenhand.core.questions import Question
from evenhand.errors import UnfitModel
from evenhand.models.networks.masked import MaskedLM
from evenhand.models.planning.plan import Batch
from helpers import naive, tiny
from helpers.typed import load

CLOSE = 5e-5
BOTH = "The businessman told his wife.", "The businesswoman told her husband."


@pytest.fixture(scope="module", params=[name for name in tiny.FAMILIES if name not in ("bart", "fnet")])
def family(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> MaskedLM:
    return load(MaskedLM, str(tiny.save(request.param, tmp_path_factory.mktemp("tiny") / request.param)))


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> MaskedLM:
    return load(MaskedLM, str(tiny.save("bert-uncased", tmp_path_factory.mktemp("tiny") / "bert")))


def test_every_family_scores_what_it_sees_and_weighs_it_by_attention(family: MaskedLM) -> None:
    """Sentences of several lengths at once, so that some are padded, and with questions that need masks."""
    asked: list[Question] = [Likelihood(text) for text in tiny.TEXTS]
    asked += [Likelihood(text, masked="none") for text in tiny.TEXTS]
    asked += [Likelihood(text, masked="none", attention=True) for text in tiny.TEXTS]
    implementation = family.network.config._attn_implementation
    alone = family.answer(asked[: len(tiny.TEXTS)])
    answers = family.answer(asked)
    assert family.network.config._attn_implementation == implementation
    count = len(tiny.TEXTS)
    for one, other in zip(answers[:count], alone, strict=True):
        assert one.logps == pytest.approx(other.logps, abs=CLOSE)
    for text, seen, weighed in zip(tiny.TEXTS, answers[count : 2 * count], answers[2 * count :], strict=True):
        logps, weights = naive.unmasked(family, text)
        assert seen.logps == pytest.approx(logps, abs=CLOSE)
        assert weighed.logps == pytest.approx([p * w for p, w in zip(logps, weights, strict=True)], abs=CLOSE)
        assert min(weights) > 0
        assert sum(weights) < 1  # what is left goes to the special tokens


def test_a_sentence_takes_one_pass_for_both(bert: MaskedLM) -> None:
    seen = [Likelihood(text, masked="none") for text in tiny.TEXTS]
    weighed = [Likelihood(text, masked="none", attention=True) for text in tiny.TEXTS]
    assert bert.plan([*seen, *weighed]).inputs == len(tiny.TEXTS)


def test_attention_is_returned_only_where_it_is_asked_for(bert: MaskedLM, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[int] = []
    weighed = bert._weigh

    def seeing(batch: Batch) -> object:
        rows.append(len(batch.inputs))
        return weighed(batch)

    monkeypatch.setattr(bert, "_weigh", seeing)
    bert.answer([Likelihood(text) for text in tiny.TEXTS])
    bert.answer([Likelihood(text, masked="none") for text in tiny.TEXTS])
    assert not rows
    bert.answer([*(Likelihood(text) for text in tiny.TEXTS), Likelihood(tiny.TEXTS[0], masked="none", attention=True)])
    assert rows == [1]


def test_a_network_without_attention_is_refused_in_words(tmp_path: Path) -> None:
    fnet = load(MaskedLM, str(tiny.save("fnet", tmp_path / "fnet")))
    assert not fnet.answer([Likelihood("She is a nurse.", masked="none")])[0].note
    with pytest.raises(UnfitModel, match="`aula`"):
        fnet.answer([Likelihood("She is a nurse.", masked="none", attention=True)])


def test_half_precision_weighs_as_float32_does(bert: MaskedLM, tmp_path: Path) -> None:
    question = Likelihood(tiny.TEXTS[0], masked="none", attention=True)
    with warnings.catch_warnings(action="ignore"):
        half = load(MaskedLM, str(tiny.save("bert-uncased", tmp_path / "bert")), dtype="bfloat16").answer([question])
    assert half[0].logps == pytest.approx(bert.answer([question])[0].logps, rel=0.1, abs=0.05)


def test_changed_tokens_are_masked_together_and_read_at_every_changed_place(bert: MaskedLM) -> None:
    (read,) = bert.plan([Likelihood(BOTH[0], masked="changed", versus=BOTH)]).readings[0].reads
    ids = bert.tokenizer(BOTH[0])["input_ids"]
    places = [p for p, token in enumerate(read.ids) if token == bert.tokenizer.mask_token_id]
    assert [token for p, token in enumerate(read.ids) if p not in places] == [
        token for p, token in enumerate(ids) if p not in places
    ]
    assert read.cells == tuple((p, ids[other]) for p in places for other in places)
    logps = naive.logps(bert, list(read.ids))
    (answer,) = bert.answer([Likelihood(BOTH[0], masked="changed", versus=BOTH)])
    assert answer.logps == pytest.approx([float(logps[p, token]) for p, token in read.cells], abs=CLOSE)


def test_the_tokens_that_are_not_changed_are_those_that_are_shared(bert: MaskedLM) -> None:
    for text in BOTH:
        shared, changed = bert.plan(
            [Likelihood(text, versus=BOTH), Likelihood(text, masked="changed", versus=BOTH)]
        ).readings
        own = {place for read in shared.reads for place, _ in read.cells} | {p for p, _ in changed.reads[0].cells}
        assert own == set(range(1, len(bert.tokenizer(text)["input_ids"]) - 1))
        assert len(shared.reads) + len(changed.reads[0].cells) ** 0.5 == len(own)
