"""Azure's regions by name, and by what people call them: display names, cities, words in another order.

The list is `catalog/data/regions.csv`: name, display name, physical location and geography as Microsoft's
list of regions has them, or its SDKs and price lists, each row with its source; `cities` are those at the
coordinates that ``az account list-locations`` gives where the location is a whole country or state. A user
adds a region that opened since in a file of the same name in the folder of the catalogue (docs/advice.md).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from azbenchlib.azure.catalog import files
from azbenchlib.core.errors import InputError
from azbenchlib.core.name_forms import QUOTED_CHARS, plain, squeezed, taken_for
from azbenchlib.core.nearest import nearest

REGIONS_FILE = "regions.csv"
_PIECES = re.compile(r"[(),;/]| - ")  # (Europe) West Europe; North Europe (Dublin); Frankfurt, Germany
_WORDS = re.compile(r"[^\W\d_]+|\d+")
# Of price pages and of other clouds, such as EU West.
_ABBREVIATIONS = {"eu": "europe", "ap": "asia", "usa": "us", "sg": "singapore", "ind": "india"}
# us-east-2 (AWS) is not East US 2, nor is europe-west4 (Google) a West Europe: refused, with what is near.
_OTHER_CLOUD = re.compile(r"[a-z]+(-[a-z]+)+-?\d")
_ALIKE, _PLACES_ALIKE, _MOST = 0.6, 0.75, 5
_SHORT = 5  # letters of what may be an abbreviation, such as weu or eus2


@dataclass(frozen=True)
class AzureRegion:
    """A region of Azure, and where it is."""

    name: str
    display_name: str
    places: tuple[str, ...]
    geography: str

    @property
    def words(self) -> tuple[str, ...]:
        """The words of its display name, in alphabetical order."""
        return tuple(sorted(word.casefold() for word in _WORDS.findall(self.display_name)))


def known() -> Mapping[str, AzureRegion]:
    """Every region, by its name."""
    return _known(files.own_file(REGIONS_FILE))


def understood(text: str, also: Iterable[str] = ()) -> str:
    """The name of the region that a text names, as Azure writes it: ``West Europe`` is westeurope.

    A city, and words in another order than Azure's, are understood too, and what they were taken for is said
    (:class:`azbenchlib.core.name_forms.TakenForWarning`).

    Parameters
    ----------
    text : str
    also : iterable of str
        Names that count beside Azure's, such as those of a price book of the user's own.

    Raises
    ------
    InputError
        When it names no region, with the nearest names; or more than one, with these.
    """
    names = {squeezed(name): name for name in (*known(), *also)}
    if name := names.get(squeezed(text)):
        return name
    pieces = [squeezed(piece) for piece in _PIECES.split(plain(text)) if squeezed(piece)]
    named = {names[piece] for piece in pieces if piece in names}
    if len(named) == 1:
        return named.pop()
    if region := _in_another_order(text):
        taken_for("region", text, region.name, region.display_name)
        return region.name
    there = _places()
    at = [set(there[piece]) for piece in pieces if piece in there]
    meant = sorted(set.intersection(*at)) if len(at) == len(pieces) and at else []
    if len(meant) == 1:
        place = ", ".join((*known()[meant[0]].places, known()[meant[0]].geography))
        taken_for("region", text, meant[0], f"{known()[meant[0]].display_name}, {place}")
        return meant[0]
    shown = text[:QUOTED_CHARS]
    if meant:
        raise InputError(f"region '{shown}' may be {' or '.join(meant)}: name one of them")
    raise InputError(f"no region '{shown}' is known; {_choices(text, names.values())}")


def _in_another_order(text: str) -> AzureRegion | None:
    """The region whose words a text has in another order, as price pages do: ``US East 2``, ``EU West``."""
    if _OTHER_CLOUD.fullmatch(plain(text)):
        return None
    words = tuple(sorted(_words(text)))
    same = [region for region in known().values() if region.words == words]
    return same[0] if len(same) == 1 else None


def _words(text: str) -> list[str]:
    """The words of a text that regions are made of, without the signs between them or without any."""
    found: list[str] = []
    for word in _WORDS.findall(plain(text).casefold()):
        parts = _vocabulary().findall(word)
        found += parts if "".join(parts) == word else [word]
    return [_ABBREVIATIONS.get(word, word) for word in found]


def _choices(text: str, names: Iterable[str]) -> str:
    """The regions that are nearly the one that was named; all, where none is."""
    key, names = squeezed(text), sorted(names)
    short = re.compile(".*".join(map(re.escape, key))).match if 0 < len(key) <= _SHORT else None
    near = [*_of_same_words(text), *(name for name in names if short and short(name))]
    near += nearest(key, names, alike=_ALIKE)
    places = _places()
    near += [name for place in nearest(key, places, alike=_PLACES_ALIKE) for name in places[place]]
    if near:
        return f"nearest: {', '.join(list(dict.fromkeys(near))[:_MOST])}"
    return f"there are: {', '.join(names)}"


def _of_same_words(text: str) -> list[str]:
    """The regions at a place that the text names, and those with all its words but for numbers."""
    words = _words(text)
    places = _places()
    found = [name for word in words for name in places.get(word, ())]
    wanted = {word for word in words if not word.isdigit()}
    alike = [region for region in known().values() if wanted and wanted <= set(region.words)]
    alike.sort(key=lambda region: (len(set(region.words) ^ set(words)), region.name))
    return [*(region.name for region in alike), *found]


def _places() -> Mapping[str, list[str]]:
    return _by_place(files.own_file(REGIONS_FILE))


def _vocabulary() -> re.Pattern[str]:
    return _all_words(files.own_file(REGIONS_FILE))


@cache
def _known(_own: Path | None) -> Mapping[str, AzureRegion]:
    """Read again where the user's own file has come or gone."""
    return {row["name"]: _region(row) for row in files.rows_of(REGIONS_FILE)}


def _region(row: Mapping[str, str]) -> AzureRegion:
    places = [name for column in ("location", "cities") for name in row[column].split(";") if name]
    return AzureRegion(row["name"], row["display_name"], tuple(places), row["geography"])


@cache
def _by_place(_own: Path | None) -> Mapping[str, list[str]]:
    """Names of regions by city, state or country."""
    found: dict[str, list[str]] = defaultdict(list)
    for region in known().values():
        for place in {squeezed(name) for name in (*region.places, region.geography)}:
            found[place].append(region.name)
    return dict(found)


@cache
def _all_words(_own: Path | None) -> re.Pattern[str]:
    """The words of all display names, the longest first."""
    words = {word for region in known().values() for word in region.words if not word.isdigit()}
    ordered = sorted(words | set(_ABBREVIATIONS), key=lambda word: (-len(word), word))
    return re.compile("|".join(map(re.escape, ordered)))
