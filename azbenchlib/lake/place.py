"""Where a lake lies: a folder, or a container of Azure's object store (by fsspec and adlfs)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from azbenchlib.core import extras
from azbenchlib.core.errors import InputError, MissingToolError, OutputError
from azbenchlib.core.files import read_bounded, write_atomically
from azbenchlib.core.units import MIB

# Source: adlfs 2026.8, `AzureBlobFileSystem.protocol`
SCHEMES = ("abfs", "abfss", "az")
_LARGEST = 1024 * MIB  # of a file of a lake; azbench writes a few MiB


class LakePlace(Protocol):
    """Where files lie by their names; each appears whole or not at all."""

    @property
    def address(self) -> str:
        """What the user calls it."""
        ...

    def write(self, name: str, data: bytes) -> None:
        """Write a file, over one of the same name."""
        ...

    def read(self, names: Sequence[str]) -> list[bytes]:
        """The contents of files."""
        ...

    def names(self, folder: str = "") -> list[str]:
        """What lies directly in a folder, sorted; nothing where there is none."""
        ...

    def path(self, name: str) -> str:
        """A file as DuckDB names it."""
        ...


@dataclass(frozen=True)
class Folder:
    """A folder of this machine, or of a file system that several share."""

    address: str

    @property
    def _home(self) -> Path:
        return Path(self.address)

    def write(self, name: str, data: bytes) -> None:
        """Write a file by a rename."""
        write_atomically(self._home / name, data)

    def read(self, names: Sequence[str]) -> list[bytes]:
        """The contents of files; a link out of the folder is not followed."""
        try:
            return [read_bounded(self._home / name, self._home, _LARGEST) for name in names]
        except OSError as error:
            raise InputError(f"{self.address}: cannot be read: {error.strerror or error}") from error

    def names(self, folder: str = "") -> list[str]:
        """What lies directly in a folder; hidden files, such as those being written, are left out."""
        try:
            found = [entry.name for entry in (self._home / folder).iterdir()]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise InputError(f"{error.filename}: {error.strerror}") from error
        return sorted(name for name in found if not name.startswith("."))

    def path(self, name: str) -> str:
        """The absolute path of a file."""
        return str(self._home.resolve() / name)


@dataclass(frozen=True)
class ObjectStore:
    """A folder in a container of Azure's object store, where a file appears whole once it is uploaded."""

    address: str

    @cached_property
    def _opened(self) -> tuple[Any, str]:
        try:
            from fsspec.core import url_to_fs
        except ImportError as error:
            raise _lacking(self.address) from error
        try:
            return url_to_fs(self.address)
        except ImportError as error:
            raise _lacking(self.address) from error
        except ValueError as error:
            raise InputError(
                f"{self.address}: {error}; set AZURE_STORAGE_CONNECTION_STRING, or "
                "AZURE_STORAGE_ACCOUNT_NAME with a key or a login"
            ) from error

    @property
    def filesystem(self) -> Any:
        """The file system of fsspec, as DuckDB takes it."""
        return self._opened[0]

    def _full(self, name: str) -> str:
        return f"{self._opened[1].rstrip('/')}/{name}".rstrip("/")

    def write(self, name: str, data: bytes) -> None:
        """Upload a file."""
        with self._told(OutputError, "written"):
            self.filesystem.pipe_file(self._full(name), data)

    def read(self, names: Sequence[str]) -> list[bytes]:
        """The contents of files, fetched side by side."""
        wanted = [self._full(name) for name in names]
        with self._told(InputError, "read"):
            found = self.filesystem.cat(wanted) if wanted else {}
        return [found[name] for name in wanted]

    def names(self, folder: str = "") -> list[str]:
        """What lies directly in a folder, as of now: another machine may have written."""
        with self._told(InputError, "read"):
            self.filesystem.invalidate_cache()
            try:
                return sorted(Path(one).name for one in self.filesystem.ls(self._full(folder), detail=False))
            except FileNotFoundError:
                return []

    def path(self, name: str) -> str:
        """A file with the scheme that the file system is registered under."""
        return f"{SCHEMES[0]}://{self._full(name)}"

    @contextmanager
    def _told(self, kind: type[InputError | OutputError], done: str) -> Iterator[None]:
        """What Azure refuses, as a sentence."""
        from azure.core.exceptions import AzureError

        try:
            yield
        except (AzureError, OSError) as error:
            first = (str(error).splitlines() or [type(error).__name__])[0]
            raise kind(f"{self.address}: cannot be {done}: {first}") from error


def place_at(address: str) -> Folder | ObjectStore:
    """The place that an address stands for.

    Parameters
    ----------
    address : str
        A folder, or ``abfs://CONTAINER@ACCOUNT.dfs.core.windows.net/FOLDER``.

    Raises
    ------
    InputError
        For another scheme.
    """
    scheme, mark, _ = address.partition("://")
    if not mark:
        return Folder(address)
    if scheme not in SCHEMES:
        raise InputError(
            f"{address}: a lake is a folder, or lies at an address that begins with "
            f"{', '.join(f'{one}://' for one in SCHEMES)}"
        )
    return ObjectStore(address)


def _lacking(address: str) -> MissingToolError:
    return MissingToolError(f"{address}: needs fsspec and adlfs; get them with: {extras.install('lake')}")
