"""Own pairs in a language of their own: set by `lang`, checked by their own sentences, never linted as English."""

from pathlib import Path

import pytest

from evenhand import BadInput, audit
from evenhand.auditing.spec import AuditSpec
from evenhand.checks.lint import lint

pytestmark = pytest.mark.usefixtures("without_pages")

SPANISH = """stereotype,counterpart,about
"Ella limpia la casa todos los días.","Él limpia la casa todos los días.",women
"Él repara el coche de la vecina.","Ella repara el coche de la vecina.",men
"Ella cuida a los niños.","Él cuida a los niños.",women
"Él dirige la empresa.","Ella dirige la empresa.",men
"""


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    file = tmp_path / "es.csv"
    file.write_text(SPANISH, encoding="utf-8")
    return file


def test_lang_sets_the_language_of_own_pairs(tmp_path: Path, pairs: Path) -> None:
    run = audit("mini-en", pairs=pairs, lang="es", measure="stereotype-share", out=tmp_path / "runs")
    (task,) = run.record.tasks
    assert task.language == "es"
    (finding,) = [f for f in run.record.audit_of(task).doctor if f.check == "language"]
    assert finding.verdict == "unfit"  # an English model, as its own sentences show
    assert "Sentences to be measured in 'es'" in finding.says
    assert finding.do == "Take a model of 'es'"
    assert not [f for f in run.record.audit_of(task).doctor if "lint" in f.do]


@pytest.mark.parametrize(
    ("what", "word"),
    [
        ({"dataset": "tbd", "lang": "es"}, "'tbd'.* Got `lang`"),
        ({"pairs": "es.csv"}, "Spanish"),
        ({"pairs": "es.csv", "lang": "spanish"}, "code"),
        ({"pairs": "es.csv", "lang": ["es", "de"]}, "one language"),
        ({"templates": "own.toml", "lang": "es"}, "'own'.* Got `lang`"),
    ],
)
def test_a_language_that_contradicts_the_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pairs: Path, what: dict[str, object], word: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.toml").write_text(
        'name = "own"\nlanguage = "en"\ntemplates = ["{target} is a {attribute}."]\n'
        '[targets]\nfemale = ["she"]\nmale = ["he"]\n[attributes]\njobs = ["nurse"]\n'
    )
    with pytest.raises(BadInput, match=word):
        audit("mini-en", **what)  # type: ignore[arg-type]
    assert not Path("runs").exists()


def test_suites_are_english_where_no_language_is_named() -> None:
    spec = AuditSpec.of("gbef", limit=2)
    assert {one.task.dataset.language for one in spec.tasks_for("masked")} == {"en"}


def test_the_english_linter_does_not_run_on_other_languages(pairs: Path) -> None:
    with pytest.raises(BadInput, match="Spanish.* Only English"):
        lint(pairs, model=None)
