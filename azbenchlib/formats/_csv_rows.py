"""The rows of a CSV of unknown quality."""

import csv
from collections.abc import Iterable, Iterator


def readable_rows(lines: Iterable[str], delimiter: str = ",") -> Iterator[list[str]]:
    """The rows of lines, which may be indented or quoted; one that is no CSV is two empty cells.

    Parameters
    ----------
    lines : iterable of str
        Without their ends.
    delimiter : str
        What separates the cells.
    """
    rows = csv.reader((line.lstrip(" \t>") for line in lines), delimiter=delimiter)
    while True:
        try:
            yield next(rows)
        except StopIteration:
            return
        except csv.Error:
            yield ["", ""]
