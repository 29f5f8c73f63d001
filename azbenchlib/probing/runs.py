"""The runs that a probe may make, and what one of them showed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from azbenchlib.core.units import KIB, format_count, format_size
from azbenchlib.probing.hypotheses import IO_UNITS, SMALLEST_BYTES

# One that counts as one whatever the unit is, and each by 4 KiB above a unit, which then counts as two while
# caps of bytes hold it as little as can be; direct I/O needs multiples of 4 KiB.
PROBED_SIZES = (SMALLEST_BYTES, *(int(unit) + SMALLEST_BYTES for unit in IO_UNITS[:-1]))
QUEUE_DEPTHS = (1, 4, 16, 32, 64, 128, 256)
READ_SHARES = (1.0, 0.0, 0.5)
SECONDS = 10.0
PACES = tuple(1 << n for n in range(3, 18))  # IOPS of loads that stay below the caps
PATTERN_OF = {1.0: "randread", 0.0: "randwrite", 0.5: "randrw"}
# What starting a run takes besides, in s: fio's own start and end, some hundreds of ms, and the pause that
# lets queues empty; our choice.
STARTING_S = 2.0


@dataclass(frozen=True, kw_only=True, order=True)
class ProbeRun:
    """A load that keeps `depth` I/Os of `bs_bytes` outstanding at random places, for `seconds`.

    `read_share` is 1 (reads), 0 (writes) or 0.5 (both, in turns by chance). `rate_iops` is how many I/Os per
    second the load issues at most, reads and writes together: a disk whose caps hold even one I/O after the
    other shows its unloaded latency only to a load below them.
    """

    read_share: float
    bs_bytes: int
    depth: int
    seconds: float = SECONDS
    rate_iops: int = 0

    @property
    def name(self) -> str:
        """What its outputs are called by."""
        kib = self.bs_bytes // KIB
        paced = f"-{self.rate_iops}iops" if self.rate_iops else ""
        return f"{PATTERN_OF[self.read_share]}-{kib}k-qd{self.depth}{paced}-{self.seconds:g}s"

    @property
    def title(self) -> str:
        """How it is called in texts."""
        what = {1.0: "reads", 0.0: "writes", 0.5: "reads and writes"}[self.read_share]
        paced = f", at most {format_count(self.rate_iops)} IOPS" if self.rate_iops else ""
        return f"{what} of {format_size(self.bs_bytes)}, queue depth {self.depth}{paced}, {self.seconds:g} s"

    @property
    def load(self) -> tuple[float, int]:
        """Its mix and block size."""
        return self.read_share, self.bs_bytes

    @property
    def costs_s(self) -> float:
        """Seconds that it takes with its start."""
        return self.seconds + STARTING_S


def candidates(seconds: float = SECONDS) -> tuple[ProbeRun, ...]:
    """All runs that there are to choose from, of this length."""
    driven = product(READ_SHARES, PROBED_SIZES, QUEUE_DEPTHS)
    paced = product(READ_SHARES, (PROBED_SIZES[0], PROBED_SIZES[-1]), PACES)
    return (
        *(
            ProbeRun(read_share=share, bs_bytes=size, depth=depth, seconds=seconds)
            for share, size, depth in driven
        ),
        *(
            ProbeRun(read_share=share, bs_bytes=size, depth=1, seconds=seconds, rate_iops=rate)
            for share, size, rate in paced
        ),
    )


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What a run showed.

    Parameters
    ----------
    run : ProbeRun
    iops : float
        Reads and writes together.
    read_p50_us, write_p50_us : float, optional
        Median total latencies in µs.
    read_p50_error, write_p50_error : float, optional
        Standard errors of the logarithms of these, by the latencies of the run (:mod:`.median`); None: they
        do not tell, and the disk's own skew stands for them.
    error : float
        Standard error of `iops` that its own samples tell, relative to it; 0 where they do not.
    seconds : float, optional
        How long it was measured; None: as long as was asked for.
    read_share : float, optional
        Share of reads among the I/Os that were made, which chance decides; None: as the load asks for.
    direct : bool
        Whether the page cache was bypassed, and it is no file in memory.
    """

    run: ProbeRun
    iops: float
    read_p50_us: float | None = None
    write_p50_us: float | None = None
    read_p50_error: float | None = None
    write_p50_error: float | None = None
    error: float = 0.0
    seconds: float | None = None
    read_share: float | None = None
    direct: bool = True
