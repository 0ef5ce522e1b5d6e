"""Make the runs of tests/stored anew, which tests read in place of audits of their own.

    PYTHONPATH=tests .venv/bin/python -m tools.store_runs [NAME ...]

makes those named, or all. Run it when tests/test_stored_runs.py says that they are no longer what an audit gives.
"""

import argparse
import os

os.environ["HF_HUB_OFFLINE"] = "1"

from helpers.stored_runs import RECIPES, STORED, store


def main() -> None:
    """Write each run, and say how large they are together."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(RECIPES))
    asked = parser.parse_args()
    STORED.mkdir(exist_ok=True)
    for name in asked.names or RECIPES:
        print(f"{store(name)}: {(STORED / f'{name}.zip').stat().st_size:,} bytes")
    print(f"{sum(file.stat().st_size for file in STORED.iterdir()):,} bytes in all")


if __name__ == "__main__":
    main()
