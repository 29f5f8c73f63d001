"""The busiest hour of a history on a design, replayed by fio on emulated disks: how long it is throttled.

The hour is compressed: it takes two minutes, and the time that credits last is compressed as much. The disks
have limits and credits and no latency, so that whatever waits does so for a limit.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from azbenchlib.azure.catalog.latency import HOST_CACHE
from azbenchlib.campaign.lab_replay.schedule import FILE, Schedule, iolog, schedule
from azbenchlib.campaign.progress import Progress, quiet
from azbenchlib.campaign.targets.lab.target import nbd_fio
from azbenchlib.campaign.workloads import program
from azbenchlib.campaign.workloads.fio_options import EMULATED_ENGINE
from azbenchlib.core.errors import AzbenchError, InputError
from azbenchlib.core.temporary import temporary_folder
from azbenchlib.core.units import MB, format_span
from azbenchlib.formats import registry
from azbenchlib.formats.source import Source
from azbenchlib.lab.engine import latency
from azbenchlib.lab.engine.virtual_machine import Options
from azbenchlib.lab.lab import Lab
from azbenchlib.lab.server import live_log
from azbenchlib.model.credits import BURST_S
from azbenchlib.model.load_history import LoadHistory, Series
from azbenchlib.model.passed_limits import PassedLimit, passed_limits, the_volume
from azbenchlib.model.replay import replay
from azbenchlib.sizing.busiest import LabCheck, busiest
from azbenchlib.sizing.design import Design

LASTS_S = 120.0  # real, that the hour is compressed to; our choice
# What is asked of this machine at most, per real second, and in all: a tenth of what it does.
_IOPS, _BYTES_PER_S, _IOS = 1_000.0, 50.0 * MB, 200_000
# Real seconds: what waits less may wait for this machine (13 ms at most where nothing else runs, measured); a
# wait begins and ends where it is shorter than the second one; a limit lets pass so much of itself at once
# after a pause.
_WAITS_S, _BEGINS_S, _TOLERANCE_S = 0.025, 0.0025, 0.003
_DEPTH = 256
_NAME = "replay"
# fio then fetches completions after every I/O, not only when its queue is full.
_POLL = ("--iodepth_batch_complete_min=0", "--iodepth_batch_complete_max=0")


def check_in_lab(design: Design, lasts_s: float = LASTS_S, progress: Progress = quiet) -> LabCheck:
    """Replay the busiest hour of a design's history by fio on emulated disks.

    It takes `lasts_s` real seconds. Raises a MissingToolError when there is no fio, or it lacks the NBD
    engine; an AzbenchError when fio or the lab fails; an InputError when fewer I/Os than one a second would
    be replayed.
    """
    fio = nbd_fio()
    stretch = busiest(design.limits, design.history)
    limits = passed_limits(design.setup, stretch, design.cache_hit)
    k = _dilation(limits, stretch, lasts_s)
    ios = schedule(stretch, lasts_s, 1 / k, design.cache_hit)
    if len(ios) < lasts_s:
        raise InputError(
            f"the busiest {format_span(stretch.duration_s)} has too few I/Os to be replayed: {len(ios)}"
        )
    progress(0, 1, f"fio replays {len(ios):,} I/Os on {design.setup.disks[0].name} in {lasts_s:g} s …")
    name = the_volume(design.setup).name
    options = Options(
        credit_s=BURST_S * lasts_s / stretch.duration_s / k,
        burst_tolerance_s=_TOLERANCE_S / k,
        latency=dict.fromkeys((name, HOST_CACHE), latency.NONE),
    )
    with Lab(design.setup, options, time_scale=k) as lab:
        late_s, busy = _replayed(lab, name, ios, fio)
    compressed = stretch.duration_s / lasts_s
    shortest_s = _WAITS_S * compressed
    predicted = replay(limits, stretch).throttled
    return LabCheck(
        design=design,
        stretch=stretch,
        shortest_s=shortest_s,
        predicted_s=sum(one.seconds for one in predicted if one.delay_s > shortest_s),
        measured_s=throttled_s(ios.due_s, late_s, lasts_s) * compressed,
        busy=busy,
    )


def throttled_s(due_s: Series, late_s: Series, lasts_s: float) -> float:
    """Real seconds in which something waited for a limit.

    `due_s`, `late_s`: of each I/O in their order, shape (n,): when it was due, and how much later it was
    completed; `lasts_s`: what happens after that does not count.
    """
    waits = np.concatenate([[False], late_s > _BEGINS_S, [False]])
    firsts, ends = (np.flatnonzero(waits[1:] & ~waits[:-1]), np.flatnonzero(waits[:-1] & ~waits[1:]))
    total = 0.0
    for first, end in zip(firsts, ends, strict=True):
        if late_s[first:end].max() > _WAITS_S:
            total += max(0.0, min(lasts_s, due_s[end - 1] + late_s[end - 1]) - due_s[first])
    return total


def _dilation(limits: Sequence[PassedLimit], stretch: LoadHistory, lasts_s: float) -> float:
    """The k with which this machine has no more to do than it can."""
    worst = np.max([limit.burst_need for limit in limits], axis=0)
    # where something is throttled, all is served as fast as the limits allow until nothing waits
    faster = np.where(worst > 0, worst, 1.0) if (worst > 1).any() else np.ones_like(worst)
    iops, rate = ((values / faster).max() for values in (stretch.iops, stretch.bytes_per_s))
    in_all = stretch.mean(stretch.iops) * lasts_s
    return float(max(iops / _IOPS, rate / _BYTES_PER_S, in_all / _IOS))


def _replayed(lab: Lab, volume: str, ios: Schedule, fio: program.Fio) -> tuple[Series, bool]:
    """How much later than it was due each I/O was completed, real seconds; whether this machine was busy."""
    with temporary_folder("azbench-replay-") as place:
        lines = (f"{line}\n" for line in iolog(ios, lab.sizes[volume]))
        with (place / "schedule.log").open("w") as file:
            file.writelines(lines)
        command = [
            "fio",
            f"--name={_NAME}",
            "--thread",
            f"--ioengine={EMULATED_ENGINE}",
            f"--uri={lab.uri(volume)}",
        ]
        command += ["--read_iolog=schedule.log", f"--replay_redirect={FILE}", f"--iodepth={_DEPTH}", *_POLL]
        command += [f"--write_lat_log={_NAME}", "--output-format=json", f"--output={_NAME}.json"]
        status, text = program.run(command, fio, place)
        if status:
            raise AzbenchError(f"fio ended with status {status}: {text.strip() or lab.fault()}")
        samples = registry.read(Source.of(place / f"{_NAME}_lat.1.log"))["samples"]
    done_s = np.sort(samples["t_s"].to_numpy(dtype=float))
    if len(done_s) != len(ios):
        raise AzbenchError(f"fio completed {len(done_s):,} of {len(ios):,} I/Os")
    late_s = done_s - ios.due_s
    _, machine_s = live_log.lateness_s(lab.log)
    waiting = os.getloadavg()[0] > 2 * (os.cpu_count() or 1)
    return late_s - late_s.min(), waiting or machine_s > _BEGINS_S
