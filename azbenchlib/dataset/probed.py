"""What a probe found, as its dataset keeps it beside the manifest."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from azbenchlib.core.errors import InputError
from azbenchlib.probe.drain import Interval
from azbenchlib.probe.portrait import DiskFigure, Knowledge

PROBE_FILE = "probe.json"


class _Record(BaseModel):
    """Written by azbench, perhaps by another version, or by anybody: what is read is checked."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


class ProbedFigure(_Record):
    """A property of the disk with its 95 % interval, in base units; see :class:`.DiskFigure`."""

    key: str
    label: str
    state: Knowledge
    value: float | None
    low: float | None
    high: float | None
    runs: list[str] = []

    @property
    def figure(self) -> DiskFigure:
        """As the probe had it: a bound that is none is infinite."""
        return DiskFigure(
            key=self.key,
            state=self.state,
            value=self.value,
            low=-math.inf if self.low is None else self.low,
            high=math.inf if self.high is None else self.high,
            runs=tuple(self.runs),
        )


class ProbedName(_Record):
    """A documented disk that it may be, as `title` tells; None for `name`: nothing documented."""

    name: str | None
    title: str
    kind: str | None
    iops: float | None
    bytes_per_s: float | None
    probability: float
    measured_per_documented_iops: float | None = None
    measured_per_documented_bytes_per_s: float | None = None


class Unlearnt(_Record):
    """What is not known, and the minutes that it would take; None: no run would tell."""

    what: str
    minutes: float | None


class ProbedRun(_Record):
    """A run, in the order in which they were chosen, and what was expected of it in nats."""

    run: str
    title: str
    iops: float = Field(gt=0)
    nats: float = Field(ge=0)


class RoofPoint(_Record):
    """The most IOPS at a block size."""

    ddir: str
    bs_bytes: int = Field(gt=0)
    low: float = Field(gt=0)
    iops: float = Field(gt=0)
    high: float = Field(gt=0)


class ResponsePoint(_Record):
    """The mean latency at a queue depth."""

    ddir: str
    queue_depth: float = Field(gt=0)
    low: float = Field(gt=0)
    lat_mean_us: float = Field(gt=0)
    high: float = Field(gt=0)


class CreditLevel(_Record):
    """What was left in the bucket at a moment, in s: I/Os or bytes."""

    t_s: float
    left: float = Field(ge=0)


class ProbedInterval(_Record):
    """A value with its 95 % interval, in base units."""

    value: float = Field(ge=0)
    low: float = Field(ge=0)
    high: float = Field(ge=0)

    @property
    def interval(self) -> Interval:
        """As the probe had it."""
        return Interval(value=self.value, low=self.low, high=self.high)


class ProbedCredits(_Record):
    """What full load on one cap showed: the burst, the base after it, and the bucket over time; nothing of
    that where the rate did not fall.
    """

    quantity: Literal["iops", "bytes_per_s"]
    burst: ProbedInterval | None = None
    base: ProbedInterval | None = None
    levels: list[CreditLevel] = []


class CacheStep(_Record):
    """The share of reads within a working set that a cache answered, and their median latency."""

    set_bytes: int = Field(gt=0)
    hit_share: float | None
    p50_us: float = Field(gt=0)


class ProbedCache(_Record):
    """What the working sets showed."""

    steps: list[CacheStep]


class ProbeRecord(_Record):
    """All that a report and the catalogue take from a probe."""

    measured: str
    figures: list[ProbedFigure]
    buffered: bool = False
    sentences: list[str]
    not_learnt: list[Unlearnt] = []
    names: list[ProbedName]
    runs: list[ProbedRun]
    roof: list[RoofPoint]
    response: list[ResponsePoint]
    credits: list[ProbedCredits] = []
    cache: ProbedCache | None = None


def read_probe(folder: Path) -> ProbeRecord | None:
    """What the probe of a dataset folder found; None where it is no probe.

    Raises
    ------
    InputError
        When the file is none that azbench wrote.
    """
    path = folder / PROBE_FILE
    if not path.is_file():
        return None
    try:
        return ProbeRecord.model_validate_json(path.read_bytes())
    except (ValidationError, OSError) as error:
        raise InputError(f"{path}: {_first(error)}; probe the disk again, or remove the file") from error


def _first(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return f"cannot be read: {getattr(error, 'strerror', None) or error}"
    first: Any = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(map(str, first["loc"]))
    return f"{where}: {first['msg']}" if where else str(first["msg"])
