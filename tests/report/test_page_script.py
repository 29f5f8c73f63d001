"""What a reader can do on a page: in a real browser, on a page made of a table and two charts."""

import csv
import io
import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pandas as pd
import pytest
from pages import new_context
from playwright.sync_api import Browser, Locator, Page

from azbenchlib import plots
from azbenchlib.answers import style
from azbenchlib.answers.blocks import MIME, Block, render, safe
from azbenchlib.report import page as pages

pytestmark = pytest.mark.browser

SERIES = [
    plots.Series("a", "First </script><b>", "First </script><b>", 0),
    plots.Series("b", "Other", "Other", 1),
]
RATES = [
    ("p4", "120", "2.47 ms"),
    ("temp", "59,200", "145 µs"),
    ("nvme", "261,000", "43 µs"),
    ("=1+1", "", "1 s"),
]
EARLY_S = 0.1234567
STEP_S = 300.0  # one line of the chart changes there


def chart(name: str, drawing: str) -> str:
    return render(
        "figure", id=name, title=name, what="", svg=safe(drawing), how=["A sentence."], group=None
    ).html


def over_time() -> str:
    t = np.arange(0, 600.0, 2) + EARLY_S
    lines = [
        pd.DataFrame(
            {"series": "a", "t_s": t, "lat_us": np.where(t < STEP_S, 100.0, 2000.0), "lat_max_us": 3000.0}
        ),
        pd.DataFrame({"series": "b", "t_s": t, "lat_us": 400.0, "lat_max_us": 500.0}),
    ]
    return plots.both(partial(plots.latency_over_time, pd.concat(lines), SERIES), "time")


def percentiles() -> str:
    curve = pd.DataFrame(
        {"percentile": [1.0, 50.0, 99.0, 99.9], "lat_us": [80.0, 145.0, 498.0, 17170.432], "n": 100_000}
    )
    return plots.both(partial(plots.percentile_curves, curve.assign(series="a"), SERIES), "curve")


def table() -> str:
    rows = [{"entry": None, "name": name, "sub": "8 KiB", "cells": cells} for name, *cells in RATES * 2]
    return render("table", id="rates", note="Rates", columns=["Disk", "IOPS", "p50"], rows=rows, left=[]).html


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    html = "\n".join([table(), chart("course", over_time()), chart("tail", percentiles())])
    output = nbformat.v4.new_output("display_data", {MIME: Block(html).html})
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("", outputs=[output])])
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(pages.to_html(notebook, "A page"), encoding="utf-8")
    return path


@pytest.fixture
def page(browser: Browser, written: Path) -> Iterator[Page]:
    wrong: list[str] = []
    with new_context(browser, viewport={"width": 1280, "height": 900}, reduced_motion="reduce") as context:
        opened = context.new_page()
        opened.on("console", lambda message: wrong.append(message.text))
        opened.on("pageerror", lambda error: wrong.append(str(error)))
        opened.goto(written.as_uri())
        yield opened
    assert wrong == []


def column(page: Page, number: int) -> list[str]:
    cells = page.locator(f"#rates tbody tr:not([hidden]) > :nth-child({number})").all()
    return [cell.inner_text().replace("\u00a0", " ").split("\n")[0] for cell in cells]


def saved(page: Page, button: Locator) -> str:
    with page.expect_download() as download:
        button.click()
    return Path(download.value.path()).read_text("utf-8-sig")


def tools(page: Page, text: str) -> Locator:
    return page.locator(".tools:has(+ .scroll) button", has_text=text)


@pytest.mark.parametrize(
    ("header", "number", "rising"),
    [("IOPS", 2, ["120", "59,200", "261,000", ""]), ("p50", 3, ["43 µs", "145 µs", "2.47 ms", "1 s"])],
)
def test_a_column_is_sorted_by_its_values_and_what_is_unknown_comes_last(
    page: Page, header: str, number: int, rising: list[str]
) -> None:
    head = page.locator("thead button", has_text=header)
    head.click()
    assert column(page, number) == [text for text in rising for _ in range(2)]
    head.click()
    known = [text for text in reversed(rising) if text] + [text for text in rising if not text]
    assert column(page, number) == [text for text in known for _ in range(2)]
    assert page.locator("th[aria-sort]").count() == 1


def test_rows_are_filtered_and_only_those_are_saved(page: Page) -> None:
    page.locator("input[type=search]").fill("nv 8")
    assert column(page, 1) == ["nvme", "nvme"]
    rows = list(csv.DictReader(io.StringIO(saved(page, tools(page, "CSV")))))
    assert rows == [{"Disk": "nvme, 8 KiB", "IOPS": "261000", "p50": "43 µs"}] * 2


def test_what_is_saved_is_the_table_and_no_formula(page: Page) -> None:
    rows = list(csv.reader(io.StringIO(saved(page, tools(page, "CSV")))))
    assert rows[0] == ["Disk", "IOPS", "p50"]
    assert rows[1:5] == [
        ["p4, 8 KiB", "120", "2.47 ms"],
        ["temp, 8 KiB", "59200", "145 µs"],
        ["nvme, 8 KiB", "261000", "43 µs"],
        ["'=1+1, 8 KiB", "", "1 s"],
    ]
    records: list[dict[str, Any]] = json.loads(saved(page, tools(page, "JSON")))
    assert [row["IOPS"] for row in records[:4]] == [120, 59200, 261000, ""]


def test_a_value_is_read_off_by_pointer_and_by_keyboard(page: Page) -> None:
    svg = page.locator("#tail svg:visible")
    svg.scroll_into_view_if_needed()
    box = svg.bounding_box()
    assert box is not None
    panel = json.loads(svg.get_attribute("data-panels") or "")[0]["box"]
    scale = box["width"] / 860
    at = panel[0] + panel[2] * np.log(100 / (100 / 99)) / np.log(1000 / (100 / 99))  # p99 on the log axis
    page.mouse.move(box["x"] + at * scale, box["y"] + (panel[1] + 40) * scale)
    tip = page.locator("#tail .tip:visible")
    assert tip.inner_text().split("\n") == ["p99", "First </script><b>: 498 µs"]
    svg.press("ArrowRight")
    svg.press("ArrowRight")
    assert tip.inner_text().split("\n") == ["p50", "First </script><b>: 145 µs"]


def test_time_is_zoomed_by_dragging_and_shown_in_full_again(page: Page) -> None:
    svg = page.locator("#course svg:visible")
    svg.scroll_into_view_if_needed()
    box = svg.bounding_box()
    assert box is not None
    left, top, width, _ = json.loads(svg.get_attribute("data-panels") or "")[0]["box"]
    scale = box["width"] / 860
    for act, share in (("move", 0.4), ("down", 0.4), ("move", 0.6), ("up", 0.6)):
        page.mouse.move(box["x"] + (left + width * share) * scale, box["y"] + (top + 50) * scale)
        if act != "move":
            getattr(page.mouse, act)()
    assert svg.locator(".ticks text").all_text_contents() == ["4 min", "4.5 min", "5 min", "5.5 min"]
    line = svg.locator(".zoomed path[stroke='#776900']").first.bounding_box()
    assert line is not None and line["width"] > 4 * width * scale
    page.locator("#course button", has_text="Show all").click()
    assert svg.locator(".ticks").count() == 0 and svg.locator(".axis-x").is_visible()


def test_a_series_is_hidden_and_shown_and_its_values_are_saved(page: Page) -> None:
    line = page.locator("#course svg:visible path[stroke='#776900']").first
    toggle = page.locator("#course button", has_text="First")
    assert line.is_visible()
    toggle.click()
    assert not line.is_visible() and toggle.get_attribute("aria-pressed") == "false"
    toggle.click()
    assert line.is_visible()
    rows = list(csv.DictReader(io.StringIO(saved(page, page.locator("#course button", has_text="CSV")))))
    assert len(rows) == 600
    assert {row["latency_us"] for row in rows if row["series"] == "Other"} == {"400"}
    assert rows[1]["t_s"] == str(2 + EARLY_S)


def test_saved_values_of_a_chart_are_those_that_were_measured(page: Page) -> None:
    rows = list(csv.DictReader(io.StringIO(saved(page, page.locator("#tail button", has_text="CSV")))))
    assert [(row["percentile"], row["latency_us"]) for row in rows] == [
        ("1", "80"),
        ("50", "145"),
        ("99", "498"),
        ("99.9", "17170.432"),
    ]


def test_without_scripts_the_page_is_complete(browser: Browser, written: Path) -> None:
    with new_context(browser, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(written.as_uri())
        assert page.locator(".tools").count() == 0
        assert page.locator("svg:visible").count() == 2 and page.locator("tbody tr").count() == 8


def test_the_policy_runs_no_script_but_the_pages_own(browser: Browser, written: Path, tmp_path: Path) -> None:
    foreign = "<script>document.title = 'taken'</script><img src=x onerror=\"document.title = 'taken'\">"
    copy = tmp_path / "page.html"
    copy.write_text(written.read_text("utf-8").replace("<footer>", f"{foreign}<footer>"), encoding="utf-8")
    with new_context(browser) as context:
        page = context.new_page()
        page.goto(copy.as_uri())
        assert page.title().startswith("A page") and page.locator(".tools").count() > 0


def test_the_script_is_small_and_reaches_nothing() -> None:
    script = style.page_script()
    assert len(script.encode()) <= 15 * 1024
    assert re.findall(r"\b(?:fetch|XMLHttpRequest|WebSocket|eval|innerHTML|import)\b", script) == []
