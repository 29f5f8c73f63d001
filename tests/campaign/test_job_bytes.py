"""How much a job file writes, against what the real fio writes; and what fills a disk all the same."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.campaign import LocalTarget, measure
from azbenchlib.campaign.workloads.job_syntax import UnknownSizeError, bytes_written
from azbenchlib.campaign.workloads.jobfile import JobFile
from azbenchlib.core.errors import AzbenchError, UnsafeTargetError
from azbenchlib.core.units import GIB, MIB

pytestmark = pytest.mark.fio

SIZES = st.sampled_from(["64k", "0x20000", "100000", "96KiB", "32k,128k", "48k:64k", "100%", "50%", "33k"])
SECTION = st.fixed_dictionaries(
    {
        "rw": st.sampled_from(["write", "randwrite", "read", "randrw"]),
        "bs": st.sampled_from(["4k", "1k", "3k"]),
    },
    optional={
        "size": SIZES,
        "filesize": st.sampled_from(["64k", "0x10000", "16k-128k", "40k:90k", "20k"]),
        "nrfiles": st.sampled_from(["1", "3", "7", "0x4"]),
        "numjobs": st.sampled_from(["1", "3"]),
        "filename": st.sampled_from(["x", "x:y", "z"]),
        "offset": st.sampled_from(["8k", "0x3000", "10%"]),
        "offset_increment": st.sampled_from(["16k", "20%"]),
        "file_append": st.sampled_from(["0", "1", ""]),
        "io_size": st.sampled_from(["16k", "400k"]),
        "loops": st.sampled_from(["1", "3"]),
        "stonewall": st.just(""),
        "fallocate": st.sampled_from(["none", "native"]),
        "kb_base": st.sampled_from(["1000", "1024"]),
        "create_on_open": st.sampled_from(["1"]),
        "overwrite": st.sampled_from(["1"]),
    },
)


def job_file(sections: list[tuple[bool, dict[str, str]]]) -> str:
    lines: list[str] = []
    for number, (is_global, options) in enumerate(sections):
        lines.append("[global]" if is_global else f"[job{number}]")
        lines += [f"{name}={value}" if value else name for name, value in options.items()]
    return "\n".join([*lines, "[last]", ""])


@given(sections=st.lists(st.tuples(st.booleans(), SECTION), min_size=1, max_size=3))
def test_never_less_is_reckoned_than_fio_writes(
    sections: list[tuple[bool, dict[str, str]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    text, folder = job_file(sections), tmp_path_factory.mktemp("jobs")
    (folder / "jobs.fio").write_text(text)
    data = folder / "data"
    data.mkdir()
    command = ["fio", "--output=/dev/null", "--runtime=5", "--direct=0", "../jobs.fio"]
    subprocess.run(command, cwd=data, capture_output=True, check=False)
    written = sum(max(path.stat().st_size, path.stat().st_blocks * 512) for path in data.iterdir())
    blocks = 4096 * len(list(data.iterdir()))  # the last of a file is not full
    assert JobFile("jobs", text).own_bytes + blocks >= written, text


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"filesize": "60m", "nrfiles": "200", "size": "100%"}, 200 * 60 * MIB),
        ({"size": "0x4000000000"}, 256 * GIB),
        ({"size": "1g,300g"}, 300 * GIB),
        ({"size": "1g", "filename": "x", "file_append": "1", "numjobs": "3"}, 3 * GIB),
        ({"size": "1g", "filename": "x", "numjobs": "3"}, GIB),
        ({"size": "1g", "numjobs": "3"}, 3 * GIB),
    ],
)
def test_what_files_of_several_kinds_come_to(options: dict[str, str], wanted: int) -> None:
    assert wanted <= bytes_written([options]) <= 1.01 * wanted


@pytest.mark.parametrize(
    "options", [{"size": "-1"}, {"fill_device": "1"}, {"size": "${SIZE}"}, {"size": "1z"}]
)
def test_what_cannot_be_reckoned_is_unknown(options: dict[str, str]) -> None:
    with pytest.raises(UnknownSizeError):
        bytes_written([options])


def test_a_job_file_of_unknown_size_needs_the_words(tmp_path: Path) -> None:
    work = JobFile("fill", "[a]\nrw=write\nsize=1z\nruntime=1\n")
    with pytest.raises(UnsafeTargetError, match=f"size=1z is no size.*'fill {tmp_path}'"):
        measure(LocalTarget(directory=tmp_path, workloads=[work]), tmp_path / "ds")
    assert not (tmp_path / "azbench.fio-jobs").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts a file system of its own")
def test_a_file_system_is_not_filled(tmp_path: Path) -> None:
    """The job file fits, and another program takes the room meanwhile: the run is ended, and that is said."""
    place = tmp_path / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96m", "none", place], check=True)
    try:
        text = "[a]\nrw=write\nbs=64k\nsize=16m\nruntime=600\ntime_based\nioengine=psync\n"
        work = JobFile("a", text)

        def progress(done: int, total: int, said: str) -> None:
            if said.endswith(" …"):
                (place / "of another").write_bytes(bytes(79 * MIB))

        with pytest.raises(AzbenchError, match=r"status 124: it was ended, for it left .* of free space"):
            measure(LocalTarget(directory=place, workloads=[work]), tmp_path / "ds", progress=progress)
        assert [path.name for path in place.iterdir()] == ["of another"]
    finally:
        subprocess.run(["umount", place], check=True)
