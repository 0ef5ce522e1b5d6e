"""Released corpora under EVENHAND_DATA or in the cache; only `evenhand datasets fetch` downloads them."""

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from evenhand.datasets.files import read_toml
from evenhand.errors import BadInput, DataNotFound, check_known


@dataclass(frozen=True, slots=True)
class Release:
    """Where a corpus comes from, under what terms, and the SHA-256 of each of its files."""

    folder: str
    """The name of its folder under EVENHAND_DATA and in the cache."""
    base: str
    """The URL of its files; empty if the authors state no licence, so that nothing is downloaded."""
    files: dict[str, str]
    """SHA-256 by path, the same in `folder` and under `base`."""
    licence: str
    citation: str
    flaws: str = ""

    @property
    def texts(self) -> dict[str, Any]:
        """The source, licence and flaws of a dataset that is read from it."""
        return {"source": self.citation, "licence": self.licence, "flaws": self.flaws}


RELEASES = {name: Release(**release) for name, release in read_toml("releases.toml").items()}
"""The corpora that can be fetched, or copied by hand, by name."""


def fetch(name: str) -> list[Path]:
    """Download a release into the cache, unless it is there. A file with a wrong checksum is deleted, and raises."""
    check_known("released corpus", [name], RELEASES)
    import pooch
    import requests

    pooch.get_logger().setLevel("ERROR")  # it would report every file and its checksum
    release, paths = RELEASES[name], []
    if not release.base:
        instead = f"Put {', '.join(release.files)} under EVENHAND_DATA/{release.folder}/ yourself"
        raise BadInput(f"'{name}' is not downloaded, since its authors state no licence. {instead}.")
    for path, sha256 in release.files.items():
        url, place = f"{release.base}/{path}", cache() / release.folder / PurePosixPath(path)
        try:
            file = pooch.retrieve(url, known_hash=f"sha256:{sha256}", fname=place.name, path=place.parent)
        except ValueError as error:
            raise BadInput(f"{url} has changed: its checksum differs. The download was deleted. {error}") from error
        except (OSError, requests.RequestException) as error:
            instead = f"Try again with a network connection, or put it under EVENHAND_DATA/{release.folder}/{path}"
            raise BadInput(f"{url} cannot be downloaded: {error}. {instead}.") from error
        paths.append(Path(file))
    return paths


def is_available(name: str) -> bool:
    """Whether all files of a release are on this machine."""
    release = RELEASES[name]
    return all(locate(release.folder, path) for path in release.files)


def locate(folder: str, path: str) -> Path | None:
    """The path of a file under EVENHAND_DATA or in the cache; None if it is in neither."""
    data = os.environ.get("EVENHAND_DATA")
    places = [home / folder / path for home in ([Path(data)] if data else []) + [cache()]]
    return next((place for place in places if place.is_file()), None)


def find_release(name: str, part: str) -> Path:
    """The path of the release's file whose path contains `part`; if it is missing, the error says how to get it."""
    release = RELEASES[name]
    path = next(path for path in release.files if part in path)
    if file := locate(release.folder, path):
        return file
    get = f"Get it with: evenhand datasets fetch {name}. Or put" if release.base else "It states no licence: put"
    raise DataNotFound(f"'{name}' is not available. {get} the release's {path} under EVENHAND_DATA/{release.folder}/.")


def cache() -> Path:
    """The folder of fetched files."""
    import pooch

    return Path(pooch.os_cache("evenhand")) / "data"
