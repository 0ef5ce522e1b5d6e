"""The parameters of functions and commands, each defined once.

A class has the parameters of one subject, with their types and their descriptions for `--help` and the docs. The types
are those of Python where a function unpacks the class, and those of the command line elsewhere.
"""

import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, TypeVar, Unpack, get_args, get_origin, get_type_hints

from evenhand.core.typed import Named

if TYPE_CHECKING:
    from evenhand.core.dataset import Datasets
    from evenhand.core.measure import Measures

Function = TypeVar("Function", bound=Callable[..., Any])


class Says:
    """The description of a parameter. `names` are the flags of its option, if not its own name, and a metavar.

    `kind` is its type on the command line, if Python accepts more. `--help` shows parameters in backticks as options.
    """

    def __init__(self, text: str, *names: str, default: Any = None, kind: Any = None, group: str = "", **typer: Any):
        self.text, self.default, self.kind, self.group, self.typer = text, default, kind, group, typer
        self.flags = [name for name in names if name.startswith("-")]
        self.metavar = next((name for name in names if not name.startswith("-")), None)


class Several(Says):
    """The description of a parameter that takes a list: an option that can be repeated."""


class Argument(Says):
    """The description of a positional argument."""


def in_group(group: str) -> Callable[[type], type]:
    """List the parameters of a class under this heading in `--help`."""

    def group_all(subject: type) -> type:
        for record in records_of(subject).values():
            record.group = record.group or group
        return subject

    return group_all


def records_of(*subjects: type) -> dict[str, Says]:
    """The descriptions of the parameters of these classes, by name."""
    return {name: get_args(hint)[1] for subject in subjects for name, hint in subject.__annotations__.items()}


def select_parameters(arguments: Mapping[str, Any], *subjects: type) -> dict[str, Any]:
    """The arguments whose parameters belong to these classes."""
    return {name: value for name, value in arguments.items() if name in records_of(*subjects)}


def describe(*subjects: type, **records: Says) -> Callable[[Function], Function]:
    """Add descriptions of parameters to a docstring: `records`, those of `subjects`, and those of an unpacked class.

    The parameters of the unpacked class also replace it in the signature.
    """

    def add_texts(function: Any) -> Any:
        signature, parameters, known = inspect.signature(function), [], records_of(*subjects) | records
        for parameter in signature.parameters.values():
            if get_origin(parameter.annotation) is not Unpack:
                parameters.append(parameter)
                continue
            (subject,) = get_args(parameter.annotation)
            known |= records_of(subject)
            for name, hint in get_type_hints(subject, function.__globals__).items():
                default = known[name].default
                parameters.append(inspect.Parameter(name, parameter.KEYWORD_ONLY, default=default, annotation=hint))
        function.parameters = {each.name: known[each.name] for each in parameters if each.name in known}
        lines = [f"{name}: {record.text}" for name, record in function.parameters.items()]
        lines = [textwrap.fill(line, 110, initial_indent=" " * 4, subsequent_indent=" " * 8) for line in lines]
        function.__doc__ = "\n".join([inspect.cleandoc(function.__doc__), "", "Parameters:", *lines])
        function.__signature__ = signature.replace(parameters=parameters)
        return function

    return add_texts


Options = Mapping[str, Any] | None
WHAT, MODEL, RESULTS, SERVER = "What to measure", "The model", "Results", "Servers"
RAY, GATE, OUTPUT = "Ray", "Gate", "Output"
GROUPS = (WHAT, MODEL, RESULTS, SERVER, RAY, GATE, OUTPUT)
"""The headings of options, in the order of `--help`."""
SUITE = (
    "becpro, choices, emotions, gbef, kinds, known, nli, vectors or writes. Default: becpro, emotions and gbef; nli "
    "for an NLI classifier, vectors for a file of them."
)
SCORES = (
    "csv, tsv, jsonl, parquet, txt (one number per line), files of lm-evaluation-harness or StereoSet, logs of our "
    "tasks in inspect (.eval, .json)."
)
CHECKPOINTS = Argument(
    "A training's output folder with its checkpoint-*; or model folders, run folders, Hub ids (ID@REVISION), in the "
    "order of the training.",
    "MODEL",
)
ONE_MODEL = Argument("A bundled name, a folder, a .gguf file, a file of vectors, a Hub id or openai:NAME.")
MODELS = Argument(
    "Bundled names, folders, .gguf files, files of vectors, Hub ids, openai:NAME. The command's default: mini-en.",
    "MODEL",
)
COMPARED = Argument("Run folders; the first is the baseline.", "RUN")
LABELS = "The labels of a classifier's outputs, in order, if its configuration does not name them."
SAMPLE = "Measure a random sample of at most N items per dataset."
BUDGET = "Sample whole clusters: at most N requests in all, besides checks; N questions of a model in this process."
SYSTEM = "a text file with the system prompt (Python: its text, or the Path of a file)"
DEFAULT = "mini-en"
Seed = Annotated[int, Says("The random seed.", default=0)]
Limit = Annotated[int | None, Says(SAMPLE, "N")]
Force = Annotated[bool, Says("Replace files that exist.", "--force", default=False)]
COLUMN = Several("A column with texts, if a file is a table. Default: text.")
Baseline = Annotated[Path | None, Says("The run that worse_by_at_most compares with. Overrides the policy's.", "RUN")]
Progress = Annotated[bool | None, Says("Show a progress bar. Default: on a terminal and in a notebook.")]
OWN_NAMES = "Your own first names, a pair per line: male, tab, female."
WORD_PAIRS = Says("Your own gendered words, of any language, a pair per line: male, tab, female.")
Lang = Annotated[
    str | None,
    Says("en: take all texts as English. Default: skip or refuse others. Another language needs `word_pairs`."),
]


@in_group(WHAT)
class What(TypedDict, total=False):
    """What is measured."""

    suite: Annotated[Named, Several(SUITE, "NAME", default="all")]
    lang: Annotated[
        Named, Several("en (default); becpro, vectors: also de; known: fr, nl; nli: ja, zh; `pairs`: any.", "LANG")
    ]
    templates: Annotated[Named, Several("Your own sentences or sets of words: a TOML file.", "FILE", kind=list[Path])]
    pairs: Annotated[Named, Several("Your own sentence pairs: csv, tsv, jsonl or parquet.", "FILE", kind=list[Path])]
    dataset: Annotated["Datasets", Several("Measure this dataset instead of a suite.", "NAME")]
    measure: Annotated["Measures", Several("With a dataset: use this measure. Default: all that suit it.", "NAME")]
    options: Annotated[
        Options,
        Several(
            'An option of a dataset or measure: masks=words (Python: {"masks": "words"}).', "--option", "NAME=VALUE"
        ),
    ]
    limit: Annotated[int | None, Says(SAMPLE, "N")]
    budget: Annotated[int | None, Says(BUDGET, "N")]
    seed: Annotated[int, Says("The random seed for samples and intervals.", default=0)]


@in_group(MODEL)
class Asked(TypedDict, total=False):
    """How a model is asked choices and texts."""

    chat: Annotated[
        bool | None, Says("Ask choices and texts in chats, or plainly. Default: in chats if a server has them.")
    ]
    system: Annotated[
        Named, Several(f"With `chat`: {SYSTEM}. Several: a run for each, side by side.", "FILE", kind=list[Path])
    ]
    temperature: Annotated[float | None, Says("Draw texts at this temperature. Default: 1.")]


@in_group(MODEL)
class CheckpointOptions(TypedDict, total=False):
    """How weights are loaded."""

    dtype: Annotated[str, Says("float32, bfloat16, float16, or auto (bfloat16 if it is native).", default="float32")]
    device: Annotated[str | None, Says("cpu, cuda, cuda:1, mps. Default: cuda if available.")]
    batch_size: Annotated[int | str, Says("Inputs per batch.", "N|auto", default="auto", kind=str)]
    trust_remote_code: Annotated[bool, Says("Allow a Hub model to run its own code.", default=False)]
    labels: Annotated[
        str | Sequence[str],
        Says(f"{LABELS} Causal models, suite nli: words for the labels.", "A,B,C", default="", kind=str),
    ]


@in_group(SERVER)
class Served(TypedDict, total=False):
    """How a model behind a server is asked."""

    base_url: Annotated[
        str | None, Says("For openai:NAME: the server's address. Default: OPENAI_BASE_URL, or OpenAI's.", "URL")
    ]
    concurrency: Annotated[int, Says("For openai:NAME: send at most N requests at once.", "N", default=8)]
    samples: Annotated[
        int, Says("For openai:NAME: how often to ask a question if the server gives only text.", "N", default=20)
    ]


@in_group(MODEL)
class Loading(CheckpointOptions, Served, total=False):
    """What `evenhand.load` takes besides a name."""

    revision: Annotated[str | None, Says("Branch, tag or commit on the Hub.")]


@in_group(MODEL)
class Loaded(Loading, total=False):
    """What `evenhand.load` takes, and options of a plugin."""

    model_options: Annotated[Options, Several("An option of the model's plugin.", "--model-option", "NAME=VALUE")]


@in_group(RAY)
class Cluster(TypedDict, total=False):
    """Where the work is done."""

    engine: Annotated[str, Says("ray: use the workers of a Ray cluster.", "local|ray", default="local")]
    address: Annotated[str | None, Says("With ray: the cluster, or auto. Default: start one here.", "HOST:PORT")]
    workers: Annotated[int | None, Says("With ray: the largest number of workers. Default: as many as fit.")]


@in_group(RESULTS)
class Results(TypedDict, total=False):
    """Where results go."""

    out: Annotated[str | Path, Says("Write runs to OUT/<model>/.", default="runs", kind=Path)]
    name: Annotated[str | None, Says("Name of the run and its folder. Default: the model's.")]
    fresh: Annotated[bool, Says("Delete the run's earlier results and start over.", "--fresh", default=False)]
    doctor: Annotated[
        bool, Says("Let the doctor examine the model first. Without it, no number has a verdict.", default=True)
    ]
    page: Annotated[bool, Says("Write the run's page.", default=True)]


@in_group(GATE)
class GateOptions(TypedDict, total=False):
    """The policy that judges a run, and its baseline."""

    gate: Annotated[
        Path | None,
        Says(
            "Judge by a policy (TOML); the verdict is in gate.json. The command ends with 1 for fail, 3 for undecided."
        ),
    ]
    baseline: Baseline


class Audited(What, Asked, Loaded, Results, total=False):
    """What `evenhand.audit` and `evenhand.sweep` take."""


class Tracked(What, Asked, CheckpointOptions, Cluster, total=False):
    """What `evenhand.track` takes."""

    out: Annotated[
        str | Path, Says("Where runs, page, numbers and figure go.", default="runs/track", kind=Path, group=RESULTS)
    ]
    revision: Annotated[Named, Several("Branch, tag or commit of the one Hub model.", group=MODEL)]
    form: Annotated[str, Says("The figure: svg, pdf, png or html.", "--format", default="svg", group=RESULTS)]


class Doctor(Loaded, total=False):
    """What the doctor examines."""

    lang: Annotated[str, Says("The language to measure it in: en, de, ja or zh.", default="en", group=WHAT)]
    suite: Annotated[str, Says("Check the words and lengths of this suite.", default="all", group=WHAT)]


class ImportOptions(TypedDict, total=False):
    """Scores that were computed elsewhere."""

    scores: Annotated[Any, Argument(SCORES, "FILE", default=..., kind=list[Path])]
    dataset: Annotated[str | None, Says("The dataset that was scored. Logs of our own tasks name it.", "NAME")]
    measure: Annotated[list[str], Several("The measure of the scores. Default: what suits.", "NAME")]
    name: Annotated[str | None, Says("The model's name. Default: the log's, or the file's.", "MODEL")]
    columns: Annotated[
        Options, Several("The column of id, text, other or score: text=Sentence.", "--column", "NAME=COLUMN")
    ]
    options: Annotated[Options, Several("An option of the dataset or measure.", "--option", "NAME=VALUE")]
    kind: Annotated[str | None, Says("The kind of model, if you know it: masked, causal or nli.", "KIND")]
    seed: Seed
    out: Annotated[Path, Says("Write the run to OUT/<model>/.", default="runs")]
    fresh: Annotated[bool, Says("Replace an existing run.", "--fresh", default=False)]


class Swap(Cluster, total=False):
    """How texts are swapped."""

    file: Annotated[Path, Argument("Texts: txt, csv, tsv, jsonl, parquet; or a folder of these.", default=...)]
    out: Annotated[Path | None, Says("A file or folder. Default: FILE.swapped.EXT, next to FILE.")]
    column: Annotated[list[str], COLUMN]
    lines: Annotated[bool, Says("Each line of a txt file is a document.", "--lines", default=False)]
    grammar: Annotated[
        str, Says("How to choose him or his: rules, model, or auto (the model if rules are unsure).", default="auto")
    ]
    to: Annotated[str, Says("other (the other gender) or neutral (they, firefighter).", default="other")]
    only: Annotated[str | None, Says("Swap in one direction only: he-to-she or she-to-he.")]
    share: Annotated[float, Says("The share of documents to swap: 0.5 for a balanced corpus.", default=1.0)]
    augment: Annotated[bool, Says("Keep each document, followed by its swapped version.", default=False)]
    names: Annotated[bool | str | Path, Says(OWN_NAMES, "--names", "--name-list", kind=str)]
    word_pairs: Annotated[str | None, WORD_PAIRS]
    trail: Annotated[bool, Says("Write a log of all edits to OUT.trail.jsonl.", default=False)]
    lang: Lang
    force: Force
    seed: Annotated[int, Says("The random seed for choosing documents.", default=0)]
    jobs: Annotated[int | None, Says("Number of processes. Default: one per core.")]


class Debias(TypedDict, total=False):
    """How a model is debiased."""

    model: Annotated[str, Argument("A bundled name, a folder or a Hub id.", default=DEFAULT)]
    out: Annotated[Path, Says("A folder for the new model and both runs.", default="runs/debiased")]
    method: Annotated[
        Any,
        Says(
            "cds (fine-tune on swapped text), hard-debias (word vectors), or a plugin's.",
            "NAME",
            default="cds",
            kind=str,
        ),
    ]
    corpus: Annotated[str, Says("balanced, gap, gap-flipped, mt-gender, or a text file.", default="balanced")]
    share: Annotated[float | None, Says("Share of documents to swap. Default: 0.5, or 0 for balanced.")]
    remind: Annotated[list[str], Several("Add reminders: pregnant, breastfeed, or a file.")]
    repeat: Annotated[int, Says("How many times to add each reminder.", default=1)]
    recipe: Annotated[
        str, Says("Training: default, bartl-paper, bartl-released or bartl-released-padded.", default="default")
    ]
    suite: Annotated[str, Says("The suite to measure before and after.", default="all")]
    limit: Limit
    seed: Annotated[int, Says("The random seed of the swap, the training, samples and intervals.", default=0)]


class Learn(TypedDict, total=False):
    """What a model learns from corpora."""

    model: Annotated[str, Says("With `train`: the model to debias and train.", default=DEFAULT)]
    debias_on: Annotated[str, Says("With `train`: the corpus to debias it on.", default="balanced")]
    size: Annotated[int | None, Says("With `train`: sentences per corpus. Default: as in the smallest.")]
    equal: Annotated[bool, Says("With `train`: use the same amount of each corpus, or all of it.", default=True)]
    draws: Annotated[int, Says("With `train`: how many times to sample and train.", default=1)]
    recipe: Annotated[str, Says("With `train`: default, bartl-paper or bartl-released.", default="default")]
    limit: Annotated[int | None, Says("With `train`: measure a sample of N pairs.", "N")]


class Lint(TypedDict, total=False):
    """What is checked for faults."""

    file: Annotated[str, Argument("Sentence pairs: csv, tsv, jsonl or parquet; or a dataset's name.", default=...)]
    stereotype: Annotated[str, Says("The column with the stereotypes.", default="stereotype")]
    counterpart: Annotated[str, Says("The column with the counterparts.", default="counterpart")]
    model: Annotated[str | None, Says("Count tokens with this model; none skips that rule.", default=DEFAULT)]


class Export(TypedDict, total=False):
    """What `export` writes: which runs, in which format, and where."""

    runs: Annotated[list[Path], Argument("Run folders; several for bibtex, csv, latex.", "RUN", default=...)]
    to: Annotated[
        str, Says("bibtex, csv, eval-results, every-eval-ever, latex, model-card.", "--as", "FORMAT", default=...)
    ]
    out: Annotated[
        Path | None, Says("A file or folder to write to. Without it the text is printed, or in Python returned.")
    ]
    into: Annotated[Path | None, Says("model-card: the README.md to put the section into.")]
    scores: Annotated[bool, Says("csv: write the scores of items instead of values.", "--scores")]
    cite: Annotated[list[str], Several("bibtex: a training corpus, such as gap.")]
    hub: Annotated[Options, Several("eval-results: a dataset's Hub benchmark.", "DATASET=OWNER/NAME")]
    organization: Annotated[str | None, Says("every-eval-ever: the organization that measured.")]
    relationship: Annotated[
        str | None, Says("every-eval-ever: first_party (the maker), third_party, collaborative, other.")
    ]
    force: Force


class TableOptions(TypedDict, total=False):
    """What a table shows."""

    runs: Annotated[list[Path], Argument("Run folders, one for each model.", "RUN", default=...)]
    measure: Annotated[list[str], Several("A measure. Default: the main numbers.")]
    dataset: Annotated[list[str], Several("A dataset. Default: all.")]
    group: Annotated[list[str], Several("A group, such as balanced. Default: all items.")]
    published: Annotated[bool, Says("The numbers that papers report instead.", "--published", default=False)]


class Rescore(TypedDict, total=False):
    """What is scored again."""

    path: Annotated[Path, Argument("A run folder.", "RUN", default=...)]
    file: Annotated[list[Path], Several("Your own data file, if it has moved.", kind=list[Path])]
