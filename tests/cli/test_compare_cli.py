"""`azbench compare` as a user meets it: exit codes, files for CI, refusals, real runs of fio."""

import json
import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from programs import azbench

FIO = shutil.which("fio")
HOST_CACHE = "iozone-host-cache-2012"


def output(folder: Path, values: list[float], job: str = "j", version: str = "fio-3.36") -> Path:
    """fio's JSON of one run a file with these IOPS."""
    folder.mkdir()
    for i, iops in enumerate(values):
        options = {"rw": "randread", "bs": "4k", "iodepth": "8", "ioengine": "libaio", "direct": "1"}
        rate = {"iops": iops, "bw_bytes": int(4096 * iops), "total_ios": int(10 * iops)}
        read = rate | {"io_bytes": int(40960 * iops), "runtime": 10000}
        one = {"jobname": job, "groupid": 0, "error": 0, "job options": options, "read": read}
        document = {"fio version": version, "timestamp": 1_700_000_000 + i, "jobs": [one]}
        (folder / f"{i}.json").write_text(json.dumps(document))
    return folder


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("sides")
    return {
        "old": output(folder / "old", [1000, 1004, 998, 1001, 997]),
        "same": output(folder / "same", [1001, 999, 1003, 996, 1002]),
        "low": output(folder / "low", [800, 803, 799, 801, 797], version="fio-3.41"),
        "one": output(folder / "one", [990]),
    }


@pytest.mark.parametrize(
    ("new", "options", "code"),
    [
        ("same", [], 0),
        ("low", [], 1),
        ("low", ["--margin", "25%"], 0),
        ("one", [], 3),
        ("one", ["--undecided", "ok"], 0),
        ("low", ["--undecided", "ok"], 1),
        ("low", ["--fail-if", "iops < -10%"], 1),
        ("low", ["--fail-if", "iops < -30%"], 0),
        ("low", ["--fail-if", "iops < -30%", "--margin", "5%"], 1),
        ("same", ["--fail-if", "p99 > +10%"], 3),
        ("same", ["--fail-if", "p99 >> 10"], 2),
        ("same", ["--margin", "5 apples"], 2),
        ("same", ["--metric", "speed"], 2),
        ("same", ["--confidence", "100%"], 2),
        ("old", [], 2),
    ],
)
def test_exit_codes(sides: dict[str, Path], new: str, options: list[str], code: int) -> None:
    done = azbench("compare", sides["old"], sides[new], *options)
    assert done.returncode == code, done.stdout + done.stderr
    if code == 2:
        assert done.stdout == "" and done.stderr.count("\n") == 1 and "Traceback" not in done.stderr
    else:
        first = done.stdout.splitlines()[0]
        assert first.startswith({0: ("Not worse", "Undecided"), 1: "Worse", 3: "Undecided"}[code])


def test_all_formats_say_the_same(sides: dict[str, Path], tmp_path: Path) -> None:
    command = ["compare", sides["old"], sides["low"]]
    text = azbench(*command).stdout
    found = json.loads(azbench(*command, "--format", "json").stdout)
    assert found["version"] == 1 and found["exit_code"] == 1 and found["sentence"] == text.splitlines()[0]
    assert found["pairs"][0]["differences"][0] == {
        "fact": "tool version", "old": "fio-3.36", "new": "fio-3.41",
    }  # fmt: skip
    assert "Differs: tool version: fio-3.36 and fio-3.41." in text
    markdown = azbench(*command, "--format", "markdown").stdout
    assert markdown.startswith("### Disk benchmark") and "❌ worse" in markdown
    file = tmp_path / "deep" / "junit.xml"
    done = azbench(*command, "--format", "junit", "-o", file)
    assert done.returncode == 1 and done.stdout == "" and str(file) in done.stderr
    root = ET.parse(file).getroot()  # noqa: S314  our own
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("1", "1", "0")
    failure = root.find("testsuite/testcase/failure")
    assert failure is not None and "×0.800" in failure.get("message", "")


def test_settings_of_one_dataset_are_compared_by_their_names() -> None:
    """The host cache of 2012: one run a cell, so nothing is decided, and the ratios are there."""
    done = azbench("compare", f"{HOST_CACHE}:data-none", f"{HOST_CACHE}:data-readwrite", "--format", "json")
    assert done.returncode == 3
    (pair,) = json.loads(done.stdout)["pairs"]
    assert pair["differences"] == [{"fact": "host caching", "old": "None", "new": "ReadWrite"}]
    assert len(pair["figures"]) == 169 and {one["answer"] for one in pair["figures"]} == {"undecided"}
    assert all(one["old"]["runs"] and one["ratio"] > 0 for one in pair["figures"])
    wrong = azbench("compare", HOST_CACHE, f"{HOST_CACHE}:none")
    assert wrong.returncode == 2 and "no setup 'none'" in wrong.stderr and "data-none" in wrong.stderr


@pytest.mark.fio
@pytest.mark.skipif(FIO is None, reason="fio is not installed")
def test_real_runs_of_which_one_side_thinks_between_its_ios(tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(
        "[j]\nrw=randread\nbs=4k\niodepth=1\nioengine=psync\nsize=4m\ntime_based\nruntime=100ms\n"
        "filename=t.dat\n"
    )
    for i in range(4):
        for name, think in (("old", "200us"), ("new", "2ms")):
            (tmp_path / name).mkdir(exist_ok=True)
            command = [FIO, "job.fio", "--output-format=json+", f"--thinktime={think}"]
            command.append(f"--output={name}/{i}.json")
            subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    done = azbench("compare", "old", "new", "--metric", "iops", cwd=tmp_path)
    assert done.returncode == 1 and done.stdout.startswith("Worse: 1 of 1 figures"), done.stdout
