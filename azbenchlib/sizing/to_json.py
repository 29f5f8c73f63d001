"""An answer as plain values, for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from azbenchlib.model.load_history import LoadHistory
from azbenchlib.model.replay import Throttling
from azbenchlib.sizing import device_text, text
from azbenchlib.sizing.answer import Outcome, SizeAnswer
from azbenchlib.sizing.busiest import LabCheck
from azbenchlib.sizing.percentile_rule import COMFORT, PEAK_S, PERCENTILE

_TIMES = 100  # that are listed, the longest


def record(answer: SizeAnswer, checks: Sequence[LabCheck] = ()) -> dict[str, Any]:
    """An answer: the telemetry, what was asked, what each design does, and what replays of it came to."""
    history, telemetry, demand = answer.history, answer.telemetry, answer.requirement.demand
    names = {"IOPS": "iops", "MB/s": "bytes_per_s"}
    return {
        "telemetry": {
            "hosts": {host: list(devices) for host, devices in telemetry.devices.items()},
            "left_out": {host: device_text.record(choice) for host, choice in telemetry.choices.items()},
            "clock": history.clock,
            "begin": _time(history, 0.0),
            "end": _time(history, history.duration_s),
            "interval_s": telemetry.interval_s,
            "duration_s": history.duration_s,
            "missing_s": telemetry.missing_s,
            "held_back": [asdict(one) for one in telemetry.held_back],
        },
        "load": {
            names[name]: {"p50": median, "p95": high, "max": most}
            for name, median, high, most in text.load_figures(answer)
        },
        "asked": {
            "throttled_s": answer.requirement.throttled_s,
            "probability": answer.requirement.confidence,
            "factor": answer.factor,
            "size_bytes": demand.size_bytes,
            "latency": demand.latency,
            "redundancy": demand.redundancy,
            "cache_hit": demand.cache_hit,
            "vcpus": demand.vcpus,
            "memory_bytes": demand.memory_bytes,
            "most_disks": answer.requirement.most_disks,
            "region": answer.market.region,
            "limits_as_of": answer.market.as_of,
        },
        "recommended": _outcome(answer, answer.best),
        "cheapest": _outcome(answer, answer.cheapest),
        "cheapest_for_an_even_load": _outcome(answer, answer.even),
        "one_disk": _outcome(answer, answer.one_disk),
        "next_cheaper": _outcome(answer, answer.next_cheaper),
        "by_percentile": {
            "percentile": PERCENTILE,
            "peak_s": PEAK_S,
            "factor": COMFORT,
            "design": _outcome(answer, answer.by_percentile),
        },
        "replayed_in_lab": [_check(check) for check in checks],
        "assumptions": list(text.assumptions(answer)),
        "not_modelled": list(text.NOT_IN_SIZES),
    }


def _outcome(answer: SizeAnswer, outcome: Outcome | None) -> dict[str, Any] | None:
    if outcome is None:
        return None
    disk = outcome.design.setup.disks[0]
    return {
        "vm": outcome.design.vm,
        "disks": disk.name,
        "redundancy": (disk.sku or "").partition("_")[2],
        "caching": disk.caching,
        "price_per_month": float(outcome.design.price),
        "currency": answer.market.currency,
        "throttled": {
            "at_least_s": outcome.at_least_s,
            "at_most_s": outcome.at_most_s,
            "probably_at_most_s": outcome.probably_at_most_s,
            "probability": outcome.probability,
            "left_s": outcome.replayed.left_s,
            "credits_last_s": outcome.credits_last_s,
            "times": [_throttling(answer.history, one) for one in outcome.times(_TIMES)],
            "times_in_all": len(outcome.replayed.throttled),
        },
        "least_credits": {label: float(left.min()) for label, left in outcome.replayed.credits},
    }


def _check(check: LabCheck) -> dict[str, Any]:
    return {
        "vm": check.design.vm,
        "disks": check.design.setup.disks[0].name,
        "begin": _time(check.stretch, 0.0),
        "duration_s": check.stretch.duration_s,
        "shortest_delay_s": check.shortest_s,
        "predicted_s": check.predicted_s,
        "measured_s": check.measured_s,
        "agrees": check.agrees,
        "busy": check.busy,
    }


def _throttling(history: LoadHistory, one: Throttling) -> dict[str, Any]:
    return {
        "begin": _time(history, one.start_s),
        "seconds": one.seconds,
        "delay_s": one.delay_s,
        "binding_limits": list(one.labels),
    }


def _time(history: LoadHistory, seconds: float) -> str | float:
    """ISO 8601, with a zone where one is known; seconds where no time is."""
    moment = history.moment(seconds)
    if history.clock == "elapsed":
        return moment
    stated = datetime.fromtimestamp(moment, UTC)
    return (stated if history.clock == "utc" else stated.replace(tzinfo=None)).isoformat()
