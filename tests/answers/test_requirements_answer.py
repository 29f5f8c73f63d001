"""Requirements on every surface: one answer, the same words, and exit codes that are those of compare."""

import json
from pathlib import Path

import pytest
from compared_runs import fio_outputs, side
from programs import azbench

from azbenchlib import Report
from azbenchlib.answers.requirements import RequirementsAnswer
from azbenchlib.report import build
from azbenchlib.report.build import ReportFormat

STATED = ("--vm", "Standard_D8s_v5", "--disk", "P30")


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fio_outputs(tmp_path_factory.mktemp("required") / "runs", [990, 1000, 1010])


def test_terminal_json_page_and_frame_say_the_same() -> None:
    tables = side("s", [{"iops": 4999.7, "percentiles": {99: 900}}], {"vm_size": "Standard_D8s_v5"}).tables
    answer = RequirementsAnswer.of([tables], ["iops>=5000", "p99<1ms", "p50<1ms"])
    assert answer.exit_code == 1
    (table,) = answer.document.tables()
    assert [(row.group, str(row.cells[1]), row.cells[2]) for row in table.rows] == [
        ("iops >= 5000: met by 0 of 1", "4,999.7 IOPS", "not met"),  # no 5,000 that is below 5,000
        ("p99 < 1ms: met by 1 of 1", "900\u00a0µs", "met"),
        ("p50 < 1ms: met by 0 of 1", "", "not measured"),
    ]
    assert [one["answer"] for one in answer.to_dict()["requirements"]] == ["not met", "met", "not measured"]
    assert answer.to_frame()["measured"].tolist()[:2] == [4999.7, 900]
    html = answer.to_html().html
    for surface in (answer.to_text(), answer.to_markdown(), html):
        assert "Requirements: 1 of 3 met" in surface and "not measured" in surface
    assert '<tr class="bad">' in html and '<tr class="sure">' in html


def test_many_workloads_of_one_answer_share_a_row() -> None:
    runs = [{"iops": 100 + i, "queue_depth": i, "iodepth": i} for i in range(1, 9)]
    answer = RequirementsAnswer.of([side("s", runs, {"vm_size": "Standard_D8s_v5"}).tables], "iops>102")
    cells = [(str(row.cells[0]), row.cells[2]) for row in answer.table.rows]
    assert [answer for _, answer in cells] == ["not met"] * 2 + ["met"] * 3
    assert cells[0][0].endswith("QD\u00a01") and cells[-1][0] == "4 more workloads"
    assert len(answer.to_frame()) == 8


@pytest.mark.parametrize(
    ("required", "code"), [("iops>900", 0), ("iops>=1000", 1), ("p99<1s", 3), ("iops>24.000", 2)]
)
def test_exit_codes_of_verdict(outputs: Path, required: str, code: int) -> None:
    done = azbench("verdict", str(outputs), *STATED, "--require", required, "--format", "json")
    assert done.returncode == code, done.stderr
    if code != 2:
        answer = {0: "met", 1: "not met", 3: "not measured"}[code]
        assert [one["answer"] for one in json.loads(done.stdout)["requirements"]] == [answer]


def test_compare_takes_the_figures_of_the_new_side(outputs: Path, tmp_path: Path) -> None:
    new = str(fio_outputs(tmp_path / "new", [1500, 1510, 1505]))
    arguments = ("compare", str(outputs), new, "--undecided", "ok", "--metric", "iops", "--require")
    for required, code, shown in (
        ("iops>1200", 0, "Requirements: 1 of 1 met"),
        ("iops>1505", 1, "1,500 IOPS"),
    ):
        done = azbench(*arguments, required)
        assert (done.returncode, shown in done.stdout) == (code, True), done.stdout


def test_a_report_has_them_below_its_lead(outputs: Path, tmp_path: Path) -> None:
    written = build.build(
        [str(outputs)], tmp_path, require=["iops>=5000", "iops>1"], format_=ReportFormat.html
    )
    page = written.html.read_text()
    assert (
        page.index('class="finding"') < page.index("Requirements: 1 of 2 met") < page.index('class="cards"')
    )
    assert written.requirements and written.requirements.exit_code == 1
    assert Report(str(outputs)).requirements().html == ""
