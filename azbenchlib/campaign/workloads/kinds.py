"""The kinds of workloads that a measurement file can name, and what its lists stand for."""

from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from azbenchlib.campaign.workloads.fio_options import shown
from azbenchlib.campaign.workloads.grid import Workload
from azbenchlib.campaign.workloads.iozone import Iozone
from azbenchlib.campaign.workloads.jobfile import JobFile
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import fio_size_text, parse_size

AnyWorkload = Workload | JobFile | Iozone


def of(name: str, options: Mapping[str, Any], folder: Path, trusted: bool = False) -> AnyWorkload:
    """A workload from what a measurement file says of it; job files lie in `folder` or below.

    `trusted`: whether job files are one's own and may use every option of fio.

    Raises an InputError when it cannot be run.
    """
    if "job" in options:
        return JobFile.load(name, options, folder, trusted)
    if "iozone" not in options:
        return Workload.of(name, options)
    if more := [key for key in options if key != "iozone"]:
        raise InputError(f"no key '{more[0]}'; with iozone there are: iozone, disks", keys=(more[0],))
    if not isinstance(options["iozone"], dict):
        raise InputError("iozone: must be names with values, such as {file_sizes: [1GiB]}", keys=("iozone",))
    try:
        return Iozone.of(name, options["iozone"])
    except InputError as error:
        raise InputError(str(error), keys=("iozone", *error.keys)) from error


EXCLUDE = "exclude"  # the key that leaves combinations out
MOST_IN_FILE = 5000  # of a measurement file: at a minute each they last three and a half days
# Keys that may be lists, and what each value is called in the name of a workload.
_CALLED = {
    "rw": "{}".format,
    "bs": lambda size: fio_size_text(parse_size(str(size))),
    "iodepth": "qd{}".format,
    "numjobs": "j{}".format,
    "rwmixread": "mix{}".format,
}
LISTS = tuple(_CALLED)


def check_count(runs: int, of: str, keys: tuple[str | int, ...] = ()) -> None:
    """Refuse more runs than a measurement file may have.

    Raises an InputError with the number and the limit.
    """
    if runs > MOST_IN_FILE:
        raise InputError(
            f"{of} makes {runs:,} runs, and a measurement file may have {MOST_IN_FILE:,}; shorten its lists, "
            "leave combinations out with exclude, or split the file",
            keys=keys,
        )


def combinations(name: str, given: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What a workload stands for: itself, or one for each combination of its lists.

    Its keys ``rw``, ``bs``, ``iodepth``, ``numjobs`` and ``rwmixread`` may be lists, and ``exclude`` is a
    list of combinations that are left out. What differs between combinations is added to its name, as
    ``read-64k-qd8``.

    Raises an InputError for a list where none may be, a value that is there twice, more than
    :data:`MOST_IN_FILE` combinations, and an ``exclude`` that fits no combination or all.
    """
    if "job" in given or "iozone" in given:  # they say their own combinations
        yield name, dict(given)
        return
    lists = {key: _values(key, value) for key, value in given.items() if key in _CALLED}
    rest = {key: value for key, value in given.items() if key not in (*_CALLED, EXCLUDE)}
    if wrong := next((key for key, value in rest.items() if isinstance(value, list)), ""):
        raise InputError(f"{shown(wrong)}: no list is taken here; lists may be: {_choices()}", keys=(wrong,))
    check_count(prod(map(len, lists.values())), f"workload '{shown(name)}'")
    left_out = _excluded(given.get(EXCLUDE), lists)
    told = [key for key, values in lists.items() if len(values) > 1]
    made = False
    for values in product(*lists.values()):
        one = dict(zip(lists, values, strict=True))
        if any(all(one[key] in entry[key] for key in entry) for entry in left_out):
            continue
        made = True
        yield "-".join([name, *(_call(key, one[key]) for key in told)]), {**rest, **one}
    if not made:
        raise InputError(f"{EXCLUDE}: leaves no combination", keys=(EXCLUDE,))


def _values(key: str, value: Any) -> list[Any]:
    values = value if isinstance(value, list) else [value]
    if not values:
        raise InputError(f"{key}: the list is empty; give at least one value", keys=(key,))
    for one in values:
        if isinstance(one, list | dict):
            raise InputError(f"{key}: must be a value or a list of values", keys=(key,))
        if values.count(one) > 1:
            raise InputError(f"{key}: '{shown(str(one))}' is there twice; keep one", keys=(key,))
    return values


def _call(key: str, value: Any) -> str:
    try:
        return _CALLED[key](value)
    except InputError as error:
        raise InputError(f"{key}: {error}", keys=(key,)) from error


def _excluded(given: Any, lists: Mapping[str, list[Any]]) -> list[dict[str, list[Any]]]:
    """The combinations that are left out: for each key, the values that it must have."""
    entries = [given] if isinstance(given, dict) else given or []
    if not isinstance(entries, list) or not all(isinstance(entry, dict) and entry for entry in entries):
        raise InputError(
            f"{EXCLUDE}: must be a list of combinations, as [{{bs: 64k, iodepth: 64}}]", keys=(EXCLUDE,)
        )
    found = []
    for entry in entries:
        if unknown := next((key for key in entry if len(lists.get(key, ())) < 2), ""):
            several = [key for key, values in lists.items() if len(values) > 1]
            choice = (
                f"the lists are: {', '.join(several)}" if several else f"no key has a list; {_choices()} may"
            )
            raise InputError(f"{EXCLUDE}: '{shown(unknown)}' has no list here; {choice}", keys=(EXCLUDE,))
        values = {key: _values(key, value) for key, value in entry.items()}
        for key, wanted in values.items():
            if strange := next((one for one in wanted if one not in lists[key]), None):
                choice = ", ".join(map(str, lists[key]))
                raise InputError(
                    f"{EXCLUDE}: {key} '{shown(str(strange))}' is not in its list: {choice}", keys=(EXCLUDE,)
                )
        found.append(values)
    return found


def _choices() -> str:
    return ", ".join(_CALLED)
