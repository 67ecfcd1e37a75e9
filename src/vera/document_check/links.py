"""The links of a document as citations: what a person wrote as a link, note or address, as `[ev_0001]`.

Read are, of Markdown (CommonMark with footnotes): inline and reference links, footnotes, numbers such as [1]
with a list of references, autolinks, addresses that are written out, and `<a href>`. No line is added or
taken away, so that a line of the result is that line of the document.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from html import unescape
from itertools import accumulate
from typing import Literal, NamedTuple
from urllib.parse import unquote

import msgspec

from vera.audit.checkable import has_digit
from vera.audit.edits import blanked, edited
from vera.document_check.outline import TARGET_LIMIT, Notes, Part, key_of, outline
from vera.evidence.citation import find_citations
from vera.text.lexicon import has_verb
from vera.text.markdown import lines, plain

Kind = Literal["web", "file", "title", "session", "other"]

WORDS_BEGIN, WORDS_END, WORDS_CLOSE = "\ue010", "\ue011", "\ue012"
"""How `document_html` marks the words of a link and the number of its target behind them."""

RESERVED = re.compile("[\ue010-\ue01f]")
"""Characters of these marks; a document that holds them itself has them replaced before it is read."""

_LINK_MARKS = re.compile(rf"{WORDS_END}[0-9]{{1,7}}{WORDS_CLOSE}|{RESERVED.pattern}")

_MARGIN = re.compile(r"[ \t]{0,3}>[> \t]{0,8}")


class Named(msgspec.Struct, frozen=True, kw_only=True):
    """A source that a document names: its `id` in the citations, what it is, and where.

    `kind` is web (an address), file (a path as written), title (a note or key without an address), session
    (a citation of VERA's own) or other (an address that is never fetched). `label` is the words of the first
    link to it, `line` the line on which that stands.
    """

    id: str
    kind: Kind
    target: str
    label: str
    line: int


class Linked(NamedTuple):
    """A document's text with citations for links, the places of the links' words in it, and its sources;
    `unread` links are more than were read."""

    text: str
    words: tuple[tuple[int, int], ...]
    sources: tuple[Named, ...]
    unread: int


def linked(text: str, *, markdown: bool = True, targets: Sequence[Sequence[str]] = (), most: int) -> Linked:
    """The links of `text` as citations. Linear in its length.

    Without `markdown` only addresses that are written out, numbered references and the marks of
    `document_html` count; `targets` are what the numbers of those marks stand for. At most `most` links
    become citations.
    """
    parts, notes = outline(text, markdown=markdown)
    writer = _Writer(text, notes, targets, most)
    pattern = _MARKDOWN if markdown else _PLAIN
    for part in parts:
        writer.write(part, pattern)
    return writer.done()


_URL = r"https?://[^\s<>\"“”`\ue010-\ue01f]{1,2000}+"
_BARE = rf"(?P<address>\b(?:{_URL}|doi:[ ]?10\.[0-9]{{4,9}}/[^\s<>\"“”]{{1,300}}+))"
_NUMBERS = r"(?P<numbers>(?<!\])\[[0-9]{1,4}(?:[ ]?[,;–-][ ]?[0-9]{1,4}){0,20}\](?![(\[:]))"
_SESSION = r"(?P<session>[\[【]\s{0,8}ev_[0-9][^\[\]【】]{0,2000}[\]】])"
_MARKS = (
    rf"(?P<marked>{WORDS_BEGIN}(?P<words>[^{WORDS_BEGIN}{WORDS_END}]*+){WORDS_END}(?P<number>[0-9]{{1,7}})"
    rf"{WORDS_CLOSE})"
)
_IN_BRACKETS = r"(?:[^\[\]\\\n]|\\.|\n(?!\s{0,9}\n)|\[[^\[\]\n]{0,200}\])"
_WHERE = r"(?:<(?P<pointed>[^<>\n]{0,2000})>|(?P<where>(?:[^\s()<>]|\([^\s()]{0,300}\)){0,2000}+))"
_TITLE = r"(?:[ \t]{0,9}\n?[ \t]{0,9}(?:\"[^\"\n]{0,400}\"|'[^'\n]{0,400}'|\([^()\n]{0,400}\)))?"
_INLINE = (
    rf"(?P<inline>\[(?P<text>{_IN_BRACKETS}{{0,1000}}+)\]"
    rf"\([ \t]{{0,9}}\n?[ \t]{{0,9}}{_WHERE}{_TITLE}[ \t]{{0,9}}\))"
)
_IMAGE = (
    r"(?P<image>!\[[^\[\]\n]{0,1000}+\]"
    r"(?:\([^()\n]{0,2000}+(?:\([^()\n]{0,300}+\)[^()\n]{0,300}+)?\)|\[[^\[\]\n]{0,300}+\])?)"
)
_FOOT = r"(?P<foot>\[\^(?P<footnote>[^\[\]\s]{1,100}+)\])"
_REFERENCE = (
    rf"(?P<reference>\[(?P<shown>{_IN_BRACKETS}{{1,1000}}+)\](?:\[(?P<label>[^\[\]\n]{{0,300}}+)\])?)"
)
_KEYED = r"(?P<keyed>\[-?@(?P<key>[\w:.+/-]{1,100}+)[^\[\]\n]{0,300}+\])"
_ANCHOR = (
    r"(?P<anchor><a\s[^<>]{0,2000}?href\s{0,9}=\s{0,9}(?:\"(?P<href>[^\"<>]{0,2000}+)\"|'(?P<href2>[^'<>]{0,2000}+)')"
    r"[^<>]{0,500}+>(?P<inner>[^<>]{0,1000}+(?:</?[b-z][^<>]{0,200}+>[^<>]{0,1000}+){0,5}+)</a>)"
)
_CODE = r"(?P<code>(?<!`)(?P<ticks>`{1,8})(?!`)[^\n]{1,400}?(?<!`)(?P=ticks)(?!`))"
_POINTED = rf"(?P<autolink><(?P<auto>{_URL})>)"

_COMMENT = r"(?P<comment><!--(?s:.*?-->|.*\Z))"
_ESCAPE = r"(?P<escape>\\[!-/:-@\[-`{-~])"

_PLAIN = re.compile("|".join((_MARKS, _SESSION, _BARE, _NUMBERS)), re.IGNORECASE)
_MARKDOWN = re.compile(
    "|".join(
        (
            _ESCAPE,
            _COMMENT,
            _CODE,
            _SESSION,
            _IMAGE,
            _FOOT,
            _INLINE,
            _NUMBERS,
            _KEYED,
            _REFERENCE,
            _POINTED,
            _ANCHOR,
            _BARE,
        )
    ),
    re.IGNORECASE,
)
_IMAGES = re.compile(_IMAGE)
_LOOKS_CITED = re.compile(r"([\[【]\s{0,8}ev)_", re.IGNORECASE)
"""What would be taken for a link's citation: written otherwise, with as many characters."""

_IN_NOTE = re.compile(
    r"\]\([ ]{0,3}<?(?P<inside>[^\s()<>]{1,2000}+(?:\([^\s()]{0,300}+\)[^\s()<>]{0,300}+)?)|" + _BARE,
    re.IGNORECASE,
)
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]{1,20}):", re.IGNORECASE)
_NO_SOURCE = frozenset(("mailto", "tel", "sms", "javascript", "data"))
_TRAILING = ".,;:!?*_~'’”»"
_TAGS = re.compile(r"<[^<>]{0,400}>")
_RANGE = re.compile(r"([0-9]{1,4})(?:[ ]?[–-][ ]?([0-9]{1,4}))?")
_ROUND = re.compile(r"\((?:[^()]|\([^()]{0,300}\)){1,2000}+\)(?P<stop>[.,;:!?]?)")
_POINTS = re.compile(
    r"\b(?:sources?|see(?: also)?|via|from|reference|references|cf|more|read more|link|links|and|or|by|in"
    r"|at|the|quelle|quellen|siehe|vgl|und|nach|voir|selon)\b|[^\w]",
    re.IGNORECASE,
)
_POINTER_LIMIT = 2000
_MAX_NUMBERS = 20
_LABEL_LIMIT = 300


class _Writer:
    """The result as it grows."""

    def __init__(self, text: str, notes: Notes, targets: Sequence[Sequence[str]], most: int) -> None:
        self._text = text
        self._notes = notes
        self._targets = targets
        self._left = most
        self._starts = [start for start, _ in lines(text)]
        self._out: list[str] = []
        self._length = 0
        self._words: list[tuple[int, int]] = []
        self._sources: dict[tuple[Kind, str], Named] = {}
        self._of_note: dict[str, tuple[str, ...]] = {}
        self._unread = 0

    def done(self) -> Linked:
        return Linked("".join(self._out), tuple(self._words), tuple(self._sources.values()), self._unread)

    def write(self, part: Part, pattern: re.Pattern[str]) -> None:
        text, position, end = self._text, part.start, part.end
        if part.mode == "gone":
            self._put("\n" * text.count("\n", position, end))
            return
        bare = part.mode == "bare"
        if bare and (margin := _MARGIN.match(text, position, end)) is not None:
            self._put(margin[0])
            position = margin.end()
        while (match := pattern.search(text, position, end)) is not None:
            self._plain(text[position : match.start()], bare=bare)
            position = self._link(match, bare=bare)
            if position == match.start():
                position += 1
                self._plain(text[match.start()], bare=bare)
        self._plain(text[position:end], bare=bare)

    def _put(self, text: str) -> None:
        self._out.append(text)
        self._length += len(text)

    def _plain(self, text: str, *, bare: bool) -> None:
        self._put("\n" * text.count("\n") if bare else _LOOKS_CITED.sub(r"\1-", text))

    def _link(self, match: re.Match[str], *, bare: bool) -> int:
        """Write what the match is, and give where reading goes on: where it began when it is no link."""
        line = bisect_right(self._starts, match.start())
        words, end = "", match.end()
        cited: tuple[str, ...] = ()
        match match.lastgroup:
            case "escape" | "code":
                self._plain(match[0], bare=bare)
                return end
            case "comment" | "image":
                self._put("\n" * match[0].count("\n"))
                return end
            case "session":
                held = match[0].strip("[]【】 ")
                cited = self._cite("session", held, held, line) if find_citations(match[0]) else ()
            case "foot":
                cited = self._noted("^" + key_of(match["footnote"]), line)
            case "numbers":
                cited = self._numbered(match[0], line)
            case "keyed":
                cited = self._cite("title", match["key"], match["key"], line)
            case "reference":
                target = self._notes.links.get(key_of(match["label"] or match["shown"]))
                if target is None:
                    return match.start()
                words = match["shown"]
                cited = self._target(target, words, line)
            case "inline":
                words = match["text"]
                cited = self._target(match["pointed"] or match["where"] or "", words, line)
            case "anchor":
                words = _TAGS.sub("", match["inner"])
                cited = self._target(unescape(match["href"] or match["href2"] or ""), words, line)
            case "autolink":
                cited = self._target(match["auto"], "", line)
            case "marked":
                words = match["words"]
                number = int(match["number"])
                targets = self._targets[number] if number < len(self._targets) else ()
                cited = tuple(each for target in targets for each in self._target(target, words, line))
            case _:
                address = trimmed(match["address"])
                end = match.start() + len(address)
                cited = self._target(address, "", line)
        if not cited and match.lastgroup not in ("reference", "inline", "anchor", "marked"):
            return match.start()
        self._write_link(words, cited, match[0][: end - match.start()].count("\n"), bare=bare)
        return end

    def _write_link(self, words: str, cited: Sequence[str], newlines: int, *, bare: bool) -> None:
        picture = bool(words)
        words = _LOOKS_CITED.sub(r"\1-", _IMAGES.sub("", words))
        picture = picture and not words.strip()
        shown = "" if bare or _is_mark(words, cited) else words
        if shown.strip():
            self._words.append((self._length, self._length + len(shown)))
            self._put(shown)
        if cited and not picture:
            if self._left >= len(cited):
                self._left -= len(cited)
                self._put(f" {citation(cited)}")
            else:
                self._unread += 1
        self._put("\n" * (newlines - shown.count("\n")))

    def _target(self, target: str, label: str, line: int) -> tuple[str, ...]:
        """The source behind a link's target; none for a place in the document itself, mail and the like."""
        target = " ".join(target.split())[:TARGET_LIMIT]
        if target.startswith("//"):
            target = f"https:{target}"
        scheme = _SCHEME.match(target)
        kind: Kind = "file"
        if scheme is not None:
            name = scheme[1].lower()
            if name == "note":
                return self._cite("title", target[5:].strip(), target[5:], line)
            if name in _NO_SOURCE:
                return ()
            kind = "web" if name in ("http", "https", "doi") else "other"
            if name == "doi":
                target = f"https://doi.org/{target[4:].strip()}"
        target = target.partition("#")[0] if kind != "other" else target
        if not target:
            return ()
        return self._cite(kind, unquote(target) if kind == "file" else target, label, line)

    def _cite(self, kind: Kind, target: str, label: str, line: int) -> tuple[str, ...]:
        key = (kind, target)
        if key not in self._sources:
            self._sources[key] = Named(
                id=f"ev_{len(self._sources) + 1:04d}",
                kind=kind,
                target=target,
                label=" ".join(label.split())[:_LABEL_LIMIT],
                line=line,
            )
        return (self._sources[key].id,)

    def _numbered(self, text: str, line: int) -> tuple[str, ...]:
        """The sources of `[1, 3-5]`; none unless each number is defined."""
        keys: list[str] = []
        for found in _RANGE.finditer(text):
            first = int(found[1])
            keys += map(str, range(first, min(int(found[2] or first), first + _MAX_NUMBERS) + 1))
        known = (self._notes.texts.keys(), self._notes.links.keys())
        if not keys or not all(any(key in each for each in known) for key in keys):
            return ()
        return tuple(dict.fromkeys(each for key in keys for each in self._noted(key, line)))

    def _noted(self, key: str, line: int) -> tuple[str, ...]:
        """The sources that a note or an entry of the references names: its addresses, else its words."""
        if key not in self._of_note:
            text = self._notes.texts.get(key, "")
            targets = [each["inside"] or trimmed(each["address"]) for each in _IN_NOTE.finditer(text)]
            if not targets and key in self._notes.links:
                targets = [self._notes.links[key]]
            cited = [each for target in targets for each in self._target(target, text, line)]
            if not cited:
                cited = list(self._cite("title", plain(text) or f"[{key}]", text, line))
            self._of_note[key] = tuple(dict.fromkeys(cited))
        return self._of_note[key]


def without_citing_brackets(found: Linked) -> Linked:
    """The text with no more than the citations of each bracket that only cites: "(see [q](s.txt))"."""
    edits = [
        (*bracket.span(), kept)
        for bracket in _ROUND.finditer(found.text)
        if (kept := _cited_in(bracket, found))
    ]
    starts = [start for start, _, _ in edits]
    shifts = [0, *accumulate(len(kept) - (end - start) for start, end, kept in edits)]
    words: list[tuple[int, int]] = []
    for start, end in found.words:
        number = bisect_right(starts, start)
        if not number or edits[number - 1][1] <= start:
            words.append((start + shifts[number], end + shifts[number]))
    return found._replace(text=edited(found.text, edits), words=tuple(words))


def _cited_in(bracket: re.Match[str], found: Linked) -> str:
    """The citations of a bracket that only cites, with the stop and lines behind them; else ''."""
    start, end = bracket.span()
    cited = {(start + each.start, start + each.end) for each in find_citations(bracket[0])}
    if not cited or not only_points(found, start, end, cited):
        return ""
    ids = (found.text[at:to] for at, to in sorted(cited))
    return " ".join(ids) + bracket["stop"] + "\n" * bracket[0].count("\n")


def only_points(found: Linked, start: int, end: int, cited: Iterable[tuple[int, int]]) -> bool:
    """Whether a stretch of a text holds nothing but links, and words such as "Source:".

    Linked words that state a number themselves ("[There were 99 offices](…)") do more than point.
    """
    if end - start > _POINTER_LIMIT:
        return False
    low = bisect_left(found.words, (start, start))
    words = found.words[low : bisect_left(found.words, (end, end))]
    spans = [(at - start, to - start) for at, to in sorted([*words, *cited])]
    if _POINTS.sub("", blanked(found.text[start:end], spans)):
        return False
    return not any(has_digit(said) and has_verb(said) for said in (found.text[at:to] for at, to in words))


def without_marks(text: str) -> str:
    """The text without the marks of `document_html`, as it is read."""
    return _LINK_MARKS.sub("", text)


def citation(ids: Sequence[str]) -> str:
    """The ids as citations in brackets."""
    groups = (ids[start : start + _MAX_NUMBERS] for start in range(0, len(ids), _MAX_NUMBERS))
    return " ".join(f"[{'; '.join(group)}]" for group in groups)


_POINTER_WORDS = frozenset(("source", "link", "here", "ref", "quelle", "[source]", "[link]"))


def _is_mark(words: str, cited: Sequence[str]) -> bool:
    """Whether the words of a link only point: an address, "source", [1], or 1 for the first source."""
    plainly = words.strip().lower()
    if plainly.startswith(("http://", "https://", "www.", "doi:")) or plainly in _POINTER_WORDS:
        return True
    number = plainly.strip("[]^\\() ")
    if not number.isdecimal() or len(number) > 3:
        return False
    return number != plainly or any(int(number) == int(each[3:]) for each in cited)


def trimmed(address: str) -> str:
    """An address without the punctuation around it, and without a bracket that it does not open."""
    spare = sum(map(address.count, ")]")) - sum(map(address.count, "(["))
    end = len(address)
    while end and (address[end - 1] in _TRAILING or (address[end - 1] in ")]" and spare > 0)):
        spare -= address[end - 1] in ")]"
        end -= 1
    return address[:end]
