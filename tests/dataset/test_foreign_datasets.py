"""A dataset may come from anyone: it makes azbench read and write nothing but what lies in its own folder."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from programs import python

from azbenchlib.core import schema
from azbenchlib.core.errors import OutputError
from azbenchlib.dataset import manifest
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.dataset.manifest import Manifest

FIO = Path(__file__).parents[1] / "data" / "fio"
CONTENT = "root:x:0:0"
PATIENCE_S = 300  # what waits for a pipe or for the kernel's log waits for ever


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A dataset folder with one fio run, and a file beside it that is none of its own."""
    place = tmp_path / "set"
    (place / "raw" / "deep").mkdir(parents=True)
    shutil.copy(FIO / "randrw.json", place / "raw" / "deep")
    (tmp_path / "elsewhere").mkdir()
    shutil.copy(FIO / "unified_both.json", tmp_path / "elsewhere" / "other.json")
    setup = {"setup_id": "s", "environment": "local"}
    manifest.save(place, Manifest(name="n", title="t", about="a", measured="today", setups=[setup]))
    return place


def change(folder: Path, **changes: object) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def told(folder: Path) -> str:
    """The sentence that refuses a dataset, the same for all that open it; by a process that must end."""
    code = (
        "import sys\nfrom azbenchlib.dataset.dataset import Dataset\n"
        "from azbenchlib.core.errors import AzbenchError\n"
        "for verb in (Dataset.load, Dataset.read):\n"
        "    try: verb(sys.argv[1])\n"
        "    except AzbenchError as error: print(error)\n"
        "    else: print('it was opened')"
    )
    done = python(code, folder, timeout=PATIENCE_S)
    one, other = done.stdout.splitlines()
    assert one == other
    return one


@pytest.mark.parametrize(
    "name",
    [
        "/proc/kmsg",
        "/etc/shadow",
        "//etc/shadow",
        "../elsewhere/other.json",
        "../../etc/passwd",
        "raw/../../elsewhere/other.json",
        "raw/deep/../../../elsewhere/other.json",
        "..",
        "",
        "raw/a\0b",
    ],
)
def test_a_manifest_names_files_of_its_own_dataset_only(folder: Path, name: str) -> None:
    change(folder, raw={name: "0" * 64})
    says = told(folder)
    assert str(folder / "manifest.json") in says
    assert f"'{name}'" in says


@pytest.mark.parametrize("place", ["/etc", "../elsewhere", "raw/../.."])
def test_the_other_paths_of_a_manifest_stay_inside_too(folder: Path, place: str) -> None:
    change(folder, setups=[{"setup_id": "s", "environment": "local", "folder": place}])
    assert "setups.0.folder" in told(folder) and f"'{place}'" in told(folder)
    source = {"title": "t", "kind": "k", "published": "2020", "file": place, "sha256": "0"}
    change(folder, setups=[], sources=[source])
    assert "sources.0.file" in told(folder) and f"'{place}'" in told(folder)


@pytest.mark.parametrize(
    "what", ["file", "folder", "chain", "pipe", "device", "folder in the place of a file"]
)
def test_a_listed_file_that_is_something_else_is_refused(folder: Path, what: str) -> None:
    name = "raw/listed.json"
    path, outside = folder / name, folder.parent / "elsewhere"
    if what == "file":
        path.symlink_to(outside / "other.json")
    elif what == "folder":
        (folder / "raw" / "out").symlink_to(outside)
        name = "raw/out/other.json"
    elif what == "chain":
        (folder / "raw" / "a").symlink_to("../../elsewhere/other.json")
        path.symlink_to("a")
    elif what == "pipe":
        os.mkfifo(path)
    elif what == "device":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    change(folder, raw={name: "0" * 64})
    says = told(folder)
    assert str(folder / "manifest.json") in says and f"'{name}'" in says


def test_links_of_raw_are_not_followed_out_of_the_dataset(folder: Path) -> None:
    (folder / "raw" / "file.json").symlink_to(folder.parent / "elsewhere" / "other.json")
    (folder / "raw" / "all").symlink_to(folder.parent / "elsewhere")
    for found in (Dataset.read(folder), Dataset.load(folder)):
        assert found.runs["job"].tolist() == ["mix"]
        left_out = found.findings[found.findings["code"] == "not_read"]
        assert sorted(left_out["source_path"]) == ["raw/all", "raw/file.json"]
    manifest.save(folder, manifest.load(folder))
    assert list(manifest.load(folder).raw) == ["raw/deep/randrw.json"]


def test_a_link_within_the_dataset_is_a_file_like_others(folder: Path) -> None:
    (folder / "raw" / "again.json").symlink_to("deep/randrw.json")
    manifest.save(folder, manifest.load(folder))
    found = Dataset.read(folder)
    assert found.runs["job"].tolist() == ["mix"]
    assert found.findings["code"].tolist().count("counted_once") == 1


def test_raw_is_no_link_to_another_place(folder: Path) -> None:
    shutil.rmtree(folder / "raw")
    (folder / "raw").symlink_to(folder.parent / "elsewhere")
    change(folder, raw={})
    assert told(folder).startswith(f"{folder / 'raw'}: is a link that leads out of the dataset")


def test_a_dataset_reached_by_a_link_is_opened(folder: Path) -> None:
    (folder.parent / "name").symlink_to(folder)
    assert Dataset.load(folder.parent / "name").runs["job"].tolist() == ["mix"]


@pytest.mark.parametrize("what", ["pipe", "link", "device", "folder", "huge"])
def test_a_manifest_that_is_no_plain_file_is_refused(folder: Path, what: str) -> None:
    path = folder / "manifest.json"
    text = path.read_text()
    path.unlink()
    if what == "pipe":
        os.mkfifo(path)
    elif what == "link":
        (folder.parent / "elsewhere" / "m.json").write_text(text)
        path.symlink_to(folder.parent / "elsewhere" / "m.json")
    elif what == "device":
        path.symlink_to("/dev/zero")
    elif what == "folder":
        path.mkdir()
    else:
        path.write_text(text + " " * manifest.LARGEST_MANIFEST)
    assert f"{path}: cannot be read: is " in told(folder)


def test_tables_are_not_written_through_a_link(folder: Path) -> None:
    outside = folder.parent / "elsewhere"
    before = {path: path.read_bytes() for path in outside.iterdir()}
    (folder / "tables").symlink_to(outside)
    found = Dataset.read(folder)
    with pytest.raises(OutputError, match="tables: is a link that leads out of the dataset"):
        found.save(folder)
    assert {path: path.read_bytes() for path in outside.iterdir()} == before


@pytest.mark.parametrize("name", ["from.json", "results.parquet"])
@pytest.mark.parametrize("what", ["pipe", "link", "device"])
def test_tables_that_are_no_plain_files_are_made_again(folder: Path, name: str, what: str) -> None:
    path = Dataset.read(folder).save(folder) / "tables" / name
    outside = folder.parent / "elsewhere" / name
    shutil.copy(path, outside)
    path.unlink()
    if what == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(outside if what == "link" else "/dev/zero")
    assert told(folder) == "it was opened"


def test_saving_replaces_a_link_and_leaves_what_it_led_to(folder: Path) -> None:
    outside = folder.parent / "elsewhere" / "kept"
    outside.write_text(CONTENT)
    found = Dataset.read(folder)
    (folder / "tables").mkdir()
    for name in ("from.json", "results.parquet"):
        (folder / "tables" / name).symlink_to(outside)
    found.save(folder)
    assert outside.read_text() == CONTENT
    assert set(Dataset.load(folder).tables) == set(schema.TABLES)


NAMED = '{"name":"n","title":"t","about":"a","measured":"m"'
HEAD = NAMED + ',"setups":[{"setup_id":"s","environment":"lab","disks":['
BOMBS = {
    "many disks": HEAD + "{}," * 2_000_000 + "{}]}]}",
    "deep": "[" * 5_000_000,
    "deep in a disk": HEAD + '{"a":' * 1_000_000,
    "a number of millions of digits": '{"name":' + "9" * 5_000_000 + "}",
    "one long text": '{"name":"' + "x" * 7_000_000 + '","colour":"' + "y" * 500_000 + '"}',
}


@pytest.mark.parametrize("bomb", list(BOMBS))
@pytest.mark.sampled(2)
def test_a_manifest_that_would_take_all_memory_is_refused_in_a_sentence(folder: Path, bomb: str) -> None:
    (folder / "manifest.json").write_text(BOMBS[bomb])
    code = (
        "import resource, sys; from pathlib import Path; from azbenchlib.dataset import manifest\n"
        "from azbenchlib.core.errors import InputError\n"
        "used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try: manifest.load(Path(sys.argv[1]))\n"
        "except InputError as error: print(len(str(error)))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - used)"
    )
    command = [sys.executable, "-c", code, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    length, kib = map(int, done.stdout.split())
    assert length < 500
    assert kib * 1024 < 100 * manifest.LARGEST_MANIFEST
