"""The application: all commands, by group. Heavy imports wait until a command needs them."""

import gc
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer
import typer.core

from evenhand._version import __version__
from evenhand.cli import datasets, terminal
from evenhand.cli.change import debias, nli, swap
from evenhand.cli.common import command as as_command
from evenhand.cli.datasets import measures
from evenhand.cli.gate import gate
from evenhand.cli.measure import audit, doctor, import_scores, track
from evenhand.cli.runs import runs, serve
from evenhand.cli.show import compare, export, figures, report, rescore, show, table
from evenhand.cli.study import corpus, metaeval, reproduce
from evenhand.cli.terminal import as_flags
from evenhand.core.parameters import GROUPS, OUTPUT
from evenhand.errors import BadInput
from evenhand.training.processes import processes


class Once(typer.core.TyperCommand):
    """Rejects an option that is given twice, unless it is a list: Typer would silently keep the last value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:  # set by shell completion
            *_, given = self.make_parser(ctx).parse_args(args=list(args))
            for option in given:
                times = given.count(option)
                prints = option.is_eager and getattr(option, "is_flag", False)  # --help and the like
                if times > 1 and option.nargs == 1 and not (option.multiple or prints):
                    name = max(option.opts, key=len)
                    raise BadInput(f"{name} may be given once. Got it {times} times: run the command once for each.")
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """List the options by group."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": [], **{group: [] for group in GROUPS}}
        for parameter in self.get_params(ctx):
            title = "Arguments" if parameter.param_type_name == "argument" else "Options"
            if parameter.name == "help" and sections[OUTPUT]:
                title = OUTPUT
            title = getattr(parameter, "rich_help_panel", None) or title
            if listed := parameter.get_help_record(ctx):
                sections[title].append((listed[0], as_flags(listed[1], self)))
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; a SystemExit is an error, since evenhand itself ends commands by `typer.Exit`."""
        try:
            return super().invoke(ctx)
        except SystemExit as end:
            raise BadInput(f"Code that is not evenhand's ended the command: sys.exit({end.code!r}).") from end


MEASURE, UNDERSTAND, DECIDE, CHANGE, STUDY = "Measure", "Understand", "Decide", "Change", "Study"


class Groups(typer.core.TyperGroup):
    """Lists commands by what they are for."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        commands = [self.commands[name] for name in self.list_commands(ctx)]
        for title in (MEASURE, UNDERSTAND, DECIDE, CHANGE, STUDY):
            mine = [command for command in commands if getattr(command, "rich_help_panel", None) == title]
            with formatter.section(title):
                formatter.write_dl([(str(command.name), command.get_short_help_str(66)) for command in mine])


app = typer.Typer(
    name="evenhand",
    cls=Groups,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

TOGETHER = ("debias", "nli")
"""Commands that several processes can run together."""


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
) -> None:
    """Measure gender bias in language models and texts, with intervals."""
    if version:
        terminal.show(f"evenhand {__version__}")
        raise typer.Exit
    if processes() > 1 and context.invoked_subcommand not in TOGETHER:
        raise BadInput(
            f"'evenhand {context.invoked_subcommand}' runs in one process. Got {processes()}: start it without a "
            f"launcher. Several processes can train: {', '.join(TOGETHER)}."
        )


COMMANDS: list[tuple[str, Callable[..., None], str]] = [  # group, command, example
    (MEASURE, audit, "evenhand audit google-bert/bert-base-uncased --suite becpro"),
    (MEASURE, doctor, "evenhand doctor ./my-checkpoint --lang de"),
    (MEASURE, import_scores, "evenhand import scores.csv --dataset tgb --measure stereotype-share"),
    (MEASURE, rescore, "evenhand rescore runs/mini-en"),
    (MEASURE, track, "evenhand track ./my-training --suite becpro"),
    (MEASURE, measures, "evenhand measures"),
    (UNDERSTAND, runs, "evenhand runs"),
    (UNDERSTAND, show, "evenhand show runs/mini-en"),
    (UNDERSTAND, report, "evenhand report runs/mini-en --out page.html"),
    (UNDERSTAND, figures, "evenhand figures runs/mini-en --format png"),
    (UNDERSTAND, compare, "evenhand compare runs/before runs/after --as markdown"),
    (UNDERSTAND, table, "evenhand table runs/one runs/other --as latex"),
    (UNDERSTAND, export, "evenhand export runs/mini-en --as csv --out values.csv"),
    (UNDERSTAND, serve, "evenhand serve runs"),
    (DECIDE, gate, "evenhand gate runs/mini-en --policy policy.toml"),
    (CHANGE, swap, "evenhand swap corpus.txt --share 0.5"),
    (CHANGE, debias, "evenhand debias ./my-checkpoint --out debiased"),
    (STUDY, corpus, "evenhand corpus news.txt forum.txt"),
    (STUDY, metaeval, "evenhand metaeval --model mini-en --rates 0,0.5,1 --size 600"),
    (STUDY, reproduce, "evenhand reproduce bartl2020 --model google-bert/bert-base-uncased"),
]
for group, command, example in COMMANDS:
    name = example.split()[1]  # `import` cannot be the name of a function
    app.command(name, rich_help_panel=group, epilog=f"Example: {example}")(command)
app.add_typer(datasets.app, name="datasets", rich_help_panel=MEASURE)
app.add_typer(nli, name="nli", rich_help_panel=CHANGE)
for each in (app, datasets.app, nli):
    for registered in each.registered_commands:
        registered.cls, registered.callback = Once, as_command(registered.callback)  # type: ignore[arg-type]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and end with its exit code."""
    gc.set_threshold(100_000, 50, 50)  # importing and reading make many objects that stay: looking at them takes time
    invoked = next(iter(sys.argv[1:] if arguments is None else arguments), "")
    code = terminal.run(app, arguments, lambda message: as_flags(message, typer.main.get_command(app), invoked))
    gc.freeze()  # nothing is worth collecting any more: the end takes a fifth of a second otherwise
    sys.exit(code)
