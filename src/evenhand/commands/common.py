"""What several commands share."""

import json
from typing import Annotated

import typer

from evenhand import terminal

Json = Annotated[bool, typer.Option("--json", help="Print results as JSON, for machines.")]


def print_json(data: object) -> None:
    """Data as JSON, for machines."""
    terminal.show(json.dumps(data, indent=1, ensure_ascii=False))
