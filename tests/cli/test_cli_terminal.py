"""What a terminal of 80 columns shows: no word is cut, and none is divided."""

import contextlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pty", reason="a pseudo-terminal is a matter of POSIX")
WIDTH = 80
LINES = (
    "limits --vm Standard_D4as_v5 --disk P40:None --bs 4k,64k",
    "cost --vm Standard_D4as_v5 --disk P40 --region westeurope",
)


def shown(line: str) -> str:
    """What a command prints on a terminal, without colours."""
    command = [str(Path(sys.executable).parent / "azbench"), *line.split()]
    main, terminal = os.openpty()
    env = {**os.environ, "COLUMNS": str(WIDTH), "TERM": "xterm"}
    with subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, env=env):
        os.close(terminal)
        parts = []
        with contextlib.suppress(OSError):  # the end of a terminal whose program has ended
            while part := os.read(main, 65_536):
                parts.append(part)
    os.close(main)
    return re.sub(r"\x1b\[[0-9;]*m", "", b"".join(parts).decode()).replace("\r\n", "\n")


@pytest.mark.parametrize("line", LINES)
def test_no_word_is_cut_or_divided(line: str) -> None:
    text = shown(line)
    assert max(map(len, text.splitlines())) <= WIDTH
    assert "…" not in text
    piped = subprocess.run(
        [Path(sys.executable).parent / "azbench", *line.split()], capture_output=True, text=True, check=True
    )
    words = set(re.findall(r"[\w.,;:()-]+", piped.stdout + piped.stderr)) - {"Roofline", "(log)"}
    assert words <= set(re.findall(r"[\w.,;:()-]+", text))
