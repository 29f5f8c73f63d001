"""Raw output to tables. One file a format; this is their list.

A reader is a pair: ``sniff`` looks at the opening of a file and says whether the format is its own
(exactly one may), ``read_*`` turns the file into :class:`~azbenchlib.formats.base.Records`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from azbenchlib.formats import fio_json, fio_log, published
from azbenchlib.formats.base import Beside, Records, Source

OPENING = 64 * 1024  # characters that a sniffer sees


@dataclass(frozen=True)
class Format:
    """One entry of the list; `needs_beside`: a file of it is read with the JSON that lies beside it."""

    name: str
    sniff: Callable[[str], bool]
    read: Callable[[Source, Beside | None], Records]
    needs_beside: bool = False


FORMATS = (
    Format("fio JSON", fio_json.sniff, lambda source, _: fio_json.read_fio_json(source)),
    Format("fio log", fio_log.sniff, fio_log.read_fio_log, needs_beside=True),
    Format("published measurements", published.sniff, lambda source, _: published.read_published(source)),
)


def recognise(source: Source) -> Format | None:
    """The format of a file, by its content; None: no reader claims it."""
    opening = source.text[:OPENING]
    return next((fmt for fmt in FORMATS if fmt.sniff(opening)), None)


def read(source: Source, beside: Beside | None = None) -> dict[str, pd.DataFrame]:
    """All tables of one file; a file that nobody knows gives a finding and empty tables."""
    fmt = recognise(source)
    if fmt is None:
        records = Records(source)
        known = ", ".join(entry.name for entry in FORMATS)
        records.finding("warning", "not_recognised", f"{source.path}: no known format", f"Known: {known}")
        return records.frames()
    return fmt.read(source, beside).frames()
