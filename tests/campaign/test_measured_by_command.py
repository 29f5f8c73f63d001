"""This machine measured by the command line: what the run says and keeps, its verdict and its report."""

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from programs import azbench
from test_campaign_private import JOB, MEASUREMENT, WHO, assert_nobody_is_named

from azbenchlib.dataset import manifest
from azbenchlib.dataset.dataset import Dataset

pytestmark = [pytest.mark.fio, pytest.mark.slow]

SMALL = ("block_sizes=['4k']", "iodepths=[2]", "runtime_s=1", "ramp_s=0", "size='16m'")


@dataclass(frozen=True)
class Home:
    """The home of somebody with a name, in whose folder work commands run."""

    place: Path

    @property
    def work(self) -> Path:
        return self.place / "work"

    def azbench(self, *arguments: object) -> str:
        """What a command that succeeds prints."""
        own = {"HOME": str(self.place), "XDG_CACHE_HOME": str(self.place / "cache")}
        env = {**os.environ, **own, "USER": WHO, "LOGNAME": WHO}
        done = azbench(*arguments, cwd=self.work, env=env)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    found = Home(tmp_path_factory.mktemp("home") / WHO)
    found.work.mkdir(parents=True)
    return found


@pytest.fixture(scope="module")
def said(home: Home) -> str:
    """What is printed while the dataset ``ds`` is measured."""
    return home.azbench("run", "--target", "local", "-o", "ds", *(f"--parameter={one}" for one in SMALL))


def test_each_run_has_a_line_and_the_notebook_is_kept_with_all_it_shows(home: Home, said: str) -> None:
    notebook = nbformat.read(home.work / "ds" / "measure.ipynb", as_version=4)
    shown = {cell.id: cell.outputs for cell in notebook.cells if cell.cell_type == "code"}
    for text in (said, "".join(output["text"] for output in shown["measure"])):
        lines = [line for line in text.splitlines() if " IOPS" in line]
        left = r" \(about [\d.]+\u00a0s left; next: randwrite 4\u00a0KiB, QD 2\)"
        assert re.fullmatch(r"1/2 randread 4\u00a0KiB, QD 2: [\d,]+ IOPS" + left, lines[0])
        assert re.fullmatch(r"2/2 randwrite 4\u00a0KiB, QD 2: [\d,]+ IOPS", lines[1])
    assert "4\u00a0KiB, QD\u00a02" in shown["results"][0]["data"]["text/html"]
    assert len(manifest.load(home.work / "ds").raw) == 12
    kept = notebook.metadata["papermill"]
    assert kept["input_path"] == "01_measure.ipynb" and kept["parameters"]["dataset"] == "ds"


@pytest.mark.usefixtures("said")
def test_its_verdict_asks_for_no_azure_disk(home: Home) -> None:
    shown = home.azbench("verdict", "ds")
    assert "bound by" in shown or "Cannot tell" in shown or "explains the rate" in shown, shown
    assert not any(word in shown for word in ("SKU", "host caching", "give a tier"))
    runs = json.loads(home.azbench("verdict", "ds", "--format", "json"))
    assert "limits_not_known" not in json.dumps(runs)


@pytest.mark.usefixtures("said")
def test_it_and_its_report_name_nobody(home: Home) -> None:
    work = home.work
    (work / "m.yaml").write_text(MEASUREMENT)
    (work / "own.fio").write_text(JOB)
    home.azbench("run", work / "m.yaml", "--target", "local", "-o", work / "own", "-p", f"directory={work}")
    home.azbench("report", work / "own", "ds", "-o", "report", "--title", "Ours & theirs")
    assert_nobody_is_named(work / "own", work / "ds", work / "report")
    assert len(Dataset.load(work / "own").runs) == 2
    page = (work / "report" / "report.html").read_text()
    assert "<h1>Ours &amp; theirs</h1>" in page and "mean latency over time, from the log" in page
    assert (work / "report" / "report.pdf").read_bytes().startswith(b"%PDF-")
