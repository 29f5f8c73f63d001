"""The gallery: each notebook of scripts/make_gallery.py is there, and a run of one is a page with figures."""

import importlib
import re
from pathlib import Path

import pytest

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


@pytest.mark.slow
def test_a_page_has_the_heading_and_figures_and_loads_nothing(
    gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gallery, "NOTEBOOKS", gallery.NOTEBOOKS[2:3])
    gallery.main()
    (page,) = gallery.FOLDER.iterdir()
    assert page.name == f"{gallery.NOTEBOOKS[0]}.html"
    text = page.read_text(encoding="utf-8")
    assert "<h1" in text and "<svg" in text and "Traceback" not in text
    assert re.findall(r"<(?:script|img)[^>]*\ssrc=\"https?:", text) == []
