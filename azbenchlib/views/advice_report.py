"""The answer of `azbench advise` as a report of one or two pages."""

from pathlib import Path

from nbformat import v4

from azbenchlib.advisor.order_designs import markets_by_payment
from azbenchlib.answers.advice import AdviceAnswer
from azbenchlib.answers.html import block
from azbenchlib.answers.order_page import order_document
from azbenchlib.report import build

_TITLE = "Which VM and disks to order"


def write(
    answer: AdviceAnswer, folder: Path, prices: Path | None = None, as_of: str | None = None
) -> build.Written:
    """Write ``report.html`` and ``report.pdf``.

    Parameters
    ----------
    answer : AdviceAnswer
    folder : Path
        Made where it is missing.
    prices, as_of : optional
        A price book of one's own and the day, as the answer was made with.

    Raises
    ------
    OutputError
        When the folder cannot be written.
    """
    build.check_writable(folder)
    page = block(order_document(answer, markets_by_payment(answer.result.market, prices, as_of)))
    shown = v4.new_output("display_data", page._repr_mimebundle_())
    cells = [v4.new_markdown_cell(f"# {_TITLE}"), v4.new_code_cell("", outputs=[shown])]
    return build.write(v4.new_notebook(cells=cells), folder, _TITLE)
