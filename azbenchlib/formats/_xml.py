"""XML of unknown origin, read in bounded memory: no document type, and nothing of endless size.

What a hostile document can do without entities is to nest, to repeat and to have endless names, attributes
and texts. It is given to the parser piece by piece, and refused as soon as one tag, comment or declaration is
too long, too many elements stand in each other, or there are too many of them.
"""

from collections.abc import Callable, Iterable
from xml.parsers import expat

from azbenchlib.core.units import KIB

MOST_DEPTH = 100  # of elements in each other; diskspd's and Excel's own are some ten deep
LONGEST_TOKEN = 256 * KIB  # a tag with its attributes, a comment; neither tool writes a tenth of it
PIECE = 64 * KIB


class RefusedError(Exception):
    """The document has what no output of these tools has."""


def parse(
    pieces: Iterable[bytes],
    start: Callable[[str, dict[str, str]], None],
    end: Callable[[str], None] = lambda _: None,
    text: Callable[[str], None] | None = None,
) -> None:
    """Parse a document and tell of its elements.

    Parameters
    ----------
    pieces : iterable of bytes
        The document, in pieces of some `PIECE` bytes.
    start, end : callable
        Called with the name of each element, and at its start with its attributes.
    text : callable, optional
        Called with the text between tags.

    Raises
    ------
    ExpatError, ValueError
        When it is broken.
    RefusedError
        When it declares a document type, is nested too deep, or has too long a tag or comment.
    """
    parser, depth, fed = expat.ParserCreate(), 0, 0
    parser.buffer_text = True

    def started(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MOST_DEPTH:
            raise RefusedError(f"more than {MOST_DEPTH} elements in each other")
        start(name, attributes)

    def ended(name: str) -> None:
        nonlocal depth
        depth -= 1
        end(name)

    parser.StartDoctypeDeclHandler = _doctype
    parser.StartElementHandler, parser.EndElementHandler = started, ended
    parser.CharacterDataHandler = text
    for piece in pieces:
        parser.Parse(piece, False)
        fed += len(piece)
        if fed - parser.CurrentByteIndex > LONGEST_TOKEN:
            raise RefusedError(f"a tag or comment of more than {LONGEST_TOKEN / KIB:.0f} KiB")
    parser.Parse(b"", True)


def _doctype(*_: object) -> None:
    raise RefusedError("it declares a document type, which no such file needs")
