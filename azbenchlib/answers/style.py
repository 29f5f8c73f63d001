"""The style sheet and the script of pages and blocks, with the colours of the figures filled in."""

from importlib import resources

from azbenchlib.core import palette

# Thrice, because a notebook's own rules for tables and lists are specific: these must weigh more.
_NOTEBOOK = ".azbench.azbench.azbench"
# How JupyterLab, Notebook 7 and VS Code mark their dark themes, on an element above the outputs.
_DARK_THEME = ':is([data-jp-theme-light="false"], .vscode-dark)'
_DARK_MEDIA = "@media screen and (prefers-color-scheme: dark) {"
# Figures are images there, in which no rule of the page reaches a colour: white becomes the dark ground, and
# each hue stays what it is.
_DARK_FIGURES = "filter: invert(0.9) hue-rotate(180deg);"
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


def scoped_sheet(*, script: bool = False) -> str:
    """The same rules for a block shown in a notebook: they reach that block and nothing else. They are dark
    where the notebook's theme is, whatever the system prefers.

    Parameters
    ----------
    script : bool
        Whether the block has the script; there are rules for what that adds then, and for figures it draws.
    """
    screen = sheet().partition(
        "/* ---------------------------------------------------------------- print */"
    )[0]
    before, _, rest = screen.partition(_DARK_MEDIA)
    dark, _, after = rest.partition("\n}\n")
    colours, _, figures = dark.partition(":root {")[2].partition("}")
    rules = (before + after).replace(":root", "&").replace("body {", "& {")
    rules += _source("script/page.css") if script else ""
    rules += f"{_DARK_THEME} & {{ color-scheme: dark; {colours} {figures if script else ''} }}\n"
    rules += f"{_DARK_THEME} & img.fig-wide {{ {_DARK_FIGURES} }}\n"
    return f"{_NOTEBOOK} {{\n{NOTEBOOK_RESET}\n{rules}}}"


def _source(name: str) -> str:
    return (resources.files("azbenchlib.answers") / name).read_text(encoding="utf-8")
