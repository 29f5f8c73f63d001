"""Read the prices of a region anew: the public Azure Retail Prices API to a dated book in the user's folder.

Source: learn.microsoft.com/rest/api/cost-management/retail-prices/azure-retail-prices (2026-04-29). What has
come is kept page by page: after a break-off the next run of the same day goes on where it stopped.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

import tenacity
import urllib3

from azbenchlib.azure import overlays
from azbenchlib.azure.prices import book
from azbenchlib.azure.prices.items import rows
from azbenchlib.core.documents import decoded
from azbenchlib.core.errors import AzbenchError, InputError, OutputError
from azbenchlib.core.files import write_atomically

URL = "https://prices.azure.com/api/retail/prices"
URL_VARIABLE = "AZBENCH_PRICES_URL"
API_VERSION = "2023-01-01-preview"
QUERIES = (
    "serviceName eq 'Storage' and armRegionName eq '{region}' and priceType eq 'Consumption'",
    "serviceName eq 'Virtual Machines' and armRegionName eq '{region}' and priceType eq 'Consumption'",
    "serviceName eq 'Virtual Machines' and armRegionName eq '{region}' and priceType eq 'Reservation'",
    "serviceName eq 'Storage' and armRegionName eq '{region}' and priceType eq 'Reservation'",
)
# A page is full with so many items (100 until 2021). A full page without a link may have more behind it:
# so it was on 2023-03-10 (learn.microsoft.com/answers, 1188465).
FULL_PAGES = (100, 1000)
PRICE_TRIES = 6
_TIMEOUT_S = 60.0
_LONGEST_WAIT_S = 300.0
DAY_LENGTH = len("2026-11-20")
_OK = 200
_RETRIED = (429, 500, 502, 503, 504)
_REGION = re.compile(r"[a-z0-9]+")


class PriceServiceError(AzbenchError):
    """The price service cannot be reached, or answers what it should not."""


class _AgainError(Exception):
    """A failed try; `wait_s` is how long the service asks to wait."""

    def __init__(self, reason: str, wait_s: float | None = None) -> None:
        super().__init__(reason)
        self.wait_s = wait_s


def refresh(
    region: str,
    url: str | None = None,
    sleep: Callable[[float], None] = tenacity.nap.sleep,
    currency: str = book.USD,
) -> Path:
    """Write what the API says today of a region's VM and disk prices; lookups take it from then on.

    Parameters
    ----------
    region : str
        Azure's name, such as westeurope.
    url : str, optional
        Of the service; default: the environment variable AZBENCH_PRICES_URL, else Azure's.
    sleep : callable
        Waits so many seconds.
    currency : str
        ISO 4217, such as EUR. Azure's own is USD; it converts to others for information only.

    Returns
    -------
    Path
        The price book.

    Raises
    ------
    InputError
        When the region's name or the currency cannot be one, or the answer has no price in that currency.
    PriceServiceError
        When the service fails again and again. What has come is kept for the next run.
    OutputError
        When the book cannot be written.
    """
    if not _REGION.fullmatch(region):
        raise InputError(f"'{region}' is not a region's name; write it as westeurope")
    if not book.CURRENCY.fullmatch(currency):
        raise InputError(f"'{currency}' is not a currency; write it as USD or EUR")
    day = date.today().isoformat()
    base = url or os.environ.get(URL_VARIABLE) or URL
    suffix = "" if currency == book.USD else f"-{currency.lower()}"
    path = overlays.new("prices", f"{day}_{region}{suffix}")
    store = _Pages(path.with_suffix(".part.jsonl"), {"url": base})
    for query in QUERIES:
        _read(_first(base, query.format(region=region), currency), base, store, sleep)
    found = rows(store.items(), region, day, f"{book.PRICES_OVERLAY_ID}-{path.stem}")
    if not found:
        raise InputError(f"the price service has no VM or disk price for region '{region}'")
    if other := sorted({row["currency"] for row in found} - {currency}):
        raise InputError(f"the price service answers in {', '.join(other)}, not in {currency}")
    _write(path, found)
    store.drop()
    book.forget()
    return path


class _Pages:
    """The pages that have come, one JSON line each behind a line that says for what; kept between runs."""

    def __init__(self, path: Path, head: Mapping[str, str]) -> None:
        self.path = path
        self.pages: dict[str, dict[str, Any]] = {}
        lines = self._lines()
        if lines[:1] == [head]:
            self.pages = {page["page"]: page for page in lines[1:]}
        self._write([head, *self.pages.values()], "w")  # anew: the last line may be cut off

    def add(self, url: str, items: list[Any], following: str) -> None:
        self.pages[url] = {"page": url, "next": following, "items": items}
        self._write([self.pages[url]], "a")

    def items(self) -> list[dict[str, Any]]:
        return [item for page in self.pages.values() for item in page["items"]]

    def drop(self) -> None:
        """Remove it, and what earlier days left of the same region."""
        for path in self.path.parent.glob(f"*{self.path.name[DAY_LENGTH:]}"):
            path.unlink(missing_ok=True)

    def _lines(self) -> list[Any]:
        """The whole lines; one that was cut off in writing is not."""
        found = []
        try:
            for line in self.path.read_text(encoding="utf-8").splitlines():
                found.append(decoded(line))
        except (OSError, ValueError):
            pass
        return found

    def _write(self, entries: Iterable[Mapping[str, Any]], mode: str) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open(mode, encoding="utf-8") as file:
                file.writelines(json.dumps(entry) + "\n" for entry in entries)
        except OSError as error:
            raise OutputError(f"{self.path} cannot be written: {error.strerror}") from None


def _first(base: str, query: str, currency: str) -> str:
    asked = {"api-version": API_VERSION, "currencyCode": f"'{currency}'", "$filter": query}
    return f"{base}?{urlencode(asked)}"


def _read(first: str, base: str, store: _Pages, sleep: Callable[[float], None]) -> None:
    """Follow the pages of one query to the last, without asking anew for what is there."""
    url, seen, count, known = first, set[str](), 0, set[str]()
    while url and url not in seen:
        seen.add(url)
        if url not in store.pages:
            document = _get(url, sleep)
            store.add(url, document["Items"], _following(document, base))
        page = store.pages[url]
        count += len(page["items"])
        new = {json.dumps(item, sort_keys=True) for item in page["items"]} - known
        known |= new
        url = page["next"]
        if not url and new and len(page["items"]) in FULL_PAGES:
            url = f"{first}&{urlencode({'$skip': count})}"


def _following(document: Mapping[str, Any], base: str) -> str:
    """The next page's address at the host that was asked: no other is ever followed."""
    text = document.get("NextPageLink") or ""
    link, own = urlsplit(text), urlsplit(base)
    return urlunsplit((own.scheme, own.netloc, link.path or own.path, link.query, "")) if text else ""


def _get(url: str, sleep: Callable[[float], None]) -> dict[str, Any]:
    """One page; tried again with growing waits, or as long as the service asks."""
    tries = tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(_AgainError),
        stop=tenacity.stop_after_attempt(PRICE_TRIES),
        wait=_pause_s,
        sleep=sleep,
        reraise=True,
    )
    try:
        return tries(_page, url)
    except _AgainError as error:
        raise PriceServiceError(
            f"the price service at {urlsplit(url).netloc} failed {PRICE_TRIES} times, the last time with: "
            f"{error}; pages received so far are kept: run the command again to continue"
        ) from None


def _pause_s(state: tenacity.RetryCallState) -> float:
    """What the service asked for, else twice as long each time."""
    error = state.outcome.exception() if state.outcome else None
    asked = error.wait_s if isinstance(error, _AgainError) else None
    return min(2.0 ** (state.attempt_number - 1) if asked is None else asked, _LONGEST_WAIT_S)


def _page(url: str) -> dict[str, Any]:
    status, headers, body = _ask(url)
    if status in _RETRIED:
        raise _AgainError(f"status {status}", _retry_after(headers.get("retry-after", "")))
    if status != _OK:
        raise PriceServiceError(f"the price service at {urlsplit(url).netloc} answers with status {status}")
    try:
        document = decoded(body)
    except ValueError:
        raise _AgainError("an answer that is not whole JSON") from None
    items = document.get("Items") if isinstance(document, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise PriceServiceError(
            f"the price service at {urlsplit(url).netloc} answers without a list of Items"
        )
    return document


def _ask(url: str) -> tuple[int, Mapping[str, str], bytes]:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise InputError(f"'{url}' is not the address of a price service; it starts with https:// or http://")
    try:
        with urllib3.PoolManager() as pool:
            accepted = {"Accept": "application/json"}
            answer = pool.request(
                "GET", url, headers=accepted, timeout=_TIMEOUT_S, retries=False, redirect=False
            )
            return answer.status, answer.headers, answer.data
    except urllib3.exceptions.HTTPError as error:
        raise _AgainError(str(error) or type(error).__name__) from None


def _retry_after(text: str) -> float | None:
    """Seconds of a Retry-After header: a number, or a date (RFC 9110, 10.2.3)."""
    try:
        return urllib3.Retry().parse_retry_after(text)
    except urllib3.exceptions.HTTPError:
        return None


def _write(path: Path, found: Iterable[Mapping[str, str]]) -> None:
    """The book as a file that appears whole."""
    out = io.StringIO()
    columns = (*book.PRICE_COLUMNS, "meter_id", "effective_from")
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    write_atomically(path, out.getvalue().encode())
