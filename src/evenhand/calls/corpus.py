"""A folder with what was counted in corpora: corpus.json and a page."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from evenhand._version import __version__
from evenhand.core.files import check_new, prepare, public_path, write_whole
from evenhand.errors import BadInput
from evenhand.show.corpus import around
from evenhand.show.page.corpus import corpus_page
from evenhand.text.counting import Corpus, Vocabulary, examples
from evenhand.text.shares import Counted

FILE, PAGE, SCHEMA = "corpus.json", "report.html", 1


def check_folder(out: Path, force: bool) -> None:
    """Raise an error before anything is counted if the folder cannot be written to, or is a run's."""
    if (out / "run.json").exists():
        raise BadInput(f"'{out}' is the run of a model. Give another folder as `out`.")
    there = out.exists()
    prepare(out)
    if not there:
        out.rmdir()  # it is made again once there is something to write
    check_new(out / FILE, force)


def write(
    out: Path,
    corpora: Mapping[str, Corpus],
    found: Mapping[str, Counted],
    vocabulary: Vocabulary,
    files: Mapping[str, Path | None],
    lang: str | None,
) -> Path:
    """Write the counts and their page, whose path is returned; `files` are the user's own lists, by their kind."""
    listed = "words" if vocabulary.beside else "professions"
    own = {kind: public_path(path) for kind, path in files.items() if path}
    english = "English, as you said" if lang else "English, by its function words"
    ours = {"professions": "professions of BEC-Pro and the Gender Bias Evaluation Framework"}
    facts = {
        "language": f"gendered words of {own['word pairs']}" if vocabulary.pairs else english,
        "counted": datetime.now(UTC).date().isoformat(),
        "evenhand": f"evenhand {__version__}",
        **(own if vocabulary.beside or vocabulary.pairs else ours | own),
    }
    shown = {
        name: examples(replace(corpora[name], without=tuple(counted.skipped)), _example_words(counted), vocabulary)
        for name, counted in found.items()
    }
    html = corpus_page(found, shown, facts, listed).encode()
    write_whole(out / PAGE, lambda file: file.write(html))
    sources = {name: {"source": public_path(c.source), "columns": c.columns} for name, c in corpora.items()}
    told = {
        "schema": SCHEMA,
        "evenhand": __version__,
        "counted": facts["counted"],
        "corpora": {name: {**sources[name], **counted.as_json()} for name, counted in found.items()},
    }
    write_whole(out / FILE, lambda file: file.write(json.dumps(told, indent=1, ensure_ascii=False).encode()))
    return out / PAGE


def _example_words(found: Counted) -> dict[str, str]:
    """The words to show with examples, and the gender that these should be about; empty for either."""
    sides = {"women": "female", "men": "male"}
    words = {word: sides[who] for who, listed in around(found).items() for word in listed}
    return dict.fromkeys(map(str, found.beside["profession"]), "") | words
