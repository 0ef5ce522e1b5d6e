"""BibTeX: what to cite for what was run."""

from collections.abc import Iterator, Mapping, Sequence

from evenhand.errors import UnknownName
from evenhand.formats.escaping import latex as escaped
from evenhand.formats.escaping import one_line
from evenhand.formats.facts import partial
from evenhand.formats.references import OWN, cited, reasons, works
from evenhand.runs.folder import Run

AS_IT_IS = ("author", "doi", "pages", "url")
"""Fields of ours that LaTeX is to read, or that no style escapes."""


def bibtex(runs: Sequence[Run], *, cite: Sequence[str] = ()) -> str:
    """An entry for each work behind the runs, with a line above that says for what.

    evenhand itself first, then measures, datasets and statistics in the order of the run. `cite` names corpora that a
    run cannot know of, since its model was trained on them before: gap.
    """
    why: dict[str, list[str]] = {OWN: ["the measurements"]}
    own_data: list[str] = []
    for run in runs:
        for task in run.about["tasks"]:
            for reason, keys in reasons(task):
                if not keys and reason.startswith("dataset "):
                    own_data.append(reason)
                for key in keys:
                    why.setdefault(key, []).append(reason)
    for corpus in cite:
        known = {name: keys for (kind, name), keys in cited().items() if kind in ("corpus", "dataset") and keys}
        if corpus not in known:
            raise UnknownName("corpus to cite", corpus, known)
        for key in known[corpus]:
            why.setdefault(key, []).append(f"corpus {corpus}")
    versions = list(dict.fromkeys(str(run.about.get("evenhand", "unknown")) for run in runs))
    lines = [
        *_head(runs),
        *(f"{_comment(name)}: no citation known, cite its source" for name in dict.fromkeys(own_data)),
    ]
    for key, behind in why.items():
        fields = dict(works()[key]) | ({"note": f"Version {', '.join(versions)}"} if key == OWN else {})
        lines += ["", _comment(f"For {'; '.join(dict.fromkeys(behind))}"), *_entry(key, fields)]
    return "\n".join(lines) + "\n"


def _head(runs: Sequence[Run]) -> Iterator[str]:
    for run in runs:
        yield _comment(f"{run.about['model']} ({run.about['fingerprint']}). {partial(run)}".rstrip())


def _comment(text: str) -> str:
    """BibTeX skips what is outside entries, but an at sign would begin one."""
    return f"% {one_line(text).replace('@', '(at)')}"


def _entry(key: str, fields: Mapping[str, str]) -> Iterator[str]:
    yield f"@{fields['type']}{{{key},"
    for name, text in fields.items():
        if name != "type":
            shown = text if name in AS_IT_IS else escaped(text)
            yield f"  {name} = {{{{{shown}}}}}," if name == "title" else f"  {name} = {{{shown}}},"
    yield "}"
