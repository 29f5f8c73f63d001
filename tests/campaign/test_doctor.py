"""The doctor on this machine, and on machines that lack things: PATHs made for the purpose."""

from pathlib import Path

import pytest

from azbenchlib.azure import az
from azbenchlib.campaign import doctor
from azbenchlib.core.errors import MissingToolError

OLD_FIO = 'echo "fio-2.21"'
FIO_WITHOUT_JSON_PLUS = '[ "$1" = --version ] && echo "fio-3.1" || exit 1'


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the whole PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("AZBENCH_AZ", raising=False)
    monkeypatch.setattr(az, "TOOLS", tmp_path / "nowhere")
    return tmp_path


def program(folder: Path, name: str, script: str = "") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def check(name: str) -> doctor.Check:
    return next(check for check in doctor.diagnose() if check.name == name)


def test_what_is_missing_has_a_cost_and_a_remedy_and_what_is_there_has_none() -> None:
    checks = doctor.diagnose()
    assert len({check.name for check in checks}) == len(checks) == 9 + len(doctor.EXTRAS)
    assert all(check.costs and check.found for check in checks)
    assert all(bool(check.remedy) != check.ok for check in checks)


def test_needed_ones_come_first() -> None:
    needed = [check.needed for check in doctor.diagnose()]
    assert needed == sorted(needed, reverse=True)
    assert any(needed) and not all(needed)


@pytest.mark.fio
@pytest.mark.parametrize("name", ["Python", "Python packages", "fio", "Pango"])
def test_a_set_up_machine_has_what_is_needed(name: str) -> None:
    assert check(name).ok, check(name)


def test_on_an_empty_path_every_tool_is_missing_and_nothing_is_raised(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    checks = {check.name: check for check in doctor.diagnose()}
    for name in ("fio", "fio's nbd engine", "iozone", "az"):
        assert (checks[name].ok, checks[name].found) == (False, "missing")
    assert checks["fio"].needed and not checks["iozone"].needed


def test_an_az_that_make_azure_installed_is_found(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "tools", "az", "true")
    monkeypatch.setattr(az, "TOOLS", tmp_path / "tools")
    assert check("az").found == str(tmp_path / "tools" / "az")


def test_the_az_that_is_named_is_the_one_that_is_used(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(path, "az", "true")
    program(tmp_path / "own", "my-az", "true")
    monkeypatch.setenv("AZBENCH_AZ", str(tmp_path / "own" / "my-az"))
    assert check("az").found == az.Az.find().path == str(tmp_path / "own" / "my-az")
    monkeypatch.setenv("AZBENCH_AZ", "no-such-az")
    assert (check("az").ok, check("az").found) == (
        False,
        "AZBENCH_AZ names 'no-such-az', which is no program",
    )


@pytest.mark.parametrize("folders", ["", ".", ":", "bin", ".tools/bin", "./bin:/nowhere"])
def test_an_az_in_the_current_folder_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folders: str
) -> None:
    for folder in (tmp_path, tmp_path / "bin", tmp_path / ".tools" / "bin"):
        program(folder, "az", "true")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AZBENCH_AZ", raising=False)
    monkeypatch.setenv("PATH", folders)
    monkeypatch.setattr(az, "TOOLS", tmp_path / "nowhere")
    assert check("az").found == "missing"
    monkeypatch.setenv("AZBENCH_AZ", "az")
    assert not check("az").ok
    with pytest.raises(MissingToolError):
        az.Az.find()


@pytest.mark.parametrize(("script", "version"), [(OLD_FIO, "2.21"), (FIO_WITHOUT_JSON_PLUS, "3.1")])
def test_a_fio_that_cannot_write_exact_histograms_is_too_old(path: Path, script: str, version: str) -> None:
    program(path, "fio", script)
    assert (check("fio").ok, check("fio").found) == (False, f"fio-{version}, too old")


def test_a_fio_without_the_nbd_engine_still_measures(path: Path) -> None:
    program(path, "fio", 'case "$1" in --version) echo fio-3.28;; --enghelp) echo libaio;; esac')
    assert check("fio").ok
    assert not check("fio's nbd engine").ok


def test_the_version_of_iozone_is_read_from_its_banner(path: Path) -> None:
    program(path, "iozone", "echo '        Version $Revision: 3.506 $'")
    assert check("iozone").found == "3.506"


@pytest.mark.parametrize(
    ("manager", "name", "remedy"),
    [
        ("apt-get", "fio", "sudo apt-get install fio"),
        (
            "apt-get",
            "iozone",
            "sudo apt-get install iozone3  # in Debian's part non-free, in Ubuntu's multiverse",
        ),
        ("dnf", "fio's nbd engine", "sudo dnf install fio-engine-nbd"),
        ("brew", "fio", "brew install fio"),
        ("pacman", "fio", "Install fio with this system's package manager"),
    ],
)
def test_remedies_are_commands_of_this_system(path: Path, manager: str, name: str, remedy: str) -> None:
    program(path, manager)
    assert check(name).remedy == remedy


def test_any_of_the_browsers_will_do(path: Path) -> None:
    program(path, "microsoft-edge", 'echo "Microsoft Edge 130.0"')
    assert check("Chromium").found == "Microsoft Edge 130.0"
    assert doctor.find_browser() == str(path / "microsoft-edge")


def test_packages_out_of_bounds_or_absent_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = ["pandas>=3.1", "numpy>=999", "no-such-package", "nor-this; extra == 'dev'"]
    monkeypatch.setattr(doctor.metadata, "requires", lambda _: declared)
    found = check("Python packages").found
    assert found.startswith("numpy ") and found.endswith(" is not >=999; no-such-package is missing")


def test_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(doctor, "ROOM_BYTES", 2**80)
    monkeypatch.chdir(tmp_path)
    assert not check("disk space").ok
    assert str(tmp_path) in check("disk space").remedy


def test_a_tool_that_hangs_counts_as_missing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_PATIENCE_S", 0.2)
    program(path, "fio", "while :; do :; done")
    assert check("fio").found == "missing"
