"""The command line: arguments, one call, print. Heavy imports wait until a command needs them."""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from evenhand import __version__
from evenhand.cli import (
    audit,
    compare,
    corpus,
    datasets,
    debias,
    doctor,
    export,
    figures,
    gate,
    measures,
    metaeval,
    nli,
    report,
    reproduce,
    serve,
    show,
    swap,
    terminal,
)
from evenhand.errors import BadInput
from evenhand.training.processes import processes

app = typer.Typer(
    name="evenhand",
    help="Measure gender bias in language models, with intervals.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(datasets.app, name="datasets")
app.add_typer(nli.app, name="nli")

TOGETHER = ("debias", "nli")
"""Commands that several processes may run together."""


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
) -> None:
    """Measure gender bias in language models, with intervals."""
    if version:
        terminal.show(f"evenhand {__version__}")
        raise typer.Exit
    if processes() > 1 and context.invoked_subcommand not in TOGETHER:
        raise BadInput(
            f"'evenhand {context.invoked_subcommand}' runs in one process. Got {processes()}: start it without a "
            f"launcher. Several processes can train: {', '.join(TOGETHER)}."
        )


for command in (
    audit.audit,
    show.rescore,
    show.show,
    figures.figures,
    export.export,
    compare.compare,
    gate.gate,
    report.report,
    reproduce.reproduce,
    swap.swap,
    debias.debias,
    corpus.corpus,
    metaeval.metaeval,
    serve.serve,
    measures.measures,
    doctor.doctor,
):
    app.command()(command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and end with its exit code."""
    sys.exit(terminal.run(app, arguments))
