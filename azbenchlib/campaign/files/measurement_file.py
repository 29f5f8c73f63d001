"""A measurement file describes an experiment in YAML.

What stands at the top holds for every setup; a setup says what is different. ``docs/measurement-file.md``
has every key, made from the module ``spec`` beside this one, and ``campaigns/`` has examples.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from azbenchlib.campaign.design import blocks, figures, search
from azbenchlib.campaign.files import yaml_file
from azbenchlib.campaign.files.spec import Experiment
from azbenchlib.campaign.files.yaml_file import Keys, YamlFile
from azbenchlib.campaign.workloads import base, kinds
from azbenchlib.campaign.workloads.fio_options import shown
from azbenchlib.campaign.workloads.grid import check_names
from azbenchlib.core.errors import InputError
from azbenchlib.core.locations import named_folders
from azbenchlib.core.nearest import choices

SUFFIX = ".yaml"
MOST_REPEATS = 20  # where a file says until, and no repeats
_PLACE = ("outbound", "group", "subnet")
_LIMITS = ("max_hours", "max_cost", "at_once")
_TOP = ("title", "about", "region", "features", *_PLACE, *_LIMITS, "seed", "setups")
# taken as they are
_PLAIN = ("image", "security_type", "controller", "priority", "rest", "repeats", "until", "warm_up")
_OF_A_SETUP = ("vm", "zone", *_PLAIN, "otherwise", "as_of", "disks", "workloads")


def find(name: Path | str) -> Path:
    """A measurement file given by its path, or by its name: ``ultra-disk``.

    Raises an InputError when there is no file of that name here nor among those that come with azbench.
    """
    path = Path(name)
    if path.exists() or path.name != str(name):
        return path  # what is wrong with it is told when it is read
    folders = named_folders("campaigns")
    for folder in folders:
        for file in (folder / path.name, folder / f"{path.name}{SUFFIX}"):
            if file.is_file():
                return file
    known = {file.stem for folder in folders for file in folder.glob(f"*{SUFFIX}")}
    raise InputError(f"no measurement file '{name}': no such file, and {choices(path.stem, known)}")


def load(
    path: Path | str,
    trust_job_files: bool = False,
    repeats: int = 0,
    rehearsal: tuple[float, int] | None = None,
) -> Experiment:
    """Read a measurement file, with the text of the job files that it names.

    These lie in its folder or below. `path` may be a name, as of :func:`find`. `trust_job_files`: whether the
    job files are one's own and may use every option of fio, those that start programs and open other files
    included. `repeats`: how often each workload is measured, whatever the file says; 0: as it says.
    `rehearsal`: seconds that a workload lasts at most, and bytes that it touches at most.

    Raises an InputError naming the file, the line, the key and what is wrong with its value.
    """
    path = find(path)
    document = yaml_file.read(path)
    if not isinstance(document.content, dict):
        raise InputError(
            f"{path}: is not a measurement file: it needs title, region, vm, disks and workloads"
        )
    try:
        resolved = _resolved(document.content, path.parent, trust_job_files)
        for setup in resolved["setups"] if repeats else ():
            setup["repeats"] = repeats
        experiment = Experiment.model_validate(resolved)
        _check_count(experiment)
        whole = blocks.repeated(experiment)
        return whole.shortened(*rehearsal) if rehearsal else whole
    except ValidationError as error:
        sentence, keys = _first_fault(error, document)
        raise InputError(f"{path}:{_line(document, keys)}: {sentence}") from error
    except InputError as error:
        raise InputError(f"{path}:{_line(document, error.keys)}: {error}") from error


def _line(document: YamlFile, keys: Keys) -> int:
    """The line of a key; what a setup does not say itself stands at the top of the file."""
    own = document.line(keys)
    if keys[:1] == ("setups",) and len(keys) > 2:
        said = next((n for n in range(len(keys), 2, -1) if keys[:n] in document.lines), 2) - 2
        above = keys[2:]
        known = next((n for n in range(len(above), 0, -1) if above[:n] in document.lines), 0)
        return own if said >= known else document.line(above)
    return own


def _first_fault(error: ValidationError, document: YamlFile) -> tuple[str, Keys]:
    """What pydantic found first, in words, and the keys that lead to it in the file."""
    first = error.errors()[0]
    keys = tuple("workloads" if part == "tasks" else part for part in first["loc"])
    place = ".".join(map(str, keys)) or "the file"
    if keys[:1] == ("setups",) and len(keys) > 1 and not document.content.get("setups"):
        place = ".".join(map(str, keys[2:])) or "the file"
    given = first.get("input")
    value = f" '{shown(str(given))}'" if isinstance(given, str | int | float) else ""
    return f"{place}{value}: {first['msg'].removeprefix('Value error, ')}", keys


@contextmanager
def _at(*keys: str | int, says: str = "") -> Iterator[None]:
    """Add to an error where it is, for those who read it (`says`) and for finding its line."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{says}{error}", keys=(*keys, *error.keys)) from error


def _resolved(content: Mapping[str, Any], folder: Path, trusted: bool) -> dict[str, Any]:
    """The content with every setup complete."""
    _known(content, (*_TOP, *_OF_A_SETUP), "the file")
    common = {key: content[key] for key in _OF_A_SETUP if key in content}
    setups = content.get("setups") or [{"name": "setup"}]
    if not isinstance(setups, list) or not all(isinstance(setup, dict) for setup in setups):
        raise InputError("setups: must be a list, each with a name", keys=("setups",))
    resolved = []
    for number, setup in enumerate(setups):
        with _at("setups", number):
            resolved.append(_setup(common, setup, folder, trusted))
    return {
        "title": content.get("title"),
        "about": _text(content.get("about"), "about").strip(),
        "region": content.get("region"),
        "features": content.get("features") or (),
        "seed": content.get("seed"),
        **{key: content[key] for key in (*_PLACE, *_LIMITS) if key in content},
        "setups": resolved,
    }


def _setup(common: Mapping[str, Any], own: Mapping[str, Any], folder: Path, trusted: bool) -> dict[str, Any]:
    where = f"setup '{shown(str(own.get('name')))}'"
    _known(own, ("name", "label", *_OF_A_SETUP), where)
    merged = {**common, **own}
    if merged.get("until") and "repeats" not in merged:
        merged["repeats"] = MOST_REPEATS
    known = _mapping(common.get("disks"), "disks", "disks")
    disks = {}
    for name, disk in _mapping(merged.get("disks"), f"{where}: disks", "disks").items():
        above = _mapping(known.get(name), f"disk '{shown(name)}'", "disks", name)
        disks[name] = {**above, **_mapping(disk, f"{where}: disk '{shown(name)}'", "disks", name)}
    zone = merged.get("zone")
    return {
        "name": own.get("name"),
        "label": own.get("label"),
        "vm": merged.get("vm"),
        "zone": None if zone is None else str(zone),
        **{key: merged[key] for key in _PLAIN if key in merged},
        "otherwise": _otherwise(merged.get("otherwise")),
        "as_of": merged.get("as_of"),
        "disks": disks,
        "tasks": _tasks(merged.get("workloads"), where, folder, trusted),
    }


def _otherwise(given: object) -> list[object]:
    """Other sizes and zones; a zone is often written as a number."""
    if given is not None and not isinstance(given, list):
        raise InputError("otherwise: must be a list, each with vm or zone", keys=("otherwise",))
    return [
        {key: str(value) if key == "zone" else value for key, value in one.items()}
        if isinstance(one, dict)
        else one
        for one in given or []
    ]


def _tasks(given: object, where: str, folder: Path, trusted: bool) -> list[dict[str, Any]]:
    tasks: list[dict[str, Any]] = []
    named: list[kinds.AnyWorkload] = []
    for name, said in _mapping(given, f"{where}: workloads", "workloads").items():
        at = f"{where}: workload '{shown(name)}'"
        options = dict(_mapping(said, at, "workloads", name))
        disks = options.pop("disks", ())
        with _at("workloads", name, says=f"{at}: "):
            _check_name(name)
            find, along = _search(options)
            combined = list(kinds.combinations(name, options))
            made = [kinds.of(one, keys, folder, trusted) for one, keys in combined]
            named += made
            ladders = _ladders([keys for _, keys in combined], [work.name for work in made], along)
            tasks += [
                {"workload": work, "disks": _names(disks), "find": find, "ladder": ladder}
                for work, ladder in zip(made, ladders, strict=True)
            ]
    with _at("workloads"):
        check_names(named)
    return tasks


def _search(options: dict[str, Any]) -> tuple[str, str]:
    """What a workload is to find, and the list that it is searched along: queue depths, else jobs."""
    find = str(options.pop("find", ""))
    if not find:
        return "", ""
    try:
        search.Condition.of(find)
    except ValueError as error:
        raise InputError(f"find '{shown(find)}' {error}", keys=("find",)) from error
    jobs = "numjobs" if isinstance(options.get("numjobs"), list) else ""
    along = jobs if jobs and not isinstance(options.get("iodepth"), list) else "iodepth"
    steps = options.setdefault(along, list(search.DEPTHS))
    whole = isinstance(steps, list) and len(steps) > 1 and all(type(step) is int for step in steps)
    if not whole or steps != sorted(steps) or "job" in options or "iozone" in options:
        raise InputError(
            "find: searches a list that grows, of iodepth or of numjobs, such as [1, 2, 4, 8]; without one, "
            "iodepth from 1 to 256",
            keys=(along if along in options else "find",),
        )
    return find, along


def _ladders(combined: list[dict[str, Any]], called: list[str], along: str) -> list[tuple[str, ...]]:
    """For each workload, those that it is searched among: all that differ in one list only."""
    if not along:
        return [()] * len(called)
    apart = [tuple(keys.get(key) for key in kinds.LISTS if key != along) for keys in combined]
    return [tuple(name for name, other in zip(called, apart, strict=True) if other == mine) for mine in apart]


def _check_name(name: str) -> None:
    """Refuse a name that a repeat or a warm-up would have."""
    if which := base.which(name):
        key = "warm_up" if base.warm_up_of(name)[1] else "repeats"
        raise InputError(
            f"the name is that of {which.lstrip(', ')} of '{shown(base.workload_of(name))}'; take another, "
            f"or say {key}"
        )


def line_of(path: Path, keys: Keys) -> str:
    """Where a measurement file says what keys lead to, as ``FILE:LINE: ``; empty where it does not.

    Setups may be told by their names.
    """
    document = yaml_file.read(path)
    named = document.content.get("setups") or [] if isinstance(document.content, dict) else []
    numbers = {setup.get("name"): number for number, setup in enumerate(named) if isinstance(setup, dict)}
    told = keys[:1] == ("setups",) and len(keys) > 1
    found = ("setups", numbers.get(keys[1], 0), *keys[2:]) if told else keys
    said = told or found in document.lines
    return f"{path}:{_line(document, found)}: " if said else ""


def _check_count(experiment: Experiment) -> None:
    """Refuse a file of more runs than anybody means."""
    runs = 0
    for number, setup in enumerate(experiment.setups):
        each = setup.repeats + (figures.MOST_WARM_UPS if setup.warm_up else 0)
        runs += each * sum(len(setup.driven(task)) for task in setup.tasks)
        key = "repeats" if setup.repeats > 1 else "workloads"
        kinds.check_count(runs, "the file", ("setups", number, key))


def _names(given: object) -> tuple[str, ...]:
    """The disks that a workload names, one or several."""
    names = [given] if isinstance(given, str) else given or ()
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise InputError("disks: must be the name of a disk, or a list of names", keys=("disks",))
    return tuple(names)


def _mapping(given: object, where: str, *keys: str) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise InputError(f"{where}: must be names with what each is", keys=keys)
    return given


def _text(given: object, key: str) -> str:
    if isinstance(given, dict | list):
        raise InputError(f"{key}: must be text", keys=(key,))
    return str(given or "")


def _known(given: Mapping[str, Any], keys: tuple[str, ...], where: str) -> None:
    if unknown := [key for key in given if key not in keys]:
        raise InputError(
            f"{where}: no key '{shown(unknown[0])}'; the keys are: {', '.join(keys)}", keys=(unknown[0],)
        )
