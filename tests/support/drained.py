"""Datasets of one run whose rates over time are given: fio's JSON with its logs, and a manifest."""

import json
from collections.abc import Sequence
from pathlib import Path

from azbenchlib.dataset import manifest
from azbenchlib.dataset.manifest import Manifest, ManifestSetup

BLOCK = 8192
P4 = {"disk": "os", "role": "os", "sku": "Premium_LRS", "size_bytes": 32 * 2**30, "host_caching": "None"}


def fio_json(name: str, ios: int, runtime_s: float, engine: str = "libaio", **options: str) -> str:
    """The output of a fio that wrote at random."""
    iops = ios / runtime_s
    row = {
        "io_bytes": ios * BLOCK,
        "bw_bytes": round(iops * BLOCK),
        "bw": round(iops * BLOCK / 1024),
        "iops": iops,
        "runtime": round(runtime_s * 1000),
        "total_ios": ios,
    }
    asked = {"rw": "randwrite", "bs": "8k", "iodepth": "64", "ioengine": engine, "direct": "1", **options}
    job = {
        "jobname": name,
        "groupid": 0,
        "error": 0,
        "job options": {"name": name, "time_based": "1", "runtime": f"{round(runtime_s * 1000)}ms", **asked},
        "write": row,
        "usr_cpu": 1.0,
        "sys_cpu": 1.0,
    }
    document = {"fio version": "fio-3.33", "timestamp_ms": 1_790_000_000_000, "jobs": [job]}
    return json.dumps(document, indent=1)


def dataset(
    folder: Path,
    lines: Sequence[tuple[float, float]],
    latencies: Sequence[tuple[float, float]] = (),
    time_scale: float | None = None,
    credit_s: float | None = None,
    runtime_s: float | None = None,
    uri: str = "",
    **setup: object,
) -> Path:
    """A dataset folder.

    Parameters
    ----------
    folder : Path
    lines, latencies : sequence of (float, float)
        End of each log interval in s, and the IOPS or the latency in ns in it, as fio would write them.
    time_scale, credit_s : float, optional
        Of a lab.
    runtime_s : float, optional
        That fio was asked for. None: the end of the log.
    uri : str
        Of an NBD server that fio drove.
    **setup
        What else is to be said of the setup.
    """
    raw = folder / "raw"
    raw.mkdir(parents=True)
    ends = [t for t, _ in lines]
    steps = [b - a for a, b in zip([0.0, *ends], ends, strict=False)]
    ios = round(sum(step * rate for step, (_, rate) in zip(steps, lines, strict=True)))
    how = {"engine": "nbd", "uri": uri} if uri else {}
    (raw / "drain.json").write_text(fio_json("drain", ios, runtime_s or ends[-1], **how))
    for kind, rows in (("iops", lines), ("lat", latencies), ("clat", latencies)):
        text = "".join(f"{round(t * 1000)}, {round(value)}, 1, 0, 0\n" for t, value in rows)
        if text:
            (raw / f"drain_{kind}.1.log").write_text(text)
    whole = {
        "setup_id": "p4",
        "label": "P4 for 45 minutes",
        "environment": "lab" if time_scale else "azure",
        "vm_size": "Standard_E8ds_v4",
        "region": "westeurope",
        "as_of": "2020-07-01",
        "disks": [P4],
        "time_scale": time_scale,
        "credit_s": credit_s,
        **setup,
    }
    found = Manifest(
        name=folder.name, title="A drained disk", about="", measured="today", setups=[ManifestSetup(**whole)]
    )
    manifest.save(folder, found)
    return folder


def lab_log(path: Path, slower: float, seconds: int = 6) -> None:
    """The log of a lab beside an output, with both its clocks."""
    lines = [{"unix_s": 1.79e9 + i / 5, "t_s": i / 5 / slower, "objects": {}} for i in range(5 * seconds)]
    head = {"azbench_lab": 1, "started_unix_s": 1.79e9}
    path.write_text("".join(json.dumps(line) + "\n" for line in [head, *lines]))
