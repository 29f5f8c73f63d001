"""Percentiles by window, from fio's logs as they lie: kinds, units, jobs, averages, damage, wall clock."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from azbenchlib.core import histogram
from azbenchlib.core.errors import InputError
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.dataset.log_windows import Windowed, read_windows

DATA = Path(__file__).parents[1] / "data" / "fio"
WANTED = (50, 99, 100)


def told(found: Windowed) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in found.rows]


def codes(found: Windowed) -> list[str]:
    return [finding.code.value for finding in found.findings]


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_a_log_of_fio_gives_what_sorting_its_lines_gives():
    """The fixture was written by fio, read and write mixed; its lines are parsed here by pandas."""
    lines = pd.read_csv(
        DATA / "rw_clat.1.log", header=None, names=["t", "ns", "ddir", "bs", "x"], index_col=False
    )
    found = read_windows([DATA / "rw_clat.1.log"], 100, [50, 90], "ns")
    groups = lines.groupby([lines["t"] // 100, "ddir"])["ns"]
    assert [(row["t_s"], row["ddir"], row["n"]) for row in found.rows] == [
        (place / 10, ("read", "write")[ddir], n) for (place, ddir), n in groups.size().items()
    ]
    for p in (50, 90):
        rank = groups.apply(lambda ns, p=p: sorted(ns)[-(-p * len(ns) // 100) - 1] / 1000)
        assert [row[f"p{p}_us"] for row in found.rows] == rank.tolist()


def test_logs_of_several_jobs_are_taken_together(tmp_path):
    one = write(tmp_path / "a_clat.1.log", "1, 1000, 0, 4096, 0", "1999, 5000, 0, 4096, 0")
    two = write(tmp_path / "a_clat.2.log", "5, 3000, 0, 4096, 0", "7, 2000, 1, 4096, 0")
    again = write(tmp_path / "copy_clat.1.log", *one.read_text().splitlines())
    found = read_windows([one, two, again], 1000, WANTED, "ns")
    assert told(found) == [
        (0.0, "read", "clat", 2, 1.0, 3.0, 3.0),
        (0.0, "write", "clat", 1, 2.0, 2.0, 2.0),
        (1.0, "read", "clat", 1, 5.0, 5.0, 5.0),
    ]
    assert codes(found) == ["counted_once"]
    assert told(read_windows([tmp_path], 1000, WANTED, "ns")) == told(found)


def test_kinds_of_latency_are_kept_apart(tmp_path):
    for kind, ns in (("slat", 1000), ("clat", 2000), ("lat", 3000)):
        write(tmp_path / f"a_{kind}.1.log", f"1, {ns}, 0, 4096, 0")
    write(tmp_path / "a_bw.1.log", "1, 77, 0, 4096, 0")
    found = read_windows([tmp_path], 1000, [50], "ns")
    assert [(row["lat_kind"], row["p50_us"]) for row in found.rows] == [("slat", 1), ("clat", 2), ("lat", 3)]


def test_the_output_beside_a_log_tells_its_unit(tmp_path):
    (tmp_path / "a.json").write_text(
        json.dumps(json.loads((DATA / "randrw.json").read_text()) | {"fio version": "fio-2.14"})
    )
    write(tmp_path / "a_clat.1.log", "1, 5000, 0, 4096, 0")
    found = read_windows([tmp_path], 1000, [50])
    assert found.rows[0]["p50_us"] == 5000 and codes(found) == []
    assumed = read_windows([tmp_path / "a_clat.1.log"], 1000, [50])
    assert assumed.rows[0]["p50_us"] == 5 and codes(assumed) == ["log_unit_assumed"]
    assert read_windows([tmp_path / "a_clat.1.log"], 1000, [50], "us").rows[0]["p50_us"] == 5000


def test_a_histogram_log_gives_its_bins_to_the_last_io():
    """The sum over windows is the bins of the file; each percentile lies on fio's grid."""
    found = read_windows([DATA / "hist_clat_hist.1.log"], 500, WANTED)
    bins = Dataset.read(DATA / "hist_clat_hist.1.log").bins
    assert sum(row["n"] for row in found.rows) == bins["n"].sum()
    whole = read_windows([DATA / "hist_clat_hist.1.log"], 10**9, WANTED).rows
    for row in whole:
        mine = bins[bins["ddir"] == row["ddir"]].groupby("bin_ns", as_index=False)["n"].sum()
        ns = histogram.percentile(mine["bin_ns"], mine["n"], WANTED)
        assert [row["p50_us"], row["p99_us"], row["p100_us"]] == (ns / 1000).tolist()


def test_a_job_with_both_logs_counts_once(tmp_path):
    shutil.copy(DATA / "hist_clat_hist.1.log", tmp_path / "a_clat_hist.1.log")
    write(tmp_path / "a_clat.1.log", "1, 1000, 0, 4096, 0")
    assert [row["n"] for row in read_windows([tmp_path], 10**6, [50], "ns").rows] == [1]
    write(tmp_path / "b_clat.1.log", "1, 1000, 0, 4096, 1")
    (tmp_path / "a_clat.1.log").unlink()
    hist = read_windows([tmp_path / "a_clat_hist.1.log"], 10**6, [50]).rows
    both = read_windows([tmp_path], 10**6, [50], "ns").rows
    assert both[0]["n"] == hist[0]["n"] + 1


def test_averages_have_no_percentiles(tmp_path):
    """log_avg_msec: fio writes a block size of 0."""
    write(tmp_path / "a_clat.1.log", "500, 1000, 0, 0, 0", "1000, 2000, 0, 0, 0")
    with pytest.raises(InputError, match="averages over time"):
        read_windows([tmp_path], 1000, [50])
    write(tmp_path / "b_clat.1.log", "1, 1000, 0, 4096, 0")
    found = read_windows([tmp_path], 1000, [50], "ns")
    assert [row["n"] for row in found.rows] == [1] and codes(found) == ["log_averaged"]


def test_damaged_lines_are_left_out_and_told(tmp_path):
    log = write(
        tmp_path / "a_clat.1.log", "1, 1000, 0, 4096, 0", "2, 2o00, 0, 4096, 0", "3, 3000, 0, 4096, 0"
    )
    found = read_windows([log], 1000, WANTED, "ns")
    assert told(found) == [(0.0, "read", "clat", 2, 1.0, 3.0, 3.0)]
    (finding,) = found.findings
    assert "1 broken lines left out, the first is line 2" in finding.message


def test_logs_of_the_wall_clock_count_from_the_first_of_all(tmp_path):
    start = 1_795_173_779_229
    one = write(tmp_path / "a_clat.1.log", f"{start + 1500}, 2000, 0, 4096, 0")
    two = write(tmp_path / "a_clat.2.log", f"{start}, 1000, 0, 4096, 0")
    found = read_windows([one, two], 1000, [50], "ns")
    assert [(row["t_s"], row["p50_us"]) for row in found.rows] == [(0, 1), (1, 2)]
    assert codes(found) == ["log_epoch_time"]


def test_a_log_that_holds_one_job_after_the_other_is_read(tmp_path):
    """per_job_logs=0: the times of the second job begin anew."""
    lines = [f"{t}, {t + 1}, 0, 4096, 0" for t in (*range(0, 5000, 10), *range(0, 5000, 10))]
    found = read_windows([write(tmp_path / "a_clat.log", *lines)], 1000, [100], "ns")
    assert [(row["n"], row["p100_us"]) for row in found.rows] == [
        (200, (t * 1000 + 991) / 1000) for t in range(5)
    ]


@pytest.mark.parametrize("name", ["a_bw.1.log", "a_iops.1.log", "notes.txt"])
def test_what_has_no_latencies_is_refused(tmp_path, name):
    with pytest.raises(InputError, match="latency logs of fio are needed"):
        read_windows([write(tmp_path / name, "1, 1000, 0, 4096, 0")], 1000, [50])


def test_logs_in_dilated_time_are_refused(tmp_path, monkeypatch):
    folder = tmp_path / "slow"
    shutil.copytree(Path(__file__).parents[2] / "datasets" / "ultra-disk-2019", folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    for setup in manifest["setups"]:
        setup["time_scale"] = 8
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(InputError, match="dilated time"):
        read_windows([folder], 1000, [50])
