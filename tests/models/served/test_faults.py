"""Every fault of a server is noticed: refused, survived, or said."""

from itertools import pairwise

import pytest

from evenhand import Choose, Entail, Fill, Likelihood, Span
from evenhand.core.answers import ABOVE_ONE
from evenhand.core.questions import Question
from evenhand.errors import EvenhandError, ModelError, ModelNotFound, UnfitModel
from evenhand.models.base import ServerChanged
from evenhand.models.served.client import Request
from evenhand.models.served.model import CHECKED_EVERY, _places
from helpers import tiny
from helpers.openai_server import FAULTS, MALFORMED

from .conftest import Connect

ALL = frozenset({"echo", "next", "text", "chat next", "chat text", "usage", "models"})
NO_USAGE = ALL - {"usage"}
LIKELIHOODS = [Likelihood(text) for text in tiny.TEXTS]
LETTERS = Choose("Who works?", ("He", "She"), by="letters")

REFUSED: dict[str, tuple[type[EvenhandError], str]] = {
    "log10": (UnfitModel, "not natural logarithms of probabilities: probabilities that add up to more than 1"),
    "shifted logprobs": (UnfitModel, "not those of its tokens.*shifted by one"),
    "shifted offsets": (UnfitModel, "text_offset"),
    "bos doubled": (UnfitModel, "start token is there twice"),
    "truncated": (UnfitModel, "cuts prompts"),
    "zeros": (UnfitModel, "more than 1. Turn logprobs on"),
    "positive": (UnfitModel, "not natural logarithms of probabilities: a log-probability above 0"),
    "garbled": (UnfitModel, "do not give the prompt back: '<.*MONDAY"),
    "endless storm": (ModelError, "answers 429.*for 0.5 seconds. Answers so far are kept.*`concurrency`"),
    "always dropped": (ModelError, "does not keep the connection, for 0.5 seconds"),
    "always html": (ModelError, "something other than JSON: '<html><body>502 Bad Gateway.*ends in /v1"),
    "deep": (ModelError, "something other than JSON: '\\[\\[\\["),
    "huge deep": (ModelError, "something other than JSON"),
    "other shape": (ModelError, "not of the shape of OpenAI's API"),
    "another model": (ModelNotFound, "'other' answers in its place.*openai:other"),
    "noise": (UnfitModel, "Two answers to the same question differ|not those of its tokens"),
    "leaks the key": (UnfitModel, "neither completions nor chats"),
    "overfull": (UnfitModel, "add up to more than 1"),
}
SURVIVED = ("storm", "dropped", "html", "odd storm")
SAID = ("echo ignored", "temperature")
LATER = ("another model later", "slightly positive", "infinite", "nan", "random")
ELSEWHERE = ("repeats the key", "slow", "endless", "no numbers when cold", *MALFORMED)  # test_client, test_malformed
KEYS = ("escapes the key", "percent-encodes the key")  # test_client


@pytest.mark.parametrize("fault", REFUSED)
def test_a_server_whose_numbers_would_mean_nothing_is_refused(connect: Connect, fault: str) -> None:
    error, says = REFUSED[fault]
    with pytest.raises(error, match=says):
        connect(faults=frozenset({fault}), patience=0.5, key="sk-secret" if fault == "leaks the key" else "")


@pytest.mark.parametrize("fault", SURVIVED)
def test_what_passes_is_tried_again_and_changes_no_answer(connect: Connect, fault: str) -> None:
    _, faulty = connect(faults=frozenset({fault}), patience=20.0)
    _, sound = connect()
    assert faulty.answer(LIKELIHOODS) == sound.answer(LIKELIHOODS)


def test_echo_that_is_ignored_is_no_likelihood(connect: Connect) -> None:
    _, model = connect(faults=frozenset({"echo ignored"}))
    assert not model.ability.whole
    assert model.cannot(LIKELIHOODS[0])


def test_temperature_that_changes_the_numbers_is_said(connect: Connect) -> None:
    _, model = connect(faults=frozenset({"temperature"}))
    assert [verdict for check, verdict, *_ in model.probed.remarks if check == "numbers"] == ["careful"]
    _, sound = connect()
    assert not [verdict for check, verdict, *_ in sound.probed.remarks if check == "numbers"]
    assert model.answer(LIKELIHOODS) == sound.answer(LIKELIHOODS)  # it is asked at temperature 1


def test_another_model_in_the_middle_stops_the_run(connect: Connect) -> None:
    _, model = connect(faults=frozenset({"another model later"}))
    texts = [Likelihood(f"She wrote letter {n}.") for n in range(40)]
    with pytest.raises(ModelError, match="'other', not 'tiny'"):
        model.answer(texts)


def test_a_prompt_that_is_cut_later_has_no_answer(connect: Connect) -> None:
    server, model = connect()
    server.faults = frozenset({"truncated"})
    model.reference = {}  # would be cut, too
    assert {answer.note for answer in model.answer(LIKELIHOODS[2:5])} == {
        "the server's tokens do not give the text back"
    }
    server, model = connect(faults=frozenset({"echo ignored"}), top=20)
    server.faults = frozenset({"truncated"})
    model.reference = {}
    long = Choose("They wrote 24 letters; nobody answered. " * 4, ("He", "She"), by="letters")
    assert model.answer([long])[0].note == "the server has cut the prompt"


SPAN = Span(0, 2)
BLANKS = Fill("He works.", SPAN, "He", among=("He", "She"))
WHOLE_OPTIONS = Choose("Who works?", ("He", "She"))
ABOVE_0, ALL_0 = "a log-probability above 0", "every log-probability in the server's reply is 0"


@pytest.mark.parametrize(
    ("fault", "note", "of_letters"),
    [
        ("positive", ABOVE_0, ABOVE_0),
        ("slightly positive", ABOVE_0, ABOVE_0),
        ("infinite", "not a finite number", "no option is among the likeliest tokens"),
        ("nan", "not a finite number", "not a finite number"),
        ("zeros", ALL_0, ALL_0),
    ],
)
def test_numbers_that_are_no_log_probabilities_are_no_answer(
    connect: Connect, fault: str, note: str, of_letters: str
) -> None:
    """Before anything is normalised: blanks and choices would turn any numbers into probabilities."""
    whole: list[Question] = [LIKELIHOODS[0], BLANKS, WHOLE_OPTIONS]
    for gives, questions, notes in ((ALL, whole, [note] * 3), (ALL - {"echo"}, [LETTERS], [of_letters])):
        server, model = connect(gives=gives)
        server.faults = frozenset({fault})
        model.reference = {}  # would notice first
        assert [answer.note for answer in model.answer(questions)] == notes


@pytest.mark.parametrize("gives", [ALL, ALL - {"echo"} | {"prompt_logprobs"}], ids=["echo", "prompt_logprobs"])
def test_texts_of_which_only_one_can_follow_are_not_all_certain(connect: Connect, gives: frozenset[str]) -> None:
    """Each number alone could be a log-probability."""
    server, model = connect(gives=gives)
    server.faults = frozenset({"overfull"})
    model.reference = {}  # would notice first
    assert [answer.note for answer in model.answer([BLANKS, WHOLE_OPTIONS])] == [ABOVE_ONE] * 2


@pytest.mark.parametrize(("chat", "labels"), [(False, ""), (True, ""), (False, "True,Neither,False")])
def test_listed_tokens_that_add_up_to_more_than_1_are_no_answer(connect: Connect, chat: bool, labels: str) -> None:
    server, model = connect(gives=ALL - {"echo"}, labels=labels)
    model.reference = {}
    question = Entail("She works.", "He works.") if labels else Choose("Who works?", ("He", "She"), "letters", chat)
    for fault in ("overfull", "log10"):
        server.faults = frozenset({fault})
        assert model.answer([question])[0].note == ABOVE_ONE


@pytest.mark.parametrize(
    ("gives", "question", "faults"),
    [
        (ALL, LIKELIHOODS[0], ("zeros", "shifted logprobs", "log10", "random", "positive")),
        (ALL - {"echo"}, LETTERS, ("zeros", "log10", "random", "positive")),
    ],
    ids=["whole texts", "next tokens"],
)
def test_numbers_that_go_bad_stop_the_run(
    connect: Connect, gives: frozenset[str], question: Question, faults: tuple[str, ...]
) -> None:
    server, model = connect(gives=gives)
    for fault in faults:
        server.faults = frozenset({fault})
        with pytest.raises(ServerChanged):
            model.answer([question])


SHORT = [f"She wrote {n}." for n in range(200)]
WRITTEN: list[Question] = [Likelihood(text) for text in SHORT]
CHOSEN: list[Question] = [Choose(text, ("He", "She"), by="letters") for text in SHORT]


@pytest.mark.parametrize(
    ("gives", "questions"), [(ALL, WRITTEN), (ALL - {"echo"}, CHOSEN)], ids=["whole texts", "next tokens"]
)
def test_a_server_that_is_wrong_for_a_while_is_noticed(
    connect: Connect, gives: frozenset[str], questions: list[Question]
) -> None:
    """Of 200 requests those from the 90th to the 170th: before and after them it is right."""
    server, model = connect(gives=gives)
    before = len(server.seen)
    server.spell = range(before + 90, before + 170), frozenset({"random"})
    with pytest.raises(ServerChanged):
        model.answer(questions)
    assert 90 < len(server.seen) - before < 170


@pytest.mark.parametrize("count", [1, 5, 23, 24, 200, 2_424, 12_001])
def test_the_reference_is_asked_at_random_places_a_dozen_times_and_within_every_sixth(count: int) -> None:
    requests = [Request.of("completions", prompt=str(n)) for n in range(count)]
    places = _places(requests)
    gaps = [stop - start for start, stop in pairwise((0, *places))]
    assert places[-1] == count
    assert len(places) >= (12 if count >= 24 else 1)
    assert count < 24 or max(gaps) <= min(CHECKED_EVERY, -(-count // 6) + 1)
    assert places == _places(requests)
    assert count < 24 or places != _places(requests[::-1])  # where it is asked follows from what is asked


def test_a_doubled_start_is_seen_in_the_echo_where_the_server_counts_no_tokens(connect: Connect) -> None:
    with pytest.raises(UnfitModel, match="puts 2 tokens before a prompt"):
        connect(faults=frozenset({"bos doubled"}), gives=NO_USAGE)


def test_a_server_that_stops_in_the_middle_is_an_error_after_some_patience(connect: Connect) -> None:
    server, model = connect(patience=0.5)
    server.stops_after = len(server.seen) + 3
    with pytest.raises(ModelError, match="does not keep the connection.*kept"):
        model.answer(LIKELIHOODS)


def test_no_fault_is_untested() -> None:
    assert {*REFUSED, *SURVIVED, *SAID, *LATER, *ELSEWHERE, *KEYS, "long"} == set(FAULTS)
