"""The documentation as a site: it is built without a warning, needs no network, and its Python runs."""

import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from pages import new_context
from playwright.sync_api import Browser, expect

import azbenchlib

ROOT = Path(__file__).parents[1]
QUIET = {"NO_MKDOCS_2_WARNING": "1"}  # of the theme, about a later version of MkDocs


class _Settings(yaml.SafeLoader):
    """A safe loader that takes any tag as nothing."""


_Settings.add_multi_constructor("", lambda *_: None)
SETTINGS = yaml.load((ROOT / "mkdocs.yml").read_text(), _Settings)  # noqa: S506  a safe loader


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [Path(sys.executable).parent / "mkdocs", "build", "--quiet", "--strict", "--site-dir", folder],
        cwd=ROOT, env={**os.environ, **QUIET}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr.strip()) == (0, "")
    return folder


def test_every_page_is_in_the_navigation() -> None:
    listed = {page for section in SETTINGS["nav"] for pages in section.values() for page in _pages(pages)}
    assert listed == {path.name for path in (ROOT / "docs").glob("*.md")}


def _pages(entries: list[dict[str, str]]) -> list[str]:
    return [page for entry in entries for page in entry.values()]


def test_executed_notebooks_are_listed_by_their_headings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    hook = importlib.import_module("site_examples")
    text = (ROOT / "docs" / "gallery.md").read_text()
    monkeypatch.setattr(hook, "NOTEBOOKS", tmp_path)
    assert "`make gallery`" in hook.on_page_markdown(text, None, None, None)
    shutil.copy(ROOT / "reports" / "example" / "report.html", tmp_path / "03_limits.html")
    listed = hook.on_page_markdown(text, None, None, None)
    assert "- [Local and remote disks of three Azure VM sizes](gallery/03_limits.html)" in listed


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    loads = re.compile(r"<(?:script|img|iframe)[^>]*\ssrc=\"?(https?:[^\s\">]+)|<link[^>]*rel=\"?(?:stylesheet|preconnect)[^>]*href=\"?(https?:[^\s\">]+)")  # fmt: skip  # noqa: E501
    for page in site.glob("*.html"):
        assert loads.findall(page.read_text()) == [], page.name
    assert (site / "example" / "report.html").is_file()
    assert (site / "search" / "search_index.js").is_file()  # found without a server


def test_the_search_works_from_a_folder_without_a_server(site: Path, browser: Browser) -> None:
    page = new_context(browser).new_page()
    page.goto((site / "tutorial.html").as_uri())
    page.keyboard.press("/")
    page.wait_for_function("typeof __index === 'object'")
    page.keyboard.type("credits")
    expect(page.locator(".md-search-result__meta")).to_contain_text("matching documents")
    expect(page.locator(".md-search-result__link").first).to_be_visible()
    page.close()


def test_what_the_api_promises_is_documented_and_there(site: Path) -> None:
    page = (site / "api.html").read_text()
    for name in azbenchlib.__all__:
        if name not in ("__version__", "Report"):
            assert getattr(azbenchlib, name) is not None
            assert name in page


PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
WITH_PYTHON = [path for path in sorted((ROOT / "docs").glob("*.md")) if PYTHON.search(path.read_text())]


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: page.name)
def test_the_python_of_the_pages_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    shutil.copytree(ROOT / "tests" / "data" / "fio" / "grouped", "results")
    Path("telemetry").mkdir()
    shutil.copy(ROOT / "tests" / "data" / "sysstat" / "sadf.json", "telemetry")
    measures = any(call in page.read_text() for call in (".probe(", ".measure("))
    if measures and shutil.which("fio") is None:
        pytest.skip("no fio")
    names: dict[str, object] = {}  # one after the other, as cells of a notebook
    for code in PYTHON.findall(page.read_text()):
        exec(compile(code, page.name, "exec"), names)  # noqa: S102  our own document


def test_every_function_of_the_api_has_an_example() -> None:
    text = "".join(PYTHON.findall((ROOT / "docs" / "api.md").read_text()))
    functions = {name for name in azbenchlib.__all__ if name[0].islower()}
    methods = {"overview", "add_setup", "to_excel", "uri"}
    assert {name for name in functions | methods if not re.search(rf"\.{name}\(", text)} == set()
