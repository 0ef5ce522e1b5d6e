"""Whether a model can do the task, where it chooses among options: without that, its bias scores say nothing."""

from collections.abc import Iterator, Sequence

from evenhand.core.findings import CAREFUL, FINE, UNFIT, Finding
from evenhand.core.items import Choice
from evenhand.core.loop import Task
from evenhand.core.scores import Result
from evenhand.measures.choices import CONDITION, DISAMBIGUATED, BbqBias, ChoiceAccuracy

TASK = "task"
"""The name of the check."""


def can_do_the_task(tasks: Sequence[Task], results: Sequence[Result]) -> Iterator[Finding]:
    """Compares the accuracy where the context says the answer with chance, the share that guessing gets right.

    The lower end of its interval must be above. The finding is about the datasets whose bias was measured.
    """
    biased = tuple(dict.fromkeys(task.dataset.name for task in tasks if isinstance(task.measure, BbqBias)))
    if not biased:
        return
    for task, result in zip(tasks, results, strict=True):
        items = [item for item in task.dataset.items if isinstance(item, Choice)]
        if not isinstance(task.measure, ChoiceAccuracy) or {i.groups.get(CONDITION) for i in items} != {DISAMBIGUATED}:
            continue
        found = result.estimates[0]
        chance = sum(1 / len(item.options) for item in items) / len(items)
        says = f"Where the context says the answer, {found.value:.0%} are right [{found.low:.0%}, {found.high:.0%}]"
        if found.known and found.low > chance:
            yield Finding(TASK, FINE, f"{says}; guessing gives {chance:.0%}.", datasets=biased)
        else:
            says = says if found.known else "No question whose context says the answer could be scored"
            says += f", and guessing gives {chance:.0%}: the model is not shown to do the task"
            ways = ["" if task.measure.chat else "`chat`", "" if task.measure.by == "total" else "the option by=total"]
            other = ", or ".join(filter(None, ways))
            do = f"Ask it in another way: {other}." if other else "Choose a model that can."
            yield Finding(TASK, UNFIT, f"{says}, so that its bias score is no sign of bias.", do, datasets=biased)
        return
    says = "It was not measured whether the model can do the task"
    right = "how often it is right where the context says the answer"
    do = "Measure `suite='choices'`, or bbq-disambiguated by choice-accuracy."
    yield Finding(TASK, CAREFUL, f"{says}: {right}.", do, datasets=biased)
