"""Ctrl-C while the program starts: it ends without a word, whatever is being imported."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

AZBENCH = Path(sys.executable).with_name("azbench")
OUTPUT = Path(__file__).parents[1] / "data" / "fio" / "randrw.json"
# Python tells each module that it has imported, so that there are moments to wait for.
TRACED = {**os.environ, "PYTHONPROFILEIMPORTTIME": "1"}
TRACE = b"import time:"
FIRST = b"azbenchlib.entry"  # what comes before is Python's own start
AT_PARTS = 5  # moments, spread over all imports of a verb
QUIET = (-signal.SIGINT, 130)


def interrupted(words: tuple[str, ...], at: int | None) -> tuple[int, bytes, int]:
    """The exit code, what is told beside the trace, and how many imports there were; interrupted at one."""
    with subprocess.Popen(
        [AZBENCH, *words], env=TRACED, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        told, count = [], -1
        for line in process.stderr:
            if not line.startswith(TRACE):
                told.append(line)
                continue
            if count >= 0 or line.rstrip().endswith(FIRST):
                count += 1
                if count == at:
                    process.send_signal(signal.SIGINT)
    return process.returncode, b"".join(told), count


@pytest.mark.parametrize("words", [("--help",), ("read", str(OUTPUT))], ids=lambda words: words[0])
def test_an_interrupt_while_modules_are_imported_is_silent(words: tuple[str, ...]) -> None:
    status, whole, count = interrupted(words, None)
    assert status == 0 and count > 100
    statuses = []
    for at in range(0, count, count // AT_PARTS):
        status, told, _ = interrupted(words, at)
        assert status in (*QUIET, 0), told  # 0: it was done before the signal came
        assert whole.startswith(told), told.decode()  # what it tells anyway, and nothing else
        statuses.append(status)
    assert statuses[0] in QUIET


def test_an_interrupt_in_a_finalizer_is_not_dropped() -> None:
    """Python would print it and go on, as it does in the callbacks of its own import locks."""
    run = """if True:
        import signal
        from azbenchlib import cli, entry
        class Finalized:
            def __del__(self):
                signal.raise_signal(signal.SIGINT)
        def run():
            Finalized()
            signal.pause()
        cli.main = run
        entry.main()
    """
    ended = subprocess.run([sys.executable, "-c", run], capture_output=True, check=False, timeout=60)
    assert (ended.returncode, ended.stderr) == (130, b"")


def test_an_interrupt_while_a_class_is_set_up_is_silent() -> None:
    """Python before 3.12 makes a RuntimeError of whatever ``__set_name__`` raises."""
    run = """if True:
        import signal
        from azbenchlib import cli, entry
        class Field:
            def __set_name__(self, owner, name):
                signal.raise_signal(signal.SIGINT)
        def app():
            type("Column", (), {"cells": Field()})
        cli.app = app
        entry.main()
    """
    ended = subprocess.run([sys.executable, "-c", run], capture_output=True, check=False, timeout=60)
    assert (ended.returncode, ended.stderr) == (130, b"")


def test_an_interrupt_that_is_ignored_stays_so() -> None:
    """As of a program that a script has put into the background."""
    ignoring = (
        "from signal import *; import os, sys; signal(SIGINT, SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    )
    command = [sys.executable, "-c", ignoring, AZBENCH, "--help"]
    with subprocess.Popen(command, env=TRACED, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None and process.stdout is not None
        for line in process.stderr:
            if line.rstrip().endswith((FIRST, b"azbenchlib.cli.verbs")):
                process.send_signal(signal.SIGINT)
        assert b"Usage" in process.stdout.read()
    assert process.returncode == 0
