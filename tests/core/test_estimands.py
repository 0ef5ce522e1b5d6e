"""Stereotype and default are two numbers: by hand, with unequal kinds, in worlds that have one of them alone."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evenhand import datasets
from evenhand.core.dataset import FEMALE_MALE, Design, Kinds, Partners
from evenhand.core.estimands import ItemRow, estimates, rows
from evenhand.core.scores import Value
from evenhand.measures import load
from evenhand.stats.estimate import TOO_LARGE
from evenhand.stats.verdict import adjust, decide

ABOUT = Kinds("about", ("women",), ("men",))
JOBS = Kinds("job_of", samples=("template", "slot"))


def by_name(found: list[Value]) -> dict[str, Value]:
    """The rows of all items by estimand."""
    return {value.estimand: value for value in found if value.estimand and not value.groups}


def pairs_about(women: list[float], men: list[float], **groups: str) -> pd.DataFrame:
    """Scores of sentences about women, and about men."""
    both = [("women", score) for score in women] + [("men", score) for score in men]
    return pd.DataFrame({"id": str(n), "score": s, "about": who, **groups} for n, (who, s) in enumerate(both))


def test_of_pairs_each_kind_counts_once_however_many_it_has() -> None:
    women, men = [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0]
    found = by_name(estimates(pairs_about(women, men), Design(kinds=ABOUT), load("stereotype-share")))
    d_women, d_men = 0.25 - 0.5, 0.5 - 2 / 3  # neutral - score where the stereotype is about men
    assert found["stereotype"].value == pytest.approx(0.5 + (d_women - d_men) / 2)
    assert found["default"].value == pytest.approx(0.5 + (d_women + d_men) / 2)
    assert found["stereotype"].value == pytest.approx((0.25 + 2 / 3) / 2)  # a share as each kind's, averaged
    assert found["stereotype"].n == 11


def test_of_pronouns_d_is_she_minus_he() -> None:
    scores = pd.DataFrame(
        {"id": f"{job}{n}", "score": score + 0.01 * n, "profession": job, "template": str(n)}
        for job, score in (("nurse", 0.1), ("nanny", 0.3), ("smith", 0.6), ("pilot", 0.8), ("clerk", 0.4))
        for n in range(4)
    )
    kinds = Kinds("profession", ("nurse", "nanny"), ("smith", "pilot"), headline="default")
    design = Design(cluster="template", crossed="profession", kinds=kinds)
    default, stereotype = estimates(scores, design, load("pronoun"))
    assert (default.estimand, default.n) == ("default", 20)
    assert default.value == pytest.approx(-scores["score"].mean())  # of all professions, with a kind or without
    assert (stereotype.estimand, stereotype.n) == ("stereotype", 16)
    assert stereotype.value == pytest.approx((-(0.2 + 0.015) + (0.7 + 0.015)) / 2)


def test_of_ratios_it_is_in_logarithms_and_a_quotation_does_not_count_more_in_a_large_set() -> None:
    means = {"a": 0.2, "b": 0.6, "c": 1.0}
    sizes = {"a": 3, "b": 9, "c": 5}
    scores = pd.DataFrame(
        {"id": f"{s}{n}", "score": means[s] + 0.1 * (n - (sizes[s] - 1) / 2), "stereotype": s, "quotation": f"{s}{n}"}
        for s in means
        for n in range(sizes[s])
    ).assign(about=lambda frame: frame["stereotype"].map({"a": "women", "b": "women", "c": "men"}))
    design = Design(cluster="quotation", kinds=replace(ABOUT, each="stereotype"))
    found = by_name(estimates(scores, design, load("gest")))
    women, men = (0.2 + 0.6) / 2, 1.0
    assert found["stereotype"].value == pytest.approx(math.exp(men - women))  # g_s, as released
    assert found["default"].value == pytest.approx(math.exp((men + women) / 2))  # above 1: he
    assert found["stereotype"].low < found["stereotype"].value < found["stereotype"].high


def test_a_ratio_beyond_all_numbers_is_no_value_and_says_why() -> None:
    scores = pd.DataFrame(
        {"id": f"{about}{n}", "score": (-1) ** n * 1e38, "stereotype": f"{about}{n // 2}", "about": about}
        for about in ("women", "men")
        for n in range(12)
    ).assign(quotation=lambda frame: frame["id"])
    scores["score"] += 1e38 * (scores["about"] == "women")
    found = by_name(estimates(scores, Design(cluster="quotation", kinds=ABOUT), load("gest")))
    assert math.isnan(found["default"].value) or math.isnan(found["stereotype"].value)
    for value in found.values():
        assert value.value <= 1e100 if value.known else value.note == TOO_LARGE


def test_of_one_word_of_each_kind_a_ratio_is_a_ratio_too() -> None:
    scores = pd.DataFrame({"id": ["a", "b"], "score": [0.5, 1.5], "about": ["women", "men"]})
    found = by_name(estimates(scores, Design(cluster="id", kinds=ABOUT), load("gest")))
    assert found["stereotype"].value == pytest.approx(math.exp(1.5 - 0.5))
    assert not found["stereotype"].spans


def test_of_choices_the_one_that_is_named_counts_and_unknown_where_it_is_right() -> None:
    scores = pd.DataFrame(
        [
            {"id": f"{condition}{about}{polarity}{n}", "score": score, "condition": condition, "about": about}
            | {"polarity": polarity, "template": str(n)}
            for condition in ("ambiguous", "disambiguated")
            for about, polarity, answers in (
                ("women", "negative", (1.0, 1.0, -1.0, 0.0)),
                ("men", "not negative", (1.0, -1.0, 0.0, 0.0)),  # the stereotype spares women: it names one
                ("men", "negative", (1.0, 0.0, 0.0, 0.0)),
                ("trans people", "negative", (1.0, 1.0, 1.0, 0.0)),
            )
            for n, score in enumerate(answers)
        ]
    )
    kinds, how = replace(ABOUT, turned=("polarity", "not negative")), load("bbq-bias")
    design = Design(by=("about",), cluster="template", kinds=kinds)
    for condition, expected in (("ambiguous", (1 / 8, -1 / 4)), ("disambiguated", (1 / 5, -1.0))):
        found = estimates(scores[scores["condition"] == condition], design, how)
        female, male = expected  # mean of d where a woman is expected, and where a man is
        both = by_name(found)
        assert both["stereotype"].value == pytest.approx((female - male) / 2)
        assert both["default"].value == pytest.approx((female + male) / 2)
        (apart,) = [value for value in found if value.groups == {"about": "trans people"}]
        assert apart.value == pytest.approx(3 / 4 if condition == "ambiguous" else 1.0)
    unknown = scores[scores["condition"] == "ambiguous"].assign(score=0.0)
    assert all(math.isnan(value.value) for value in by_name(estimates(unknown, design, how)).values())


def occupations(woman: dict[str, float], man: dict[str, float]) -> pd.DataFrame:
    """Shares of a label by the kind of occupation, for the hypothesis "woman" and for "man"."""
    return pd.DataFrame(
        {"id": f"{kind}{word}{template}{gender}", "score": float(template < 10 * share[kind]), "type": kind}
        | {"word": f"{kind}{word}", "template": str(template), "gender": gender, "set": "x"}
        for kind in ("female", "male", "neutral")
        for word in range(4)
        for template in range(10)
        for gender, share in (("female", woman), ("male", man))
    )


NLI = Design(("set",), "", "word", "template", Partners("gender", "female", "male", ("set",)), Kinds("type"))


def test_of_labels_contradiction_speaks_for_the_other_gender() -> None:
    scores = occupations({"female": 0.5, "male": 0.1, "neutral": 0.2}, {"female": 0.8, "male": 0.9, "neutral": 0.6})
    found = estimates(scores, NLI, load("fraction-entailment"))
    both = by_name(found)
    assert both["stereotype"].value == pytest.approx((-0.3 + 0.8) / 2)
    assert both["default"].value == pytest.approx((-0.3 - 0.8) / 2)
    by_kind = {value.groups["type"]: value.value for value in found if value.contrast}
    assert by_kind == pytest.approx({"female": -0.3, "male": -0.8, "neutral": -0.4})
    turned = by_name(estimates(scores, NLI, load("fraction-contradiction")))
    assert {name: value.value for name, value in turned.items()} == pytest.approx(
        {name: -value.value for name, value in both.items()}
    )
    assert not estimates(scores, NLI, load("nli-coal"))


def sentences(rng: np.random.Generator, *, female: float, male: float, templates: int = 5) -> pd.DataFrame:
    """Associations with jobs held by women, by men and by both, whose templates and words differ by themselves."""
    of_template, of_slot = rng.normal(size=templates), rng.normal(size=6)
    told: list[dict[str, Any]] = []
    for kind, shift in (("female", female), ("male", male), ("balanced", 0.0)):
        for job in range(8):
            of_job = rng.normal()
            for template in range(templates):
                for slot in range(6):
                    d = shift + 0.3 * of_job + 0.3 * of_template[template] + 0.3 * of_slot[slot] + 0.1 * rng.normal()
                    same = {"job_of": kind, "job": f"{kind}{job}", "template": str(template), "slot": str(slot)}
                    for gender, score in (("female", d), ("male", 0.0)):
                        told.append({"id": str(len(told)), "score": score, "gender": gender, "person": gender, **same})
    return pd.DataFrame(told)


SENTENCES = Design(("job_of", "gender"), "", "job", "", FEMALE_MALE, JOBS)


def test_a_default_is_no_noise_in_the_stereotype() -> None:
    scores = sentences(np.random.default_rng(3), female=0.5, male=-0.5)
    far = scores.assign(score=scores["score"] + 10.0 * (scores["gender"] == "female"))
    near, away = (by_name(estimates(frame, SENTENCES, load("association"))) for frame in (scores, far))
    for name in ("value", "low", "high", "p"):
        assert getattr(away["stereotype"], name) == pytest.approx(getattr(near["stereotype"], name))
    assert away["default"].value == pytest.approx(near["default"].value + 10)


def test_the_interval_covers_other_templates_and_words_and_the_narrow_one_stands_next_to_it() -> None:
    found = estimates(sentences(np.random.default_rng(4), female=1.0, male=-1.0), SENTENCES, load("association"))
    assert [value.estimand or value.groups["job_of"] for value in found] == [
        *("stereotype", "default"),
        *("balanced", "female", "male"),
    ]
    for value in found:
        assert value.narrow_high - value.narrow_low <= value.high - value.low
        assert value.needed == 3
    default = by_name(found)["default"]
    assert default.high - default.low > 1.5 * (default.narrow_high - default.narrow_low)


def test_two_templates_are_no_sample_so_that_the_claim_is_about_these() -> None:
    two = sentences(np.random.default_rng(4), female=1.0, male=-1.0, templates=2)
    for value in estimates(two, SENTENCES, load("association")):
        assert math.isnan(value.narrow_low)
        assert value.clusters == 8  # jobs; templates and words are fixed


def test_one_word_of_a_kind_says_nothing_about_others() -> None:
    scores = sentences(np.random.default_rng(5), female=1.0, male=-1.0)
    alone = scores[~scores["job"].isin([f"female{n}" for n in range(1, 8)])]
    found = by_name(estimates(alone, SENTENCES, load("association")))
    assert not found["stereotype"].spans
    assert decide(found["stereotype"]).side == 0
    without = scores[scores["job_of"] != "male"]
    missing = by_name(estimates(without, SENTENCES, load("association")))["stereotype"]
    assert math.isnan(missing.value)
    assert missing.note == "no scored items of one of the kinds"


def test_categories_and_controls_are_rows_below() -> None:
    parts = []
    for name, of in (("a", "it"), ("b", "it"), ("a", "other")):
        part = pairs_about([1.0, 0.0, 1.0, 1.0], [0.0, 1.0, 1.0, 1.0], category=name, referent=of)
        parts.append(part.assign(id=f"{name}{of}" + part["id"]))
    scores = pd.concat(parts)
    kinds = replace(ABOUT, only=("referent", "it"))
    found = estimates(scores, Design(("category",), kinds=kinds), load("stereotype-share"))
    assert [(value.estimand, dict(value.groups), value.n) for value in found] == [
        ("stereotype", {}, 16),
        ("default", {}, 16),
        ("stereotype", {"category": "a"}, 8),
        ("default", {"category": "a"}, 8),
        ("stereotype", {"category": "b"}, 8),
        ("default", {"category": "b"}, 8),
        ("stereotype", {"referent": "other"}, 8),
        ("default", {"referent": "other"}, 8),
    ]
    main, below = found[:2], found[2:]
    assert [v.p_holm for v in main] == [v.p_holm for v in adjust(main, crossed=True)]
    assert [v.p_holm for v in below] == [v.p_holm for v in adjust(below, crossed=True)]


def test_two_sentences_about_the_same_person_have_no_default() -> None:
    scores = pd.DataFrame(
        {"id": f"{term}{n}", "score": float(n < share), "target": term, "term": who}
        for term, who, share in (
            ("mother", "women", 3),
            ("aunt", "women", 1),
            ("father", "men", 2),
            ("uncle", "men", 4),
        )
        for n in range(4)
    )
    kinds = Kinds("term", ("women",), ("men",), each="target", genders=False)
    found = estimates(scores, Design(cluster="target", kinds=kinds), load("stereoset-ss"))
    assert {value.groups["term"]: value.value for value in found} == pytest.approx({"women": 0.5, "men": 0.75})
    assert {value.estimand for value in found} == {"stereotype"}


def test_agreeing_forms_get_no_verdict_and_crossed_ones_are_judged_by_their_social_part() -> None:
    agree, crossed = datasets.load("becpro-de"), datasets.load("becpro-de", forms="crossed")
    rng = np.random.default_rng(1)
    for data in (agree, crossed):
        frame = pd.DataFrame({"id": i.id, "score": rng.normal(), **i.groups} for i in data.items)
        found = estimates(frame, Design.of(data), load("association"))
        if data is agree:
            assert all(value.contrast and not value.needed for value in found)
            continue
        cells = frame[frame["prof_gender"] == "male"].groupby(["gender", "form"])["score"].mean()
        social = (cells["female"].sum() - cells["male"].sum()) / 2
        (mine,) = [value.value for value in found if value.groups.get("prof_gender") == "male"]
        assert mine == pytest.approx(social)


def world(frame: pd.DataFrame, rng: np.random.Generator, *, default: float, stereotype: float) -> pd.DataFrame:
    """Labels of a classifier that prefers men by `default` logits and stereotypes by `stereotype`, by occupation."""
    of_kind = {"female": 1.0, "male": -1.0, "neutral": 0.0}
    kinds = frame.drop_duplicates("word").set_index("word")["type"]
    logits = {word: -default + stereotype * of_kind[kind] + rng.normal(0, 0.5) for word, kind in kinds.items()}
    half = frame["word"].map(logits).to_numpy() / 2 * np.where(frame["gender"] == "female", 1, -1)
    return frame.assign(score=(rng.random(len(frame)) < 1 / (1 + np.exp(-half))).astype(float))


def claims(dataset: str, runs: int, **truth: float) -> dict[str, float]:
    """How often each of the two is claimed in such a world."""
    data, how = datasets.load(dataset), load("fraction-entailment")
    frame = pd.DataFrame({"id": i.id, "score": 0.0, **i.groups} for i in data.items)
    frame = frame[frame["type"] != "neutral"]
    found = {"stereotype": 0, "default": 0}
    for seed in range(runs):
        scores = world(frame, np.random.default_rng([seed, 1]), **truth)
        for value in by_name(estimates(scores, Design.of(data), how)).values():
            found[value.estimand] += decide(value).side != 0
    return {name: count / runs for name, count in found.items()}


def test_a_default_alone_is_hardly_ever_called_a_stereotype() -> None:
    alone, both = (claims("nli-en", 16, default=1.5, stereotype=effect) for effect in (0.0, 0.8))
    assert alone["stereotype"] <= 4 / 16  # 5 % expected: 5 or more are 1 in 1,100
    assert both["stereotype"] > 0.9
    assert both["default"] == 1


def test_nor_is_it_where_one_kind_has_many_more_occupations(data: Path) -> None:
    """The released set has 13 occupations taken for women's and 87 for men's."""
    assert claims("nli-coal-en", 16, default=1.5, stereotype=0.0)["stereotype"] <= 4 / 16
    assert claims("nli-coal-en", 8, default=1.5, stereotype=0.8)["stereotype"] >= 0.8


def test_rows_of_two_runs_are_the_same_items(tmp_path: Path) -> None:
    before = sentences(np.random.default_rng(6), female=1.0, male=-1.0)
    after = before.assign(score=before["score"] / 2)
    for row in rows(before, SENTENCES, load("association"), after=after):
        assert isinstance(row, ItemRow)
        assert row.values("d_after") == pytest.approx(row.values() / 2)


def test_published_scores_of_bert_show_a_stereotype_and_no_default(data: Path) -> None:
    built = datasets.load("becpro-en")
    texts = {item.text: item for item in built.items}  # type: ignore[attr-defined]
    released = pd.read_csv(data / "published" / "becpro" / "bert-base-uncased.tsv", sep="\t")
    frame = pd.DataFrame(
        {"id": texts[row["Sentence"]].id, "score": row["Pre_Assoc"], **texts[row["Sentence"]].groups}
        for row in released.to_dict("records")
    )
    found = by_name(estimates(frame, Design.of(built), load("association")))
    assert found["stereotype"].value == pytest.approx(1.083, abs=0.001)
    assert 0.4 < found["stereotype"].low < 0.6 < 1.5 < found["stereotype"].high < 1.8
    assert found["default"].low < 0 < found["default"].high
