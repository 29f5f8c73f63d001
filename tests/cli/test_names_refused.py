"""A VM size, a tier or a region that does not exist is refused by every verb that takes it."""

import shlex
from pathlib import Path

import pytest
from programs import azbench

ROOT = Path(__file__).parents[2]
GOOD = ROOT / "tests" / "data" / "fio" / "randrw.json"
FILE = """\
title: names
region: {region}
vm: {vm}
disks:
  data: {{sku: Premium_LRS, size: 128GiB}}
workloads:
  one: {{rw: randread, bs: 4k, size: 1GiB, runtime: 10}}
"""
SIZE = "no VM size 'D8s_v55' in the catalogue; nearest: Standard_D8s_v5,"
TIER = "no disk tier 'P31'; nearest: "
REGION = "no region 'westeurop' is known; nearest: westeurope,"
REFUSED = {
    "verdict good.json --vm D8s_v55": SIZE,
    "verdict good.json --vm D8s_v5 --disk P31": TIER,
    "verdict good.json --disk P30 --region westeurop": REGION,
    "report good.json -o page --vm D8s_v55 --disk P30": SIZE,
    "report good.json -o page --vm D8s_v5 --disk P30 --region westeurop": REGION,
    "import good.json --name mine --vm D8s_v55 --disk P30": SIZE,
    "limits --vm D8s_v55 --disk P30": SIZE,
    "limits --vm D8s_v5 --disk P31": TIER,
    "cost --vm D8s_v55 --disk P30 --region westeurope": SIZE,
    "cost --vm D8s_v5 --disk P31 --region westeurope": TIER,
    "cost --vm D8s_v5 --disk P30 --region westeurop": REGION,
    "advise --iops 5000 --size 1TiB --region westeurop": REGION,
    "advise --iops 5000 --size 1TiB --region westeurope --vm D8s_v55": SIZE,
    "size telemetry.json --region westeurop": REGION,
    "lab start --vm D8s_v55 --disk P30": SIZE,
    "lab start --disk P31": TIER,
    "catalog show D8s_v55": SIZE,
    "plan size.yaml": SIZE,
    "plan region.yaml": REGION,
    "run size.yaml --target local -o made": SIZE,
    "plan tier.yaml": TIER,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("names")
    (folder / "good.json").write_bytes(GOOD.read_bytes())
    (folder / "telemetry.json").write_bytes((ROOT / "tests/data/sysstat/extended.json").read_bytes())
    (folder / "size.yaml").write_text(FILE.format(region="westeurope", vm="D8s_v55"))
    (folder / "region.yaml").write_text(FILE.format(region="westeurop", vm="Standard_D8s_v5"))
    text = FILE.format(region="westeurope", vm="Standard_D8s_v5")
    (folder / "tier.yaml").write_text(text.replace("size: 128GiB", "size: 128GiB, tier: P31"))
    (folder / "good.yaml").write_text(FILE.format(region="West Europe", vm="d8sv5"))
    return folder


@pytest.mark.parametrize("line", REFUSED)
def test_what_does_not_exist_is_refused(line: str, folder: Path) -> None:
    ended = azbench(*shlex.split(line), cwd=folder)
    assert ended.returncode == 2, ended.stderr
    assert REFUSED[line] in ended.stderr.replace("\n", " ")
    assert "Traceback" not in ended.stderr


def test_other_spellings_are_taken_and_what_is_doubtful_is_said(folder: Path) -> None:
    line = "cost --vm d8sv5 --disk 'Premium SSD 1TB' --region Frankfurt"
    ended = azbench(*shlex.split(line), cwd=folder)
    assert ended.returncode == 0, ended.stderr
    said = " ".join(ended.stderr.replace("\u00a0", " ").split())
    assert "Note: disk 'Premium SSD 1TB' was taken for P30 (Premium SSD, 1 TiB)" in said
    assert "Note: region 'Frankfurt' was taken for germanywestcentral" in said
    assert "Standard_D8s_v5 in germanywestcentral" in ended.stdout


def test_advice_is_for_the_size_that_another_spelling_names(folder: Path) -> None:
    ended = azbench(*shlex.split("advise --iops 5000 --size 1TiB --region westeurope --vm d8sv5"), cwd=folder)
    assert ended.returncode == 0, ended.stderr
    assert "Standard_D8s_v5" in ended.stdout or "D8s_v5" in ended.stdout


def test_a_measurement_file_takes_other_spellings(folder: Path) -> None:
    ended = azbench("plan", "good.yaml", cwd=folder)
    assert ended.returncode == 0, ended.stderr
    assert "--size Standard_D8s_v5" in ended.stdout
    assert "--location westeurope" in ended.stdout
