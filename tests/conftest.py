"""What several test modules share: reports made as a user makes them, and an installed browser."""

import fcntl
import gc
import os
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings
from measuring import beside_others
from pages import PATIENCE_MS
from playwright.sync_api import Browser, expect, sync_playwright
from shipped_datasets import MEASURED
from waiting import PATIENCE_S
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from azbenchlib.campaign.doctor import find_browser
from azbenchlib.campaign.interrupts import SIGNALS

ROOT = Path(__file__).parents[1]
# Where `make test` unpacks iozone, if it is not installed.
os.environ["PATH"] += os.pathsep + str(ROOT / ".tools" / "iozone" / "usr" / "bin")
# A shell has what it begins in the background ignore SIGINT, and all that is begun from there.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # as nohup has it
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
# An example takes as long as it takes: on a busy machine a deadline would be a matter of luck.
# Others are drawn in each run; `pytest --hypothesis-profile thorough` draws many at once.
UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", UNHURRIED, max_examples=20)
settings.register_profile("thorough", UNHURRIED, max_examples=300)
settings.load_profile("quick")
# What compares with the clock what a lab did, or sends signals: beside other tests both would be late. They
# mostly wait, so that as many of them as there are cores run at once.
# Single tests of other files, which do the same, have the marker themselves.
ALONE = (
    "lab_campaign",
    "lab_cli_run",
    "lab_dilate",
    "lab_fio",
    "lab_qemu",
    "lab_session",
    "lab_verdicts",
    "relay",
)
# The longest first, so that no worker is left alone with one of them at the end; those that mostly wait and
# those that compute in turn.
LONGEST = (
    *("lab_fio", "lab_cli_run", "lab_campaign", "lab_verdicts", "lab_lessons"),
    *("azure_faults", "package", "setup", "cli", "read_back", "probe_session", "azure_probe", "browser"),
    *("jupyterlab", "probing", "azure_teardown", "report", "docs", "azure_existing", "size_search", "hosts"),
    *("advise", "site", "azure_results", "report_cost", "azure_fake", "campaign", "azure_results_disk"),
    *("compare", "iozone_campaign", "concurrency", "campaign_private", "reading_linear", "warm_up_runs"),
    *("cli_advise", "other_tools", "azure_full_disk"),
)

# One worker has all files that share what takes long to make: an az that has loaded its commands, reports
# about shipped datasets, the source of the package as trees.
TOGETHER = ("fake_azure.fixtures", "shipped_reports", "package_source")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """Hand out whole files, and those that belong together to one worker."""
    return _ByFile(config, log) if config.getvalue("dist") == "loadfile" else None


class _ByFile(LoadFileScheduling):
    def _split_scope(self, nodeid: str) -> str:
        return _scope(super()._split_scope(nodeid))


@cache
def _scope(path: str) -> str:
    """A test file, or what it shares with others."""
    text = (ROOT / path).read_text()
    return next((shared for shared in TOGETHER if shared in text), path)


def pytest_configure(config: pytest.Config) -> None:
    """Let each worker import another part of the tests first.

    Workers begin at the same time: in the same order, each would rewrite the assertions of all files itself
    before another has stored them.
    """
    worker, tests = os.environ.get("PYTEST_XDIST_WORKER", ""), ROOT / "tests"
    if worker and [Path(path).absolute() for path in config.args] == [tests]:
        parts = sorted(str(path) for path in tests.iterdir() if path.is_dir() or path.match("test_*.py"))
        begin = len(parts) * int(worker[2:]) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
        config.args[:] = parts[begin:] + parts[:begin]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Where only tests that run apart from the others are asked for, import no file without one."""
    if config.option.markexpr not in ("alone", "alone and not long") or not collection_path.match(
        "test_*.py"
    ):
        return None
    named = collection_path.stem.removeprefix("test_") in ALONE
    return None if named or "mark.alone" in collection_path.read_text() else True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what must run apart from the others, and put the files that take longest first.

    Workers take the others in an order of no meaning, but always the same: by name, all that wait for a fake
    Azure would wait at the same time.
    """
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.path.stem.removeprefix("test_") in ALONE:
            item.add_marker("alone")
        if item.get_closest_marker("sampled"):
            cases[item.nodeid.partition("[")[0]].append(item)
    for same in cases.values():
        _leave_for_long(same)
    places = {name: place for place, name in enumerate(LONGEST)}
    shuffled = "PYTEST_XDIST_WORKER" in os.environ

    def place(item: pytest.Item) -> tuple[int, int]:
        name = item.path.stem.removeprefix("test_")
        return places.get(name, len(places)), crc32(name.encode()) if shuffled else 0

    items.sort(key=place)


def _leave_for_long(cases: list[pytest.Item]) -> None:
    """Mark all cases of a test as long but for as many as its marker says, which are spread over all."""
    marker = cases[0].get_closest_marker("sampled")
    assert marker is not None
    (n,) = marker.args
    kept = {len(cases) * (2 * i + 1) // (2 * n) for i in range(n)}
    for i, case in enumerate(cases):
        if i not in kept:
            case.add_marker("long")


pytest.register_assert_rewrite("lab_tools")
gc.disable()  # until all is collected: what is imported stays, and there is ever more of it to go through


def pytest_collection_finish() -> None:
    """What was collected stays to the end: the garbage collector need not go through it again and again."""
    gc.enable()
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture(autouse=True)
def signals_as_before() -> Iterator[None]:
    """A verb that is called in this process leaves no handler of signals to the tests after it."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield
    for number, handler in before.items():
        if handler is not None and signal.getsignal(number) is not handler:
            signal.signal(number, handler)


@pytest.fixture(autouse=True)
def measuring(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What is marked as alone may measure, and leaves the machine to another one that measures again."""
    if request.node.get_closest_marker("alone") is None:
        yield
        return
    if "own_disk" in request.fixturenames:  # first, for who waits for the disk must not hold the machine
        request.getfixturevalue("own_disk")
    with beside_others(_shared_by_all_workers(tmp_path_factory)):
        yield


@pytest.fixture
def own_disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No other test that measures the disk of this machine runs meanwhile."""
    with _one_at_a_time(tmp_path_factory, "disk"):
        yield


@pytest.fixture(scope="session")
def report_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Report over the disks of 2020 for somebody, made by the command line."""
    names = ("--author", "Ada <b>", "--client", "R & D")
    return _report(tmp_path_factory, "one", "azure-local-disks-2020", *names)


@pytest.fixture(scope="session")
def long_report_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Report over all the other shipped datasets at once."""
    others = [path.name for path in MEASURED]
    others.remove("azure-local-disks-2020")
    return _report(tmp_path_factory, "many", *others)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """An installed Chromium or one of its kin."""
    path = find_browser()
    if path is None:
        pytest.skip("no Chromium, Chrome or Edge is installed")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


@contextmanager
def _one_at_a_time(tmp_path_factory: pytest.TempPathFactory, name: str) -> Iterator[Path]:
    """The folder that all workers share, while the others wait."""
    home = _shared_by_all_workers(tmp_path_factory)
    with home.joinpath(f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield home


def _shared_by_all_workers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.getbasetemp()
    return home.parent if "PYTEST_XDIST_WORKER" in os.environ else home


def _report(tmp_path_factory: pytest.TempPathFactory, name: str, *arguments: str) -> Path:
    """A report that is made once for all workers: the first makes it."""
    with _one_at_a_time(tmp_path_factory, f"report-{name}") as home:
        folder = home / f"report-{name}"
        if not folder.exists():
            part = folder.with_suffix(".part")
            command = [str(Path(sys.executable).with_name("azbench")), "report", *arguments, "-o", str(part)]
            subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=PATIENCE_S)
            part.rename(folder)
        return folder
