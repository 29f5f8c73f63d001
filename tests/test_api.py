"""The functions for everyday use in Python say what the command line says."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest
from programs import azbench

import azbenchlib as az
from azbenchlib.core import schema
from azbenchlib.core.errors import InputError

ROOT = Path(__file__).parents[1]
OUTPUT = ROOT / "tests" / "data" / "fio" / "randrw.json"


def told(*arguments: object) -> dict:
    done = azbench(*arguments, "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_judged_dataset_is_what_the_verdict_prints() -> None:
    rows = az.judge("ultra-disk-2019").to_frame()
    told_rows = told("verdict", "ultra-disk-2019")["verdicts"]
    assert list(rows["run"]) == [one["id"] for one in told_rows]
    assert list(rows["limit"]) == [" and ".join(one["binding"]) for one in told_rows]
    assert [round(p, 4) for p in rows["probability"]] == [one["probability"] for one in told_rows]
    assert list(rows["iops"].astype(object)) == pytest.approx([one["achieved"]["iops"] for one in told_rows])


def test_a_setup_can_be_said_when_reading_and_later() -> None:
    said = az.read(OUTPUT, vm="Standard_E8ds_v4", disks=["P30"], region="westeurope")
    later = az.read(OUTPUT).add_setup("Standard_E8ds_v4", ["P30"], "westeurope")
    for name in schema.TABLES:
        pd.testing.assert_frame_equal(later.tables[name], said.tables[name])
    assert az.judge(later).to_frame()["limit"].equals(az.judge(said).to_frame()["limit"])
    assert later.manifest is not None and later.manifest.setups[0].vm_size == "Standard_E8ds_v4"
    with pytest.raises(InputError, match="the setup of every run is stated already"):
        later.add_setup("Standard_D4as_v5", ["P30"])


def test_a_price_is_that_of_the_bill() -> None:
    priced = az.price("Standard_D4as_v5", ["P30"], region="westeurope")
    lines = told("cost", "--vm", "Standard_D4as_v5", "--disk", "P30", "--region", "westeurope")
    assert f"{priced.total:.2f}" == f"{float(lines['total']):.2f}"
    with pytest.raises(InputError, match="hours nan"):
        az.price(None, ["P30"], region="westeurope", hours=float("nan"))
    assert az.price(None, ["P30"], region="nowhere").total is None


def test_advice_is_that_of_the_command_line() -> None:
    ours = az.advise(region="westeurope", iops="6000", size="1TiB", bs="8KiB", read_share="70%")
    theirs = told(
        "advise", "--region=westeurope", "--iops=6000", "--size=1TiB", "--bs=8KiB", "--read-share=70%"
    )
    best, same = ours.records()[0], theirs["configurations"][0]
    assert (best["vm"], best["disks"]) == (same["vm"], same["disks"])
    assert float(str(best["price_per_month"])) == pytest.approx(float(same["price_per_month"]))
    with pytest.raises(InputError, match="a demand has no 'iopz'"):
        az.advise(region="westeurope", iopz="6000", size="1TiB")


def test_a_comparison_is_that_of_the_command_line() -> None:
    sides = ("azure-local-disks-2020:E8ds_v4-os-none", "azure-local-disks-2020:E8ds_v4-temp")
    ours = az.compare(*sides)
    theirs = told("compare", *sides, "--undecided", "ok")
    figures = [figure for pair in ours.pairs for figure in pair.figures]
    assert len(figures) == sum(len(pair["figures"]) for pair in theirs["pairs"]) > 0


def test_a_workbook_has_a_sheet_a_table_and_no_formula(tmp_path: Path) -> None:
    found = az.read(OUTPUT)
    runs = found.tables["runs"].assign(job="=1+1")
    written = type(found)(tables=found.tables | {"runs": runs}).to_excel(tmp_path / "all.xlsx")
    sheets = pd.read_excel(written, sheet_name=None)
    assert list(sheets) == list(schema.TABLES)
    assert len(sheets["percentiles"]) == len(found.tables["percentiles"])
    assert sheets["runs"].loc[0, "job"] == "'=1+1"
    with pytest.raises(InputError, match=r"ends in \.xlsx"):
        found.to_excel(tmp_path / "all.xls")


def test_a_notebook_shows_text_of_others_as_text() -> None:
    found = az.read(OUTPUT)
    evil = found.tables["runs"].assign(job="<script>alert(1)</script>")
    shown = type(found)(tables=found.tables | {"runs": evil})._repr_html_()
    assert "<script>" not in shown and "&lt;script&gt;" in shown
    assert len(found.overview()) == 2  # reads and writes


def test_a_notebook_shows_what_a_dataset_tells_and_how_much_there_is_to_doubt() -> None:
    found = az.read(OUTPUT)
    page = ElementTree.fromstring(f"<div>{found._repr_html_()}</div>")  # noqa: S314 - our own
    head, *rows = [[cell.text for cell in row] for row in page.iter("tr")]
    rates = found.overview()
    assert rates["host"].isna().all() and rates["setup"].isna().all()
    shown = rates.drop(columns=["source_path", "setup_id", "iodepth", "numjobs"]).dropna(
        axis="columns", how="all"
    )
    assert head == list(shown)
    iops = [float(row[head.index("iops")].replace(",", "")) for row in rows]
    assert iops == pytest.approx(rates["iops"].tolist(), rel=1e-5)
    counts = re.findall(r"([\d,]+) of severity (\w+)", found._repr_html_())
    assert {name: int(n) for n, name in counts} == found.findings["severity"].value_counts().to_dict() != {}


def test_an_emulated_disk_has_the_size_and_an_address(tmp_path: Path) -> None:
    with az.emulate("Standard_D4as_v5", ["P30:None"]) as lab:
        assert lab.sizes == {"P30:None": 2**40}
        assert lab.uri("P30:None").startswith("nbd+unix://")
        assert repr(lab) == "Emulated Standard_D4as_v5 with P30:None: started"
    assert repr(lab).endswith(": not started")


def test_the_public_names_are_those_that_tab_shows() -> None:
    assert dir(az) == sorted(az.__all__)
    assert "read" in dir(az) and "os" not in dir(az)


def test_errors_have_public_names() -> None:
    with pytest.raises(az.InputError, match="no-such-folder"):
        az.judge("no-such-folder")
    assert issubclass(az.InputError, az.AzbenchError)


def test_a_single_disk_may_be_a_text() -> None:
    data = OUTPUT
    several = az.read(data, vm="Standard_E8ds_v4", disks=["P30"])
    single = az.read(data, vm="Standard_E8ds_v4", disks="P30")
    pd.testing.assert_frame_equal(several.disks, single.disks)
    with pytest.raises(InputError, match="'ultra-disk-2019' is a name beside a dataset that is opened"):
        az.write_report(several, "ultra-disk-2019")


def test_limits_are_those_of_the_command_line() -> None:
    asked = ("limits", "--vm", "E8ds_v4", "--disk", "P30x4:ReadOnly", "--bs", "4k,64k", "--read-share", "70%")
    theirs = told(*asked, "--as-of", "2026-11-20")
    del theirs["version"]
    for sizes, share in (("4k,64k", "70%"), ([4096, "64k"], 0.7)):
        ours = az.limits("E8ds_v4", "P30x4:ReadOnly", block_sizes=sizes, read_share=share, as_of="2026-11-20")
        assert json.loads(json.dumps(ours.to_dict())) == theirs
    assert len(az.limits(None, ["P30"], block_sizes=4096).to_frame()) == 1
    for wrong, words in (
        ({"disks": []}, "disks are missing: name one, such as P30"),
        ({"disks": "P30", "block_sizes": []}, "block_sizes are missing"),
        ({"disks": "P30", "block_sizes": "large"}, "block_sizes 'large' is not a size"),
        ({"disks": "P30", "read_share": 2}, "read_share '2' is not a share between 0 and 1"),
    ):
        with pytest.raises(InputError, match=words):
            az.limits("E8ds_v4", **wrong)


def test_no_public_name_is_that_of_a_package() -> None:
    """To import a package sets its name in azbenchlib, over a function of the same name."""
    packages = {path.parent.name for path in Path(az.__file__).parent.glob("*/__init__.py")}
    assert len(packages) > 10 and packages.isdisjoint(az.__all__)
