"""Azure Monitor beside fio in a report: one figure has the rate, its limits, and the use of those."""

import json
import re
from html import unescape
from pathlib import Path

from readback.known import Known
from readback.page import Page
from test_report_verdicts import words

from azbenchlib import Report
from azbenchlib.dataset import importing
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.dataset.setups import Assumed
from azbenchlib.model import VM, Setup, notation
from azbenchlib.report.sections.rates_over_time import USED_LIMITS

ROOT = Path(__file__).parents[2]
ANSWER = ROOT / "tests" / "data" / "azure_monitor" / "two_disks.json"  # begins at 10:00 on 20 November 2026
ENDED = 1795168980  # three minutes later, in s since 1970


def outputs(folder: Path) -> Path:
    """A run of 180 s at 120 IOPS with its log, and what Azure Monitor has of the only LUN in that time."""
    told = json.loads(ANSWER.read_text())
    for metric in told["value"]:
        metric["timeseries"] = [one for one in metric["timeseries"] if "3" not in str(one["metadatavalues"])]
    (folder / "monitor.json").write_text(json.dumps(told))
    read = {"total_ios": 120 * 180, "io_bytes": 120 * 180 * 4096, "iops": 120.0, "bw_bytes": 120 * 4096}
    options = {"rw": "randread", "bs": "4k", "iodepth": "64", "direct": "1", "ioengine": "libaio"}
    options |= {"time_based": "1", "runtime": "180", "size": "100g", "filename": "/dev/sdc"}
    options |= {"write_iops_log": "job"}
    job = {"jobname": "job", "error": 0, "job options": options, "read": {**read, "runtime": 180_000}}
    (folder / "job.json").write_text(
        json.dumps({"fio version": "fio-3.33", "timestamp": ENDED, "jobs": [job]})
    )
    (folder / "job_iops.1.log").write_text("".join(f"{1000 * s}, 120, 0, 0, 0\n" for s in range(1, 181)))
    return folder


def test_the_use_of_the_limits_is_drawn_below_the_rate(tmp_path: Path) -> None:
    setup = Setup(VM(size="Standard_D4s_v5"), notation.parse_disks(["P4:None"]), "2026-11-20")
    found = Dataset.load(outputs(tmp_path), assumed=Assumed(setup))
    with importing.as_folders([found]) as (folder,):
        html = Report([str(folder)]).over_time().html
        manifest = json.loads((folder / "manifest.json").read_text())
    said = words(html)
    assert "Used, % (Azure Monitor)" in said and USED_LIMITS in said
    used = "Disk IOPS 101 %; VM uncached MB/s 14 %."
    label = " ".join(re.findall(r'aria-label="([^"]*)"', html)).replace("\u00a0", " ")
    assert f"Azure Monitor: the most that a minute used of each limit: {used}" in unescape(label)
    checker = Page([Known(manifest, found.tables, ROOT)]).read(html)
    assert checker.faults == []
    assert checker.counted["consumed"] == 4  # of the wide and of the narrow figure
