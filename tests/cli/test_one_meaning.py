"""An option of one name means the same in every verb, and old names go on working."""

import shlex
from collections import defaultdict
from pathlib import Path

import pytest
from programs import azbench
from test_cli_forms import VERBS

import azbenchlib as az
from azbenchlib.advisor.demands.demand_file import workloads
from azbenchlib.cli.options.combinations import RENAMED

# Names that are general by nature: what is printed or written is each verb's own.
GENERAL = {
    "--format": "the forms that a verb can print differ, such as parquet, junit and yaml",
    "--output": "a verb writes a file, a folder of tables, a dataset or a lake",
}
ADVISE = "advise --iops 500 --size 1TiB --region westeurope"
# A call that ends soon, with or without an answer, and the old and new names in it.
CALLS = [
    (f"{ADVISE} {{}} 176", "--hours", "--vm-hours"),
    (f"{ADVISE} {{}}=176", "--hours", "--vm-hours"),
    (f"{ADVISE} {{}} 600/3600:20000", "--burst", "--peak"),
    (f"{ADVISE} {{}} often", "--burst", "--peak"),
    ("lab start --disk P4 {} much", "--cache", "--cache-size"),
    ("lab run --disk P4 {} 5 nowhere.fio", "--seconds", "--max-seconds"),
    ("lab mount disk.img {} a --lab nowhere", "--volume", "--volume-name"),
    ("catalog drift nowhere {} P30", "--name", "--documented-as"),
    ("catalog refresh --region westeurope --currency x {}", "--prices", "--retail-prices"),
    ("catalog refresh {} westeurope --currency EUR", "--location", "--region"),
]


def test_a_name_has_one_help_and_one_type_in_all_verbs() -> None:
    meanings = defaultdict(lambda: defaultdict(list))
    for verb, command in VERBS.items():
        for one in command.params:
            for name in one.opts:
                if name.startswith("--"):
                    meanings[name][one.help, one.type.name].append(verb)
    several = {name: dict(found) for name, found in meanings.items() if len(found) > 1}
    assert {name: found for name, found in several.items() if name not in GENERAL} == {}
    assert {*GENERAL} == {*several}


@pytest.mark.parametrize(("call", "old", "new"), CALLS)
@pytest.mark.sampled(4)
def test_an_old_name_works_and_says_the_new_one(call: str, old: str, new: str, tmp_path: Path) -> None:
    before, now = (azbench(*shlex.split(call.format(name)), cwd=tmp_path) for name in (old, new))
    assert (before.returncode, before.stdout) == (now.returncode, now.stdout)
    verb = next(name for name in VERBS if call.startswith(f"{name} "))
    assert before.stderr == f"Note: {old} of `azbench {verb}` is called {new} now\n{now.stderr}"


def test_old_names_are_tried_and_are_not_in_the_help() -> None:
    tried = defaultdict(dict)
    for call, old, new in CALLS:
        tried[next(name for name in VERBS if call.startswith(f"{name} "))][old] = new
    assert tried == RENAMED
    for verb, names in RENAMED.items():
        options = {name for one in VERBS[verb].params for name in one.opts}
        assert not {*names} & options and {*names.values()} <= options


def test_what_is_no_option_is_left_as_it_is(tmp_path: Path) -> None:
    done = azbench("lab", "run", "--disk", "P4", "--", "--seconds", cwd=tmp_path)
    assert "is called" not in done.stderr


def test_old_names_in_python_and_in_files_go_on() -> None:
    asked, peak = {"iops": 500, "size": "1TiB", "as_of": "2026-11-20"}, "600/3600:20000"
    old = az.advise(**asked, hours=176, burst=peak).to_dict()
    assert old == az.advise(**asked, vm_hours=176, peak=peak).to_dict() != az.advise(**asked).to_dict()
    rows = [[f"iops,size,{name}", f"500,1TiB,{peak}"] for name in ("burst", "peak")]
    before, now = (workloads(Path("x.csv"), lines, {}) for lines in rows)
    assert before == now and now[0][1].peak
