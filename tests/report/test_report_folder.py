"""Where a report goes that nobody named a place for: no report of another dataset is overwritten."""

from pathlib import Path

import pytest

from azbenchlib.report import build, execute


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two folders of one name; a report is written without its notebook being run."""
    output = (Path(__file__).parents[1] / "data" / "fio" / "randrw.json").read_bytes()
    for place in ("a", "b"):
        (tmp_path / place / "runs").mkdir(parents=True)
        (tmp_path / place / "runs" / "one.json").write_bytes(output)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(execute, "run_notebook", lambda *_: execute.nbformat.v4.new_notebook())
    return tmp_path


def written(name: str, folder: Path | None = None) -> str:
    page = build.build([name], folder, format_=build.ReportFormat.html).html
    return page.parent.as_posix()


def test_a_report_of_another_folder_of_that_name_goes_beside_it(made: Path) -> None:
    assert [written(name) for name in ("a/runs", "b/runs", "a/runs", str(made / "b" / "runs"))] == [
        "reports/runs",
        "reports/runs-2",
        "reports/runs",
        "reports/runs-2",
    ]


def test_what_has_no_mark_is_somebody_elses(made: Path) -> None:
    (made / "reports" / "runs").mkdir(parents=True)
    assert written("a/runs") == "reports/runs"
    (made / "reports" / "runs" / build._SOURCE).unlink()
    assert written("a/runs") == "reports/runs-2"
    assert written("b/runs", Path("reports/runs")) == "reports/runs"  # who names a place means it
