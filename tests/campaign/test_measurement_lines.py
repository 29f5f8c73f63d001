"""Measurement files that nobody meant: refused in one sentence with the line, soon and in little memory."""

import random
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from azbenchlib.campaign.files import measurement_file, yaml_file
from azbenchlib.campaign.workloads.jobfile import JobFile
from azbenchlib.core.errors import AzbenchError, InputError

ROOT = Path(__file__).parents[2]
GOOD = """\
title: A disk
region: westeurope
vm: Standard_D4as_v5
zone: 1
disks:
  data: {sku: Premium_LRS, size: 1024GiB}
workloads:
  read:
    rw: randread
    bs: 4k
    size: 1g
    runtime: 30
    iodepth: 8
"""
SETUPS = """\
setups:
  - name: a
  - name: b
    zone: 2
    workloads:
      other: {rw: read, bs: 4k, size: 1g, runtime: 1, iodepht: 4}
"""


def _refused(folder: Path, text: str) -> str:
    path = folder / "campaign.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(InputError) as caught:
        measurement_file.load(path)
    said = str(caught.value)
    assert "\n" not in said and said.isprintable() and len(said) < 1500
    return said.removeprefix(f"{folder}/")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "    iodepth: 8",
            "    exec_prer: x",
            "campaign.yaml:13: setup 'setup': workload 'read': option 'exec_prer'",
        ),
        ("zone: 1", "zoned: 1", "campaign.yaml:4: the file: no key 'zoned'"),
        ("Premium_LRS", "Premium", "campaign.yaml:6: disks.data.sku 'Premium': is not one of"),
        (
            "{sku: Premium_LRS, size: 1024GiB}",
            "P30",
            "campaign.yaml:6: disk 'data': must be names",
        ),
        ("runtime: 30", "runtime: soon", "campaign.yaml:12: .*runtime_s 'soon' must be a number of seconds"),
        ("bs: 4k", "bs: big", "campaign.yaml:10: .*bs: 'big' is not a size"),
        ("rw: randread", "rw: sideways", "campaign.yaml:9: .*pattern 'sideways' is unknown"),
        ("iodepth: 8", "iodepth: deep", "campaign.yaml:13: .*iodepth 'deep' must be a whole number"),
        ("iodepth: 8", "direct: maybe", "campaign.yaml:13: .*direct 'maybe' must be true or false"),
        ("iodepth: 8", "rw: read", "campaign.yaml:13: the key 'rw' is there twice; keep one"),
        ("  read:", "  read: {}\n  read:", "campaign.yaml:9: the key 'read' is there twice"),
        ("zone: 1", "zone: '@/etc/passwd'", "campaign.yaml:4: '@/etc/passwd' begins with @"),
        ("zone: 1", "zone: north", "campaign.yaml:4: zone 'north'"),
        ("size: 1024GiB", "size: 1024GiB, tier: fast", "campaign.yaml:6: disks.data.tier 'fast'"),
        ("zone: 1", "image: ubuntu", "campaign.yaml:4: image 'ubuntu': must be a URN"),
        ("zone: 1", "as_of: 2024-13-45", "campaign.yaml:4: as_of '2024-13-45': is no day of the calendar"),
        ("zone: 1", "as_of: 2024-02-30", "campaign.yaml:4: as_of '2024-02-30': is no day of the calendar"),
        ("zone: 1", f"rest: {'9' * 5000}", "campaign.yaml:4: the value has 5,000 characters"),
        ("zone: 1", f"rest: {'9' * 30}", "campaign.yaml:4: .* is a number of more than 20 digits"),
        ("size: 1g", f"size: '{'9' * 400}'", "campaign.yaml:11: .* is a number of more than 20 digits"),
        ("zone: 1", f"zone: {'[' * 3000}", "campaign.yaml:4: is nested more than 12 deep"),
        (
            "zone: 1",
            "zone: !!python/object/apply:os.system [id]",
            "campaign.yaml:4: the tag .*python.* is not taken",
        ),
        ("zone: 1", "zone: !!binary aGVsbG8=", "campaign.yaml:4: the tag !!binary is not taken"),
        ("zone: 1", 'zone: "\\e[2J"', "campaign.yaml:4: the value holds the character U\\+001B"),
        (
            "zone: 1",
            'zone: "\\ud800"',
            "campaign.yaml:4: (is not YAML|the value holds the character U\\+D800)",
        ),
        ("zone: 1", "zone: [1", "campaign.yaml:5: is not YAML"),
        ("zone: 1", "? [a, b]\n: 1", "campaign.yaml:4: a key must be a name"),
        ("zone: 1", "zone: &a [*a]", "campaign.yaml:4: aliases make more than"),
        ("title: A disk", "title: [a]", "campaign.yaml:1: title"),
        ("title: A disk", "title: A disk\nabout: {a: b}", "campaign.yaml:2: about: must be text"),
        ("title: A disk", "title: A disk\nfeatures: 5", "campaign.yaml:2: features"),
        (
            "size: 1g",
            "size: [1, 2]",
            "campaign.yaml:11: .*size: no list is taken here; lists may be: rw, bs, iodepth",
        ),
        ("    iodepth: 8", "    disks: [[1]]", "campaign.yaml:13: .*disks: must be the name"),
        ("    iodepth: 8", "    disks: 5", "campaign.yaml:13: .*disks: must be the name"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert GOOD.count(old) == 1
    assert re.match(said, _refused(tmp_path, GOOD.replace(old, new)))


def test_a_setup_has_lines_of_its_own(tmp_path: Path) -> None:
    said = _refused(tmp_path, GOOD + SETUPS)
    assert said.startswith("campaign.yaml:19: setup 'b': workload 'other': option 'iodepht' is not allowed; ")
    assert said.endswith("the nearest that is allowed is 'iodepth'")
    mended = SETUPS.replace(", iodepht: 4", "")
    assert _refused(tmp_path, GOOD + mended.replace("zone: 2", "zone: x")).startswith("campaign.yaml:17: ")
    above = GOOD.replace("zone: 1", "zone: x") + mended.replace("    zone: 2\n", "")
    assert _refused(tmp_path, above).startswith("campaign.yaml:4: ")


JOB = "workloads:\n  j:\n    job: j.fio\n    runtime: 5\n"


@pytest.mark.parametrize(
    ("job", "change", "said"),
    [
        (
            "[a]\nsize=1m\nexec_prerun=x",
            (),
            "campaign.yaml:9: .*job file j.fio:3: option 'exec_prerun' may not be set",
        ),
        ("[a]\nsize=1m\ndirectory=/etc", (), "campaign.yaml:9: .*the job file's data lies in /etc"),
        (
            "size=1m\n[a]",
            (),
            "campaign.yaml:9: .*job file j.fio:1: option 'size' stands before the first section",
        ),
        ("[global]\nsize=1m", (), "campaign.yaml:9: .*the job file has no job"),
        (
            "[a]\nsize=1m",
            ("runtime: 5", "runtime: 30s"),
            "campaign.yaml:10: .*runtime '30s' must be a number of sec",
        ),
        (
            "[a]\nsize=1m",
            ("runtime: 5", "runtime: true"),
            "campaign.yaml:10: .*runtime 'True' must be a number of sec",
        ),
        ("[a]\nsize=1m", ("runtime: 5", "runtime: [5]"), "campaign.yaml:10: .*must be a number of seconds"),
        ("[a]\nsize=1m", ("runtime: 5", "runtime: -1"), "campaign.yaml:10: .*must be a number of seconds"),
        (
            "[a]\nsize=1m",
            ("runtime: 5", "runtime: 1.0e+400"),
            "campaign.yaml:10: .*must be a number of seconds",
        ),
        (
            "[a]\nsize=1m",
            ("job: j.fio", 'job: "j\\0.fio"'),
            "campaign.yaml:9: the value holds the character U.0000",
        ),
        ("[a]\nsize=1m", ("job: j.fio", "job: [j.fio]"), "campaign.yaml:9: .*cannot be read"),
        ("[a]\nsize=1m", ("job: j.fio", "job: ."), "campaign.yaml:9: .*is not a file"),
        (
            "[a]\nsize=1m",
            ("runtime: 5", "bs: 4k"),
            "campaign.yaml:10: .*no key 'bs'; with a job file there are",
        ),
    ],
)
def test_faults_of_a_job_file_are_told_with_both_lines(
    tmp_path: Path, job: str, change: tuple[str, str], said: str
) -> None:
    (tmp_path / "j.fio").write_text(job + "\n")
    text = GOOD.partition("workloads:")[0] + JOB
    found = _refused(tmp_path, text.replace(*change) if change else text)
    assert re.match(said, found), found


def test_aliases_and_merge_keys_are_taken_while_they_are_small(tmp_path: Path) -> None:
    text = GOOD.replace("  read:", "  read: &base") + "  write: {<<: *base, rw: randwrite}\n  again: *base\n"
    path = tmp_path / "campaign.yaml"
    path.write_text(text)
    found = {work.name: work for work in measurement_file.load(path).workloads()}
    assert [(work.rw, work.iodepth) for work in found.values()] == [
        ("randread", 8),
        ("randwrite", 8),
        ("randread", 8),
    ]


def test_what_yaml_makes_of_names_and_days_is_undone(tmp_path: Path) -> None:
    """``on`` is a name, ``2020-07-01`` a day and ``1:30`` no number of seconds since midnight."""
    path = tmp_path / "campaign.yaml"
    path.write_text(GOOD.replace("  read:", "  on:").replace("zone: 1", "as_of: 2020-07-01"))
    found = measurement_file.load(path)
    assert [work.name for work in found.workloads()] == ["on"]
    assert found.setups[0].as_of == "2020-07-01"
    assert yaml_file.read(_file(tmp_path, "a: 1:30\nb: 0x10\nc: yes")).content == {
        "a": "1:30",
        "b": 16,
        "c": True,
    }


def _file(folder: Path, text: str) -> Path:
    path = folder / "any.yaml"
    path.write_text(text)
    return path


BOMBS = {
    "aliases": "a0: &a0 [x]\n"
    + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10)),
    "merges": "a0: &a0 {x0: 1}\n"
    + "".join(f"a{n}: &a{n} {{x{n}: 1, <<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 10)),
    "lists": "a: " + "[" * 60_000,
    "mappings": "a: " + "{" * 60_000,
    "questions": "? " * 60_000,
    "dashes": "- " * 60_000,
    "values": "a: [" + "1," * 60_000 + "]",
    "keys": "\n".join(f"k{n}: 1" for n in range(20_000)),
    "a long line": "a: " + "x" * 120_000,
    "a large file": "a: b\n# " + "x" * 200_000,
    "anchors": "\n".join(f"a{n}: &b{n} 1" for n in range(9_000)),
    "digits": "a: 0x" + "f" * 100_000,
    "minutes": "a: " + "1:" * 50_000 + "1",
}


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.sampled(3)
def test_a_bomb_does_not_go_off(tmp_path: Path, name: str) -> None:
    """Within 40 s of processor time and 600 MiB, of which Python and the library take most."""
    code = (
        "import sys; from azbenchlib.campaign.files import measurement_file\n"
        "from azbenchlib.core.errors import InputError\n"
        "try: measurement_file.load(sys.argv[1])\n"
        "except InputError as error: print(error)"
    )

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (40, 40))
        resource.setrlimit(resource.RLIMIT_DATA, (600 * 2**20, 600 * 2**20))

    path = _file(tmp_path, BOMBS[name])
    command = [sys.executable, "-c", code, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limited, check=False)
    assert done.returncode == 0, done.stderr[-300:]
    assert done.stdout.startswith(f"{path}:")
    assert len(done.stdout) < 1500


ODD = (
    *(
        "9" * 30,
        "-1",
        "1e999",
        ".nan",
        "null",
        "true",
        "[]",
        "{}",
        "[1,2]",
        "{a: 1}",
        '"\\0"',
        '"\\ud800"',
        "@x",
    ),
    *(
        "- a",
        "&a",
        "*a",
        "<<: *a",
        "!!binary aGk=",
        "2024-13-45",
        "1:30",
        "30s",
        "${HOME}",
        "`x`",
        "[[[",
        "\t",
    ),
    *(
        "\r",
        "\u2028",
        "job: x",
        "iozone: {}",
        "disks: [x]",
        "threads: 3",
        "setups: [1]",
        "size=50%",
        "bs=4k,",
    ),
    *("rate=,", "[global]", "include x", "numjobs=99999999999999999999", "size=9999999t", "=", "#", "]"),
)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.sampled(2)
def test_damaged_files_give_errors_of_our_own(tmp_path: Path, seed: int) -> None:
    """Shipped files with a word put in, taken out or put elsewhere: no error but those of azbench."""
    dice = random.Random(seed)  # noqa: S311
    whole = [path.read_text() for path in sorted((ROOT / "campaigns").glob("*.yaml"))] + [GOOD + SETUPS]
    jobs = [path.read_text() for path in sorted((ROOT / "campaigns" / "local-disks").glob("*.fio"))]
    for _ in range(60):
        text = _damaged(dice.choice(whole), dice)
        path = tmp_path / "campaign.yaml"
        path.write_text(text, newline="")
        try:
            measurement_file.load(path).shortened(3, 2**28).workloads()
        except AzbenchError as error:
            assert "\n" not in str(error)
        try:
            job = JobFile("j", _damaged(dice.choice(jobs), dice)).shortened(3, 2**28)
            job.facts(), job.max_duration_s, job.own_bytes, job.rebased("/data", ".")
        except AzbenchError as error:
            assert "\n" not in str(error)


def _damaged(text: str, dice: random.Random) -> str:
    for _ in range(dice.randint(1, 3)):
        lines = text.split("\n")
        at = dice.randrange(len(lines))
        words = re.split(r"(\W)", lines[at])
        word = dice.randrange(len(words))
        match dice.randrange(4):
            case 0:
                words[word] = dice.choice(ODD)
                lines[at] = "".join(words)
            case 1:
                del lines[at]
            case 2:
                lines.insert(at, dice.choice(ODD))
            case _:
                lines.insert(dice.randrange(len(lines)), lines[at])
        text = "\n".join(lines) or "x"
    return text
