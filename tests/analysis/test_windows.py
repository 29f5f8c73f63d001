"""Percentiles by window of time: exact whatever the order, the blocks and the number of logs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.analysis.over_time import windows
from azbenchlib.analysis.over_time.windows import Completions, by_window
from azbenchlib.core.errors import InputError

WANTED = (0.1, 50.0, 95.0, 99.9, 100.0)
Row = tuple[int, int, int]  # ms, direction, latency
ROWS = st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 2), st.integers(0, 9000)), max_size=60)


def completions(rows: Sequence[Row], counts: Sequence[int] | None = None) -> Completions:
    t_ms, code, latency = (
        np.array(column, dtype=np.int64) for column in (zip(*rows, strict=True) if rows else [[]] * 3)
    )
    count = None if counts is None else np.array(counts, dtype=np.int64)
    return Completions(t_ms=t_ms, code=code.astype(np.uint8), latency=latency, count=count)


def slowly(rows: Sequence[Row], width_ms: int) -> list[tuple[int, int, int, tuple[int, ...]]]:
    """Sort all, count to the rank."""
    groups: dict[tuple[int, int], list[int]] = defaultdict(list)
    for t_ms, code, latency in rows:
        groups[t_ms // width_ms, code].append(latency)
    found = []
    for (place, code), mine in sorted(groups.items()):
        mine.sort()
        at = [
            next(i for i in range(1, len(mine) + 1) if i >= np.longdouble(p) / 100 * len(mine))
            for p in WANTED
        ]
        found.append((place, code, len(mine), tuple(mine[i - 1] for i in at)))
    return found


def quickly(
    logs: Sequence[Sequence[Completions]], width_ms: int
) -> list[tuple[int, int, int, tuple[float, ...]]]:
    return [(one.place, one.code, one.n, one.latencies) for one in by_window(logs, width_ms, WANTED)]


@given(st.lists(ROWS, max_size=3), st.integers(1, 20), st.sampled_from([1, 100, 1000, 7000]), st.booleans())
def test_it_is_what_sorting_all_of_a_window_gives(logs, block, width_ms, in_order):
    """Also of logs whose times go back, as several jobs in one file do."""
    logs = [sorted(log) if in_order else log for log in logs]
    blocks = [[completions(log[i : i + block]) for i in range(0, len(log), block)] for log in logs]
    assert quickly(blocks, width_ms) == slowly([row for log in logs for row in log], width_ms)


@given(ROWS, st.data())
def test_a_row_that_stands_for_several_ios_counts_as_often(rows, data):
    counts = data.draw(st.lists(st.integers(1, 5), min_size=len(rows), max_size=len(rows)))
    apart = [row for row, n in zip(rows, counts, strict=True) for _ in range(n)]
    single = [(1, 0, 5), (1, 0, 6)]  # a log of single I/Os beside the histogram
    found = quickly([[completions(rows, counts)], [completions(single)]], 1000)
    assert found == slowly(apart + single, 1000)


def test_a_window_is_settled_as_soon_as_all_logs_have_passed_it(monkeypatch):
    """So what is held is a window or two of each log, however long they are."""
    held = []
    settle = windows._Held.settle

    def watched(self, passed):
        found = settle(self, passed)
        held.append(len(self._parts))
        return found

    monkeypatch.setattr(windows._Held, "settle", watched)
    logs = [[completions([(t_ms, 0, t_ms)]) for t_ms in range(0, 50_000, step)] for step in (100, 1000)]
    assert [window.n for window in by_window(logs, 1000, [50])] == [11] * 50
    assert max(held) <= 2


@pytest.mark.parametrize("wanted", [[0], [101], [float("nan")], [50, -1]])
def test_a_percentile_out_of_range_is_refused(wanted):
    with pytest.raises(InputError, match="above 0 and at most 100"):
        by_window([[completions([(1, 0, 1)])]], 1000, wanted)
