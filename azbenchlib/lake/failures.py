"""A batch that fails, although each of its outputs was to be a finding at worst: whose fault it is.

What is divided is added in other batches; only what fails by itself is left out, and told.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from azbenchlib.dataset.files import Obstacle
from azbenchlib.formats.source import Source
from azbenchlib.lake.batches import File, OutputBatch, why_failing


def divided(
    batch: OutputBatch, error: Exception, attempt: Callable[[OutputBatch], object]
) -> tuple[list[OutputBatch], dict[Path, Obstacle]]:
    """The batches to add instead of one that fails, and the files that are left out.

    Parameters
    ----------
    batch : OutputBatch
    error : Exception
        With which it fails.
    attempt : callable
        Does with a batch what fails, and leaves nothing behind.
    """
    if batch.dataset is not None:
        return [], {batch.dataset: _obstacle(error)}
    if len(batch.files) == 1:
        return [], {batch.files[0][0]: _obstacle(error)}
    if not batch.together:
        middle = len(batch.files) // 2
        return [_with(batch, batch.files[:middle]), _with(batch, batch.files[middle:])], {}
    failed = {}
    for file in batch.files:
        try:
            attempt(_with(batch, (file,)))
        except Exception as own:
            failed[file[0]] = _obstacle(own)
    if not failed:  # alone, a log would count what its run counts
        return [], {file: _obstacle(error) for file, _ in batch.files}
    good = tuple(file for file in batch.files if file[0] not in failed)
    return [_with(batch, good)] if good else [], failed


def _obstacle(error: Exception) -> Obstacle:
    return Obstacle(why_failing(error))


def _with(batch: OutputBatch, files: tuple[File, ...]) -> OutputBatch:
    names = {Source(name).path for _, name in files}
    return replace(batch, files=files, hashes={n: h for n, h in batch.hashes.items() if n in names})
