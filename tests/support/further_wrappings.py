"""Outputs as markup, encodings and other tools' logs hold them: boxes, pages, service messages, base64."""

import base64
import gzip
import html
import json
import quopri
from email.message import EmailMessage
from itertools import count

import pyarrow as pa
import yaml
from support.wrappings import Wrap


def _lines(before: str, after: str = "") -> Wrap:
    return lambda text: "".join(f"{before}{line}{after}\n" for line in text.splitlines()).encode()


def _box(side: str, edge: str) -> Wrap:
    def wrapped(text: str) -> bytes:
        lines = text.expandtabs().splitlines()
        width = max(map(len, lines))
        told = [f"{side} {line:<{width}} {side}" for line in lines]
        return "\n".join([edge * (width + 4), *told, edge * (width + 4), ""]).encode()

    return wrapped


def _service_message(text: str) -> str:
    """A text as TeamCity escapes it."""
    for character, escaped in (("|", "||"), ("'", "|'"), ("\n", "|n"), ("[", "|["), ("]", "|]")):
        text = text.replace(character, escaped)
    return text


def _around(before: str, after: str) -> Wrap:
    return lambda text: f"{before}{text}{after}".encode()


def _page_of_spans(text: str) -> bytes:
    lines = (
        f'<span class="no">{number}</span><span>{html.escape(line)}</span>'
        for number, line in enumerate(text.splitlines(), 1)
    )
    return ("<html><body>\n" + "\n".join(lines) + "\n</body></html>\n").encode()


def _numbered(form: str) -> Wrap:
    """Put a text with a number that grows before each line."""
    return lambda text: "".join(
        f"{form.format(n=n)}{line}\n" for n, line in zip(count(7), text.splitlines(), strict=False)
    ).encode()


def _rows(text: str) -> list[list[str]]:
    return [[f"2024-05-02T10:00:{n % 60:02}Z", line] for n, line in enumerate(text.splitlines())]


def _cells_of_csv(text: str) -> bytes:
    """A column of a sheet, a line each, quoted where it must be."""
    lines = text.splitlines()
    told = ('"' + line.replace('"', '""') + '"' if '"' in line or "," in line else line for line in lines)
    return "".join(f"{line}\r\n" for line in told).encode()


def _records(text: str) -> bytes:
    """A log as OpenTelemetry writes it."""
    records = [
        {"timeUnixNano": str(1714644061000000000 + n), "body": {"stringValue": line}}
        for n, (_, line) in enumerate(_rows(text))
    ]
    return json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}).encode()


def _table(text: str) -> bytes:
    """The answer of Azure's Log Analytics."""
    columns = [{"name": "TimeGenerated", "type": "datetime"}, {"name": "LogEntry", "type": "string"}]
    return json.dumps({"tables": [{"name": "Primary", "columns": columns, "rows": _rows(text)}]}).encode()


def _attached(text: str) -> bytes:
    """A mail with an output packed as an attachment."""
    mail = EmailMessage()
    mail["Subject"] = "results"
    mail.set_content("see attached")
    mail.add_attachment(gzip.compress(text.encode()), maintype="application", subtype="gzip", filename="a.gz")
    return mail.as_bytes()


def _lz4(text: str) -> bytes:
    held = pa.BufferOutputStream()
    with pa.CompressedOutputStream(held, "lz4") as stream:
        stream.write(text.encode())
    return bytes(held.getvalue())


MARKED: dict[str, Wrap] = {
    "box": _box("|", "+"),
    "box of Unicode": _box("\u2502", "\u2500"),
    "table of Markdown": _lines("| ", " |"),
    "cat -A": lambda text: _lines("", "$")(text.replace("\t", "^I")),
    "continued lines": _lines("", " \\"),
    "diff, deleted": _lines("-"),
    "quoted without a blank": _lines(">"),
    "org mode": _lines(": "),
    "a text with quotes": _lines('Step #1 - "fio": '),
    "structured data": _lines('<14>1 2024-05-02T10:00:01Z vm1 fio 4711 ID47 [a@32473 iut="3" src="app"] '),
    "a text that ends in a bracket": _lines("[2024-05-02 10:00:01.123] [d-ABC123XYZ][stdout]"),
    "names with values": _lines("2024-05-02 10:00:01,123 p=4711 u=root n=ansible | "),
    "seconds in brackets": _numbered("INFO[{n:04d}] "),
    "numbers between commas": _numbered("6,{n},12731000,-;"),
    "chat": _lines("10:00 < jdoe> "),
    "TAP": lambda text: b"TAP version 13\n1..1\n" + _lines("# ")(text),
    "indented within a text": lambda text: b"Results:\n\n" + _lines("    ")(text) + b"\nThat is all.\n",
}
ENCODED: dict[str, Wrap] = {
    "UTF-16, no mark": lambda text: text.encode("utf-16-le"),
    "UTF-16, big end first": lambda text: text.encode("utf-16-be"),
    "base64": lambda text: base64.encodebytes(text.encode()),
    "base64 in JSON": lambda text: json.dumps({"out": base64.b64encode(text.encode()).decode()}).encode(),
    "gzip in base64": lambda text: base64.encodebytes(gzip.compress(text.encode())),
    "base64 of a URL": lambda text: json.dumps(
        {"out": base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")}
    ).encode(),
    "base64 in a Secret": lambda text: (
        f"kind: Secret\ndata:\n  out: {base64.b64encode(text.encode()).decode()}\n".encode()
    ),
    "base64 between lines": lambda text: (
        b"-----BEGIN-----\n" + base64.encodebytes(text.encode()) + b"-----END-----\n"
    ),
    "quoted-printable": lambda text: quopri.encodestring(text.encode()),
    "lz4": _lz4,
    "attached to a mail": _attached,
    "YAML": lambda text: yaml.safe_dump({"host": "vm1", "stdout": text}).encode(),
    "YAML in double quotes": lambda text: yaml.safe_dump({"out": text}, default_style='"').encode(),
    "cells of CSV": _cells_of_csv,
    "OpenTelemetry": _records,
    "Log Analytics": _table,
    "GELF": lambda text: "".join(
        json.dumps({"version": "1.1", "short_message": line, "level": 6}) + "\n" for line in text.splitlines()
    ).encode(),
    "UTF-32": lambda text: text.encode("utf-32"),
    "NULs before it": lambda text: bytes(3000) + text.encode(),
    "blanks of no width": _lines("\u200b"),
    "blanks of Windows": lambda text: text.replace("  ", "\xa0 ").encode("cp1252"),
    "blanks as entities": lambda text: (
        "<p>" + "<br>\n".join(html.escape(line).replace(" ", "&nbsp;") for line in text.splitlines()) + "</p>"
    ).encode(),
    "no-break spaces": lambda text: text.replace(" ", "\xa0").encode(),
    "TeamCity, a line each": lambda text: "".join(
        f"##teamcity[message text='{_service_message(line)}' status='NORMAL']\n" for line in text.splitlines()
    ).encode(),
    "TeamCity, a test": lambda text: (
        f"##teamcity[testStarted name='a']\n##teamcity[testStdOut name='a' out='{_service_message(text)}']\n"
    ).encode(),
    "page with a span a line": _page_of_spans,
    "page with a div a line": lambda text: (
        "<html><body>" + "".join(f"<div>{html.escape(line)}</div>" for line in text.splitlines()) + "</body>"
    ).encode(),
    "CDATA": _around("<testsuite><testcase><system-out><![CDATA[", "]]></system-out></testcase></testsuite>"),
    "Jira": _around("Please look:\n{code:title=out}", "{code}\n"),
    "a string of Python": _around('OUT = """', '"""\n'),
}
