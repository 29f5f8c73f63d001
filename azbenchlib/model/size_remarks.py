"""What is to be known of a setup's VM size: when Azure retires it, and which page its limits are from."""

from __future__ import annotations

from collections.abc import Iterator

from azbenchlib.azure import catalog
from azbenchlib.azure.catalog.rows import VmRow
from azbenchlib.core.errors import InputError
from azbenchlib.core.findings import Code, Finding
from azbenchlib.model.setup import Setup


def findings(setup: Setup, as_of: str) -> tuple[Finding, ...]:
    """Say when Azure retires the VM size, and which page of a later day its limits are taken from.

    Parameters
    ----------
    setup : Setup
        As it is described: where it states limits of the VM, no page is taken.
    as_of : str
        ISO day, where the setup has none.
    """
    if not setup.vm.size:
        return ()
    try:
        row = catalog.vm(setup.vm.size, setup.as_of or as_of)
    except InputError:
        return ()
    pages = () if setup.vm.stated else tuple(_oldest_pages(row))
    return (*_retirement(row), *pages)


def _retirement(row: VmRow) -> Iterator[Finding]:
    if row.retires_on:
        word = "retired" if row.retires_on <= row.as_of else "retires"
        said = f"Azure {word} {row.size} on {row.retires_on}{_cited(row.retirement_source)}"
        yield Finding.of(Code.VM_SIZE_RETIRES, said)


def _oldest_pages(row: VmRow) -> Iterator[Finding]:
    pages = {(limit.page_day, limit.source_id) for limit in row.taken_back}
    for day, source_id in sorted(pages, key=str):
        said = f"the oldest page at hand of {row.size}, of {day}{_cited(source_id)}, is taken for {row.as_of}"
        yield Finding.of(Code.OLDEST_PAGE_TAKEN, said)


def _cited(source_id: str | None) -> str:
    return f" ({catalog.source(source_id).cited})" if source_id else ""
