"""The three labels of natural language inference (NLI), and which output of a classifier means which."""

from collections.abc import Mapping, Sequence

from evenhand.errors import BadInput, UnfitModel

LABELS = ("entailment", "neutral", "contradiction")
"""In the order in which `Entail` is answered."""
STEMS = {"entail": "entailment", "neutral": "neutral", "contradict": "contradiction"}
SHORTEST = 3  # letters of an abbreviation: ent, neu, con
Labels = str | Sequence[str]
NLI_HEAD = "classifier", "fine-tuned on natural language inference"


def order(model: str, names: Mapping[int, str], given: Labels = ()) -> tuple[int, int, int]:
    """Which of the model's outputs are entailment, neutral and contradiction.

    `names` are those of its configuration, by output; `given` are the user's, in the order of the outputs. A
    configuration that contradicts the user is an error: one of the two is wrong, and a number would hide it.
    """
    outputs = [names[i] for i in sorted(names)]
    if len(outputs) != len(LABELS):
        shown = ", ".join(outputs[:4]) + (", ..." if len(outputs) > 4 else "")
        raise UnfitModel(
            f"Model '{model}' is a classifier of {len(outputs)} labels ({shown}). An NLI classifier has three: "
            f"{', '.join(LABELS)}. Use one that was fine-tuned on SNLI, MNLI or the like.",
            check="labels",
        )
    named = _meanings(outputs)
    users = given.split(",") if isinstance(given, str) else list(given)
    known = _meanings(users) if given else named
    if known is None and given:
        raise BadInput(f"`labels` must name {', '.join(LABELS)}, each once, in any order. Got '{','.join(users)}'.")
    if known is None:
        raise UnfitModel(
            f"The three labels of '{model}' are called {', '.join(outputs)}, which does not tell entailment, neutral "
            "and contradiction. Say what its outputs mean, in order: `labels='entailment,neutral,contradiction'`",
            check="labels",
        )
    if named and named != known:
        raise BadInput(
            f"The configuration of '{model}' names its labels: {', '.join(outputs)}. Got `labels` in another order: "
            f"{', '.join(known)}. Leave them out, or correct id2label in its config.json."
        )
    entailment, neutral, contradiction = (known.index(label) for label in LABELS)
    return entailment, neutral, contradiction


def _meanings(names: Sequence[str]) -> list[str] | None:
    """The label that each name means; None where one is not understood or two are the same."""
    labels = [_label(name) for name in names]
    return [label for label in labels if label] if set(labels) == set(LABELS) and len(labels) == 3 else None


def _label(name: str) -> str | None:
    """The label with this stem (ENTAILMENT, entails, contradictory) or abbreviation (neu, contra)."""
    letters = name.strip().lower()
    for stem, label in STEMS.items():
        if letters.startswith(stem) or (len(letters) >= SHORTEST and label.startswith(letters)):
            return label
    return None
