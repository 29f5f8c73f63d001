"""The verdict against a simulator that shares no code with it: right, calibrated, unsure where it must be."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from simulated import calibrate, simulator

SEED = 20_201


@pytest.fixture(scope="module", params=[300, pytest.param(600, marks=pytest.mark.long)])
def found(request: pytest.FixtureRequest) -> pd.DataFrame:
    rng = np.random.default_rng(SEED)
    return calibrate.judged(simulator.draw(request.param, rng), rng)


def test_right_where_the_evidence_is_enough(found: pd.DataFrame) -> None:
    some = found[found["identifiable"]]
    assert 0.5 * len(found) < len(some) < 0.9 * len(found)
    assert some["right"].mean() >= 0.93


def test_hardly_ever_sure_and_wrong(found: pd.DataFrame) -> None:
    wrong = ~found["named"] & (found["probability"] >= 0.95)
    assert wrong.mean() <= 0.02
    assert (wrong & found["identifiable"]).mean() <= 0.01


def test_probabilities_mean_what_they_say(found: pd.DataFrame) -> None:
    rows = calibrate.reliability(found)
    assert rows["n"].sum() == len(found)
    assert (rows["beyond"] <= calibrate.WITHIN).all(), rows.to_string()
    assert calibrate.brier(found) < 0.08


def test_what_it_is_not_told_leaves_the_right_label_among_the_first_two(found: pd.DataFrame) -> None:
    some = found[found["hides"]]
    assert 0.08 * len(found) < len(some) < 0.25 * len(found) and not some["identifiable"].any()
    assert some["second"].mean() >= 0.93
    sure = some[some["probability"] >= 0.95]
    allowed = (1 - sure["probability"]).sum() + 2 * np.sqrt((sure["probability"] * 0.05).sum())
    assert (~sure["named"]).sum() <= allowed


def test_every_kind_of_cause_was_there(found: pd.DataFrame) -> None:
    causes = {labels[0] for labels in found["truth"]}
    assert {"disk_iops", "disk_burst_mbps", "vm_uncached_iops", "vm_cached_mbps", "temp_mbps"} <= causes
    assert {"latency_qd", "workload_demand", "page_cache", "unknown", "above_documented_limit"} <= causes


def test_unsure_where_two_limits_are_the_same() -> None:
    rng = np.random.default_rng(SEED)
    drawn = simulator.draw(120, rng)
    plain = np.flatnonzero(
        (drawn.path == 0) & drawn.direct & ~drawn.stale & ~np.isnan(drawn.nominal).any(axis=1)
    )
    twins = drawn.take(plain)
    same = {}
    for name in ("nominal", "nominal_burst", "base", "burst", "credits"):
        same[name] = getattr(twins, name).copy()
        same[name][:, 2:4] = same[name][:, 0:2]
    twins = replace(twins, **same, counted_in_units=np.zeros(len(twins), bool))
    got = calibrate.judged(twins, rng)
    throttled = got[[labels[0].startswith(("disk", "vm_uncached")) for labels in got["truth"]]]
    assert len(throttled) > 20
    assert not throttled["identifiable"].any()
    named = throttled["tie"] | (throttled["probability"] < 0.8)
    assert named.mean() >= 0.95


def test_reliability_sees_what_is_off() -> None:
    said, was = np.repeat([0.95, 0.55], 400), np.r_[np.ones(380), np.zeros(20), np.ones(80), np.zeros(320)]
    rows = calibrate.reliability(pd.DataFrame({"probability": said, "named": was.astype(bool)}))
    assert rows["tenth"].tolist() == [5, 9]
    assert rows["beyond"].tolist() == pytest.approx([0.35 - 2 * np.sqrt(0.55 * 0.45 / 400), 0.0])
    assert rows["n"].tolist() == [400, 400]
    few = pd.DataFrame({"probability": [0.25, *said], "named": [True, *was.astype(bool)]})
    rows = calibrate.reliability(few)
    assert rows["n"].tolist() == [401, 400] and rows["low"].tolist() == [2, 9]


def test_page_and_picture_tell_the_same(found: pd.DataFrame) -> None:
    page = calibrate.summary(found, SEED)
    right = found.loc[found["identifiable"], "right"].mean()
    assert f"seed {SEED}" in page and f"**{right:.1%}**" in page
    rows = calibrate.reliability(found)
    drawn = calibrate.curve(rows)
    for row in rows.itertuples():
        assert f"{row.was:.1%}" in page and f"right {row.was:.1%} of {row.n:,}" in drawn.label
