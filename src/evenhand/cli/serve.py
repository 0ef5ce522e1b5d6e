"""Show runs in the browser."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import terminal


def serve(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder that runs are in, at any depth.")] = Path(
        "runs"
    ),
    host: Annotated[
        str, typer.Option(help="Where to listen; with any but this machine's own, a token is needed.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for any free one.")] = 8040,
    token: Annotated[
        str | None,
        typer.Option(envvar="EVENHAND_TOKEN", help="What visitors must have. Made up and printed where one is needed."),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help="A folder or Hub id to probe, beside the models that have a name. Repeatable."),
    ] = None,
) -> None:
    """Browse runs in the browser.

    List runs, compare two, probe a sentence, swap a text. Stop it with Ctrl-C.
    """
    from evenhand.web.serving import listen

    listening = listen(folder, host=host, port=port, token=token, models=model or ())
    terminal.show(f"Serving {folder} at {listening.address}", "Ctrl-C ends it.")
    listening.run()
    sys.stdout.flush()
    os._exit(terminal.OK)  # a model that is being loaded, in a thread of its own, would hold the process for seconds
