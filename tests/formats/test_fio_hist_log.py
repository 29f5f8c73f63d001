"""The reader of fio's histogram logs: layouts, coarse bins, counting once, damage."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.core import histogram, schema
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.formats.base import Beside
from azbenchlib.formats.fio.logs import hist_lines as fio_hist_lines
from azbenchlib.formats.fio.logs import hist_log as fio_hist_log
from azbenchlib.formats.fio.logs import log_lines
from azbenchlib.formats.source import Source

DATA = Path(__file__).parents[1] / "data" / "fio"
RUN = Beside("the-run", "fio-3.33")
LAYOUTS = {1216: 1000, 1856: 1}  # bins of fio 2 and 3, and the ns in their unit


def line(counts: dict[int, int], n_bins: int = 1856, t_ms: int = 1000, ddir: int = 0) -> str:
    return ", ".join(map(str, [t_ms, ddir, 4096, *(counts.get(place, 0) for place in range(n_bins))])) + "\n"


def read(text: str | bytes, beside: Beside | None = RUN) -> dict[str, pd.DataFrame]:
    data = text if isinstance(text, bytes) else text.encode()
    return fio_hist_log.read_fio_hist_log(Source("x_clat_hist.1.log", data), beside).frames()


@pytest.mark.parametrize("name", ["hist", "hist_coarse"])
def test_the_bins_are_those_that_fio_counted_until_the_last_interval(name):
    """json+ of the same run names the same bins and holds the same I/Os, and those of the last interval."""
    found = Dataset.read(DATA / f"{name}.json", DATA / f"{name}_clat_hist.1.log")
    assert found.bins["run_id"].nunique() == 1
    logged, whole = (found.bins[found.bins["t_s"].notna() == is_log] for is_log in (True, False))
    assert len(logged) and len(whole)
    assert set(logged["lat_kind"]) == {"clat"}
    merged = 8 if name == "hist_coarse" else 1
    for ddir in logged["ddir"].unique():
        inside, ran = (rows[rows["ddir"] == ddir].groupby("bin_ns")["n"].sum() for rows in (logged, whole))
        names = histogram.index_of(ran.index.to_numpy()) // merged * merged
        middles = (histogram.value_of(names) + histogram.value_of(names + merged - 1)) // 2
        ran = ran.groupby(middles).sum()
        assert set(inside.index) <= set(ran.index)
        assert (inside <= ran.reindex(inside.index)).all()
        lines = logged.loc[logged["ddir"] == ddir, "t_s"].nunique()
        assert lines / (lines + 1) <= inside.sum() / ran.sum() < 1


def test_every_io_is_counted_once():
    """1,000,001 I/Os whose intervals meet at their ends, which a peer's script counts as 1,493,833."""
    counts = np.random.default_rng(1).multinomial(1_000_001, np.full(400, 1 / 400)).reshape(4, 100)
    text = "".join(
        line(dict(zip(range(600, 700), row, strict=True)), t_ms=250 * (place + 1))
        for place, row in enumerate(counts.tolist())
    )
    bins = read(text)["bins"]
    assert bins["n"].sum() == 1_000_001
    assert bins.groupby("t_s")["n"].sum().tolist() == counts.sum(axis=1).tolist()
    assert bins["t_s"].unique().tolist() == [0.25, 0.5, 0.75, 1.0]
    pooled = histogram.merge(bins)
    assert pooled["bin_ns"].tolist() == histogram.value_of(np.arange(600, 700)).tolist()
    assert pooled["n"].tolist() == counts.sum(axis=0).tolist()


@pytest.mark.parametrize("n_bins", LAYOUTS)
def test_the_layout_tells_the_unit(n_bins):
    bins = read(line({5: 2, 700: 3, n_bins - 1: 1}, n_bins), None)["bins"]
    names = histogram.value_of([5, 700, n_bins - 1]) * LAYOUTS[n_bins]
    assert bins["bin_ns"].tolist() == names.tolist()
    assert bins["n"].tolist() == [2, 3, 1]


@pytest.mark.parametrize("n_bins", LAYOUTS)
@pytest.mark.parametrize("coarse", range(7))
def test_a_merged_bin_is_named_by_its_middle(n_bins, coarse):
    """Every I/O in it is within 2^coarse × 0.78 % of its name, but for the rounding of names below 128."""
    wide = 1 << coarse
    tables = read(line(dict.fromkeys(range(n_bins // wide), 1), n_bins // wide))
    fine = histogram.value_of(np.arange(n_bins))
    named = np.repeat(tables["bins"]["bin_ns"].to_numpy(dtype=np.int64) // LAYOUTS[n_bins], wide)
    assert len(named) == n_bins
    assert (np.abs(named - fine) <= np.maximum(fine, 64) * wide * histogram.REL_ERROR + 1).all()
    coarse_told = "hist_coarse" in set(tables["findings"]["code"])
    assert coarse_told == (coarse > 0)
    if coarse == 3:
        assert "8 bins in one; a percentile of it is exact to 6.2%" in tables["findings"]["message"][0]


def test_directions_and_jobs_of_one_file_add_up():
    text = line({7: 1}) + line({7: 2}, ddir=1) + line({7: 4}) + line({7: 8}, ddir=2, t_ms=2000)
    bins = read(text)["bins"]
    rows = bins[["t_s", "ddir", "n"]].values.tolist()
    assert rows == [[1.0, "read", 5], [1.0, "write", 2], [2.0, "trim", 8]]
    schema.check("bins", bins)


def test_logs_of_several_jobs_of_one_row_add_up(tmp_path):
    (tmp_path / "a.json").write_bytes((DATA / "grouped" / "grp.json").read_bytes())
    for place in (1, 2):
        (tmp_path / f"a_clat_hist.{place}.log").write_text(line({7: place}))
    found = Dataset.read(tmp_path)
    assert found.bins[["t_s", "bin_ns", "n"]].values.tolist() == [[1.0, 7, 3]]
    assert set(found.bins["run_id"]) == set(found.runs["run_id"])


def test_times_of_the_clock_on_the_wall_count_from_the_first():
    tables = read(line({7: 1}, t_ms=1795173779229) + line({7: 1}, t_ms=1795173779729))
    assert tables["bins"]["t_s"].tolist() == [0, 0.5]
    assert "log_epoch_time" in set(tables["findings"]["code"])


def test_damaged_lines_are_left_out():
    good = line({7: 1})
    damaged = [good[:-30] + "\n", good.replace("4096", "4o96"), "\n", line({9: 288230376923725848})]
    tables = read(good + "".join(damaged) + line({7: 1}, t_ms=2000))
    assert tables["bins"]["n"].tolist() == [1, 1]
    (finding,) = schema.records(tables["findings"].query("code == 'broken_lines'"))
    assert "3 broken lines left out, the first is line 2" in finding["message"]


@pytest.mark.parametrize("n_bins", [1215, 30, 2048])
def test_another_layout_gives_no_rows(n_bins):
    text = line({7: 1}, n_bins)
    assert fio_hist_lines.sniff(text)
    tables = read(text)
    assert tables["bins"].empty
    assert tables["findings"]["code"].tolist() == ["hist_layout_unknown"]


@pytest.mark.parametrize("text", ["", "1, 0, 4096\n", "1, 5, 0, 4096, 0\n", "a" * 100, "1, 5, " + "0, " * 99])
def test_other_text_is_not_claimed(text):
    assert not fio_hist_lines.sniff(text)


def test_it_is_no_sample_log():
    assert not log_lines.sniff((DATA / "hist_clat_hist.1.log").read_text())


@given(st.data())
def test_damage_anywhere_leaves_the_lines_before_it(data):
    raw = (DATA / "hist_coarse_clat_hist.1.log").read_bytes()
    place = data.draw(st.integers(0, len(raw) - 1))
    damaged = raw[:place] + data.draw(st.binary(max_size=3)) + raw[place + data.draw(st.integers(0, 3)) :]
    bins = read(damaged)["bins"]
    schema.check("bins", bins)
    whole = raw[:place].splitlines(keepends=True)
    before = b"".join(one for one in whole if one.endswith(b"\n"))
    if before:
        wanted = read(before)["bins"]
        both = wanted.merge(bins, on=["t_s", "ddir", "bin_ns"])
        assert len(both) == len(wanted)
