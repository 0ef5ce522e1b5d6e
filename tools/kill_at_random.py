"""Kill commands at random moments, run them again, and compare what they leave with what a whole run leaves.

    PYTHONPATH=tests python tools/kill_at_random.py --times 20

kills audit, debias, swap, corpus, track, reproduce and import, twenty times each, and prints how often all was as
without a kill: results, pages, verdicts and locks. The exit code is 1 if it was not. Works offline, where processes can
be forked.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

os.environ |= {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}

from helpers.kills import quick
from helpers.random_kills import CASES, check, in_copy, make_inputs


def main() -> int:
    """Kill each command, and give the exit code."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument("--times", type=int, default=20, help="kills of each command")
    parser.add_argument("--seed", type=int, default=0, help="chooses the moments")
    parser.add_argument("--only", nargs="+", choices=[case.name for case in CASES], help="commands")
    asked = parser.parse_args()
    firsts = []
    with quick(drawing=0.3), tempfile.TemporaryDirectory() as folder:
        inputs = Path(folder, "inputs")
        inputs.mkdir()
        if in_copy(lambda: make_inputs(inputs), inputs, Path(folder, "said")):
            raise SystemExit(Path(folder, "said").read_text())
        for case in CASES:
            if asked.only is None or case.name in asked.only:
                same, first = check(case, inputs, Path(folder, case.name), asked.times, asked.seed)
                print(f"{case.name}: {same} of {asked.times} the same", flush=True)
                firsts += [first] if first else []
    for first in firsts:
        print(first)
    return 1 if firsts else 0


if __name__ == "__main__":
    sys.exit(main())
