"""Texts that a causal model writes, and the gender that they mention first: answers to `Write` and `FirstMention`."""

import math
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import torch

from evenhand.core.progress import part
from evenhand.core.questions import THOUGHT, Answer, FirstMention, Write, countable_text
from evenhand.errors import ModelError
from evenhand.models.networks.drawing import Draws, Paths, can_pad, ends
from evenhand.models.networks.first_mention import first_mentions
from evenhand.models.planning.plan import Ids
from evenhand.models.planning.sequences import chats
from evenhand.models.planning.tokens import TOO_LONG, Unanswerable, encode
from evenhand.stats.estimate import NOT_FINITE

Asked = Write | FirstMention
THINKS = "the chat template begins with thoughts, which are no part of a text: leave out `chat`"
MEMORY = 8
"""Keys and values of a batch may take 1 / MEMORY of a GPU's memory. Copies of them take as much again."""
ENOUGH = {"cpu": 128, "cuda": 1024}
"""By device, the number of texts in a batch from which another batch costs less than padding."""


def writings(model: Any, questions: Sequence[Asked], answered: Container[int]) -> Iterator[list[tuple[int, Answer]]]:
    """The answers to the questions whose number is not in `answered`, by batch.

    Each prompt goes through the network once, however many texts are written after it.
    """
    prompts: dict[int, Ids] = {}
    missing: list[tuple[int, Answer]] = []
    for number, (ids, note) in enumerate(_prompts(model, questions)):
        if note:
            missing.append((number, Answer.none(note)))
        else:
            prompts[number] = ids
    yield missing

    batches = _batches(model, questions, prompts)
    with part("Writing", "texts", sum(_texts(questions[number]) for number in prompts)) as bar:
        for batch in batches:
            if any(number not in answered for number in batch):
                asked = [(questions[number], prompts[number]) for number in batch]
                run = first_mentions if isinstance(asked[0][0], FirstMention) else _texts_after
                yield list(zip(batch, _halving(model, run, asked), strict=True))
            bar.update(sum(_texts(questions[number]) for number in batch))


def _batches(model: Any, questions: Sequence[Asked], prompts: Mapping[int, Ids]) -> list[list[int]]:
    """For each batch, the numbers of its questions, longest prompts first.

    Batches are made from all questions, so that a resumed run has the same batches. A batch with fewer than `ENOUGH`
    texts also takes shorter prompts, which are padded by at most as many tokens as are written. Nothing is padded if
    padding changes the network's answers.
    """

    def alike(number: int) -> tuple[Any, ...]:
        q = questions[number]
        words = (q.female, q.male, q.threshold, q.stop) if isinstance(q, FirstMention) else ()
        return q.longest, q.temperature, *words

    pads = len(set(map(len, prompts.values()))) > 1 and can_pad(model)
    enough = ENOUGH.get(model.network.device.type, ENOUGH["cpu"])
    ordered = sorted(prompts, key=lambda number: (repr(alike(number)), -len(prompts[number]), number))
    batches: list[list[int]] = []
    for (longest, *_), same in groupby(ordered, key=alike):
        rows = size = 0
        for number in same:
            texts = _texts(questions[number])
            padding = len(prompts[batches[-1][0]]) - len(prompts[number]) if rows else 0
            padded = pads and padding <= longest and rows < enough
            if not rows or rows + texts > size or (padding and not padded):
                batches.append([])
                rows, size = 0, _rows(model, len(prompts[number]) + longest)
            batches[-1].append(number)
            rows += texts
    return batches


def _texts(question: Asked) -> int:
    return question.paths if isinstance(question, FirstMention) else 1


def _prompts(model: Any, questions: Sequence[Asked]) -> Iterator[tuple[Ids, str]]:
    """The tokens of each prompt, with the start token or in the chat template, or a note why it cannot be asked."""
    plain = encode(model.tokenizer, (q.text for q in questions), 2**31)
    before = chats(model.name, model.tokenizer, [question for question in questions if question.chat])
    templated = encode(model.tokenizer, before.values(), 2**31, templated=True)
    for question in questions:
        try:
            prompt = plain[question.text].usable()  # the prompt must not contain a special token of the template
            if question.chat:
                turns = before[question.text, question.system]
                if turns.rstrip().endswith(THOUGHT):
                    raise Unanswerable(THINKS)
                ids = templated[turns].usable().ids
            else:
                ids = (model.start, *(prompt.ids[position] for position in prompt.positions))
            if len(ids) + question.longest > model.longest:
                raise Unanswerable(TOO_LONG)
            yield ids, ""
        except Unanswerable as reason:
            yield (), str(reason)


def _rows(model: Any, tokens: int) -> int:
    """The number of texts of this many tokens that are written at once."""
    most: int = min(model.limit.inputs, model.limit.positions)
    device, config = model.network.device, model.network.config.get_text_config()
    if device.type == "cuda":
        width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        a_token = 2 * config.num_hidden_layers * heads * width * model.network.dtype.itemsize
        memory = torch.cuda.get_device_properties(device).total_memory // MEMORY
        most = min(most, int(memory // (a_token * tokens)))
    return max(1, most)


def _halving(
    model: Any, run: Callable[[Any, Sequence[tuple[Any, Ids]]], list[Answer]], asked: Sequence[tuple[Asked, Ids]]
) -> list[Answer]:
    """The answers of a batch, which is run in halves if it runs out of memory."""
    try:
        with torch.inference_mode():
            return run(model, asked)
    except RuntimeError as error:
        if not isinstance(error, torch.OutOfMemoryError) and "allocate memory" not in str(error):
            raise
        if len(asked) == 1:
            raise ModelError(
                f"'{model.name}' ran out of memory on {model.network.device} with a single prompt. Use a larger "
                "device, a smaller `dtype`, or fewer `paths`."
            ) from error
    if model.network.device.type == "cuda":
        torch.cuda.empty_cache()
    half = len(asked) // 2
    return _halving(model, run, asked[:half]) + _halving(model, run, asked[half:])


def _texts_after(model: Any, asked: Sequence[tuple[Write, Ids]]) -> list[Answer]:
    """A text for each question, with the log-probabilities of its tokens."""
    first, device = asked[0][0], model.network.device
    distinct = {ids: place for place, ids in enumerate(dict.fromkeys(ids for _, ids in asked))}
    paths, live = Paths(model, list(distinct)), torch.arange(len(asked), device=device)
    paths.keep(torch.tensor([distinct[ids] for _, ids in asked], device=device))
    draws = Draws.of([(q.text, q.seed, 0) for q, _ in asked], first.longest, device)
    ending = ends(model)
    tokens: list[list[int]] = [[] for _ in asked]
    logps: list[list[float]] = [[] for _ in asked]
    ended = [False] * len(asked)
    not_finite = set[int]()
    for step in range(first.longest):
        weights = (paths.logits / first.temperature).softmax(dim=-1)
        drawn = draws.tokens(live, step, weights, torch.arange(len(live), device=device))
        chances = weights.gather(1, drawn[:, None])[:, 0].double().log()
        over = ending[drawn] | ~chances.isfinite()
        for row, token, logp, end in zip(*(x.tolist() for x in (live, drawn, chances, over)), strict=True):
            if end:
                ended[row] = True
                not_finite |= set() if math.isfinite(logp) else {row}
            else:
                tokens[row].append(token)
                logps[row].append(logp)
        stay = (~over).nonzero()[:, 0]
        if not len(stay) or step + 1 == first.longest:
            break
        if len(stay) < len(live):
            live = live[stay]
            paths.keep(stay)
        paths.step(drawn[stay])
    texts = model.tokenizer.batch_decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    return [
        Answer.none(NOT_FINITE)
        if row in not_finite
        else Answer(tuple(logps[row]), text=countable_text(text, cut=not ended[row]))
        for row, text in enumerate(texts)
    ]
