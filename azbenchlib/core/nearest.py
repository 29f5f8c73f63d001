"""Names that are nearly the one that was given, for sentences that refuse it."""

from collections.abc import Iterable

_MOST = 5
_ALIKE = 0.5  # long names of VM sizes and disks differ in a letter or a digit


def nearest(wanted: str, known: Iterable[str], alike: float = _ALIKE) -> list[str]:
    """The known names that are most like the one that was given, best first; at most five.

    Parameters
    ----------
    wanted : str
        Of any length; only its beginning is compared.
    known : iterable of str
    alike : float
        Similarity from which a name counts, 0 to 1.
    """
    import difflib  # only a wrong name needs it

    return difflib.get_close_matches(wanted[:80], list(known), _MOST, cutoff=alike)


def choices(wanted: str, known: Iterable[str]) -> str:
    """The end of a sentence that refuses a name: the nearest ones, else all that there are."""
    names = sorted(known)
    if near := nearest(wanted, names):
        return f"the nearest names are {', '.join(near)}"
    return f"the known names are {', '.join(names) or 'none'}"
