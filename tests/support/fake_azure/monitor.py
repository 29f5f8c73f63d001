"""Azure Monitor: metrics of a VM, a figure a minute."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import unquote

from .machines import MACHINE
from .routing import Answer, ArmError, Json, Request, route

if TYPE_CHECKING:
    from .arm import Arm

MOST = 20  # metrics a call
DEFAULT_TOP = 10  # series of a call with a filter


@route("GET", MACHINE + "/providers/Microsoft.Insights/metrics")
def metrics(arm: "Arm", request: Request, **_: str) -> Answer:
    """Answer what `Arm.metrics` says of a metric, and 0 of others; at first nothing, where it is late."""
    vm = arm.get(request.path.rpartition("/providers/")[0])
    query = {name: unquote(value) for name, value in request.query.items()}  # az has quoted them twice
    names = query["metricnames"].split(",")
    by_lun = query.get("$filter", "").lower() == "lun eq '*'"
    if len(names) > MOST:
        raise ArmError("BadRequest", f"Query can contain max {MOST} metrics.")
    if by_lun and not all(name.startswith("Data Disk ") for name in names):
        raise ArmError("BadRequest", "Metric: VM Uncached ... does not support requested dimension: lun")
    begun, ended = (datetime.fromisoformat(part) for part in query["timespan"].split("/"))
    moments = [begun + timedelta(minutes=n) for n in range(int((ended - begun).total_seconds() // 60) + 1)]
    if arm.metrics_late > 0:
        arm.metrics_late -= 1
        moments = []
    luns = [disk["lun"] for disk in vm["properties"]["storageProfile"]["dataDisks"]]
    most = int(query.get("top") or DEFAULT_TOP)
    values = [_metric(request.path, name, luns[:most] if by_lun else None, moments, arm) for name in names]
    shared = {"namespace": "Microsoft.Compute/virtualMachines", "resourceregion": vm["location"]}
    return Answer({"cost": 59, "timespan": query["timespan"], "interval": "PT1M", **shared, "value": values})


def _metric(path: str, name: str, luns: list[int] | None, moments: list[datetime], arm: "Arm") -> Json:
    value = float(arm.metrics.get(name, 0.0))
    data = [{"timeStamp": f"{moment:%Y-%m-%dT%H:%M:%SZ}", "average": value} for moment in moments]
    split = [[]] if luns is None else [[{"name": {"value": "lun"}, "value": str(lun)}] for lun in luns]
    return {
        "id": f"{path}/{name}",
        "type": "Microsoft.Insights/metrics",
        "name": {"value": name, "localizedValue": name},
        "unit": "Percent" if name.endswith("Percentage") else "CountPerSecond",
        "errorCode": "Success",
        "timeseries": [{"metadatavalues": labels, "data": data} for labels in split],
    }
