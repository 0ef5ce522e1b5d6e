"""What was counted in a corpus, on the terminal."""

from collections.abc import Iterator

from rich.console import Group, RenderableType

from evenhand.analysis.corpus import FEWEST, Counted
from evenhand.report.page.corpus import around, cautions, lean, number_tested, percent, shares, size
from evenhand.report.tables import framed, line, table


def counted(name: str, found: Counted) -> RenderableType:
    """A corpus in numbers: women and men by words and by first names, professions, words around them."""
    return Group(*_parts(name, found))


def _parts(name: str, found: Counted) -> Iterator[RenderableType]:
    yield line(f"{name}: {size(found)}", "bold")
    heads = ("counted", "women", "men", "share of women", "verdict")
    rows = [[what, f"{r.female:,}", f"{r.male:,}", percent(r.share), lean(r.lean)] for what, r in shares(found).items()]
    yield table(heads, rows, left=["counted", "verdict"])
    yield from (line(f"{r.log.note.capitalize()}.", "yellow") for r in shares(found).values() if r.log.note)
    yield line(f"Intervals are 95 %, over {found.unit}s. First names are those that evenhand swap would swap.", "dim")
    yield from (line(told, "yellow") for told in cautions(found))
    if found.beside.empty:
        yield line(f"Mean size over professions: –, since {found.score.note}.", "")
    else:
        numbers = {"women": ",", "men": ",", "ratio": "+.2f", "low": "+.2f", "high": "+.2f"}
        jobs = found.beside.sort_values("ratio").rename(columns={"female": "women", "male": "men", "lean": "verdict"})
        yield line("Sentences with a profession: ln(men / women), less that of the corpus as a whole", "bold")
        yield framed(jobs.assign(verdict=jobs["verdict"].map(lean)), {"profession": "", **numbers, "verdict": ""})
        mean = found.score.number(".2f")
        yield line(f"Mean size over {len(jobs)} profession{'s' * (len(jobs) > 1)}: {mean} (0: none is gendered)", "")
    if len(found.rare):
        few = ", ".join(f"{row.profession} {row.female}/{row.male}" for row in found.rare.itertuples())
        yield line(f"In fewer than {FEWEST} sentences, so without a verdict (women/men): {few}", "dim")
    if found.contexts.empty:
        yield line(f"No word stands out next to women or men: {number_tested(found)}.", "")
        return
    yield line(
        f"Words that occur more often than chance explains, of {found.tested:,} that were tested: sentences (expected)",
        "bold",
    )
    for side, words in around(found).items():
        yield line(f"  with {side}: {', '.join(words.values()) or 'none'}", "")
