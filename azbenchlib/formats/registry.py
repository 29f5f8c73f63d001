"""Raw output to tables. One file a format; this is their list.

A reader is a pair: ``sniff`` looks at the opening of a file and says whether the format is its own
(exactly one may), ``read_*`` turns the file into :class:`~azbenchlib.formats.base.Records`. Outputs of fio
stand mixed in one file; then JSON claims it before terse lines, and these before normal text, and the
reader that claims it reads or checks the others.
"""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from azbenchlib.core.findings import Code
from azbenchlib.formats import azure_monitor, blkparse, lab_log, oracle_awr, perfmon_csv, published
from azbenchlib.formats._several_tools import report_others
from azbenchlib.formats.base import Beside, Records
from azbenchlib.formats.diskspd import text as diskspd_text
from azbenchlib.formats.diskspd import xml as diskspd_xml
from azbenchlib.formats.fio import jobfile as fio_jobfile
from azbenchlib.formats.fio import json as fio_json
from azbenchlib.formats.fio import terse as fio_terse
from azbenchlib.formats.fio import text as fio_text
from azbenchlib.formats.fio.logs import hist_lines as fio_hist_lines
from azbenchlib.formats.fio.logs import hist_log as fio_hist_log
from azbenchlib.formats.fio.logs import log as fio_log
from azbenchlib.formats.fio.logs import log_lines as fio_log_lines
from azbenchlib.formats.iometer import csv as iometer_csv
from azbenchlib.formats.iometer import icf as iometer_icf
from azbenchlib.formats.iozone import dat as iozone_dat
from azbenchlib.formats.iozone import sheets as iozone_sheets
from azbenchlib.formats.iozone import text as iozone_text
from azbenchlib.formats.source import LARGEST_SOURCE, Source
from azbenchlib.formats.sysstat import json as sysstat_json
from azbenchlib.formats.sysstat import sadf as sysstat_sadf
from azbenchlib.formats.sysstat import text as sysstat_text


@dataclass(frozen=True, kw_only=True)
class Format:
    """One entry of the list; `needs_beside`: a file of it is read with the JSON that lies beside it.

    `is_binary`: it is no text, or can be. `tells_of_others`: it speaks of runs whose outputs may lie beside
    it.
    """

    name: str
    sniff: Callable[[str], bool]
    read: Callable[[Source, Beside | None], Records]
    needs_beside: bool = False
    is_binary: bool = False
    tells_of_others: bool = False


def _alone(reader: Callable[[Source], Records]) -> Callable[[Source, Beside | None], Records]:
    """A reader that needs nothing of what lies beside a file."""
    return lambda source, _: reader(source)


_TEXT = Format(name="fio text", sniff=fio_text.sniff, read=_alone(fio_text.read_fio_text))

_SHEETS = Format(
    name="iozone sheets",
    sniff=iozone_sheets.sniff,
    read=_alone(iozone_sheets.read_iozone_sheets),
    is_binary=True,
    tells_of_others=True,
)

FORMATS = (
    Format(name="fio JSON", sniff=fio_json.sniff, read=_alone(fio_json.read_fio_json)),
    Format(name="fio terse", sniff=fio_terse.sniff, read=_alone(fio_terse.read_fio_terse)),
    _TEXT,
    Format(
        name="fio job file",
        sniff=fio_jobfile.sniff,
        read=_alone(fio_jobfile.read_fio_jobfile),
        tells_of_others=True,
    ),
    Format(name="fio log", sniff=fio_log_lines.sniff, read=fio_log.read_fio_log, needs_beside=True),
    Format(
        name="fio histogram log",
        sniff=fio_hist_lines.sniff,
        read=fio_hist_log.read_fio_hist_log,
        needs_beside=True,
    ),
    Format(
        name="iozone text",
        sniff=iozone_text.sniff,
        read=_alone(iozone_text.read_iozone_text),
    ),
    _SHEETS,
    Format(
        name="iozone latencies",
        sniff=iozone_dat.sniff,
        read=_alone(iozone_dat.read_iozone_dat),
    ),
    Format(
        name="diskspd text",
        sniff=diskspd_text.sniff,
        read=_alone(diskspd_text.read_diskspd_text),
    ),
    Format(
        name="diskspd XML",
        sniff=diskspd_xml.sniff,
        read=_alone(diskspd_xml.read_diskspd_xml),
    ),
    Format(name="lab log", sniff=lab_log.sniff, read=lab_log.read_lab_log, needs_beside=True),
    Format(
        name="IOMeter results",
        sniff=iometer_csv.sniff,
        read=_alone(iometer_csv.read_iometer_csv),
    ),
    Format(
        name="IOMeter setup",
        sniff=iometer_icf.sniff,
        read=_alone(iometer_icf.read_iometer_icf),
    ),
    Format(
        name="Azure Monitor",
        sniff=azure_monitor.sniff,
        read=_alone(azure_monitor.read_azure_monitor),
    ),
    Format(
        name="sysstat JSON",
        sniff=sysstat_json.sniff,
        read=_alone(sysstat_json.read_sysstat_json),
    ),
    Format(
        name="sysstat text",
        sniff=sysstat_text.sniff,
        read=_alone(sysstat_text.read_sysstat_text),
    ),
    Format(name="sadf", sniff=sysstat_sadf.sniff, read=_alone(sysstat_sadf.read_sadf)),
    Format(
        name="perfmon CSV",
        sniff=perfmon_csv.sniff,
        read=_alone(perfmon_csv.read_perfmon_csv),
    ),
    Format(
        name="blkparse text",
        sniff=blkparse.sniff,
        read=_alone(blkparse.read_blkparse),
    ),
    Format(
        name="Oracle AWR",
        sniff=oracle_awr.sniff,
        read=_alone(oracle_awr.read_oracle_awr),
    ),
    Format(
        name="published measurements",
        sniff=published.sniff,
        read=_alone(published.read_published),
    ),
)


def recognise(source: Source) -> Format | None:
    """The format of a file, by its content; None: no reader claims it."""
    found = _claimed(source.opening)
    # fio's messages and progress can fill the opening of a file that is JSON or terse further on
    return _claimed(source.text) if found is _TEXT and source.size_bytes <= LARGEST_SOURCE else found


def _claimed(text: str) -> Format | None:
    return next((fmt for fmt in FORMATS if fmt.sniff(text)), None)


def read(source: Source, beside: Beside | None = None) -> dict[str, pd.DataFrame]:
    """All tables of one file; a file that nobody knows gives a finding and empty tables."""
    return read_as(recognise(source), source, beside)


def read_as(fmt: Format | None, source: Source, beside: Beside | None = None) -> dict[str, pd.DataFrame]:
    """All tables of a file whose format is known, or known to be none of these."""
    return records_as(fmt, source, beside).frames()


def records_as(fmt: Format | None, source: Source, beside: Beside | None = None) -> Records:
    """All rows of a file whose format is known, or known to be none of these."""
    if fmt is None:
        records = Records(source)
        known = ", ".join(entry.name for entry in FORMATS)
        records.finding(Code.NOT_RECOGNISED, f"{source.path}: no known format", f"Known: {known}")
        return records
    records = fmt.read(source, beside)
    records.begins_as = fmt.name
    if not (fmt.needs_beside or fmt.is_binary or records.is_all_read):
        report_others(source, fmt.name, records)
    return records
