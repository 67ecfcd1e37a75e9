"""The references of a document: which works it names, by DOI, or by title and year."""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import unquote

import msgspec

from vera.document_check.bibtex import entries
from vera.document_check.links import trimmed
from vera.document_check.outline import is_references_heading

REFERENCE_LIMIT = 5000
_SHOWN = 1000
_FEWEST_WORDS = 3

_DOI = re.compile(r"(?<![\w/.])10\.[0-9]{4,9}/[^\s\"<>“”|{}]{1,300}+", re.IGNORECASE)
_PERCENT = re.compile(r"doi\.org/(10\.[0-9]{4,9}(?:/|%2F)[^\s\"<>“”|{}]{1,300}+)", re.IGNORECASE)
_PLAIN_DOI = re.compile(r"10\.[0-9]{4,9}/[A-Za-z0-9._/()-]{1,300}")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]")
_BEGINS = re.compile(r"[ \t]{0,8}(?:\[\^?[^\]\n]{1,60}\]:?|[0-9]{1,4}[.)]|[-*+•])[ \t]+(?=\S)")
_FOOTNOTE = re.compile(r"[ ]{0,3}\[(?:\^[^\[\]\s]{1,100}|[0-9]{1,4})\]:[ \t]")
_YEAR = re.compile(r"(?<![\w./–-])(?:1[5-9]|20)[0-9]{2}(?![0-9/–-])")
_ADDRESS = re.compile(r"https?://\S{1,2000}+", re.IGNORECASE)
_QUOTED = re.compile(r"[“\"«„]([^“”\"«»„]{8,400})[”\"»“]")
_RETRACTED = re.compile(r"(?i)\bretract(?:ed|ion)\b")
_OF_A_FILE = (".pdf", ".html", "/full", "/epub", "/abstract", "/pdf")
"""Ends of an address that are no part of a DOI."""

_APA = re.compile(r"\((?:1[5-9]|20)[0-9]{2}[a-z]?(?:,[^()]{1,30})?\)[.,:]?\s{1,9}([^.?!\n]{8,400})[.?!]")


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """One work that a document names. `text` is the entry as written, `title` '' where it cannot be told.

    `listed` is an entry of a list of references, whose title and year can be compared; a DOI elsewhere names
    a work, and the words around it are the document's own. `whole` says that the DOI is certainly read as it
    was written. `retraction` is whether the entry itself speaks of a retraction.
    """

    line: int
    text: str
    doi: str = ""
    title: str = ""
    years: tuple[int, ...] = ()
    listed: bool = True
    whole: bool = True
    retraction: bool = False


def of_bibtex(text: str) -> list[Reference]:
    """The entries of a BibTeX file that have a DOI or a title."""
    found: list[Reference] = []
    for entry in entries(text):
        title = entry.fields.get("title", "")
        doi = _first_doi(entry.fields.get("doi", "")) or _first_doi(entry.fields.get("url", ""))
        if not (doi or title):
            continue
        dated = entry.fields.get("year", "") or entry.fields.get("date", "")[:4]
        said = " ".join(entry.fields.get(name, "") for name in ("author", "title", "note", "year"))
        found.append(
            Reference(
                line=entry.line,
                text=said[:_SHOWN].strip(),
                doi=doi,
                title=title,
                years=tuple(map(int, _YEAR.findall(dated))),
                whole=_PLAIN_DOI.fullmatch(doi) is not None,
                retraction=_says_retracted(said, title),
            )
        )
    return found


def _says_retracted(said: str, title: str) -> bool:
    """Whether an entry says beside its title that the work was retracted."""
    return _RETRACTED.search(said.replace(title, " ") if title else said) is not None


def of_text(lines: Sequence[str]) -> list[Reference]:
    """The references in the lines of a Markdown or plain text: entries of its list of references and its
    notes, and DOIs elsewhere. At most REFERENCE_LIMIT."""
    found: list[Reference] = []
    for number, entry, listed in _entries(lines):
        found += _of_entry(number, entry, listed)
        if len(found) >= REFERENCE_LIMIT:
            return found[:REFERENCE_LIMIT]
    return found


def doi_of(address: str) -> str:
    """The DOI that an address of doi.org names; '' for another."""
    return _first_doi(address) if "doi.org/" in address[:40].lower() else ""


def _entries(lines: Sequence[str]) -> Iterator[tuple[int, str, bool]]:
    """The entries of lists of references and notes, each with its first line; other lines one by one."""
    inside = note = False
    held: list[str] = []
    for number, line in enumerate([*lines, ""], 1):
        opens = is_references_heading(line)
        if opens or _HEADING.match(line):
            inside, line = opens, ""  # a heading ends what is open, as an empty line does
        if held and _ends_entry(line):
            yield number - len(held), "\n".join(held), True
            held = []
        if not line.strip():
            note = False
        elif inside or note or _FOOTNOTE.match(line):
            note = True
            held.append(line)
        else:
            yield number, line, False


def _ends_entry(line: str) -> bool:
    """Whether the entry before a line ends there: at an empty line, or where another one begins."""
    return not line.strip() or _BEGINS.match(line) is not None


def _of_entry(number: int, entry: str, listed: bool) -> Iterator[Reference]:
    entry = entry[: 4 * _SHOWN]
    dois = dict.fromkeys(_dois(entry))
    without = _ADDRESS.sub(" ", _DOI.sub(" ", entry))
    title = _title(without) if listed else ""
    years = tuple(map(int, dict.fromkeys(_YEAR.findall(without)))) if listed else ()
    said = " ".join(entry.split())[:_SHOWN]
    about_retraction = _says_retracted(entry, title)
    for doi in dois:
        line = number + entry[: max(0, entry.find(doi))].count("\n")
        yield Reference(
            line=line,
            text=said,
            doi=doi,
            title=title,
            years=years,
            listed=listed and len(dois) == 1,
            whole=_whole(doi, entry),
            retraction=about_retraction,
        )
    elsewhere = _ADDRESS.search(_DOI.sub(" ", entry))
    if title and years and not dois and not elsewhere:
        yield Reference(line=number, text=said, title=title, years=years, retraction=about_retraction)


def _dois(text: str) -> Iterator[str]:
    for found in _PERCENT.finditer(text):
        yield _clean(unquote(found[1]))
    for found in _DOI.finditer(_ADDRESS.sub(lambda url: "" if "%2" in url[0] else url[0], text)):
        yield _clean(found[0])


def _first_doi(text: str) -> str:
    return next(_dois(text), "")


def _clean(doi: str) -> str:
    """A DOI without what follows it in Markdown or in a sentence."""
    return trimmed(doi.partition("](")[0])


def _whole(doi: str, entry: str) -> bool:
    """Whether a DOI has only characters that end at no line's end and in no markup by mistake."""
    place = entry.find(doi)
    after = entry[place + len(doi) : place + len(doi) + 1]
    goes_on = after == "\n" and re.match(r"\n\s{0,20}[-./_0-9]", entry[place + len(doi) :]) is not None
    broken = doi[-1] in "-/._" or goes_on or doi.lower().endswith(_OF_A_FILE)
    if ".." in doi:  # a path that an index would read otherwise
        return False
    return place >= 0 and not broken and after not in ("<", "{", "\\") and bool(_PLAIN_DOI.fullmatch(doi))


def _title(entry: str) -> str:
    """The title in an entry: between quotation marks, or behind the year in parentheses (APA)."""
    found = _QUOTED.search(entry) or _APA.search(" ".join(entry.split()))
    title = " ".join(found[1].split()).strip(" ,.*_") if found else ""
    return title if len(title.split()) >= _FEWEST_WORDS else ""
