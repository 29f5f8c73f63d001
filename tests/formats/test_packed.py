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


LONG = 100  # rows, more than from which on a block has a chunk of its own


def long_blocks(n: int) -> list[ColumnBlock]:
    """Reads and writes of n runs."""
    bins = [(10**6 + i, 7) for i in range(LONG)]
    return [
        ColumnBlock(dict(one.shared) | {"ddir": ddir}, one.columns)
        for i in range(n)
        for one in [block(f"läuft-{i:010}", bins[i % 3 :])]
        for ddir in ("read", "write")
    ]


def test_long_blocks_are_their_rows_in_order() -> None:
    made = [PackedRows.of("bins", long_blocks(4)), PackedRows.of("bins", [block("x", [(1, 1)] * LONG)])]
    expected = as_frame([*long_blocks(4), block("x", [(1, 1)] * LONG)])
    pd.testing.assert_frame_equal(stack("bins", made), expected)


def test_what_long_blocks_share_is_kept_once() -> None:
    """Of 50 runs with two directions each: the name of each once, those of directions once for all."""
    frame = PackedRows.of("bins", long_blocks(50)).frame()
    kept = {
        buffer.address: buffer.size
        for name in ("run_id", "ddir", "lat_kind")
        for chunk in frame[name].array.__arrow_array__().chunks
        for buffer in chunk.buffers()
        if buffer
    }
    names, lengths = 50 * LONG * len("läuft-0123456789".encode()), 4  # of which each has its offsets
    assert sum(kept.values()) <= names + 8 * lengths * (LONG + 1) + LONG * len("readwriteclat")
