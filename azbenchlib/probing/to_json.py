"""A portrait as plain values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from azbenchlib.probing.cache import Staircase
from azbenchlib.probing.curves import response, roof
from azbenchlib.probing.drain import Drain, DrainShown, bucket_over_time
from azbenchlib.probing.hypotheses import Sharing
from azbenchlib.probing.naming import Named
from azbenchlib.probing.portrait import DiskFigure, Portrait
from azbenchlib.probing.rounds import Rounds
from azbenchlib.probing.session import Probe
from azbenchlib.probing.stages import Stages
from azbenchlib.probing.text import NO_STAGES, label, name_of, sentences, told_by, unlearnt


def document(
    session: Probe, portrait: Portrait, named: Sequence[Named], stages: Stages = NO_STAGES
) -> dict[str, Any]:
    """All that is known after a probe, and how it came to be known."""
    return {
        "figures": [_figure(figure) for figure in portrait.figures],
        "io_unit": [
            {"bytes": size if math.isfinite(size) else None, "probability": probability}
            for size, probability in portrait.units.items()
        ],
        "counts_as_one_up_to_bytes": _finite(portrait.largest_single_bytes),
        "same_caps_probability": portrait.same,
        "separate_caps_probability": portrait.sharing[Sharing.APART],
        "caps_behind_those_of_reads_probability": portrait.sharing[Sharing.BEHIND],
        "deviation": portrait.deviation.value,
        "run_error": portrait.run_error,
        "steady": portrait.steady,
        "buffered": portrait.buffered,
        "contradictions": list(portrait.contradictions),
        "sentences": [*sentences(portrait), *told_by(stages, portrait)],
        "not_learnt": [
            {"what": what, "minutes": minutes}
            for what, minutes in unlearnt(portrait, session.spent_s, stages)
        ],
        "credits": _credits(stages.drain) if stages.drain else [],
        **told_by_rounds(stages),
        "cache": _cache(portrait, stages),
        "names": [_named(one) for one in named],
        "roof": roof(session.disks).to_dict("records"),
        "response": response(session.disks).to_dict("records"),
        "driven": [_driven(one) for one in stages.drain.shown] if stages.drain else [],
        "runs": [
            {
                "run": shown.run.name,
                "title": shown.run.title,
                "iops": shown.iops,
                "read_p50_us": shown.read_p50_us,
                "write_p50_us": shown.write_p50_us,
                "seconds": shown.seconds or shown.run.seconds,
                "nats": worth.nats,
            }
            for shown, worth in zip(session.shown, session.worth, strict=True)
        ],
    }


def _credits(drain: Drain) -> list[dict[str, Any]]:
    """What is known of each cap that was driven, and how much was left over time."""
    return [
        {
            **asdict(one),
            "levels": [
                {"t_s": t_s, "left": left}
                for t_s, left in bucket_over_time(
                    [shown for shown in drain.shown if shown.run.quantity == one.quantity]
                )
            ],
        }
        for one in drain.found()
    ]


def _cache(portrait: Portrait, stages: Stages) -> dict[str, Any] | None:
    """What was found of a cache; None: none was looked for."""
    if not stages.stairs:
        return None
    written = stages.write_back.found() if stages.write_back else None
    return {
        **asdict(stages.stairs.found(portrait)),
        "steps": _steps(stages.stairs),
        "write_back": asdict(written) if written else None,
    }


def _steps(stairs: Staircase) -> list[dict[str, Any]]:
    """What each working set showed; the share of hits is None where there is no step."""
    shares: list[float | None] = [*stairs.hit_shares()] or [None] * len(stairs.measured)
    return [
        {"set_bytes": one.run.set_bytes, "hit_share": share, "p50_us": one.quantile_us(0.5)}
        for one, share in zip(stairs.measured, shares, strict=True)
    ]


def _driven(shown: DrainShown) -> dict[str, Any]:
    return {
        "quantity": shown.run.quantity,
        "number": shown.run.number,
        "began_s": shown.began_s,
        "lasted_s": shown.lasted_s,
        "rate": shown.rate,
    }


def told_by_rounds(stages: Stages) -> dict[str, Any]:
    """What fsync and several jobs showed; None: they were not asked for."""
    return {
        "fsync": _fsync(stages.fsync) if stages.fsync else None,
        "jobs": _jobs(stages.jobs) if stages.jobs else None,
    }


def _fsync(rounds: Rounds) -> dict[str, Any]:
    found = rounds.longer_us()
    return {"longer_us": asdict(found) if found else None, "runs": [one.run.name for one in rounds.shown]}


def _jobs(rounds: Rounds) -> dict[str, Any]:
    found = {load.kind: rounds.times_as_many(load) for load in rounds.loads[1:]}
    times = {kind: asdict(one) if one else None for kind, one in found.items()}
    return {"times_the_iops_of_one_job": times, "runs": [one.run.name for one in rounds.shown]}


def _figure(figure: DiskFigure) -> dict[str, Any]:
    return {
        "key": figure.key,
        "label": label(figure.key),
        "state": str(figure.state),
        "value": figure.value,
        "low": _finite(figure.low),
        "high": _finite(figure.high),
        "runs": list(figure.runs),
    }


def _named(named: Named) -> dict[str, Any]:
    setup = named.setup
    told = {
        "title": name_of(named),
        "probability": named.probability,
        "alike": named.alike,
        "measured_per_documented_iops": named.iops_ratio,
        "measured_per_documented_bytes_per_s": named.bytes_ratio,
    }
    if setup is None:
        return {"name": None, "kind": None, "iops": None, "bytes_per_s": None, **told}
    caps = dict(zip(("iops", "bytes_per_s", "write_iops", "write_bytes_per_s"), setup.caps, strict=True))
    return {
        "name": (named.disks or named.sizes)[0],
        "kind": setup.kind,
        "disks": list(named.disks),
        "count": setup.disk.count if setup.disk else None,
        "sizes": list(named.sizes),
        **{key: _finite(cap) for key, cap in caps.items()},
        **told,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
