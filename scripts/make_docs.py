"""Write the pages of docs/ that describe code, from that code.

.venv/bin/python scripts/make_docs.py
"""

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import typer.cli
import typer.main
from pydantic import BaseModel

from azbenchlib import plots
from azbenchlib.campaign.files import disk_spec, measurement_file, spec
from azbenchlib.campaign.workloads import fio_options
from azbenchlib.cli import app
from azbenchlib.core import choices, schema
from azbenchlib.core import findings as registry
from azbenchlib.core.findings import Code
from azbenchlib.formats.fio.job_lines import ALIASES
from azbenchlib.formats.registry import FORMATS
from azbenchlib.formats.unwrap import archives, examples, layer, prefixes, strings, transcripts
from azbenchlib.lessons.course import open_lesson

USE = """\
`azbench plan FILE` prints its runs, how long they take, how much they write, which limit is expected to bind
each, what Azure asks for it, and every command; with `--format json` as figures. `azbench run FILE` carries
it out on emulated disks ([the lab](lab.md)), `--target local` on this machine, and `--target azure` in
Azure.

A campaign keeps a journal (`journal.jsonl` of the dataset folder) of what was begun and kept, with the
sha256 of each raw file. After a kill at any point the same command goes on with the same order: no finished
run is lost, none is measured twice, and a raw file that was changed since is put aside and measured again.
Ctrl-C once ends it after the run in hand (in Azure at once), twice at once. `azbench status DIR` tells from
another terminal how far it is.

`--target ssh:USER@HOST` (or `ssh:USER@HOST:PORT`) measures a host that one can log in to with a key: nothing
is needed there but fio and a POSIX shell. The data lies in a folder of azbench in the login's home, or where
`-p directory=/mnt/disk` says: a directory, or a block device (below). The run lives on the host: when the
connection breaks, or azbench is killed, it goes on, and is collected later. A host key that is not known, or
is another one than it was, is refused; no password is ever requested. `AZBENCH_SSH_CONFIG` names
another configuration file of ssh.

`--target 'exec:COMMAND'` measures behind a command that runs another one where it leads: in a pod, a
container, a namespace, a folder with a root of its own, a Linux on Windows.

```sh
azbench run FILE --target 'exec:kubectl exec -i POD -c CONTAINER --' -p directory=/mnt/data
azbench run FILE --target 'exec:docker exec -i NAME'
azbench run FILE --target 'exec:nsenter -t PID -m --'
azbench run FILE --target 'exec:chroot DIR'
azbench run FILE --target 'exec:wsl -d Ubuntu --'
```

The command is split into words as a shell does, and no shell of this machine sees it; `sh` and a script on
standard input go behind it. So it has to hand standard input on (`-i`) and to open no terminal (no `-t`).
What is needed there is fio, a POSIX shell, `/proc`, and coreutils or busybox; what is missing is said. All
else is as with ssh: the run lives there and goes on when a session drops, and the data lies in `HOME` or
where `directory` says. Where nothing can be kept in `HOME`, name another one: `env HOME=/mnt/data` as the
last words of the command. The setup of a dataset names the program (`docker exec`), not where it leads; of a
pod that kubectl names, it is the VM and the disk that the cluster tells ([disks of AKS](aks.md)). To
look at a block device takes awk, find, diffutils and util-linux there too; without them, only the words
permit one.

A block device, of this machine or of a host, is overwritten only where it is blank and nobody uses it, or the
words of the refusal permit it (`-p allow="overwrite /dev/sdc"`). It is blank where all of it was read and is
zeros: what is too large to be read in five minutes needs the words, and so does one that is mounted, that a
RAID or a volume group is made of, or that another process has open for writing (as far as the login may see
other processes). What no longer needs the words is a device that has the mark of the campaign, in its last
4 KiB, behind what is measured: a campaign that was killed goes on with its own device, and with no other. The
reading takes its share of a disk's burst credits; the words save it. With the words, no mark is written, and
the workloads may touch all of the device.

`--target ssh:USER@HOST,USER@HOST` measures several hosts at the same time: fio's server runs on each,
reached through ssh alone, fio's client here; the outputs tell each host (`host-1`, `host-2`, in the order of
the command) and all together. All need the same version of fio, and workloads that the file gives by
options. Of commands, a comma as a word of its own stands between two
(`--target 'exec:docker exec -i one , docker exec -i two'`); there, perl or socat is needed too.

`azbench schema -o azbench.schema.json` writes the JSON Schema of the file, by which editors complete and
check it; in VS Code with the YAML extension, and wherever else yaml-language-server is at work, by this
first line:

```yaml
# yaml-language-server: $schema=azbench.schema.json
```"""
WORKLOAD = """\
In fio's spelling: `rw`, `bs`, `size` and `runtime` (seconds) are needed; `iodepth`, `numjobs` (1),
`ramp_time` (0), `ioengine` (libaio) and `direct` (true) have defaults; the other options are those listed
under [Options of fio](#options-of-fio), by their full names.

`rw`, `bs`, `iodepth`, `numjobs` and `rwmixread` may be lists: the workload then is a matrix, every
combination a workload of its own, whose name tells what differs, as `read-64k-qd8`. `exclude` leaves
combinations out, as `exclude: [{bs: 64k, iodepth: [32, 64]}]`. A file has 5,000 runs at most.

With `repeats`, each workload is measured so often, each time as a run of its own (`read-64k-qd8-r2`), which
reports, verdicts and comparisons take together with their range. The runs of a setup come in randomised
complete blocks: each block has every workload on every disk once, in an order of its own, so that what
changes slowly falls on all alike. The order follows from `seed`; without one it follows from the file, is
noted in the dataset, and is the same when a campaign is taken up again.

With `until`, such as `until: {p99: 5%}`, repeats end as soon as these figures (`iops`, `bw`, or a percentile
of the latency) are known to within that share: at the earliest after three repeats, at the latest after
`repeats` of them (20 where it is not said). The intervals are of a kind that may be looked at after each
run: over a whole series, 95 % of them hold at every look (`azbenchlib/campaign/design/figures.py` names
the method and its source). What was left out, and why, is in the journal and the notes of the dataset.

With `warm_up`, such as `warm_up: {iops: 5%}`, each workload is run until two runs one after the other agree
in these figures to within that share of their mean, before its first run counts: twice at least, 8 times at
most. The outputs of these runs are kept in `warm-up/`, beside `raw/`, and are in no table or figure; the
notes of the dataset tell after how many runs the workload was warm, or that no two of them agreed. Searches
have none.

`find: max_iops where p99 < 2ms` makes a workload a search: bisection over its queue depths (`iodepth`, a
list that grows; 1 to 256 in powers of two where it is not said) for the deepest at which that percentile of
the latency stays below the limit, with three repeats at the answer, or as many as `repeats` says. With a list
of `numjobs` and one `iodepth`, it searches the number of jobs. Every other list makes a search of its own for
each value. Searches come after the blocks of their setup. The notes of the dataset tell the answer and each
depth on the way, and the report and `01_measure.ipynb` draw that curve. `azbench plan` counts every depth,
for which of them are needed is not known beforehand.

`max_hours` and `max_cost` at the top of a file limit a campaign, as the options of `azbench run` do. A limit
below what is measured in any case is refused before anything is begun; outside of Azure, runs for which no
time is left are left out, and what is measured is a dataset. A price is known in Azure alone: elsewhere the
file's `max_cost` has no effect, and the option `--max-cost` is refused.

Or a job file of fio, as it is: `job` is its path, in the folder of the measurement file or below, and
`runtime` the seconds after which it is ended. It is started in the folder where the disk is mounted. It may
use the same options, say where in that folder its data lies, and name logs, which fio writes in the folder
where it is started, so that they are not among the outputs.

A measurement file may come from anybody, so options that start programs or open other files are refused, with
the file and the line; so are YAML tags, keys that are there twice, and values that begin with `@` or `-`.
`--trust-job-files` (of `azbench run`, `plan` and `lab run`) takes job files as they are when they are your
own: they may then use every option and engine of fio. It holds for job files only, and no measurement file,
dataset or parameter of a notebook can say it.

Or a run of iozone: `iozone` holds `file_sizes` (needed), `tests` (write, read, random; also backward,
record_rewrite, stride, and the buffered fwrite and fread), `records` (auto: 4 KiB to 16 MiB), `direct` (true,
iozone's `-I`) and `threads` (processes side by side, with one record and one file size). The data is written
once before it is measured (`-i 0 -w`); what iozone prints, with the reports of `-R`, and its spreadsheet
(`-b`) are kept; and it needs a file system. How long it takes is not known beforehand: iozone goes over all
of its data.

`disks` names the disks that a workload drives, one after the other; without it, all of the setup.
"""
OPTIONS = """\
What is not in this table is refused: abbreviations, options of later versions of fio, and all that starts
programs, opens other files, turns to other machines or changes settings of the system. A flag is `true` or
`false` in a measurement file; in a job file it is 1, 0 or alone on its line.
"""
CHOICES = {
    "role": choices.ROLES,
    "sku": disk_spec.SKUS,
    "caching": choices.HOST_CACHING,
    "placement": disk_spec.EPHEMERAL_PLACEMENTS,
}
KEYS = {"tasks": "workloads"}  # of a setup, as the file spells it
DOCS = Path(__file__).resolve().parents[1] / "docs"


def tables() -> str:
    """The column reference."""
    lines = ["# The tables", "", "Missing is NA, never zero. Columns in bold identify a row.", ""]
    for name, table in schema.TABLES.items():
        lines += [
            f"## {name}",
            "",
            f"{table.doc}.",
            "",
            "| column | type | unit | meaning |",
            "|---|---|---|---|",
        ]
        for column, entry in table.columns.items():
            shown = f"**{column}**" if column in table.key else column
            choices = f": {', '.join(entry.choices)}" if entry.choices else ""
            lines.append(f"| {shown} | {entry.dtype} | {entry.unit} | {entry.doc}{choices} |")
        lines.append("")
    return "\n".join(lines)


_SAME_RUN = "Which files tell of the same run: [datasets](datasets.md#the-same-run-in-several-files)."
_EXAMPLES = {
    "before each line": examples.PREFIXED,
    "in strings": examples.IN_STRINGS,
    "packed": examples.PACKED,
}


def formats() -> str:
    """What each reader says of its format, and of what it reads."""
    lines = ["# Formats and their traps", "", f"From the readers' own descriptions. {_SAME_RUN}", ""]
    for form in FORMATS:
        module = import_module(f"azbenchlib.formats.{form.sniffer.partition(':')[0]}")
        lines += [f"## {form.name}", "", _as_markdown(_said(module)), ""]
    return "\n".join([*lines, *_wrappings()])


def _wrappings() -> list[str]:
    """What may stand around outputs, as the layer that takes it off says."""
    lines = ["## What stands around outputs", ""]
    for module in (layer, prefixes, strings, archives, transcripts):
        lines += [_as_markdown(inspect.getdoc(module) or ""), ""]
    for title, wrappings in _EXAMPLES.items():
        lines += [f"| {title} | example |", "|---|---|"]
        lines += [f"| {what} | `{_in_cell(shown)}` |" for what, shown in wrappings.items()]
        lines.append("")
    return lines


def _in_cell(shown: str) -> str:
    return shown.replace("|", "\\|").replace("\t", "  ")


def _as_markdown(text: str) -> str:
    """A docstring's paragraphs, simple tables and numpydoc sections as Markdown."""
    blocks = []
    for block in re.split(r"\n{2,}", text):
        first, *rest = block.split("\n")
        if re.fullmatch("[= ]+", first):
            blocks.append(_table(first, rest))
        elif rest and re.fullmatch("-+", rest[0]):
            blocks.append(f"{first}:\n\n" + "\n".join(_items(rest[1:])))
        else:
            blocks.append(_escaped(block))
    return "\n\n".join(blocks)


def _escaped(text: str) -> str:
    """Text in which only code is marked up."""
    parts = re.split(r"(`+[^`]+`+)", text)
    parts[::2] = [part.replace("*", r"\*").replace("<", "&lt;") for part in parts[::2]]
    return "".join(parts).replace("``", "`")


def _table(rule: str, lines: list[str]) -> str:
    """A simple table; a line without a first cell goes on with the row before it."""
    starts = [found.start() for found in re.finditer("=+", rule)]
    rows: list[list[str]] = []
    for line in lines:
        if line.startswith("="):
            continue
        cells = [_escaped(line[a:b].strip()).replace("|", r"\|") for a, b in pairwise([*starts, None])]
        if cells[0]:
            rows.append(cells)
        else:
            rows[-1] = [f"{old} {new}".strip() for old, new in zip(rows[-1], cells, strict=True)]
    told = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([told[0], "|---" * len(starts) + "|", *told[1:]])


def _items(lines: list[str]) -> list[str]:
    """Names with their types, each with the lines on it."""
    found: list[str] = []
    for line in lines:
        if line.startswith(" "):
            found[-1] += f" {_escaped(line.strip())}"
        else:
            name, _, kind = line.partition(" : ")
            found.append(f"- `{name}`{f' ({kind})' if kind else ''}:")
    return found


def _said(module: ModuleType) -> str:
    functions = inspect.getmembers(module, inspect.isfunction)
    own = [
        thing for name, thing in functions if name.startswith("read_") and thing.__module__ == module.__name__
    ]
    return "\n\n".join(inspect.getdoc(thing) or "" for thing in (module, *own))


def findings() -> str:
    """What each code means, how severe it is, and what to do."""
    lines = ["# Findings", "", inspect.getdoc(registry) or "", ""]
    lines += ["| code | severity | meaning | what to do |", "|---|---|---|---|"]
    for code in Code:
        advice = code.advice.replace("|", " ") or "as the finding says"
        lines.append(f"| `{code}` | {' or '.join(code.severities)} | {code.meaning} | {advice} |")
    return "\n".join(lines) + "\n"


def measurement() -> str:
    """Every key of the measurement file."""
    example = (DOCS.parent / "campaigns" / "ultra-disk.yaml").read_text(encoding="utf-8")
    about = (inspect.getdoc(measurement_file) or "").partition("``docs/")[0].strip()
    lines = ["# The measurement file", "", about, "", USE, "", "```yaml", example.rstrip(), "```", ""]
    for title, kind in (
        ("The file", spec.Experiment),
        ("A setup", spec.SetupSpec),
        ("A disk", disk_spec.DiskSpec),
    ):
        lines += [f"## {title}", "", *_prose(kind), "", "| key | default | meaning |", "|---|---|---|"]
        lines += [*_keys(kind), ""]
    return "\n".join([*lines, "## A workload", "", WORKLOAD.rstrip(), *_options()])


def _options() -> list[str]:
    """The options of fio by the form of their values, and the engines."""
    kinds: dict[str, list[str]] = {}
    for name, kind in fio_options.OPTIONS.items():
        kinds.setdefault(kind.what, []).append(f"`{name}`")
    engines = ", ".join(f"`{name}`" for name in fio_options.ENGINES)
    aliases = ", ".join(f"`{alias}` ({name})" for alias, name in ALIASES.items())
    only = sorted(set(fio_options.IN_JOB_FILES) - set(fio_options.OPTIONS))
    lines = ["", "## Options of fio", "", OPTIONS, "| value | options |", "|---|---|"]
    rows = sorted(kinds.items(), key=lambda row: -len(row[1]))
    lines += [
        f"| {what.replace('|', ' ')} | {', '.join(sorted(names, key=lambda name: name.strip('`')))} |"
        for what, names in rows
    ]
    return [
        *lines,
        "",
        f"Engines: {engines}.",
        "",
        f"In job files also: {', '.join(f'`{name}`' for name in only)}.",
        "",
        f"Fio's other names: {aliases}.",
        "",
    ]


def _prose(thing: type) -> list[str]:
    return [line.replace("``", "`") for line in (inspect.getdoc(thing) or "").split("\n\n")[0].splitlines()]


def _keys(kind: type[BaseModel]) -> Iterator[str]:
    for name, field in kind.model_fields.items():
        shown = KEYS.get(name, name)
        plain = field.default in (None, "", (), False)
        default = "needed" if field.is_required() else "" if plain else f"`{field.default}`"
        choices = f": {', '.join(CHOICES[name])}" if name in CHOICES else ""
        yield f"| `{shown}` | {default} | {field.description or ''}{choices} |"


def command_line() -> str:
    """Every verb with its arguments and options, as their help says."""
    command = typer.main.get_command(app)
    for group in (command, *(one for one in command.commands.values() if hasattr(one, "commands"))):
        for verb in group.commands.values():
            verb.short_help = " ".join((verb.help or "").split("\n\n")[0].split())
    context = typer.Context(command, info_name="azbench")
    text = typer.cli.get_docs_for_click(obj=command, ctx=context, name="azbench")
    return text.replace("# `azbench`", "# The command line", 1).rstrip() + "\n"


PICTURES = ("queue", "throttle", "nested", "burst", "tails")  # of lessons, on the page of explanations


def pages() -> dict[Path, str]:
    """Each page and what it should say."""
    return {
        DOCS / "tables.md": tables(),
        DOCS / "formats.md": formats(),
        DOCS / "findings.md": findings(),
        DOCS / "measurement-file.md": measurement(),
        DOCS / "cli.md": command_line(),
        **{DOCS / f"{name}.svg": mechanism(name) for name in PICTURES},
    }


def mechanism(lesson: str) -> str:
    """Return the picture of a lesson's mechanism as a file."""
    return plots.standalone(open_lesson(lesson).mechanism().draw(plots.WIDE))


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
