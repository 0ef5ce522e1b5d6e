"""A card for each measure and each dataset, as Markdown, from what their classes and builders say of themselves.

    python tools/cards.py     write tools/released.json again: what the cards say of datasets that have to be fetched

The documentation site shows the cards (tools/site_hooks.py). Datasets that are not bundled cannot be built on every
machine, so facts about them are kept in a file.
"""

import inspect
import json
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from evenhand import datasets, measures, suites
from evenhand.core.measure import Traits
from evenhand.datasets.files.releases import RELEASES
from evenhand.datasets.released import bbq
from evenhand.formats.bibtex import OWN, works

ROOT = Path(__file__).parents[1]
RELEASED = ROOT / "tools" / "released.json"
BETTER = {"closer": "closer to the neutral value", "higher": "higher", "none": "neither: it is a level"}
ITEMS = {
    "Blank": "sentences with a blank for a pronoun",
    "Choice": "questions with options",
    "Draw": "draws of a sentence for each word of a test",
    "Frame": "sentences but for their person, with scores for women and men",
    "NliPair": "premises with hypotheses",
    "Pair": "sentence pairs",
    "Sentence": "sentences with a person word and an attribute",
    "Target": "words of two sets, with words for men and women or other attributes",
    "TargetSentence": "words of two sets, each in a sentence that says nothing else",
    "Prediction": "predicted classes of people",
    "Prompt": "prompts for a text about one person",
    "Triple": "a stereotype, an anti-stereotype and something unrelated",
}


def measures_page() -> str:
    """The cards of all measures, below a table of them."""
    head = "# Measures, one by one\n\n[Which measure for my question?](../which-measure.md) helps to choose."
    rows = [
        (f"[{name}](#{name})", _prose(_summary(kind)), _number(kind.neutral), Traits.of(kind).unit or "–", kind.version)
        for name, kind in measures.MEASURES.items()
    ]
    table = _table(("measure", "what it gives", "neutral", "unit", "version"), rows)
    return "\n\n".join([head, table, *map(measure_card, measures.MEASURES)]) + "\n"


def measure_card(name: str) -> str:
    """What a measure gives, its formula and source, how to read it, and who runs it."""
    kind = measures.MEASURES[name]
    traits = Traits.of(kind)
    low, high = traits.bounds
    options, words = measures.defaults_of(kind()), measures.words_of(name)
    models = (
        "masked"
        if traits.masked_only
        else "causal"
        if traits.causal_only
        else "NLI"
        if _is_for(traits, "NliPair")
        else "masked, causal, files of vectors"
        if _is_for(traits, "Target", "TargetSentence")
        else "masked, causal"
    )
    facts = {
        "how to read it": kind.reading,
        "neutral value": _number(kind.neutral),
        "unit": traits.unit,
        "range": "" if math.isinf(low) and math.isinf(high) else f"{_number(low)} to {_number(high)}",
        "better is": BETTER[traits.better],
        "verdicts": "; ".join(filter(None, words["leans"])),
        "models": models,
        "items": ITEMS[traits.items.__name__] if traits.items else "",
        "needs the groups": ", ".join(f"`{group}`" for group in traits.needs),
        "options": _options(options),
        "run by": "; ".join(_run_by(name)) or "no suite: name it, `--measure " + name + "`",
        "cite": _works(words["cites"]),
        "version": f"{kind.version}, since evenhand {_since(name, kind.version)} ([history](../versions.md#measures))",
        "more": ", ".join(f"[{path.stem}]({path.name})" for path in _pages(name)),
        "Python": f"`{kind.__module__}.{kind.__qualname__}`",
    }
    return f"## {name}\n\n{_prose(inspect.getdoc(kind) or '', within='measures')}\n\n{_facts(facts)}"


def datasets_page() -> str:
    """The cards of all datasets, below a table of them."""
    head = (
        "# Datasets, one by one\n\n`evenhand datasets show NAME` prints the first rows of a dataset, "
        "`evenhand datasets export NAME --out FILE.tsv` writes all of them."
    )
    facts = {name: facts_of(name) for name in datasets.BUILDERS}
    rows = [
        (f"[{name}](#{name})", *(fact.get(key) or "–" for key in ("language", "items", "licence")), _where(name))
        for name, fact in facts.items()
    ]
    table = _table(("dataset", "language", "items", "licence", "where it is"), rows)
    return "\n\n".join([head, table, *map(dataset_card, datasets.BUILDERS)]) + "\n"


def dataset_card(name: str) -> str:
    """What is in a dataset, whose it is, what is wrong with it, and what measures it."""
    builder, facts = datasets.BUILDERS[name], facts_of(name)
    version = facts.get("version")
    shown = {
        "what is in it": facts.get("about", ""),
        "language": facts.get("language", ""),
        "items": facts.get("items", ""),
        "known flaws": facts.get("flaws", ""),
        "source": facts.get("source", ""),
        "licence": facts.get("licence", ""),
        "intervals resample": facts.get("clusters", ""),
        "options": _options(datasets.defaults_of(name)),
        "where it is": _where(name),
        "measured by": "; ".join(_measured_by(name)),
        "cite": _works(datasets.words().get(name, {}).get("cites", ())),
        "version": f"{version}, since evenhand {_since(name, version)} ([history](versions.md#datasets))"
        if version
        else "",
    }
    return f"## {name}\n\n{_prose(inspect.getdoc(builder) or '')}\n\n{_facts(shown)}"


def facts_of(name: str) -> dict[str, Any]:
    """What a dataset says of itself: bundled ones are built, for others it is kept; nothing for a user's own file."""
    if datasets.needed_by(name):
        return {}
    if _release(name):
        kept: dict[str, Any] = json.loads(RELEASED.read_text(encoding="utf-8"))[name]
        return kept
    return built(name)


def built(name: str) -> dict[str, Any]:
    """The facts of a dataset, which has to be on this machine."""
    dataset = datasets.load(name)
    same = {key: getattr(dataset, key) for key in ("about", "language", "version", "flaws", "source", "licence")}
    clusters = " and ".join(filter(None, (dataset.cluster, dataset.crossed))) or "items"
    return {**same, "items": f"{len(dataset.items):,}", "clusters": clusters}


def _release(name: str) -> str:
    """The release that has to be fetched, or copied, for a dataset; empty if it is bundled."""
    own_tests = datasets.BUILDERS[name].__module__ == "evenhand.datasets.word_sets" and name not in RELEASES
    if own_tests:  # named as weat and seat are
        return ""
    if name in bbq.SETS:
        return bbq.SETS[name].release
    return next((release for release in sorted(RELEASES, key=len, reverse=True) if name.startswith(release)), "")


def _where(name: str) -> str:
    if needed := datasets.needed_by(name):
        return f"your own file: `--option {needed[0]}=FILE`"
    if not (release := _release(name)):
        return "bundled"
    by_hand = f"your own copy, under EVENHAND_DATA/{RELEASES[release].folder}"
    return f"`evenhand datasets fetch {release}`" if RELEASES[release].base else by_hand


def _run_by(measure: str) -> Iterator[str]:
    """Each suite with its languages and the datasets on which it runs a measure."""
    for suite, by_language in _all_suites():
        on = {
            language: list(dict.fromkeys(d for d, m in pairs if m == measure))
            for language, pairs in by_language.items()
        }
        if on := {language: found for language, found in on.items() if found}:
            listed = ", ".join(f"`{d}`" for found in on.values() for d in found)
            yield f"`--suite {suite}` on {listed}"


def _measured_by(dataset: str) -> Iterator[str]:
    for suite, by_language in _all_suites():
        pairs = [pair for found in by_language.values() for pair in found]
        if found := list(dict.fromkeys(measure for one, measure in pairs if one == dataset)):
            yield f"`--suite {suite}`: " + ", ".join(f"[{measure}](measures/index.md#{measure})" for measure in found)


def _all_suites() -> Iterator[tuple[str, dict[str, list[tuple[str, str]]]]]:
    """The suites by language; one that differs by kind of model has what it runs on all of them."""
    for suite, by_language in suites.SUITES.items():
        kinds = suites.BY_KIND.get(suite, {"": by_language}).values()
        languages = dict.fromkeys(language for found in kinds for language in found)
        yield suite, {one: [pair for found in kinds for pair in found.get(one, [])] for one in languages}


def _is_for(traits: Traits, *items: str) -> bool:
    return traits.items is not None and traits.items.__name__ in items


def _pages(measure: str) -> Sequence[Path]:
    """The pages of docs/measures whose heading names a measure."""
    found = []
    for path in sorted((ROOT / "docs" / "measures").glob("*.md")):
        heading = path.read_text(encoding="utf-8").partition("\n")[0]
        if measure in re.split(r"[#,: ]+", heading):
            found.append(path)
    return found


def _since(name: str, version: int) -> str:
    """The evenhand in which a version of a measure or a dataset first was, as docs/versions.md says."""
    page = (ROOT / "docs" / "versions.md").read_text(encoding="utf-8")
    row = re.search(rf"^\| {name} \| {version} \| (\S+) \|", page, re.M)
    if row is None:
        raise ValueError(f"docs/versions.md has no row for version {version} of {name}: add one.")
    return row[1]


def _works(cites: Sequence[str]) -> str:
    known = works()
    return "; ".join(_work(known[key]) for key in cites if key != OWN)


def _work(fields: dict[str, str]) -> str:
    names = [author.partition(",")[0] for author in fields["author"].split(" and ")]
    who = names[0] if len(names) == 1 else f"{names[0]} and {names[1]}" if len(names) == 2 else f"{names[0]} et al."
    title = re.sub(r"[{}]|\\['\"`^~]", "", fields["title"])
    return f"{re.sub(r'[{}]', '', who)} {fields['year']}, *{title}*"


def _options(defaults: dict[str, Any]) -> str:
    return ", ".join(f"`{option}={value}`" for option, value in defaults.items() if value not in ("", None))


def _number(value: float) -> str:
    return "none" if math.isnan(value) else ("∞" if value > 0 else "-∞") if math.isinf(value) else f"{value:g}"


def _summary(kind: type) -> str:
    return (inspect.getdoc(kind) or "").partition("\n")[0].partition(":")[0].rstrip(".")


def _prose(text: str, within: str = "") -> str:
    """A docstring as Markdown: stars and bars are plain, and names of our pages are links."""
    up = "../" if within else ""
    plain = "".join(
        part if n % 2 else re.sub(r"([*|_<])", r"\\\1", part) for n, part in enumerate(re.split(r"(`[^`]*`)", text))
    )
    return re.sub(r"docs/([a-z/\\_-]+)\.md", lambda found: f"[{found[1].rpartition('/')[2]}]({up}{found[1]}.md)", plain)


def _facts(facts: dict[str, Any]) -> str:
    return _table(("", ""), [row for row in facts.items() if row[1] not in ("", None)])


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *([re.sub(r"(?<!\\)\|", r"\|", str(cell)) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    facts = {name: built(name) for name in datasets.BUILDERS if _release(name)}
    RELEASED.write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{RELEASED}: {len(facts)} datasets")
