"""How far a campaign is, as its journal tells it: from any terminal, while it runs or afterwards."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from azbenchlib.campaign import journal, lock
from azbenchlib.campaign.journal import Journal, JournalEvent
from azbenchlib.campaign.targets.azure.ending import teardown
from azbenchlib.campaign.targets.azure.side_by_side import folders
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import format_span


@dataclass(frozen=True, kw_only=True)
class Status:
    """How far a campaign is.

    `state` is ``finished``, ``running``, ``interrupted`` or ``stopped`` (killed, or ended by a failure);
    `now` is the run in hand, of several VMs at a time that of each, and `next` the one after it, by title;
    `left_s` is what is left in seconds, at the pace so far; `in_azure` says what of the run is still there.
    """

    folder: str
    state: str
    done: int
    left_out: int
    total: int
    failed: tuple[str, ...]
    now: str
    next: str
    latest: str
    left_s: float
    design: str
    in_azure: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    def lines(self) -> Iterator[str]:
        """In words."""
        beside = f", {self.left_out} left out" if self.left_out else ""
        yield f"{self.folder}: {self.state}; {self.done} of {self.total} runs are kept{beside}"
        if self.design:
            yield self.design
        if self.latest:
            yield f"Latest: {self.latest}"
        if self.state != "finished":
            if self.now:
                yield f"{'Running' if self.state == 'running' else 'Was cut short'}: {self.now}"
            if self.next:
                yield f"Next: {self.next}"
            yield f"Left: about {format_span(self.left_s)}"
        yield from (f"Failed: {why}" for why in self.failed)
        yield from self.in_azure


def of(folder: Path) -> Status:
    """How far the campaign of a dataset folder is.

    Raises an InputError when the folder has no journal, or one that is damaged.
    """
    own = Journal(folder).events()
    apart = [*folders.events(folder)]
    events = [*own, *sorted((event for _, event in apart), key=lambda event: str(event.get("at")))]
    plan = next((event for event in reversed(events) if event["event"] == JournalEvent.PLANNED), None)
    if plan is None:
        raise InputError(f"{folder}: no campaign was begun in it, or before there were journals")
    runs = plan.get("runs", [])
    titles = {run["run"]: run.get("title", "") for run in runs}
    kept = journal.kept(events)
    out = {str(event.get("run")) for event in events if event["event"] == JournalEvent.LEFT_OUT}
    open_ = [run for run in runs if run["run"] not in kept and run["run"] not in out]
    last = events[-1]
    running = lock.is_held(folder)
    latest = [last, *dict(apart).values()]
    begun = dict.fromkeys(str(event.get("run")) for event in latest if event["event"] == JournalEvent.BEGUN)
    after = [run.get("title", "") for run in open_ if run["run"] not in begun]
    since = events[len(events) - 1 - events[::-1].index(plan) :]
    said = [event for event in events if event["event"] == JournalEvent.KEPT and event.get("said")]
    return Status(
        folder=str(folder),
        state=_state(last["event"], running),
        done=sum(run["run"] in kept for run in runs),
        left_out=sum(run["run"] in out for run in runs),
        total=len(runs),
        failed=tuple(why for run, why in journal.failures(events).items() if run not in kept),
        now="; ".join(titles[run] for run in begun if run in titles),
        next=after[0] if after else "",
        latest=f"{titles.get(str(said[-1].get('run')), '')}: {said[-1]['said']}" if said else "",
        left_s=sum(map(_expected_s, open_)) * _pace(since, {run["run"]: run for run in runs}),
        design=plan.get("design", ""),
        in_azure=() if running else tuple(teardown.noted(folder).values()),
    )


def _state(last: str, running: bool) -> str:
    if last == JournalEvent.FINISHED:
        return "finished"
    if running:
        return "running"
    return "interrupted" if last == JournalEvent.INTERRUPTED else "stopped"


def _pace(events: list[dict[str, Any]], runs: dict[str, dict[str, Any]]) -> float:
    """How much longer runs took than expected, since the campaign was begun or taken up."""
    kept = [event for event in events if event["event"] == JournalEvent.KEPT]
    expected = sum(_expected_s(runs.get(str(event.get("run")), {})) for event in kept)
    if not kept or not expected:
        return 1.0
    return max((_moment(kept[-1]) - _moment(events[0])) / expected, 0.1)


def _expected_s(run: dict[str, Any]) -> float:
    return float(run.get("expected_s", 0.0))


def _moment(event: dict[str, Any]) -> float:
    at = event.get("at")
    return datetime.fromisoformat(at).astimezone(UTC).timestamp() if at else 0.0
