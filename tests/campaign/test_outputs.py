"""What a kept output comes to, in the words of progress."""

import json
from pathlib import Path

import pytest

from azbenchlib.campaign import outputs

FIO = Path(__file__).parents[1] / "data" / "fio"


def iops_by_group(name: str) -> dict[int, float]:
    """What fio's document says, added up by hand."""
    found: dict[int, float] = {}
    for job in json.loads((FIO / name).read_text())["jobs"]:
        rate = sum(job[ddir]["iops"] for ddir in ("read", "write", "trim"))
        found[job["groupid"]] = found.get(job["groupid"], 0) + rate
    return found


def test_jobs_of_one_group_are_added_up() -> None:
    (total,) = iops_by_group("group_jsonplus.json").values()
    assert outputs.came_to(FIO / "group_jsonplus.json") == f"{total:,.0f} IOPS"


def test_jobs_after_one_another_are_not_added_up() -> None:
    rates = sorted(iops_by_group("sections.json").values())
    assert len(rates) > 1
    words = f"{rates[0]:,.0f} to {rates[-1]:,.0f} IOPS in {len(rates)} groups of jobs"
    assert outputs.came_to(FIO / "sections.json") == words


def test_the_figures_of_a_lab_are_told_at_full_speed() -> None:
    (total,) = iops_by_group("group_jsonplus.json").values()
    assert outputs.reached(FIO / "group_jsonplus.json", 4) == f"{4 * total:,.0f} IOPS"


@pytest.mark.parametrize("name", ["failed_job.json", "no_such_file.json"])
def test_what_is_not_whole_comes_to_nothing(name: str) -> None:
    assert outputs.came_to(FIO / name) is None


def changed(tmp_path: Path, **changes: object) -> Path:
    """A whole output with some figures of the first job's writes, or of the job, replaced."""
    document = json.loads((FIO / "group_jsonplus.json").read_text())
    job = document["jobs"][0]
    ddir = next(name for name in ("read", "write") if job[name]["total_ios"])
    for name, value in changes.items():
        (job if name in job else job[ddir])[name] = value
    path = tmp_path / "out.json"
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"io_bytes": 0, "io_kbytes": 0, "bw_bytes": 0}, "without their bytes or time"),
        ({"runtime": 0, "iops": 0.0, "bw_bytes": 0}, "without their bytes or time"),
        ({"error": 5}, "ended with error 5"),
        ({"total_ios": 0}, "no I/O"),
    ],
)
def test_sums_that_do_not_agree_are_told(changes: dict[str, object], words: str, tmp_path: Path) -> None:
    assert outputs.flaw(changed(tmp_path)) == ""
    output = changed(tmp_path, **changes)
    assert words in outputs.flaw(output)
    assert outputs.came_to(output) is None


def test_bins_that_lack_latencies_are_told(tmp_path: Path) -> None:
    document = json.loads((FIO / "group_jsonplus.json").read_text())
    ddir = next(name for name in ("read", "write") if document["jobs"][0][name]["total_ios"])
    bins = document["jobs"][0][ddir]["clat_ns"]["bins"]
    bins.pop(next(iter(bins)))
    (tmp_path / "out.json").write_text(json.dumps(document))
    assert "in its bins" in outputs.flaw(tmp_path / "out.json")


@pytest.mark.parametrize("words", ["fio: pid=7, got signal=9", "fio: terminating on signal 15"])
def test_a_signal_in_the_words_of_fio_is_told(words: str, tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text(f"\n{words}\n{(FIO / 'group_jsonplus.json').read_text()}")
    assert outputs.flaw(path) == words


def test_a_direction_that_never_moved_is_told(tmp_path: Path) -> None:
    document = json.loads((FIO / "randrw.json").read_text())
    job = document["jobs"][0]
    job["read"]["total_ios"] = 2000
    job["write"] |= {"total_ios": 0, "io_bytes": 0, "io_kbytes": 0, "runtime": 0, "iops": 0.0, "bw_bytes": 0}
    for kind in ("slat_ns", "clat_ns", "lat_ns"):
        job["write"][kind] = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}
    (tmp_path / "out.json").write_text(json.dumps(document))
    assert "did no write" in outputs.flaw(tmp_path / "out.json")


def test_a_run_that_ended_early_is_told(tmp_path: Path) -> None:
    document = json.loads((FIO / "group_jsonplus.json").read_text())
    for job in document["jobs"]:
        del job["job options"]["number_ios"]  # by which it may end early
        job["job options"] |= {"time_based": "1", "runtime": "60"}
    (tmp_path / "out.json").write_text(json.dumps(document))
    assert "of 60" in outputs.flaw(tmp_path / "out.json")
