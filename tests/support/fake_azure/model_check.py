"""Tells where answers of the resource manager differ from what az takes them for.

Run by azure-cli's own interpreter: reads a JSON object a line, with method, path, version and body, and
writes a JSON list of differences for each. What judges is the schema that az itself has for the request
(AAZ), of the same version of the API; and, for compute and what az asks through a library, the models of
azure-mgmt, whose docstrings tell the type and the values of each field. Where there is neither, that is a
difference too. Uses no network.
"""

import importlib
import json
import re
import sys
from collections.abc import Iterable, Iterator
from datetime import datetime
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import azure.cli.command_modules
from azure.cli.core.aaz import AAZAnyType, AAZListType, AAZObjectType
from azure.cli.core.aaz._field_type import AAZBaseDictType

MODULES = Path(azure.cli.command_modules.__file__).parent
SCHEMAS = ("lab", "monitor", "network", "vm")  # modules of az whose commands have schemas of their own
IN, GROUP = "/subscriptions/[^/]+", "/subscriptions/[^/]+/resourcegroups/[^/]+"
VM = f"{GROUP}/providers/microsoft.compute/virtualmachines/[^/]+"
ACCOUNT = f"{GROUP}/providers/microsoft.storage/storageaccounts/[^/]+"
DEPLOYMENTS = f"{GROUP}/providers/microsoft.resources/deployments"
RIGHTS = f"{GROUP}/providers/microsoft.authorization"
# Which model a path is of, in lower case: the package below azure.mgmt, and the class.
MODELS = {
    GROUP: "resource.resources.v2024_11_01 ResourceGroup",
    f"{IN}/resourcegroups": "resource.resources.v2024_11_01 ResourceGroupListResult",
    f"{IN}/resources": "resource.resources.v2024_11_01 ResourceListResult",
    f"{IN}/providers/[a-z.]+(/register)?": "resource.resources.v2024_11_01 Provider",
    f"{VM}/providers/microsoft.resources/tags/default": "resource.resources.v2024_11_01 TagsResource",
    f"{IN}/providers/microsoft.features/.*/features/.+": "resource.features.v2021_07_01 FeatureResult",
    DEPLOYMENTS: "resource.deployments DeploymentListResult",
    f"{DEPLOYMENTS}/[^/]+": "resource.deployments DeploymentExtended",
    ACCOUNT: "storage StorageAccount",
    f"{ACCOUNT}/listkeys": "storage StorageAccountListKeysResult",
    f"{IN}/providers/microsoft.storage/checknameavailability": "storage CheckNameAvailabilityResult",
    f"{RIGHTS}/roleassignments/[^/]+": "authorization RoleAssignment",
    f"{RIGHTS}/permissions": "",  # a page of Permission, of which the library has no model
    f"{IN}/providers/microsoft.authorization/roledefinitions/[^/]+": "authorization RoleDefinition",
    VM: "compute.v2024_11_01 VirtualMachine",
    f"{VM}/runcommands/[^/]+": "compute.v2024_11_01 VirtualMachineRunCommand",
    f"{GROUP}/providers/microsoft.compute/disks/[^/]+": "compute.v2024_03_02 Disk",
}
PLAIN: dict[str, Any] = {"str": str, "int": int, "bool": bool, "float": (int, float)}


@cache
def schemas_of_az() -> list[tuple[str, re.Pattern[str], str, Path, str]]:
    """Method, path, version, file and class of each request for which az has a schema."""
    found = []
    for file in (file for name in SCHEMAS for file in (MODULES / name / "aaz" / "latest").rglob("_*.py")):
        for part in re.split(r"^    class (?=\w+\(AAZHttpOperation\))", file.read_text(), flags=re.M)[1:]:
            method = re.search(r"def method\(self\):\s+return \"(\w+)\"", part)
            url = re.search(r"format_url\(\s+\"([^\"]+)\"", part)
            version = re.search(r"\"api-version\", \"([^\"]+)\"", part)
            if method and url and version and "_build_schema_on_20" in part:
                place = re.sub(r"^/\{\w+\}/", "/.+/", url[1])  # of any resource
                path = re.compile(re.sub(r"\{\w+\}", "[^/]+", place), re.IGNORECASE)
                found.append((method[1], path, version[1], file, part[: part.index("(")]))
    return found


def schema_for(method: str, path: str, version: str) -> Any:
    """The schema with which az reads the answer to a request, at best of that version."""
    known = sorted(schemas_of_az(), key=lambda one: (one[2] == version, one[2]), reverse=True)
    for its_method, pattern, _, file, name in known:
        if its_method == method and pattern.fullmatch(path):
            parts = file.relative_to(MODULES).with_suffix("").parts
            module = importlib.import_module(f"azure.cli.command_modules.{'.'.join(parts)}")
            for operation in (getattr(command, name, None) for command in vars(module).values()):
                for built in (one for one in dir(operation) if one.startswith("_build_schema_on_20")):
                    return getattr(operation, built)()
    return None


def by_schema(schema: Any, value: Any, where: str) -> Iterator[str]:
    """Differences of a value from a schema of az."""
    if value is None or isinstance(schema, AAZAnyType):
        return
    is_object, is_list = isinstance(schema, AAZObjectType), isinstance(schema, AAZListType)
    kind = dict if is_object or isinstance(schema, AAZBaseDictType) else list if is_list else schema.DataType
    if not isinstance(value, kind):
        yield f"{where}: {value!r} is no {kind.__name__}"
        return
    parts: Iterable[tuple[Any, Any]] = ()
    if kind in (dict, list):
        parts = value.items() if kind is dict else enumerate(value)
    names = (
        {field._serialized_name or name: field for name, field in schema._fields.items()} if is_object else {}
    )
    for key, part in parts:
        if is_object and key not in names:
            yield f"{where}.{key}: az does not know it"
        else:
            yield from by_schema(names[key] if is_object else schema.Element, part, f"{where}.{key}")


@cache
def fields(model: type) -> dict[str, str]:
    """What each field of a model is, by its name in JSON; what is flattened has a dot in its name."""
    told = re.findall(r":vartype (\w+):\s+(.+?)(?=\n\s*:|\n\s*\"\"\"|\Z)", model.__doc__ or "", re.DOTALL)
    if hasattr(model, "_attribute_map"):
        names = {name: at["key"] for name, at in model._attribute_map.items()}
    else:
        model()  # makes the names of its fields known
        names = {name: field._rest_name for name, field in model._attr_to_rest_field.items()}  # type: ignore[attr-defined]
    return {names[name]: " ".join(kind.split()) for name, kind in told if name in names}


def by_model(model: type, value: Any, where: str) -> Iterator[str]:
    """Differences of a value from a model of a library."""
    if not isinstance(value, dict):
        yield f"{where}: {value!r} is no object"
        return
    known = fields(model)
    for key, part in value.items():
        is_flattened = isinstance(part, dict) and any(name.startswith(f"{key}.") for name in known)
        inner = {f"{key}.{name}": deeper for name, deeper in part.items()} if is_flattened else {key: part}
        for name, deeper in inner.items():
            if name in known:
                yield from by_type(known[name], deeper, f"{where}.{name}")
            else:
                yield f"{where}.{name}: {model.__name__} does not have it"


def by_type(kind: str, value: Any, where: str) -> Iterator[str]:
    """Differences of a value from a type as a docstring tells it."""
    if value is None:
        return
    if several := re.fullmatch(r"(list|dict)\[(?:str, )?(.*)\]", kind):
        if not isinstance(value, list if several[1] == "list" else dict):
            yield f"{where}: {value!r} is no {several[1]}"
            return
        for key, part in enumerate(value) if isinstance(value, list) else value.items():
            yield from by_type(several[2], part, f"{where}.{key}")
    elif named := re.search(r"~(azure\.mgmt\.[\w.]+)\.(\w+)$", kind):
        model = getattr(importlib.import_module(named[1]), named[2])
        if not issubclass(model, Enum):
            yield from by_model(model, value, where)
        elif value not in (values := {one.value for one in model}):
            yield f"{where}: {value!r} is none of {', '.join(sorted(values))}"
    elif not _is(kind, value):
        yield f"{where}: {value!r} is no {kind}"


def _is(kind: str, value: Any) -> bool:
    """Whether a plain value is of a type."""
    if kind == "~datetime.datetime":
        try:
            return bool(datetime.fromisoformat(value))
        except (TypeError, ValueError):
            return False
    if kind not in PLAIN:
        return True  # any JSON
    return isinstance(value, PLAIN[kind]) and isinstance(value, bool) == (kind == "bool")


def differences(method: str, path: str, version: str, body: Any) -> list[str]:
    """Where an answer differs from what az takes it for."""
    schema = schema_for(method, path, version)
    found = [] if schema is None else [*by_schema(schema, body, "")]
    model = next((name for of, name in MODELS.items() if re.fullmatch(of, path.lower().rstrip("/"))), None)
    if model:
        package, name = model.split()
        found += by_model(getattr(importlib.import_module(f"azure.mgmt.{package}.models"), name), body, "")
    return ["no model of it is known"] if schema is None and model is None else found


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(differences(**json.loads(line))), flush=True)
