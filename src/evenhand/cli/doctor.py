"""Look at a model before it is measured."""

import shutil
from dataclasses import asdict
from typing import Annotated

import typer

from evenhand.cli import terminal
from evenhand.cli.common import Device, Dtype, Json, Revision, TrustRemoteCode, print_json

NARROW, WIDE = 60, 120


def doctor(
    model: Annotated[str, typer.Argument(help="A bundled name, a folder or a Hub id.")] = "mini-en",
    lang: Annotated[str, typer.Option(help="The language it will be measured in: en, de, ja or zh.")] = "en",
    suite: Annotated[str, typer.Option(help="Whose words and lengths to look at: as for an audit.")] = "all",
    revision: Revision = None,
    dtype: Dtype = "float32",
    device: Device = None,
    trust_remote_code: TrustRemoteCode = False,
    labels: Annotated[
        str, typer.Option(metavar="A,B,C", help="What a classifier's outputs stand for, if it does not say.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Check whether a model is fit to be measured.

    Prints a verdict for each check, and what to do. The exit code is 1 if something is unfit.
    """
    from evenhand.checks.doctor import doctor as look
    from evenhand.models.loading.names import find
    from evenhand.report.tables import doctored

    found = look(
        model,
        lang=lang,
        suite=suite,
        revision=revision,
        dtype=dtype,
        device=device,
        trust_remote_code=trust_remote_code,
        labels=labels,
    )
    if as_json:
        print_json([asdict(finding) for finding in found])
    else:
        width = min(WIDE, max(NARROW, shutil.get_terminal_size((WIDE, 24)).columns))
        terminal.show(doctored(find(model).name, found, width))
    if any(finding.verdict == "unfit" for finding in found):
        raise typer.Exit(1)
