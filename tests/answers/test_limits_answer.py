"""Limits as an answer: every surface says the same, equal volumes share a table, and each rate is sourced."""

import csv
import io
import re
from html import unescape

import matplotlib as mpl
import pytest
import seaborn as sns
import typer
from matplotlib import pyplot as plt
from typer.testing import CliRunner

import azbenchlib as az
from azbenchlib.answers.document import Section
from azbenchlib.answers.limits import LimitsAnswer
from azbenchlib.cli.limits import limits
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import MB

mpl.use("agg")
app = typer.Typer()
app.command()(limits)
DAY = "2024-10-01"
PAGES = "dsv3-series@1827cf35 of 2024-09-24"
TIERS = "bursting-2020-09 of 2020-09-22"


@pytest.fixture(scope="module")
def answer() -> LimitsAnswer:
    return az.limits("D8s_v3", "P4x2:ReadOnly", block_sizes=[4096, "64k"], as_of=DAY)


def bare(text: str) -> str:
    """Letters, digits and signs alone, so that layout and escapes do not count."""
    words = unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", text, flags=re.DOTALL))
    return re.sub(r"[\s\u200b|*\\#·!-]+", "", words)


def titles(answer: LimitsAnswer) -> list[str]:
    return [part.title for part in answer.document.parts if isinstance(part, Section)]


def test_text_markdown_and_html_have_the_same_words(answer: LimitsAnswer) -> None:
    (remark,) = answer.remarks
    said = [
        "Standard_D8s_v3, limits of 2024-10-01, 100% reads",
        remark,
        "P4x2:ReadOnly, cache miss",
        "VM cached MB/s",
        "IOPS limits bind up to 203.5 KiB, MB/s limits above; in a burst, IOPS limits bind up to 18.29 KiB",
        f"{TIERS}: disk IOPS of P4, disk burst IOPS of P4",
    ]
    for surface in (answer.to_text(), answer.to_markdown(), answer._repr_html_()):
        assert [words for words in said if bare(words) not in bare(surface)] == []


def test_every_rate_has_its_unit_and_the_source_of_what_binds_it(answer: LimitsAnswer) -> None:
    known = answer.figures.set_index("name")
    base = known.loc["P4x2:ReadOnly, cache miss: 4 KiB: IOPS"]
    assert (base["value"], base["unit"], base["source"]) == (240, "iops", TIERS)
    burst = known.loc["P4x2:ReadOnly, cache miss: 64 KiB: Burst MB/s"]
    assert (burst["value"], burst["unit"]) == (131_072_000, "bytes_per_s")
    assert burst["source"] == "sku-api-2026-08-17 of 2026-08-17"
    assert known.loc["P4x2:ReadOnly, cache miss: burst"].tolist()[:2] == [
        pytest.approx(18724.6, abs=0.1),
        "bytes",
    ]


def test_limits_of_their_own_for_provisioned_disks_have_their_own_source() -> None:
    sources = {}
    for disk in ("P80x8", "premium2:4TiB/80000iops/1200MBps"):
        answer = az.limits("D8ds_v6", disk, block_sizes=4096, as_of="2026-11-20")
        assert {row.binding for row in answer.ceilings if row.level == "base"} == {("vm_uncached_iops",)}
        sources[disk] = answer.figures.set_index("name").loc[f"{disk}, uncached: 4 KiB: IOPS", "source"]
    assert list(sources.values()) == [
        "sku-api-2026-08-17 of 2026-08-17",
        "ddsv6-series@0e232f5f of 2024-07-29",
    ]


def test_what_is_stated_by_hand_is_its_own_source() -> None:
    known = az.limits(None, "ultra:128GiB/10000iops/50MBps", block_sizes="4k").figures
    assert set(known[known["unit"] == "iops"]["source"]) == {"as stated"}


def test_volumes_of_equal_ceilings_share_a_table_and_a_line() -> None:
    several = az.limits("E16ds_v4", ["P20"] * 4, as_of="2026-11-20")
    assert titles(several) == ["P20 (1) and 3 more, uncached", "all volumes, uncached"]
    assert len(several.to_frame()["scope"].unique()) == 5
    assert [line.get_label() for line in several.plot().lines] == [
        "P20 (1), uncached and 3 more",
        "P20 (1), uncached, burst and 3 more",
        "all volumes, uncached",
        "all volumes, uncached, burst",
    ]


def test_a_row_a_level_in_base_units(answer: LimitsAnswer) -> None:
    rows = answer.to_frame().set_index(["path", "level", "bs_bytes"])
    assert len(rows) == len(answer.ceilings) == 6
    row = rows.loc[("cache miss", "burst", 65536)]
    assert (row["iops"], row["bw_bytes_per_s"], row["binding_limit"]) == (2000, 131_072_000, "vm_cached_mbps")
    told = answer.to_dict()["ceilings"]
    assert [one["mbps"] for one in told] == pytest.approx(list(rows["bw_bytes_per_s"] / MB))


def test_what_is_not_documented_is_missing_and_not_zero() -> None:
    unknown = az.limits(None, "ultra:128GiB", block_sizes="4k")
    assert unknown.to_frame()[["iops", "bw_bytes_per_s"]].isna().all(axis=None)
    assert (
        "not documented" in unknown.to_text()
        and "its provisioned IOPS and MB/s are not stated" in unknown.to_text()
    )
    with pytest.raises(InputError, match="nothing can be drawn: no limit is documented"):
        unknown.plot()


def test_the_roofline_falls_behind_its_corner_and_keeps_the_style_of_seaborn(answer: LimitsAnswer) -> None:
    with sns.axes_style("darkgrid"), sns.color_palette("pastel"):
        _, given = plt.subplots()
        axes = answer.plot(given)
    assert axes is given and (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    lines = {line.get_label(): line for line in axes.lines}
    miss = lines["P4x2:ReadOnly, cache miss, burst"]
    assert miss.get_linestyle() == "--" and max(miss.get_ydata()) == 7000 and min(miss.get_ydata()) == 2000
    assert round(18724.6) in miss.get_xdata()
    assert axes.lines[0].get_color() == sns.color_palette("pastel")[0]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["4\u00a0KiB", "64\u00a0KiB"]


def test_it_is_small_where_it_shows_itself() -> None:
    disks = ["P4", "P6", "P10", "P15", "P20", "P30:ReadWrite", "P40:ReadOnly", "E30", "temp"]
    large = az.limits("E64ds_v4", disks, read_share=0.7)
    assert len(repr(large).splitlines()) <= 10
    html = large._repr_html_()
    assert len(html) < 30_000 and "more tables" in html and "all volumes, cache miss" in html
    assert bare("P4, uncached") not in bare(html) and "P4, uncached" in large.to_html().html
    assert len(large.plot().lines) == 8 and "8 of" in large.plot().get_legend().get_title().get_text()


def test_the_command_line_prints_markdown_and_csv_of_the_same_answer(answer: LimitsAnswer) -> None:
    asked = ["--vm", "D8s_v3", "--disk", "P4x2:ReadOnly", "--bs", "4k,64k", "--as-of", DAY]
    printed = {form: CliRunner().invoke(app, [*asked, "--format", form]).stdout for form in ("md", "csv")}
    assert printed["md"] == answer.to_markdown()
    rows = list(csv.DictReader(io.StringIO(printed["csv"])))
    assert list(rows[0]) == list(answer.to_frame())
    assert [float(row["iops"]) for row in rows] == list(answer.to_frame()["iops"])
