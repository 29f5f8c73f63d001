"""The PDF as a reader has it: titled, tagged, numbered, without blank pages or torn-off headings."""

import io
import re
from pathlib import Path

import pytest
from pypdf import PdfReader

from azbenchlib.campaign.doctor import find_browser
from azbenchlib.report import pdf

TITLE = "Local and remote disks of three Azure VM sizes"
HEADINGS = ("Verdicts", "Evidence", "What it costs", "Appendix")
SUBHEADINGS = (
    "All results",
    "Can this be trusted?",
    "Sources and checksums",
    "Environment",
    "Exact commands",
)
# IOPS of the six setups, then p50, p95 and p99 in their order: as published.
FIGURES = (
    *("16,300", "59,200", "60,100", "3,499", "60,600", "261,000"),
    *("147 µs", "145 µs", "51 µs", "2.47 ms", "221 µs", "43 µs"),
    *("375 µs", "269 µs", "251 µs", "2.87 ms", "529 µs", "78 µs"),
    *("578 µs", "498 µs", "685 µs", "3.56 ms", "840 µs", "121 µs"),
)


@pytest.fixture(
    scope="module", params=["report_folder", pytest.param("long_report_folder", marks=pytest.mark.long)]
)
def pages(request: pytest.FixtureRequest) -> list[str]:
    """The text of each page of every PDF in turn, without characters that this machine may have no font for.

    They share one glyph, which WeasyPrint writes in an encoding that pypdf cannot read.
    """
    folder: Path = request.getfixturevalue(request.param)
    html = (folder / "report.html").read_text()
    bare = re.sub("[\u3000-\u9fff]", "", html)
    same = (folder / "report.pdf").read_bytes() if bare == html else pdf.with_weasyprint(bare)
    reader = PdfReader(io.BytesIO(same))
    return [page.extract_text() for page in reader.pages]


def lines(text: str) -> list[str]:
    """What stands on a page, line by line; the numbers of a list, which come at its end, left out."""
    found = (" ".join(line.replace("\u00a0", " ").split()) for line in text.splitlines())
    return [line for line in found if line and not re.fullmatch(r"\d+\.|•", line)]


def test_it_has_title_language_tags_and_outline(report_folder: Path) -> None:
    reader = PdfReader(report_folder / "report.pdf")
    root = reader.trailer["/Root"]
    assert reader.metadata and reader.metadata.title == f"{TITLE}: azbench report"
    assert root["/Lang"] == "en"
    assert root["/MarkInfo"]["/Marked"] and root["/StructTreeRoot"]["/K"]
    assert root["/ViewerPreferences"]["/DisplayDocTitle"]
    first, parts = reader.outline[:2]
    assert first.title == TITLE  # type: ignore[union-attr]
    assert [part.title for part in parts if not isinstance(part, list)] == list(HEADINGS)  # type: ignore[union-attr]


def test_the_first_page_has_every_card_and_the_whole_is_short(report_folder: Path) -> None:
    reader = PdfReader(report_folder / "report.pdf")
    cards = " ".join(lines(reader.pages[0].extract_text()))
    assert [figure for figure in FIGURES if figure not in cards] == []
    assert 3 <= len(reader.pages) <= 6


@pytest.mark.long  # makes that report
def test_a_report_of_several_datasets_is_short(long_report_folder: Path) -> None:
    assert len(PdfReader(long_report_folder / "report.pdf").pages) <= 10


def test_every_page_is_numbered_and_none_is_blank(pages: list[str]) -> None:
    for i, page in enumerate(pages):
        text = lines(page)
        assert text[-1].endswith(f"{i + 1} / {len(pages)}")
        assert text[-1].startswith("azbench report: ")
        assert sum(map(len, text[:-1])) > 300, f"page {i + 1} is nearly blank"


def test_no_heading_is_torn_from_what_follows(pages: list[str]) -> None:
    last = [lines(page)[-2] for page in pages]
    assert not {*HEADINGS, *SUBHEADINGS} & set(last)


def test_no_unit_is_broken_at_its_slash(pages: list[str]) -> None:
    """Lines may end behind a slash: the one of a unit is none of these."""
    text = "\n".join(pages)
    assert "MB/s" in text and "\u2060" not in text
    assert re.findall(r".*B/\s*\n.*", text) == []


@pytest.mark.browser
def test_a_browser_makes_the_same_pdf_where_weasyprint_cannot(report_folder: Path) -> None:
    browser = find_browser()
    if browser is None:
        pytest.skip("no Chromium, Chrome or Edge is installed")
    made = report_folder / "by-browser.pdf"
    made.write_bytes(pdf.with_browser((report_folder / "report.html").read_text(), browser))
    reader = PdfReader(made)
    pages = [lines(page.extract_text()) for page in reader.pages]
    cards = " ".join(pages[0])
    assert [figure for figure in FIGURES if figure not in cards] == []
    assert 3 <= len(pages) <= 8
    assert all(f"{i + 1} / {len(pages)}" in " ".join(page) for i, page in enumerate(pages))
    assert "SHA-256 of the raw files" in " ".join(pages[-1])  # folded on the screen
