"""Find out with a few requests what a server can be asked, and raise an error if its numbers would be meaningless."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from evenhand.core.model import CAREFUL, FINE, Verdict
from evenhand.core.questions import Answer, Choose, Likelihood, Question, Span
from evenhand.errors import ModelError, UnfitModel
from evenhand.models.planning.tokens import Unanswerable
from evenhand.models.served import asking, replies
from evenhand.models.served.asking import KINDS, Ability
from evenhand.models.served.client import Client, Refused, Reply, Request
from evenhand.models.served.connection import DEFAULT_URL
from evenhand.models.served.options import FEWEST
from evenhand.models.served.replies import Token

TEXT = "Monday, Tuesday, Wednesday, Thursday, Friday"
FIRST = (Span(0, TEXT.index(" ")),)
"""The first word of the text, which has no log-probability if the server adds no start token."""
LONG = "The nurse said that she was tired, and the engineer said that he was late. " * 8
STARTS = ("<|endoftext|>", "<|begin_of_text|>", "<s>", "<bos>", "<|startoftext|>")
"""Start tokens of well-known models."""
TOPS = (20, 5)
"""The numbers of likeliest tokens that are asked for in turn: some servers allow 20, others 5."""
ASKED = Choose("Which letter comes first?", ("The letter A", "The letter B"), by="letters", chat=True)
REFERENCE = Choose(f"The two likeliest tokens after: {TEXT}", ("first", "second"))
"""The key of the reference answer if the server gives no numbers for whole texts. It is never sent as a question."""
TEMPLATED = 4
"""If a prompt of one letter has more tokens than this, it is in a chat template (as in Ollama's completions)."""
CLOSE = 0.05
"""The difference in nats that half precision and batching may make to the same log-probability."""
Z2 = 1.959964**2  # the square of the 97.5 % quantile of the normal distribution
FAR = 0.5
"""The difference in nats between two answers to the same question from which the numbers are meaningless."""


class Probe:
    """Sends a few requests when created, to learn which model answers, what it can be asked, and its reference."""

    def __init__(self, client: Client, samples: int) -> None:
        self.client = client
        self.name = client.address.name
        self.model = ""
        """The name of the model that answers; empty if the server does not name it."""
        self.remarks: list[tuple[str, Verdict, str, str]] = []
        """The findings: check, verdict, what the check says, what to do."""
        self._check_listed()
        ability = self._next(Ability(samples=samples))
        self.ability = self._chat(self._whole(self._start_token(ability)) if ability.text else ability)
        if not (self.ability.text or self.ability.chat_text):
            raise UnfitModel(
                f"The server at {client.address.base_url} answers neither completions nor chats for "
                f"'{self.name}'. Is it a model for embeddings?",
                check="server",
            )
        self._remark("server", FINE if self.ability.whole else CAREFUL, *_describe(self.ability))
        self.disagreement, self.reference = self._ask_twice(self.ability)
        """The largest difference of two answers in nats, NaN if the server gives only text; and the first answer."""

    def _remark(self, check: str, verdict: Verdict, says: str, do: str = "") -> None:
        self.remarks.append((check, verdict, says, do))

    def _send(self, path: str, **body: object) -> Reply:
        """The reply. Raises an error if another model answers; the name may be followed by a date or a revision."""
        reply = self.client.one(Request.of(path, model=self.name, **body))
        if isinstance(reply, Refused):
            if reply.status == 404 and "model" in reply.says.lower():
                raise self.client.no_model(reply.says)
            return reply
        model = replies.model(reply)
        ours = f"{model}@".startswith((f"{self.name}-", f"{self.name}@")) or self.name.endswith(f"/{model}")
        if model and not ours:
            raise self.client.no_model(f"'{model}' answers in its place: use openai:{model}.")
        if self.model and model != self.model:
            raise ModelError(f"Two models answer to the name '{self.name}': '{self.model}' and '{model}'.")
        self.model = model
        return reply

    def _complete(self, prompt: str, **body: object) -> Reply:
        return self._send("completions", **{"prompt": prompt, "max_tokens": 1, "temperature": 1, **body})

    def _count(self, prompt: str) -> int:
        return replies.prompt_tokens(self._complete(prompt))

    def _check_listed(self) -> None:
        """Raise an error if the server lists its models, and the list does not have the name of ours."""
        reply = self.client.one(Request("models"))
        if isinstance(reply, Refused):
            if reply.status == 404 and not self.client.address.base_url.endswith("/v1"):
                base = self.client.address.base_url
                raise ModelError(f"{base}/models does not exist (404). Did you mean `base_url='{base}/v1'`?")
            return
        names = replies.names(reply)
        if names and self.name not in names:
            raise self.client.no_model(f"It has: {', '.join(names[:8])}.")

    def _next(self, ability: Ability) -> Ability:
        """The ability, with whether completions are answered, and how many of the likeliest tokens they list."""
        for top in TOPS:
            reply = self._complete(TEXT, logprobs=top)
            if isinstance(reply, Refused):
                continue
            density = replies.prompt_tokens(reply) / len(TEXT)
            ability = replace(ability, text=True, next=self._count_listed(top, reply), density=density)
            self._check_logps(replies.reported_tokens(reply))
            break
        else:
            ability = replace(ability, text=not isinstance(self._complete(TEXT), Refused))
        if ability.density and self._count("a") > TEMPLATED:
            says = "Prompts of completions are put into a chat template: they are not used, chats are."
            self._remark("completions", CAREFUL, says)
            return Ability(samples=ability.samples)
        if ability.next:
            self._check_sampling(ability)
        if ability.density:
            self._check_cuts(ability)
        return ability

    def _count_listed(self, top: int, reply: Reply) -> int:
        """The number of likeliest tokens that the reply lists; 0 if they are too few to compare options."""
        count = min(top, len(replies.likeliest(reply)))
        if 0 < count < FEWEST:
            says = f"Of the {top} likeliest tokens asked for it lists {count}, too few to compare options: not used."
            self._remark("next tokens", CAREFUL, says)
        return count if count >= FEWEST else 0

    def _check_logps(self, tokens: Sequence[Token]) -> None:
        """Raise an error unless these are natural logarithms of probabilities: in sum at most 1, and not all 1."""
        try:
            replies.check_numbers([token.logp for token in tokens], tokens)
        except Unanswerable as wrong:
            raise UnfitModel(
                f"The server's numbers are not natural logarithms of probabilities: {wrong}. Turn logprobs on. Some "
                "servers give 0 throughout, or logarithms to the base 10.",
                check="numbers",
            ) from None

    def _check_sampling(self, ability: Ability) -> None:
        """Add a remark if settings of sampling change the log-probabilities. We ask for them without such settings."""
        plain = self._complete(TEXT, logprobs=ability.next)
        settings = {"temperature": 0.3, "presence_penalty": 1.5, "frequency_penalty": 1.5}
        moved = self._complete(TEXT, logprobs=ability.next, **settings)
        if isinstance(plain, Refused) or isinstance(moved, Refused):
            return
        before, after = (dict(replies.likeliest(reply)) for reply in (plain, moved))
        if max((abs(before[text] - after[text]) for text in before.keys() & after.keys()), default=math.inf) > CLOSE:
            self._remark(
                "numbers", "careful", "Temperature or penalties change the server's log-probabilities.",
                "They are asked for at temperature 1 and without penalties; see that the server adds none of its own.",
            )  # fmt: skip

    def _check_cuts(self, ability: Ability) -> None:
        reply = self._complete(LONG)
        if isinstance(reply, Refused):
            self._remark("length", "careful", f"A prompt of {len(LONG)} characters is refused: '{reply.says}'.")
        elif 0 < replies.prompt_tokens(reply) < ability.density * len(LONG) / 3:
            raise UnfitModel(
                f"The server cuts prompts: of {len(LONG)} characters it has read {replies.prompt_tokens(reply)} "
                "tokens. Start it with a longer context.",
                check="length",
            )

    def _start_token(self, ability: Ability) -> Ability:
        """The ability, with whether a start token comes before a prompt: the prompt "a" then has 2 tokens, else 1."""
        alone = self._count("a") if ability.density else 0
        if alone > 2:
            raise UnfitModel(
                f"The server makes {alone} tokens of the prompt 'a': its start token is there twice. Does its template "
                "or its tokenizer add a second one?",
                check="start token",
            )
        if alone == 2:
            return replace(ability, begins=True)
        for start in STARTS if alone else ():
            if self._count(f"{start}a") == 2:
                return replace(ability, begins=True, start=start)
        self._remark("start token", CAREFUL, "No start token is known before a prompt: first tokens have no number.")
        return ability

    def _whole(self, ability: Ability) -> Ability:
        """The ability, with how the server gives log-probabilities of a prompt. Raises an error if they are wrong."""
        for option in ("echo", "prompt_logprobs"):
            tried = replace(ability, whole=option)
            reply = self.client.one(asking.whole(TEXT, tried, self.name))
            if isinstance(reply, Refused):
                continue
            tokens = replies.of_prompt(reply) if option == "prompt_logprobs" else replies.reported_tokens(reply)
            if len(tokens) < 3:
                continue  # the server ignored the option: the reply has only generated tokens
            return replace(tried, begins=self._check_echo(reply, tokens, tried))
        return ability

    def _check_echo(self, reply: Reply, tokens: Sequence[Token], ability: Ability) -> bool:
        """Whether a start token comes before the prompt. Raises an error if its tokens or numbers are wrong."""
        try:
            skip, _ = asking.align([token.text for token in tokens], TEXT)
            asking.tokens_of(reply, TEXT, ability)
        except Unanswerable:
            shown = self.client.address.redact("".join(token.text for token in tokens))[:80]
            raise UnfitModel(
                f"The server's tokens do not give the prompt back: '{shown}' for '{TEXT}'.", check="echo"
            ) from None
        if skip > 1:
            starts = ", ".join(repr(token.text) for token in tokens[:skip])
            raise UnfitModel(
                f"The server puts {skip} tokens before a prompt: {starts}. Make it add only one.", check="start token"
            )
        self._check_logps(tokens)
        lengths = [stop - start for start, stop in pairwise(replies.offsets(reply))]
        if any(length != len(token.text) for length, token in zip(lengths, tokens, strict=False)):
            raise UnfitModel("The text_offset of the server does not match the lengths of its tokens.", check="echo")
        if ability.next:
            self._check_shift(ability)
        return skip == 1

    def _check_shift(self, ability: Ability) -> None:
        """Raise an error unless a token has the same log-probability in a prompt and as the next token."""
        before = TEXT[: TEXT.rindex(" ")]
        listed = replies.likeliest(self._complete(ability.start + before, logprobs=ability.next))
        if not listed:
            return
        token, logp = max(listed, key=lambda pair: pair[1])
        reply = self.client.one(asking.whole(before + token, ability, self.name))
        try:
            tokenized, logps = asking.tokens_of(reply, before + token, ability)
            place = tokenized.positions[-1]
            start, _ = tokenized.encoding.offsets[place]
        except Unanswerable:
            return  # after this text, the token is split or merged, while the check of TEXT has passed
        same = logps[place] is not None and abs((logps[place] or 0.0) - logp) <= CLOSE
        if start == len(before) and not same:
            raise UnfitModel(
                f"The server's log-probabilities are not those of its tokens: {token!r} after '{before}' has "
                f"{logp:.3f} as the next token and {logps[place]} in the prompt. Are they shifted by one?",
                check="echo",
            )

    def _chat(self, ability: Ability) -> Ability:
        """The ability, with whether chats are answered, how many tokens they list, and whether the model thinks."""
        for top in (*TOPS, 0):
            reply, ability = self._reply_in_chat(ability, 1, **({"logprobs": True, "top_logprobs": top} if top else {}))
            if isinstance(reply, Refused):
                continue
            self._check_logps(replies.reported_tokens(reply))
            ability = replace(ability, chat_text=True, chat_next=self._count_listed(top, reply))
            break
        for tokens in (asking.REPLY_TOKENS, asking.THOUGHT_TOKENS) if ability.chat_text and not ability.thinks else ():
            reply, _ = self._reply_in_chat(ability, tokens)
            if isinstance(reply, Refused):
                break
            ability = replace(ability, thinks=replies.thinks(reply))
            if ability.thinks or not replies.is_cut(reply):  # a reply that was cut may consist of unmarked thoughts
                break
        if not ability.thinks:
            return ability
        says = "The model thinks before it replies: its chats are asked for text, each time with up to "
        says += f"{asking.THOUGHT_TOKENS:,} tokens for thoughts."
        self._remark("thoughts", CAREFUL, says, "Turn its thinking off in the server, if that is not what you measure.")
        return replace(ability, chat_next=0)

    def _reply_in_chat(self, ability: Ability, tokens: int, **options: object) -> tuple[Reply, Ability]:
        """A reply of at most this many tokens, and the ability changed until the server accepts the request."""
        while True:
            size = max(tokens, ability.thinks * asking.THOUGHT_TOKENS)
            reply = self._send("chat/completions", **asking.in_chat(ASKED, ability, size, **options))
            says = reply.says if isinstance(reply, Refused) else ""
            if "max_completion_tokens" in says and ability.limit == "max_tokens":
                ability = replace(ability, limit="max_completion_tokens")
            elif "limit was reached" in says and not ability.thinks:
                ability = replace(ability, thinks=True)
            elif "temperature" in says and ability.warm:
                if self.client.address.base_url != DEFAULT_URL and "default (1)" not in says:
                    wrong = f"The model cannot be asked at temperature 1, and its own temperature is unknown: '{says}'."
                    raise UnfitModel(f"{wrong} Choose another model.", check="temperature")
                note = "The model refuses a temperature. In chats it has its own, which is 1 by OpenAI's documentation."
                self._remark("temperature", CAREFUL, note)
                ability = replace(ability, warm=False)
            else:
                return reply, ability

    def _ask_twice(self, ability: Ability) -> tuple[float, dict[Question, Answer]]:
        """The difference between two answers to the reference question, and the question with its first answer."""
        if ability.kind == "c":
            return math.nan, {}
        question: Question = Likelihood(f"{TEXT}.", FIRST) if ability.whole else REFERENCE
        first, second = (reference_answer(self.client, question, ability) for _ in range(2))
        if not first or len(first) != len(second):
            counts = f"{len(first)} and then {len(second)} log-probabilities"
            raise UnfitModel(f"The server answered one question with {counts}. Turn logprobs on.", check="numbers")
        difference = max(abs(a - b) for a, b in zip(first, second, strict=True))
        if difference > FAR:
            raise UnfitModel(
                f"Two answers to the same question differ by {difference:.2f} nats: numbers are random.",
                check="numbers",
            )
        verdict = FINE if difference <= CLOSE else CAREFUL
        self._remark("two askings", verdict, f"The same question asked twice: {difference:.2g} nats apart at most.")
        return difference, {question: Answer(tuple(first))}


def _describe(ability: Ability) -> tuple[str, str]:
    """A finding about what the server gives: what it says, and what to do."""
    says = f"The server gives {KINDS[ability.kind]}."
    do = "" if ability.whole else "Choices can be asked, by letters, and texts; sentence pairs and pronouns cannot."
    if ability.kind == "b":
        most = max(ability.next, ability.chat_next)
        says += f" It lists the {most} likeliest next tokens, and none of a prompt (echo is ignored or refused)."
    if ability.sampled:
        half = math.sqrt(Z2 / (ability.samples + Z2)) / 2  # Wilson's
        says += f" {'Each question' if ability.kind == 'c' else 'In chats it gives text only, and each question'} is "
        says += f"asked {ability.samples} times: a share of 50 % has Wilson's interval of +-{half:.0%}."
        do = f"{do} `samples` asks more often.".strip()
    return says, do


def reference_answer(client: Client, question: Question, ability: Ability) -> Sequence[float]:
    """The log-probabilities that answer the reference question."""
    if ability.whole:
        received = [client.one(request) for request in asking.requests(question, ability, client.address.name)]
        return asking.answer(question, ability, received).logps
    prompt = Choose(TEXT, ("first", "second"), chat=not ability.next)
    reply = client.one(
        asking.next_token_request(prompt, ability, client.address.name, ability.next or ability.chat_next)
    )
    return sorted((logp for _, logp in replies.likeliest(reply)), reverse=True)[:2]
