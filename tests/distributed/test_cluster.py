"""Finding a cluster, or saying at once that there is none; who gets how many of its workers."""

import importlib.util
import json
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from evenhand import BadInput, Table
from evenhand.cli.app import app
from evenhand.cli.terminal import run as run_command
from evenhand.core.model import about
from evenhand.distributed import cluster
from evenhand.distributed.cluster import check_engine, connection
from evenhand.distributed.workers import WorkerPool
from evenhand.errors import ClusterError, UnknownName
from evenhand.models import ModelSource
from helpers.packages import without

needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed")


@needs_ray
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
    assert f"no Ray cluster to work on at {address}: Connection refused" in capsys.readouterr().err


@needs_ray
def test_whoever_listens_but_is_no_cluster_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "ANSWERING", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(ClusterError, match="did not answer in 1 s"), connection(address):
            pass


@pytest.mark.parametrize("address", ["ray://head:10001", "6379", "head:", ":6379"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(BadInput, match="HOST:PORT"):
        cluster.check_reachable(address)


def test_what_only_ray_knows_needs_ray() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'ray'"):
        check_engine("rya", None, None)
    with pytest.raises(BadInput, match="add `engine='ray'`"):
        check_engine("local", None, 2)
    with pytest.raises(BadInput, match="at least 1. Got 0"):
        check_engine("ray", None, 0)


def test_without_ray_the_error_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without("ray", monkeypatch)
    assert run_command(app, ["audit", "--engine", "ray"]) == 2
    assert "evenhand[ray]" in capsys.readouterr().err


@needs_ray
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
    pool.check()
    pool.stopped.set()
    with pytest.raises(ClusterError, match="kept"):
        pool.check()


def test_answers_of_workers_in_half_precision_are_compared_with_a_model_that_is_loaded_here() -> None:
    there = Table({})
    source = replace(ModelSource.of("mini-en", {"dtype": "bfloat16"}), given=there)
    assert source.load() is there
    assert source.exact is not None
    assert about(source.exact())["dtype"] == "float32"
    assert ModelSource.of(there).exact is None
