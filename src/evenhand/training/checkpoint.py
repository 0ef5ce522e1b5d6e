"""What training writes to a folder: checkpoints on the way, a model at the end."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import torch
from safetensors import SafetensorError

from evenhand.core.files import write_whole
from evenhand.errors import RunError
from evenhand.models.loading.checkpoint import quiet

log = logging.getLogger(__name__)

CHECKPOINT = ".checkpoint.pt"
CARD = "README.md"


@dataclass(frozen=True)
class Saved:
    """The state of a training, in a file: all that the next step depends on."""

    path: Path
    made_of: str
    parts: Mapping[str, Any]
    """Network, optimizer and schedule, by name."""

    def save(self, losses: Sequence[float]) -> None:
        states = {name: part.state_dict() for name, part in self.parts.items()}
        state = {"made_of": self.made_of, **states, "losses": list(losses)}

        def fill(file: IO[bytes]) -> None:
            try:
                torch.save(state, file)
            except RuntimeError as error:  # what torch makes of an OSError
                raise OSError(f"the disk may be full ({error})") from error

        write_whole(self.path, fill)

    def resume(self) -> list[float]:
        """Load the state, and give the losses so far; none without a checkpoint of the same base, texts and recipe."""
        if not self.path.exists():
            return []
        try:
            state = torch.load(self.path, map_location="cpu", weights_only=True)
        except Exception:  # a broken file can raise anything
            log.warning(f"The checkpoint '{self.path}' cannot be read. Starting over.")
            return []
        if state["made_of"] != self.made_of:
            log.warning(f"The checkpoint '{self.path}' is of another model, text or recipe. Starting over.")
            return []
        for name, part in self.parts.items():
            part.load_state_dict(state[name])
        log.info(f"Resuming from step {len(state['losses']):,}.")
        return list(state["losses"])


def is_finished(out: Path) -> bool:
    """Whether a training in `out` has ended: the card is written after the weights, then the checkpoint is deleted."""
    return (out / CARD).is_file() and not (out / CHECKPOINT).exists()


def write_model(out: Path, network: Any, tokenizer: Any, card: str) -> None:
    """Write weights, tokenizer and card, then delete the checkpoint: see `is_finished`."""
    try:
        with quiet():
            network.save_pretrained(out)
            tokenizer.save_pretrained(out)
    except (OSError, SafetensorError) as error:
        raise RunError(
            f"The model cannot be written to '{out}': {error}. Free some space and run the same command again: the "
            "training is kept."
        ) from error
    write_whole(out / CARD, lambda file: file.write(card.encode()))
    (out / CHECKPOINT).unlink(missing_ok=True)
