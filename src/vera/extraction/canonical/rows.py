"""Tables of delimited values (CSV, TSV) and JSON Lines: rows as they are, named after their file."""

from vera.extraction.canonical import text as plain
from vera.extraction.canonical.deletions import taken_out
from vera.extraction.canonical.encoding import to_utf8
from vera.extraction.canonical.naming import extractor_name, file_title, suffix_of
from vera.extraction.source import Extracted

RULES = 2


def extract_csv(data: bytes, name: str) -> Extracted:
    """Comma-separated values (RFC 4180), unparsed: a row is cited as the file spells it."""
    return _extract(data, name, "csv", "text/csv")


def extract_tsv(data: bytes, name: str) -> Extracted:
    """Tab-separated values, unparsed."""
    return _extract(data, name, "tsv", "text/tab-separated-values")


def extract_jsonl(data: bytes, name: str) -> Extracted:
    """One JSON value a line, unparsed."""
    return _extract(data, name, "jsonl", "application/jsonl")


def _extract(data: bytes, name: str, format_name: str, media_type: str) -> Extracted:
    utf8, program = to_utf8(data)
    text = plain.canonical(utf8)
    return Extracted(
        text=text,
        title=file_title(name),
        media_type=media_type,
        extractor=extractor_name(format_name, program, RULES),
        marks=taken_out(text, suffix_of(name), media_type),
    )
