"""A VM whose first boot could not install fio: that is tried again, else the reason is told."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from fake_azure.campaigns import on_this_machine

from azbenchlib.campaign.targets.azure import commands

pytestmark = pytest.mark.fio

BUSY = "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 812"


@pytest.mark.parametrize("config", [commands.CLOUD_CONFIG, commands.HELD])
def test_what_would_disturb_a_measurement_is_held_before_packages_are_installed(config: str) -> None:
    """Of a VM with packages and of one without: cloud-init runs bootcmd before all else."""
    told = yaml.safe_load(config)
    ((systemctl, mask, now, *units),) = told["bootcmd"]
    assert (systemctl, mask, now) == ("systemctl", "mask", "--now")
    assert {"apt-daily.timer", "apt-daily-upgrade.timer", "unattended-upgrades.service"} <= set(units)
    assert set(told) <= {"bootcmd", "package_update", "packages"}


def first_boot(folder: Path, apt_get: str) -> subprocess.CompletedProcess[str]:
    """What a script does first, on a VM with these tools alone, whose pauses are none."""
    for tool in ("sed", "uname", "tail", "tr", "mkdir", "ln", "date"):
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
    done = first_boot(tmp_path, "echo E: Unable to locate package fio >&2; exit 100")
    assert done.returncode == 3
    assert done.stderr.startswith("azbench: cloud-init has not installed fio: status: error; ")
    assert BUSY in done.stderr
    assert done.stderr.endswith("; apt, tried again: E: Unable to locate package fio\n")
    assert len((tmp_path / "asked").read_text().splitlines()) == 3


def test_what_the_first_boot_has_to_do_is_waited_for_and_snaps_are_held(tmp_path: Path) -> None:
    (tmp_path / "run/systemd/system").mkdir(parents=True)
    for name in ("systemctl", "snap"):
        (tmp_path / name).write_text(f'#!/bin/sh\necho {name} "$@" >>{tmp_path}/asked\nexit 1\n')
        (tmp_path / name).chmod(0o755)
    for tool in ("fio", "timeout"):
        (tmp_path / tool).symlink_to(str(shutil.which(tool)))
    done = first_boot(tmp_path, "exit 100")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "asked").read_text().splitlines() == [
        "systemctl is-system-running --wait",
        "snap refresh --hold",
    ]


HOLD = """
import fcntl, pathlib, sys, time
lock, until, lines = sys.argv[1:]
with open(lock, "w") as file:
    fcntl.lockf(file, fcntl.LOCK_EX)
    print("held", flush=True)
    while len(pathlib.Path(until).read_text().splitlines()) < int(lines):
        time.sleep(0.05)
    time.sleep(0.5)  # longer than apt takes to give up where it does not wait
"""
INSTALLED = """Package: fio
Status: install ok installed
Architecture: all
Maintainer: nobody <nobody@example.com>
Version: 3.36-1
Description: as on a VM that got it meanwhile

"""


@pytest.mark.skipif(not shutil.which("apt-get"), reason="there is no apt")
@pytest.mark.parametrize(
    ("lock", "until", "lines"),
    [("lists/lock", "slept", 5), ("archives/lock", "slept", 5), ("lock-frontend", "asked", 2)],
)
def test_locks_of_apt_that_another_process_holds_are_waited_for(
    tmp_path: Path, lock: str, until: str, lines: int
) -> None:
    """The real apt, in folders of its own: for the lock of dpkg it waits itself, for others not."""
    for folder in ("lists/partial", "archives/partial", "etc", "log"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "status").write_text(INSTALLED)
    places = {"etc": "etc", "state": ".", "state::status": "status", "state::lists": "lists"}
    places |= {"cache": ".", "cache::archives": "archives", "log": "log"}
    configuration = "".join(f'Dir::{key} "{tmp_path / place}";\n' for key, place in places.items())
    (tmp_path / "apt.conf").write_text(f'{configuration}APT::Architecture "all";\n')
    for name in ("slept", "asked"):
        (tmp_path / name).touch()
    for name, text in {
        "sleep": f"echo slept >>{tmp_path}/slept",
        "apt-get": f"echo asked >>{tmp_path}/asked\nexport APT_CONFIG={tmp_path}/apt.conf\n"
        f'exec {shutil.which("apt-get")} "$@"',
    }.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    holder = [sys.executable, "-c", HOLD, str(tmp_path / lock), str(tmp_path / until), str(lines)]
    with subprocess.Popen(holder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        done = on_this_machine(tmp_path, 'again; printf "%s" "$said"')
        process.kill()
    assert (done.returncode, done.stderr) == (0, "")
    assert "fio is already the newest version (3.36-1)" in done.stdout
    n_slept = len((tmp_path / "slept").read_text().splitlines())
    assert n_slept >= 5 if until == "slept" else n_slept == 0
