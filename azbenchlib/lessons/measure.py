"""Real fio on an emulated disk: jobs one after the other or at once, in a single run of the program."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from azbenchlib.analysis.over_time import time_dilation
from azbenchlib.campaign import doctor
from azbenchlib.campaign.workloads import program as programs
from azbenchlib.core import histogram, schema
from azbenchlib.core.errors import AzbenchError, MissingToolError
from azbenchlib.core.temporary import temporary_folder
from azbenchlib.core.units import KIB, MIB, MS_PER_S, NS_PER_US
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.formats import registry
from azbenchlib.formats.source import Source
from azbenchlib.lab import calibrate, dilation
from azbenchlib.lab.engine.virtual_machine import Options
from azbenchlib.lab.lab import Lab
from azbenchlib.lab.server import live_log
from azbenchlib.model.setup import Setup

SHOWN_PERCENTILES = (50.0, 90.0, 95.0, 99.0)
_ALMOST_S = 0.75  # of a second that counts as whole
_OUTPUT, _JOB_FILE = "lesson.out", "lesson.fio"
_FORMATS = "--output-format=normal,json+"  # of one run: the one is read by people, the other by programs


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
    fsync : int, optional
        Writes between two flushes; None: it never flushes.
    numjobs : int
        How many do the same at once; more than one are reported as one, with ``group_reporting``.
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
    fsync: int | None = None
    numjobs: int = 1
    beside: bool = False

    def lines(self, lab: Lab) -> list[str]:
        """Of a job file, slowed as the lab is."""
        k = lab.time_scale
        told = [f"[{self.name}]", f"uri={lab.uri(self.volume)}", f"rw={self.rw}", f"bs={self.bs_bytes}"]
        told += [f"iodepth={self.iodepth}", f"size={min(self.size_bytes, lab.sizes[self.volume])}"]
        told.append(f"runtime={max(1, round(self.seconds * MS_PER_S))}ms")
        if self.rate_iops is not None:
            told.append(f"rate_iops={max(1, round(self.rate_iops / k))}")
        if self.fsync is not None:
            told.append(f"fsync={self.fsync}")
        if self.numjobs > 1:
            told += [f"numjobs={self.numjobs}", "group_reporting"]
        return told if self.beside else [*told, "stonewall"]


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What fio was told and what it measured.

    Parameters
    ----------
    job_file : str
        Empty where all options are on the command line.
    argv : sequence of str
    said : str
        fio's normal output, in the time of the wall clock.
    document : mapping
        The JSON of the same run, as fio wrote it.
    time_scale : float
        k: times in the output are k times as long as on the disk that is emulated.
    dataset : Dataset
        What that JSON says, as the disk would have given it at full speed.
    begun_unix_s : float
    late_s : float
        By how much one completion in a hundred came too late, in real time; NaN where that is not known.
    """

    job_file: str
    argv: Sequence[str]
    said: str
    document: Mapping[str, Any]
    time_scale: float
    dataset: Dataset
    begun_unix_s: float
    late_s: float

    @cached_property
    def jobs(self) -> pd.DataFrame:
        """A row a job: job, bs_bytes, queue_depth, iops, bw_bytes_per_s, lat_mean_us, p50 … p99 (µs)."""
        full = self.dataset.tables
        clat = full["percentiles"].query("lat_kind == 'clat'")
        wide = clat[clat["percentile"].isin(SHOWN_PERCENTILES)].pivot_table(
            index="run_id", columns="percentile", values="lat_us", aggfunc="max"
        )
        wide.columns = [f"p{percentile:g}" for percentile in wide.columns]
        rates = full["results"].groupby("run_id")[["iops", "bw_bytes_per_s"]].sum()
        means = full["latency"].query("lat_kind == 'lat'").groupby("run_id")["lat_mean_us"].mean()
        runs = _single(full)[["run_id", "job", "bs_bytes", "queue_depth"]]
        jobs = runs.join(rates, on="run_id").join(means, on="run_id").join(wide, on="run_id")
        return jobs.drop(columns="run_id").reset_index(drop=True)

    @cached_property
    def bins(self) -> pd.DataFrame:
        """Histograms of completion latency: job, bin_ns, n."""
        full = self.dataset.tables
        clat = full["bins"].query("lat_kind == 'clat'")
        return clat.merge(_single(full)[["run_id", "job"]], on="run_id")[["job", "bin_ns", "n"]]


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
    # norandommap: else fio reads no block twice before it has read all, and no cache is ever hit
    head = ["[global]", "ioengine=nbd", "thread", "time_based", "randrepeat=0", "norandommap"]
    job_file = "\n".join([*head, *(line for job in jobs for line in job.lines(lab)), ""])
    begun = time.time()
    with temporary_folder() as folder:
        (folder / _JOB_FILE).write_text(job_file)
        status, text = programs.run(_argv(_JOB_FILE), program, folder)
        if status:
            raise AzbenchError(f"fio failed with exit code {status}: {text.strip()} {lab.fault()}".strip())
        said, document, dataset = _read(folder, "lab", lab.time_scale)
    return Ran(
        job_file=job_file,
        argv=_argv(_JOB_FILE),
        said=said,
        document=document,
        time_scale=lab.time_scale,
        dataset=dataset,
        begun_unix_s=begun,
        late_s=live_log.lateness_s(lab.log, begun)[1],
    )


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
    argv = _argv(f"--name={job.name}", f"--filename={job.volume}", "--ioengine=psync", "--thread")
    argv += ["--direct=0", "--time_based", f"--runtime={round(job.seconds * MS_PER_S)}ms"]
    argv += [f"--rw={job.rw}", f"--bs={job.bs_bytes}", f"--size={job.size_bytes}", "--invalidate=0"]
    begun = time.time()
    status, text = programs.run(argv, program, folder)
    if status:
        raise AzbenchError(f"fio failed with exit code {status}: {text.strip()}")
    said, document, dataset = _read(folder, "local", 1)
    return Ran(
        job_file="",
        argv=argv,
        said=said,
        document=document,
        time_scale=1,
        dataset=dataset,
        begun_unix_s=begun,
        late_s=math.nan,
    )


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


def _argv(*what: str) -> list[str]:
    return ["fio", _FORMATS, f"--output={_OUTPUT}", *what]


def _read(folder: Path, environment: str, k: float) -> tuple[str, Mapping[str, Any], Dataset]:
    """What fio wrote: its normal output, its JSON, and the data of that with time dilation undone."""
    text = (folder / _OUTPUT).read_text(errors="replace")
    begin = text.index("\n{\n") + 1
    document, end = json.JSONDecoder().raw_decode(text, begin)
    tables = registry.read(Source(_OUTPUT, text[begin:end].encode()))
    setup_id = f"{environment}-{k:g}"
    setups = schema.frame("setups", [{"setup_id": setup_id, "environment": environment, "time_scale": k}])
    full = time_dilation.undo(tables | {"setups": setups, "runs": tables["runs"].assign(setup_id=setup_id)})
    return text[:begin] + text[end:].lstrip("\n"), document, Dataset(tables=full)


def _single(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The jobs among the runs, also those of several processes; the sum of all is none."""
    return tables["runs"].loc[tables["runs"]["level"].isin(["job", "group"])]
