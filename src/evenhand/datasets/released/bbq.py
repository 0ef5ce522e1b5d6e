"""BBQ's questions about gender, in seven languages: two people, and "unknown" among the options.

BBQ (Parrish et al. 2022) is English. Rows of EsBBQ, CaBBQ, KoBBQ and GerBBQ+ are converted to rows of BBQ; those of
MBBQ (Neplenbroek et al. 2024) have BBQ's fields. The control questions of MBBQ are about two people of one gender.
"""

from ast import literal_eval
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle, permutations
from pathlib import Path
from typing import Any, Literal

from evenhand.core.dataset import Dataset
from evenhand.core.files import from_json
from evenhand.core.items import Choice
from evenhand.datasets.files.releases import RELEASES, find_release
from evenhand.datasets.files.rows import rows
from evenhand.datasets.kinds import kinds_of
from evenhand.errors import BadInput
from evenhand.measures.choices import AMBIGUOUS, DISAMBIGUATED

Order = Literal["balanced", "released", "all"]
Row = Mapping[str, Any]
CONDITIONS = {"ambig": AMBIGUOUS, "disambig": DISAMBIGUATED}
NAMES = ("ans0", "ans1", "ans2")
ABOUT = {"F": "women", "M": "men", "trans": "trans people"}
GROUPS = {
    "women": {"F", "woman", "girl", "vrouw", "meisje", "mujer", "chica", "kadın", "kız"},
    "men": {"M", "man", "boy", "jongen", "hombre", "chico", "adam", "erkek çocuk"},
    "trans people": {"trans", "trans_F", "trans_M"},
}
"""The labels of people in BBQ and MBBQ, by whom a stereotype is about."""
NAMED = "named"
"""The polarity of a question of which a release gives the stereotype's answer, but not whom the stereotype is about."""
POLARITIES = {"neg": "negative", "nonneg": "not negative", NAMED: ""}
ORDERS = [list(permutations(range(3)))[(number + number // 6) % 6] for number in range(36)]
"""Orders of stereotype, other person and unknown: rounds of all six, each round beginning one order later."""
UNKNOWN = "unknown"
FIELDS = ("question_polarity", "context_condition", "stereotyped_groups", "context", "question", "label", *NAMES)
SPANISH = ("instance_id", "template_id", *FIELDS, *(f"answer_info.{name}" for name in NAMES))
KOREAN = ("sample_id", "context", "question", "choices", "biased_answer", "answer")
KOREAN_TARGETS = {"여성": "F", "남성": "M", "트랜스젠더": "trans", "트랜스젠더 여성": "trans"}
"""The groups that KoBBQ's stereotypes about gender are about, as BBQ labels them."""
NOT_KNOWN = "알 수 없음"
GENDERS = {"1": "F", "0": "M"}
GERMAN = (
    *("Question", "Answer", "Answer_stereo", "Ambiguous_Context", "Disambiguating_Context"),
    *("Gender1", "Gender2", "Name1", "Name2"),
)


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file, each with its number."""
    with path.open(encoding="utf-8") as file:
        yield from enumerate(file, start=1)


@dataclass(frozen=True, slots=True)
class Source:
    """A file of a release, whose path contains `part`, and how it is read."""

    release: str
    part: str
    language: str = "en"
    lines: Callable[[Path], Iterable[tuple[int, Any]]] = text_lines
    read: Callable[[Any], Row | None] = from_json
    """Convert what `lines` gives to a row with BBQ's fields; None if it is no question."""
    control: bool = False
    """Whether its questions are unrelated to stereotypes."""
    by: Sequence[str] = ("about",)
    within: str = "polarity"


def load(name: str, order: Order = "balanced") -> Dataset:
    """The questions about gender of the release, language and kind of context that `name` says."""
    source = SETS[name]
    condition, says = ("disambig", "says the answer") if DISAMBIGUATED in name else ("ambig", "leaves the answer open")
    about = "no stereotype points to either" if source.control else "a stereotype points to one of them"
    return Dataset(
        name=name,
        language=source.language,
        about=f"Questions about two people; {about}. The context {says}.",
        **RELEASES[source.release].texts,
        items=list(_choices(source, condition, order)),
        by=source.by,
        within=source.within,
        cluster="template",
        kinds=kinds_of(name),
        options={"order": order},
    )


def _choices(source: Source, condition: str, order: Order) -> Iterator[Choice]:
    path = find_release(source.release, source.part)
    cycles = defaultdict[str, Iterator[Sequence[int]]](lambda: cycle(ORDERS))
    for line, record in source.lines(path):
        try:
            row = source.read(record)
            if row is None or row["context_condition"] != condition:
                continue
            choice = _choice(row, source, order, cycles)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, SyntaxError) as error:
            fetch = f"Fetch it again with: evenhand datasets fetch {source.release}."
            again = fetch if RELEASES[source.release].base else "Copy the file again."
            raise BadInput(f"{path}, line {line}: not a row of BBQ ({error!r}). {again}") from error
        if choice is not None:
            yield choice


def _choice(row: Row, source: Source, order: Order, cycles: Mapping[str, Iterator[Sequence[int]]]) -> Choice | None:
    """The row as an item; None if the stereotype is about both people or neither.

    A negative question asks for the target of the stereotype, a non-negative question for the other person, as in the
    authors' additional metadata. With `order="balanced"`, the options are in the next order of the polarity's cycle.
    """
    kinds = [row["answer_info"][name][1] for name in NAMES]
    if kinds.count(UNKNOWN) != 1:
        raise ValueError(f"one answer must be unknown, got {kinds}")
    unknown, polarity = kinds.index(UNKNOWN), row["question_polarity"]
    people = [place for place in range(3) if place != unknown]
    groups = {"condition": CONDITIONS[row["context_condition"]]}
    if not source.control:
        stereotyped = {ABOUT.get(label, "") for label in row["additional_metadata"]["stereotyped_groups"]} - {""}
        if len(stereotyped) != 1:
            raise ValueError(f"one group must be stereotyped, got {stereotyped}")
        (groups["about"],) = stereotyped
        targets = [place for place in people if kinds[place] in GROUPS[groups["about"]]]
        if len(targets) != 1:
            return None
        people.sort(key=lambda place: (place in targets) == (polarity == "nonneg"))  # the stereotype's answer first
    if POLARITIES[polarity]:
        groups["polarity"] = POLARITIES[polarity]
    words = [row["answer_info"][NAMES[place]][0] for place in people]
    groups["people"] = "names" if all(word[0].isupper() for word in words) else "words"
    roles = (*people, unknown)
    # which of the released options stands in each place
    places = [roles[role] for role in next(cycles[polarity])] if order == "balanced" else [0, 1, 2]
    return Choice(
        str(row["example_id"]),
        row["context"],
        row["question"],
        tuple(row[NAMES[place]] for place in places),
        right=places.index(int(row["label"])),
        stereotype=None if source.control else places.index(people[0]),
        unknown=places.index(unknown),
        groups=groups | {"template": str(row["question_index"])},
        orders=tuple(permutations(range(3))) if order == "all" else (),
        language=source.language,
    )


def _spanish(unknown: str, row: dict[str, str]) -> Row:
    """A row of EsBBQ or CaBBQ (Ruiz-Fernández et al. 2025) with BBQ's fields, and `unknown` as its option "unknown"."""
    info = {name: literal_eval(row[f"answer_info.{name}"]) for name in NAMES}
    labels = {"f": "F", "m": "M", UNKNOWN: UNKNOWN}
    return {
        **row,
        **{name: unknown if kind == UNKNOWN else row[name] for name, (_, kind) in info.items()},
        "answer_info": {name: (word, labels[kind]) for name, (word, kind) in info.items()},
        "additional_metadata": {
            "stereotyped_groups": [labels[kind] for kind in literal_eval(row["stereotyped_groups"])]
        },
        "example_id": row["instance_id"],
        "question_index": row["template_id"],
    }


def _korean_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """The rows of the test set about gender, each with the group that the stereotype of its template is about."""
    templates = rows(find_release("kobbq", "templates"), ("Category", "ID", "version", "Target_group"))
    targets = {
        f"{row['Category'].lower()}-{row['ID']:0>3}{row['version']}": row["Target_group"] for _, row in templates
    }
    for line, row in rows(path, KOREAN):
        if row["sample_id"].startswith("gender_identity-"):
            yield line, row | {"target": targets.get(row["sample_id"].rsplit("-", 3)[0])}


def _korean(row: dict[str, str]) -> Row:
    """A row of KoBBQ (Jin et al. 2024) with BBQ's fields.

    The biased answer is the target of the stereotype if the question is "biased", otherwise the other person. The
    id, as in gender_identity-001a-001-amb-bsd, gives template and version (001a), number, context and question.
    """
    _, template, _, condition, question = row["sample_id"].split("-")
    options, target = literal_eval(row["choices"]), KOREAN_TARGETS[row["target"]]
    biased, polarity = options.index(row["biased_answer"]), {"bsd": "neg", "cnt": "nonneg"}[question]
    kinds = [target if (place == biased) == (polarity == "neg") else "other" for place in range(len(options))]
    kinds[options.index(NOT_KNOWN)] = UNKNOWN
    return {
        **row,
        **dict(zip(NAMES, options, strict=True)),
        "example_id": row["sample_id"],
        "question_index": template[:-1],
        "question_polarity": polarity,
        "context_condition": {"amb": "ambig", "dis": "disambig"}[condition],
        "answer_info": dict(zip(NAMES, zip(options, kinds, strict=True), strict=True)),
        "additional_metadata": {"stereotyped_groups": [target]},
        "label": options.index(row["answer"]),
    }


def _german_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Each row once for each kind of context, with the number of its template: the context without the names."""
    templates = dict[str, int]()
    for line, row in rows(path, GERMAN, delimiter=";"):
        text = row["Ambiguous_Context"].replace(row["Name1"], "1").replace(row["Name2"], "2")
        number = templates.setdefault(text, len(templates) + 1)
        for condition in CONDITIONS:
            yield line, row | {"context_condition": condition, "example_id": line, "question_index": number}


def _german(row: dict[str, str]) -> Row | None:
    """A row of GerBBQ+ (Gnadt et al. 2025) with BBQ's fields; None if its context has a slot that is not filled in."""
    people, context, label = (row["Name1"], row["Name2"]), row["Ambiguous_Context"], 2
    kinds = (GENDERS[row["Gender1"]], GENDERS[row["Gender2"]])
    if row["context_condition"] == "disambig":
        context, label = f"{context} {row['Disambiguating_Context']}", people.index(row["Answer"])
    if "[NAME" in context:
        return None
    options = (*people, "unbekannt")
    return {
        **row,
        **dict(zip(NAMES, options, strict=True)),
        "question_polarity": NAMED,
        "answer_info": dict(zip(NAMES, zip(options, (*kinds, UNKNOWN), strict=True), strict=True)),
        "additional_metadata": {"stereotyped_groups": [GENDERS[row["Answer_stereo"]]]},
        "context": context,
        "question": row["Question"],
        "label": label,
    }


_table = partial(rows, columns=SPANISH)
FILES = {
    "bbq-{}": Source("bbq", "Gender_identity.jsonl"),
    "bbq-{}-ca": Source("cabbq", "Gender", "ca", _table, partial(_spanish, "No se sap")),
    "bbq-{}-es": Source("esbbq", "Gender", "es", _table, partial(_spanish, "No se sabe")),
    "bbq-{}-ko": Source("kobbq", "test_samples", "ko", _korean_lines, _korean),
    "gerbbq-{}": Source("gerbbq", "GerBBQ", "de", _german_lines, _german, within=""),
    **{f"mbbq-{{}}-{code}": Source("mbbq", f"identity_{code}", code) for code in ("es", "nl", "tr")},
    **{
        f"mbbq-control-{{}}-{code}": Source("mbbq", f"control_{code}", code, control=True, by=())
        for code in ("es", "nl", "tr")
    },
}
SETS = {name.format(condition): source for name, source in FILES.items() for condition in CONDITIONS.values()}
"""The source of the questions, by name of the dataset. The option "unknown" has one of the authors' wordings."""
