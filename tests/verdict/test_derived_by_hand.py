"""Measurements whose limit follows from Azure's documents by hand, judged with the command line."""

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from azbenchlib.cli import app

P10, P30, P4 = ({"tier": tier, "sku": "Premium_LRS", "cache": "None"} for tier in ("P10", "P30", "P4"))
ULTRA = {"sku": "UltraSSD_LRS", "size_gib": 1024, "iops": 40_000, "mbps": 1000, "cache": "None"}
PREMIUM_V2 = {"sku": "PremiumV2_LRS", "size_gib": 256, "iops": 6000, "mbps": 250, "cache": "None"}

Row = tuple[str, dict[str, Any], tuple[str, float, int], dict[str, Any], dict[str, float], set[str]]
# VM, disk, (pattern, KiB, queue depth), more of the job, what was observed, what binds.
ROWS: dict[str, Row] = {
    "half an hour of the burst is over": (
        *("Standard_D8s_v5", ULTRA, ("randread", 8, 128), {"runtime_s": 14_400}),
        *({"iops": 12_900}, {"vm_uncached_iops"}),
    ),
    "half of the run at 20,000 IOPS, half at 12,800": (
        *("Standard_D8s_v5", ULTRA, ("randread", 8, 128), {"runtime_s": 3600}),
        *({"iops": 16_500}, {"vm_uncached_burst_iops"}),
    ),
    "a quarter of the run at 3,500 IOPS, the rest at 120": (
        *("Standard_D8s_v3", P4, ("randread", 4, 64), {"runtime_s": 7200}),
        *({"iops": 980}, {"disk_iops"}),
    ),
    "provisioned IOPS": (
        *("Standard_D8s_v5", PREMIUM_V2, ("randwrite", 4, 64), {}),
        *({"iops": 6060}, {"disk_iops"}),
    ),
    "base of a burstable VM": (
        *("Standard_B2ms", P10, ("randread", 64, 32), {"runtime_s": 5400}),
        *({"mbps": 22.8}, {"vm_uncached_mbps"}),
    ),
    "local NVMe": (
        *("Standard_L8s_v3", {"role": "nvme", "count": 1}, ("read", 128, 64), {}),
        *({"mbps": 2010}, {"nvme_mbps"}),
    ),
    "ephemeral OS disk in the cache": (
        *("Standard_D8s_v3", {"role": "ephemeral_os"}, ("randread", 4, 64), {}),
        *({"iops": 16_250}, {"vm_cached_iops"}),
    ),
    "an I/O of 40 KiB is where 5,000 IOPS and 200 MB/s meet": (
        *("Standard_D8s_v5", P30, ("randread", 40, 64), {}),
        *({"iops": 4950}, {"disk_iops", "disk_mbps"}),
    ),
    "synchronous whatever the depth says": (
        *("Standard_D8s_v3", P30, ("randread", 4, 64), {}),
        *({"iops": 420, "mean_us": 2350}, {"latency_qd"}),
    ),
}
UNSURE = {"tier": "P30", "sku": "Premium_LRS"}  # D2s_v3: cached limit and uncached burst are both 4,000 IOPS


def case(name: str, row: Row) -> dict[str, Any]:
    size, disk, (rw, bs_kib, depth), more, observed, _ = row
    job = {"tool": "fio", "rw": rw, "bs_kib": bs_kib, "qd_total": depth, "direct": 1, "runtime_s": 120} | more
    usual = {"id": name, "kind": "measurement", "as_of": "2026-09-01", "vm": {"size": size}}
    return usual | {"disks": [disk], "job": job, "observed": observed}


def test_what_binds_is_what_the_documents_say(tmp_path: Path) -> None:
    twins = ("Standard_D2s_v3", UNSURE, ("randread", 8, 64), {"runtime_s": 300}, {"iops": 4050}, set[str]())
    cases = [case(name, row) for name, row in ROWS.items()] + [case("twins", twins)]
    file = tmp_path / "cases.json"
    file.write_text(json.dumps({"cases": cases}))
    done = CliRunner().invoke(app, ["verdict", str(file), "--format", "json"])
    assert done.exit_code == 0, done.output
    found = {one["id"]: one for one in json.loads(done.stdout)["verdicts"]}
    assert {name: set(found[name]["binding"]) for name in ROWS} == {
        name: row[-1] for name, row in ROWS.items()
    }
    assert all(found[name]["probability"] > 0.8 for name in ROWS)
    assert found["twins"]["probability"] < 0.8
