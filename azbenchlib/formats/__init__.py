"""Raw output to tables. One file a format; this is their list.

A reader is a pair: ``sniff`` looks at the opening of a file and says whether the format is its own
(exactly one may), ``read_*`` turns the file into :class:`~azbenchlib.formats.base.Records`. Outputs of fio
stand mixed in one file; then JSON claims it before terse lines, and these before normal text, and the
reader that claims it reads or checks the others.
"""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from azbenchlib.formats import (
    diskspd_text,
    diskspd_xml,
    fio_hist_log,
    fio_jobfile,
    fio_json,
    fio_log,
    fio_terse,
    fio_text,
    iometer_csv,
    iometer_icf,
    iozone_dat,
    iozone_sheets,
    iozone_text,
    lab_log,
    published,
)
from azbenchlib.formats.base import LARGEST, Beside, Records, Source


@dataclass(frozen=True)
class Format:
    """One entry of the list; `needs_beside`: a file of it is read with the JSON that lies beside it."""

    name: str
    sniff: Callable[[str], bool]
    read: Callable[[Source, Beside | None], Records]
    needs_beside: bool = False


_TEXT = Format("fio text", fio_text.sniff, lambda source, _: fio_text.read_fio_text(source))

FORMATS = (
    Format("fio JSON", fio_json.sniff, lambda source, _: fio_json.read_fio_json(source)),
    Format("fio terse", fio_terse.sniff, lambda source, _: fio_terse.read_fio_terse(source)),
    _TEXT,
    Format("fio job file", fio_jobfile.sniff, lambda source, _: fio_jobfile.read_fio_jobfile(source)),
    Format("fio log", fio_log.sniff, fio_log.read_fio_log, needs_beside=True),
    Format("fio histogram log", fio_hist_log.sniff, fio_hist_log.read_fio_hist_log, needs_beside=True),
    Format("iozone text", iozone_text.sniff, lambda source, _: iozone_text.read_iozone_text(source)),
    Format("iozone sheets", iozone_sheets.sniff, lambda source, _: iozone_sheets.read_iozone_sheets(source)),
    Format("iozone latencies", iozone_dat.sniff, lambda source, _: iozone_dat.read_iozone_dat(source)),
    Format("diskspd text", diskspd_text.sniff, lambda source, _: diskspd_text.read_diskspd_text(source)),
    Format("diskspd XML", diskspd_xml.sniff, lambda source, _: diskspd_xml.read_diskspd_xml(source)),
    Format("lab log", lab_log.sniff, lab_log.read_lab_log, needs_beside=True),
    Format("IOMeter results", iometer_csv.sniff, lambda source, _: iometer_csv.read_iometer_csv(source)),
    Format("IOMeter setup", iometer_icf.sniff, lambda source, _: iometer_icf.read_iometer_icf(source)),
    Format("published measurements", published.sniff, lambda source, _: published.read_published(source)),
)


def recognise(source: Source) -> Format | None:
    """The format of a file, by its content; None: no reader claims it."""
    found = _claimed(source.opening)
    # fio's messages and progress can fill the opening of a file that is JSON or terse further on
    return _claimed(source.text) if found is _TEXT and source.size_bytes <= LARGEST else found


def _claimed(text: str) -> Format | None:
    return next((fmt for fmt in FORMATS if fmt.sniff(text)), None)


def read(source: Source, beside: Beside | None = None) -> dict[str, pd.DataFrame]:
    """All tables of one file; a file that nobody knows gives a finding and empty tables."""
    fmt = recognise(source)
    if fmt is None:
        records = Records(source)
        known = ", ".join(entry.name for entry in FORMATS)
        records.finding("warning", "not_recognised", f"{source.path}: no known format", f"Known: {known}")
        return records.frames()
    return fmt.read(source, beside).frames()
