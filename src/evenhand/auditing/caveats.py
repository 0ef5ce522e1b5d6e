"""How the values of a causal model must be read."""

from collections.abc import Sequence

from evenhand.core.items import Choice, NliPair
from evenhand.core.loop import Task

CAUSAL = [
    "A causal model: association and pronouns compare whole sentences among candidates, and a likelihood is that of "
    "each word after those before it. Its values are not comparable with a masked model's.",
    "Not measured: log-probability-bias where the attribute precedes the blank, as in tbd; inference, unless words for "
    "its labels are given: `suite='nli'` with `labels='True,Neither,False'`",
]
CHOICES = [
    "A causal model: an answer is the likeliest of a question's options, by their letters unless an option says so."
]
CAUSAL_INFERENCE = [
    "A causal model: a label is the likeliest of three words after a question. Its values are not comparable with an "
    "NLI classifier's."
]


def caveats(kind: str, measured: Sequence[Task]) -> list[str]:
    """How the values of these tasks must be read if the model is causal; empty for other models."""
    if kind != "causal":
        return []
    kinds = {type(task.dataset.items[0]) for task in measured}
    told = {NliPair: CAUSAL_INFERENCE, Choice: CHOICES}
    return [line for kind in told if kind in kinds for line in told[kind]] + (CAUSAL if kinds - set(told) else [])
