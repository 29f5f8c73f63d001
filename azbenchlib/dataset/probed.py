"""What a probe found, as its dataset keeps it beside the manifest."""

from __future__ import annotations

import json
import math
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from azbenchlib.core.documents import decoded
from azbenchlib.core.errors import InputError
from azbenchlib.core.printable import one_line
from azbenchlib.probing.drain import Interval
from azbenchlib.probing.portrait import CAPS, FIGURE_KEYS, DiskFigure, Knowledge

PROBE_FILE = "probe.json"
_MOST = 1e18  # of any number: what is larger is none of a disk, and no figure could show it
_MOST_SHOWN = 80  # characters of a wrong value in an error

Positive = Annotated[float, Field(gt=0, le=_MOST)]
NotNegative = Annotated[float, Field(ge=0, le=_MOST)]
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(gt=0, le=int(_MOST))]
NameKind = Literal[
    "disk",
    "burst",
    "on_demand_burst",
    "provisioned",
    "vm",
    "vm_burst",
    "disk_and_vm",
    "read_only",
    "read_write",
    "temp",
    "nvme",
]
Direction = Literal["read", "write"]


class _Record(BaseModel):
    """Written by azbench, perhaps by another version, or by anybody: what is read is checked."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


class ProbedFigure(_Record):
    """A property of the disk with its 95 % interval, in base units; see :class:`.DiskFigure`."""

    key: str
    label: str
    state: Knowledge
    value: Positive | None
    low: NotNegative
    high: Positive | None
    runs: list[str] = []

    @field_validator("key")
    @classmethod
    def _known_key(cls, key: str) -> str:
        if key not in FIGURE_KEYS:
            raise ValueError(f"is none of {', '.join(FIGURE_KEYS)}")
        return key

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.state is Knowledge.KNOWN and self.value is None:
            raise ValueError("value: is missing, though the state is 'known'")
        if self.state is not Knowledge.ABOVE and self.high is None:
            raise ValueError(f"high: is missing; only a figure of the state '{Knowledge.ABOVE}' has none")
        if self.high is not None and self.high < self.low:
            raise ValueError(f"high: {self.high:g} is below low, {self.low:g}")
        return self

    @property
    def figure(self) -> DiskFigure:
        """As the probe had it: a bound that is none is infinite."""
        return DiskFigure(
            key=self.key,
            state=self.state,
            value=self.value,
            low=self.low,
            high=math.inf if self.high is None else self.high,
            runs=tuple(self.runs),
        )


class ProbedName(_Record):
    """A documented disk that it may be, as `title` tells; None for `name`: nothing documented."""

    name: str | None
    title: Annotated[str, Field(min_length=1)]
    kind: NameKind | None
    count: Count | None = None
    iops: Positive | None
    bytes_per_s: Positive | None
    probability: Share
    alike: bool = False
    measured_per_documented_iops: Positive | None = None
    measured_per_documented_bytes_per_s: Positive | None = None

    @property
    def is_single(self) -> bool:
        """Whether it is one disk, or the limits of a VM alone: nothing that was put together."""
        return self.kind in ("disk", "burst", "vm") and (self.count or 1) == 1


class Unlearnt(_Record):
    """What is not known, and the minutes that it would take; None: no run would tell."""

    what: str
    minutes: NotNegative | None


class ProbedRun(_Record):
    """A run, in the order in which they were chosen, and what was expected of it in nats."""

    run: str
    title: str
    iops: Positive
    nats: NotNegative


class RoofPoint(_Record):
    """The most IOPS at a block size."""

    ddir: Direction
    bs_bytes: Count
    low: Positive
    iops: Positive
    high: Positive


class ResponsePoint(_Record):
    """The mean latency at a queue depth."""

    ddir: Direction
    queue_depth: Positive
    low: Positive
    lat_mean_us: Positive
    high: Positive


class CreditLevel(_Record):
    """What was left in the bucket at a moment, in s: I/Os or bytes."""

    t_s: NotNegative
    left: NotNegative


class ProbedInterval(_Record):
    """A value with its 95 % interval, in base units."""

    value: NotNegative
    low: NotNegative
    high: NotNegative

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

    set_bytes: Count
    hit_share: Share | None
    p50_us: Positive


class ProbedCache(_Record):
    """What the working sets showed."""

    steps: Annotated[list[CacheStep], Field(min_length=1)]


class ProbeRecord(_Record):
    """All that a report and the catalogue take from a probe."""

    measured: date
    figures: list[ProbedFigure]
    buffered: bool = False
    sentences: Annotated[list[str], Field(min_length=1)]
    not_learnt: list[Unlearnt] = []
    names: list[ProbedName]
    runs: Annotated[list[ProbedRun], Field(min_length=1)]
    roof: Annotated[list[RoofPoint], Field(min_length=1)]
    response: Annotated[list[ResponsePoint], Field(min_length=1)]
    credits: list[ProbedCredits] = []
    cache: ProbedCache | None = None

    @field_validator("figures")
    @classmethod
    def _all_caps(cls, figures: list[ProbedFigure]) -> list[ProbedFigure]:
        keys = [one.key for one in figures]
        if missing := [key for key, _ in CAPS if key not in keys]:
            raise ValueError(f"there is none with the key '{missing[0]}'")
        if len(set(keys)) < len(keys):
            raise ValueError("two have the same key")
        return figures


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
        return ProbeRecord.model_validate_json(path.read_bytes(), strict=True)
    except (ValidationError, OSError) as error:
        raise InputError(f"{path}: {_first(error)}; probe the disk again, or remove the file") from error


def kept_probe(folder: Path, name: str = "") -> ProbeRecord:
    """What the probe of a dataset folder found; `name` is what a user calls the folder.

    Raises
    ------
    InputError
        When it is no probe, or the file is none that azbench wrote.
    """
    record = read_probe(folder)
    if record is None:
        raise InputError(
            f"{name or folder}: is no probe; its folder has no {PROBE_FILE}, which azbench probe writes"
        )
    return record


def as_written(folder: Path) -> dict[str, Any]:
    """All that the probe of a dataset folder found, but for the day, as ``--format json`` prints it."""
    document: dict[str, Any] = decoded((folder / PROBE_FILE).read_bytes())
    return {name: value for name, value in document.items() if name != "measured"}


def _first(error: Exception) -> str:
    """What is wrong first: the field, its value, and what it may be."""
    if not isinstance(error, ValidationError):
        return f"cannot be read: {getattr(error, 'strerror', None) or error}"
    first: Any = error.errors(include_url=False)[0]
    where = ".".join(map(str, first["loc"]))
    fault = str(first["msg"]).removeprefix("Value error, ")
    if not where:
        return fault
    given = first["input"]
    told = "" if isinstance(given, dict | list) else f" {one_line(json.dumps(given)[:_MOST_SHOWN])}"
    return f"{where}{told}: {fault}"
