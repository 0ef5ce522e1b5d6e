"""`evenhand gate`: judge finished runs by a policy, or suggest one."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenhand.cli import terminal
from evenhand.cli.common import Json, Plugins, print_json, print_or_write
from evenhand.core.described import Argument, Says
from evenhand.core.parameters import GATE, Baseline, Force
from evenhand.errors import BadInput

if TYPE_CHECKING:
    from evenhand.gate.verdict import Verdict

Junit = Annotated[Path | None, Says("Write the gate's verdict as JUnit XML.", group=GATE)]
GithubSummary = Annotated[
    bool,
    Says("Append the verdict to $GITHUB_STEP_SUMMARY; annotate what does not pass.", "--github-summary", group=GATE),
]


@dataclass(frozen=True)
class Outlets:
    """Where verdicts go, apart from the terminal; checked before anything is measured."""

    junit: Path | None
    summary: Path | None

    @classmethod
    def of(cls, gate: object, junit: Path | None, github_summary: bool) -> "Outlets":
        """The outlets asked for; an error if one of them cannot be used."""
        if (junit or github_summary) and gate is None:
            raise BadInput(f"{'--junit' if junit else '--github-summary'} shows a verdict. Add --gate policy.toml.")
        if junit and not junit.absolute().parent.is_dir():
            raise BadInput(f"The folder of --junit '{junit}' does not exist. Make it, or choose another.")
        # A verdict of an earlier gate is replaced, as test runners do.
        if junit and junit.is_file() and b'<testsuites name="evenhand"' not in junit.read_bytes()[:200]:
            raise BadInput(f"--junit '{junit}' exists, and is no verdict of a gate. Choose another.")
        summary = os.environ.get("GITHUB_STEP_SUMMARY", "")
        if github_summary and not summary:
            raise BadInput("--github-summary needs $GITHUB_STEP_SUMMARY, which GitHub Actions sets. It is not set.")
        return cls(junit, Path(summary) if github_summary else None)

    def give(self, verdicts: Sequence["Verdict"], *, printed: bool = True) -> int:
        """Print a line for each rule, write the files, and give the exit code of the worst verdict."""
        from evenhand.core.files import write_whole
        from evenhand.gate.verdict import CODES, worst
        from evenhand.show.gate import annotations, junit, summary

        lines = [line for verdict in verdicts for line in verdict.lines()]
        if printed:
            terminal.show(*lines)
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
                why = f"$GITHUB_STEP_SUMMARY, '{self.summary}', cannot be written: {error.strerror}."
                raise BadInput(why) from error
        return CODES[worst(verdict.verdict for verdict in verdicts)]


def gate(
    runs: Annotated[list[Path], Argument("Run folders.", "RUN...")],
    policy: Annotated[Path | None, Says("A TOML file with the rules.")] = None,
    suggest: Annotated[bool, Says("Make a policy that the run passes, instead of judging.", "--suggest")] = False,
    out: Annotated[Path | None, Says("With --suggest: write the policy here. Default: print it.")] = None,
    force: Force = False,
    baseline: Baseline = None,
    junit: Junit = None,
    github_summary: GithubSummary = False,
    as_json: Json = False,
    plugin: Plugins = None,
) -> None:
    """Judge runs by a policy: pass, fail or undecided.

    The exit code is 0 for pass, 1 for fail, 3 for undecided. The verdict is written to RUN/gate.json. With --suggest,
    make a policy from a run instead, with bounds that the run passes.
    """
    from evenhand.gate.gate import Gate
    from evenhand.runs.folder import StoredRun
    from evenhand.show.page import runs as page

    if suggest:
        given = {"policy": policy, "baseline": baseline, "junit": junit, "github-summary": github_summary}
        return _suggest(runs, out, force, [name for name, value in {**given, "json": as_json}.items() if value])
    if policy is None:
        raise BadInput("A policy is needed: --policy policy.toml. To make one from a run: --suggest.")
    if out or force:
        raise BadInput("--out and --force are for the policy that --suggest makes. Leave them out.")
    outlets = Outlets.of(policy, junit, github_summary)
    rules = Gate.load(policy, baseline)
    verdicts = []
    for run in [StoredRun.load(path) for path in runs]:
        verdict = rules.judge(run)
        verdict.save(run.path)
        page.write([run], run.path / page.FILE)
        verdicts.append(verdict)
    if as_json:
        print_json([verdict.to_dict() for verdict in verdicts])
    raise typer.Exit(outlets.give(verdicts, printed=not as_json))


def _suggest(runs: Sequence[Path], out: Path | None, force: bool, more: Sequence[str]) -> None:
    from evenhand.core.files import check_new
    from evenhand.gate.suggestion import suggest

    if more:
        raise BadInput(f"--suggest makes a policy, and judges nothing. Leave out --{', --'.join(more)}.")
    if out is not None:
        check_new(out, force)
        if not out.absolute().parent.is_dir():
            raise BadInput(f"The folder of --out '{out}' does not exist. Make it, or choose another.")
    print_or_write(suggest(runs[0], out.parent if out else ".", others=runs[1:]), out)
    if out is not None:
        terminal.show(f"{out}: read it, change it, then: evenhand gate {runs[0]} --policy {out}")
