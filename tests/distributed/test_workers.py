"""Work on a real Ray cluster of two nodes: the same bytes as here, whatever becomes of the workers."""

import errno
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

pytest.importorskip("ray", reason="Ray is not installed: pip install 'evenhand[ray]'")

import evenhand
from evenhand import BadInput, Likelihood, ModelError, RunError, Table
from evenhand.calls.audit import sweep
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.core.model import about
from evenhand.distributed import check_engine
from evenhand.distributed import workers as remote
from evenhand.distributed.workers import RemoteModel, WorkerPool, connected_cluster, stream_chunks
from evenhand.errors import ClusterError, UnknownName
from evenhand.models import ModelSource
from evenhand.models.cache import Remembering
from evenhand.models.planning.plan import Batch, Values
from evenhand.text import text_files
from evenhand.text.swap_file import swap
from helpers import tiny
from helpers.clusters import Letters, two_nodes
from helpers.kills import leftovers
from helpers.packages import without

pytestmark = pytest.mark.usefixtures("without_pages", "unexamined")

QUESTIONS = [Likelihood(f"{word} {n}") for n in range(10) for word in ("she", "nurse", "X-ray")]
FILES = ("results.json", "scores.parquet", "items.parquet")


@pytest.mark.parametrize("command", [["audit"], ["swap", "a.txt"], ["corpus", "a.txt"]])
def test_a_cluster_that_is_not_there_is_an_error_at_once(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("He left.\n")
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    start = time.monotonic()
    assert run_command(app, [*command, "--engine", "ray", "--address", address]) == 2
    assert time.monotonic() - start < 20
    assert f"no Ray cluster at {address}: Connection refused" in capsys.readouterr().err


def test_whoever_listens_but_is_no_cluster_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "ANSWERING", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(ClusterError, match="did not answer in 1 s"), connected_cluster(address):
            pass


def test_a_cluster_that_gives_no_reason_is_an_error_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    silent = subprocess.CalledProcessError(1, "ray", stderr="\n")
    monkeypatch.setattr(socket, "create_connection", lambda *_, **how: (_ for _ in ()).throw(silent))
    with pytest.raises(ClusterError, match="no reason was given"):
        remote.check_reachable("head:6379")


@pytest.mark.parametrize("address", ["ray://head:10001", "6379", "head:", ":6379"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(BadInput, match="HOST:PORT"):
        remote.check_reachable(address)


def test_what_only_ray_knows_needs_ray() -> None:
    with pytest.raises(UnknownName, match="'ray'"):
        check_engine("rya", None, None)
    with pytest.raises(BadInput, match="engine='ray'"):
        check_engine("local", None, 2)
    with pytest.raises(BadInput, match="at least 1. Got 0"):
        check_engine("ray", None, 0)


def test_without_ray_the_error_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without("ray", monkeypatch)
    assert run_command(app, ["audit", "--engine", "ray"]) == 2
    assert "evenhand[ray]" in capsys.readouterr().err


@pytest.mark.proof
def test_a_cluster_of_our_own_says_that_it_starts_and_nothing_more(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("The nurse washed her hands.\n" * 20)
    command = [sys.executable, "-m", "evenhand", "corpus", "--json", "--engine", "ray", "--workers", "1", str(file)]
    done = subprocess.run([*command, "--lines"], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "Starting Ray on this machine.\n")
    assert json.loads(done.stdout)["a.txt"]["female"] == 20


def test_models_share_places_and_the_last_may_have_all() -> None:
    pool = WorkerPool(4, models=3)
    shares = [pool.share]
    for _ in range(2):
        pool.finish()
        shares.append(pool.share)
    assert shares == [1, 2, 4]
    assert WorkerPool(1, models=5).share == 1


def test_everybody_stops_together() -> None:
    pool = WorkerPool(1)
    pool.stopped.set()
    with pytest.raises(ClusterError, match="kept"):
        RemoteModel(Letters, pool, name="letters").ask(bool)


def test_answers_of_workers_in_half_precision_are_compared_with_a_model_that_is_loaded_here(tmp_path: Path) -> None:
    there, folder = Table({}), str(tiny.save("bert-uncased", tmp_path / "tiny"))
    source = replace(ModelSource.of(folder, {"dtype": "bfloat16"}), given=there)
    assert source.load() is there
    assert source.exact is not None
    assert about(source.exact())["dtype"] == "float32"
    assert ModelSource.of(there).exact is None


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with two_nodes() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def contents(run: evenhand.Run) -> list[bytes]:
    return [(run.path / name).read_bytes() for name in FILES]


@pytest.mark.usefixtures("cluster", "one_thread")
@pytest.mark.parametrize(
    "families", [["roberta"], pytest.param(["bert-uncased", "roberta"], marks=pytest.mark.proof)], ids=len
)
def test_runs_on_a_cluster_have_the_bytes_of_local_ones(tmp_path: Path, families: list[str]) -> None:
    models = [str(tiny.save(family, tmp_path / f"tiny-{family}")) for family in families]
    how: dict[str, Any] = {"dataset": "becpro-en", "limit": 40, "batch_size": 8}
    here = list(sweep(models, out=tmp_path / "here", **how))
    there = list(sweep(models, out=tmp_path / "there", engine="ray", workers=2, **how))
    for one, other in zip(here, there, strict=True):
        assert contents(one) == contents(other)
        assert one.record.audits[-1].work == other.record.audits[-1].work
        assert one.record.tokens == other.record.tokens
        assert {**one.record.loaded, "workers": 2} == other.record.loaded


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(
    ("then", "error", "says"),
    [("fail", ModelError, "nobody knows"), ("full", ClusterError, "cannot go on: .*No space left")],
)
def test_an_error_on_a_worker_is_ours_and_what_was_finished_is_kept(
    tmp_path: Path, then: str, error: type[Exception], says: str
) -> None:
    with (
        RemoteModel(partial(Letters, at="X", then=then), WorkerPool(2), name="letters") as model,
        pytest.raises(error, match=says),
    ):
        Remembering(model, tmp_path / "a.sqlite").answer(QUESTIONS)
    with RemoteModel(Letters, WorkerPool(2), name="letters") as model:
        resumed = Remembering(model, tmp_path / "a.sqlite")
        assert resumed.answer(QUESTIONS) == Letters().answer(QUESTIONS)
    assert resumed.work.batches < len(Letters().plan(QUESTIONS).batches)


@pytest.mark.proof
@pytest.mark.usefixtures("cluster")
def test_a_killed_worker_costs_nothing(tmp_path: Path) -> None:
    once = tmp_path / "killed"
    with RemoteModel(partial(Letters, at="X", then=str(once)), WorkerPool(2), name="letters") as model:
        assert model.answer(QUESTIONS) == Letters().answer(QUESTIONS)
    assert once.exists()


@pytest.mark.proof
@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("what", ["answers", "results"])
def test_a_full_disk_here_is_a_sentence_and_the_audit_goes_on_when_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def small(path: Path, **how: Any) -> sqlite3.Connection:
        store: sqlite3.Connection = connect(path, **how)
        store.execute("PRAGMA max_page_count = 4")
        return store

    connect = sqlite3.connect
    how: dict[str, Any] = {"dataset": "becpro-en", "limit": 6}
    here = evenhand.audit(Letters(), out=tmp_path / "here", **how)
    with RemoteModel(Letters, WorkerPool(1), name="letters") as model:
        with monkeypatch.context() as patched:
            patched.setattr(*(("os.fsync", full) if what == "results" else ("sqlite3.connect", small)))
            with pytest.raises(RunError, match="No space left|disk is full"):
                evenhand.audit(model, out=tmp_path / "there", **how)
        there = evenhand.audit(model, out=tmp_path / "there", **how)
    assert contents(here) == contents(there)
    assert leftovers(there.path) == []


@pytest.mark.proof
@pytest.mark.usefixtures("cluster")
def test_texts_go_on_after_a_killed_worker_and_a_full_disk_is_a_sentence(tmp_path: Path) -> None:
    killed = tmp_path / "killed"

    def kill_once(chunk: int) -> int:
        if not killed.exists():
            killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return -chunk

    def full(chunk: int) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    assert list(stream_chunks(range(9), kill_once)) == [-chunk for chunk in range(9)]
    with pytest.raises(ClusterError, match="No space left"):
        list(stream_chunks([1], full))


@pytest.mark.usefixtures("cluster")
def test_inputs_redone_in_float32_are_counted_wherever_that_is() -> None:
    with RemoteModel(Letters, WorkerPool(2), name="letters") as model:
        model.answer(QUESTIONS)
    assert model.overflowed == Letters().plan(QUESTIONS).inputs


@pytest.mark.proof
@pytest.mark.usefixtures("cluster")
def test_a_batch_that_kills_every_worker_is_given_up() -> None:
    with (
        RemoteModel(partial(Letters, at="X", then="die"), WorkerPool(2), name="letters") as model,
        pytest.raises(ClusterError, match="3 workers were lost with the same batch"),
    ):
        model.answer(QUESTIONS)


@pytest.mark.usefixtures("cluster")
def test_another_version_on_a_worker_is_an_error_that_names_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "version", lambda _: "9.9.9")
    with (
        RemoteModel(Letters, WorkerPool(1), name="letters") as model,
        pytest.raises(ClusterError, match=f"evenhand is 9.9.9 and {version('evenhand')}"),
    ):
        model.answer(QUESTIONS)


@pytest.mark.usefixtures("cluster")
def test_workers_with_other_weights_are_refused() -> None:
    def load() -> Letters:
        return Letters(seconds=1, fingerprint=str(uuid4()))  # time for the second to start

    with (
        RemoteModel(load, WorkerPool(2), name="letters") as model,
        pytest.raises(ClusterError, match="fingerprint is"),
    ):
        model.answer(QUESTIONS)


@pytest.mark.usefixtures("cluster")
def test_a_worker_that_no_machine_has_room_for_is_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "PATIENCE", 1.0)
    with (
        RemoteModel(Letters, WorkerPool(1, needs={"num_cpus": 64}), name="letters") as model,
        pytest.raises(ClusterError, match="'num_cpus': 64.*'CPU': 2.0"),
    ):
        model.answer(QUESTIONS)


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("section", [text_files.CHARACTERS, 4_000], ids=["one section", "two"])
def test_texts_are_swapped_and_counted_as_here(
    section: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(text_files, "CHARACTERS", section)
    file = tmp_path / "a.txt"
    file.write_text("".join(f"The nurse washed her hands {n} times. Mary Smith saw him.\r\n" for n in range(100)))
    here = swap(file, tmp_path / "here.txt", share=0.5, lines=True, trail=True, jobs=1)
    there = swap(file, tmp_path / "there.txt", share=0.5, lines=True, trail=True, engine="ray", workers=2)
    assert there.out.read_bytes() == here.out.read_bytes() != file.read_bytes()
    assert there.trail is not None
    assert there.trail.read_bytes() == (tmp_path / "here.txt.trail.jsonl").read_bytes()
    printed = []
    for engine in ("local", "ray"):
        assert run_command(app, ["corpus", "--json", "--engine", engine, str(file), str(here.out)]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]


@pytest.mark.usefixtures("cluster")
def test_a_file_that_cannot_be_read_is_bad_input_there_too(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "He left."}\n' * 700 + '{"text": 3}\n')
    with pytest.raises(BadInput, match="line 701") as caught:
        swap(tmp_path / "a.jsonl", engine="ray")
    assert type(caught.value) is BadInput
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


@pytest.mark.proof
def test_a_node_killed_in_the_middle_costs_nothing_and_doubles_nothing(cluster: Any, tmp_path: Path) -> None:
    """Last: the cluster has one node then."""
    finished = []

    class Disturbed(RemoteModel):
        def stream(self, batches: Sequence[tuple[int, Batch]]) -> Iterator[tuple[int, Values]]:
            for number, values in super().stream(batches):
                finished.append(number)
                if len(finished) == len(batches) // 3:
                    (node,) = cluster.worker_nodes
                    cluster.remove_node(node, allow_graceful=False)
                yield number, values

    how: dict[str, Any] = {"dataset": "becpro-en", "limit": 30}
    here = evenhand.audit(Letters(), out=tmp_path / "here", **how)
    with Disturbed(partial(Letters, seconds=0.01), WorkerPool(2), name="letters") as model:
        there = evenhand.audit(model, out=tmp_path / "there", **how)
    assert sorted(finished) == list(range(there.record.audits[-1].work.batches))
    assert contents(here) == contents(there)
