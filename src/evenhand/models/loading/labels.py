"""The three labels of natural language inference, and which output of a classifier stands for which."""

from collections.abc import Mapping, Sequence

from evenhand.errors import BadInput, UnfitModel

LABELS = ("entailment", "neutral", "contradiction")
"""In the order in which `Entail` is answered."""
STEMS = {"entail": "entailment", "neutral": "neutral", "contradict": "contradiction"}
SHORTEST = 3  # letters of an abbreviation: ent, neu, con
NEXT = "Say what its outputs stand for, in their order: --labels entailment,neutral,contradiction"


def order(model: str, names: Mapping[int, str], given: str | Sequence[str] = ()) -> tuple[int, int, int]:
    """Which of the model's outputs are entailment, neutral and contradiction.

    `names` are those of its configuration, by output; `given` is what the user says they are, in the order of the
    outputs. A configuration that says otherwise is not overruled: one of the two is wrong, and a number would hide it.
    """
    outputs = [names[i] for i in sorted(names)]
    if len(outputs) != len(LABELS):
        raise UnfitModel(
            f"Model '{model}' is a classifier of {len(outputs)} labels ({_some(outputs)}). A model of natural language "
            f"inference has three: {', '.join(LABELS)}. Use one that was fine-tuned on SNLI, MNLI or the like.",
            check="labels",
        )
    found = _found(outputs)
    wanted = _given(given) if given else None
    if found is None and wanted is None:
        raise UnfitModel(
            f"The three labels of '{model}' are called {', '.join(outputs)}, which does not tell entailment, neutral "
            f"and contradiction. {NEXT}",
            check="labels",
        )
    if found and wanted and found != wanted:
        raise BadInput(
            f"'{model}' names its labels itself: {', '.join(outputs)}. Got labels in another order: "
            f"{', '.join(wanted)}. Leave them out, or put id2label in its config.json right."
        )
    known = wanted or found or []
    entailment, neutral, contradiction = (known.index(label) for label in LABELS)
    return entailment, neutral, contradiction


def _given(given: str | Sequence[str]) -> list[str]:
    names = given.split(",") if isinstance(given, str) else list(given)
    found = _found(names)
    if found is None:
        raise BadInput(f"labels must name {', '.join(LABELS)}, each once, in any order. Got '{','.join(names)}'.")
    return found


def _found(names: Sequence[str]) -> list[str] | None:
    """The label each of the names stands for; None where one is not understood or two are the same."""
    labels = [_label(name) for name in names]
    return [label for label in labels if label] if set(labels) == set(LABELS) and len(labels) == 3 else None


def _label(name: str) -> str | None:
    """By stem (ENTAILMENT, entails, contradictory) or by a beginning of three letters or more (neu, contra)."""
    letters = name.strip().lower()
    for stem, label in STEMS.items():
        if letters.startswith(stem) or (len(letters) >= SHORTEST and label.startswith(letters)):
            return label
    return None


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")
