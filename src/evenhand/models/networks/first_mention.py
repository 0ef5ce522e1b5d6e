"""The probability that the texts of a causal model first mention a woman or a man: answers to `FirstMention`."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from evenhand.core.questions import WORD, Answer, FirstMention, Masses
from evenhand.models.networks.drawing import Draws, Paths, ends
from evenhand.models.planning.plan import Ids
from evenhand.models.planning.word_tokens import WordTokens, token_texts
from evenhand.stats.estimate import NOT_FINITE


def first_mentions(model: Any, asked: Sequence[tuple[FirstMention, Ids]]) -> list[Answer]:
    """For each question, the `Masses` of its paths. All questions have the same words, length and thresholds."""
    first = asked[0][0]
    of_path = [n for n, (question, _) in enumerate(asked) for _ in range(question.paths)]
    seeds = [(question.text, question.seed, path) for question, _ in asked for path in range(question.paths)]
    draws = Draws.of(seeds, first.longest, model.network.device)
    texts = _DistinctTexts(model, [question for question, _ in asked], Paths(model, [ids for _, ids in asked]), of_path)
    for step in range(first.longest):
        weights = texts.weigh()
        drawn = draws.tokens(texts.live, step, weights, texts.row_of)
        texts.go_on(drawn, last=step + 1 == first.longest)
        if not len(texts.live):
            break
    else:
        texts.finish()
    masses = iter(texts.masses.tolist())
    answers = []
    for question, _ in asked:
        numbers = tuple(number for _ in range(question.paths) for number in next(masses))
        answers.append(Answer.none(NOT_FINITE) if any(n != n for n in numbers) else Answer(numbers))
    return answers


def _last_letters(question: FirstMention) -> str:
    """The letters that a prompt ends with, marked so that they begin no listed word. A reply in a chat has none."""
    words = WORD.findall("" if question.chat else question.text)
    return words[-1].lower() + "\0" if words and question.text[-1:].isalpha() else ""


def word_tokens(model: Any, question: FirstMention) -> WordTokens:
    """The tokens of the model's vocabulary that complete the question's words; cached on the model by list of words."""
    known: dict[Any, Any] = model.__dict__.setdefault("_word_tokens", {})
    key = question.female, question.male
    if key not in known:
        known[key] = WordTokens(token_texts(model.tokenizer, model._size), *key)
    return known[key]  # type: ignore[no-any-return]


class _DistinctTexts:
    """The distinct texts that all paths have drawn so far, one in each row.

    Paths with the same tokens share a row. `states` has the last letters of each row. `left` is the probability of the
    row that no listed word has taken yet, `mass` the probability of each gender so far. `decided` says that no boundary
    may come next, since its probability has been counted.
    """

    def __init__(self, model: Any, asked: Sequence[FirstMention], paths: Paths, of_path: Sequence[int]) -> None:
        self.question, self.paths = asked[0], paths
        self.tokens = word_tokens(model, asked[0])
        device = model.network.device
        self.ending = ends(model)
        self.ending[self.tokens.thoughts] = True  # thoughts are not part of a text
        self.boundary = torch.from_numpy(self.tokens.boundary).to(device) | self.ending
        anywhere = self.tokens.anywhere
        self.inside, self.at_end = (
            [torch.from_numpy(each).to(device) for each in both] for both in (anywhere.inside, anywhere.at_end)
        )
        self.states, self.decided = [_last_letters(question) for question in asked], [False] * len(asked)
        self.left = torch.ones(len(asked), dtype=torch.float64, device=device)
        self.mass = torch.zeros((len(asked), 2), dtype=torch.float64, device=device)
        self.ahead: set[tuple[int, int]] = set()
        self.live = torch.arange(len(of_path), device=device)
        """The numbers of the paths that go on; `row_of` has the row of each."""
        self.row_of = torch.tensor(of_path, device=device)
        self.masses = torch.zeros((len(of_path), len(Masses._fields)), dtype=torch.float64, device=device)

    def weigh(self) -> Tensor:
        """Count the words that the next token would complete, and give the weights of tokens that complete none."""
        weights = self._end_words((self.paths.logits / self.question.temperature).softmax(dim=-1))
        before = self.mass.sum(dim=-1)
        self._count_inside(weights)
        self._count_at_end(weights)
        left = self.left - (self.mass.sum(dim=-1) - before)
        self.left = left.clamp_min(0.0)  # weights may add up to more than 1 by rounding
        return weights

    def _end_words(self, weights: Tensor) -> Tensor:
        """Count rows that end with a listed word, by the probability that no letter follows. They go on with one."""
        genders = [
            None if decided else self.tokens.gender(state)
            for state, decided in zip(self.states, self.decided, strict=True)
        ]
        rows = [row for row, gender in enumerate(genders) if self.decided[row] or gender is not None]
        if not rows:
            return weights
        some = torch.tensor(rows, device=weights.device)
        kept = weights[some].masked_fill(self.boundary, 0.0)
        goes_on = kept.sum(dim=-1, dtype=torch.float64)
        for row, share in zip(rows, goes_on.tolist(), strict=True):
            if (gender := genders[row]) is not None:
                self.mass[row, gender] += self.left[row] * (1 - share)
                self.left[row] *= share
        weights[some] = (kept / goes_on[:, None].clamp_min(1e-300)).to(weights.dtype)
        return weights

    def _count_inside(self, weights: Tensor) -> None:
        """Count the tokens that complete a listed word within them, and set their weights to 0."""
        for row, state in enumerate(self.states):
            for gender, tokens in enumerate(self.tokens.of(state).inside):
                if len(tokens):
                    which = torch.from_numpy(tokens).to(weights.device)
                    self.mass[row, gender] += self.left[row] * weights[row, which].sum(dtype=torch.float64)
                    weights[row, which] = 0.0
        for gender, which in enumerate(self.inside):
            self.mass[:, gender] += self.left * weights[:, which].sum(dim=-1, dtype=torch.float64)
            weights[:, which] = 0.0

    def _count_at_end(self, weights: Tensor) -> None:
        """Count tokens that end with a listed word, by the probability that no letter follows, from one more step."""
        endings: list[tuple[int, int, int]] = []
        for gender, which in enumerate(self.at_end):
            rows, columns = (weights[:, which] >= self.question.threshold).nonzero(as_tuple=True)
            endings += [(row, token, gender) for row, token in zip(rows.tolist(), which[columns].tolist(), strict=True)]
        for row, state in enumerate(self.states):
            for gender, tokens in enumerate(self.tokens.of(state).at_end):
                if len(tokens):
                    likely = weights[row, torch.from_numpy(tokens).to(weights.device)] >= self.question.threshold
                    endings += [(row, int(token), gender) for token in tokens[likely.cpu().numpy()]]
        self.ahead = {(row, token) for row, token, _ in endings}
        for first in range(0, len(endings), len(self.live)):  # at most as many at once as there are paths
            rows, tokens, genders = torch.tensor(endings[first : first + len(self.live)], device=weights.device).T
            following = (self.paths.ahead(rows, tokens) / self.question.temperature).softmax(dim=-1)
            over = following[:, self.boundary].sum(dim=-1, dtype=torch.float64).clamp_(max=1.0)
            complete = self.left[rows] * weights[rows, tokens].double() * over
            self.mass.index_put_((rows, genders), complete, accumulate=True)
            weights[rows, tokens] *= (1 - over).to(weights.dtype)

    def go_on(self, drawn: Tensor, *, last: bool) -> None:
        """Append the token that each path has drawn. Finish paths that end, and paths with little probability left.

        After the `last` token, a path goes on only if it ends with a listed word that was not counted ahead.
        """
        size = len(self.ending)
        codes, row_of = torch.unique(self.row_of * size + drawn, return_inverse=True)
        parents, tokens = codes // size, codes % size
        pairs = list(zip(parents.tolist(), tokens.tolist(), strict=True))
        states = [self.tokens.after(self.states[parent], token) for parent, token in pairs]
        decided = [pair in self.ahead for pair in pairs]
        left, mass = self.left[parents], self.mass[parents]
        little = (left <= self.question.stop) | left.isnan()
        over = little | self.ending[tokens]
        if last:
            closed = [done or self.tokens.gender(s) is None for done, s in zip(decided, states, strict=True)]
            over |= torch.tensor(closed, device=over.device)
        rest = torch.stack([left.where(~little, 0.0), left.where(little, 0.0)], dim=1)
        done = over[row_of]
        self.masses[self.live[done]] = torch.cat([mass, rest], dim=1)[row_of[done]]
        stay = (~over).nonzero()[:, 0]
        place = torch.cumsum(~over, dim=0) - 1
        self.live, self.row_of = self.live[~done], place[row_of[~done]]
        self.left, self.mass = left[stay], mass[stay]
        self.states, self.decided = ([column[row] for row in stay.tolist()] for column in (states, decided))
        if len(stay):
            self.paths.keep(parents[stay])
            self.paths.step(tokens[stay])

    def finish(self) -> None:
        """Count the words that the last token has completed, and store the masses of the paths that are left."""
        if len(self.live):
            self._end_words((self.paths.logits / self.question.temperature).softmax(dim=-1))
            rest = torch.stack([self.left, torch.zeros_like(self.left)], dim=1)
            self.masses[self.live] = torch.cat([self.mass, rest], dim=1)[self.row_of]
