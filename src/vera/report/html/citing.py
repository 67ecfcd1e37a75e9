"""A citation of the lines of a card, to paste: as text, Markdown and BibTeX."""

import re
from collections.abc import Iterator

from vera.report.html.wording import cited_lines, day, source_title
from vera.report.printable import one_printable_line
from vera.report.view.model import CardView

SOURCE_SHOWN = 600

_MARKDOWN = re.compile(r"([\\`*_\[\]<>])")
_BIBTEX = re.compile(r"([#$%&_])")
_NO_KEY = re.compile(r"[^A-Za-z0-9]+")


def citations(card: CardView) -> Iterator[tuple[str, str]]:
    """(what it is, the citation), a form each."""
    yield "text", as_text(card)
    yield "Markdown", as_markdown(card)
    yield "BibTeX", as_bibtex(card)


def as_text(card: CardView) -> str:
    """The source, its lines, when it was read, and the hash of its text."""
    read = f", read {day(card.at)} UTC" if card.at else ""
    return f"{_source(card)}, {cited_lines(card)}{read}, sha256 {card.source_id}"


def as_markdown(card: CardView) -> str:
    """A line of Markdown: an address of the web is a link."""
    title = _MARKDOWN.sub(r"\\\1", one_printable_line(source_title(card)[:SOURCE_SHOWN]))
    address = _source(card)
    name = f"[{title}](<{_escaped(address)}>)" if _is_web(card) else f"*{title}*"
    read = f", read {day(card.at)} UTC" if card.at else ""
    return f"{name}, {cited_lines(card)}{read}, sha256 `{card.source_id}`"


def as_bibtex(card: CardView) -> str:
    """An entry of BibTeX."""
    title = source_title(card)
    key = _NO_KEY.sub("-", title[:40]).strip("-").lower() or "source"
    fields = [("title", _tex(title))]
    if _is_web(card):
        fields.append(("url", _escaped(_source(card))))
    if card.at:
        fields.append(("urldate", day(card.at)[:10]))
    place = cited_lines(card).replace("–", "--")
    fields.append(("note", f"{_tex(place)}, sha256 {card.source_id}"))
    members = [f"  {name} = {{{said}}}," for name, said in fields]
    return "\n".join([f"@misc{{{key}-{card.extent[0]},", *members, "}"])


def _is_web(card: CardView) -> bool:
    return card.source.startswith(("http://", "https://"))


def _source(card: CardView) -> str:
    return one_printable_line(card.source[:SOURCE_SHOWN]) or "unknown source"


def _escaped(address: str) -> str:
    """The address without characters that end a link or a field."""
    return re.sub(r"[<>{}\\\s]", lambda found: f"%{ord(found[0]):02X}", address)


def _tex(text: str) -> str:
    plain = re.sub(r"[{}\\^~]", " ", one_printable_line(text[:SOURCE_SHOWN]))
    return _BIBTEX.sub(r"\\\1", plain)
