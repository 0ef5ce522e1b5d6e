"""Run the benchmarks: `python -m benchmarks [GROUP ...]`, all of them by default; then write their pages."""

import argparse
import json
import math
import os
import platform
import re
import subprocess
import time
from dataclasses import asdict
from datetime import date
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"  # before anything imports the Hub's client

import torch

from benchmarks import page, timing
from benchmarks.page import GROUPS, RESULTS
from benchmarks.rows import Row

PEERS = ("torch", "transformers", "minicons", "HanTa", "numpy", "ray")


def main() -> None:
    """Run the groups, print and keep their rows, and write the page."""
    here = [name for name in GROUPS if find_spec(f"benchmarks.{name}")]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Ours beside the peers, in one run.")
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"of {', '.join(here)}; default: all")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="of torch; default: every core")
    parser.add_argument("--clock", choices=timing.CLOCKS, default="wall", help="cpu: for a machine that is busy")
    parser.add_argument("--ud", help="for swap: a folder with *.conllu files of Universal Dependencies")
    parser.add_argument("--books", help="for swap: a folder with *.txt files")
    arguments = parser.parse_args()
    for name in ("ud", "books"):
        if folder := getattr(arguments, name):
            os.environ[f"EVENHAND_{name.upper()}"] = folder
    if unknown := set(arguments.groups) - set(here):
        parser.error(f"there is no group {', '.join(sorted(unknown))}; there are {', '.join(here)}")
    torch.set_num_threads(arguments.threads)
    os.environ["OMP_NUM_THREADS"] = str(arguments.threads)  # for the processes we start
    timing.use(arguments.clock)
    start = time.perf_counter()
    for name in arguments.groups or here:
        keep(name, arguments.threads, arguments.clock)
    page.write()
    print(f"{time.perf_counter() - start:.0f} s in all. Written: benchmarks/results/ and its numbers in docs/")


def keep(name: str, threads: int, clock: str) -> None:
    """Run one group, print its rows and write them to its file."""
    group, start = import_module(f"benchmarks.{name}"), time.perf_counter()
    kept: dict[str, Any] = {"group": name, "date": date.today().isoformat(), "machine": machine(threads, clock)}
    if hasattr(group, "points"):
        kept["points"] = list(group.points())
        for point in kept["points"]:
            print("{what}: {n}: {seconds:.3f} s".format(**point))
    else:
        kept["rows"] = []
        for each in group.rows():
            row = each if isinstance(each, Row) else Row(**each)
            print(page.line(row), flush=True)
            row.check()
            kept["rows"].append(asdict(row))
    kept |= {"seconds": round(time.perf_counter() - start), "load_after": round(os.getloadavg()[0], 1)}
    text = json.dumps(rounded(kept), indent=1, allow_nan=False)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def machine(threads: int, clock: str) -> dict[str, Any]:
    """What a number depends on besides the code."""
    return {
        "cpu": cpu(),
        "cores": os.cpu_count(),
        "threads": threads,
        "clock": clock,
        "load_before": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        **{name: version(name) for name in PEERS if find_spec(name)},
    }


def cpu() -> str:
    """The processor's name, where the system tells it."""
    try:
        told = subprocess.run(["lscpu"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        told = ""
    names = re.findall(r"^(?:Vendor ID|Model name):\s+(.+)$", told, re.M)
    if names[0:1] in (["GenuineIntel"], ["AuthenticAMD"]):
        del names[0]  # the model names its maker
    return " ".join(names) or platform.processor() or platform.machine()


def rounded(kept: Any) -> Any:
    """Four digits are more than a time is good for; not a number is null."""
    if isinstance(kept, dict):
        return {key: rounded(value) for key, value in kept.items()}
    if isinstance(kept, list | tuple):
        return [rounded(value) for value in kept]
    if isinstance(kept, float):
        return float(f"{kept:.4g}") if math.isfinite(kept) else None
    return kept


if __name__ == "__main__":
    main()
