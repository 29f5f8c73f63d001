"""Several volumes on one VM: equal to plain Python, and carried by the model of the limits all at once."""

import json
from functools import cache
from pathlib import Path

import advice_brute_force
import pytest
from typer.testing import CliRunner

from azbenchlib.advisor.advise import recommended
from azbenchlib.advisor.demands import demand_file
from azbenchlib.advisor.demands.demand import Demand
from azbenchlib.advisor.offers.load_market import market
from azbenchlib.advisor.offers.market import Market
from azbenchlib.advisor.volumes import advise_volumes, recommended_volumes
from azbenchlib.cli import app
from azbenchlib.core.errors import InputError

PLACE = ("advise", "--region", "westeurope", "--as-of", "2026-11-20", "--vcpus", "16", "--ram", "128GiB")
DATA = "data:preset=sql-server,iops=20000,size=2TiB"
LOG = "log:preset=sql-server-log,iops=4000,size=256GiB"
TEMP = "temp:iops=8000,size=200GiB,bs=64KiB,read-share=50%"


@pytest.fixture(autouse=True)
def _shipped_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@cache
def europe() -> Market:
    return market("westeurope", as_of="2026-11-20")


def demands(*texts: str) -> dict[str, Demand]:
    return dict(demand_file.volume(text, {"vcpus": "16", "ram": "128GiB"}) for text in texts)


def test_two_volumes_equal_the_slow_way() -> None:
    won = advice_brute_force.compare_volumes(range(60))
    assert won["answers"] > 8 and won["none"] > 20


def test_a_volume_and_an_os_disk_equal_the_slow_way() -> None:
    won = advice_brute_force.compare_volumes(range(60), is_os=True)
    assert won["answers"] > 15 and won["ephemeral_os"] and won["none"]


def test_an_os_disk_takes_no_place_of_a_data_disk_and_is_in_the_price() -> None:
    data = demands("data:iops=4000,size=1TiB,max_disks=1")
    with_os = recommended_volumes({**data, "os": demand_file.os_disk("64GiB", {"vcpus": "16"})}, europe())
    alone = recommended_volumes(data, europe())
    assert with_os is not None and alone is not None
    assert with_os.vm_size.size == alone.vm_size.size and with_os.disk_count == alone.disk_count == 1
    os_disk = with_os.options["os"]
    assert (os_disk.disk.role, os_disk.disk.tier) == ("os", "P6")
    assert with_os.price == alone.price + os_disk.price


def test_an_ephemeral_os_disk_costs_nothing_where_the_vm_has_room() -> None:
    texts = {"vcpus": "8", "vm": "Standard_E8ds_v5"}
    (os_disk,) = advise_volumes(
        {"os": demand_file.os_disk("128GiB,iops=3000,not-persistent=yes", texts)}, europe()
    ).options.values()
    assert (os_disk.disk.role, os_disk.price) == ("ephemeral_os", 0)
    asked = ("advise", "--vm", "Standard_E8ds_v5", "--os-disk", "128GiB,iops=3000,not-persistent=yes")
    text = " ".join(CliRunner().invoke(app, [*asked, "--region", "westeurope"]).stdout.split())
    assert "on the temp disk, lost when the VM is resized or redeployed" in text
    assert "cannot be deallocated" in text and "Trusted Launch keeps 1 GiB" in text
    (large,) = advise_volumes(
        {"os": demand_file.os_disk("1TiB,not-persistent=yes", texts)}, europe()
    ).options.values()
    assert large.disk.tier == "P30"  # neither cache nor temp disk has room


def test_an_ephemeral_os_disk_has_a_most() -> None:
    texts = {"vm": "Standard_E96ds_v5"}  # its temp disk has 3,600 GiB
    for size, role in (("2040GiB", "ephemeral_os"), ("2041GiB", "os")):
        wanted = {"os": demand_file.os_disk(f"{size},not-persistent=yes", texts)}
        (os_disk,) = advise_volumes(wanted, europe()).options.values()
        assert os_disk.disk.role == role


def test_the_os_disk_is_a_volume_beside_others_and_alone() -> None:
    asked = (*PLACE, "--volume", "data:iops=4000,size=1TiB", "--os-disk", "128GiB,iops=500")
    document = json.loads(CliRunner().invoke(app, [*asked, "--format", "json"]).stdout)
    assert [one["name"] for one in document["volumes"]] == ["data", "os"]
    assert document["volumes"][1]["disks"].startswith("os:P")
    assert "filename=/azbench.fio" in document["volumes"][1]["fio_job"]
    alone = CliRunner().invoke(app, [*PLACE, "--os-disk", "128GiB", "--format", "json"])
    (only,) = json.loads(alone.stdout)["volumes"]
    assert (only["name"], only["disks"], only["fio_job"]) == ("os", "os:P10", None)
    safe = CliRunner().invoke(app, [*PLACE, "--os-disk", "128GiB", "--zrs", "--format", "json"])
    assert json.loads(safe.stdout)["volumes"][0]["disks"] == "os:P10:ZRS"


@pytest.mark.long
def test_two_volumes_equal_the_slow_way_on_500_catalogues() -> None:
    won = advice_brute_force.compare_volumes(range(500))
    assert all(won[name] for name in ("premium", "premium_v2", "ultra", "standard_ssd", "cached")), won


def test_one_volume_has_the_answer_of_one_demand() -> None:
    for text in (DATA, LOG, TEMP):
        ((name, demand),) = demands(text).items()
        alone, one = recommended(demand, europe()), recommended_volumes({name: demand}, europe())
        assert alone is not None and one is not None
        assert (one.price, one.vm_size.size) == (alone.price, alone.vm)


def test_together_they_need_a_vm_that_carries_the_sum() -> None:
    wanted = demands(DATA, LOG, TEMP)
    found = advise_volumes(wanted, europe())
    alone = [recommended_volumes({name: demand}, europe()) for name, demand in wanted.items()]
    assert found.vm_size.size not in {one.vm_size.size for one in alone if one} and found.delivers()
    assert found.price == sum(line.amount for line in found.bill.lines)
    disks = sum(option.disk.count for option in found.options.values())
    assert disks <= (found.vm_size.vm.max_data_disks or 0)


def test_what_cannot_be_met_says_which_volume_is_not() -> None:
    with pytest.raises(InputError, match="meet these 2 volumes together; 'data' is not met alone either"):
        advise_volumes(demands("data:iops=1000000000,size=1TiB", LOG), europe())
    with pytest.raises(InputError, match="meet these 2 volumes together; each of them is met alone"):
        advise_volumes(demands("a:iops=400k,size=1TiB", "b:iops=400k,size=1TiB"), europe())


def test_text_and_json_tell_each_volume() -> None:
    asked = (*PLACE, "--volume", DATA, "--volume", LOG, "--volume", TEMP)
    document = json.loads(CliRunner().invoke(app, [*asked, "--format", "json"]).stdout)
    assert [one["name"] for one in document["volumes"]] == ["data", "log", "temp"]
    disks = sum(one["price_per_month"] for one in document["volumes"])
    assert document["price_per_month"] == pytest.approx(document["vm_price_per_month"] + disks)
    assert document["demands"]["log"]["bs_bytes"] == 60 * 1024
    text = CliRunner().invoke(app, list(asked)).stdout
    assert f"{document['price_per_month']:,.2f} USD a month" in text and "log " in text


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--volume", "a"), "write NAME:iops=4000,size=256GiB"),
        (("--volume", "a b:iops=1,size=1GiB"), "write NAME:iops=4000,size=256GiB"),
        (("--volume", "a:colour=red"), "'colour' is not one of: preset, iops"),
        (("--volume", "a:iops=1"), "--volume 'a': size is missing"),
        (("--volume", "a:iops=x,size=1GiB"), "--volume 'a': iops 'x' is not a number"),
        (("--volume", LOG, "--volume", LOG), "the names log, log are not all different"),
        (("--volume", LOG, "--peak", "600/3600:9000"), "a peak is answered for one volume alone"),
        (("--volume", TEMP, "--latency", "local"), "local disks are answered for one volume alone"),
        (("--volume", LOG, "--region", "eastus"), "--volume is answered for one region"),
        (("--volume", LOG, "--format", "csv"), "--volume has no CSV"),
        (("--volume", LOG, "--job", "x.fio"), "leave out --from and --job"),
        (("--os-disk", "iops=4000"), "--os-disk 'iops=4000': write a size, such as 64GiB"),
        (("--os-disk", "64GiB,caching=no"), "'caching' is not one of: size, iops"),
        (("--os-disk", "8TiB"), ": an OS disk has at most 4095 GiB"),
        (("--os-disk", "64GiB,latency=ssd"), "the I/Os of Standard disks are billed: state the IOPS"),
        (("--os-disk", "64GiB,latency=submillisecond"), "no VM and disks in westeurope meet this volume"),
        (("--os-disk", "64GiB", "--why"), "--why is told of one answer"),
        (("--os-disk", "64GiB", "--format", "csv"), "an OS disk alone has no CSV"),
        (("--os-disk", "64GiB", "--volume", "os:iops=9,size=1TiB"), "the names os, os are not all different"),
        (("--volume", LOG, "--why"), "--why is told of one answer: state one demand and region, leave out"),
        (("--volume", TEMP, "--not-persistent"), "local disks are answered for one volume alone"),
        (("--os-disk", "64GiB", "--bs", "8k"), "--size is missing"),  # of the data, which has a block size
    ],
)
def test_a_volume_that_is_none(more: tuple[str, ...], said: str) -> None:
    done = CliRunner().invoke(app, [*PLACE, *more])
    assert isinstance(done.exception, InputError) and said in str(done.exception)
