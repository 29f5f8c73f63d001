"""Ways to hosts, each of them real: what holds for a host is tried over all that :data:`WAYS` lists."""

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest
from process_list import fio_in, processes
from ssh_hosts import ssh_hosts
from waiting import wait_for

# All that a host has beside fio, a shell and /proc: coreutils, as busybox has them.
COREUTILS = (
    *("[", "cat", "chmod", "dd", "df", "ln", "ls", "mkdir", "mktemp", "mv", "readlink", "rm"),
    *("rmdir", "sleep", "tail", "timeout", "tr", "true", "uname", "wc"),
)


class Host(Protocol):
    """A host, and what tests do to it."""

    @property
    def home(self) -> Path: ...
    def fio(self, workload: str) -> set[int]: ...
    def hang_up(self) -> int: ...


@dataclass
class PrefixHost:
    """A host behind a command; where its home lies as it is seen from here."""

    words: tuple[str, ...]
    home: Path
    seen: Path

    def fio(self, workload: str) -> set[int]:
        """Process ids of every fio that runs this workload in its home."""
        return fio_in(self.seen, workload)

    def hang_up(self) -> int:
        """Break all that is connected, as a network that is away does; how much there was."""
        mine = [pid for pid, _, _ in processes() if self._is_connected(pid)]
        for pid in mine:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return len(mine)

    def _is_connected(self, pid: int) -> bool:
        """Whether it is of this host, and something is at the other end of its standard input."""
        with suppress(OSError):
            ours = f"HOME={self.home}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            return ours and str(Path(f"/proc/{pid}/fd/0").readlink()).startswith(("pipe:", "socket:"))
        return False


@contextmanager
def nothing_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Sockets and connections of runs, refused ones too, are gone with them; have ``tmp_path`` before."""
    folder = Path(tempfile.mkdtemp(prefix="azt-"))  # short, for sockets have short names
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield
    left = [path.name for path in folder.iterdir()]
    shutil.rmtree(folder)
    assert left == []


Hosts = Callable[..., AbstractContextManager[Sequence[Host]]]


@dataclass(frozen=True, kw_only=True)
class Way:
    """A way to hosts: what it is called here, and how a manifest tells it."""

    name: str
    told: str
    hosts: Hosts
    has_device_tools: bool = True  # as util-linux
    has_relay: bool = True  # perl or socat

    def target(self, hosts: Sequence[Host]) -> str:
        """What is given as ``--target`` for these hosts."""
        named = [shlex.join(host.words) for host in hosts if isinstance(host, PrefixHost)]
        names = ",".join(host.home.parent.name for host in hosts)
        return f"exec:{' , '.join(named)}" if named else f"ssh:{names}"


def behind(*words: str) -> Hosts:
    """Hosts behind these words, each with a home of its own."""

    @contextmanager
    def made(folder: Path, monkeypatch: pytest.MonkeyPatch, *names: str) -> Iterator[list[PrefixHost]]:
        if shutil.which(words[0]) is None:
            pytest.skip(f"no {words[0]} is installed")
        homes = [folder / name / "home" for name in names]
        for home in homes:
            home.mkdir(parents=True)
        yield [PrefixHost((*words, "env", f"HOME={home}"), home, home) for home in homes]

    return made


@contextmanager
def namespaces(folder: Path, monkeypatch: pytest.MonkeyPatch, *names: str) -> Iterator[list[PrefixHost]]:
    """Hosts in mount namespaces of their own, which last as long as a process."""
    with ExitStack() as stack:
        pids = [stack.enter_context(_first_process("-m", "sleep", "infinity")) for _ in names]
        hosts = stack.enter_context(behind("env")(folder, monkeypatch, *names))
        yield [
            PrefixHost(("nsenter", "-t", str(pid), "-m", "--", *host.words), host.home, host.seen)
            for pid, host in zip(pids, hosts, strict=True)
        ]


@contextmanager
def pods(folder: Path, monkeypatch: pytest.MonkeyPatch, *names: str) -> Iterator[list[PrefixHost]]:
    """Hosts as small containers: processes and files of their own, a shell, coreutils and fio alone."""
    programs = {name: shutil.which(name) for name in ("fio", "dash", "busybox")}
    if lacking := [name for name, path in programs.items() if path is None]:
        pytest.skip(f"no {lacking[0]} is installed; scripts/install-busybox gets busybox")
    with ExitStack() as stack:
        hosts = []
        for name in names:
            home, root = folder / name / "home", folder / name / "root"
            home.mkdir(parents=True)
            binds = {f"usr/{lib}": f"/usr/{lib}" for lib in ("lib", "lib64") if Path("/usr", lib).is_dir()}
            binds |= {"dev": "/dev", "sys": "/sys", str(home)[1:]: str(home)}
            for place in ("bin", "etc", "proc", "tmp", *binds):
                (root / place).mkdir(parents=True)
            for link in ("lib", "lib64"):
                (root / link).symlink_to(f"usr/{link}")
            shutil.copy("/etc/ld.so.cache", root / "etc")
            for name, path in programs.items():
                shutil.copy(path, root / "bin" / name)
            (root / "bin/sh").symlink_to("dash")  # the shell of busybox would have all of its tools
            for tool in COREUTILS:
                (root / "bin" / tool).symlink_to("busybox")
            mounts = [["mount", "--rbind", source, place] for place, source in binds.items()]
            steps = [["cd", str(root)], *mounts, ["mount", "-t", "proc", "proc", "proc"]]
            steps += [["exec", "chroot", ".", "sleep", "1000000"]]
            pid = stack.enter_context(
                _first_process("-m", "-p", "-f", "sh", "-c", " && ".join(map(shlex.join, steps)))
            )
            wait_for(lambda pid=pid, root=root: Path(f"/proc/{pid}/root").readlink() == root)
            words = ("env", f"HOME={home}", "PATH=/bin", "nsenter", "-t", str(pid), "-m", "-p", "-r", "-w")
            hosts.append(PrefixHost(words, home, root / str(home)[1:]))
        yield hosts


@contextmanager
def _first_process(*words: str) -> Iterator[int]:
    """A process in namespaces of its own: its id; it is ended, and with a process namespace all in it."""
    if os.geteuid():
        pytest.skip("namespaces of one's own need root")
    with subprocess.Popen(["unshare", *words], stderr=subprocess.DEVNULL) as process:
        try:
            pid = process.pid
            if "-f" in words:
                children = Path(f"/proc/{pid}/task/{pid}/children")
                wait_for(children.read_text, lambda: process.poll() is None)
                pid = int(children.read_text())
            own = Path("/proc/self/ns/mnt").readlink()
            wait_for(lambda: Path(f"/proc/{pid}/ns/mnt").readlink() != own, lambda: process.poll() is None)
            yield pid
        finally:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            process.wait()


WAYS = (
    Way(name="env", told="through env", hosts=behind("env")),
    Way(name="shell", told="through sh", hosts=behind("sh", "-c", 'exec "$@"', "sh")),
    Way(name="ssh", told="by ssh", hosts=ssh_hosts),
    Way(name="pod", told="through env", hosts=pods, has_device_tools=False, has_relay=False),
    Way(name="namespace", told="through nsenter", hosts=namespaces),
)
