"""Pages of a browser that is given the time it takes on a busy machine."""

from typing import Any

from playwright.sync_api import Browser, BrowserContext
from waiting import PATIENCE_S

PATIENCE_MS = 1000 * PATIENCE_S


def new_context(browser: Browser, **options: Any) -> BrowserContext:
    """Return a fresh profile of a browser, whose pages wait long for what is to be there."""
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE_MS)
    return context
