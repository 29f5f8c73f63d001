"""Folders of fio's outputs with given rates, and what a report shows of them."""

import json
from pathlib import Path

from azbenchlib.dataset.dataset import Dataset
from azbenchlib.dataset.setups import Assumed
from azbenchlib.model.notation import stated_setup
from azbenchlib.report import to_json


def side(folder: Path, rates: tuple[float, ...], rw: str = "randread", day: int = 0) -> Path:
    """Outputs of fio, a run each, one after the other."""
    folder.mkdir(parents=True)
    for i, iops in enumerate(rates):
        read = {
            "io_bytes": round(60 * iops) * 4096,
            "bw_bytes": round(iops * 4096),
            "iops": float(iops),
            "runtime": 60_000,
            "total_ios": round(60 * iops),
        }
        options = {"rw": rw, "bs": "4k", "iodepth": "32", "ioengine": "libaio", "direct": "1"}
        job = {"jobname": "load", "error": 0, "job options": options, "read": read}
        moment = 1_763_452_800 + 86_400 * day + 90 * i
        document = {"fio version": "fio-3.33", "timestamp": moment, "jobs": [job]}
        (folder / f"run{i}.json").write_text(json.dumps(document))
    return folder


def medians_of_a_folder(folder: Path) -> dict[str, tuple[float, int]]:
    """The rate and the number of runs that a report shows of each workload of a P30."""
    assumed = Assumed(stated_setup("Standard_D8s_v5", ["P30"], open_sizes=True))
    dataset = Dataset.load_each([str(folder)], assumed=assumed)
    setups = to_json.record(dataset)["setups"]
    return {one["workload"].partition(", median")[0]: (one["iops"], one["repeats"]) for one in setups}
