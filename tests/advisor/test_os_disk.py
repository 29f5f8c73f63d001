"""The OS disk beside one demand: in the answer, in the price, in the VM's limits and on every surface."""

import csv
import io
import json
from decimal import Decimal
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

import azbenchlib as az
from azbenchlib.advisor.advise import advise, recommended
from azbenchlib.advisor.demands import demand_file
from azbenchlib.advisor.offers.load_market import market
from azbenchlib.advisor.offers.market import Market
from azbenchlib.cli import app
from azbenchlib.core.errors import InputError

DAY = "2026-11-20"
WANTED = {"iops": "4000", "size": "1TiB", "vcpus": "16", "ram": "128GiB"}
ASKED = ("advise", "--region", "westeurope", "--as-of", DAY, "--iops", "4000", "--size", "1TiB")
SERVER = ("--vcpus", "16", "--ram", "128GiB")


@pytest.fixture(autouse=True)
def _shipped_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@cache
def europe() -> Market:
    return market("westeurope", as_of=DAY)


def printed(*more: str) -> str:
    done = CliRunner().invoke(app, [*ASKED, *SERVER, *more])
    assert done.exit_code == 0, done.exception
    return done.stdout


def test_it_is_in_the_price_and_changes_nothing_else_where_it_has_no_rates() -> None:
    alone = recommended(demand_file.demand(WANTED), europe())
    both = recommended(demand_file.demand({**WANTED, "os_disk": "64GiB"}), europe())
    assert alone is not None and both is not None and both.candidate.os_option is not None
    assert (both.vm, both.disks) == (alone.vm, alone.disks)
    assert both.candidate.os_option.disk.tier == "P6"
    assert both.price == alone.price + both.candidate.os_option.price
    assert both.candidate.price == both.price  # what the search ranks by
    assert both.price == both.bill.total == sum((line.amount for line in both.bill.lines), Decimal(0))


def test_its_rates_are_in_the_limits_of_the_vm() -> None:
    texts = {**WANTED, "vm": "Standard_E16s_v5", "iops": "20000"}
    answers = [
        recommended(demand_file.demand({**texts, **more}), europe())
        for more in ({}, {"os_disk": "512GiB,iops=1000"})
    ]
    alone, both = (
        next(one for one in answer.limits if one.label == "vm_uncached_iops")
        for answer in answers
        if answer is not None
    )
    assert both.wanted == pytest.approx(alone.wanted + 1000) and both.limit == alone.limit
    most = int(alone.limit / 1.2)
    full = {**texts, "iops": str(most - 1000), "os_disk": "512GiB,iops=1000"}
    assert recommended(demand_file.demand(full), europe()) is not None
    with pytest.raises(InputError, match="the nearest that is met, all else as it is"):
        advise(demand_file.demand({**full, "iops": str(most - 990)}), europe())


def test_an_ephemeral_one_costs_nothing_but_beside_local_data_it_is_a_managed_disk() -> None:
    texts = {**WANTED, "vm": "Standard_E16ds_v5", "os_disk": "128GiB,not-persistent=yes"}
    managed = recommended(demand_file.demand(texts), europe())
    assert managed is not None and managed.candidate.os_option is not None
    assert (managed.candidate.os_option.disk.role, managed.candidate.os_option.price) == ("ephemeral_os", 0)
    brief = [caution.brief for caution in managed.cautions]
    assert "ephemeral OS disk: no deallocation, no backup" in brief
    local = recommended(
        demand_file.demand({**texts, "size": "500GiB", "latency": "local", "not_persistent": "yes"}), europe()
    )
    assert local is not None and local.kind.local and local.candidate.os_option is not None
    assert local.candidate.os_option.disk.name == "os:P10"


def test_the_terminal_says_what_it_is_and_costs() -> None:
    text = " ".join(printed("--os-disk", "128GiB").split())
    assert "OS disk of 128 GiB; in westeurope" in text
    assert "OS disk: Premium SSD P10 LRS of 128 GiB, no host caching" in text
    assert ", OS disk 21.68" in text and "no OS disk in the price" not in text
    assert "no OS disk in the price (see --os-disk)" in " ".join(printed().split())


def test_why_tells_what_is_taken_of_its_rates() -> None:
    without = " ".join(printed("--why", "--os-disk", "128GiB").split())
    assert "the OS disk's I/Os are not stated: none is counted in the limits of the VM" in without
    assert "the OS disk: --os-disk adds it" not in without
    with_rates = " ".join(printed("--why", "--os-disk", "128GiB,iops=400").split())
    assert "the OS disk's 400 IOPS and 1.6 MB/s come at the same time" in with_rates
    assert "the OS disk: --os-disk adds it" in " ".join(printed("--why").split())


def test_json_csv_python_and_a_row_of_workloads_have_the_same(tmp_path: Path) -> None:
    document = json.loads(printed("--os-disk", "128GiB,iops=400", "--format", "json"))
    (best, *others) = document["configurations"]
    assert best["os_disk"] == "os:P10" and all(one["os_disk"] for one in others)
    assert document["demand"]["os_disk"]["iops"] == 400
    assert sum(line["amount"] for line in best["lines"]) == pytest.approx(best["price_per_month"])
    row = next(csv.DictReader(io.StringIO(printed("--os-disk", "128GiB,iops=400", "--format", "csv"))))
    assert (row["os_disk"], float(row["price_per_month"])) == ("os:P10", best["price_per_month"])
    frame = az.advise(**WANTED, os_disk="128GiB,iops=400", region="westeurope", as_of=DAY).to_frame()
    assert (frame["os_disk"][0], frame["price_per_month"][0]) == ("os:P10", best["price_per_month"])
    file = tmp_path / "w.csv"
    file.write_text('name,iops,size,vcpus,ram,os_disk\na,4000,1TiB,16,128GiB,"128GiB,iops=400"\n')
    asked = ["advise", "--workloads", str(file), "--region", "westeurope", "--as-of", DAY, "--format", "json"]
    (one,) = json.loads(CliRunner().invoke(app, asked).stdout)["demands"]
    assert (one["os_disk"], one["price_per_month"]) == ("os:P10", best["price_per_month"])
    assert json.loads(printed("--format", "json"))["configurations"][0]["os_disk"] is None


def test_several_regions_have_it_each() -> None:
    regions = ("--region", "eastus", "--os-disk", "128GiB", "--format", "json")
    rows = json.loads(printed(*regions))["regions"]
    assert {row["os_disk"] for row in rows} == {"os:P10"} and len(rows) == 2
    assert "os:P10" in printed(*regions[:-2], "--format", "md")
    assert "| OS disk |" in printed(*regions[:-2], "--format", "md")
    assert "OS disk" not in printed("--region", "eastus", "--format", "md").replace(
        "no OS disk in the price", ""
    )


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--os-disk", "64GiB,iops=500", "--peak", "600/3600:9000"), "a peak and rates of the OS disk"),
        (("--os-disk", "64GiB,latency=ssd"), "--os-disk '64GiB,latency=ssd': the I/Os of Standard disks"),
        (("--os-disk", "64GiB,iops=400k"), "it is met without the OS disk"),
        (("--os-disk", "8TiB"), "an OS disk has at most 4095 GiB"),
    ],
)
def test_what_has_no_answer_says_why(more: tuple[str, ...], said: str) -> None:
    done = CliRunner().invoke(app, [*ASKED, *more])
    assert isinstance(done.exception, InputError) and said in str(done.exception)
