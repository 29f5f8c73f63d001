"""The fio JSON reader: figures, traps, damage.

The fixtures were made with fio 3.33 on small files; the options stand in them.
"""

import json
import math
import re
from pathlib import Path
from typing import Any

import orjson
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from azbenchlib.core import schema
from azbenchlib.formats.fio import _json_documents
from azbenchlib.formats.fio import json as fio_json
from azbenchlib.formats.fio.logs import log_lines
from azbenchlib.formats.source import Source

DATA = Path(__file__).parents[1] / "data" / "fio"
CASES = sorted(path.stem for path in DATA.glob("*.json"))


def read(text: str | bytes, path: str = "some.json") -> dict[str, pd.DataFrame]:
    data = text if isinstance(text, bytes) else text.encode()
    return fio_json.read_fio_json(Source(path, data)).frames()


def fixture(case: str) -> str:
    return (DATA / f"{case}.json").read_text(encoding="utf-8")


def codes(tables: dict[str, pd.DataFrame]) -> list[str]:
    return tables["findings"]["code"].tolist()


def direction(**changes: Any) -> dict[str, Any]:
    """A direction as fio 3 writes it: 100 I/Os of 4 KiB in 2 s."""
    moments = {"min": 1000, "max": 9000, "mean": 2500.5, "stddev": 10.0, "N": 100}
    values = {
        "io_bytes": 409600,
        "io_kbytes": 400,
        "bw_bytes": 204800,
        "bw": 200,
        "iops": 50.0,
        "runtime": 2000,
        "total_ios": 100,
        "clat_ns": moments | {"percentile": {"50.000000": 2000, "99.000000": 8000}},
    }
    return values | changes


def job(name: str = "j", options: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    values = {"jobname": name, "groupid": 0, "error": 0, "job options": options or {}, "read": direction()}
    return values | changes


def document(*jobs: Any, **root: Any) -> str:
    return json.dumps({"fio version": "fio-3.33", "jobs": list(jobs)} | root, indent=2)


def run_of(options: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The row of runs that a job with these options gives; NA is None."""
    return schema.records(read(document(job(options=options, **changes)))["runs"])[0]


# ---- figures ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "expected", sorted(set(DATA.glob("*.csv")) - set(DATA.glob("*.samples.csv"))), ids=lambda path: path.stem
)
def test_a_fixture_gives_the_figures_that_fio_printed(expected):
    case, table = expected.stem.split(".")
    tables = read(fixture(case))
    places = tables["runs"][["run_id", "source_doc", "job_index"]]
    wanted = pd.read_csv(expected)
    found = places.merge(tables[table], on="run_id")[wanted.columns]
    pd.testing.assert_frame_equal(found, wanted.convert_dtypes(), check_dtype=False, rtol=1e-12)


# ---- without bins -------------------------------------------------------------------------------------


def without_bins(text: str) -> dict[str, pd.DataFrame]:
    source = Source("some.json", text.encode(), with_bins=False)
    return fio_json.read_fio_json(source).frames()


def assert_the_same_but_bins(text: str) -> None:
    wanted, found = read(text), without_bins(text)
    assert found["bins"].empty
    for name in set(schema.TABLES) - {"bins"}:
        pd.testing.assert_frame_equal(found[name], wanted[name])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.sampled(4)
def test_all_but_the_bins_is_the_same_where_these_are_not_wanted(case):
    assert_the_same_but_bins(fixture(case))


@pytest.mark.parametrize("share", [0.3, 0.7, 0.95])
def test_damage_is_told_where_it_is_when_bins_are_not_wanted(share):
    whole = fixture("group_jsonplus")
    assert_the_same_but_bins(whole[: int(len(whole) * share)])
    assert_the_same_but_bins(whole.replace('"error" : 0', '"error" : nan,', 1))


def test_bins_in_a_name_or_of_another_kind_are_left_alone():
    name = 'the "bins": {"1": 2} of a disk'
    nested = {"clat_ns": direction()["clat_ns"] | {"bins": {"1": {"2": 3}}}}
    text = document(job(name, read=direction(**nested)), job("after"))
    assert without_bins(text)["runs"]["job"].tolist() == [name, "after"]
    assert codes(read(text)) == ["unexpected_value"] and codes(without_bins(text)) == []


def test_the_run_says_what_was_asked_for():
    run = schema.records(read(fixture("randrw"), "here/randrw.json")["runs"])[0]
    assert {key: value for key, value in run.items() if value is not None} | {
        "run_id": "",
        "source_sha256": "",
    } == {
        "run_id": "",
        "source_sha256": "",
        "source_path": "here/randrw.json",
        "source_doc": 0,
        "target": "f.bin",
        "level": "job",
        "tool": "fio",
        "tool_version": "fio-3.33",
        "job": "mix",
        "job_index": 0,
        "group_id": 0,
        "rw": "randrw",
        "rwmix_read_pct": 70.0,
        "bs_bytes": 4096,
        "bs_write_bytes": 16384,
        "iodepth": 1,
        "numjobs": 1,
        "queue_depth": 1,
        "working_set_bytes": 1048576,
        "direct": False,
        "ioengine": "psync",
        "thinktime_us": 0,
        "fsync": 0,
        "fdatasync": 0,
        "random_distribution": "random",
        "verify": "none",
        "usr_cpu_pct": 0.0,
        "ended_at": "2026-11-20T13:36:46.615+00:00",
        "sys_cpu_pct": 33.333333,
        "device_ios_per_io": 0.0,  # the file was in the page cache
        "error": 0,
    }


def test_the_run_id_depends_on_content_and_place_alone():
    here, there = (read(fixture("failed_job"), path)["runs"] for path in ("a.json", "b/c.json"))
    assert here["run_id"].tolist() == there["run_id"].tolist()
    assert here["run_id"].is_unique


def test_fio_2_counts_in_kib_and_in_microseconds():
    """Made after the form of fio 2.1 (stat.c of that tag): no total_ios, no options, padded percentiles."""
    moments = '"min": 59, "max": 9475, "mean": 258.04, "stddev": 453.44'
    text = (
        '{"fio version": "fio-2.1.11", "jobs": [{"jobname": "old", "groupid": 0, "error": 0, "read": {'
        '"io_bytes": 31848, "bw": 31816, "iops": 7954, "runtime": 1001, '
        '"slat": {"min": 0, "max": 0, "mean": 0.00, "stddev": 0.00}, '
        f'"clat": {{{moments}, "percentile": {{"1.000000": 159, "99.990000": 9536, "0.00": 0, "0.00": 0}}}}, '
        '"lat": {"min": 60, "max": 9475, "mean": 258.18, "stddev": 453.51}}, '
        '"write": {"io_bytes": 0, "bw": 0, "iops": 0, "runtime": 0, "clat": {"min": 0, "max": 0, '
        '"mean": 0.00, "stddev": 0.00, "percentile": {"1.000000": 0, "0.00": 0}}}}]}'
    )
    tables = read(text)
    assert schema.records(tables["results"]) == [
        {
            "run_id": tables["runs"]["run_id"][0],
            "ddir": "read",
            "ios": None,
            "io_bytes": 31848 * 1024,
            "runtime_s": 1.001,
            "iops": 7954.0,
            "iops_stddev": None,
            "bw_bytes_per_s": 31848 * 1024 * 1000 / 1001,
            "errors": None,
        }
    ]
    latency = tables["latency"].set_index("lat_kind")
    assert latency.index.tolist() == ["clat", "lat"]
    assert latency.loc["clat", ["lat_min_us", "lat_mean_us", "lat_max_us"]].tolist() == [59, 258.04, 9475]
    assert latency["n"].isna().all()
    assert tables["percentiles"][["percentile", "lat_us"]].values.tolist() == [[1.0, 159.0], [99.99, 9536.0]]
    run = schema.records(tables["runs"])[0]
    told = ("rw", "bs_bytes", "iodepth", "numjobs", "queue_depth", "direct", "time_based")
    assert all(run[column] is None for column in told)
    assert codes(tables) == []


def test_io_bytes_are_bytes_as_soon_as_io_kbytes_stands_beside_them():
    kib = {key: value for key, value in direction().items() if key in ("io_bytes", "iops", "runtime")}
    for part, expected in ((kib, 409600 * 1024), (kib | {"io_kbytes": 400}, 409600)):
        results = read(document(job(read=part)))["results"]
        assert results["io_bytes"].tolist() == [expected]
        assert results["bw_bytes_per_s"].tolist() == [expected / 2]


def test_a_run_of_no_time_has_the_bandwidth_that_fio_printed():
    part = direction(runtime=0)
    del part["bw_bytes"]
    assert read(document(job(read=part)))["results"]["bw_bytes_per_s"].tolist() == [200 * 1024]


def test_zeros_of_what_was_not_measured_are_not_in_the_tables():
    idle = {
        "io_bytes": 0,
        "io_kbytes": 0,
        "iops": 0.0,
        "total_ios": 0,
        "clat_ns": {"min": 0, "max": 0, "N": 0},
    }
    unsampled = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0, "percentile": {"50.000000": 0}}
    part = direction(
        slat_ns=unsampled, lat_ns={"min": 0, "max": 0, "mean": 0.0}, iops_stddev=0.0, iops_samples=0
    )
    tables = read(document(job(read=part, write=idle, trim=idle)))
    assert tables["results"]["ddir"].tolist() == ["read"]
    assert tables["results"]["iops_stddev"].isna().all()
    assert tables["latency"]["lat_kind"].tolist() == ["clat"]
    assert tables["percentiles"]["lat_kind"].unique().tolist() == ["clat"]


def test_a_percentile_that_is_there_twice_counts_once():
    twice = {"50.0": 2000, "50.000000": 3000, "99.000000": 8000}
    clat = {"min": 1, "max": 9000, "mean": 2.0, "N": 7, "percentile": twice, "bins": {"430": 5, "0430": 2}}
    tables = read(document(job(read=direction(clat_ns=clat))))
    assert tables["percentiles"][["percentile", "lat_us"]].values.tolist() == [[50, 2], [99, 8]]
    assert tables["bins"][["bin_ns", "n"]].values.tolist() == [[430, 5]]
    assert codes(tables) == ["unexpected_value"]


def test_bins_of_fio_2_are_named_by_index_and_in_microseconds():
    """Index 816 of fio's histogram begins at 229,376 and is 2,048 wide: its middle is 230,400."""
    bins = {
        "0": 5,
        "1": 0,
        "816": 1,
        "FIO_IO_U_PLAT_BITS": 6,
        "FIO_IO_U_PLAT_VAL": 64,
        "FIO_IO_U_PLAT_NR": 1216,
    }
    part = {"io_bytes": 24, "runtime": 1, "clat": {"min": 0, "max": 230636, "mean": 3.0, "bins": bins}}
    tables = read(document(job(read=part)))
    assert tables["bins"][["bin_ns", "n"]].values.tolist() == [[0, 5], [230_400_000, 1]]
    assert tables["bins"]["t_s"].isna().all()
    assert codes(tables) == []


def test_bins_of_fio_3_are_named_by_value_in_nanoseconds():
    part = direction(clat_ns={"min": 1, "max": 9, "mean": 2.0, "N": 7, "bins": {"430": 5, "6258688": 2}})
    assert read(document(job(read=part)))["bins"][["bin_ns", "n"]].values.tolist() == [[430, 5], [6258688, 2]]


def test_the_sum_over_clients_says_so():
    runs = read(fixture("clients"))["runs"]
    assert runs["level"].tolist() == ["job", "job", "all"]
    assert runs["host"].tolist() == ["127.0.0.1"] * 3
    assert runs["bs_bytes"].tolist() == [4096] * 3
    assert runs["rw"].isna().tolist() == [False, False, True]


def test_what_one_client_did_otherwise_is_not_said_of_the_sum():
    text = json.dumps(
        {
            "fio version": "fio-3.33",
            "global options": {"bs": "4k", "iodepth": "8", "ioengine": "libaio", "size": "1m"},
            "client_stats": [
                job("a", {"blocksize": "64k"}, hostname="h"),
                {
                    key: value
                    for key, value in job("All clients", hostname="h").items()
                    if key != "job options"
                },
            ],
        }
    )
    total = schema.records(read(text)["runs"])[1]
    asked = ("level", "iodepth", "bs_bytes", "queue_depth", "working_set_bytes")
    assert [total[column] for column in asked] == ["all", 8, None, None, None]


def test_a_job_called_all_clients_is_a_job_where_there_are_no_clients():
    assert read(document(job("All clients")))["runs"]["level"].tolist() == ["job"]


def test_each_client_has_the_global_options_of_its_host():
    sizes = {"a": 8192, "b": 65536}
    entries = [
        job(hostname=host, port=8765, read=direction(io_bytes=100 * size)) for host, size in sizes.items()
    ]
    options = [{"hostname": "a", "port": "8765", "bs": "8k"}, {"hostname": "b", "port": "8765", "bs": "64k"}]
    text = json.dumps({"fio version": "fio-3.41", "global options": options, "client_stats": entries})
    assert read(text)["runs"]["bs_bytes"].tolist() == [8192, 65536]


def client(host: str, done: dict[str, Any], options: dict[str, str] | None = None) -> dict[str, Any]:
    """A client's row as fio 3.33 writes it: without options where the job has none of its own."""
    entry = job("load", options, hostname=host, port=8765, **done)
    if options is None:
        del entry["job options"]
    return entry


READ_4K, WRITE_4K = {"read": direction()}, {"write": direction(), "read": {}}
MIXED_8K = {"read": direction(io_bytes=819200), "write": direction(io_bytes=819200)}


def clients(shared: Any, *entries: dict[str, Any]) -> dict[str, pd.DataFrame]:
    root = {"fio version": "fio-3.33", "global options": shared, "client_stats": list(entries)}
    return read(json.dumps(root))


def test_options_of_several_clients_in_one_are_not_said_of_any_where_they_cannot_be_true():
    """fio 3.33 writes the global options of all clients into one list, in which the last value counts."""
    shared = {"rw": "randread", "rwmixread": "66", "bs": "4k", "iodepth": "4", "ioengine": "libaio"}
    tables = clients(
        shared, client("a", MIXED_8K), client("b", READ_4K), client("c", WRITE_4K, {"rw": "write"})
    )
    runs = tables["runs"]
    assert runs["rw"].fillna("").tolist() == ["", "", "write"]
    assert runs[["bs_bytes", "rwmix_read_pct", "iodepth", "queue_depth"]].isna().all(axis=None)
    assert codes(tables) == ["options_of_another_job"] * 3
    assert (
        "it did read and write, not randread; a read of it has 8192 B, not 4096"
        in (tables["findings"]["message"][0])
    )


def test_clients_that_share_their_options_have_them():
    shared = {"rw": "randread", "bs": "4k", "iodepth": "4", "ioengine": "libaio"}
    tables = clients(shared, client("a", READ_4K), client("b", READ_4K))
    assert tables["runs"]["rw"].tolist() == ["randread"] * 2
    assert tables["runs"]["iodepth"].tolist() == [4, 4]
    assert codes(tables) == []


@pytest.mark.parametrize(
    ("shared", "done", "missing", "kept"),
    [
        ({"rw": "randrw", "rwmixread": "66", "bs": "4k"}, READ_4K, {"rw", "rwmix_read_pct"}, {"bs_bytes"}),
        ({"rw": "randread", "bs": "64k"}, READ_4K, {"bs_bytes"}, {"rw"}),
        ({"rw": "randread", "bs": "1k"}, READ_4K, {"bs_bytes"}, {"rw"}),
        ({"rw": "randread", "bs": "4k"}, WRITE_4K, {"rw"}, {"bs_bytes"}),
    ],
)
def test_a_global_option_that_the_figures_disprove_is_not_said_of_the_job(shared, done, missing, kept):
    for tables in (
        clients(shared, client("a", done)),
        read(document(job(**done), **{"global options": shared})),
    ):
        run = schema.records(tables["runs"])[0]
        assert {run[column] for column in missing} == {None} and None not in {run[column] for column in kept}
        assert codes(tables) == ["options_of_another_job"]


@pytest.mark.parametrize(
    ("options", "done"),
    [
        ({"rw": "randrw", "rwmixread": "100", "bs": "4k"}, READ_4K),
        ({"rw": "randrw", "rwmixread": "90", "bs": "4k"}, READ_4K),  # 100 I/Os: 10 writes, by chance none
        ({"rw": "randwrite", "verify": "crc32c", "bs": "64k"}, READ_4K),
        ({"rw": "randread", "bsrange": "4k-64k"}, READ_4K),
        ({"rw": "randread", "bs": "4k"}, {"read": direction(io_bytes=400000)}),  # the last ones cut short
    ],
)
def test_options_that_can_be_true_are_believed(options, done):
    tables = read(document(job(**done), **{"global options": options}))
    assert tables["runs"]["rw"].tolist() == [options["rw"]]
    assert "options_of_another_job" not in codes(tables)


RAMP = {"rw": "randread", "bs": "4k", "ramp_time": "10"}
AFTER_RAMP = {"read": direction(io_bytes=409600 + 32 * 4096)}  # 32 I/Os were under way when the ramp ended


@pytest.mark.parametrize("options", [RAMP | {"iodepth": "32"}, RAMP | {"numjobs": "8", "iodepth": "4"}])
def test_a_ramp_explains_bytes_without_their_ios(options):
    """fio 3.33 counts the bytes, not the I/Os, of what was under way when the ramp ended."""
    own = {name: options[name] for name in ("numjobs", "iodepth") if name in options}
    for tables in (
        read(document(job(options=own, **AFTER_RAMP), **{"global options": options})),
        read(document(job(options=options, **AFTER_RAMP))),
        clients(options, client("a", AFTER_RAMP), client("b", READ_4K)),
    ):
        assert tables["runs"]["bs_bytes"].tolist() == [4096] * len(tables["runs"])
        assert codes(tables) == ["bytes_of_the_ramp"]
        assert "a read of it has 5407 B, not 4096" in tables["findings"]["message"][0]


@pytest.mark.parametrize("ramp", ["10", "0"])
def test_a_ramp_does_not_explain_another_block_size(ramp):
    shared = {"rw": "randread", "bs": "4k", "ramp_time": ramp, "iodepth": "4"}
    larger = client("a", {"read": direction(io_bytes=100 * 65536)})
    tables = clients(shared, larger, client("b", READ_4K))
    assert tables["runs"]["bs_bytes"].isna().all()


def test_the_start_is_told_only_by_job_start():
    assert run_of({})["started_at"] is None and run_of({})["ended_at"] is None
    (ended,) = schema.records(read(document(job(), timestamp_ms=1795174139494, timestamp=1))["runs"])
    assert (ended["started_at"], ended["ended_at"]) == (None, "2026-11-20T11:28:59.494+00:00")
    (odd,) = schema.records(read(document(job(), timestamp=1e300))["runs"])
    assert odd["ended_at"] is None
    assert run_of({}, job_start=1795174139494)["started_at"] == "2026-11-20T11:28:59.494+00:00"


# ---- options ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {"rw": "read", "bs_bytes": 4096, "iodepth": 1, "numjobs": 1, "queue_depth": 1, "direct": False}),
        ({}, {"ioengine": None, "target": None, "time_based": None, "rwmix_read_pct": None}),
        ({"readwrite": "readwrite"}, {"rw": "rw", "rwmix_read_pct": 50}),
        ({"rw": "randrw:8", "rwmixwrite": "30"}, {"rw": "randrw", "rwmix_read_pct": 70}),
        ({"rw": "randread", "rwmixread": "70"}, {"rw": "randread", "rwmix_read_pct": None}),
        ({"blocksize": "1m"}, {"bs_bytes": 1048576}),
        ({"kb_base": "1000", "bs": "8k", "size": "1k"}, {"bs_bytes": 8000, "working_set_bytes": 1000}),
        # kb_base holds for what fio parses after it; tried with fio 3.33, which lists options in that order
        ({"bs": "8k", "kb_base": "1000", "size": "1k"}, {"bs_bytes": 8192, "working_set_bytes": 1000}),
        ({"bs": "8k", "size": "1g", "kb_base": "1000"}, {"bs_bytes": 8192, "working_set_bytes": 2**30}),
        ({"bs": "4k,64k"}, {"bs_bytes": 4096, "bs_write_bytes": 65536}),
        ({"bs": ",8k"}, {"bs_bytes": 4096, "bs_write_bytes": 8192}),
        ({"bs": "8k,8k,4k"}, {"bs_bytes": 8192, "bs_write_bytes": None}),
        ({"buffered": "0"}, {"direct": True}),
        ({"direct": "1", "time_based": ""}, {"direct": True, "time_based": True}),
        ({"ioengine": "libaio", "iodepth": "032"}, {"iodepth": 32, "queue_depth": 32, "ioengine": "libaio"}),
        ({"ioengine": "psync", "iodepth": "32"}, {"iodepth": 32, "queue_depth": 1}),
        ({"ioengine": "external:./x.so", "iodepth": "2"}, {"iodepth": 2, "queue_depth": None}),
        ({"iodepth": "2"}, {"queue_depth": None}),
        ({"size": "1g", "filename": "/dev/sdc"}, {"working_set_bytes": 2**30, "target": "/dev/sdc"}),
        ({"size": "100%%", "directory": "/mnt"}, {"working_set_bytes": None, "target": "/mnt"}),
        ({"runtime": "5m", "ramp_time": "1500ms"}, {"runtime_limit_s": 300, "ramp_s": 1.5}),
        ({"timeout": "30", "rate_iops": "500"}, {"runtime_limit_s": 30, "rate_iops": 500}),
        # a limit holds for each direction, and the last one for the rest; tried with fio 3.33
        ({"rw": "randrw", "rate_iops": "1000,500"}, {"rate_iops": 1500}),
        ({"rw": "randrw", "rate_iops": "1000"}, {"rate_iops": 2000}),
        ({"rw": "read", "rate_iops": "1k,500"}, {"rate_iops": 1024}),
        ({"rw": "write", "rate_iops": "1000,500,200"}, {"rate_iops": 500}),
        ({"rw": "randtrim", "rate_iops": "1000,500,200"}, {"rate_iops": 200}),
        ({"rw": "randtrim", "rate_iops": "1000,500"}, {"rate_iops": 500}),
        ({"rw": "randrw", "rate_iops": "1000,"}, {"rate_iops": None}),  # writes are not limited
        ({"rw": "randrw", "rate_iops": ",500"}, {"rate_iops": None}),
        ({"rw": "randwrite", "rate_iops": ",500"}, {"rate_iops": 500}),
        ({"rw": "read", "rate_iops": "0"}, {"rate_iops": None}),
        ({"rw": "read", "rate": "4m"}, {"rate_iops": 1024}),
        ({"rw": "read", "kb_base": "1000", "rate": "4m"}, {"rate_iops": 4e6 / 4096}),
        ({"rw": "randrw", "rate": "8m,4m", "bs": "4k,8k"}, {"rate_iops": 2048 + 512}),
        ({"rw": "randrw", "rate": "8m", "bs": "4k,8k"}, {"rate_iops": 2048 + 1024}),
        ({"rw": "randtrim", "rate": "8m", "bs": "4k,8k"}, {"rate_iops": 1024}),
        ({"rw": "randread", "rate": "8m", "bs": "4k,8k", "rate_min": "1m"}, {"rate_iops": 2048}),
        ({"rw": "read", "rate_min": "1m", "rate_iops_min": "7"}, {"rate_iops": None}),
        ({"rw": "randrw", "rate": "8m,4m", "bsrange": "4k-8k"}, {"rate_bytes_per_s": 12 << 20}),
        ({"rw": "randrw", "rate": "8m,"}, {"rate_bytes_per_s": None}),
        ({}, {"thinktime_us": 0, "fsync": 0, "fdatasync": 0, "verify": "none", "random_distribution": None}),
        (
            {"thinktime": "200", "fsync": "1", "fdatasync": "32"},
            {"thinktime_us": 200, "fsync": 1, "fdatasync": 32},
        ),
        ({"thinktime": "5ms", "verify": "crc32c"}, {"thinktime_us": 5000, "verify": "crc32c"}),
        (
            {"verify": "0", "fsync": "-1", "thinktime": "soon"},
            {"verify": "none", "fsync": None, "thinktime_us": None},
        ),
        ({"rw": "randread"}, {"random_distribution": "random"}),
        ({"rw": "randrw", "random_distribution": "zipf:1.2"}, {"random_distribution": "zipf:1.2"}),
        ({"rw": "write", "random_distribution": "zipf:1.2"}, {"random_distribution": None}),
    ],
)
def test_options_become_columns(options, expected):
    run = run_of(options)
    assert {column: run[column] for column in expected} == expected


def test_what_is_not_said_of_a_job_without_all_its_options_is_not_known():
    """fio before 2.4 wrote no options, and a group's row has those of its last job alone."""
    entry = job()
    del entry["job options"]
    run = schema.records(read(document(entry))["runs"])[0]
    names = ("thinktime_us", "fsync", "fdatasync", "random_distribution", "verify", "rate_bytes_per_s")
    assert {run[name] for name in names} == {None}


def test_a_job_s_own_options_win_over_the_global_ones_under_any_name():
    tables = read(
        document(job(options={"blocksize": "64k"}), **{"global options": {"bs": "4k", "iodepth": "8"}})
    )
    assert tables["runs"][["bs_bytes", "iodepth"]].values.tolist() == [[65536, 8]]
    shared = {"global options": {"rw": "rw", "rwmixread": "10", "rwmixwrite": "20"}}
    own = job(options={"rwmixread": "30"}, write=direction())
    assert read(document(own, **shared))["runs"]["rwmix_read_pct"].tolist() == [30]
    assert read(document(job(write=direction()), **shared))["runs"]["rwmix_read_pct"].tolist() == [80]


def test_a_base_of_units_holds_for_what_a_job_says_itself_and_not_for_what_it_was_given():
    for shared, own, expected in (
        ({"kb_base": "1000", "bs": "4k"}, {"kb_base": "1024"}, 4000),
        ({"kb_base": "1000", "bs": "4k"}, {"kb_base": "1024", "bs": "4k"}, 4096),
        ({"kb_base": "1000"}, {"bs": "4k"}, 4000),
        ({"bs": "4k"}, {"kb_base": "1000"}, 4096),
        ({"bs": "8k"}, {"blocksize": "4k", "kb_base": "1000"}, 4096),
    ):
        done = job(options=own, read=direction(io_bytes=100 * expected))
        tables = read(document(done, **{"global options": shared}))
        assert tables["runs"]["bs_bytes"].tolist() == [expected]


def test_a_rate_in_bytes_of_unknown_block_size_is_no_rate_of_ios():
    assert run_of({"rw": "read", "rate": "8m", "bsrange": "4k-8k"})["rate_iops"] is None


def test_products_that_no_column_can_hold_are_na():
    run = run_of({"size": "8000p", "iodepth": "9000000000", "numjobs": "9000000000", "ioengine": "libaio"})
    assert (run["working_set_bytes"], run["queue_depth"], run["numjobs"]) == (None, None, 9 * 10**9)


def test_options_are_unknown_where_fio_did_not_write_them():
    entry = job()
    del entry["job options"]
    run = schema.records(read(document(entry, **{"global options": {"bs": "8k"}}))["runs"])[0]
    assert (run["bs_bytes"], run["rw"], run["iodepth"], run["direct"]) == (8192, None, None, None)


@pytest.mark.parametrize(
    ("rows", "options", "depth", "touched"),
    [
        (1, {"group_reporting": ""}, 32, 4096),
        (1, {"group_reporting": "1"}, 32, 4096),
        (1, {}, 32, 4096),  # a bare --group_reporting is not among the options of fio 3.33
        (1, {"filename": "f"}, 32, 1024),
        (4, {}, 8, 1024),
    ],
)
def test_one_row_for_all_of_numjobs_counts_them(rows, options, depth, touched):
    asked = {"numjobs": "4", "iodepth": "8", "ioengine": "libaio", "size": "1k"} | options
    runs = read(document(*[job(options=asked)] * rows))["runs"]
    assert runs["numjobs"].tolist() == [4] * rows
    assert runs["queue_depth"].tolist() == [depth] * rows
    assert runs["working_set_bytes"].tolist() == [touched] * rows


def test_the_fixture_with_a_bare_group_reporting_counts_both_jobs():
    assert read(fixture("group_jsonplus"))["runs"][["iodepth", "numjobs", "queue_depth"]].values.tolist() == [
        [4, 2, 8]
    ]


def test_a_reporting_group_of_several_jobs_is_told():
    """fio 3.33 gives such a row the name of its first job and the options of its last."""
    for entry in (
        job("a", {"name": "b", "rw": "read"}),
        job("a", {"rw": "write", "size": "1m"}),
    ):
        tables = read(document(entry))
        assert codes(tables) == ["options_of_another_job"]
        assert tables["runs"][["queue_depth", "working_set_bytes"]].isna().all(axis=None)
    assert codes(read(document(job("a", {"rw": "write", "verify": "crc32c"})))) == []


@pytest.mark.parametrize(
    "options", [{"bssplit": "4k/50:64k/50"}, {"bsrange": "4k-32k"}, {"blocksize_range": "1k-2k"}]
)
def test_block_sizes_from_a_range_have_no_single_value(options):
    tables = read(document(job(options=options)))
    assert tables["runs"]["bs_bytes"].isna().all()
    assert codes(tables) == ["block_size_varies"]


@pytest.mark.parametrize(
    "options",
    [
        {"bs": "4x"},
        {"bs": ["4k"]},
        {"rw": "sideways"},
        {"iodepth": "-1"},
        {"numjobs": "many"},
        {"size": "1g-2g"},
        {"runtime": "soon"},
        {"rate_iops": "100,many"},
        {"rate": "1,2,3,4"},
        {"direct": "yes"},
        {"size": "9" * 5000},
        {"iodepth": "9" * 30},
    ],
    ids=str,
)
def test_an_option_that_is_not_understood_is_na_and_named(options):
    tables = read(document(job(options=options)))
    assert codes(tables) == ["option_not_read"]
    (name,) = options
    assert f"{name}=" in tables["findings"]["message"][0]


# ---- several documents, and text around them -----------------------------------------------------------


def test_snapshots_of_one_run_are_told_from_its_last_document():
    tables = read(fixture("status_interval"))
    runs, findings = tables["runs"], tables["findings"]
    assert runs["source_doc"].tolist() == [0, 1, 2, 3]
    assert runs["run_id"].is_unique
    assert findings["code"].tolist() == ["interim_document"] * 3
    assert findings["run_id"].tolist() == runs["run_id"].tolist()[:3]
    assert "document 1 of 4" in findings["message"][0]


def test_runs_that_were_appended_to_one_file_all_count():
    def run(at_s: int, **changes: Any) -> str:
        return document(job(elapsed=60, read=direction(**changes)), timestamp_ms=at_s * 1000)

    assert codes(read(run(1_700_000_000) + run(1_700_000_100, total_ios=101))) == []
    assert codes(read(run(1_700_000_000) + run(1_700_000_001, total_ios=99))) == []
    assert codes(read(document(job("a")) + document(job("b")))) == []
    assert codes(read(run(1_700_000_000) + run(1_700_000_001, total_ios=101))) == ["interim_document"]


def test_a_broken_last_snapshot_does_not_replace_the_one_before():
    whole = document(job(elapsed=1), timestamp_ms=1000)
    tables = read(whole + whole[: whole.index('"read"')])
    assert len(tables["runs"]) == 1
    assert codes(tables) == ["broken_json"]


def test_fio_s_complaints_are_errors_and_other_text_is_worth_knowing():
    noise = "note: both iodepth >= 1 and synchronous I/O engine are selected\nJobs: 1 (f=1)\rJobs: 0 (f=0)\n"
    complaint = "fio: pid=0, err=28/file:io_u.c:1876, func=io_u error, error=No space left on device"
    tables = read(f"{noise}{complaint}\n{document(job())}\n  read: IOPS=50, BW=200KiB/s\n")
    findings = tables["findings"].set_index("code")
    assert findings["severity"].to_dict() == {"fio_error_line": "error", "text_around_json": "info"}
    assert complaint in findings.loc["fio_error_line", "message"]
    assert "note: both iodepth" in findings.loc["text_around_json", "message"]
    assert len(tables["results"]) == 1


def test_a_byte_order_mark_carriage_returns_and_a_json_list_around_are_no_trouble():
    text = document(job())
    for data in (
        b"\xef\xbb\xbf" + text.encode(),
        text.encode("utf-16"),
        text.replace("\n", "\r\n").encode(),
        f"[{text},\n{document(job('other'))}]".encode(),
        f'{{"timestamp": 5, "node": "n1", "output": {text}}}'.encode(),
        json.dumps(json.loads(text), sort_keys=True).encode(),
    ):
        tables = read(data)
        assert tables["results"]["iops"].unique().tolist() == [50.0]
        assert codes(tables) == []


def test_a_failed_job_keeps_its_partial_results_and_its_neighbours():
    tables = read(fixture("failed_job"))
    findings = tables["findings"]
    failed = findings[findings["code"] == "job_failed"]
    assert failed["run_id"].tolist() == tables["runs"]["run_id"].tolist()[1:]
    assert "error 28 (No space left on device)" in failed["message"].iloc[0]
    assert findings[findings["code"] == "no_io"]["run_id"].tolist() == [tables["runs"]["run_id"][2]]
    assert "err=28/file:io_u.c" in findings[findings["code"] == "fio_error_line"]["message"].iloc[0]


def test_failed_ios_are_counted_where_it_is_clear_whose_they_are():
    one, two = job(total_err=3, first_error=5), job(total_err=3, first_error=5, write=direction())
    assert read(document(one))["results"]["errors"].tolist() == [3]
    tables = read(document(two))
    assert tables["results"]["errors"].isna().all()
    assert "3 I/Os failed" in tables["findings"].set_index("code").loc["io_errors", "message"]
    assert read(document(job(total_err=0, write=direction())))["results"]["errors"].tolist() == [0, 0]


# ---- damage --------------------------------------------------------------------------------------------


def test_a_document_that_breaks_off_keeps_its_whole_jobs():
    text = document(job("a"), job("b"), job("c"))
    cut = text.index(': "c"')
    tables = read(text[:cut])
    assert tables["runs"]["job"].tolist() == ["a", "b"]
    assert tables["runs"]["tool_version"].tolist() == ["fio-3.33"] * 2
    (finding,) = schema.records(tables["findings"])
    assert (finding["code"], finding["severity"]) == ("broken_json", "error")
    line, column = text[:cut].count("\n") + 1, len(text[:cut].rpartition("\n")[2]) + 1
    assert f"some.json: document 1 is broken at line {line}, column {column}" in finding["message"]
    assert "2 jobs of it were kept" in finding["message"]


def test_a_job_that_is_damaged_inside_is_left_out_alone_and_the_others_keep_their_place():
    text = document(job("a"), job("b"), job("c")).replace('"jobname": "b",', '"jobname": "b" .')
    runs = read(text + document(job("d")))["runs"]
    assert runs[["job", "source_doc", "job_index"]].values.tolist() == [["a", 0, 0], ["c", 0, 2], ["d", 1, 0]]


def test_the_queue_depth_of_what_is_left_of_a_document_is_not_guessed():
    text = document(*[job(options={"numjobs": "2"})] * 2)
    assert read(text[: text.rindex('"jobname"')])["runs"]["queue_depth"].isna().all()


def test_jobs_are_found_where_the_opening_of_the_document_is_lost():
    tables = read("@" + document(job("a"))[1:].replace("fio version", "fio verson"))
    assert tables["runs"]["job"].tolist() == ["a"]
    assert codes(tables)[0] == "broken_json"


@pytest.mark.parametrize("blemish", [',\n  "jobs"', '\x00,\n  "jobs"'])
def test_what_can_be_mended_loses_nothing(blemish):
    text = document(job("a")).replace("}", "},", 1).replace("},,", "},")
    text = text.replace(',\n  "jobs"', blemish).replace("8000", "8000,")
    tables = read(text)
    assert len(tables["percentiles"]) == 2
    findings = tables["findings"].set_index("code")
    assert findings.loc["broken_json", "severity"] == "warning"
    assert (
        f"line {2 if chr(0) in blemish else text[: text.index('8000,')].count(chr(10)) + 1},"
        in (findings.loc["broken_json", "message"])
    )


class JsonAlone:
    """In the place of orjson: refuses everything, so that the module json decodes it."""

    JSONDecodeError = orjson.JSONDecodeError

    @staticmethod
    def loads(text: str) -> Any:
        raise orjson.JSONDecodeError("no", text, 0)


NUMBER = re.compile(r"(?<=: )\d+(?:\.\d+)?")
NUMBERS = (
    "nan",
    "-inf",
    "NaN",
    "1e999",
    "-0",
    "1E5",
    "0.1e-400",
    "01",
    "+1",
    ".5",
    "1.",
    str(2**64 - 1),
    '"\\ud800"',
)
TAILS = (
    "",
    "\n",
    "\n\0\0",
    "\0",
    " \n x",
    "]}",
    "}",
    ",",
    "\nfio: pid=1, err=5\n",
    '{"fio version" : "fio-3.1"',
)
DOCUMENTS = st.tuples(
    st.sampled_from(CASES),
    st.lists(st.tuples(st.integers(0, 10**6), st.sampled_from(NUMBERS)), max_size=2),
    st.none() | st.tuples(st.floats(0, 1), st.integers(0, 300)),
    st.sampled_from(TAILS),
)


def damaged(case: str, numbers: list[tuple[int, str]], lost: tuple[float, int] | None, tail: str) -> str:
    """An output with other numbers, without some of its characters, and with something behind it."""
    text = fixture(case)
    for place, put in numbers:
        told = list(NUMBER.finditer(text))
        if told:
            begin, end = told[place % len(told)].span()
            text = text[:begin] + put + text[end:]
    begin, length = (int(lost[0] * len(text)), lost[1]) if lost else (0, 0)
    return text[:begin] + text[begin + length :] + tail


@given(st.lists(DOCUMENTS, min_size=1, max_size=3))
def test_orjson_decodes_what_json_decodes(documents):
    text = "".join(damaged(*one) for one in documents)
    found = _json_documents.find_documents(text)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_json_documents, "orjson", JsonAlone)
        other = _json_documents.find_documents(text)
    assert repr(found) == repr(other)


@pytest.mark.parametrize("value", ["nan", "-nan", "inf", "NaN", "-Infinity", "1e999"])
def test_what_is_not_a_number_is_na(value):
    text = document(job(read=direction(iops=-123.25))).replace("-123.25", value)
    tables = read(text)
    assert tables["results"]["iops"].isna().tolist() == [True]
    assert tables["results"]["ios"].tolist() == [100]
    assert codes(tables) == ["not_a_number"]
    assert "read.iops" in tables["findings"]["message"][0]


@pytest.mark.parametrize(
    "change",
    [
        {"groupid": "zero"},
        {"usr_cpu": [1]},
        {"error": {}},
        {"read": []},
        {"read": direction(iops="50")},
        {"read": direction(total_ios=-1)},
        {"read": direction(io_bytes=2**80)},
        {"read": direction(total_ios=1.5)},
        {"read": direction(iops=True)},
        {"read": direction(clat_ns=7)},
        {"read": direction(clat_ns={"N": 1, "mean": 5, "percentile": {"much": 1}})},
        {"read": direction(clat_ns={"N": 1, "mean": 5, "percentile": {"101": 1}})},
        {"read": direction(clat_ns={"N": 1, "mean": 5, "bins": {"-5": 1, "7.5": 1, "9" * 30: 1}})},
        {"job options": ["bs=4k"]},
        {"job_start": 10**17},
        {"hostname": 5},
    ],
    ids=str,
)
def test_values_of_a_wrong_kind_are_missing_and_named(change):
    tables = read(document(job() | change, job("good")))
    assert "unexpected_value" in codes(tables)
    assert tables["runs"]["job"].tolist() == ["j", "good"]
    assert tables["results"]["iops"].tolist()[-1] == 50


@pytest.mark.parametrize("entry", [None, 5, "job", [], [{}]])
def test_an_entry_that_is_no_object_does_not_hide_the_others(entry):
    runs = read(document(entry, job("good")))["runs"]
    assert runs["job_index"].tolist()[-1] == 1
    assert runs["job"].tolist()[-1] == "good"


def test_names_that_are_no_unicode_can_be_written():
    entry = '{"jobname": "a\\ud800", "job options": {"filename": "\\udfff"}}'
    tables = read('{"fio version": "fio-3.33", "jobs": [' + entry + "]}")
    assert tables["runs"][["job", "target"]].values.tolist() == [["a?", "?"]]


def test_a_file_without_any_job_says_so():
    assert codes(read('{"fio version": "fio-3.33", "jobs": []}')) == ["no_jobs"]
    assert codes(read("")) == ["no_fio_document"]


@pytest.mark.parametrize(
    "text",
    [
        "{" * 10**5,
        '{"jobs":' * 10**5,
        '{"fio version":' * 10**5,
        '{"fio version" : "x",\n' * 10**4,
        '{"fio version":"x","jobs":[' + '{"jobname" x\n' * 10**5,
        '{"fio version":"x","jobs":[' + '{"jobname":' * 10**5,
        '{"fio version":1,"jobs":' + "[" * 10**5,
        "{" + " " * 10**6 + "{",
        '{"fio version":"x","jobs":[{"jobname":"a","error":' + "9" * 10**5 + "}]}",
    ],
    ids=lambda text: text[:30],
)
@pytest.mark.sampled(5)
def test_hopeless_input_is_given_up_quickly(text):
    tables = read(text)
    assert tables["results"].empty
    assert {"no_fio_document", "broken_json"} & set(codes(tables))


def test_deep_nesting_keeps_the_jobs_before_it():
    text = document(job("a"), job("b", {"x": "DEEP"})).replace('"DEEP"', "[" * 20000 + "]" * 20000)
    tables = read(text)
    assert tables["runs"]["job"].tolist() == ["a"]
    assert "nested too deeply" in tables["findings"]["message"][0]


damaged_fixtures = st.sampled_from(["randrw", "group_jsonplus", "failed_job", "unified_both"]).flatmap(
    lambda case: st.tuples(st.just(case), st.integers(0, len(fixture(case).encode()) - 1))
)
tolerant = settings(max_examples=15)


def assert_sound(tables: dict[str, pd.DataFrame]) -> None:
    for name, table in tables.items():
        schema.check(name, table)
        for column in table.select_dtypes("Float64"):
            assert not any(math.isnan(v) or math.isinf(v) for v in table[column].dropna())
    for name in ("results", "latency", "percentiles", "bins"):
        assert set(tables[name]["run_id"]) <= set(tables["runs"]["run_id"])


def entry_ends(text: str) -> list[int]:
    """Where the jobs of the first document end."""
    position, ends = text.index("[", text.index('"jobs"')) + 1, []
    while (rest := text[position:].lstrip(", \n"))[0] != "]":
        ends.append(len(text) - len(rest) + json.JSONDecoder().raw_decode(rest)[1])
        position = ends[-1]
    return ends


@given(damaged_fixtures)
@tolerant
def test_any_truncation_keeps_the_jobs_before_it(where):
    case, cut = where
    text = fixture(case)
    tables = read(text.encode()[:cut])
    assert_sound(tables)
    whole = read(text)
    kept = tables["results"].drop(columns="run_id").values.tolist()
    assert kept == whole["results"].drop(columns="run_id").values.tolist()[: len(kept)]
    assert len(tables["runs"]) >= sum(end <= cut for end in entry_ends(text))


@given(damaged_fixtures, st.binary(min_size=1, max_size=3))
@tolerant
def test_any_overwritten_byte_leaves_tables_sound(where, replacement):
    case, place = where
    data = fixture(case).encode()
    assert_sound(read(data[:place] + replacement + data[place + len(replacement) :]))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("4k"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
paths = st.sampled_from(
    [
        ("fio version",),
        ("timestamp_ms",),
        ("global options",),
        ("jobs",),
        ("jobs", 0),
        ("jobs", 0, "jobname"),
        ("jobs", 0, "job options"),
        ("jobs", 0, "job options", "bs"),
        ("jobs", 0, "job options", "numjobs"),
        ("jobs", 0, "job options", "size"),
        ("jobs", 0, "job options", "runtime"),
        ("jobs", 0, "elapsed"),
        ("jobs", 0, "job_start"),
        ("jobs", 0, "read"),
        ("jobs", 0, "read", "io_bytes"),
        ("jobs", 0, "read", "runtime"),
        ("jobs", 0, "read", "clat_ns"),
        ("jobs", 0, "read", "clat_ns", "mean"),
        ("jobs", 0, "read", "clat_ns", "N"),
        ("jobs", 0, "read", "clat_ns", "percentile"),
        ("jobs", 0, "read", "clat_ns", "bins"),
    ]
)


@given(paths, json_values)
@tolerant
def test_any_value_anywhere_leaves_tables_sound(path, value):
    root = json.loads(fixture("group_jsonplus"))
    inner = root
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    assert_sound(read(json.dumps(root) + json.dumps(root)))


# ---- recognition ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '{"jobs": 5}',
        '{"client_stats": []}',
        "1, 2, 0, 4096\n",
        "jobname,iops\na,5\n",
        "a: (groupid=0, jobs=1): err= 0: pid=1\n  read: IOPS=50\n",
        'the key "fio version" is in every document',
        '{"source": ["doc[\\"fio version\\"]"]}',
    ],
)
def test_other_text_is_not_claimed(text):
    assert not fio_json.sniff(text)


def test_a_document_after_other_text_is_claimed_even_when_it_is_broken():
    text = "fio: something\r" * 50 + fixture("randrw")
    assert fio_json.sniff(text)
    assert fio_json.sniff(text.replace('"timestamp"', '"timestamp')[:3000])
    assert not log_lines.sniff(text)
