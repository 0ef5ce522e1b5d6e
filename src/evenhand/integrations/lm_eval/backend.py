"""`--model evenhand` of lm-evaluation-harness: masked language models, by pseudo-log-likelihood.

Newer versions of the harness find the class by its entry point; for others, `__main__` registers it.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evenhand._version import __version__
from evenhand.core.foreign import need
from evenhand.core.model import check_answer
from evenhand.core.progress import one_bar
from evenhand.core.questions import Answer, Likelihood, Span
from evenhand.errors import BadInput, check_known, shorten
from evenhand.models import load_masked
from evenhand.models.planning.plan import run_plan

need("lm-eval", "The backend for lm-evaluation-harness")

import lm_eval.models  # noqa: E402, F401  (the harness registers its own backends only before others)
from lm_eval.api.instance import Instance  # noqa: E402
from lm_eval.api.model import LM  # noqa: E402
from lm_eval.api.registry import register_model  # noqa: E402

log = logging.getLogger(__name__)

ARGUMENTS = ("pretrained", "revision", "dtype", "device", "batch_size", "trust_remote_code", "unscored")
UNSCORED = ("refuse", "nan")
"""What is done with a text that cannot be scored."""
HARNESS_DEFAULTS = {"batch_size": 1, "device": "cuda:0"}
"""Defaults of the harness's command, which are ignored: our defaults depend on the machine."""


@register_model("evenhand")
class MaskedBackend(LM):  # type: ignore[misc]
    """A masked language model, for all tasks that compare log-likelihoods.

    `pretrained` is a bundled name, a folder or a Hub id; `revision`, `dtype`, `device`, `batch_size` and
    `trust_remote_code` are those of `evenhand.load`. The log-likelihood of a continuation is its pseudo-log-likelihood:
    the sum of ln P(token | all other tokens of context and continuation) over its tokens (Salazar et al. 2020). If the
    context is empty, it is the quantity of `likelihood-difference`.

    A text that cannot be scored (too long, a character that the tokenizer does not know) is an error before anything
    is computed, since tasks would count NaN as a wrong answer; with `unscored="nan"` its score is NaN. Computed numbers
    that cannot be log-probabilities are treated in the same way.
    """

    def __init__(
        self,
        pretrained: str = "",
        revision: str | None = None,
        dtype: str = "float32",
        device: str | None = None,
        batch_size: int | str = "auto",
        trust_remote_code: bool = False,
        unscored: str = "refuse",
        **unknown: object,
    ) -> None:
        super().__init__()
        check_known("argument of evenhand's models in `--model_args`", unknown, ARGUMENTS)
        if not pretrained:
            raise BadInput("A model is needed. Give --model_args pretrained=mini-en, a folder or a Hub id.")
        check_known("value of unscored", [unscored], UNSCORED)
        self.unscored = unscored
        self.model = load_masked(
            str(pretrained),
            revision=None if revision is None else str(revision),
            dtype=dtype,
            device=device,
            batch_size=int(batch_size) if str(batch_size).isdecimal() else "auto",
            trust_remote_code=trust_remote_code,
        )

    @classmethod
    def create_from_arg_obj(
        cls, arg_dict: Mapping[str, Any], additional_config: Mapping[str, Any] | None = None
    ) -> "MaskedBackend":
        """The model that `--model_args` name; they override the options of the harness's command."""
        options = additional_config or {}
        given = {k: options[k] for k, default in HARNESS_DEFAULTS.items() if options.get(k) not in (None, default)}
        return cls(**{**given, **arg_dict})

    @classmethod
    def create_from_arg_string(
        cls, arg_string: str, additional_config: Mapping[str, Any] | None = None
    ) -> "MaskedBackend":
        from lm_eval.utils import simple_parse_args_string

        return cls.create_from_arg_obj(simple_parse_args_string(arg_string), additional_config)

    def loglikelihood(self, requests: Sequence[Instance]) -> list[tuple[float, bool]]:
        """The pseudo-log-likelihood of each continuation after its context, and False.

        The harness wants to know whether greedy decoding would produce the continuation. A masked language model does
        not decode, so it would not.
        """
        _warn_of_greedy(requests)
        return [(logp, False) for logp in self._score(request.args for request in requests)]

    def loglikelihood_rolling(self, requests: Sequence[Instance]) -> list[float]:
        """The pseudo-log-likelihood of each whole text, which must fit into the model."""
        return self._score(("", request.args[0]) for request in requests)

    def generate_until(self, requests: Sequence[Instance]) -> list[str]:
        tasks = ", ".join(sorted({str(request.task_name) for request in requests}))
        raise BadInput(
            f"{tasks} must generate text, and a masked language model cannot. Choose tasks that compare "
            "likelihoods: output_type multiple_choice, loglikelihood or loglikelihood_rolling."
        )

    def get_model_info(self) -> dict[str, str]:
        """What the harness writes into its results besides the arguments."""
        return {"evenhand": __version__, "fingerprint": self.model.fingerprint, "model_kind": self.model.kind}

    def _score(self, texts: Iterable[tuple[str, ...]]) -> list[float]:
        """The pseudo-log-likelihood of each continuation after its context: of its tokens, given all others."""
        questions = [
            Likelihood(context + continuation, (Span(0, len(context)),) if context.strip() else ())
            for context, continuation in texts
        ]
        plan = self.model.plan(questions)
        self._report(questions, known := dict(plan.unanswerable()))  # before anything is computed
        with one_bar("Scoring"):
            answers = run_plan(plan, self.model.stream)
        answers = [check_answer(question, answer) for question, answer in zip(questions, answers, strict=True)]
        self._report(questions, {i: answer for i, answer in enumerate(answers) if answer.note and i not in known})
        return [answer.logp for answer in answers]

    def _report(self, questions: Sequence[Likelihood], unscored: Mapping[int, Answer]) -> None:
        """Raise BadInput if some texts have no score, or with `unscored="nan"` warn that they are NaN."""
        if not unscored:
            return
        first = min(unscored)
        text = f"'{shorten(questions[first].text, 120)}': {unscored[first].note}."
        problem = f"{len(unscored):,} of {len(questions):,} texts cannot be scored. The first, {text}"
        if self.unscored == "refuse":
            raise BadInput(f"{problem} Leave them out of the task, or give --model_args unscored=nan.")
        log.warning(f"{problem} They are NaN: metrics that compare count them as wrong answers, and means are NaN.")


def _warn_of_greedy(requests: Sequence[Instance]) -> None:
    """Warn of tasks with one continuation per document: their accuracy needs greedy decoding, so it is always 0."""
    of_document = Counter((request.task_name, request.doc_id) for request in requests)
    if alone := sorted({str(task) for (task, _), n in of_document.items() if n == 1}):
        log.warning(
            f"{', '.join(alone)}: each document has one continuation, and accuracy is whether greedy decoding produces "
            "it. A masked language model does not decode, so the accuracy is always 0: ignore it."
        )
