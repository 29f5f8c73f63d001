"""iozone as a workload: its command line, and the real iozone on this machine and on an emulated VM."""

import resource
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from fake_azure.campaigns import azbench
from fake_azure.login import Azure

from azbenchlib import campaign
from azbenchlib.campaign import experiment
from azbenchlib.campaign.files import measurement_file
from azbenchlib.campaign.files.spec import Experiment
from azbenchlib.campaign.planning import plan_text
from azbenchlib.campaign.targets.local import data as local
from azbenchlib.campaign.workloads import iozone
from azbenchlib.campaign.workloads.iozone import Iozone
from azbenchlib.core.errors import AzbenchError, InputError, MissingToolError
from azbenchlib.core.units import GIB, KIB, MIB
from azbenchlib.dataset.dataset import Dataset

pytest_plugins = ("fake_azure.fixtures",)
installed = pytest.mark.skipif(
    shutil.which("iozone") is None,
    reason="iozone is not installed: Debian has iozone3 in non-free, Ubuntu in multiverse",
)
GUEST = Path(campaign.__file__).parent / "targets" / "azure" / "guest.sh"
FILE = """
title: Sheets
region: westeurope
vm: Standard_D2s_v3
disks:
  data: {sku: Premium_LRS, size: 32GiB}
workloads:
  sheet:
    disks: data
    iozone: {tests: [write, read, random], records: [4KiB, 64KiB], file_sizes: [1MiB, 2MiB]}
"""


def load(folder: Path, text: str = FILE) -> Experiment:
    path = folder / "file.yaml"
    path.write_text(text)
    return measurement_file.load(path)


def small(**changes: object) -> Iozone:
    given = {
        "tests": ["write", "read", "random"],
        "records": ["4KiB", "64KiB"],
        "file_sizes": ["1MiB", "2MiB"],
    }
    return Iozone.of("sheet", given | changes)


# --- what to run ---------------------------------------------------------------------------------


def test_the_command_lines_write_the_data_first_and_keep_it() -> None:
    once, run = small().commands(Path("/d"), Path("/out"), 0)
    assert shlex.join(once) == "iozone -i 0 -+n -w -e -I -r 1m -s 2m -f /d/azbench.iozone-data"
    assert shlex.join(run) == (
        "iozone -R -b sheet.xls -w -z -I -i 0 -i 1 -i 2 -r 4k -r 64k -s 1m -s 2m -f /d/azbench.iozone-data"
    )


def test_processes_side_by_side_have_a_file_each() -> None:
    work = small(records="64KiB", file_sizes="1MiB", threads=2, direct=False, tests="fread")
    once, run = work.commands(Path("/d"), Path("/out"), 0)
    files = "/d/azbench.iozone-data-1 /d/azbench.iozone-data-2"
    assert shlex.join(run) == f"iozone -R -b sheet.xls -w -i 0 -i 7 -r 64k -s 1m -t 2 -F {files}"
    assert "-I" not in once and once[-5:] == ["-t", "2", "-F", *files.split()]
    assert work.own_bytes == 2 * MIB


def test_records_are_those_that_iozone_takes_by_itself_as_far_as_they_fit() -> None:
    assert Iozone.of("a", {"file_sizes": ["1GiB"]}).records == tuple(4 * KIB * 2**i for i in range(13))
    assert Iozone.of("a", {"file_sizes": ["64KiB", "16KiB"]}).records == (4096, 8192, 16384, 32768, 65536)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"tests": ["walk"]}, "test 'walk' is unknown; the choices are: write, read, random, backward"),
        ({"tests": []}, "tests: must be a list of tests, each once"),
        ({"tests": ["fwrite"]}, "'fwrite' goes through the buffers of stdio, which -I does not bypass"),
        ({"records": ["4KiB", 4096]}, "records: must be a list of sizes, each once"),
        ({"records": [512]}, "records: 512.B is not whole KiB"),
        ({"file_sizes": ["1TiB"]}, "file_sizes: 1.TiB is not whole KiB, up to 512 GiB"),
        ({"records": ["4MiB"]}, "a file of 1.MiB holds no record of 4.MiB"),
        ({"threads": 2}, "with threads, iozone takes one size in records and one in file_sizes"),
        ({"threads": 0}, "threads '0' must be a whole number from 1"),
        ({"file": "/etc/passwd"}, "no key 'file'; the keys are: tests, records, file_sizes, direct, threads"),
    ],
)
def test_values_that_cannot_be_run(changes: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        small(**changes)


def test_the_time_it_takes_at_most_is_that_of_the_slowest_disk() -> None:
    work = Iozone.of("a", {"tests": ["write"], "records": "4KiB", "file_sizes": "1GiB"})
    # write and rewrite at 500 IOPS, and the data before them at 60 MB/s
    assert work.max_duration_s == pytest.approx(2 * GIB / 4096 / 500 + GIB / 60e6)
    assert work.duration_s is None


def test_a_rehearsal_is_of_little_data() -> None:
    work = Iozone.of("a", {"file_sizes": ["1GiB", "4GiB"]}).shortened(3, 256 * MIB)
    assert work.file_sizes == (4 * MIB,) and max(work.records) == 4 * MIB


# --- measurement files ---------------------------------------------------------------------------


def test_it_stands_beside_other_workloads(tmp_path: Path) -> None:
    found = load(tmp_path, FILE + "  fio: {rw: randread, bs: 4k, size: 4m, runtime: 1}\n")
    assert [task.workload.tool for task in found.setups[0].tasks] == ["iozone", "fio"]
    assert found.setups[0].tasks[0].workload == small()
    assert Experiment.model_validate_json(found.model_dump_json()) == found
    plan = experiment.Todo(found.workloads(), found).table()
    assert plan["seconds"].isna().tolist() == [True, False]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (FILE.replace("disks: data", "runtime: 3"), "no key 'runtime'; with iozone there are: iozone, disks"),
        (
            FILE.replace("size: 32GiB", "size: 32GiB, raw: true"),
            "needs a file system, and .* is a bare device",
        ),
        (FILE.replace(", file_sizes: [1MiB, 2MiB]", ""), "sheet.*file_sizes is missing"),
    ],
)
def test_files_that_cannot_be_carried_out(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        list(plan_text.lines(experiment.Todo([], load(tmp_path, text))))


def test_the_plan_says_what_nobody_knows_and_where_iozone_comes_from(tmp_path: Path) -> None:
    lines = "\n".join(plan_text.lines(experiment.Todo([], load(tmp_path))))
    assert "# how long is not known beforehand: at most 1 min" in lines
    assert "# cloud-init installs iozone3, which Ubuntu has in multiverse and Debian in non-free" in lines
    assert "\niozone -i 0 -+n -w -e -I -r 1m -s 2m -f /azbench/data/azbench.iozone-data\niozone -R " in lines


# --- this machine --------------------------------------------------------------------------------


def test_without_iozone_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("apt-get", "fio"):
        (tmp_path / name).symlink_to(shutil.which(name) or "/bin/true")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        MissingToolError, match=r"needs iozone; get it with: sudo apt-get install iozone3 .*non-free"
    ):
        iozone.find()


@installed
def test_text_reports_and_spreadsheet_are_the_same_and_count_once(tmp_path: Path) -> None:
    works = [
        small(),
        Iozone.of("side", {"tests": "write", "records": "64KiB", "file_sizes": "1MiB", "threads": 2}),
    ]
    folder = campaign.measure(campaign.LocalTarget(directory=tmp_path, workloads=works), tmp_path / "ds")
    raw = folder / "raw"
    assert sorted(path.name for path in raw.iterdir()) == ["sheet.txt", "sheet.xls", "side.txt", "side.xls"]
    assert not (tmp_path / local.JOBS_FOLDER).exists() and not (tmp_path / local.DATA_FILE).exists()
    rows, _, reports = (raw / "sheet.txt").read_text().partition("iozone test complete.\n")
    (tmp_path / "rows.txt").write_text(rows)
    (tmp_path / "reports.txt").write_text(reports)
    wanted = figures(tmp_path / "rows.txt")
    assert len(wanted) == 2 * 2 * 6 and min(wanted.values()) > 0
    assert figures(tmp_path / "reports.txt") == figures(raw / "sheet.xls") == wanted
    side = figures(raw / "side.txt")
    assert len(side) == 2 and figures(raw / "side.xls") == pytest.approx(side)
    found = Dataset.load(folder)
    assert len(found.runs) == len(found.results) == 24 + 2 and found.runs["direct"].all()
    assert (found.findings["code"] == "counted_once").sum() == 2
    assert "page_cache_suspected" not in set(found.findings["code"])
    assert found.manifest and found.manifest.tools["iozone"].startswith("3.")
    assert [command.text.startswith("iozone -i 0 -+n -w") for command in found.manifest.commands][:2] == [
        True,
        False,
    ]


def figures(path: Path) -> dict[tuple[object, ...], float]:
    found = Dataset.read(path)
    rows = found.runs.merge(found.results, on="run_id", validate="one_to_one")
    keys = ["rw", "bs_bytes", "working_set_bytes", "numjobs"]
    rows["working_set_bytes"] = rows["working_set_bytes"] // KIB
    return dict(zip(rows[keys].itertuples(index=False, name=None), rows["bw_bytes_per_s"], strict=True))


@installed
def test_a_buffered_run_is_doubted_with_the_way_out(tmp_path: Path) -> None:
    folder = campaign.measure(
        campaign.LocalTarget(directory=tmp_path, workloads=[small(direct=False, tests="read")]),
        tmp_path / "ds",
    )
    doubts = Dataset.load(folder).findings.query("code == 'page_cache_suspected'")
    assert len(doubts) == 2 * 2 * 4
    assert doubts["advice"].str.startswith("Run again with -I (direct I/O)").all()


@installed
def test_a_whole_output_is_not_measured_again_and_a_cut_one_is(tmp_path: Path) -> None:
    works = [small(), Iozone.of("second", {"records": "64KiB", "file_sizes": "1MiB"})]
    folder = campaign.measure(campaign.LocalTarget(directory=tmp_path, workloads=works), tmp_path / "ds")
    kept = (folder / "raw" / "sheet.txt").stat().st_mtime_ns
    cut = folder / "raw" / "second.txt"
    cut.write_text(cut.read_text().partition("iozone test complete.")[0])
    (folder / "manifest.json").unlink()
    lines: list[str] = []
    campaign.measure(
        campaign.LocalTarget(directory=tmp_path, workloads=works),
        tmp_path / "ds",
        progress=lambda done, of, text: lines.append(text),
    )
    assert [line.endswith("…") for line in lines] == [False, True, False]
    assert (folder / "raw" / "sheet.txt").stat().st_mtime_ns == kept
    assert "iozone test complete." in cut.read_text()


@installed
def test_what_a_failed_iozone_left_is_kept(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MIB, before[1]))
    try:
        with pytest.raises(AzbenchError, match=r"workload sheet: iozone ended with status -?\d+: "):
            campaign.measure(campaign.LocalTarget(directory=tmp_path, workloads=[small()]), tmp_path / "ds")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    (kept,) = (tmp_path / "ds" / "failed").iterdir()
    assert "Iozone: Performance Test" in (kept / "sheet.txt").read_text()
    assert not (tmp_path / local.JOBS_FOLDER).exists()
    assert not list((tmp_path / "ds" / "raw").iterdir())


# --- reading -------------------------------------------------------------------------------------


def test_a_spreadsheet_that_differs_from_the_text_beside_it_counts(tmp_path: Path) -> None:
    data = Path(__file__).parents[1] / "data" / "iozone"
    for suffix in (".txt", ".xls"):
        shutil.copy(data / f"auto{suffix}", tmp_path / f"auto{suffix}")
    apart = {suffix: len(Dataset.read(data / f"auto{suffix}").runs) for suffix in (".txt", ".xls")}
    both = Dataset.read(tmp_path)
    assert len(both.runs) == apart[".txt"] == apart[".xls"]
    assert set(both.runs["source_path"]) == {str(tmp_path / "auto.txt")}
    assert both.findings["code"].tolist().count("counted_once") == 1
    (tmp_path / "auto.txt").rename(tmp_path / "other.txt")
    assert len(Dataset.read(tmp_path).runs) == apart[".txt"] + apart[".xls"]


# --- Azure ---------------------------------------------------------------------------------------


@installed
@pytest.mark.slow
@pytest.mark.long
def test_iozone_is_measured_in_azure_with_its_outputs(azure: Azure, tmp_path: Path) -> None:
    load(tmp_path)
    out = tmp_path / "out"
    done = azbench(
        *("run", tmp_path / "file.yaml", "--target", "azure", "-o", out),
        environment=azure.environment,
        folder=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    found = Dataset.load(out)
    assert sorted(path.name for path in (out / "raw" / "setup" / "data").iterdir()) == [
        "sheet.txt",
        "sheet.xls",
    ]
    assert len(found.runs) == len(found.results) == 24
    assert found.runs["direct"].all() and (found.runs["setup_id"] == "setup").all()
    assert found.manifest and found.manifest.tools["iozone"].startswith("3.")
    commands = [command.text for command in found.manifest.commands if command.text.startswith("iozone")]
    assert [command.split()[1] for command in commands] == ["-i", "-R"]


def test_a_vm_without_iozone_says_so_in_a_sentence(tmp_path: Path) -> None:
    script = GUEST.read_text().replace("/var/lib/azbench", str(tmp_path)) + "\nneed iozone\n"
    for name in ("mkdir", "sh"):
        (tmp_path / name).symlink_to(shutil.which(name) or "")
    done = subprocess.run(
        [str(tmp_path / "sh"), "-c", script], env={"PATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert done.returncode == 3
    assert done.stderr == (
        "azbench: iozone is not on this VM: its image's package sources lack iozone3, which Ubuntu has in "
        "multiverse and Debian in non-free; take an Ubuntu image, or leave iozone out\n"
    )
