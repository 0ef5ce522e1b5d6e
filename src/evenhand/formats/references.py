"""What to cite for what: `data/cited.tsv` says which works, `data/references.toml` what is known of them."""

import csv
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

DATA = files("evenhand.formats") / "data"
OWN = "evenhand"


@cache
def works() -> dict[str, dict[str, str]]:
    """What is known of each work, by key."""
    return tomllib.loads((DATA / "references.toml").read_text(encoding="utf-8"))


@cache
def cited() -> dict[tuple[str, str], tuple[str, ...]]:
    """The keys of the works to cite, by kind and name: ("measure", "association"), ("dataset", "tgb"), ..."""
    lines = (DATA / "cited.tsv").read_text(encoding="utf-8").splitlines()
    rows = csv.DictReader(lines, delimiter="\t")
    return {(row["kind"], row["name"]): tuple(row["references"].split()) for row in rows}


def reasons(task: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Why something is to be cited for a task, in words, and the keys; none for what is the user's own."""
    dataset, measure = task.get("dataset_builder", task["dataset"]), task["measure"]
    yield f"measure {measure}", cited().get(("measure", measure), ())
    for option, value in task.get("measure_options", {}).items():
        yield f"{option}={value} of {measure}", cited().get(("option", f"{option}={value}"), ())
    yield f"dataset {task['dataset']}", cited().get(("dataset", dataset), ())
    yield "intervals", cited()["interval", "clustered"]
    if task.get("crossed"):
        yield (
            f"intervals of {task['dataset']}, which resample {task['cluster']} and {task['crossed']}",
            cited()["interval", "crossed"],
        )
    yield f"intervals of {measure}, a share", cited().get(("interval", measure), ())
    if measure == "association" and "gender" in task["by"]:
        yield "the tests of women against men on the scorecard, where you report them", cited()["test", "paired"]
