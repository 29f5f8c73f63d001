"""Rows that agree in some columns, in little memory: what they share is kept once a block.

A bin of a json+ file takes eight bytes so, and some fifty in a table. Tables are made of all files at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
from pandas.api.extensions import ExtensionArray

from azbenchlib.core import schema

_LONG = 64  # rows of a block, from which on a chunk of its own takes less than what its rows share


@dataclass(frozen=True)
class ColumnBlock:
    """Rows of a table that agree in some columns: those, and the others by column."""

    shared: dict[str, Any]
    columns: Mapping[str, Sequence[Any] | np.ndarray]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows, one by one."""
        for values in zip(*self.columns.values(), strict=True):
            yield {**self.shared, **dict(zip(self.columns, values, strict=True))}


@dataclass(frozen=True, kw_only=True)
class PackedRows:
    """Rows of a table that come in blocks, checked.

    Attributes
    ----------
    table : str
    sizes : ndarray of int
        Rows of each block.
    shared : dict of str to ExtensionArray
        Columns that have one value a block.
    own : dict of str to ExtensionArray or ndarray
        Those that have one a row; whole numbers without a missing one are as short as they can be.
    """

    table: str
    sizes: npt.NDArray[np.int64]
    shared: dict[str, ExtensionArray]
    own: dict[str, ExtensionArray | np.ndarray]

    def __len__(self) -> int:
        return int(self.sizes.sum())

    @classmethod
    def of(cls, table: str, blocks: Sequence[ColumnBlock]) -> PackedRows:
        """Blocks that have the same columns, one below the other.

        Raises
        ------
        InputError
            As :func:`schema.frame` does.
        """
        shared = {
            name: schema.column(table, name, [block.shared[name] for block in blocks])
            for name in blocks[0].shared
        }
        own = {
            name: _short(table, name, _chained([block.columns[name] for block in blocks]))
            for name in blocks[0].columns
        }
        return cls(table=table, sizes=np.array([len(block) for block in blocks]), shared=shared, own=own)

    def frame(self) -> pd.DataFrame:
        """All columns of the table, of which these rows lose theirs: no more than one is there twice."""
        columns = {name: _spread(self.shared.pop(name), self.sizes) for name in list(self.shared)}
        for name in list(self.own):
            columns[name] = _whole(self.own.pop(name))
        for name in schema.TABLES[self.table].columns.keys() - columns.keys():
            columns[name] = schema.missing(self.table, name, len(self))
        return pd.DataFrame({name: columns[name] for name in schema.TABLES[self.table].columns}, copy=False)


Rows: TypeAlias = pd.DataFrame | PackedRows


def framed(rows: Rows) -> pd.DataFrame:
    """The rows as a table."""
    return rows.frame() if isinstance(rows, PackedRows) else rows


def stack(table: str, parts: Sequence[Rows]) -> pd.DataFrame:
    """The parts of a table, one below the other; packed ones lose their columns."""
    filled = [part for part in parts if len(part)]
    packed = [part for part in filled if isinstance(part, PackedRows)]
    if len(packed) == len(filled) > 0:
        return _together(packed).frame()
    frames = [framed(part) for part in filled]
    if len(frames) == 1:
        return frames[0].reset_index(drop=True)
    return pd.concat(frames, ignore_index=True) if frames else schema.empty(table)


def _together(parts: Sequence[PackedRows]) -> PackedRows:
    """Packed rows one below the other; the parts lose their columns one by one."""
    first = parts[0]
    return PackedRows(
        table=first.table,
        sizes=np.concatenate([part.sizes for part in parts]),
        shared={name: _end_to_end([part.shared.pop(name) for part in parts]) for name in list(first.shared)},
        own={name: _own_end_to_end([part.own.pop(name) for part in parts]) for name in list(first.own)},
    )


def _own_end_to_end(parts: Sequence[ExtensionArray | np.ndarray]) -> ExtensionArray | np.ndarray:
    short = [part for part in parts if isinstance(part, np.ndarray)]
    if len(short) == len(parts):
        return np.concatenate(short)
    return _end_to_end([_whole(part) for part in parts])


def _end_to_end(parts: Sequence[ExtensionArray]) -> ExtensionArray:
    return pd.concat([pd.Series(part, copy=False) for part in parts], ignore_index=True).array


def _short(table: str, name: str, values: Sequence[Any] | np.ndarray) -> ExtensionArray | np.ndarray:
    """The values of a column, checked."""
    checked = schema.column(table, name, values)
    if isinstance(values, np.ndarray) and values.dtype == np.int64 and values.min() >= 0:
        return values.astype(np.min_scalar_type(int(values.max())))
    return checked


def _spread(values: ExtensionArray, sizes: npt.NDArray[np.int64]) -> ExtensionArray:
    """Each value as often as its block has rows."""
    if values.dtype == schema.TEXT and sizes.mean() >= _LONG and not values.isna().any():
        return _spread_texts(values.to_numpy(dtype=object), sizes)
    return values.take(np.repeat(np.arange(len(sizes), dtype=np.int32), sizes))


def _spread_texts(texts: npt.NDArray[np.object_], sizes: npt.NDArray[np.int64]) -> ExtensionArray:
    """A chunk a block: those of equal texts are parts of the longest one, and texts of one length share
    their offsets, so a text of many blocks takes memory once, and no more than it has characters.
    """
    encoded = [text.encode() for text in texts]
    longest: dict[bytes, int] = {}
    for text, size in zip(encoded, sizes.tolist(), strict=True):
        longest[text] = max(size, longest.get(text, 0))
    steps = np.arange(sizes.max() + 1, dtype=np.int64)
    offsets = {length: pa.py_buffer(steps * length) for length in {len(text) for text in longest}}
    whole = {
        text: pa.LargeStringArray.from_buffers(size, offsets[len(text)], pa.py_buffer(text * size))
        for text, size in longest.items()
    }
    chunks = [whole[text][:size] for text, size in zip(encoded, sizes.tolist(), strict=True)]
    return pd.arrays.ArrowStringArray(pa.chunked_array(chunks))


def _whole(values: ExtensionArray | np.ndarray) -> ExtensionArray:
    """The same as a column of a table."""
    if not isinstance(values, np.ndarray):
        return values
    return pd.arrays.IntegerArray(values.astype(np.int64), np.zeros(len(values), dtype=bool))


def _chained(parts: Sequence[Sequence[Any] | np.ndarray]) -> list[Any] | np.ndarray:
    """The values of all parts, which are arrays or not."""
    arrays = [part for part in parts if isinstance(part, np.ndarray)]
    return np.concatenate(arrays) if len(arrays) == len(parts) else list(chain.from_iterable(parts))
