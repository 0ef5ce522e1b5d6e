"""Released corpora under EVENHAND_DATA or in the cache; only `evenhand datasets fetch` downloads them."""

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from evenhand.datasets.files.bundled import read_tsv
from evenhand.errors import BadInput, DataNotFound, UnknownName

RAW = "https://raw.githubusercontent.com"
NLI_COAL = f"{RAW}/panatchakorn-a/bias-eval-nli-considering-all-labels/4d57afe81db25011b4c515ab1575115c3cfb1765"
STEREOSET = f"{RAW}/moinnadeem/StereoSet/ead7d086a64a192a1eca88e0dd2fd163de375218"
CROWS = f"{RAW}/nyu-mll/crows-pairs/8aaac11c485473159ec9328a65253a5be9a479dc/data"
TRANSLATED_CROWS = f"{RAW}/jerryspan/Dutch-CrowS-Pairs/7cf51965b4818a717d22068477fba951bca1eb90/datasets"
GAP = f"{RAW}/google-research-datasets/gap-coreference/da30315e77bfda9095cdb8b03203d58abeef90b2"

BBQ = f"{RAW}/nyu-mll/BBQ/bea11bd97d79217245b5871acd247b9d6eb24598/data"
GEST = f"{RAW}/kinit-sk/gest/7dd908cae11720ee5d95e43a4ab94fb410c8b790/data"
WINOBIAS = f"{RAW}/uclanlp/corefBias/0bce984dd081bbc10b0622f326727a024c607895/WinoBias/wino/data"
WINOGENDER = f"{RAW}/rudinger/winogender-schemas/1c7f8b481ad8a234b41e9f76a424d6e856e13f7f/data"


@dataclass(frozen=True, slots=True)
class Release:
    """Where a corpus comes from, under what terms, and the SHA-256 of each of its files."""

    folder: str
    """Under EVENHAND_DATA, and in the cache."""
    base: str
    files: dict[str, str]
    """SHA-256 by path, the same in `folder` and under `base`."""
    licence: str
    citation: str


def _nli_coal(language: str, folder: str, version: str, all_words: str, down_sampled: str) -> Release:
    """The evaluation sets of one language: the SHA-256 of the file with all words, and of the down-sampled one."""
    root = f"{language}_{version}/bias-eval-set_{version}"
    return _of_nli_coal(
        {
            f"{root}/{folder}/4-all_{version}.json": all_words,
            f"{root}/downsamp/4-all-downsamp_{version}.json": down_sampled,
        }
    )


def _controlled(name: str) -> Release:
    """The bias-controlled dev and test sets of one language. Its training sets are released too, but not listed."""
    rows = read_tsv("nli-coal-controlled.tsv")
    return _of_nli_coal({row["path"]: row["sha256"] for row in rows if row["release"] == name})


def _of_nli_coal(files: dict[str, str]) -> Release:
    return Release(
        "nli-coal",
        NLI_COAL,
        files,
        "MIT; the captions have the terms of MSCOCO, YJ Captions and Flickr8k-CN",
        "Anantaprayoon, Kaneko and Okazaki 2024, Evaluating Gender Bias of Pre-trained Language Models in Natural "
        "Language Inference by Considering All Labels",
    )


RELEASES = {
    "bbq": Release(
        "bbq",
        BBQ,
        {"Gender_identity.jsonl": "8b5adbb368510a97d5775dc43e1c719e0249fe2da33f13c83e3e29edafec7a00"},
        "CC BY 4.0",
        "Parrish, Chen, Nangia, Padmakumar, Phang, Thompson, Htut and Bowman 2022, BBQ: A Hand-Built Bias Benchmark "
        "for Question Answering",
    ),
    "crows-pairs": Release(
        "crows-pairs",
        CROWS,
        {"crows_pairs_anonymized.csv": "dfb36986ce0502abbaf7055b9176da3d08d48e07df1251991b5dfbcbceab9d0c"},
        "CC BY-SA 4.0",
        "Nangia, Vania, Bhalerao and Bowman 2020, CrowS-Pairs: A Challenge Dataset for Measuring Social Biases in "
        "Masked Language Models",
    ),
    "crows-pairs-fr": Release(
        "crows-pairs",
        TRANSLATED_CROWS,
        {"crows_french.csv": "7fc34d474623cec3f88544d88156212780ee65f408666463c8d7a833ad5efe83"},
        "CC BY-SA 4.0",
        "Névéol, Dupont, Bezançon and Fort 2022, French CrowS-Pairs: Extending a Challenge Dataset for Measuring "
        "Social Bias in Masked Language Models to a Language Other than English",
    ),
    "crows-pairs-nl": Release(
        "crows-pairs",
        TRANSLATED_CROWS,
        {"crows_dutch.csv": "07b9b562e947e782a0409ebac85b28b417838cf2d33c2f7f2a13766b431ddf35"},
        "CC0 1.0 by its authors; made from CrowS-Pairs, which is CC BY-SA 4.0",
        "Strazda and Spanakis 2025, Dutch CrowS-Pairs: Adapting a Challenge Dataset for Measuring Social Biases in "
        "Language Models for Dutch",
    ),
    "gap": Release(
        "gap",
        GAP,
        {
            "gap-development.tsv": "b9a01434fcf58d8c2f9bc762480c27e58ce466cf1ffe8b09cfecbc7a20d2d634",
            "gap-validation.tsv": "2d784f66b390404f554704b9aef6dcde8845e79dda9886b8391cf7e9a24fdb98",
            "gap-test.tsv": "1c35e36d5b14f6313ec3f6cd67b275de282595dd59e59390e00cfff9897a6819",
        },
        "Apache 2.0; the texts are of Wikipedia",
        "Webster, Recasens, Axelrod and Baldridge 2018, Mind the GAP",
    ),
    "gest": Release(
        "gest",
        GEST,
        {
            "gest.csv": "7e306adaa2913b660c6ddccddb26703a1de8c880cb0597ad27db4bca75380eea",
            "gest_1.1.csv": "51d14d5dc648d5be867d40bd312c016471c485827f6c28488c7234b9d30fcd9c",
        },
        "Apache 2.0",
        "Pikuliak, Oresko, Hrckova and Simko 2024, Women Are Beautiful, Men Are Leaders: Gender Stereotypes in Machine "
        "Translation and Language Modeling",
    ),
    "nli-coal-en": _nli_coal(
        "en",
        "all-words",
        "v1.1",
        "8304c8775010c62c6077ffe563ebff89f7fef57311b7a4e69124af683264c423",
        "bd5af0b91948444015d0eed5a76d7b9d0409aca61d60f548601c80b63036f863",
    ),
    "nli-coal-ja": _nli_coal(
        "ja",
        "untokenized",
        "v1.1",
        "f40a04f4aa5e4ee20b31f92a25ca019f7c2760ee70f8241c2f4fe731ad05d98e",
        "aff62078f5f31f871fc9f7bc918e39fc9b766a790a88cbd153cad08d22ea5f9f",
    ),
    "nli-coal-zh": _nli_coal(
        "zh",
        "all-words",
        "v1.0",
        "155803ca42bd9ba2fb828138d18b786f83b8815e60555409b30348aad494aecc",
        "6e281d37fa839cdd7f6d6a1bde2b5f1ae42b08f42eeee182e93aee32a9cf48f0",
    ),
    "stereoset": Release(
        "stereoset",
        f"{STEREOSET}/data",
        {"dev.json": "73a0f31b711688112602e4c3ac6ab1e1a7cadcdd67df6c6fd55501c889676c90"},
        "CC BY-SA 4.0",
        "Nadeem, Bethke and Reddy 2021, StereoSet: Measuring stereotypical bias in pretrained language models",
    ),
    "winobias": Release(
        "winobias",
        WINOBIAS,
        {
            "anti_stereotyped_type1.txt.dev": "a4e0ebae344e78b56f657a42e8ae684b9db7747d177c5e7149c0907ebb7f3bf6",
            "anti_stereotyped_type1.txt.test": "331db5bd74bfefebf146a60b67645152a4a1991570d2a56f57154103ac361dd2",
            "anti_stereotyped_type2.txt.dev": "763ad829ad724f9a85ead689ba8ca69072020cb1238def6210f0fc6a47b97e59",
            "anti_stereotyped_type2.txt.test": "336571ac1ea8c06cd2aba8e5dd2bd98e00acc0c48da3e4ec5ec7e54eb2633a8f",
            "pro_stereotyped_type1.txt.dev": "dd55a0d220fe4c0ceb63dd4648223fb4fe1a58d5ad95c116a002ad24b0e292a5",
            "pro_stereotyped_type1.txt.test": "db7838907238a758eeb5779e48f38c013b892910d6fe864456c59f04245c6689",
            "pro_stereotyped_type2.txt.dev": "8f0250de723cea9328e3eaf7169e07936f01aa5909ce7aa580db66eb803f4e86",
            "pro_stereotyped_type2.txt.test": "ea1c1fd94fa612e3cc44d7fa3cc4cb76021bb63fdf94f9826f430051e9052438",
        },
        "MIT",
        "Zhao, Wang, Yatskar, Ordonez and Chang 2018, Gender Bias in Coreference Resolution: Evaluation and Debiasing "
        "Methods",
    ),
    "winogender": Release(
        "winogender",
        WINOGENDER,
        {
            "all_sentences.tsv": "bd69da16bf228cb8df63fd0843aec2d8b5c36a7f21bf8c7b168bcc83932556c8",
            "occupations-stats.tsv": "3f7f37c16381a70571356982ea7fe613ac700ad04a6d3b19b9f2be18248df567",
        },
        "MIT",
        "Rudinger, Naradowsky, Leonard and Van Durme 2018, Gender Bias in Coreference Resolution",
    ),
    **{name: _controlled(name) for name in (f"nli-coal-{language}-controlled" for language in ("en", "ja", "zh"))},
}
"""The corpora that can be fetched, by name."""


def fetch(name: str) -> list[Path]:
    """Download a release into the cache, unless it is there; a file with a wrong checksum is deleted, with an error."""
    if name not in RELEASES:
        raise UnknownName("released corpus", name, RELEASES)
    release = RELEASES[name]
    return [_retrieve(release, path, sha256) for path, sha256 in release.files.items()]


def is_available(name: str) -> bool:
    """Whether all files of a release are on this machine."""
    release = RELEASES[name]
    return all(locate(release.folder, path) for path in release.files)


def locate(folder: str, path: str) -> Path | None:
    """The path of the file under EVENHAND_DATA or in the cache, None if it is in neither."""
    if given := os.environ.get("EVENHAND_DATA"):
        found = Path(given) / folder / path
        if found.is_file():
            return found
    kept = cache() / folder / path
    return kept if kept.is_file() else None


def released(name: str, part: str) -> Path:
    """The path of a release's file with that part in its name; if it is missing, an error says how to get it."""
    release = RELEASES[name]
    path = next(path for path in release.files if part in path)
    if (found := locate(release.folder, path)) is None:
        instead = f"put the release's {path} under EVENHAND_DATA/{release.folder}/"
        raise DataNotFound(f"'{name}' is not available. Get it with: evenhand datasets fetch {name}. Or {instead}.")
    return found


def cache() -> Path:
    """The folder of fetched files."""
    import pooch

    return Path(pooch.os_cache("evenhand")) / "data"


def _retrieve(release: Release, path: str, sha256: str) -> Path:
    import pooch
    import requests

    url, place = f"{release.base}/{path}", cache() / release.folder / PurePosixPath(path)
    pooch.get_logger().setLevel("ERROR")  # it would report every file and its checksum
    try:
        kept = pooch.retrieve(url, known_hash=f"sha256:{sha256}", fname=place.name, path=place.parent)
    except ValueError as error:
        raise BadInput(f"{url} has changed: its checksum differs. The download was deleted. {error}") from error
    except (OSError, requests.RequestException) as error:
        instead = f"put it under EVENHAND_DATA/{release.folder}/{path}"
        raise BadInput(f"{url} cannot be downloaded: {error}. Try again with a network, or {instead}.") from error
    return Path(kept)
