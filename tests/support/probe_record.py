"""What a probe keeps of a disk with two caps, written by hand."""

from typing import Any


def _figure(
    key: str, value: float | None, low: float | None, high: float | None, state: str = "known"
) -> Any:
    way, what = key.split("_", 1)
    name = {"read": "Reads", "write": "Writes"}[way]
    label = {"iops": "IOPS cap", "bytes_per_s": "MB/s cap"}.get(what, what)
    return {"key": key, "label": f"{name}, {label}", "state": state, "value": value, "low": low, "high": high}


def record() -> dict[str, Any]:
    """A disk with two caps, one of which is not known, one that was not reached, and a bucket."""
    figures = [
        _figure("read_iops", 5_012.3, 4_987.1, 5_031.9) | {"runs": ["a", "b"]},
        _figure("write_iops", None, 3_401.0, 4_852.0, "open"),
        _figure("read_bytes_per_s", 203.4e6, 201.2e6, 205.8e6) | {"runs": ["b"]},
        _figure("write_bytes_per_s", None, 173.2e6, None, "above") | {"runs": ["b"]},
        _figure("read_p50_us_4k", 1_987.0, 1_951.0, 2_034.0) | {"runs": ["a"]},
    ]
    sizes, depths = [4096 << n for n in range(9)], [1, 4, 16, 64, 256]
    roof = [
        {"ddir": ddir, "bs_bytes": size, "low": 0.97 * iops, "iops": iops, "high": 1.04 * iops}
        for ddir, share in (("read", 1.0), ("write", 0.61))
        for size, iops in ((size, share * min(5_012.3, 203.4e6 / size)) for size in sizes)
    ]
    response = [
        {"ddir": ddir, "queue_depth": depth, "low": 0.9 * us, "lat_mean_us": us, "high": 1.2 * us}
        for ddir, share in (("read", 1.0), ("write", 1.7))
        for depth, us in ((depth, share * max(2_107.0, depth * 199.5)) for depth in depths)
    ]
    caps = {"iops": 5e3, "bytes_per_s": 2e8, "measured_per_documented_iops": 1.0246}
    p30 = {"name": "P30", "title": "P30 (5,000 IOPS, 200 MB/s)", "kind": "disk", "probability": 0.87, **caps}
    none = {"name": None, "title": "nothing that is documented", "kind": None, "probability": 0.13}
    names = [p30, {**none, "iops": None, "bytes_per_s": None}]
    levels = [{"t_s": 40.0 + 60 * i, "left": 1.8e6 - 9e5 * i} for i in range(3)]
    runs = [
        {"run": "a", "title": "reads of 4 KiB, queue depth 1, 10 s", "iops": 471.6, "nats": 4.52},
        {"run": "b", "title": "reads of 260 KiB, queue depth 64, 10 s", "iops": 782.2, "nats": 0.37},
    ]
    return {
        "measured": "2026-11-25",
        "figures": figures,
        "sentences": ["Reads and writes share their caps; whether these are the same for both is open."],
        "not_learnt": [
            {"what": "Not known well enough: Writes, IOPS cap.", "minutes": 3.6},
            {"what": "No cap found: Writes, MB/s cap. --drain learns more.", "minutes": None},
        ],
        "names": names,
        "runs": runs,
        "roof": roof,
        "response": response,
        "credits": [
            {"quantity": "iops", "levels": levels,
             "burst": {"value": 5_012.0, "low": 4_990.0, "high": 5_034.0},
             "base": {"value": 611.0, "low": 608.0, "high": 614.0}},
            {"quantity": "bytes_per_s", "levels": []},
        ],
        "cache": {"steps": [{"set_bytes": 4 << 20, "hit_share": 1.0, "p50_us": 121.0},
                            {"set_bytes": 64 << 20, "hit_share": None, "p50_us": 1_993.0}]},
    }  # fmt: skip
