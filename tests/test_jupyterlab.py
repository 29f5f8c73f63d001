"""The notebooks as a user has them: in a real JupyterLab, run by its menu, looked at in a real browser."""

import csv
import io
import json
import re
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyterlab_page import (
    NOTEBOOKS,
    Lab,
    choose,
    fresh_page,  # noqa: F401
    open_notebook,
    run_all,
    started_lab,  # noqa: F401
)
from playwright.sync_api import Locator, Page, expect

from azbenchlib.core.palette import COLOURS
from azbenchlib.views.latency import Latency

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TINY = {
    "target": '"local"',
    "dataset": '"../measured"',
    "block_sizes": '["4k"]',
    "iodepths": "[1]",
    "patterns": '["randread", "randwrite"]',
    "runtime_s": "1",
    "ramp_s": "0",
    "size": '"8m"',
}
EMULATED = "premium-ssd-emulated-2026"
ERRORS = '.jp-OutputArea-output[data-mime-type*="stderr"], .jp-OutputArea-output[data-mime-type*="error"]'
# What our style sheet must leave alone: JupyterLab's own parts, and markdown between the blocks.
OF_JUPYTERLAB = (
    "body",
    ".jp-Toolbar",
    ".lm-MenuBar",
    ".jp-MarkdownOutput h2",
    ".jp-InputArea-editor",
    ".jp-Cell",
)
LOOKS = """selectors => selectors.map(selector => {
  const look = getComputedStyle(document.querySelector(selector));
  return [selector, look.color, look.backgroundColor, look.font, look.margin, look.padding];
})"""


def computed(element: Locator, name: str) -> str:
    return str(element.evaluate(f"e => getComputedStyle(e).{name}"))


def rgb(colour: str) -> str:
    return "rgb({}, {}, {})".format(*(int(colour[i : i + 2], 16) for i in (1, 3, 5)))


@pytest.mark.long
def test_the_report_notebook_runs_and_looks_like_the_report(page: Page, lab: Lab) -> None:
    open_notebook(page, lab, "report.ipynb")
    for selector in OF_JUPYTERLAB:
        page.locator(selector).first.wait_for(state="attached")
    before = page.evaluate(LOOKS, OF_JUPYTERLAB)
    run_all(page)
    blocks = page.locator(".azbench")
    expect(blocks).to_have_count(13)
    assert page.locator(ERRORS).count() == 0
    empty = [i for i, block in enumerate(blocks.all()) if computed(block, "display") == "none"]
    assert empty == [1, 5, 6, 10]  # no probe, no search, nothing over time, nothing emulated
    cards = page.locator(".azbench .card")
    expect(cards).to_have_count(6)
    cards.first.scroll_into_view_if_needed()
    second = cards.nth(1).text_content() or ""
    assert "59,200" in second and "498" in second
    assert computed(cards.first, "borderTopColor") == rgb(COLOURS[0][0])
    assert computed(page.locator(".azbench .cards"), "display") == "grid"
    expect(cards.last).to_be_visible()
    assert len({round(card.bounding_box()["y"]) for card in cards.all()}) == 2  # type: ignore[index]
    expect(page.locator(DRAWN)).to_have_count(3)  # percentiles, rates with their limits, and prices
    assert shown_figures(page) == 2  # the script has drawn the percentiles
    # JupyterLab's rules for lists, tables and code do not reach into the blocks ...
    term = page.locator(".azbench .kv dt").first
    assert computed(term, "fontWeight") == "400"
    assert computed(page.locator(".azbench tbody tr").nth(1), "backgroundColor") == "rgba(0, 0, 0, 0)"
    assert computed(page.locator(".azbench td").first, "fontSize") == "15px"
    assert computed(page.locator(".azbench code.hash").first, "backgroundColor") == "rgba(0, 0, 0, 0)"
    # ... and ours do not reach out of them.
    assert page.evaluate(LOOKS, OF_JUPYTERLAB) == before


@pytest.mark.fio
@pytest.mark.long  # test_campaign.py runs this notebook without a browser
def test_the_measuring_notebook_runs_to_its_table(page: Page, lab: Lab) -> None:
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    notebook = lab.folder / "notebooks" / "01_measure.ipynb"
    document = json.loads(notebook.read_text())
    (cell,) = [cell for cell in document["cells"] if "parameters" in cell["metadata"].get("tags", [])]
    source = "".join(cell["source"])
    for name, value in TINY.items():
        source, changed = re.subn(rf"^({name}: \w+) = .*$", rf"\1 = {value}", source, flags=re.MULTILINE)
        assert changed == 1
    cell["source"] = source
    notebook.write_text(json.dumps(document))
    open_notebook(page, lab, notebook.name)
    run_all(page)
    rows = page.locator(".azbench tbody tr")
    expect(rows).to_have_count(2)
    assert page.locator(ERRORS).count() == 0
    assert re.search(r"random (reads|writes)", rows.first.text_content() or "", re.IGNORECASE)
    assert (lab.folder / "measured" / "manifest.json").is_file()
    assert not list(lab.folder.rglob("*fio-data*"))  # the file it measured on is gone


FIGURES = ".jp-OutputArea-output img[src^='data:image/svg']"
DRAWN = f"{FIGURES}, .jp-OutputArea-output svg[data-panels]"  # where the script runs


def there(page: Page, selector: str, at_least: int = 1) -> None:
    """Wait until JupyterLab has drawn so many of them, which may be after their cell has its number."""
    page.locator(selector).nth(at_least - 1).wait_for(state="attached")


def shown_figures(page: Page) -> int:
    """How many figures are there; each must have been drawn."""
    figures = page.locator(FIGURES)
    widths = figures.evaluate_all(
        "all => Promise.all(all.map(async image => { await image.decode(); return image.naturalWidth; }))"
    )
    assert all(width >= 300 for width in widths)
    return len(widths)


def kept(page: Page, notebook: Path) -> Any:
    """The notebook as JupyterLab writes it to its file, outputs and all."""
    while not choose(page, "File", "docmanager:save"):
        page.wait_for_timeout(200)
    for _ in range(1200):
        try:
            document = json.loads(notebook.read_text())
        except ValueError:  # half written
            document = {"cells": [{"cell_type": "code", "execution_count": None}]}
        if all(cell["execution_count"] for cell in document["cells"] if cell["cell_type"] == "code"):
            return document
        page.wait_for_timeout(100)
    pytest.fail(f"{notebook}: not saved")


def received(page: Page, lab: Lab, name: str) -> None:
    """Open a copy of a notebook that was run; its signature is no longer that of this JupyterLab."""
    document = kept(page, lab.folder / "notebooks" / name)
    document["metadata"]["sent"] = "by a colleague"
    (lab.folder / "notebooks" / "received.ipynb").write_text(json.dumps(document))
    open_notebook(page, lab, "received.ipynb")


def test_a_figure_is_read_and_saved_as_on_a_reports_page_and_rests_where_it_is_not_trusted(
    page: Page, lab: Lab
) -> None:
    """By the script of that page, which a viewer runs that trusts the notebook; once for each output."""
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    cells = ["from azbenchlib.views.latency import Latency", f"Latency(['{EMULATED}']).curves()", "_"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    (lab.folder / "notebooks" / "chart.ipynb").write_text(nbformat.writes(notebook))
    open_notebook(page, lab, "chart.ipynb")
    run_all(page)
    figure = page.locator(".jp-OutputArea-output figure").last
    expect(page.locator(".jp-OutputArea-output .tools")).to_have_count(2)
    figure.locator("svg[data-panels]").hover()
    readout = figure.locator(".tip")
    expect(readout).to_contain_text(re.compile(r"^p\d[\d.]*4.KiB, QD.1: [\d.]+ ms.*4.KiB, QD.32: [\d.]+ ms"))
    figure.locator("svg[data-panels]").press("ArrowRight")  # JupyterLab has a command for this key
    expect(readout).to_contain_text(re.compile(r"^p14.KiB, QD.1: 1\.79 ms"))
    with page.expect_download() as download:
        figure.get_by_role("button", name="CSV").click()
    saved = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text("utf-8-sig"))))
    data = Latency([EMULATED]).curves().data
    assert data is not None and len(saved) == len(data)
    assert [float(row["percentile"]) for row in saved] == data["percentile"].tolist()
    assert [float(row["latency_us"]) for row in saved] == pytest.approx(data["lat_us"].tolist(), rel=1e-4)
    assert page.locator(FIGURES).count() == 0 and wrong == []
    received(page, lab, "chart.ipynb")
    expect(page.locator(FIGURES)).to_have_count(2)
    assert shown_figures(page) == 2
    assert page.locator(".jp-OutputArea-output").locator("button, .tools, .tip, script").count() == 0
    assert wrong == []


@pytest.mark.long
def test_the_latency_notebook_runs_and_shows_its_figures_to_those_who_do_not_trust_it(
    page: Page, lab: Lab
) -> None:
    open_notebook(page, lab, "02_latency.ipynb")
    run_all(page)
    figures = 4
    there(page, DRAWN, at_least=figures)
    assert page.locator(ERRORS).count() == 0
    received(page, lab, "02_latency.ipynb")
    expect(page.locator(FIGURES)).to_have_count(figures)
    assert page.locator(".jp-OutputArea-output style").count() == 0  # it is not trusted
    assert shown_figures(page) == figures
    texts = " ".join(page.locator(".jp-OutputArea-output").all_text_contents())
    assert "1 in 10,000" not in texts  # of a figure's axis: no text of a figure beside it


@pytest.mark.long  # as tests/views run it outside JupyterLab
def test_the_first_notebook_runs_and_leads_to_the_others(page: Page, lab: Lab) -> None:
    open_notebook(page, lab, "00_start.ipynb")
    run_all(page)
    expect(page.locator(".azbench table")).to_have_count(2)
    expect(page.locator(".jp-OutputArea-output table.dataframe")).to_have_count(1)
    assert page.locator(ERRORS).count() == 0
    linked = {link.get_attribute("href") or "" for link in page.locator(".jp-MarkdownOutput a").all()}
    others = {path.name for path in NOTEBOOKS.glob("*.ipynb")} - {"00_start.ipynb"}
    assert all(any(name in target for target in linked) for name in others)


@pytest.mark.long
def test_the_limits_notebook_runs(page: Page, lab: Lab) -> None:
    open_notebook(page, lab, "03_limits.ipynb")
    run_all(page)
    there(page, ".azbench .verdict")
    assert page.locator(ERRORS).count() == 0


@pytest.mark.long
def test_the_cost_notebook_runs(page: Page, lab: Lab) -> None:
    open_notebook(page, lab, "04_cost.ipynb")
    run_all(page)
    there(page, ".azbench figure.fig", at_least=3)
    assert page.locator(ERRORS).count() == 0


@pytest.mark.long
def test_the_host_cache_notebook_runs(page: Page, lab: Lab) -> None:
    open_notebook(page, lab, "02b_host_cache.ipynb")
    run_all(page)
    expect(page.locator("body")).to_contain_text("19,802")
    assert page.locator(ERRORS).count() == 0


@pytest.mark.long  # tests/views run this notebook too, outside JupyterLab
def test_the_comparing_notebook_runs(page: Page, lab: Lab) -> None:
    open_notebook(page, lab, "05_compare.ipynb")
    run_all(page)
    there(page, ".azbench figure.fig", at_least=2)
    assert page.locator(ERRORS).count() == 0
