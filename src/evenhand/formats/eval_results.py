"""The Hub's `.eval_results/*.yaml`, by huggingface_hub's own classes."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from evenhand.errors import BadInput, check_known
from evenhand.formats.cells import neutral_text, one_line, rows_without_parts, slug
from evenhand.runs.folder import StoredRun
from evenhand.runs.rows import Row

PLACE = ".eval_results/evenhand.yaml"
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+", re.ASCII)


def eval_results(runs: Sequence[StoredRun], *, hub: Mapping[str, str] | None = None) -> str:
    """An entry for each value of all items and by group: dataset id, task id, value, date and notes.

    The format has no fields for interval, n, unscored, versions and fingerprint, so the notes hold them. The dataset id
    must be that of a benchmark on the Hub: `hub` has these ids by dataset ({"tgb": "me/tgb"}). Other datasets get the
    placeholder `evenhand/<dataset>`, which is not a repository. The task id is the measure with the group. Missing
    values are excluded, since the format cannot express them.
    """
    import yaml  # type: ignore[import-untyped]
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

    (run,) = runs
    ids = _dataset_ids(run, hub or {})
    entries = [
        EvalResultEntry(
            dataset_id=ids[row.dataset],
            task_id="/".join([row.measure, *(one_line(f"{group}={label}") for group, label in row.key)]),
            value=row.value,
            date=row.audit.started or None,
            notes=_notes(run, row),
        )
        for row in rows_without_parts(run)
        if row.known
    ]
    return str(yaml.safe_dump(eval_result_entries_to_yaml(entries), sort_keys=False, allow_unicode=True, width=120))


def _dataset_ids(run: StoredRun, hub: Mapping[str, str]) -> dict[str, str]:
    names = run.datasets
    if not isinstance(hub, Mapping):
        raise BadInput(f"`hub` must map datasets to their ids on the Hub, as in {{'tgb': 'me/tgb'}}. Got {hub!r}.")
    for name, hub_id in hub.items():
        check_known("dataset of the run", [name], names)
        if not HUB_ID.fullmatch(hub_id):
            raise BadInput(f"The id of a dataset on the Hub must be OWNER/NAME. Got '{hub_id}' for '{name}'.")
    ids = {name: hub.get(name, f"evenhand/{slug(name)}") for name in names}
    counts = Counter(ids.values())
    for name, hub_id in ids.items():
        if counts[hub_id] > 1:
            raise BadInput(f"Two datasets of the run would have the id '{hub_id}'. Give '{name}' another id in `hub`.")
    return ids


def _notes(run: StoredRun, row: Row) -> str:
    notes = [
        f"partial: a sample of at most {row.task.limit} items" if row.task.partial else "",
        f"95 % interval [{row.low:.6g}, {row.high:.6g}]",
        f"n {row.n}",
        f"unscored {row.unscored}",
        f"neutral value {neutral_text(row.neutral)}",
        f"{row.measure} version {row.task.measure_version}",
        f"{row.dataset} version {row.task.dataset_version}",
        f"of {row.of}",
        f"model {row.model}, fingerprint {row.fingerprint}",
        f"kind of model: {row.audit.kind}; fit to be measured: {row.audit.diagnosis}",
        f"verdict: {row.verdict.word}",
        f"evenhand {run.record.evenhand}",
        f"how to read it: {row.task.reading}",
    ]
    return one_line("; ".join(part for part in notes if part))
