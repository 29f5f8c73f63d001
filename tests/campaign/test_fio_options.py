"""What measurement files and job files may ask of fio: a list, compared with what the real fio knows."""

import random
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest
from lab_tools import need_fio

from azbenchlib.campaign.workloads import fio_options, job_syntax
from azbenchlib.campaign.workloads.fio_options import ENGINES, IN_JOB_FILES, OPTIONS, RESERVED
from azbenchlib.campaign.workloads.grid import Workload
from azbenchlib.campaign.workloads.jobfile import JobFile
from azbenchlib.core.errors import InputError
from azbenchlib.formats.fio.job_lines import ALIASES

EVIL = (
    *("$HOME", "${HOME}/x", "1$pagesize", "`touch x`", "$(touch x)", "/etc/passwd", "../x", "mmap:/x", "x;y"),
    *("external:/x.so", "./x.so", "'/etc/passwd'", "@/etc/passwd", "-x", "--exec_prerun=x", "a b/c", "x\ny"),
    *(
        "x\r",
        "x\x00y",
        "\u2028",
        "0\uff0f",
        "\u0661",
        "4k\n",
        "=",
        "|touch x",
        "&",
        "~root",
        "a" * 2000,
        "%n" * 600,
    ),
)
# An example of each kind that is not a flag or a number.
EXAMPLES = {
    "ba": "4k",
    "bs": "4k,8k",
    "bsrange": "1k-4k,2k-8k",
    "bssplit": "4k/70:64k/30",
    "buffer_pattern": '0xdeadbeef"abc"-7',
    "cmdprio_bssplit": "4k/50",
    "cpus_allowed": "0",
    "description": "4k reads (70 %)",
    "file_service_type": "zipf:1.2",
    "filesize": "1m-2m",
    "ignore_error": "EIO,ENOSPC:EIO",
    "io_size": "50%",
    "latency_percentile": "99.9",
    "log_compression": "64k",
    "log_entries": "2048",
    "numa_mem_policy": "local",
    "percentile_list": "50:99:99.9",
    "random_distribution": "zoned:60/10:30/20:8/30:2/40",
    "rate": "1m,500k",
    "rate_iops": "1000,500",
    "rw": "randread:8",
    "size": "50%",
    "startdelay": "1-2",
    "steadystate": "iops_slope:0.3%",
    "sync_file_range": "wait_before,write:8",
    "verify": "crc32c",
    "verify_interval": "4k",
    "verify_offset": "64",
    "verify_pattern": "0xff%o",
    "thinktime": "10ms",
}
OF_URING = (
    *("fixedbufs", "force_async", "nonvectored", "registerfiles", "sqthread_poll", "sqthread_poll_cpu"),
    "uncached",
)
NEWER = {  # than fio 3.33, where these names were compared
    *("log_issue_time", "log_window_value", "ramp_size", "thinkcycles", "verify_header_seed"),
    "verify_write_sequence",
}


@cache
def known() -> dict[str, set[str]]:
    """Names and aliases of the real fio, by main name, of all jobs and of the engines that are allowed."""
    fio = need_fio()

    def asked(*words: str) -> str:
        return subprocess.run([fio, *words], capture_output=True, text=True, check=False).stdout

    engines = set(asked("--enghelp").split()) & set(ENGINES)
    text = asked("--cmdhelp=all") + "".join(asked(f"--enghelp={engine}") for engine in engines)
    names = {
        line.split()[0].rstrip(":") for line in text.splitlines() if re.match(r"\s*[a-z][\w-]+ *:", line)
    }
    found: dict[str, set[str]] = {name: set() for name in names}
    for name in names & ({*OPTIONS} | {*ALIASES.values()}):  # fio tells an alias with its option alone
        alias = re.search(r"^ *alias: (\S+)", asked(f"--cmdhelp={name}"), re.MULTILINE)
        found[name] = {alias[1]} if alias else set()
    return found


@pytest.mark.fio
@pytest.mark.long
def test_every_allowed_option_is_a_whole_name_of_fio() -> None:
    unknown = {name for name in IN_JOB_FILES if name not in known()} - NEWER
    engines_of_others = {"hipri", "hipri_percentage", "thp", "bs_is_seq_rand", "verify_async_cpus"}
    assert unknown <= engines_of_others, unknown
    assert not RESERVED & set(OPTIONS)


@pytest.mark.fio
@pytest.mark.long
def test_aliases_are_those_of_fio() -> None:
    of_fio = {alias: name for name, aliases in known().items() for alias in aliases}
    assert {alias: name for alias, name in of_fio.items() if name in OPTIONS} == {
        alias: name for alias, name in ALIASES.items() if alias in of_fio
    }
    assert set(ALIASES) <= set(of_fio)


def example(name: str) -> str:
    """A value that an option may have."""
    kind = OPTIONS[name]
    if name in EXAMPLES:
        return EXAMPLES[name]
    if kind.what.startswith("one of"):
        return kind.what.removeprefix("one of ").split(",")[0]
    return next(text for text in ("1", "0-1", "a") if kind.pattern.fullmatch(text))


@pytest.mark.fio
def test_fio_takes_what_is_allowed(tmp_path: Path) -> None:
    """An example of every option, checked here and parsed by fio; each in a job of its own."""
    engines = {"thp": "mmap", "hipri": "pvsync2", "hipri_percentage": "pvsync2"}
    engines |= dict.fromkeys(OF_URING, "io_uring")
    jobs = []
    for name in sorted(set(OPTIONS) - NEWER):
        value = example(name)
        fio_options.check(name, value)
        engine = "" if name == "ioengine" else f"ioengine={engines.get(name, 'libaio')}\n"
        common = f"{engine}size=16m\nzonesize=1m\nzonemode=strided\n"
        jobs.append(f"[{name}]\n{common}{name}={value}\n")
    (tmp_path / "j.fio").write_text("".join(["[a]\nsize=1m\n", *jobs]))
    command = [need_fio(), "--parse-only", tmp_path / "j.fio"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout


@pytest.mark.parametrize("value", EVIL)
def test_no_option_takes_a_value_that_leads_elsewhere(value: str) -> None:
    """Places of data apart, which are compared with their folder, and a text that fio prints and no more."""
    for name in set(IN_JOB_FILES) - {"directory", "filename", "description"}:
        with pytest.raises(InputError):
            fio_options.check(name, value, IN_JOB_FILES)


@pytest.mark.parametrize("value", [value for value in EVIL if value not in ("./x.so", "x;y", "x\r", "4k\n")])
def test_data_lies_in_its_folder(value: str) -> None:
    for name in ("directory", "filename"):
        with pytest.raises(InputError):
            JobFile("j", f"[j]\nsize=1m\n{name}={value}\n").within("/data")


@pytest.mark.parametrize("name", sorted({*OPTIONS, *ALIASES}))
def test_abbreviations_and_other_spellings_are_refused(name: str) -> None:
    for other in (
        name[:-1],
        name + "x",
        name.upper(),
        f" {name}",
        f"{name} ",
        f"-{name}",
        name.replace("_", "-"),
    ):
        if other not in OPTIONS and other not in ALIASES:
            with pytest.raises(InputError, match=r"is not allowed|may not be set"):
                fio_options.check(other, "1")


def test_what_is_refused_is_told_with_the_nearest_that_is_allowed() -> None:
    with pytest.raises(
        InputError, match="option 'iodepht' is not allowed; the nearest that is allowed is 'iodepth'"
    ):
        fio_options.check("iodepht", "1")
    with pytest.raises(InputError, match=r"option 'exec_prerun' may not be set: .*measurement-file\.md"):
        fio_options.check("exec_prerun", "x")
    with pytest.raises(InputError, match="ioengine 'exec' is not allowed; the engines are: libaio, io_uring"):
        fio_options.check("ioengine", "exec")


def test_the_engine_of_emulated_disks_is_for_the_lab_alone() -> None:
    given = {"rw": "read", "bs": "4k", "size": "1m", "runtime": 1, "ioengine": "nbd"}
    with pytest.raises(InputError, match="ioengine 'nbd' is not allowed"):
        Workload.of("w", given)
    for line in ("ioengine=nbd", "uri=nbd+unix:///?socket=/run/x"):
        with pytest.raises(InputError):
            JobFile("j", f"[j]\nsize=1m\n{line}\n")


def test_a_key_of_a_workload_is_not_said_twice_by_fios_other_name() -> None:
    given = {"rw": "read", "bs": "4k", "size": "1m", "runtime": 1, "blocksize": "1m"}
    with pytest.raises(InputError, match="option 'blocksize': is fio's other name of 'bs'; write bs"):
        Workload.of("w", given)


LINES = (
    *(
        "rw=randread",
        "bs = 4k",
        "\tiodepth\t=\t8",
        "size=1m ; a comment",
        "numjobs=2#x",
        "[b]",
        " [c d] ",
        "",
    ),
    *(
        "; exec_prerun=x",
        "#",
        "group_reporting",
        "stonewall",
        "[e(1)=x]",
        "description=a b",
        "direct=0",
        "[global]",
    ),
    *("[b", "[b]x", "[b] exec_prerun=x", "]", "bs=4k bs=8k", "rw==read", "=", "include x", "bs", "bs=4k=8k"),
    *(
        "\x0brw=read",
        "rw=read\x00",
        "rw=read\r",
        "a\rexec_prerun=x",
        "rw=read\x85bs=1k",
        "rw=read\u2028bs=1k",
    ),
    *(
        "\\",
        "bs=4k\\",
        "size=1m,",
        "[global2]",
        "[include]",
        "[-x]",
        "x" * 5000 + "exec_prerun=y",
        "[" + "a" * 300 + "]",
    ),
)


@pytest.mark.fio
def test_fio_sees_in_a_job_file_what_is_read_here(tmp_path: Path) -> None:
    """Random files of good and odd lines: in those that are taken, fio sees no other job or option."""
    lines = random.Random(8)  # noqa: S311
    taken = 0
    good = [line for line in LINES if _taken(line)]
    for number in range(60):
        body = [lines.choice(LINES) for _ in range(lines.randint(1, 9))]
        text = "\n".join(["[a]", "size=2m", *(body if number % 3 else [lines.choice(good) for _ in body])])
        try:
            found = JobFile("j", text)._lines()
        except InputError:
            continue
        path = tmp_path / f"{number}.fio"
        path.write_bytes(text.encode())
        done = subprocess.run([need_fio(), "--showcmd", path], capture_output=True, text=True, check=False)
        if done.returncode:
            continue  # a value that fio refuses; nothing is run then
        taken += 1
        assert _told(done.stdout) <= _ours(found), text
    assert taken >= 12


def _taken(line: str) -> bool:
    try:
        JobFile("j", f"[a]\nsize=1m\n{line}\n")
    except InputError:
        return False
    return True


def _told(said: str) -> set[str]:
    """Jobs and options as ``--showcmd`` prints them, those of [global] sections with every job."""
    words = re.split(r"(?:^|\s)--", said.replace("fio ", ""), flags=re.MULTILINE)
    return {re.sub(r"[\s\"]+", "", word) for word in words if word.strip()}


def _ours(lines: list[job_syntax.StrictLine]) -> set[str]:
    told = [f"{line.option}={line.value}" if line.value else line.option for line in lines if line.option]
    told += [
        f"name={line.section}" for line in lines if line.section and not line.section.startswith("global")
    ]
    return {re.sub(r"\s+", "", word) for word in told}
