"""The measurement file: an experiment in YAML.

What stands at the top holds for every setup; a setup says what is different. ``docs/measurement-file.md``
has every key, made from the module ``spec`` beside this one, and ``campaigns/`` has examples.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from azbenchlib.campaign import yaml_file
from azbenchlib.campaign.spec import Experiment
from azbenchlib.campaign.workloads import kinds
from azbenchlib.campaign.workloads.fio_options import shown
from azbenchlib.campaign.workloads.grid import check_names
from azbenchlib.campaign.yaml_file import Keys, YamlFile
from azbenchlib.core.errors import InputError

_TOP = ("title", "about", "region", "features", "setups")
_OF_A_SETUP = ("vm", "zone", "image", "security_type", "rest", "as_of", "disks", "workloads")


def load(path: Path | str, trust_job_files: bool = False) -> Experiment:
    """Read a measurement file.

    Parameters
    ----------
    path : path-like
        YAML; job files that it names lie in its folder or below.
    trust_job_files : bool
        Whether the job files are one's own and may use every option of fio, those that start programs and
        open other files included.

    Returns
    -------
    Experiment
        With the text of the job files in it.

    Raises
    ------
    InputError
        Naming the file, the line, the key and what is wrong with its value.
    """
    path = Path(path)
    document = yaml_file.read(path)
    if not isinstance(document.content, dict):
        raise InputError(
            f"{path}: is not a measurement file: it needs title, region, vm, disks and workloads"
        )
    try:
        resolved = _resolved(document.content, path.parent, trust_job_files)
        return Experiment.model_validate(resolved)
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
        "setups": resolved,
    }


def _setup(common: Mapping[str, Any], own: Mapping[str, Any], folder: Path, trusted: bool) -> dict[str, Any]:
    where = f"setup '{shown(str(own.get('name')))}'"
    _known(own, ("name", "label", *_OF_A_SETUP), where)
    merged = {**common, **own}
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
        **{key: merged[key] for key in ("image", "security_type", "rest") if key in merged},
        "as_of": merged.get("as_of"),
        "disks": disks,
        "tasks": _tasks(merged.get("workloads"), where, folder, trusted),
    }


def _tasks(given: object, where: str, folder: Path, trusted: bool) -> list[dict[str, Any]]:
    tasks: list[dict[str, Any]] = []
    named: list[kinds.AnyWorkload] = []
    for name, said in _mapping(given, f"{where}: workloads", "workloads").items():
        at = f"{where}: workload '{shown(name)}'"
        options = dict(_mapping(said, at, "workloads", name))
        disks = options.pop("disks", ())
        with _at("workloads", name, says=f"{at}: "):
            workload = kinds.of(name, options, folder, trusted)
            named.append(workload)
            tasks.append({"workload": workload, "disks": _names(disks)})
    with _at("workloads"):
        check_names(named)
    return tasks


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
