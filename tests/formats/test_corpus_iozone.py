"""Real outputs of iozone and diskspd, against values that were established independently."""

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from azbenchlib.core.units import KIB, MIB
from azbenchlib.formats import registry
from azbenchlib.formats.iozone._tests import test_of as iozone_test
from azbenchlib.formats.source import Source

CORPUS = os.environ.get("AZBENCH_CORPUS", "")
WORKBOOK = "iozone/azurevm2012/20121222-iozone-azurevm.xlsx"

pytestmark = pytest.mark.skipif(not CORPUS, reason="AZBENCH_CORPUS names no folder of real outputs")


def _truth(kind: str) -> dict[str, list[dict[str, Any]]]:
    """The rows of a kind, by file."""
    if not CORPUS:
        return {}
    lines = (Path(CORPUS) / "truth.jsonl").read_text(encoding="utf-8").splitlines()
    found: dict[str, list[dict[str, Any]]] = {}
    for row in map(json.loads, lines):
        if row["kind"] == kind:
            found.setdefault(row["file"], []).append(row)
    return found


@cache
def _tables(file: str) -> dict[str, pd.DataFrame]:
    return registry.read(Source.of(Path(CORPUS) / file))


@cache
def _figures(file: str) -> dict[tuple[Any, ...], float]:
    """Figures as iozone printed them, by sheet, test, file size, record size and processes."""
    tables = _tables(file)
    rates = tables["results"].assign(figure=lambda t: (t["bw_bytes_per_s"] / KIB).fillna(t["iops"]))
    times = tables["latency"].assign(figure=tables["latency"]["lat_mean_us"])
    both = pd.concat([part[["run_id", "figure"]] for part in (rates, times) if len(part)])
    rows = tables["runs"].merge(both, on="run_id", validate="one_to_one")
    places = zip(
        rows["source_doc"],
        rows["rw"],
        rows["working_set_bytes"] / rows["numjobs"] / KIB,
        rows["bs_bytes"] / KIB,
        rows["numjobs"],
        strict=True,
    )
    return dict(zip(places, rows["figure"], strict=True))


@pytest.mark.parametrize("file", _truth("iozone_row"))
@pytest.mark.sampled(9)
def test_every_figure_of_a_row_stands_at_its_test(file):
    named = {"bkwd_read": "backward_read"}
    for row in _truth("iozone_row")[file]:
        place = (row["file_kB"], row["reclen_kB"], 1)
        read = {key[1]: value for key, value in _figures(file).items() if key[2:] == place}
        printed = {test: 0 if pd.isna(value) else value for test, value in read.items()}  # a zero is no rate
        assert list(printed.values()) == row["values_in_order"]
        if row["columns"]:
            assert printed == {named.get(test, test): value for test, value in row["columns"].items()}
    assert set(_tables(file)["runs"]["tool"]) == {"iozone"}
    rates = {"KiB/s": "bw_bytes_per_s", "ops/sec": "iops"}
    if column := rates.get(row["unit"]):
        n_zeros = sum(row["values_in_order"].count(0) for row in _truth("iozone_row")[file])
        assert _tables(file)["results"][column].isna().sum() == n_zeros
    else:
        assert _tables(file)["results"].empty


@pytest.mark.parametrize("file", _truth("iozone_throughput"))
def test_every_figure_of_throughput_mode_is_read(file):
    wanted = {
        (iozone_test(row["test"]), row["procs"]): row["value"] for row in _truth("iozone_throughput")[file]
    }
    assert {(key[1], key[4]): value for key, value in _figures(file).items()} == pytest.approx(wanted)


@pytest.mark.parametrize("file", [*_truth("iozone_xls"), *_truth("iozone_xlsx")])
def test_every_figure_of_a_spreadsheet_is_read(file):
    sheets = ["sdb2 org", "sdc1 org", "sdd org", "sde org"]
    truth = _truth("iozone_xls") | _truth("iozone_xlsx")
    for row in truth[file]:
        sheet = sheets.index(row["sheet"]) if "sheet" in row else 0
        place = (sheet, iozone_test(row["report"]), row["file_kB"])
        read = {str(int(key[3])): value for key, value in _figures(file).items() if key[:3] == place}
        assert read == row["values"]


@pytest.mark.parametrize("file", _truth("iozone_xls_throughput"))
def test_every_figure_of_a_throughput_spreadsheet_is_read(file):
    for row in _truth("iozone_xls_throughput")[file]:
        read = {key[4]: value for key, value in _figures(file).items() if key[1] == iozone_test(row["test"])}
        assert [read[jobs] for jobs in sorted(read)] == pytest.approx(list(row["values"].values()))


def test_text_and_spreadsheet_of_a_run_are_the_same():
    folder = Path(CORPUS) / "iozone"
    for sheet in sorted((folder / "xls_local").glob("*.xls")):
        text = _figures(str(folder / "stdout_local" / f"{sheet.stem}.txt"))
        same = _figures(str(sheet))
        assert text.keys() == same.keys()
        assert text == pytest.approx(same, rel=1e-6)  # text has two digits after the point


def test_the_workbook_of_2012_gives_its_676_figures_and_the_medians_of_first_write():
    figures = _figures(WORKBOOK)
    assert len(figures) == 676
    medians = [
        pd.Series([value for key, value in figures.items() if key[:2] == (sheet, "write")]).median()
        for sheet in range(4)
    ]
    assert medians == [231136, 200333, 195408, 19802]
    assert _tables(WORKBOOK)["findings"]["code"].tolist() == ["sheet_not_read"]  # its own summary


def test_the_workbook_of_2012_agrees_with_the_shipped_figures():
    shipped = Path(__file__).parents[2] / "datasets/iozone-host-cache-2012/raw/iozone.csv"
    tables = registry.read(Source.of(shipped))
    rows = tables["runs"].merge(tables["results"], on="run_id")
    setups = ["temp", "data-none", "data-readonly", "data-readwrite"]
    wanted = {
        (setups.index(row.setup_id), row.bs_bytes // KIB, row.bw_bytes_per_s / KIB)
        for row in rows.itertuples()
    }
    assert {(key[0], key[3], value) for key, value in _figures(WORKBOOK).items()} == wanted


def test_figures_are_whole_in_every_output_but_the_aborted_one():
    files = sorted(Path(CORPUS).glob("iozone/stdout*/*.txt"))
    unread = [
        file.name
        for file in files
        if {"row_not_read", "report_differs"} & set(_tables(str(file))["findings"]["code"])
    ]
    assert unread == ["loc_err_path.txt"]


@pytest.mark.parametrize("file", _truth("diskspd_text"))
def test_every_total_of_diskspd_is_read(file):
    tables = _tables(file)
    (total,) = tables["runs"].loc[tables["runs"]["level"] == "all", "run_id"]
    results, latency = (tables[name][tables[name]["run_id"] == total] for name in ("results", "latency"))
    for row in _truth("diskspd_text")[file]:
        ddir = {"Total": "mixed", "Read": "read", "Write": "write"}[row["section"]]
        result = results[results["ddir"] == ddir]
        if not row["ios"]:
            assert result.empty
            continue
        names = ["io_bytes", "ios", "iops", "iops_stddev"]
        assert result[names].iloc[0].tolist() == [row["bytes"], row["ios"], row["iops"], row["extra"]]
        assert result["bw_bytes_per_s"].item() / MIB == pytest.approx(row["MiBps"], rel=1e-12)
        mean = latency.loc[latency["ddir"] == ddir, "lat_mean_us"].item()
        assert mean == pytest.approx(row["avg_lat_ms"] * 1000)


@pytest.mark.parametrize("file", _truth("diskspd_pct"))
def test_every_percentile_of_diskspd_is_read(file):
    percentiles = _tables(file)["percentiles"]
    named = {"3-nines": 99.9, "4-nines": 99.99, "5-nines": 99.999, "max": 100.0, "min": 0.0}
    for row in _truth("diskspd_pct")[file]:
        number = named.get(row["pct"]) or float(row["pct"].removesuffix("th"))
        for column, ddir in {"read_ms": "read", "write_ms": "write", "total_ms": "mixed"}.items():
            here = (percentiles["ddir"] == ddir) & (percentiles["percentile"] - number).abs().lt(1e-9)
            wanted = [] if row[column] == "N/A" else [pytest.approx(float(row[column]) * 1000)]
            assert percentiles.loc[here, "lat_us"].tolist() == wanted


def test_the_xml_of_diskspd_sums_its_threads():
    (file,) = (Path(CORPUS) / "diskspd/xml").glob("*.xml")
    tables = _tables(str(file))
    levels = tables["runs"].set_index("run_id")["level"]
    sums = (
        tables["results"]
        .assign(level=lambda t: t["run_id"].map(levels))
        .groupby(["level", "ddir"])["ios"]
        .sum()
    )
    assert sums["all"].to_dict() == sums["job"].to_dict() == {"mixed": 52915, "read": 37162, "write": 15753}
    assert tables["findings"].empty
