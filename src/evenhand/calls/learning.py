"""How gendered a text corpus is: a folder with what was counted in it (corpus.json and a page), and what a debiased
model learns from it (Barza 2023, section 5.2).
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand._version import __version__
from evenhand.calls.train_and_measure import Study, recipe_of, trained
from evenhand.core.files import check_new, prepare, public_path, write_whole
from evenhand.core.parameters import Learn, describe
from evenhand.datasets.corpora.texts import sampled, sentences
from evenhand.errors import BadInput
from evenhand.models.loading.names import DEFAULT
from evenhand.show.corpus import around, corpus_page
from evenhand.text.counting import Corpus, Vocabulary, examples
from evenhand.text.shares import CorpusCount
from evenhand.text.swap import substituted
from evenhand.training import replicate_changes, replicate_means

PAIRS = {"tgb": ["likelihood-difference"]}
BASE, DEBIASED = "base", "debiased"
FILE, PAGE = "corpus.json", "report.html"


@dataclass(frozen=True)
class Learned:
    """What models learned from corpora.

    `asld` and `lean` have a row for each model (base, debiased, then one per corpus) and group of pairs: model, group,
    value, low, high, draws, n. ASLD, mean |d| in nats, is the distance of stereotype and counterpart; lean, mean d, is
    above 0 if the stereotype is likelier. `changes` has the differences of ASLD, corpus against debiased and corpus
    against corpus: of, against, and the same columns; above 0, more was learned from the first.
    """

    sentences: Mapping[str, int]
    """The number of sentences that each model was trained on."""
    asld: pd.DataFrame
    lean: pd.DataFrame
    changes: pd.DataFrame

    def as_json(self) -> dict[str, Any]:
        tables = {name: getattr(self, name).to_json(orient="records") for name in ("asld", "lean", "changes")}
        return {"sentences": dict(self.sentences), **{name: json.loads(rows) for name, rows in tables.items()}}


@describe(Learn)
def learned(
    corpora: Mapping[str, str],
    *,
    model: str = DEFAULT,
    debias_on: str = "balanced",
    size: int | None = None,
    equal: bool = True,
    draws: int = 1,
    recipe: str = "default",
    limit: int | None = None,
    out: str | Path = "runs/corpus",
    seed: int = 0,
    columns: Sequence[str] = (),
    lines: bool = True,
    **loading: Any,
) -> Learned:
    """Debias a model, fine-tune it on a sample of each corpus, and measure the average sentence likelihood difference.

    `corpora` are files, folders or known corpora, by the name to show; `columns` and `lines` say where their texts are
    (datasets.corpora.texts.documents). They are sampled to the size of the smallest, since more is learned from a
    larger text. Models and runs are kept in `out`, and the same call resumes a study that was stopped.
    """
    if taken := {BASE, DEBIASED} & set(corpora):
        raise BadInput(f"A corpus cannot be called '{min(taken)}', which names a model. Give it another name.")
    study = Study(model, Path(out).expanduser(), PAIRS, recipe, draws, limit, seed, loading)
    texts = {name: sentences(source, columns=columns, lines=lines) for name, source in corpora.items()}
    sizes = _sizes({name: len(listed) for name, listed in texts.items()}, size, equal)
    scores = {BASE: study.base_scores()}
    text = substituted(debias_on, seed=seed)
    debiased = str(trained(model, text.sentences, recipe_of(recipe, seed=seed), study.out, DEBIASED))
    study = replace(study, base=debiased)
    scores[DEBIASED] = study.base_scores()
    for name, listed in texts.items():
        folder = re.sub(r"[^\w.-]", "-", name).strip(".")
        scores[name] = study.scores(folder, lambda draw: sampled(listed, sizes[name], (seed, draw)))  # noqa: B023
    asld, lean = (
        pd.concat(
            [replicate_means(scores[of], size=size, seed=seed).assign(model=of) for of in scores], ignore_index=True
        )
        for size in (True, False)
    )
    return Learned({DEBIASED: len(text.sentences), **sizes}, asld, lean, _changes(scores, seed))


def draw_curve(values: Mapping[int, pd.DataFrame], out: Path, title: str) -> Path:
    """Draw the tables of `replicate_means` against the number of sentences that models were trained on."""
    from evenhand.show import plots  # drawing libraries take a second

    prepare(out)
    rows = pd.concat([table.assign(size=size) for size, table in values.items()], ignore_index=True)
    plots.save(plots.learning_curve(rows, title=title), out / "learning-curve.svg")
    return out / "learning-curve.svg"


def name_files(files: Sequence[str]) -> dict[str, str]:
    """The paths of files by the name to show: the file name, or the path if two files have the same name."""
    counts = Counter(Path(file).name for file in files)
    by_name = {file if counts[Path(file).name] > 1 else Path(file).name: file for file in files}
    if len(by_name) < len(files):
        raise BadInput(f"Each corpus must be given once. Got {', '.join(files)}.")
    return by_name


def _sizes(has: Mapping[str, int], size: int | None, equal: bool) -> dict[str, int]:
    smallest = min(has, key=lambda name: has[name])
    if size is None:
        return {name: has[smallest] if equal else n for name, n in has.items()}
    if not 1 <= size <= has[smallest]:
        raise BadInput(f"`size` must be from 1 to {has[smallest]:,}, the sentences of '{smallest}'. Got {size}.")
    return dict.fromkeys(has, size)


def _changes(scores: Mapping[str, pd.DataFrame], seed: int) -> pd.DataFrame:
    corpora = [name for name in scores if name not in (BASE, DEBIASED)]
    compared = [(name, DEBIASED) for name in corpora] + [(b, a) for a, b in combinations(corpora, 2)]
    tables = [
        replicate_changes(scores[against], scores[of], size=True, seed=seed).assign(of=of, against=against)
        for of, against in compared
    ]
    return pd.concat(tables, ignore_index=True)


def check_folder(out: Path, force: bool) -> None:
    """Raise an error, before anything is counted, if the folder has a run or (without `force`) counts."""
    if (out / "run.json").exists():
        raise BadInput(f"'{out}' is the run of a model. Give another folder as `out`.")
    existed = out.exists()
    prepare(out)
    if not existed:
        out.rmdir()  # created again when there is something to write
    check_new(out / FILE, force)


def write_folder(
    out: Path,
    corpora: Mapping[str, Corpus],
    counts: Mapping[str, CorpusCount],
    vocabulary: Vocabulary,
    files: Mapping[str, Path | None],
    lang: str | None,
) -> Path:
    """Write the counts and their page, and return the path of the page. `files` are the user's own lists, by kind."""
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
        for name, counted in counts.items()
    }
    html = corpus_page(counts, shown, facts, listed).encode()
    write_whole(out / PAGE, lambda file: file.write(html))
    sources = {name: {"source": public_path(c.source), "columns": c.columns} for name, c in corpora.items()}
    record = {
        "schema": 1,
        "evenhand": __version__,
        "counted": facts["counted"],
        "corpora": {name: {**sources[name], **counted.as_json()} for name, counted in counts.items()},
    }
    write_whole(out / FILE, lambda file: file.write(json.dumps(record, indent=1, ensure_ascii=False).encode()))
    return out / PAGE


def _example_words(counted: CorpusCount) -> dict[str, str]:
    """The words to show with examples, and the gender that the examples should be about; empty for any gender."""
    sides = {"women": "female", "men": "male"}
    words = {word: sides[who] for who, listed in around(counted).items() for word in listed}
    return dict.fromkeys(map(str, counted.beside["profession"]), "") | words
