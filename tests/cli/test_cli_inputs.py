"""The command line takes outputs wherever it takes datasets, and what it prints goes through pipes."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest
from programs import azbench

from azbenchlib.campaign import TARGETS
from azbenchlib.core.targets import TARGET_NAMES
from azbenchlib.dataset import manifest

ROOT = Path(__file__).parents[2]
FIO = ROOT / "tests" / "data" / "fio"
OUTPUT = FIO / "randrw.json"
MAIN = "from azbenchlib.cli import main; main()"


def piped(data: bytes, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", MAIN, *arguments], input=data, cwd=cwd, capture_output=True, check=False
    )


def test_outputs_come_through_the_pipe(tmp_path: Path) -> None:
    done = piped(OUTPUT.read_bytes(), "read", "-", "--wide", "--format", "csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(done.stdout.decode().splitlines()))
    assert [(row["job"], row["ddir"], row["file"]) for row in rows] == [
        ("mix", "read", "stdin"),
        ("mix", "write", "stdin"),
    ]
    told = json.loads(OUTPUT.read_text())["jobs"][0]
    for row in rows:
        side = told[row["ddir"]]
        assert float(row["iops"]) == pytest.approx(side["iops"])
        assert float(row["p99_us"]) == side["clat_ns"]["percentile"]["99.000000"] / 1000


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"", "-: nothing came through standard input"), (b"junk\n", "stdin: no known format")],
    ids=["nothing", "junk"],
)
def test_what_is_no_output_ends_with_a_sentence(data: bytes, said: str, tmp_path: Path) -> None:
    done = piped(data, "verdict", "-", cwd=tmp_path)
    assert done.returncode == 2 and not done.stdout
    assert said in done.stderr.decode() and "Traceback" not in done.stderr.decode()


def test_piped_tables_are_whole_and_plain(tmp_path: Path) -> None:
    done = azbench("read", "azure-local-disks-2020", cwd=tmp_path, env={"COLUMNS": "40", "PATH": ""})
    lines = done.stdout.splitlines()
    names = [line.split()[0] for line in lines[1:]]
    assert "000-E8ds-os-cacheRW-sync" in names and len(lines) == 13
    assert all(line == line.rstrip() for line in lines) and "\u00a0" not in done.stdout
    assert {"Setup", "Job", "IOPS"} <= set(lines[0].split())


def test_an_import_and_what_is_refused_of_it(tmp_path: Path) -> None:
    command = (
        "import",
        OUTPUT,
        "--name",
        "mine",
        "--vm",
        "E8ds_v4",
        "--disk",
        "P30",
        "--region",
        "West Europe",
    )
    done = azbench(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = manifest.load(tmp_path / "datasets" / "mine")
    assert (told.name, list(told.raw)) == ("mine", ["raw/randrw.json"])
    (setup,) = told.setups
    assert (setup.region, setup.disks[0].tier) == ("westeurope", "P30")
    again = azbench(*command, cwd=tmp_path)
    assert again.returncode == 2 and "a dataset of that name is there already" in again.stderr
    for name, why in (("a/b", "is a path"), (".x", "is no name of a dataset"), ("..", "is no name")):
        wrong = azbench("import", OUTPUT, "--name", name, cwd=tmp_path)
        assert wrong.returncode == 2 and why in wrong.stderr, wrong.stderr
    stated = azbench("verdict", "mine", "--vm", "E8ds_v4", "--disk", "P40", cwd=tmp_path)
    assert stated.returncode == 2 and "the setup of every run is stated already (stated)" in stated.stderr
    judged = azbench("verdict", "mine", "--format", "json", cwd=tmp_path)
    assert '"disk_iops"' in judged.stdout


def test_help_is_short_too(tmp_path: Path) -> None:
    assert azbench("report", "-h", cwd=tmp_path).stdout == azbench("report", "--help", cwd=tmp_path).stdout


def test_the_names_of_targets_are_those_that_there_are() -> None:
    assert tuple(TARGETS) == tuple(name.partition(":")[0] for name in TARGET_NAMES)


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A folder of a good output, and of one that was cut off."""
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "good.json").write_bytes(OUTPUT.read_bytes())
    (folder / "cut.json").write_bytes((FIO / "group_jsonplus.json").read_bytes()[:1500])
    return folder


@pytest.mark.parametrize(
    ("verb", "printed"),
    [("read", '"randrw"'), ("verdict", '"page_cache"'), ("report", "mixed random I/O")],
)
def test_a_damaged_output_among_good_ones_is_told_by_the_exit_code(
    verb: str, printed: str, damaged: Path, tmp_path: Path
) -> None:
    """The others are read and printed all the same."""
    done = azbench(verb, str(damaged), "--format", "json", cwd=tmp_path)
    assert done.returncode == 2 and "cut.json" in done.stderr and printed in done.stdout
    assert azbench(verb, str(damaged / "good.json"), "--format", "json", cwd=tmp_path).returncode == 0


def test_a_dataset_of_damaged_outputs_is_made_and_told_by_the_exit_code(
    damaged: Path, tmp_path: Path
) -> None:
    done = azbench("import", str(damaged), "--name", "kept", "-o", str(tmp_path / "datasets"), cwd=tmp_path)
    assert done.returncode == 2
    assert manifest.load(tmp_path / "datasets" / "kept").name == "kept"


def test_a_comparison_with_a_damaged_output_is_never_a_pass(damaged: Path, tmp_path: Path) -> None:
    other = json.loads(OUTPUT.read_text()) | {"timestamp": 1}
    other["jobs"][0]["read"]["iops"] += 1  # another run
    (tmp_path / "other.json").write_text(json.dumps(other))
    options = ("--format", "json", "--undecided", "ok", "--margin", "90%")
    codes = [
        azbench("compare", str(side), str(tmp_path / "other.json"), *options, cwd=tmp_path).returncode
        for side in (damaged / "good.json", damaged)
    ]
    assert codes == [0, 2]


@pytest.mark.parametrize("regions", [("westeurope",), ("westeurope", "uksouth")], ids=["one", "several"])
def test_advice_from_outputs_of_which_one_is_damaged_is_given_and_told_by_the_exit_code(
    regions: tuple[str, ...], damaged: Path, tmp_path: Path
) -> None:
    where = [word for region in regions for word in ("--region", region)]
    codes = {}
    for source in (damaged, damaged / "good.json"):
        done = azbench("advise", "--from", str(source), *where, "--format", "json", cwd=tmp_path)
        assert "price_per_month" in done.stdout, done.stderr
        codes[source.name] = done.returncode
    assert codes == {"out": 2, "good.json": 0}
