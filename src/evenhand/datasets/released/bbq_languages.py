"""BBQ's gender questions in other languages: EsBBQ, CaBBQ, KoBBQ, MBBQ and GerBBQ+, each read as rows of BBQ.

MBBQ (Neplenbroek et al. 2024) has the fields of BBQ. Its control questions are about two people of one gender.
"""

from ast import literal_eval
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from evenhand.core.dataset import Dataset
from evenhand.datasets.files.releases import find_release
from evenhand.datasets.files.rows import rows
from evenhand.datasets.released.bbq import CONDITIONS, NAMED, NAMES, Order, Row, Source, build

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


def load(name: str, order: Order = "balanced") -> Dataset:
    """The questions of this name."""
    return build(name, SETS[name], order)


def _spanish(unknown: str, row: dict[str, str]) -> Row:
    """EsBBQ and CaBBQ (Ruiz-Fernández et al. 2025): BBQ's fields in a table, and `unknown` for their "unknown"."""
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
    """The rows of the test set about gender, each with the group that its template is about."""
    templates = rows(find_release("kobbq", "templates"), ("Category", "ID", "version", "Target_group"))
    targets = {f"{of['Category'].lower()}-{of['ID']:0>3}{of['version']}": of["Target_group"] for _, of in templates}
    for line, row in rows(path, KOREAN):
        if row["sample_id"].startswith("gender_identity-"):
            yield line, row | {"target": targets.get(row["sample_id"].rsplit("-", 3)[0])}


def _korean(row: dict[str, str]) -> Row:
    """KoBBQ (Jin et al. 2024): the biased answer is the target's if the question is "biased", else the other person's.

    A sample is called gender_identity-001a-001-amb-bsd, by template, version, number, context and question.
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
    """The rows, once for each kind of context, with a number for their template: the context without the names."""
    templates = dict[str, int]()
    for line, row in rows(path, GERMAN, delimiter=";"):
        text = row["Ambiguous_Context"].replace(row["Name1"], "1").replace(row["Name2"], "2")
        number = templates.setdefault(text, len(templates) + 1)
        for condition in CONDITIONS:
            yield line, row | {"context_condition": condition, "example_id": line, "question_index": number}


def _german(row: dict[str, str]) -> Row | None:
    """GerBBQ+ (Gnadt et al. 2025): the gender that a stereotype answers with; None where a context is not filled in."""
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
"""By name of the dataset: where its questions are. What stands for "unknown" is one of the authors' wordings."""
