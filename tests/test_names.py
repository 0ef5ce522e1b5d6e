"""Names in src/: functions are verbs or nouns of what they give, and no two classes share a name."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import evenhand

SOURCE = Path(evenhand.__file__).parent

PARTICIPLES = frozenset(
    re.findall(
        r"\w+",
        """
    affirmed aligned allowed answered applied asked audited blanked bound built bundled called capitalised carried
    cased changed checked chosen cited claimed cleaned collected compared computed connected controlled counted
    covered crossed cut dated debiased decided described doctored drawn dropped encoded estimated examined exported
    failed filled finished fitted flawed followed found framed generated given gone grouped had held hidden imported
    indexed inserted joined judged kept known labelled learned linted listed loaded located locked lost made marked
    masked matched measured merged met migrated moved named normalised noted numbered opened overflowed paced padded
    paired parsed piped placed preferred printed probed published quoted ranked read_in recorded redacted refused
    released removed rendered replaced resampled restored rounded said sampled saved scored seen sent settled shared
    shipped shortened shown shuffled signed sorted_out sought spent spoken split_up spread started stereotyped
    stored substituted suited taken taught told tolerated tracked trained tried trimmed typed unchecked uncollected
    unlisted unquoted unscored unwrapped used wanted weighed worded written
    """,
    )
)
"""Endings alone misfire (need, embed, seed), so these are words."""

FITTING = {
    "typed": "a decorator says what the function becomes",
    "bound": "of a rule: a noun",
    "compared": "a public method of questions",
    "filled": "a public property of sentences, and a public method of questions",
    "changed": "a public property of pairs",
    "moved": "a public property of changes, as the column",
    "shared": "a public property of comparisons",
    "shown": "a public method of estimates, and a public property of trackings",
    "unscored": "a public property of results and records, as the column",
    "loaded": "a public property of records",
    "started": "a public property of records",
    "recorded": "a public property of traits",
    "tolerated": "a public property of rules",
    "framed": "a documented name of show.tables",
    "learned": "a documented name of calls.learning",
    "trained": "a documented name of calls.train_and_measure",
    "substituted": "a documented name of text",
    "sampled": "a documented name of datasets.corpora",
    "controlled": "a documented name of datasets.corpora",
    "stereotyped": "a documented name of datasets.corpora",
}
"""Public and documented names change only with an alias for a version."""

SHARED = {"Recipe": "trainings are found again by a hash of its repr"}
"""Classes that may share a name."""


@cache
def trees() -> dict[str, ast.Module]:
    """The code of each file, by its path in the package."""
    paths = sorted(SOURCE.rglob("*.py"))
    return {str(path.relative_to(SOURCE)): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def functions() -> Iterator[tuple[str, str]]:
    """Every function with its place, but properties that are true or false, which are adjectives."""
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                decorators = {ast.unparse(each).rpartition(".")[2] for each in node.decorator_list}
                adjective = decorators & {"property", "cached_property"} and ast.unparse(node.returns or node) == "bool"
                if not adjective:
                    yield f"{path}:{node.lineno}", node.name


def test_functions_are_verbs_or_nouns_of_what_they_give() -> None:
    """`decide` and `headline_task`, not `decided` and `judged`."""
    bare = [f"{place} {name}" for place, name in functions() if name.strip("_") in PARTICIPLES - FITTING.keys()]
    assert not bare


def test_exceptions_are_needed() -> None:
    assert FITTING.keys() <= {name for _, name in functions()} & PARTICIPLES


def test_no_two_classes_share_a_name() -> None:
    places = defaultdict(list)
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path)
    assert {name: where for name, where in places.items() if len(where) > 1 and name not in SHARED} == {}
