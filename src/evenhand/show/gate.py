"""Verdicts in the formats that build servers read."""

import re
from collections.abc import Sequence
from xml.etree import ElementTree as Xml

from evenhand.formats.escaping import markdown
from evenhand.gate.verdict import Verdict, worst_verdict
from evenhand.show.tables import markdown_table

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
    notes = "".join(f"\n{markdown(note)}\n" for note in dict.fromkeys(n for verdict in verdicts for n in verdict.notes))
    return f"### Gender bias: {MARKS[whole]}\n\n{markdown_table(heads, rows, left=heads)}{notes}"


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
