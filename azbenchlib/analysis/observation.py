"""What a verdict is judged from: one run in one direction, or both together, in plain numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from azbenchlib.model.credits import BURST_S

Trace = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]


@dataclass(frozen=True, kw_only=True)
class Observation:
    """What a tool reported of a run, and what is known around it. None: not known.

    Parameters
    ----------
    read_share : float, optional
        Share of the I/Os that are reads, 0 to 1.
    bs_bytes : float, optional
        Block size of reads, in bytes.
    bs_write_bytes : float, optional
        Block size of writes, in bytes. None: as the reads.
    iops : float, optional
        I/Os per second, reads and writes together.
    bw_bytes_per_s : float, optional
        Bytes per second, reads and writes together.
    queue_depth : float, optional
        Outstanding I/Os over all jobs.
    numjobs : int
        Processes or threads that issue them.
    runtime_s : float, optional
        Measured time, in seconds.
    direct : bool, optional
        Whether the operating system's page cache was bypassed.
    mean_us : float, optional
        Mean total latency (from submission on), in µs.
    percentiles : mapping of float to float
        Latency in µs by percentile (0 to 100); of total latency, or of completion where that is all there is.
    cpu_pct : float, optional
        User and system time of each job, in percent of one core.
    rate_iops : float, optional
        The limit that the workload sets itself, over all jobs.
    working_set_bytes : float, optional
        Data that the run touches.
    ram_bytes : float, optional
        Memory of the machine that issues the I/O.
    unloaded_us : float, optional
        Mean total latency in µs of a run of the same block size and pattern with one I/O outstanding.
    samples : (ndarray, ndarray), optional
        Times in s and I/Os per second at them, shape (n,) each; each sample is the mean since the one before.
    tool : str, optional
        Such as fio.
    runtime_limit_s : float, optional
        The time after which the run was to end, in seconds.
    time_based : bool, optional
        Whether the run's length was set; else it ended when a given amount of data was through.
    is_emulated : bool
        Whether it ran on an emulated disk, whose credits are as short as the run.
    idle_before_s : float, optional
        How long the disks had rested before, in seconds.
    credit_s : float, optional
        How long full burst credits of an emulated disk last, in seconds. None: as on Azure.
    slat_us : float, optional
        Mean submission latency of an I/O, in µs.
    ramp_s : float, optional
        Time before the measured time in which the load ran already, in seconds.
    device_iops : float, optional
        I/Os per second that the device did, after the kernel had merged and split those of the jobs.
    consumed_pct : mapping of str to float
        What Azure Monitor says of the limits, in percent, by base label such as ``vm_uncached_iops``.
    credits_used_pct : mapping of str to float
        Used burst credits, as Azure Monitor has them, in percent, by base label.
    monitor_iops : float, optional
        I/Os per second that Azure Monitor counted at the disks of the run.
    rw : str, optional
        The pattern, as the tool calls it.
    ioengine : str, optional
        fio's I/O engine.
    """

    read_share: float | None = None
    bs_bytes: float | None = None
    bs_write_bytes: float | None = None
    iops: float | None = None
    bw_bytes_per_s: float | None = None
    queue_depth: float | None = None
    numjobs: int = 1
    runtime_s: float | None = None
    direct: bool | None = None
    mean_us: float | None = None
    percentiles: Mapping[float, float] = field(default_factory=dict)
    cpu_pct: float | None = None
    rate_iops: float | None = None
    working_set_bytes: float | None = None
    ram_bytes: float | None = None
    unloaded_us: float | None = None
    samples: Trace | None = None
    tool: str | None = None
    runtime_limit_s: float | None = None
    time_based: bool | None = None
    is_emulated: bool = False
    idle_before_s: float | None = None
    credit_s: float | None = None
    slat_us: float | None = None
    ramp_s: float | None = None
    device_iops: float | None = None
    consumed_pct: Mapping[str, float] = field(default_factory=dict)
    credits_used_pct: Mapping[str, float] = field(default_factory=dict)
    monitor_iops: float | None = None
    rw: str | None = None
    ioengine: str | None = None

    @property
    def credits_cut(self) -> float:
        """How many times longer full burst credits last on Azure than on this disk; 1 on Azure itself."""
        return BURST_S / self.credit_s if self.credit_s else 1.0

    @property
    def credit_time_s(self) -> float | None:
        """The measured time as burst credits count it: on a disk whose credits last a tenth as long as on
        Azure, they are as far spent after a tenth of the time.
        """
        return None if self.runtime_s is None else self.runtime_s * self.credits_cut
