"""`evenhand audit`, `track`, `doctor` and `import`: measure models and checkpoints, check a model, import scores.

`evenhand gate`: judge finished runs by a policy, or suggest one.
"""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack

import typer

from evenhand.cli import terminal
from evenhand.cli.show import print_answer
from evenhand.cli.terminal import Json, Plugins, Yes, as_options, print_json, print_or_write
from evenhand.core import parameters as ask
from evenhand.core.files import from_toml, read_given
from evenhand.core.parameters import Argument, Says, select_parameters
from evenhand.errors import BadInput, UnfitModel, check_known

if TYPE_CHECKING:
    from evenhand.gate.verdict import Verdict

Quiet = Annotated[bool, Says("Print only results and errors.", "--quiet", group=ask.OUTPUT)]
CONFIG = "Read options from a TOML file, by their names. The command line overrides them."
SUMMARY = "Append the verdict to $GITHUB_STEP_SUMMARY; annotate what does not pass."
Junit = Annotated[Path | None, Says("Write the gate's verdict as JUnit XML.", group=ask.GATE)]
GithubSummary = Annotated[bool, Says(SUMMARY, "--github-summary", group=ask.GATE)]


@dataclass(frozen=True)
class Outlets:
    """The files that verdicts are written to besides the terminal. They are checked before anything is measured."""

    junit: Path | None
    summary: Path | None

    @classmethod
    def of(cls, gate: object, junit: Path | None, github_summary: bool) -> "Outlets":
        """The files that the options ask for. Raises BadInput if one of them cannot be written."""
        if (junit or github_summary) and gate is None:
            raise BadInput(f"{'--junit' if junit else '--github-summary'} needs a gate. Add --gate policy.toml.")
        if junit and not junit.absolute().parent.is_dir():
            raise BadInput(f"The folder of --junit '{junit}' does not exist. Create it, or choose another.")
        # An earlier verdict is overwritten, as test runners do; no other file is.
        if junit and junit.is_file() and b'<testsuites name="evenhand"' not in junit.read_bytes()[:200]:
            raise BadInput(f"--junit '{junit}' exists, and is not the verdict of a gate. Choose another file.")
        summary = os.environ.get("GITHUB_STEP_SUMMARY", "")
        if github_summary and not summary:
            raise BadInput("--github-summary needs $GITHUB_STEP_SUMMARY, which GitHub Actions sets. It is not set.")
        return cls(junit, Path(summary) if github_summary else None)

    def give(self, verdicts: Sequence["Verdict"], *, printed: bool = True) -> int:
        """Print a line for each rule, write the files, and give the exit code of the worst verdict."""
        from rich.text import Text

        from evenhand.core.files import write_whole
        from evenhand.gate.verdict import CODES, annotations, junit, summary, worst_verdict

        lines = [line for verdict in verdicts for line in verdict.lines()]
        if printed:
            terminal.show(*map(Text, lines))
        else:
            typer.echo("\n".join(lines), err=True)
        if self.junit:
            write_whole(self.junit, lambda file: file.write(junit(verdicts)))
        if self.summary:
            typer.echo("".join(annotations(verdicts)), nl=False, err=True)
            try:
                with self.summary.open("a", encoding="utf-8") as file:
                    file.write(summary(verdicts))
            except OSError as error:
                why = f"The file of $GITHUB_STEP_SUMMARY, '{self.summary}', cannot be written: {error.strerror}."
                raise BadInput(why) from error
        return CODES[worst_verdict(verdict.verdict for verdict in verdicts)]


def from_config(context: typer.Context, path: Path | None) -> Path | None:
    """Read defaults of the command's options from a TOML file with their names, as in `batch-size = 8`.

    A list gives a repeatable option several values. `option` and `model-option` are tables of names and values.
    """
    if path is None or context.resilient_parsing:
        return path
    given = read_given(path.expanduser(), from_toml, "--config", "It is a TOML file of options.")
    known = {max(param.opts, key=len).lstrip("-"): param for param in context.command.params}  # without --
    known = {name: param for name, param in known.items() if name not in ("config", "help")}
    defaults = {}
    for name, value in given.items():
        check_known(f"option in {path}", [name], known)
        param = known[name]
        if isinstance(value, dict) and name in ("option", "model-option"):
            value = [f"{key}={text}" for key, text in value.items()]
        several = getattr(param, "multiple", False) or param.nargs == -1
        values = value if isinstance(value, list) else [value]
        wrong = any(isinstance(each, dict | list) for each in values) or (isinstance(value, list) and not several)
        if wrong or isinstance(value, bool) != bool(getattr(param, "is_flag", False)):
            raise BadInput(f"{path}: the value of '{name}' has the wrong type. Got {value!r}.")
        default = value if isinstance(value, bool) else [*map(str, values)] if several else str(value)
        try:
            if param.callback is None:  # a callback would act on the value, which is only validated here
                param.process_value(context, default)
        except typer.BadParameter as error:
            raise BadInput(f"{path}: the value of '{name}' cannot be used. {error.message}") from error
        defaults[str(param.name)] = default
    context.default_map = {**(context.default_map or {}), **defaults}
    return path


class AuditOptions(ask.Audited, ask.Cluster, ask.GateOptions, total=False):
    """The options that the command shares with `evenhand.sweep`."""


def audit(
    models: Annotated[list[str] | None, ask.MODELS] = None,
    plugin: Plugins = None,
    yes: Yes = False,
    dry_run: Annotated[
        bool, Says("For openai:NAME: count requests and tokens, and send nothing.", "--dry-run", group=ask.SERVER)
    ] = False,
    junit: Junit = None,
    github_summary: GithubSummary = False,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Annotated[bool, Says("Print more log messages.", "--verbose", group=ask.OUTPUT)] = False,
    log_file: Annotated[
        Path | None, Says("Append all log messages to this file, with the time.", group=ask.OUTPUT)
    ] = None,
    config: Annotated[Path | None, Says(CONFIG, "FILE", group=ask.OUTPUT, callback=from_config, is_eager=True)] = None,
    **given: Unpack[AuditOptions],
) -> None:
    """Measure models and print what the numbers show.

    Results are added to the model's run; a task that is measured again is replaced. Run the same command again to
    resume an audit that was stopped.
    """
    terminal.log_as(quiet=quiet, verbose=verbose, file=log_file)
    from evenhand.auditing.sweep import named_sources
    from evenhand.auditing.writing import run_folder
    from evenhand.calls.audit import sweep, ways_of

    models, gate, ways = models or [ask.DEFAULT], given.get("gate"), ways_of(given)
    if given["fresh"]:
        names = named_sources(models, given.get("name"), given.get("model_options"), ways)
        folders = [run_folder(name, given["out"]) for name in names]
        if existing := ", ".join(str(folder) for folder in folders if (folder / "run.json").exists()):
            terminal.confirm(f"Delete the results in {existing} and start over?", yes=yes)
    outlets = Outlets.of(gate, junit, github_summary)
    if dry_run:
        _print_costs(models, given, as_json)
        return
    runs, unmeasured = [], list[str]()
    try:
        for run in sweep(models, **given):
            runs.append(run)
            if not as_json:
                print_answer(run, whole=len(models) * len(ways) == 1)
    except UnfitModel as error:  # of one model, after the others were measured
        if not runs:
            raise
        unmeasured = [str(error)]
    finally:
        if as_json and runs:  # if a model failed, print the runs that were finished before it
            values = [row for run in runs for row in run.results]
            judged = (
                {"values": values, "verdicts": [verdict.to_dict() for verdict in _verdicts(runs)]} if gate else values
            )
            print_json(judged)
    if len(runs) > 1 and not as_json:
        _print_side_by_side(runs, Path(given["out"]))
    code = outlets.give(_verdicts(runs), printed=not as_json) if gate is not None else 0
    if given.get("dataset") or given.get("suite") not in (None, "all", ["all"]):  # not those that we chose
        lacking = {run.record.model: ", ".join(run.record.audits[-1].excluded) for run in runs}
        unmeasured += [f"'{name}' cannot be asked {datasets}." for name, datasets in lacking.items() if datasets]
    if unmeasured and code == 0:
        raise UnfitModel(f"{' '.join(unmeasured)} Everything else was measured.")
    if code == 0 and given["page"]:
        terminal.check_pages(run.path for run in runs)
    if gate is not None:
        raise typer.Exit(code)


def _print_costs(models: Sequence[str], given: AuditOptions, as_json: bool) -> None:
    from evenhand.auditing.budget import too_few_items
    from evenhand.auditing.estimate import estimate
    from evenhand.auditing.spec import AuditSpec
    from evenhand.calls.audit import ways_of
    from evenhand.models import ModelSource
    from evenhand.models.served.asking import KINDS
    from evenhand.show.tables import table

    heads = ("dataset", "requests", "tokens of prompts, about", "tokens of replies, at most")
    spec = AuditSpec.of(**select_parameters(given, ask.What))
    costs = {
        f"{model}{way.words(in_chats=True)}": estimate(
            ModelSource.of(model), spec.in_way(way), samples=given["samples"]
        )
        for model in models
        for way in ways_of(given)
    }
    if as_json:
        print_json({model: [asdict(cost) for cost in of_kinds] for model, of_kinds in costs.items()})
        return
    for model, of_kinds in costs.items():
        terminal.show(f"{model}: nothing was sent. What it takes depends on what the server gives:")
        for cost in of_kinds:
            amounts = {**cost.datasets, "total": cost}
            rows = [(n, f"{a.requests:,}", f"{a.prompt_tokens:,}", f"{a.reply_tokens:,}") for n, a in amounts.items()]
            terminal.show(f"({cost.kind}) {KINDS[cost.kind]}")
            terminal.show(table(heads, rows, left=heads[:1]))
            if cost.left_out:
                terminal.show(f"Cannot be asked: {', '.join(cost.left_out)}")
            if spec.budget and cost.too_few:
                terminal.show(too_few_items(spec.budget, cost.too_few))
        terminal.show("And about 20 requests to find out which of the three it is.")


def _verdicts(runs: Sequence[Any]) -> list[Any]:
    from evenhand.gate.verdict import Verdict

    return [Verdict.load(run.path) for run in runs]


def _print_side_by_side(runs: Sequence[Any], out: Path) -> None:
    from evenhand.analysis.comparison import comparable_tasks, side_by_side
    from evenhand.runs.comparable import of_two_kinds
    from evenhand.show.figures import draw_models
    from evenhand.show.tables import models

    tasks = comparable_tasks(runs[0])
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
    models: Annotated[list[str], ask.CHECKPOINTS],
    plugin: Plugins = None,
    as_json: Json = False,
    quiet: Quiet = False,
    **given: Unpack[ask.Tracked],
) -> None:
    """Measure the checkpoints of a training, and say where bias changed.

    Each checkpoint is measured on the same items and compared with the one before it. The same command resumes, and
    measures only what is new.
    """
    terminal.log_as(quiet=quiet, verbose=False, file=None)
    from evenhand.calls.audit import track as track_models
    from evenhand.show.terminal import fit_width
    from evenhand.show.track import terminal as as_text

    curve = track_models(models, **given)
    if as_json:
        print_json(curve.as_json())
    else:
        width = fit_width(terminal.width())
        terminal.show(as_text(curve, width), width=width)
        terminal.show(f"Figure: {given['out']}/track.{given['form']}")
    terminal.check_pages(record.parent for record in sorted(Path(given["out"]).glob("*/run.json")))


def doctor(
    context: typer.Context,
    model: Annotated[str, ask.ONE_MODEL] = ask.DEFAULT,
    as_json: Json = False,
    plugin: Plugins = None,
    **given: Unpack[ask.Doctor],
) -> None:
    """Check whether a model is fit to be measured.

    Prints a verdict for each check, and what to do. The exit code is 1 if something is unfit.
    """
    from evenhand.checks.doctor import doctor as examine
    from evenhand.models.loading.names import find
    from evenhand.show.tables import findings_table

    findings = examine(model, **given)
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        width = min(120, max(60, terminal.width()))
        advice = as_options([finding.do for finding in findings], context)
        in_flags = [replace(finding, do=do) for finding, do in zip(findings, advice, strict=True)]
        terminal.show(findings_table(find(model).name, in_flags, width))
    if any(finding.verdict == "unfit" for finding in findings):
        raise typer.Exit(1)


def import_scores(yes: Yes = False, as_json: Json = False, **given: Unpack[ask.ImportOptions]) -> None:
    """Make a run from scores that were computed elsewhere.

    Rows are matched with the items of the dataset by id or text. The run records where its scores come from.
    """
    from evenhand.auditing.importing.scores import name_of
    from evenhand.auditing.writing import run_folder
    from evenhand.calls.audit import from_scores

    fresh = given["fresh"]
    folders = {file: run_folder(given.get("name") or name_of(file), given["out"]) for file in given["scores"]}
    for folder in dict.fromkeys(folders.values()) if fresh else ():
        if (folder / "run.json").exists():
            terminal.confirm(f"Replace the results in {folder}?", yes=yes)
    runs: dict[Path, Any] = {}
    for file, folder in folders.items():
        given |= {"scores": file, "fresh": fresh and folder not in runs}
        runs[folder] = from_scores(**given)
    if as_json:
        print_json([row for run in runs.values() for row in run.results])
    for run in runs.values() if not as_json else ():
        print_answer(run)
    terminal.check_pages(runs)


def gate(
    runs: Annotated[list[Path], Argument("Run folders.", "RUN...")],
    policy: Annotated[Path | None, Says("A TOML file with the rules.")] = None,
    suggest: Annotated[bool, Says("Make a policy that the run passes, instead of judging.", "--suggest")] = False,
    out: Annotated[Path | None, Says("With --suggest: write the policy here. Default: print it.")] = None,
    force: ask.Force = False,
    baseline: ask.Baseline = None,
    junit: Junit = None,
    github_summary: GithubSummary = False,
    write: Annotated[bool, Says("Write the verdict to RUN/gate.json, and on the run's page.", "--write")] = False,
    as_json: Json = False,
    plugin: Plugins = None,
) -> None:
    """Judge runs by a policy: pass, fail or undecided.

    The exit code is 0 for pass, 1 for fail, 3 for undecided. Runs stay as they are, unless you add --write. With
    --suggest, make a policy from a run instead, with bounds that the run passes.
    """
    from evenhand.gate.gate import Gate
    from evenhand.runs.folder import StoredRun
    from evenhand.show.page import runs as page

    if suggest:
        given = {"policy": policy, "baseline": baseline, "junit": junit, "github-summary": github_summary}
        given |= {"write": write, "json": as_json}
        return _suggest(runs, out, force, [name for name, value in given.items() if value])
    if policy is None:
        raise BadInput("A policy is needed. Give --policy policy.toml, or make a policy from a run with --suggest.")
    if out or force:
        raise BadInput("--out and --force are only for --suggest. Leave them out, or add --suggest.")
    outlets = Outlets.of(policy, junit, github_summary)
    rules = Gate.load(policy, baseline)
    loaded = [StoredRun.load(path) for path in runs]
    verdicts = [rules.judge(run) for run in loaded]
    for run, verdict in zip(loaded, verdicts, strict=True) if write else ():
        verdict.save(run.path)
        if (run.path / page.FILE).exists():  # the page shows what the policy says about each lean
            page.write([run], run.path / page.FILE)
    if as_json:
        print_json([verdict.to_dict() for verdict in verdicts])
    raise typer.Exit(outlets.give(verdicts, printed=not as_json))


def _suggest(runs: Sequence[Path], out: Path | None, force: bool, more: Sequence[str]) -> None:
    from evenhand.core.files import check_new
    from evenhand.gate.suggestion import suggest

    if more:
        raise BadInput(f"--suggest makes a policy and judges no run. Leave out --{', --'.join(more)}.")
    if out is not None:
        check_new(out, force)
        if not out.absolute().parent.is_dir():
            raise BadInput(f"The folder of --out '{out}' does not exist. Create it, or choose another.")
    print_or_write(suggest(runs[0], out.parent if out else ".", others=runs[1:]), out)
    if out is not None:
        terminal.show(f"{out}: read it, change it, then: evenhand gate {runs[0]} --policy {out}")
