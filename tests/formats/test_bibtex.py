"""BibTeX: what was run is cited, and every citation is a true one."""

import re
from pathlib import Path

import pytest

import evenhand
from evenhand import BadInput
from evenhand.core.scores import share
from evenhand.datasets import BUILDERS
from evenhand.datasets.files.releases import RELEASES
from evenhand.formats.bibtex import AS_IT_IS, citations, works
from evenhand.measures import MEASURES, OURS, words_of
from evenhand.runs.rows import cited_with_datasets
from helpers.written_runs import HOSTILE, Made, task

OWN_FILES = {"pairs", "templates"}
REQUIRED = {
    "article": {"author", "title", "journal", "year"},
    "book": {"author", "title", "publisher", "year"},
    "inproceedings": {"author", "title", "booktitle", "year"},
    "mastersthesis": {"author", "title", "school", "year"},
    "misc": {"author", "title", "note"},
}


def entries(text: str) -> dict[str, tuple[str, dict[str, str]]]:
    """Type and fields by key, read as BibTeX does: what is outside entries is skipped, braces are counted."""
    found, place = {}, 0
    while (start := text.find("@", place)) >= 0:
        head = re.compile(r"@(\w+)\{(\w+),").match(text, start)
        assert head, text[start : start + 40]
        depth, place = 1, head.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[place], 0)
            place += 1
        fields = re.findall(r"^  (\w+) = \{(.*)\},$", text[head.end() : place], re.M)
        assert head[2] not in found
        found[head[2]] = (head[1], dict(fields))
    return found


def test_every_measure_dataset_and_corpus_has_its_citations() -> None:
    names, of_datasets, of_measures = citations(), cited_with_datasets(), {name: words_of(name) for name in OURS}
    assert all(words["cites"] for words in of_measures.values())
    assert all(name in of_datasets or name in OWN_FILES for name in BUILDERS)
    assert all(name in of_datasets or names[("corpus", name)] for name in RELEASES)
    parts = [part for words in of_measures.values() for part in (words, words.get("contrast", {}))]
    in_words = [part.get(kind, ()) for part in parts for kind in ("cites", "cites_interval")]
    assert {key for keys in (*names.values(), *of_datasets.values(), *in_words) for key in keys} == set(works())
    shares = {name for name in OURS if share in (how := MEASURES[name].summarise, getattr(how, "within", None))}
    by_partitions = {"weat", "seat", "c-seat"}
    assert {name for name, words in of_measures.items() if "cites_interval" in words} == shares | by_partitions


def test_the_papers_are_those_of_the_citation_file() -> None:
    file = (Path(__file__).parents[2] / "CITATION.cff").read_text(encoding="utf-8")
    for key in ("evenhand", "bartl2020", "barza2023", "anantaprayoon2024"):
        work = works()[key]
        assert work["title"] in file
        assert work["year"] in file or key == "evenhand"  # which has no release yet
        assert all(name.partition(",")[0].strip("{}") in file for name in work["author"].split(" and "))


def test_a_run_cites_its_measures_data_and_statistics_once(made: Made) -> None:
    crossed = task("tbd", "pronoun", crossed="template")
    within = task("tgb", "likelihood-lean", measure_options={"pll": "within-word"})
    text = evenhand.export([made(tasks=(within, crossed)), made()], "bibtex")
    found = entries(text)
    assert list(found) == ["evenhand", "salazar2020", "barza2023", "kauf2023", "hesterberg2015", "cameron2011"]
    assert found["evenhand"][1]["note"] == "Version 0.1.0"
    assert "% For pll=within-word of likelihood-lean\n@inproceedings{kauf2023," in text


def test_every_entry_has_what_its_type_needs(made: Made) -> None:
    tasks = [task(dataset, measure) for measure in OURS for dataset in BUILDERS]
    tasks += [task("tgb", "likelihood-lean", measure_options={"pll": "within-word"}, crossed="x")]
    found = entries(evenhand.export(made(tasks=tuple(tasks)), "bibtex", cite=["gap"]))
    assert set(found) == set(works())
    for kind, fields in found.values():
        assert REQUIRED[kind] <= set(fields)
        assert all(re.fullmatch(r"10\.\d{4,9}/\S+", fields["doi"]) for _ in [0] if "doi" in fields)


def test_corpora_that_a_run_cannot_know_are_asked_for(made: Made) -> None:
    assert "webster2018" in entries(evenhand.export(made(), "bibtex", cite=["gap"]))
    with pytest.raises(BadInput, match="'gap'"):
        evenhand.export(made(), "bibtex", cite=["gapp"])


def test_hostile_names_begin_no_entry(made: Made) -> None:
    name = "@article{x,\n@book{" + HOSTILE
    run = made(model=name, dataset=name, measure=name, evenhand="0.1{@" + HOSTILE)
    text = evenhand.export(run, "bibtex")
    assert list(entries(text)) == ["evenhand", "hesterberg2015"]


def test_an_own_measure_is_named_to_be_cited_by_its_author(made: Made) -> None:
    text = evenhand.export(made(measure="mine"), "bibtex")
    assert "% measure mine: not evenhand's; cite it as its author asks" in text


def test_no_field_has_stray_braces() -> None:
    for fields in works().values():
        for name, text in fields.items():
            assert "--" not in text or name in AS_IT_IS, "LaTeX escaping would put braces between the dashes"
            assert not set("{}") & set(text) or name in AS_IT_IS
    assert {"year", "url"} <= set(works()["evenhand"])
