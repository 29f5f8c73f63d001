"""Outputs as people have them: what CI logs, containers, shells, notebooks and archives put around a text."""

import base64
import bz2
import csv
import gzip
import html
import io
import json
import lzma
import quopri
import tarfile
import zipfile
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import count

import pyarrow as pa

Wrap = Callable[[str], bytes]
_BEGIN = datetime(2024, 5, 2, 9, 59, 30, 123456)


def _each_line(prefix: Callable[[int, datetime], str]) -> Wrap:
    def wrapped(text: str) -> bytes:
        moments = (_BEGIN + timedelta(seconds=0.7 * n) for n in count())
        lines = zip(text.splitlines(), moments, strict=False)
        return "".join(f"{prefix(n, at)}{line}\n" for n, (line, at) in enumerate(lines, 1)).encode()

    return wrapped


def _form(form: str) -> Wrap:
    """Put a time in this form of strftime before each line."""
    return _each_line(lambda _, at: at.strftime(form))


def _iso(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.%f0Z")


PREFIXES: dict[str, Wrap] = {
    "GitHub Actions": _each_line(lambda _, at: f"{_iso(at)} "),
    "GitLab": _each_line(lambda _, at: f"{at:%Y-%m-%dT%H:%M:%S.%fZ} 00O "),
    "Azure Pipelines": _each_line(lambda _, at: f"{at:%Y-%m-%dT%H:%M:%S.%f}3Z "),
    "Jenkins": _each_line(lambda _, at: f"[{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03}Z] "),
    "Jenkins, elapsed": _form("%H:%M:%S "),
    "TeamCity": _form("[%H:%M:%S] :\t "),
    "kubectl logs --prefix": _each_line(lambda *_: "[pod/fio-7d9c/fio] "),
    "kubectl logs --timestamps": _form("%Y-%m-%dT%H:%M:%S.%f789Z "),
    "kubectl logs, both": _each_line(lambda _, at: f"[pod/fio-7d9c/fio] {_iso(at)} "),
    "container runtime": _each_line(lambda _, at: f"{at:%Y-%m-%dT%H:%M:%S.%f789+00:00} stdout F "),
    "docker compose": _each_line(lambda *_: "fio-1  | "),
    "docker compose --timestamps": _each_line(lambda _, at: f"bench-fio-1  | {_iso(at)} "),
    "terraform": _each_line(lambda *_: "null_resource.fio (remote-exec): "),
    "terraform, for_each": _each_line(lambda *_: 'module.vm["a"].null_resource.fio["b c"] (remote-exec): '),
    "logrus, not in quotes": _form('time="%Y-%m-%dT%H:%M:%SZ" level=info msg='),
    "packer": _each_line(lambda *_: "    azure-arm.fio: "),
    "vagrant": _each_line(lambda *_: "    default: "),
    "avocado": _form("%H:%M:%S DEBUG| [stdout] "),
    "syslog": _form("May  2 %H:%M:%S vm1 fio[4711]: "),
    "logger": _form("May  2 %H:%M:%S vm1 root: "),
    "RFC 5424": _form("<13>1 %Y-%m-%dT%H:%M:%S.%fZ vm1 fio 4711 - - "),
    "journalctl": _form("May 02 %H:%M:%S vm1 run-fio.sh[4711]: "),
    "journalctl -o short-iso": _form("%Y-%m-%dT%H:%M:%S+0000 vm1 run-fio.sh[4711]: "),
    "ts": _form("May 02 %H:%M:%S "),
    "ts -s": _form("00:%M:%S "),
    "dmesg": _each_line(lambda n, _: f"[{n * 0.731 + 12:12.6f}] "),
    "seconds since 1970": _each_line(lambda n, _: f"{1714644061 + n}.123 "),
    "klog": _form("I0502 %H:%M:%S.%f       1 runner.go:42] "),
    "Python logging": _form("%Y-%m-%d %H:%M:%S,123 - root - INFO - "),
    "Python logging, basic": _each_line(lambda *_: "INFO:root:"),
    "pytest": _form("%H:%M:%S INFO     bench.runner:runner.py:120 "),
    "pdsh": _each_line(lambda *_: "host1: "),
    "heroku": _form("%Y-%m-%dT%H:%M:%S.%f+00:00 app[fio.1]: "),
    "Windows": _form("%m/%d/%Y %I:%M:%S %p  "),
    "slashes": _form("%Y/%m/%d %H:%M:%S "),
    "cat -n": _each_line(lambda n, _: f"{n:6d}\t"),
    "grep -n": _each_line(lambda n, _: f"{n}:"),
    "grep -Hn": _each_line(lambda n, _: f"run.log:{n}:"),
    "less -N": _each_line(lambda n, _: f"{n:7d} "),
    "quoted": _each_line(lambda *_: "> "),
    "commented": _each_line(lambda *_: "# "),
    "indented": _each_line(lambda *_: "        "),
    "tab": _each_line(lambda *_: "\t"),
    "colours": _each_line(lambda *_: "\x1b[0m\x1b[36;1m"),
    "screen": _each_line(lambda *_: "\x1b]0;fio\x07\x1b[K"),
    "compose, GitHub": _each_line(lambda n, at: f"{_iso(at)} fio-1  | "),
    "compose, colours": _each_line(lambda *_: "\x1b[36mfio-1  |\x1b[0m "),
    "kubectl, Jenkins": _form("[%Y-%m-%dT%H:%M:%S.123Z] [pod/fio-7d9c/fio] "),
}
# Further ones, which are tried with fewer outputs: the same text before each line, but for the time in it.
FURTHER: dict[str, Wrap] = {
    form: _form(form)
    for form in (
        *("build\t02-May-2024 %H:%M:%S\t", "[run-fio] ", "%Y-%m-%dT%H:%M:%S.123000+00:00 ecs/fio/abcdef "),
        *(
            "%H:%M:%S fio.1   | ",
            "0|fio  | ",
            "[1,0]<stdout>:",
            "0: ",
            "vm1\t",
            ">> ",
            "E       ",
            "+ ",
            "++ ",
        ),
        *("[Thu May  2 %H:%M:%S 2024] ", "%H:%M:%S O: ", "%Y-%m-%d %H:%M:%S,123 [main] INFO  a.Runner - "),
        *("%Y-%m-%dT%H:%M:%S.123Z  INFO 1 --- [main] c.a.Runner      : ", "[%H:%M:%S INF] ", "REM ", "// "),
        *("%Y-%m-%dT%H:%M:%S.123Z\tINFO\trunner\t", "[%Y-%m-%dT%H:%M:%SZ INFO  runner] ", "run.log:"),
        *("I, [%Y-%m-%dT%H:%M:%S.%f #4711]  INFO -- : ", "fio[stdout]: ", "default/fio-7d9c[fio]: "),
        *('%Y-%m-%dT%H:%M:%SZ {app="fio", pod="fio-1"} ', "fio-7d9c fio ", "fio.1.abc@vm1    | ", "%%%% "),
        *("05-02 %H:%M:%S.123  4711  4711 I fio     : ", "%Y-%m-%d %H:%M:%S | vm1 | fio | ", " * ", "\t\t"),
        *("[%Y-%m-%d %H:%M:%S,123: INFO/MainProcess] ", "[%Y-%m-%d, %H:%M:%S UTC] {bash.py:170} INFO - "),
    )
}


def _json_lines(text: str) -> bytes:
    rows = ({"log": f"{line}\n", "stream": "stdout", "time": _iso(_BEGIN)} for line in text.splitlines())
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _notebook(text: str) -> bytes:
    output = {"output_type": "stream", "name": "stdout", "text": text.splitlines(keepends=True)}
    cell = {"cell_type": "code", "source": ["!fio base.fio"], "outputs": [output], "execution_count": 1}
    return json.dumps(
        {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1
    ).encode()


def _ansible(text: str) -> bytes:
    row = {"changed": True, "rc": 0, "stderr": "", "stdout": text, "stdout_lines": text.splitlines()}
    return json.dumps(row, indent=2).encode()


def _playbook(text: str) -> bytes:
    row = json.dumps({"changed": True, "stdout": text, "stdout_lines": text.splitlines(), "rc": 0})
    told = f"changed: [vm1] => {row}"
    return f"PLAY [all] ****\n\nTASK [fio] ****\n{told}\n\nPLAY RECAP ****\nvm1 : ok=2\n".encode()


def _debug(text: str) -> bytes:
    row = json.dumps({"out.stdout_lines": text.splitlines()}, indent=4)
    return f"TASK [debug] ****\nok: [vm1] => {row}\n\nPLAY RECAP ****\nvm1 : ok=2\n".encode()


def _run_command(text: str) -> bytes:
    message = f"Enable succeeded: \n[stdout]\n{text}\n[stderr]\n"
    row = {"code": "ProvisioningState/succeeded", "displayStatus": "Provisioning succeeded", "level": "Info"}
    return json.dumps({"value": [{**row, "message": message, "time": None}]}, indent=2).encode()


def _csv(rows: list[list[str]]) -> bytes:
    held = io.StringIO()
    csv.writer(held).writerows(rows)
    return held.getvalue().encode()


def _pieces(text: str) -> list[str]:
    return [text[at : at + 333] for at in range(0, len(text), 333)]


def _notebook_in_pieces(text: str) -> bytes:
    outputs = [{"output_type": "stream", "name": "stdout", "text": [one]} for one in _pieces(text)]
    return json.dumps({"cells": [{"cell_type": "code", "outputs": outputs}], "nbformat": 4}).encode()


def _loki(text: str) -> bytes:
    """Lines as Loki's API answers, the latest first."""
    lines = [[str(1714644061000000000 + n), line] for n, line in enumerate(text.splitlines())]
    data = {"resultType": "streams", "result": [{"stream": {"app": "fio"}, "values": lines[::-1]}]}
    return json.dumps({"status": "success", "data": data}).encode()


def _datadog(text: str) -> bytes:
    rows = ({"service": "fio", "message": line} for line in text.splitlines())
    return json.dumps({"data": [{"id": "A", "type": "log", "attributes": row} for row in rows]}).encode()


def _journald_with_bytes(text: str) -> bytes:
    """Rows as journalctl -o json writes them, of lines with a control character some as numbers."""
    told = (line if n % 5 != 4 else [*line.encode()] for n, line in enumerate(text.splitlines()))
    return "".join(json.dumps({"_PID": "1", "MESSAGE": one}) + "\n" for one in told).encode()


def _mail(encoding: str, encoded: bytes) -> bytes:
    head = (
        f"MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: {encoding}"
    )
    return f"Subject: fio\n{head}\n\n".encode() + encoded


def _plain_or_quoted(line: str) -> str:
    """A line as YAML writes it."""
    if "\t" in line:
        return json.dumps(line)
    needs = not line or line != line.strip() or ": " in line or line[0] in "{}[]&*#?|-<>=!%@`'\""
    return "'" + line.replace("'", "''") + "'" if needs else line


def _powershell(text: str) -> bytes:
    """The view of Invoke-AzVMRunCommand's answer."""
    rest = "  Code          : ComponentStatus/StdErr/succeeded\n  Message       : \nStatus : Succeeded\n"
    code = "  Code          : ComponentStatus/StdOut/succeeded\n  Level         : Info\n"
    return f"Value[0]        : \n{code}  Message       : {text}\nValue[1]        : \n{rest}".encode()


def tar_of(files: dict[str, bytes], mode: str) -> bytes:
    """Return a tar archive of these files."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return held.getvalue()


def zip_of(files: dict[str, bytes]) -> bytes:
    """Return a zip archive of these files."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return held.getvalue()


def zstd_of(data: bytes) -> bytes:
    """Return the data compressed with Zstandard."""
    held = pa.BufferOutputStream()
    with pa.CompressedOutputStream(held, "zstd") as stream:
        stream.write(data)
    return bytes(held.getvalue())


STRINGS: dict[str, Wrap] = {
    "Ansible": _ansible,
    "Ansible's results": lambda text: json.dumps({"results": [{"item": "a", "stdout": text}]}).encode(),
    "ansible-playbook -v": _playbook,
    "Ansible's debug": _debug,
    "az vm run-command": _run_command,
    "notebook": _notebook,
    "json-file": _json_lines,
    "journalctl -o json": lambda text: "".join(
        json.dumps({"_PID": "1", "MESSAGE": line}) + "\n" for line in text.splitlines()
    ).encode(),
    "journalctl -o json, bytes": _journald_with_bytes,
    "journalctl -o json-pretty": lambda text: "".join(
        json.dumps({"_PID": "1", "MESSAGE": line}, indent="\t") + "\n" for line in text.splitlines()
    ).encode(),
    "journalctl -o export": lambda text: "".join(
        f"__CURSOR=s=1;i={n}\n_PID=1\nMESSAGE={line}\n\n" for n, line in enumerate(text.splitlines())
    ).encode(),
    "Ansible's debug, in YAML": lambda text: (
        "TASK [debug] ****\nok: [vm1] => \n  out.stdout_lines:\n"
        + "".join(f"  - {_plain_or_quoted(line)}\n" for line in text.splitlines())
        + "\nPLAY RECAP ****\n"
    ).encode(),
    "mail, quoted-printable": lambda text: _mail("quoted-printable", quopri.encodestring(text.encode())),
    "mail, base64": lambda text: _mail("base64", base64.encodebytes(text.encode())),
    "Loki": _loki,
    "Datadog": _datadog,
    "Drone": lambda text: json.dumps(
        [{"pos": n, "out": f"{line}\n", "time": n // 3} for n, line in enumerate(text.splitlines())]
    ).encode(),
    "notebook, in pieces": _notebook_in_pieces,
    "CloudWatch's CSV": lambda text: _csv(
        [["timestamp", "message"], *([str(n), line] for n, line in enumerate(text.splitlines()))]
    ),
    "cell of CSV": lambda text: _csv([["host", "rc", "stdout"], ["vm1", "0", text]]),
    "repr": lambda text: f"2024-05-02 10:00:00,123 INFO out: {text!r}\n".encode(),
    "list of Python": lambda text: repr(text.splitlines()).encode(),
    "string in a string": lambda text: json.dumps({"body": json.dumps({"stdout": text})}).encode(),
}
# Of texts with a first line of their own; XML and tables in pages are other formats.
PAGES: dict[str, Wrap] = {
    "Invoke-AzVMRunCommand": _powershell,
    "page": lambda text: f"<html><p>a</p><pre>{html.escape(text)}</pre></html>".encode(),
    "Slack": lambda text: json.dumps([{"type": "message", "text": f"```{text}```", "ts": "1.2"}]).encode(),
}
ARCHIVES: dict[str, Wrap] = {
    "gzip": lambda text: gzip.compress(text.encode()),
    "bzip2": lambda text: bz2.compress(text.encode()),
    "xz": lambda text: lzma.compress(text.encode()),
    "zstd": lambda text: zstd_of(text.encode()),
    "zip": lambda text: zip_of({"results/out": text.encode()}),
    "tar": lambda text: tar_of({"results/out": text.encode()}, "w"),
    "tar.gz": lambda text: tar_of({"results/out": text.encode()}, "w:gz"),
    "tar.xz": lambda text: tar_of({"results/out": text.encode()}, "w:xz"),
    "tar.bz2": lambda text: tar_of({"results/out": text.encode()}, "w:bz2"),
    "zip of tar.gz": lambda text: zip_of({"a.tgz": tar_of({"out": text.encode()}, "w:gz")}),
}
