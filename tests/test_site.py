"""The documentation site: what is generated for it, and links that work on GitHub and there. `make docs` builds it."""

import contextlib
import inspect
import re
import sys
from pathlib import Path

import pytest

import evenhand
from evenhand import datasets, measures
from evenhand.core.measure import Traits
from evenhand.errors import DataNotFound

sys.path.insert(0, str(Path(__file__).parent.parent))

from tools import cards, site_hooks

ROOT = Path(__file__).parent.parent
SOURCE = "https://github.com/evenhand/evenhand"


@pytest.mark.parametrize("name", measures.OURS)
def test_the_card_of_a_measure_has_its_formula_its_sign_and_its_version(name: str) -> None:
    card, kind = cards.measure_card(name), measures.MEASURES[name]
    assert card.startswith(f"## {name}\n")
    for line in (inspect.getdoc(kind) or "").splitlines():
        assert re.sub(r"\W", "", line) in re.sub(r"\W", "", card) or "docs/" in line
    assert f"| how to read it | {kind.reading} |" in card.replace("\\|", "|")
    assert Traits.of(kind).unit in card
    assert f"| version | {kind.version}, since evenhand 0." in card
    assert "| run by | " in card
    assert "| more | [" in card, "no page of docs/measures has it in its heading"


def test_cards_say_which_suites_run_a_measure() -> None:
    assert "| run by | `--suite becpro` on `becpro-de`, `becpro-en`; `--suite emotions` on" in cards.measure_card(
        "association"
    )
    assert "`--suite known` on `winobias`" in cards.measure_card("pronoun-lean")
    assert "| run by | no suite: name it, `--measure sss` |" in cards.measure_card("sss")


@pytest.mark.parametrize("name", datasets.OURS)
def test_the_card_of_a_dataset_has_its_licence_its_flaws_and_its_size(name: str) -> None:
    card, facts = cards.dataset_card(name), cards.facts_of(name)
    assert card.startswith(f"## {name}\n")
    assert bool(facts) is not bool(datasets.needed_by(name))
    for fact in ("about", "licence", "flaws", "source", "items"):
        assert str(facts.get(fact, "")) in card
    for option in datasets.defaults_of(name):
        assert option in card or datasets.defaults_of(name)[option] in ("", None)


def test_what_cards_say_of_released_datasets_is_what_they_say_of_themselves(data: Path) -> None:
    """If this fails, run tools/cards.py with EVENHAND_DATA set."""
    released = [name for name in datasets.OURS if "fetch" in cards.dataset_card(name)]
    assert len(released) == 23
    for name in released:
        with contextlib.suppress(DataNotFound):  # not all of them are at hand
            assert cards.facts_of(name) == cards.built(name)


def test_every_version_of_a_measure_and_a_dataset_has_a_row_in_the_history() -> None:
    page = (ROOT / "docs" / "versions.md").read_text(encoding="utf-8")
    first, second = page.split("## Datasets")
    current = {name: int(cards.facts_of(name)["version"]) for name in datasets.OURS if not datasets.needed_by(name)}
    for part, versions in ((first, {n: measures.MEASURES[n].version for n in measures.OURS}), (second, current)):
        rows = re.findall(r"^\| (\S+) \| (\d+) \| \d+\.\d+\.\d+ \| \S", part, re.M)
        assert rows == sorted((name, str(n + 1)) for name, last in versions.items() for n in range(last))


def test_every_public_name_is_in_the_reference_once() -> None:
    assert sorted(re.findall(r"^::: evenhand\.(\w+)$", site_hooks.reference(), re.M)) == evenhand.__all__


PAGES = ["index.md", "changelog.md", "runs.md", "figures/a.svg", "measures/gest.md", "measures/index.md"]


@pytest.mark.parametrize(
    ("here", "link", "there"),
    [
        ("README.md", "docs/runs.md#top", "runs.md#top"),
        ("README.md", "docs/figures/a.svg", "figures/a.svg"),
        ("README.md", "examples/hobbies.toml", f"{SOURCE}/blob/main/examples/hobbies.toml"),
        ("README.md", "https://example.org/x", "https://example.org/x"),
        ("docs/runs.md", "not-there.md", "not-there.md"),
        ("docs/runs.md", "/not/there.md", "/not/there.md"),
        ("docs/runs.md", "measures/gest.md", "measures/gest.md"),
        ("docs/runs.md", "../CHANGELOG.md", "changelog.md"),
        ("docs/measures/gest.md", "../runs.md", "../runs.md"),
        ("docs/measures/gest.md", "../../README.md", "../index.md"),
        ("docs/measures/gest.md", "../../action.yml", f"{SOURCE}/blob/main/action.yml"),
    ],
)
def test_a_link_that_works_on_github_works_on_the_site(here: str, link: str, there: str) -> None:
    assert site_hooks.for_site(f"See [it]({link}).", here, PAGES, SOURCE) == f"See [it]({there})."
    code = f"`[it]({link})` and\n```\n[it]({link})\n```"
    assert site_hooks.for_site(code, here, PAGES, SOURCE) == code


def test_a_pattern_in_the_navigation_has_the_pages_that_nothing_else_names() -> None:
    nav = [{"Home": "index.md"}, {"More": ["measures/*.md", "runs.md"]}, {"None": ["no/*.md"]}, {"Rest": ["*.md"]}]
    pages = [page for page in PAGES if page.endswith(".md")]
    assert site_hooks.expanded(nav, pages) == [
        {"Home": "index.md"},
        {"More": ["measures/gest.md", "measures/index.md", "runs.md"]},
        {"Rest": ["changelog.md"]},
    ]


def test_an_option_in_a_table_is_not_broken_over_lines() -> None:
    option = '<span class="option">--suite</span>'
    assert site_hooks.unbroken("<td><code>--suite x</code></td>") == f"<td><code>{option} x</code></td>"
    assert site_hooks.unbroken("<td>a <code>b --suite</code></td>") == f"<td>a <code>b {option}</code></td>"
    assert site_hooks.unbroken("<p><code>b --suite</code></p>") == "<p><code>b --suite</code></p>"


def test_llms_txt_opens_each_page_with_its_first_sentence() -> None:
    page = "# Title\n\n<!-- a -->\n```\nprinted. x\n```\n\n    code\n\nThe [first](a.md) one. The second.\n"
    assert site_hooks.first_sentence(page) == "The first one."
    assert "- [Title](a.html): The first one.\n" in site_hooks.llms([("Title", "a.html", "The first one.")])
