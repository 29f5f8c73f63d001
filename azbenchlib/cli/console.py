"""Where the command line speaks of what it does: stderr, so that stdout is the result alone."""

from rich.console import Console

notes = Console(stderr=True, highlight=False, soft_wrap=True)
