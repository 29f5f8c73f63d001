"""What reading may take: bounded memory for huge, hostile and unclaimed files, measured in a process each."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

MIB = 1 << 20
FIO = Path(__file__).parent / "data" / "fio"
READ = """
import resource, sys
import pandas, pyarrow.csv
from azbenchlib.dataset import Dataset
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = Dataset.read(sys.argv[1])
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print((after - before) // 1024, len(found.samples), *found.findings["code"])
"""


def read_apart(path: Path) -> tuple[int, int, list[str]]:
    """MiB that reading a file took, the samples in it and the codes of the findings."""
    result = subprocess.run(
        [sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True
    )
    taken, n_samples, *codes = result.stdout.split()
    return int(taken), int(n_samples), codes


def test_what_nobody_claims_is_not_read_further(tmp_path):
    path = tmp_path / "garbage.json"
    path.write_bytes(b"no format begins so")
    os.truncate(path, 4096 * MIB)  # a line of 4 GiB; sparse, so it takes no room on the disk
    taken, _, codes = read_apart(path)
    assert codes == ["not_recognised"]
    assert taken < 60


def test_a_huge_line_in_a_log_is_left_out(tmp_path):
    path = tmp_path / "a_iops.1.log"
    path.write_bytes(b"1, 5, 0, 4096\n" * 100)
    os.truncate(path, 200 * MIB)
    with path.open("ab") as file:
        file.write(b"\n2, 5, 0, 4096\n")
    taken, n_samples, codes = read_apart(path)
    assert (n_samples, codes) == (101, ["broken_lines"])
    assert taken < 80


def test_a_log_takes_200_bytes_a_line(tmp_path):
    path = tmp_path / "a_iops.1.log"
    n_lines = 1_000_000
    with path.open("w") as file:
        file.writelines(f"{place // 50}, {place % 9973}, 0, 4096, 0\n" for place in range(n_lines))
    taken, n_samples, codes = read_apart(path)
    assert (n_samples, codes) == (n_lines, [])
    assert taken < 200 * n_lines / MIB + 60


@pytest.mark.parametrize(
    ("name", "start", "size_mib"),
    [("a.json", (FIO / "randrw.json").read_bytes(), 257), ("a_lat.1.log", b"1, 5, 0, 4096\n" * 9, 1025)],
)
def test_what_is_too_large_is_told_and_not_read(tmp_path, name, start, size_mib):
    path = tmp_path / name
    path.write_bytes(start)
    os.truncate(path, size_mib * MIB)
    taken, n_samples, codes = read_apart(path)
    assert (n_samples, codes) == (0, ["too_large"])
    assert taken < 60
