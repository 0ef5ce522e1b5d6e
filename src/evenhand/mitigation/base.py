"""The contract of a debiasing method, and a base class for methods that only change a model's answers."""

import hashlib
import json
from collections.abc import Sequence
from inspect import signature
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd

from evenhand.core.model import Model, TokenCounter, about, check_model, kind_of
from evenhand.core.questions import Answer, Question
from evenhand.datasets.corpora.texts import documents
from evenhand.errors import BadInput
from evenhand.models.base import Selective, SelfChecked

PAST_ANSWER = ("plan", "stream", "answers", "ask", "cast", "exact", "reference", "tolerance", "good")
"""Attributes that give a model's numbers without calling its `answer`: see models/base."""
KEPT = {"count_tokens": TokenCounter, "cannot": Selective, "findings": SelfChecked}
"""Abilities that a wrapped model keeps. From Python 3.12 on isinstance does not ask __getattr__."""


class Mitigation:
    """A debiasing method: `apply` gives the debiased model, which `evenhand.debias` then measures.

    A subclass has a `name` and `apply`. Its options are the parameters of its constructor, JSON-able and kept under
    their names, as a dataclass does.
    """

    name: ClassVar[str]
    needs_texts: ClassVar[bool] = False
    """Whether the method learns from texts. If not, no corpus is read, and `apply` gets no texts."""
    trains: ClassVar[bool] = False
    """Whether the method trains a checkpoint. If so, `apply` gets its name or folder, as the user gave it, in every
    process that a launcher (torchrun) started. If not, `apply` gets the loaded model, or the object that was given."""

    def apply(self, model: Any, texts: Sequence[str], out: Path) -> Model | str | Path:
        """The debiased model: an object, such as a `Wrapper`, or the folder of a checkpoint, if possible `out`.

        It is called again when an interrupted debiasing is resumed, so slow results should be stored in `out`.
        """
        raise NotImplementedError

    def check(self, model: Model) -> None:
        """Raise an error if the method cannot debias this model. It is called before anything is measured."""

    def texts_of(self, corpus: str) -> Sequence[str]:
        """The texts passed to `apply`: the documents of the corpus, unless a method derives other texts from them."""
        return list(documents(corpus)) if self.needs_texts else ()

    def made_of(self, texts: Sequence[str]) -> tuple[object, ...]:
        """All that the debiased model depends on, besides the base model: a change starts another debiasing."""
        return self.name, json.dumps(self.options), list(texts)

    @property
    def options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in signature(type(self)).parameters}

    @property
    def record(self) -> dict[str, Any]:
        """What was done, for debias.json; read after `apply`."""
        return {"method": self.name, "options": self.options}

    @property
    def balance(self) -> pd.DataFrame:
        """Gendered words of the texts before and after; no rows unless the method changes texts."""
        return pd.DataFrame(columns=["corpus", "female", "male", "share"])

    def says(self, corpus: str) -> str:
        """What was done, for the card of the new model."""
        return f"Method: {self}{f', on {corpus}' if self.needs_texts else ''}."

    def __str__(self) -> str:
        options = ", ".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.name} ({options})" if options else self.name


class Wrapper:
    """A model whose answers a method changes: a subclass overrides `answer`, and asks `self.model`.

    Other attributes are those of the wrapped model, except methods that give its numbers without `answer`: to plan
    batches, a subclass defines its own `plan` and `stream`. The fingerprint is a hash of the model's fingerprint, the
    method with its options, and `made_of`: anything else that answers depend on, such as a fitted projection.
    """

    def __init__(self, model: Model, method: Mitigation, made_of: object = None) -> None:
        check_model(model)
        if not isinstance(method, Mitigation):
            raise BadInput(f"`method` of a Wrapper must be an evenhand.Mitigation. Got {method!r}.")
        self.model, self.method = model, method
        self.name, self.kind = model.name, kind_of(model)
        parts = json.dumps([model.fingerprint, method.name, method.options, made_of], default=_as_lists)
        self.fingerprint = hashlib.sha256(parts.encode()).hexdigest()[:32]
        for ability, protocol in KEPT.items():
            if isinstance(model, protocol) and not hasattr(type(self), ability):
                setattr(self, ability, getattr(model, ability))

    def answer(self, questions: Sequence[Question]) -> Sequence[Answer]:
        return self.model.answer(questions)

    @property
    def about(self) -> dict[str, Any]:
        known = about(self.model)
        return {**known, "mitigation": ", ".join(filter(None, (known.get("mitigation"), str(self.method))))}

    def __getattr__(self, name: str) -> Any:
        if name in (*PAST_ANSWER, "model") or name.startswith("__"):
            raise AttributeError(f"A {type(self).__name__} has no '{name}'.")
        return getattr(self.model, name)


def _as_lists(made_of: Any) -> Any:
    """An array as lists, so that a fitted projection is part of a fingerprint."""
    if hasattr(made_of, "tolist"):
        return made_of.tolist()
    raise BadInput(f"`made_of` must be numbers, texts, lists, dicts of these, or an array. Got {made_of!r}.")
