"""An exit code means the same whoever reads: a pipe that nobody reads any more changes none of them."""

import shlex
import shutil
import sys
from pathlib import Path

import pytest
from compared_runs import fio_outputs
from programs import azbench, python
from test_cli_forms import VERBS

ROOT = Path(__file__).parents[2]
AZBENCH = Path(sys.executable).parent / "azbench"
FIO = ROOT / "tests" / "data" / "fio"
GOOD = FIO / "randrw.json"
SETUP = ("--vm", "Standard_E8ds_v5", "--disk", "P30")
# standard output is a pipe whose reader has ended before the verb begins
UNREAD = (
    "import os; reading, writing = os.pipe(); os.dup2(writing, 1); os.close(reading); os.close(writing); "
    "from azbenchlib.cli import main; main()"
)
# these measure for long, serve until they are ended, or ask the network
WITHOUT = {"run", "probe", "lab start", "lab watch", "lab mount", "catalog refresh", "cleanup"}
ANSWERS = [
    ("read good.json", 0),
    ("read good.json --format csv", 0),
    ("read good.json --format json", 0),
    ("read cut.json", 2),
    ("read nowhere", 2),
    ("compare old same", 0),
    ("compare old low", 1),
    ("compare old low --format json", 1),
    ("compare old low --format markdown", 1),
    ("compare old low --format junit", 1),
    ("compare old same --fail-if 'iops < +50%'", 1),
    ("compare old one", 3),
    ("compare old one --undecided ok", 0),
    ("compare old", 2),
    ("verdict good.json --vm Standard_E8ds_v5 --disk P30", 0),
    ("verdict cut.json", 2),
    ("report good.json --format json", 0),
    ("report good.json --format html -o page", 0),
    ("import good.json --name mine", 0),
    ("collect good.json -o lake", 0),
    ("query collected 'SELECT 1'", 0),
    ("query collected 'SELECT nonsense'", 2),
    ("limits --vm Standard_E8ds_v5 --disk P30", 0),
    ("cost --vm Standard_D8s_v5 --disk P30 --region westeurope", 0),
    ("advise --iops 5000 --size 1TiB --region westeurope", 0),
    ("advise --iops 5000000000 --size 1TiB --region westeurope", 2),
    (f"size {ROOT}/tests/data/telemetry/no-such-file", 2),
    ("catalog show P30", 0),
    ("catalog drift", 0),
    ("plan campaign.yaml", 0),
    ("status nowhere", 2),
    ("schema", 0),
    ("doctor --format json", 0),
    ("setup detect --help", 0),
    ("learn --pdf", 2),
    ("lab run --vm E8ds_v4 --disk P4 nowhere.fio", 2),
    ("--version", 0),
    ("--help", 0),
    ("nonsense", 2),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Outputs that are good, cut off, equal, worse and too few."""
    home = tmp_path_factory.mktemp("answers")
    shutil.copy(GOOD, home / "good.json")
    (home / "cut.json").write_bytes(GOOD.read_bytes()[:400])
    rates = {
        "old": [1000, 1004, 998, 1001, 997],
        "same": [1001, 999, 1003, 996, 1002],
        "low": [800, 803, 799, 801, 797],
        "one": [990],
    }
    for name, iops in rates.items():
        fio_outputs(home / name, iops)
    assert azbench("collect", "good.json", "-o", "collected", cwd=home).returncode == 0
    shutil.copy(ROOT / "campaigns" / "ultra-disk.yaml", home / "campaign.yaml")
    return home


def test_every_verb_is_here() -> None:
    tried = {
        name
        for name in VERBS
        for command, _ in ANSWERS
        if shlex.split(command)[: len(name.split())] == name.split()
    }
    assert tried | WITHOUT == set(VERBS)


@pytest.mark.parametrize(("command", "code"), ANSWERS)
@pytest.mark.sampled(5)
def test_a_reader_that_has_gone_changes_no_exit_code(folder: Path, command: str, code: int) -> None:
    done = python(UNREAD, *shlex.split(command), cwd=folder)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr and "cannot be written" not in done.stderr
    assert "Broken pipe" not in done.stderr
