"""A VM whose first boot could not install fio: that is tried again, else the reason is told."""

import shutil
import subprocess
from pathlib import Path

import pytest
from fake_azure.campaigns import on_this_machine

pytestmark = pytest.mark.fio

BUSY = "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 812"


def first_boot(folder: Path, apt_get: str) -> subprocess.CompletedProcess[str]:
    """What a script does first, on a VM with these tools alone, whose pauses are none."""
    for tool in ("sed", "uname", "tail", "tr", "mkdir", "ln"):
        (folder / tool).symlink_to(str(shutil.which(tool)))
    (folder / "log").mkdir()
    (folder / "log" / "cloud-init-output.log").write_text(f"Reading package lists...\n{BUSY}\n")
    asked = f'echo "$@" >>{folder}/asked'
    for name, text in {
        "sleep": "",
        "apt-get": f"{asked}\n{apt_get}",
        "cloud-init": "echo status: error",
    }.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    return on_this_machine(folder, f"PATH={folder}\nready")


def test_what_another_process_kept_from_being_installed_is_installed_then(tmp_path: Path) -> None:
    first_fails = f"[ -e {tmp_path}/tried ] || {{ : >{tmp_path}/tried; exit 100; }}"
    installs = f"case $* in *install*) ln -s {shutil.which('fio')} {tmp_path}/fio ;; esac"
    done = first_boot(tmp_path, f"{first_fails}\n{installs}")
    assert (done.returncode, done.stderr) == (0, "")
    assert "azbench-fact fio fio-3" in done.stdout
    last = [line.split()[-1] for line in (tmp_path / "asked").read_text().splitlines()]
    assert last == ["update", "update", "fio"]


def test_what_cannot_be_installed_is_told_with_the_words_of_the_first_boot(tmp_path: Path) -> None:
    done = first_boot(tmp_path, "exit 100")
    assert done.returncode == 3
    assert done.stderr.startswith("azbench: cloud-init has not installed fio: status: error; ")
    assert BUSY in done.stderr
    assert len((tmp_path / "asked").read_text().splitlines()) == 3
