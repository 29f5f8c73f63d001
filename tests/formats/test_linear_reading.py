"""Twice the text takes about twice the time, whatever it consists of: sniffers and readers, in processes.

A process may take a minute of CPU; a reader that takes the square of its text needs hours for some of these.
"""

import subprocess
import sys

import pytest

from azbenchlib.formats.registry import FORMATS

READ = """
import resource, sys, time
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
from azbenchlib.formats import registry
from azbenchlib.formats.source import Source

def taken(text):
    source = Source("run_wol.dat", text.encode())
    started = time.process_time()
    for part in registry.unwrapping().parts(source):
        part.format and part.format.read(part.source, None)
    return time.process_time() - started

head, units = eval(sys.stdin.read())
taken(head)
for unit in units:
    for _ in range(3):  # what shares a core costs time too, but not each time
        once, twice = (taken(head + unit * (size // len(unit))) for size in (50_000, 100_000))
        if twice <= 3 * once + 0.4:
            break
    else:
        print(f"{unit!r}: {once:.2f} s, {twice:.2f} s")
"""
SHARE = 8  # one of so many texts is tried after each head
HEADS = {
    "nobody's": "",
    "iozone text": "\tIozone: Performance Test of File I/O\n              kB  reclen    write  rewrite\n",
    "iozone report": 'Excel output is below:\n"Writer report"\n        "4"  "64"\n',
    "iozone throughput": "\tChildren see throughput for  4 initial writers \t=  5.50 kB/sec\n",
    "iozone latencies": "Offset in Kbytes   Latency in microseconds  Transfer size in bytes\n",
    "diskspd text": "Input parameters:\n\ttimespan:   1\n\tpath: 'a'\nResults for timespan 1:\nTotal IO\n"
    "thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  file\n",
    "diskspd percentiles": "Results for timespan 1:\nTotal IO\ntotal:\n  %-ile |  Read (ms)\n",
    "diskspd XML": "<Results><System></System><Profile></Profile>",
    "IOMeter results": "'Test Type,Test Description\n'Access specifications\n"
    "'Access specification name,default assignment\na,0\n'Results\n'Target Type,Target Name,Spec,x,IOps\n",
    "IOMeter names": "'Test Type,Test Description\n'Access specification name,default assignment\n",
    "IOMeter setup": "'MANAGER LIST ======\n'Worker\n w\n'Assigned access specs\n a\n'Target\n",
    "published": "source_file,source_line,experiment,quantity,stat,value,unit\n",
    "summary of dbench": "Dbench Summary\nRandom Read/Write IOPS: 1k/1k. BW: 1MiB/s / 1MiB/s\n",
    "summary of kubestr": "FIO version - fio-3.30\nJobName: a\nread:\n  IOPS=5.0 BW(KiB/s)=20\n",
    "string": '{"stdout": "a: (g=0): rw=read\\nfio-3.33\\n',
    "dictionary": "{'fio version': 'fio-3.33', 'jobs': [",
    "prefix": "2024-05-02T10:00:00Z [a] b  | a: (g=0): rw=read\n" * 9,
    "JSON lines": '{"log": "a: (g=0): rw=read\\n"}\n' * 3,
    "lab log": '{"azbench_lab": 1, "started_unix_s": 1000.0}\n',
    "iostat": "11/20/26 10:00:00\nDevice            r/s     w/s\nsda 1.00 2.00\n",
    "iostat -h": "     r/s     w/s Device\n    1.00    2.00 sda\n",
    "sar": "10:00:01 PM   DEV   tps   rkB/s\n10:10:01 PM   sda   1.00   2.00\n",
    "sysstat JSON": '{"sysstat": {"hosts": [{"nodename": "a", "statistics": [{"disk": [',
    "sadf": "# hostname;interval;timestamp;DEV;tps\na;1;2026-11-23 05:54:57 UTC;vda;1.00\n",
    "sadf -p": "a\t1\t2026-11-23 05:54:57 UTC\tvda\ttps\t1.00\n",
    "sadf XML": "<sysstat>\n<sysdata-version>3.8</sysdata-version>\n<host nodename='a'><statistics>",
    "perfmon CSV": '"(PDH-CSV 4.0)","\\\\H\\PhysicalDisk(0)\\Disk Reads/sec"\n"11/20/2026 10:00:00","1"\n',
    "PowerShell": "Timestamp  CounterSamples\n11/20/2026 10:00:00 \\\\h\\physicaldisk(0)\\disk reads/sec :\n",
    "PowerShell CSV": "Path,CookedValue,Timestamp\n\\\\h\\physicaldisk(0)\\disk reads/sec,1,10:00:00\n",
    "Azure Monitor": '[{"timeseries": [{"metadatavalues": []}], "name": {"value": "Disk Read Bytes"}}]\n',
    "Azure table": "Timestamp            Name   Average\n-------------------  -----  -------\n",
    "nmon": "AAA,progname,nmon\nDISKREAD,Disk Read KB/s a,sda\nZZZZ,T0001,00:23:37,27-NOV-2026\n",
    "dstat": '"Dstat 0.7.3 CSV output"\n"Host:","a"\n"dsk/sda",\n"read","writ"\n1,2\n',
    "vmstat": "disk- ---reads--- ---writes--- ---IO---\n total merged sectors ms total merged cur sec UTC\n",
    "node_exporter": 'node_disk_reads_completed_total{device="sda"} 1\nnode_time_seconds 1795168800\n',
    "Prometheus": '{"status": "success", "data": {"resultType": "matrix", "result": []}}\n',
}
UNITS = (
    *(
        "\n",
        " ",
        "\t",
        "\r",
        "9",
        "9 ",
        "9\n",
        " 9 9 9\n",
        '"',
        '" ',
        "' ",
        ",",
        ",a",
        ";",
        "|",
        "| ",
        "<",
        "<a>",
    ),
    *("<Id/>", "<Target/>", "-", "[", "{", "(", " (1)", " report", "a report ", ". ", "=", "a =", "total: |"),
    *("a\n", "DISK,a,b,c,5\n", "'Target\n", "'Worker\n", "path: 'x'\n", "0 | 1 | 1 | 1 | 1 | x (1GiB)\n"),
    *(
        "Total IO\n",
        "%-ile|\n",
        "99th | 1\n",
        "timespan: 1\n",
        "Results for timespan 1:\n",
        '"4" "4" ',
        '"4" 1\n',
    ),
    *(
        "Children see throughput for ",
        "Children see throughput for 1 a ",
        "CPU utilization ",
        "kB  reclen  write\n",
    ),
    *(
        "$ iostat -xy 60 1\n",
        "iostat ",
        "Linux 6.1.0 (a) 11/20/26\n",
        "Device r/s w/s\n",
        "10:00:01 PM DEV tps\n",
        "a 1.00 2.00\n",
        "11/20/26 10:00:00\n",
        '{"sysstat": ',
        '{"disk_device": "a", "r/s": 1.00},',
        "<pre>",
        "<sysstat>",
    ),
    *(
        '"(PDH-CSV 4.0)"\n',
        "\\\\h\\o",
        "Timestamp CounterSamples\n",
        '{"value": [',
        "DISKREAD,T0001,1\n",
        '"dsk/sda",\n',
        "vda 1 1 1 1 1 1 1 1 1 1 2026-11-27 00:23:35\n",
        'node_disk_a{device="a"} 1\n',
        '{"status":',
    ),
    *("Offset in Kbytes ", "Iozone: Performance Test of File I/O\n", "Command line used: iozone -a\n", "-a "),
    *(
        '{"unix_s": 1001, "objects": {"a": {"credits": 1}}}\n',
        '{"azbench_lab": 1,}\n',
        "a,1,e,iops,mean,5,IOPS\n",
    ),
    *(
        "8,100,0,0\n",
        "</Results>",
        "<Results></Results>",
        "error\n",
        '"a"\n',
        "Total latency distribution:\n",
    ),
    *(
        '\\"',
        "\\\\'",
        "'a', ",
        '"a\\n\\n", ',
        "\x1b[",
        "\x1b]",
        "a: ",
        "a | ",
        "[a] ",
        "$ a\n",
        "10:00:00 ",
    ),
    *("a: (g=0): rw=read\n<Results>\n", '{"log": "IOPS="}\n', "Linux a (b) \t1 CPU)\n(g=0\n"),
)


def grows_with_the_square(head: str, units: tuple[str, ...]) -> str:
    """What took more than its share of time, a line each."""
    given = repr((head, units))
    result = subprocess.run(
        [sys.executable, "-c", READ], input=given, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr[-500:]
    return result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", HEADS)
@pytest.mark.sampled(2)
def test_twice_the_text_takes_about_twice_the_time(name: str) -> None:
    """A part of the texts after each head, another one after the next: each is tried once or more."""
    first = list(HEADS).index(name) % SHARE
    assert grows_with_the_square(HEADS[name], UNITS[first::SHARE]) == ""


@pytest.mark.long
@pytest.mark.parametrize("name", HEADS)
def test_every_text_after_every_head_takes_about_twice_the_time(name: str) -> None:
    assert grows_with_the_square(HEADS[name], UNITS) == ""


def test_the_heads_are_claimed_by_the_formats_that_are_tried() -> None:
    claimed = {fmt.name for head in HEADS.values() for fmt in FORMATS if fmt.sniff(head)}
    tools = ("summary", "iozone text", "iozone lat", "diskspd", "IOMeter", "published", "lab", "sysstat")
    tools += ("sadf", "perfmon", "PowerShell", "Azure Monitor", "nmon", "dstat", "vmstat", "node_exporter")
    assert claimed == {fmt.name for fmt in FORMATS if fmt.name.startswith(tools)}
