"""Hosts on the loopback: an sshd of our own each, with a home, keys and a place in ssh's configuration."""

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from process_list import fio_in, processes
from waiting import PATIENCE_S, wait_for

SSHD = Path("/usr/sbin/sshd")
CONFIG = "AZBENCH_SSH_CONFIG"


@dataclass
class SshHost:
    """A host: its name in ssh's configuration, its home, and what its sshd is started with."""

    name: str
    folder: Path
    port: int
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def start(self) -> None:
        """Start its sshd, and wait until it answers."""
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # as its service makes it
        log = (self.folder / "log").open("wb")
        self.process = subprocess.Popen(
            [SSHD, "-D", "-e", "-f", self.folder / "sshd_config"], stderr=log, start_new_session=True
        )
        process = self.process
        wait_for(self._answers, lambda: process.poll() is None)

    def _answers(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), PATIENCE_S):
            return True
        return False

    def stop(self) -> None:
        """End its sshd; connections that are open go on."""
        if self.process:
            self.process.terminate()
            self.process.wait()
            self.process = None

    def hang_up(self) -> int:
        """Break all connections that are open, as a network that is away; how many there were."""
        mine = [
            pid
            for pid, parent, args in processes()
            if args.startswith("sshd: ") and self.process and parent == self.process.pid
        ]
        for pid in mine:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return len(mine)

    def fio(self, workload: str) -> set[int]:
        """Process ids of every fio that runs this workload in its home, whatever else this machine does."""
        return fio_in(self.home, workload)

    def new_key(self) -> None:
        """Another host key, as of a host that was set up anew."""
        for path in self.folder.glob("host_key*"):
            path.unlink()
        keygen(self.folder / "host_key")


def keygen(path: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def ssh_hosts(folder: Path, monkeypatch: pytest.MonkeyPatch, *names: str) -> Iterator[list[SshHost]]:
    """Hosts of these names, known to ssh, that let this user in with a key."""
    if not SSHD.exists() or shutil.which("ssh") is None:
        pytest.skip("no sshd (openssh-server) is installed: scripts/install-sshd gets it in a container")
    folder.mkdir()
    keygen(folder / "key")
    hosts = [_host(folder, name) for name in names]
    config = "\n".join(_client(folder, host) for host in hosts)
    (folder / "ssh_config").write_text(config)
    monkeypatch.setenv(CONFIG, str(folder / "ssh_config"))
    know(folder, hosts)
    try:
        for host in hosts:
            host.start()
        yield hosts
    finally:
        for host in hosts:
            host.hang_up()
            host.stop()


def know(folder: Path, hosts: list[SshHost]) -> None:
    """Have ssh know the keys that the hosts have now."""
    lines = [f"{host.name} {(host.folder / 'host_key.pub').read_text()}" for host in hosts]
    (folder / "known_hosts").write_text("".join(lines))


def _host(folder: Path, name: str) -> SshHost:
    host = SshHost(name, folder / name, free_port())
    host.home.mkdir(parents=True)
    keygen(host.folder / "host_key")
    settings = {
        "ListenAddress": "127.0.0.1",
        "Port": host.port,
        "HostKey": host.folder / "host_key",
        "PidFile": "none",
        "AuthorizedKeysFile": folder / "key.pub",
        "StrictModes": "no",
        "UsePAM": "no",
        "PasswordAuthentication": "no",
        "KbdInteractiveAuthentication": "no",
        "PermitRootLogin": "yes",
        "SetEnv": f"HOME={host.home}",
        "MaxStartups": "100",
    }
    text = "".join(f"{key} {value}\n" for key, value in settings.items())
    (host.folder / "sshd_config").write_text(text)
    return host


def _client(folder: Path, host: SshHost) -> str:
    return (
        f"Host {host.name}\n  HostName 127.0.0.1\n  Port {host.port}\n  HostKeyAlias {host.name}\n"
        f"  IdentityFile {folder / 'key'}\n  IdentitiesOnly yes\n"
        f"  UserKnownHostsFile {folder / 'known_hosts'}\n  GlobalKnownHostsFile /dev/null\n"
    )
