"""The gallery: each notebook of scripts/make_gallery.py is there, and a run of one is a page with figures."""

import importlib
import re
from pathlib import Path

import cells
import pytest
from bs4 import BeautifulSoup

from azbenchlib.report import execute

ROOT = Path(__file__).parents[1]


@pytest.fixture
def gallery(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> object:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    made = importlib.import_module("make_gallery")
    monkeypatch.setattr(made, "FOLDER", tmp_path / "gallery")
    return made


def test_every_notebook_of_the_gallery_is_there(gallery) -> None:
    for name in gallery.NOTEBOOKS:
        assert execute.find_notebook(name).is_file()


def outline(html: str) -> list[str]:
    """The lead, the headings, the cards and the titles of the figures of a report."""
    soup = BeautifulSoup(html, "html.parser")
    found = soup.select("h1, h2, h3, .finding, .card .sentence, .card .chip")
    return [" ".join(tag.get_text(" ").split()) for tag in found]


def test_the_example_report_is_what_azbench_writes_today(
    gallery, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`make gallery` writes it anew; what depends on the day, such as cheaper sizes, is not compared."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    now = outline(cells.page("report", datasets=[gallery.SHOWN]))
    assert len(now) > 20
    assert outline((gallery.EXAMPLE / "report.html").read_text(encoding="utf-8")) == now


@pytest.mark.slow
def test_a_page_has_the_heading_and_figures_and_loads_nothing(
    gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gallery, "NOTEBOOKS", gallery.NOTEBOOKS[2:3])
    gallery.main()
    (made,) = gallery.FOLDER.iterdir()
    assert made.name == f"{gallery.NOTEBOOKS[0]}.html"
    text = made.read_text(encoding="utf-8")
    assert "<h1" in text and "<svg" in text and "Traceback" not in text
    assert re.findall(r"<(?:script|img)[^>]*\ssrc=\"https?:", text) == []
