"""Freeze what azbench answers to everything that is shipped, so that two versions can be compared.

    AZBENCH_CORPUS=TREE .venv/bin/python benchmarks/referees.py FOLDER [--only NAME]... [--against OTHER]

FOLDER gets a folder for each part: what the verbs print about shipped datasets (terminal 100 columns wide,
JSON, CSV, Markdown), the text of reports, advice for some sixty demands, plans of the shipped campaigns with
their az commands, figures of the lab in emulated time, a probe of a simulated disk, all tables, and the
verdicts of published cases where the corpus is. The same tree gives the same bytes; the day, the version and
the place of the tree do not show. With --against, what differs from an earlier folder is printed, and the
exit code is 1 where anything does; --only then compares just these parts.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from frozen_tables import folders, tables_of

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))
SETTINGS = {"COLUMNS": "100", "NO_COLOR": "1", "TZ": "UTC", "PYTHONHASHSEED": "0", "MPLBACKEND": "agg"}
DAY = "2026-11-20"
PLACE = f"--region westeurope --as-of {DAY}"
DATASETS = sorted(path.name for path in (ROOT / "datasets").iterdir() if (path / "manifest.json").is_file())
CAMPAIGNS = sorted((ROOT / "campaigns").glob("*.yaml"))
LINES_SHOWN = 40  # of a difference
SHOWN_OF = 4  # demands, one of which is answered as text too
TELEMETRY = ("sysstat", "nmon", "dstat", "vmstat", "node_exporter", "perfmon", "azure_monitor")

SETUPS = (
    "--vm E8ds_v4 --disk P30",
    "--vm E8ds_v4 --disk P30x4:ReadOnly",
    "--vm E8ds_v4 --disk temp",
    "--vm D2s_v3 --disk P4",
    "--vm D2s_v3 --disk os:P4:ReadWrite",
    "--vm D8s_v5 --disk E30",
    "--vm D8s_v5 --disk S20",
    "--vm D8s_v5 --disk ultra:128GiB/10000iops/50MBps",
    "--vm D8s_v5 --disk premium_v2:512GiB/8000iops/300MBps",
    "--vm D8s_v5 --disk P20x2 --disk P10",
    "--vm D4ds_v5 --disk ephemeral:cache",
    "--vm L8s_v3 --disk nvme",
    "--vm B4ms --disk P15",
    "--vm E32-8s_v3 --disk P40x4:ReadOnly",
    "--disk P30",
)
DEMANDS = (
    *(f"--iops {iops} --size {size}" for iops in (500, 5_000, 20_000, 60_000) for size in ("128GiB", "2TiB")),
    *(f"--mbps {rate} --size {size}" for rate in (100, 800, 3_000) for size in ("500GiB", "8TiB")),
    *(f"--iops 8000 --size 1TiB --bs {bs}" for bs in ("4k", "16k", "64k", "256k")),
    *(f"--iops 6000 --size 512GiB --read-share {share}" for share in ("0", "50%", "100%")),
    *(f"--iops 4000 --size 256GiB --latency {kind}" for kind in ("any", "ssd", "premium", "submillisecond")),
    *(f"--iops 5000 --size 1TiB --hit {share}" for share in ("0.5", "0.9")),
    *(f"--iops 5000 --size 1TiB --headroom {times}" for times in ("1", "2")),
    *(f"--iops 3000 --size 500GiB --vcpus {cpus}" for cpus in (4, 16, 64)),
    *(f"--iops 3000 --size 500GiB --pay {pay}" for pay in ("spot", "1y", "savings-3y")),
    *(f"--iops 3000 --size 500GiB --os {system}" for system in ("windows", "windows-hybrid")),
    *(
        f"--preset {name} --size 500GiB"
        for name in ("sql-server", "postgresql", "oracle", "cassandra", "kafka")
    ),
    *(f"--preset {name} --size 200GiB" for name in ("hana-log", "ci", "dev-box", "kafka")),
    "--iops 100000 --size 1TiB --not-persistent --latency local",
    "--iops 30000 --size 200GiB --not-persistent",
    "--iops 10000 --size 1TiB --zrs",
    "--iops 2000 --size 512GiB --peak 600/3600:10000",
    "--iops 1000 --mbps 50 --size 256GiB --peak 300/86400:6000:150",
    "--iops 9000 --size 1TiB --arm",
    "--iops 9000 --size 1TiB --arch arm64",
    "--iops 2000 --size 256GiB --peakable",
    "--iops 9000 --size 1TiB --family D,F",
    "--iops 9000 --size 1TiB --vm E8ds_v4",
    "--iops 9000 --size 1TiB --max-disks 1",
    "--iops 9000 --size 1TiB --vm-hours 200 --disk-pay 1y",
    "--iops 24000 --mbps 600 --size 2TiB --bs 8KiB",
    "--iops 9000000 --size 1TiB",
    "--vcpus 16 --ram 128GiB --volume data:preset=sql-server,iops=20000,size=2TiB "
    "--volume log:preset=sql-server-log,iops=4000,size=256GiB",
)
FINDINGS = ("--table", "findings", "--format", "csv")
SHOWN = ("E8ds_v4", "D2s_v3", "L8s_v3", "B4ms", "E32-8s_v3", "D8s_v5", "P4", "P30", "E30", "S20", "UltraSSD")


@dataclass(frozen=True)
class Referee:
    """A file of the frozen folder, and what gives its text."""

    name: str
    text: Callable[[], str]


def printed(*arguments: str) -> str:
    """Give what a verb prints, its exit code and its error, with nothing of day, version and place."""
    from typer.testing import CliRunner

    from azbenchlib.cli import app
    from azbenchlib.core.errors import AzbenchError

    done = CliRunner().invoke(app, list(arguments), env=SETTINGS)
    parts = [f"$ azbench {shlex.join(arguments)}\n", done.stdout]
    if done.stderr:
        parts += ["--- stderr\n", done.stderr]
    if isinstance(done.exception, AzbenchError):
        parts.append(f"--- exit code {done.exception.exit_code}: {done.exception}\n")
    elif done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    elif done.exit_code:
        parts.append(f"--- exit code {done.exit_code}\n")
    return placeless("".join(parts))


def placeless(text: str) -> str:
    """Take the place of the tree, the version, the day and times of writing out of a text."""
    from azbenchlib import __version__
    from azbenchlib.report.formatting import today

    text = text.replace(str(ROOT), "ROOT").replace(__version__, "VERSION").replace(today(), "TODAY")
    if corpus := os.environ.get("AZBENCH_CORPUS"):
        text = text.replace(corpus, "CORPUS")
    text = text.replace(f"{datetime.now(UTC):%Y-%m-%d}", "TODAY")
    return re.sub(re.escape(tempfile.gettempdir()) + r"/[\w-]+", "TEMP", text)


def of_verb(name: str, arguments: str, *forms: str, paths: Iterable[Path | str] = ()) -> Iterator[Referee]:
    """Give what a verb answers in its usual form, and in these."""
    words = [arguments.split()[0], *map(str, paths), *shlex.split(arguments)[1:]]
    yield Referee(f"{name}.txt", partial(printed, *words))
    for form in forms:
        yield Referee(f"{name}.{form}", partial(printed, *words, "--format", form))


def setups() -> Iterator[str]:
    """Name each setup of each shipped dataset."""
    for name in DATASETS:
        manifest = json.loads((ROOT / "datasets" / name / "manifest.json").read_text())
        yield from (f"{name}/{setup['setup_id']}" for setup in manifest["setups"])


def slug(text: str) -> str:
    """Make a file's name of a command's options."""
    return re.sub(r"[^\w.]+", "-", text).strip("-")


def read() -> Iterator[Referee]:
    """Read each dataset, and telemetry of other tools."""
    for name in DATASETS:
        yield from of_verb(name, f"read {name}", "json", "csv")
        yield Referee(
            f"{name}-findings.csv", partial(printed, *f"read {name} --table findings --format csv".split())
        )
    for tool in TELEMETRY:
        yield from of_verb(tool, "read", "json", paths=[f"tests/data/{tool}"])


def verdict() -> Iterator[Referee]:
    """Judge each dataset, and runs of which nothing or only a setup is stated."""
    for name in DATASETS:
        yield from of_verb(name, f"verdict {name} --as-of {DAY}", "json")
    for tool in ("fio", "diskspd", "iometer", "iozone"):
        yield from of_verb(f"{tool}-unstated", f"verdict --as-of {DAY}", "json", paths=[f"tests/data/{tool}"])
        stated = f"verdict --vm E8ds_v4 --disk P30:ReadOnly --as-of {DAY}"
        yield from of_verb(f"{tool}-stated", stated, "json", paths=[f"tests/data/{tool}"])


def limits() -> Iterator[Referee]:
    """Show the limits of each setup, and of some that options describe."""
    for setup in setups():
        yield from of_verb(slug(setup), f"limits {setup} --as-of {DAY}", "json")
    for setup in SETUPS:
        yield from of_verb(slug(setup), f"limits {setup} --as-of {DAY} --read-share 70%", "json")


def cost() -> Iterator[Referee]:
    """Show what each setup costs, and some that options describe, paid in several ways."""
    for setup in setups():
        yield from of_verb(slug(setup), f"cost {setup} {PLACE}", "json")
    for setup in SETUPS:
        yield from of_verb(slug(setup), f"cost {setup} {PLACE} --hours 300 --pay spot --iops 200", "json")


def compare() -> Iterator[Referee]:
    """Compare each setup with the next of its dataset, and each dataset with itself."""
    for old, new in pairwise(setups()):
        if old.split("/")[0] == new.split("/")[0]:
            yield from of_verb(slug(f"{old} {new}"), f"compare {old} {new}", "json", "markdown", "junit")
    for name in DATASETS:
        yield from of_verb(name, f"compare {name} {name} --within-run", "json")


def size() -> Iterator[Referee]:
    """Size for the telemetry of each tool, and for a night with a busy hour."""
    for tool in TELEMETRY:
        for path in sorted((ROOT / "tests" / "data" / tool).iterdir()):
            if path.suffix not in (".csv", ".md") or tool in ("dstat", "perfmon"):
                shown = path.relative_to(ROOT)
                yield from of_verb(f"{tool}-{path.name}", f"size {PLACE}", "json", paths=[shown])
    for options in ("", "--max-disks 1", "--held-back 0s --growth 50% --headroom 1.2", "--burst-factor 5"):
        yield Referee(f"{slug('busy ' + options)}.txt", partial(busy_night, options))
        yield Referee(f"{slug('busy ' + options)}.json", partial(busy_night, f"{options} --format json"))


def busy_night(options: str) -> str:
    """Size for two days at a minute: 800 IOPS of 16 KiB, and 6,000 for 40 minutes."""
    begun, statistics = datetime(2026, 11, 16, tzinfo=UTC), []
    for minute in range(2 * 1440 + 1):
        iops = 6000 if 1570 < minute <= 1610 else 800
        disk = {"disk_device": "sdc", "r/s": iops * 0.75, "w/s": iops * 0.25, "rkB/s": iops * 12.0}
        disk |= {"wkB/s": iops * 4.0, "r_await": 1.0, "w_await": 1.0, "aqu-sz": 1.0}
        moment = begun + timedelta(minutes=minute)
        statistics.append({"timestamp": f"{moment:%Y-%m-%dT%H:%M:%S}+0000", "disk": [disk]})
    host = {"nodename": "db1", "date": "2026-11-16", "statistics": statistics}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "iostat.json"
        path.write_text(json.dumps({"sysstat": {"hosts": [host]}}))
        return printed("size", str(path), *f"--size 1TiB {PLACE} {options}".split())


def advise() -> Iterator[Referee]:
    """Advise on each demand: the winner with its price, and every word and figure about it."""
    page = (ROOT / "docs" / "advice.md").read_text()
    documented = re.findall(r"^\| [^|]+ \| `(--[^`]+)` \|", page, re.MULTILINE)
    for i, demand in enumerate((*documented, *DEMANDS)):
        words = shlex.split(f"advise {demand} {PLACE}")
        yield Referee(f"{slug(demand)}.json", partial(printed, *words, "--format", "json"))
        if i % SHOWN_OF == 0:
            yield Referee(f"{slug(demand)}.txt", partial(printed, *words))
            yield Referee(f"{slug(demand)}-why.txt", partial(printed, *words, "--why"))
    yield from of_verb("from", f"advise --from ultra-disk-2019 --region eastus2 --as-of {DAY} --why", "json")
    yield from of_verb(
        "regions", f"advise --iops 5000 --size 1TiB --region westeurope --region eastus --as-of {DAY}"
    )


def catalog() -> Iterator[Referee]:
    """Show what documents say of sizes and tiers."""
    for name in SHOWN:
        yield from of_verb(name, f"catalog show {name}", "json")
    yield from of_verb("drift", "catalog drift", "json")


def plan() -> Iterator[Referee]:
    """Plan each shipped campaign: its runs, and all az commands with their arguments."""
    for path in CAMPAIGNS:
        yield from of_verb(path.stem, f"plan campaigns/{path.name}", "json")
        yield from of_verb(f"{path.stem}-quick", f"plan campaigns/{path.name} --quick --repeats 3")


def report() -> Iterator[Referee]:
    """Write a report about each dataset: its visible text, and its answer as JSON."""
    for name in DATASETS:
        yield Referee(f"{name}.json", partial(printed, "report", name, "--format", "json"))
        yield Referee(f"{name}.txt", partial(text_of_report, name))
    yield Referee("two.txt", partial(text_of_report, "ultra-disk-2019", "premium-ssd-emulated-2026"))


def text_of_report(*names: str) -> str:
    """Give what a reader of a report sees, and what is read to the blind, a line a piece of text."""
    from bs4 import BeautifulSoup

    from azbenchlib.report import build

    with tempfile.TemporaryDirectory() as folder:
        written = build.build(names, Path(folder) / "report", format_=build.ReportFormat.html)
        page = BeautifulSoup(written.html.read_text(encoding="utf-8"), "html.parser")
    for unseen in page(["script", "style", "template"]):
        unseen.decompose()
    lines = [str(tag["aria-label"]) for tag in page(attrs={"aria-label": True})]
    return placeless("\n".join([*page.stripped_strings, "--- labels", *lines, ""]))


def probe() -> Iterator[Referee]:
    """Probe a simulated disk."""
    for form in ("text", "json"):
        yield Referee(f"disk.{form}", partial(probed, form))


def probed(form: str) -> str:
    """Give what `azbench probe` prints where a disk of known settings answers at once."""
    from probe_simulation import hidden

    from azbenchlib.campaign import probing
    from azbenchlib.probing.portrait import Portrait
    from azbenchlib.probing.session import Probe
    from azbenchlib.probing.simulate import SimulatedDisk

    disk = SimulatedDisk(hidden(np.random.default_rng(1)), seed=1)

    def simulated(asked: object, dataset: Path, session: Probe, *_: object) -> Portrait:
        while chosen := session.next():
            session.tell(disk.measure(chosen.run))
        return session.portrait()

    measured, kept = probing.probe, probing.keep
    probing.probe, probing.keep = simulated, lambda folder, told: None
    try:
        return printed(*f"probe lab --disk P30 --as-of {DAY} --runs 5 --format {form}".split())
    finally:
        probing.probe, probing.keep = measured, kept


def lab() -> Iterator[Referee]:
    """Drive emulated machines in emulated time, and predict what `deliver` allows."""
    for setup in ("D2s_v3 P4", "D2s_v3 P30", "E8ds_v4 P30x4:ReadOnly", "D8s_v5 E30", "E8ds_v4 temp"):
        yield Referee(f"{slug(setup)}.csv", partial(emulated, *setup.split()))


def emulated(vm: str, disk: str) -> str:
    """Give I/Os per second, bytes and latency of loads on an emulated machine."""
    from azbenchlib.core.units import KIB, MIB
    from azbenchlib.lab.engine.simulate import SimulatedJob, per_second, simulate
    from azbenchlib.lab.engine.virtual_machine import Machine
    from azbenchlib.model import VM, Setup, notation
    from azbenchlib.model.fill_from_catalogue import resolve

    setup = resolve(Setup(VM(size=f"Standard_{vm}"), notation.parse_disks([disk])), DAY)
    lines = []
    for depth, bs, share in ((1, 4 * KIB, 1.0), (64, 8 * KIB, 0.7), (32, 256 * KIB, 0.0), (16, MIB, 1.0)):
        machine = Machine(setup)
        volume = next(iter(machine.volumes))
        job = SimulatedJob(volume=volume, queue_depth=depth, bs_bytes=bs, read_share=share)
        seconds = per_second(simulate(machine, job, 3))
        lines += [f"QD {depth}, {bs} B, {share:.0%} reads", seconds.to_csv(index=False, float_format="%.6g")]
    return "\n".join(lines)


def cases() -> Iterator[Referee]:
    """Judge the published cases, where the corpus is."""
    from published_cases import cases_files

    for path in cases_files():
        yield Referee(f"{path.stem}.json", partial(printed, "verdict", str(path), "--format", "json"))
        yield Referee(f"{path.stem}.txt", partial(printed, "verdict", str(path)))
    yield Referee("right.csv", judged_cases)


def judged_cases() -> str:
    """Give the label at the top of each measured case, its probability, and whether it is right."""
    from judge_cases import judged, measurements
    from published_cases import cases_files

    rows = judged(("", case) for case in measurements(cases_files()))
    return str(rows.to_csv(index=False))


def tables() -> Iterator[Referee]:
    """Read all tables of each dataset, and of each folder of the corpus."""
    for name in DATASETS:
        yield Referee(f"{name}.csv", partial(tables_of_dataset, name))
    if corpus := os.environ.get("AZBENCH_CORPUS"):
        for folder in folders(Path(corpus)):
            name = folder.relative_to(corpus).as_posix()
            yield Referee(f"corpus/{name}.csv", partial(tables_of_folder, Path(corpus), folder))


def tables_of_dataset(name: str) -> str:
    """Give all tables of a shipped dataset, one below the other."""
    from azbenchlib.dataset.dataset import Dataset

    return as_csv(name, Dataset.load(ROOT / "datasets" / name).tables)


def tables_of_folder(tree: Path, folder: Path) -> str:
    """Give all tables of a folder of outputs as a whole, and of each file in it alone."""
    return placeless("".join(as_csv(name, found) for name, found in tables_of(tree, folder)))


def as_csv(name: str, found: Mapping[str, pd.DataFrame]) -> str:
    """Write tables as CSV, one below the other."""
    parts = [f"== {name}: {table}\n{rows.to_csv(index=False)}" for table, rows in found.items() if len(rows)]
    return "".join(parts)


PARTS: dict[str, Callable[[], Iterator[Referee]]] = {
    part.__name__: part
    for part in (
        tables,
        report,
        advise,
        size,
        cases,
        probe,
        lab,
        compare,
        cost,
        limits,
        verdict,
        read,
        catalog,
        plan,
    )
}


def frozen(folder: Path, part: str, referee: Referee) -> None:
    """Write what a referee says."""
    path = folder / part / referee.name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(referee.text(), encoding="utf-8", errors="surrogateescape")


def freeze(folder: Path, parts: Iterable[str]) -> None:
    """Write all that the referees of these parts say, on all processors."""
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(SETTINGS, XDG_DATA_HOME=home)  # nothing that a user refreshed
        os.chdir(ROOT)
        with ProcessPoolExecutor() as pool:
            waiting = []
            for part in parts:
                shutil.rmtree(folder / part, ignore_errors=True)
                waiting += [pool.submit(frozen, folder, part, referee) for referee in PARTS[part]()]
            for one in waiting:
                one.result()


def differences(old: Path, new: Path, parts: Iterable[str]) -> Iterator[str]:
    """Say what differs between two frozen folders, a file at a time."""
    for part in parts:
        names = {
            path.relative_to(home).as_posix()
            for home in (old, new)
            for path in (home / part).rglob("*")
            if path.is_file()
        }
        for name in sorted(names):
            yield from difference(name, old / name, new / name)


def difference(name: str, *paths: Path) -> Iterator[str]:
    """Say which lines of a file differ, as far as there is room."""
    texts = [path.read_bytes().decode(errors="replace").splitlines() for path in paths if path.exists()]
    if len(texts) == 1:
        yield f"{name}: in {next(path for path in paths if path.exists())} alone"
    elif texts[0] != texts[1]:
        lines = list(difflib.unified_diff(texts[0], texts[1], lineterm="", n=0))[2:]
        yield "\n".join([name, *(f"    {line[:400]}" for line in lines[:LINES_SHOWN])])
        if len(lines) > LINES_SHOWN:
            yield f"    and {len(lines) - LINES_SHOWN:,} more lines"


def main() -> int:
    """Freeze, and compare where that is requested."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", action="append", choices=PARTS, help="a part; repeatable")
    parser.add_argument("--against", type=Path, help="an earlier folder: say what differs from it")
    request = parser.parse_args()
    folder, parts = request.folder.resolve(), request.only or list(PARTS)
    other = request.against and request.against.resolve()
    if other and not other.is_dir():
        parser.error(f"--against {request.against}: is no folder")
    freeze(folder, parts)
    found = list(differences(other, folder, parts)) if other else []
    print("\n".join(found) if found else "nothing differs" if other else f"frozen: {folder}")
    return bool(found)


if __name__ == "__main__":
    raise SystemExit(main())
