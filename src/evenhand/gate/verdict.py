"""The verdict on a run: pass, fail or undecided, rule by rule; and its JUnit XML and annotations for build servers."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any
from xml.etree import ElementTree as Xml

from pydantic import Field, TypeAdapter

from evenhand.core.files import write_whole
from evenhand.core.shown import Shown
from evenhand.formats.cells import markdown, markdown_table
from evenhand.runs.files import GATE, plain_json, read_typed

CODES = {"fail": 1, "undecided": 3, "pass": 0}
"""Exit codes, the worst verdict first."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict of one rule on one group, with the bounds and the value in words and in numbers.

    A missing number is None, and so is a bound on a side that is not bounded. Verdicts of 0.1.0 have the words only.
    """

    rule: str
    verdict: Annotated[str, Field(pattern=f"^({'|'.join(CODES)})$")]
    says: str
    dataset: str = ""
    measure: str = ""
    group: str = ""
    on: str = ""
    """What is bounded: see Rule.on."""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    estimand: str = ""
    n: int | None = None
    unscored: int | None = None
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True, slots=True)
class Verdict(Shown):
    """The verdict of a policy on a run."""

    model: str
    policy: str
    rules: Annotated[tuple[Judged, ...], Field(min_length=1)]
    notes: tuple[str, ...] = ()
    """Remarks, for example that the run is a sample."""

    @property
    def verdict(self) -> str:
        """The worst verdict of the rules: see `worst_verdict`."""
        return worst_verdict(rule.verdict for rule in self.rules)

    @property
    def exit_code(self) -> int:
        """0 pass, 1 fail, 3 undecided."""
        return CODES[self.verdict]

    def lines(self) -> list[str]:
        """The notes, then a line for each rule, then the overall verdict."""
        rules = [f"{judged.verdict:9}  {judged.rule}: {judged.says}" for judged in self.rules]
        return [*self.notes, *rules, f"{self.model}, gate {self.policy}: {self.verdict}"]

    def to_dict(self) -> dict[str, Any]:
        """The contents of gate.json."""
        first = {"policy": self.policy, "verdict": self.verdict, "model": self.model, "notes": list(self.notes)}
        return {**first, "rules": [asdict(judged) for judged in self.rules]}

    def save(self, run: Path) -> None:
        write_whole(run / GATE, lambda file: file.write(plain_json(self.to_dict())))

    @classmethod
    def load(cls, run: str | Path) -> "Verdict":
        return read_typed(VERDICT, Path(run) / GATE, f"Judge the run again: evenhand gate {run}")


VERDICT = TypeAdapter(Verdict)


def worst_verdict(verdicts: Iterable[str]) -> str:
    """The worst of the verdicts: fail is worse than undecided, and undecided is worse than pass."""
    return min(verdicts, key=list(CODES).index)


def judge_interval(low: float, high: float, least: float, most: float) -> str:
    """Whether an interval is within the bounds (pass), outside (fail), or neither (undecided)."""
    if math.isnan(low) or math.isnan(high):
        return "undecided"
    if least <= low and high <= most:
        return "pass"
    return "fail" if high < least or low > most else "undecided"


JUNIT = {"fail": "failure", "undecided": "error"}
"""Undecided is an error, not a skipped test: no build server shows an error in green."""
NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
ANNOTATIONS = {"fail": "error", "undecided": "warning"}
MARKS = {"pass": "✅ pass", "fail": "❌ fail", "undecided": "⚠️ undecided"}


def junit(verdicts: Sequence[Verdict]) -> bytes:
    """JUnit XML: a suite for each run, a case for each rule; fail is a failure, undecided an error."""
    root = Xml.Element("testsuites", name="evenhand")
    for verdict in verdicts:
        kinds = [JUNIT.get(judged.verdict, "") for judged in verdict.rules]
        counts = {"tests": len(kinds), "failures": kinds.count("failure"), "errors": kinds.count("error"), "skipped": 0}
        shown = {"name": _xml(f"{verdict.model}: {verdict.policy}")} | {key: str(n) for key, n in counts.items()}
        suite = Xml.SubElement(root, "testsuite", shown)
        for judged, kind in zip(verdict.rules, kinds, strict=True):
            case = Xml.SubElement(suite, "testcase", classname=_xml(verdict.model), name=_xml(judged.rule))
            if kind:
                element = Xml.SubElement(case, kind, type=judged.verdict, message=_xml(judged.says))
                element.text = _xml(f"{judged.rule}: {judged.says}")
            else:
                Xml.SubElement(case, "system-out").text = _xml(judged.says)
        if verdict.notes:
            Xml.SubElement(suite, "system-out").text = _xml("\n".join(verdict.notes))
    Xml.indent(root)
    return bytes(Xml.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def summary(verdicts: Sequence[Verdict]) -> str:
    """Markdown for a step summary: the verdict, then a row for each rule."""
    whole = worst_verdict(verdict.verdict for verdict in verdicts)
    rows = [
        [MARKS[judged.verdict], verdict.model, judged.rule, judged.says]
        for verdict in verdicts
        for judged in verdict.rules
    ]
    heads = ["verdict", "model", "rule", "found, with its 95 % interval"]
    notes = "".join(f"{markdown(note)}\n\n" for note in dict.fromkeys(n for verdict in verdicts for n in verdict.notes))
    return f"### Gender bias: {MARKS[whole]}\n\n{notes}{markdown_table(heads, rows, left=heads)}"


def annotations(verdicts: Sequence[Verdict]) -> list[str]:
    """Lines that GitHub Actions shows as annotations: an error for each rule that fails, a warning if undecided."""
    return [
        f"::{ANNOTATIONS[judged.verdict]} title={_escape_command(f'Gender bias, {judged.verdict}', ':,')}::"
        f"{_escape_command(f'{verdict.model}: {judged.rule}: {judged.says}')}\n"
        for verdict in verdicts
        for judged in verdict.rules
        if judged.verdict in ANNOTATIONS
    ]


def _escape_command(text: str, more: str = "") -> str:
    """The text for a GitHub workflow command: characters with a meaning there are percent-encoded."""
    return "".join(f"%{ord(sign):02X}" if sign in f"%\r\n{more}" else sign for sign in text)


def _xml(text: str) -> str:
    """The text with U+FFFD in place of characters that XML does not allow."""
    return NOT_XML.sub("\ufffd", text)
