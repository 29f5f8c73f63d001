"""The report's part on a probe: every figure on the page is one of its record, with its interval."""

import json
import re
import shutil
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bs4 import BeautifulSoup, Tag
from pages import new_context
from playwright.sync_api import Browser
from probe_record import record

from azbenchlib import Report
from azbenchlib.answers import style
from azbenchlib.core.errors import InputError
from azbenchlib.dataset.probed import PROBE_FILE, read_probe

PUBLISHED = Path(__file__).parents[2] / "datasets" / "azure-local-disks-2020"
SCALES = {
    "µs": 1, "ms": 1e3, "s": 1e6, "KiB": 1 << 10, "MiB": 1 << 20, "MB/s": 1e6, "IOPS": 1, "I/Os": 1, "QD": 1,
    "nats": 1, "min": 60, "": 1, "MB": 1e6,
}  # fmt: skip
NUMBER = re.compile(r"(\d[\d,]*(?:\.\d+)?)(?: (µs|ms|KiB|MiB|MB/s|IOPS|I/Os|nats|min|MB|s)\b)?")


def dataset(folder: Path, **changed: Any) -> Path:
    shutil.copytree(PUBLISHED, folder)
    (folder / PROBE_FILE).write_text(json.dumps({**record(), **changed}))
    return folder


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> BeautifulSoup:
    report = Report([str(dataset(tmp_path_factory.mktemp("probed") / "disk"))])
    html = unescape((report.header() + report.probed()).html).replace("\N{NO-BREAK SPACE}", " ")
    return BeautifulSoup(html, "html.parser")


def _amounts(text: str) -> list[float]:
    return [float(digits.replace(",", "")) * SCALES[unit or ""] for digits, unit in NUMBER.findall(text)]


def _shown(page: BeautifulSoup, layout: str) -> list[str]:
    """The hover texts of all markers of one layout."""
    return [one.get_text() for svg in page.select(f"svg.{layout}") for one in svg.select("use > title")]


def _rows(page: BeautifulSoup, name: str) -> list[list[str]]:
    table = page.find(id=name)
    assert isinstance(table, Tag)
    return [
        [cell.get_text().strip() for cell in row.find_all(["th", "td"])] for row in table.select("tbody tr")
    ]


@pytest.mark.parametrize("layout", ["fig-wide", "fig-narrow"])
def test_every_marker_is_a_point_of_the_record_with_its_band(page: BeautifulSoup, layout: str) -> None:
    found = record()
    expected = [[one["bs_bytes"], one["iops"], one["low"], one["high"]] for one in found["roof"]] + [
        [one["queue_depth"], one["lat_mean_us"], one["low"], one["high"]] for one in found["response"]
    ]
    expected += [[60.0 * i, one["left"]] for i, one in enumerate(found["credits"][0]["levels"])]
    expected += [[one["set_bytes"], one["p50_us"]] for one in found["cache"]["steps"]]
    told = _shown(page, layout)
    assert len(told) == len(expected)
    for text, values in zip(told, expected, strict=True):
        assert _amounts(text) == pytest.approx(values, rel=0.006), text
    assert [text.split(",")[0] for text in told[:18]] == ["Reads"] * 9 + ["Writes"] * 9


@pytest.mark.parametrize("layout", ["fig-wide", "fig-narrow"])
def test_markers_stand_where_their_values_are(page: BeautifulSoup, layout: str) -> None:
    """On logarithmic axes, equal steps on the page are equal ratios of what is told."""
    svg = page.select_one(f"#d0-probe-portrait svg.{layout}")
    assert svg
    markers = [one for one in svg.select("use") if one.find("title")][:9]
    pixels = np.array([[float(str(one["x"])), float(str(one["y"]))] for one in markers])
    values = np.log([_amounts(one.get_text())[:2] for one in markers])
    for axis in (0, 1):
        slope = np.polyfit(values[:, axis], pixels[:, axis], 1)
        assert np.abs(np.polyval(slope, values[:, axis]) - pixels[:, axis]).max() < 0.5
        assert slope[0] > 0 if axis == 0 else slope[0] < 0


def test_the_answer_comes_first_and_has_the_intervals(page: BeautifulSoup) -> None:
    assert page.select_one("p.finding").get_text() == (  # type: ignore[union-attr]
        "Reads reach 5,012 IOPS (4,987 to 5,032 IOPS) and 203 MB/s (201 to 206 MB/s). Writes reach a cap "
        "that is open (3,401 to 4,852 IOPS) and 173 MB/s without a cap. The best fit is "
        "P30 (5,000 IOPS, 200 MB/s), with a probability of 87 %. The cap of IOPS is that of a burst: reads "
        "reach 5,012 IOPS (4,990 IOPS to 5,034 IOPS) until the credits are spent, and 611 IOPS (608 IOPS to "
        "614 IOPS) after that, which is the base. 2 questions stayed open; "
        "learning them takes about 4 min more."
    )


def test_the_tables_are_those_of_the_record(page: BeautifulSoup) -> None:
    assert _rows(page, "d0-probe-properties") == [
        ["Reads, IOPS cap", "5,012 IOPS", "4,987 to 5,032 IOPS", "1, 2"],
        ["Writes, IOPS cap", "open, no cap up to 3,401 IOPS", "3,401 to 4,852 IOPS", ""],
        ["Reads, MB/s cap", "203 MB/s", "201 to 206 MB/s", "2"],
        ["Writes, MB/s cap", "no cap up to 173 MB/s", "", "2"],
        ["Reads, p50_us_4k", "1.99 ms", "1.95 to 2.03 ms", "1"],
    ]
    assert _rows(page, "d0-probe-names") == [
        ["P30 (5,000 IOPS, 200 MB/s)", "87 %", "1.025", "–"],
        ["Nothing that is documented", "13 %", "–", "–"],
    ]
    title = page.find("b", string="Not learnt")
    assert title
    first, second = (item.get_text() for item in title.find_next("ul").select("li"))  # type: ignore[union-attr]
    assert first.endswith("Learning it takes about 4 min.") and "takes about" not in second


def test_runs_stand_in_the_order_in_which_they_were_chosen(page: BeautifulSoup) -> None:
    wide = page.select_one("#d0-probe-runs svg.fig-wide")
    assert wide
    assert [one.get_text() for one in wide.select("text")] == [
        *("4.5", "1", "reads of 4 KiB, queue depth 1, 10 s", "472 IOPS"),
        *("0.4", "2", "reads of 260 KiB, queue depth 64, 10 s", "782 IOPS"),
    ]
    assert "run 2, reads of 260 KiB, queue depth 64, 10 s: 782 IOPS, 0.4 nats" in str(wide["aria-label"])


def test_memory_is_told_before_anything_else(tmp_path: Path) -> None:
    memory = "These are figures of memory, not of a disk."
    report = Report([str(dataset(tmp_path / "disk", buffered=True, names=[], sentences=[memory]))])
    finding = BeautifulSoup(report.header().html, "html.parser").select_one("p.finding")
    assert finding and finding.get_text() == memory


def test_what_is_no_probe_has_no_portrait_and_a_broken_record_is_named(tmp_path: Path) -> None:
    assert Report([str(PUBLISHED)]).probed().html == ""
    broken = dataset(tmp_path / "disk", runs=[{"run": "a", "title": "a", "iops": 0, "nats": 1}])
    with pytest.raises(InputError, match=r"probe\.json: runs\.0\.iops 0: Input should be greater than 0"):
        Report([str(broken)]).probed()


def _changed(*keys: str | int, to: Any) -> dict[str, Any]:
    """The record with one field changed."""
    found = record()
    *above, last = keys
    part: Any = found
    for key in above:
        part = part[key]
    part[last] = to
    return found


WRONG = [
    (_changed("measured", to="yesterday"), 'measured "yesterday": Input should be a valid date'),
    (_changed("figures", 0, "state", to="sure"), """state "sure": Input should be 'known',"""),
    (_changed("figures", 0, "key", to="read_ops"), 'figures.0.key "read_ops": is none of read_iops'),
    (_changed("figures", 0, "value", to="5,012"), 'figures.0.value "5,012": Input should be a valid number'),
    (_changed("figures", 0, "value", to=None), "figures.0: value: is missing, though the state is 'known'"),
    (_changed("figures", 1, "high", to=None), "figures.1: high: is missing"),
    (_changed("figures", 2, "low", to=1e12), "figures.2: high: 2.058e+08 is below low, 1e+12"),
    (_changed("figures", to=record()["figures"][1:]), "figures: there is none with the key 'read_iops'"),
    (_changed("figures", to=record()["figures"] * 2), "figures: two have the same key"),
    (_changed("names", 0, "kind", to="tape"), """names.0.kind "tape": Input should be 'disk', 'burst'"""),
    (_changed("names", 0, "probability", to=1.5), "names.0.probability 1.5: Input should be less than"),
    (_changed("roof", 3, "ddir", to="trim"), """roof.3.ddir "trim": Input should be 'read' or 'write'"""),
    (_changed("roof", 3, "bs_bytes", to=10**400), "roof.3.bs_bytes 10"),
    (_changed("roof", to=[]), "roof: List should have at least 1 item"),
    (_changed("response", 0, "queue_depth", to=True), "response.0.queue_depth true: Input should be a valid"),
    (_changed("sentences", to=[]), "sentences: List should have at least 1 item"),
    (_changed("sentences", to="Memory."), 'sentences "Memory.": Input should be a valid array'),
    (_changed("credits", 0, "quantity", to="mbps"), """credits.0.quantity "mbps": Input should be 'iops'"""),
    (_changed("credits", 0, "base", "low", to=-1), "credits.0.base.low -1: Input should be greater than"),
    (_changed("cache", "steps", 0, "hit_share", to=2), "cache.steps.0.hit_share 2: Input should be less"),
    (_changed("not_learnt", 0, "minutes", to="4"), 'not_learnt.0.minutes "4": Input should be a valid'),
    ([record()], "Input should be an object"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "said"), WRONG, ids=[said for _, said in WRONG])
def test_a_wrong_field_is_named_with_the_file_its_value_and_the_choices(
    content: Any, said: str, tmp_path: Path
) -> None:
    assert read_probe(tmp_path) is None
    (tmp_path / PROBE_FILE).write_text(json.dumps(record()))
    assert read_probe(tmp_path)
    (tmp_path / PROBE_FILE).write_text(json.dumps(content))
    with pytest.raises(InputError, match=re.escape(said)) as raised:
        read_probe(tmp_path)
    told = str(raised.value)
    assert told.startswith(f"{tmp_path / PROBE_FILE}: ") and len(told.splitlines()) == 1
    assert told.endswith("; probe the disk again, or remove the file")


def test_what_is_no_json_is_told_too(tmp_path: Path) -> None:
    for content in (b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"measured": NaN}'):
        (tmp_path / PROBE_FILE).write_bytes(content)
        with pytest.raises(InputError, match="probe the disk again"):
            read_probe(tmp_path)


@pytest.mark.browser
def test_on_a_telephone_the_tables_are_whole_and_no_option_is_broken(
    tmp_path: Path, browser: Browser
) -> None:
    report = Report([str(dataset(tmp_path / "disk"))])
    html = (report.header() + report.probed()).html
    with new_context(browser, viewport={"width": 390, "height": 844}) as context:
        shown = context.new_page()
        shown.set_content(f"<style>{style.sheet()}</style><main>{html}</main>")
        for name in ("d0-probe-properties", "d0-probe-names"):
            table = shown.locator(f".scroll:has(#{name})")
            assert table.evaluate("part => part.scrollWidth - part.clientWidth") <= 0, name
        options = shown.locator("li .nb")
        assert options.all_inner_texts() == ["--drain"]
        for width in range(60, 240, 6):
            shown.add_style_tag(content=f"main li {{ display: block; width: {width}px; }}")
            assert options.evaluate("part => part.getClientRects().length") == 1
