"""How large azbench is when it is installed, and what that takes; writes into docs/index.md.

    .venv/bin/python benchmarks/install_size.py

The wheel is made of this checkout. Each row is an empty environment with the versions of requirements.lock.
They are downloaded before the time is taken, so that it is that of unpacking and not of the network.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import page_part

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = "benchmarks/install_size.py"
PAGE = ROOT / "docs" / "index.md"
UV = shutil.which("uv") or str(ROOT / ".tools" / "uv" / "bin" / "uv")
EXTRAS = ("", "notebooks", "lake", "dask")  # those that a user needs
COLUMNS = ("What is installed", "Packages", "MiB", "CPU (s)")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="azbench-") as name:
        folder = Path(name)
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=ROOT, check=True,
            capture_output=True,
        )  # fmt: skip
        (wheel,) = folder.glob("*.whl")
        rows = [row(extra, wheel, folder) for extra in EXTRAS]
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in (COLUMNS, ["---"] * len(COLUMNS), *rows))
    version = ".".join(map(str, sys.version_info[:2]))
    page_part.write(PAGE, PROGRAM, f"{sys.platform.capitalize()}, Python {version}:\n\n{table}")


def row(extra: str, wheel: Path, folder: Path) -> list[str]:
    """The cells of one extra, or of the core alone."""
    named = f"azbench[{extra}]" if extra else "azbench"
    for place in ("first", "again"):
        home = folder / f"{extra or 'core'}-{place}"
        subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, home], check=True)
        seconds = installed(home / "bin" / "python", f"{named} @ {wheel.as_uri()}")
    packages = subprocess.run(
        [UV, "pip", "list", "--quiet", "--python", home / "bin" / "python", "--format", "freeze"],
        check=True, capture_output=True, text=True,
    ).stdout.splitlines()  # fmt: skip
    cells = [f"`{named}`", str(len(packages)), f"{size(home) / 2**20:,.0f}", f"{seconds:.1f}"]
    print(*cells, flush=True)
    return cells


def installed(python: Path, what: str) -> float:
    """Install into an environment, with copies of what uv keeps; CPU seconds."""
    command = [UV, "pip", "install", "--quiet", "--link-mode", "copy", "--python", str(python)]
    started = subprocess.Popen([*command, "--constraints", str(ROOT / "requirements.lock"), what])
    _, status, used = os.wait4(started.pid, 0)
    if status:
        raise SystemExit(f"{what} could not be installed")
    return used.ru_utime + used.ru_stime


def size(folder: Path) -> int:
    """Bytes that a folder takes on the disk."""
    return 512 * sum(path.lstat().st_blocks for path in folder.rglob("*"))  # POSIX counts blocks of 512 bytes


if __name__ == "__main__":
    main()
