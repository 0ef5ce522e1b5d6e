"""The three labels of natural language inference (NLI), and the outputs of a classifier that mean them."""

from collections.abc import Mapping, Sequence

from evenhand.errors import BadInput, UnfitModel

LABELS = ("entailment", "neutral", "contradiction")
"""The labels in the order of the numbers that answer an `Entail`."""
STEMS = {"entail": "entailment", "neutral": "neutral", "contradict": "contradiction"}
SHORTEST = 3  # the fewest letters of an abbreviation: ent, neu, con
Labels = str | Sequence[str]
NLI_HEAD = "classifier", "fine-tuned on natural language inference"


def order(model: str, names: Mapping[int, str], labels: Labels = ()) -> tuple[int, int, int]:
    """The indices of the model's outputs for entailment, neutral and contradiction.

    `names` are the names of the outputs in the model's configuration, `labels` those that the user gives, in the order
    of the outputs. If the two contradict each other, an error is raised, since no number would show which is wrong.
    """
    outputs = [names[i] for i in sorted(names)]
    if len(outputs) != len(LABELS):
        shown = ", ".join(outputs[:4]) + (", ..." if len(outputs) > 4 else "")
        raise UnfitModel(
            f"Model '{model}' is a classifier of {len(outputs)} labels ({shown}). An NLI classifier has three: "
            f"{', '.join(LABELS)}. Use a model that was fine-tuned on SNLI, MNLI or a similar dataset.",
            check="labels",
        )
    named = _meanings(outputs)
    users = labels.split(",") if isinstance(labels, str) else list(labels)
    known = _meanings(users) if labels else named
    if known is None and labels:
        raise BadInput(f"`labels` must name {', '.join(LABELS)}, each once, in any order. Got '{','.join(users)}'.")
    if known is None:
        raise UnfitModel(
            f"The three labels of '{model}' are called {', '.join(outputs)}, which does not tell entailment, neutral "
            "and contradiction apart. Give these three words in the order of its outputs: "
            "`labels='entailment,neutral,contradiction'`",
            check="labels",
        )
    if named and named != known:
        raise BadInput(
            f"The configuration of '{model}' names its labels: {', '.join(outputs)}. Got `labels` in another order: "
            f"{', '.join(known)}. Remove `labels`, or correct id2label in its config.json."
        )
    entailment, neutral, contradiction = (known.index(label) for label in LABELS)
    return entailment, neutral, contradiction


def _meanings(names: Sequence[str]) -> list[str] | None:
    """The label that each name means; None if a name means no label, or two names mean the same label."""
    labels = [_label(name) for name in names]
    return [label for label in labels if label] if set(labels) == set(LABELS) and len(labels) == 3 else None


def _label(name: str) -> str | None:
    """The label that a name means, by its stem (ENTAILMENT, entails, contradictory) or abbreviation (neu)."""
    letters = name.strip().lower()
    for stem, label in STEMS.items():
        if letters.startswith(stem) or (len(letters) >= SHORTEST and label.startswith(letters)):
            return label
    return None
