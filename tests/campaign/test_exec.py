"""Hosts behind a command: how it is stated, what is missing there, and what goes wrong on the way."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from loop_devices import loop_device
from process_list import fio_in
from typer.testing import CliRunner
from waiting import wait_for
from ways_to_hosts import Host, namespaces, nothing_left, pods

from azbenchlib.campaign import experiment
from azbenchlib.campaign.experiment import Todo
from azbenchlib.campaign.journal import Journal, JournalEvent
from azbenchlib.campaign.targets.hosts import host
from azbenchlib.campaign.targets.hosts.transport import PrefixTransport
from azbenchlib.campaign.workloads.grid import matrix
from azbenchlib.cli import app
from azbenchlib.core.errors import AzbenchError, InputError, MissingToolError, UnsafeTargetError
from azbenchlib.core.targets import CommandPrefix, check_target_name, host_addresses
from azbenchlib.core.units import MIB
from azbenchlib.dataset.dataset import Dataset

FILE = """\
title: Behind a command
region: westeurope
vm: Standard_D4as_v5
zone: 1
disks:
  data: {sku: Premium_LRS, size: 128GiB}
workloads:
  tiny: {rw: randread, bs: 4k, size: 1m, runtime: RUNTIME, ioengine: psync, direct: false}
"""
TINY = Todo(matrix(["4k"], [1], ["randread"], size="1m", runtime_s=0.2, ramp_s=0, direct=False))


@pytest.fixture(autouse=True)
def nothing_is_left_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with nothing_left(monkeypatch):
        yield


def kept(folder: Path) -> int:
    return sum(event["event"] == JournalEvent.KEPT for event in Journal(folder).events())


def behind(*words: object) -> str:
    return f"exec:{shlex.join(map(str, words))}"


def test_commands_are_words_as_in_a_shell() -> None:
    (one,) = host_addresses("""exec:nsenter -t 1 sh -c 'exec "$@"' 'a, b' x,y""")
    assert one == CommandPrefix(("nsenter", "-t", "1", "sh", "-c", 'exec "$@"', "a, b", "x,y"))
    assert len(host_addresses("exec:docker exec -i a , docker exec -i b")) == 2
    check_target_name("exec:kubectl exec -i POD -c fio --")


@pytest.mark.parametrize(
    ("words", "program"),
    [
        (("/usr/bin/kubectl", "-n", "mine", "exec", "-i", "pod-7", "--"), "kubectl exec"),
        (("docker", "exec", "-i", "name"), "docker exec"),
        (("chroot", "/srv/mine"), "chroot"),
    ],
)
def test_a_manifest_tells_the_program_and_not_where_it_leads(words: tuple[str, ...], program: str) -> None:
    assert CommandPrefix(words).way == f"through {program}"


def test_messages_hold_no_secret_and_no_home() -> None:
    words = ("docker", "--password", "hunter2", "exec", "-i", "/home/user/x")
    assert str(CommandPrefix(words)) == "docker --password '…' exec -i '~/x'"


@pytest.mark.parametrize("target", ["exec:", "exec:  ", "exec:,", "exec:env ,", "exec:env , , env"])
def test_no_command_is_refused_before_anything_is_started(target: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["run", "--target", target, "-o", str(tmp_path / "ds")])
    assert isinstance(done.exception, InputError) and done.exception.exit_code == 2
    assert "names no command; write one behind which another is run, such as 'exec:docker" in str(
        done.exception
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("target", "error", "said"),
    [
        ("exec:env 'a", InputError, r"cannot be split into words: No closing quotation"),
        ("exec:env , env", InputError, r"env is there twice; name each host once"),
        ("exec", InputError, r"target 'exec' is unknown; the choices are: .*exec:COMMAND"),
        (
            "exec:azbench-has-none x",
            MissingToolError,
            r"^azbench-has-none x: there is no program azbench-has-n",
        ),
        ("exec:true", MissingToolError, r"^true: nothing came back; .*`kubectl exec -i` do"),
        (
            "exec:sh -c 'echo container gone >&2; exit 1'",
            AzbenchError,
            r"reached through sh: container gone$",
        ),
        ("exec:chroot EMPTY", MissingToolError, r"^chroot .*: has no sh; a POSIX shell is needed there"),
        ("exec:env PATH=EMPTY", MissingToolError, r"^env .*: has no sh"),
        ("exec:env PATH=EMPTY /bin/sh -c 'exec \"$@\"' sh", MissingToolError, r": has no sh"),
        ("exec:env PATH=EMPTY /bin/sh -c 'exec /bin/sh' sh", MissingToolError, r": has no fio; `apt install"),
        ("exec:env PATH=FIO /bin/sh -c 'exec /bin/sh' sh", MissingToolError, r": has no cat, df, ln, mkdir,"),
        (
            "exec:env -u HOME",
            AzbenchError,
            r"HOME: must name a folder: put env HOME=/mnt/data int",
        ),
        (
            "exec:env HOME=/proc/none",
            InputError,
            r"nothing can be kept in /proc/none \(mktemp: .*HOME",
        ),
    ],
)
@pytest.mark.fio
def test_what_is_missing_is_told(target: str, error: type[AzbenchError], said: str, tmp_path: Path) -> None:
    if "chroot" in target and os.geteuid():
        pytest.skip("chroot needs root")
    for name in ("empty", "fio"):
        (tmp_path / name).mkdir()
    (tmp_path / "fio" / "fio").symlink_to(shutil.which("fio") or "")
    target = target.replace("EMPTY", str(tmp_path / "empty")).replace("FIO", str(tmp_path / "fio"))
    with pytest.raises(error, match=said) as refused:
        experiment.run(TINY, tmp_path / "ds", target=target)
    assert refused.value.exit_code == 2 and not (tmp_path / "ds").exists()


def test_a_command_that_hangs_is_given_up() -> None:
    transport = PrefixTransport(address=CommandPrefix(("sh", "-c", "exec sleep 1000")))
    with pytest.raises(MissingToolError, match="nothing came back"):
        transport.ask("true", longest_s=0.3)


def test_an_answer_that_was_cut_off_is_asked_for_again(tmp_path: Path) -> None:
    """The first call gets half of the answer, and what is told is that the connection broke."""
    cut = f'[ -e {tmp_path}/second ] || {{ : >{tmp_path}/second; "$@" | head -c 20; exit 0; }}; exec "$@"'
    told: list[str] = []
    transport = PrefixTransport(address=CommandPrefix(("sh", "-c", cut, "sh")), tell=told.append)
    transport._been_there = True
    assert transport.ask("echo this is more than twenty bytes") == b"this is more than twenty bytes\n"
    assert len(told) == 1 and "the connection broke; what runs there goes on" in told[0]


def test_half_a_script_does_nothing(tmp_path: Path) -> None:
    half = PrefixTransport(address=CommandPrefix(("sh", "-c", 'head -c 200 | "$@"', "sh")))
    with pytest.raises(AzbenchError, match="cannot be reached through sh: "):
        half.ask(f"touch {tmp_path}/evil\n" + "# more\n" * 100)
    assert not list(tmp_path.iterdir())


@pytest.mark.fio
def test_spaces_and_quotes_in_every_path(tmp_path: Path) -> None:
    home, data = tmp_path / "a b'c\"d $e", tmp_path / "da ta; touch x"
    home.mkdir()
    data.mkdir()
    folder = experiment.run(TINY, tmp_path / "ds", target=behind("env", f"HOME={home}"), directory=str(data))
    assert len(Dataset.read(folder).runs) == 1
    assert not list(home.iterdir()) and not list(data.iterdir())


@pytest.mark.fio
def test_a_directory_that_takes_nothing_is_refused(tmp_path: Path) -> None:
    with namespaces(tmp_path / "hosts", pytest.MonkeyPatch(), "one") as hosts:
        target, data = behind(*hosts[0].words), tmp_path / "data"
        data.mkdir()
        within(hosts[0], "mount", "-t", "tmpfs", "-o", "ro", "tmpfs", data)
        with pytest.raises(UnsafeTargetError, match=f"{data}: is not writable; choose a directory that is"):
            experiment.run(TINY, tmp_path / "ds", target=target, directory=str(data))
        assert not list(hosts[0].home.iterdir())


@pytest.mark.fio
def test_a_home_that_is_full_is_told(tmp_path: Path) -> None:
    with namespaces(tmp_path / "hosts", pytest.MonkeyPatch(), "one") as hosts:
        home, data = hosts[0].home, tmp_path / "data"
        data.mkdir()
        within(hosts[0], "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", home)
        within(hosts[0], "sh", "-c", f"head -c 1m /dev/zero >{home}/full 2>/dev/null; true")
        with pytest.raises(AzbenchError, match="No space left on device"):
            experiment.run(TINY, tmp_path / "ds", target=behind(*hosts[0].words), directory=str(data))
        assert not list(data.iterdir())


def within(one: Host, *words: object) -> None:
    subprocess.run([*one.words, *map(str, words)], check=True)  # type: ignore[attr-defined]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    (tmp_path / "file.yaml").write_text(FILE.replace("RUNTIME", "1"))
    return tmp_path / "home"


@pytest.mark.fio
def test_a_worker_that_was_killed_is_begun_anew(home: Path, tmp_path: Path) -> None:
    """With all that it ran, as where memory is short."""
    killed: list[int] = []

    def kill() -> None:
        wait_for(lambda: fio_in(home, "tiny"))
        killed.append(int(next(home.glob(".azbench/*/tiny/pid")).read_text()))
        os.killpg(killed[0], signal.SIGKILL)

    killer = Thread(target=kill)
    killer.start()
    asked = experiment.load(tmp_path / "file.yaml")
    folder = experiment.run(asked, tmp_path / "ds", target=behind("env", f"HOME={home}"))
    killer.join()
    assert killed and kept(folder) == 1 and len(Dataset.read(folder).runs) == 1
    assert not list(home.iterdir())


@pytest.mark.fio
def test_two_campaigns_on_a_host_leave_each_other_alone(home: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from azbenchlib.campaign import experiment as e\n"
        "e.run(e.load(sys.argv[1]), sys.argv[2], target=sys.argv[3])"
    )
    argv = [sys.executable, "-c", code, tmp_path / "file.yaml"]
    both = [
        subprocess.Popen([*argv, tmp_path / name, behind("env", f"HOME={home}")]) for name in ("one", "two")
    ]
    assert [process.wait() for process in both] == [0, 0]
    assert [kept(tmp_path / name) for name in ("one", "two")] == [1, 1]
    assert not list(home.iterdir())


@pytest.mark.fio
def test_a_device_is_refused_where_nothing_can_look_at_it(tmp_path: Path) -> None:
    with (
        loop_device(tmp_path / "image", 16 * MIB) as device,
        pods(tmp_path / "hosts", pytest.MonkeyPatch(), "one") as hosts,
    ):
        target = behind(*hosts[0].words)
        with pytest.raises(UnsafeTargetError, match="cannot be looked at without the program awk"):
            experiment.run(TINY, tmp_path / "ds", target=target, directory=str(device))
        assert not list(hosts[0].home.iterdir()) and not (tmp_path / "image").read_bytes().strip(b"\0")
        words = f"overwrite mounted {device}"
        folder = experiment.run(
            TINY, tmp_path / "ds", target=target, directory=str(device), allow_unsafe=words
        )
        assert kept(folder) == 1 and (tmp_path / "image").read_bytes().strip(b"\0")
        assert not list(hosts[0].home.iterdir())


@pytest.mark.fio
def test_several_hosts_without_a_relay_are_refused(tmp_path: Path) -> None:
    with pods(tmp_path / "hosts", pytest.MonkeyPatch(), "one", "two") as hosts:
        target = " , ".join(behind(*one.words) for one in hosts).replace(", exec:", ", ")
        with pytest.raises(AzbenchError, match="has neither perl nor socat, of which several hosts at once"):
            experiment.run(TINY, tmp_path / "ds", target=target)
        assert not [path for one in hosts for path in one.home.iterdir()] and not kept(tmp_path / "ds")


@pytest.mark.fio
@pytest.mark.long  # test_hosts.py measures behind a command, and test_measured_by_command.py by this one
def test_the_command_line_measures_behind_a_command(home: Path, tmp_path: Path) -> None:
    words = ["run", tmp_path / "file.yaml", "--target", behind("env", f"HOME={home}"), "-o", tmp_path / "ds"]
    done = subprocess.run(
        [Path(sys.executable).with_name("azbench"), *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(Dataset.read(tmp_path / "ds").runs) == 1 and not list(home.iterdir())


OUTPUTS = b"azbench-outputs\n"
FILES = b"2 a.json\n{}3 b.log\n1\n2"


def packed(text: bytes) -> bytes:
    pack = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    return pack.compress(text) + pack.flush()


@pytest.mark.parametrize("said", [FILES, packed(FILES)], ids=["plain", "packed"])
def test_outputs_arrive_to_the_letter(said: bytes) -> None:
    assert host.outputs(b"a word\n" + OUTPUTS + said, 100) == {"a.json": b"{}", "b.log": b"1\n2"}
    assert host.outputs(OUTPUTS, 100) == {}
    for end in range(1, len(said) - 1):  # where nothing but a whole file is cut off, the script did not end
        if said[:end] != FILES[:11]:
            with pytest.raises(AzbenchError, match="the outputs did not arrive whole"):
                host.outputs(OUTPUTS + said[:end], 100)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (b"", "did not arrive whole"),
        (OUTPUTS + b"1 ..\nx", "did not arrive whole"),
        (OUTPUTS + b"1 /\nx", "did not arrive whole"),
        (OUTPUTS + b"-1 a\nx", "did not arrive whole"),
        (OUTPUTS + b"99999999999999999999 a\nx", "did not arrive whole"),
        (OUTPUTS + b"1 \xff\nx", "did not arrive whole"),
        (OUTPUTS + b"200 a\n" + bytes(200), "are more than 100 B"),
        (OUTPUTS + packed(b"999999 a\n" + bytes(999999)), "are more than 100 B"),
    ],
)
def test_outputs_that_are_none_are_refused(said: bytes, why: str) -> None:
    with pytest.raises(AzbenchError, match=why):
        host.outputs(said, 100)
    assert host.outputs(OUTPUTS + b"1 ../../etc/x\ny", 100) == {"x": b"y"}
