"""The shipped datasets: every figure is the published one, and every file is the shipped one."""

import csv
import os
import re
from functools import cache
from pathlib import Path

import pytest
from shipped_datasets import TELEMETRY

from azbenchlib.dataset.dataset import Dataset
from azbenchlib.dataset.files import regular_files, sha256

DATASETS = Path(__file__).parents[2] / "datasets"
NAMES = (
    "azure-local-disks-2020",
    "iozone-host-cache-2012",
    "l-series-iometer-2017",
    "ultra-disk-2019",
    "zone-redundant-disks-2022",
)
EMULATED = "premium-ssd-emulated-2026"
CORPUS = os.environ.get("AZBENCH_CORPUS", "")
SEEDS = Path(CORPUS).parent / "seeds"
collected = pytest.mark.skipif(
    not (CORPUS and SEEDS.is_dir()), reason="no folder of collected figures beside AZBENCH_CORPUS"
)
KIB, MIB = 1024, 1024**2


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def shipped(name: str) -> Dataset:
    return Dataset.read(DATASETS / name)


def raw_rows() -> list[dict[str, str]]:
    return [
        row for name in NAMES for path in (DATASETS / name / "raw").glob("*.csv") for row in rows_of(path)
    ]


def percentiles(setup: str) -> dict[float, float]:
    found = shipped("azure-local-disks-2020")
    runs = found.runs.loc[found.runs["setup_id"] == setup, "run_id"]
    mine = found.percentiles[found.percentiles["run_id"].isin(runs)]
    return dict(zip(mine["percentile"], mine["lat_us"], strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_a_dataset_loads_without_loss(name):
    found = shipped(name)
    assert found.manifest.name == name
    assert "error" not in set(found.findings["severity"])
    assert "raw_changed" not in set(found.findings["code"])
    assert len(found.published) == sum(len(rows_of(path)) for path in (DATASETS / name / "raw").glob("*.csv"))
    assert not found.published["source_line"].isna().any()


@pytest.mark.parametrize("name", [*NAMES, EMULATED, TELEMETRY])
def test_the_files_are_those_of_the_manifest(name):
    folder = DATASETS / name
    files = {path.relative_to(folder).as_posix(): path for path in regular_files(folder / "raw")}
    assert {name: sha256(path) for name, path in files.items()} == shipped(name).manifest.raw


@pytest.mark.parametrize("name", NAMES)
def test_every_setup_and_source_that_a_row_names_is_in_the_manifest(name):
    found = shipped(name)
    assert set(found.runs["setup_id"].dropna()) <= set(found.setups["setup_id"])
    assert not found.runs["setup_id"].isna().any()
    files = {text.split(",")[0] for text in found.published["source_file"]}
    assert files == {source.file for source in found.manifest.sources}
    for source in found.manifest.sources:
        assert re.fullmatch(r"[0-9a-f]{64}", source.sha256)


@pytest.mark.parametrize("name", NAMES)
def test_the_tools_of_the_runs_are_in_the_manifest(name):
    found = shipped(name)
    assert set(found.runs["tool"].dropna()) <= {tool.lower() for tool in found.manifest.tools}


@pytest.mark.parametrize(
    "word", ["http", "password", "passwd", "token", "login", "secret", "credential", "sign-in"]
)
def test_nothing_private_is_shipped(word):
    for path in (path for name in (*NAMES, EMULATED, TELEMETRY) for path in regular_files(DATASETS / name)):
        if path.suffix != ".parquet":
            assert word not in path.read_text(encoding="utf-8").lower(), path


def test_the_emulated_dataset_has_what_the_published_ones_lack_and_says_that_it_is_emulated():
    found = shipped(EMULATED)
    assert set(found.setups["environment"]) == {"lab"} and "emulated" in found.manifest.title
    assert found.findings[~found.findings["severity"].eq("info")].empty
    assert not any("this machine was busy" in note for note in found.manifest.notes)
    every = set(found.runs["run_id"])
    assert len(every) == 2 and set(found.bins["run_id"]) == every
    logged = found.samples[found.samples["metric"] == "clat_us"]
    assert (logged.groupby("run_id").size() > 50).all() and set(logged["run_id"]) == every


@collected
def test_all_collected_figures_are_there_as_they_were_printed():
    here = {row["id"]: row for row in raw_rows()}
    seeds = rows_of(SEEDS / "seed_experiments.csv")
    assert len(seeds) == 195
    for seed in seeds:
        mine = here[seed["id"]]
        assert (mine["quantity"], mine["value"], mine["unit"]) == (
            seed["metric"],
            seed["value"],
            seed["unit"],
        )
        assert (mine["source_file"], mine["source_line"]) == (seed["seed_file"], seed["line"])
        for column, other in (
            ("bs_kib", "bs_kib"),
            ("iodepth", "iodepth_per_job"),
            ("numjobs", "numjobs"),
            ("queue_depth", "outstanding_total"),
            ("experiment", "experiment_id"),
        ):
            assert mine[column] == seed[other], seed["id"]
        if seed["value_si"]:
            assert float(mine["value_si"]) == pytest.approx(float(seed["value_si"]), rel=1e-9)
            assert mine["si_unit"] == seed["si_unit"]
    assert sum(row["id"] in {seed["id"] for seed in seeds} for row in raw_rows()) == 195


@collected
def test_the_printed_figures_are_on_their_line_of_the_source():
    """Where they are printed in digits: not ranges in words, figures read off a chart or thousands as k."""
    found = 0
    for row in raw_rows():
        path = SEEDS / row["source_file"]
        if not path.is_file() or not row["value"]:
            continue
        line = path.read_text(encoding="utf-8").splitlines()[int(row["source_line"]) - 1]
        found += bool(re.search(rf"(?<![\d.]){re.escape(row['value'].removesuffix('.0'))}(?!\d)", line))
    assert found >= 160


@collected
def test_all_figures_of_iozone_are_there():
    targets = {"sdb1": "temp", "sdc1": "data-none", "sdd1": "data-readonly", "sde1": "data-readwrite"}
    seeds = rows_of(SEEDS / "seed004_iozone_raw.csv")
    here = rows_of(DATASETS / "iozone-host-cache-2012" / "raw" / "iozone.csv")
    assert len(seeds) == len(here) == 676
    tests = {}
    for seed, mine in zip(seeds, here, strict=True):
        assert float(mine["value"]) == float(seed["value_kib_per_s"])
        assert float(mine["value_si"]) == float(seed["value_kib_per_s"]) * KIB
        assert (mine["setup"], mine["bs_kib"]) == (targets[seed["device"]], seed["record_kib"])
        assert int(mine["working_set_bytes"]) == int(seed["file_size_kib"]) * KIB
        tests.setdefault(seed["test"], set()).add(mine["rw"])
    assert len(tests) == 13
    assert all(len(names) == 1 for names in tests.values())
    assert len(set().union(*tests.values())) == 13


@collected
def test_the_percentile_curves_are_the_published_ones():
    seeds = [row for row in rows_of(SEEDS / "seed_experiments.csv") if row["metric"] == "clat"]
    experiments = dict.fromkeys(row["experiment_id"] for row in seeds)
    assert len(experiments) == 6
    jobs = shipped("azure-local-disks-2020").runs.set_index("job")["setup_id"]
    for experiment in experiments:
        expected = {
            float(row["stat"][1:]): float(row["value"]) for row in seeds if row["experiment_id"] == experiment
        }
        assert len(expected) == 17
        assert percentiles(jobs[experiment]) == expected


@pytest.mark.parametrize(
    ("setup", "p50", "p95", "p99", "p99_99"),
    [
        ("E8as_v4-temp", 147, 375, 578, 3785),
        ("E8ds_v4-temp", 145, 269, 498, 5080),
        ("E8ds_v4-os-readwrite", 51, 251, 685, 2835),
        ("E8ds_v4-os-none", 2474, 2868, 3556, 9634),
        ("E8ds_v4-ephemeral-os", 221, 529, 840, 30802),
        ("L8s_v2-nvme", 43, 78, 121, 1401),
    ],
)
def test_the_latencies_of_2020(setup, p50, p95, p99, p99_99):
    found = percentiles(setup)
    assert len(found) == 17
    assert [found[p] for p in (50, 95, 99, 99.99)] == [p50, p95, p99, p99_99]


def test_the_rates_of_2020():
    found = shipped("azure-local-disks-2020")
    rates = found.runs.merge(found.results, on="run_id").set_index("setup_id")
    assert rates["iops"].to_dict() == {
        "E8as_v4-temp": 16300,
        "E8ds_v4-temp": 59200,
        "E8ds_v4-os-readwrite": 60100,
        "E8ds_v4-os-none": 3499,
        "E8ds_v4-ephemeral-os": 60600,
        "L8s_v2-nvme": 261000,
    }
    assert (rates["bw_bytes_per_s"] / MIB).round(6).to_dict() == {
        "E8as_v4-temp": 128,
        "E8ds_v4-temp": 462,
        "E8ds_v4-os-readwrite": 469,
        "E8ds_v4-os-none": 27.3,
        "E8ds_v4-ephemeral-os": 474,
        "L8s_v2-nvme": 1021,
    }
    # rate times block size is the throughput, as far as fio prints its digits
    moved = rates["iops"] * rates["bs_bytes"] / rates["bw_bytes_per_s"]
    assert moved.between(0.99, 1.01).all()
    assert set(rates["queue_depth"]) == {1024, 8192}


@pytest.mark.parametrize(
    ("test", "temp", "none", "readonly", "readwrite"),
    [
        ("write", 231136, 200333, 195408, 19802),
        ("rewrite", 429362, 191290, 192154, 19365),
        ("random_write", 402039, 186043, 192318, 17679),
    ],
)
def test_the_medians_of_2012(test, temp, none, readonly, readwrite):
    found = shipped("iozone-host-cache-2012")
    rates = found.runs[found.runs["rw"] == test].merge(found.results, on="run_id")
    assert rates.groupby("setup_id")["bs_bytes"].nunique().unique().tolist() == [13]
    medians = rates.groupby("setup_id")["bw_bytes_per_s"].median() / KIB
    assert medians.round().astype(int).to_dict() == {
        "temp": temp,
        "data-none": none,
        "data-readonly": readonly,
        "data-readwrite": readwrite,
    }


def test_the_rates_of_2022():
    found = shipped("zone-redundant-disks-2022")
    rates = found.runs.merge(found.results, on="run_id")
    table = rates.pivot(index="setup_id", columns="ddir", values="iops")
    assert table.loc["zrs-zone1"].to_dict() == {"read": 5140, "write": 5180}
    assert table.loc["lrs-zone1"].to_dict() == {"read": 5140, "write": 5140}
    assert table.loc[["zrs-zone2", "zrs-zone3"]].to_numpy().tolist() == [[5180, 5180]] * 2
    latencies = found.published[found.published["quantity"] == "latency"]
    assert sorted(latencies["value"]) == [1.3, 2.2, 2.2, 3.2, 3.2, 3.2, 4.3, 4.8]
    assert found.latency.empty  # whether means or medians is not stated


def test_figures_that_are_mere_bounds_are_no_results():
    for name in NAMES:
        found = shipped(name)
        bounded = found.published[found.published["bound"].isin(["<", ">"])]
        assert not bounded["run_id"].isin(found.results["run_id"]).any()
