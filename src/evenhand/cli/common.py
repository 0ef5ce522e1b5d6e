"""Options and printing that several commands share."""

import json
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import terminal
from evenhand.core.shown import UNSEEN
from evenhand.errors import BadInput

RunFolder = Annotated[Path, typer.Argument(help="A run folder.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
Lang = Annotated[
    str | None, typer.Option(help="en, the one that is supported. Default: refuse texts that seem to be in another.")
]
Json = Annotated[bool, typer.Option("--json", help="Print results as JSON.")]
Limit = Annotated[
    int | None, typer.Option(help="Measure a sample of at most N items per dataset, partners together.", metavar="N")
]
Seed = Annotated[int, typer.Option(help="Seed of everything random.")]
Revision = Annotated[str | None, typer.Option(help="Branch, tag or commit on the Hub.")]
Dtype = Annotated[str, typer.Option(help="float32, bfloat16, float16, or auto: bfloat16 where it is native.")]
Device = Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1, mps. Default: cuda if there is one.")]
RemoteCode = Annotated[bool, typer.Option(help="Run code that a Hub model brings along.")]
LABELS = "What the outputs of a classifier stand for, in their order, if its configuration does not say."
Labels = Annotated[str, typer.Option(metavar="A,B,C", help=f"{LABELS} Causal models, suite nli: words for the labels.")]
BaseUrl = Annotated[
    str | None,
    typer.Option(metavar="URL", help="openai:NAME: the server's address. Default: OPENAI_BASE_URL, or OpenAI's own."),
]
Concurrency = Annotated[int, typer.Option(metavar="N", help="openai:NAME: at most N requests at once.")]
Samples = Annotated[
    int, typer.Option(metavar="N", help="openai:NAME: times a question is asked, if the server gives text only.")
]
Engine = Annotated[str, typer.Option(metavar="local|ray", help="ray: on the workers of a Ray cluster.")]
Address = Annotated[
    str | None, typer.Option(metavar="HOST:PORT", help="With ray: the cluster, or auto. Default: start one here.")
]
Workers = Annotated[int | None, typer.Option(help="With ray: at most this many. Default: as many as fit.")]
Options = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="An option of a dataset or measure: masks=words. Repeatable."),
]


def _load_plugins(files: list[Path] | None) -> None:
    """Load these files, and what installed packages have; the package is imported only if there is something."""
    if files or any(entry_points(group=f"evenhand.{kind}") for kind in ("measures", "datasets", "models")):
        from evenhand import plugins

        plugins.load_installed()
        for file in files or ():
            plugins.load_file(file)


Plugins = Annotated[
    list[Path] | None,
    typer.Option(
        "--plugin",
        metavar="FILE.py",
        help="Measures, datasets or models of your own. Repeatable.",
        callback=_load_plugins,
        is_eager=True,
    ),
]


def print_json(data: object) -> None:
    """Print data as JSON, with control characters escaped."""
    text = json.dumps(data, indent=1, ensure_ascii=False)
    terminal.show(UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def parsed(options: list[str] | None, what: str = "option", example: str = "masks=words") -> dict[str, str]:
    """The values of options, by name."""
    found: dict[str, str] = {}
    for option in options or []:
        name, sign, value = option.partition("=")
        if not (name and sign and value):
            article = "An" if what == "option" else "A"
            raise BadInput(f"{article} {what} is NAME=VALUE, as in {example}. Got '{option}'.")
        if name in found:
            raise BadInput(f"The {what} {name} is given twice. Got {name}={found[name]} and {option}: choose one.")
        found[name] = value
    return found
