"""What the stand-in for Azure answers, held against what others recorded and what az takes it for.

The answers of every test that takes the fixture `azure` are; here is whether that would find a difference,
how operations begin and end, and whether the documentation tells of every command of az.
"""

import ast
import json
import re
from collections.abc import Callable, Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from fake_azure.arm import Logged
from fake_azure.campaigns import SMALL, measured
from fake_azure.identity import SUBSCRIPTION
from fake_azure.login import Azure
from fake_azure.recorded import ALWAYS, ASYNC, BEGINNINGS, LOCATION, OPERATION, ModelCheck, unlike
from fake_azure.routing import Answer, Request

from azbenchlib.campaign.targets.azure import cloud, money, vm

pytest_plugins = ("fake_azure.fixtures",)

ROOT = Path(__file__).parents[3]
GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/g"
NETWORK = f"{GROUP}/providers/Microsoft.Network"
DISK = f"{GROUP}/providers/Microsoft.Compute/disks/d"
ACCOUNT = f"{GROUP}/providers/Microsoft.Storage/storageAccounts/a"
HERE = {"location": "westeurope"}
SUBNET = {"name": "s", "properties": {"addressPrefix": "10.0.0.0/24"}}
BODIES: dict[str, Any] = {
    f"{NETWORK}/publicIPAddresses/p": {**HERE, "sku": {"name": "Standard"}, "properties": {}},
    f"{NETWORK}/natGateways/n": {**HERE, "sku": {"name": "Standard"}, "properties": {}},
    f"{NETWORK}/virtualNetworks/v": {**HERE, "properties": {"subnets": [SUBNET]}},
    ACCOUNT: {**HERE, "sku": {"name": "Standard_LRS"}, "kind": "StorageV2", "properties": {}},
    DISK: {
        **HERE,
        "sku": {"name": "Premium_LRS"},
        "properties": {"creationData": {"createOption": "Empty"}, "diskSizeGB": 8},
    },
}
VERSIONS = {"disks": "2025-01-02", "storageAccounts": "2025-08-01", "publicIPAddresses": "2025-09-01"}


def ask(azure: Azure, method: str, path: str, body: Any = None) -> Answer:
    """What the stand-in answers to a request, without az."""
    query = {"api-version": VERSIONS.get(path.split("/")[-2], "2025-07-01")}
    return azure.arm.answer(Request(method, path, query, body, ""))


def followed(azure: Azure, url: str) -> Answer:
    """What there is at an address that an answer told."""
    parts = urlsplit(url)
    return azure.arm.answer(Request("GET", parts.path, dict(parse_qsl(parts.query)), None, ""))


@pytest.fixture
def group(azure: Azure) -> Azure:
    """A group of resources, in which everything takes time."""
    azure.arm.prompt = False
    ask(azure, "PUT", GROUP, {**HERE, "tags": {}})
    return azure


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda disk: None, None),
        (lambda disk: disk["properties"].update(diskKind="x"), ".properties.diskKind: "),
        (lambda disk: disk["properties"].update(diskSizeGB="8"), ".properties.diskSizeGB: '8' is no int"),
        (lambda disk: disk["properties"].update(diskState="attached"), "diskState: 'attached' is none of "),
        (lambda disk: disk["properties"].update(timeCreated="now"), "timeCreated: 'now' is no "),
        (lambda disk: disk["properties"].pop("uniqueId"), ".properties.uniqueId: is missing"),
        (lambda disk: disk.pop("id"), ".id: is missing"),
        (
            lambda disk: disk.update(type="microsoft.compute/Disks"),
            ".type: 'microsoft.compute/Disks', where ",
        ),
        (lambda disk: disk.update(zones="1"), ".zones: '1' is no list"),
    ],
)
def test_what_is_not_as_azure_tells_it_is_found(
    group: Azure, model_check: ModelCheck, change: Callable[[dict[str, Any]], object], said: str | None
) -> None:
    ask(group, "PUT", DISK, BODIES[DISK])
    disk = json.loads(json.dumps(ask(group, "GET", DISK).body))
    change(disk)
    asked = {"method": "GET", "path": DISK, "version": VERSIONS["disks"], "body": disk}
    found = [*unlike(DISK, disk), *model_check.ask(asked)]
    assert found == [] if said is None else any(said in text for text in found), found


@pytest.mark.slow
def test_an_answer_of_which_az_has_no_model_is_found(azure: Azure, model_check: ModelCheck) -> None:
    path = f"{GROUP}/providers/Microsoft.Compute/others/o"
    assert model_check.ask({"method": "GET", "path": path, "version": "2024-11-01", "body": {}}) != []


@pytest.mark.slow
@pytest.mark.parametrize("path", BODIES)
def test_an_operation_begins_and_ends_as_recorded(group: Azure, path: str) -> None:
    """It is told by the words of its service how it stands, and in the end what was made."""
    begun = ask(group, "PUT", path, BODIES[path])
    assert is_as_recorded("PUT", path, begun.status, begun.headers, begun.body)
    for address in (begun.headers.get(ASYNC), begun.headers.get(LOCATION)):
        told = [followed(group, address) for _ in range(2)] if address else []
        states = [(one.status, (one.body or {}).get("status")) for one in told]
        if address and "monitor=" in address:
            assert [status for status, _ in states][-1] == 200 and told[-1].body["name"] == path[-1]
        elif address:
            assert states == [(200, "InProgress"), (200, "Succeeded")]
    assert ask(group, "GET", path).body["properties"]["provisioningState"] == "Succeeded"


@pytest.mark.slow
def test_an_address_to_read_a_disk_by_is_as_recorded(group: Azure) -> None:
    """Nothing at once; then one whose signature is escaped."""
    ask(group, "PUT", DISK, BODIES[DISK])
    path = f"{DISK}/beginGetAccess"
    begun = ask(group, "POST", path, {"access": "Read", "durationInSeconds": 10})
    assert is_as_recorded("POST", path, begun.status, begun.headers, begun.body)
    (_, told) = (followed(group, begun.headers[LOCATION]) for _ in range(2))
    address = r"https://[^/]+/md-[^/?]+/[^/?]+/abcd\?sv=2018-03-28&sr=b&si=[0-9a-f-]{36}&sig=[\w%]+"
    assert told.status == 200 and re.fullmatch(address, told.body["accessSAS"])
    assert {"%2B", "%2F", "%3D"} <= set(re.findall("%..", told.body["accessSAS"]))
    assert ask(group, "GET", DISK).body["properties"]["diskState"] == "ActiveSAS"


@pytest.mark.slow
def test_a_group_that_is_deleted_is_there_until_all_of_it_is_gone(group: Azure) -> None:
    """202 as long as it goes on, then 200; whoever asks for the group sees that it is being deleted."""
    group.arm.deletion_s = 60.0
    begun = ask(group, "DELETE", GROUP)
    assert is_as_recorded("DELETE", GROUP, begun.status, begun.headers, begun.body)
    assert ask(group, "GET", GROUP).body["properties"]["provisioningState"] == "Deleting"
    first = followed(group, begun.headers[LOCATION])
    assert first.status == 202 and first.headers[LOCATION] == begun.headers[LOCATION]
    group.arm.let_go.set()
    (operation,) = group.arm.operations.values()
    assert operation.done.wait(60)
    assert followed(group, first.headers[LOCATION]).status == 200
    gone = ask(group, "GET", GROUP)
    assert (gone.status, gone.body["error"]["code"]) == (404, "ResourceGroupNotFound")


def is_as_recorded(method: str, path: str, status: int, headers: dict[str, str], body: Any) -> bool:
    """Whether an operation begins as others recorded it, of those that were."""
    state = ((body or {}).get("properties") or {}).get("provisioningState")
    return BEGINNINGS.get((method, _end(method, path))) == (status, {ASYNC, LOCATION} & set(headers), state)


def _end(method: str, path: str) -> str:
    """By which end of its path a request is known; empty where it is not."""
    ends = [end for verb, end in BEGINNINGS if verb == method and re.search(f"{end}$", path.lower())]
    return ends[0] if ends else ""


@pytest.mark.slow
@pytest.mark.fio
@pytest.mark.long
def test_a_whole_run_is_answered_as_recorded(
    signed_in: Azure, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through a NAT gateway, with a container and Azure Monitor; every operation is asked for again."""
    monkeypatch.setattr(vm, "MOST_SCRIPTS", 1)
    monkeypatch.setattr(money, "MONITORED_S", 0.0)
    monkeypatch.setattr(cloud, "MONITOR_PAUSE_S", 0.1)
    signed_in.arm.prompt = False
    more = "".join(f"  w{n}: {{rw: randread, bs: {4 << n}k, size: 4m, runtime: 1}}\n" for n in range(2))
    small.write_text(SMALL.replace("zone: 1", "zone: 1\noutbound: nat\nsecurity_type: Standard") + more)
    measured(small)
    begun = [one for one in signed_in.arm.log if {ASYNC, LOCATION} & set(one.told) and one.method != "GET"]
    unlike_recorded = [one for one in begun if not _is_known(one)]
    assert unlike_recorded == []
    known = {key for key in BEGINNINGS if key[0] != "POST"}  # no disk is read where there is a container
    assert {(one.method, _end(one.method, one.path)) for one in begun} >= known
    told = {end for end in ALWAYS for one in signed_in.arm.log if re.search(f"{end}$", one.path.lower())}
    assert told == set(ALWAYS)
    assert any(re.search(OPERATION, one.path) for one in signed_in.arm.log)


def _is_known(one: Logged) -> bool:
    if one.path.endswith("/runCommand") or "/subnets/" in one.path:
        return True  # no recording of its beginning was read
    return is_as_recorded(one.method, one.path, one.status, one.told, json.loads(one.said))


def commands_used() -> Iterator[str]:
    """The commands of az in the code: the words at the head of each argument list."""
    azure = ROOT / "azbenchlib" / "campaign" / "targets" / "azure"
    for function in ast.parse((azure / "commands.py").read_text()).body:
        if isinstance(function, ast.FunctionDef) and getattr(function.returns, "id", "") == "Command":
            yield from (_verb(node) for node in ast.walk(function) if isinstance(node, ast.Return))
    for file in [*azure.rglob("*.py"), *(ROOT / "azbenchlib" / "azure").rglob("*.py")]:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "json" and _verb(*node.args):
                yield _verb(*node.args)


def _verb(*nodes: ast.AST) -> str:
    """The texts that come first in an expression, up to the first option."""
    found = [one for node in nodes for one in ast.walk(node)]
    at = {(one.lineno, one.col_offset): str(one.value) for one in found if isinstance(one, ast.Constant)}
    names = {(one.lineno, one.col_offset): "-" for one in found if isinstance(one, ast.Name)}
    words = takewhile(
        lambda word: not word.startswith("-"), (word for _, word in sorted({**at, **names}.items()))
    )
    return " ".join(words)


def test_the_documentation_tells_of_every_command_where_its_answers_are_from() -> None:
    section = (ROOT / "docs" / "azure.md").read_text().partition("## What the tests answer")[2]
    rows = re.findall(r"^\| (`[^|]*) \|[^|]+\|[^|]+\|$", section.partition("\n## ")[0], re.MULTILINE)
    told = [command for row in rows for command in re.findall("`([^`]+)`", row)]
    assert sorted(told) == sorted(set(commands_used()))
