"""How a model is asked choices and texts, which can be asked in several ways. Two ways of asking are two models."""

import hashlib
import json
import math
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.core.files import public_path, read_given
from evenhand.core.typed import as_typed, check_fields
from evenhand.errors import BadInput, shorten

PLAIN: Mapping[str, Any] = {"chat": False, "system": "", "temperature": 1.0}
"""The options of datasets and measures that say how a model is asked, not what, with their defaults."""
LONGEST = 30
"""The most characters of a system prompt in a model's name. A longer one is cut, and followed by its hash."""


@dataclass(frozen=True, slots=True)
class Way:
    """In chats or plainly, with which system prompt, and at which temperature texts are drawn.

    A field is None if nothing that was asked depends on it, or if it is not known, as of imported scores. `file` is the
    file of the system prompt, if it is from one. The chat template is not a field: it is in the model's fingerprint.
    """

    chat: bool | None = None
    system: str | None = None
    temperature: float | None = None
    file: str = ""

    def __post_init__(self) -> None:
        check_fields(self)
        if not math.isfinite(self.temperature or 0):
            raise BadInput(f"`temperature` must be a finite number. Got {self.temperature}.")

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> "Way":
        """The way that options ask for; `system` is a text, or the Path of a file."""
        system = options.get("system")
        if isinstance(system, str) and os.path.isfile(system):  # noqa: PTH113 - a long text is no error there
            raise BadInput(f"`system` is the text of a system prompt, and '{system}' is a file. Give its Path.")
        file = system if isinstance(system, Path) else None
        if file and not (system := read_given(file, str.strip, "The system prompt", "Give a UTF-8 text file.")):
            raise BadInput(f"The system prompt '{file}' is empty. Write one into the file, or leave out `system`.")
        given = {name: options[name] for name in PLAIN if options.get(name) is not None} | {"system": system}
        typed = {name: as_typed(name, value, type(PLAIN[name])) for name, value in given.items()}
        return cls(**typed, file=public_path(file) if file else "")

    @property
    def options(self) -> dict[str, Any]:
        """The fields that are known, as options of datasets and measures."""
        return {name: value for name in PLAIN if (value := getattr(self, name)) is not None}

    def select(self, names: Collection[str]) -> dict[str, Any]:
        """The options of which a dataset or a measure, whose options have these `names`, has one."""
        return {name: value for name, value in self.options.items() if name in names}

    def words(self, *, in_chats: bool) -> str:
        """What is added to the model's name: nothing for what is usual, which for a server is `in_chats`."""
        marks = [] if self.chat in (None, in_chats) else ["chat" if self.chat else "plain prompts"]
        if self.system:
            text = " ".join(self.system.split())
            cut = f"{text[:LONGEST]}… {hashlib.sha256(self.system.encode()).hexdigest()[:8]}"
            named = f"from {Path(self.file).name}" if self.file else f"“{text if len(text) <= LONGEST else cut}”"
            marks.append(f"system prompt {named}")
        marks += [f"temperature {self.temperature:g}"] if self.temperature not in (None, 1) else []
        return "".join(f", {mark}" for mark in marks)

    def description(self, *fields: str) -> str:
        """How the model is asked, in words; of these fields, or of all that are known."""
        prompt, file = shorten(self.system or ""), f" ({self.file})" if self.file else ""
        known = {
            "chat": "in chats" if self.chat else "with plain prompts",
            "system": f"with the system prompt '{prompt}'{file}" if prompt else "without a system prompt",
            "temperature": f"at temperature {self.temperature}",
        }
        return ", ".join(known[name] for name in fields or self.options)

    def differences(self, other: "Way") -> list[str]:
        """The fields in which the two ways contradict one another."""
        return [name for name, value in self.options.items() if other.options.get(name, value) != value]

    def join(self, other: "Way") -> "Way":
        """What is known of either way. They must not contradict one another."""
        return Way(**{**self.options, **other.options}, file=other.file or self.file)

    def identity(self, fingerprint: str) -> dict[str, Any]:
        """The fields of a run's record for a model with this fingerprint, asked in this way."""
        changed = {name: value for name, value in self.options.items() if value != PLAIN[name]}
        of_both = hashlib.sha256(f"{fingerprint} {json.dumps(changed, sort_keys=True)}".encode()).hexdigest()[:32]
        return {"fingerprint": of_both if changed else fingerprint, "weights": fingerprint, "asked": self}


UNASKED = Way()
"""The way of a model that was asked nothing that depends on it."""
