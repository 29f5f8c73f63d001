"""Rates over time in a report: drawn without limits too, of all jobs, and what is not drawn is told."""

import json
import re
from pathlib import Path

import pytest

from azbenchlib.core.units import NBSP
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.report.to_json import record
from azbenchlib.views.limits import Limits
from azbenchlib.views.report import Report

N = 20


def run(folder: Path, name: str, iops: int = 100, sizes: tuple[int, int] = (4096, 4096), rw: str = "read"):
    """A job with logs of its IOPS and its throughput, whose blocks may change at half."""
    first, last = (f"{size // 1024}k" for size in sizes)
    blocks = {"bs": first} if first == last else {"bssplit": f"{first}/50:{last}/50"}
    options = {"rw": f"rand{rw}", **blocks}
    job = {"jobname": name, "groupid": 0, "error": 0, "job options": options}
    moved = iops * sum(sizes) // 2
    job[rw] = {"io_bytes": 10 * moved, "bw_bytes": moved, "iops": float(iops)}
    job[rw] |= {"runtime": 10_000, "total_ios": 10 * iops}
    (folder / f"{name}.json").write_text(json.dumps({"fio version": "fio-3.36", "jobs": [job]}))
    ddir = 0 if rw == "read" else 1
    for kind, per_io in (("iops", (1, 1)), ("bw", (sizes[0] / 1024, sizes[1] / 1024))):
        lines = [f"{500 * i}, {iops * per_io[i > N / 2]:.0f}, {ddir}, 0, 0\n" for i in range(1, N + 1)]
        (folder / f"{name}_{kind}.1.log").write_text("".join(lines))


def shown(html: str) -> list[tuple[str, str]]:
    """Title and what is drawn, of each figure of rates."""
    found = re.findall(r'id="d0-rate-\d+-figure-t">(.*?)</h3>\s*<p class="what">(.*?)</p>', html)
    return [(title.replace(NBSP, " "), what.replace(NBSP, " ")) for title, what in found]


def test_a_rate_is_drawn_without_limits(tmp_path: Path) -> None:
    run(tmp_path, "j")
    html = Report([str(tmp_path)]).over_time().html
    assert shown(html) == [
        (
            "100 IOPS in every interval",
            "Random reads: IOPS over time; 1,000 IOPS are 4.1 MB/s.",
        )
    ]


def test_throughput_has_a_figure_where_blocks_change(tmp_path: Path) -> None:
    run(tmp_path, "j", sizes=(4096, 65536))
    titles = shown(Report([str(tmp_path)]).over_time().html)
    assert [what for _, what in titles] == ["Random reads: IOPS over time.", "Random reads: MB/s over time."]


def test_limits_are_lines_where_they_are_near(tmp_path: Path) -> None:
    run(tmp_path, "j", iops=480)
    html = Report([str(tmp_path)], vm="Standard_D8s_v5", disks="P10").over_time().html
    assert "A dashed line is a documented limit" in html and "Disk IOPS 500" in html.replace(NBSP, " ")


def test_what_is_not_drawn_is_told(tmp_path: Path) -> None:
    for i, rw in enumerate(("read", "write") * 3):
        folder = tmp_path / f"f{i}"
        folder.mkdir()
        run(folder, f"j{i}", sizes=(4096 << i // 2,) * 2, rw=rw)
    html = Report([str(tmp_path)]).over_time().html
    assert len(shown(html)) == 4 and "Without a figure: 2 more workloads." in html.replace(NBSP, " ")


def test_a_stall_is_the_headline(tmp_path: Path) -> None:
    run(tmp_path, "j")
    path = tmp_path / "j_iops.1.log"
    path.write_text(path.read_text().replace("5000, 100,", "5000, 20,"))
    ((title, _),) = shown(Report([str(tmp_path)]).over_time().html)[:1]
    assert title.startswith("The slowest interval has 20 IOPS")


def test_logs_alone_have_a_report(tmp_path: Path) -> None:
    run(tmp_path, "j")
    (tmp_path / "j.json").unlink()
    report = Report([str(tmp_path)])
    assert "100" in report.cards().html
    assert len(shown(report.over_time().html)) == 1
    assert "rate is the mean of its log" in report.trust().html


def test_the_json_of_a_report_has_the_rates(tmp_path: Path) -> None:
    run(tmp_path, "j")
    (setup,) = record([Dataset.load(tmp_path)])["setups"]
    (iops,) = [one for one in setup["over_time"] if one["metric"] == "iops"]
    assert iops["values"] == [100] * N and iops["t_s"][-1] == 0.5 * N


def test_the_frame_of_the_figure_can_be_had(tmp_path: Path) -> None:
    run(tmp_path, "j")
    frame = Limits([str(tmp_path)]).over_time().data
    assert frame.loc[frame["metric"] == "iops", "value"].tolist() == pytest.approx([100] * N)


def test_steady_rates_stand_in_the_appendix_where_the_evidence_has_other_figures() -> None:
    """The emulated disks that are shipped kept their rates; of a burst that ran out the evidence tells."""
    report = Report(["premium-ssd-emulated-2026"])
    report.percentiles()
    report.limits()
    figure = 'data-kind="time"'
    assert figure not in report.over_time().html
    folded = report.steady().html
    assert folded.startswith("<details") and figure in folded
    alone = Report(["premium-ssd-emulated-2026"])
    assert figure in alone.over_time().html and not alone.steady().html.strip()
