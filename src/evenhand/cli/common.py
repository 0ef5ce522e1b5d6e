"""What several commands share."""

import json
from typing import Annotated

import typer

from evenhand.cli import terminal
from evenhand.errors import BadInput

Json = Annotated[bool, typer.Option("--json", help="Print results as JSON, for machines.")]


Engine = Annotated[str, typer.Option(metavar="local|ray", help="ray: on the workers of a Ray cluster.")]
Address = Annotated[
    str | None,
    typer.Option(metavar="HOST:PORT", help="With ray: the cluster, or auto. Default: one is started on this machine."),
]
Workers = Annotated[int | None, typer.Option(help="With ray: at most so many. Default: as many as there is room for.")]
Revision = Annotated[str | None, typer.Option(help="Branch, tag or commit on the Hub.")]
Dtype = Annotated[str, typer.Option(help="float32, bfloat16, float16, or auto: bfloat16 where it is native.")]
Device = Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1, mps. Default: cuda if there is one.")]
TrustRemoteCode = Annotated[bool, typer.Option(help="Run code that a Hub model brings along.")]
Options = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="An option of a dataset or measure: masks=words. Repeatable."),
]


def print_json(data: object) -> None:
    """Data as JSON, for machines."""
    terminal.show(json.dumps(data, indent=1, ensure_ascii=False))


def parsed(options: list[str] | None) -> dict[str, str]:
    """Options by name."""
    found = {}
    for option in options or []:
        name, sign, value = option.partition("=")
        if not (name and sign and value):
            raise BadInput(f"An option is NAME=VALUE, as in masks=words. Got '{option}'.")
        found[name] = value
    return found
