"""Ask a cluster about the pod that a command such as ``kubectl exec -i POD --`` leads to.

kubectl is run with the words of the command that say which cluster and namespace, never by a shell.
"""

import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePath
from threading import Timer
from typing import Any

from azbenchlib.azure.kubernetes import OBJECT_NAME
from azbenchlib.core.documents import decoded
from azbenchlib.core.errors import InputError
from azbenchlib.core.targets import EXEC
from azbenchlib.core.units import MIB

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
    """The pod that ``kubectl … exec …`` names, whatever runs kubectl; None: no such command, or no pod.

    ``deploy/OBJECT_NAME`` and the like name none, for kubectl picks one of several.
    """
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
    is_pod = kind in _PODS and OBJECT_NAME.fullmatch(pod)
    return PodAddress(kubectl=tuple(kept), pod=pod, container=container) if is_pod else None


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
