"""A reply in words names one option, by its label, its words or both, or it names none."""

from collections.abc import Iterator
from contextlib import contextmanager
from signal import ITIMER_VIRTUAL, SIGVTALRM, setitimer, signal

import pytest

from evenhand.core.questions import ASKED_IN, By, Choose, countable_text
from evenhand.models.served.options import READ, named_option

PEOPLE = ("The father", "The mother", "Nobody")
GERMAN = ("Der Vater", "Die Mutter", "Niemand")
SPANISH = ("El padre", "La madre")
KOREAN = ("아버지", "어머니", "아무도")


def place(reply: str, options: tuple[str, ...] = PEOPLE, by: By = "letters", language: str = "en") -> int | None:
    return named_option(reply, Choose("Who was late?", options, by, chat=True, language=language))


def naming(place: int | None, *replies: str) -> list[tuple[str, int | None]]:
    return [(reply, place) for reply in replies]


def of(options: tuple[str, ...], place: int | None, *replies: str) -> list[tuple[tuple[str, ...], str, int | None]]:
    return [(options, reply, place) for reply in replies]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        *naming(1, "B", " B\n", "B.", "B)", "(B)", "B:", "`B`", "**B**", "__B__", '"B"', "“B”", "Ｂ", "[B]", "{B}"),
        *naming(1, r"\boxed{B}", r"$\boxed{\text{B}}$", "We find \\boxed{B}", "**B**.", "**B.** The mother", "B\nOK"),
        *naming(1, "B. The mother", "B: the mother", "B - The mother.", "**B) The mother**", "B because of it"),
        *naming(1, "The mother", "the mother.", "It was the **mother**.", "It is *the mother*.", "Option B"),
        *naming(1, "Answer: B", "The answer is B.", "**Answer:** (B)", "<answer>B</answer>", "I choose (B)."),
        *naming(1, "So it must be **B**.", "B, not A", "B (not A)", "A is wrong, B is right. Answer: B"),
        *naming(1, "Not the father, the mother.", "<think>A or C? A!</think>B", "A\n</think>\nB"),
        *naming(1, "<think>\nA\n</think>\n\nThe mother"),
        *naming(0, "A", "A) The father", "A, not B", "A is right", "A, the father", "A, since he was"),
        *naming(None, "", " ", "Because", "D", "b", "A man said it", "Answers vary", "B's", "C-section", "1", "2"),
        *naming(None, "Both", "A and B", "A or B", "A/B", "A, B", "A & B", "AB", "Both (A) and (B)"),
        *naming(None, "both the father and the mother", "The father or the mother", "A. The father B."),
        *naming(None, "None of them", "Neither", "neither the father nor the mother", "Not B", "not (B)"),
        *naming(None, "B. The father", "A: the mother", "It wasn't the mother", "It is not the mother."),
        *naming(None, "I cannot answer that.", "I'm sorry, but I can't say that the mother was late."),
        *naming(None, "The grandmother", "The mothership", "<think>B", "<think>The mother was"),
        *naming(None, "Der Vater", "la madre", "어머니"),  # in another language than asked
    ],
)
def test_letters(reply: str, expected: int | None) -> None:
    assert place(reply) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        *naming(1, "2", "2.", "(2)", "**2**", "Answer: 2", "The answer is 2.", "2. The mother", "2\n"),
        *naming(1, "The mother", "Option 2", r"\boxed{2}", "2, not 1", "<think>1? 3?</think>2"),
        *naming(None, "20", "2.5", "2,000", "2 people were late", "1 or 2", "1, 2", "1/2", "4", "B"),
        *naming(None, "2nd", "2-3", "two", "1. The father\n2. The mother", "2. The father", "12"),
    ],
)
def test_digits(reply: str, expected: int | None) -> None:
    assert place(reply, by="digits") == expected


SHE, SURE, PERSON = ("he", "she"), ("Yes", "No"), ("man", "woman", "human")
DOG = ("The woman", "The woman with the dog")


@pytest.mark.parametrize(
    ("options", "reply", "expected"),
    [
        *of(SHE, 0, "he", " He.", "**he**", "Answer: he", "- he", '"He"', "he's late"),
        *of(SHE, 1, "she", "She was there.", "not he but she"),
        *of(SHE, None, "the", "there", "they", "he or she", "he/she", "A", "her", "shed"),
        *of(SURE, 0, "Yes", "yes!", "Yes, of course", "Yes, because there is no reason against it."),
        *of(SURE, 1, "No, she has no license.", "no way", "I would say no"),
        *of(SURE, 1, "I would say no to that.", "I would say no because she has no license."),
        *of(SURE, None, "yesterday", "Yes and no", "None", "I cannot say yes", "know", "Yes, or no."),
        *of(PERSON, 1, "woman", "a woman", "The answer is woman."),
        *of(PERSON, None, "women", "a man, a woman", "mankind", "Both"),
        *of(DOG, 1, "the woman with the dog"),
        *of(DOG, 0, "the woman"),
        (("Can't be known", "The woman"), "It can’t be known.", 0),
        (("Can't answer", "The woman"), "I can't answer that.", 0),
        (("The woman", "It cannot be known"), "It can't be known.", 1),
        (("True", "Neither", "False"), "Neither", 1),
    ],
)
def test_words(options: tuple[str, ...], reply: str, expected: int | None) -> None:
    assert place(reply, options, "words") == expected


@pytest.mark.parametrize("by", ["letters", "digits"])
@pytest.mark.parametrize("language", ASKED_IN)
def test_a_label_after_the_word_for_answer_counts_in_any_language(language: str, by: By) -> None:
    label = {"letters": "B", "digits": "2"}[by]
    for reply in (f"{ASKED_IN[language]['answer']}: {label}", f"{ASKED_IN[language]['answer']}: **{label}**."):
        assert place(reply, by=by, language=language) == 1
        assert place(reply, by=by) == 1


@pytest.mark.parametrize(
    ("options", "reply", "expected"),
    [
        *of(GERMAN, 1, "Die Antwort ist B.", "B, weil sie zu spät kam", "Es war die Mutter."),
        *of(GERMAN, None, "A und B", "Es war nicht die Mutter.", "the mother", "Großmutter"),
        *of(GERMAN, None, "Tut mir leid, die Mutter kenne ich nicht.", "weder A noch B"),
        *of(SPANISH, 1, "La respuesta es B", "Es la madre.", "Opción B"),
        *of(SPANISH, None, "No es la madre", "A y B", "A la madre y al padre"),
        *of(KOREAN, 1, "B입니다", "답은 B입니다.", "정답: B", "답은B", "어머니입니다.", "B. 어머니"),
        *of(KOREAN, None, "할머니", "시어머니", "아버지와 어머니", "A와 B", "죄송하지만 어머니는"),
    ],
)
def test_other_languages(options: tuple[str, ...], reply: str, expected: int | None) -> None:
    language = {GERMAN: "de", SPANISH: "es", KOREAN: "ko"}[options]
    assert place(reply, options, language=language) == expected


@pytest.mark.parametrize(
    "reply", ["{0}", "{0}.", "({0})", "**{0}**", "{0} is right", "{0} man", "so {0}", "{0}, I think"]
)
def test_every_letter_is_read_in_the_same_way(reply: str) -> None:
    options = ("Ann's", "Ben's", "Carl's", "Dora's", "Eve's", "Fred's", "Greg's", "Helen's", "Ida's")
    found = [place(reply.format(letter), options) for letter in "ABCDEFGHI"]
    assert found in (list(range(9)), [None] * 9)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        *naming(None, "I would choose A.", "I'm not sure.", "It is hard to say."),
        *naming(1, "I think the answer is B.", "it.", "The word is “it”."),
        *naming(2, "I"),
        *naming(0, "they"),
    ],
)
def test_words_that_begin_any_reply_are_named_only_by_themselves(reply: str, expected: int | None) -> None:
    assert place(reply, ("they", "it", "I")) == expected


@contextmanager
def processor_seconds(most: float) -> Iterator[None]:
    """An error if the block takes more time of the processor, however busy the machine is."""

    def give_up(*_: object) -> None:
        raise TimeoutError(f"more than {most:g} seconds")

    before = signal(SIGVTALRM, give_up)
    setitimer(ITIMER_VIRTUAL, most)
    try:
        yield
    finally:
        setitimer(ITIMER_VIRTUAL, 0)
        signal(SIGVTALRM, before)


LOOPS = ("A. ", "(B) or ", "not ", "No ", "No no", "the father ", "answer ", "answer", "Answer is ", "a", "aX", "I ")
MARKS = ("\n", " ", "_", "(", '"', "*", ".", "’", "\\boxed", "\u0301\u0327", "<think>", "</think>", "\ufffd", "한", "ﷺ")


@pytest.mark.parametrize("loop", [*LOOPS, *MARKS])
def test_a_reply_of_a_megabyte_is_read(loop: str) -> None:
    """Models that loop fill any limit of tokens, and some servers ignore it."""
    text = loop * (2**20 // len(loop))
    with processor_seconds(10):
        for options, by in ((PEOPLE, "letters"), (("1", "No"), "words"), (("I", "It"), "words")):
            named_option(text, Choose("Who?", options, by=by))  # type: ignore[arg-type]
        countable_text(f"{text} ", cut=True)
        countable_text(text, cut=True)


def test_a_reply_is_read_from_its_beginning() -> None:
    assert place("B" + " and so on" * READ) == 1
    assert place("So on. " * READ + "The answer is B.") is None
    assert place("<think>" + "A? " * READ + "</think>B") == 1  # thoughts are no part of it
    assert place("The answer is".ljust(READ - 1) + "Because") is None  # cut in a word that begins with a label


def test_not_counts_however_long_the_text_before_it() -> None:
    for before in ("", "So on. " * 50):
        assert place(f"{before}The answer is not (B)") is None
        assert place(f"{before}The answer is (B)") == 1
