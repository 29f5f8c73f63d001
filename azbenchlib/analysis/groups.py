"""How many different values groups of rows have, as pandas's own ``nunique`` tells, for tables of few rows.

pandas sorts the keys of every group and takes milliseconds whatever the size, of which a report would ask for
some hundreds; here it takes a few microseconds a row.
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence

import pandas as pd

from azbenchlib.core.schema import plain_values


def keys_of(columns: Sequence[pd.Series]) -> list[Hashable]:
    """Return a key a row, the same for rows that agree in all columns, missing values among them."""
    return list(zip(*map(plain_values, columns), strict=True))


def numbered(columns: Sequence[pd.Series]) -> pd.Series:
    """Return the number of the group of each row, in the order in which they appear."""
    numbers: dict[Hashable, int] = {}
    found = [numbers.setdefault(key, len(numbers)) for key in keys_of(columns)]
    return pd.Series(found, index=columns[0].index, dtype=int)


def distinct(values: pd.Series, columns: Sequence[pd.Series]) -> pd.Series:
    """Return how many different values the group of each row has; missing ones do not count.

    Parameters
    ----------
    values : Series
    columns : sequence of Series
        Of the same rows; those that agree in all of them are a group.

    Returns
    -------
    Series of int
        As long as `values`.
    """
    keys = keys_of(columns)
    seen: dict[Hashable, set[object]] = defaultdict(set)
    for key, value in zip(keys, plain_values(values), strict=True):
        if value is not None:
            seen[key].add(value)
    return pd.Series([len(seen.get(key, ())) for key in keys], index=values.index, dtype=int)
