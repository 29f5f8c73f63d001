"""The notebook of the probe, from its parameters to its portrait."""

import shutil
from pathlib import Path

import pytest

from azbenchlib.report import execute
from azbenchlib.report.page import to_html
from azbenchlib.views.probe import ProbedDisk


@pytest.mark.fio
@pytest.mark.slow
def test_a_directory_is_probed_and_its_portrait_drawn(tmp_path: Path) -> None:
    if shutil.which("fio") is None:
        pytest.skip("no fio")
    data, dataset = tmp_path / "data", tmp_path / "probe"
    data.mkdir()
    how = {"disk": "", "dataset": str(dataset), "seconds": 1.0, "runs": 3, "size": "8MiB"}
    executed = execute.run_notebook(execute.find_notebook("07_probe"), {"target": str(data), **how})
    page = to_html(executed, "Probe")
    assert "Reads, IOPS cap" in page and "led to this" in page and "nats" in page

    again = ProbedDisk(str(data), **how)  # finished: read, not measured
    assert len(again.runs()) == 3
    assert again.unlearnt()["minutes"].max() == 30
    roof = again.portrait().data
    assert roof is not None and set(roof["ddir"]) == {"read", "write"}
    assert (roof["low"] <= roof["iops"]).all() and (roof["iops"] <= roof["high"]).all()
