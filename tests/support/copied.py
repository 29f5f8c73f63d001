"""Cutting fio jobs out of what a command printed, and asking the real fio whether it understands them."""

import os
import re
import shutil
import subprocess
from pathlib import Path

FIO = shutil.which("fio")


def job_in(text: str) -> str:
    """What a user would copy: from the first line of the job, a comment or ``[global]``, on."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if re.match(r"\s*(;|\[global\])", line))
    return "\n".join(lines[first:]) + "\n"


def parsed(job: str, folder: Path) -> list[str]:
    """The names of the jobs that fio finds; what it says against a job fails the test."""
    assert FIO
    path = folder / "copied.fio"
    path.write_text(job)
    done = subprocess.run(
        [FIO, "--parse-only", str(path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "TARGET": str(folder / "target")},
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    return re.findall(r"^\[(?!global)(.+)\]$", job, re.MULTILINE)
