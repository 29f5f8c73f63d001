"""Answers of Azure Monitor in every form in which they are saved give the samples of the plain answer."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from azbenchlib.core.findings import Code
from azbenchlib.formats import registry
from azbenchlib.formats.source import Source
from azbenchlib.sizing.telemetry import telemetry

FILE = Path(__file__).parents[1] / "data" / "azure_monitor" / "two_disks.json"
ANSWER: dict[str, Any] = json.loads(FILE.read_text())
COLUMNS = ["metric", "ddir", "object", "t_s", "value"]


def read(text: str) -> dict[str, pd.DataFrame]:
    return registry.read(Source("monitor.json", text.encode()))


def samples(text: str) -> list[tuple[Any, ...]]:
    found = read(text)["samples"][COLUMNS].fillna("").astype(object)
    return [tuple(row) for row in found.itertuples(index=False)]


def of_vm(name: str) -> dict[str, Any]:
    return {**ANSWER, "resourceid": f"/subscriptions/s/providers/Microsoft.Compute/virtualMachines/{name}"}


@pytest.mark.parametrize(
    "content",
    [
        {"values": [ANSWER]},
        {"responses": [{"httpStatusCode": 200, "name": "1", "content": ANSWER}]},
        ANSWER["value"],
        [ANSWER],
        {"cost": 0, **ANSWER},
    ],
    ids=["getBatch", "portal's batch", "--query value", "list", "cost first"],
)
def test_each_form_is_read_as_the_plain_answer(content: Any) -> None:
    plain = samples(FILE.read_text())
    assert samples(json.dumps(content)) == plain
    assert samples(json.dumps(content, indent=2)) == plain
    assert samples(f"$ az monitor metrics list\n{json.dumps(content, indent=4)}\n$ date\n") == plain


def test_answers_of_one_vm_below_each_other_are_one_run() -> None:
    parts = [{**ANSWER, "value": [metric]} for metric in ANSWER["value"]]
    for text in (
        "\n".join(json.dumps(part, indent=2) for part in parts),
        json.dumps(ANSWER) * 2,
        "".join(map(json.dumps, parts)),
    ):
        assert samples(text) == samples(FILE.read_text())
        assert len(read(text)["runs"]) == 1


def test_answers_of_two_vms_are_two_runs_whose_loads_are_added_up() -> None:
    alone, both = read(json.dumps(of_vm("vm1"))), read(json.dumps({"values": [of_vm("vm1"), of_vm("vm2")]}))
    assert alone["runs"]["host"].isna().all()
    assert both["runs"]["host"].tolist() == ["vm1", "vm2"]
    assert len(both["samples"]) == 2 * len(alone["samples"])
    assert not both["samples"].duplicated(["run_id", "ddir", "metric", "seq"]).any()


def rates(names: tuple[str, ...], step_min: int = 1) -> list[dict[str, Any]]:
    """Metrics of one disk: 100, 200 and 300 of each."""
    return [
        {
            "name": {"value": name},
            "timeseries": [
                {
                    "metadatavalues": [{"name": {"value": "lun"}, "value": "0"}],
                    "data": [
                        {"timeStamp": f"2026-11-20T10:{n * step_min:02}:00Z", "total": 100.0 * (n + 1)}
                        for n in range(3)
                    ],
                }
            ],
        }
        for name in names
    ]


def test_sums_of_bytes_are_divided_by_the_interval_that_the_points_tell() -> None:
    for minutes in (1, 5):
        found = samples(json.dumps(rates(("Disk Read Bytes",), minutes)))
        assert [row[-1] for row in found] == [pytest.approx(100 * n / (60 * minutes)) for n in (1, 2, 3)]


def test_the_shortest_interval_of_a_series_counts() -> None:
    names = ("Data Disk Read Operations/Sec",)
    tables = read(json.dumps([*rates(names, 5), *rates(names, 1)]))
    assert tables["samples"]["t_s"].tolist() == [0, 60, 120]
    assert Code.ROW_NOT_READ in set(tables["findings"]["code"])


TABLE = """Timestamp            Name                            Lun      Average
-------------------  ------------------------------  -----  ---------
2026-11-20 10:00:00  Data Disk Read Operations/Sec       0      120.5
2026-11-20 10:01:00  Data Disk Read Operations/Sec       0
2026-11-20 10:02:00  Data Disk Read Operations/Sec       0      122
2026-11-20 10:00:00  Data Disk Read Operations/Sec       3        1e+06
2026-11-20 10:00:00  Percentage CPU                      3        1
"""


def test_the_table_of_az_is_read() -> None:
    for text in (TABLE, f"$ az monitor metrics list -o table\n{TABLE}$ date\nFri Nov 20\n"):
        assert samples(text) == [
            ("iops", "read", "LUN 0", 0, 120.5),
            ("iops", "read", "LUN 0", 120, 122),
            ("iops", "read", "LUN 3", 0, 1e6),
        ]
    assert "Percentage CPU" in read(TABLE)["findings"]["message"].iloc[0]


def test_an_answer_that_is_cut_costs_no_other() -> None:
    text = json.dumps(ANSWER, indent=2)
    tables = read(text[: len(text) // 2] + "\n" + text)
    assert len(tables["samples"]) == len(read(text)["samples"])
    assert tables["findings"].set_index("code")["severity"]["broken_json"] == "warning"


def test_disk_resources_have_loads_that_count_where_no_vm_has_them() -> None:
    units = ("Operations/sec", "Bytes/sec")
    of_disk = rates(tuple(f"Composite Disk {way} {unit}" for way in ("Read", "Write") for unit in units))
    of_vm_too = rates(tuple(f"Disk {way} Operations/Sec" for way in ("Read", "Write")))
    of_vm_too += rates(("Disk Read Bytes", "Disk Write Bytes"))
    path = "/subscriptions/s/providers/Microsoft.Compute"
    disks = [{"resourceid": f"{path}/disks/{name}", "value": of_disk} for name in ("data1", "data2")]
    tables = read(json.dumps({"values": disks}))
    assert tables["runs"]["host"].tolist() == ["data1", "data2"]
    assert telemetry(tables).history.read_iops.tolist() == [200, 400, 600]
    vm = {"resourceid": f"{path}/virtualMachines/vm1", "value": of_vm_too}
    assert telemetry(read(json.dumps({"values": [*disks, vm]}))).history.read_iops.tolist() == [100, 200, 300]


def test_size_takes_what_a_query_left_of_an_answer() -> None:
    names = [
        f"Data Disk {way} {unit}" for way in ("Read", "Write") for unit in ("Operations/Sec", "Bytes/sec")
    ]
    history = telemetry(read(json.dumps(rates(tuple(names))))).history
    assert history.read_iops.tolist() == [100, 200, 300]
    batch = {
        "values": [{**of_vm(vm), "interval": "PT1M", "value": rates(tuple(names))} for vm in ("vm1", "vm2")]
    }
    found = telemetry(read(json.dumps(batch)))
    assert found.history.read_iops.tolist() == [200, 400, 600]
    assert set(found.devices) == {"vm1", "vm2"}
