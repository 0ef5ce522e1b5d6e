"""`evenhand serve`: browse runs in the browser."""

import os
import sys
from pathlib import Path
from typing import Annotated

from evenhand.cli import terminal
from evenhand.cli.common import Names, arg, opt


def serve(
    folder: Annotated[Path, arg("A folder with runs.", "DIR")] = Path("runs"),
    host: Annotated[str, opt("Where to listen. Other machines need a token.")] = "127.0.0.1",
    port: Annotated[int, opt("The port; 0 takes any free one.", min=0, max=65535)] = 8040,
    token: Annotated[
        str | None,
        opt("The token that visitors need. Default: generated and printed if needed.", envvar="EVENHAND_TOKEN"),
    ] = None,
    model: Annotated[Names, opt("Another model to probe: a folder or Hub id. Repeatable.")] = None,
    open_it: Annotated[bool, opt("Open the pages in your browser.", "--open")] = False,
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
