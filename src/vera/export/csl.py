"""The cited sources as CSL-JSON 1.0.2, which Zotero, pandoc and citeproc read (citationstyles.org)."""

import json
import re
from typing import Any

from vera.export.finished import Finished, Source, note_of, sources_of
from vera.report.printable import one_printable_line
from vera.report.timestamps import utc

_DAY = re.compile(r"([0-9]{4})(?:-([0-9]{2}))?(?:-([0-9]{2}))?")


def csl(finished: Finished) -> bytes:
    """An array of items; a page of the web is a `webpage`, anything else a `document`."""
    items = [_item(number, each, finished.word) for number, each in enumerate(sources_of(finished), 1)]
    return f"{json.dumps(items, ensure_ascii=True, indent=2)}\n".encode()


def date_parts(dated: str) -> list[list[int]]:
    """The days of `Evidence.dated` for CSL: one, the ends of a span, or none where an end is unknown."""
    found = [_DAY.fullmatch(each) for each in dated.split("/")[:2]]
    parts = [[int(part) for part in each.groups() if part] for each in found if each]
    return parts if len(parts) == len(found) else []


def _item(number: int, source: Source, word: str) -> dict[str, Any]:
    taken = utc(source.captured_ts)
    item: dict[str, Any] = {
        "id": f"source-{number}",
        "type": "webpage" if source.is_web else "document",
        "title": one_printable_line(source.title or source.source),
        "accessed": {"date-parts": [[taken.year, taken.month, taken.day]]},
        "note": one_printable_line(note_of(source, word)),
    }
    if source.is_web:
        item["URL"] = one_printable_line(source.source)
    else:
        item["archive_location"] = one_printable_line(source.source)
    if issued := date_parts(source.dated):
        item["issued"] = {"date-parts": issued}
    return item
