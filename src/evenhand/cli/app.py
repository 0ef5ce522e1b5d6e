"""The application: all commands, by group. Heavy imports wait until a command needs them."""

import gc
import inspect
import re
import sys
from collections import Counter
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


def _parse_batch_size(text: str) -> int | str:
    if not re.fullmatch("auto|[0-9]{1,9}", text):
        raise BadInput(f"--batch-size must be auto or a whole number of at least 1. Got '{text}'.")
    return text if text == "auto" else int(text)


def _parse_benchmarks(texts: list[str]) -> dict[str, str]:
    rows = [text.rpartition("=") for text in texts]
    for text, (dataset, _, benchmark) in zip(texts, rows, strict=True):
        if not (dataset and benchmark):
            raise BadInput(f"--hub must be DATASET=OWNER/NAME, for example tgb=me/tgb. Got '{text}'.")
    return {dataset: benchmark for dataset, _, benchmark in rows}


def _split_at_commas(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _parse_rates(text: str) -> list[float]:
    rate = ""
    try:
        return [float(rate := part) for part in _split_at_commas(text)]
    except ValueError as error:
        raise BadInput(f"Each of the `rates` must be a number between 0 and 1. Got '{rate}'.") from error


PARSERS: dict[str, Callable[[Any], Any]] = {
    "options": option_values,
    "model_options": partial(json_values, kind="model option", example="temperature=0.5"),
    "columns": partial(option_values, kind="column", example="text=Sentence"),
    "batch_size": _parse_batch_size,
    "hub": _parse_benchmarks,
    "measures": _split_at_commas,
    "rates": _parse_rates,
}
"""The function that turns the text of an option into its value, by parameter."""


def as_command(function: Callable[..., None]) -> Callable[..., None]:
    """Give the function a signature that Typer can read: its own parameters, and those of the TypedDict in `Unpack`.

    A parameter of the TypedDict that has neither a value nor a default is not passed to the function.
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
        function(**{name: PARSERS[name](value) if name in PARSERS else value for name, value in values.items()})

    call.__signature__ = inspect.Signature([*unpacked, *parameters])  # type: ignore[attr-defined]
    return call


def _typer_parameter(name: str, hint: Any, default: Any) -> inspect.Parameter:
    """The parameter with an annotation for Typer. A repeatable option that is not given is None."""
    kind, record = get_args(hint) or (hint, None)
    if record is not None:
        several = isinstance(record, Several)
        kind, default = record.kind or (list[str] if several else kind), None if several else default
        settings = {"help": record.text + " Repeatable." * several, "metavar": record.metavar, **record.typer}
        if isinstance(record, Argument):
            info = typer.Argument(**settings)
        else:
            info = typer.Option(*record.flags, rich_help_panel=record.group or None, **settings)
        hint = Annotated[kind | None if default is None else kind, info]
    default = inspect.Parameter.empty if default is ... else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)


class Once(typer.core.TyperCommand):
    """A command that rejects an option given twice, unless it takes a list: Typer silently keeps the last value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:  # set by shell completion
            *_, options = self.make_parser(ctx).parse_args(args=list(args))
            for option, times in Counter(options).items():
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
        """Run the command. A SystemExit is an error of other code, since evenhand ends commands by `typer.Exit`."""
        try:
            return super().invoke(ctx)
        except SystemExit as end:
            raise BadInput(f"Code that is not evenhand's ended the command by sys.exit({end.code!r}).") from end


MEASURE, UNDERSTAND, DECIDE, CHANGE, STUDY = "Measure", "Understand", "Decide", "Change", "Study"


class Groups(typer.core.TyperGroup):
    """Lists the commands by group: Measure, Understand, ..."""

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

MULTI_PROCESS = ("debias", "nli")
"""Commands that several processes can run together, started by a launcher such as torchrun."""


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
) -> None:
    """Measure gender bias in language models and texts, with intervals."""
    if version:
        terminal.show(f"evenhand {__version__}")
        raise typer.Exit
    if processes() > 1 and context.invoked_subcommand not in MULTI_PROCESS:
        raise BadInput(
            f"'evenhand {context.invoked_subcommand}' runs in one process. Got {processes()} processes. Start it "
            f"without a launcher. Commands that several processes can run: {', '.join(MULTI_PROCESS)}."
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
    gc.set_threshold(100_000, 50, 50)  # imports and files make many long-lived objects, slow to scan again and again
    invoked = next(iter(sys.argv[1:] if arguments is None else arguments), "")
    code = terminal.run(app, arguments, lambda message: as_flags(message, typer.main.get_command(app), invoked))
    gc.freeze()  # or the collection at exit takes a fifth of a second
    sys.exit(code)
