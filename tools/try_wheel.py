"""Build wheel and sdist, install the wheel with no extras into a clean environment, and audit the bundled models there.

    python tools/try_wheel.py [--keep FOLDER]

Packages come from where pip gets them, in the versions of constraints.txt. Prints how long it took, and how large the
environment is.
"""

import argparse
import subprocess
import sys
import tempfile
import time
import venv
import zipfile
from importlib.metadata import Distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
BUNDLED = ROOT / "src" / "evenhand" / "models" / "bundled"
CLEAN = {"PATH": "/usr/bin:/bin", "HF_HUB_OFFLINE": "1", "COLUMNS": "100"}
"""The environment of a command: nothing of ours, no network."""


def main() -> None:
    """Build, look into the wheel, install it, use it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, help="where wheel and environment stay; default: they are deleted")
    keep = parser.parse_args().keep
    with tempfile.TemporaryDirectory() as temporary:
        folder = (keep or Path(temporary)).resolve()
        wheel = build(folder)
        check_contents(wheel)
        python, seconds = install(wheel, folder / "environment")
        files = [file for file in python.parents[1].rglob("*") if file.is_file() and not file.is_symlink()]
        size = sum(file.stat().st_size for file in files)
        check_no_extras(python)
        use(python, folder / "empty")
    print(f"Installed in {seconds / 60:.1f} minutes, {size / 1e9:.2f} GB; {wheel.name} works with no extras.")


def build(folder: Path) -> Path:
    """The wheel, made from the sdist, so that this one is complete too."""
    python = environment(folder / "build")
    pip(python, "build")
    subprocess.run([python, "-m", "build", "--outdir", folder / "dist", ROOT], check=True, stdout=subprocess.DEVNULL)
    (wheel,) = (folder / "dist").glob("*.whl")
    return wheel


def check_contents(wheel: Path) -> None:
    """The wheel has our licence, and every file of the bundled models: weights, card, licence in its head."""
    with zipfile.ZipFile(wheel) as opened:
        inside = set(opened.namelist())
        wanted = [file.relative_to(ROOT / "src").as_posix() for file in BUNDLED.rglob("*") if file.is_file()]
        missing = [name for name in wanted if name not in inside]
        missing += [] if any(name.endswith("licenses/LICENSE") for name in inside) else ["LICENSE"]
        if missing:
            sys.exit(f"{wheel.name} lacks {', '.join(missing)}.")
        for card in (name for name in wanted if name.endswith("README.md")):
            if b"license: apache-2.0" not in opened.read(card):
                sys.exit(f"{card} in {wheel.name} does not say its licence.")


def install(wheel: Path, folder: Path) -> tuple[Path, float]:
    """Python of a clean environment with the wheel, and the seconds that pip took; torch goes first, as in make."""
    python = environment(folder)
    begun = time.monotonic()
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pip(python, next(line for line in lines if line.startswith("torch==")))
    pip(python, str(wheel))
    return python, time.monotonic() - begun


def check_no_extras(python: Path) -> None:
    """What only an extra asks for is not there, so that what works below works without it."""
    (place,) = python.parents[1].glob("lib/python*/site-packages")
    installed = {found.name.lower().replace("_", "-"): found for found in Distribution.discover(path=[str(place)])}
    asked = [Requirement(line) for line in installed["evenhand"].requires or ()]
    extras = {one.name for one in asked if one.marker and one.marker.evaluate({"extra": "server"})}
    if there := sorted(extras & set(installed)):
        sys.exit(f"A clean install has {', '.join(there)}, which the extra 'server' is for.")


def use(python: Path, empty: Path) -> None:
    """What a newcomer does first: an audit with its page, NLI, a comparison, figures; and what needs an extra."""
    empty.mkdir(parents=True)
    evenhand = python.parent / "evenhand"
    for command in (
        "audit mini-en --suite becpro --limit 100",
        "audit mini-en-nli --limit 100",
        "show runs/mini-en --full",
        "compare runs/mini-en runs/mini-en",
        "figures runs/mini-en",
        "export runs/mini-en --as latex",
    ):
        done = subprocess.run([evenhand, *command.split()], cwd=empty, env=CLEAN, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"evenhand {command}\n{done.stdout}{done.stderr}")
    if not (empty / "runs" / "mini-en" / "report.html").is_file():
        sys.exit("The audit left no page.")
    done = subprocess.run([evenhand, "serve"], cwd=empty, env=CLEAN, capture_output=True, text=True)
    if done.returncode != 2 or "evenhand[server]" not in done.stderr:
        sys.exit(f"evenhand serve must name its extra. It printed:\n{done.stdout}{done.stderr}")


def environment(folder: Path) -> Path:
    """Python of a new virtual environment."""
    venv.create(folder, with_pip=True)
    return folder / "bin" / "python"


def pip(python: Path, *what: str) -> None:
    """Install packages in the versions of constraints.txt."""
    options = ["--quiet", "--disable-pip-version-check", "-c", str(ROOT / "constraints.txt")]
    subprocess.run([python, "-m", "pip", "install", *options, *what], check=True)


if __name__ == "__main__":
    main()
