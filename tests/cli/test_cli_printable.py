"""Hostile names in data, as a user's terminal and spreadsheet meet them: real processes, all verbs."""

import csv
import io
import json
import os
import re
import shutil
import unicodedata
from pathlib import Path

import programs
import pytest

from azbenchlib.cli.printing.lab_view import follow, view
from azbenchlib.dataset.manifest import Manifest
from azbenchlib.lab.server import live_log

ROOT = Path(__file__).parents[2]
FIO = ROOT / "tests" / "data" / "fio" / "randrw.json"
EVIL = (
    "\x1b[2J\x1b]0;owned\x07\x1b]8;;http://evil/\x1b\\x\x9b31m\rover\x08\x7f\u202etxt\u2066\u200b"
    "[red]b[/red] [link=http://evil/]c[/link] :warning:"
)
STYLE = re.compile(r"\x1b\[[0-9;]*m")  # what rich itself colours with


def azbench(*arguments: str | Path, cwd: Path = ROOT, **environment: str) -> tuple[str, str]:
    """Output and error output of a command; with colours, as on a terminal."""
    settings = {"COLUMNS": "200", "FORCE_COLOR": "1", **environment}
    done = programs.azbench(*arguments, cwd=cwd, env={**os.environ, **settings})
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout, done.stderr


def assert_harmless(text: str) -> None:
    left = STYLE.sub("", text)
    bad = {c for c in left if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
    assert not bad, [hex(ord(c)) for c in bad]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A dataset whose every name is hostile, with a file that nobody knows beside the good one."""
    raw = tmp_path / "set" / "raw"
    raw.mkdir(parents=True)
    output = json.loads(FIO.read_text())
    for job in output["jobs"]:
        job["jobname"] = EVIL
        job["job options"]["name"] = EVIL
    (raw / "good.json").write_text(json.dumps(output))
    name = EVIL.replace("/", "_").encode()[:200]
    Path(os.fsdecode(bytes(raw) + b"/" + name + b"\nerror: forged.json")).write_text("unknown")
    setup = {"setup_id": EVIL, "label": EVIL, "environment": "azure", "region": EVIL}
    setup |= {"vm_size": "Standard_E8ds_v4", "as_of": "2024-01-01"}
    disk = {"disk": EVIL, "role": "data", "sku": "Premium_LRS", "tier": "P30", "size_bytes": 1 << 40}
    manifest_of = Manifest(
        name="n", title=EVIL, about=EVIL, measured=EVIL, setups=[setup | {"disks": [disk]}]
    )
    text = manifest_of.model_copy(update={"notes": [EVIL]}).model_dump_json(exclude_none=True)
    (raw.parent / "manifest.json").write_text(text)
    return raw.parent


@pytest.mark.parametrize(
    "arguments",
    [
        ["read"],
        ["read", "--format", "json"],
        ["read", "--format", "csv", "--table", "runs"],
        ["read", "--format", "csv", "--table", "setups"],
        ["verdict"],
        ["verdict", "--format", "json"],
        ["limits"],
        ["limits", "--format", "json"],
        ["cost", "--region", "westeurope"],
    ],
    ids=" ".join,
)
@pytest.mark.sampled(3)
def test_names_in_a_dataset_command_no_terminal(folder: Path, arguments: list[str]) -> None:
    out, err = azbench(arguments[0], folder, *arguments[1:])
    assert_harmless(out)
    assert_harmless(err)
    assert "http://evil/" in out + err or arguments[0] in ("cost", "limits"), (out, err)
    assert STYLE.search(out) or arguments != ["verdict"]  # it is as on a terminal
    assert not any(line.startswith("error: forged") for line in err.splitlines())
    if "json" in arguments:
        json.loads(out)


def test_json_gives_the_very_names(folder: Path) -> None:
    out, _ = azbench("read", folder, "--format", "json")
    assert EVIL in {run["job"] for run in json.loads(out)["runs"]}
    assert json.loads(out)["setups"][0]["setup_id"] == EVIL


def test_names_of_files_command_no_terminal(folder: Path, tmp_path: Path) -> None:
    loose = tmp_path / "loose"
    shutil.copytree(folder / "raw", loose)
    for arguments in (["read", loose], ["verdict", loose], ["read", loose / f"no {EVIL[:20]}"]):
        for text in azbench(*arguments):
            assert_harmless(text)


def test_a_plan_commands_no_terminal(tmp_path: Path) -> None:
    text = json.dumps(
        {
            "title": EVIL,
            "about": EVIL,
            "region": "westeurope",
            "vm": "Standard_D2s_v3",
            "disks": {"d": {"sku": "Premium_LRS", "size": "32GiB"}},
            "workloads": {
                "a": {"rw": "randread", "bs": "4k", "size": "64m", "runtime": 1},
                EVIL: {"rw": "randread", "bs": EVIL, "size": "64m", "runtime": 1},
            },
        }
    )
    file = tmp_path / "m.yaml"
    file.write_text(text)
    for arguments in (["plan", file], ["run", file, "-o", tmp_path / "ds"], ["limits", file]):
        for said in azbench(*arguments, XDG_CACHE_HOME=str(tmp_path)):
            assert_harmless(said)


def test_csv_of_advice_has_no_formula(tmp_path: Path) -> None:
    file = tmp_path / "w.csv"
    names = ["=HYPERLINK(A1)", "+1", "-1", "@x", f"a {EVIL}"]
    out = io.StringIO()
    csv.writer(out).writerows([("name", "iops", "size"), *((name, "100", "32GiB") for name in names)])
    file.write_text(out.getvalue())
    for form in ("csv", "json", "text"):
        said = azbench("advise", "--workloads", file, "--region", "westeurope", "--format", form)
        for text in said:
            assert_harmless(text)
        if form == "csv":
            found = [row["name"] for row in csv.DictReader(io.StringIO(said[0]))]
            assert found[:4] == [f"'{name}" for name in names[:4]]


def test_csv_tables_have_no_formula_on_stdout_and_in_files(folder: Path, tmp_path: Path) -> None:
    path = folder / "raw" / "good.json"
    output = json.loads(path.read_text())
    output["jobs"][0]["jobname"] = "=cmd|' /C calc'!A0"
    path.write_text(json.dumps(output))
    out, _ = azbench("read", folder, "--format", "csv", "--table", "runs")
    assert "'=cmd|' /C calc'!A0" in {row["job"] for row in csv.DictReader(io.StringIO(out))}
    azbench("read", folder, "--format", "csv", "--output", tmp_path / "out")
    for file in (tmp_path / "out").glob("*.csv"):
        for row in csv.reader(io.StringIO(file.read_text())):
            assert not any(value[:1] in tuple("=+@") for value in row if value), file


def test_the_view_of_a_lab_commands_no_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The log of a lab that has ended, as anybody can leave one in a folder."""
    header = {"azbench_lab": 1, "setup": EVIL, "time_scale": 1.0, "full_credits": {f"{EVIL} iops": 5.0}}
    line = {
        "unix_s": 1.0,
        "t_s": 1.0,
        "late_us": None,
        "done": {EVIL: [1, 2]},
        "objects": {EVIL: {"queue_depth": 2, "throttled_share": 1.0}},
    }
    log = tmp_path / "lab.log"
    log.write_text(f"{json.dumps(header)}\n{json.dumps(line)}\n")
    state = live_log.read(log)
    from azbenchlib.cli.printing.rich_console import Console

    Console(force_terminal=True, width=200).print(view(state))
    follow(log)
    shown = capsys.readouterr().out
    assert "http://evil/" in shown
    assert_harmless(re.sub(r"\x1b\[(\?25[lh]|\d*[AK]|2K|1A)", "", shown))  # the cursor, which rich moves
