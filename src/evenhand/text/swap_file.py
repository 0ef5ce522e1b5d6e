"""Swap the gender of texts: a file, or every file of a folder."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, get_args

from evenhand.core.files import check_new, prepare
from evenhand.core.parameters import Swap, describe
from evenhand.datasets.files.language import check_language, not_english_files
from evenhand.datasets.files.plain_text import TEXT, texts_in
from evenhand.datasets.files.rows import SUFFIXES, check_text, read_word_pairs
from evenhand.datasets.gendered import Gender
from evenhand.distributed.cluster import check_engine
from evenhand.errors import BadInput
from evenhand.text.asking import Grammar
from evenhand.text.name_lists import read_names
from evenhand.text.substitute import check_share
from evenhand.text.swap import To, swapper
from evenhand.text.swap_one import Swapped, count_finished, joined_texts, lock_swap, part_of, swap_one
from evenhand.text.text_files import Job

ONLY: dict[str | None, Gender | None] = {None: None, "he-to-she": "male", "she-to-he": "female"}


@describe(Swap)
def swap(
    file: str | Path,
    out: str | Path | None = None,
    *,
    column: str | Sequence[str] = "text",
    lines: bool = False,
    share: float = 1.0,
    augment: bool = False,
    grammar: str = "auto",
    only: str | None = None,
    to: str = "other",
    names: bool | str | Path = True,
    word_pairs: str | Path | None = None,
    trail: bool = False,
    lang: str | None = None,
    force: bool = False,
    seed: int = 0,
    jobs: int | None = None,
    engine: str = "local",
    address: str | None = None,
    workers: int | None = None,
) -> Swapped:
    """Write the texts of `file` with the other gender to `out` (FILE.swapped.EXT); everything else is unchanged.

    A document is a paragraph of a .txt file, or with `lines` a line; or a row of a csv, tsv, jsonl or parquet file,
    whose texts are in one `column` or several. Names are treated alike throughout a text; False leaves them as they
    are, and `to="neutral"` does, too. The words of `word_pairs` take the place of the English words and names: each
    becomes its partner, and no grammar is looked after.

    The same call resumes a swap that was stopped. With the engine `ray` the result is the same.
    """
    check_engine(engine, address, workers)
    if engine == "ray" and jobs is not None:
        raise BadInput("`jobs` are processes on this machine. With `engine='ray'` give `workers`.")
    if not isinstance(seed, int) or seed < 0 or (jobs is not None and jobs < 1):
        raise BadInput(
            f"`seed` must be a whole number, at least 0, and `jobs` at least 1. Got {str(seed)[:200]} and {jobs}."
        )
    check_share(share)
    source = Path(file).expanduser()
    named = source if source.name.strip(".") else source.resolve()  # for . and .., next to the folder they stand for
    target = Path(out).expanduser() if out else named.parent / f"{named.stem}.swapped{named.suffix}"
    columns = (column,) if isinstance(column, str) else tuple(column)
    if not columns or len(set(columns)) < len(columns):
        raise BadInput(f"`column` must name one or more columns, each once. Got {', '.join(columns) or 'none'}.")
    how = settings(names, word_pairs, grammar, only, to, lang)  # a bad list is an error at once
    where: dict[str, Any] = {"jobs": jobs, "engine": engine, "address": address, "workers": workers}
    job = Job(columns, lines, how, share, seed, augment=augment, trail=trail, force=force, **where)
    lang = "en" if word_pairs else lang  # nothing is known of other languages
    if source.is_dir():
        return _swap_folder(source, target, job, lang)
    _check_paths(source, target, job)
    prepare(target.parent)
    return swap_one(source, target, job, lang)


def swap_text(
    text: str,
    *,
    grammar: str = "auto",
    only: str | None = None,
    to: str = "other",
    names: bool | str | Path = True,
    word_pairs: str | Path | None = None,
    lang: str | None = None,
) -> str:
    """The text with the other gender; the parameters are those of `swap`. What it needs is loaded by the first call.

    >>> swap_text("She saw him.")
    'He saw her.'
    """
    how = settings(names, word_pairs, grammar, only, to, lang)
    check_language([text], "en" if word_pairs else lang)
    return swapper(**how)(text)


def settings(
    names: bool | str | Path, word_pairs: str | Path | None, grammar: str, only: str | None, to: str, lang: str | None
) -> dict[str, Any]:
    """Turn the parameters of `swap` into arguments of `text.swap.swapper`; raise if they contradict one another."""
    if only not in ONLY:
        raise BadInput(f"`only` must be he-to-she or she-to-he. Got '{only}'.")
    if to not in get_args(To):
        raise BadInput(f"`to` must be other, the other gender, or neutral. Got '{to}'.")
    listed = None if isinstance(names, bool) else names
    if to == "neutral" and (only or listed or word_pairs):
        raise BadInput(
            "With `to='neutral'` words of both genders become neutral, and names stay: leave out `only`, your names "
            "and `word_pairs`."
        )
    if lang not in (None, "en") and not word_pairs:
        raise BadInput(f"`lang='{lang}'` needs a list of gendered words of that language: `word_pairs`.")
    own = tuple(read_names(listed).items()) if listed else None
    pairs = read_word_pairs(word_pairs) if word_pairs else None
    if grammar not in get_args(Grammar):
        raise BadInput(f"`grammar` must be one of {', '.join(get_args(Grammar))}. Got '{grammar}'.")
    return {"names": bool(names), "own": own, "grammar": grammar, "only": ONLY[only], "to": to, "pairs": pairs}


def _check_paths(source: Path, target: Path, job: Job) -> None:
    suffix, text = source.suffix, source.suffix == TEXT
    for wrong, why in (
        (not source.is_file(), f"There is no file '{source}'."),
        (target.is_dir(), f"'{target}' is a folder. Give a file."),
        (not text and suffix not in SUFFIXES, f"'{source}' must be one of {TEXT}, {', '.join(SUFFIXES)}."),
        (target.suffix != suffix, f"`out` must have the suffix of the file, '{suffix}'. Got '{target}'."),
        (text and job.columns != ("text",), f"A {TEXT} file has no columns. Got `column` {', '.join(job.columns)}."),
        (not text and job.lines, f"`lines` is for {TEXT} files: each row of a {suffix} file is a document."),
        (target.resolve() == source.resolve(), f"'{target}' would replace the original. Choose another `out`."),
    ):
        if wrong:
            raise BadInput(why)
    if source.suffix != ".parquet":
        check_text(source)


def _job_for(path: Path, job: Job) -> Job:
    """The settings for a file of a folder: columns are those of its tables, lines those of its texts."""
    return replace(job, columns=("text",)) if path.suffix == TEXT else replace(job, lines=False)


def _swap_folder(folder: Path, out: Path, job: Job, lang: str | None) -> Swapped:
    """Swap each file of a folder; a file that lists what is done lets the same command resume.

    Documents are numbered across files, so that `share` applies to all of them together.
    """
    files = texts_in(folder, decoded=True)
    skipped = {} if lang else not_english_files(folder, files, lambda path: joined_texts(path, _job_for(path, job)))
    files = [path for path in files if str(path.relative_to(folder)) not in skipped]
    inside = out.resolve()
    if inside == folder.resolve() or folder.resolve() in inside.parents or inside in folder.resolve().parents:
        raise BadInput(f"`out` must not be '{folder}', nor a folder in or around it. Got '{out}'.")
    part = part_of(out, folder, job, job.augment, job.trail, job.force, [(str(p), p.stat().st_size) for p in files])
    if out.exists() and (not out.is_dir() or any(out.iterdir())) and not part.exists():
        check_new(out, job.force)
    for path in files:
        _check_paths(path, out / path.relative_to(folder), _job_for(path, job))
    prepare(out.parent)
    rules, names, documents, rewritten = Counter[str](), Counter[str](), 0, 0
    with lock_swap(part):
        count_finished(part)  # without a line that a kill has cut
        part.touch()
        finished = {row["out"]: row for row in map(json.loads, part.read_text(encoding="utf-8").splitlines())}
        for path in files:
            target = out / path.relative_to(folder)
            if (done := finished.get(str(target))) is None:
                prepare(target.parent)
                its_job = replace(_job_for(path, job), first=documents, force=True, unchanged=True)
                done = asdict(swap_one(path, target, its_job, "en")) | {"out": str(target), "trail": None}
                with part.open("a", encoding="utf-8") as notes:
                    notes.write(json.dumps(done) + "\n")
            documents, rewritten = documents + done["documents"], rewritten + done["rewritten"]
            rules.update(done["edits"])
            names.update(done["names"])
    part.unlink(missing_ok=True)
    edits, stay = dict(sorted(rules.items())), dict(names.most_common())
    return Swapped(documents, rewritten, edits, out, None, stay, len(files), skipped)
