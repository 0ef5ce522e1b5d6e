"""How choices are asked, from the command line: in a chat, behind a system prompt of a file."""

from pathlib import Path

import pytest

from evenhand import Run, audit, compare
from evenhand.auditing.spec import AuditSpec
from evenhand.auditing.track import _finished_run
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.core.way import Way
from evenhand.models import ModelSource
from evenhand.show.page import provenance
from helpers import made_bbq, tiny

TEMPLATE = "{% for message in messages %}[{{ message['role'] }}] {{ message['content'] }}\n{% endfor %}[assistant]"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tokenizer = tiny.continuing_bytes()
    tokenizer.model_max_length = 512
    tokenizer.chat_template = TEMPLATE
    place = tmp_path_factory.mktemp("models") / "tiny-chat"
    return tiny.save_causal("gpt2", place, tokenizer=tokenizer, max_position_embeddings=512)


@pytest.mark.usefixtures("without_pages", "unexamined")
def test_chat_and_system_prompt_belong_to_the_model(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    made_bbq.write(tmp_path)
    system = tmp_path / "system.txt"
    system.write_text("You answer exams. One letter is enough, and it is the right one.\n")
    asked = ["audit", str(folder), "--out", str(tmp_path / "runs"), "--option", "mass=0"]
    asked += ["--dataset", "bbq-ambiguous", "--dataset", "bbq-disambiguated"]
    assert run_command(app, asked) == 0
    assert run_command(app, [*asked, "--chat", "--system", str(system)]) == 0
    plain = Run.load(tmp_path / "runs" / "tiny-chat")
    chat = Run.load(tmp_path / "runs" / "tiny-chat--chat--system-prompt-from-system.txt")
    assert "A chat model, by its chat template, asked with plain prompts: --chat asks" in plain.record.caveats[0]
    assert not any("--chat" in caveat for caveat in chat.record.caveats)
    assert (plain.record.asked.chat, plain.record.asked.system) == (False, "")
    assert chat.record.asked.system == system.read_text().strip()
    assert plain.record.tasks == chat.record.tasks
    assert plain.record.fingerprint == chat.record.weights != chat.record.fingerprint
    changes = compare(plain, chat)
    assert changes.names == ["tiny-chat", "tiny-chat, chat, system prompt from system.txt"]
    assert any(row.difference.value for row in changes.rows if row.measure == "choice-coverage")
    shown = dict(provenance.facts(chat))
    assert (shown["asked"], shown["system prompt"]) == ("in chats", chat.record.asked.system)
    assert shown["system prompt from"].endswith("system.txt")


@pytest.mark.usefixtures("without_pages", "unexamined")
def test_the_commands_that_compare_system_prompts(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("v1.txt").write_text("Be brief.")
    Path("fair.txt").write_text("Be fair.")
    asked = ["--chat", "--system", "v1.txt", "--system", "fair.txt", "--dataset", "choices-pronouns", "--limit", "12"]
    assert run_command(app, ["audit", str(folder), *asked, "--option", "mass=0"]) == 0
    assert "choice-gap: models side by side" in capsys.readouterr().out
    v1, fair = (f"runs/tiny-chat--chat--system-prompt-from-{name}.txt" for name in ("v1", "fair"))
    assert run_command(app, ["compare", v1, fair]) == 0
    assert "tiny-chat, chat, system prompt from fair.txt against" in capsys.readouterr().out
    rule = {"measure": "choice-gap", "dataset": "choices-pronouns (mass=0.0)", "estimand": "default"}
    lines = [f'{name} = "{value}"' for name, value in rule.items()]
    Path("policy.toml").write_text("\n".join(["[[rule]]", *lines, "worse_by_at_most = 1.9"]))
    assert run_command(app, ["gate", fair, "--policy", "policy.toml", "--baseline", v1]) in (0, 3)
    assert "worse than the baseline by at most 1.9" in capsys.readouterr().out


@pytest.mark.usefixtures("without_pages", "unexamined")
def test_a_checkpoint_that_was_measured_in_another_way_is_measured_again(folder: Path, tmp_path: Path) -> None:
    run = audit(str(folder), dataset="choices-pronouns", limit=4, out=tmp_path, options={"mass": 0})
    spec, source = AuditSpec.of(dataset="choices-pronouns", limit=4, options={"mass": 0}), ModelSource.of(str(folder))
    for way, found in ((Way(), True), (Way(chat=True), False)):
        assert (_finished_run(run.path, source, spec.in_way(way).tasks_for) is not None) == found


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--chat", "--system", "nowhere.txt"], "The system prompt 'nowhere.txt' cannot be read"),
        (["--system", "{file}"], "set `chat`, too, or leave out `system`"),
        (["--chat", "--system", "{empty}"], "is empty"),
        (["--option", "by=guess"], "Unknown value of by 'guess'"),
        (["--option", "mass=lots"], "`mass` must be a number from 0 to 1"),
    ],
)
def test_what_cannot_be_asked_is_a_sentence(
    arguments: list[str],
    says: str,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    made_bbq.write(tmp_path)
    (tmp_path / "file").write_text("Be brief.")
    (tmp_path / "empty").write_text(" \n")
    given = [argument.format(file=tmp_path / "file", empty=tmp_path / "empty") for argument in arguments]
    assert run_command(app, ["audit", str(folder), "--suite", "choices", "--out", str(tmp_path / "runs"), *given]) == 2
    assert says in " ".join(capsys.readouterr().err.split())


def test_an_option_that_nothing_has_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(app, ["audit", "mini-en", "--suite", "gbef", "--chat", "--out", str(tmp_path)]) == 2
    assert "Unknown option 'chat'" in capsys.readouterr().err
