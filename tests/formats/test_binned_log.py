"""Long logs of latencies: counted in fio's bins by window, the same as binning each sample."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from azbenchlib.analysis import grouping
from azbenchlib.analysis.over_time import timeline
from azbenchlib.core import histogram
from azbenchlib.core.units import KIB
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.formats.base import Beside
from azbenchlib.formats.fio.logs import binned_log, log
from azbenchlib.formats.source import Source

DATA = Path(__file__).parents[1] / "data" / "fio"
FIO_3 = Beside("the-run", "fio-3.33")


@pytest.fixture(autouse=True)
def every_log_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binned_log, "LONG_LOG", 100)
    monkeypatch.setattr("azbenchlib.formats.source._RAW_BLOCK", 4 * KIB)  # many blocks, put together often


def lines(seed: int, n: int, span_ms: int, start_ms: int = 0) -> list[tuple[int, int, int]]:
    random = np.random.default_rng(seed)
    t_ms = np.sort(random.integers(0, span_ms, n)) + start_ms
    ns = (400_000 * random.lognormal(0, 2, n)).astype(int)
    return list(zip(t_ms.tolist(), ns.tolist(), random.integers(0, 3, n).tolist(), strict=True))


def text(rows: list[tuple[int, int, int]]) -> bytes:
    return "".join(f"{t}, {ns}, {code}, 4096, 0\n" for t, ns, code in rows).encode()


@pytest.mark.parametrize(
    ("span_ms", "width_s"), [(3_000, 1), (600_000, 1), (3_600_000, 6), (86_400_000, 144)]
)
@pytest.mark.parametrize("start_ms", [0, 1_795_173_779_229])
@pytest.mark.sampled(3)
def test_each_io_is_in_its_bin_and_window(span_ms: int, width_s: int, start_ms: int) -> None:
    rows = lines(1, 5_000, span_ms, start_ms)
    first = rows[0][0] if start_ms else 0
    tables = log.read_fio_log(Source("x_clat.1.log", text(rows)), FIO_3).frames()
    assert tables["samples"].empty
    counted: dict[tuple[str, float, int], int] = {}
    for t, ns, code in rows:
        bin_ns = int(histogram.value_of(histogram.index_of([ns]))[0])
        end_s = ((t - first) // (1000 * width_s) + 1) * width_s
        key = (("read", "write", "trim")[code], float(end_s), bin_ns)
        counted[key] = counted.get(key, 0) + 1
    bins = tables["bins"]
    found = dict(zip(zip(bins["ddir"], bins["t_s"], bins["bin_ns"], strict=True), bins["n"], strict=True))
    assert found == counted
    assert set(bins["run_id"]) == {"the-run"} and set(bins["lat_kind"]) == {"clat"}
    (told,) = tables["findings"].query("code == 'log_binned'")["message"]
    assert f"5,000 latencies are counted in bins of each {width_s} s" in told


def test_the_unit_of_fio_2_is_that_of_the_bins() -> None:
    rows = text([(1, 5_000, 0)] * 20)
    tables = log.read_fio_log(Source("x_lat.1.log", rows), Beside("r", "fio-2.14")).frames()
    assert tables["bins"][["lat_kind", "n"]].values.tolist() == [["lat", 20]]
    assert tables["bins"]["bin_ns"][0] == pytest.approx(5_000_000, rel=histogram.REL_ERROR)


@pytest.mark.parametrize("name", ["x_iops.1.log", "x_bw.1.log"])
def test_rates_and_averages_stay_samples(name: str) -> None:
    assert len(log.read_fio_log(Source(name, text(lines(1, 50, 100))), FIO_3).frames()["samples"]) == 50
    averages = b"".join(b"%d, 5000, 0, 0, 0\n" % t for t in range(0, 5000, 500))
    assert len(log.read_fio_log(Source("x_clat.1.log", averages), FIO_3).frames()["samples"]) == 10


def test_a_long_log_is_drawn_as_its_samples_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mean of each window within half a bin, and the largest."""
    rows = [(t, (1 + (t > 40_000)) * 10**6 + t, 0) for t in range(0, 80_000, 7)]
    (tmp_path / "a_clat.1.log").write_bytes(text(rows))

    def drawn() -> pd.DataFrame:
        tables = Dataset.read(tmp_path, log_unit="ns").tables
        return timeline.envelope(grouping.arrange(tables), tables)

    binned = drawn()
    monkeypatch.setattr(binned_log, "LONG_LOG", 10**9)
    single = drawn()
    assert len(binned) == 80 and binned["t_s"].tolist() == pytest.approx([t + 0.5 for t in range(80)])
    for (_, window), t in zip(binned.iterrows(), range(80), strict=True):
        mine = single[single["t_s"].between(t, t + 1)]
        assert window["lat_us"] == pytest.approx(mine["lat_us"].mean(), rel=0.02)
        assert window["lat_max_us"] == pytest.approx(mine["lat_max_us"].max(), rel=0.02)


def test_damaged_lines_are_told() -> None:
    raw = text(lines(1, 500, 1000)) + b"1, x, 0, 4096, 0\n" + text(lines(2, 500, 1000))
    tables = log.read_fio_log(Source("x_clat.1.log", raw), FIO_3).frames()
    assert tables["bins"]["n"].sum() == 1000
    assert "the first is line 501" in tables["findings"].query("code == 'broken_lines'")["message"].iloc[0]


def test_a_dataset_counts_the_ios_of_a_run_once(tmp_path: Path) -> None:
    """The output has bins of the whole run, the log those of its windows."""
    output = json.loads((DATA / "group_jsonplus.json").read_text())
    (tmp_path / "a.json").write_text(json.dumps(output))
    (tmp_path / "a_clat.log").write_bytes(text([(t, 400_000, 0) for t in range(0, 3000, 10)]))
    found = Dataset.read(tmp_path)
    assert set(found.bins["t_s"].dropna()) == {1.0, 2.0, 3.0}
    assert found.bins["t_s"].isna().any()
