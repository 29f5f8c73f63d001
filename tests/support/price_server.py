"""A local price service: pages, and misbehaves as it is told to, as Azure's is documented or was seen to.

Source: learn.microsoft.com/rest/api/cost-management/retail-prices/azure-retail-prices; answers 1188465.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit


def item(meter: str, price: float, **more: Any) -> dict[str, Any]:
    """A disk's item as the service gives it."""
    return {
        "currencyCode": "USD",
        "tierMinimumUnits": 0.0,
        "retailPrice": price,
        "unitPrice": price,
        "armRegionName": "westeurope",
        "location": "EU West",
        "effectiveStartDate": "2024-01-01T00:00:00Z",
        "meterId": f"id-{meter}",
        "meterName": meter,
        "productName": "Premium SSD Managed Disks",
        "skuName": meter.removesuffix(" Disk"),
        "serviceName": "Storage",
        "unitOfMeasure": "1/Month",
        "type": "Consumption",
        "isPrimaryMeterRegion": True,
        "armSkuName": "",
        **more,
    }


def vm_item(size: str, price: float, suffix: str = "", windows: bool = False, **more: Any) -> dict[str, Any]:
    """A VM's item; `suffix` such as Spot."""
    name = f"{size.removeprefix('Standard_').replace('_', ' ')} {suffix}".strip()
    product = "Virtual Machines Dsv3 Series" + (" Windows" if windows else "")
    about = {"serviceName": "Virtual Machines", "productName": product, "skuName": name, "armSkuName": size}
    return item(name, price, **(about | {"unitOfMeasure": "1 Hour"} | more))


class PriceServer(ThreadingHTTPServer):
    """Answers with `items` by service and type. `faults` are used up one an answer, None being none."""

    def __init__(self, items: list[dict[str, Any]], page: int = 2) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.items = items
        self.page = page
        self.faults: list[str | None] = []
        self.asked: list[str] = []
        self.link_host = "prices.azure.com:443"
        self.empty_links = False
        self.repeats = False
        self.ignores_skip = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/api/retail/prices"


class _Handler(BaseHTTPRequestHandler):
    server: PriceServer

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        fault = self.server.faults.pop(0) if self.server.faults else None
        body = json.dumps(self._document()).encode()
        if fault == "break":  # half of the answer, then nothing
            self._send(200, body, len(body))
            return
        if fault == "half":  # whole as HTTP goes, but half a document
            self._send(200, body[: len(body) // 2])
        elif fault and fault.startswith("429"):
            self._send(429, b"{}", headers={"Retry-After": fault[4:]} if fault[4:] else {})
        elif fault:
            self._send(int(fault), b"oops")
        else:
            self._send(200, body)

    def _document(self) -> dict[str, Any]:
        query = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        start, asked = int(query.get("$skip", 0)), query["$filter"]
        start = 0 if self.server.ignores_skip else start
        wanted = [one for one in self.server.items if _fits(one, asked)]
        here = wanted[start : start + self.server.page]
        if self.server.repeats and start:
            here = [wanted[start - 1], *here]
        more = start + self.server.page < len(wanted) and not self.server.empty_links
        link = f"https://{self.server.link_host}/api/retail/prices?"
        following = link + urlencode(query | {"$skip": start + self.server.page})
        return {"BillingCurrency": "USD", "Items": here, "NextPageLink": following if more else None}

    def _send(self, status: int, body: bytes, cut: int = 0, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: cut // 2] if cut else body)
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Not on the test's output."""


def _fits(one: dict[str, Any], asked: str) -> bool:
    names = {"serviceName": "serviceName", "armRegionName": "armRegionName", "priceType": "type"}
    conditions = (part.split(" eq ") for part in asked.split(" and "))
    return all(one[names[name]] == value.strip("'") for name, value in conditions)


@contextmanager
def price_service(items: list[dict[str, Any]], page: int = 2) -> Iterator[PriceServer]:
    server = PriceServer(items, page)
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
