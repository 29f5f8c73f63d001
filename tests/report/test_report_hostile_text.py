"""Names of others cannot turn, hide or break what stands beside them: on a page, in its figures and data."""

import base64
import json
import re
import unicodedata
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import nbformat
import pytest
from programs import azbench

from azbenchlib import Report
from azbenchlib.answers.blocks import MIME, Block
from azbenchlib.core.printable import one_line
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.plots.drawing import label_layout
from azbenchlib.report.page import to_html
from azbenchlib.views.compare import Compare
from azbenchlib.views.latency import Latency

ROOT = Path(__file__).parents[2]
TURNED = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))  # directions of writing
CONTROLS = (*range(1, 0x20), *range(0x7F, 0xA0))
HIDDEN = (0xAD, 0x200B, 0x2028, 0x2029, 0x2060, 0xFEFF, 0xE0041)
ODD = "".join(map(chr, (*TURNED, *CONTROLS, *HIDDEN)))
KEPT = "\n\t\u200c\u200d"  # white space and joiners
REFERENCE = re.compile(r"&#(?:x([0-9a-f]+)|(\d+));", re.IGNORECASE)
OF_JSON = re.compile(r"\\u([0-9a-f]{4})", re.IGNORECASE)


def odd(text: str) -> set[str]:
    """The characters of a text that are not shown as they are, whether they are written out or escaped."""
    codes = [int(match[1] or match[2], 16 if match[1] else 10) for match in REFERENCE.finditer(text)]
    codes += [int(match[1], 16) for match in OF_JSON.finditer(text)]
    characters = {*text, *map(chr, codes)} - {*KEPT}
    return {char for char in characters if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")}


def documents(html: str) -> Iterator[str]:
    """A page, without the script of azbench's own, and the figures that it has as images."""
    yield re.sub(r"<script>.*?</script>", "", html, flags=re.DOTALL)
    for data in re.findall(r"data:image/svg\+xml;base64,([\w+/=]+)", html):
        yield base64.b64decode(data).decode()


def renamed(value: Any) -> Any:
    """A document of fio with odd characters in each name that somebody chose."""
    if isinstance(value, list):
        return [renamed(one) for one in value]
    if not isinstance(value, dict):
        return value
    chosen = {"jobname": f"job{ODD}\0", "hostname": f"host{ODD}\0", "desc": f"about{ODD}\0"}
    options = {"name": f"job{ODD}", "filename": f"/dev/{ODD}", "description": ODD}
    known = {key: renamed(one) for key, one in value.items()}
    return known | (chosen if "jobname" in value else {}) | (options if "filename" in value else {})


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Outputs of fio with hostile names, in files and folders with hostile names."""
    document = renamed(json.loads((ROOT / "tests" / "data" / "fio" / "randrw.json").read_text()))
    paths = []
    for place, letter in enumerate("ab"):
        path = (
            tmp_path_factory.mktemp("outputs")
            / f"{letter}\u202e\u2066of 16 QD\u2028\x1b[31m"
            / "run\u202e.json"
        )
        path.parent.mkdir()
        for job in document["jobs"]:
            job["read"]["iops"] += 100 * place
        path.write_text(json.dumps(document | {"timestamp_ms": 1_795_000_000_000 + place}))
        paths.append(path)
    return paths


def page(blocks: list[Block], *printed: str) -> str:
    """The page of a notebook whose cells gave these blocks and printed these texts."""
    shown = [nbformat.v4.new_output("display_data", {MIME: block.html}) for block in blocks]
    shown += [nbformat.v4.new_output("stream", text=text) for text in printed]
    return to_html(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(outputs=shown)]), f"title {ODD}")


def test_a_report_keeps_no_character_that_turns_or_hides_others(outputs: list[Path]) -> None:
    report = Report([str(path) for path in outputs], title=f"mine {ODD}", author=ODD, client=ODD)
    names = ("header", "cards", "percentiles", "limits", "results", "trust", "method", "sources")
    blocks = [getattr(report, name)() for name in names]
    html = page(blocks, f"printed {ODD}")
    assert 'class="chart-lines"' in html and "<title>" in html
    for document in documents(html):
        assert odd(document) == set()
    for block in blocks:
        bundle = block._repr_mimebundle_()
        for text in (*documents(bundle["text/html"]), bundle["text/plain"]):
            assert odd(text) == set()


def test_names_on_the_page_are_those_of_the_terminal(outputs: list[Path]) -> None:
    name = one_line(outputs[0].parent.name)
    assert name == "a\ufffd\ufffdof 16 QD\ufffd\u241b[31m"
    read = azbench("read", *outputs)
    assert name in read.stdout
    assert f"job '{one_line(f'job{ODD}')}\u2400'" in read.stderr
    report = Report([str(path) for path in outputs])
    said = [unescape(block.html.replace("<wbr>", "")) for block in (report.cards(), report.percentiles())]
    assert all(name in text for text in said)


@pytest.mark.filterwarnings("ignore:Glyph")
def test_pages_that_compare_and_study_keep_none_either(outputs: list[Path]) -> None:
    compared = Compare(str(outputs[0]), str(outputs[1]))
    latency = Latency([str(path) for path in outputs])
    blocks = [compared.result(), compared.table(), compared.percentiles(), compared.rates()]
    blocks += [latency.table(), latency.curves()]
    for document in documents(page(blocks)):
        assert odd(document) == set()
    legend = latency.explore(x="p50", y="iops", hue="job", style="series").legend
    assert legend is not None and odd("".join(text.get_text() for text in legend.get_texts())) == set()


def test_a_notebook_that_ends_in_a_dataset_shows_none(outputs: list[Path]) -> None:
    assert odd(Dataset.load(outputs[0])._repr_html_()) == set()


def test_text_in_figures_is_that_of_the_terminal_on_one_line() -> None:
    assert label_layout.clean(" a\n\tb\0\u202e\ufffec ") == "a b\u2400\ufffd\ufffdc"
