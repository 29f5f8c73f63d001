"""What the subscription can have: locations, providers, features, sizes, images."""

import re
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from .machines import IMAGE_VERSION
from .routing import SUBSCRIPTION, Answer, Json, Request, route
from .skus import GIB, REGIONS, capability, family

if TYPE_CHECKING:
    from .arm import Arm

PAGE_LENGTH = 30  # entries of a long list; Azure's are longer, and so are its lists
PROVIDER = SUBSCRIPTION + "/providers/{namespace}"
FEATURES = SUBSCRIPTION + "/providers/Microsoft.Features/providers/{namespace}/features"
IMAGE = SUBSCRIPTION + (
    "/providers/Microsoft.Compute/locations/{location}/publishers/{publisher}"
    "/artifacttypes/vmimage/offers/{offer}/skus/{sku}/versions"
)


@route("GET", SUBSCRIPTION + "/locations")
def locations(arm: "Arm", request: Request) -> Answer:
    return Answer(
        {
            "value": [
                {
                    "id": f"{request.path}/{name}",
                    "name": name,
                    "displayName": name,
                    "type": "Region",
                    "metadata": {"regionType": "Physical"},
                }
                for name in REGIONS
            ]
        }
    )


@route("GET", PROVIDER)
def provider(arm: "Arm", request: Request, namespace: str) -> Answer:
    """Show a provider; it is registered unless `Arm.providers` says otherwise."""
    state = arm.providers.get(namespace.lower(), "Registered")
    types = [
        {"resourceType": t, "locations": list(REGIONS), "apiVersions": ["2024-11-01"]}
        for t in ("virtualMachines", "disks", "virtualNetworks", "schedules")
    ]
    return Answer(
        {"id": request.path, "namespace": namespace, "registrationState": state, "resourceTypes": types}
    )


@route("POST", PROVIDER + "/register")
def register(arm: "Arm", request: Request, namespace: str) -> Answer:
    arm.providers[namespace.lower()] = "Registered"
    return provider(arm, request, namespace)


@route("GET", FEATURES + "/{feature}")
def feature(arm: "Arm", request: Request, namespace: str, feature: str) -> Answer:
    """Show a feature; it is registered unless `Arm.features` says otherwise, as in "Microsoft.Compute/X"."""
    name = f"{namespace}/{feature}"
    return _feature(request.path, name, arm.features.get(name, "Registered"))


@route("POST", FEATURES + "/{feature}/register")
def register_feature(arm: "Arm", request: Request, namespace: str, feature: str) -> Answer:
    arm.features[f"{namespace}/{feature}"] = "Registering"
    return _feature(request.path.rpartition("/")[0], f"{namespace}/{feature}", "Registering")


def _feature(path: str, name: str, state: str) -> Answer:
    """A feature as test_feature_list, a recording of 2021, has it."""
    told = {"id": path, "name": name, "type": "Microsoft.Features/providers/features"}
    return Answer({**told, "properties": {"state": state}})


@route("GET", SUBSCRIPTION + "/providers/Microsoft.Compute/skus")
def skus(arm: "Arm", request: Request) -> Answer:
    wanted = re.search(r"location eq '(\w+)'", request.query.get("$filter", ""))
    return _page(
        arm, request, [s for s in arm.skus if wanted is None or s["locations"] == [wanted[1].lower()]]
    )


def _page(arm: "Arm", request: Request, entries: list[Json]) -> Answer:
    """Give some entries, and where the rest is to be asked for, as Azure does with long lists."""
    start = int(request.query.get("$skiptoken", 0))
    end = start + PAGE_LENGTH
    there: Json = {"value": entries[start:end]}
    if end < len(entries):
        query = urlencode({**request.query, "$skiptoken": str(end)})
        there["nextLink"] = f"{arm.base}{request.path}?{query}"
    return Answer(there)


@route("GET", SUBSCRIPTION + "/providers/Microsoft.Compute/locations/{location}/vmSizes")
def sizes(arm: "Arm", request: Request, location: str) -> Answer:
    """List sizes in the older way, which `az vm create` still uses."""
    here = [
        s for s in arm.skus if s["resourceType"] == "virtualMachines" and s["locations"] == [location.lower()]
    ]
    return Answer(
        {
            "value": [
                {
                    "name": sku["name"],
                    "numberOfCores": int(capability(sku, "vCPUs")),
                    "maxDataDiskCount": int(capability(sku, "MaxDataDiskCount")),
                }
                for sku in here
            ]
        }
    )


@route("GET", IMAGE)
def image_versions(arm: "Arm", request: Request, location: str, **_: str) -> Answer:
    return Answer([{"location": location, "name": IMAGE_VERSION, "id": f"{request.path}/{IMAGE_VERSION}"}])


@route("GET", IMAGE + "/{version}")
def image(arm: "Arm", request: Request, location: str, version: str, **_: str) -> Answer:
    properties = {
        "hyperVGeneration": "V2",
        "architecture": "x64",
        "osDiskImage": {"operatingSystem": "Linux", "sizeInBytes": 31 * GIB},
        "dataDiskImages": [],
        "features": [{"name": "SecurityType", "value": "TrustedLaunchSupported"}],
    }
    return Answer({"location": location, "name": version, "id": request.path, "properties": properties})


@route("GET", SUBSCRIPTION + "/providers/Microsoft.Compute/locations/{location}/usages")
def usages(arm: "Arm", request: Request, location: str) -> Answer:
    """Tell how much of a quota is used: `Arm.quotas` has used and limit, by name; 0 of 100 of others."""
    families = {family(sku["name"]) for sku in arm.skus if sku["resourceType"] == "virtualMachines"}
    names = sorted({*families, "cores", "lowPriorityCores"})
    found = [
        {
            "unit": "Count",
            "currentValue": arm.quotas.get(name, (0, 100))[0],
            "limit": arm.quotas.get(name, (0, 100))[1],
            "name": {"value": name, "localizedValue": name},
        }
        for name in names
    ]
    return _page(arm, request, found)
