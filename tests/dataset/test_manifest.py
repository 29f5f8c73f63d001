"""The manifest: whole or absent, and every fault named."""

import json
from pathlib import Path

import pytest

from azbenchlib.core.errors import InputError
from azbenchlib.dataset import manifest
from azbenchlib.dataset.files import regular_files, sha256
from azbenchlib.dataset.manifest import Manifest, ManifestSetup


def a_manifest(**changes) -> Manifest:
    setup = {"setup_id": "here", "environment": "local", "disks": [{"disk": "d", "host_caching": "None"}]}
    return Manifest(
        **{"name": "n", "title": "t", "about": "a", "measured": "today", "setups": [setup]} | changes
    )


def test_what_is_saved_is_loaded(tmp_path):
    raw = tmp_path / "raw" / "deep"
    raw.mkdir(parents=True)
    (raw / "größe.json").write_bytes(b"{}")
    (raw / ".hidden").write_bytes(b"")
    written = manifest.save(tmp_path, a_manifest(notes=["größer als 1"]))
    found = manifest.load(tmp_path)
    assert written == tmp_path / "manifest.json"
    # sha256 of the two characters {}
    assert found.raw == {
        "raw/deep/größe.json": "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    }
    assert found == a_manifest(notes=["größer als 1"], raw=found.raw)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["manifest.json", "raw"]


def test_tables_hold_setups_and_their_disks():
    tables = a_manifest().tables()
    assert tables["setups"]["setup_id"].tolist() == ["here"]
    assert tables["setups"]["region"].isna().all()
    assert tables["disks"][["setup_id", "disk", "host_caching"]].values.tolist() == [["here", "d", "None"]]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"title": None}, "title: "),
        ({"colour": "red"}, "colour: "),
        ({"setups": [{"setup_id": "x"}]}, "setups.0.environment: "),
        (
            {"setups": [{"setup_id": "x", "environment": "moon"}]},
            "setups.environment: value 'moon'.*azure, lab",
        ),
        (
            {"setups": [{"setup_id": "x", "environment": "lab", "disks": [{"size_bytes": "big"}]}]},
            "disks.size_bytes: value 'big' is not a whole number",
        ),
        (
            {"setups": [{"setup_id": "x", "environment": "lab", "disks": [{"cache": "None"}]}]},
            r"table disks has no column \['cache'\]",
        ),
        (
            {"setups": [{"setup_id": "x", "environment": "lab", "disks": [{"role": "data"}]}]},
            "disks.disk: every disk needs a name",
        ),
        (
            {"setups": [{"setup_id": "x", "environment": "lab", "disks": ["d"]}]},
            r"setups\.0\.disks\.0: Input should be an object",
        ),
        ({"setups": 2 * [{"setup_id": "x", "environment": "lab"}]}, "setup_id 'x' is there 2 times"),
    ],
)
def test_a_fault_is_named_with_file_and_place(tmp_path, change, fault):
    data = a_manifest().model_dump() | change
    (tmp_path / "manifest.json").write_text(json.dumps(data))
    with pytest.raises(InputError, match=fault) as error:
        manifest.load(tmp_path)
    assert str(tmp_path / "manifest.json") in str(error.value)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe{}", b"[]"])
def test_what_is_no_manifest_is_refused(tmp_path, content):
    (tmp_path / "manifest.json").write_bytes(content)
    with pytest.raises(InputError, match=r"manifest\.json: the file: "):
        manifest.load(tmp_path)


def test_a_missing_manifest_is_named(tmp_path):
    with pytest.raises(InputError, match=r"manifest\.json: no such file"):
        manifest.load(tmp_path)


def test_files_are_in_order_and_real(tmp_path):
    for name in ("b/2", "b/1", "a", ".git/config", "c/.part"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    (tmp_path / "b" / "loop").symlink_to(tmp_path)
    (tmp_path / "self").symlink_to(tmp_path / "self")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    found = [path.relative_to(tmp_path).as_posix() for path in regular_files(tmp_path)]
    assert found == ["a", "link", "b/1", "b/2"]


def test_hash_is_that_of_the_content(tmp_path):
    (tmp_path / "empty").touch()
    assert sha256(tmp_path / "empty").startswith("e3b0c44298fc1c14")


def test_a_setup_has_the_columns_of_its_table():
    from azbenchlib.core import schema

    assert set(ManifestSetup.model_fields) - {"disks", "folder"} == set(schema.TABLES["setups"].columns)
    assert Path(manifest.MANIFEST_FILE).suffix == ".json"
