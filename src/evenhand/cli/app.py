"""The application: all commands, by group. Heavy imports wait until a command needs them."""

import gc
import inspect
import sys
from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Annotated, Any, Unpack, get_args, get_origin

import typer
import typer.core

from evenhand._version import __version__
from evenhand.cli import datasets, terminal
from evenhand.cli.change import debias, nli, swap
from evenhand.cli.datasets import measures
from evenhand.cli.measure import audit, doctor, gate, import_scores, track
from evenhand.cli.show import compare, export, figures, report, rescore, runs, serve, show, table
from evenhand.cli.study import corpus, metaeval, reproduce
from evenhand.cli.terminal import as_flags, json_values, option_values
from evenhand.core.parameters import GROUPS, OUTPUT, Argument, Several, records_of
from evenhand.errors import BadInput
from evenhand.training import processes


def _batch_size(given: str) -> int | str:
    if given != "auto" and not given.isdecimal():
        raise BadInput(f"--batch-size must be auto or a whole number from 1. Got '{given}'.")
    return given if given == "auto" else int(given)


def _benchmarks(given: list[str]) -> dict[str, str]:
    rows = [text.rpartition("=") for text in given]
    for text, (dataset, _, benchmark) in zip(given, rows, strict=True):
        if not (dataset and benchmark):
            raise BadInput(f"--hub must be DATASET=OWNER/NAME, as in tgb=me/tgb. Got '{text}'.")
    return {dataset: benchmark for dataset, _, benchmark in rows}


def _split(given: str) -> list[str]:
    return [part.strip() for part in given.split(",") if part.strip()]


def _rates(given: str) -> list[float]:
    rate = ""
    try:
        return [float(rate := part) for part in _split(given)]
    except ValueError as error:
        raise BadInput(f"A rate of bias is a number between 0 and 1. Got '{rate}'.") from error


READ: dict[str, Callable[[Any], Any]] = {
    "options": option_values,
    "model_options": partial(json_values, what="model option", example="temperature=0.5"),
    "columns": partial(option_values, what="column", example="text=Sentence"),
    "batch_size": _batch_size,
    "hub": _benchmarks,
    "measures": _split,
    "rates": _rates,
}
"""By parameter: how its text on the command line becomes its value in Python."""


def as_command(function: Callable[..., None]) -> Callable[..., None]:
    """The function with a signature that Typer can read: its own parameters, and those of the class that it unpacks.

    An unpacked parameter that has neither a value nor a default is not passed on.
    """
    parameters, unpacked = [], []
    for parameter in inspect.signature(function).parameters.values():
        if get_origin(parameter.annotation) is not Unpack:
            parameters.append(_typer_parameter(parameter.name, parameter.annotation, parameter.default))
            continue
        (subject,) = get_args(parameter.annotation)
        for name, record in records_of(subject).items():
            unpacked.append(_typer_parameter(name, subject.__annotations__[name], record.default))
    optional = {parameter.name for parameter in unpacked}

    @wraps(function)
    def call(**given: Any) -> None:
        values = {name: value for name, value in given.items() if value is not None or name not in optional}
        function(**{name: READ[name](value) if name in READ else value for name, value in values.items()})

    call.__signature__ = inspect.Signature([*unpacked, *parameters])  # type: ignore[attr-defined]
    return call


def _typer_parameter(name: str, hint: Any, default: Any) -> inspect.Parameter:
    """A parameter as Typer reads it; one that may be a list is None if it is not given."""
    kind, record = get_args(hint) or (hint, None)
    if record is not None:
        several = isinstance(record, Several)
        kind, default = record.kind or (list[str] if several else kind), None if several else default
        how = {"help": record.text + " Repeatable." * several, "metavar": record.metavar, **record.typer}
        if isinstance(record, Argument):
            info = typer.Argument(**how)
        else:
            info = typer.Option(*record.flags, rich_help_panel=record.group or None, **how)
        hint = Annotated[kind | None if default is None else kind, info]
    default = inspect.Parameter.empty if default is ... else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)


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
            if record := parameter.get_help_record(ctx):
                sections[title].append((record[0], as_flags(record[1], self)))
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
            group = [command for command in commands if getattr(command, "rich_help_panel", None) == title]
            with formatter.section(title):
                formatter.write_dl([(str(command.name), command.get_short_help_str(66)) for command in group])


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
