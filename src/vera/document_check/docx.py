"""The links and notes of a Word document, written into its text so that they outlive the making of it.

As `document_html` does for pages. The document itself is parsed elsewhere, by the extractor in its own
process; here only the tags of links and notes are found in its XML (ECMA-376, part 1, 17.11 and 17.16).
"""

import io
import re
import zipfile
from html import unescape
from typing import NamedTuple

from vera.document_check.links import RESERVED, WORDS_BEGIN, WORDS_CLOSE, WORDS_END
from vera.extraction.zip_errors import ZIP_ERRORS

_PART_BYTES = 32 << 20
_LINK = re.compile(
    r"<w:hyperlink\b(?P<rest>[^<>]{0,2000}+)(?<!/)>|(?P<close></w:hyperlink>)"
    r"|<w:(?P<kind>footnote|endnote)Reference\b(?P<note>[^<>]{0,500}?)/>"
)
_RELATION = re.compile(r"<Relationship\b(?P<rest>[^<>]{0,4000}+)>")
_ATTRIBUTE = re.compile(
    r"\b(?P<name>r:id|w:id|Id|Target)\s{0,3}=\s{0,3}[\"'](?P<value>[^\"'<>]{0,4000}+)[\"']"
)
_NOTE = re.compile(r"<w:(?:foot|end)note\b(?P<rest>[^<>]{0,500}+)(?<!/)>")
_NOTE_END = re.compile(r"</w:(?:foot|end)note>")
_TAG = re.compile(r"<[^<>]{0,4000}>")
_NOTE_LIMIT = 500


class Marked(NamedTuple):
    """A Word document with marks in it, and what the numbers in the marks stand for."""

    data: bytes
    targets: tuple[tuple[str, ...], ...]


def marked(data: bytes) -> Marked | None:
    """The document with its links marked and its notes taken out; a note stands for the addresses in it, or
    for its words (`note:`) where it holds none. None for a file that cannot be taken apart."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            parts = {
                name: part_of(package, f"word/{name}")
                for base in ("document.xml", "footnotes.xml", "endnotes.xml")
                for name in (base, f"_rels/{base}.rels")
            }
    except (*ZIP_ERRORS, OSError):
        return None
    if not parts["document.xml"]:
        return None
    notes = {
        **_notes(parts["footnotes.xml"], relations_of(parts["_rels/footnotes.xml.rels"]), "footnote"),
        **_notes(parts["endnotes.xml"], relations_of(parts["_rels/endnotes.xml.rels"]), "endnote"),
    }
    xml, targets = _with_marks(parts["document.xml"], relations_of(parts["_rels/document.xml.rels"]), notes)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as package:
        package.writestr("word/document.xml", xml.encode("utf-8", "replace"))
    return Marked(out.getvalue(), tuple(targets))


def part_of(package: zipfile.ZipFile, name: str) -> str:
    """The text of a part, '' when there is none. Raises ValueError for one that is too large."""
    try:
        with package.open(name) as part:
            data = part.read(_PART_BYTES + 1)
    except KeyError:
        return ""
    if len(data) > _PART_BYTES:
        raise ValueError(name)
    return RESERVED.sub("\ufffd", data.decode("utf-8"))


def addresses_or_words(note: str, found: list[str]) -> tuple[str, ...]:
    """What a note stands for: the addresses that were `found` in it and those that are written out in its
    text, or its words (`note:`) where it has none. Tags are no words."""
    words = " ".join(unescape(_TAG.sub("", note)).split())[:_NOTE_LIMIT]
    written = (address.rstrip(".,;)") for address in re.findall(r"https?://[^\s<>\"]{1,2000}", words))
    return tuple(dict.fromkeys([*found, *written])) or (f"note:{words}",)


def _attributes(rest: str) -> dict[str, str]:
    return {match["name"]: unescape(match["value"]) for match in _ATTRIBUTE.finditer(rest)}


def relations_of(xml: str) -> dict[str, str]:
    found = (_attributes(match["rest"]) for match in _RELATION.finditer(xml))
    return {each["Id"]: each["Target"] for each in found if "Id" in each and "Target" in each}


def _notes(xml: str, relations: dict[str, str], kind: str) -> dict[str, tuple[str, ...]]:
    """What each note stands for, by kind and id ("footnote 2")."""
    notes: dict[str, tuple[str, ...]] = {}
    for begun in _NOTE.finditer(xml):
        ended = _NOTE_END.search(xml, begun.end())
        inside = xml[begun.end() : ended.start() if ended else len(xml)]
        links = [_attributes(match["rest"] or "").get("r:id", "") for match in _LINK.finditer(inside)]
        found = [relations[each] for each in links if each in relations]
        key = f"{kind} {_attributes(begun['rest']).get('w:id', '')}"
        notes[key] = addresses_or_words(inside, found)
        if ended is None:
            break
    return notes


def _with_marks(
    xml: str, relations: dict[str, str], notes: dict[str, tuple[str, ...]]
) -> tuple[str, list[tuple[str, ...]]]:
    targets: list[tuple[str, ...]] = []
    opened = ""

    def mark(match: re.Match[str]) -> str:
        nonlocal opened
        if match["close"]:
            target, opened = opened, ""
            if not target:
                return match[0]
            targets.append((target,))
            return _run(f"{WORDS_END}{len(targets) - 1}{WORDS_CLOSE}") + match[0]
        attributes = _attributes(match["rest"] or match["note"] or "")
        if match["kind"]:
            found = notes.get(f"{match['kind']} {attributes.get('w:id', '')}")
            if not found:
                return match[0]
            targets.append(found)
            return f"<w:t>{WORDS_BEGIN}{WORDS_END}{len(targets) - 1}{WORDS_CLOSE}</w:t>"
        opened = relations.get(attributes.get("r:id", ""), "")
        return match[0] + (_run(WORDS_BEGIN) if opened else "")

    return _LINK.sub(mark, xml), targets


def _run(text: str) -> str:
    return f"<w:r><w:t>{text}</w:t></w:r>"
