"""The wheel and the source package: what they hold, equal bytes, and a stranger's use of them."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.metadata import Metadata
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
UV = shutil.which("uv") or str(ROOT / ".tools" / "uv" / "bin" / "uv")
EXTRA = re.compile(r"this needs the extra 'notebooks' of azbench, .* pip install 'azbench\[notebooks\]'")

WORK_OF_THE_CORE = (
    "read randrw.json",
    "verdict randrw.json --vm Standard_E8ds_v4 --disk P30",
    "limits --vm Standard_E8ds_v4 --disk temp",
    "cost --vm Standard_D4as_v5 --disk P30 --region westeurope",
    "advise --iops 6000 --size 1TiB --region westeurope",
    "compare azure-local-disks-2020:E8ds_v4-os-none azure-local-disks-2020:E8ds_v4-temp --undecided ok",
    "plan ultra-disk",
)
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
PYTEST = "python -m pytest -q -p no:cacheprovider"
# What is run with each extra ("": the core alone) and its lowest and newest versions.
WORK = {
    "": [f"{PYTEST} tests/core tests/model tests/cost tests/formats"],
    "notebooks": [
        "azbench report tests/data/fio/randrw.json -o FOLDER/report",
        "azbench learn --export FOLDER/course",
        f"{PYTEST} tests/plots tests/views tests/report/test_pdf.py tests/test_api.py",
        f"{PYTEST} tests/test_jupyterlab.py",
    ],
    "docs": ["mkdocs build --quiet --strict --site-dir FOLDER/site"],
    "dask": [f"{PYTEST} tests/lake/test_workers.py"],
    "lake": [
        "azbench collect tests/data/fio/grouped -o FOLDER/lake --setup e8ds-p30",
        "azbench query FOLDER/lake --percentiles 50,99 --by setup_id",
        f"{PYTEST} tests/lake/test_lake.py tests/lake/test_lake_in_azure.py",
    ],
    "dev": [
        "python -m hatchling build -d FOLDER/dist",
        "ruff check .",
        "lint-imports",
        f"{PYTEST} -n 2 tests/core tests/model",
    ],
}
# mypy reads the type hints of NumPy, matplotlib, DuckDB and others; early ones are wrong or not there.
ONLY_WITH_THE_NEWEST = {"dev": ["mypy"]}
BESIDE = {"dev": [extra for extra in EXTRAS if extra != "dev"]}  # mypy and import-linter read all of them


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    known = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    known["NO_MKDOCS_2_WARNING"] = "1"  # of the documentation's theme, about a later version of MkDocs
    return subprocess.run(command, cwd=cwd, env=known, capture_output=True, text=True, check=False)


def built(kind: str, source: Path, folder: Path) -> Path:
    """A package that is made of a source tree."""
    done = run(sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", folder, cwd=source)
    assert done.returncode == 0, done.stderr
    (made,) = folder.iterdir()
    return made


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("sdist", ROOT, tmp_path_factory.mktemp("sdist"))


def test_both_packages_made_from_the_source_package_have_the_same_bytes(
    wheel: Path, sdist: Path, tmp_path: Path
) -> None:
    shutil.unpack_archive(sdist, tmp_path)
    (tree,) = tmp_path.iterdir()
    for file in tree.rglob("*"):
        os.utime(file, (10**9, 10**9))
    for package, kind in ((wheel, "wheel"), (sdist, "sdist")):
        again = built(kind, tree, tmp_path / kind)
        assert again.name == package.name
        assert again.read_bytes() == package.read_bytes()


def test_the_source_package_holds_what_is_committed(sdist: Path) -> None:
    done = run("git", "ls-files", "-z", cwd=ROOT)
    if done.returncode:
        pytest.skip("not a git checkout, so there is no list of the files that belong to it")
    committed = {name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()}
    with tarfile.open(sdist) as archive:
        held = {member.name.partition("/")[2] for member in archive.getmembers()}
    assert committed - held == set()
    assert {name for name in held if name.startswith("reports/")} <= committed  # not what was made here


def described(wheel: Path) -> Metadata:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return Metadata.from_email(archive.read(name), validate=True)


def test_the_wheel_holds_the_library_and_what_is_found_by_name(wheel: Path) -> None:
    about = described(wheel)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    for part in (
        "notebooks/report.ipynb",
        "campaigns/ultra-disk.yaml",
        "datasets/ultra-disk-2019/manifest.json",
    ):
        assert f"azbenchlib/share/{part}" in names
    homes = {name.split("/")[0] for name in names}  # no tests, nothing of this checkout beside
    assert homes == {"azbenchlib", f"azbench-{about.version}.dist-info"}
    assert {"notebooks", "docs", "dev"} <= set(about.provides_extra or ())
    assert about.description_content_type == "text/markdown" and about.license_expression == "Apache-2.0"
    assert wheel.stat().st_size < 5 * 2**20


def needed(extra: str) -> set[str]:
    """The packages that azbench needs with an extra, with all that these need."""
    found: set[str] = set()
    todo = [Requirement(text) for text in metadata.requires("azbench") or ()]
    todo = [need for need in todo if need.marker is None or need.marker.evaluate({"extra": extra})]
    while todo:
        need = todo.pop()
        name = canonicalize_name(need.name)
        if name not in found and (
            need.marker is None or need.extras or need.marker.evaluate({"extra": extra})
        ):
            found.add(name)
            more = [Requirement(text) for text in metadata.requires(name) or ()]
            extras = [*need.extras, ""]
            todo += [
                m for m in more if m.marker is None or any(m.marker.evaluate({"extra": e}) for e in extras)
            ]
    return found


def locked(names: set[str]) -> str:
    """The lines of the lock on these packages."""
    entries = re.split(r"\n(?=\S)", (ROOT / "requirements.lock").read_text())
    return "\n".join(entry for entry in entries if entry.partition("==")[0] in names)


def install(python: Path, pinned: Path) -> None:
    """Add what is pinned to an environment; from the network only what the set-up has not fetched."""
    for offline in (["--offline"], []):
        done = run(
            UV, "pip", "install", "--quiet", "--no-deps", *offline, "--python", python, "-r", pinned,
            cwd=pinned.parent,
        )  # fmt: skip
        if done.returncode == 0:
            return
    pytest.fail(done.stderr)


def environment(place: Path, package: Path, pins: str, base: str = sys.executable) -> Path:
    """An empty environment with a package and what is pinned; the folder of its programs."""
    pinned = place.with_suffix(".txt")
    pinned.write_text(pins)
    python = place / "bin" / "python"
    done = run(UV, "venv", "--quiet", "--python", base, place, cwd=place.parent)
    assert done.returncode == 0, done.stderr
    install(python, pinned)
    done = run(UV, "pip", "install", "--no-deps", "--offline", "--python", python, package, cwd=place.parent)
    assert done.returncode == 0, done.stderr
    return place / "bin"


def does_the_work_of_the_core(azbench: Path, folder: Path) -> None:
    shutil.copy(ROOT / "tests" / "data" / "fio" / "randrw.json", folder)
    for line in WORK_OF_THE_CORE:
        done = run(azbench, *line.split(), cwd=folder)
        assert done.returncode == 0 and done.stdout, f"{line}: {done.stderr}"


@pytest.fixture(scope="module")
def core(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the core alone, until the extra is added to it."""
    return environment(tmp_path_factory.mktemp("installed") / "core", wheel, locked(needed("")))


@pytest.mark.long
def test_the_core_alone_does_its_work_and_names_the_extra_for_the_rest(core: Path, tmp_path: Path) -> None:
    azbench = core / "azbench"
    does_the_work_of_the_core(azbench, tmp_path)
    for line in ("report randrw.json", "learn", "run --target local"):
        done = run(azbench, *line.split(), cwd=tmp_path)
        assert done.returncode == 2 and EXTRA.search(done.stderr), f"{line}: {done.stderr}"
    told = run(azbench, "doctor", cwd=tmp_path).stdout
    assert "make azure" not in told  # there is no Makefile
    assert re.search(r"absent +extra notebooks", told) and re.search(r"ok +Python packages", told)


@pytest.mark.long
@pytest.mark.parametrize("extra", ["", *EXTRAS])
@pytest.mark.parametrize("versions", ["lowest-direct", "highest"])
def test_the_core_and_each_extra_work_with_the_versions_that_are_declared(
    versions: str, extra: str, wheel: Path, tmp_path: Path
) -> None:
    """On the lowest Python; the tests' own tools are those of the lock."""
    about = described(wheel)
    (lowest,) = re.findall(r">=([\d.]+)", str(about.requires_python))
    python = run(UV, "python", "find", "--no-python-downloads", lowest, cwd=tmp_path).stdout.strip()
    if not python:
        pytest.skip(f"Python {lowest} is not installed")
    needs = declared(about, {extra, *BESIDE.get(extra, ())})
    (tmp_path / "needs.in").write_text("\n".join([*map(str, needs), *tools({need.name for need in needs})]))
    done = run(
        UV, "pip", "compile", "--quiet", "--resolution", versions, "--python", python, "needs.in",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    programs = environment(tmp_path / "installed", wheel, done.stdout, python)
    does_the_work_of_the_core(programs / "azbench", tmp_path)
    newest = ONLY_WITH_THE_NEWEST.get(extra, []) if versions == "highest" else []
    for line in [*WORK[extra], *newest]:
        program, *arguments = line.replace("FOLDER", str(tmp_path)).split()
        done = run(programs / program, *arguments, cwd=ROOT)
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"


def declared(about: Metadata, extras: set[str]) -> list[Requirement]:
    """What a wheel needs with some extras, without their markers."""
    needs = [
        need
        for need in about.requires_dist or ()
        if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in extras)
    ]
    for need in needs:
        need.marker = None
    return needs


def tools(there: set[str]) -> list[str]:
    """What the tests import besides what is there, as the lock has it."""
    lines = locked({"duckdb", "hypothesis", "openpyxl", "playwright", "pypdf", "pytest"} - there)
    return re.findall(r"^[^ ]+==[^ ]+", lines, re.MULTILINE)


@pytest.mark.fio
@pytest.mark.long
@pytest.mark.alone  # its commands measure an emulated disk in real time
def test_a_stranger_gets_from_the_tutorial_to_a_report(core: Path, tmp_path: Path) -> None:
    pinned = tmp_path / "notebooks.txt"
    pinned.write_text(locked(needed("notebooks")))
    install(core / "python", pinned)
    text = (ROOT / "docs" / "tutorial.md").read_text()
    for name, content in re.findall(r'^```\w+ title="([\w.]+)"\n(.*?)^```', text, re.MULTILINE | re.DOTALL):
        (tmp_path / name).write_text(content)
    lines = [
        line
        for block in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        for line in block.splitlines()
    ]
    assert len(lines) > 8
    said = {}
    for line in lines:
        program, *arguments = [word.strip('"') for word in line.split()]
        assert program == "azbench"
        done = run(core / "azbench", *arguments, cwd=tmp_path)
        assert done.returncode == 0, f"{line}: {done.stderr}"
        said[line] = done.stdout
    assert "Bound by latency at this queue depth" in said["azbench verdict p30"]
    assert "the disk IOPS limit" in said["azbench verdict p30"]
    assert "the VM uncached IOPS limit" in said["azbench verdict p40"]
    for name in ("report.html", "report.pdf"):
        assert (tmp_path / "reports" / "p30" / name).stat().st_size > 50_000
