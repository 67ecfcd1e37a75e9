"""Is a page what a browser makes of it, harmless under our CSP, and usable without eyes or a mouse?"""

import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import pairwise
from xml.etree import ElementTree

from selectolax.lexbor import LexborHTMLParser, LexborNode

VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
)
IMPLIED = ("html", "head", "body")
ACTIVE = frozenset(["script", "iframe", "object", "embed", "base", "frame", "applet", "portal"])
SVG = re.compile(r"<svg.*?</svg>", re.DOTALL)
MODULE = re.compile(r"/static/[0-9a-f]+/vera\.js")
ADDRESSES = ("href", "src", "action", "formaction", "poster", "data", "xlink:href")


def problems(html: str, *, fragment: bool = False, scripts: int | None = None) -> list[str]:
    """One sentence for each thing that is wrong with a page, or with a part of one. It has so many scripts;
    without a number one at most, which is the module of the dashboard."""
    tree = LexborHTMLParser(html)
    nodes = list(_elements(tree))
    found = [*_nesting(html), *_active(nodes, scripts), *_ids(nodes), *_pictures(html)]
    if not fragment:
        found += [*_landmarks(nodes), *_headings(nodes)]
    return [*found, *_names(nodes, tree)]


def problems_beside(html: str) -> list[str]:
    """As `problems`, of a file whose links may lead to files beside it: they begin with `./`."""
    return [each for each in problems(html) if not re.fullmatch(r"<a href='\./[^:]*'> leads elsewhere", each)]


def visible_text(html: str) -> str:
    """The text of a page as a reader has it."""
    body = LexborHTMLParser(html).body
    return " ".join(body.text(separator=" ").split()) if body else ""


def _elements(tree: LexborHTMLParser) -> Iterator[LexborNode]:
    root = tree.root
    assert root is not None
    yield from (
        node for node in root.traverse(include_text=False) if not str(node.tag).startswith(("-", "!"))
    )


class _Written(HTMLParser):
    """The elements as they are written, each within that in which it stands."""

    def __init__(self) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.paths: list[str] = []
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        twice = [name for name, count in Counter(name for name, _ in attrs).items() if count > 1]
        self.wrong += [f"<{tag}> has {name} twice" for name in twice]
        self._note(tag)
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.stack or self.stack.pop() != tag:
            self.wrong.append(f"</{tag}> where {self.stack[-3:]} is open")

    def _note(self, tag: str) -> None:
        if "template" not in self.stack and tag not in IMPLIED:
            self.paths.append("/".join([*(each for each in self.stack if each not in IMPLIED), tag]))


def _nesting(html: str) -> Iterator[str]:
    written = _Written()
    written.feed(html)
    written.close()
    yield from written.wrong
    parsed = []
    for node in _elements(LexborHTMLParser(html)):
        path = [str(node.tag)]
        above = node.parent
        while above is not None and above.tag not in IMPLIED and not str(above.tag).startswith("-"):
            path.append(str(above.tag))
            above = above.parent
        if "template" not in path[1:] and node.tag not in IMPLIED:
            parsed.append("/".join(reversed(path)).lower())
    if parsed != written.paths:
        differs = next(
            (pair for pair in zip(written.paths, parsed, strict=False) if pair[0] != pair[1]), "the number"
        )
        yield f"a browser nests the elements otherwise: {differs}"


def _active(nodes: list[LexborNode], scripts: int | None) -> Iterator[str]:
    found = [node for node in nodes if node.tag in ACTIVE]
    if scripts is None:
        scripts = sum(bool(MODULE.fullmatch(node.attributes.get("src") or "")) for node in found[:1])
    if [node.tag for node in found] != ["script"] * scripts:
        yield f"active elements: {[node.html for node in found]}"
    for node in found:
        if not node.attributes.get("src") or (node.text() or "").strip():
            yield "a script stands in the page"
    for node in nodes:
        for name, value in node.attributes.items():
            if name.startswith("on") or (
                name in ("style", "srcdoc", "http-equiv") and value != ("Content-Security-Policy")
            ):
                yield f"<{node.tag} {name}={(value or '')[:60]!r}>"
            if name in ADDRESSES and not re.match(r"/(?!/)|#|\Z", value or ""):
                yield f"<{node.tag} {name}={(value or '')[:60]!r}> leads elsewhere"


def _ids(nodes: list[LexborNode]) -> Iterator[str]:
    ids = Counter(value for node in nodes if (value := node.attributes.get("id")))
    yield from (f"id {value!r} stands {count} times" for value, count in ids.items() if count > 1)
    for node in nodes:
        for name in ("aria-labelledby", "aria-describedby", "for", "list"):
            for value in (node.attributes.get(name) or "").split():
                if value not in ids:
                    yield f"{name} names {value!r}, which is not there"


def _pictures(html: str) -> Iterator[str]:
    for svg in SVG.findall(html):
        root = ElementTree.fromstring(svg)
        names = {element.tag.rpartition("}")[2] for element in root.iter()}
        if root.get("role") not in ("img", "group") or not {"title", "desc"} <= names:
            yield "a picture has no role, title or description"


def _landmarks(nodes: list[LexborNode]) -> Iterator[str]:
    counts = Counter(node.tag for node in nodes)
    for tag in ("main", "h1", "title"):
        if counts[tag] < 1 or (tag == "main" and counts[tag] != 1):
            yield f"there are {counts[tag]} <{tag}>"
    first = next((node for node in nodes if node.tag == "a"), None)
    if first is None or first.attributes.get("href") != "#main":
        yield "the first link does not skip to the content"


def _headings(nodes: list[LexborNode]) -> Iterator[str]:
    levels = [int(str(node.tag)[1]) for node in nodes if re.fullmatch(r"h[1-6]", str(node.tag))]
    if levels and (levels[0] != 1 or levels.count(1) != 1):
        yield f"the headings begin with {levels[:3]}"
    for before, after in pairwise(levels):
        if after > before + 1:
            yield f"a heading of level {after} follows one of level {before}"


def _names(nodes: list[LexborNode], tree: LexborHTMLParser) -> Iterator[str]:
    """Everything that can be operated has a name."""
    for node in nodes:
        if node.tag in ("button", "a", "summary") and not (node.text() or "").strip():
            yield f"<{node.tag}> has no text"
        if node.tag == "img" and not node.attributes.get("alt"):
            yield "a picture has no alternative text"
        if node.tag in ("input", "select", "textarea") and node.attributes.get("type") != "hidden":
            above = node.parent
            if above is None or above.tag != "label":
                yield f"<{node.tag}> has no label"
        if node.attributes.get("tabindex") == "0" and not node.attributes.get("aria-label"):
            yield f"<{node.tag}> can have the focus and has no name"
