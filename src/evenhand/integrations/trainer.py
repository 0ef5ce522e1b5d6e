"""A callback of transformers' Trainer: measures the model while it is trained."""

import logging
import re
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from accelerate.utils import broadcast_object_list
from transformers import Trainer, TrainerCallback
from transformers.integrations import is_deepspeed_zero3_enabled

from evenhand.auditing.measuring import Measuring
from evenhand.auditing.spec import AuditSpec, PlannedTask
from evenhand.auditing.writing import open_run, output_folder
from evenhand.calls.audit import GateAndPage
from evenhand.core.files import real_path
from evenhand.core.loop import questions_of
from evenhand.core.progress import showing
from evenhand.core.way import UNASKED
from evenhand.errors import BadInput, RunError, UnfitModel
from evenhand.gate.gate import Gate
from evenhand.gate.policy import Rule
from evenhand.models.base import check_questions
from evenhand.models.loading.labels import Labels
from evenhand.models.loading.load import wrap
from evenhand.run import Run
from evenhand.runs import folder
from evenhand.runs.record import RunRecord, TaskRecord, read_record
from evenhand.suites import way_of

log = logging.getLogger(__name__)


class BiasCallback(TrainerCallback):  # type: ignore[misc]
    """Measures the model before training, every `every` steps and at the end, each time on the same items.

    The values go through `trainer.log`, so TensorBoard, Weights & Biases, MLflow and `trainer.state.log_history` have
    them as "bias/DATASET/MEASURE"; if women and men are partners, the value is their difference, in each group. The run
    of step 500 is in `out/step-000500`, with intervals, items and page.

    `what` are the parameters of `evenhand.audit` that select what is measured: `suite`, `lang`, `dataset`, `measure`,
    `templates`, `pairs`, `options`, `limit` and `seed`.
    A `gate`, given as Gate, policy file or list of rules, stops the training if a rule fails, but not if a rule is
    undecided. `worse_by_at_most` in a rule compares with `baseline`, or else with the first run in `out`.
    `first` is the step of the first measurement, for a head that is not trained at step 0. `tokenizer` is needed if
    the trainer has no `processing_class`; `labels` are those of `evenhand.load`.

    The training is not changed: the network keeps its weights, modes, device and random numbers. If there are several
    processes, the first one measures and the others wait. A resumed training keeps the runs of earlier steps.
    """

    def __init__(
        self,
        *,
        every: int,
        out: str | Path = "runs",
        gate: Gate | Sequence[Rule] | str | Path | None = None,
        baseline: Run | str | Path | None = None,
        first: int = 0,
        tokenizer: Any = None,
        batch_size: int | str = "auto",
        labels: Labels = (),
        **what: Any,
    ) -> None:
        for name, number, least in (("every", every, 1), ("first", first, 0)):
            if type(number) is not int or number < least:
                raise BadInput(f"`{name}` must be a whole number of steps, at least {least}. Got {number!r}.")
        self._spec = AuditSpec.of(**what)
        self._tasks: list[PlannedTask] = []
        self._way = UNASKED
        if not self._spec.needs_kind:
            with suppress(UnfitModel):  # a wrong name is an error now; the model is not known yet
                self._spec.tasks_for("masked")
        self.every, self.first, self.out = every, first, Path(out).expanduser()
        rules = Gate(gate) if isinstance(gate, Sequence) and not isinstance(gate, str) else gate
        self.gate = Gate.of(rules, baseline)
        self._tokenizer = tokenizer
        self._loading: dict[str, Any] = {"batch_size": batch_size, "labels": labels}
        self._trainer: Any = None
        self._begun = self.seconds = 0.0
        self.measured: list[int] = []
        """The steps that were measured in this training."""
        self._said_undecided = False
        self.stopped = ""
        """Why the gate stopped the training; empty if it did not."""

    def on_train_begin(self, args: Any, state: Any, control: Any, **given: Any) -> Any:
        """Check all that can be wrong, then measure the model before its first step."""
        self._begun, self.seconds, self.measured, self.stopped = time.monotonic(), 0.0, [], ""
        self._trainer = _calling_trainer()
        if self._trainer.is_fsdp_enabled or is_deepspeed_zero3_enabled():
            raise BadInput(
                "A model whose weights are spread over processes (FSDP, ZeRO-3) cannot be measured while it is "
                "trained. Save checkpoints, and audit them: evenhand audit CHECKPOINT."
            )
        self._tokenizer = self._tokenizer or given.get("processing_class")
        self._tokenizer = getattr(self._tokenizer, "tokenizer", self._tokenizer)  # a processor of texts and images
        if self._tokenizer is None:
            raise BadInput(
                "The trainer has no tokenizer. Give `processing_class` to the trainer, or `tokenizer` to BiasCallback."
            )
        if state.is_world_process_zero:
            model = wrap(given["model"], self._tokenizer, _run_name(state.global_step), **self._loading)
            self._tasks = self._spec.tasks_for(model.kind)
            for planned in self._tasks:  # raise now if the model cannot answer its questions
                check_questions(model, questions_of(planned.task.dataset.items[0], planned.task.measure))
            self._way = way_of([planned.task for planned in self._tasks])
            self._check_out(state.global_step, self._way.identity(model.fingerprint)["fingerprint"])
            if self.gate:
                self.gate.check([planned.whole for planned in self._tasks], self.out, baseline_later=True)
        if not state.global_step and not self.first:
            self._measure(state, control, given["model"])
        return control

    def on_step_end(self, args: Any, state: Any, control: Any, **given: Any) -> Any:
        """Measure after every `every` steps, and after the last one."""
        due = state.global_step >= self.first and state.global_step % self.every == 0
        if (due or control.should_training_stop) and state.global_step not in self.measured:
            self._measure(state, control, given["model"])
        return control

    on_epoch_end = on_step_end  # another callback may end the training after the step, as EarlyStoppingCallback does

    def on_train_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Measure the last step if an evaluation ended the training after it, and print the time spent on measuring."""
        best_loaded = args.load_best_model_at_end and state.best_model_checkpoint is not None
        if state.global_step and state.global_step not in self.measured and not best_loaded:
            self._measure(state, control, given["model"])
        self._trainer = None
        whole = time.monotonic() - self._begun
        if state.is_world_process_zero:
            steps = f"{len(self.measured)} step{'s' * (len(self.measured) != 1)}"
            spent = f"{self.seconds:.1f} s, {self.seconds / whole:.1%} of {whole:.1f} s of training"
            print(f"Measured bias at {steps} in {spent}. Runs: {self.out}")

    def _measure(self, state: Any, control: Any, network: Any) -> None:
        begun = time.monotonic()
        outcome: list[Any] = [None, ""]
        if state.is_world_process_zero:
            run = self._run(network, state.global_step)
            outcome = [_values_to_log(run), self._failed_rules(run)]
        values, failed = broadcast_object_list(outcome)  # otherwise only this process would stop
        self.measured.append(state.global_step)
        should_log = control.should_log  # log() resets it, and the loss would not be logged
        self._trainer.log(values)
        control.should_log = should_log
        self.seconds += time.monotonic() - begun
        if failed and not state.global_step:
            raise BadInput(f"The gate fails before the first step: {failed}. Loosen its rules, or leave `gate` out.")
        if failed:
            self.stopped = f"Training was stopped at step {state.global_step} by the gate: {failed}."
            control.should_training_stop = True
            if state.is_world_process_zero:
                log.warning(self.stopped)

    def _run(self, network: Any, step: int) -> Run:
        """The run of this step: that in `out` if it measured the same weights, otherwise a new one."""
        path = self.out / _run_name(step)
        model = wrap(network, self._tokenizer, path.name, **self._loading)
        record = read_record(path)

        if record and record.fingerprint == self._way.identity(model.fingerprint)["fingerprint"]:
            run = Run.load(path)
        else:
            devices = [network.device] if network.device.type == "cuda" else []
            audit_log = logging.getLogger("evenhand.auditing")
            records, tasks = [each.record for each in self._tasks], [each.task for each in self._tasks]
            with torch.random.fork_rng(devices), showing(False), ExitStack() as after:
                after.callback(audit_log.setLevel, audit_log.level)
                if self.measured:  # or the audit of every step would log the same lines
                    audit_log.setLevel(logging.ERROR)
                after.enter_context(output_folder(path))
                opened = after.enter_context(open_run(path, model, records, self._way, fresh=True))
                folder.clear(path)
                audits, results = Measuring(model, path / folder.ANSWERS, path.name).measure(self._tasks)
                audits = [replace(audit, suite=self._spec.suite) for audit in audits]
                run = Run.load(opened.commit(path.name, audits, tasks, results, GateAndPage()))
        unfit = [finding for audit in run.record.audits for finding in audit.doctor if finding.verdict == "unfit"]
        if unfit and not step:
            raise UnfitModel(
                f"{unfit[0].check.capitalize()}: {unfit[0].says} The numbers of an unfit model mean nothing. Start "
                "from a trained checkpoint, or give `first`, the step of the first measurement.",
                check=unfit[0].check,
            )
        return run

    def _failed_rules(self, run: Run) -> str:
        if self.gate is None:
            return ""
        if any(rule.worse_by_at_most is not None for rule in self.gate.rules):
            baseline = self.gate.baseline or Run.load(self._runs()[0][0])
            if real_path(baseline.path) == real_path(run.path):
                return ""
            self.gate = replace(self.gate, baseline=baseline)
        verdict = self.gate.judge(run)
        verdict.save(run.path)
        undecided = [judged for judged in verdict.rules if judged.verdict == "undecided"]
        if undecided and not self._said_undecided:
            self._said_undecided = True
            log.warning(
                f"The gate cannot decide at {run.path.name}: {undecided[0].rule}: {undecided[0].says}. An undecided "
                "rule does not stop the training; a larger `limit` would decide more."
            )
        return "; ".join(f"{judged.rule}: {judged.says}" for judged in verdict.rules if judged.verdict == "fail")

    def _check_out(self, step: int, fingerprint: str) -> None:
        """Raise RunError if `out` has runs of another training, of other weights at this step, or of other items."""
        runs = self._runs()
        if strange := [path.name for path, _ in runs if not re.fullmatch(r"step-\d{6,}", path.name)]:
            raise RunError(f"'{self.out}' has a run that is not of a step: '{strange[0]}'. Choose another `out`.")
        if runs and not step and (last := runs[-1][0].name) != _run_name(0):
            raise RunError(
                f"'{self.out}' has the runs of another training, up to {last}. Resume that training "
                "(resume_from_checkpoint), or choose another `out`."
            )
        for path, record in runs:
            if path.name == _run_name(step) and record.fingerprint != fingerprint:
                raise RunError(f"'{path}' measured other weights than the model has now. Choose another `out`.")
            if _task_samples(record.tasks) != _task_samples([planned.record for planned in self._tasks]):
                raise RunError(
                    f"'{path}' measured other tasks or another sample, so the steps could not be compared. Choose "
                    "another `out`, or give the same suite, limit and seed."
                )

    def _runs(self) -> list[tuple[Path, RunRecord]]:
        folders = sorted((path.parent for path in self.out.glob("*/run.json")), key=lambda path: (len(path.name), path))
        return [(path, record) for path in folders if (record := read_record(path))]


def _run_name(step: int) -> str:
    return f"step-{step:06d}"


def _task_samples(tasks: Sequence[TaskRecord]) -> dict[tuple[str, str], tuple[Any, ...]]:
    return {task.name: (task.identity, task.draw) for task in tasks}


def _values_to_log(run: Run) -> dict[str, float]:
    """The values to log, by name: stereotype, default, differences between partners, or the value of all items."""
    values: dict[str, float] = {}
    for task in run.record.tasks:
        whole = [] if task.by_gender else [row for row in run.values_of(*task.name) if not row.groups]
        rows = [row for row in run.rows_of(*task.name) if row.contrast or not row.groups]
        for row in [*rows, *whole]:
            contrast = row.contrast.replace(" ", "")
            parts = ("bias", task.dataset, task.measure, row.estimand, contrast, *row.groups.values())
            # MLflow takes no other characters in a name.
            name = "/".join(re.sub(r"[^\w.-]+", "-", part).strip("-") for part in parts if part)
            values |= {name: row.value} if row.known else {}
    return values


def _calling_trainer() -> Any:
    """The trainer whose `train` is running, from the call stack: callbacks are not given it, but need its `log`."""
    frame = sys._getframe(1)
    while frame.f_back:
        frame = frame.f_back
        if isinstance(trainer := frame.f_locals.get("self"), Trainer):
            return trainer
    raise BadInput("BiasCallback is for the Trainer of transformers: `Trainer(..., callbacks=[BiasCallback(...)])`.")
