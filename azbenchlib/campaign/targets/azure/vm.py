"""A VM as a place to run scripts on and fetch files from, through az alone: it has no address."""

import io
import secrets
import shutil
import tarfile
import time
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from azbenchlib.azure.az import Az
from azbenchlib.campaign.targets.azure import commands, guest
from azbenchlib.campaign.targets.azure.steps import Measure
from azbenchlib.core.errors import AzbenchError
from azbenchlib.core.files import make_folder

FIRST_WAIT_S, _LONGEST_WAIT_S = 2, 20
SAME_AGAIN = 2  # how often a chunk that came damaged is asked for again before smaller ones are
SMALLEST_CHUNK = 256
LARGEST_OUTPUT = 64 * 1024 * 1024  # of a workload, packed and unpacked; more is no output of fio
SLOWEST_LAYOUT = 5_000_000  # bytes per second at which data is written, at worst; else the script is ended
_TIMED_OUT = "TimedOut"  # Source: Microsoft Learn, "Run scripts in your Linux VM", ExecutionState, 2026
_WORKING = ("", "Unknown", "Pending", "Running")


@dataclass(frozen=True, kw_only=True)
class Ended:
    """A script that ended: its state, exit code, and the last 4 KiB of what it said."""

    state: str
    exit_code: int
    output: str
    error: str
    timeout_s: int

    @property
    def last_words(self) -> str:
        """What went wrong: that its time was over, else the last line that it wrote."""
        lines = (self.error.strip() or self.output.strip()).splitlines()
        said = lines[-1].strip() if lines else ""
        if self.state == _TIMED_OUT:
            return f"it was stopped after {self.timeout_s} s" + (f"; its last line: {said}" if said else "")
        return said or f"it ended as {self.state}, with exit code {self.exit_code}, and wrote nothing"


@dataclass(frozen=True)
class Vm:
    """A VM in a resource group."""

    az: Az
    group: str
    name: str

    def run(self, title: str, script: str, timeout_s: int) -> str:
        """Run a script to its end; what it said.

        Raises
        ------
        AzbenchError
            When it failed, though az may say that all is well.
        """
        ended = self._ended(script, timeout_s)
        if ended.state != "Succeeded" or ended.exit_code:
            raise AzbenchError(f"{title}: {ended.last_words}")
        return ended.output

    def measure(self, step: Measure, folder: Path) -> tuple[int, str]:
        """Run a workload and fetch its outputs into a new folder: the tool's status, and its last words.

        Raises
        ------
        AzbenchError
            When the script ended without outputs, or they did not arrive whole.
        """
        limit_s = int(guest.PREPARE_S + 2 * step.workload.max_duration_s + step.data_bytes / SLOWEST_LAYOUT)
        ended = self._ended(guest.measure(step), limit_s)
        packed = guest.output(ended.output)
        if packed is None:
            raise AzbenchError(f"{step.title}: {ended.last_words}")
        _unpack(self._fetch(step, packed), folder)
        return packed.status, ended.last_words if packed.status else ""

    def _ended(self, script: str, timeout_s: int) -> Ended:
        name = f"azbench-{secrets.token_hex(4)}"
        self.az.json(*commands.script_start(self.group, self.name, name, script, timeout_s))
        wait_s: float = FIRST_WAIT_S
        deadline = time.monotonic() + timeout_s + guest.PREPARE_S
        while time.monotonic() < deadline:
            time.sleep(wait_s)
            wait_s = min(_LONGEST_WAIT_S, wait_s * 1.3)
            view = self.az.json(*commands.script_show(self.group, self.name, name)).get("instanceView") or {}
            if view.get("executionState", "") not in _WORKING:
                output, error = (str(view.get(key) or "") for key in ("output", "error"))
                exit_code = int(view.get("exitCode") or 0)
                return Ended(
                    state=view["executionState"],
                    exit_code=exit_code,
                    output=output,
                    error=error,
                    timeout_s=timeout_s,
                )
        raise AzbenchError(f"{self.name}: a script did not end within {timeout_s} s")

    def _fetch(self, step: Measure, packed: guest.GuestOutput) -> bytes:
        """The packed outputs, a chunk at a time, each checked, and the whole."""
        if packed.n_bytes > LARGEST_OUTPUT:
            raise AzbenchError(
                f"{step.title}: its outputs are {packed.n_bytes} B; {LARGEST_OUTPUT} B is the most"
            )
        data, length = b"", guest.CHUNK_BYTES
        while len(data) < packed.n_bytes:
            piece = self._piece(step, len(data), length)
            if piece:
                data += piece
            elif length > SMALLEST_CHUNK:
                length //= 2
            else:
                raise AzbenchError(f"{step.title}: its outputs came damaged, again and again")
        if sha256(data).hexdigest() != packed.sha256:
            raise AzbenchError(f"{step.title}: its outputs are not what they were on the VM")
        return data

    def _piece(self, step: Measure, offset: int, length: int) -> bytes | None:
        script = guest.chunk(step, offset, length)
        for _ in range(SAME_AGAIN):
            answer = self.az.json(*commands.script_invoke(self.group, self.name, script))
            said = "\n".join(str(value.get("message", "")) for value in (answer or {}).get("value", []))
            piece = guest.piece(said)
            if piece:
                return piece
        return None


def _unpack(data: bytes, folder: Path) -> None:
    """The plain files of an archive, by their bare names, into a new folder."""
    shutil.rmtree(folder, ignore_errors=True)
    make_folder(folder.parent)
    folder.mkdir()
    left = LARGEST_OUTPUT
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None:
                left -= member.size
                if left < 0:
                    raise AzbenchError(f"{folder.name}: its outputs unpack to more than {LARGEST_OUTPUT} B")
                (folder / Path(member.name).name).write_bytes(content.read())
