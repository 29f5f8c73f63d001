"""What tells the things of a run from others in a resource group that is not the run's own."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

RUN = "azbench-run"  # tag of every thing of a run in a group of the user's: what its name begins with

RUN_PREFIX = r"azb[0-9a-f]{10}"  # of the names of a run's things


@dataclass(frozen=True, kw_only=True)
class Naming:
    """How the things of a run are called and tagged."""

    # What their names begin with; empty in a group that is the run's own, where nothing else lies
    prefix: str = ""
    # What each carries, by name, where there is a prefix
    tags: Mapping[str, str] = field(default_factory=dict)

    def called(self, name: str) -> str:
        """The name of a thing in Azure."""
        return f"{self.prefix}-{name}" if self.prefix else name

    @property
    def options(self) -> list[str]:
        """What is added to the commands of az that create something."""
        tags = {RUN: self.prefix, **self.tags}
        return ["--tags", *(f"{name}={value}" for name, value in tags.items())] if self.prefix else []


PLAIN = Naming()


def new_prefix() -> str:
    """What the names of another run's things begin with: nothing else in Azure is called so."""
    return f"azb{secrets.token_hex(5)}"
