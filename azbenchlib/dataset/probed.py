"""What a probe found, as its dataset keeps it beside the manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from azbenchlib.core.errors import InputError

PROBE_FILE = "probe.json"


class _Record(BaseModel):
    """Written by azbench, perhaps by another version, or by anybody: what is read is checked."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


class ProbedFigure(_Record):
    """A property of the disk with its 95 % interval, in base units; see :class:`.DiskFigure`."""

    key: str
    label: str
    state: str
    value: float | None
    low: float | None
    high: float | None


class ProbedName(_Record):
    """A documented disk that it may be; None for `name`: nothing documented."""

    name: str | None
    kind: str | None
    iops: float | None
    bytes_per_s: float | None
    probability: float


class ProbedRun(_Record):
    """A run, in the order in which they were chosen, and what was expected of it in nats."""

    run: str
    title: str
    iops: float
    nats: float


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


class DrivenPoint(_Record):
    """A run that spent burst credits, or a rest: I/Os or bytes per second."""

    quantity: str
    number: int
    began_s: float
    lasted_s: float
    rate: float


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
    sentences: list[str]
    names: list[ProbedName]
    runs: list[ProbedRun]
    roof: list[RoofPoint]
    response: list[ResponsePoint]
    driven: list[DrivenPoint] = []
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
