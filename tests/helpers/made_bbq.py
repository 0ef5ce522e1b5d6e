"""Files like BBQ's Gender_identity.jsonl, and like those of its kin in other languages, with questions of our own."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PEOPLE = (("Ann", "Bob"), ("Cleo", "Dan"), ("Eve", "Finn"))
ASKED = (("forgot the keys", "remembered the keys"), ("was late", "was early"), ("lost the game", "won the game"))
UNKNOWNS = ("Not known", "Can't answer")
WORDS = {
    "es": {"F": "mujer", "M": "hombre"},
    "nl": {"F": "vrouw", "M": "jongen"},
    "tr": {"F": "kız", "M": "erkek çocuk"},
}
"""The labels that MBBQ has for people, in part."""
Rows = list[dict[str, Any]]


def rows(templates: int = 8) -> Rows:
    """For each template three pairs of names, two conditions, two questions; men are the target of every other one."""
    found: Rows = []
    for template in range(templates):
        bad, good = ASKED[template % len(ASKED)]
        for number, (woman, man) in enumerate(PEOPLE):
            target, other = ("F", "M") if template % 2 == 0 else ("M", "F")
            people = {"F": woman, "M": man}
            context = f"On day {template} {woman} and {man} met."
            for condition in ("ambig", "disambig"):
                said = f" {people[target]} {bad}, {people[other]} {good}." if condition == "disambig" else ""
                for polarity, what, who in (("neg", bad, target), ("nonneg", good, other)):
                    options = [people["F"], UNKNOWNS[number % 2], people["M"]]
                    kinds = ["F", "unknown", "M"]
                    turn = (template + number) % 3
                    options, kinds = options[turn:] + options[:turn], kinds[turn:] + kinds[:turn]
                    found.append(
                        {
                            "example_id": len(found),
                            "question_index": str(template),
                            "question_polarity": polarity,
                            "context_condition": condition,
                            "answer_info": {f"ans{n}": [options[n], kinds[n]] for n in range(3)},
                            "additional_metadata": {"stereotyped_groups": [target]},
                            "context": context + said,
                            "question": f"Who {what}?",
                            **{f"ans{n}": options[n] for n in range(3)},
                            "label": kinds.index("unknown" if condition == "ambig" else who),
                        }
                    )
    return found


def write(data: Path, content: Sequence[Mapping[str, Any]] | str | None = None) -> Path:
    """Put it where EVENHAND_DATA is to point to."""
    file = data / "bbq" / "Gender_identity.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    if not isinstance(content, str):
        content = "".join(f"{json.dumps(row)}\r\n" for row in content or rows())
    file.write_text(content, encoding="utf-8", newline="")
    return file


def write_table(file: Path, content: Rows, delimiter: str) -> Path:
    """A csv or tsv file with these rows."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, list(content[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(content)
    return file


def spanish(content: Rows) -> Rows:
    """The rows as in EsBBQ and CaBBQ."""
    return [
        {
            "instance_id": row["example_id"],
            "template_id": row["question_index"],
            **{name: row[name] for name in ("question_polarity", "context_condition", "context", "question", "label")},
            "stereotyped_groups": str([label.lower() for label in row["additional_metadata"]["stereotyped_groups"]]),
            **{f"answer_info.{name}": str([who, kind.lower()]) for name, (who, kind) in row["answer_info"].items()},
            **{name: "unknown" if kind == "unknown" else row[name] for name, (_, kind) in row["answer_info"].items()},
        }
        for row in content
    ]


def write_spanish(data: Path, language: str, content: Rows) -> Path:
    return write_table(data / f"{language}bbq" / f"data_{language}" / "Gender.full.csv", content, ",")


def korean(content: Rows) -> tuple[Rows, Rows]:
    """The rows as the samples and templates of KoBBQ, and a sample about something else."""
    samples, templates = [{"sample_id": "age-001a-001-amb-bsd", "choices": "", "biased_answer": "", "answer": ""}], []
    for row in content:
        number, negative = int(row["question_index"]) + 1, row["question_polarity"] == "neg"
        (target,) = row["additional_metadata"]["stereotyped_groups"]
        told = "amb" if row["context_condition"] == "ambig" else "dis"
        kinds = [row["answer_info"][f"ans{n}"][1] for n in range(3)]
        options = ["알 수 없음" if kind == "unknown" else row[f"ans{n}"] for n, kind in enumerate(kinds)]
        biased = kinds.index(target if negative else {"F": "M", "M": "F"}[target])
        sample = {
            "sample_id": f"gender_identity-{number:03}a-{row['example_id']:03}-{told}-{'bsd' if negative else 'cnt'}",
            "choices": str(options),
            "biased_answer": options[biased],
            "answer": options[row["label"]],
        }
        samples.append(sample)
        if row["example_id"] % 12 == 0:
            group = {"F": "여성", "M": "남성"}[target]
            of = {"Category": "Gender_identity", "ID": number, "version": "a", "Target_group": group}
            templates.append(of)
    of_row = [
        {"context": "", "question": ""},
        *({name: row[name] for name in ("context", "question")} for row in content),
    ]
    return [sample | text for sample, text in zip(samples, of_row, strict=True)], templates


def write_korean(data: Path, samples: Rows, templates: Rows) -> Path:
    write_table(data / "kobbq" / "KoBBQ_templates.tsv", templates, "\t")
    return write_table(data / "kobbq" / "KoBBQ_test_samples.tsv", samples, "\t")


def german(content: Rows) -> Rows:
    """The questions whose context says the answer, as in GerBBQ+; there both contexts stand in one row."""
    found = []
    for row in content:
        if row["context_condition"] == "disambig":
            people = sorted(pair for pair in row["answer_info"].values() if pair[1] != "unknown")  # as in the context
            (target,) = row["additional_metadata"]["stereotyped_groups"]
            expects = {target} if row["question_polarity"] == "neg" else {"F", "M"} - {target}
            open_, met, said = row["context"].partition(" met.")
            of = {
                "Question": row["question"],
                "Answer": row[f"ans{row['label']}"],
                "Answer_stereo": int("F" in expects),
            }
            of |= {"Ambiguous_Context": open_ + met, "Disambiguating_Context": said.strip()}
            of |= {f"Gender{n}": int(kind == "F") for n, (_, kind) in enumerate(people, start=1)}
            found.append(of | {f"Name{n}": who for n, (who, _) in enumerate(people, start=1)})
    return found


def write_german(data: Path, content: Rows) -> Path:
    return write_table(data / "gerbbq" / "GerBBQ.csv", content, ";")


def mbbq(content: Rows, language: str) -> Rows:
    """The rows as in MBBQ: some labels are words of the language."""
    label = WORDS[language]
    return [
        {**row, "answer_info": {name: [who, label.get(kind, kind)] for name, (who, kind) in row["answer_info"].items()}}
        for row in content
    ]


def write_mbbq(data: Path, language: str, content: Rows, part: str = "") -> Path:
    file = data / "mbbq" / f"Gender_identity_{part}{language}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in content), encoding="utf-8")
    return file
