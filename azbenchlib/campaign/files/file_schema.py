"""The JSON Schema of the measurement file, by which editors complete and check it.

It says what a file may hold; what fits together is checked when the file is read.
"""

from typing import Any

from azbenchlib.campaign.files import disk_spec
from azbenchlib.campaign.files.disk_spec import DiskSpec
from azbenchlib.campaign.files.spec import Experiment, SetupSpec
from azbenchlib.campaign.workloads import fio_options, kinds
from azbenchlib.campaign.workloads.grid import PATTERNS
from azbenchlib.campaign.workloads.iozone import PASSES
from azbenchlib.core.choices import HOST_CACHING, ROLES

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_CHOICES = {
    "role": ROLES,
    "sku": disk_spec.SKUS,
    "caching": HOST_CACHING,
    "placement": disk_spec.EPHEMERAL_PLACEMENTS,
}
_SIZE = {"type": ["string", "integer"], "description": "such as 4k, 64KiB or 1024GiB; powers of 1024"}
_NAMED = {"pattern": "^[a-z][a-z0-9-]{0,29}$"}
_OF_DISKS = {
    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
    "description": "the disks that the workload drives, one after the other; without it, all of the setup",
}
_IN_THE_FILE = {"tasks"}  # what a file calls otherwise


def document() -> dict[str, Any]:
    """The schema as plain values."""
    setup, setups = _setup_keys(), Experiment.model_fields["setups"]
    top = {**_keys(Experiment, {"setups"}), **setup}
    one = {
        "type": "object",
        "properties": {"name": {"type": "string", **_NAMED}, "label": {"type": "string"}, **setup},
        "required": ["name"],
        "additionalProperties": False,
    }
    return {
        "$schema": DIALECT,
        "title": "Measurement file of azbench",
        "type": "object",
        "properties": {
            **top,
            "setups": {"type": "array", "items": one, "description": setups.description},
        },
        "required": ["title", "region"],
        "additionalProperties": False,
    }


def _setup_keys() -> dict[str, Any]:
    """What holds for every setup at the top of a file, and for one in it."""
    keys = _keys(SetupSpec, {"name", "label", "disks", *_IN_THE_FILE})
    keys["zone"] = {**keys["zone"], "type": ["string", "integer"]}
    keys["zone"].pop("pattern", None)
    disk = {"type": ["object", "null"], "properties": _disk_keys(), "additionalProperties": False}
    return {
        **keys,
        "disks": {
            "type": "object",
            "description": "disks by name; those that a setup names are all it has",
            "propertyNames": _NAMED,
            "additionalProperties": disk,
        },
        "workloads": {
            "type": "object",
            "description": "workloads by name",
            "additionalProperties": {"anyOf": [_fio(), _job_file(), _iozone()]},
        },
    }


def _keys(kind: type[Experiment | SetupSpec | DiskSpec], without: set[str]) -> dict[str, Any]:
    """The keys of a part of the file, as pydantic describes them, without its titles and nulls."""
    made = kind.model_json_schema()
    return {
        name: _plain(entry, made.get("$defs", {}))
        for name, entry in made["properties"].items()
        if name not in without
    }


def _plain(entry: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    found = {key: value for key, value in entry.items() if key not in ("title", "anyOf", "$ref")}
    if found.get("default", 0) is None:
        del found["default"]
    for choice in entry.get("anyOf", ()):
        if choice.get("type") != "null":
            found |= {key: value for key, value in choice.items() if key != "title"}
    if "$ref" in entry:
        found |= known[entry["$ref"].rpartition("/")[2]]
    return found


def _disk_keys() -> dict[str, Any]:
    keys = _keys(DiskSpec, set())
    for name, choices in _CHOICES.items():
        keys[name] = {**keys[name], "enum": list(choices)}
    for name in ("size", "stripe"):
        keys[name] = {**_SIZE, "description": keys[name].get("description", _SIZE["description"])}
    keys["zone"] = {"type": ["string", "integer"], "description": keys["zone"]["description"]}
    return keys


def _fio() -> dict[str, Any]:
    """A workload by options; those that may be lists make a matrix."""
    own: dict[str, dict[str, Any]] = {
        "rw": {"enum": list(PATTERNS), "description": "pattern"},
        "bs": {**_SIZE, "description": "size of one I/O"},
        "size": {**_SIZE, "description": "data touched"},
        "runtime": {"type": ["number", "string"], "description": "seconds measured"},
        "ramp_time": {"type": ["number", "string"], "description": "seconds left out before that"},
        "iodepth": {"type": "integer", "minimum": 1, "description": "outstanding I/Os of each job"},
        "numjobs": {"type": "integer", "minimum": 1, "description": "jobs side by side"},
        "ioengine": {"enum": list(fio_options.ENGINES)},
        "direct": {"type": ["boolean", "integer"], "description": "bypass the page cache"},
    }
    options = {
        name: {"type": ["string", "number", "boolean"], "description": kind.what}
        for name, kind in fio_options.OPTIONS.items()
        if name not in own
    }
    single = {**options, **own}
    several = {
        name: {
            "description": f"{single[name].get('description', name)}; a list makes a matrix",
            "anyOf": [
                single[name],
                {"type": "array", "items": single[name], "minItems": 1, "uniqueItems": True},
            ],
        }
        for name in kinds.LISTS
    }
    out = {"type": "object", "propertyNames": {"enum": list(kinds.LISTS)}, "minProperties": 1}
    return {
        "type": "object",
        "properties": {
            **single,
            **several,
            "disks": _OF_DISKS,
            "find": {"type": "string", "description": "a search, such as: max_iops where p99 < 2ms"},
            kinds.EXCLUDE: {
                "anyOf": [out, {"type": "array", "items": out}],
                "description": "combinations of a matrix that are left out",
            },
        },
        "required": ["rw", "bs", "size", "runtime"],
        "additionalProperties": False,
    }


def _job_file() -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "job": {
                "type": "string",
                "description": "a job file of fio, in the folder of this file or below",
            },
            "runtime": {"type": ["number", "string"], "description": "seconds after which it is ended"},
            "disks": _OF_DISKS,
        },
        "required": ["job"],
        "additionalProperties": False,
    }


def _iozone() -> dict[str, Any]:
    sizes = {"anyOf": [_SIZE, {"type": "array", "items": _SIZE}]}
    tests = {"enum": list(PASSES)}
    inner = {
        "type": "object",
        "properties": {
            "tests": {"anyOf": [tests, {"type": "array", "items": tests}]},
            "records": {**sizes, "description": "record sizes; auto: 4 KiB to 16 MiB"},
            "file_sizes": {**sizes, "description": "of each process"},
            "direct": {"type": "boolean", "description": "bypass the page cache"},
            "threads": {
                "type": "integer",
                "minimum": 1,
                "maximum": 256,
                "description": "processes side by side",
            },
        },
        "required": ["file_sizes"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"iozone": inner, "disks": _OF_DISKS},
        "required": ["iozone"],
        "additionalProperties": False,
    }
