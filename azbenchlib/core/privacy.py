"""What tells who somebody is or where they work, taken out of text that is kept or handed on.

Datasets and reports go to others: the log of az, notes, commands and the executed notebook hold no home
folder, no user's name in a path, no e-mail address, no id of a subscription, and no secret.
"""

import getpass
import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from azbenchlib.core.secret_patterns import GONE, names_secret, without_secrets

_HOME = "~"
_ID = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"

_END = r"(?![\w.-])"  # what follows the last part of a path
# Where homes lie on Linux, macOS and Windows; azureuser is on every VM that azbench makes.
_ANY_HOME = re.compile(
    rf"/(?:home|Users)/(?!azureuser{_END})[^/\\\s:;,'\"<>&|)\]]+|\b[A-Za-z]:[\\/]+Users[\\/]+[^\\/\s:;,'\"<>&|]+"
)
_COMMON = ("root", "user", "users", "home", "data", "test", "admin", "azureuser", "ubuntu", "runner", "raw")
_GUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE)
_OWNER = re.compile(r"^owner=.*", re.MULTILINE)
# Guests of a directory are called jane_contoso.com#EXT#@tenant.onmicrosoft.com; in URLs, @ is %40.
_MAIL = re.compile(r"(?<![\w.#+'-])[\w.#+-][\w.#+'-]*(?:@|%40)[\w-]+(?:\.[\w-]+)*\.[^\W\d_]{2,}")
# Azure names who was refused. Source: its messages for AuthorizationFailed, 2026.
_CLIENT = re.compile(r"(\bclient ')[^']+(?=')")


def masked(text: str) -> str:
    """The text without ids of subscriptions and tenants, owners, e-mail addresses, secrets and homes."""
    text = _OWNER.sub(f"owner={GONE}", _GUID.sub(_ID, text))
    return without_homes(_MAIL.sub(GONE, _CLIENT.sub(rf"\g<1>{GONE}", without_secrets(text))))


def masked_words(words: Sequence[str]) -> list[str]:
    """Return the words of a command line masked, with what follows an option such as ``--admin-password``."""
    before = ["", *words]
    return [
        GONE if option.startswith("-") and names_secret(option.lstrip("-")) else masked(word)
        for option, word in zip(before, words, strict=False)
    ]


def without_homes(text: str) -> str:
    """The text with home folders as ``~``, and without this user's name in other paths."""
    for home in _own_homes():
        text = re.sub(rf"{re.escape(home)}{_END}", _HOME, text)
    text = _ANY_HOME.sub(_HOME, text)
    for name in _own_names():
        text = re.sub(rf"(?<=[/\\]){re.escape(name)}{_END}", GONE, text)
    return text


def beside(text: str, folder: Path) -> str:
    """The text with the paths below a folder relative to it."""
    if folder == Path(folder.anchor):
        return text
    return re.sub(
        rf"{re.escape(str(folder))}(?:/|{_END})", lambda found: "" if found[0][-1] == "/" else ".", text
    )


def tells(path: Path) -> bool:
    """Whether a path says whose it is."""
    return without_homes(str(path)) != str(path)


def everywhere(change: Callable[[str], str], document: Any) -> Any:
    """A document of dicts, lists and values with every text in it changed; names of keys stay.

    What a key calls a secret is one, whatever it looks like.
    """
    if isinstance(document, str):
        return change(document)
    if isinstance(document, dict):
        return {
            key: GONE if isinstance(value, str) and names_secret(str(key)) else everywhere(change, value)
            for key, value in document.items()
        }
    if isinstance(document, list | tuple):
        return [everywhere(change, value) for value in document]
    return document


def _own_homes() -> list[str]:
    """The home of this user as it is called and as it is, the longest first; a whole disk is no home."""
    try:
        home = Path.home()
    except RuntimeError:
        return []
    found = {str(home), os.path.realpath(home)}
    return sorted((path for path in found if len(Path(path).parts) > 1), key=len, reverse=True)


def _own_names() -> set[str]:
    """What this user is called in paths: the name, and that of the home folder."""
    names = {Path(home).name for home in _own_homes()}
    with suppress(OSError, KeyError, ImportError):  # no such user, and no variable tells
        names.add(getpass.getuser())
    return {name for name in names if len(name) > 2 and name.lower() not in _COMMON}
