"""The inputs of BEC-Pro's released code, faults included: only for comparing our numbers with theirs."""

import re
from collections.abc import Iterable, Iterator, Sequence

from evenhand.core.questions import Answer, Fill, Question
from evenhand.errors import UnfitModel
from evenhand.models.networks.masked import MaskedLM
from evenhand.models.planning.plan import Batch, Ids, Plan, Read, Reading, Values
from evenhand.models.planning.running import work_through
from evenhand.models.planning.tokens import TOO_LONG, UNKNOWN

LENGTH = 16  # the next power of two of the longest sentence in words, not in tokens


class AsReleased:
    """Wraps a model: turns a `Fill` into the input that the code of Bartl et al. (2020) makes of it.

    Words to mask are searched for in the sentence, so other matches are masked too ("lodging [MASK]ager"). There is one
    mask per word. Every input is cut or padded to 16 tokens, padded with [MASK], and the padding is attended to. The
    first mask is taken for the target, and the token there in the unmasked sentence for its word.
    """

    def __init__(self, model: MaskedLM) -> None:
        self.model = model
        self.name = f"{model.name}--as-released"
        self.fingerprint = f"{model.fingerprint}-as-released"
        self.about = {**model.about, "inputs": "as released by Bartl et al. 2020"}

    def answer(self, questions: Sequence[Question]) -> list[Answer]:
        """One answer for each question, in order."""
        return work_through(self.plan(questions), self.stream)

    def plan(self, questions: Sequence[Question]) -> Plan:
        """The batches that answer these questions."""
        pairs = []
        for question in questions:
            if not isinstance(question, Fill):
                raise UnfitModel("The released code of Bartl et al. 2020 answers only questions about blanks.")
            pairs.append((question.text, masked_text(question, self.model.tokenizer.mask_token)))
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        ids = dict(zip(texts, self._ids(texts), strict=True))
        return Plan([self._reading(ids[plain], ids[masked]) for plain, masked in pairs], self.model.limit)

    def stream(self, batches: Sequence[tuple[int, Batch]]) -> Iterable[tuple[int, Values]]:
        """The values of each batch; inputs all have one length, so nothing else is padded."""
        return self.model.stream(batches)

    def _reading(self, plain: Ids, masked: Ids) -> Reading:
        tokenizer = self.model.tokenizer
        if tokenizer.unk_token_id in plain:
            return Reading(note=UNKNOWN)
        if tokenizer.mask_token_id not in masked:  # the target was cut off
            return Reading(note=TOO_LONG)
        first = masked.index(tokenizer.mask_token_id)
        return Reading((Read(masked, ((first, plain[first]),)),))

    def _ids(self, texts: Sequence[str]) -> Iterator[Ids]:
        tokenizer = self.model.tokenizer
        for ids in tokenizer(list(texts))["input_ids"] if texts else ():
            yield (*ids[:LENGTH], *[tokenizer.mask_token_id] * (LENGTH - len(ids)))


def masked_text(question: Fill, mask: str = "[MASK]") -> str:
    """The sentence as in the released columns Sent_TM (nothing hidden) and Sent_TAM."""
    # A target is found at the start of words too; inside words ("mason") the author corrected it by hand.
    text = re.sub(rf"\b{re.escape(question.answer)}", mask, question.text)
    for span in question.hidden:
        for word in span.of(question.text).split():
            text = re.sub(rf"\b{re.escape(word)}(?!\w)", mask, text)
    return text
