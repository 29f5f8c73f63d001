"""The report: right figures, everything escaped, one file without outside references, whole or not at all."""

import json
import re
import shutil
from html import unescape
from pathlib import Path

import cells
import nbformat
import pytest
from pypdf import PdfReader
from shipped_datasets import MEASURED
from shipped_reports import shown

from azbenchlib import Report
from azbenchlib.answers import style
from azbenchlib.core.errors import AzbenchError, InputError, MissingToolError, OutputError
from azbenchlib.dataset import manifest
from azbenchlib.report import build, execute, pdf
from azbenchlib.report.page import to_html

ROOT = Path(__file__).parents[2]
LOCAL_DISKS = ROOT / "datasets" / "azure-local-disks-2020"
# Setup: the rate of the asynchronous run, and p50, p95, p99 of the synchronous one, as published.
PUBLISHED = {
    "E8as_v4, temp disk": ("16,300", "134", "147 µs", "375 µs", "578 µs"),
    "E8ds_v4, temp disk": ("59,200", "484", "145 µs", "269 µs", "498 µs"),
    "E8ds_v4, OS disk, ReadWrite cache": ("60,100", "492", "51 µs", "251 µs", "685 µs"),
    "E8ds_v4, OS disk, no cache": ("3,499", "28.6", "2.47 ms", "2.87 ms", "3.56 ms"),
    "E8ds_v4, ephemeral OS disk": ("60,600", "497", "221 µs", "529 µs", "840 µs"),
    "L8s_v2, local NVMe": ("261,000", "1,071", "43 µs", "78 µs", "121 µs"),
}


def words(html: str) -> str:
    """The text of a page, white space folded."""
    bare = re.sub(r"<(style|title)\b.*?</\1>|<[^>]+>", " ", html, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(bare).replace("\u00a0", " "))


@pytest.fixture(scope="module")
def html(report_folder: Path) -> str:
    return (report_folder / "report.html").read_text()


def test_every_card_has_the_published_figures(html: str) -> None:
    cards = {words(card).strip() for card in re.findall(r"<article.*?</article>", html, re.DOTALL)}
    assert len(cards) == 6
    for setup, figures in PUBLISHED.items():
        (card,) = [text for text in cards if setup in text]
        assert all(figure in card for figure in figures), card


def test_the_table_lists_all_twelve_runs(html: str) -> None:
    found = re.search(r'<table[^>]* id="results"', html)
    assert found
    table = html[found.start() :]
    rows = re.findall(r"<tr .*?</tr>", table[: table.index("</table>")], re.DOTALL)
    assert len(rows) == 12
    (nvme,) = [words(row).strip() for row in rows if "L8s_v2" in row and "8,192" in words(row)]
    assert nvme == "✚ L8s_v2, local NVMe 4 KiB random writes, QD 8,192 261,000 1,071"


def test_all_six_curves_are_drawn_with_their_markers(html: str) -> None:
    figure = re.search(r'<figure[^>]*id="d0-percentiles-0-figure".*?</figure>', html, re.DOTALL)
    assert figure
    hovers = [
        unescape(text).replace("\u00a0", " ") for text in re.findall(r"<title>(.*?)</title>", figure[0])
    ]
    for setup, p50 in (
        ("L8s_v2, local NVMe", "43 µs"),
        ("E8ds_v4, OS disk, no cache", "2.47 ms"),
        ("E8as_v4, temp disk", "147 µs"),
    ):
        assert f"{setup}, p50: {p50}" in hovers
    assert len(set(hovers)) == 6 * 6  # p50, p90, p95, p99, p99.9 and p99.99 of each
    assert "29 times" in words(figure[0])


def without_own_scripts(html: str) -> str:
    """The page without the script that azbench puts there, and without the values of its charts."""
    own = f"<script>{style.page_script()}</script>"
    assert html.count(own) == 1
    values = r'<script [^>]*type="application/json"[^>]*>[^<]*</script>'
    return re.sub(values, "", html.replace(own, ""))


def test_the_page_refers_to_nothing_outside_and_is_small(html: str) -> None:
    assert len(html.encode()) < 600_000
    assert len(html.encode()) < 600_000
    html = without_own_scripts(html)
    outside = re.findall(r"""(?:src|href|action|data|poster)\s*=\s*["'](?!#|data:)([^"']*)""", html)
    assert outside == []
    assert not re.search(r"url\((?!['\"]?(#|data:))|@import|<script|<link|<iframe", html)
    assert set(re.findall(r"https?://[^\"'<>\s]+", html)) <= {"http://www.w3.org/2000/svg"}


def test_what_the_user_gives_is_escaped(html: str) -> None:
    assert "Ada &lt;b&gt;" in html and "Ada <b>" not in html
    assert "R &amp; D" in html


def test_the_code_is_folded_and_no_path_of_this_machine_shows(html: str) -> None:
    code = html[html.index('<details class="code">') :]
    assert "report.percentiles()" in code and "<details open" not in html
    assert str(ROOT) not in html


def test_hostile_text_in_a_dataset_stays_text(tmp_path: Path) -> None:
    folder = tmp_path / "hostile"
    shutil.copytree(LOCAL_DISKS, folder)
    evil = "<script>alert(1)</script>\"'>{{ 7*7 }}"
    described = json.loads((folder / manifest.MANIFEST_FILE).read_text())
    described |= {"title": evil, "about": evil, "notes": [evil]}
    described["setups"][0]["label"] = evil
    described["commands"][0] = {"title": evil, "text": evil}
    (folder / manifest.MANIFEST_FILE).write_text(json.dumps(described))
    made = without_own_scripts(cells.page("report", datasets=[str(folder)]))
    assert "<script" not in made and "{{ 7*7 }}" in made and "alert(1)" in words(made)


def test_the_pdf_says_the_same(report_folder: Path) -> None:
    reader = PdfReader(report_folder / "report.pdf")
    text = re.sub(r"\s+", " ", " ".join(page.extract_text() for page in reader.pages).replace("\u00a0", " "))
    for figures in PUBLISHED.values():
        assert all(figure in text for figure in figures)
    assert 3 <= len(reader.pages) <= 8
    assert f"1 / {len(reader.pages)}" in text


@pytest.mark.parametrize("folder", MEASURED, ids=lambda path: path.name)
@pytest.mark.sampled(1)
def test_every_shipped_dataset_can_be_reported(folder: Path) -> None:
    report = Report([str(folder)])
    blocks = [getattr(report, name)() for name in ("header", "cards", "limits", "prices", "results", "trust")]
    blocks += [report.percentiles(), report.over_time(), report.method(), report.sources()]
    said = words(" ".join(block.html for block in blocks))
    assert report.parts[0].manifest.title in said
    assert not re.search(
        r"\b(nan|NaN|None|NA|<NA>|inf)\b", said.replace("host caching None", "").replace("than with None", "")
    )


def test_published_latencies_of_an_open_kind_are_shown_as_such() -> None:
    said = words(shown("cards", "zone-redundant-disks-2022"))
    assert "4.3 ms 4 KiB random reads, QD 1, statistic not stated" in said
    said = words(shown("cards", "ultra-disk-2019"))
    assert "> 10,000 IOPS" in said and "≈ 6,250 IOPS" in said and "< 1 ms" in said


def test_two_datasets_have_one_set_of_cards_with_colours_of_their_own() -> None:
    both = ("ultra-disk-2019", "zone-redundant-disks-2022")
    cards = shown("cards", *both)
    looks = re.findall(
        r'--setup-(\d)\)">\n<div>\n<h3 class="name"><span class="mark" aria-hidden="true">(.)', cards
    )
    assert len(looks) == len(set(looks)) == 7
    ids = re.findall(r' id="([^"]+)"', cards + shown("limits", *both) + shown("results", *both))
    assert len(ids) == len(set(ids))


def test_a_notebook_shows_a_block_with_a_style_of_its_own() -> None:
    bundle = Report(["ultra-disk-2019"]).cards()._repr_mimebundle_()
    assert bundle["text/html"].startswith("<style>.azbench")
    assert "prefers-color-scheme" not in bundle["text/html"] and ":root" not in style.scoped_sheet()
    assert bundle["application/x.azbench+html"] in bundle["text/html"]


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        (
            {"datset": ["x"]},
            r"report.ipynb has no parameter 'datset'; it has: datasets, vm, disks, region, group_by, title, "
            "author, client",
        ),
        ({"datasets": "x"}, r"parameter datasets must be list, not 'x'"),
        ({"title": 3}, r"parameter title must be str, not 3"),
    ],
)
def test_parameters_are_checked_before_anything_runs(parameters: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        execute.run_notebook(execute.find_notebook("report"), parameters)


def test_an_error_of_the_library_keeps_its_sentence() -> None:
    with pytest.raises(InputError, match=r"no dataset 'nope': .* azure-local-disks-2020"):
        execute.run_notebook(execute.find_notebook("report"), {"datasets": ["nope"]})


def test_a_fault_in_a_cell_names_the_cell(tmp_path: Path) -> None:
    cells = [nbformat.v4.new_code_cell("x = 1"), nbformat.v4.new_code_cell("1 / 0")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "bad.ipynb")
    with pytest.raises(AzbenchError, match=r"bad\.ipynb: cell 2 \(1 / 0\) failed: ZeroDivisionError"):
        execute.run_notebook(tmp_path / "bad.ipynb", {}, tmp_path / "out.ipynb")
    assert not (tmp_path / "out.ipynb").exists()


def test_parameters_of_a_command_line_keep_their_types() -> None:
    given = execute.parse_parameters(["a=3", "b=[1, 2]", "c=text", "d=007", "e=", "f=x=y", "g=True"])
    assert given == {"a": 3, "b": [1, 2], "c": "text", "d": "007", "e": "", "f": "x=y", "g": True}
    with pytest.raises(InputError, match="write name=value"):
        execute.parse_parameters(["oops"])


def test_kernels_talk_over_private_sockets_and_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    code = (
        "import os; from ipykernel.connect import get_connection_info\n"
        "i = get_connection_info(unpack=True)\n"
        "print(i['transport'], oct(os.stat(os.path.dirname(i['ip'])).st_mode))"
    )
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)]), tmp_path / "who.ipynb")
    done = execute.run_notebook(tmp_path / "who.ipynb", {})
    assert done.cells[0].outputs[0]["text"].split() == ["ipc", "0o40700"]
    assert not list(tmp_path.glob("azbench-*"))


def test_nothing_is_written_where_it_cannot_be(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("mine")
    with pytest.raises(OutputError, match="file/out: cannot be written: Not a directory"):
        build.build([str(LOCAL_DISKS)], in_the_way / "out")
    assert in_the_way.read_text() == "mine" and list(tmp_path.iterdir()) == [in_the_way]


def test_a_failed_pdf_leaves_the_earlier_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(html: str) -> bytes:
        raise MissingToolError("no PDF")

    monkeypatch.setattr(pdf, "to_pdf", broken)
    parameters = nbformat.v4.new_code_cell("datasets = []\ntitle = ''", metadata={"tags": ["parameters"]})
    own, folder = tmp_path / "own.ipynb", tmp_path / "out"
    nbformat.write(nbformat.v4.new_notebook(cells=[parameters]), own)  # whatever the page shows
    folder.mkdir()
    (folder / "report.html").write_text("earlier")
    with pytest.raises(MissingToolError):
        build.build([str(ROOT / "tests" / "data" / "fio" / "randrw.json")], folder, notebook=own)
    assert (folder / "report.html").read_text() == "earlier"
    assert [path.name for path in folder.iterdir()] == ["report.html"]


def test_a_dataset_without_results_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "prices"
    shutil.copytree(LOCAL_DISKS, folder)
    raw = folder / "raw" / "measurements.csv"
    lines = raw.read_text().splitlines(keepends=True)
    raw.write_text("".join([lines[0], *(line for line in lines if "vm_price" in line)]))
    with pytest.raises(InputError, match="no run with a rate or a percentile"):
        Report([str(folder)])


def test_a_cell_of_the_users_own_is_escaped_too() -> None:
    outputs = [
        nbformat.v4.new_output("stream", name="stdout", text="<img src=x onerror=alert(1)>"),
        nbformat.v4.new_output("execute_result", data={"text/html": "<b>bold</b><script>alert(1)</script>"}),
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x", outputs=outputs)])
    page = without_own_scripts(to_html(notebook, "</title><script>alert(1)</script>"))
    assert "<script" not in page and "<img" not in page and "<b>bold</b>" in page
