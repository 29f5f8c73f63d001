"""The names of compressed files. No large library is loaded."""

_SUFFIXES = (".gz", ".bz2", ".xz", ".zst", ".zstd")


def bare_name(name: str) -> str:
    """Return the name of a compressed file without the suffix that says so."""
    return next((name.removesuffix(end) for end in _SUFFIXES if name.endswith(end)), name)
