"""`evenhand track`: measure the checkpoints of a training."""

from pathlib import Path
from typing import Annotated, Any

from evenhand.cli import common, terminal
from evenhand.cli.common import Names, Paths, arg, opt, parsed, print_json


def track(
    models: Annotated[
        list[str],
        arg(
            "A training's output folder with its checkpoint-*; or model folders, run folders, Hub ids "
            "(ID@REVISION), in the order of the training.",
            "MODEL",
        ),
    ],
    suite: Annotated[Names, opt("As for audit: becpro, gbef, nli, ... Repeatable.", "NAME")] = None,
    lang: Annotated[Names, opt("Language of the suite. Repeatable.", "LANG")] = None,
    templates: Annotated[Paths, opt("Your own sentences: a template file. Repeatable.", "FILE")] = None,
    pairs: Annotated[Paths, opt("Your own pairs. Repeatable.", "FILE")] = None,
    dataset: Annotated[Names, opt("A dataset, instead of a suite. Repeatable.", "NAME")] = None,
    measure: Annotated[Names, opt("With a dataset: a measure. Repeatable.", "NAME")] = None,
    option: common.Options = None,
    plugin: common.Plugins = None,
    limit: common.Limit = None,
    seed: common.Seed = 0,
    out: Annotated[Path, opt("Runs, page, numbers and figure go there.")] = Path("runs/track"),
    form: Annotated[str, opt("The figure: svg, pdf, png or html.", "--format")] = "svg",
    revision: Annotated[Names, opt("Branch, tag or commit of the one Hub model. Repeatable.")] = None,
    dtype: common.Dtype = "float32",
    device: common.Device = None,
    trust_remote_code: common.RemoteCode = False,
    labels: common.Labels = "",
    engine: common.Engine = "local",
    address: common.Address = None,
    workers: common.Workers = None,
    as_json: common.Json = False,
    quiet: Annotated[bool, opt("No progress, no remarks: results and errors alone.", "--quiet")] = False,
) -> None:
    """Measure the checkpoints of a training, and say where bias changed.

    Each checkpoint is measured on the same items and compared with the one before it. The same command resumes, and
    measures only what is new.
    """
    terminal.log_as(quiet=quiet, verbose=False, file=None)
    from evenhand.calls import track as track_models
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
