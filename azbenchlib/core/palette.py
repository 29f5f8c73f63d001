"""Colours, markers and the font of figures and pages.

A setup's colour and marker mean "which setup" and nothing else, and stay the same in every figure and table
of a report. Figures are drawn with the light colours; :func:`dark_rules` recolours them by style sheet.
"""

# Setup colours as (light, dark): chosen by search for the largest least distance in CIELAB under
# normal, protan, deutan and tritan vision; all reach 4.5:1 as text on both grounds.
COLOURS = (
    ("#776900", "#e6c83f"),
    ("#244295", "#8b9cff"),
    ("#00815b", "#1bd597"),
    ("#852c26", "#ff6b63"),
    ("#a35391", "#e884c2"),
    ("#24292f", "#e8ecf5"),
)
NEUTRALS = {
    "ink": ("#1b2027", "#e9ecf1"),  # text
    "ink2": ("#4a5462", "#b6bfca"),  # secondary text
    "ink3": ("#626c79", "#97a1ae"),  # axis text
    "limit": ("#7c8693", "#8d97a5"),  # documented limits
    "grid": ("#e4e7ec", "#2a313b"),
    "axis": ("#b9c0c9", "#48525f"),
    "wash": ("#eef1f5", "#242b34"),  # separators and shaded areas
    "surface": ("#ffffff", "#1a1f26"),  # the ground of cards and figures, and the edge of markers
}
NEUTRAL = {name: light for name, (light, _) in NEUTRALS.items()}

MARKERS = ("s", "o", "D", "v", "^", "P")
MARKER_CHARS = ("■", "●", "◆", "▼", "▲", "✚")
HOLLOW_CHARS = ("□", "○", "◇", "▽", "△", "✛")
# Sizes that look equal: triangles and the plus have less area than a disc.
MARKER_SIZES = (0.92, 1.0, 0.92, 1.2, 1.2, 1.3)

FONT_STACK = (
    "-apple-system, BlinkMacSystemFont, 'Segoe UI', Inter, Roboto, 'Noto Sans', "
    "'Helvetica Neue', 'Liberation Sans', Arial, sans-serif"
)


def shape_of(index: int) -> int:
    """Which of the markers an index has: another one each time that its colour comes again."""
    return (index + index // len(COLOURS)) % len(MARKERS)


def variables(dark: bool = False) -> str:
    """CSS custom properties: ``--setup-0`` … ``--setup-5`` and the neutrals by name."""
    named = {f"setup-{i}": pair for i, pair in enumerate(COLOURS)} | NEUTRALS
    return "".join(f"--{name}:{pair[dark]};" for name, pair in named.items())


def dark_rules() -> str:
    """CSS rules that give each colour of a figure its dark value; they belong into a dark media query."""
    return "\n".join(
        f'.fig [fill="{light}"]{{fill:{dark}}}.fig [stroke="{light}"]{{stroke:{dark}}}'
        for light, dark in (*COLOURS, *NEUTRALS.values())
    )
