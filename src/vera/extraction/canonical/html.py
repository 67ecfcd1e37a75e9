"""HTML: the complete visible text, block by block; no guess at what the main content is.

A guess would drop evidence and change from version to version; a span must depend on neither.
What an element itself declares hidden is left out: it is how a page speaks to a model behind its reader's
back. What is struck out, and what only the page's style sheet hides, keeps its place and is marked.
"""

import re
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING

from vera.extraction.canonical import dates
from vera.extraction.canonical.encoding import to_utf8
from vera.extraction.canonical.html_style import Look, Styles
from vera.extraction.canonical.naming import bounded, extractor_name, first_line_title
from vera.extraction.canonical.rendered import canonical, raised_number, table_row
from vera.extraction.marks import lifted, marked, unmarked
from vera.extraction.source import Extracted

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

RULES = 4

_BLOCK_TAGS = """
    address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset
    figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main menu nav
    ol optgroup option p plaintext pre search section select summary table tbody text textarea tfoot thead
    tr ul xmp
"""
# What a browser does not draw: code, fallbacks, metadata (of SVG and MathML too).
_UNSEEN_TAGS = """
    annotation annotation-xml audio canvas datalist defs desc embed head iframe metadata noembed noframes
    noscript object script style symbol template title video
"""
_CELLS = frozenset(("td", "th"))
_PREFORMATTED = frozenset(("listing", "plaintext", "pre", "textarea", "xmp"))
_SHAPING = frozenset(_BLOCK_TAGS.split()) | _CELLS | {"sup"}
_UNSEEN = frozenset(_UNSEEN_TAGS.split())
_MAYBE_HIDDEN = "[hidden],[style],[popover],dialog:not([open])"
_HIDING_STYLE = re.compile(
    r"display\s*:\s*none"
    r"|(?:opacity|font-size)\s*:\s*0(?:\.0*)?(?:px|pt|r?em|%)?\s*(?:!|;|$)",
    re.IGNORECASE,
)
_CHARSET = re.compile(
    rb"""<meta\b[^>]{0,500}?\bcharset\s{0,20}=\s{0,20}["']?\s{0,20}([A-Za-z0-9_.:-]{1,40})"""
    rb"""|<\?xml\b[^>]{0,200}?\bencoding\s{0,20}=\s{0,20}["']([A-Za-z0-9_.:-]{1,40})""",
    re.IGNORECASE,
)
_CHARSET_HEAD = 2048


def extract(data: bytes, name: str) -> Extracted:
    """The visible text: a block a line, the cells of a table row between tabs, `pre` as it is."""
    utf8, _ = to_utf8(data, declared_charset(data))
    tree = _parsed(utf8)
    text, marks = lifted(canonical(_visible_lines(tree)))
    return Extracted(
        text=text,
        title=_title(tree) or first_line_title(text, name),
        media_type="text/html",
        extractor=extractor_name("html", program(), RULES),
        marks=marks,
        dated=dates.of_page(tree),
    )


def with_markers(utf8: bytes) -> bytes:
    """The visible text of a page that is part of another document, with the markers of `evidence.marks`."""
    return canonical(_visible_lines(_parsed(utf8)))


def _parsed(utf8: bytes) -> "LexborHTMLParser":
    from selectolax.lexbor import LexborHTMLParser, SelectolaxError

    try:
        return LexborHTMLParser(utf8)
    except SelectolaxError:
        raise MemoryError from None  # no page is refused for what it says, only for want of memory


def declared_charset(data: bytes) -> str:
    """The charset that `<meta>` or an XML declaration names in the first 2 kB, '' for none."""
    found = _CHARSET.search(data[:_CHARSET_HEAD])
    return (found[1] or found[2]).decode("ascii") if found else ""


@cache
def program() -> str:
    """The library that parses pages, and its version."""
    return f"selectolax-{version('selectolax')}"


def _title(tree: "LexborHTMLParser") -> str:
    for selector in ("head title", "h1"):
        node = tree.css_first(selector)
        if node is not None and (title := bounded(node.text())):
            return title
    return ""


class _Flow:
    """Lines as they grow: the page's own, or those of one table cell.

    `rows` holds the cells of the table rows that are open. `fixed` says that the lines must stay lines
    (preformatted text, a table within a cell).
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.open: list[str] = []
        self.rows: list[list[_Flow]] = []
        self.fixed = False

    def end_line(self, preformatted: bool) -> None:
        """Close the open line; white space is folded unless it is preformatted."""
        if not self.open:
            return
        text = "".join(self.open).replace("\u00ad", "")  # soft hyphens
        self.open.clear()
        if not preformatted:
            if folded := " ".join(text.split()):
                self.lines.append(folded)
            return
        lines = [line.rstrip() for line in text.split("\n")]
        if not lines[-1]:
            lines.pop()
        self.fixed = self.fixed or len(lines) > 1
        self.lines += lines

    def end_row(self) -> None:
        """Close a table row (`rendered.table_row`)."""
        cells = self.rows.pop()
        fixed = any(cell.fixed for cell in cells)
        self.lines += table_row([cell.lines for cell in cells], fixed=fixed)
        self.fixed = True


class _Page:
    """The visible text so far; `enter` and `leave` are called for each element that is in _SHAPING."""

    def __init__(self) -> None:
        self.flow = _Flow()
        self._outer: list[_Flow] = []
        self._preformatted = 0
        self._superscripts: list[int] = []

    def enter(self, tag: str) -> None:
        if tag == "sup":
            self._superscripts.append(len(self.flow.open))
            return
        self.flow.end_line(self._preformatted > 0)
        if tag == "tr":
            self.flow.rows.append([])
        elif tag in _CELLS:
            self._outer.append(self.flow)
            self.flow = _Flow()
        elif tag in _PREFORMATTED:
            self._preformatted += 1

    def leave_with(self, made: str, tag: str) -> None:
        """Leave an element, behind whose text its style puts these words."""
        self.say(made)
        if tag in _SHAPING:
            self.leave(tag)

    def say(self, made: str) -> None:
        """Words that a style sheet brings; '' for none."""
        if made:
            self.flow.open.append(made)

    def leave(self, tag: str) -> None:
        if tag == "sup":
            self._raise_digits(self._superscripts.pop())
            return
        self.flow.end_line(self._preformatted > 0)
        if tag == "tr":
            self.flow.end_row()
        elif tag in _CELLS:
            cell, self.flow = self.flow, self._outer.pop()
            if self.flow.rows:
                self.flow.rows[-1].append(cell)
            else:
                self.flow.lines += cell.lines
        elif tag in _PREFORMATTED:
            self._preformatted -= 1

    def _raise_digits(self, start: int) -> None:
        """Write raised numbers with raised digits: 10⁶ must not read as 106, nor 1990³ as 19903."""
        raised = "".join(self.flow.open[start:]).strip()
        if (written := raised_number(raised)) != raised:
            self.flow.open[start:] = [written]


def _visible_lines(tree: "LexborHTMLParser") -> list[str]:
    """Walk the tree once, without recursion: pages nest as deep as they like."""
    page = _Page()
    hidden = _hidden(tree)
    styles = Styles(tree)
    look = styles.first(tree)
    ancestors: list[tuple[LexborNode, str, Look]] = []
    node = tree.body
    while node is not None:
        tag = node.tag or ""
        child = None
        if tag == "-text":
            text = unmarked(node.text_content or "")
            page.flow.open.append(marked(text, look.kind) if look.kind else text)
        elif tag not in _UNSEEN and node.mem_id not in hidden:
            child = node.first_child
            if tag in _SHAPING:
                page.enter(tag)
            page.say(styles.made(node, "before"))
            if child is None:
                page.leave_with(styles.made(node, "after"), tag)
        if child is not None:
            ancestors.append((node, tag, look))
            look = styles.within(look, node, tag)
            node = child
            continue
        following = node.next if ancestors else None
        while following is None and ancestors:
            parent, tag, look = ancestors.pop()
            page.leave_with(styles.made(parent, "after"), tag)
            following = parent.next if ancestors else None
        node = following
    page.flow.end_line(preformatted=False)
    return page.flow.lines


def _hidden(tree: "LexborHTMLParser") -> frozenset[int]:
    """The elements (by address) that say of themselves that they are not to be seen.

    What `aria-hidden` keeps from screen readers is on the screen, so it is text. The body itself counts as
    visible: pages hide it until their script has run.
    """
    body = tree.body.mem_id if tree.body else 0
    found = {node.mem_id for node in tree.css(_MAYBE_HIDDEN) if _is_hidden(node)}
    return frozenset(found - {body})


def _is_hidden(node: "LexborNode") -> bool:
    attributes = node.attributes
    if "hidden" in attributes or "popover" in attributes:
        return True
    if node.tag == "dialog" and "open" not in attributes:
        return True
    return bool(_HIDING_STYLE.search(attributes.get("style") or ""))
