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
        (("--volume", LOG, "--why"), "--why is told of one answer: leave out --workloads and --volume"),
    ],
)
def test_a_volume_that_is_none(more: tuple[str, ...], said: str) -> None:
    done = CliRunner().invoke(app, [*PLACE, *more])
    assert isinstance(done.exception, InputError) and said in str(done.exception)
