"""`evenhand serve`: browse runs in the browser."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import terminal


def serve(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder with runs.")] = Path("runs"),
    host: Annotated[str, typer.Option(help="Where to listen. Other machines need a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes any free one.")] = 8040,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="EVENHAND_TOKEN", help="The token that visitors need. Default: generated and printed if needed."
        ),
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option(help="Another model to probe: a folder or Hub id. Repeatable.")
    ] = None,
    open_it: Annotated[bool, typer.Option("--open", help="Open the pages in your browser.")] = False,
) -> None:
    """Browse runs in the browser.

    List runs, compare two, probe a sentence, swap a text. Stop it with Ctrl-C.
    """
    from evenhand.core.extras import need

    need("server", "The server")
    from evenhand.web.serving import listen

    listening = listen(folder, host=host, port=port, token=token, models=model or ())
    terminal.show(f"Serving {folder} at {listening.address}", "Ctrl-C ends it.")
    listening.run(open_it=open_it)
    sys.stdout.flush()
    os._exit(terminal.OK)  # a thread that still loads a model would keep the process alive for seconds
