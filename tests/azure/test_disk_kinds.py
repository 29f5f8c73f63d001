"""The registry of disk kinds: a made-up kind is added by one registration, and every part knows it."""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from azbenchlib.advisor.advise import advise
from azbenchlib.advisor.demands.demand import Demand
from azbenchlib.advisor.offers.load_market import market
from azbenchlib.advisor.offers.market import Market
from azbenchlib.advisor.reasons.break_even import Requirement, by_iops
from azbenchlib.analysis.observation import Observation
from azbenchlib.azure import catalog, disk_kinds, overlays
from azbenchlib.azure.catalog import files, latency
from azbenchlib.azure.disk_kinds import PREMIUM, Billing, DiskKind, LatencyTable
from azbenchlib.azure.prices.rows import Meter, Price
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB, KIB, MB, MIB
from azbenchlib.cost.bill import bill
from azbenchlib.cost.usage import charges
from azbenchlib.lab.engine.simulate import SimulatedJob, simulate
from azbenchlib.lab.engine.virtual_machine import Machine
from azbenchlib.model import VM, Setup
from azbenchlib.model.fill_from_catalogue import resolve
from azbenchlib.model.io_path import Load
from azbenchlib.model.limits import deliver
from azbenchlib.model.notation import parse_disks
from azbenchlib.model.unloaded_latency import table_of
from azbenchlib.verdict import judge

DAY = "2026-11-20"
TURBO = DiskKind(
    key="turbo",
    label="Turbo SSD",
    word="t",
    sku="Turbo",
    billing=Billing(product="Turbo SSD Managed Disks"),
    redundancies=("LRS", "ZRS"),
    latency_class="premium",
    latency_tables=(LatencyTable(name="turbo"),),
    latency_spread=0.3,
    tiered=True,
    io_unit_bytes=64 * KIB,
    colour=3,
)
TIERS = """\
name,sku,size_bytes,iops,bytes_per_s,valid_from,source_id
T1,Turbo,137438953472,4000,100000000,2026-01-01,turbo
T2,Turbo,1099511627776,9000,250000000,2026-01-01,turbo
"""
LATENCY = """\
profile,percentile,lat_us,kind,source,date
turbo,50,400,assumed,made up,2026-01-01
turbo,99,900,assumed,made up,2026-01-01
"""


def _extended(name: str, rows: str) -> str:
    """Rows with all columns of the shipped file, the others empty."""
    columns = list(files.read(files.DATA / name)[0])
    head, *lines = rows.splitlines()
    stated = [dict(zip(head.split(","), line.split(","), strict=True)) for line in lines]
    return "\n".join([",".join(columns), *(",".join(row.get(key, "") for key in columns) for row in stated)])


@pytest.fixture
def turbo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DiskKind]:
    """The made-up kind with its tiers and latencies, in the catalogue of a user."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    overlays.folder("catalog").mkdir(parents=True)
    for name, rows in (("disk_tiers.csv", TIERS), (latency.LATENCY_FILE, LATENCY)):
        (overlays.folder("catalog") / name).write_text(_extended(name, rows), encoding="utf-8")
    yield disk_kinds.register(TURBO)
    disk_kinds.remove(TURBO.key)


def _price(meter: Meter, amount: str) -> tuple[Meter, Price]:
    return meter, Price(
        meter=meter,
        name=meter.name,
        region="westeurope",
        currency="USD",
        unit_price=Decimal(amount),
        unit="1/Month",
        as_of=DAY,
        source_id="made up",
    )


PRICES = dict(
    _price(Meter("Turbo SSD Managed Disks", f"{tier} {redundancy} Disk"), amount)
    for tier, redundancy, amount in (("T1", "LRS", "3"), ("T1", "ZRS", "4"), ("T2", "LRS", "5"))
)


def _setup(*texts: str) -> Setup:
    return resolve(Setup(VM(size="Standard_D8s_v3"), parse_disks(texts)), DAY)


def _market() -> Market:
    there = market("westeurope", as_of=DAY)
    return replace(there, prices={**there.prices, **PRICES})


def test_it_is_written_and_limited(turbo: DiskKind) -> None:
    (disk,) = _setup("T1x2:ReadOnly").disks
    assert (disk.kind, disk.sku, disk.tier, disk.count, disk.caching) == (
        turbo,
        "Turbo_LRS",
        "T1",
        2,
        "ReadOnly",
    )
    assert (disk.cap.iops, disk.cap.bytes_per_s, disk.io_unit_bytes) == (4_000, 100 * MB, 64 * KIB)
    setup = _setup("T1")
    got = deliver(setup, [Load(volume="T1", read_share=1.0, bs_bytes=4 * KIB)], bursting=False)
    assert (got.iops, got.binding) == (4_000, ("disk_iops",))
    large = deliver(setup, [Load(volume="T1", read_share=1.0, bs_bytes=65 * KIB)], bursting=False)
    assert large.iops == pytest.approx(100 * MB / (65 * KIB)) and large.binding == ("disk_mbps",)
    assert catalog.tier_for("Turbo_ZRS", 200 * GIB, DAY).name == "T2"


def test_it_is_billed(turbo: DiskKind) -> None:
    month = Decimal(730)
    found = bill(charges(Setup(disks=_setup("T1x2").disks), "westeurope", month), PRICES, month)
    assert found.total == 6 and not found.missing


def test_it_is_advised_and_compared(turbo: DiskKind) -> None:
    there = _market()
    demand = Demand(size_bytes=500 * GIB, iops=8_000, bs_bytes=4 * KIB, headroom=1.0, latency="premium")
    answer = advise(demand, there)
    assert (answer.best.kind, answer.best.disks) == (turbo, "T2")
    assert answer.best.record()["kind"] == "turbo"
    assert "cheapest with Turbo SSD" in answer.best.labels
    assert "iodepth" in answer.best.fio_job
    option = by_iops(there, Requirement(100 * GIB, 50 * MB))["Turbo SSD"](3_000)
    assert option and (option.what, option.bill.total) == ("T1", 3)


def test_it_is_judged(turbo: DiskKind) -> None:
    def seen(iops: float, depth: float) -> Observation:
        return Observation(
            read_share=1.0, bs_bytes=4 * KIB, queue_depth=depth, runtime_s=300, direct=True, iops=iops
        )

    setup = _setup("T1")
    assert judge(seen(4_060, 64), setup).binding == ("disk_iops",)
    assert judge(seen(2_500, 1), setup).binding == ("latency_qd",)  # 400 µs each
    assert "latency_qd" not in judge(seen(250, 1), setup).binding  # 4 ms are far above its table


def test_it_is_emulated(turbo: DiskKind) -> None:
    setup = _setup("T1")
    assert table_of(setup.vm, setup.disks[0]) == "turbo"
    one = simulate(
        Machine(setup),
        SimulatedJob(volume="T1", queue_depth=1, bs_bytes=4 * KIB, working_set_bytes=64 * MIB),
        2,
    )
    assert np.median(one["lat_us"]) == pytest.approx(400, rel=0.03)
    many = simulate(
        Machine(setup),
        SimulatedJob(volume="T1", queue_depth=32, bs_bytes=4 * KIB, working_set_bytes=64 * MIB),
        2,
    )
    assert len(many) / 2 == pytest.approx(4_000, rel=0.05)


def test_two_kinds_do_not_share_a_name(turbo: DiskKind) -> None:
    for change in ({"key": "fast"}, {"key": "fast", "sku": "Fast"}):
        with pytest.raises(InputError, match=r"disk kind 'fast': 'turbo' has the (sku|word)"):
            disk_kinds.register(replace(turbo, **change))
    with pytest.raises(InputError, match="latency class 'quick' is not one of: local"):
        disk_kinds.register(replace(turbo, key="fast", sku="Fast", word="f", latency_class="quick"))


def test_every_kind_has_its_latencies_and_its_rows() -> None:
    named = {latency.HOST_CACHE, latency.EPHEMERAL, *latency.ZRS_BY_ZONE}  # not for a kind as a whole
    shipped = set(latency.tables()) - named
    assert {table.name for kind in disk_kinds.kinds() for table in kind.latency_tables} == shipped
    for kind in disk_kinds.managed():
        last = kind.latency_tables[-1]
        assert (last.redundancy, last.least_tier, last.vm_pattern) == (None, 0, "")  # one for every disk
    letters = {row.name[0].lower() for row in catalog.disk_tiers()}
    assert letters == {kind.word for kind in disk_kinds.kinds() if kind.tiered}
    with pytest.raises(InputError, match="disk kind 'floppy' is not one of: premium"):
        disk_kinds.get("floppy")
    assert disk_kinds.of_sku("Premium_ZRS") is PREMIUM and disk_kinds.of_sku("Floppy_LRS") is None


def test_rows_of_a_user_have_the_columns_of_the_shipped_ones(turbo: DiskKind) -> None:
    (overlays.folder("catalog") / "disk_tiers.csv").write_text("name,sku\nT1,Turbo\n", encoding="utf-8")
    files.read.cache_clear()
    with pytest.raises(InputError, match=r"disk_tiers\.csv: a row has not the columns of the shipped"):
        files.rows_of("disk_tiers.csv")
