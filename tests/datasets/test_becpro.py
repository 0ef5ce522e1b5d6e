"""BEC-Pro as the paper describes it; row by row against the release in tests/paper."""

from collections import Counter

from evenhand import Sentence, datasets
from evenhand.datasets.becpro import professions
from helpers.typed import all_of


def test_five_templates_eighteen_persons_sixty_professions() -> None:
    items = all_of(Sentence, datasets.load("becpro-en").items)
    assert len(items) == 5 * 18 * 60
    assert len({item.text for item in items}) == 5400
    assert Counter(i.groups["prof_gender"] for i in items) == {"male": 1800, "female": 1800, "balanced": 1800}
    assert len({(i.groups["template"], i.groups["person"], i.groups["profession"]) for i in items}) == 5400


def test_spans_mark_the_head_word_and_the_profession() -> None:
    item = datasets.load("becpro-en").items[3625]
    assert isinstance(item, Sentence)
    assert item.text == "This man is a lodging manager."
    assert item.target.of(item.text) == "man"
    assert item.attribute.of(item.text) == "lodging manager"
    assert item.target.start == 5


def test_the_female_partner_of_a_male_row_is_180_rows_on() -> None:
    items = datasets.load("becpro-en").items
    for index, item in enumerate(items):
        if item.groups["gender"] == "male":
            partner = items[index + 180]
            assert partner.groups["gender"] == "female"
            assert (partner.groups["template"], partner.groups["profession"]) == (
                item.groups["template"],
                item.groups["profession"],
            )


def test_articles_agree_on_request_and_nothing_else_changes() -> None:
    release, agree = (all_of(Sentence, datasets.load("becpro-en", articles=a).items) for a in ("release", "agree"))
    changed = [(a.text, b.text) for a, b in zip(release, agree, strict=True) if a.text != b.text]
    assert len(changed) == 378
    assert all(after == before.replace(" a ", " an ") for before, after in changed)
    assert all(item.attribute.of(item.text) == item.groups["profession"] for item in agree)


def test_professions_carry_the_papers_percentages() -> None:
    percent = {p.name: p.percent_women for p in professions()}
    assert (percent["taper"], percent["kindergarten teacher"], percent["judge"]) == (0.7, 98.7, 52.5)
    ranges = {"male": (0.7, 3.3), "female": (88.3, 98.7), "balanced": (48.5, 53.3)}  # section 3.2 of the paper
    for group, want in ranges.items():
        shares = [p.percent_women for p in professions() if p.prof_gender == group]
        assert len(shares) == 20
        assert (min(shares), max(shares)) == want
