"""Escape sequences of terminals, and what programs that keep logs write in their place."""

import re

# Source: ECMA-48, 5th edition (1991), 5.4 and 8.3; rsyslog writes #033 for ESC, `cat -v` and screen write ^[.
_ESCAPE = r"(?:\x1b|\x5cx1b|\x5cu001b|\x5c033|\^\[|#033)"
_SEQUENCES = re.compile(
    rf"{_ESCAPE}(?:\[[0-?]{{0,64}}[ -/]{{0,8}}[@-~]|\][^\x07\x1b\n]{{0,4096}}(?:\x07|\x1b\x5c|$)"
    r"|[P_^X][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\x5c|$)|[()*+#%][0-9A-Za-z]|[=>78cDEHMNOZ])"
    r"|\x9b[0-?]{0,64}[ -/]{0,8}[@-~]|\x1b",
    re.MULTILINE,
)
_RETURN = re.compile(r"\^M$", re.MULTILINE)  # as `cat -v` shows it
_OVERSTRUCK = re.compile(r"[^\n\x08]\x08|\x08")
_MARKS = ("\x1b", "\x9b", "\x08", "^[[", "#033[", "\\x1b[", "\\u001b[", "\\033[")


def has_escapes(text: str) -> bool:
    """Whether a text has what :func:`without_escapes` takes out."""
    return any(mark in text for mark in _MARKS)


def without_escapes(text: str) -> str:
    """Return the text as a terminal without colours and titles would show it; its lines stay the same."""
    return _RETURN.sub("", _OVERSTRUCK.sub("", _SEQUENCES.sub("", text)))
