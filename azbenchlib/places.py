"""Where the files lie that come with azbench: beside the package in a checkout, within it when installed."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def shipped(kind: str) -> list[Path]:
    """The folders of ``notebooks``, ``datasets`` or ``campaigns`` that come with azbench.

    Parameters
    ----------
    kind : str
        Name of the folder.

    Returns
    -------
    list of Path
        Those that may be there, the checkout's first.
    """
    return [_PACKAGE.parent / kind, _PACKAGE / "share" / kind]
