"""Interrupts of this process and the kernel that it waits for; a plain process stands for the kernel."""

import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

from azbenchlib.report import interrupts
from azbenchlib.report.interrupts import MOST_INTERRUPTS, Relay

# An interrupt may come while it still prints, and print may not be called again then.
KERNEL = """
import os, signal
signal.signal(signal.SIGINT, lambda *_: os.write(1, b"interrupted\\n"))
os.write(1, b"up\\n")
while True: signal.pause()
"""


@pytest.fixture
def kernel():
    """A process that tells of each interrupt, in a session of its own as a kernel is."""
    command = [sys.executable, "-c", KERNEL]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout and process.stdout.readline() == "up\n"
        yield process
        process.kill()


@pytest.fixture
def relay(kernel, monkeypatch):
    monkeypatch.setattr(interrupts, "SAME_S", 0.0)
    relay = Relay()
    relay.kernel = SimpleNamespace(provisioner=SimpleNamespace(pid=kernel.pid))
    with relay.passing():
        yield relay


def interrupt(number: int = signal.SIGINT) -> None:
    os.kill(os.getpid(), number)


def test_a_cell_at_work_is_interrupted_and_this_process_goes_on(relay, kernel):
    relay.send()
    relay.begin()
    interrupt()
    assert kernel.stdout.readline() == "interrupted\n"


def test_an_interrupt_before_a_cell_begins_is_passed_on_when_it_does(relay, kernel):
    relay.send()
    interrupt()  # a kernel that is about to begin would not notice it
    relay.begin()
    assert kernel.stdout.readline() == "interrupted\n"


def test_without_a_cell_this_process_is_interrupted(relay):
    with pytest.raises(KeyboardInterrupt):
        interrupt()


def test_a_cell_that_took_no_notice_is_the_last_one(relay, kernel):
    relay.send()
    relay.begin()
    interrupt()
    relay.end()
    with pytest.raises(KeyboardInterrupt):
        relay.send()


def test_a_kernel_that_takes_no_notice_of_many_is_given_up(relay, kernel):
    relay.send()
    relay.begin()
    for _ in range(MOST_INTERRUPTS):
        interrupt()
        assert kernel.stdout.readline() == "interrupted\n"
    with pytest.raises(KeyboardInterrupt):
        interrupt()
    assert relay.given_up


def test_a_kernel_that_is_gone_is_no_error(relay, kernel):
    relay.send()
    relay.begin()
    kernel.kill()
    kernel.wait()
    interrupt()


def test_signals_that_did_something_else_go_on_doing_it(relay):
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    assert signal.getsignal(signal.SIGINT) == relay._handle
