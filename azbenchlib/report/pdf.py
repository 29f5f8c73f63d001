"""The page as PDF: WeasyPrint, else an installed Chromium."""

import re
import subprocess

from azbenchlib.campaign.doctor import find_browser
from azbenchlib.core.errors import MissingToolError
from azbenchlib.core.temporary import temporary_folder

_TIMEOUT_S = 120
# WeasyPrint breaks lines behind a slash, as Unicode allows; U+2060, which has no width and is not in the text
# of the PDF, keeps the unit whole.
_RATE_UNIT = re.compile(r"(?<=B/)(?=s\b)")
_WORD_JOINER = "\u2060"


def to_pdf(html: str) -> bytes:
    """PDF of a page, A4, tagged for readers of the blind where WeasyPrint makes it.

    Raises
    ------
    MissingToolError
        When WeasyPrint lacks its libraries and no browser is installed either.
    """
    try:
        return with_weasyprint(html)
    except OSError as error:  # pango, which WeasyPrint loads when it is imported
        browser = find_browser()
        if browser is None:
            raise MissingToolError(
                f"no PDF: WeasyPrint cannot load its libraries ({str(error).splitlines()[0]}) and no browser "
                "is installed; install libpango-1.0-0 and libpangoft2-1.0-0, or chromium"
            ) from error
        return with_browser(html, browser)


def with_weasyprint(html: str) -> bytes:
    """PDF by WeasyPrint; OSError where a library that it needs is missing."""
    from weasyprint import HTML
    from weasyprint.urls import URLFetcher

    # a report has no outside reference; one that a reader's own cell brings in is not fetched
    fetcher = URLFetcher(allowed_protocols=["data"])
    whole = _RATE_UNIT.sub(_WORD_JOINER, html)
    return HTML(string=whole, url_fetcher=fetcher).write_pdf(pdf_variant="pdf/ua-1")


def with_browser(html: str, browser: str) -> bytes:
    """PDF by a headless Chromium, Chrome or Edge.

    Raises
    ------
    MissingToolError
        When the browser gives none.
    """
    with temporary_folder() as scratch:
        page, pdf = scratch / "report.html", scratch / "report.pdf"
        page.write_text(html, encoding="utf-8")
        command = [
            browser,
            "--headless",
            "--no-sandbox",  # as root, in containers; the page is our own and has no script
            "--disable-gpu",
            "--disable-background-networking",
            "--no-first-run",
            f"--user-data-dir={scratch}/profile",
            "--no-pdf-header-footer",
            "--generate-pdf-document-outline",
            f"--print-to-pdf={pdf}",
            page.as_uri(),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)  # noqa: S603
        if done.returncode or not pdf.is_file():
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise MissingToolError(f"no PDF: {browser} ended with status {done.returncode}: {last}")
        return pdf.read_bytes()
