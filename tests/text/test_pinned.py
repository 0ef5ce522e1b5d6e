"""Texts of words in any order, and what becomes of them: whatever changes one of them is meant, or a fault.

If it is meant: `PYTHONPATH=src:tests python -m text.test_pinned` writes what becomes of them now.
"""

import json
import random
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import pytest

from evenhand.text.names import Naming
from evenhand.text.swap import Swapper, swapper
from helpers.counts import count

FILE = Path(__file__).with_name("pinned.json")
WORDS = """he she him her his hers himself herself He She HIS Her he's she'll they the a an An and or & of to in near
from with as said says asked left met saw told is was who whose when that man woman men women boy girl mother father
King Queen king prince duchess waiter actress actors host hostess brother sisters wife husbands aunt nephew bride
groom monk witch wizard sir Sir Madam ma'am Dame Lord Lady lords ladies ladies' gentlemen my your First Mr Mr. Mrs. Ms
Miss MISS Dr. Rev. Father Sister President Mayor Saint St. Mary John James Susan Michael Elizabeth Georgia Charlotte
Virginia Victoria Jordan Taylor Kim Alex Rose Ruby Basil basil Frank frank Mark mark Will will May may Hope Grace
Jean-Paul Wendy's Priya Kenji Fatima Muhammad José Björn MARY TOM mary Gandalf Xyz Smith Jones Calvin Bloomberg
O'Donnell Nelson Brown King's bin bint del van de Jr. II III I i University Street Park County River Award Cemetery
Cup Club Show Paris France London Ohio Texas Carolina North New York January June 31 1999 1,000 fireman policewoman
chairman stewardess mankind works has does goes watches tries been guilty cry dance own friend novel play book two
three $5 yesterday alone back home . . . . , , ; : ! ? " “ ” ' ‘ ’ ( ) [ ] — - -- / * # @her.org www.his.org
https://x.org/her"""
PHRASES = """Mary Smith|John Jones left|said James|Ruby said|Dr. Susan Calvin|Mr. and Mrs. Smith|Sir Paul|in Georgia|
Michael Jordan|Jordan|King Charles|Lord Nelson|President Taylor|Mary and John|Tom, Anna and Will|When Alice left|
the Lou Grant Show|Virginia Beach|St. James Street|Earl of Clare|Mary of England|Victoria, the state|
my lords and ladies|yes, sir|the First Lady|his or her|he or she|him/her|a friend of hers|her book is hers|
made her cry|her own|Mary's|the Smiths|Maria del Carmen|Fatima bint Khalid|George W. Bush|Jean-Paul Sartre|Hope I|
Will she|on May 31|in May 1999|Dear Janice,|Miss Ohio"""
SWAPS: dict[str, Callable[[str], str]] = {
    "words": Swapper(),
    "words and names": Swapper(names=Naming()),
    "women alone": Swapper(names=Naming(only="female"), only="female"),
    "neutral": swapper(to="neutral", grammar="rules"),
    "with the model": swapper(),
}


def texts(name: str) -> list[str]:
    """Some hundreds for each way to swap, each of up to forty words."""
    chance, parts = random.Random(name), [*WORDS.split(), "\n", "\n\n", *4 * PHRASES.replace("\n", "").split("|")]
    drawn = (" ".join(chance.choices(parts, k=chance.randint(4, 30))) for _ in range(40 if "model" in name else 600))
    return [text.replace(" .", ".").replace(" ,", ",") for text in drawn]


def counted() -> list[float]:
    """Numbers of a corpus of such texts, those of all its tables among them."""
    result = count([*texts("words"), *texts("neutral")], words=["friend", "novel", "play", "book", "dance", "home"])
    of = [each for ratio in (result.words, result.names) for each in (ratio.log, ratio.share)] + [result.score]
    numbers = [number for each in of for number in (each.value, each.low, each.high, each.p)]
    tables = [table.select_dtypes("number") for table in (result.beside, result.contexts, result.rare)]
    return [result.sentences, *numbers, *(float(x) for table in tables for x in table.to_numpy().ravel())]


def found(name: str) -> list[int]:
    """A number for each text that another swap of it would change."""
    return [crc32(SWAPS[name](text).encode()) for text in texts(name)]


@pytest.mark.parametrize("name", SWAPS)
def test_texts_become_what_they_became_in_the_last_version(name: str) -> None:
    pinned = json.loads(FILE.read_text(encoding="utf-8"))[name]
    changed = [number for number, (one, other) in enumerate(zip(found(name), pinned, strict=True)) if one != other]
    assert [(texts(name)[number], SWAPS[name](texts(name)[number])) for number in changed[:3]] == []


def test_counts_are_what_they_were_in_the_last_version() -> None:
    pinned = json.loads(FILE.read_text(encoding="utf-8"))["counts"]
    assert counted() == pytest.approx(pinned, rel=1e-7, abs=1e-12, nan_ok=True)


if __name__ == "__main__":
    lines = [f"{json.dumps(name)}: {json.dumps(found(name))}" for name in SWAPS]
    lines.append(f'"counts": {json.dumps(counted())}')
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
