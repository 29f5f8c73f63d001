"""Real fio on an emulated disk: jobs one after the other or at once, in a single run of the program."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from azbenchlib.analysis.over_time import time_dilation
from azbenchlib.campaign import doctor
from azbenchlib.campaign.workloads import program as programs
from azbenchlib.core import histogram, schema
from azbenchlib.core.errors import AzbenchError, MissingToolError
from azbenchlib.core.temporary import temporary_folder
from azbenchlib.core.units import KIB, MIB, MS_PER_S, NS_PER_US
from azbenchlib.formats import registry
from azbenchlib.formats.source import Source
from azbenchlib.lab import calibrate, dilation
from azbenchlib.lab.engine.virtual_machine import Options
from azbenchlib.lab.lab import Lab
from azbenchlib.lab.server import live_log
from azbenchlib.model.setup import Setup

SHOWN_PERCENTILES = (50.0, 90.0, 95.0, 99.0)
_ALMOST_S = 0.75  # of a second that counts as whole
_SETUP = "lesson"
_OUTPUT = "lesson.json"


@dataclass(frozen=True, kw_only=True)
class LessonJob:
    """One job of fio.

    Parameters
    ----------
    name : str
        Unique.
    volume : str
        Of the lab.
    seconds : float
        Real time that it lasts; the emulated disk sees less under time dilation.
    rw : str
    bs_bytes, iodepth : int
    size_bytes : int
        What is touched, from the volume's start.
    rate_iops : int, optional
        What it asks for at most, emulated.
    beside : bool
        Whether it runs at the same time as the job before it; else after it.
    """

    name: str
    volume: str
    seconds: float
    rw: str = "randread"
    bs_bytes: int = 4 * KIB
    iodepth: int = 1
    size_bytes: int = 256 * MIB
    rate_iops: int | None = None
    beside: bool = False

    def lines(self, lab: Lab) -> list[str]:
        """Of a job file, slowed as the lab is."""
        k = lab.time_scale
        told = [f"[{self.name}]", f"uri={lab.uri(self.volume)}", f"rw={self.rw}", f"bs={self.bs_bytes}"]
        told += [f"iodepth={self.iodepth}", f"size={min(self.size_bytes, lab.sizes[self.volume])}"]
        told.append(f"runtime={max(1, round(self.seconds * MS_PER_S))}ms")
        if self.rate_iops is not None:
            told.append(f"rate_iops={max(1, round(self.rate_iops / k))}")
        return told if self.beside else [*told, "stonewall"]


@dataclass(frozen=True)
class Ran:
    """What fio measured, as the disk would have given it at full speed.

    Parameters
    ----------
    jobs : DataFrame
        A row a job: job, bs_bytes, queue_depth, iops, bw_bytes_per_s, lat_mean_us, p50, p90, p95, p99 (µs).
    bins : DataFrame
        Histograms of completion latency: job, bin_ns, n.
    begun_unix_s : float
    late_s : float
        By how much one completion in a hundred came too late, in real time; NaN where that is not known.
    """

    jobs: pd.DataFrame
    bins: pd.DataFrame
    begun_unix_s: float
    late_s: float


def find_fio() -> programs.Fio:
    """The installed fio, with the engine that drives emulated disks.

    Raises
    ------
    MissingToolError
        When it, or its engine, is not there.
    """
    found = programs.find()
    if "nbd" not in found.engines:
        raise MissingToolError(
            f"the lessons drive emulated disks, and this fio has no NBD engine; {doctor.fio_nbd().remedy}"
        )
    return found


def emulated(setup: Setup, options: Options, jobs: Sequence[LessonJob]) -> Lab:
    """A lab, not yet started, whose dilation factor leaves I/Os enough in each of these jobs.

    Parameters
    ----------
    setup : Setup
    options : Options
    jobs : sequence of LessonJob
    """
    asked = [
        dilation.Asked(
            volume=job.volume,
            bs_bytes=job.bs_bytes,
            queue_depth=job.iodepth,
            read_share=float("read" in job.rw),
            lasts_s=job.seconds,
        )
        for job in jobs
    ]
    return Lab(setup, options, time_scale=dilation.time_scale(setup, options, calibrate.calibration(), asked))


def drive(lab: Lab, jobs: Sequence[LessonJob], program: programs.Fio) -> Ran:
    """Run jobs on an emulated disk.

    Parameters
    ----------
    lab : Lab
        Started.
    jobs : sequence of LessonJob
    program : Fio

    Raises
    ------
    AzbenchError
        When fio fails; with its own words.
    """
    with temporary_folder() as folder:
        # norandommap: else fio reads no block twice before it has read all, and no cache is ever hit
        head = ["[global]", "ioengine=nbd", "thread", "time_based", "randrepeat=0", "norandommap"]
        told = [line for job in jobs for line in job.lines(lab)]
        (folder / "lesson.fio").write_text("\n".join([*head, *told, ""]))
        begun = time.time()
        argv = ["fio", "--output-format=json+", f"--output={_OUTPUT}", "lesson.fio"]
        status, text = programs.run(argv, program, folder)
        if status:
            raise AzbenchError(f"fio failed with exit code {status}: {text.strip()} {lab.fault()}".strip())
        tables = registry.read(Source.of(folder / _OUTPUT))
    return Ran(*_tables(tables, lab.time_scale), begun, live_log.lateness_s(lab.log, begun)[1])


def on_file(job: LessonJob, program: programs.Fio, folder: Path) -> Ran:
    """Run one job on a file of this machine, buffered, so that its page cache answers.

    Parameters
    ----------
    job : LessonJob
        The volume is the name of the file.
    program : Fio
    folder : Path
        Where the file is made; it stays.

    Raises
    ------
    AzbenchError
        When fio fails; with its own words.
    """
    argv = ["fio", f"--name={job.name}", f"--filename={job.volume}", "--ioengine=psync", "--thread"]
    argv += ["--direct=0", "--time_based", f"--runtime={round(job.seconds * MS_PER_S)}ms"]
    argv += [f"--rw={job.rw}", f"--bs={job.bs_bytes}", f"--size={job.size_bytes}", "--invalidate=0"]
    begun = time.time()
    status, text = programs.run([*argv, "--output-format=json+", f"--output={_OUTPUT}"], program, folder)
    if status:
        raise AzbenchError(f"fio failed with exit code {status}: {text.strip()}")
    return Ran(*_tables(registry.read(Source.of(folder / _OUTPUT)), 1), begun, math.nan)


def timeline(lab: Lab, volume: str, ran: Ran, end_s: float) -> pd.DataFrame:
    """What the lab noted while a job ran, some times a second.

    Returns
    -------
    DataFrame
        Columns t_s (emulated, since the first I/O), iops (since the row before), credits (I/Os; NA where
        there are none) and cache_hit_ratio (of reads; NA where there is no cache); up to `end_s`.
    """
    lines = [line for line in live_log.read(lab.log).lines if line.unix_s >= ran.begun_unix_s]
    frame = pd.DataFrame(
        {
            "t_s": [line.t_s for line in lines],
            "done": [line.done[volume][0] for line in lines],
            "credits": [_credits(line, volume) for line in lines],
            "cache_hit_ratio": [line.objects[volume].cache_hit_ratio for line in lines],
        }
    ).astype("Float64")
    frame["iops"] = frame["done"].diff() / frame["t_s"].diff()
    moved = frame["iops"] > 0
    if not moved.any():
        return frame[moved]
    first = int(moved.idxmax())
    frame["t_s"] -= frame["t_s"].iloc[max(0, first - 1)]
    return frame[moved & (frame["t_s"] <= end_s)].iloc[1:].drop(columns="done")


def by_second(line: pd.DataFrame) -> pd.DataFrame:
    """Mean IOPS of each whole second of a timeline: columns t_s (the end of the second) and iops."""
    lasted = line["t_s"].diff()
    known = line.assign(ios=line["iops"] * lasted, lasted=lasted, second=np.ceil(line["t_s"].astype(float)))
    sums = known.iloc[1:].groupby("second")[["ios", "lasted"]].sum()
    whole = sums[sums["lasted"] > _ALMOST_S]
    return pd.DataFrame({"t_s": whole.index.to_numpy(), "iops": (whole["ios"] / whole["lasted"]).to_numpy()})


def quantiles_us(bins: pd.DataFrame, percentiles: Sequence[float]) -> list[float]:
    """Percentiles of histograms put together, in µs; never an average of percentiles.

    Parameters
    ----------
    bins : DataFrame
        Columns bin_ns and n, of one job or several.
    percentiles : sequence of float
        0 to 100.
    """
    pooled = histogram.merge(bins)
    found = histogram.percentile(pooled["bin_ns"], pooled["n"], percentiles)
    return [float(ns) / NS_PER_US for ns in found]


def _credits(line: live_log.Line, volume: str) -> float | None:
    """Those of the I/Os of a volume."""
    state = line.objects.get(f"{volume} disk_burst_iops")
    return state.credits if state else None


def _tables(tables: dict[str, pd.DataFrame], k: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Jobs and histograms, with time dilation undone."""
    setups = schema.frame("setups", [{"setup_id": _SETUP, "environment": "lab", "time_scale": k}])
    full = time_dilation.undo(tables | {"setups": setups, "runs": tables["runs"].assign(setup_id=_SETUP)})
    runs = full["runs"].loc[full["runs"]["level"] == "job", ["run_id", "job", "bs_bytes", "queue_depth"]]
    clat = full["percentiles"].query("lat_kind == 'clat'")
    wide = clat[clat["percentile"].isin(SHOWN_PERCENTILES)].pivot_table(
        index="run_id", columns="percentile", values="lat_us", aggfunc="max"
    )
    wide.columns = [f"p{percentile:g}" for percentile in wide.columns]
    rates = full["results"].groupby("run_id")[["iops", "bw_bytes_per_s"]].sum()
    means = full["latency"].query("lat_kind == 'lat'").groupby("run_id")["lat_mean_us"].mean()
    jobs = runs.join(rates, on="run_id").join(means, on="run_id").join(wide, on="run_id")
    bins = full["bins"].query("lat_kind == 'clat'").merge(runs[["run_id", "job"]], on="run_id")
    return jobs.drop(columns="run_id").reset_index(drop=True), bins[["job", "bin_ns", "n"]]
