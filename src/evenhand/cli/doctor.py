"""`evenhand doctor`: check a model before it is measured."""

from dataclasses import asdict, replace
from typing import Annotated, Any

import typer

from evenhand.cli import common, terminal
from evenhand.cli.common import arg, opt
from evenhand.cli.terminal import as_options

NARROW, WIDE = 60, 120


def doctor(
    context: typer.Context,
    model: Annotated[str, arg("A bundled name, a folder, a Hub id or openai:NAME.")] = "mini-en",
    lang: Annotated[str, opt("The language to measure it in: en, de, ja or zh.")] = "en",
    suite: Annotated[str, opt("Check the words and lengths of this suite.")] = "all",
    revision: common.Revision = None,
    dtype: common.Dtype = "float32",
    device: common.Device = None,
    trust_remote_code: common.RemoteCode = False,
    labels: common.Labels = "",
    base_url: common.BaseUrl = None,
    concurrency: common.Concurrency = 8,
    samples: common.Samples = 20,
    as_json: common.Json = False,
    plugin: common.Plugins = None,
) -> None:
    """Check whether a model is fit to be measured.

    Prints a verdict for each check, and what to do. The exit code is 1 if something is unfit.
    """
    from evenhand.checks.doctor import doctor as look
    from evenhand.models.loading.names import find
    from evenhand.report.tables import doctored

    loading: dict[str, Any] = {"revision": revision, "dtype": dtype, "device": device, "labels": labels}
    loading |= {"trust_remote_code": trust_remote_code, "base_url": base_url}
    found = look(model, lang=lang, suite=suite, concurrency=concurrency, samples=samples, **loading)
    if as_json:
        common.print_json([asdict(finding) for finding in found])
    else:
        width = min(WIDE, max(NARROW, terminal.width()))
        advice = as_options([finding.do for finding in found], context)
        worded = [replace(finding, do=do) for finding, do in zip(found, advice, strict=True)]
        terminal.show(doctored(find(model).name, worded, width))
    if any(finding.verdict == "unfit" for finding in found):
        raise typer.Exit(1)
