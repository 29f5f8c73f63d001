"""Shipped measurement files, made short enough for a test: a second a workload, little data, no rests."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import programs
import pytest
import yaml
from waiting import PATIENCE_S

from azbenchlib import campaign
from azbenchlib.campaign import device_guard
from azbenchlib.core.errors import AzbenchError

ROOT = Path(__file__).parents[3]
AZBENCH = Path(sys.executable).with_name("azbench")

SMALL = """
title: Small
region: westeurope
vm: Standard_D2s_v3
zone: 1
disks:
  data: {sku: Premium_LRS, size: 32GiB}
workloads:
  first: {rw: randread, bs: 4k, size: 4m, runtime: 1}
"""

# On one line each: for what looks at the file alone.
TINY = """
title: Small
region: westeurope
vm: Standard_D2s_v3
disks: {data: {sku: Premium_LRS, size: 32GiB}}
workloads: {first: {rw: randread, bs: 4k, size: 4m, runtime: 1}}
"""


def shortened(name: str, folder: Path, keep: Sequence[str] = ()) -> Path:
    """A copy of ``campaigns/NAME.yaml`` with its job files; of its workloads, those named in `keep`."""
    content = yaml.safe_load((ROOT / "campaigns" / f"{name}.yaml").read_text())
    places = [content, *content.get("setups", [])]
    known = {key for place in places for key in place.get("workloads", {})}
    assert set(keep) <= known, f"{name} has the workloads {known}"  # else it would be run as it is, for hours
    for place in places:
        place.pop("rest", None)
        kept = {key: work for key, work in place.get("workloads", {}).items() if not keep or key in keep}
        if kept:
            place["workloads"] = {key: _short(work) for key, work in kept.items()}
    jobs = ROOT / "campaigns" / name
    if jobs.is_dir():
        shutil.copytree(jobs, folder / name)
        for job in (folder / name).glob("*.fio"):
            job.write_text(re.sub(r"^size=.*$", "size=4m", job.read_text(), flags=re.MULTILINE))
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return path


def azbench(
    *arguments: object, environment: Mapping[str, str], folder: Path
) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user does."""
    return programs.azbench(*arguments, env=dict(environment), cwd=folder, timeout=PATIENCE_S)


def measured(file: Path) -> Path:
    """Measure in this process, into the folder ``out`` beside the file."""
    return campaign.run(campaign.load(file), file.with_name("out"), target="azure")


def measured_and_told(file: Path) -> tuple[Path, list[str]]:
    """The same, with what was told meanwhile."""
    told: list[str] = []
    folder = campaign.run(
        campaign.load(file),
        file.with_name("out"),
        target="azure",
        progress=lambda done, total, text: told.append(text),
    )
    return folder, told


def started(file: Path, options: Sequence[str] = (), **streams: Any) -> subprocess.Popen[str]:
    """The same as a process of its own."""
    out = str(file.with_name("out"))
    command = [str(AZBENCH), "run", str(file), "--target", "azure", "-o", out, *options]
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, **streams}
    return subprocess.Popen(command, text=True, **given)


def until(process: subprocess.Popen[str], text: str) -> list[str]:
    """Read what a process says until it has said this: its lines so far."""
    assert process.stdout
    lines = []
    for line in process.stdout:
        lines.append(line)
        if text in line:
            return lines
    raise AssertionError("".join(lines))


def on_this_machine(folder: Path, call: str) -> subprocess.CompletedProcess[str]:
    """Functions of the scripts for VMs, called here, with the system's folders and tools in a folder."""
    text = resources.files("azbenchlib.campaign.targets.azure").joinpath("guest.sh").read_text()
    text = f"{text}\n{device_guard.functions()}"
    text = text.replace("home=/var/lib/azbench", f"home={folder}/home").replace("/sys/", f"{folder}/sys/")
    text = text.replace("/var/log/", f"{folder}/log/").replace("/run/systemd/", f"{folder}/run/systemd/")
    environment = {"PATH": f"{folder}:{os.environ['PATH']}"}
    command = ["/bin/sh", "-c", f"{text}\n{call}"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def refused(file: Path) -> str:
    """The sentence that a measurement ends with."""
    with pytest.raises(AzbenchError) as caught:
        measured(file)
    return str(caught.value)


def _short(work: dict[str, object]) -> dict[str, object]:
    if "iozone" in work:
        return {**work, "iozone": {**work["iozone"], "file_sizes": ["1MiB"]}}
    short = {**work, "runtime": 1}
    return short if "job" in work else {**short, "size": "16m"}
