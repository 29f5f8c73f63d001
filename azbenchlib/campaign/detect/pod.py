"""The setup of a pod: the VM that is its node, and the disk that a path in it lies on.

A cluster tells it, or a file with what ``kubectl get`` printed; no names and identifiers of either are kept.
What a measurement file states of the disk counts before what the cluster tells.

kubectl is run with the words of the command that say which cluster and namespace, never by a shell.
"""

import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import PurePath
from threading import Timer
from typing import Any, TypeVar

from azbenchlib.azure import catalog
from azbenchlib.azure.kubernetes import (
    OBJECT_NAME,
    KubernetesObject,
    Node,
    PersistentVolume,
    Pod,
    VolumeClaim,
    VolumeClass,
)
from azbenchlib.campaign.detect.detect import tier_name
from azbenchlib.campaign.files.spec import Experiment, whole_setup
from azbenchlib.core.documents import decoded
from azbenchlib.core.errors import InputError
from azbenchlib.core.targets import EXEC
from azbenchlib.core.units import MIB
from azbenchlib.dataset.manifest import ManifestSetup
from azbenchlib.model.disk_row import DiskRow
from azbenchlib.model.from_kubernetes import ClaimedDisk, claimed_disk, node_vm, volume_at

KUBECTL_S = 30.0  # of one question
LARGEST_BYTES = 8 * MIB  # of an answer; etcd keeps no object above 1.5 MiB. Source: etcd.io, "System limits"
# Options of kubectl 1.32 that take no value (`kubectl options`, `kubectl exec --help`); the others take one.
_LETTERS = "itqh"
_FLAGS = (
    *("disable-compression", "insecure-skip-tls-verify", "match-server-version", "warnings-as-errors"),
    *("stdin", "tty", "quiet", "help", *_LETTERS),
)
_CONTAINER = ("c", "container")
_OF_EXEC = ("i", "stdin", "t", "tty", "q", "quiet", "f", "filename", "pod-running-timeout", *_CONTAINER)
_PODS = ("", "pod", "pods", "po")
_REFUSED = re.compile(r"^Error from server \((\w{1,40})\)", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class PodAddress:
    """A pod, and the words that kubectl is asked with about its cluster; no `container`: kubectl's choice."""

    kubectl: tuple[str, ...]
    pod: str
    container: str = ""


def pod_address(words: Sequence[str]) -> PodAddress | None:
    """The pod that ``kubectl … exec …`` names, whatever runs kubectl; None: no such command, or no pod."""
    named = _named(words)
    is_pod = named is not None and named[1] in _PODS
    return named[0] if named and is_pod else None


def check_one_pod(words: Sequence[str], target: str) -> None:
    """Refuse ``kubectl exec deploy/NAME`` and the like, for which kubectl picks a pod anew at each call."""
    named = _named(words)
    if named and named[1] not in _PODS:
        several = f"{named[1]}/{named[0].pod}"
        raise InputError(
            f"{target}: kubectl picks one of the pods of {several} anew at each call, so a run could lie in "
            "several of them; name one pod, as `kubectl get pods` lists them"
        )


def _named(words: Sequence[str]) -> tuple[PodAddress, str] | None:
    """What ``kubectl exec`` is to run in, and of what kind that is; None: words that name nothing."""
    start = next((n for n, word in enumerate(words, 1) if PurePath(word).stem == "kubectl"), len(words))
    kept, rest = list(words[:start]), list(words[start:])
    places, container = [], ""
    while rest and (word := rest.pop(0)) != "--":
        if not word.startswith("-"):
            places.append(word)
            continue
        name, value = _option(word, rest)
        if name in _CONTAINER:
            container = value or ""
        elif name not in _OF_EXEC:
            kept.append(f"{'--' if len(name) > 1 else '-'}{name}{'' if value is None else f'={value}'}")
    if len(places) < 2 or places[0] != EXEC:
        return None
    kind, _, pod = places[1].rpartition("/")
    named = OBJECT_NAME.fullmatch(pod) and (kind in _PODS or OBJECT_NAME.fullmatch(kind))
    return (PodAddress(kubectl=tuple(kept), pod=pod, container=container), kind) if named else None


def _option(word: str, rest: list[str]) -> tuple[str, str | None]:
    """Name and value of an option; the value may be taken from the words that follow."""
    name, given, value = word.lstrip("-").partition("=")
    if not word.startswith("--"):  # letters together, the last may have a value: -ic fio, -nmine, -it
        name = name.lstrip(_LETTERS) or name[-1:]
        if name[1:] and not given:
            given, value = "=", name[1:]
        name = name[:1]
    if given:
        return name, value
    return name, None if name in _FLAGS or not rest else rest.pop(0)


@dataclass(frozen=True)
class Cluster:
    """A cluster that kubectl reaches; `refusals` takes why something was not told, by kind."""

    kubectl: tuple[str, ...]
    refusals: dict[str, str]

    def __call__(self, kind: str, name: str) -> Any:
        """The document of an object; None where the cluster does not tell.

        Raises an InputError when what came is none.
        """
        status, output, said = _ran([*self.kubectl, "get", kind, name, "-o", "json"])
        where = f"kubectl get {kind} -o json"
        if len(output) > LARGEST_BYTES:
            raise InputError(f"{where}: the answer is more than {LARGEST_BYTES} B")
        if status is None:
            self.refusals[kind] = f"no answer in {KUBECTL_S:g} s"
            return None
        if status:
            refused = _REFUSED.search(said)
            self.refusals[kind] = refused[1] if refused else f"kubectl ended with status {status}"
            return None
        try:
            return decoded(output)
        except ValueError as error:
            raise InputError(f"{where}: the answer is no JSON: {error}") from error


def _ran(argv: Sequence[str]) -> tuple[int | None, bytes, str]:
    """Status, output and errors; who prints too much or lasts too long, with no status then, is killed."""
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(  # noqa: S603  an argument list
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, start_new_session=True
        ) as process,
    ):
        watch = Timer(KUBECTL_S, _kill, [process.pid])
        watch.start()
        output = process.stdout.read(LARGEST_BYTES + 1) if process.stdout else b""
        if len(output) > LARGEST_BYTES:
            _kill(process.pid)
        status = process.wait()
        is_late = watch.finished.is_set()
        watch.cancel()
        errors.seek(0)
        return None if is_late else status, output, errors.read(MIB).decode(errors="replace")


def _kill(group: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


AnyObject = TypeVar("AnyObject", bound=KubernetesObject)
Ask = Callable[[str, str], Any]  # kind and name of an object: its document, or None
_KINDS = {  # as kubectl takes them, as documents say them, and what may be unknown without one
    "pod": ("Pod", "its VM and its disk"),
    "pvc": ("PersistentVolumeClaim", "its disk"),
    "pv": ("PersistentVolume", "the kind of its disk"),
    "sc": ("StorageClass", "the kind of its disk"),
    "vac": ("VolumeAttributesClass", "the IOPS and MB/s of its disk"),
    "node": ("Node", "the VM size, the region and the zone"),
}
_ON_NODE = (
    "The path lies on the node itself: on its OS disk, or on a disk that comes with its VM. The cluster does "
    "not tell which; a measurement file may state it."
)
_OF_NODE = ("os", "ephemeral_os", "temp", "nvme")
_MOST_NAMED = 12  # pods that a sentence names


@dataclass(frozen=True)
class PodFacts:
    """What is known of a pod, with notes on what is open; `roles`: of disks that the path may lie on."""

    setup: ManifestSetup
    notes: tuple[str, ...]
    roles: tuple[str, ...] = ()


def described(address: PodAddress, paths: Sequence[str]) -> tuple[PodFacts | None, list[str]]:
    """What a cluster tells of a pod and a path in it, and notes on what it does not tell; None: of the pod.

    Raises an InputError when what comes is no document of the kind, or the pod has no such container.
    """
    ask = Cluster(address.kubectl, {})
    pod, facts = _parsed(Pod, ask, "pod", address.pod), None
    if pod is not None:
        facts = _facts(ask, pod, address.container, paths)
    return facts, _untold(ask.refusals)


def _untold(refusals: Mapping[str, str]) -> list[str]:
    """A note for each document that did not come, by kind and why."""
    return [
        f"The {_KINDS[kind][0]} was not told ({why}), so {_KINDS[kind][1]} may be unknown."
        for kind, why in refusals.items()
    ]


def saved(content: Any, name: str, where: str) -> PodFacts:
    """What a file with the output of ``kubectl get -o json`` tells of a pod, and of all disks that it has.

    `name`: of the pod; empty: there is one. Raises an InputError when there is not, or the file has another
    form.
    """
    items = content.get("items", [content]) if isinstance(content, Mapping) else []
    known: dict[tuple[str, str | None], Any] = {}
    pods = []
    for item in items if isinstance(items, list) else []:
        found = KubernetesObject.parse(item, where)
        known[found.kind, found.name] = known[found.kind, f"{found.namespace}/{found.name}"] = item
        if found.kind == _KINDS["pod"][0] and name in ("", found.name):
            pods.append(Pod.parse(item, where))
    if len(pods) != 1:
        names = ", ".join(str(pod.name) for pod in pods[:_MOST_NAMED])
        fault = f"there are {len(pods)} of them ({names})" if pods else "there is none"
        asked = f"one pod {name}" if name else "one pod"
        raise InputError(f"{where}: {asked} is needed, and {fault}; write FILE.json/POD")
    (pod,) = pods

    missing: dict[str, str] = {}

    def ask(kind: str, name: str) -> Any:
        place = _KINDS[kind][0], f"{pod.namespace}/{name}" if kind == "pvc" else name
        if place not in known:
            missing[kind] = "the file does not have it"
        return known.get(place)

    claims = dict.fromkeys(pod.claim_of(volume) for volume in pod.volumes)
    disks = [_disk(ask, claim) for claim in claims if claim]
    setup = _setup(ask, pod, disks)
    return PodFacts(setup, (*_untold(missing), *(note for disk in disks for note in disk.notes)))


def with_stated(facts: PodFacts, experiment: Experiment | None) -> PodFacts:
    """The same with what a measurement file of one setup states; it counts, and what differs is noted.

    A file for another VM size is for another VM, and is left aside.
    """
    if experiment is None or len(experiment.setups) != 1:
        return facts
    spec, known = experiment.setups[0], facts.setup
    if known.vm_size and known.vm_size.lower() != spec.vm.lower():
        other = f"The measurement file is for a {spec.vm}, and the node is a {known.vm_size}"
        return replace(facts, notes=(*facts.notes, f"{other}: its VM and disks are left aside."))
    said = whole_setup(experiment, spec)
    place = {name: getattr(said, name) for name in ("region", "zone", "vm_size") if getattr(said, name)}
    differing, disks = _differing(place, known.model_dump()), known.disks
    fitting = [row for row in said.disks if row.role in facts.roles]
    if len(fitting) == 1:
        row = fitting[0]
        values = row.to_row() | {"host_caching": spec.disks[row.disk].caching}  # off only where that is said
        stated = {name: value for name, value in values.items() if value is not None and name != "disk"}
        base = disks[0] if disks else DiskRow(disk=row.disk)
        differing += _differing(stated, base.to_row())
        merged = replace(base, **stated)
        tier = row.tier or tier_name(merged.sku, merged.size_bytes, known.as_of or "")
        disks = [replace(merged, tier=tier)]
    setup = known.model_copy(update=place | {"disks": disks})
    return replace(facts, setup=setup, notes=(*facts.notes, *differing))


def _differing(stated: Mapping[str, Any], told: Mapping[str, Any]) -> list[str]:
    return [
        f"The measurement file states {name} {value}, and the cluster {told[name]}: the file counts."
        for name, value in stated.items()
        if told.get(name) not in (None, value)
    ]


def _facts(ask: Ask, pod: Pod, container: str, paths: Sequence[str]) -> PodFacts:
    volume = volume_at(pod, container, paths)
    roles: tuple[str, ...] = ()
    if volume and (claim := pod.claim_of(volume)):
        disk = _disk(ask, claim)
        roles = ("data",) if disk.row or not disk.notes else ()
    elif volume is None or volume.empty is not None or volume.host is not None:
        disk, roles = ClaimedDisk(notes=(_ON_NODE,)), _OF_NODE
    else:
        disk = ClaimedDisk(notes=("The path lies on a volume of the pod that is no disk of Azure.",))
    setup, notes = _setup(ask, pod, [disk]), disk.notes
    if setup.vm_size and not roles:  # what a VM may do with its disks says nothing of what is no disk
        notes = (
            *notes,
            f"The limits of the node, a {setup.vm_size}, are those of its disks, so it is left out.",
        )
        setup = setup.model_copy(update={"vm_size": None})
    return PodFacts(setup, notes, roles)


def _setup(ask: Ask, pod: Pod, disks: Sequence[ClaimedDisk]) -> ManifestSetup:
    as_of = datetime.now(UTC).date().isoformat()
    vm = node_vm(_parsed(Node, ask, "node", pod.node))
    return ManifestSetup(
        setup_id="pod",
        environment="azure",
        as_of=as_of,
        disks=[_with_limits(disk.row, disk.performance_plus, as_of) for disk in disks if disk.row],
        vm_size=vm.get("vm_size"),
        region=vm.get("region"),
        zone=vm.get("zone"),
    )


def _disk(ask: Ask, name: str) -> ClaimedDisk:
    """The disk behind a claim, from as many documents as the cluster tells."""
    claim = _parsed(VolumeClaim, ask, "pvc", name)
    if claim is None:
        return ClaimedDisk()
    if claim.volume is None:
        return ClaimedDisk(notes=("The claim of the volume is not bound, so it has no disk yet.",))
    volume = _parsed(PersistentVolume, ask, "pv", claim.volume)
    # a CSI volume says itself what it was made with
    storage_class = None if volume and volume.driver else _parsed(VolumeClass, ask, "sc", claim.storage_class)
    later = _parsed(VolumeClass, ask, "vac", claim.attributes_class)
    return claimed_disk(claim, volume, storage_class, later)


def _parsed(kind: type[AnyObject], ask: Ask, short: str, name: str | None) -> AnyObject | None:
    content = ask(short, name) if name else None
    return None if content is None else kind.parse(content, f"kubectl get {short} -o json")


def _with_limits(row: DiskRow, performance_plus: bool, as_of: str) -> DiskRow:
    """The row with the tier of its size, and the limits of Performance Plus."""
    tier = tier_name(row.sku, row.size_bytes, as_of)
    if not (performance_plus and tier):
        return replace(row, tier=tier)
    plus = catalog.tier_for(row.sku or "", row.size_bytes or 0, as_of)
    return replace(
        row, tier=tier, provisioned_iops=plus.plus_iops, provisioned_bytes_per_s=plus.plus_bytes_per_s
    )
