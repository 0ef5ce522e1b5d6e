"""Which of the tasks of an audit the loaded model can be asked."""

import logging
from collections.abc import Mapping, Sequence

from evenhand.auditing.spec import PlannedTask
from evenhand.core.loop import questions_of
from evenhand.core.model import Model
from evenhand.errors import UnfitModel
from evenhand.models.base import Planned, Selective, check_questions, refusal

log = logging.getLogger(__name__)


def askable_tasks(
    model: Model, tasks: Sequence[PlannedTask], *, served: bool = False
) -> tuple[list[PlannedTask], list[str]]:
    """The tasks that the model can be asked, and a sentence for each reason to exclude others. None left: an error."""
    reasons: dict[str, dict[str, list[str]]] = {}
    errors: dict[str, dict[str, list[str]]] = {}
    askable = []
    for planned in tasks:
        items, why = planned.task.dataset.items, ""
        dataset, measure = planned.record.name
        try:
            if isinstance(model, Selective):
                refusals = (refusal(model, questions_of(item, planned.task.measure)) for item in items)
                why = next(refusals)
                why = why if why and all(refusals) else ""
            elif isinstance(model, Planned):
                check_questions(model, questions_of(items[0], planned.task.measure))
        except UnfitModel as error:
            if len(tasks) == 1:
                raise
            errors.setdefault(str(error), {}).setdefault(dataset, []).append(measure)
        else:
            if why:
                reasons.setdefault(why, {}).setdefault(dataset, []).append(measure)
            else:
                askable.append(planned)
    whom = "server" if served else "model"
    lines = [f"Not asked of the {whom}, since {why}: {_names(those)}." for why, those in reasons.items()]
    lines += [f"Not asked of the model: {_names(those)}. {error}" for error, those in errors.items()]
    if errors and not askable:
        raise UnfitModel(" ".join(lines))
    if not askable:
        raise UnfitModel(
            f"{' '.join(lines)} It may be able to answer the suites 'choices' or 'writes' (`suite`).", check="server"
        )
    for line in lines:
        log.warning(line)
    return askable, lines


def _names(measures: Mapping[str, Sequence[str]]) -> str:
    """The datasets, each with its measures."""
    return "; ".join(f"{dataset} by {', '.join(names)}" for dataset, names in measures.items())
