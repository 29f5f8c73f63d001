"""`azbench limits` as a user meets it: its tables, its JSON, its figure, its refusals."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner, Result

from azbenchlib.cli.limits import limits
from azbenchlib.core.errors import InputError
from azbenchlib.model import ceilings, host_caching
from azbenchlib.model.fill_from_catalogue import resolve
from azbenchlib.model.notation import parse_disks
from azbenchlib.model.setup import VM, Setup
from azbenchlib.plots.drawing.style import LAYOUTS, Layout, Series
from azbenchlib.plots.roofline import roofline, standalone

app = typer.Typer()
app.command()(limits)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "160", "NO_COLOR": "1"})


def refused(*arguments: str) -> str:
    done = run(*arguments)
    assert isinstance(done.exception, InputError) and not done.stdout
    return str(done.exception)


def unwrapped(text: str) -> str:
    return " ".join(text.split())


def test_the_table_names_the_limit_at_every_block_size() -> None:
    done = run("--vm", "E8ds_v4", "--disk", "temp", "--bs", "4k,8k", "--as-of", "2020-07-01")
    assert done.exit_code == 0
    assert "77,000" in done.stdout and "temp disk IOPS" in done.stdout
    assert "59,136" in done.stdout and "temp disk MB/s" in done.stdout and "6.144" in done.stdout
    assert "sku-api-2026-08-17 of 2026-08-17: temp disk IOPS, temp disk MB/s" in done.stdout
    assert done.stderr == "Note: 100% reads, as no --read-share is given\n"


def test_json_tells_base_and_burst_with_the_sources() -> None:
    done = run(
        "--vm", "D8s_v3", "--disk", "P4x2:ReadOnly", "--as-of", "2024-10-01", "--format", "json", "--bs", "4k"
    )
    found = json.loads(done.stdout)
    rows = {(row["path"], row["level"]): row for row in found["ceilings"]}
    assert rows["cache hit", "base"]["iops"] == 16000 and rows["cache miss", "base"]["iops"] == 240
    assert rows["cache miss", "burst"]["binding"] == ["disk_burst_iops"]
    assert rows["cache miss", "burst"]["mbps"] == pytest.approx(7000 * 4096 / 1e6)
    named = {limit["name"]: limit for limit in found["vm_limits"]}
    assert named["uncached_burst_iops"]["value"] == 16000 and named["uncached_iops"]["source_id"]


def test_a_cached_limit_that_is_not_documented_is_told() -> None:
    cached = ("--vm", "D8s_v5", "--disk", "P30:ReadOnly", "--bs", "8k")
    remark = host_caching.remark(Setup(VM(size="D8s_v5"), parse_disks(["P30:ReadOnly"])), "2026-11-23")
    assert remark and "is not documented" in remark
    shown = run(*cached)
    assert remark in unwrapped(shown.stdout) and "caching" not in shown.stderr
    told = run(*cached, "--format", "json")
    assert json.loads(told.stdout)["notes"] == [remark] and f"Note: {remark}" in told.stderr
    assert f"Note: {remark}" in run(*cached, "--format", "csv").stderr
    known = run("--vm", "D8s_v3", *cached[2:], "--format", "json")
    (note,) = json.loads(known.stdout)["notes"]
    assert note.startswith("Azure retires Standard_D8s_v3 on 2029-11-15") and "caching" not in known.stderr
    assert f"Note: {note}" in known.stderr
    assert "Standard_L8s_v3 does not support host caching" in refused("--vm", "L8s_v3", *cached[2:])


def test_blocks_and_rates_that_are_written_as_nobody_means_them_are_asked_back() -> None:
    stated = ("--vm", "Standard_E8ds_v5", "--disk")
    assert "an I/O of a disk has at least 512 B, such as 4k" in refused(*stated, "P30", "--bs", "4")
    assert "write 24000 or 24" in refused(*stated, "ultra:1TiB/24.000iops/500MBps")


def test_a_setup_of_a_shipped_dataset() -> None:
    done = run(
        "azure-local-disks-2020/E8ds_v4-os-none", "--bs", "8k", "--format", "json", "--read-share", "0"
    )
    found = json.loads(done.stdout)
    assert [row["iops"] for row in found["ceilings"]] == [120, 3500] and found["as_of"] == "2020-07-01"
    assert "E8ds_v4-temp" in refused("azure-local-disks-2020")


def test_a_setup_of_a_measurement_file() -> None:
    file = Path(__file__).parents[2] / "campaigns" / "ultra-disk.yaml"
    done = run(f"{file}/mbps-50", "--bs", "8k", "--format", "json")
    (row,) = json.loads(done.stdout)["ceilings"]
    assert (round(row["iops"]), row["mbps"], row["binding"]) == (6104, 50.0, ["disk_mbps"])
    assert "say which setup" in refused(str(file))
    assert "mbps-50, mbps-100, mbps-2000" in refused(f"{file}/other")


def test_the_json_of_az(tmp_path: Path) -> None:
    vm = tmp_path / "vm.json"
    managed = {"storageAccountType": "Premium_LRS"}
    storage = {"osDisk": {"name": "o", "caching": "ReadOnly", "diskSizeGb": 30, "managedDisk": managed}}
    vm.write_text(json.dumps({"hardwareProfile": {"vmSize": "Standard_D8s_v3"}, "storageProfile": storage}))
    found = json.loads(run("--vm", str(vm), "--disk", "P30", "--format", "json").stdout)
    assert found["vm_size"] == "Standard_D8s_v3" and [disk["tier"] for disk in found["disks"]] == [
        "P4",
        "P30",
    ]
    vm.write_text("[]")
    assert "not list" in refused("--vm", str(vm))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--disk", "ultra:128GiB/10000iops/50MBps:ReadOnly"), "no host caching"),
        (("--vm", "D2s_v3", "--disk", "P10x40"), "at most 4"),
        (("--vm", "E8ds_v44", "--disk", "P30"), "nearest"),
        (("--vm", "D2s_v3"), "--disk P30"),
        (("azure-local-disks-2020/E8ds_v4-temp", "--disk", "P30"), "not both"),
        (("--disk", "P30", "--bs", "0"), "above 0"),
        (("--disk", "P30", "--read-share", "2"), "between 0 and 1"),
        (("--disk", "P30", "--as-of", "yesterday"), "not a day"),
    ],
)
def test_refusals_say_what_is_wrong(arguments: tuple[str, ...], words: str) -> None:
    assert words in refused(*arguments)


def test_the_figure_is_a_file_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "roof.svg"
    done = run("--vm", "E8ds_v4", "--disk", "P30x4:ReadOnly", "--disk", "temp", "--plot", str(path))
    assert done.exit_code == 0 and str(path) in done.stderr.replace("\n", "")
    root = ET.fromstring(path.read_text())  # noqa: S314  (we have just written it)
    texts = [text.text or "" for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "Most IOPS (log scale)" in texts and any("MB/s from" in text for text in texts)
    style = root.find("{http://www.w3.org/2000/svg}style")
    assert style is not None and "prefers-color-scheme: dark" in (style.text or "")


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_the_roofline_is_flat_up_to_its_corner_and_falls_behind_it(layout: Layout) -> None:
    setup = resolve(Setup(VM(), parse_disks(["P30", "E30:noburst"])), "2022-01-01")
    rows = pd.DataFrame([vars(row) for row in ceilings(setup, [4096, 40_000, 65536, 131072])])
    rows = rows[rows["scope"] != "all volumes"].assign(series=lambda found: found["scope"])
    series = [Series(name, name, name, i) for i, name in enumerate(rows["series"].unique())]
    drawn = roofline(rows, series, layout)
    (panel,) = drawn.figure.axes
    (line,) = [line for line in panel.lines if line.get_gid() == "roof-0"]
    assert list(line.get_ydata()) == pytest.approx([5000, 5000, 2e8 / 65536, 2e8 / 131072])
    (corner,) = [line for line in panel.lines if line.get_gid() == "corner-0"]
    assert (*corner.get_xdata(), *corner.get_ydata()) == pytest.approx((40_000, 5000))
    assert "corner-0" in drawn.titles and "5,000 IOPS at 4" in drawn.label.replace("\xa0", " ")
    assert panel.get_xscale() == panel.get_yscale() == "log"
    assert standalone(drawn).startswith("<svg")


def test_a_figure_without_a_limit_is_refused() -> None:
    empty = pd.DataFrame({"series": ["a"], "bs_bytes": [4096], "iops": [None], "crossover_bytes": [None]})
    with pytest.raises(InputError, match="no limit is documented"):
        roofline(empty, [Series("a", "a", "a", 0)], LAYOUTS[0])


def test_the_share_of_reads_that_is_assumed_is_said() -> None:
    done = run("--disk", "P30", "--bs", "4k")
    assert "100% reads" in done.stdout and "Note: 100% reads, as no --read-share is given" in done.stderr
    given = run("--disk", "P30", "--bs", "4k", "--read-share", "70%")
    assert "70% reads" in given.stdout and "no --read-share" not in given.stderr
    assert (
        run("--disk", "P30", "--read-share", "0.7").stdout
        == run("--disk", "P30", "--read-share", "70%").stdout
    )
