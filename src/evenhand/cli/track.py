"""`evenhand track`: measure the checkpoints of a training."""

from pathlib import Path
from typing import Annotated, Any

import typer

from evenhand.cli import common, terminal
from evenhand.cli.common import parsed, print_json


def track(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL",
            help="A training's output folder with its checkpoint-*; or model folders, run folders, Hub ids "
            "(ID@REVISION), in the order of the training.",
        ),
    ],
    suite: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="As for audit: becpro, gbef, nli, ... Repeatable.")
    ] = None,
    lang: Annotated[list[str] | None, typer.Option(metavar="LANG", help="Language of the suite. Repeatable.")] = None,
    templates: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="Your own sentences: a template file. Repeatable.")
    ] = None,
    pairs: Annotated[list[Path] | None, typer.Option(metavar="FILE", help="Your own pairs. Repeatable.")] = None,
    dataset: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A dataset, instead of a suite. Repeatable.")
    ] = None,
    measure: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="With a dataset: a measure. Repeatable.")
    ] = None,
    option: common.Options = None,
    plugin: common.Plugins = None,
    limit: common.Limit = None,
    seed: common.Seed = 0,
    out: Annotated[Path, typer.Option(help="Runs, page, numbers and figure go there.")] = Path("runs/track"),
    form: Annotated[str, typer.Option("--format", help="The figure: svg, pdf, png or html.")] = "svg",
    revision: Annotated[
        list[str] | None, typer.Option(help="Branch, tag or commit of the one Hub model. Repeatable.")
    ] = None,
    dtype: common.Dtype = "float32",
    device: common.Device = None,
    trust_remote_code: common.RemoteCode = False,
    labels: common.Labels = "",
    engine: common.Engine = "local",
    address: common.Address = None,
    workers: common.Workers = None,
    as_json: common.Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress, no remarks: results and errors alone.")] = False,
) -> None:
    """Measure the checkpoints of a training, and say where bias changed.

    Each checkpoint is measured on the same items and compared with the one before it. The same command resumes, and
    measures only what is new.
    """
    terminal.log_as(quiet=quiet, verbose=False, file=None)
    from evenhand.auditing.track import track as track_models
    from evenhand.report.answer import fitted
    from evenhand.report.track import terminal as shown

    how: dict[str, Any] = {"dtype": dtype, "device": device, "trust_remote_code": trust_remote_code, "labels": labels}
    how |= {"engine": engine, "address": address, "workers": workers}
    what: dict[str, Any] = {"suite": suite or "all", "lang": lang, "dataset": dataset, "measure": measure or ()}
    what |= {"templates": templates, "pairs": pairs, "options": parsed(option), "limit": limit, "seed": seed}
    made = track_models(models, out=out, revision=revision, form=form, **what, **how)
    if as_json:
        print_json(made.as_json())
        return
    width = fitted(terminal.width())
    terminal.show(shown(made, width), width=width)
    terminal.show(f"Figure: {out / f'track.{form}'}")
