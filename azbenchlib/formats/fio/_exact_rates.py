"""Rates of printed jobs, made of the I/Os, bytes and times that stand beside them in full.

fio prints rates with three or four digits (``IOPS=75.5k``, ``BW=11.0MiB/s``) or cuts them to whole numbers,
and the number of I/Os, the block size and the run time in full. It makes its rates of these too, so what is
printed is the check: a rate is replaced only by one that can have been printed so.

Source: fio ``stat.c`` (``show_ddir_status``, ``show_ddir_status_terse``) and ``lib/num2str.c``, fio-3.41.
"""

from dataclasses import replace

from azbenchlib.core.findings import Code
from azbenchlib.formats.fio._jobs import FioJob, Key, Printed
from azbenchlib.formats.fio._options import FioWorkload

_CUT = 1  # a rate that is printed in full is off by less


def with_exact_rates(job: FioJob) -> FioJob:
    """Make the rates of a job as exact as its other figures allow; note where these contradict each other."""
    found = _ExactRates(job)
    for ddir in job.directions:
        found.look_at(ddir)
    return replace(job, figures=job.figures | found.better, notes=(*job.notes, *found.notes))


def lost_carry(printed: Printed, true: Printed) -> bool:
    """Whether a figure was printed too small by one before its point, as 29.96 is by some versions: 29.0.

    They round the digits behind the point, and forget what is carried over where these become all zeros.
    """
    lacking = true.value - printed.value
    return printed.carry > 0 and abs(lacking - printed.carry) <= printed.slack + true.slack


class _ExactRates:
    """One job on its way."""

    def __init__(self, job: FioJob) -> None:
        self.job = job
        self.better: dict[Key, Printed] = {}
        self.notes: list[tuple[Code, str]] = []
        self.sizes = _block_sizes(job)

    def look_at(self, ddir: str) -> None:
        """Take one direction into account."""
        ios, seconds = (self._figure(ddir, name) for name in ("ios", "runtime_s"))
        if not seconds or not seconds.value:
            return
        self._iops(ddir, ios, seconds.value)
        moved = self._bytes(ddir, ios, seconds.value)
        if moved:
            self._rate(ddir, moved, seconds.value)

    def _figure(self, ddir: str, column: str) -> Printed | None:
        return self.job.figures.get(Key("results", ddir, column))

    def _put(self, ddir: str, column: str, figure: Printed) -> None:
        self.better[Key("results", ddir, column)] = figure

    def _iops(self, ddir: str, ios: Printed | None, seconds: float) -> None:
        printed = self._figure(ddir, "iops")
        if printed is None:
            return
        if ios is None:
            if printed.slack > _CUT:
                note = f"{ddir} IOPS are rounded: {printed.value:.0f} to within {printed.slack:.0f}"
                self.notes.append((Code.ROUNDED_IOPS, note))
            return
        true = ios.value / seconds
        if abs(true - printed.value) <= printed.slack:
            self._put(ddir, "iops", Printed(true))
        else:
            made = f"{ios.value:.0f} I/Os in {seconds:.10g} s are {true:.6g}"
            self.notes.append((Code.RATES_DISAGREE, f"{ddir} IOPS are {printed.value:.6g}, but {made}"))

    def _bytes(self, ddir: str, ios: Printed | None, seconds: float) -> Printed | None:
        """The bytes moved: those of whole blocks, where amount and rate were printed as theirs would be."""
        printed, rate = (self._figure(ddir, name) for name in ("io_bytes", "bw_bytes_per_s"))
        size = self.sizes.get(ddir)
        if printed is None or ios is None or not size:
            return printed
        true = Printed(ios.value * size)
        fits = rate is None or abs(true.value / seconds - rate.value) <= rate.slack
        if fits and (abs(true.value - printed.value) <= printed.slack or lost_carry(printed, true)):
            self._put(ddir, "io_bytes", true)
            return true
        return printed

    def _rate(self, ddir: str, moved: Printed, seconds: float) -> None:
        """The throughput, by bytes and time, where that is more exact than what was printed."""
        printed = self._figure(ddir, "bw_bytes_per_s")
        if printed is None:
            return
        made = Printed(moved.value / seconds, moved.slack / seconds)
        apart = abs(made.value - printed.value)
        if apart <= printed.slack:
            if made.slack < printed.slack:
                self._put(ddir, "bw_bytes_per_s", made)
        elif apart > printed.slack + made.slack:
            counted = f"{moved.value:.6g} B in {seconds:.10g} s are {made.value:.6g}"
            note = f"{ddir} BW is {printed.value:.6g} B/s, but {counted}"
            if lost_carry(printed, made):
                self._put(ddir, "bw_bytes_per_s", made)
                self.notes.append((Code.ROUNDING_ERROR, f"{note}: fio lost a carry"))
            else:
                self.notes.append((Code.RATES_DISAGREE, note))


def _block_sizes(job: FioJob) -> dict[str, int]:
    """The one block size of each direction, where the options tell it."""
    told = FioWorkload(job.options or {}, False, None).columns
    size, of_writes = told.get("bs_bytes"), told.get("bs_write_bytes")
    if size is None:
        return {}
    return {"read": size, "write": of_writes or size} | ({} if of_writes else {"trim": size})
