"""Canonical text: from the bytes of a file to the numbered lines that are cited.

One file a format, and `registry.FORMATS` lists them. Everything here is pure and knows no clock.
"""

from vera.extraction.canonical.lines import LINE_LIMIT
from vera.extraction.canonical.registry import FORMATS, Format, extract, format_of

__all__ = ["FORMATS", "LINE_LIMIT", "Format", "extract", "format_of"]
