"""What a page's own styles do to its text: which of it is struck out, and which cannot be seen.

The declarations of `style` attributes and of the page's `style` elements are read, and no other: style sheets
of other files are not in the document. Conditions (`@media`, `:hover`) are not decided, and such rules count
for nothing.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from vera.extraction.canonical import colours
from vera.extraction.marks import HIDDEN, STRUCK

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

MAX_SELECTORS = 2000
"""Selectors of one page that are read."""

MAX_LOOKED_UP = 100
"""Of these, those of more than a tag with classes and an id: each takes milliseconds on the largest pages."""

_SHEET_CHARACTERS = 1 << 18
_DEEPEST = 4
_MAX_MATCHES = 200_000
_MAX_STYLE_LENGTH = 5000
_MAX_SELECTOR_LENGTH = 300
_STRIKING_TAGS = frozenset(("del", "s", "strike"))

_BRACE = re.compile(r"[{}]")
_SIMPLE = re.compile(r"(?P<tag>[a-zA-Z][\w-]{0,60})?(?P<rest>(?:[.#][\w-]{1,100}){1,8})")
_PART = re.compile(r"([.#])([\w-]{1,100})")
_ENTERED = re.compile(r"@media\s+(?:all|screen)", re.IGNORECASE)
_DECLARATION = re.compile(
    r"(?:^|;)\s*(display|visibility|opacity|position|left|top|right|bottom|margin-left|text-indent|transform"
    r"|clip|clip-path|text-decoration|text-decoration-line|color|background|background-color|font-size"
    r"|(?:max-)?(?:height|width)|overflow|content-visibility|-webkit-background-clip|background-clip)"
    r"\s*:\s*([^;]{1,200})",
    re.IGNORECASE,
)
_IMPORTANT = re.compile(r"\s*!\s*important\s*$", re.IGNORECASE)
_TINY = re.compile(
    r"(?:[01]?(?:\.[0-9]{0,9})?|2(?:\.0*)?)(?:px|pt)|0?(?:\.0[0-9]{0,9}|\.1[0-9]{0,9})?r?em|[0-9](?:\.[0-9]{0,9})?%|0"
)
"""Letters of at most two pixels, or an eighth of what is around."""
_FAINT = re.compile(r"0?(?:\.0[0-5]?[0-9]{0,9})?|0\.?|[0-5](?:\.[0-9]{0,9})?%")
"""An opacity of at most 5 %."""
_NO_ROOM = re.compile(r"[01]?(?:\.[0-9]{0,9})?(?:px|pt|r?em|%)?")
_VARIABLE = re.compile(r"(?:^|[;{\s])(--[\w-]{1,60})\s*:\s*([^;{}]{1,200})")
_USE = re.compile(r"var\(\s*(--[\w-]{1,60})\s*(?:,\s*([^()]{0,100}))?\)")
_MAX_USES = 8
"""Variables that a value leads through, one to the next."""
_MAX_VALUE = 400
_GENERATED = re.compile(r"::?(before|after)$", re.IGNORECASE)
_CONTENT = re.compile(r"(?:^|[;{\s])content\s*:\s*(?:\"([^\"\\]{1,300})\"|'([^'\\]{1,300})')", re.IGNORECASE)
_FAR = re.compile(r"-(?:[0-9]{3,9}(?:\.[0-9]{0,9})?(?:px|pt|r?em|v[wh]|%)|[5-9][0-9](?:\.[0-9]{0,9})?r?em)")
_HIDING = (("opacity", _FAINT), ("font-size", _TINY), ("text-indent", _FAR))
"""Properties, each with the values by which text is not seen."""
_CLIPPED = re.compile(
    r"rect\(\s*(?:[01](?:px)?[\s,]{1,4}){3}[01](?:px)?\s*\)|inset\(\s*(?:50|100)%|(?:circle|polygon)\(\s*0"
)
_MOVED_AWAY = re.compile(r"scale\(\s*0(?:\.0*)?\s*[,)]|translate(?:x|y|3d)?\([^)]{0,40}-[0-9]{3,}")
_HEX = re.compile(r"#(?:[0-9a-f]{3}|[0-9a-f]{6})")
_RGB = re.compile(
    r"rgba?\(\s*([0-9]{1,3})[\s,]+([0-9]{1,3})[\s,]+([0-9]{1,3})\s*(?:[,/]\s*([0-9.]{1,6})%?\s*)?\)"
)
_WHITE = "#ffffff"

_Declared = Mapping[str, str]
_Rank = tuple[bool, int, int, int, int]


class Look(NamedTuple):
    """How text looks at a place of the page. `ground` is None where no colour is declared behind it and the
    page may have one from elsewhere; `colour` is '' where none is declared."""

    struck: bool = False
    unseen: bool = False
    invisible: bool = False
    colour: str = ""
    ground: str | None = None

    @property
    def kind(self) -> str:
        """The kind of mark that its text gets, '' for plain text."""
        same = self.colour == "transparent" or _is_alike(self.colour, self.ground or "")
        if self.unseen or self.invisible or same:
            return HIDDEN
        return STRUCK if self.struck else ""


class Styles:
    """The styles of one page."""

    def __init__(self, tree: "LexborHTMLParser") -> None:
        sheets = _sheets(tree)
        self._declared = _declarations(tree, sheets)
        self._made = _made(tree, sheets)
        self._foreign = tree.css_first('link[rel~="stylesheet"]') is not None

    def first(self, tree: "LexborHTMLParser") -> Look:
        """The look of the page itself, before its body."""
        ground = None if self._foreign else _WHITE
        root = tree.root
        return self.within(Look(ground=ground), root, "html") if root is not None else Look(ground=ground)

    def made(self, node: "LexborNode", where: str) -> str:
        """The words that the style sheet puts before or after (`where`) the text of an element."""
        return self._made.get((node.mem_id, where), "")

    def within(self, outer: Look, node: "LexborNode", tag: str) -> Look:
        """The look of the text in an element that is in a place of this look."""
        declared = self._declared.get(node.mem_id)
        if declared is None:
            return outer._replace(struck=True) if tag in _STRIKING_TAGS else outer
        decoration = declared.get("text-decoration", "") + declared.get("text-decoration-line", "")
        # The page as a whole counts as visible: pages hide it until their script has run.
        whole = tag in ("html", "body")
        visibility = "" if whole else declared.get("visibility", "")
        invisible = outer.invisible
        if visibility in ("hidden", "collapse"):
            invisible = True
        elif visibility in ("visible", "initial"):
            invisible = False
        return Look(
            struck=outer.struck or tag in _STRIKING_TAGS or "line-through" in decoration,
            unseen=outer.unseen or (not whole and _is_unseen(declared)),
            invisible=invisible,
            colour=_colour(declared, outer.colour),
            ground=_ground(declared, outer.ground),
        )


def _is_unseen(declared: _Declared) -> bool:
    if declared.get("display") == "none" or declared.get("content-visibility") == "hidden":
        return True
    if any(name in declared and hiding.fullmatch(declared[name]) for name, hiding in _HIDING):
        return True
    if _has_no_room(declared) or _MOVED_AWAY.search(declared.get("transform", "")):
        return True
    return _CLIPPED.search(declared.get("clip-path", "")) is not None or _is_put_away(declared)


def _is_put_away(declared: _Declared) -> bool:
    """Whether it has its own place, and that is off the screen or cut off."""
    if declared.get("position") not in ("absolute", "fixed"):
        return False
    sides = ("left", "top", "right", "bottom", "margin-left")
    far = any(_FAR.fullmatch(declared.get(side, "")) for side in sides)
    return far or bool(_CLIPPED.search(declared.get("clip", "")))


def _has_no_room(declared: _Declared) -> bool:
    """Whether its box has no height or width and cuts off what does not fit."""
    sides = ("height", "max-height", "width", "max-width")
    small = any(side in declared and _NO_ROOM.fullmatch(declared[side]) for side in sides)
    return small and declared.get("overflow", "").partition(" ")[0] in ("hidden", "clip")


def _is_alike(one: str, other: str) -> bool:
    """Whether no reader tells one colour from the other."""
    if not (one.startswith("#") and other.startswith("#") and len(one) == len(other) == len(_WHITE)):
        return one != "" and one == other
    return colours.alike(one, other)


def _colour(declared: _Declared, outer: str) -> str:
    if "background-clip" in declared or "-webkit-background-clip" in declared:
        return ""  # the ground shines through the letters
    written = declared.get("color", "")
    return outer if written in ("", "inherit") else _as_colour(written)


def _ground(declared: _Declared, outer: str | None) -> str | None:
    written = declared.get("background-color") or declared.get("background", "")
    if written in ("", "inherit", "none", "transparent", "initial", "unset"):
        return outer
    if "url(" in written or "gradient" in written or "var(" in written:
        return None
    return _as_colour(written.split()[0] if not written.startswith("rgb") else written)


def _as_colour(written: str) -> str:
    """`#rrggbb`, `transparent`, or the words as they are written."""
    if found := _HEX.fullmatch(written):
        digits = found[0][1:]
        return "#" + (digits if len(digits) == 6 else "".join(digit * 2 for digit in digits))
    if found := _RGB.match(written):
        if found[4] is not None and found[4].strip("0.") == "":
            return "transparent"
        return "#" + "".join(f"{min(int(part), 255):02x}" for part in found.groups()[:3])
    return colours.names().get(written, written)


def _made(tree: "LexborHTMLParser", sheets: str) -> dict[tuple[int, str], str]:
    """The words that `content` puts before and after elements (by address). A sign without a letter or digit,
    as icons are, is left out."""
    found: dict[tuple[int, str], str] = {}
    for selectors, body in _rules(sheets):
        content = _CONTENT.search(body)
        words = (content[1] or content[2]) if content else ""
        if not any(map(str.isalnum, words)):
            continue
        for selector in selectors.split(",")[:MAX_LOOKED_UP]:
            where = _GENERATED.search(selector.strip()[:_MAX_SELECTOR_LENGTH])
            if where and len(found) < MAX_SELECTORS:
                elements = _selected(tree, selector.strip()[: where.start()] or "*")
                found |= {(node.mem_id, where[1].lower()): words for node in elements[:MAX_SELECTORS]}
    return found


def _declarations(tree: "LexborHTMLParser", sheets: str) -> dict[int, dict[str, str]]:
    """What is declared for each element (by address) that a style names, by the rules of the cascade."""
    ranked: dict[int, dict[str, tuple[_Rank, str]]] = {}
    matches = 0
    named = _Named(tree)
    variables = dict(_VARIABLE.findall(sheets))
    for order, (selector, body) in enumerate(_selectors(sheets)):
        declared = list(_read(body, variables))
        if matches > _MAX_MATCHES:
            break
        rank = (len(re.findall("#", selector)), len(re.findall(r"[.\[:]", selector)))
        tags = len(re.findall(r"(?:^|[\s>+~])[a-zA-Z]", selector))
        for address in named.selected(selector):
            matches += 1
            for name, value, important in declared:
                _put(ranked, address, name, (important, *rank, tags, order), value)
    for node in _selected(tree, "[style]")[:_MAX_MATCHES]:
        for name, value, important in _read(
            (node.attributes.get("style") or "")[:_MAX_STYLE_LENGTH], variables
        ):
            _put(ranked, node.mem_id, name, (important, 1 << 20, 0, 0, 0), value)
    return {node: {name: value for name, (_, value) in own.items()} for node, own in ranked.items()}


class _Named:
    """The elements of a page (by address), by selectors. Those with a class or an id are found once: a page
    has them by the ten thousand, and some hundred selectors that ask for them."""

    def __init__(self, tree: "LexborHTMLParser") -> None:
        self._tree = tree
        self._looked_up = MAX_LOOKED_UP
        self._by_name: dict[str, dict[int, str]] | None = None

    def selected(self, selector: str) -> Collection[int]:
        """The elements that a selector names; none for one that is broken or beyond the limit."""
        simple = _SIMPLE.fullmatch(selector)
        if simple is None:
            self._looked_up -= 1
            return [node.mem_id for node in _selected(self._tree, selector)] if self._looked_up >= 0 else ()
        parts = [self._names.get(mark + name, {}) for mark, name in _PART.findall(simple["rest"])]
        tag = (simple["tag"] or "").lower()
        fewest = min(parts, key=len)
        return [
            node
            for node, own_tag in fewest.items()
            if tag in ("", own_tag) and all(node in part for part in parts)
        ]

    @property
    def _names(self) -> dict[str, dict[int, str]]:
        """For each `.class` and `#id` its elements with their tags."""
        if self._by_name is None:
            self._by_name = {}
            for node in _selected(self._tree, "[class],[id]")[:_MAX_MATCHES]:
                attributes, tag, address = node.attributes, node.tag or "", node.mem_id
                names = {f".{name}" for name in (attributes.get("class") or "").split()[:50]}
                if own := attributes.get("id"):
                    names.add(f"#{own}")
                for name in names:
                    self._by_name.setdefault(name, {})[address] = tag
        return self._by_name


def _put(
    ranked: dict[int, dict[str, tuple[_Rank, str]]], node: int, name: str, rank: _Rank, value: str
) -> None:
    own = ranked.setdefault(node, {})
    if name not in own or own[name][0] <= rank:
        own[name] = rank, value


def _selected(tree: "LexborHTMLParser", selector: str) -> "list[LexborNode]":
    from selectolax.lexbor import SelectolaxError

    try:
        return tree.css(selector)
    except (SelectolaxError, ValueError):
        return []


def _read(body: str, variables: Mapping[str, str]) -> Iterator[tuple[str, str, bool]]:
    """Each telling declaration: name, value in lower case, whether it is important."""
    for found in _DECLARATION.finditer(body):
        value = _resolved(found[2], variables).strip().lower()
        plain = _IMPORTANT.sub("", value)
        yield found[1].lower(), plain, plain != value


def _resolved(value: str, variables: Mapping[str, str]) -> str:
    """A value with those of its variables in their place. A variable has the value that the page gives it
    last, wherever that stands, or else the one that its use brings along."""
    for _ in range(_MAX_USES):
        if "var(" not in value:
            break
        value = _USE.sub(lambda use: variables.get(use[1]) or use[2] or use[0], value[:_MAX_VALUE])
    return value


def _selectors(sheets: str) -> Iterator[tuple[str, str]]:
    """Each selector of the page's own sheets with its declarations, at most MAX_SELECTORS."""
    left = MAX_SELECTORS
    for selectors, body in _rules(sheets):
        if not _DECLARATION.search(body):
            continue
        for selector in selectors.split(","):
            if left and 0 < len(selector.strip()) <= _MAX_SELECTOR_LENGTH:
                left -= 1
                yield selector.strip(), body


def _sheets(tree: "LexborHTMLParser") -> str:
    text = "\n".join(node.text() for node in tree.css("style")[:100])[:_SHEET_CHARACTERS]
    pieces: list[str] = []
    while text:
        before, opened, rest = text.partition("/*")
        pieces.append(before)
        text = rest.partition("*/")[2] if opened else ""
    return " ".join(pieces)


def _rules(sheet: str) -> Iterator[tuple[str, str]]:
    """Selectors and declarations of the rules that hold on every screen."""
    open_blocks: list[str | None] = []
    # What is open at the end is closed there, as browsers do.
    sheet += "}" * _DEEPEST
    start = 0
    for found in _BRACE.finditer(sheet):
        text, start = sheet[start : found.start()], found.end()
        if found[0] == "{":
            head = text.rpartition(";")[2].strip()
            if open_blocks and open_blocks[-1] is None:
                open_blocks.append(None)
            elif head.startswith("@"):
                open_blocks.append("" if _ENTERED.fullmatch(head) else None)
            else:
                open_blocks.append(head)
        elif open_blocks and (selector := open_blocks.pop()):
            yield selector, text
