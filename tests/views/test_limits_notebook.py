"""The notebook of limits: it runs on any dataset, names what binds, and says where nothing can be said."""

import ast
import json
import re
from html import unescape
from pathlib import Path

import cells
import nbformat
import numpy as np
import pytest
from simulated import bursting, logs

from azbenchlib import Report
from azbenchlib.core.errors import InputError
from azbenchlib.report import execute
from azbenchlib.report.sections import rates_over_time
from azbenchlib.views.limits import Limits

DATASETS = Path(__file__).parents[2] / "datasets"
LOCAL_DISKS, ULTRA = (str(DATASETS / name) for name in ("azure-local-disks-2020", "ultra-disk-2019"))
P4 = {"disk": "os", "role": "os", "sku": "Premium_LRS", "tier": "P4", "host_caching": "None"}
FILLED = 0.2  # share of the bucket that the simulated run began with


def words(html: str) -> str:
    bare = re.sub(r"<(style|title)\b.*?</\1>|<[^>]+>", " ", html, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(bare).replace("\u00a0", " "))


def figures(html: str) -> list[str]:
    return re.findall(r'<figure[^>]* id="(d\d-[a-z]+)-\d+-figure"', html)


def run(*datasets: str, **parameters: object) -> str:
    return cells.page("03_limits", datasets=list(datasets), **parameters)


@pytest.fixture(scope="module")
def burst(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of one run on a P4 that spends its credits: fio's JSON, and its log from the simulator."""
    folder = tmp_path_factory.mktemp("burst")
    (folder / "raw").mkdir()
    (log,) = logs(bursting(120.0, 3500.0, FILLED, runtime_s=np.array([900.0])), seed=7)
    lines = [
        f"{round(1000 * t)}, {round(rate)}, 0, 8192, 0" for t, rate in zip(log.t_s, log.iops, strict=True)
    ]
    (folder / "raw" / "burst_iops.1.log").write_text("\n".join(lines) + "\n")
    iops, seconds = float(np.mean(log.iops)), float(log.t_s[-1])
    read = {"iops": iops, "bw_bytes": round(iops * 8192), "runtime": round(1000 * seconds)}
    read |= {"total_ios": round(iops * seconds), "io_bytes": round(iops * seconds) * 8192}
    options = {"name": "burst", "rw": "randread", "bs": "8k", "iodepth": "256", "direct": "1"}
    options |= {"ioengine": "libaio", "runtime": "900", "time_based": "1", "write_iops_log": "burst"}
    job = {"jobname": "burst", "job options": options, "error": 0, "read": read}
    document = {"fio version": "fio-3.33", "timestamp": 1, "jobs": [job]}
    (folder / "raw" / "burst.json").write_text(json.dumps(document))
    described = json.loads((Path(LOCAL_DISKS) / "manifest.json").read_text())
    described |= {"name": "burst", "title": "A burst", "raw": {}, "commands": [], "sources": [], "notes": []}
    described["setups"] = [
        {"setup_id": "s", "environment": "azure", "vm_size": "Standard_E8ds_v4", "as_of": "2020-07-01"}
        | {"disks": [P4]}
    ]
    (folder / "manifest.json").write_text(json.dumps(described))
    return folder


@pytest.mark.slow
def test_the_seed_is_explained_from_cards_to_doubts() -> None:
    html = run(LOCAL_DISKS)
    assert figures(html) == ["d0-roofline"]
    text = words(html)
    assert "Bound by the disk burst IOPS limit 98 % certain" in text
    assert "5 of 10 runs hit a documented limit" in text  # of two more no limit is documented
    assert "Run for 36 min, until the credits are spent" in text and "runtime=2160" in text
    assert "has no rates over time. To have them next time" in text
    assert "NVMe disk IOPS (8 %)" in text
    assert "rate_from_latency" in text and "rate_from_status_line" in text


@pytest.mark.slow
def test_a_setup_that_the_dataset_lacks_can_be_stated() -> None:
    text = words(run(ULTRA, vm="Standard_E32-8s_v3", disks=["P30"], as_of="2026-01-01"))
    assert "of 5,000 IOPS P30 iops, premium-2023-03 of 2023-03-16" in text
    assert "of 2,000 MB/s" not in text


def test_a_trace_shows_the_limits_and_the_credits(burst: Path) -> None:
    html = Limits([str(burst)]).over_time().html
    assert figures(html) == ["d0-rate"]
    text = words(html)
    spent = re.search(r"from ([\d,]+) IOPS to ([\d,]+); burst credits started at (\d+) %", text)
    assert spent is not None
    high, low, share = (float(part.replace(",", "")) for part in spent.groups())
    assert (high, low, share) == pytest.approx((3500, 120, 100 * FILLED), rel=0.05)
    assert "Burst credits left" in text and "Disk burst IOPS 3,500" in text
    (label, _) = re.findall(r'aria-label="([^"]*)"', html)  # wide and narrow
    assert "Burst credits fall from" in label and unescape(label).endswith("to 0 I/Os.")
    assert figures(Report([str(burst)]).over_time().html) == ["d0-rate"]


def test_credits_go_evenly_down_to_nothing(burst: Path) -> None:
    trace, fitted = rates_over_time._trace(Report([str(burst)]).parts[0].verdicts[0])
    assert fitted is not None
    before = trace[trace["t_s"] < fitted.empty_s]
    assert before["credits"].iloc[[0, -1]].tolist() == pytest.approx([fitted.balance, 0], abs=1e4)
    half = before["credits"].iloc[len(before) // 2]
    assert half == pytest.approx(fitted.balance / 2, rel=0.05)
    assert (trace.loc[trace["t_s"] >= fitted.empty_s, "credits"] == 0).all()


def test_one_setup_under_several_loads_has_one_line(burst: Path) -> None:
    html = Limits([str(burst)]).roofline().html
    label = re.search(r'aria-label="([^"]*)"', html)
    assert label is not None
    assert "Limit of this setup: 120 IOPS at 4 KiB" in unescape(label[1]).replace("\u00a0", " ")
    assert "Measured: 8 KiB, QD 256: 120 IOPS at 8 KiB." in label[1].replace("\u00a0", " ")


def test_a_burst_that_ran_out_is_told_in_its_phases(burst: Path) -> None:
    text = words(Limits([str(burst)]).cards().html)
    assert re.search(r"until its credits are spent, then by its base: 3,\d+ IOPS for 6 min, then 120;", text)
    assert "100% of 120 IOPS P4 iops, bursting-2020-03 of 2020-03-29" in text  # of the day of the run
    assert "the longest of them is judged" not in text  # both phases are
    assert "A P30 gives up to 5,000 IOPS without credits" in text


def test_each_cell_is_prose_parameters_or_one_library_call() -> None:
    notebook = nbformat.read(execute.find_notebook("03_limits"), as_version=4)
    for cell in notebook.cells:
        if cell.cell_type != "code" or cell.id.startswith("going-on"):
            continue
        assert cell.outputs == []
        body = ast.parse(cell.source).body
        if "parameters" in cell.metadata.get("tags", []):
            assert all(isinstance(line, ast.AnnAssign) for line in body)
            assert len(cell.source.splitlines()) == len(body)
            continue
        lines = [line for line in body if not isinstance(line, ast.ImportFrom)]
        assert isinstance(lines[-1], ast.Expr) and len(lines) <= 2
        assert sum(isinstance(node, ast.Call) for line in lines for node in ast.walk(line)) == len(lines)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"datasets": []}, "at least one dataset"),
        ({"datasets": ["no-such"]}, "no dataset 'no-such'"),
        ({"vm": "Standard_E8ds_v4"}, "say what was driven on the Standard_E8ds_v4"),
        ({"disks": ["P31x"]}, "P31x"),
    ],
)
def test_what_cannot_be_judged_is_refused_in_a_sentence(given: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        Limits(**{"datasets": [LOCAL_DISKS]} | given)


def test_the_table_goes_on_as_a_dataframe() -> None:
    data = Limits([str(LOCAL_DISKS), "ultra-disk-2019"]).table().data
    assert data is not None and set(data["dataset"]) == {"azure-local-disks-2020", "ultra-disk-2019"}
    p4 = data[data["series"].eq("E8ds_v4, OS disk, no cache") & data["iops"].eq(3499)].iloc[0]
    assert p4["binding_limit"] == "disk_burst_iops" and p4["limit"] == 3500
    assert p4["utilisation"] == pytest.approx(3499 / 3500) and p4["probability"] > 0.9
