"""Telemetry becomes one history: which devices count, hosts on one line of time, what is unknown left out."""

import numpy as np
import pandas as pd
import pytest

from azbenchlib.core import schema
from azbenchlib.core.errors import InputError
from azbenchlib.sizing.percentile_rule import percentile
from azbenchlib.sizing.telemetry import telemetry
from azbenchlib.sizing.text import moment


def tables(*rows: dict) -> dict[str, pd.DataFrame]:
    filled = [
        {
            "telemetry_id": "t",
            "source_path": "a.txt",
            "host": "h",
            "seq": i,
            "clock": "local",
            "interval_s": 60,
        }
        | row
        for i, row in enumerate(rows)
    ]
    return {name: schema.frame(name, filled if name == "demand" else []) for name in schema.TABLES}


def row(t_s: float | None, device: str = "sda", iops: float = 100, **more: object) -> dict:
    size = {"read_bytes_per_s": iops * 4096, "write_bytes_per_s": iops * 8192}
    return {"t_s": t_s, "device": device, "read_iops": iops, "write_iops": iops, **size, **more}


def test_disks_are_added_up_without_what_repeats_them() -> None:
    found = telemetry(tables(row(0), row(0, "sda1"), row(0, "dm-0"), row(0, "sdb", 50), row(0, "loop0", 7)))
    assert found.devices == {"h": ("sda", "sdb")}
    assert found.history.read_iops.tolist() == [150]
    assert found.history.write_bytes_per_s.tolist() == [150 * 8192]
    chosen = telemetry(tables(row(0), row(0, "sdb", 50)), ["sdb*"])
    assert chosen.history.read_iops.tolist() == [50]
    with pytest.raises(InputError, match="there are: sda"):
        telemetry(tables(row(0)), ["nvme*"])


def test_hosts_are_put_side_by_side_where_all_of_them_tell() -> None:
    found = telemetry(
        tables(
            row(0, iops=10), row(60, iops=20), row(120, iops=30),
            row(30, iops=1, host="g", interval_s=60), row(90, iops=2, host="g", interval_s=60),
        )
    )  # fmt: skip
    assert found.history.t_s.tolist() == [30, 60, 90, 120]
    assert found.history.interval_s.tolist() == [30, 30, 30, 30]
    assert found.history.read_iops.tolist() == [11, 21, 22, 32]
    with pytest.raises(InputError, match="no time in common"):
        telemetry(tables(row(0), row(900, host="g")))


def test_time_of_which_nothing_is_known_is_left_out() -> None:
    found = telemetry(tables(row(0), row(60, read_iops=None), row(600)))
    assert found.history.t_s.tolist() == [0, 600]
    assert found.missing_s == 540
    # the clock goes on where the history does
    assert found.history.moment(59) == 59 and found.history.moment(61) == 601


def test_a_disk_without_a_report_is_idle() -> None:
    found = telemetry(tables(row(0), row(0, "sdb", 50), row(60)))
    assert found.history.read_iops.tolist() == [150, 100]


def test_sums_alone_are_divided_by_bytes() -> None:
    some = row(0) | {"read_iops": None, "write_iops": None, "iops": 300}
    found = telemetry(tables(some))
    assert found.history.read_iops.tolist() == pytest.approx([100])
    assert found.history.write_iops.tolist() == pytest.approx([200])
    bare = {"t_s": 0, "device": "sda", "iops": 300, "bw_bytes_per_s": 3000}
    found = telemetry(tables(bare))
    assert (found.history.write_iops[0], found.history.write_bytes_per_s[0]) == (300, 3000)
    assert len(found.notes) == 2
    with pytest.raises(InputError, match="does not tell"):
        telemetry(tables({"t_s": 0, "device": "sda", "iops": 300}))


def test_reports_without_times_need_their_length() -> None:
    some = [row(None, clock="elapsed", interval_s=None) for _ in range(3)]
    with pytest.raises(InputError, match="--interval 60s"):
        telemetry(tables(*some))
    found = telemetry(tables(*some), interval_s=60)
    assert found.history.t_s.tolist() == [0, 60, 120]
    assert moment(found.history, 61) == "61\u00a0s after the begin"


def test_clocks_that_differ_are_refused() -> None:
    with pytest.raises(InputError, match="different clocks"):
        telemetry(tables(row(0), row(0, host="g", clock="utc")))


def test_nothing_at_all_says_how_to_record_it() -> None:
    with pytest.raises(InputError, match="iostat -x"):
        telemetry({name: schema.empty(name) for name in schema.TABLES})


def test_percentiles_are_of_the_time() -> None:
    found = telemetry(
        tables(row(0, iops=1), row(60, iops=2, interval_s=540), row(600, iops=3, interval_s=400))
    )
    values = found.history.read_iops
    assert [percentile(found.history, values, percent) for percent in (5, 6, 7, 60, 61)] == [1, 1, 2, 2, 3]
    assert np.isclose(found.history.duration_s, 1000)


def test_hosts_together_have_the_processors_of_each_where_all_of_them_tell() -> None:
    first = [row(60 * i, host_cpus=cpus, host_memory_bytes=8e9) for i, cpus in enumerate((4, 8))]
    alone = telemetry(tables(*first))
    assert (alone.cpus, alone.memory_bytes) == (8, 8e9)  # the last report counts: the host became larger
    second = [row(60 * i, host="g", host_cpus=16) for i in range(2)]
    both = telemetry(tables(*first, *second))
    assert (both.cpus, both.memory_bytes) == (24, None)
    assert telemetry(tables(row(0), row(60))).cpus is None
