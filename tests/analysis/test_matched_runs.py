"""Emulated runs find the published ones of the same workload on the same disk, and no others."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import pytest

from azbenchlib.analysis.matched_runs import counterparts
from azbenchlib.core import schema

DISK = {"disk": "os", "role": "os", "sku": "Premium_LRS", "host_caching": "None"}
RUN = {"rw": "randwrite", "bs_bytes": 8192, "queue_depth": 1024, "level": "job"}
PERCENTILES = {50.0: 2474.0, 95.0: 2868.0, 99.0: 3556.0}


def tables(
    iops: Mapping[str, float],
    disk: Mapping[str, Any] = DISK,
    run: Mapping[str, Any] = RUN,
    lat_us: Mapping[float, float] | None = None,
) -> dict[str, pd.DataFrame]:
    rows: dict[str, list[dict[str, Any]]] = {
        "setups": [{"setup_id": "s", "vm_size": "Standard_E8ds_v4"}],
        "disks": [{"setup_id": "s", **disk}],
        "runs": [{"run_id": "r", "setup_id": "s", **run}],
        "results": [{"run_id": "r", "ddir": ddir, "iops": value} for ddir, value in iops.items()],
        "percentiles": [
            {"run_id": "r", "ddir": "write", "lat_kind": "clat", "percentile": p, "lat_us": us}
            for p, us in (lat_us or {}).items()
        ],
    }
    return {name: schema.frame(name, rows.get(name, [])) for name in schema.TABLES}


def test_rates_and_percentiles_stand_side_by_side() -> None:
    mine = tables({"write": 3500.0}, lat_us={p: us * 2 for p, us in PERCENTILES.items()})
    found = counterparts(mine, tables({"write": 3499.0}, lat_us=PERCENTILES)).set_index("quantity")
    assert found.loc["iops", ["value", "other"]].tolist() == [3500.0, 3499.0]
    assert found.loc["iops", "ratio"] == pytest.approx(3500 / 3499)
    assert found.loc[["p50_us", "p95_us", "p99_us"], "ratio"].tolist() == [2.0, 2.0, 2.0]
    assert found.loc["p99_us", "other"] == 3556.0


def test_directions_are_summed_unless_the_sum_is_there() -> None:
    mine = tables({"read": 3052.0, "write": 3052.0})
    assert counterparts(mine, tables({"mixed": 6250.0}))[["value", "other"]].iloc[0].tolist() == [
        6104.0,
        6250.0,
    ]
    both = tables({"read": 3000.0, "write": 3000.0, "mixed": 6000.0})
    assert counterparts(both, both)["value"].tolist() == [6000.0]


@pytest.mark.parametrize(
    ("disk", "run"),
    [
        ({**DISK, "host_caching": "ReadWrite"}, RUN),
        ({**DISK, "sku": "StandardSSD_LRS"}, RUN),
        ({**DISK, "role": "data"}, RUN),
        (DISK, {**RUN, "rw": "randread"}),
        (DISK, {**RUN, "bs_bytes": 4096}),
        (DISK, {**RUN, "queue_depth": 1}),
        (DISK, {**RUN, "rwmix_read_pct": 50}),
    ],
)
@pytest.mark.sampled(3)
def test_what_differs_is_no_counterpart(disk: Mapping[str, Any], run: Mapping[str, Any]) -> None:
    assert counterparts(tables({"write": 1.0}), tables({"write": 1.0}, disk, run)).empty


def test_bought_figures_count_where_they_are_bought() -> None:
    def ultra(mbps: int) -> dict[str, pd.DataFrame]:
        bought = {"sku": "UltraSSD_LRS", "provisioned_iops": 10000, "provisioned_bytes_per_s": mbps * 10**6}
        return tables({"write": 1.0}, {**DISK, **bought})

    assert len(counterparts(ultra(50), ultra(50))) == 1
    assert counterparts(ultra(50), ultra(100)).empty
    documented = tables({"write": 1.0}, {**DISK, "provisioned_iops": 120})
    assert len(counterparts(documented, tables({"write": 1.0}))) == 1


def test_an_unstated_depth_or_caching_does_not_part_them() -> None:
    open_depth = {name: value for name, value in RUN.items() if name != "queue_depth"}
    assert len(counterparts(tables({"write": 1.0}), tables({"write": 1.0}, run=open_depth))) == 1
    no_caching = {name: value for name, value in DISK.items() if name != "host_caching"}
    assert len(counterparts(tables({"write": 1.0}), tables({"write": 1.0}, no_caching))) == 1
    temp = {"disk": "temp", "role": "temp"}
    assert (
        len(counterparts(tables({"write": 1.0}, temp), tables({"write": 1.0}, {**temp, "sku": "local SSD"})))
        == 1
    )
