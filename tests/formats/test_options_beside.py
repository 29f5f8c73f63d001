"""Command lines and job files beside an output of fio: the options that the output leaves out."""

import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from azbenchlib.core import schema
from azbenchlib.formats import registry
from azbenchlib.formats.source import Source

OPENING = (
    "a: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, "
    "iodepth=16\n"
)


def report(name: str = "a", ddir: str = "read", pid: int = 7, *, jobs: int = 1) -> str:
    """Give a report of 50 I/Os of 4 KiB a second."""
    issued = "100,0,0,0" if ddir == "read" else "0,100,0,0"
    return (
        f"{name}: (groupid=0, jobs={jobs}): err= 0: pid={pid}: Fri Nov 20 16:23:18 2026\n"
        f"  {ddir}: IOPS=50, BW=200KiB/s (205kB/s)(400KiB/2000msec)\n"
        f"     issued rwts: total={issued} short=0,0,0,0 dropped=0,0,0,0\n"
    )


def read(text: str) -> dict[str, pd.DataFrame]:
    """Read a text as a file."""
    return registry.read(Source("some.txt", text.encode()))


def runs(text: str) -> list[dict[str, Any]]:
    """Give the rows of runs of a text."""
    return list(schema.records(read(text)["runs"]))


def run(text: str) -> dict[str, Any]:
    """Give the only row of runs of a text."""
    (row,) = runs(text)
    return row


def said(text: str) -> dict[str, str]:
    """Give the last message of each code about options."""
    findings = read(text)["findings"]
    kept = findings[findings["code"].str.startswith("options_beside")]
    return dict(zip(kept["code"], kept["message"], strict=True))


@pytest.mark.parametrize(
    "call",
    [
        "$ fio {}",
        "fio {}",
        "# fio {}",
        "> fio {}",
        "+ fio {}",
        "++ sudo -E fio {}",
        "user@host:~$ sudo fio {}",
        "[root@host disks]# /usr/local/bin/fio {} | tee out.txt",
        "(venv) root@host:/# time fio {} > out.txt 2>&1",
        "PS C:\\> .\\fio.exe {}",
        "C:\\fio>fio {}",
        "❯ taskset -c 0-3 ./fio {} && sync",
        "$ docker run --rm -v /mnt:/mnt some/image fio {}",
        '$ kubectl exec pod -- sh -c "fio {}"',
        "2026-11-20T16:23:18Z Running: fio {}",
        "`fio {}`",
        "<pre>$ fio {}",
        "$ fio {} # the first disk",
        "INFO run ['fio', {}] in /tmp",
    ],
)
def test_a_command_line_in_any_form_tells_what_the_output_leaves_out(call: str) -> None:
    words = ["--name=a", "--direct=1", "--runtime=60", "--time_based", "--size=1G"]
    typed = ", ".join(map(repr, words)) if "[" in call and "," in call else " ".join(words)
    row = run(call.format(typed) + "\n" + report())
    assert (row["direct"], row["runtime_limit_s"], row["time_based"]) == (True, 60, True)
    assert row["working_set_bytes"] is None or row["working_set_bytes"] == 2**30


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("--name a --direct 1 --rw randread --bs 4k", {"direct": True, "bs_bytes": 4096}),
        ("-direct=1 -rw=randread -bs=4k -iodepth=8 -name=a", {"direct": True, "iodepth": 8}),
        ("--name=a --group_reporting --direct=1", {"direct": True}),
        ("\u2013name=a \u2014direct=1", {"direct": True}),
        ("--name='a' --filename=\"/mnt/some file\" --direct=1", {"target": "/mnt/some file"}),
        ("--name=a --filename=D:\\fio\\test.dat", {"target": "D:\\fio\\test.dat"}),
        ("--direct=1 --name=b --bs=1m --name=a --bs=4k", {"direct": True, "bs_bytes": 4096}),
        ("--name=a --direct=0 --direct=1", {"direct": True}),
        ("--name=a --buffered=1", {"direct": False}),
        ("--name=a --rw=randrw --rwmixread=70", {"rw": "randrw", "rwmix_read_pct": 70}),
        ("--name=$NAME --direct=1 --bs=$BS", {"direct": True, "bs_bytes": None}),
        ("--name=a --bs=$(cat size) --direct=1", {"direct": True, "bs_bytes": None}),
        ("--name=a --rw=read --rate_iops=50 --ramp_time=5s", {"rate_iops": 50, "ramp_s": 5}),
        ("--output=x.txt --eta never --name=a --direct=1", {"direct": True}),
        ("--name=other --direct=1", {"direct": None}),
        ("--name=a --name=a --direct=1", {"direct": None}),
        ("and its options are many --direct=1", {"direct": None}),
        ("--version", {"direct": None}),
    ],
)
def test_arguments_are_taken_apart_as_fio_does(arguments: str, expected: dict[str, Any]) -> None:
    row = run(f"$ fio {arguments}\n" + report())
    assert {name: row[name] for name in expected} == expected


@pytest.mark.parametrize("end", ["\\", " `", " ^"])
def test_a_command_line_may_go_on_in_further_lines(end: str) -> None:
    row = run(f"$ fio --name=a {end}\n>   --direct=1 {end}\n    --size=1G\n" + OPENING + report())
    assert (row["direct"], row["iodepth"], row["working_set_bytes"]) == (True, 16, 2**30)


def test_a_finding_tells_what_was_taken_from_where() -> None:
    text = "$ fio --name=a --direct=1 --rw=randread --bs=4k --ioengine=libaio --iodepth=16\n"
    assert said(text + OPENING + report())["options_beside"].endswith(
        "the command line beside the output says what the output leaves out: --direct=1"
    )
    assert said(OPENING + report()) == {}


@pytest.mark.parametrize(
    ("option", "column", "kept"),
    [
        ("--bs=8k", "bs_bytes", 4096),
        ("--iodepth=32", "iodepth", 16),
        ("--ioengine=io_uring", "ioengine", "libaio"),
        ("--numjobs=4", "numjobs", 1),
    ],
)
def test_where_a_command_line_contradicts_the_output_the_output_counts(
    option: str, column: str, kept: object
) -> None:
    text = f"$ fio --name=a --direct=1 {option}\n" + OPENING + report()
    row = run(text)
    assert (row[column], row["direct"]) == (kept, True)
    assert option in said(text)["options_beside_differ"]


def test_sizes_and_times_that_the_output_shows_contradict_too() -> None:
    row = run("$ fio --name=a --bs=8k --runtime=1\n" + report().replace("2000msec", "9000msec"))
    assert row["bs_bytes"] is None
    assert row["runtime_limit_s"] is None


@pytest.mark.parametrize("opening", ["", OPENING])
def test_a_command_line_of_another_pattern_is_of_another_run(opening: str) -> None:
    text = "$ fio --name=a --direct=1 --rw=randwrite\n" + opening + report()
    assert run(text)["direct"] is None
    assert "of another run" in said(text)["options_beside_differ"]


def test_a_command_line_holds_for_what_follows_until_the_next_one() -> None:
    text = (
        report()
        + "$ fio --name=a --direct=1\n"
        + report()
        + report(pid=99)
        + "$ fio --name=a --direct=0\n"
        + report(pid=150)
    )
    assert [(row["source_doc"], row["direct"]) for row in runs(text)] == [
        (0, None),
        (1, True),
        (1, True),
        (2, False),
    ]


def test_of_command_lines_before_all_outputs_each_has_its_jobs() -> None:
    text = "+ fio --name=a --direct=1\n+ fio --name=b --direct=0\n" + report("a") + report("b", pid=40)
    assert [row["direct"] for row in runs(text)] == [True, False]
    text = "+ fio --name=a --direct=1 --bs=4k\n+ fio --name=a --direct=1 --bs=8k\n" + report("a")
    assert (run(text)["direct"], run(text)["bs_bytes"]) == (True, None)


def test_the_number_of_jobs_is_that_of_a_group() -> None:
    command = "$ fio --name=a --numjobs=4 --group_reporting --iodepth=8 --ioengine=libaio\n"
    assert run(command + report(jobs=4))["queue_depth"] == 32
    assert run(command + report(jobs=2))["numjobs"] == 2
    several = "".join(report(pid=pid) for pid in range(10, 14))
    assert [row["queue_depth"] for row in runs(command + several)] == [8] * 4


def test_a_direction_alone_has_the_name_and_options_of_its_command_line() -> None:
    lone = report().splitlines(keepends=True)[1]
    row = run("$ fio --name=a --direct=1 --numjobs=4 --group_reporting --rw=randread --bs=4k\n" + lone)
    assert (row["job"], row["direct"], row["numjobs"], row["bs_bytes"]) == ("a", True, 4, 4096)


JOB_FILE = "[global]\ndirect=1\nbs=4k  ; small\n# bs=8k\nioengine=libaio\n\n[a]\nrw=randread\niodepth=8\n"


@pytest.mark.parametrize(
    "text",
    [
        "$ cat some.fio\n{}$ fio some.fio\n",
        "$ cat /tmp/some.fio\n{}\n$ sudo fio /tmp/some.fio --output=x\n",
        "{}",
        "The job file:\n{}The result:\n",
        "$ cat some.fio\n{}$ fio --direct=0 some.fio\n",
    ],
)
def test_a_job_file_printed_before_tells_its_options(text: str) -> None:
    row = run(text.format(JOB_FILE) + report())
    assert [row[name] for name in ("direct", "bs_bytes", "ioengine", "iodepth", "rw")] == [
        *(True, 4096, "libaio", 8, "randread")
    ]
    assert "job file beside the output says" in said(text.format(JOB_FILE) + report())["options_beside"]


def test_another_job_file_is_not_that_which_was_run() -> None:
    assert run("$ cat some.fio\n" + JOB_FILE + "$ fio other.fio\n" + report())["direct"] is None
    assert run("[global]\ncolor=1\n[a]\nkey=value\n" + report())["bs_bytes"] is None


JSON = (
    '{"fio version": "fio-2.1.11", "jobs": [{"jobname": "a", "groupid": 0, "read": '
    '{"io_bytes": 400, "iops": 50, "bw": 200, "runtime": 2000, "total_ios": 100}}]}\n'
)


def test_json_that_repeats_no_options_takes_those_of_the_command_line_above() -> None:
    command = "$ fio --direct=1 --name=a --bs=4k --rw=randread --output-format=json\n"
    row = run(command + JSON)
    assert [row[name] for name in ("direct", "bs_bytes", "rw")] == [True, 4096, "randread"]
    assert "--direct=1" in said(command + JSON)["options_beside"]
    text = command + JSON + command.replace("direct=1", "direct=0").replace("randread", "read") + JSON
    assert [(row["direct"], row["rw"]) for row in runs(text)] == [(True, "randread"), (False, "read")]
    assert run(command.replace("randread", "randwrite") + JSON)["direct"] is None


def test_json_that_repeats_its_options_takes_none_of_a_command_line() -> None:
    with_options = JSON.replace('"groupid"', '"job options": {"name": "a", "bs": "4k"}, "groupid"')
    row = run("$ fio --direct=1 --name=a --bs=8k\n" + with_options)
    assert (row["direct"], row["bs_bytes"]) == (False, 4096)  # an option that is absent has its default
    assert said("$ fio --direct=1 --name=a --bs=8k\n" + with_options) == {}


@pytest.mark.fio
def test_terse_lines_below_command_lines_of_their_own_are_of_several_runs(tmp_path: Path) -> None:
    text = ""
    for size in ("64k", "128k", "256k"):
        command = ["fio", "--name=a", f"--size={size}", "--rw=read", "--minimal"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        text += f"$ {' '.join(command)}\n{done.stdout}"
    tables = read(text)
    assert tables["runs"]["source_doc"].tolist() == [0, 1, 2]
    assert not set(tables["findings"]["code"]) & {"interim_document", "repeated_lines"}


@pytest.mark.fio
@pytest.mark.parametrize("kind", ["normal", "terse", "json"])
def test_real_outputs_below_their_command_lines(kind: str, tmp_path: Path) -> None:
    command = [
        "fio",
        "--size=64k",
        "--direct=0",
        "--name=a",
        "--rw=read",
        "--bs=8k",
        "--name=b",
        "--rw=write",
    ]
    command.append(f"--output-format={kind}")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    first, second = runs(f"$ {' '.join(command)}\n{done.stdout}")
    assert (first["job"], first["rw"], first["bs_bytes"], first["direct"]) == ("a", "read", 8192, False)
    assert (second["job"], second["rw"], second["direct"]) == ("b", "write", False)


@pytest.mark.parametrize(
    "unit",
    [
        "fio --name=a --rw=read \\\n",
        "fio --direct=1 --name=a\n",
        "[a]\nrw=read\n",
        "[a]\n",
        "fio ' ",
        "fio $( ",
        "fio --name=a ",
        "cat a ",
        "fio --name=a --direct=1\n" + report(),
    ],
)
@pytest.mark.sampled(4)
def test_hopeless_command_lines_take_linear_time(unit: str) -> None:
    read(report() + unit * (400_000 // len(unit)))
