"""Runs of the real fio in all forms that it writes, and copies of them as they come about in practice.

A :class:`MeasuredRun` is one start of fio, with the states that it wrote on the way. :func:`write_plain`
writes some of them, each once; :func:`write_copied` writes them with random copies: saved again, in other
forms, under way, with their logs elsewhere, renamed, packed, appended.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

DATA = Path(__file__).parents[1] / "tests" / "data"
ENDS = {"json+": ".json", "json": ".json", "terse": ".terse", "normal": ".txt", "text": ".txt"}
FULLEST = ("json+", "json+", "json+", "json", "terse", "normal")  # how often each is the fullest one
ALL = "all forms"
SIDES = ("a", "b")
FOLDERS = ("", "vm-1", "vm-2")
SHARE_WITH_LOGS = 0.7
LATENCY_LOGS = {"write_lat_log": "", "write_bw_log": "", "write_iops_log": ""}
HISTOGRAMS = {"write_hist_log": "", "log_hist_msec": "300"}
_FEW = ("logged", "few", "states", "repeat", "again")
_BASE = {"rw": "randread", "bs": "4k", "size": "4m", "ioengine": "psync", "runtime": "1", "time_based": None}
_JSON = re.compile(r"^\{\n.*?^\}\n", re.MULTILINE | re.DOTALL)
_TERSE = re.compile(r"^3;fio-.*\n", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class MeasuredRun:
    """One start of a tool.

    Attributes
    ----------
    name : str
        What its output is called.
    forms : mapping of str to sequence of str
        By form, the fullest first: the text of each state that was written, the whole run last.
    streams : mapping of str to str
        By form: what was written of all states.
    logs : mapping of str to bytes
        By name.
    logs_stay : bool
        Whether the logs are of single jobs that one row sums, so that they belong to it only where they lie
        beside it.
    """

    name: str
    forms: Mapping[str, Sequence[str]]
    streams: Mapping[str, str]
    logs: Mapping[str, bytes] = field(default_factory=dict)
    logs_stay: bool = False


def measured_runs(few: bool = False) -> list[MeasuredRun]:
    """The pool of runs; `few`: some of them, which take six seconds."""
    wanted = {name: jobs for name, jobs in _jobs().items() if not few or name in _FEW}
    return [_measured(name, *jobs) for name, jobs in wanted.items()] + list(_of_other_tools())


Job = tuple[str, Mapping[str, str | None]]


def _jobs() -> dict[str, tuple[Mapping[str, str | None], Sequence[Job]]]:
    """What is measured: by the name of the output, global options and jobs."""
    slow, paced = {"rate_iops": "300"}, {"rate_iops": "300", "runtime": "2800ms"}
    short = {"time_based": None, "runtime": "0"}
    clones = {**slow, "numjobs": "2"}
    states = {"status-interval": "1"}
    return {
        "logged": ({}, [("logged", slow | LATENCY_LOGS | HISTOGRAMS)]),
        "few": ({}, [("job", short | {"number_ios": "20"})]),
        "states": (states, [("job", paced | {"rw": "randrw"})]),
        "pair": ({}, [("one", slow), ("two", slow | {"rw": "write", "bs": "16k"})]),
        "repeat": ({}, [("job", slow)]),
        "again": ({}, [("job", slow)]),
        "third": ({}, [("job", slow)]),
        "few-again": ({}, [("job", short | {"number_ios": "20"})]),
        "single": ({}, [("job", short | {"number_ios": "1"})]),
        "single-again": ({}, [("job", short | {"number_ios": "1"})]),
        "clones": ({}, [("job", clones)]),
        "group": ({}, [("job", clones | {"group_reporting": None, "rw": "randwrite"} | LATENCY_LOGS)]),
        "states-pair": (states, [("one", paced), ("job", paced | {"rw": "randwrite"})]),
        "states-fast": (states, [("job", {"runtime": "2800ms"})]),
        "mixed": ({}, [("job", slow | {"rw": "randrw", "unified_rw_reporting": "1"})]),
        "averaged": ({}, [("job", slow | LATENCY_LOGS | {"log_avg_msec": "250"})]),
        "by-job": ({}, [("named", slow | {"write_lat_log": "named", "write_iops_log": "named"})]),
        "histograms": ({}, [("job", slow | {"rw": "randrw"} | HISTOGRAMS)]),
        "deep": ({}, [("job", slow | {"ioengine": "libaio", "iodepth": "8"})]),
        "fast": ({}, [("job", {"runtime": "1", "bs": "64k"} | HISTOGRAMS)]),
    }


def _measured(name: str, common: Mapping[str, str | None], jobs: Sequence[Job]) -> MeasuredRun:
    """One start of fio, which writes all forms at once."""
    with tempfile.TemporaryDirectory(prefix="azbench-") as home:
        lines = ["[global]", f"directory={home}"]
        for job, options in jobs:
            lines.append(f"[{job}]")
            for option, value in (_BASE | options).items():
                told = name if value == "" else value
                lines.append(option if told is None else f"{option}={told}")
        (Path(home) / "job.fio").write_text("\n".join(lines) + "\n")
        flags = [f"--{option}={value}" for option, value in common.items()]
        command = ["fio", *flags, "--eta=never", "--output-format=normal,terse,json+", "job.fio"]
        stdout = subprocess.run(command, check=True, capture_output=True, text=True, cwd=home).stdout
        logs = {path.name: path.read_bytes() for path in sorted(Path(home).glob("*.log"))}
    head, forms = _forms(stdout)
    streams = {form: "".join(states) for form, states in forms.items()}
    streams["normal"] = head + "".join(forms["normal"])
    forms["normal"] = [head + state for state in forms["normal"]]
    logs = {log: data for log, data in logs.items() if data}
    return MeasuredRun(
        name=name,
        forms=forms,
        streams=streams | {ALL: stdout},
        logs=logs,
        logs_stay="group_reporting" in jobs[0][1],
    )


def _forms(stdout: str) -> tuple[str, dict[str, list[str]]]:
    """What stands first, and the states in each form, out of one stream."""
    documents = list(_JSON.finditer(stdout))
    head = "".join(line for line in stdout[: documents[0].start()].splitlines(True) if line[:2] != "3;")
    ends = [*(document.start() for document in documents[1:]), len(stdout)]
    befores = [0, *(document.end() for document in documents[:-1])]
    terse = [
        "".join(_TERSE.findall(stdout[begin : document.start()]))
        for begin, document in zip(befores, documents, strict=True)
    ]
    normal = [
        _TERSE.sub("", stdout[document.end() : end]) for document, end in zip(documents, ends, strict=True)
    ]
    whole = [document[0] for document in documents]
    return head, {
        "json+": whole,
        "json": [_without_bins(text) for text in whole],
        "terse": terse,
        "normal": normal,
    }


def _without_bins(text: str) -> str:
    """What fio writes as json, of json+: no bins."""
    document = json.loads(text)
    for job in document["jobs"]:
        for direction in job.values():
            for part in direction.values() if isinstance(direction, dict) else ():
                if isinstance(part, dict):
                    part.pop("bins", None)
    return json.dumps(document, indent=2) + "\n"


def _of_other_tools() -> list[MeasuredRun]:
    names = ("iozone/auto.txt", "iozone/throughput.txt", "diskspd/mixed.txt")
    texts = {name: (DATA / name).read_text() for name in names}
    return [
        MeasuredRun(name=name.replace("/", "-").removesuffix(".txt"), forms={"text": [text]}, streams={})
        for name, text in texts.items()
    ]


# ---- copies ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Copied:
    """One run of a set: which form is the fullest, and where the copies lie."""

    run: MeasuredRun
    form: str
    home: Path
    chance: random.Random

    @property
    def forms(self) -> list[str]:
        """The forms that tell no more than the fullest one."""
        names = list(self.run.forms)
        return names[names.index(self.form) :]

    def text(self, form: str) -> str:
        """The whole run."""
        return self.run.forms[form][-1]

    def write(self, data: str | bytes, end: str) -> None:
        """Write a copy to a folder and under a name that are free.

        Of equal bytes a lake keeps one name, and logs that are called after another are then not found by
        it; so outputs with logs are copied with some more blank lines.
        """
        if self.run.logs and isinstance(data, str):
            data += "\n" * self.chance.randint(1, 1000)
        number = self.chance.randrange(1000)
        stem = self.chance.choice([self.run.name, f"{self.run.name}-{number}", f"copy-{number}"])
        folder = self.home / self.chance.choice(FOLDERS)
        while (folder / f"{stem}{end}").exists():
            stem += "-x"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{stem}{end}").write_bytes(data if isinstance(data, bytes) else data.encode())


def _saved_again(copied: _Copied) -> None:
    """JSON by another program: other indents, order, escapes."""
    if not copied.form.startswith("json"):
        return _encoded(copied)
    chance = copied.chance
    form = chance.choice([form for form in copied.forms if form in ("json+", "json")])
    document = json.loads(copied.text(form))
    again = json.dumps(
        document,
        indent=chance.choice([None, 0, 2, 4, "\t"]),
        sort_keys=chance.random() < 0.5,
        ensure_ascii=chance.random() < 0.5,
    )
    copied.write(again, ".json")
    return None


def _encoded(copied: _Copied) -> None:
    """The text by an editor of another system: line ends, byte order mark, blanks at the end."""
    form = copied.chance.choice(copied.forms)
    text = copied.text(form).rstrip("\n") + copied.chance.choice(["\n", "", "\n\n", " \n"])
    data = text.replace("\n", copied.chance.choice(["\n", "\r\n"])).encode(
        copied.chance.choice(["utf-8", "utf-8-sig", "utf-16"])
    )
    copied.write(data, ENDS[form])


def _other_form(copied: _Copied) -> None:
    form = copied.chance.choice(copied.forms)
    copied.write(copied.text(form), ENDS[form])


def _all_forms(copied: _Copied) -> None:
    """What fio writes with several --output-format, in its order."""
    some = [form for form in ("terse", copied.form, "normal") if form in copied.forms]
    copied.write("".join(copied.text(form) for form in dict.fromkeys(some)), ".out")


def _state(copied: _Copied) -> None:
    """A state under way in a file of its own, in the form that tells when it was written."""
    some = [form for form in copied.forms if form in ("json+", "json")]
    form = copied.chance.choice(some or copied.forms)
    states = copied.run.forms[form][:-1]
    if some and states:
        copied.write(copied.chance.choice(states), f".state{ENDS[form]}")


def _stream(copied: _Copied) -> None:
    """All states in one file, as fio writes them."""
    some = [form for form in copied.forms if form in copied.run.streams]
    if some:
        form = copied.chance.choice([*some, ALL] if copied.form == "json+" else some)
        copied.write(copied.run.streams[form], ENDS.get(form, ".out"))


def _packed(copied: _Copied) -> None:
    copied.write(gzip.compress(copied.text(copied.form).encode()), f"{ENDS[copied.form]}.gz")


def _appended(copied: _Copied) -> None:
    """The same output twice in one file."""
    if copied.form == "text":
        return
    form = copied.chance.choice(copied.forms)
    copied.write(copied.text(form) * 2, ENDS[form])


def _logs_again(copied: _Copied) -> None:
    for log in copied.run.logs:
        _write_log(copied, log, copied.chance.choice(FOLDERS))


def _write_log(copied: _Copied, log: str, folder: str) -> None:
    (copied.home / folder).mkdir(parents=True, exist_ok=True)
    (copied.home / folder / log).write_bytes(copied.run.logs[log])


WAYS: dict[str, Callable[[_Copied], None]] = {
    "saved again": _saved_again,
    "encoded": _encoded,
    "other form": _other_form,
    "all forms": _all_forms,
    "state": _state,
    "stream": _stream,
    "packed": _packed,
    "appended": _appended,
    "logs again": _logs_again,
}


@dataclass(frozen=True, kw_only=True)
class ChosenRun:
    """One run of a set: its fullest form, its side, its folder there, and whether it has its logs."""

    run: MeasuredRun
    form: str
    side: str
    folder: str
    is_logged: bool


def chosen_runs(chance: random.Random, pool: Sequence[MeasuredRun]) -> list[ChosenRun]:
    """Two to five of the runs."""
    return [
        ChosenRun(
            run=run,
            form=chance.choice([form for form in FULLEST if form in run.forms] or list(run.forms)),
            side=SIDES[number % len(SIDES)],
            folder=chance.choice(FOLDERS),
            is_logged=bool(run.logs) and chance.random() < SHARE_WITH_LOGS,
        )
        for number, run in enumerate(chance.sample(list(pool), chance.randint(2, 5)))
    ]


def write_plain(chosen: Sequence[ChosenRun], home: Path) -> None:
    """Write each run once, its logs beside it."""
    for one in chosen:
        _write_output(one, home)
        for log, data in one.run.logs.items() if one.is_logged else ():
            (home / one.side / one.folder / log).write_bytes(data)


def write_copied(chance: random.Random, chosen: Sequence[ChosenRun], home: Path) -> str:
    """Write the runs with random copies, their logs anywhere; what was written, in words."""
    said = []
    for one in chosen:
        _write_output(one, home)
        copied = _Copied(run=one.run, form=one.form, home=home / one.side, chance=chance)
        if one.is_logged:
            folder = one.folder if one.run.logs_stay else chance.choice([one.folder, *FOLDERS])
            for log in one.run.logs:
                _write_log(copied, log, folder)
        ways = [way for way in WAYS if way != "logs again" or (one.is_logged and not one.run.logs_stay)]
        some = chance.choices(ways, k=chance.randint(1, 4))
        for way in some:
            WAYS[way](copied)
        said.append(f"{one.side}/{one.run.name} as {one.form} ({', '.join(some)})")
    return "; ".join(said)


def _write_output(one: ChosenRun, home: Path) -> None:
    (home / one.side / one.folder).mkdir(parents=True, exist_ok=True)
    (home / one.side / one.folder / f"{one.run.name}{ENDS[one.form]}").write_text(one.run.forms[one.form][-1])
