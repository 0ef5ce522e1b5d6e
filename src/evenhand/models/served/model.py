"""A model behind a server, asked in many requests at once."""

import hashlib
import logging
import math
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files

from evenhand.core.model import CAREFUL, FINE, UNCHECKED, UNFIT, Finding
from evenhand.core.progress import part
from evenhand.core.questions import Answer, Choose, Entail, Question, Write
from evenhand.core.words import words
from evenhand.errors import BadInput, ModelError, UnfitModel
from evenhand.models.base import ServerChanged, largest_difference
from evenhand.models.planning.plan import normalise_logps
from evenhand.models.planning.sequences import as_choice, label_words
from evenhand.models.planning.tokens import Unanswerable
from evenhand.models.served import asking, replies
from evenhand.models.served.asking import KINDS
from evenhand.models.served.client import Client, Refused, Reply, Request
from evenhand.models.served.connection import Address
from evenhand.models.served.options import UNCLEAR, bare
from evenhand.models.served.probe import CLOSE, Probe, reference_answer

log = logging.getLogger(__name__)

CHECKED_EVERY = 1_000
"""Requests after which the reference is asked again."""
NAMING = 3  # raised whenever the same texts become another answer
READING = 2  # raised whenever the same question becomes other requests: kept answers are then asked for again

BEGINNINGS = tomllib.loads((files("evenhand.models.served") / "beginnings.toml").read_text(encoding="utf-8"))
"""By language, beginnings of texts, each with the next word that any speaker expects."""
KNOWS, BARELY = 0.5, 0.2
"""Shares of these beginnings that a model must continue as expected; a random model continues none."""


class ServedModel:
    """Answers the questions that its server can be asked, as replies come; equal requests are sent once.

    The fingerprint is of the name that answers and of how it is asked. Weights cannot be seen: `reference` has answers
    that a run keeps, to notice another model behind the same name.
    """

    kind = "causal"

    def __init__(
        self,
        address: Address,
        *,
        concurrency: int = 8,
        samples: int = 20,
        labels: str | Sequence[str] = (),
        patience: float = 120.0,
    ) -> None:
        if not isinstance(samples, int) or samples < 1:
            raise BadInput(f"`samples` must be a whole number from 1. Got {samples!r}.")
        self.words = label_words(labels)
        self.client = Client(address, concurrency=concurrency, patience=patience)
        self.probed = Probe(self.client, samples)
        self.ability = self.probed.ability
        self.name = address.name
        self.reference: Mapping[Question, Answer] = self.probed.reference
        self.tolerance = max(CLOSE, 4 * self.probed.disagreement) if self.reference else math.nan
        plain = self.ability.next or self.ability.whole
        self.chats = bool(self.ability.chat_next or (self.ability.chat_text and not plain))
        self.good = 0
        self.unclear = 0
        """Questions whose samples named no option, or not often enough."""
        self._spent = Counter[str]()
        a = self.ability
        how: tuple[object, ...] = a.kind, a.whole, a.start, a.begins, a.samples if a.sampled else 0, READING
        how += ((self.words,) if self.words else ()) + ((NAMING, a.thinks) if a.sampled else ())
        self.fingerprint = hashlib.sha256(f"openai {address.name} {self.probed.model} {how}".encode()).hexdigest()[:32]

    @property
    def about(self) -> dict[str, object]:
        a = self.ability
        found: dict[str, object] = {
            "source": f"openai:{self.name}",
            "server": self.client.address.base_url,
            "answered_by": self.probed.model,
            "gives": f"{a.kind}: {KINDS[a.kind]}",
            "start": a.start or ("the server's own" if a.begins else "none"),
            "concurrency": self.client.concurrency,
        }
        if not math.isnan(self.probed.disagreement):
            found["two_askings_differ_by"] = round(self.probed.disagreement, 6)
        if not a.warm:
            found["temperature"] = "the model's own, 1 by OpenAI's documentation: it refuses another"
        if a.sampled:
            found |= {"samples": a.samples, "unclear": self.unclear}
        return found

    def spend(self) -> Counter[str]:
        """Requests that were sent since this was last asked, and tokens, as far as the server counts them."""
        before, self._spent = self._spent, Counter(self.client.spent)
        return self._spent - before

    def findings(self, language: str) -> Iterator[Finding]:
        yield from (Finding(*remark) for remark in self.probed.remarks)
        if self.ability.kind == "b":
            yield check_language(language, self.likeliest, chat=not self.ability.next)
        elif self.ability.kind == "c":
            yield unchecked_finding("the server gives text only")

    def cannot(self, question: Question) -> str:
        if isinstance(question, Entail) and not self.words:
            return "NLI questions need three words for their labels, `labels='True,Neither,False'`"
        return asking.cannot(self._as_asked(question), self.ability)

    def requests(self, question: Question) -> list[Request]:
        return asking.countable(self._as_asked(question), self.ability, self.name)

    def _as_asked(self, question: Question) -> Question:
        """The question as it is asked: NLI is a choice of three words, or of their letters."""
        if not isinstance(question, Entail) or not self.words:
            return question
        return as_choice(question, self.words, "total" if self.ability.whole else "letters")

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        found = dict(self.answers(questions))
        return [found[number] for number in range(len(questions))]

    def answers(self, questions: Sequence[Question]) -> Iterator[tuple[int, Answer]]:
        """The answer to each question, with its number, as replies come; equal requests are sent once."""
        if written := next((question for question in questions if isinstance(question, Write)), None):
            self._try_settings(written)
        needs: dict[int, list[Request]] = {}
        for number, question in enumerate(questions):
            if reason := self.cannot(question):
                raise UnfitModel(f"'{self.name}' cannot be asked this through its server: {reason}.", check="server")
            try:
                needs[number] = asking.requests(self._as_asked(question), self.ability, self.name)
            except Unanswerable as reason:
                yield number, Answer.none(str(reason))
        waiting: dict[Request, list[int]] = {}
        for number, wanted in needs.items():
            for request in dict.fromkeys(wanted):
                waiting.setdefault(request, []).append(number)
        found: dict[Request, Reply] = {}
        distinct = list(waiting)
        log.info(f"{len(questions):,} questions, {len(distinct):,} requests to {self.client.address.base_url}.")
        with part("Asking", "requests", len(distinct)) as bar:
            for request, reply in self._replies(distinct):
                bar.update()
                found[request] = reply
                for number in waiting[request]:
                    if all(needed in found for needed in needs[number]):
                        asked = self._as_asked(questions[number])
                        answer = asking.answer(asked, self.ability, [found[r] for r in needs[number]])
                        self.unclear += answer.note.startswith(UNCLEAR)
                        if asked is not questions[number] and not answer.note:
                            answer = Answer(normalise_logps([(logp,) for logp in answer.logps]))
                        yield number, answer

    def _try_settings(self, question: Write) -> None:
        """Whether the server takes settings that let it draw from all tokens; found out by a single short text."""
        if self.ability.untruncated and not self.cannot(question):
            short = asking.writing(replace(question, longest=1), self.ability, self.name)
            reply = self.client.one(short)
            if isinstance(reply, Refused) and not reply.too_long:
                self.ability = replace(self.ability, untruncated=False)
                log.info("The server may leave out unlikely tokens when it writes: it refuses top_k and min_p.")

    def _replies(self, requests: Sequence[Request]) -> Iterator[tuple[Request, Reply]]:
        """Each request with its reply, as they come; after some of them, and at the end, the reference is asked."""
        for start in range(0, len(requests), CHECKED_EVERY):
            some = requests[start : start + CHECKED_EVERY]
            for place, reply in self.client.all(some):
                model = replies.model(reply)
                if model and model != self.probed.model:
                    raise ModelError(
                        f"Another model answers now: '{model}', not '{self.probed.model}'. Answers so far are kept. "
                        "Ask for each by its own name."
                    )
                yield some[place], reply
            self._check_reference()

    def _check_reference(self) -> None:
        for question, before in self.reference.items():
            now = Answer(tuple(reference_answer(self.client, question, self.ability)))
            if not (far := largest_difference(before, now)) <= self.tolerance:
                away = f"{far:.2g} nats away" if far < math.inf else "otherwise"
                raise ServerChanged(
                    f"The numbers of '{self.name}' have changed: the same question is answered {away}, not as at the "
                    f"start. Answers since it was last asked, at most {CHECKED_EVERY:,}, are discarded. See what "
                    "happened to the server, and run the same command again."
                )
        self.good += 1

    def likeliest(self, texts: Sequence[str]) -> list[str]:
        """The likeliest token after each text, where a server lists next tokens, in chats if it has nothing else."""
        top = self.ability.next or self.ability.chat_next
        prompts = [Choose(text, ("a", "b"), chat=not self.ability.next) for text in texts]
        found = self.client.all([asking.next_token_request(prompt, self.ability, self.name, top) for prompt in prompts])
        tops = {place: replies.likeliest(reply) for place, reply in found}
        return [max(tops[n], key=lambda one: one[1], default=("", 0.0))[0] for n in range(len(texts))]


def unchecked_finding(why: str) -> Finding:
    """The finding that head and language could not be checked."""
    says = f"head and language ({why})."
    return Finding(UNCHECKED, CAREFUL, says, "Look at some of its answers yourself.")


def check_language(language: str, likeliest: Callable[[Sequence[str]], Sequence[str]], *, chat: bool) -> Finding:
    """How many plain beginnings are continued by the word that anybody expects, or by its first token.

    `likeliest` gives the token after each text. A reply in a chat may also say the whole text again, from its first
    word.
    """
    texts = BEGINNINGS.get(language)
    if not texts:
        return unchecked_finding(f"we have no plain beginnings of '{language}'")
    asked = "Continue this text. Say the next word and nothing else: {}" if chat else "{}"
    tokens = [bare(token).lower() for token in likeliest([asked.format(text) for text in texts])]
    right = sum(
        (len(token) > 2 and word.startswith(token)) or (chat and words(text)[0].of(text).lower() == token)
        for token, (text, word) in zip(tokens, texts.items(), strict=True)
    )
    verdict = FINE if right >= KNOWS * len(texts) else CAREFUL if right >= BARELY * len(texts) else UNFIT
    do = "" if verdict == FINE else "Is it a trained model of this language? Look at some of its answers."
    says = f"{right} of {len(texts)} plain beginnings of '{language}' are continued by the word that anybody expects."
    return Finding("language", verdict, says, do)
