"""How a measurement tells how far it is."""

from typing import Protocol


class Progress(Protocol):
    """What is called: with how many of how many workloads are done, and a line about the latest."""

    def __call__(self, done: int, total: int, text: str) -> None: ...


def quiet(done: int, total: int, text: str) -> None:
    """Say nothing."""


def show_progress() -> Progress:
    """A display for a notebook: one line a workload, a bar under them, in place.

    It is plain text that is updated, so it reads the same in JupyterLab, under papermill, and in the
    saved notebook or report, where a live widget would be gone.
    """
    from IPython.display import DisplayHandle  # only where something is shown

    handle = DisplayHandle()
    finished: list[str] = []
    shown = False

    def show(done: int, total: int, text: str) -> None:
        nonlocal shown
        line = f"{done}/{total} {text}"
        lines = [*finished, line, f"[{'█' * done}{'░' * (total - done)}]"]
        if done > len(finished):
            finished.append(line)
        data = {"text/plain": "\n".join(lines)}
        if shown:
            handle.update(data, raw=True)
        else:
            handle.display(data, raw=True)
        shown = True

    return show
