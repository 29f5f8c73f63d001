"""A lab that goes on under another dilation factor: rates and latencies of the disk stay what they are."""

import math
import time
from operator import itemgetter

import pytest
from lab_tools import connect, late, own_cache  # noqa: F401
from measuring import Measurement

from azbenchlib.core.errors import AzbenchError, InputError
from azbenchlib.lab.engine.virtual_machine import Options
from azbenchlib.lab.lab import Lab
from azbenchlib.lab.server import live_log
from azbenchlib.model.setup import Cap, Disk, Setup

RATE = 200


def emulated_s(lab: Lab, ios: int) -> tuple[float, float]:
    """How long so many reads took: for the emulated disk by its log, and on the clock."""
    with connect(lab, "data") as client:
        begun = time.perf_counter()
        for i in range(ios):
            client.read(4096 * i, 4096)
        lasted = time.perf_counter() - begun
    return lasted / lab.time_scale, lasted


def test_a_rate_stays_that_of_the_disk_whatever_the_factor() -> None:
    setup = Setup(disks=(Disk(name="data", cap=Cap(iops=RATE)),))

    def measure() -> tuple[list[tuple[float, float]], str]:
        with Lab(setup, Options(latency={"data": "none"}, burst_tolerance_s=0), time_scale=1) as lab:
            runs = [emulated_s(lab, 40)]
            for factor in (8, 2):
                lab.dilate(factor)
                assert lab.time_scale == factor
                runs.append(emulated_s(lab, 40))
            lines, told = live_log.read(lab.log).lines, late(lab)
        times = [line.t_s for line in lines]
        assert times == sorted(times)  # emulated time never goes back
        assert lines[-1].done["data"][0] <= 120
        return runs, told

    def holds(result: tuple[list[tuple[float, float]], str]) -> None:
        slow, slower, faster = result[0]
        for emulated, _ in (slow, slower, faster):
            assert emulated == pytest.approx(40 / RATE, rel=0.5)
        assert slower[1] > 2 * faster[1] > 2 * slow[1]

    Measurement(measure, itemgetter(1)).check(holds)


def test_a_factor_that_is_none_is_refused_in_a_sentence() -> None:
    setup = Setup(disks=(Disk(name="data", cap=Cap(iops=RATE)),))
    lab = Lab(setup, time_scale=1)
    with pytest.raises(AzbenchError, match="the lab was not started"):
        lab.dilate(2)
    with lab:
        for factor in (0, -1, math.nan, math.inf):
            with pytest.raises(InputError, match="a number above 0 is needed"):
                lab.dilate(factor)
        assert lab.time_scale == 1
