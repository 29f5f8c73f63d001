"""What is taken off and what is not: streams of several programs, other lines, transcripts, bare outputs."""

import json
from pathlib import Path

import pandas as pd
import pytest
from support.wrappings import PREFIXES

from azbenchlib.dataset.read import read_files
from azbenchlib.formats import registry
from azbenchlib.formats.source import Source
from azbenchlib.formats.unwrap import examples
from azbenchlib.formats.unwrap.components import shared_text
from azbenchlib.formats.unwrap.line_ends import without_line_ends

DATA = Path(__file__).parents[1] / "data"
FIO = (DATA / "fio" / "text" / "randrw.txt").read_text(encoding="utf-8")
JSON = (DATA / "fio" / "randrw.json").read_text(encoding="utf-8")
IOZONE = (DATA / "iozone" / "narrow.txt").read_text(encoding="utf-8")
IOSTAT = (DATA / "sysstat" / "extended.txt").read_text(encoding="utf-8")
BARE = sorted(
    path
    for folder in ("diskspd", "fio", "iometer", "iozone", "perfmon", "sysstat", "azure_monitor", "blkparse")
    for path in (DATA / folder).rglob("*")
    if path.is_file() and path.suffix not in (".csv", ".md")
)


def _read(text: str | bytes) -> dict[str, pd.DataFrame]:
    return registry.read(Source("out", text if isinstance(text, bytes) else text.encode()))


def _figures(tables: dict[str, pd.DataFrame]) -> list[str]:
    results = tables["results"].drop(columns="run_id")
    return sorted(map(repr, results.itertuples(index=False)))


def _messages(tables: dict[str, pd.DataFrame], code: str = "unwrapped") -> list[str]:
    findings = tables["findings"]
    return findings.loc[findings["code"] == code, "message"].tolist()


@pytest.mark.parametrize("path", BARE, ids=lambda path: path.name)
def test_nothing_is_taken_off_an_output_that_stands_bare(path: Path) -> None:
    source = Source.of(path)
    (part,) = registry.unwrapping().parts(source)
    assert part.source is source


@pytest.mark.parametrize(
    "form", ["[pod/{}/fio] ", "{}  | ", "{}: ", "May  2 10:00:01 {} fio[7]: ", "2024-05-02T10:00:01Z {} | "]
)
@pytest.mark.parametrize(
    "other", [JSON, IOZONE, FIO.replace("rw: (", "other: (").replace("IOPS=12.5k", "IOPS=11.5k")]
)
def test_programs_that_wrote_by_turns_are_read_apart(form: str, other: str) -> None:
    streams = [("fio-a", FIO.splitlines()), ("fio-b", other.splitlines())]
    lines = [
        form.format(name) + told[number]
        for number in range(max(len(told) for _, told in streams))
        for name, told in streams
        if number < len(told)
    ]
    tables = _read("\n".join(lines) + "\n")
    assert _figures(tables) == sorted(_figures(_read(FIO)) + _figures(_read(other)))
    assert tables["runs"].groupby("source_doc")["tool"].nunique().max() == 1
    assert len(_messages(tables)) == 1


def test_other_lines_of_a_container_are_no_part_of_the_output() -> None:
    lines = [
        f"fio-1  | {line}\ndb-1   | a query took {number} ms" for number, line in enumerate(JSON.splitlines())
    ]
    assert _figures(_read("\n".join(lines))) == _figures(_read(JSON))


def test_lines_without_the_prefix_stay() -> None:
    wrapped = PREFIXES["GitHub Actions"](FIO).decode().splitlines()
    text = "\n".join(["##[group]Run fio", *wrapped[:9], "a line of something else", *wrapped[9:], "Done."])
    assert _figures(_read(text)) == _figures(_read(FIO))


def test_what_was_taken_off_is_told_once_a_file() -> None:
    (said,) = _messages(_read(PREFIXES["kubectl logs, both"](FIO)))
    assert said == (
        "out: each line began with a name and a time ([pod/fio-7d9c/fio] 2024-05-02T09:59:30.1234560Z), "
        "which was taken off"
    )


def test_findings_quote_the_line_of_the_file() -> None:
    broken = JSON.replace('"jobname"', '"jobname', 1)
    line = broken[: broken.index('"jobname')].count("\n") + 1
    wrapped = PREFIXES["docker compose"](broken).decode()
    (said,) = _messages(_read(f"Starting\n\n{wrapped}"), "broken_json")
    assert f"line {line + 2}," in said
    notebook = json.dumps({"outputs": [{"text": broken.splitlines(keepends=True)}]}, indent=1)
    place = notebook[: notebook.index("jobname")].count("\n") + 1
    (said,) = _messages(_read(notebook), "broken_json")
    assert f"line {place}," in said


def test_the_same_output_bare_and_wrapped_is_the_same_run(tmp_path: Path) -> None:
    for number, text in enumerate((FIO, JSON, IOZONE)):
        for name in ("GitHub Actions", "cat -n", "docker compose"):
            (tmp_path / f"{name} {number}").write_bytes(PREFIXES[name](text))
        (tmp_path / f"bare {number}").write_text(text, encoding="utf-8")
    files = [(path, path.name) for path in sorted(tmp_path.iterdir())]
    runs = read_files(files)["runs"]
    alone = [len(_read(text)["runs"]) for text in (JSON, IOZONE)]
    assert len(runs) == sum(alone) + len(_read(FIO)["runs"])


def test_a_dictionary_of_python_is_read_as_json() -> None:
    tables = _read(f"INFO root:runner.py:12 result: {json.loads(JSON)!r}\n")
    assert _figures(tables) == _figures(_read(JSON))


def test_json_that_holds_a_document_as_an_object_stays_as_it_is() -> None:
    tables = _read(json.dumps({"host": "a", "fio": json.loads(JSON)}))
    assert _figures(tables) == _figures(_read(JSON))
    assert _messages(tables) == []


def test_times_of_the_tool_itself_stay() -> None:
    sar = (DATA / "sysstat" / "sar.txt").read_text(encoding="utf-8")
    for name in ("GitHub Actions", "Jenkins, elapsed", "ts -s"):
        wrapped = _read(PREFIXES[name](sar))["demand"]
        assert wrapped["t_s"].equals(_read(sar)["demand"]["t_s"])


def test_an_azure_answer_with_two_streams_is_that_of_stdout() -> None:
    message = f"Enable succeeded: \n[stdout]\n{IOSTAT}\n[stderr]\nfio: warning\n"
    tables = _read(json.dumps({"value": [{"message": message}]}))
    assert len(tables["demand"]) == len(_read(IOSTAT)["demand"])


@pytest.mark.parametrize("name", examples.PREFIXED)
def test_the_examples_of_prefixes_are_taken_off(name: str) -> None:
    before = examples.PREFIXED[name].removesuffix("…")
    is_numbered = name.startswith(("cat", "grep"))
    lines = [
        f"{before.replace('1', str(number)) if is_numbered else before}{line}"
        for number, line in enumerate(FIO.splitlines(), 1)
    ]
    assert _figures(_read("\n".join(lines))) == _figures(_read(FIO))


@pytest.mark.parametrize("name", [*examples.IN_STRINGS])
def test_the_examples_of_strings_are_read(name: str) -> None:
    shown = examples.IN_STRINGS[name]
    if name == "Python":
        text = repr(json.loads(JSON))
    elif '"…", "…"' in shown or '"…\\n", "…\\n"' in shown:
        end = "\\n" if "…\\n" in shown else ""
        told = ", ".join(json.dumps(line)[:-1] + f'{end}"' for line in FIO.splitlines())
        text = shown.replace(f'"…{end}", "…{end}"', told).replace("…", json.dumps(FIO)[1:-1])
    elif shown.startswith(('{"log', "time")):
        text = "\n".join(shown.replace("…", json.dumps(line)[1:-1]) for line in FIO.splitlines())
    else:
        text = shown.replace("…", json.dumps(FIO)[1:-1])
    assert _figures(_read(text)) == _figures(_read(JSON if name == "Python" else FIO))


def test_mails_in_mails_end_without_a_traceback() -> None:
    head = "Content-Transfer-Encoding: base64\nContent-Type: multipart/mixed; boundary=b0\n\n"
    parts = (f"--b{n}\nContent-Type: multipart/mixed; boundary=b{n + 1}\n\n" for n in range(3000))
    assert list(_read(head + "".join(parts))["findings"]["code"]) == ["not_recognised"]


def test_an_edge_behind_a_form_feed_is_no_line_that_ends_with_a_mark() -> None:
    line = "Starting 1 process\x0c+----|"
    assert without_line_ends(f"{line}\n", [line]) is None


def test_a_long_text_that_all_lines_begin_with_is_no_prefix_to_be_searched_for_without_end() -> None:
    begin = "it's, " * 200
    lines = [f"{begin}{n}" for n in range(200)]
    found = shared_text(lines, 3)
    assert found and all(len(component.pattern.pattern) < 1000 for component in found)
    assert len(found) <= 24
