"""Blocks of README.md and docs/ that a command printed: run it again, and write what it prints now.

    python tools/printed.py [FILE ...]

Such a block has a comment above it, `<!-- printed by: COMMAND -->`. It may be a part of what is printed: as many
paragraphs, from the one that begins with the same words. Tests compare the blocks that a test can afford.

Counts of our own lists have a comment on each side, `<!-- count: names -->12,680<!-- -->`.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from evenhand.datasets.files import read_tsv
from evenhand.datasets.gendered import bundled_names, census, lexicon

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"<!-- printed by: (?P<command>.+?) -->\n```\n(?P<text>.*?)\n```", re.S)
COUNT = re.compile(r"(?<=<!-- count: )(\w+) -->[\d,]+(?=<!-- -->)")
WORDS = 3
"""By so many first words a paragraph is known again."""


def printed(command: str, folder: Path) -> str:
    """What a command of evenhand, of a module or of an example prints, run in a folder."""
    ours = re.sub(r"(?<!--model )\bevenhand ", "python -m evenhand ", command)
    ours = re.sub(r"\bpython (?=-m|examples/)", f"{sys.executable} ", ours)
    return subprocess.run(ours, shell=True, cwd=folder, stdout=subprocess.PIPE, text=True, check=True).stdout


def part(whole: str, block: str) -> str:
    """The paragraphs of `whole` that stand where those of `block` do."""
    paragraphs = re.split(r"\n{2,}", "\n".join(line.rstrip() for line in whole.splitlines()).strip("\n"))
    begins = [paragraph.split()[:WORDS] for paragraph in paragraphs]
    first = begins.index(block.split()[:WORDS])
    return "\n\n".join(paragraphs[first : first + len(re.split(r"\n{2,}", block))])


def counts() -> dict[str, int]:
    """How long our lists of words and names are."""
    world = read_tsv("names-world.tsv")
    return {
        "pairs": len(lexicon()),
        "names": len(bundled_names()),
        "census": len(census()) // 2,
        "world": len({row[gender] for row in world for gender in ("male", "female")}),
        "regions": len({row["region"] for row in world}),
    }


def counted(text: str) -> str:
    """The text with its counts as they are now."""
    return COUNT.sub(lambda found: f"{found[1]} -->{counts()[found[1]]:,}", text)


def main() -> None:
    """Write every block again."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, default=PAGES)
    for page in parser.parse_args().files:
        text = page.read_text(encoding="utf-8")
        for found in BLOCK.finditer(text):
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "examples").symlink_to(ROOT / "examples")
                now = part(printed(found["command"], Path(folder)), found["text"])
            text = text.replace(found[0], found[0].replace(found["text"], now))
            print(f"{page.name}: {found['command']}: {'the same' if now == found['text'] else 'changed'}")
        page.write_text(counted(text), encoding="utf-8")


if __name__ == "__main__":
    main()
