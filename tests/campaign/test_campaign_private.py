"""A dataset and its report tell what was measured, not by whom and in which folder of theirs."""

import io
import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
from pypdf import PdfReader

from azbenchlib import campaign
from azbenchlib.campaign.files import measurement_file
from azbenchlib.campaign.planning import plan
from azbenchlib.campaign.targets.azure.manifest import CloudPlan
from azbenchlib.campaign.workloads.jobfile import JobFile
from azbenchlib.core.errors import AzbenchError
from azbenchlib.dataset.dataset import Dataset

WHO = "jane.doe"
MEASUREMENT = """\
title: Mine
region: westeurope
vm: Standard_D2s_v3
disks: {d: {sku: Premium_LRS, size: 32GiB}}
workloads:
  plain: {rw: randread, bs: 4k, iodepth: 2, size: 16m, runtime: 1}
  file: {job: own.fio, runtime: 1}
"""
JOB = "[own]\nrw=randread\nbs=4k\nsize=16m\nfilename=own-data\nioengine=posixaio\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of somebody with a name."""
    place = tmp_path / WHO
    (place / "work").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(place))
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "cache"))
    for name in ("USER", "LOGNAME"):
        monkeypatch.setenv(name, WHO)
    return place


def contents(path: Path) -> bytes:
    """The bytes of a file, and what it says when it is unpacked."""
    data = path.read_bytes()
    if path.suffix == ".parquet":
        table = pd.read_parquet(path)
        return data + table.to_csv().encode()
    if path.suffix == ".pdf":
        pdf = PdfReader(io.BytesIO(data))
        pages = "\n".join(page.extract_text() for page in pdf.pages)
        return data + f"{pages}{pdf.metadata}{pdf.xmp_metadata}".encode()
    return data


def assert_nobody_is_named(*folders: Path) -> None:
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 5
    for path in files:
        told = contents(path)
        place = told.find(WHO.encode())
        assert place < 0, f"{path}: …{told[max(0, place - 200) : place + 100]!r}"


@pytest.mark.fio
def test_a_target_in_the_home_folder_is_driven_and_taken_up_unnamed(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The dataset lies elsewhere; the second workload fails at first and leaves what it said."""
    tiny = {"size": "16m", "runtime_s": 0.3, "ramp_s": 0}
    workloads = [*campaign.matrix(["4k"], [2], ["randwrite"], **tiny), JobFile("own", JOB, 0.3)]
    broken = tmp_path / "bin"
    broken.mkdir()
    real = shutil.which("fio")
    (broken / "fio").write_text(
        f'#!/bin/sh\ncase "$*" in *own.fio*) echo "fio: {home}: no such thing" >&2; exit 1;; esac\n'
        f'exec {real} "$@"\n'
    )
    (broken / "fio").chmod(0o755)
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(broken), prepend=":")
        with pytest.raises(AzbenchError, match="no such thing"):
            campaign.measure(
                campaign.LocalTarget(directory=home / "work", workloads=workloads), tmp_path / "ds"
            )
    assert_nobody_is_named(tmp_path / "ds")
    said: list[str] = []
    campaign.measure(
        campaign.LocalTarget(directory=home / "work", workloads=workloads),
        tmp_path / "ds",
        progress=lambda done, total, text: said.append(text),
    )
    assert_nobody_is_named(tmp_path / "ds")
    assert said[0].startswith("randwrite") and "…" not in said[0]  # it was there already
    assert not list((home / "work").iterdir())
    found = Dataset.load(tmp_path / "ds")
    assert len(found.runs) == 2 and found.results["ios"].min() > 0
    (option,) = {job["job options"]["filename"] for job in _jobs(tmp_path / "ds" / "raw", "randwrite*.json")}
    assert option == "azbench.fio-data"


def test_the_plan_of_a_finished_run_in_azure_tells_no_subscription_and_is_taken_up(tmp_path: Path) -> None:
    at = "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/g/providers/Microsoft"
    head = f"subnet: {at}.Network/virtualNetworks/v/subnets/s\nimage: {at}.Compute/images/i\n"
    text = head + MEASUREMENT.replace("  file: {job: own.fio, runtime: 1}\n", "")
    (tmp_path / "m.yaml").write_text(text)
    asked = CloudPlan(experiment=measurement_file.load(tmp_path / "m.yaml"), started="now", subscription="s")
    done = asked.model_copy()
    done.forget_who()
    plan.save(tmp_path, done)
    kept = plan.load(tmp_path, CloudPlan)
    assert kept is not None
    assert "11111111" not in kept.model_dump_json()
    assert kept.subscription == kept.tenant == ""
    assert asked.same_as(kept)
    (tmp_path / "m.yaml").write_text(text.replace("images/i", "images/another"))
    other = CloudPlan(experiment=measurement_file.load(tmp_path / "m.yaml"), started="now")
    assert not other.same_as(kept)


def _jobs(raw: Path, names: str) -> list[dict]:
    return [job for path in raw.glob(names) for job in json.loads(path.read_text())["jobs"]]
