"""Outputs as markup, encodings and other tools' logs hold them: boxes, pages, service messages, base64."""

import base64
import gzip
import html
import json

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


MARKED: dict[str, Wrap] = {
    "box": _box("|", "+"),
    "box of Unicode": _box("\u2502", "\u2500"),
    "table of Markdown": _lines("| ", " |"),
    "cat -A": lambda text: _lines("", "$")(text.replace("\t", "^I")),
    "continued lines": _lines("", " \\"),
    "diff, deleted": _lines("-"),
    "quoted without a blank": _lines(">"),
    "org mode": _lines(": "),
    "indented within a text": lambda text: b"Results:\n\n" + _lines("    ")(text) + b"\nThat is all.\n",
}
ENCODED: dict[str, Wrap] = {
    "UTF-16, no mark": lambda text: text.encode("utf-16-le"),
    "UTF-16, big end first": lambda text: text.encode("utf-16-be"),
    "base64": lambda text: base64.encodebytes(text.encode()),
    "base64 in JSON": lambda text: json.dumps({"out": base64.b64encode(text.encode()).decode()}).encode(),
    "gzip in base64": lambda text: base64.encodebytes(gzip.compress(text.encode())),
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
