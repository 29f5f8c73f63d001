"""How the outputs of workloads come from the VM: through a container of blobs, by a disk, else in pieces."""

import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from azbenchlib.azure.az_errors import AzError
from azbenchlib.azure.retries import Patience
from azbenchlib.campaign.outputs import LARGEST_OUTPUT, unpack
from azbenchlib.campaign.targets.azure import guest
from azbenchlib.campaign.targets.azure.container import Container, ResultsDisk
from azbenchlib.campaign.targets.azure.guest import GuestOutput
from azbenchlib.campaign.targets.azure.steps import Measure
from azbenchlib.campaign.targets.azure.vm import STARTS, Script, Vm
from azbenchlib.core.errors import AzbenchError
from azbenchlib.core.files import make_folder

SAME_AGAIN = 2  # how often a chunk that came damaged is asked for again before smaller ones are
SMALLEST_CHUNK = 256
LONGEST_SCRIPT_S = 20 * 3600  # then it is started again, and waits for the same worker
QUIET_S = 900.0  # beside what workloads may take, before the VM is asked whether its worker lives
LOGS_S, LOGS_PAUSE_S = 300.0, 5.0  # within which logs follow the figures into the container


@dataclass(kw_only=True)
class Batch:
    """Workloads that a VM runs one after the other, whoever looks on."""

    vm: Vm
    steps: Sequence[Measure]
    container: Container | None  # where their outputs go; None: they stay on the VM, until it has ended
    between: Callable[[], None]  # called again and again while it is waited
    # By which they come then; None, or where it does not bring them: in pieces
    disk: ResultsDisk | None = None
    _script: Script | None = field(default=None, init=False)
    _starts: int = field(default=0, init=False)
    _over: bool = field(default=False, init=False)  # the script ended, and nothing is on its way any more
    _known: dict[str, GuestOutput] = field(default_factory=dict, init=False)
    _brought: dict[str, bytes] = field(default_factory=dict, init=False)  # by the disk: files by name
    _listed: bool = field(default=False, init=False)
    _last_words: str = field(default="", init=False)
    _heard: float = field(default_factory=time.monotonic, init=False)  # of the worker, or asked for it

    def fetch(self, step: Measure, folder: Path) -> tuple[int, str]:
        """Wait for a workload, and bring its outputs into a new folder: the tool's status, its last words.

        Raises an AzbenchError when the VM ended without outputs again and again, or they did not arrive
        whole.
        """
        packed = self._awaited(step)
        make_folder(folder.parent)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        _unpack_each((self._archive(step, packed, which) for which in packed.archives), folder)
        return packed.status, _words(folder, step) if packed.status else ""

    def rescued(self, step: Measure, folder: Path) -> int | None:
        """Bring outputs that are in the container, or on the VM, before either is deleted.

        The status; None where there are none, or they cannot be had at once.
        """
        if not self.container:
            return self._rescued_by_disk(step, folder)
        at_once = replace(self.container, az=self.container.az.patiently(Patience()))
        if not self._listed:
            self._listed = True
            self._known |= guest.uploaded(at_once.names())
        packed = self._known.get(guest.place(step))
        if packed is None:
            return None
        archives = [at_once.download(packed.blob(which), 0, 0) for which in packed.archives]
        if sha256(archives[0]).hexdigest() != packed.figures:
            return None
        _unpack_each(archives, folder)
        return packed.status

    def _rescued_by_disk(self, step: Measure, folder: Path) -> int | None:
        if self.disk and not (self._listed or self._over):
            self._listed = True
            self._take_from(self.disk.at_once())
        packed = self._known.get(guest.place(step))
        if packed is None or self._by_disk(packed, "figures") is None:
            return None
        _unpack_each((self._by_disk(packed, which) or b"" for which in packed.archives), folder)
        return packed.status

    def _take_from(self, disk: ResultsDisk) -> None:
        """Have a disk bring all that is known of the workloads."""
        self._brought |= disk.brought(self.vm, [guest.place(step) for step in self.steps])
        for name, text in self._brought.items():
            if name.endswith(".sum"):
                self._known |= guest.summed(name.removesuffix(".sum"), text.decode(errors="replace"))

    def _by_disk(self, packed: GuestOutput, which: str) -> bytes | None:
        """An archive that a disk brought, where it is what it was on the VM."""
        data = self._brought.get(f"{packed.place}.{which}", b"")
        return data if sha256(data).hexdigest() == packed.digest(which) else None

    def _awaited(self, step: Measure) -> GuestOutput:
        where = guest.place(step)
        while where not in self._known:
            self._take_uploaded()
            if where in self._known:
                break
            if self._script is None:
                if self._over:  # it ended, and did not tell of this one: it tells the latest alone
                    self._known |= guest.outputs(self.vm.ask(guest.summary(step)))
                    if where in self._known:
                        break
                self._start(step)
            elif self._is_gone(step):
                self._script, self._over, self._last_words = None, True, "it was restarted"
            elif ended := self.vm.ended(self._script):
                self._script, self._over = None, True
                self._last_words = ended.last_words
                self._known |= guest.outputs(ended.output)
                if self.disk and ended.state == "Succeeded":
                    self._take_from(self.disk)
            self.between()
        return self._known[where]

    def _is_gone(self, step: Measure) -> bool:
        """Whether no worker is left, though Azure says that the script runs, as after a restart of the VM.

        It is asked where nothing came for longer than the workload, or all where their outputs stay on the
        VM, may take: each question is a short load on the VM.
        """
        awaited = (step,) if self.container else self.steps
        if time.monotonic() - self._heard < QUIET_S + sum(one.workload.max_duration_s for one in awaited):
            return False
        self._heard = time.monotonic()
        try:
            return guest.facts(self.vm.ask(guest.alive())).get("worker") == "gone"
        except AzError:
            return False  # as while it starts anew

    def _take_uploaded(self) -> None:
        """Know what is in the container by now."""
        if self.container:
            uploaded = guest.uploaded(self.container.names())
            if not uploaded.keys() <= self._known.keys():
                self._heard = time.monotonic()
            self._known |= uploaded

    def _start(self, step: Measure) -> None:
        """Start the script, also anew where one ended early: what is done is not done again."""
        if self._starts >= STARTS:
            raise AzbenchError(f"{step.title}: the VM ended without its outputs: {self._last_words}")
        self._starts, self._over, self._heard = self._starts + 1, False, time.monotonic()
        limit_s = min(LONGEST_SCRIPT_S, guest.PREPARE_S + sum(map(guest.limit_s, self.steps)))
        url, secret = (self.container.url, self.container.secret) if self.container else ("", "")
        self._script = self.vm.start(guest.agent(self.steps, url), limit_s, secret)

    def _archive(self, step: Measure, packed: GuestOutput, which: str) -> bytes:
        if brought := self._by_disk(packed, which):
            return brought
        if self.container:
            try:
                data = self.container.download(packed.blob(which), 0 if self._over else LOGS_S, LOGS_PAUSE_S)
            except AzError:
                data = b""  # it did not come so far
            if sha256(data).hexdigest() == packed.digest(which):
                return data
        data = self._pieces(step, packed, which)
        if sha256(data).hexdigest() != packed.digest(which):
            raise AzbenchError(f"{step.title}: its outputs are not what they were on the VM")
        return data

    def _pieces(self, step: Measure, packed: GuestOutput, which: str) -> bytes:
        """An archive on the VM, a chunk at a time, each checked."""
        n_bytes = packed.size_bytes(which)
        if not n_bytes:
            told = guest.outputs(self.vm.ask(guest.summary(step))).get(packed.place, packed)
            n_bytes = told.size_bytes(which)
        if n_bytes > LARGEST_OUTPUT:
            raise AzbenchError(f"{step.title}: its outputs are {n_bytes} B; {LARGEST_OUTPUT} B is the most")
        data, length = b"", guest.CHUNK_BYTES
        while len(data) < n_bytes:
            self.between()
            piece = self._piece(f"{packed.place}.{which}", len(data), length)
            if piece:
                data += piece
            elif length > SMALLEST_CHUNK:
                length //= 2
            else:
                raise AzbenchError(f"{step.title}: its outputs came damaged, again and again")
        return data

    def _piece(self, archive: str, offset: int, length: int) -> bytes | None:
        for _ in range(SAME_AGAIN):
            piece = guest.piece(self.vm.ask(guest.chunk(archive, offset, length)))
            if piece:
                return piece
        return None


def _unpack_each(archives: Iterable[bytes], folder: Path) -> None:
    left = LARGEST_OUTPUT
    for data in archives:
        left = unpack(data, folder, left)


def _words(folder: Path, step: Measure) -> str:
    """The last line of what a tool, or the script around it, said."""
    for name in (f"{step.workload.name}.txt", "layout.txt", "azbench.txt"):
        file = folder / name
        lines = file.read_text(errors="replace").strip().splitlines() if file.is_file() else []
        if lines:
            return lines[-1].strip()
    return ""
