"""Packed rows are the rows that they were made of, in order, whatever is packed with them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.core import schema
from azbenchlib.core.errors import InputError
from azbenchlib.formats.packed import ColumnBlock, PackedRows, stack

WIDE = st.integers(0, 2**40)  # more than four bytes
BINS = st.lists(st.tuples(WIDE | st.integers(0, 9), WIDE), min_size=1, max_size=4)


def block(run_id: str, bins: Sequence[tuple[int, int]]) -> ColumnBlock:
    values, counts = (np.array(column, np.int64) for column in zip(*bins, strict=True))
    shared = {"run_id": run_id, "ddir": "read", "lat_kind": "clat"}
    return ColumnBlock(shared, {"bin_ns": values, "n": counts})


def as_frame(blocks: Sequence[ColumnBlock]) -> pd.DataFrame:
    rows: list[dict[str, Any]] = [row for one in blocks for row in one.rows()]
    return schema.frame("bins", rows)


@given(st.lists(st.lists(BINS, min_size=1, max_size=3), max_size=3), st.booleans())
def test_parts_are_their_rows_in_order(parts: list[list[Any]], one_is_a_table: bool) -> None:
    blocks = [[block(f"{i}-{j}", bins) for j, bins in enumerate(part)] for i, part in enumerate(parts)]
    made = [PackedRows.of("bins", part) for part in blocks]
    mixed = [one.frame() if one_is_a_table and i == 1 else one for i, one in enumerate(made)]
    expected = as_frame([one for part in blocks for one in part])
    pd.testing.assert_frame_equal(stack("bins", mixed), expected)


def test_values_may_be_broken_numbers_and_missing() -> None:
    shared = {"run_id": "a", "ddir": "read", "lat_kind": "lat"}
    blocks = [
        ColumnBlock(shared, {"percentile": [50, 99.9], "lat_us": [1.5, None]}),
        ColumnBlock(shared | {"run_id": "b"}, {"percentile": [50.0], "lat_us": [2]}),
    ]
    expected = schema.frame("percentiles", [row for one in blocks for row in one.rows()])
    pd.testing.assert_frame_equal(stack("percentiles", [PackedRows.of("percentiles", blocks)]), expected)


@pytest.mark.parametrize(("value", "n"), [(-1, 1), (1, -1), (2**62, 1)])
def test_what_no_column_can_hold_is_refused(value: int, n: int) -> None:
    with pytest.raises(InputError, match=r"bins\."):
        PackedRows.of("bins", [block("a", [(1, 1)]), block("b", [(value, n)])])


def test_a_bin_takes_eight_bytes() -> None:
    packed = PackedRows.of("bins", [block("a", [(10**6 + i, 7) for i in range(1000)])])
    assert sum(column.nbytes for column in packed.own.values()) <= 8 * len(packed)
