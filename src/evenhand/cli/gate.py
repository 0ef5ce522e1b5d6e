"""Judge finished runs by a policy."""

from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli.common import Json, print_json
from evenhand.cli.verdicts import GithubSummary, Junit, Outlets


def gate(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders.")],
    policy: Annotated[Path, typer.Option(help="What is tolerable: a TOML file.")],
    baseline: Annotated[
        Path | None, typer.Option(help="A run folder for rules with worse_by_at_most, instead of the policy's.")
    ] = None,
    junit: Junit = None,
    github_summary: GithubSummary = False,
    as_json: Json = False,
) -> None:
    """Judge finished runs by a policy: exit code 0 pass, 1 fail, 3 undecided. The verdict goes to RUN/gate.json."""
    from evenhand.gate.gate import Gate
    from evenhand.report import page
    from evenhand.runs.folder import Run

    outlets = Outlets.of(policy, junit, github_summary)
    rules = Gate.load(policy)
    verdicts = []
    for run in [Run.load(path) for path in runs]:
        verdict = rules.judge(run, baseline)
        verdict.save(run.path)
        page.write([run], run.path / page.FILE)
        verdicts.append(verdict)
    if as_json:
        print_json([verdict.to_dict() for verdict in verdicts])
    raise typer.Exit(outlets.give(verdicts, printed=not as_json))
