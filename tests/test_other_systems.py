"""What runs where Python is that of Windows or macOS: all but the lab's server and the target local."""

import io
import json
import os
import shutil
from pathlib import Path

import pytest
from other_systems import command_lines

from azbenchlib.campaign.targets.local.target import LocalTarget
from azbenchlib.cli.printing.streams import take_any_character
from azbenchlib.core.errors import MissingToolError

ROOT = Path(__file__).parents[1]
SYSTEMS = ("windows", "macos")
WORKING = (
    "import randrw.json --name kept --vm Standard_E8ds_v4 --disk P30",
    "read kept",  # its stored tables
    "read randrw.json --format csv",
    "verdict kept --format json",
    "limits --vm Standard_E8ds_v4 --disk temp",
    "cost --vm Standard_D4as_v5 --disk P30 --region westeurope",
    "advise --iops 6000 --size 1TiB --region westeurope",
    "compare azure-local-disks-2020:E8ds_v4-os-none azure-local-disks-2020:E8ds_v4-temp --undecided ok",
    "size plain.txt --region westeurope",
    "plan ultra-disk",
    "doctor",
)


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.sampled(1)
def test_what_needs_no_linux_works_elsewhere(system: str, tmp_path: Path) -> None:
    for name in ("fio/randrw.json", "sysstat/plain.txt"):
        shutil.copy(ROOT / "tests" / "data" / name, tmp_path)
    lines = WORKING if system == "windows" else WORKING[:5]  # nearly all that differs is missing on Windows
    worked = command_lines(system, *lines, cwd=tmp_path)
    for line, (code, out, err) in zip(lines, worked, strict=True):
        assert (code == 0 or line == "doctor") and out + err, f"{line}: {err}"
    told = json.loads(worked[3][1])
    assert told["verdicts"][0]["binding"] == ["page_cache"]
    kept = tmp_path / "datasets" / "kept" / "raw" / "randrw.json"
    assert kept.read_bytes() == (tmp_path / "randrw.json").read_bytes()
    assert not list(tmp_path.rglob("*.part")) and not list(tmp_path.rglob("*.lock"))


def test_an_emulated_disk_says_that_windows_has_none(tmp_path: Path) -> None:
    ((code, _, said),) = command_lines(
        "windows", "lab start --vm Standard_D4as_v5 --disk P30:None", cwd=tmp_path
    )
    assert code == 2 and "an emulated disk needs Linux" in said


def test_the_target_local_says_that_it_needs_linux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "O_DIRECT")  # as on macOS and Windows
    with pytest.raises(MissingToolError, match="measuring on this machine needs Linux"):
        LocalTarget(directory=None, workloads=[]).make_plan(tmp_path / "dataset")


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_a_pipe_takes_what_its_encoding_lacks(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    raw = io.BytesIO()
    pipe = io.TextIOWrapper(raw, encoding=encoding)
    take_any_character(pipe)
    pipe.write("größe → 4 µs")
    pipe.flush()
    assert raw.getvalue().decode("utf-8") == "größe → 4 µs"


def test_who_asks_for_an_encoding_gets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "cp1252")
    raw = io.BytesIO()
    pipe = io.TextIOWrapper(raw, encoding="cp1252")
    take_any_character(pipe)
    pipe.write("größe █")
    pipe.flush()
    assert raw.getvalue().decode("cp1252") == "größe ?"
