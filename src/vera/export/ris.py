"""The cited sources as RIS, which EndNote, Mendeley, Citavi and Zotero read.

The tags are those of the RIS format specification (Research Information Systems, 2011). A field is a line, so
a line break in a title becomes a space: no text of a source can begin a field.
"""

from collections.abc import Iterator

from vera.export.csl import date_parts
from vera.export.finished import Finished, Source, note_of, sources_of
from vera.report.printable import one_printable_line
from vera.report.timestamps import utc


def ris(finished: Finished) -> bytes:
    """A reference for each source, in UTF-8 with CRLF; a page of the web is ELEC, anything else GEN."""
    lines = [line for source in sources_of(finished) for line in _fields(source, finished.word)]
    return "".join(f"{line}\r\n" for line in lines).encode("utf-8", "replace")


def _fields(source: Source, word: str) -> Iterator[str]:
    yield _field("TY", "ELEC" if source.is_web else "GEN")
    yield _field("TI", source.title or source.source)
    if issued := date_parts(source.dated):
        year, month, day = (*issued[0], 0, 0)[:3]
        yield _field("PY", str(year))
        yield _field("DA", "/".join([str(year), *(f"{part:02}" for part in (month, day) if part)]))
    yield _field("UR" if source.is_web else "AV", source.source)
    yield _field("Y2", utc(source.captured_ts).strftime("%Y/%m/%d"))
    yield _field("N1", note_of(source, word))
    yield _field("ER", "")


def _field(tag: str, text: str) -> str:
    return f"{tag}  - {' '.join(one_printable_line(text).split())}"
