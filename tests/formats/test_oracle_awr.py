"""Reports of Oracle's AWR: what they are, what is missing in them is told, and several make one history."""

import random
from pathlib import Path

import pytest

from azbenchlib import read
from azbenchlib.core.findings import Code
from azbenchlib.formats import registry
from azbenchlib.formats.source import Source
from azbenchlib.sizing.telemetry import telemetry

DATA = Path(__file__).parents[1] / "data" / "oracle_awr"
TEXT = (DATA / "awrrpt_1_310_311.txt").read_text()
LOAD = ("read_iops", "write_iops", "read_bytes_per_s", "write_bytes_per_s")


def tables(text: str):
    return registry.read(Source("awr.txt", text.encode()))


def test_hours_of_one_instance_are_one_history() -> None:
    paths = [DATA / f"awrrpt_1_{snaps}" for snaps in ("310_311.txt", "311_312.html")]
    found = telemetry(read(*paths).tables)
    assert found.devices == {"db-a": ("instance shop1",)}
    assert found.history.interval_s.tolist() == [3600, 1800] and found.missing_s == 0
    assert found.history.read_iops.tolist() == [1000, 2000]


def test_the_exact_totals_go_before_the_rounded_profile() -> None:
    (row,) = tables(TEXT)["demand"].to_dict("records")
    assert row["read_bytes_per_s"] == 8_192_000
    rounded = tables(TEXT.replace("physical read total bytes", "physical read totals"))["demand"].iloc[0]
    assert rounded["read_bytes_per_s"] == pytest.approx(7.8 * 2**20)


@pytest.mark.parametrize(
    ("before", "after", "interval_s", "t_s"),
    [
        ("-Nov-26", "-11月-26", 3600, 1795165210),
        ("-Nov-26", "-NOV-2026", 3600, 1795165210),
        ("20-Nov-26", "2026-11-20", 3600, 1795165210),
        ("-Nov-26", "-Lis-26", 3600, None),
    ],
)
def test_dates_of_other_sessions(before: str, after: str, interval_s: float, t_s: float | None) -> None:
    (row,) = tables(TEXT.replace(before, after))["demand"].to_dict("records")
    assert row["interval_s"] == interval_s
    assert row["t_s"] == t_s if t_s else row["clock"] == "elapsed"


def test_a_figure_too_wide_for_its_column_is_missing_and_told() -> None:
    damaged = TEXT.replace("physical", "logical").replace("    1,000.0 ", "    ####### ", 1)
    found = tables(damaged)
    assert found["demand"][list(LOAD)].isna().to_numpy().tolist() == [[True, False, False, False]]
    assert Code.ROW_NOT_READ in set(found["findings"]["code"])


@pytest.mark.parametrize("lost", ["Snap:", "physical"])
def test_a_report_without_load_or_length_gives_no_row(lost: str) -> None:
    text = TEXT.replace(lost, "x").replace("Elapsed" if lost == "Snap:" else "Total", "x")
    found = tables(text)
    assert found["demand"].empty and Code.NO_FIGURES in set(found["findings"]["code"])


def test_reports_of_another_layout_are_not_claimed() -> None:
    for title in ("WORKLOAD REPOSITORY COMPARE PERIOD REPORT", "WORKLOAD REPOSITORY REPORT (RAC)"):
        found = tables(TEXT.replace("WORKLOAD REPOSITORY report for", title))
        assert set(found["findings"]["code"]) == {Code.NOT_RECOGNISED}


def test_an_endless_number_is_no_figure() -> None:
    text = (DATA / "awrrpt_1_311_312.html").read_text().replace("3.600.000", f"&#{'9' * 5000};")
    assert tables(text)["demand"].empty


def test_damaged_reports_are_read_or_told() -> None:
    dice = random.Random(8)  # noqa: S311
    for path in (one for one in DATA.iterdir() if one.suffix in {".txt", ".html"}):
        whole = path.read_bytes()
        for _ in range(40):
            start, length = dice.randrange(len(whole)), dice.randrange(1, 40)
            filler = bytes(dice.randrange(256) for _ in range(dice.randrange(12)))
            found = registry.read(Source(path.name, whole[:start] + filler + whole[start + length :]))
            rates = found["demand"][list(LOAD)].stack().dropna()
            assert ((rates >= 0) & (rates < 1e15)).all()
