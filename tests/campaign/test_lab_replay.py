"""A history as single I/Os, which fio replays on emulated disks; and how long these are throttled."""

import shutil
from decimal import Decimal

import numpy as np
import pytest
from measuring import Measurement

from azbenchlib.campaign.lab_replay.lab_check import throttled_s
from azbenchlib.campaign.lab_replay.schedule import FILE, LEAD_S, iolog, schedule
from azbenchlib.campaign.workloads import program
from azbenchlib.core.units import GIB, KIB
from azbenchlib.model import VM, Cap, Disk, Setup
from azbenchlib.model.load_history import LoadHistory
from azbenchlib.model.passed_limits import passed_limits
from azbenchlib.sizing.busiest import LabCheck, busiest
from azbenchlib.sizing.text import checked


def history(iops: list[float], interval_s: float = 60.0, reads: float = 0.5) -> LoadHistory:
    rates, ones = np.array(iops, dtype=float), np.ones(len(iops))
    return LoadHistory(
        t_s=np.arange(len(iops)) * interval_s,
        interval_s=interval_s * ones,
        read_iops=rates * reads,
        write_iops=rates * (1 - reads),
        read_bytes_per_s=rates * reads * 8 * KIB,
        write_bytes_per_s=rates * (1 - reads) * 16 * KIB,
    )


def test_every_io_of_a_history_is_issued_in_its_time() -> None:
    """An hour in 60 s at a tenth of the rates: 100, none and 300 IOPS for 20 minutes each."""
    ios = schedule(history([100.0, 0.0, 300.0], 1200.0), 60.0, 0.1)
    assert len(ios) == (10 + 30) * 20 and ios.reads.sum() == len(ios) / 2
    counts = np.histogram(ios.due_s, [0, 20, 40, 60])[0]
    assert counts.tolist() == [200, 0, 600]
    assert set(ios.bs_bytes[ios.reads]) == {8 * KIB} and set(ios.bs_bytes[~ios.reads]) == {16 * KIB}
    assert (np.diff(ios.due_s) >= 0).all() and not ios.hits.any()


def test_the_share_of_hits_is_kept_and_hits_go_to_few_places() -> None:
    ios = schedule(history([100.0], 60.0, reads=1.0), 60.0, 1.0, cache_hit=0.75)
    assert ios.hits.sum() == 0.75 * len(ios)
    lines = list(iolog(ios, 3 * GIB))
    assert lines[0] == "fio version 2 iolog" and lines[-1] == f"{FILE} close"
    offsets = [int(line.split()[2]) for line in lines if " read " in line]
    hot = [offset for offset, hit in zip(offsets, ios.hits, strict=True) if hit]
    cold = [offset for offset, hit in zip(offsets, ios.hits, strict=True) if not hit]
    assert len(set(hot)) <= 64 and len(set(cold)) == len(cold) and max(hot) < min(cold)
    waits = [int(line.split()[2]) for line in lines if " wait " in line]
    assert (
        waits == sorted(set(waits)) and waits[0] >= LEAD_S * 1000
    )  # fio takes them as times since its start


def test_a_short_delay_is_none_and_a_long_one_counts_from_its_begin() -> None:
    due = np.arange(10) * 0.1
    assert throttled_s(due, np.full(10, 0.02), 1.0) == 0  # never longer than what a machine may take
    late = np.array([0, 0, 0.01, 0.06, 0.2, 0.1, 0, 0, 0.01, 0])
    assert throttled_s(due, late, 1.0) == pytest.approx(0.5 + 0.1 - 0.2)
    assert throttled_s(due, np.full(10, 5.0), 1.0) == 1.0  # what waits at the end waits until then


def test_the_busiest_hour_is_that_of_the_limit_that_is_needed_most() -> None:
    setup = Setup(VM(), (Disk(name="data", size_bytes=GIB, cap=Cap(iops=100.0)),))
    rates = [10.0] * 300
    rates[130:180] = [90.0] * 50
    whole = history(rates)
    found = busiest(passed_limits(setup, whole), whole)
    assert found.duration_s == 3600 and found.t_s[0] <= 130 * 60 and found.iops.sum() == 50 * 90 + 10 * 10
    assert busiest(passed_limits(setup, short := history([1.0, 2.0])), short).duration_s == 120
    fine = history([1.0] * 1000, 1.0)
    assert len(busiest(passed_limits(setup, fine), fine).t_s) == 120


class OneDesign:
    """A design as far as a check of it asks."""

    vm, price, cache_hit = "a VM", Decimal(1), 0.0

    def __init__(self, setup: Setup, stretch: LoadHistory) -> None:
        self.setup, self.history, self.limits = setup, stretch, passed_limits(setup, stretch)


def test_a_check_says_whether_both_agree() -> None:
    setup = Setup(VM(), (Disk(name="data", size_bytes=GIB, cap=Cap(iops=100.0)),))
    stretch = history([50.0] * 60)
    design = OneDesign(setup, stretch)

    def check(measured_s: float, busy: bool = False) -> LabCheck:
        return LabCheck(
            design=design,  # type: ignore[arg-type]
            stretch=stretch,
            shortest_s=0.75,
            predicted_s=2000.0,
            measured_s=measured_s,
            busy=busy,
        )

    assert check(2090.0).agrees and not check(2110.0).agrees
    assert "33\N{NO-BREAK SPACE}min throttled as predicted" in checked(check(2090.0))
    assert "only delays of more than 0.75 s count" in checked(check(2090.0))
    assert "differ by more than 5 %" in checked(check(2110.0, busy=True)) and "busy" in checked(
        check(1, True)
    )


@pytest.mark.fio
@pytest.mark.slow
@pytest.mark.alone
def test_fio_on_emulated_disks_is_throttled_as_the_replay_says() -> None:
    """Ten minutes in 5 s: 4 of them ask for twice the limit, so something waits for 8.

    The first minute asks for 0.5 % too much for so short a time that the delay is shorter than what counts.

    How well it agrees where nothing else runs tells benchmarks/size_in_the_lab.py.
    """
    from azbenchlib.campaign.lab_replay.lab_check import check_in_lab

    if shutil.which("fio") is None or "nbd" not in program.find().engines:
        pytest.skip("no fio with an nbd engine")
    setup = Setup(VM(), (Disk(name="data", size_bytes=GIB, cap=Cap(iops=200.0)),))
    design = OneDesign(setup, history([201.0, 0.0, 400.0, 400.0, 400.0, 400.0, 0.0, 0.0, 0.0, 0.0]))
    told: list[str] = []

    def measure() -> LabCheck:
        return check_in_lab(design, 5.0, lambda done, total, text: told.append(text))  # type: ignore[arg-type]

    def holds(found: LabCheck) -> None:
        assert found.measured_s == pytest.approx(480, rel=0.15)

    found = Measurement(measure, lambda found: "the lab was late" if found.busy else "").check(holds)
    assert found.shortest_s == 3 and found.predicted_s == 480 and "fio replays" in told[0]
