"""The report's part on searches: its headlines say what the points of the curve say."""

import shutil
from html import unescape
from pathlib import Path

from azbenchlib import Report
from azbenchlib.dataset import manifest
from azbenchlib.dataset.manifest import SearchCurve, SearchPoint

PUBLISHED = Path(__file__).parents[2] / "datasets" / "azure-local-disks-2020"
POINTS = [
    SearchPoint(workload="deepest", queue_depth=32, iops=13_000, lat_us=2_900),
    SearchPoint(workload="found", queue_depth=16, iops=12_100, lat_us=1_500),
    SearchPoint(workload="found", queue_depth=16, iops=12_345, lat_us=1_600),
    SearchPoint(workload="found", queue_depth=16, iops=12_900, lat_us=1_700),
]


def told(tmp_path: Path, limit_us: float, answer: str | None) -> str:
    """The text of the report's part on searches, of a dataset with one search at p99."""
    folder = shutil.copytree(PUBLISHED, tmp_path / "searched")
    curve = SearchCurve(where="vm/data", percentile=99, limit_us=limit_us, answer=answer, points=POINTS)
    manifest.save(folder, manifest.load(folder).model_copy(update={"searches": [curve]}))
    return unescape(Report([str(folder)]).searches().html).replace("\N{NO-BREAK SPACE}", " ")


def test_an_answer_that_all_its_runs_keep_gives_their_median(tmp_path: Path) -> None:
    text = told(tmp_path, 2_000, "found")
    assert "With p99 below 2 ms, the disk reaches 12,345 IOPS, at queue depth 16" in text
    assert "deepest queue below it: 16." in text
    assert "vm, data: IOPS and p99 of the latency over queue depth." in text


def test_an_answer_that_one_of_its_runs_misses_says_so(tmp_path: Path) -> None:
    text = told(tmp_path, 1_650, "found")
    assert "At queue depth 16, the deepest that was found, p99 stays below 1.65 ms in 2 of 3 runs" in text


def test_a_search_without_answer_says_so(tmp_path: Path) -> None:
    assert "At no queue depth that was measured does p99 stay below 500 µs" in told(tmp_path, 500, None)
