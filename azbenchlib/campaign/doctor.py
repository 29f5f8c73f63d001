"""What this machine has and what it lacks: facts about tools and packages, with the way to get them.

Nothing here prints or installs; the command line shows the checks and chooses the exit code.
"""

import contextlib
import importlib
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from azbenchlib.azure.az import AZ_VARIABLE, HOW_TO_GET, Az
from azbenchlib.core import extras, units
from azbenchlib.core.errors import MissingToolError

FIO_MAJOR = (
    3  # fio 3.0 counts latencies in nanoseconds (clat_ns); source: fio's HOWTO, read at fio-3.41, 2025
)
IOZONE_APT = "iozone3  # in Debian's part non-free, in Ubuntu's multiverse"
ROOM_BYTES = 4 * units.GIB  # a test file twice over, with its raw output and a report
BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "microsoft-edge",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
# The extras of azbench for those who use it, and what there is not without each.
EXTRAS = {
    "notebooks": "no reports, notebooks, figures and lessons",
    "lake": "no queries of a lake, and no lake in Azure",
    "dask": "no reading and merging on a Dask cluster",
}
_PATIENCE_S = 20

# The command that installs a package, by the package manager that is there; the first that is wins.
_MANAGERS = {"apt-get": "sudo apt-get install", "dnf": "sudo dnf install", "brew": "brew install"}


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing that was looked for.

    `found` is its version or a few words on what is there instead, `costs` what cannot be done without
    it, `remedy` how to get it on this system (empty where it is there).
    """

    name: str
    ok: bool
    needed: bool
    found: str
    costs: str
    remedy: str = ""

    @classmethod
    def of(cls, name: str, ok: bool, found: str, costs: str, remedy: str, *, needed: bool = False) -> "Check":
        """A check; the remedy is for where it is not there."""
        remedy = "" if ok else remedy
        return cls(name=name, ok=ok, needed=needed, found=found, costs=costs, remedy=remedy)


def diagnose() -> list[Check]:
    """All checks, the needed ones first, the extras of azbench among them.

    It takes a second or two: the tools are asked for their versions. Nothing is written, no network is used,
    and nothing is raised for what is missing.
    """
    checks = [_python(), _packages(), _fio(), _pango(), fio_nbd(), _iozone(), _browser(), _az(), _room()]
    checks += [_extra(name, costs) for name, costs in EXTRAS.items()]
    return sorted(checks, key=lambda check: not check.needed)


def find_browser() -> str | None:
    """Path of an installed Chromium or one of its kin; None: there is none."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def _python() -> Check:
    wanted = SpecifierSet(metadata.metadata("azbench")["Requires-Python"])
    version = ".".join(map(str, sys.version_info[:3]))
    return Check.of(
        "Python",
        wanted.contains(version, prereleases=True),
        version,
        costs="azbench is not tested with this Python",
        remedy=f"Install a Python that is {wanted}, then: make setup",
        needed=True,
    )


def _packages() -> Check:
    """Whether every package that azbench declares is there, in a version within the declared bounds."""
    found, ok = _declared("")
    remedy = "pip install --upgrade azbench; in a checkout: make setup"
    return Check.of("Python packages", ok, found, "azbench does not run as tested", remedy, needed=True)


def _extra(name: str, costs: str) -> Check:
    """Whether the packages of an extra are there."""
    found, ok = _declared(name)
    return Check.of(f"extra {name}", ok, found, costs, extras.install(name))


def _declared(extra: str) -> tuple[str, bool]:
    """What there is of the packages of an extra, or of azbench itself ("")."""
    declared = [Requirement(text) for text in metadata.requires("azbench") or []]
    wanted = [need for need in declared if _is_of(need, extra)]
    wrong = [fault for need in wanted if (fault := _package_fault(need))]
    return "; ".join(wrong) or f"{len(wanted)} of {len(wanted)}", not wrong


def _is_of(need: Requirement, extra: str) -> bool:
    if need.marker is None:
        return not extra
    return need.marker.evaluate({"extra": extra}) and not (extra and need.marker.evaluate({"extra": ""}))


def _package_fault(need: Requirement) -> str | None:
    try:
        version = metadata.version(need.name)
    except metadata.PackageNotFoundError:
        return f"{need.name} is missing"
    if need.specifier.contains(version, prereleases=True):
        return None
    return f"{need.name} {version} is not {need.specifier}"


def _fio() -> Check:
    version = _first_line("fio", "--version")
    number = re.search(r"(\d{1,9})\.\d", version or "")
    new = number is not None and int(number[1]) >= FIO_MAJOR
    exact = _succeeds("fio", "--parse-only", "--output-format=json+", "--name=probe", "--size=4k")
    ok = new and exact
    found = f"{version}, too old" if version and not ok else version or "missing"
    costs = "nothing can be measured, outputs can be read"
    return Check.of("fio", ok, found, costs, install("fio"), needed=True)


def _pango() -> Check:
    """Pango by way of WeasyPrint: what counts is that the import finds it."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # WeasyPrint prints a page when it fails
            found, ok = f"WeasyPrint {importlib.import_module('weasyprint').__version__}", True
    except (ImportError, OSError) as error:
        found, ok = f"missing: {str(error).splitlines()[0]}", False
    return Check.of(
        "Pango",
        ok,
        found,
        costs="no PDF reports, unless a Chromium is installed",
        remedy=install("pango", apt="libpango-1.0-0 libpangoft2-1.0-0"),
        needed=importlib.util.find_spec("weasyprint") is not None,  # else there are no reports at all
    )


def fio_nbd() -> Check:
    """Whether fio can drive an emulated disk."""
    found = "there" if "nbd" in _output("fio", "--enghelp").split() else None
    remedy = install("fio", dnf="fio-engine-nbd")
    return _optional("fio's nbd engine", found, "no emulated disk to measure on", remedy)


def _iozone() -> Check:
    version = re.search(r"Revision:\s*([\d.]+)", _output("iozone", "-v"))
    remedy = install("iozone", apt=IOZONE_APT)
    costs = "outputs of iozone can be read, none can be made"
    return _optional("iozone", version and version[1], costs, remedy)


def _browser() -> Check:
    path = find_browser()
    found = path and (_first_line(path, "--version") or path)
    costs = "no second way to a PDF, and the tests that need a browser are skipped"
    return _optional("Chromium", found, costs, install("chromium"))


def _az() -> Check:
    costs = "no measuring on Azure itself"
    try:
        return _optional("az", Az.find().path, costs, "")
    except MissingToolError as error:
        if AZ_VARIABLE not in os.environ:
            return _optional("az", None, costs, HOW_TO_GET)
        found = str(error).partition(";")[0]
        return Check.of("az", False, found, costs, f"Unset {AZ_VARIABLE}, or mend it")


def _room() -> Check:
    folder = Path.cwd()
    free = shutil.disk_usage(folder).free
    wanted = units.format_size(ROOM_BYTES)
    costs = f"test files of up to {wanted} may not fit"
    remedy = f"Free {wanted} in {folder}, or work in another folder"
    return Check.of("disk space", free >= ROOM_BYTES, f"{units.format_size(free)} free", costs, remedy)


def _optional(name: str, found: str | None, costs: str, remedy: str) -> Check:
    """A check of something that azbench can do without; `found` None: it is not there."""
    return Check.of(name, found is not None, found or "missing", costs, remedy)


def install(package: str, **names: str) -> str:
    """How to install a package on this system.

    A command, or a sentence where no known package manager is there. `names` are its names for one package
    manager (`apt`, `dnf`, `brew`) each, where they differ.
    """
    for program, command in _MANAGERS.items():
        if shutil.which(program):
            return f"{command} {names.get(program.removesuffix('-get'), package)}"
    return f"Install {package} with this system's package manager"


def _run(*command: str) -> subprocess.CompletedProcess[str] | None:
    """A finished command; None: it is not there, cannot start or does not come to an end."""
    try:
        return subprocess.run(  # noqa: S603 - constants of this module
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE_S,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None


def _output(*command: str) -> str:
    done = _run(*command)
    return done.stdout if done else ""


def _first_line(*command: str) -> str | None:
    """The first line of what a command prints; None: it failed or printed nothing."""
    return next(iter(_output(*command).splitlines()), None)


def _succeeds(*command: str) -> bool:
    done = _run(*command)
    return done is not None and done.returncode == 0
