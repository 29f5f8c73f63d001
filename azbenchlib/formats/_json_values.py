"""Typed access to decoded JSON of unknown quality: what does not fit is missing, and remembered."""

import math
import reprlib
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

INT64_MAX = 2**63 - 1  # what an Int64 column can hold
_NUMBERS = {int, float}  # what the decoder makes of a number; true and false are neither
_SHORT = 64  # keys; fio tells 20 percentiles at most. Source: fio stat.h, FIO_IO_U_LIST_MAX_LEN, fio-3.41.
_FLOAT_LIMIT = 1e300  # anything near the end of the floats is damage, and larger integers would overflow


@dataclass(frozen=True)
class Complaints:
    """Values that were left out of the tables: those of a wrong kind, and those that are no number."""

    unexpected: list[str] = field(default_factory=list)
    not_a_number: list[str] = field(default_factory=list)


Number = TypeVar("Number", int, float)
_NOTHING: Mapping[str, Any] = {}


class Fields:
    """A JSON object, with its path in the document and the complaints about it.

    `key` and `above` say where it stands, which is put together when it is told: nearly none is.
    """

    __slots__ = ("_above", "_complaints", "_key", "_values")

    def __init__(self, values: Any, key: str, complaints: Complaints, above: "Fields | None" = None) -> None:
        self._key, self._above, self._complaints = key, above, complaints
        self._values: Mapping[str, Any] = _NOTHING
        if isinstance(values, dict):
            self._values = values
        elif values is not None:
            self._complain(self._path, values)

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def at(self, key: str) -> "Fields":
        """The object under a key, or an empty one."""
        return Fields(self._values.get(key), key, self._complaints, self)

    def whole(self, key: str, low: int = 0) -> int | None:
        """A whole number from `low` to the largest that a column can hold."""
        plain = self._values.get(key)
        if type(plain) is int and low <= plain <= INT64_MAX:  # as nearly all are
            return plain
        value = self._number(key, low, INT64_MAX)
        if value is not None and int(value) != value:
            self._complain(self._name(key), value)
            return None
        return None if value is None else int(value)

    def real(self, key: str, low: float = 0) -> float | None:
        """A finite number from `low` on."""
        plain = self._values.get(key)
        if type(plain) is float and low <= plain <= _FLOAT_LIMIT:  # as nearly all are; nan is not
            return plain
        value = self._number(key, low, _FLOAT_LIMIT)
        return None if value is None else float(value)

    def _number(self, key: str, low: float, high: float) -> int | float | None:
        value = self._values.get(key)
        if value is None:
            return None
        if type(value) in _NUMBERS and low <= value <= high:
            number: int | float = value
            return number
        if isinstance(value, float) and not math.isfinite(value):
            self._complaints.not_a_number.append(self._name(key))
            return None
        self._complain(self._name(key), value)
        return None

    def text(self, key: str) -> str | None:
        """A string that can be written as UTF-8; JSON's escapes allow others."""
        value = self._values.get(key)
        if value is None:
            return None
        if not isinstance(value, str):
            self._complain(self._name(key), value)
            return None
        return value.encode("utf-8", errors="replace").decode()

    def numbers(self, highest: float) -> tuple[Sequence[float], Sequence[float]]:
        """Keys and values of an object such as ``{"99.000000": 1176}``: numbers, the keys up to `highest`.

        Of two keys of one number the first counts.
        """
        if (plain := _plain_numbers(self._values, highest)) is not None:
            return plain
        found = dict(self._pairs(highest, float, self.real, frozenset()))
        return tuple(found), tuple(found.values())

    def counts(self, highest: int, aside: Set[str] = frozenset()) -> tuple[np.ndarray, np.ndarray]:
        """The pairs of an object such as ``{"1176": 3}``: whole numbers, the keys up to `highest`.

        Keys that stand `aside` are no numbers, and in order; of two keys of one number the first counts.

        Returns
        -------
        numbers, counts : ndarray of int64
        """
        if not aside & self._values.keys() and (plain := _plain_counts(self._values, highest)) is not None:
            return plain
        found = dict(self._pairs(highest, int, self.whole, aside))
        return np.array(list(found), np.int64), np.array(list(found.values()), np.int64)

    def _pairs(
        self,
        highest: float,
        parse: Callable[[str], Number],
        read: Callable[[str], Number | None],
        aside: Set[str],
    ) -> Iterator[tuple[Number, Number]]:
        seen: set[Number] = set()
        for key in self._values:
            if key in aside:
                continue
            value = read(key)
            try:
                number = parse(key)
            except ValueError:
                number = None
            if number is None or not 0 <= number <= highest or number in seen:
                self._complain(self._path, key)
            elif value is not None:
                seen.add(number)
                yield number, value

    @property
    def _path(self) -> str:
        return self._key if self._above is None else self._above._name(self._key)

    def _name(self, key: str) -> str:
        path = self._path
        return f"{path}.{key}" if path else key

    def _complain(self, name: str, value: Any) -> None:
        self._complaints.unexpected.append(f"{name} = {reprlib.repr(value)}")


def _plain_numbers(
    values: Mapping[str, Any], highest: float
) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """As :func:`_plain_counts`, of numbers that may be broken."""
    told = values.values()
    if not told or set(map(type, told)) - _NUMBERS or min(told) < 0 or not max(told) <= _FLOAT_LIMIT:
        return None
    if math.isnan(sum(told)):  # which is neither less nor more than anything
        return None
    find = _rising_as_before if len(values) <= _SHORT else _rising
    numbers = find(tuple(values), highest)
    return None if numbers is None else (numbers, tuple(map(float, told)))


def _rising(keys: tuple[str, ...], highest: float) -> tuple[float, ...] | None:
    """The numbers that keys are; None where they are none, or do not rise up to `highest`."""
    try:
        numbers = tuple(map(float, keys))
    except ValueError:
        return None
    rise = all(low < high for low, high in pairwise(numbers))
    return numbers if rise and (not numbers or 0 <= numbers[0] <= numbers[-1] <= highest) else None


_rising_as_before = lru_cache(maxsize=256)(_rising)  # a thousand files tell the same percentiles


def _plain_counts(values: Mapping[str, Any], highest: int) -> tuple[np.ndarray, np.ndarray] | None:
    """The same as pairs of numbers, where all are as they should be: each is not looked at by itself."""
    counts = list(values.values())
    if set(map(type, counts)) - {int}:
        return None
    try:
        numbers, n = np.array(list(map(int, values)), np.int64), np.array(counts, np.int64)
    except (ValueError, OverflowError):
        return None
    if len(n) and (n.min() < 0 or numbers[0] < 0 or numbers[-1] > highest or (np.diff(numbers) <= 0).any()):
        return None
    return numbers, n
