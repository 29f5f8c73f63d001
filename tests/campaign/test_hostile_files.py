"""Measurement files and job files that try to start a program or to open a file of somebody else's.

On every target they are refused in one sentence with their line, before anything is started or touched.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_azure.login import Azure
from lab_tools import need_fio, own_cache  # noqa: F401
from programs import azbench
from waiting import PATIENCE_S

from azbenchlib import campaign
from azbenchlib.core.errors import AzbenchError

pytest_plugins = ("fake_azure.fixtures",)

AZBENCH = Path(sys.executable).with_name("azbench")
TARGETS = ("local", "lab", "azure")
HEAD = """\
title: A disk
region: westeurope
vm: Standard_D2s_v3
zone: 1
disks:
  data: {sku: Premium_LRS, size: 32GiB}
workloads:
"""
GOOD = "rw: randread, bs: 4k, size: 1m, runtime: 1"
# CANARY: a program that leaves a file when it runs. VICTIM: a file that nobody may write or send away.
OPTIONS = {
    "starts a program": "exec_prerun: CANARY",
    "starts one afterwards": "exec_postrun: 'CANARY x'",
    "abbreviated": "exec_prer: CANARY",
    "with a dash": "exec-prerun: CANARY",
    "in capitals": "EXEC_PRERUN: CANARY",
    "with a look-alike": "ex\u0435c_prerun: CANARY",
    "behind two dashes": "'--exec_prerun': CANARY",
    "in a value": "rwmixread: '50 --exec_prerun=CANARY'",
    "an engine that runs": "ioengine: exec, program: CANARY",
    "an engine of a file": "ioengine: 'external:CANARY'",
    "an engine by path": "ioengine: CANARY",
    "an engine of the network": "ioengine: net, hostname: localhost, port: 1",
    "memory in a file": "mem: 'mmap:VICTIM'",
    "shared memory in a file": "iomem: 'mmapshared:VICTIM'",
    "huge pages in a file": "mem: 'mmaphuge:VICTIM'",
    "a file": "filename: VICTIM",
    "an abbreviated file": "filenam: VICTIM",
    "a folder": "directory: /etc",
    "all files of a folder": "opendir: /etc",
    "a log by path": "write_bw_log: VICTIM",
    "an iolog": "write_iolog: VICTIM",
    "an iolog that is read": "read_iolog: VICTIM",
    "a pattern from a file": "buffer_pattern: \"'VICTIM'\"",
    "a variable": "rate: '${HOME}'",
    "a keyword that is reckoned": "size: '$pagesize*1'",
    "backticks": "iodepth: '`CANARY`'",
    "a trigger": "trigger_timeout: 1, trigger: CANARY",
    "a server": "client: localhost",
    "a scheduler": "ioscheduler: none",
    "an output": "output: VICTIM",
    "a user": "uid: 0",
    "an end of line in a value": '"description": "x\\nexec_prerun=CANARY"',
}
WHOLE = {
    "a merged key": "  base: &b {exec_prerun: CANARY}\n  x: {<<: *b, GOOD}\n",
    "a tag": "  x: !!python/object/apply:os.system [CANARY]\n",
    "a tagged value": "  x: {GOOD, iodepth: !!python/name:os.system ''}\n",
    "a name that is an option": "  --exec_prerun=CANARY: {GOOD}\n",
    "a name that leads elsewhere": "  ../../x: {GOOD}\n",
    "a key twice": "  x: {GOOD, rwmixread: 1, rwmixread: 2}\n",
    "iozone with an option": "  x: {iozone: {file_sizes: [1MiB], -f: VICTIM}}\n",
    "iozone with a command": "  x: {iozone: {file_sizes: [1MiB], tests: ['-U CANARY']}}\n",
    "iozone with a file of hosts": "  x: {iozone: {file_sizes: ['1MiB -+m VICTIM']}}\n",
    "iozone with threads": "  x: {iozone: {file_sizes: [1MiB], threads: '-F VICTIM'}}\n",
    "a job file elsewhere": "  x: {job: ../VICTIM.fio}\n",
    "a job file by a link": "  x: {job: link.fio}\n",
    "a job file that is a pipe": "  x: {job: pipe.fio}\n",
}
AZURE = {
    "an image from a file": ("zone: 1", "zone: 1\nimage: '@VICTIM'"),
    "a tier from a file": ("size: 32GiB", "size: 32GiB, tier: '@VICTIM'"),
    "a zone from a file": ("zone: 1", "zone: '@VICTIM'"),
    "a title from a file": ("title: A disk", "title: '@VICTIM'"),
    "a size that is an option": ("vm: Standard_D2s_v3", "vm: --help"),
    "a feature from a file": ("zone: 1", "zone: 1\nfeatures: ['@VICTIM/x']"),
    "a region with an option": ("region: westeurope", "region: '-x'"),
    "an image that is no image": ("zone: 1", "zone: 1\nimage: 'a b; CANARY'"),
}
LINES = {
    "starts a program": "exec_prerun=CANARY",
    "starts one with spaces": "  exec_postrun = CANARY",
    "includes": "include VICTIM",
    "includes without a space": "includeVICTIM",
    "an engine that runs": "ioengine=exec\nprogram=CANARY",
    "an engine of a file": "ioengine=external:CANARY",
    "memory in a file": "mem=mmap:VICTIM",
    "memory by its other name": "iomem=mmapshared:VICTIM",
    "a file by a variable": "filename=${HOME}/x",
    "a file": "filename=VICTIM",
    "a second file": "filename=a:VICTIM",
    "a file above": "directory=..",
    "standard output": "filename=-",
    "backticks": "size=`CANARY`",
    "a keyword that is reckoned": "size=1*$pagesize",
    "a log by path": "write_lat_log=VICTIM",
    "an iolog": "read_iolog=VICTIM",
    "a server of the network": "ioengine=nbd\nuri=nbd+unix:///?socket=VICTIM",
    "a section that goes on": "[b] exec_prerun=CANARY",
    "a section without an end": "[b\nexec_prerun=CANARY",
    "a name with a folder": "[../../b]",
    "a section by a variable": "[${HOME}]",
    "a carriage return": "bs=4k\rexec_prerun=CANARY",
    "an end of text": "bs=4k\x00\nexec_prerun=CANARY",
    "a long comment": ";" + "x" * 4094 + "exec_prerun=CANARY",
    "a long value": "description=" + "x" * 4083 + "exec_prerun=CANARY",
    "a separator of lines": "; x\u2028exec_prerun=CANARY",
    "a pattern from a file": "verify_pattern='VICTIM'",
    "a trap behind a comment": "bs=4k # \\\nexec_prerun=CANARY",
}


def _texts() -> dict[str, str]:
    """By what each tries, the measurement files of which none may do anything."""
    found = {f"option, {what}": f"{HEAD}  x: {{{GOOD}, {text}}}\n" for what, text in OPTIONS.items()}
    found |= {f"file, {what}": HEAD + text.replace("GOOD", GOOD) for what, text in WHOLE.items()}
    found |= {
        f"azure, {what}": HEAD.replace(*change) + f"  x: {{{GOOD}}}\n" for what, change in AZURE.items()
    }
    return found | {f"job, {what}": f"{HEAD}  x: {{job: job.fio, runtime: 1}}\n" for what in LINES}


TEXTS = _texts()


@pytest.fixture
def trap(tmp_path: Path) -> Iterator[Path]:
    """A folder for a measurement file, beside a victim and a canary; afterwards both are as they were."""
    folder = tmp_path / "campaign"
    folder.mkdir()
    victim, canary, sang = tmp_path / "victim", tmp_path / "canary", tmp_path / "sang"
    victim.write_bytes(b"precious")
    canary.write_text(f"#!/bin/sh\ntouch {sang}\n")
    canary.chmod(0o755)
    (folder / "link.fio").symlink_to(victim)
    os.mkfifo(folder / "pipe.fio")
    before = _hash(victim)
    yield folder
    assert not sang.exists()
    assert _hash(victim) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["campaign", "canary", "victim"]


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _write(folder: Path, what: str) -> Path:
    def real(text: str) -> str:
        return text.replace("CANARY", str(folder.parent / "canary")).replace(
            "VICTIM", str(folder.parent / "victim")
        )

    kind, _, name = what.partition(", ")
    if kind == "job":
        (folder / "job.fio").write_text(real(f"[a]\nsize=1m\n{LINES[name]}\nrw=read\n"))
    path = folder / "file.yaml"
    path.write_text(real(TEXTS[what]))
    return path


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("what", TEXTS)
def test_it_is_refused_in_a_sentence_with_its_line(trap: Path, what: str, target: str) -> None:
    path = _write(trap, what)
    dataset = trap / "out"
    for quick in (False, True):
        with pytest.raises(AzbenchError, match=r"file\.yaml:\d+: ") as caught:
            campaign.run(campaign.todo(path, target=target, quick=quick), dataset, target=target)
    assert "\n" not in str(caught.value)
    assert not dataset.exists()


# One of each kind, through the command line as a user starts it.
BY_COMMAND = (
    *("option, abbreviated", "option, memory in a file", "file, a merged key", "job, starts a program"),
    *("job, a file by a variable", "azure, an image from a file"),
)


@pytest.mark.slow
@pytest.mark.parametrize("target", ("local", "lab"))
@pytest.mark.parametrize("what", BY_COMMAND)
def test_the_command_ends_with_code_2(trap: Path, what: str, target: str) -> None:
    _ends_with_2([_write(trap, what), "--target", target], trap)


@pytest.mark.slow
@pytest.mark.parametrize("what", BY_COMMAND)
def test_azure_is_not_asked_for_anything(azure: Azure, trap: Path, what: str) -> None:
    _ends_with_2([_write(trap, what), "--target", "azure"], trap, azure.environment)
    assert not azure.arm.resources
    assert not azure.arm.bodies("PUT", "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "what", ["starts a program", "a long comment", "memory in a file", "a second section"]
)
def test_the_lab_runs_no_such_job_file(trap: Path, what: str) -> None:
    text = {**LINES, "a second section": "[b]\n[c] exec_prerun=CANARY"}[what]
    job = trap / "job.fio"
    job.write_text(f"[a]\nsize=1m\n{text.replace('CANARY', str(trap.parent / 'canary'))}\n")
    done = _azbench(["lab", "run", job, "--disk", "P4"], trap)
    assert done.returncode == 2
    assert "job.fio:" in done.stderr and "--trust-job-files" in done.stderr
    assert not (trap / "datasets").exists()


def _ends_with_2(words: list[object], folder: Path, environment: dict[str, str] | None = None) -> None:
    done = _azbench(["run", *words, "-o", folder / "out"], folder, environment)
    assert done.returncode == 2, done.stderr
    assert "file.yaml:" in done.stderr and "Traceback" not in done.stderr
    assert not (folder / "out").exists()


def _azbench(
    words: list[object], folder: Path, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return azbench(*words, cwd=folder, env=environment, timeout=PATIENCE_S)


# --- files of one's own -----------------------------------------------------------------------------------


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A measurement file with a job file that starts a program."""
    canary = tmp_path / "canary"
    canary.write_text(f"#!/bin/sh\ntouch {tmp_path / 'sang'}\n")
    canary.chmod(0o755)
    (tmp_path / "job.fio").write_text(f"[a]\nsize=1m\nrw=read\nexec_prerun={canary}\n")
    (tmp_path / "file.yaml").write_text(f"{HEAD}  x: {{job: job.fio, runtime: 1}}\n")
    return tmp_path


@pytest.mark.fio
@pytest.mark.slow
def test_a_job_file_of_ones_own_may_start_programs(own: Path) -> None:
    """This also shows that a canary sings where it is let."""
    need_fio()
    words = ["run", "file.yaml", "--target", "local", "-o", own / "out"]
    assert _azbench(words, own).returncode == 2
    assert not (own / "sang").exists()
    done = _azbench([*words, "--trust-job-files"], own)
    assert done.returncode == 0, done.stderr
    assert (own / "sang").exists()


@pytest.mark.slow
def test_a_plan_of_it_can_be_printed(own: Path) -> None:
    assert _azbench(["plan", "file.yaml"], own).returncode == 2
    assert _azbench(["plan", "file.yaml", "--trust-job-files"], own).returncode == 0


def test_the_options_of_a_measurement_file_are_never_trusted(own: Path) -> None:
    (own / "file.yaml").write_text(f"{HEAD}  x: {{{GOOD}, exec_prerun: {own / 'canary'}}}\n")
    with pytest.raises(AzbenchError, match=r"file\.yaml:8: .*option 'exec_prerun' may not be set"):
        campaign.load(own / "file.yaml", trust_job_files=True)


@pytest.mark.slow
def test_no_parameter_of_a_notebook_makes_a_job_file_trusted(own: Path) -> None:
    for name in ("trust_job_files", "trust"):
        words = ["run", "file.yaml", "--target", "local", "-o", own / "out", "-p", f"{name}=True"]
        done = _azbench(words, own)
        assert done.returncode == 2
    assert not (own / "sang").exists()


@pytest.mark.fio
def test_the_folder_of_job_files_is_never_a_link(tmp_path: Path) -> None:
    """Somebody else's folder can hold a link of this name: nothing is written where it leads."""
    need_fio()
    victims, target = tmp_path / "victims", tmp_path / "target"
    victims.mkdir()
    target.mkdir()
    (victims / "a.0.0").write_text("precious")
    (target / "azbench.fio-jobs").symlink_to(victims)
    work = campaign.JobFile("j", "[a]\nsize=1m\nrw=write\n", 1)
    with pytest.raises(AzbenchError, match=r"azbench\.fio-jobs: is no folder"):
        campaign.measure(campaign.LocalTarget(directory=target, workloads=[work]), tmp_path / "out")
    assert (victims / "a.0.0").read_text() == "precious"
    shutil.rmtree(tmp_path / "out", ignore_errors=True)
