"""Limits over NVMe: those of VM sizes that take disks over SCSI or NVMe, where the image has the drivers."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import azbenchlib as az
from azbenchlib.advisor.advise import advise, recommended
from azbenchlib.advisor.demands import demand_file
from azbenchlib.advisor.offers.load_market import market
from azbenchlib.answers.advice import AdviceAnswer
from azbenchlib.azure import catalog
from azbenchlib.cli import app
from azbenchlib.core.errors import InputError

DAY, SIZE = "2026-11-20", "Standard_E32bds_v5"
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _shipped_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def stated(name: str) -> float:
    limit = catalog.vm(SIZE, DAY).best(name)
    assert limit is not None
    return float(limit.value)


@pytest.mark.parametrize(("with_nvme", "suffix"), [(False, ""), (True, catalog.OVER_NVME)])
def test_limits_sources_and_cautions_are_those_of_the_interface(with_nvme: bool, suffix: str) -> None:
    there = market("westeurope", as_of=DAY, with_nvme=with_nvme)
    demand = demand_file.demand({"iops": "50000", "size": "4TiB", "vm": SIZE, "latency": "submillisecond"})
    answer = advise(demand, there)
    (limit,) = (one for one in answer.best.limits if one.label == "vm_uncached_iops")
    assert limit.limit == stated(f"uncached_v2_iops{suffix}")
    text = " ".join(AdviceAnswer(answer, is_full=True).to_text().split())
    interface = "NVMe" if with_nvme else "SCSI"
    assert f"the limits here are those of {interface}" in text
    assert f"of the {interface} interface where a size has both" in text
    assert f"uncached_v2_iops{suffix}, " in text.partition("Sources")[2]
    assert ("uncached_v2_iops_over_nvme" in text) is with_nvme


def test_what_only_nvme_allows_is_met_with_it_alone() -> None:
    wanted = demand_file.demand({"iops": "140000", "size": "4TiB", "vm": SIZE, "max_disks": "32"})
    assert recommended(wanted, market("westeurope", as_of=DAY)) is None
    assert recommended(wanted, market("westeurope", as_of=DAY, with_nvme=True)) is not None


def test_sizes_without_limits_of_their_own_over_nvme_keep_theirs() -> None:
    plain, nvme = (market("westeurope", as_of=DAY, with_nvme=flag).vms for flag in (False, True))
    changed = [one.size for one, other in zip(plain, nvme, strict=True) if one.vm != other.vm]
    assert SIZE in changed and "Standard_D8s_v5" not in changed and len(changed) < 60
    assert all("NVMe" in one.interface for one in plain if one.size in changed and one.interface)


def test_command_line_python_and_regions_have_the_option() -> None:
    asked = ("advise", "--iops", "140k", "--size", "4TiB", "--vm", SIZE, "--max-disks", "32", "--as-of", DAY)
    done = CliRunner().invoke(app, [*asked, "--region", "westeurope"])
    assert isinstance(done.exception, InputError)
    done = CliRunner().invoke(app, [*asked, "--region", "westeurope", "--with-nvme", "--format", "json"])
    best = json.loads(done.stdout)["configurations"][0]
    terms = {"iops": 140_000, "size": "4TiB", "vm": SIZE, "max_disks": 32, "as_of": DAY, "with_nvme": True}
    answer = az.advise(**terms, region="westeurope")  # type: ignore[arg-type]
    assert float(answer.best.price) == pytest.approx(best["price_per_month"])
    both = ("--region", "westeurope", "--region", "eastus", "--with-nvme", "--format", "json")
    rows = json.loads(CliRunner().invoke(app, [*asked, *both]).stdout)["regions"]
    assert best["price_per_month"] in [row.get("price_per_month") for row in rows]


def test_the_figures_of_the_page_are_those_of_the_catalogue() -> None:
    text = " ".join((ROOT / "docs" / "advice.md").read_text().split())
    pairs = [
        f"{stated(f'{path}_iops'):,.0f} {{}} {stated(f'{path}_iops{catalog.OVER_NVME}'):,.0f}"
        for path in ("uncached", "uncached_v2")
    ]
    assert pairs[0].format("IOPS over SCSI and") + " over NVMe" in text and pairs[1].format("and") in text
