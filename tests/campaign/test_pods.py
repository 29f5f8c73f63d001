"""The setup of a pod that kubectl leads to: the real kubectl asks a small API server on this machine."""

import json
import os
import shlex
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_objects as made
import pytest
import yaml
from cluster import Cluster, cluster
from kubernetes_objects import PRIVATE
from typer.testing import CliRunner
from ways_to_hosts import nothing_left

from azbenchlib.azure.kubernetes import Pod, VolumeClaim
from azbenchlib.campaign import experiment
from azbenchlib.campaign.detect import pod
from azbenchlib.campaign.detect.pod import PodAddress, check_one_pod, pod_address
from azbenchlib.campaign.experiment import Todo
from azbenchlib.campaign.files import measurement_file
from azbenchlib.campaign.workloads.grid import matrix
from azbenchlib.cli import app
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.model.from_kubernetes import volume_at

ROOT = Path(__file__).parents[2]
TINY = Todo(matrix(["4k"], [1], ["randread"], size="1m", runtime_s=0.2, ramp_s=0, direct=False))
FILE = """\
title: A pod
region: westeurope
vm: Standard_D4s_v5
zone: 1
disks:
  fast: {sku: PremiumV2_LRS, size: 64GiB, iops: 4000}
workloads:
  tiny: {rw: randread, bs: 4k, size: 1m, runtime: 1, ioengine: psync, direct: false}
"""


@pytest.fixture(autouse=True)
def nothing_is_left_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with nothing_left(monkeypatch):
        yield


# Which pod a command leads to


@pytest.mark.parametrize(
    ("words", "asked", "pod", "container"),
    [
        ("kubectl exec -i pod-7 --", "kubectl", "pod-7", ""),
        ("kubectl exec -i pod-7 -c fio -- env HOME=/mnt/data", "kubectl", "pod-7", "fio"),
        ("kubectl exec pod/pod-7 -ic fio --", "kubectl", "pod-7", "fio"),
        ("kubectl exec --container=fio -i po/pod-7", "kubectl", "pod-7", "fio"),
        ("kubectl --context a -n b exec -i pod-7 --", "kubectl --context=a -n=b", "pod-7", ""),
        ("kubectl exec -i --namespace=b -v 6 pod-7 --", "kubectl --namespace=b -v=6", "pod-7", ""),
        ("kubectl exec -itnb pod-7 --", "kubectl -n=b", "pod-7", ""),
        ("kubectl exec -i=true -n=b pod-7 --", "kubectl -n=b", "pod-7", ""),
        (
            "kubectl --insecure-skip-tls-verify exec -i pod-7",
            "kubectl --insecure-skip-tls-verify",
            "pod-7",
            "",
        ),
        ("env KUBECONFIG=a /opt/kubectl exec -i pod-7 --", "env KUBECONFIG=a /opt/kubectl", "pod-7", ""),
    ],
)
def test_the_pod_of_a_command(words: str, asked: str, pod: str, container: str) -> None:
    expected = PodAddress(kubectl=tuple(asked.split()), pod=pod, container=container)
    assert pod_address(words.split()) == expected


@pytest.mark.parametrize(
    "words",
    [
        "docker exec -i pod-7",
        "kubectl",
        "kubectl exec",
        "kubectl debug pod-7 --",
        "kubectl exec -i deploy/web --",
        "kubectl exec -i -- pod-7",
        "kubectl exec -i --pod-7 --",
        "kubectl exec -i a;b --",
        "kubectl exec -i POD --",
        "kubectl exec -c",
        "kubectl exec -",
    ],
)
def test_no_pod_is_named(words: str) -> None:
    assert pod_address(words.split()) is None


# What its cluster tells


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Cluster]:
    with cluster(made.objects(), tmp_path / "cluster") as running:
        yield running


def facts(running: Cluster, *paths: str) -> tuple[dict[str, Any], list[str]]:
    """Setup and disk together, and all notes."""
    found, notes = pod.described(PodAddress(kubectl=running.kubectl, pod=made.POD), paths or ("/data",))
    if found is None:
        return {}, notes
    setup = found.setup.model_dump(exclude_none=True)
    (disk,) = setup.pop("disks") or [{}]
    assert PRIVATE not in json.dumps([setup, disk, notes, *found.notes])
    return setup | disk, [*notes, *found.notes]


def test_the_vm_and_the_disk_of_a_pod(serving: Cluster) -> None:
    known, notes = facts(serving)
    assert notes == []
    assert known.pop("as_of")
    assert known == {
        "setup_id": "pod",
        "environment": "azure",
        "region": "westeurope",
        "zone": "1",
        "vm_size": "Standard_D4s_v5",
        "disk": "data",
        "role": "data",
        "sku": "Premium_LRS",
        "tier": "P10",
        "size_bytes": 128 * GIB,
        "host_caching": "None",
    }
    # the volume says itself what its class says
    assert [path.split("/")[-2] for path in serving.asked] == [
        "pods",
        "persistentvolumeclaims",
        "persistentvolumes",
        "nodes",
    ]


def test_performance_plus_has_limits_of_its_own(serving: Cluster) -> None:
    serving.objects |= made.objects(made.volume("1Ti", skuName="Premium_LRS", EnablePerformancePlus="true"))
    known, _ = facts(serving)
    assert (known["tier"], known["provisioned_iops"], known["provisioned_bytes_per_s"]) == (
        "P30",
        8000,
        300 * 10**6,
    )


ON_NODE = "The path lies on the node itself"


@pytest.mark.parametrize(
    ("changed", "path", "note"),
    [
        ({}, "/", ON_NODE),
        (made.pod({"/data": "data"}, {"name": "data", "emptyDir": {}}), "/data", ON_NODE),
        (made.pod({"/data": "data"}, {"name": "data", "hostPath": {"path": "/mnt"}}), "/data", ON_NODE),
        (made.pod({"/data": "data"}, {"name": "data", "configMap": {}}), "/data", "that is no disk of Azure"),
        (made.pod({"/data": "data"}, {"name": "data", "azureFile": {}}), "/data", "that is no disk of Azure"),
        (
            made.volume(driver="file.csi.azure.com"),
            "/data",
            "on a file share of the driver file.csi.azure.com",
        ),
        (made.claim(volumeName=None, status={"phase": "Pending"}), "/data", "is not bound"),
        (
            {"kind": "PersistentVolumeClaim", "metadata": {"name": made.CLAIM}, "status": 404},
            "/data",
            "The PersistentVolumeClaim was not told (NotFound), so its disk may be unknown.",
        ),
    ],
)
def test_no_disk_is_known(changed: Any, path: str, note: str, serving: Cluster) -> None:
    if changed:
        name = changed["kind"], changed["metadata"]["name"]
        serving.objects[name] = changed["status"] if changed.get("status") == 404 else changed
    known, notes = facts(serving, path)
    assert "sku" not in known and note in " ".join(notes)
    is_left_out = "a Standard_D4s_v5, are those of its disks, so it is left out." in " ".join(notes)
    assert known.get("vm_size") == (None if is_left_out else "Standard_D4s_v5")
    assert is_left_out == (note != ON_NODE and "NotFound" not in note)


@pytest.mark.parametrize(
    ("kind", "name", "note", "unknown"),
    [
        ("Node", made.NODE, "The Node was not told (Forbidden), so the VM size, the region", "vm_size"),
        (
            "PersistentVolume",
            made.VOLUME,
            "The PersistentVolume was not told (Forbidden)",
            "provisioned_iops",
        ),
        ("Pod", made.POD, "The Pod was not told (Forbidden), so its VM and its disk may be", "sku"),
    ],
)
def test_missing_rights_leave_facts_open(
    kind: str, name: str, note: str, unknown: str, serving: Cluster
) -> None:
    serving.objects[kind, name] = 403
    known, notes = facts(serving)
    assert note in " ".join(notes) and unknown not in known


def test_a_claim_of_its_own_is_called_after_the_pod(serving: Cluster) -> None:
    own = made.claim(f"{made.POD}-scratch")
    volume = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}
    serving.objects |= made.objects(made.pod({"/data": "scratch"}, volume), own)
    assert facts(serving)[0]["sku"] == "Premium_LRS"


# What is broken on the way


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program in the place of kubectl, to be written."""
    path = tmp_path / "kubectl"
    path.touch()
    path.chmod(stat.S_IRWXU)
    return path


ANSWER = "kubectl get pod -o json"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo '{'", f"^{ANSWER}: the answer is no JSON: "),
        ("", f"^{ANSWER}: the answer is no JSON: "),
        ("printf '\\377\\376'", f"^{ANSWER}: the answer is no JSON: "),
        ("yes '['", f"^{ANSWER}: the answer is more than 8388608 B$"),
        ("yes '[' | head -n 100000", f"^{ANSWER}: the answer is no JSON: it is nested too deeply$"),
        ("echo '[]'", f"^{ANSWER}: Input should be a valid dictionary$"),
        ("echo 7", f"^{ANSWER}: Input should be a valid dictionary"),
        (
            """echo '{"spec": {"nodeName": "--all"}}'""",
            rf'^{ANSWER}: spec\.nodeName "--all": String should match',
        ),
        (
            """printf %s '{"spec": {"nodeName": "a\\n"}}'""",
            rf'^{ANSWER}: spec\.nodeName "a\\n": String should',
        ),
        (
            """echo '{"spec": {"containers": 7}}'""",
            rf"^{ANSWER}: spec\.containers 7: Input should be a valid list",
        ),
        ("""echo '{"spec": {"volumes": [{}]}}'""", rf"^{ANSWER}: spec\.volumes\.0\.name: Field required"),
        ("echo '{}'", r"^the pod has no container ''; the choices are: $"),
    ],
)
def test_an_answer_that_is_none_is_refused(script: str, said: str, program: Path) -> None:
    program.write_text(f"#!/bin/sh\n{script}\n")
    with pytest.raises(InputError, match=said) as refused:
        pod.described(PodAddress(kubectl=(str(program),), pod="one"), ("/data",))
    assert refused.value.exit_code == 2 and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("exec sleep 1000", "no answer in 0.3 s"),
        ("sleep 1000 & wait", "no answer in 0.3 s"),
        ("echo secret >&2; exit 1", "kubectl ended with status 1"),
        ("echo 'Error from server (Evil\x1b[2J)' >&2; exit 1", "kubectl ended with status 1"),
        ("kill -9 $$", "kubectl ended with status -9"),
    ],
)
def test_no_answer_leaves_all_open(
    script: str, why: str, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pod, "KUBECTL_S", 0.3)
    program.write_text(f"#!/bin/sh\n{script}\n")
    begun = time.monotonic()
    found = pod.described(PodAddress(kubectl=(str(program),), pod="one"), ("/data",))
    assert found == (None, [f"The Pod was not told ({why}), so its VM and its disk may be unknown."])
    assert time.monotonic() - begun < 20


# What a measurement file states


def stated(folder: Path, found: made.Objects, text: str, path: str = "") -> tuple[dict[str, Any], list[str]]:
    (folder / "file.yaml").write_text(text)
    facts = pod.saved(made.listed(found), "", "k8s.json")
    roles = ("os", "temp") if path else ("data",)
    read = pod.PodFacts(facts.setup, facts.notes, roles)
    whole = pod.with_stated(read, measurement_file.load(folder / "file.yaml"))
    (disk,) = whole.setup.disks or [None]
    return whole.setup.model_dump(exclude={"disks"}) | (disk.to_row() if disk else {}), [*whole.notes]


def test_what_a_person_states_counts_and_what_differs_is_told(tmp_path: Path) -> None:
    known, notes = stated(tmp_path, made.objects(made.volume(skuName="PremiumV2_LRS")), FILE)
    assert (known["sku"], known["size_bytes"], known["provisioned_iops"]) == ("PremiumV2_LRS", 64 * GIB, 4000)
    assert (known["host_caching"], known["disk"], known["zone"]) == ("None", "data", "1")
    assert notes == [
        "The measurement file states size_bytes 68719476736, and the cluster 137438953472: the file counts."
    ]


def test_caching_that_is_not_stated_is_that_of_the_cluster(tmp_path: Path) -> None:
    found = made.objects(made.volume(skuName="Premium_LRS", cachingMode="ReadOnly"))
    for said, caching in (("", "ReadOnly"), (", caching: None", "None")):
        text = FILE.replace("PremiumV2_LRS, size: 64GiB, iops: 4000", f"Premium_LRS, size: 256GiB{said}")
        known, _ = stated(tmp_path, found, text)
        assert (known["host_caching"], known["tier"]) == (caching, "P15")


def test_a_file_for_another_vm_is_left_aside(tmp_path: Path) -> None:
    known, notes = stated(tmp_path, made.objects(), FILE.replace("D4s_v5", "D8s_v5"))
    assert (known["vm_size"], known["sku"]) == ("Standard_D4s_v5", "Premium_LRS")
    assert notes == [
        "The measurement file is for a Standard_D8s_v5, and the node is a Standard_D4s_v5: its VM and disks "
        "are left aside."
    ]


def test_a_disk_of_the_node_can_be_stated(tmp_path: Path) -> None:
    on_node = made.objects(made.pod({}))
    text = FILE.replace(
        "workloads:", "  os: {role: os, sku: Premium_LRS, size: 128GiB, caching: ReadOnly}\nworkloads:"
    )
    known, _ = stated(tmp_path, on_node, text, path="/")
    assert (known["role"], known["sku"], known["tier"]) == ("os", "Premium_LRS", "P10")


# A run, and what verdicts make of it


def target(running: Cluster, *more: str) -> str:
    words = (*running.kubectl, "exec", "-i", made.POD, "-c", "fio", "--", *more)
    return f"exec:{' '.join(words)}"


@pytest.mark.parametrize("kind", ["deploy", "statefulset", "svc"])
def test_pods_of_which_kubectl_picks_one_are_refused(kind: str, tmp_path: Path) -> None:
    target = f"exec:kubectl exec -i {kind}/web -c fio --"
    with pytest.raises(InputError, match=f"picks one of the pods of {kind}/web anew at each call"):
        experiment.run(TINY, tmp_path / "ds", target=target)
    check_one_pod(["kubectl", "exec", "-i", "pod/web", "--"], target)
    assert not (tmp_path / "ds").exists()


@pytest.mark.fio
@pytest.mark.slow
def test_several_pods_at_once_are_measured_and_a_note_says_what_is_open(
    serving: Cluster, tmp_path: Path
) -> None:
    home = tmp_path / "home-of-another"
    home.mkdir()
    other = target(serving, "env", f"HOME={home}").removeprefix("exec:")
    folder = experiment.run(TINY, tmp_path / "ds", target=f"{target(serving)} , {other}")
    notes = json.loads((folder / "manifest.json").read_text())["notes"]
    assert sum(note.startswith("Several pods were measured at once") for note in notes) == 1


@pytest.mark.fio
@pytest.mark.slow
def test_a_run_in_a_pod_knows_its_setup(serving: Cluster, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    serving.objects |= made.objects(made.pod({str(data): "data"}, made.by_claim()))
    folder = experiment.run(TINY, tmp_path / "ds", target=target(serving), directory=str(data))
    tables = Dataset.read(folder).tables
    setup, disk = tables["setups"].iloc[0], tables["disks"].iloc[0]
    assert (setup["vm_size"], setup["region"], setup["environment"]) == (
        "Standard_D4s_v5",
        "westeurope",
        "azure",
    )
    assert (disk["sku"], disk["tier"], disk["host_caching"]) == ("Premium_LRS", "P10", "None")
    assert setup["kernel"] == os.uname().release
    assert PRIVATE not in (folder / "manifest.json").read_text()
    assert not list(data.iterdir()) and not list(serving.home.iterdir())
    done = CliRunner().invoke(app, ["verdict", str(folder), "--format", "json"], catch_exceptions=False)
    verdict = json.loads(done.stdout)
    assert "P10" in json.dumps(verdict) and "D4s_v5" in json.dumps(verdict)


@pytest.mark.fio
@pytest.mark.slow
def test_a_run_on_the_node_says_what_is_open(serving: Cluster, tmp_path: Path) -> None:
    folder = experiment.run(TINY, tmp_path / "ds", target=target(serving))
    dataset = Dataset.read(folder)
    assert dataset.tables["setups"].iloc[0]["vm_size"] == "Standard_D4s_v5"
    assert dataset.tables["disks"].empty
    assert any(
        note.startswith(ON_NODE) for note in json.loads((folder / "manifest.json").read_text())["notes"]
    )
    assert not list(serving.home.iterdir())


@pytest.mark.fio
def test_a_broken_answer_ends_a_run_before_anything_is_written(serving: Cluster, tmp_path: Path) -> None:
    broken = made.pod({"/data": "data"}, made.by_claim(), nodeName="A B")
    serving.objects |= made.objects(broken)
    with pytest.raises(InputError, match=r'spec\.nodeName "A B"'):
        experiment.run(TINY, tmp_path / "ds", target=target(serving))
    assert not list(serving.home.iterdir()) and not (tmp_path / "ds").exists()


# Files that kubectl printed


def limits(folder: Path, content: Any, *words: str) -> Any:
    (folder / "k8s.json").write_text(content if isinstance(content, str) else json.dumps(content))
    given = [str(folder / word) if word.startswith("k8s") else word for word in words]
    return CliRunner().invoke(app, ["limits", *given, "--format", "json"])


def test_a_file_tells_vm_and_disk(tmp_path: Path) -> None:
    done = limits(tmp_path, made.listed(made.objects()), "--disk", "k8s.json")
    assert done.exit_code == 0, done.exception
    told = json.loads(done.stdout)
    assert (told["vm_size"], told["disks"][0]["tier"]) == ("Standard_D4s_v5", "P10")
    assert done.stdout == limits(tmp_path, made.listed(made.objects()), "--vm", f"k8s.json/{made.POD}").stdout


def test_what_is_open_in_a_file_is_told(tmp_path: Path) -> None:
    found = made.objects(made.volume())
    del found["Node", made.NODE]
    done = limits(tmp_path, made.listed(found), "--vm", "Standard_D8s_v5", "--disk", "k8s.json")
    assert done.exit_code == 0
    assert "The Node was not told (the file does not have it)" in " ".join(done.stderr.split())
    assert "for which the driver takes StandardSSD_LRS" in " ".join(done.stderr.split())
    done = limits(tmp_path, made.listed(made.objects()), "--vm", "Standard_D8s_v5", "--disk", "k8s.json")
    assert "--vm Standard_D8s_v5 counts, though the node is a Standard_D4s_v5" in " ".join(
        done.stderr.split()
    )


TWO = {**made.objects(), ("Pod", "b"): made.one("Pod", "b", metadata={"namespace": "other"})}


@pytest.mark.parametrize(
    ("content", "named", "said"),
    [
        (
            made.listed(TWO),
            "k8s.json",
            r"one pod is needed, and there are 2 of them \(.*, b\); write FILE\.json/POD",
        ),
        (made.listed(TWO), "k8s.json/c", r"one pod c is needed, and there is none"),
        (made.listed(TWO), "k8s.json/b", r"tells no disk of Azure that the pod has"),
        (
            {"apiVersion": "v1", "kind": "List", "items": {}},
            "k8s.json",
            r"one pod is needed, and there is none",
        ),
        (
            {"apiVersion": "v1", "kind": "List", "items": [7]},
            "k8s.json",
            r"Input should be a valid dictionary",
        ),
        (
            {"apiVersion": "v1", "items": [{"metadata": {"name": "\x1b"}}]},
            "k8s.json",
            r"metadata\.name .* should",
        ),
        (made.listed(made.objects(made.claim("c"))) | {"kind": 7}, "k8s.json", None),
        ("[", "k8s.json", r"k8s\.json: no JSON of az vm show, az disk show or kubectl get: "),
    ],
)
def test_what_is_wrong_with_a_file_is_told(
    content: Any, named: str, said: str | None, tmp_path: Path
) -> None:
    done = limits(tmp_path, content, "--disk", named)
    if said is None:
        assert done.exit_code == 0
        return
    with pytest.raises(InputError, match=said):
        raise done.exception


def test_the_shipped_pod_has_its_claim_where_the_page_measures() -> None:
    asked, running = yaml.safe_load_all((ROOT / "campaigns" / "aks" / "fio-pod.yaml").read_text())
    assert (asked["kind"], running["kind"]) == ("PersistentVolumeClaim", "Pod")
    parsed = Pod.parse(running, "fio-pod.yaml")
    volume = volume_at(parsed, "fio", ["/mnt/data"])
    assert volume and parsed.claim_of(volume) == VolumeClaim.parse(asked, "fio-pod.yaml").name == "fio-disk"
    page = (ROOT / "docs" / "aks.md").read_text()
    words = next(word for word in shlex.split(page.split("```sh")[1]) if word.startswith("exec:"))
    expected = PodAddress(kubectl=("kubectl",), pod=str(parsed.name), container="fio")
    assert pod_address(shlex.split(words.removeprefix("exec:"))) == expected
