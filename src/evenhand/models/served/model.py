"""A model behind a server, which is sent concurrent requests."""

import hashlib
import logging
import math
import random
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from itertools import pairwise

from evenhand.core.model import CAREFUL, FINE, UNCHECKED, UNFIT, Finding, check_answer
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

CHECKED_EVERY, OFTEN = 1_000, 12
"""The reference question is asked again within so many requests, and so often in a list of twice as many or more."""
NAMING = 3  # increase it when the same texts become another answer
READING = 2  # increase it when the same question becomes other requests, so that stored answers are not used

BEGINNINGS = tomllib.loads((files("evenhand.models.served") / "beginnings.toml").read_text(encoding="utf-8"))
"""By language, beginnings of texts, with the next word that every speaker expects."""
KNOWS, BARELY = 0.5, 0.2
"""The shares of beginnings that a fit and a barely fit model continue as expected. A random model continues none."""


class ServedModel:
    """Answers the questions that its server can be asked. Equal requests are sent once.

    The fingerprint is a hash of the name of the model that answers and of how it is asked, since its weights cannot be
    seen. A run keeps the answers in `reference`, to notice another model behind the same name.
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
            raise BadInput(f"`samples` must be a whole number of at least 1. Got {samples!r}.")
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
        """The number of questions of which fewer than half of the samples named an option."""
        self._spent = Counter[str]()
        a = self.ability
        how: tuple[object, ...] = a.kind, a.whole, a.start, a.begins, a.samples if a.sampled else 0, READING
        how += ((self.words,) if self.words else ()) + ((NAMING, a.thinks) if a.sampled else ())
        self.fingerprint = hashlib.sha256(f"openai {address.name} {self.probed.model} {how}".encode()).hexdigest()[:32]

    @property
    def about(self) -> dict[str, object]:
        a = self.ability
        facts: dict[str, object] = {
            "source": f"openai:{self.name}",
            "server": self.client.address.base_url,
            "answered_by": self.probed.model,
            "gives": f"{a.kind}: {KINDS[a.kind]}",
            "start": a.start or ("the server's own" if a.begins else "none"),
            "concurrency": self.client.concurrency,
        }
        if not math.isnan(self.probed.disagreement):
            facts["two_askings_differ_by"] = round(self.probed.disagreement, 6)
        if not a.warm:
            facts["temperature"] = "the model's own, 1 by OpenAI's documentation: it refuses another"
        if a.sampled:
            facts |= {"samples": a.samples, "unclear": self.unclear}
        return facts

    def spend(self) -> Counter[str]:
        """The requests since the last call, and the tokens, if the server counts them."""
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
        """The question in the form in which it is asked: NLI is a choice among three words or their letters."""
        if not isinstance(question, Entail) or not self.words:
            return question
        return as_choice(question, self.words, "total" if self.ability.whole else "letters")

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        by_number = dict(self.answers(questions))
        return [by_number[number] for number in range(len(questions))]

    def answers(self, questions: Sequence[Question]) -> Iterator[tuple[int, Answer]]:
        """The number of each question and its answer, as replies come."""
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
        received: dict[Request, Reply] = {}
        distinct = list(waiting)
        log.info(f"{len(questions):,} questions, {len(distinct):,} requests to {self.client.address.base_url}.")
        with part("Asking", "requests", len(distinct)) as bar:
            for request, reply in self._replies(distinct):
                bar.update()
                received[request] = reply
                for number in waiting[request]:
                    if all(needed in received for needed in needs[number]):
                        asked = self._as_asked(questions[number])
                        replied = [received[request] for request in needs[number]]
                        answer = check_answer(asked, asking.answer(asked, self.ability, replied))
                        self.unclear += answer.note.startswith(UNCLEAR)
                        if asked is not questions[number] and not answer.note:
                            answer = Answer(normalise_logps([(logp,) for logp in answer.logps]))
                        yield number, answer

    def _try_settings(self, question: Write) -> None:
        """Send one short request with `UNTRUNCATED` settings, and stop using them if the server refuses."""
        if self.ability.untruncated and not self.cannot(question):
            short = asking.writing(replace(question, longest=1), self.ability, self.name)
            reply = self.client.one(short)
            if isinstance(reply, Refused) and not reply.too_long:
                self.ability = replace(self.ability, untruncated=False)
                log.info("The server may exclude unlikely tokens when it writes: it refuses top_k and min_p.")

    def _replies(self, requests: Sequence[Request]) -> Iterator[tuple[Request, Reply]]:
        """Each request with its reply, as replies come. Between them, checks the reference at random places."""
        self.client.pace.start(len(requests))
        for start, stop in pairwise((0, *(_places(requests) if self.reference else {len(requests)}))):
            some = requests[start:stop]
            for place, reply in self.client.all(some):
                model = replies.model(reply)
                if model and model != self.probed.model:
                    raise ModelError(
                        f"Another model answers now: '{model}', not '{self.probed.model}'. Answers so far are kept. "
                        "Measure each of the two by its own name."
                    )
                yield some[place], reply
            self._check_reference()

    def _check_reference(self) -> None:
        for question, before in self.reference.items():
            now = Answer(tuple(reference_answer(self.client, question, self.ability)))
            if not (far := largest_difference(before, now)) <= self.tolerance:
                change = f"differs by {far:.2g} nats from" if far < math.inf else "cannot be compared with"
                raise ServerChanged(
                    f"The numbers of '{self.name}' have changed: its answer to the reference question {change} "
                    f"the answer at the start. The last answers, at most {CHECKED_EVERY:,}, are discarded. Check "
                    "what happened to the server, and run the same command again."
                )
        self.good += 1

    def likeliest(self, texts: Sequence[str]) -> list[str]:
        """The likeliest token after each text, or in a chat, if the server lists next tokens only there."""
        top = self.ability.next or self.ability.chat_next
        prompts = [Choose(text, ("a", "b"), chat=not self.ability.next) for text in texts]
        requests = [asking.next_token_request(prompt, self.ability, self.name, top) for prompt in prompts]
        tops = {place: replies.likeliest(reply) for place, reply in self.client.all(requests)}
        return [max(tops[n], key=lambda pair: pair[1], default=("", 0.0))[0] for n in range(len(texts))]


def _places(requests: Sequence[Request]) -> list[int]:
    """After how many requests the reference is asked again: somewhere in each of equal parts, and at the end."""
    n, chance = len(requests), random.Random(repr(requests[:1]))
    parts = max(OFTEN, -(-2 * n // CHECKED_EVERY)) if n >= 2 * OFTEN else 0
    return sorted({n, *(chance.randint(part * n // parts + 1, (part + 1) * n // parts) for part in range(parts))} - {0})


def unchecked_finding(why: str) -> Finding:
    """The finding that the model's head and language could not be checked."""
    says = f"head and language ({why})."
    return Finding(UNCHECKED, CAREFUL, says, "Look at some of its answers yourself.")


def check_language(language: str, likeliest: Callable[[Sequence[str]], Sequence[str]], *, chat: bool) -> Finding:
    """A finding on how many plain beginnings the model continues with the expected word or its first token.

    `likeliest` gives the likeliest token after each text. A reply in a chat may also repeat the text, so its first word
    is accepted too.
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
