"""Raw output to tables. One file a format; this is their list.

A reader is a pair: ``sniff`` looks at the opening of a file and says whether the format is its own
(exactly one may), ``read_*`` turns the file into :class:`~azbenchlib.formats.base.Records`. Outputs of fio
stand mixed in one file; then JSON claims it before terse lines, and these before normal text, and the
reader that claims it reads or checks the others.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import pandas as pd

from azbenchlib.core import schema
from azbenchlib.core.findings import Code, Finding
from azbenchlib.formats.base import Beside, Records, frames_of
from azbenchlib.formats.identity import name_by_content
from azbenchlib.formats.packed import stack
from azbenchlib.formats.source import LARGEST_SOURCE, Source
from azbenchlib.formats.unwrap.layer import Layer
from azbenchlib.formats.unwrap.transcripts import cut


@dataclass(frozen=True, kw_only=True)
class Format:
    """One entry of the list.

    Attributes
    ----------
    name : str
        As messages call it.
    reader, sniffer : str
        Where the two functions of the pair are, as ``module:function`` below this package. A module is
        imported when the first file needs it.
    needs_beside : bool
        Whether a file of it is read with the JSON that lies beside it.
    is_binary : bool
        Whether it is no text, or can be.
    tells_of_others : bool
        Whether it speaks of runs whose outputs may lie beside it.
    stands_bare : bool
        Whether a file of it begins with the output itself, so that nothing can stand before its lines.
    """

    name: str
    reader: str
    sniffer: str
    needs_beside: bool = False
    is_binary: bool = False
    tells_of_others: bool = False
    stands_bare: bool = False

    def sniff(self, opening: str) -> bool:
        """Whether the opening of a file is of this format."""
        return bool(_function(self.sniffer)(opening))

    def read(self, source: Source, beside: Beside | None) -> Records:
        """All rows of a file of this format."""
        read = _function(self.reader)
        records: Records = read(source, beside) if self.needs_beside else read(source)
        return records


@cache
def _function(place: str) -> Callable[..., Any]:
    module, _, name = place.partition(":")
    function: Callable[..., Any] = getattr(import_module(f"azbenchlib.formats.{module}"), name)
    return function


FIO_JSON = "fio JSON"
_TEXT = Format(name="fio text", reader="fio.text:read_fio_text", sniffer="fio.text:sniff")

FORMATS = (
    Format(name=FIO_JSON, reader="fio.json:read_fio_json", sniffer="fio.json:sniff"),
    Format(name="fio terse", reader="fio.terse:read_fio_terse", sniffer="fio.terse:sniff"),
    _TEXT,
    Format(
        name="summary of fio",
        reader="fio.summaries.reader:read_fio_summary",
        sniffer="fio.summaries.reader:sniff",
    ),
    Format(
        name="fio job file",
        reader="fio.jobfile:read_fio_jobfile",
        sniffer="fio.jobfile:sniff",
        tells_of_others=True,
        stands_bare=True,
    ),
    Format(
        name="fio log",
        reader="fio.logs.log:read_fio_log",
        sniffer="fio.logs.log_lines:sniff",
        needs_beside=True,
        stands_bare=True,
    ),
    Format(
        name="fio histogram log",
        reader="fio.logs.hist_log:read_fio_hist_log",
        sniffer="fio.logs.hist_lines:sniff",
        needs_beside=True,
        stands_bare=True,
    ),
    Format(name="iozone text", reader="iozone.text:read_iozone_text", sniffer="iozone.text:sniff"),
    Format(
        name="iozone sheets",
        reader="iozone.sheets:read_iozone_sheets",
        sniffer="iozone.sheets:sniff",
        is_binary=True,
        tells_of_others=True,
        stands_bare=True,
    ),
    Format(
        name="iozone latencies",
        reader="iozone.dat:read_iozone_dat",
        sniffer="iozone.dat:sniff",
        stands_bare=True,
    ),
    Format(name="diskspd text", reader="diskspd.text:read_diskspd_text", sniffer="diskspd.text:sniff"),
    Format(name="diskspd XML", reader="diskspd.xml:read_diskspd_xml", sniffer="diskspd.xml:sniff"),
    Format(
        name="lab log",
        reader="lab_log:read_lab_log",
        sniffer="lab_log:sniff",
        needs_beside=True,
        stands_bare=True,
    ),
    Format(name="IOMeter results", reader="iometer.csv:read_iometer_csv", sniffer="iometer.csv:sniff"),
    Format(name="IOMeter setup", reader="iometer.icf:read_iometer_icf", sniffer="iometer.icf:sniff"),
    Format(name="Azure Monitor", reader="azure_monitor:read_azure_monitor", sniffer="azure_monitor:sniff"),
    Format(name="sysstat JSON", reader="sysstat.json:read_sysstat_json", sniffer="sysstat.json:sniff"),
    Format(name="sysstat text", reader="sysstat.text:read_sysstat_text", sniffer="sysstat.text:sniff"),
    Format(name="sadf XML", reader="sysstat.xml:read_sadf_xml", sniffer="sysstat.xml:sniff"),
    Format(name="sadf", reader="sysstat.sadf:read_sadf", sniffer="sysstat.sadf:sniff"),
    Format(
        name="perfmon CSV",
        reader="perfmon_csv:read_perfmon_csv",
        sniffer="perfmon_csv:sniff",
        stands_bare=True,
    ),
    Format(
        name="PowerShell counters",
        reader="powershell:read_powershell",
        sniffer="powershell:sniff",
        stands_bare=True,
    ),
    Format(name="blkparse text", reader="blkparse:read_blkparse", sniffer="blkparse:sniff", stands_bare=True),
    Format(name="nmon", reader="nmon:read_nmon", sniffer="nmon:sniff"),
    Format(name="dstat CSV", reader="dstat:read_dstat", sniffer="dstat:sniff", stands_bare=True),
    Format(name="vmstat", reader="vmstat:read_vmstat", sniffer="vmstat:sniff"),
    Format(name="node_exporter", reader="node_exporter:read_node_exporter", sniffer="node_exporter:sniff"),
    Format(
        name="Oracle AWR", reader="oracle_awr:read_oracle_awr", sniffer="oracle_awr:sniff", stands_bare=True
    ),
    Format(
        name="published measurements",
        reader="published:read_published",
        sniffer="published:sniff",
        stands_bare=True,
    ),
)


def recognise(source: Source) -> Format | None:
    """The format of a file, by its content; None: no reader claims it."""
    found = _claimed(source.opening)
    # fio's messages and progress can fill the opening of a file that is JSON or terse further on
    return _claimed(source.text) if found is _TEXT and source.size_bytes <= LARGEST_SOURCE else found


def _claimed(text: str) -> Format | None:
    return next((fmt for fmt in FORMATS if fmt.sniff(text)), None)


def unwrapping() -> Layer[Format]:
    """What takes off a file what stands around the outputs in it; for one file."""
    return Layer(recognise)


def read(source: Source, beside: Beside | None = None) -> dict[str, pd.DataFrame]:
    """All tables of one file; a file that nobody knows gives a finding and empty tables."""
    layer = unwrapping()
    found: list[Records] = []
    n_documents: dict[str, int] = {}  # of each file of an archive
    for part in layer.parts(source):
        found.append(records_as(part.format, part.source, beside))
        found[-1].count_documents_on(n_documents)
    if len(found) == 1 and not layer.findings:
        return found[0].frames()
    tables = frames_of([*found, *records_of(source, layer.findings)])
    return {name: stack(name, [part[name] for part in tables]) for name in schema.TABLES}


def records_of(source: Source, findings: Sequence[Finding]) -> list[Records]:
    """Findings on a file as its rows."""
    records = Records(source)
    for finding in findings:
        records.add_finding(finding)
    return [records] if findings else []


def records_as(fmt: Format | None, source: Source, beside: Beside | None = None) -> Records:
    """All rows of a text whose format is known, or known to be none of these."""
    records = Records(source)
    if source.size_bytes == 0 and fmt is None:
        records.finding(Code.EMPTY_FILE, f"{source.path}: the file is empty")
        return records
    if fmt is None:
        known = ", ".join(entry.name for entry in FORMATS)
        records.finding(Code.NOT_RECOGNISED, f"{source.path}: no known format", f"Known: {known}")
        return records
    records = fmt.read(source, beside)
    name_by_content(records)
    records.begins_as = fmt.name
    if fmt.name == FIO_JSON and not records.is_all_read:
        _report_unread(source, records)
    return records


def _report_unread(source: Source, records: Records) -> None:
    """Add a finding where outputs of other tools stand between documents of fio's JSON."""
    transcript = cut(source.text, FIO_JSON)
    if transcript is not None:
        shown = ", ".join(
            f"{one.name} from line {source.line(one.first_line):,} on" for one in transcript.outputs
        )
        records.finding(Code.SEVERAL_TOOLS, f"{source.path}: outputs in it are not read: {shown}")
