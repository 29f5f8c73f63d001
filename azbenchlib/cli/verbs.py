"""The verbs by name; the module of each is imported when the verb is used."""

from __future__ import annotations

from collections import UserDict
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from azbenchlib.cli.options import examples
from azbenchlib.cli.options.combinations import Verb, refuse_without_effect
from azbenchlib.core.errors import AzbenchError

# Where each is: the module, and the function or the group in it.
_HOMES = {
    "read": "reading:read",
    "collect": "lake:collect",
    "query": "lake:query",
    "plan": "measuring:plan",
    "run": "measuring:run",
    "status": "measuring:status",
    "schema": "measuring:schema",
    "cleanup": "measuring:cleanup",
    "limits": "limits:limits",
    "cost": "cost:cost",
    "advise": "advise:advise",
    "size": "size:size",
    "verdict": "verdict:verdict",
    "compare": "compare:compare",
    "report": "reporting:report",
    "learn": "learn:learn",
    "probe": "probing:probe",
    "doctor": "reporting:doctor",
    "import": "reporting:import_",
    "catalog": "catalog:catalog",
    "setup": "setup:setup",
    "lab": "lab:app",
}


class VerbGroup(TyperGroup):
    """The group of all verbs."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _Verbs(_HOMES)

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names, in the order of the help."""
        return list(self.commands)

    def invoke(self, ctx: Any) -> Any:
        """As typer does, which would take the end of another program or of a file for that of our reader, and
        end with 1, which says "worse".
        """
        try:
            return super().invoke(ctx)
        except (BrokenPipeError, EOFError) as error:
            raise AzbenchError(f"a program or a file that was read ended early: {error}") from error


class _Verbs(UserDict[str, Any]):
    """Commands by name, each made when it is looked up."""

    def __getitem__(self, name: str) -> Any:
        found = super().__getitem__(name)
        if isinstance(found, str):
            found = self[name] = _command(name, found)
        return found


def _command(name: str, home: str) -> Any:
    module, attribute = home.split(":")
    verb = getattr(import_module(f"azbenchlib.cli.{module}"), attribute)
    if isinstance(verb, typer.Typer):
        examples.show(verb, name)
        refuse_without_effect(verb)
        made: Any = typer.main.get_group(verb)
    else:
        alone = typer.Typer(add_completion=False)
        alone.command(epilog=examples.below(name), cls=Verb)(verb)
        made = typer.main.get_command(alone)
    made.name = name
    return made
