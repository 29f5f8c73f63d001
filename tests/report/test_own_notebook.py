"""A notebook of one's own in the dress of a report: run by azbench, or executed and exported by nbconvert."""

import importlib
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from html import unescape
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat import NotebookNode
from pages import new_context
from playwright.sync_api import Browser
from programs import azbench
from pypdf import PdfReader

import azbenchlib as az
from azbenchlib.core.errors import InputError
from azbenchlib.report import execute
from azbenchlib.report.build import ReportFormat, build
from azbenchlib.report.page import AzbenchExporter, harmless, to_html

ROOT = Path(__file__).parents[2]
OUTPUT = ROOT / "tests" / "data" / "fio" / "randrw.json"
PARAMETERS = 'datasets: list = ["nothere"]\ntitle: str = "Own title"\nmargin: float = 0.05'
NAMED = f"{AzbenchExporter.__module__}.{AzbenchExporter.__name__}"
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=="
TABLE = f"""| disk | IOPS | {"a long heading " * 6}|
|---|--:|---|
| P30 | 5,000 | {"a_word_" * 12} |"""


def code(source: str, *outputs: NotebookNode, tags: tuple[str, ...] = ()) -> NotebookNode:
    return nbformat.v4.new_code_cell(source, outputs=list(outputs), metadata={"tags": list(tags)})


def words(source: str) -> NotebookNode:
    return nbformat.v4.new_markdown_cell(source)


def saved(path: Path, *cells: NotebookNode, **metadata: object) -> Path:
    nbformat.write(nbformat.v4.new_notebook(cells=list(cells), metadata=metadata), path)
    return path


def own_notebook(path: Path) -> Path:
    return saved(
        path,
        words("# The order database\n\nIn words of *our own*."),
        code(PARAMETERS, tags=("parameters",)),
        code("import azbenchlib as az\nimport seaborn as sns\n\nruns = az.read(*datasets)"),
        words(f"## Rates\n\n{TABLE}\n\n1. one\n   - two"),
        code('sns.barplot(runs.overview(), x="ddir", y="iops");', tags=("mine",)),
        code('print(title, "\\x1b[31mred\\x1b[0m")'),
        code("runs.overview().iloc[:, :12]"),
        words("# Why"),
        code("az.judge(runs)"),
        code("az.Report(datasets).percentiles()"),
        code(""),
    )


def installed(program: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a program that is installed; an environment made earlier knows the exporter by its class only."""
    named = [NAMED if word == "azbench" else word for word in arguments]
    command = [sys.executable, "-m", program, *named]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own")
    own_notebook(folder / "own{x}.ipynb")
    done = azbench("report", OUTPUT, "--notebook", "own{x}.ipynb", "--timings", "-o", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "az.judge(runs)" in done.stderr
    return folder / "out"


def test_cells_of_ones_own_are_in_the_dress_of_the_report(written: Path) -> None:
    text = (written / "report.html").read_text(encoding="utf-8")
    page = BeautifulSoup(text, "html.parser")
    assert page.title and page.title.text == "The order database: azbench report"
    menu = [link.text for link in page.select("nav.toc a")]
    assert menu == ["↑ Top", "Rates", "Why"]
    table = page.select_one(".scroll table.dataframe")
    assert table is not None and len(table.select("thead th")) == 13 and len(table.select("tbody tr")) == 2
    assert page.select_one('.fig img[src^="data:image/png;base64,"]') is not None
    assert page.select_one(".document") is not None
    assert page.select_one("figure svg.fig-wide") is not None
    assert "Own title red\n" in [output.text for output in page.select("main > pre")]


def test_code_is_in_the_fold_alone_and_parameters_are_not(written: Path) -> None:
    page = BeautifulSoup((written / "report.html").read_text(encoding="utf-8"), "html.parser")
    fold = page.select_one("details.code")
    assert fold is not None
    cells = fold.extract().text
    assert "az.judge(runs)" in cells and "sns.barplot" in cells and "margin" not in cells
    assert "az.judge" not in page.text and "sns." not in page.text
    paper = " ".join(page.extract_text() for page in PdfReader(written / "report.pdf").pages)
    assert "The order database" in paper and "az.judge" not in paper


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_a_narrow_screen(browser: Browser, written: Path, scheme: str) -> None:
    wrong: list[str] = []
    with new_context(browser, viewport={"width": 390, "height": 900}, color_scheme=scheme) as context:
        page = context.new_page()
        page.on("console", lambda message: wrong.append(message.text))
        page.goto((written / "report.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        table = page.locator(".scroll:has(> div > table.dataframe), .scroll:has(> table.dataframe)")
        assert table.evaluate("box => box.scrollWidth > box.clientWidth")
        paper = page.locator("main .fig.own img").evaluate("image => getComputedStyle(image).filter")
        assert (paper == "none") is (scheme == "light")
    assert wrong == []


def test_what_is_given_replaces_what_the_notebook_says(tmp_path: Path) -> None:
    path = saved(
        tmp_path / "own.ipynb", code(PARAMETERS, tags=("parameters",)), code("print(title, len(datasets))")
    )
    made = az.write_report(az.read(OUTPUT), folder=tmp_path, title="Mine <b>", notebook=str(path))
    assert "Mine &lt;b&gt; 1\n" in made.html.read_text(encoding="utf-8")
    assert repr(made).splitlines() == [str(made.html), str(made.pdf)]
    kernel, *cells, page, pdf_ = made.timings
    assert (kernel, page, pdf_) == ("starting and ending the kernel", "making the page", "making the PDF")
    assert "print(title, len(datasets))" in cells
    assert all(seconds > 0 for seconds in made.timings.values())
    with pytest.raises(
        InputError, match=r"own\.ipynb has no parameter 'note'; it has: datasets, title, margin"
    ):
        build([str(OUTPUT)], tmp_path, note="x", notebook=path, format_=ReportFormat.html)


def test_a_cell_that_fails_is_named_and_leaves_the_earlier_report(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("earlier")
    saved(
        tmp_path / "bad.ipynb",
        code(PARAMETERS, tags=("parameters",)),
        words("Now"),
        code('import json\njson.loads("x\\ny")'),
    )
    done = azbench("report", OUTPUT, "--notebook", "bad.ipynb", "-o", ".", cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "bad.ipynb: cell 3 (import json …) failed: JSONDecodeError: Expecting value" in done.stderr
    assert (tmp_path / "report.html").read_text() == "earlier" and not (tmp_path / "report.pdf").exists()


def test_json_is_of_azbench_alone(tmp_path: Path) -> None:
    done = azbench("report", OUTPUT, "--notebook", "x.ipynb", "--format", "json", cwd=tmp_path)
    assert done.returncode == 2 and "--notebook is for html and pdf" in done.stderr


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, r"given\.ipynb: the notebook cannot be read: No such file"),
        (b"\xff", r"is no Jupyter notebook: 'utf-8' codec can't decode"),
        (b"[]", "is no Jupyter notebook"),
        (b"{}", "is no Jupyter notebook"),
        (b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": 3}', "is no Jupyter notebook"),
        (
            b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}',
            r"no cell tagged 'parameters'",
        ),
        (
            b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": '
            b'{"name": "ir", "language": "R", "display_name": "R"}}, "cells": []}',
            "is a notebook in R; azbench runs those in Python",
        ),
    ],
)
def test_what_is_no_notebook_for_a_report_is_refused(
    tmp_path: Path, text: bytes | None, sentence: str
) -> None:
    path = tmp_path / "given.ipynb"
    if text is not None:
        path.write_bytes(text)
    with pytest.raises(InputError, match=sentence):
        execute.run_notebook(path, {"datasets": ["x"]})


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ('<table border="1"><tr><th scope="row" colspan="2" onclick="x()">a</th></tr></table>',
         '<table><tbody><tr><th scope="row" colspan="2">a</th></tr></tbody></table>'),
        ("<style scoped>.a { color: red; }</style><p>a</p><SCRIPT>alert(1)</SCRIPT >", "<p>a</p>"),
        ('<p style="text-align: right; position: fixed">1</p>', '<p style="text-align: right;">1</p>'),
        ('<a href="javascript:x()">a</a><a href="data:text/html,x">b</a>', "<a>a</a><a>b</a>"),
        ('<a href="02_queue.ipynb#Why">a</a><a href="//x.example/b">c</a>',
         '<a href="02_queue.ipynb#Why">a</a><a>c</a>'),
        ('<a href="https://x.example/?a&b">a</a>', '<a href="https://x.example/?a&amp;b">a</a>'),
        ('<img src="https://x.example/a.png" alt="a"><img src="data:image/png;base64,AA==">',
         '<img alt="a"><img src="data:image/png;base64,AA==">'),
        ('<iframe src="data:image/x"></iframe><form action="x"><input></form>', "\n"),
        ('<meta http-equiv="refresh"><base href="https://x.example"><svg onload="x()"></svg>', ""),
    ],
)  # fmt: skip
def test_html_of_ones_own_neither_runs_nor_loads_anything(html: str, shown: str) -> None:
    assert harmless(html) == shown


def test_outputs_of_every_kind_have_a_form_on_the_page() -> None:
    data = (
        {"text/markdown": "**bold** <script>alert(1)</script>", "text/plain": "<Markdown object>"},
        {"image/jpeg": "AA==", "text/plain": "<Image object>"},
        {"image/svg+xml": "<svg/>", "text/plain": "<Axes>"},
        {"text/plain": "a < b"},
        {"text/html": "<div></div><script>draw()</script>"},
    )
    outputs = [nbformat.v4.new_output("display_data", one) for one in data]
    picture = nbformat.v4.new_output(
        "display_data", {"image/png": PICTURE}, metadata={"image/png": {"width": 7}}
    )
    pasted = words("![a shot](attachment:a.png)")
    pasted.attachments = {"a.png": {"image/png": PICTURE}}
    page = to_html(nbformat.v4.new_notebook(cells=[code("x", *outputs, picture), pasted]), "")
    for part in (
        "<strong>bold</strong>",
        'src="data:image/jpeg;base64,AA=="',
        'src="data:image/svg+xml;base64,',
        "a &lt; b",
        "An interactive output stood here",
        f'<img alt="Figure" src="data:image/png;base64,{PICTURE}" width="7"/>',
        f'<img alt="a shot" src="data:image/png;base64,{PICTURE}"/>',
        "<title>Notebook: azbench report</title>",
    ):
        assert part in page, part
    assert " object&gt;" not in page and "alert(1)" not in page


def test_the_entry_point_names_the_exporter() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, name = project["entry-points"]["nbconvert.exporters"]["azbench"].partition(":")
    assert getattr(importlib.import_module(module), name) is AzbenchExporter


def test_nbconvert_exports_any_executed_notebook(tmp_path: Path) -> None:
    stream = nbformat.v4.new_output("stream", name="stdout", text="42\n")
    saved(tmp_path / "study.ipynb", words("## Part & parcel"), code("print(6 * 7)", stream))
    done = installed("jupyter", "nbconvert", "--to", "azbench", "study.ipynb", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "study.html").read_text(encoding="utf-8")
    assert "<title>study: azbench report</title>" in page and "<pre>42\n</pre>" in page
    assert "Content-Security-Policy" in page and '<a href="#Part-&amp;-parcel">' in page
    assert "print(6 * 7)" in unescape(page[page.index('<details class="code">') :])


def test_the_commands_of_the_documentation_run(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "own-report.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    first, *others = [source.rstrip() for kind, source in blocks if kind == "python"]
    saved(tmp_path / "my.ipynb", code(first, tags=("parameters",)), *map(code, others))
    (tmp_path / "words.md").write_text("Words of our own.")
    shutil.copytree(OUTPUT.parent / "grouped", tmp_path / "results")
    shutil.copy(ROOT / "notebooks" / "report.ipynb", tmp_path)
    folder = tmp_path / "reports" / "results"
    seen = {"words.md": "Words of our own.", "my.ipynb": "sns.barplot"}
    for line in [line for kind, source in blocks if kind == "sh" for line in source.splitlines()]:
        program, *arguments = shlex.split(line)
        if program == "azbench":
            form = ("--format", "html") if len(seen) > 1 else ()  # one PDF is enough
            done = azbench(*arguments, *form, cwd=tmp_path)
            assert seen.pop(arguments[-1]) in (folder / "report.html").read_text(encoding="utf-8"), (
                done.stderr
            )
        else:
            done = installed(program, *arguments, cwd=tmp_path)
            assert done.returncode == 0, done.stderr
    assert seen == {} and (folder / "report.pdf").exists()
    assert re.search(r"E8ds_v4.{0,60}P30", (tmp_path / "done.html").read_text(encoding="utf-8"))
