"""`evenhand audit` and `evenhand track`: measure models, and the checkpoints of a training."""

import tomllib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from evenhand.cli import common, terminal
from evenhand.cli.common import Names, Paths, arg, opt, parsed, print_json
from evenhand.cli.gate import Baseline, GithubSummary, Junit, Outlets
from evenhand.cli.show import print_answer
from evenhand.core.files import read_given
from evenhand.errors import BadInput, check_known

SUITES = (
    "becpro, choices, emotions, gbef, kinds, known, nli. Default: becpro, emotions and gbef, or nli for an NLI "
    "classifier. Repeatable."
)
CHECKPOINTS = (
    "A training's output folder with its checkpoint-*; or model folders, run folders, Hub ids (ID@REVISION), in the "
    "order of the training."
)
CONFIG = "Read options from a TOML file, by their names. The command line overrides them."


def from_config(context: typer.Context, path: Path | None) -> Path | None:
    """Make what the file says the default of the command's options, by their names: `batch-size = 8`.

    A list is an option that is repeated; a table, `option` or `model-option`, has options by name.
    """
    if path is None or context.resilient_parsing:
        return path
    given = read_given(path.expanduser(), tomllib.loads, "--config", "It is a TOML file of options.")
    known = {max(param.opts, key=len).lstrip("-"): param for param in context.command.params}  # as they are typed
    known = {name: param for name, param in known.items() if name not in ("config", "help")}
    defaults = {}
    for name, value in given.items():
        check_known(f"option in {path}", [name], known)
        param = known[name]
        if isinstance(value, dict) and name in ("option", "model-option"):
            value = [f"{key}={one}" for key, one in value.items()]
        several = getattr(param, "multiple", False) or param.nargs == -1
        values = value if isinstance(value, list) else [value]
        wrong = any(isinstance(one, dict | list) for one in values) or (isinstance(value, list) and not several)
        if wrong or isinstance(value, bool) != bool(getattr(param, "is_flag", False)):
            raise BadInput(f"{path}: '{name}' has a value of the wrong kind. Got {value!r}.")
        default = value if isinstance(value, bool) else [*map(str, values)] if several else str(value)
        try:
            if param.callback is None:  # which would act on the value, not only look at it
                param.process_value(context, default)
        except typer.BadParameter as error:
            raise BadInput(f"{path}: '{name}' has a value that cannot be used. {error.message}") from error
        defaults[str(param.name)] = default
    context.default_map = {**(context.default_map or {}), **defaults}
    return path


def audit(
    models: Annotated[
        Names, arg("Bundled names, folders, .gguf files, Hub ids, openai:NAME. Default: mini-en.", "MODEL")
    ] = None,
    suite: Annotated[Names, opt(SUITES, "NAME")] = None,
    lang: Annotated[
        Names,
        opt("Language of suites: en (default); becpro: also de; known: fr, nl; nli: ja, zh. Of --pairs: any.", "LANG"),
    ] = None,
    templates: Annotated[Paths, opt("Measure your own sentences: a template file (TOML). Repeatable.", "FILE")] = None,
    pairs: Annotated[Paths, opt("Your own sentence pairs: csv, tsv, jsonl or parquet. Repeatable.", "FILE")] = None,
    dataset: Annotated[Names, opt("Measure this dataset instead of a suite. Repeatable.", "NAME")] = None,
    measure: Annotated[
        Names, opt("With a dataset: use this measure. Default: all that suit it. Repeatable.", "NAME")
    ] = None,
    option: common.Options = None,
    chat: Annotated[bool | None, opt("Suite choices: the chat template, or plain prompts.", "--chat/--no-chat")] = None,
    system: Annotated[Path | None, opt("With --chat: a text file with the system prompt.", "FILE")] = None,
    plugin: common.Plugins = None,
    limit: common.Limit = None,
    seed: common.Seed = 0,
    out: Annotated[Path, opt("Write runs to OUT/<model>/.")] = Path("runs"),
    name: Annotated[str | None, opt("Name of the run and its folder. Default: the model's.")] = None,
    fresh: Annotated[bool, opt("Delete the run's earlier results and start over.", "--fresh")] = False,
    yes: Annotated[bool, opt("With --fresh: do not ask.", "--yes")] = False,
    revision: common.Revision = None,
    dtype: common.Dtype = "float32",
    device: common.Device = None,
    batch_size: Annotated[str, opt("Inputs per batch.", "N|auto")] = "auto",
    trust_remote_code: common.RemoteCode = False,
    labels: common.Labels = "",
    model_option: common.ModelOptions = None,
    base_url: common.BaseUrl = None,
    concurrency: common.Concurrency = 8,
    samples: common.Samples = 20,
    dry_run: Annotated[bool, opt("For openai:NAME: count requests and tokens, and send nothing.", "--dry-run")] = False,
    engine: common.Engine = "local",
    address: common.Address = None,
    workers: common.Workers = None,
    gate: Annotated[Path | None, opt("Judge by a policy (TOML). The exit code is 1 for fail, 3 for undecided.")] = None,
    baseline: Baseline = None,
    junit: Junit = None,
    github_summary: GithubSummary = False,
    as_json: common.Json = False,
    quiet: Annotated[bool, opt("Print only results and errors.", "--quiet")] = False,
    verbose: Annotated[bool, opt("Print more log messages.", "--verbose")] = False,
    log_file: Annotated[Path | None, opt("Append all log messages to this file, with the time.")] = None,
    config: Annotated[Path | None, opt(CONFIG, "FILE", callback=from_config, is_eager=True)] = None,
) -> None:
    """Measure models and print what the numbers show.

    Results are added to the model's run; a task that is measured again is replaced. Run the same command again to
    resume an audit that was stopped.
    """
    terminal.log_as(quiet=quiet, verbose=verbose, file=log_file)
    from evenhand.calls.audit import sweep
    from evenhand.models.loading.names import DEFAULT

    models = models or [DEFAULT]
    if fresh:
        _confirm(models, name, common.model_options(model_option), out, yes)
    if batch_size != "auto" and not batch_size.isdecimal():
        raise BadInput(f"--batch-size must be auto or a whole number from 1. Got '{batch_size}'.")
    outlets = Outlets.of(gate, junit, github_summary)
    what: dict[str, Any] = {"suite": suite or "all", "lang": lang, "dataset": dataset, "measure": measure or ()}
    what |= {"templates": templates, "pairs": pairs, "options": parsed(option) | _prompting(chat, system)}
    what |= {"limit": limit, "seed": seed}
    if dry_run:
        _print_costs(models, samples, what, as_json)
        return
    how: dict[str, Any] = {"out": out, "name": name, "fresh": fresh, "gate": gate, "baseline": baseline}
    how |= {"revision": revision, "dtype": dtype, "device": device, "trust_remote_code": trust_remote_code}
    how |= {"batch_size": batch_size if batch_size == "auto" else int(batch_size), "labels": labels}
    how |= {"base_url": base_url, "concurrency": concurrency, "samples": samples}
    how |= {"model_options": common.model_options(model_option)}
    runs = []
    try:
        for run in sweep(models, engine=engine, address=address, workers=workers, **what, **how):
            runs.append(run)
            if not as_json:
                print_answer(run, whole=len(models) == 1)
        if len(runs) > 1 and not as_json:
            _print_side_by_side(runs, out)
    finally:
        if as_json and runs:  # also those that were finished before another one failed
            values = [row for run in runs for row in run.results]
            judged = {"values": values, "verdicts": [one.to_dict() for one in _verdicts(runs)]} if gate else values
            print_json(judged)
    if gate is not None:
        raise typer.Exit(outlets.give(_verdicts(runs), printed=not as_json))


def _print_costs(models: Sequence[str], samples: int, what: dict[str, Any], as_json: bool) -> None:
    from evenhand.auditing.estimate import estimate
    from evenhand.auditing.spec import AuditSpec
    from evenhand.models.served.asking import KINDS
    from evenhand.models.source import ModelSource

    spec = AuditSpec.of(**what)
    costs = {model: estimate(ModelSource.of(model), spec, samples=samples) for model in models}
    if as_json:
        print_json({model: [asdict(cost) for cost in found] for model, found in costs.items()})
        return
    for model, found in costs.items():
        terminal.show(f"{model}: nothing was sent. What it takes depends on what the server gives:")
        for cost in found:
            tokens = f"about {cost.prompt_tokens:,} tokens of prompts and {cost.reply_tokens:,} of replies"
            terminal.show(f"  ({cost.kind}) {KINDS[cost.kind]}: {cost.requests:,} requests, {tokens}")
            if cost.left_out:
                terminal.show(f"      cannot be asked: {', '.join(cost.left_out)}")
        terminal.show("And about 20 requests to find out which of the three it is.")


def _prompting(chat: bool | None, system: Path | None) -> dict[str, Any]:
    """The options of choices that have flags of their own."""
    found: dict[str, Any] = {} if chat is None else {"chat": chat}
    if system is not None:
        found["system"] = read_given(system, str.strip, "The system prompt", "Give a UTF-8 text file.")
        if not found["system"]:
            raise BadInput(f"The system prompt '{system}' is empty. Leave --system out, or write one.")
    return found


def _verdicts(runs: Sequence[Any]) -> list[Any]:
    from evenhand.gate.verdict import Verdict

    return [Verdict.load(run.path) for run in runs]


def _confirm(models: Sequence[str], name: str | None, options: dict[str, str], out: Path, yes: bool) -> None:
    """Ask before earlier results are deleted; elsewhere than on a terminal that needs --yes."""
    from evenhand.auditing.audit import run_folder
    from evenhand.auditing.sweep import named_sources

    folders = [run_folder(own, out) for own in named_sources(models, name, options)]
    there = [str(folder) for folder in folders if (folder / "run.json").exists()]
    if there:
        terminal.confirm(f"Delete the results in {', '.join(there)} and start over?", yes=yes)


def _print_side_by_side(runs: Sequence[Any], out: Path) -> None:
    from evenhand.analysis.ranking import comparable, side_by_side
    from evenhand.runs.comparable import of_two_kinds
    from evenhand.show.figures import draw_models
    from evenhand.show.tables import models

    tasks = comparable(runs[0])
    readings = {task.measure: task.reading for task in runs[0].record.tasks}
    for dataset, measure in tasks:
        terminal.show(models(side_by_side(runs, dataset, measure), dataset, measure, readings[measure]))
    if of_two_kinds(runs):
        terminal.show("Careful: values of causal and other models are not comparable, so none is called best or worst.")
    if runs[0].record.partial:
        terminal.show(runs[0].record.sample)
    for path in draw_models(runs, tasks, out):
        terminal.show(f"Chart: {path}")


def track(
    models: Annotated[list[str], arg(CHECKPOINTS, "MODEL")],
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
    from evenhand.calls.audit import track as track_models
    from evenhand.show.answer import fitted
    from evenhand.show.track import terminal as shown

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
