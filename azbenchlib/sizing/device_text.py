"""In words: which devices of a host count, and why the others do not."""

from __future__ import annotations

from collections.abc import Sequence

from azbenchlib.sizing.counted_devices import DeviceChoice, Reason, UncountedDevice

_MOST = 6  # that are named
_FORMS = {
    Reason.PARTITION: ("is a partition of", "are partitions of"),
    Reason.LIES_ON: ("lies on", "lie on"),
    Reason.COPIES: ("holds a copy of", "hold copies of"),
}
_BARE = {
    Reason.PARTITION: ("is a partition", "are partitions"),
    Reason.LIES_ON: ("lies on the disks", "lie on the disks"),
    Reason.NO_DISK: ("is no disk", "are no disks"),
    Reason.TOTAL: ("is a sum", "are sums"),
    Reason.NOT_CHOSEN: ("is not chosen", "are not chosen"),
    Reason.IDLE: ("did nothing", "did nothing"),
}


def listed(names: Sequence[str]) -> str:
    """Some names, or the first of many."""
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return f"{', '.join(names[:_MOST])}{more}"


def left_out(choice: DeviceChoice) -> tuple[str, ...]:
    """Why the devices that do not count do not, a clause a reason; but for those that cannot be told."""
    groups: dict[tuple[Reason, tuple[str, ...]], list[str]] = {}
    for one in choice.left_out:
        groups.setdefault((one.reason, one.on), []).append(one.device)
    return tuple(
        _clause(reason, on, names) for (reason, on), names in groups.items() if reason is not Reason.UNCLEAR
    )


def _clause(reason: Reason, on: Sequence[str], names: Sequence[str]) -> str:
    several = len(names) > 1
    if on and reason in _FORMS:
        return f"{listed(names)} {_FORMS[reason][several]} {listed(on)}"
    return f"{listed(names)} {_BARE[reason][several]}"


def unclear(choice: DeviceChoice) -> str | None:
    """What to do about devices of which neither names nor figures tell; None where there are none."""
    names = [one.device for one in choice.left_out_for(Reason.UNCLEAR)]
    if not names:
        return None
    one = names[0]
    every = " ".join(f"--device {name}" for name in (*choice.counted[:_MOST], one))
    what = "this is a disk or repeats" if len(names) == 1 else "these are disks or repeat"
    verb = "counts" if len(choice.counted) == 1 else "count"
    return (
        f"{listed(names)}: names and figures do not tell whether {what} the load of others, so only "
        f"{listed(choice.counted)} {verb}; state what counts, such as {every}"
    )


def sentences(host: str, choice: DeviceChoice) -> tuple[str, ...]:
    """Which devices of a host count and which do not; nothing where all of them count."""
    doubt = unclear(choice)
    clauses = left_out(choice)
    if not clauses and doubt is None:
        return ()
    verb = "counts" if len(choice.counted) == 1 else "count"
    first = f"{host}: {'; '.join((f'{listed(choice.counted)} {verb}', *clauses))}"
    return (first, *([] if doubt is None else [f"{host}: {doubt}"]))


def record(choice: DeviceChoice) -> list[dict[str, object]]:
    """The devices that do not count, for JSON."""
    return [_record(one) for one in choice.left_out]


def _record(one: UncountedDevice) -> dict[str, object]:
    return {"device": one.device, "reason": one.reason.value, "on": list(one.on)}
