"""`azbench verdict` as a user meets it: cases, bare outputs, datasets; its JSON, its cards, its refusals."""

import json
import re
import subprocess
from operator import itemgetter
from pathlib import Path
from shutil import which

import copied
import pytest
import typer
from measuring import Measurement
from published_cases import cases, cases_files
from typer.testing import CliRunner, Result

from azbenchlib.cli.verdict import verdict
from azbenchlib.core.errors import InputError

ROOT = Path(__file__).parents[2]
KEYS = {
    *("id", "binding", "tie", "probability", "runner_up", "achieved", "flows", "points", "limits"),
    *("findings", "next_run"),
}
app = typer.Typer()
app.command()(verdict)

FIO = {
    "fio version": "fio-3.36",
    "timestamp": 1_700_000_000,
    "jobs": [
        {
            "jobname": f"writer{i}",
            "groupid": 0,
            "error": 0,
            "job options": {
                "rw": "randwrite",
                "bs": "8k",
                "iodepth": "256",
                "ioengine": "libaio",
                "direct": "1",
            },
            "write": {
                "io_bytes": 59_136 * 8192 * 15,
                "bw_bytes": 59_136 * 8192 // 4,
                "iops": 59_136 / 4,
                "runtime": 60_000,
                "total_ios": 59_136 * 15,
            },
            "usr_cpu": 2.0,
            "sys_cpu": 5.0,
        }
        for i in range(1, 5)
    ],
}


def run(*arguments: str, columns: int = 100) -> Result:
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": str(columns), "NO_COLOR": "1"})


def records(*arguments: str) -> list[dict]:
    done = run(*arguments, "--format", "json")
    assert done.exit_code == 0, done.exception
    return json.loads(done.stdout)["verdicts"]


@pytest.fixture
def fio_output(tmp_path: Path) -> Path:
    path = tmp_path / "temp.json"
    path.write_text(json.dumps(FIO))
    return path


def test_a_file_of_cases_gives_an_entry_for_each_in_order(tmp_path: Path) -> None:
    if not cases():
        pytest.skip("AZBENCH_CORPUS is not set, or there is no folder cases beside it")
    bare = tmp_path / "cases.json"
    without = [{key: value for key, value in case.items() if key != "expected"} for case in cases()]
    bare.write_text(json.dumps({"schema_version": 1, "cases": without}))
    found = records(str(bare))
    assert [entry["id"] for entry in found] == [case["id"] for case in cases()]
    assert all(set(entry) >= KEYS for entry in found)
    assert found == [entry for path in cases_files() for entry in records(str(path))]
    for entry, case in zip(found, cases(), strict=True):
        assert set(entry["achieved"]) == {"iops", "mbps"}
        assert (entry["binding"] == []) == (case["kind"] in ("cost_example", "catalogue"))


def test_bare_fio_output_with_the_setup_on_the_command_line(fio_output: Path) -> None:
    """Jobs of one reporting group ran at once: their rates are summed."""
    known = ("--vm", "Standard_E8ds_v4", "--disk", "temp", "--as-of", "2020-07-01")
    (entry,) = records(str(fio_output), *known)
    assert entry["binding"] == ["temp_mbps"] and entry["probability"] >= 0.95 and not entry["tie"]
    assert entry["achieved"] == {"iops": 59_136, "mbps": pytest.approx(484.442, abs=0.001)}
    (flow,) = entry["flows"]
    assert flow["ddir"] == "write" and flow["path"] == "temp" and flow["binding"] == ["temp_mbps"]
    (first, *_) = entry["limits"]
    assert first["label"] == "temp_mbps" and first["value"] == pytest.approx(484.442, abs=0.001)
    assert first["as_of"] == "2020-07-01" and "cached_bytes_per_s" in first["row"]


def test_a_vm_alone_is_enough(fio_output: Path) -> None:
    (entry,) = records(str(fio_output), "--vm", "Standard_E8ds_v4", "--as-of", "2020-07-01")
    assert entry["limits"] and entry["probability"] < 0.95


def test_bare_outputs_are_evidence_for_each_other(tmp_path: Path) -> None:
    """With one I/O outstanding each takes 2 ms; with 8 too: latency, which 8 alone would not prove."""
    paths = []
    for depth, rate in ((1, 500.0), (8, 3900.0)):
        (job, *_) = FIO["jobs"]
        options = {**job["job options"], "iodepth": str(depth), "bs": "4k"}
        write = {**job["write"], "iops": rate, "bw_bytes": int(rate * 4096), "total_ios": int(rate * 60)}
        path = tmp_path / f"depth{depth}.json"
        path.write_text(json.dumps({**FIO, "jobs": [{**job, "job options": options, "write": write}]}))
        paths.append(str(path))
    together = records(*paths, "--disk", "P30")
    (alone,) = records(paths[1], "--disk", "P30")
    assert [entry["binding"] for entry in together] == [["latency_qd"]] * 2
    assert alone["binding"] == ["latency_qd"]
    assert together[1]["probability"] > alone["probability"]


def test_without_a_setup_it_says_what_is_missing(fio_output: Path) -> None:
    (entry,) = records(str(fio_output))
    assert entry["binding"] == ["unknown"] and entry["limits"] == []
    assert "setup_not_known" in [finding["code"] for finding in entry["findings"]]
    assert "--vm and --disk" in json.dumps(entry["findings"])


def test_a_dataset_by_its_name() -> None:
    found = {entry["id"]: entry for entry in records("azure-local-disks-2020")}
    assert found["000-E8as-temp-async"]["tie"]
    assert set(found["000-E8as-temp-async"]["binding"]) == {"temp_iops", "temp_mbps"}


@pytest.mark.parametrize("columns", [80, 120])
def test_cards_fit_the_terminal(columns: int) -> None:
    done = run("azure-local-disks-2020", columns=columns)
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= columns
    assert ">99% Bound by the temp disk MB/s limit" in done.stdout
    bar = next(line for line in lines if "temp disk MB/s" in line and "100%" in line)
    assert "█" * 10 in bar and "of 484 MB/s" in bar
    assert "Next: run for 36 min" in done.stdout


def test_the_tests_of_iozone_have_a_line_each_below_their_setup() -> None:
    done = run("iozone-host-cache-2012")
    assert len(re.findall(r"The page cache served \d+ of 169 runs", done.stdout)) == 4
    assert done.stdout.count("Sequential writes: ") == 4 and "10.1 times slower" in done.stdout


def test_the_card_of_one_run_ends_with_the_job_to_run(fio_output: Path) -> None:
    done = run(str(fio_output), "--vm", "L8s_v2", "--disk", "nvme")
    assert "Next: spread the same load over 8 jobs (" in done.stdout and "filename=${TARGET}" in done.stdout


@pytest.mark.alone
@pytest.mark.usefixtures("own_disk")
def test_real_fio_output_of_this_machine(tmp_path: Path) -> None:
    if which("fio") is None:
        pytest.skip("fio is not installed")
    job = [
        "--name=r",
        "--rw=randread",
        "--bs=4k",
        "--size=4m",
        "--rate_iops=200",
        "--time_based",
        "--runtime=2",
    ]
    output = tmp_path / "out.json"
    command = [
        "fio",
        *job,
        "--direct=1",
        f"--directory={tmp_path}",
        "--output-format=json+",
        f"--output={output}",
    ]

    def measure() -> tuple[dict, str]:
        if subprocess.run(command, capture_output=True).returncode:
            pytest.skip("this file system takes no direct I/O")
        (entry,) = records(str(output), "--disk", "P30")
        return entry, slow(output)

    def holds(result: tuple[dict, str]) -> None:
        entry, _ = result
        assert entry["binding"] == ["workload_demand"]
        assert entry["achieved"]["iops"] == pytest.approx(200, rel=0.05)

    Measurement(measure, itemgetter(1)).check(holds)


def slow(output: Path) -> str:
    """What tells that the disk of this machine was slower than what was asked of it, 200 IOPS."""
    text = output.read_text()
    mean_s = json.loads(text[text.index("{") :])["jobs"][0]["read"]["lat_ns"]["mean"] / 1e9
    return f"an I/O took {mean_s * 1e3:.1f} ms" if mean_s > 1 / 200 else ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("no-such-dataset",), "no dataset 'no-such-dataset'"),
        (("azure-local-disks-2020", "--vm", "E8ds_v4"), "is stated already"),
        (("azure-local-disks-2020", "--disk", "what"), "not a disk"),
    ],
)
def test_refusals_say_what_is_wrong(arguments: tuple[str, ...], words: str) -> None:
    done = run(*arguments)
    assert isinstance(done.exception, InputError) and words in str(done.exception) and not done.stdout


def test_a_file_that_holds_no_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("nothing measured here\n")
    done = run(str(path))
    assert isinstance(done.exception, InputError) and "no run with a rate" in str(done.exception)


@pytest.mark.fio
@pytest.mark.parametrize("columns", [24, 80])
def test_the_next_run_can_be_copied_at_any_width_and_written(
    columns: int, fio_output: Path, tmp_path: Path
) -> None:
    (entry,) = records(str(fio_output))
    path = tmp_path / "next.fio"
    done = run(str(fio_output), "--job", str(path), columns=columns)
    assert done.exit_code == 0
    assert copied.job_in(done.stdout).rstrip() == entry["next_run"]["job"].rstrip()
    assert path.read_text() == entry["next_run"]["job"]
    assert copied.parsed(path.read_text(), tmp_path)


def test_no_job_is_written_where_several_runs_or_none_would_tell_more(tmp_path: Path) -> None:
    done = run("ultra-disk-2019", "--job", str(tmp_path / "x.fio"))
    assert isinstance(done.exception, InputError) and "--job is for one run" in str(done.exception)
    assert not (tmp_path / "x.fio").exists()
