"""The measurement file: an experiment in YAML.

What stands at the top holds for every setup; a setup says what is different. ``docs/measurement-file.md``
has every key, made from the module ``spec`` beside this one, and ``campaigns/`` has examples.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from azbenchlib.campaign import kinds
from azbenchlib.campaign.spec import Experiment
from azbenchlib.campaign.workloads import check_names
from azbenchlib.errors import InputError

_TOP = ("title", "about", "region", "features", "setups")
_OF_A_SETUP = ("vm", "zone", "image", "security_type", "rest", "as_of", "disks", "workloads")


def load(path: Path | str) -> Experiment:
    """Read a measurement file.

    Parameters
    ----------
    path : path-like
        YAML; job files that it names lie in its folder or below.

    Returns
    -------
    Experiment
        With the text of the job files in it.

    Raises
    ------
    InputError
        Naming the file, the key and what is wrong with its value.
    """
    path = Path(path)
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    except yaml.YAMLError as error:
        raise InputError(f"{path}: is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict):
        raise InputError(
            f"{path}: is not a measurement file: it needs title, region, vm, disks and workloads"
        )
    try:
        return Experiment.model_validate(_resolved(content, path.parent))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        said = first["msg"].removeprefix("Value error, ")
        given = first.get("input")
        shown = f" '{given}'" if isinstance(given, str | int | float) else ""
        raise InputError(f"{path}: {place}{shown}: {said}") from error
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _resolved(content: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The content with every setup complete."""
    _known(content, (*_TOP, *_OF_A_SETUP), "the file")
    common = {key: content[key] for key in _OF_A_SETUP if key in content}
    setups = content.get("setups") or [{"name": "setup"}]
    if not isinstance(setups, list) or not all(isinstance(setup, dict) for setup in setups):
        raise InputError("setups: must be a list, each with a name")
    return {
        "title": content.get("title"),
        "about": str(content.get("about") or "").strip(),
        "region": content.get("region"),
        "features": content.get("features") or (),
        "setups": [_setup(common, setup, folder) for setup in setups],
    }


def _setup(common: Mapping[str, Any], own: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    where = f"setup '{own.get('name')}'"
    _known(own, ("name", "label", *_OF_A_SETUP), where)
    merged = {**common, **own}
    disks = _mapping(merged.get("disks"), f"{where}: disks")
    known = _mapping(common.get("disks"), "disks")
    zone = merged.get("zone")
    return {
        "name": own.get("name"),
        "label": own.get("label"),
        "vm": merged.get("vm"),
        "zone": None if zone is None else str(zone),
        **{key: merged[key] for key in ("image", "security_type", "rest") if key in merged},
        "as_of": None if merged.get("as_of") is None else str(merged["as_of"]),
        "disks": {name: {**(known.get(name) or {}), **(disk or {})} for name, disk in disks.items()},
        "tasks": _tasks(merged.get("workloads"), where, folder),
    }


def _tasks(given: object, where: str, folder: Path) -> list[dict[str, Any]]:
    tasks: list[dict[str, Any]] = []
    named: list[kinds.AnyWorkload] = []
    for name, options in _mapping(given, f"{where}: workloads").items():
        options = dict(_mapping(options, f"{where}: workload '{name}'"))
        disks = options.pop("disks", ())
        try:
            workload = kinds.of(str(name), options, folder)
        except InputError as error:
            raise InputError(f"{where}: workload '{name}': {error}") from error
        named.append(workload)
        tasks.append({"workload": workload, "disks": (disks,) if isinstance(disks, str) else disks})
    check_names(named)
    return tasks


def _mapping(given: object, where: str) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise InputError(f"{where}: must be names with what each is")
    return given


def _known(given: Mapping[str, Any], keys: tuple[str, ...], where: str) -> None:
    if unknown := [key for key in given if key not in keys]:
        raise InputError(f"{where}: no key '{unknown[0]}'; the keys are: {', '.join(keys)}")
