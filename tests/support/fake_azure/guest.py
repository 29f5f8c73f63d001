"""Process 1 of an emulated VM: makes its private world, then obeys its host, one JSON line a request.

Started by `azure.vm` in namespaces of its own; needs only `loops` and the standard library. It ends with its
standard input, which closes with the host's process however that ended; the kernel then takes the VM's
processes, mounts and loop devices back.
"""

import fcntl
import json
import os
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import threading
import time
import traceback
import uuid
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from loops import Loop, Loops
from network import pass_on

# What is the host's own business and no part of a fresh VM: there, but empty.
EMPTY = {"tmp": 0o1777, "mnt": 0o755, "media": 0o755, "home": 0o755, "srv": 0o755}
NODES = {"null": (1, 3), "zero": (1, 5), "full": (1, 7), "random": (1, 8), "urandom": (1, 9), "tty": (5, 0)}
LINKS = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2", "ptmx": "pts/ptmx"}

# "The last 4 KB": https://learn.microsoft.com/azure/virtual-machines/linux/run-command-managed
OUTPUT_BYTES = 4096
SCRIPTS = Path("/var/lib/waagent/run-command-handler/download")
AZURE_LINKS = Path("/dev/disk/azure")
QUIET = "noinit_itable"  # no writing behind the back of a measurement
OWN, ROOT = Path("/dev/own"), Path("/dev/root")  # where the root is put together
DATALOSS_WARNING = """WARNING: THIS IS A TEMPORARY DISK.
Any data stored on this drive is SUBJECT TO LOSS and THERE IS NO WAY TO RECOVER IT.
"""
CERTIFICATE = "/etc/ssl/outside.pem"
ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "CURL_CA_BUNDLE": CERTIFICATE,
}
SIOCGIFFLAGS, SIOCSIFFLAGS, SIOCSIFADDR, IFF_UP = 0x8913, 0x8914, 0x8916, 1  # netdevice(7)
LOST = {"state": "Running", "exit_code": None, "output": "", "error": "", "started": None, "ended": None}
METADATA = "169.254.169.254"
CLOUD_INIT = """#!/bin/sh
case "$*" in
    "status --wait") printf '\\n' ;;
    status) ;;
    *) echo "this fake cloud-init knows only: status [--wait]" >&2; exit 2 ;;
esac
cat /run/cloud-init/status
exec grep -qx 'status: done' /run/cloud-init/status
"""

# The kernel may have no md, so of a stripe the first member alone is driven, and the others remember it. As
# with md, one that was made at home on another host is not found, but for one that is at home on any.
MDADM = """#!/bin/sh
verb=$1 device=$2 home=$(hostname)
shift 2
case "$verb" in
    --stop) rm "$device"; exit ;;
    --create)
        for word in "$@"; do
            shift
            case "$word" in --homehost=*) home=${word#*=} ;; --*) ;; *) set -- "$@" "$word" ;; esac
        done ;;
    --assemble) ;;
    *) echo "this fake mdadm knows only: --create, --assemble, --stop" >&2; exit 2 ;;
esac
name=${device##*/} first=$1
shift
for member in "$@"; do
    if [ "$verb" = --create ]; then
        printf 'md %s %s' "$home" "$name" | dd of="$member" bs=4096 seek=1 conv=notrunc,fsync status=none
    else
        case "$(dd if="$member" bs=4096 skip=1 count=1 status=none | tr -d '\\0')" in
            "md $home $name" | "md any $name") ;;
            *) exit 1 ;;
        esac
    fi
done
mkdir -p "${device%/*}"
ln -s "$first" "$device"
"""


def reach_out(images: int, port: int) -> None:
    """Have the host's server at its port on our own loopback, by the socket among the images."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        flags = struct.unpack(
            "16sH22x", fcntl.ioctl(control, SIOCGIFFLAGS, struct.pack("16sH22x", b"lo", 0))
        )[1]
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", flags | IFF_UP))
    listener = socket.create_server(("127.0.0.1", port))

    def serve(inside: socket.socket) -> None:
        with inside, socket.socket(socket.AF_UNIX) as outside:
            outside.connect(f"/proc/self/fd/{images}/network")
            back = threading.Thread(target=pass_on, args=(outside, inside), daemon=True)
            back.start()
            pass_on(inside, outside)
            back.join()

    def accept() -> None:
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


class _Metadata(BaseHTTPRequestHandler):
    """The instance metadata service, as far as it gives the VM its token."""

    token = ""

    def do_GET(self) -> None:
        asked = self.path.startswith(
            "/metadata/identity/oauth2/token?api-version=2018-02-01&resource=https://"
        )
        good = bool(asked and self.token and self.headers.get("Metadata") == "true")
        said = {"access_token": self.token, "token_type": "Bearer"} if good else {"error": "invalid_request"}
        content = json.dumps(said).encode()
        self.send_response(200 if good else 400)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


def tell_token(token: str) -> None:
    """Answer at the address of the metadata service."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        address = struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton(METADATA))
        fcntl.ioctl(control, SIOCSIFADDR, struct.pack("16s16s8x", b"lo:1", address))
    server = ThreadingHTTPServer((METADATA, 80), type("Metadata", (_Metadata,), {"token": token}))
    threading.Thread(target=server.serve_forever, daemon=True).start()


def call(*command: str) -> None:
    """Run a command; its complaint becomes ours."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"{' '.join(command)}: {done.stderr.strip()}")


def make_dev() -> None:
    """Put a /dev of our own over the host's; loop devices get their nodes as they come."""
    call("mount", "-t", "tmpfs", "-o", "mode=755", "dev", "/dev")
    for name, number in NODES.items():
        os.mknod(f"/dev/{name}", stat.S_IFCHR | 0o666, os.makedev(*number))
        Path("/dev", name).chmod(0o666)
    for name, target in LINKS.items():
        Path("/dev", name).symlink_to(target)
    for folder in ("pts", "shm", "disk/azure"):
        Path("/dev", folder).mkdir(parents=True)
    call("mount", "-t", "devpts", "-o", "newinstance,ptmxmode=0666,mode=620", "devpts", "/dev/pts")
    call("mount", "-t", "tmpfs", "-o", "mode=1777", "shm", "/dev/shm")  # noqa: S108


@dataclass
class Script:
    """One run-command's script, running or ended."""

    folder: Path
    process: subprocess.Popen
    timer: threading.Timer
    started: float
    ended: float | None = None

    def kill(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)

    def status(self) -> dict[str, Any]:
        code = self.process.poll()
        if code is not None:
            self.timer.cancel()
            self.ended = self.ended or time.time()
        return {
            "state": "Running" if code is None else "Failed" if code else "Succeeded",
            "exit_code": code if code is None else max(code, -1),
            "output": self._tail("stdout"),
            "error": self._tail("stderr"),
            "started": self.started,
            "ended": self.ended,
        }

    def _tail(self, name: str) -> str:
        with (self.folder / name).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - OUTPUT_BYTES))
            return file.read().decode(errors="replace")


@dataclass
class World:
    """The VM as its processes see it."""

    loops: Loops
    disks: dict[int, Loop] = field(default_factory=dict)
    scripts: dict[str, Script] = field(default_factory=dict)

    def boot(self, config: dict[str, Any]) -> None:
        socket.sethostname(config["name"])
        iozone = shutil.which("iozone")  # may be unpacked where the VM does not look
        iozone_bytes = Path(iozone).read_bytes() if iozone else b""
        os_disk = self.loops.new(config["os"])
        self._mount_root(os_disk, config["hidden"])
        self._enter_root()
        self._link("root", os_disk.device)
        for image in config["temp"]:
            self._mount_temp(image, config["temp_start"])
        for number, image in enumerate(config["nvme"], 1):
            self._link(f"local/by-index/{number}", self.loops.new(image).device)
        Path("/usr/bin/cloud-init").write_text(CLOUD_INIT)
        Path("/usr/bin/cloud-init").chmod(0o755)
        for name, program in (("iozone", iozone_bytes), ("mdadm", MDADM.encode())):
            if program:
                Path("/usr/local/bin", name).write_bytes(program)
                Path("/usr/local/bin", name).chmod(0o755)
        Path("/run/boot_id").write_text(f"{uuid.uuid4()}\n")  # the kernel's is that of the host
        call("mount", "--bind", "/run/boot_id", "/proc/sys/kernel/random/boot_id")
        Path("/run/cloud-init").mkdir()
        Path("/run/cloud-init/status").write_text(config["cloud_init"])
        Path(CERTIFICATE).write_text(config["certificate"])

    def _mount_root(self, disk: Loop, hidden: list[str]) -> None:
        """Lay the OS disk's own files over the host's."""
        OWN.mkdir()
        ROOT.mkdir()
        call("mount", "-o", QUIET, str(disk.device), str(OWN))
        upper, work = OWN / "upper", OWN / "work"
        if not upper.exists():  # else the VM is started again
            for name, mode in {**EMPTY, **dict.fromkeys(hidden, 0o755)}.items():
                folder = upper / name.lstrip("/")
                folder.mkdir(parents=True)
                folder.chmod(mode)
                os.setxattr(folder, "trusted.overlay.opaque", b"y")
            work.mkdir()
        layers = f"lowerdir=/,upperdir={upper},workdir={work}"
        call("mount", "-t", "overlay", "-o", layers, "overlay", str(ROOT))

    @staticmethod
    def _enter_root() -> None:
        """Make it the root and let go of the host's."""
        call("mount", "-t", "proc", "proc", str(ROOT / "proc"))
        call("mount", "--rbind", "/sys", str(ROOT / "sys"))
        call("mount", "-t", "tmpfs", "-o", "mode=755", "run", str(ROOT / "run"))
        call("umount", "--lazy", str(OWN))
        OWN.rmdir()
        call("mount", "--rbind", "/dev", str(ROOT / "dev"))
        call("pivot_root", str(ROOT), str(ROOT / "mnt"))
        os.chdir("/")
        call("umount", "--lazy", "/mnt")
        call("umount", "--lazy", str(ROOT))
        ROOT.rmdir()

    def _mount_temp(self, image: str, start: int) -> None:
        """Show and mount the temporary disk; a kernel may parse no partitions, so that is a device too."""
        self._link("resource", self.loops.new(image).device)
        partition = self.loops.new(image, start=start).device
        self._link("resource-part1", partition)
        call("mount", "-o", QUIET, str(partition), "/mnt")
        Path("/mnt/DATALOSS_WARNING_README.txt").write_text(DATALOSS_WARNING)

    @staticmethod
    def _link(name: str, device: Path) -> None:
        link = AZURE_LINKS / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(device)

    def attach(self, lun: int, link: str, image: str, block_bytes: int) -> dict[str, Any]:
        self.disks[lun] = self.loops.new(image, block_bytes)
        self._link(link, self.disks[lun].device)
        return {}

    def detach(self, lun: int, link: str) -> dict[str, Any]:
        mounts = self.disks[lun].mounted_at()
        if mounts:
            raise OSError(f"still mounted at {', '.join(mounts)}: what was written last would be lost")
        (AZURE_LINKS / link).unlink()
        self.disks.pop(lun).close()
        return {}

    def run(self, name: str, script: str, timeout_s: float, environment: dict[str, str]) -> dict[str, Any]:
        folder = SCRIPTS / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        file = folder / "script.sh"
        file.write_text(script)
        file.chmod(0o700)
        with (folder / "stdout").open("wb") as output, (folder / "stderr").open("wb") as error:
            process = subprocess.Popen(
                ["/bin/sh", "-c", str(file)],  # a script without #! is one for sh, as with the real agent
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=error,
                env=ENVIRONMENT | environment,  # named parameters become variables, as with the real agent
                start_new_session=True,
            )
        entry = Script(folder, process, threading.Timer(timeout_s, lambda: entry.kill()), time.time())
        entry.timer.daemon = True
        entry.timer.start()
        self.scripts[name] = entry
        return {}

    def status(self, name: str) -> dict[str, Any]:
        """Tell how a script stands; one from before a restart goes on as running."""
        return self.scripts[name].status() if name in self.scripts else LOST

    def kill(self, name: str) -> dict[str, Any]:
        if name in self.scripts:
            self.scripts[name].kill()
        return {}

    def serve(self) -> None:
        for line in sys.stdin:
            request = json.loads(line)
            try:
                answer = getattr(self, request.pop("do"))(**request)
            except Exception as problem:
                traceback.print_exc()
                answer = {"problem": str(problem)}
            print(json.dumps(answer), flush=True)


def main(images: str) -> None:
    config = json.loads(sys.stdin.readline())
    make_dev()
    world = World(Loops.over(images))
    try:
        world.boot(config)
    except OSError as problem:
        print(json.dumps({"problem": str(problem)}), flush=True)
        raise
    agent = os.fork()
    if agent == 0:
        if config["port"]:
            reach_out(world.loops.images, config["port"])
            tell_token(config["token"])
        print(json.dumps({}), flush=True)
        world.serve()
        sys.exit()
    while os.waitpid(-1, 0)[0] != agent:  # process 1 buries the orphans
        pass


if __name__ == "__main__":
    main(sys.argv[1])
