"""JSON of az that is not as az prints it: numbers as texts are taken, a wrong shape is one sentence."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from azbenchlib.azure.catalog import skus
from azbenchlib.azure.documents import AzDisk, AzVm
from azbenchlib.cli import app
from azbenchlib.cli.options.setup_options import described_setup
from azbenchlib.core.documents import decoded
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB, MB
from azbenchlib.model.from_azure import from_az
from azbenchlib.model.setup import Cap

VM: dict[str, Any] = {
    "hardwareProfile": {"vmSize": "Standard_E8ds_v4"},
    "storageProfile": {"osDisk": {"name": "os", "caching": "ReadWrite", "diskSizeGb": "30"}, "dataDisks": []},
}


def stored(**changes: Any) -> dict[str, Any]:
    return VM | {"storageProfile": VM["storageProfile"] | changes}


def test_a_size_that_is_given_as_text_is_a_number(tmp_path: Path) -> None:
    path = tmp_path / "vm.json"
    for text in ("30", "1024"):
        path.write_text(json.dumps(stored(osDisk={"name": "os", "diskSizeGB": text})))
        (disk,) = described_setup(None, str(path), [], None).disks
        assert disk.size_bytes == int(text) * GIB
    (disk,) = from_az(
        None, [{"diskSizeGB": "64", "diskIOPSReadWrite": "500", "diskMBpsReadWrite": "60.5"}]
    ).disks
    assert (disk.size_bytes, disk.cap) == (64 * GIB, Cap(iops=500, bytes_per_s=60.5 * MB))


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        (stored(dataDisks=5), r"storageProfile\.dataDisks 5: Input should be .*list"),
        (stored(dataDisks=[7]), r"storageProfile\.dataDisks\.0 7: Input should be .*"),
        (stored(osDisk=["os"]), r"storageProfile\.osDisk: Input should be"),
        (stored(osDisk={"diskSizeGb": "9" * 30}), r"osDisk\.diskSizeGB \"9{30}\": Input should be less"),
        (stored(osDisk={"diskSizeGb": -1}), r"diskSizeGB -1: Input should be greater"),
        (stored(osDisk={"diskSizeGb": True}), r"diskSizeGB true: Input should be a number"),
        (
            stored(osDisk={"diskSizeGb": "9" * 5000}),
            r"diskSizeGB \"9+: Input should be a number of at most 32",
        ),
        (
            stored(osDisk={"caching": "WriteBack"}),
            r"caching \"WriteBack\": Input should be 'None', 'ReadOnly'",
        ),
        (stored(osDisk={"managedDisk": {"storageAccountType": 3}}), r"storageAccountType 3: Input should be"),
        (stored(dataDisks=[{}] * 1001), r"dataDisks: .* at most 1000"),
        (VM | {"hardwareProfile": []}, "hardwareProfile: Input should be"),
        ({"name": "vm"}, r"has no hardwareProfile\.vmSize"),
        ([VM], "one VM or disk is needed, not list"),
    ],
)
def test_a_wrong_shape_names_file_field_value_and_what_is_accepted(
    tmp_path: Path, document: Any, sentence: str
) -> None:
    path = tmp_path / "vm.json"
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match=rf"vm\.json: .*{sentence}"):
        described_setup(None, str(path), [], None)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b'{"a":' * 100_000, "nested too deeply"),
        (b'{"properties":' * 900 + b"{}" + b"}" * 900, "no hardwareProfile"),
        (b'{"name": %s}' % (b"9" * 5000), "Exceeds the limit"),
        (b'{"name": "\\ud800"}', "surrogates not allowed"),
        (b"\xff\xfe", "no JSON"),
        (b"", "no JSON"),
    ],
)
def test_json_without_end_is_refused(tmp_path: Path, data: bytes, sentence: str) -> None:
    path = tmp_path / "vm.json"
    path.write_bytes(data)
    with pytest.raises(InputError, match=sentence):
        described_setup(None, str(path), [], None)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "vm.json")
    with pytest.raises(InputError, match="is no regular file"):
        described_setup(None, str(tmp_path / "vm.json"), [], None)


def test_a_wrong_file_ends_with_its_sentence(tmp_path: Path) -> None:
    (tmp_path / "disk.json").write_text('{"diskSizeGb": []}')
    done = CliRunner().invoke(app, ["limits", "--disk", str(tmp_path / "disk.json")])
    assert isinstance(done.exception, InputError) and done.exception.exit_code == 2
    assert "disk.json: diskSizeGB: Input should be a valid integer" in str(done.exception)


def test_what_windows_writes_is_read() -> None:
    assert decoded(json.dumps(VM).encode("utf-16")) == VM
    assert decoded(b"\xef\xbb\xbf{}") == {}


@pytest.mark.parametrize("key", ["diskSizeGb", "diskSizeGB", "DISKSIZEGB"])
def test_keys_are_read_in_any_case_and_within_properties(key: str) -> None:
    assert AzDisk.parse({"properties": {key: 5}}, "x").size_gib == 5
    vm = AzVm.parse({"Properties": {"HardwareProfile": {"vmsize": "Standard_D2s_v5"}}}, "x")
    assert vm.hardware.size == "Standard_D2s_v5"


@pytest.mark.parametrize(
    "answer",
    [
        None,
        [5],
        [{"resourceType": "virtualMachines"}],
        [{"name": "S", "resourceType": "virtualMachines", "capabilities": [{"value": "1"}]}],
        [{"name": "S", "resourceType": "virtualMachines", "locationInfo": [{"zones": [1]}]}],
        [{"name": ["S"], "resourceType": "virtualMachines"}],
    ],
)
def test_a_list_of_sizes_of_another_shape_is_refused(answer: Any) -> None:
    with pytest.raises(InputError, match="az vm list-skus: "):
        skus.parse(answer, "me")


def test_a_figure_that_no_size_has_is_missing() -> None:
    figures = {"UncachedDiskIOPS": "1e999", "MaxResourceVolumeMB": "NaN", "NvmeSizePerDiskInMiB": "1e-300"}
    figures |= {"NvmeDiskSizeInMiB": "1", "MemoryGB": "32 GB", "vCPUs": "8"}
    (row,) = skus.rows("Standard_X8_v9", figures, "me")
    assert {name for name in row if name.endswith(("iops", "bytes", "count"))} == set() and row[
        "vcpus"
    ] == "8"
