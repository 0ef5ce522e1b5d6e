"""Corpora that were counted under the served folder: `evenhand corpus --out`."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.core.files import read_parsed
from evenhand.errors import RunError
from evenhand.stats.estimate import Estimate
from evenhand.web.listing import Runs
from evenhand.web.showing import Page, safe_page

FILE, PAGE = "corpus.json", "report.html"


@dataclass(frozen=True, slots=True)
class ListedCorpora:
    """A folder of counted corpora as the list shows it; `why` is the reason if it cannot be opened."""

    id: str
    folder: str
    counted: str = ""
    lines: Sequence[dict[str, Any]] = ()
    """Each corpus: its name, how large it is, and the share of women among its gendered words."""
    why: str = ""


def list_corpora(runs: Runs) -> list[ListedCorpora]:
    """Every folder of corpora under the folder of the runs, the latest first."""
    return sorted((_listed(folder, runs) for folder in runs.folders({FILE})), key=lambda one: one.counted, reverse=True)


def open_corpora(id: str, runs: Runs) -> Page | None:
    """The page of the folder of this id; None if there is none, an error if it may not be shown."""
    if (folder := runs.find(id, {FILE})) is None:
        return None
    runs.check(folder)
    page = safe_page(folder / PAGE)
    if page is None:
        raise RunError(f"'{folder}' has no page of this version. Make it again: evenhand corpus ... --force")
    return page


def _listed(folder: Path, runs: Runs) -> ListedCorpora:
    known = runs.id(folder), runs.name(folder)
    try:
        runs.check(folder)
        told = read_parsed(folder / FILE, json.loads)
        lines = [_line(name, one) for name, one in told["corpora"].items()]
        return ListedCorpora(*known, str(told["counted"])[:10], lines)
    except RunError as error:
        return ListedCorpora(*known, why=runs.worded(error))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ListedCorpora(*known, why=f"{FILE} cannot be read. Count the corpus again.")


def _line(name: str, told: dict[str, Any]) -> dict[str, Any]:
    from evenhand.report.corpus import lean, percent  # what makes pages takes a while to import

    share, low, high = (math.nan if told[key] is None else told[key] for key in ("share", "share_low", "share_high"))
    if not isinstance(told["documents"], int):
        raise TypeError(told["documents"])
    words = {"share": percent(Estimate(share, low, high)), "verdict": lean(str(told["verdict"]))}
    return {"name": str(name), "documents": told["documents"], **words}
