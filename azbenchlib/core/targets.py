"""The names of what can be measured on, so that a wrong one is told before anything is loaded."""

from azbenchlib.core.errors import InputError

TARGET_NAMES = ("lab", "local", "azure")


def check_target_name(name: str) -> None:
    """Refuse what is no target.

    Raises
    ------
    InputError
        With the choices.
    """
    if name not in TARGET_NAMES:
        raise InputError(f"target '{name}' is unknown; the choices are: {', '.join(TARGET_NAMES)}")
