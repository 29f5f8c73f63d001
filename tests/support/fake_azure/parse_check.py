"""Tells which command lines azure-cli's own parser refuses; abbreviated options count as refused.

Run by azure-cli's own interpreter: reads one JSON list of arguments a line, without the leading "az", and
writes one JSON string a line: why it is refused, or "". Nothing is executed and no network is used.
"""

import contextlib
import io
import json
import re
import sys
from argparse import ArgumentParser
from functools import cache
from itertools import takewhile

from azure.cli.core import AzCli, get_default_cli
from knack.events import EVENT_INVOKER_CMD_TBL_LOADED


class Loaded(Exception):  # noqa: N818  not an error
    """The parser is there: nothing is executed."""


@cache
def parser_of(command: str) -> ArgumentParser:
    """Give azure-cli's parser as azure-cli itself loads it for one command; that of each is loaded once."""
    cli = get_default_cli()

    def stop(cli: AzCli, *, cmd_tbl: dict[str, object], parser: ArgumentParser, **_: object) -> None:
        raise Loaded(cmd_tbl, parser)

    cli.invocation = cli.invocation_cls(
        cli_ctx=cli,
        parser_cls=cli.parser_cls,
        commands_loader_cls=cli.commands_loader_cls,
        help_cls=cli.help_cls,
    )
    cli.register_event(EVENT_INVOKER_CMD_TBL_LOADED, stop)
    try:
        cli.invocation.execute(command.split())
    except Loaded as loaded:
        table, parser = loaded.args
    if command not in table:
        raise LookupError(f"'{command}' is no az command")
    return parser


def options_of(parser: ArgumentParser, command: str) -> set[str]:
    """Give every option string the command has."""
    for word in command.split():
        groups = [a.choices for a in parser._actions if isinstance(a.choices, dict)]
        parser = groups[0][word]
    return {option for action in parser._actions for option in action.option_strings}


def refusal(arguments: list[str]) -> str:
    """Say why a command line is refused; an empty string if it is not."""
    said = io.StringIO()
    command = " ".join(takewhile(lambda word: not word.startswith("-"), arguments))
    try:
        parser = parser_of(command)
        with contextlib.redirect_stderr(said):
            parser.parse_args(arguments)
    except LookupError as error:
        return str(error)
    except SystemExit:
        return said.getvalue().strip() or "refused without a word"
    given = {word.partition("=")[0] for word in arguments if re.match("--?[a-z]", word)}
    short = sorted(given - options_of(parser, command))
    return f"no full option names: {', '.join(short)}" if short else ""


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(refusal(json.loads(line))), flush=True)
