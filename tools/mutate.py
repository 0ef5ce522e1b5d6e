"""Which faults would no test notice? Mutations of the source, drawn at random, each given to the tests of its module.

    PYTHONPATH=tests python tools/mutate.py 100 --seed 1

Of every mutation that could be made in the folders, 100 are drawn. Each is written into a copy of the package, and the
tests of the module run there until one fails: tests/ mirrors src/, and tests/test_mirror.py names the others. Those
that survive are printed with file, line, before and after; some change nothing that anybody could see.
"""

import argparse
import ast
import copy
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from test_mirror import THROUGH, begins

ROOT = Path(__file__).parents[1]
SOURCE, TESTS = ROOT / "src/evenhand", ROOT / "tests"
FOLDERS = ["stats", "core", "gate", "text", "models/planning"]
PAIRS = "Lt-LtE Gt-GtE Eq-NotEq In-NotIn Is-IsNot Add-Sub Mult-Div And-Or"
SWAPPED: dict[type, type[Any]] = {}
for one, other in (pair.split("-") for pair in PAIRS.split()):
    SWAPPED |= {getattr(ast, one): getattr(ast, other), getattr(ast, other): getattr(ast, one)}


@dataclass(frozen=True)
class Mutation:
    """One expression or statement of a file, and what stands there instead."""

    path: Path
    start: int
    end: int
    after: str

    def __str__(self) -> str:
        text = self.path.read_bytes()
        first, last = text.rfind(b"\n", 0, self.start) + 1, text.find(b"\n", self.end)
        after = text[first : self.start] + self.after.encode() + text[self.end : last]
        line = text.count(b"\n", 0, self.start) + 1
        return f"{self.path.relative_to(ROOT)}:{line}\n-{text[first:last].decode()}\n+{after.decode()}"

    def write(self, path: Path) -> None:
        text = self.path.read_bytes()
        path.write_bytes(text[: self.start] + self.after.encode() + text[self.end :])


def mutations(path: Path) -> Iterator[Mutation]:
    """All that can be made in a file."""
    text = path.read_bytes()
    starts = [0, *accumulate(len(line) for line in text.splitlines(keepends=True))]
    for node in evaluated(ast.parse(text)):
        if after := changed(node):
            start, end = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
            yield Mutation(path, start, end, after)


def evaluated(node: ast.AST) -> Iterator[Any]:
    """The nodes below, without annotations, and without f-strings, whose parts have no places in Python 3.11."""
    for name, field in ast.iter_fields(node):
        if name in {"annotation", "returns"} or isinstance(node, ast.JoinedStr):
            continue
        for child in field if isinstance(field, list) else [field]:
            if isinstance(child, ast.AST):
                yield child
                yield from evaluated(child)


def changed(node: Any) -> str:
    """What can stand in place of a node; "" of most."""
    other = copy.deepcopy(node)
    match other:
        case ast.Compare(ops=[op, *_]) if type(op) in SWAPPED:
            other.ops[0] = SWAPPED[type(op)]()
        case ast.BinOp(op=op) | ast.BoolOp(op=op) if type(op) in SWAPPED:
            other.op = SWAPPED[type(op)]()
        case ast.UnaryOp(op=ast.Not()):
            other = other.operand
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return str(number + 1)
        case ast.Return(value=ast.AST()):
            return "return None"
        case _:
            return ""
    return f"({ast.unparse(other)})"


@cache
def tests_of(path: Path) -> tuple[str, ...]:
    """The file of its name, those that the mirror names, and those of its folder that import it; or any that do."""
    module, folder = ".".join(path.relative_to(SOURCE).with_suffix("").parts), TESTS / path.parent.relative_to(SOURCE)
    found = [TESTS / file for file, names in THROUGH.items() if any(begins(module, one) for one in names.split())]
    found += {folder / f"test_{path.stem}.py"} & set(folder.iterdir())
    imports = re.compile(rf"evenhand\.{module.rpartition('.')[0]}(\.| import .*\b){path.stem}\b")
    importing = [file for file in sorted(TESTS.rglob("test_*.py")) if imports.search(file.read_text(encoding="utf-8"))]
    found += [file for file in importing if file.parent == folder]
    return tuple(dict.fromkeys(str(file.relative_to(ROOT)) for file in found or importing))


def fails(source: Path, files: tuple[str, ...], seconds: float) -> bool:
    """Whether these tests fail, or run too long, with the package of this folder."""
    python = {"PYTHONPATH": str(source), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-qx", "--tb=no", "-p", "no:cacheprovider", *files]
    try:
        ended = subprocess.run(command, cwd=ROOT, env=os.environ | python, capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return True
    return ended.returncode != 0


def main() -> None:
    """Draw, test, print what survives."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folders", nargs="+", default=FOLDERS)
    parser.add_argument("--tests", nargs="*", default=[], help="files that run for each mutation, too")
    parser.add_argument("--seconds", type=float, default=240, help="tests that take longer have noticed")
    asked = parser.parse_args()
    paths = [path for folder in asked.folders for path in sorted((SOURCE / folder).glob("[!_]*.py"))]
    possible = [one for path in paths for one in mutations(path)]
    print(f"{asked.count} of {len(possible)} mutations", flush=True)
    survivors = 0
    unchanged = cache(lambda files: fails(ROOT / "src", files, asked.seconds))
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(shutil.copytree(SOURCE, Path(folder) / "evenhand"))
        for mutation in random.Random(asked.seed).sample(possible, asked.count):
            if not (files := (*tests_of(mutation.path), *asked.tests)) or unchanged(files):
                raise SystemExit(f"{mutation.path} needs tests that pass without a mutation, not {files}")
            mutation.write(file := copied / mutation.path.relative_to(SOURCE))
            if not fails(copied.parent, files, asked.seconds):
                survivors += 1
                print(mutation, flush=True)
            shutil.copy2(mutation.path, file)
    print(f"{survivors} of {asked.count} survive")


if __name__ == "__main__":
    main()
