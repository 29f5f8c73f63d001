"""The style sheet and the script of a report, with the colours of the figures filled in."""

from importlib import resources

from azbenchlib.core import palette

# Thrice, because a notebook's own rules for tables and lists are specific: these must weigh more.
_NOTEBOOK = ".azbench.azbench.azbench"
NOTEBOOK_RESET = """& { padding: 16px 24px 24px; }
&:empty { display: none; }
& > :first-child:first-child { margin-top: 0; }
& .cards .rates .big { font-size: 1.375rem; } /* the column is narrower than the window tells */
:where(:not(svg, svg *)) { all: revert; }"""


def sheet() -> str:
    """CSS of a report: light and dark, screen and paper."""
    return (
        _source("report.css")
        .replace("/*@light-variables*/", palette.variables())
        .replace("/*@dark-variables*/", palette.variables(dark=True))
        .replace("/*@dark-figures*/", palette.dark_rules())
        .replace("/*@font-stack*/", palette.FONT_STACK)
    )


def page_sheet() -> str:
    """CSS of the exported page, with what its script adds."""
    return sheet() + _source("script/page.css")


def page_script() -> str:
    """The script of the exported page."""
    return _source("script/page.js")


def scoped_sheet() -> str:
    """The same rules for a block shown in a notebook: they reach that block and nothing else."""
    screen = sheet().partition(
        "/* ---------------------------------------------------------------- print */"
    )[0]
    before, _, rest = screen.partition("@media screen and (prefers-color-scheme: dark) {")
    after = rest.partition("\n}\n")[2]  # a notebook has its own theme; blocks stay light on it
    rules = (before + after).replace(":root", "&").replace("body {", "& {")
    return f"{_NOTEBOOK} {{\n{NOTEBOOK_RESET}\n{rules}}}"


def _source(name: str) -> str:
    return (resources.files("azbenchlib.report") / name).read_text(encoding="utf-8")
