"""Options and printing that several commands share."""

import json
from contextlib import suppress
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any

import typer

from evenhand.cli import terminal
from evenhand.core.shown import UNSEEN
from evenhand.errors import BadInput

Names = list[str] | None
Paths = list[Path] | None


def opt(text: str, *names: str, **how: Any) -> Any:
    """An option with its help, for an annotation; `names` are flags, which begin with a dash, and the metavar."""
    metavar = next((name for name in names if not name.startswith("-")), None)
    return typer.Option(*(name for name in names if name.startswith("-")), help=text, metavar=metavar, **how)


def arg(text: str, metavar: str | None = None) -> Any:
    """The same for an argument."""
    return typer.Argument(help=text, metavar=metavar)


RunFolder = Annotated[Path, arg("A run folder.")]
Force = Annotated[bool, opt("Replace files that exist.", "--force")]
Lang = Annotated[
    str | None,
    opt("en: take all texts as English. Default: skip or refuse others. Another language needs --word-pairs."),
]
Json = Annotated[bool, opt("Print results as JSON.", "--json")]
Limit = Annotated[int | None, opt("Measure a random sample of at most N items per dataset.", "N")]
Seed = Annotated[int, opt("The random seed.")]
Revision = Annotated[str | None, opt("Branch, tag or commit on the Hub.")]
Dtype = Annotated[str, opt("float32, bfloat16, float16, or auto (bfloat16 if it is native).")]
Device = Annotated[str | None, opt("cpu, cuda, cuda:1, mps. Default: cuda if available.")]
RemoteCode = Annotated[bool, opt("Allow a Hub model to run its own code.")]
WORD_PAIRS = "Your own gendered words, of any language, a pair per line: male, tab, female."
LABELS = "The labels of a classifier's outputs, in order, if its configuration does not name them."
Labels = Annotated[str, opt(f"{LABELS} Causal models, suite nli: words for the labels.", "A,B,C")]
BaseUrl = Annotated[
    str | None, opt("For openai:NAME: the server's address. Default: OPENAI_BASE_URL, or OpenAI's.", "URL")
]
Concurrency = Annotated[int, opt("For openai:NAME: send at most N requests at once.", "N")]
Samples = Annotated[int, opt("For openai:NAME: how often to ask a question if the server gives only text.", "N")]
Engine = Annotated[str, opt("ray: use the workers of a Ray cluster.", "local|ray")]
Address = Annotated[str | None, opt("With ray: the cluster, or auto. Default: start one here.", "HOST:PORT")]
Workers = Annotated[int | None, opt("With ray: the largest number of workers. Default: as many as fit.")]
Options = Annotated[Names, opt("An option of a dataset or measure: masks=words. Repeatable.", "--option", "NAME=VALUE")]
ModelOptions = Annotated[
    Names, opt("An option of the plugin that loads the model. Repeatable.", "--model-option", "NAME=VALUE")
]


def _load_plugins(files: Paths) -> None:
    """Load these files, and what installed packages have; the package is imported only if there is something."""
    if files or any(group.startswith("evenhand.") for group in entry_points().groups):
        from evenhand import plugins

        plugins.load_installed()
        for file in files or ():
            plugins.load_file(file)


PLUGINS = "Load your own measures, datasets, models or debiasing methods. Repeatable."
Plugins = Annotated[Paths, opt(PLUGINS, "--plugin", "FILE.py", callback=_load_plugins, is_eager=True)]


def print_json(data: object) -> None:
    """Print data as JSON, with control characters escaped."""
    text = json.dumps(data, indent=1, ensure_ascii=False)
    terminal.show(UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def print_or_write(text: str, out: Path | None) -> None:
    """Print a text, or write it to a file, which ends with a line break."""
    from evenhand.core.files import write_whole

    text = text.rstrip("\n")
    if out is None:
        terminal.show(text)
    else:
        write_whole(out, lambda file: file.write(f"{text}\n".encode()))


def model_options(given: Names) -> dict[str, Any]:
    """The options of the plugin that loads the model, by name."""
    return values(given, "model option", "temperature=0.5")


def values(given: Names, what: str, example: str) -> dict[str, Any]:
    """The values of options of somebody else's code, by name: numbers, true and false as JSON, the others as texts."""
    found: dict[str, Any] = dict(parsed(given, what, example))
    for name, value in found.items():
        with suppress(ValueError):
            found[name] = json.loads(value)
    return found


def parsed(options: Names, what: str = "option", example: str = "masks=words") -> dict[str, str]:
    """The values of options, by name."""
    found: dict[str, str] = {}
    for option in options or []:
        name, sign, value = option.partition("=")
        if not (name and sign and value):
            article = "An" if what == "option" else "A"
            raise BadInput(f"{article} {what} is NAME=VALUE, as in {example}. Got '{option}'.")
        if name in found:
            raise BadInput(f"The {what} {name} is given twice. Got {name}={found[name]} and {option}: choose one.")
        found[name] = value
    return found
