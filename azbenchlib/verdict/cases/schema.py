"""The form of a published case: what may stand in it, and of which kind each value is.

A case may have more keys than are named here; each of them is told in a finding. Figures in `observed` and in
what Azure Monitor says are looked up by their names, so any stand there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationError,
    field_validator,
    model_validator,
)

from azbenchlib.core import choices
from azbenchlib.core.errors import InputError
from azbenchlib.core.nearest import choices as choices_of

_LARGEST = 1e15  # of any figure of a case: beyond what its arithmetic can tell from rounding
_MOST_DISKS = 1000  # of one kind

Number = Annotated[StrictInt | Annotated[StrictFloat, Field(allow_inf_nan=False)], Field(ge=0, le=_LARGEST)]
Positive = Annotated[Number, Field(gt=0)]
Share = Annotated[Number, Field(le=1)]


def _one_of(*choices: str) -> AfterValidator:
    def check(value: str) -> str:
        if value not in choices:
            raise ValueError(f"'{value}' is not one of: {', '.join(choices)}")
        return value

    return AfterValidator(check)


def _iso_day(value: str) -> str:
    """A day; the first one of a month or a year that stands alone."""
    day = value + "-01" * max(0, 2 - value.count("-"))
    return date.fromisoformat(day).isoformat()


IsoDay = Annotated[StrictStr, AfterValidator(_iso_day)]
Role = Annotated[StrictStr, _one_of(*choices.ROLES)]
HostCaching = Annotated[StrictStr, _one_of(*choices.HOST_CACHING)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow")


LIMIT_KEYS = ("iops", "mbps")


class CaseVm(_Part):
    """The VM with its limits, each a mapping of ``iops`` and ``mbps``, as far as the case states them."""

    size: StrictStr | None = None
    uncached: dict[StrictStr, Positive | None] | None = None
    uncached_burst: dict[StrictStr, Positive | None] | None = None
    cached: dict[StrictStr, Positive | None] | None = None
    cached_burst: dict[StrictStr, Positive | None] | None = None
    temp: dict[StrictStr, Positive | None] | None = None
    nvme: dict[StrictStr, Positive | None] | None = None


class CaseDisk(_Part):
    """One kind of disk."""

    role: Role = "data"
    sku: StrictStr | None = None
    tier: StrictStr | None = None
    size_gib: Positive | None = None
    cache: HostCaching | None = None
    count: Annotated[StrictInt, Field(ge=1, le=_MOST_DISKS)] | None = None
    bursting: StrictBool | None = None
    iops: Positive | None = None
    mbps: Positive | None = None
    burst_iops: Positive | None = None
    burst_mbps: Positive | None = None


class CaseJob(_Part):
    """How the load was made."""

    rw: StrictStr | None = None
    bs_kib: Positive | None = None
    qd_total: Positive | None = None
    jobs: Annotated[StrictInt, Field(ge=1)] | None = None
    runtime_s: Positive | None = None
    ramp_s: Number | None = None
    devices: Annotated[StrictInt, Field(ge=1, le=_MOST_DISKS)] | None = None
    nvme_devices: Annotated[StrictInt, Field(ge=1, le=_MOST_DISKS)] | None = None
    nvme_count: Annotated[StrictInt, Field(ge=1, le=_MOST_DISKS)] | None = None
    lat_ms: Positive | None = None
    target: StrictStr | None = None
    direct: StrictBool | Literal[0, 1] | None = None
    tool: StrictStr | None = None
    tool_version: Any = None
    size: StrictStr | None = None
    span_gib: Number | None = None
    size_gib: Number | None = None
    file_gib: Number | None = None
    working_set_gib: Number | None = None
    striped: StrictBool | None = None
    warmed: StrictBool | None = None
    bursting: StrictBool | None = None
    credits: Number | None = None
    cache_hit: Share | None = None
    write_rate_iops: Positive | None = None
    azure_monitor: Any = None
    monitor: Any = None
    metrics: Any = None
    azure_metrics: Any = None


class CaseDemand(_Part):
    """What the workload requested."""

    iops: Positive | None = None
    mbps: Positive | None = None
    write_iops: Positive | None = None
    split: list[Number] | None = None
    target: StrictStr | None = None
    profile: Any = None  # in words
    per_disk: Any = None


class Observed(_Part):
    """What was measured: figures by name, or a table of them."""

    columns: list[StrictStr] | None = None
    points: list[list[Number | StrictStr | None]] | None = None
    __pydantic_extra__: dict[str, Number | StrictStr | list[Any] | dict[str, Any] | None]

    @model_validator(mode="after")
    def _rows_are_whole(self) -> Observed:
        if any(len(row) != len(self.columns or ()) for row in self.points or ()):
            raise ValueError("a row of points has not one value for each column")
        return self


class Case(_Part):
    """One case; what has any kind is for people, or for whoever checks the verdict."""

    id: Any = None
    note: Any = None
    expected: Any = None
    split: Any = None  # of the collection that it is in
    kind: StrictStr | None = None
    source: StrictStr | None = None
    as_of: IsoDay | None = None
    vm: CaseVm | None = None
    disks: list[CaseDisk] | None = None
    job: CaseJob | None = None
    demand: CaseDemand | None = None
    observed: Observed | None = None
    azure_monitor: Any = None
    monitor: Any = None
    metrics: Any = None
    azure_metrics: Any = None

    @field_validator("disks", mode="before")
    @classmethod
    def _none_is_empty(cls, disks: object) -> object:
        return disks or None


def parsed(case: Mapping[str, Any]) -> dict[str, Any]:
    """The case with each of its parts, empty where it has none.

    Raises
    ------
    InputError
        When a value is of another kind than its key asks for.
    """
    try:
        known = Case.model_validate(case).model_dump(exclude_unset=True)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(f"the case cannot be read: {place}: {first['msg']}") from error
    empty: dict[str, Any] = {"vm": None, "disks": [], "job": {}, "demand": None, "observed": None}
    return {**known, **{name: known.get(name) or nothing for name, nothing in empty.items()}}


def unknown_keys(case: Mapping[str, Any]) -> list[str]:
    """A sentence for each key that is not known, with the nearest names.

    Parameters
    ----------
    case : mapping
        That :func:`parsed` accepts.
    """
    told = []
    for place, part, known in _parts(case):
        for name in part:
            if name not in known:
                where = f"{place}: " if place else ""
                told.append(f"{where}key '{name}' is not known, and was not used; {choices_of(name, known)}")
    return told


def _parts(case: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any], list[str]]]:
    """Each part of a case with its place and the keys that may stand there."""
    yield "", case, list(Case.model_fields)
    kinds: dict[str, type[_Part]] = {"vm": CaseVm, "job": CaseJob, "demand": CaseDemand}
    for name, kind in kinds.items():
        yield name, case.get(name) or {}, list(kind.model_fields)
    for i, disk in enumerate(case.get("disks") or ()):
        yield f"disks.{i}", disk, list(CaseDisk.model_fields)
    for name, limits in (case.get("vm") or {}).items():
        if isinstance(limits, Mapping) and name in CaseVm.model_fields:
            yield f"vm.{name}", limits, list(LIMIT_KEYS)
