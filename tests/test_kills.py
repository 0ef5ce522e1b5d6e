"""A command that is killed, at a write or at each: the same command again gives the same results, without litter."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import pytest

import evenhand
from evenhand.calls.debias import debias
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.datasets.corpora.nli_examples import Example
from evenhand.models import load_masked
from evenhand.models.loading.labels import LABELS
from evenhand.models.networks.masked import MaskedLM
from evenhand.text.swap_file import swap
from evenhand.training.nli import NLI_RECIPE, finetune_nli
from helpers import tiny
from helpers.fuzzing import contents
from helpers.kills import kill, leftovers, quick, results, states

TEXTS = "".join(f"He told her that his {i} hats were old. She knew.\n" for i in range(6))


@pytest.fixture(autouse=True)
def undrawn() -> Iterator[None]:
    with quick():
        yield


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.save("roberta", tmp_path_factory.mktemp("models") / "base")


@pytest.fixture(scope="module")
def model(base: Path) -> MaskedLM:
    return load_masked(str(base), batch_size=16)


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    file = tmp_path / "pairs.csv"
    file.write_text("stereotype,counterpart\nHe is a man.,She is a man.\nHe is my nurse.,She is my nurse.\n")
    return file


class Check(Protocol):
    """What the fixture `check` gives."""

    def __call__(
        self, work: Callable[[Path], object], whole: Path, copies: Path, least: int, only: Callable[[str], bool] = bool
    ) -> None: ...


@pytest.fixture(params=["one", pytest.param("each", marks=pytest.mark.proof)])
def check(request: pytest.FixtureRequest) -> Check:
    """The work, killed at a write and done again, gives the same results as without a kill, and leaves no litter."""

    def check_states(
        work: Callable[[Path], object], whole: Path, copies: Path, least: int, only: Callable[[str], bool] = bool
    ) -> None:
        killed = states(work, whole, copies, only)
        assert len(killed) >= least
        assert leftovers(whole) == []
        expected = results(whole)
        for state in killed if request.param == "each" else killed[len(killed) // 2 :][:1]:
            before = contents(state)
            work(state)
            assert results(state) == expected, before
            assert leftovers(state) == [], before

    return check_states


def test_an_audit(check: Check, model: MaskedLM, pairs: Path, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('[[rule]]\nmeasure = "likelihood-lean"\nwithin = 0.5\n')
    asked: dict[str, Any] = {"pairs": pairs, "measure": "likelihood-lean", "gate": policy}
    check(lambda out: evenhand.audit(model, out=out, **asked), tmp_path / "whole", tmp_path / "killed", 15)


@pytest.fixture
def audited(model: MaskedLM, pairs: Path, tmp_path: Path) -> Path:
    """A folder with a run."""
    out = tmp_path / "whole"
    evenhand.audit(model, out=out, pairs=pairs, measure="likelihood-lean")
    return out


def test_an_audit_that_adds_to_a_run(check: Check, model: MaskedLM, pairs: Path, audited: Path, tmp_path: Path) -> None:
    """The earlier results stay, whatever of them was replaced when it was killed."""
    asked: dict[str, Any] = {"pairs": pairs, "measure": "stereotype-share"}
    check(lambda out: evenhand.audit(model, out=out, **asked), audited, tmp_path / "killed", 10)


def test_rescoring(check: Check, audited: Path, pairs: Path, tmp_path: Path) -> None:
    check(lambda out: evenhand.rescore(out / "base", file=pairs), audited, tmp_path / "killed", 10)


@pytest.mark.parametrize("trail", [True, False])
def test_a_swap(check: Check, tmp_path: Path, trail: bool) -> None:
    source = tmp_path / "a.txt"
    source.write_text(TEXTS)
    check(lambda out: swap(source, out / "b.txt", trail=trail, jobs=1), tmp_path / "whole", tmp_path / "killed", 6)


def test_debiasing(check: Check, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own writes: those of audits and trainings have tests of their own, and finished audits are not repeated."""

    def audit(model: str, out: Path, **asked: Any) -> evenhand.Run:
        done = out / Path(model).name
        return evenhand.Run.load(done) if (done / "run.json").exists() else evenhand.audit(model, out=out, **asked)

    monkeypatch.setattr("evenhand.calls.debias.audit", audit)
    monkeypatch.setattr("evenhand.calls.debias._language", lambda *_: {})
    corpus = tmp_path / "corpus.txt"
    corpus.write_text(TEXTS)

    def work(out: Path) -> None:
        debias(str(base), corpus=str(corpus), out=out, suite="emotions", limit=2)

    own = ("debias.json", "changes.json", "README.md", "report.html", ".checkpoint.pt")
    check(
        work,
        tmp_path / "whole",
        tmp_path / "killed",
        10,
        lambda path: any(name in path for name in own) and not path.startswith(("before", "after")),
    )


def test_counting_a_corpus(check: Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An earlier count, too, is there or replaced."""
    monkeypatch.setattr("evenhand.text.counting.CHUNK", 2)
    old, new, whole = tmp_path / "old.txt", tmp_path / "new.txt", tmp_path / "whole"
    old.write_text("She is a nurse.\n\nHe is not.\n")
    new.write_text(TEXTS.replace("\n", "\n\n"))

    def count(out: Path, source: Path = new) -> None:
        assert run_command(app, ["corpus", str(source), "--out", str(out), "--force"]) == 0

    count(whole, old)
    check(count, whole, tmp_path / "killed", 6)


def test_a_curve(check: Check, base: Path, pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own writes, over an earlier curve: those of audits have tests of their own."""
    monkeypatch.setattr("evenhand.show.track.track_page", lambda made: str(made.as_json()))
    monkeypatch.setattr("evenhand.analysis.tracking.public_path", lambda path: path.name)  # it is another each time
    models = [base, tiny.save("roberta", tmp_path / "other", layer_norm_eps=0.5)]

    def track(out: Path, limit: int | None = None) -> None:
        evenhand.track(models, pairs=pairs, measure="likelihood-lean", limit=limit, out=out, progress=False)

    track(tmp_path / "whole", limit=1)
    check(track, tmp_path / "whole", tmp_path / "killed", 6, lambda path: path.startswith(("track", ".track")))


def test_a_checkpoint_that_was_killed_before_its_page_gets_it(base: Path, pairs: Path, tmp_path: Path) -> None:
    """Its results are complete, so it is not measured again."""
    models, out = [base, tiny.save("roberta", tmp_path / "other", layer_norm_eps=0.5)], tmp_path / "runs"

    def track() -> None:
        evenhand.track(models, pairs=pairs, measure="likelihood-lean", out=out, progress=False)

    track()
    whole = contents(out)
    (out / "base" / "report.html").unlink()
    (out / "base" / ".lock").touch()
    track()
    assert contents(out) == whole


def test_an_import(check: Check, audited: Path, pairs: Path, tmp_path: Path) -> None:
    """In the place of a run that was measured."""
    scores = tmp_path / "scores.txt"
    scores.write_text("1\n-2\n")
    how: dict[str, Any] = {"dataset": "pairs", "measure": "likelihood-lean", "options": {"file": pairs}, "name": "base"}
    check(lambda out: evenhand.from_scores(scores, out=out, fresh=True, **how), audited, tmp_path / "killed", 10)


def test_a_training(check: Check, base: Path, tmp_path: Path) -> None:
    examples = [Example(f"He is {i}.", "She is.", label) for i, label in enumerate(LABELS * 2)]
    recipe = replace(NLI_RECIPE, epochs=2, batch=4)

    def train(out: Path) -> None:
        finetune_nli(str(base), examples, recipe, out)

    check(train, tmp_path / "whole", tmp_path / "killed", 8)


def test_a_command_that_is_killed_for_good(audited: Path) -> None:
    """Not a copy: a process that is killed while it writes. test_random_kills.py kills others at random."""
    command = ["rescore", str(audited / "base")]
    kill(audited, ".results.json", *command)
    assert leftovers(audited) != []
    assert run_command(app, command) == 0
    assert leftovers(audited) == []
