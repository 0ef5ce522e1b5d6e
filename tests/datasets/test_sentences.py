"""Template files: what a user writes is what is measured, and slips are named with file, line and key."""

from pathlib import Path

import pytest

import evenhand
from evenhand import BadInput, Fill, Sentence, Table, datasets
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from helpers.typed import all_of, only

pytestmark = pytest.mark.usefixtures("without_pages")

GOOD = """name = "tiny"
language = "en"
templates = ["{target} likes {attribute}.", "I saw {target} with {attribute}."]

[targets]
female = ["she", "my aunt"]
male = ["he", "my uncle"]

[attributes]
pets = ["cats", "big dogs"]
tools = ["hammers"]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(GOOD)
    return path


def test_every_template_target_and_attribute_meet(file: Path) -> None:
    dataset = datasets.load("templates", file=str(file))
    assert (dataset.name, len(dataset.items)) == ("tiny", 2 * 4 * 3)
    items = all_of(Sentence, dataset.items)
    texts = [item.text for item in items]
    assert "My aunt likes big dogs." in texts
    assert "I saw my aunt with big dogs." in texts
    item = items[texts.index("I saw my aunt with big dogs.")]
    assert item.target.of(item.text) == "aunt"
    assert item.attribute.of(item.text) == "big dogs"
    assert item.groups["slot"] == "2"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('male = ["he"', 'mal = ["he"', "mine.toml, line 7: .*'mal'.*'male'"),
        ('male = ["he", "my uncle"]', 'male = ["he"]', "line 7: .* female 2, male 1"),
        ("{target} likes {attribute}.", "She likes {attribute}.", r"line 3: .*\{target\} exactly once"),
        ("{target} likes {attribute}.", "{target} likes {target}.", r"line 3: .*\{target\} exactly once"),
        ("likes {attribute}", "likes {attribute} {colour}", r"line 3: .*\{colour\}"),
        ("[attributes]", "[atributes]", "line 9: .*'atributes'.*'attributes'"),
        ('name = "tiny"', "", "'name'"),
        ('["hammers"]', "[]", "line 11: 'tools' must be a list"),
        ('["hammers"]', '["hammers", "hammers"]', "line 11: 'tools' has 'hammers'"),
        ('["hammers"]', '["hammers"', "TOML"),
    ],
)
def test_slips_are_named_with_file_line_and_key(file: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    file.write_text(GOOD.replace(old, new))
    with pytest.raises(BadInput, match=message):
        datasets.load("templates", file=str(file))


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="none.toml"):
        datasets.load("templates", file=str(tmp_path / "none.toml"))
    (tmp_path / "latin.toml").write_bytes(b'name = "caf\xe9"')
    with pytest.raises(BadInput, match="UTF-8"):
        datasets.load("templates", file=str(tmp_path / "latin.toml"))
    with pytest.raises(BadInput, match="file="):
        datasets.load("templates")


def test_it_is_measured_and_scored_again_like_becpro(file: Path, tmp_path: Path) -> None:
    run = evenhand.audit(Table(only(Fill, lambda q: (-1.0 - len(q.hidden),))), templates=file, out=tmp_path)
    assert run.values["value"].tolist() == [1.0] * 5 + [0.0] * 2
    assert evenhand.rescore(run.path).values.equals(run.values)
    file.write_text(GOOD.replace("hammers", "nails"))
    with pytest.raises(BadInput, match="changed"):
        evenhand.rescore(run.path)


def test_the_example_file_works(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example = Path(__file__).parents[2] / "examples" / "hobbies.toml"
    assert run_command(app, ["audit", "--templates", str(example), "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "hobbies · words for women against words for men" in printed


def test_emotions_are_attributes_too() -> None:
    dataset = datasets.load("emotions-en")
    assert dataset.version == 2
    assert len(dataset.items) == 6 * 18 * 36
    assert len({item.text for item in all_of(Sentence, dataset.items)}) == len(dataset.items)
    assert dataset.cluster == "attribute"


HEADER = "ID,Sentence,Template,Person,Gender,Race,Emotion,Emotion word"
EEC = f"""{HEADER}
1,Alonzo feels angry.,<person subject> feels <emotion word>.,Alonzo,male,African-American,anger,angry
2,My aunt feels angry.,<person subject> feels <emotion word>.,my aunt,female,,anger,angry
3,The man made this man angry.,The man made <person object> <emotion word>.,this man,male,,anger,angry
5,She found herself in a sad spot.,<person subject> found himself/herself in a <emotion word> spot.,she,female,,,sad
4,I saw her in the market.,I saw <person object> in the market.,her,female,,,
"""


def test_a_copy_of_the_eec_is_read_by_its_templates(tmp_path: Path) -> None:
    (tmp_path / "eec.csv").write_text(EEC)
    dataset = datasets.load("eec", file=str(tmp_path / "eec.csv"))
    assert [i.id for i in dataset.items] == ["1", "2", "3"]
    assert "left out: 1 rows with himself or herself, 1 without an emotion word" in dataset.about
    _, second, third = all_of(Sentence, dataset.items)
    assert second.target.of(second.text) == "aunt"
    assert (third.target.start, third.attribute.start) == (18, 22)  # not the first man
    assert third.groups["race"] == "none"
    assert second.phrase
    assert second.phrase.of(second.text) == "My aunt"
    assert (second.candidates, third.candidates) == (("Alonzo", "My aunt"), ("this man",))


def test_a_damaged_eec_is_named(tmp_path: Path) -> None:
    path = tmp_path / "eec.csv"
    path.write_text(EEC.replace("Alonzo feels angry", "Alonzo is angry"))
    with pytest.raises(BadInput, match="line 2: .*template"):
        datasets.load("eec", file=str(path))
    path.write_text(EEC.replace("Emotion word", "Word", 1))
    with pytest.raises(BadInput, match="'Emotion word'.*EEC"):
        datasets.load("eec", file=str(path))
    with pytest.raises(BadInput, match="no file"):
        datasets.load("eec", file=str(tmp_path / "none.csv"))
