"""The report as a reader has it: in a real browser, on phone, laptop and wide screen, light and dark."""

import io
from collections.abc import Callable, Iterator
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from pages import new_context
from PIL import Image, ImageStat
from playwright.sync_api import Browser, Page, Request
from pypdf import PdfReader

from azbenchlib import Report
from azbenchlib.core.palette import COLOURS, NEUTRALS

pytestmark = pytest.mark.browser

PHONE, LAPTOP, WIDE = 390, 1280, 1920
WIDTHS = (PHONE, LAPTOP, WIDE)
A4_TEXT = 680  # the 180 mm between the margins of a printed page, in CSS pixels
# Setup, IOPS, p50, p95, p99: as published.
CARDS = (
    ("E8as_v4, temp disk", "16,300", "147 µs", "375 µs", "578 µs"),
    ("E8ds_v4, temp disk", "59,200", "145 µs", "269 µs", "498 µs"),
    ("E8ds_v4, OS disk, ReadWrite cache", "60,100", "51 µs", "251 µs", "685 µs"),
    ("E8ds_v4, OS disk, no cache", "3,499", "2.47 ms", "2.87 ms", "3.56 ms"),
    ("E8ds_v4, ephemeral OS disk", "60,600", "221 µs", "529 µs", "840 µs"),
    ("L8s_v2, local NVMe", "261,000", "43 µs", "78 µs", "121 µs"),
)
# Boxes of a figure's texts in pixels, cut at top and bottom to the height of the letters themselves.
TEXT_BOXES = """svg => {
  const outer = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll("text")].map(text => {
    const box = text.getBoundingClientRect(), cut = box.height * 0.18;
    return {text: text.textContent, left: box.left - outer.left, right: box.right - outer.left,
            top: box.top - outer.top + cut, bottom: box.bottom - outer.top - cut};
  });
  return {width: outer.width, height: outer.height, texts};
}"""

Open = Callable[..., Page]


@pytest.fixture
def open_page(browser: Browser, report_folder: Path) -> Iterator[Open]:
    """Opens a report at a width, in a colour scheme."""
    contexts = []

    def opened(width: int = LAPTOP, scheme: Any = "light", folder: Path = report_folder) -> Page:
        context = new_context(browser, viewport={"width": width, "height": 844}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.goto((folder / "report.html").as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(params=["report_folder", pytest.param("long_report_folder", marks=pytest.mark.long)])
def folder(request: pytest.FixtureRequest) -> Path:
    """A report, and for long that of several datasets, which takes longest to be made and to be looked at."""
    found: Path = request.getfixturevalue(request.param)
    return found


def rgb(colour: str) -> str:
    """``#1b2027`` as the browser tells it."""
    return "rgb({}, {}, {})".format(*(int(colour[i : i + 2], 16) for i in (1, 3, 5)))


def text_of(text: str) -> str:
    return " ".join(text.replace("\u00a0", " ").split())


def test_the_page_never_scrolls_sideways(open_page: Open, folder: Path) -> None:
    page = open_page(PHONE, folder=folder)
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    for width in (*WIDTHS, 320):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("[innerWidth, document.scrollingElement.scrollWidth <= innerWidth]") == [
            width,
            True,
        ]


@pytest.mark.parametrize(("width", "scheme"), [(PHONE, "dark"), (LAPTOP, "light"), (WIDE, "dark")])
def test_nothing_is_fetched_and_nothing_goes_wrong(
    browser: Browser, folder: Path, width: int, scheme: Any
) -> None:
    asked: list[str] = []
    wrong: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    with new_context(browser, viewport={"width": width, "height": 844}, color_scheme=scheme) as context:
        page = context.new_page()
        page.on("request", note)
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto((folder / "report.html").as_uri())
        page.keyboard.press("End")
        page.wait_for_load_state("networkidle")
    assert asked == [(folder / "report.html").as_uri()]
    assert wrong == []


def test_six_cards_show_what_was_published(open_page: Open) -> None:
    page = open_page(PHONE)
    cards = page.locator(".card")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 844})
        shown = [text_of(card.inner_text()) for card in cards.all()]
        assert len(shown) == len(CARDS)
        for text, (setup, *figures) in zip(shown, CARDS, strict=True):
            assert setup in text and all(figure in text for figure in figures), text
        columns = {round(card.bounding_box()["x"]) for card in cards.all()}  # type: ignore[index]
        assert len(columns) == (1 if width == PHONE else 3)


@pytest.mark.parametrize(("width", "shown", "hidden"), [(719, "narrow", "wide"), (721, "wide", "narrow")])
def test_figures_change_their_layout_at_720_pixels(
    open_page: Open, width: int, shown: str, hidden: str
) -> None:
    page = open_page(width)
    assert page.locator(f"svg.fig-{shown}").count() == page.locator("figure").count() >= 2
    assert all(svg.is_visible() for svg in page.locator(f"svg.fig-{shown}").all())
    assert not any(svg.is_visible() for svg in page.locator(f"svg.fig-{hidden}").all())


@pytest.mark.parametrize("width", [PHONE, 722, LAPTOP, WIDE])
def test_texts_of_a_figure_stay_inside_it_and_apart(open_page: Open, folder: Path, width: int) -> None:
    page = open_page(width, folder=folder)
    for svg in page.locator("figure svg:visible").all():
        drawn = svg.evaluate(TEXT_BOXES)
        assert len(drawn["texts"]) > 3
        outside = [
            box["text"]
            for box in drawn["texts"]
            if min(box["left"], box["top"]) < -1
            or box["right"] > drawn["width"] + 1
            or box["bottom"] > drawn["height"] + 1
        ]
        assert outside == []
        assert [pair for pair in combinations(drawn["texts"], 2) if overlap(*pair)] == []


def overlap(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return bool(
        a["left"] < b["right"]
        and b["left"] < a["right"]
        and a["top"] < b["bottom"]
        and b["top"] < a["bottom"]
    )


@pytest.mark.parametrize("width", [PHONE, LAPTOP, WIDE])
def test_the_contents_stay_at_the_top_at_every_width(open_page: Open, width: int) -> None:
    """A bar, and on a phone a menu; each link leads to its part."""
    page = open_page(width)
    bar, menu = page.locator(".toc"), page.locator(".toc-menu")
    assert (bar.is_visible(), menu.is_visible()) == ((False, True) if width == PHONE else (True, False))
    contents = menu if width == PHONE else bar
    headings = [text_of(text) for text in page.locator("h2, details.part > summary > h3").all_inner_texts()]
    links = contents.locator("a")
    assert [text_of(text) for text in links.all_text_contents()] == ["↑ Top", *headings]
    for link in links.all()[1:]:
        if width == PHONE and not link.is_visible():
            contents.locator("summary").click()
        link.click()
        page.wait_for_function(
            """id => { const top = document.getElementById(id).getBoundingClientRect().top;
                       return top >= -1 && top < innerHeight * 0.95 }""",
            arg=page.evaluate("decodeURIComponent(location.hash.slice(1))"),
        )
        assert contents.bounding_box()["y"] == 0  # type: ignore[index]


def test_cards_lead_to_what_they_say(open_page: Open, folder: Path) -> None:
    page = open_page(folder=folder)
    links = page.locator(".card a, .finding a")
    targets = {str(link.get_attribute("href")) for link in links.all()}
    assert targets and all(page.locator(f'[id="{target[1:]}"]').count() == 1 for target in targets)


def test_folded_parts_open_by_click(open_page: Open) -> None:
    page = open_page(PHONE)
    for part in page.locator("details.part").all():
        assert not part.locator(".inside").is_visible()
        part.locator("summary").first.click()
        assert part.locator(".inside").is_visible()
    page.locator("details.command summary").nth(1).click()
    assert "iodepth=256" in page.locator("details.command pre:visible").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_dark_mode_recolours_page_and_figures(open_page: Open, folder: Path, scheme: Any) -> None:
    dark = scheme == "dark"
    page = open_page(LAPTOP, scheme, folder)
    known = {rgb(pair[dark]) for pair in (*COLOURS, *NEUTRALS.values())}
    assert page.locator("h1").evaluate("e => getComputedStyle(e).color") == rgb(NEUTRALS["ink"][dark])
    ground = page.locator("body").evaluate("e => getComputedStyle(e).backgroundColor")
    assert ground == rgb("#11151a" if dark else "#f5f6f8")
    for kind, property_ in (("text", "fill"), ("use", "fill"), ("path[stroke]:not(defs *)", "stroke")):
        used = page.locator(f"figure svg.fig-wide {kind}").evaluate_all(
            f"all => [...new Set(all.map(e => getComputedStyle(e).{property_}))]"
        )
        assert used and set(used) - {"none"} <= known, kind


@pytest.fixture(scope="module")
def block_of_a_notebook() -> str:
    return Report(["ultra-disk-2019"]).limits().as_notebook_html()


@pytest.mark.parametrize(
    ("mark", "dark"),
    [
        ('data-jp-theme-light="true"', False),
        ('data-jp-theme-light="false"', True),
        ('class="vscode-light"', False),
        ('class="vscode-dark"', True),
    ],
)
def test_a_block_in_a_notebook_has_the_colours_of_its_theme(
    browser: Browser, block_of_a_notebook: str, mark: str, dark: bool
) -> None:
    """That of the notebook alone counts, not the other one of the system; figures are images there."""
    with new_context(browser, color_scheme="light" if dark else "dark") as context:
        page = context.new_page()
        page.set_content(f"<body {mark}>{block_of_a_notebook}</body>")
        colour = "e => getComputedStyle(e)"
        assert page.locator("h3").first.evaluate(f"{colour}.color") == rgb(NEUTRALS["ink"][dark])
        ground = page.locator(".fig").first.evaluate(f"{colour}.backgroundColor")
        assert ground == rgb(NEUTRALS["surface"][dark])
        drawn = Image.open(io.BytesIO(page.locator("img.fig-wide").first.screenshot())).convert("L")
        (mean,) = ImageStat.Stat(drawn).mean
        assert (mean < 128) == dark


def test_a_table_is_scrolled_by_keyboard_and_keeps_its_first_column(open_page: Open) -> None:
    page = open_page(PHONE)
    page.locator("#all-prices summary").click()
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.scroll')"):
            break
    region = page.locator(".scroll:focus")
    assert region.count() == 1
    assert region.get_attribute("aria-labelledby") == "price-note"
    first, figure = region.locator("tbody th").first, region.locator("tbody td").first
    left = [cell.evaluate("e => e.getBoundingClientRect().left") for cell in (first, figure)]
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.activeElement.scrollLeft > 10")
    assert first.evaluate("e => e.getBoundingClientRect().left") == left[0]
    assert figure.evaluate("e => e.getBoundingClientRect().left") < left[1] - 10
    assert first.evaluate("e => e.offsetWidth") < PHONE / 2


def test_headings_go_down_one_level_at_a_time(open_page: Open, folder: Path) -> None:
    levels = (
        open_page(folder=folder)
        .locator("h1, h2, h3, h4, h5, h6")
        .evaluate_all("all => all.map(e => +e.tagName[1])")
    )
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (PHONE, "dark"),
        (LAPTOP, "light"),
        pytest.param(PHONE, "light", marks=pytest.mark.long),
        pytest.param(LAPTOP, "dark", marks=pytest.mark.long),
    ],
)
def test_axe_finds_nothing(open_page: Open, folder: Path, width: int, scheme: Any) -> None:
    page = open_page(width, scheme, folder)
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    result = Axe().run(page)
    assert result.violations_count == 0, result.generate_report()
    assert len(result.response["passes"]) > 20  # it did look


def test_print_is_light_complete_and_within_the_paper(open_page: Open, folder: Path) -> None:
    page = open_page(A4_TEXT, "dark", folder)
    page.emulate_media(media="print", color_scheme="dark")
    assert page.locator("h1").evaluate("e => getComputedStyle(e).color") == rgb(NEUTRALS["ink"][0])
    text = page.locator("figure svg.fig-wide text").first
    assert text.evaluate("e => getComputedStyle(e).fill") in {rgb(light) for light, _ in NEUTRALS.values()}
    assert all(svg.is_visible() for svg in page.locator("svg.fig-wide").all())
    assert not page.locator(".toc").is_visible() and not page.locator(".toc-menu").is_visible()
    assert page.evaluate("document.scrollingElement.scrollWidth") <= A4_TEXT
    printed = PdfReader(io.BytesIO(page.pdf(prefer_css_page_size=True)))
    assert len(printed.pages) >= 2
    last = printed.pages[-1].extract_text()
    assert "SHA-256 of the raw files" in last  # folded on the screen
    assert "report.percentiles()" not in last  # code is for the HTML report
