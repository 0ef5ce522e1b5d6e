"""Exports of runs to other formats, one file for each format, made from the run folder alone."""

import inspect
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.core.files import check_new, prepare, write_whole
from evenhand.core.parameters import Export, describe
from evenhand.errors import BadInput, check_known
from evenhand.formats.bibtex import bibtex
from evenhand.formats.csv import csv
from evenhand.formats.eval_results import PLACE, eval_results
from evenhand.formats.every_eval_ever import every_eval_ever
from evenhand.formats.latex import latex
from evenhand.formats.model_card import insert_section, model_card
from evenhand.runs.folder import StoredRun

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Format:
    """The function that writes runs, the default name of the file, and whether a file can hold several runs."""

    write: Callable[..., str]
    file: str
    several: bool = False

    @property
    def options(self) -> list[str]:
        """The names of the function's parameters, except for the runs."""
        return list(inspect.signature(self.write).parameters)[1:]


FORMATS = {
    "bibtex": Format(bibtex, "evenhand.bib", several=True),
    "csv": Format(csv, "evenhand.csv", several=True),
    "eval-results": Format(eval_results, PLACE),
    "every-eval-ever": Format(every_eval_ever, "evenhand.json"),
    "latex": Format(latex, "evenhand.tex", several=True),
    "model-card": Format(model_card, "bias.md"),
}

AnyRun = StoredRun | str | Path


@describe(Export)
def export(
    runs: AnyRun | Sequence[AnyRun],
    to: str,
    *,
    out: str | Path | None = None,
    into: str | Path | None = None,
    force: bool = False,
    **options: Any,
) -> str:
    """The runs as text in the format `to`. The text is also written to the file or folder `out`, if this is given.

    For eval-results, `out` is a folder such as a model's repository, and the file is written to its .eval_results.
    `options` are the parameters of the format's function.
    """
    check_known("format", [to], FORMATS)
    chosen = FORMATS[to]
    check_known(f"option of format '{to}'", options, chosen.options)
    several = [runs] if isinstance(runs, StoredRun | str | Path) else runs
    loaded = [StoredRun.load(run) for run in several]
    if not loaded:
        raise BadInput("There is nothing to export, since `runs` is empty. Give at least one run folder.")
    if len(loaded) > 1 and not chosen.several:
        many = ", ".join(name for name, other in FORMATS.items() if other.several)
        raise BadInput(f"'{to}' takes one run. Got {len(loaded)}. Export them one by one, or choose from: {many}.")
    if into is not None:
        if to != "model-card" or out is not None:
            raise BadInput("`into` is for the format model-card, without `out`. Give one of them.")
        return _insert_into_card(Path(into).expanduser(), loaded)
    text = chosen.write(loaded, **options)
    if out is not None:
        path = Path(out).expanduser()
        path = path / chosen.file if path.is_dir() or chosen.file == PLACE else path
        check_new(path, force)
        prepare(path.parent)
        if path.is_dir():
            raise BadInput(f"'{path}' is a folder. Give the name of a file.")
        write_whole(path, lambda file: file.write(text.encode("utf-8", "replace")))
        log.info(f"Written: {path}")
    return text


def _insert_into_card(card: Path, runs: Sequence[StoredRun]) -> str:
    try:
        before = card.read_bytes()
    except OSError as error:
        raise BadInput(
            f"The model card '{card}' cannot be read: {error.strerror}. Give an existing card as `into`, or the path "
            "of a new file as `out`."
        ) from error
    # surrogateescape: bytes that are not UTF-8 are written back unchanged
    after = insert_section(before.decode("utf-8", "surrogateescape"), runs)
    if (encoded := after.encode("utf-8", "surrogateescape")) != before:
        write_whole(card, lambda file: file.write(encoded))
    return after
