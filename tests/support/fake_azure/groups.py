"""Resource groups, and the resources that only have to be there: networks, cards, schedules."""

import json
import re
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING

from .machines import remove_machine
from .operations import now
from .routing import GROUP, SUBSCRIPTION, Answer, ArmError, Json, Request, route

if TYPE_CHECKING:
    from .arm import Arm

# What Azure adds: test_natgateway_basic, 2025; test_network_vnet, 2023; test_run_command_v2, 2022.
SUBNET = {
    "delegations": [],
    "privateEndpointNetworkPolicies": "Disabled",
    "privateLinkServiceNetworkPolicies": "Enabled",
}
ADDRESS = {
    "provisioningState": "Succeeded",
    "privateIPAddress": "10.0.0.4",
    "primary": True,
    "privateIPAddressVersion": "IPv4",
}
ADDED: Mapping[str, Json] = {
    "virtualNetworks": {"virtualNetworkPeerings": [], "enableDdosProtection": False},
    "publicIPAddresses": {
        "ipAddress": "192.0.2.1",
        "publicIPAddressVersion": "IPv4",
        "idleTimeoutInMinutes": 4,
        "ipTags": [],
        "ddosSettings": {"protectionMode": "VirtualNetworkInherited"},
    },
    "natGateways": {"idleTimeoutInMinutes": 4},
    "networkInterfaces": {
        "dnsSettings": {"dnsServers": [], "appliedDnsServers": []},
        "macAddress": "00-0D-3A-00-00-01",
        "enableIPForwarding": False,
        "primary": True,
    },
}
# Of a resource in a list: the rest is told of it alone.
LISTED = ("id", "name", "type", "location", "tags", "sku", "kind", "managedBy", "identity")
NOT_LISTED = ("Microsoft.Resources/", "Microsoft.Authorization/")
PLAIN = (
    GROUP + "/providers/Microsoft.Network/{kind}/{name}",
    GROUP + "/providers/Microsoft.DevTestLab/schedules/{name}",
)


@route("GET", SUBSCRIPTION + "/resourceGroups")
def list_groups(arm: "Arm", request: Request) -> Answer:
    wanted = re.fullmatch(
        r"tagname eq '(.*?)'(?: and tagvalue eq '(.*)')?", request.query.get("$filter", ""), re.I
    )
    groups = arm.below(request.path)
    if wanted:
        name, value = wanted.groups()
        groups = [g for g in groups if name in g["tags"] and value in (None, g["tags"][name])]
    return Answer({"value": groups})


@route("PUT PATCH", GROUP)
def put_group(arm: "Arm", request: Request, group: str) -> Answer:
    old = arm.find(request.path) or {}
    body = old | {key: value for key, value in request.body.items() if value is not None}
    body["tags"] = body.get("tags") or {}
    return Answer(arm.put(request.path, body), 200 if old else 201)


@route("GET HEAD", GROUP)
def show_group(arm: "Arm", request: Request, group: str) -> Answer:
    return Answer(arm.group(request.path), 204 if request.method == "HEAD" else 200)


@route("DELETE", GROUP)
def delete_group(arm: "Arm", request: Request, group: str) -> Answer:
    """Delete with all that is in it; the group can be seen until the last of it is gone."""
    arm.group(request.path)["properties"]["provisioningState"] = "Deleting"
    prefix = request.path.lower()
    let_go = arm.let_go

    def work() -> None:
        let_go.wait(arm.deletion_s)
        with arm.lock:
            for key in [key for key in arm.machines if key.startswith(prefix + "/")]:
                remove_machine(arm, key)
            for key in [key for key in arm.resources if key == prefix or key.startswith(prefix + "/")]:
                del arm.resources[key]

    return Answer(None, 202, operation=arm.start(work))


@route("PUT", *PLAIN)
def put_plain(arm: "Arm", request: Request, group: str, **_: str) -> Answer:
    is_new = arm.find(request.path) is None
    if "/schedules/" in request.path.lower():
        return Answer(_put_schedule(arm, request), 201)  # whether it is new or not
    made = put_network(arm, request.path, request.body)
    return Answer(made, 201 if is_new else 200, operation=arm.start(lambda: made))


def _put_schedule(arm: "Arm", request: Request) -> Json:
    """Make a schedule, whose service writes names in lower case: test_vm_auto_shutdown, 2022."""
    told = {"createdDate": now(), "uniqueIdentifier": str(uuid.uuid4())}
    made = arm.put(request.path, request.body)
    made["properties"] |= told
    for key, word in (
        ("id", "resourceGroups"),
        ("id", "Microsoft.DevTestLab"),
        ("type", "Microsoft.DevTestLab"),
    ):
        made[key] = made[key].replace(word, word.lower())
    return made


def put_network(arm: "Arm", path: str, body: Json) -> Json:
    """Make a resource, with what Azure adds to it; a network with its subnets."""
    made = arm.put(path, body)
    etag = {"etag": made["etag"]}
    made |= {"sku": made["sku"] | {"tier": "Regional"}} if made.get("sku") else {}
    properties = made["properties"]
    properties["resourceGuid"] = str(uuid.uuid4())
    kind = made["type"].rpartition("/")[2]
    for name, value in ADDED.get(kind, {}).items():
        properties.setdefault(name, value)
    for subnet in properties.get("subnets", []):
        one = arm.put(f"{path}/subnets/{subnet['name']}", subnet)
        one |= etag
        one["properties"] |= SUBNET
        subnet |= one
    for address in properties.get("ipConfigurations", []):
        address |= etag | {"id": f"{made['id']}/ipConfigurations/{address['name']}"}
        address["type"] = f"{made['type']}/ipConfigurations"
        address["properties"] |= ADDRESS
    return made


@route("PUT", GROUP + "/providers/Microsoft.Network/virtualNetworks/{name}/subnets/{subnet}")
def put_subnet(arm: "Arm", request: Request, group: str, name: str, subnet: str) -> Answer:
    """Change a subnet, which its network shows too."""
    is_new = arm.find(request.path) is None
    made = arm.put(request.path, request.body)
    network = arm.get(request.path.rpartition("/subnets/")[0])
    for one in network["properties"].get("subnets", []):
        if one["name"] == subnet:
            one |= made
    return Answer(made, 201 if is_new else 200, operation=arm.start(lambda: made))


@route("GET", *PLAIN, GROUP + "/providers/Microsoft.Network/virtualNetworks/{name}/subnets/{subnet}")
def show_plain(arm: "Arm", request: Request, group: str, **_: str) -> Answer:
    return Answer(arm.get(request.path))


@route("DELETE", *PLAIN)
def delete_plain(arm: "Arm", request: Request, group: str, **_: str) -> Answer:
    path = request.path.lower()
    users = [
        one["name"]
        for key, one in arm.resources.items()
        if not key.startswith(path) and f'"{path}' in json.dumps(one.get("properties")).lower()
    ]
    if "/microsoft.network/" in path and users:
        text = f"{request.path} is in use by {', '.join(users)} and cannot be deleted."
        raise ArmError("InUseCannotBeDeleted", text, 400)
    for key in [key for key in arm.resources if key == path or key.startswith(f"{path}/")]:
        del arm.resources[key]
    return Answer(None, 200)


@route("GET", SUBSCRIPTION + "/resources")
def list_resources(arm: "Arm", request: Request) -> Answer:
    """List what lies in groups, or in one, or has a tag; neither deployments nor roles, as in Azure.

    What is looked for by a tag comes without its tags, as
    https://learn.microsoft.com/rest/api/resources/resources/list says of a tag with its value.
    """
    asked = request.query.get("$filter", "")
    group, tag = re.search(r"resourceGroup eq '(.*?)'", asked), re.search(r"tagname eq '(.*?)'", asked, re.I)
    name = re.escape(group[1]) if group else "[^/]+"
    top = re.compile(f"/subscriptions/[^/]+/resourcegroups/{name}/providers/[^/]+/[^/]+/[^/]+", re.IGNORECASE)
    found = [value for key, value in arm.resources.items() if top.fullmatch(key)]
    listed = [
        {key: one[key] for key in LISTED if key in one}
        for one in found
        if not one["type"].startswith(NOT_LISTED)
    ]
    if tag is None:
        return Answer({"value": listed})
    return Answer({"value": [{**one, "tags": None} for one in listed if tag[1] in (one.get("tags") or {})]})


@route("PATCH", GROUP + "/providers/{kind...}/providers/Microsoft.Resources/tags/default")
def merge_tags(arm: "Arm", request: Request, group: str, kind: str) -> Answer:
    """Change some tags of a resource."""
    found = arm.get(request.path.rpartition("/providers/")[0])
    found["tags"] = {**(found.get("tags") or {}), **request.body["properties"]["tags"]}
    told = {"id": request.path, "name": "default", "type": "Microsoft.Resources/tags"}
    return Answer({**told, "properties": {"tags": found["tags"]}})


@route("GET", GROUP + "/providers/Microsoft.Network/{kind}")
def list_plain(arm: "Arm", request: Request, group: str, kind: str) -> Answer:
    return Answer({"value": arm.below(request.path)})
