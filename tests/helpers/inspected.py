"""Evaluations by inspect_ai with a model whose replies are planted; for tests that ask for the fixture `hosts`."""

import gc
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Reply = str | Mapping[str, float] | tuple[str, str]
"""What is said, the log-probabilities of the likeliest first tokens, or a text and why it ends."""
QUICK: dict[str, Any] = {"limit": 90, "log_realtime": False, "score_display": False}


def evaluated(task: Any, rule: Callable[[dict[str, Any], int], Reply], folder: Path, **how: Any) -> Path:
    """The log of a task whose questions get the replies that `rule` gives for the sample's metadata and the epoch.

    The metadata has the question in `asked`; epochs are counted from 0.
    """
    from inspect_ai import eval
    from inspect_ai.model import get_model

    known = {
        question["text"]: {**(sample.metadata or {}), "asked": question}
        for sample in task.dataset
        for question in (sample.metadata or {}).get("questions", [{"text": sample.input}])
    }
    asked: dict[str, int] = {}

    def reply(messages: Any, *_: Any) -> Any:
        text = messages[-1].text
        asked[text] = asked.get(text, -1) + 1
        return output(rule(known[text], asked[text]))

    model = get_model("mockllm/planted", custom_outputs=reply, memoize=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # inspect leaves streams open, which the garbage collector finds
        (log,) = eval(task, model=model, log_dir=str(folder / "logs"), display="none", **{**QUICK, **how})
        gc.collect()
    return Path(log.location)


def output(said: Reply) -> Any:
    """A model's output that says this; with its usage, since counting tokens would need a network."""
    from inspect_ai.model import Logprob, Logprobs, ModelOutput, ModelUsage, TopLogprob

    ends = "stop"
    if isinstance(said, Mapping):
        text = max(said, key=said.__getitem__)
    elif isinstance(said, tuple):
        text, ends = said
    else:
        text = said
    found = ModelOutput.from_content("planted", text, stop_reason=ends)
    found.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    if isinstance(said, Mapping):
        top = [TopLogprob(token=token, logprob=logp) for token, logp in said.items()]
        found.choices[0].logprobs = Logprobs(content=[Logprob(token=text, logprob=said[text], top_logprobs=top)])
    return found


def metrics(log: Path) -> dict[str, dict[str, float]]:
    """By measure: inspect's own metrics, with the part of their names that differs."""
    from inspect_ai.log import read_eval_log

    results = read_eval_log(str(log), header_only=True).results
    assert results is not None
    return {one.name: {metric.name: metric.value for metric in one.metrics.values()} for one in results.scores}
