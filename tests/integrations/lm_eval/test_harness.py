"""lm-evaluation-harness with evenhand: its tasks by our backend, our tasks by its backend, and the way back."""

import csv
import json
import logging
import math
import sys
import tomllib
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from tokenizers import processors

import evenhand
from evenhand import BadInput, Likelihood, Run, datasets, from_scores
from evenhand.core.questions import Answer, Span
from evenhand.errors import EvenhandError, UnfitModel
from evenhand.integrations.lm_eval import __main__ as command
from evenhand.integrations.lm_eval import tasks
from evenhand.models.networks.masked import MaskedLM
from helpers import made_bbq, naive, planted, tiny
from helpers.packages import without

pytestmark = [
    pytest.mark.usefixtures("hosts", "without_pages"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*:ResourceWarning"),
]
MADE = [
    ("He is a doctor.", "She is a doctor."),
    ("The nurse said that she was tired.", "The nurse said that he was tired."),
    ("My mother cooks well.", "My father cooks well."),
    ("He is a nurse.", "HE is a nurse."),  # a tie: the model reads lower case alone
    ("She is 鬱.", "He is 鬱."),  # has no score: the model does not know the character
]


@pytest.fixture(scope="module")
def causal(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Before a context the harness has a start token where the tokenizer puts one; ours has one always."""
    found = {}
    for name in ("gpt2", "started"):
        tokenizer = tiny.continuing_bytes()
        tokenizer.model_max_length = 512
        if name == "started":
            start = tokenizer.bos_token
            processor = processors.TemplateProcessing(single=f"{start} $A", special_tokens=[(start, 0)])
            tokenizer.backend_tokenizer.post_processor = processor
        place = tmp_path_factory.mktemp("models") / name
        found[name] = tiny.save_causal("gpt2", place, tokenizer=tokenizer, max_position_embeddings=512)
    return found


def evaluated(model: str, name: str, task: str, folder: Path, **more: Any) -> tuple[dict[str, float], Path]:
    """The values of a task in a folder, as the harness computes them, and the file of its samples."""
    from lm_eval import simple_evaluate
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    from evenhand.integrations.lm_eval import backend as registered  # noqa: F401

    tracker = EvaluationTracker(output_path=str(folder / "out"))
    results = simple_evaluate(
        model=model,
        model_args={
            "pretrained": name,
            "dtype": "float64" if model == "hf" else "float32",
            **more,
        },  # its sums are rounded
        tasks=[task],
        task_manager=TaskManager(include_path=str(folder), include_defaults=False),
        evaluation_tracker=tracker,
        device="cpu",
        batch_size=8,
    )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    tracker.save_results_samples(task_name=task, samples=samples[task])
    values = {metric.partition(",")[0]: value for metric, value in results["results"][task].items()}
    (file,) = (folder / "out").rglob(f"samples_{task}_*.jsonl")
    return values, file


def planted_samples(folder: Path, *names: str, chat: bool, limit: int | None = None, **system: str) -> list[Path]:
    """The samples of exported tasks, in one evaluation of the planted model."""
    from lm_eval import simple_evaluate
    from lm_eval.api.model import LM
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    class Planted(LM):  # type: ignore[misc]
        """In a chat it is asked for what stands between [ and ]."""

        tokenizer_name = "planted"

        def apply_chat_template(self, chat_history: list[dict[str, str]], **_: Any) -> str:
            return "".join(f"{turn['role']}[{turn['content']}]" for turn in chat_history)

        def loglikelihood(self, requests: Any) -> list[tuple[float, bool]]:
            asked = [
                (asked_for(context), label.strip(), request.doc)
                for request in requests
                for context, label in [request.args]
            ]
            return [(planted.logps(text, len(doc["choices"]))["ABC".index(label)], False) for text, label, doc in asked]

        def generate_until(self, requests: Any) -> list[str]:
            seen = Counter[str]()
            texts = []
            for request in requests:
                prompt = asked_for(request.args[0])
                texts.append(planted.written(prompt, seen[prompt]))
                seen[prompt] += 1
            return texts

        def loglikelihood_rolling(self, requests: Any) -> Any:
            raise NotImplementedError

    def asked_for(context: str) -> str:
        return context.rpartition("user[")[2].removesuffix("]") if chat else context

    tracker = EvaluationTracker(output_path=str(folder / "out"))
    results = simple_evaluate(
        model=Planted(),
        tasks=list(names),
        task_manager=TaskManager(include_path=str(folder), include_defaults=False),
        evaluation_tracker=tracker,
        apply_chat_template=chat,
        limit=limit,
        **system,
    )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    for task in names:
        tracker.save_results_samples(task_name=task, samples=samples[task])
    return [next((folder / "out").rglob(f"samples_{task}_20*.jsonl")) for task in names]


@pytest.mark.parametrize("chat", [False, True])
def test_choices_in_the_harness_are_those_of_an_audit(tmp_path: Path, chat: bool) -> None:
    """In all orders of their options; a set and its control are one run, since they are of one evaluation."""
    names = ["choices-descriptions", "choices-descriptions-control"]
    options = {"chat": True} if chat else {}
    exported = [tasks.write(datasets.load(name), tmp_path, options=options) for name in names]
    for file in planted_samples(tmp_path, *exported, chat=chat):
        run = from_scores(file, name="back", out=tmp_path / "runs")
    direct = evenhand.audit(planted.model(), dataset=names, options=options, out=tmp_path / "runs")
    planted.assert_same(run, direct)


@pytest.mark.parametrize("chat", [False, True])
def test_texts_in_the_harness_are_those_of_an_audit(tmp_path: Path, chat: bool) -> None:
    options = {"forms": "story,headline", "subjects": "activities", "chat": chat}
    task = tasks.write(datasets.load("stories-en", **options), tmp_path, options={"texts": 3, "longest": 30})
    (file,) = planted_samples(tmp_path, task, chat=chat)
    run = from_scores(file, name="back", out=tmp_path / "runs")
    measures = [task.measure for task in run.record.tasks]
    drawn = options | {"texts": 3, "longest": 30}
    direct = evenhand.audit(
        planted.model(), dataset="stories-en", measure=measures, options=drawn, out=tmp_path / "runs"
    )
    planted.assert_same(run, direct)


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def written(folder: Path, pairs: Sequence[tuple[str, ...]]) -> Path:
    with (folder / "pairs.csv").open("w", encoding="utf-8", newline="") as opened:
        csv.writer(opened).writerows([("sent_more", "sent_less", "bias_type"), *pairs])
    return folder / "pairs.csv"


def crows_pairs(folder: Path, pairs: Path) -> str:
    """The harness's own task, with documents of a local file instead of the Hub's."""
    import lm_eval

    own = Path(lm_eval.__file__).parent / "tasks" / "crows_pairs" / "crows_pairs_english.yaml"
    (folder / "crows.yaml").write_text(
        f"include: {own}\ntask: local_crows_pairs\ndataset_path: csv\ndataset_name: null\n"
        f"dataset_kwargs: {{data_files: {{test: {pairs}}}}}\n"
    )
    return "local_crows_pairs"


def scores(run: Run, measure: str) -> list[float]:
    return [float(value) for value in run.scores_of(run.record.tasks[0].dataset, measure)["score"]]


def overall(run: Run, measure: str) -> float:
    (value,) = (v.value for v in run.values_of(run.record.tasks[0].dataset, measure) if not v.groups)
    assert value is not None
    return value


MEASURES = ["likelihood-difference", "stereotype-share"]


def test_crows_pairs_of_the_harness_has_our_differences_and_shares(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    file = written(tmp_path, [(*pair, "gender") for pair in MADE])
    values, samples = evaluated("evenhand", "mini-en", crows_pairs(tmp_path, file), tmp_path, unscored="nan")
    options = {"file": file, "stereotype": "sent_more", "counterpart": "sent_less"}
    asked: dict[str, Any] = {"dataset": "pairs", "measure": MEASURES, "options": options, "out": tmp_path / "runs"}
    run = evenhand.audit("mini-en", **asked)
    rows, ours = lines(samples), scores(run, "likelihood-difference")
    differences = [float(row["likelihood_diff"]) for row in rows]
    assert differences == pytest.approx([abs(d) for d in ours], abs=1e-4, nan_ok=True)
    assert [row["pct_stereotype"] for row in rows] == [1, 1, 1, 0, 0]
    shares = [1, 1, 1, 0.5, math.nan]  # half for a tie, which is 0 there, as is NaN
    assert scores(run, "stereotype-share") == pytest.approx(shares, nan_ok=True)
    assert math.isnan(values["likelihood_diff"])
    back = from_scores(samples, **asked, name="back")
    assert scores(back, "likelihood-difference") == pytest.approx(ours, abs=1e-4, nan_ok=True)
    assert back.record.audits[0].kind == "masked"


def test_released_crows_pairs_of_the_harness_has_our_differences_and_shares(data: Path, tmp_path: Path) -> None:
    with (data / "crows-pairs" / "crows_pairs_anonymized.csv").open(encoding="utf-8") as opened:
        rows = [row for row in csv.DictReader(opened) if row["bias_type"] == "gender"]
    columns = ("sent_more", "sent_less", "bias_type")
    file = written(tmp_path, [tuple(row[column] for column in columns) for row in rows])
    values, samples = evaluated("evenhand", "mini-en", crows_pairs(tmp_path, file), tmp_path)
    asked: dict[str, Any] = {"dataset": "crows-pairs", "measure": MEASURES, "out": tmp_path / "runs"}
    run = evenhand.audit("mini-en", **asked)
    found, ours = lines(samples), scores(run, "likelihood-difference")
    assert len(found) == len(ours) == 262
    assert [row["likelihood_diff"] for row in found] == pytest.approx([abs(d) for d in ours], abs=1e-4)
    share = [float(score == 1) for score in scores(run, "stereotype-share")]
    assert [row["pct_stereotype"] for row in found] == share
    assert values["pct_stereotype"] == pytest.approx(sum(share) / len(share))
    assert values["likelihood_diff"] == pytest.approx(overall(run, "likelihood-difference"), abs=1e-4)
    back = from_scores(samples, **asked, name="back")
    assert scores(back, "likelihood-difference") == pytest.approx(ours, abs=1e-4)


@pytest.mark.parametrize(
    ("family", "name", "measure", "options"),
    [
        ("gpt2", "tgb", "likelihood-lean", {}),
        ("started", "tgb", "stereotype-share", {}),
        ("gpt2", "tbd-gendered", "pronoun", {}),
        ("started", "bbq-ambiguous", "choice-accuracy", {"mass": 0}),
        ("started", "bbq-disambiguated", "choice-coverage", {}),
        ("started", "choices-pronouns", "choice-coverage", {}),
    ],
)
def test_our_tasks_in_the_harness_are_what_we_measure_ourselves_and_come_back_the_same(
    tmp_path: Path,
    causal: dict[str, Path],
    monkeypatch: pytest.MonkeyPatch,
    family: str,
    name: str,
    measure: str,
    options: dict[str, Any],
) -> None:
    made_bbq.write(tmp_path)
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    task = tasks.write(datasets.load(name), tmp_path)
    values, samples = evaluated("hf", str(causal[family]), task, tmp_path)
    asked: dict[str, Any] = {"dataset": name, "measure": measure, "options": options, "out": tmp_path / "runs"}
    run = evenhand.audit(str(causal[family]), **asked)
    back = from_scores(samples, name="back", **asked)
    assert scores(back, measure) == pytest.approx(scores(run, measure), abs=1e-4)
    one, other = (
        [(v.groups, v.value, v.low, v.high, v.n) for v in found.values_of(name, measure)] for found in (run, back)
    )
    assert [v[0] for v in one] == [v[0] for v in other]
    assert [v[1:] for v in one] == [pytest.approx(v[1:], abs=1e-4) for v in other]
    if not options:
        ours = run.scores_of(name, measure).set_index("id")["score"]
        logged = {row["doc"]["id"]: row[measure] for row in lines(samples)}
        assert [logged[id] for id in ours.index] == pytest.approx(ours.tolist(), abs=1e-4)
        assert values[measure] == pytest.approx(overall(run, measure), abs=1e-4)
    assert back.record.audits[0].kind == "causal"


@pytest.fixture(scope="module")
def backend() -> Any:
    from evenhand.integrations.lm_eval.backend import MaskedBackend

    return MaskedBackend("mini-en")


def requests(kind: str, *given: tuple[Any, ...], single: bool = False) -> Sequence[Any]:
    from lm_eval.api.instance import Instance

    return [Instance(kind, {}, args, 0, ("made", n if single else 0, 1)) for n, args in enumerate(given)]


def test_a_continuation_counts_its_own_tokens_given_the_whole_text(backend: Any, mini_en: MaskedLM) -> None:
    context, continuation = "The nurse said that", " she was very tired."
    asked = [(context, continuation), (context + " ", continuation.strip()), ("", "She is."), ("  ", "She is.")]
    found = backend.loglikelihood(requests("loglikelihood", *asked))
    tokens = naive.likelihood(mini_en, context + continuation)
    behind = len(mini_en.tokenizer(continuation, add_special_tokens=False)["input_ids"])
    wanted = [sum(tokens[-behind:])] * 2 + [sum(naive.likelihood(mini_en, "She is."))] * 2
    assert [logp for logp, _ in found] == pytest.approx(wanted, abs=5e-4)
    assert not any(greedy for _, greedy in found)
    whole = backend.loglikelihood_rolling(requests("loglikelihood_rolling", (context + continuation,)))
    assert whole == [pytest.approx(sum(tokens), abs=5e-4)]
    assert backend.model.answer([Likelihood(context + continuation, (Span(0, 19),))])[0].logp == found[0][0]


def test_single_continuations_are_warned_of_since_their_accuracy_is_greedy_decoding(
    backend: Any, caplog: pytest.LogCaptureFixture
) -> None:
    two = [("", "She is."), ("", "He is.")]
    with caplog.at_level(logging.WARNING):
        backend.loglikelihood(requests("loglikelihood", *two))
    assert not caplog.records
    with caplog.at_level(logging.WARNING):
        backend.loglikelihood(requests("loglikelihood", *two, single=True))
    assert "one continuation" in caplog.text


def test_texts_without_a_score_are_refused_unless_they_may_be_nan(
    backend: Any, caplog: pytest.LogCaptureFixture
) -> None:
    from evenhand.integrations.lm_eval.backend import MaskedBackend

    asked = [("", "She is."), ("", "She is 鬱."), ("The nur", "se."), ("She is.", " ")]
    with pytest.raises(BadInput, match=r"3 of 4 .*鬱.*unknown word"):
        backend.loglikelihood(requests("loglikelihood", *asked))
    lenient = MaskedBackend("mini-en", unscored="nan")
    with caplog.at_level(logging.WARNING):
        found = [logp for logp, _ in lenient.loglikelihood(requests("loglikelihood", *asked))]
    assert [logp == logp for logp in found] == [True, False, False, False]
    assert "They are NaN" in caplog.text


@pytest.mark.parametrize("bad", [math.nan, math.inf, 0.5])
def test_numbers_of_a_broken_model_are_refused_or_nan_too(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, bad: float
) -> None:
    """Tasks that compare would take NaN for a wrong answer, and a probability above 1 for a right one."""
    from evenhand.integrations.lm_eval import backend as module

    def broken(plan: Any, stream: Any) -> list[Answer]:
        return [Answer((-1.0,)), Answer((-1.0, bad))]

    monkeypatch.setattr(module, "run_plan", broken)
    asked = requests("loglikelihood", ("", "She is."), ("", "He is."))
    with pytest.raises(BadInput, match="1 of 2 .*(not a finite|a log-prob)"):
        module.MaskedBackend("mini-en").loglikelihood(asked)
    with caplog.at_level(logging.WARNING):
        found = [logp for logp, _ in module.MaskedBackend("mini-en", unscored="nan").loglikelihood(asked)]
    assert found == pytest.approx([-1.0, math.nan], nan_ok=True)
    assert "They are NaN" in caplog.text


def test_what_the_backend_cannot_do_is_a_sentence(backend: Any, causal: dict[str, Path]) -> None:
    from evenhand.integrations.lm_eval.backend import MaskedBackend

    with pytest.raises(BadInput, match="must generate text"):
        backend.generate_until(requests("generate_until", ("Once", {})))
    for given, says in (
        ({}, "A model is needed"),
        ({"pretrained": "mini-en", "dtpye": "float32"}, "Did you mean 'dtype'"),
        ({"pretrained": "mini-en", "unscored": "zero"}, "'zero'"),
        ({"pretrained": "mini-en", "dtype": "int8"}, "int8"),
        ({"pretrained": "no-such-model"}, "no-such-model"),
    ):
        with pytest.raises(EvenhandError, match=says):
            MaskedBackend.create_from_arg_obj(given)
    with pytest.raises(UnfitModel, match="causal"):
        MaskedBackend(str(causal["gpt2"]))


def test_options_of_the_harness_are_used_where_they_are_not_its_defaults() -> None:
    from evenhand.integrations.lm_eval.backend import MaskedBackend

    class Told(MaskedBackend):
        def __init__(self, **given: Any) -> None:
            self.given = given

    defaults = {"batch_size": 1, "max_batch_size": None, "device": "cuda:0"}
    for options, wanted in (
        (defaults, {}),
        ({**defaults, "batch_size": "16", "device": "cpu"}, {"batch_size": "16", "device": "cpu"}),
    ):
        assert Told.create_from_arg_string("pretrained=mini-en", options).given == {"pretrained": "mini-en", **wanted}
    told = Told.create_from_arg_obj({"pretrained": "mini-en", "batch_size": 1}, {"batch_size": "16"})
    assert told.given == {"pretrained": "mini-en", "batch_size": 1}


def test_a_batch_size_of_the_command_line_is_a_text() -> None:
    from evenhand.integrations.lm_eval.backend import MaskedBackend

    assert MaskedBackend("mini-en", batch_size="16").model.about["batch_size"] == 16
    assert MaskedBackend("mini-en", batch_size="auto:4").model.about["batch_size"] == "auto"


def test_the_backend_is_found_by_its_entry_point_and_by_its_name() -> None:
    from lm_eval.api.registry import get_model

    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    ((name, value),) = project["entry-points"]["lm_eval.models"].items()
    loaded = EntryPoint(name, value, "lm_eval.models").load()
    assert get_model("evenhand") is loaded
    assert name == "evenhand"


@pytest.mark.parametrize(("version", "got"), [(None, "it is not installed"), ("0.4.2", "version 0.4.2 is installed")])
def test_a_harness_that_is_missing_or_too_old_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], version: str | None, got: str
) -> None:
    without("lm-eval", monkeypatch, version)
    monkeypatch.setattr(sys, "argv", ["lm_eval", "--model", "evenhand"])
    with pytest.raises(SystemExit) as end:
        command.main()
    assert end.value.code == 2
    told = capsys.readouterr().err
    assert f"{got}. Install it with: pip install 'evenhand[lm-eval]'." in told
