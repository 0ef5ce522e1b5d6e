"""What was counted so far, in a file, so that a count that is stopped goes on."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from evenhand import __version__
from evenhand.analysis.corpus import Tally
from evenhand.core.files import prepare, slug
from evenhand.errors import RunError


class Progress:
    """Counts of a corpus, kept in the folder `out` until all of it is counted; nothing is kept without a folder.

    The first line says of what they are, `about`; counts of something else are dropped.
    """

    def __init__(self, out: Path | None, name: str, about: object) -> None:
        self.path = out / f".counting-{slug(name)}.jsonl" if out else None
        self._about = json.dumps([__version__, repr(about)])

    def __enter__(self) -> Self:
        self.kept = Tally()
        for counts in self._read():
            self.kept.add(counts)
        if self.path is None:
            return self
        prepare(self.path.parent)
        self._write("w", self._about)
        self.keep(self.kept)
        return self

    def keep(self, counts: Tally) -> None:
        """Keep the counts of the next documents."""
        if self.path is not None:
            self._write("a", counts.as_json())

    def _write(self, mode: str, line: str) -> None:
        assert self.path is not None
        try:
            with self.path.open(mode, encoding="utf-8") as file:
                file.write(f"{line}\n")
        except OSError as error:
            why = f"'{self.path}', where counts are kept, cannot be written: {error.strerror or error}."
            raise RunError(f"{why} Free some space, and run the same command again.") from error

    def _read(self) -> Iterator[Tally]:
        if self.path is None or not self.path.is_file():
            return
        about, *lines = self.path.read_text(encoding="utf-8").split("\n")
        if about == self._about:
            yield from (Tally.from_json(line) for line in lines[:-1])  # the last one was not finished

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if self.path is not None and kind is None:
            self.path.unlink()
