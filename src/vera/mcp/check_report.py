"""The tool `check_report`: a text's quotations, numbers and names, held against the documents it cites."""

import asyncio
import secrets
from pathlib import Path
from typing import Any

import msgspec

from vera.agent.errors import SetupError
from vera.document_check.reading import TEXT_LIMIT, insist_on_text
from vera.document_check.run import Options, Report, check_bytes, require_date
from vera.document_check.sources import FILE_BYTES
from vera.evidence.reading import read_regular
from vera.extraction.source import Unreadable
from vera.mcp.roots import inside
from vera.mcp.service import (
    CONNECTORS,
    Arguments,
    Service,
    ServiceReply,
    Tell,
    ToolError,
    connectors_of,
    only,
    text_of,
)
from vera.runtime.connectors import sources_with

NAME = "check_report"
DESCRIPTION = (
    "Check a report before it is sent: every quotation, number, date and name that it takes from a source it "
    "names is held against that source, word by word, without a model. Give the text itself (Markdown), or "
    "the path of a file in the folders of this service. Sources are the person's documents, named by link, "
    "file name or title; web pages are not fetched and come back as unchecked."
)

TEXT_BYTES = 1 << 20
SHOWN = 100
"""Of problems and of unchecked sources, each; how many more there are is said."""

_LISTS = (("problems", "findings"), ("unchecked", "findings"), ("sources", ""))

ARGUMENTS: dict[str, Any] = {
    "text": {"type": "string", "maxLength": TEXT_BYTES, "description": "The report, as Markdown."},
    "path": {
        "type": "string",
        "maxLength": 4096,
        "description": "Or a file: Markdown, text, HTML, PDF, docx, odt, pptx, epub or rtf.",
    },
    "connectors": CONNECTORS,
    "not_before": {"type": "string", "maxLength": 10, "description": "Pages published before do not count."},
    "not_after": {"type": "string", "maxLength": 10, "description": "Pages published after do not count."},
}


async def check_report(service: Service, arguments: Arguments, tell: Tell) -> ServiceReply:
    """Hold a report against the documents. Raises ToolError, RequestError, SetupError."""
    only(arguments, ARGUMENTS)
    text = text_of(arguments, "text", min(TEXT_BYTES, TEXT_LIMIT))
    path = text_of(arguments, "path", 4096)
    if bool(text) == bool(path):
        raise ToolError("Give either the text of the report, or the path of its file.")
    if text:
        insist_on_text(text)
    not_before, not_after = (text_of(arguments, name, 10) for name in ("not_before", "not_after"))
    require_date("not_before", not_before)
    require_date("not_after", not_after)
    sources, names = service.input_dir, connectors_of(arguments)
    gathers = bool(names or service.settings.connectors.use)
    if gathers:
        tell("gathering documents")
        sources = await sources_with(service.settings, sources, names or None)
    options = Options(
        sources=sources,
        copied=service.input_dir if gathers else None,
        ocr=service.settings.run.ocr == "auto",
        not_before=not_before,
        not_after=not_after,
    )
    data, place = await _document(service, text, path)
    tell("checking the report")
    try:
        report = await asyncio.to_thread(check_bytes, data, place, options, tell)
    except SetupError as error:  # a client may not know where on this machine the file lies
        raise ToolError(str(error).replace(str(place), path[:200] or "The text")) from None
    return ServiceReply(value=as_json(msgspec.structs.replace(report, document=path or "text")))


async def _document(service: Service, text: str, path: str) -> tuple[bytes, Path]:
    """The bytes of the report and its place, from which its links start. Raises ToolError."""
    if text:
        # A name that no file has: its links start in the folder of documents.
        place = (service.input_dir or service.base) / f"text-{secrets.token_hex(8)}.md"
        return text.encode("utf-8", "replace"), place
    root, relative = inside(service, path)
    try:
        return await asyncio.to_thread(read_regular, root, relative, FILE_BYTES), root / relative
    except Unreadable as error:
        raise ToolError(f"{path[:200]} cannot be read: {error}.") from None


def as_json(report: Report) -> dict[str, Any]:
    """The report, with as many problems and unchecked sources as are shown."""
    plain: dict[str, Any] = {"exit_code": report.exit_code(), **msgspec.to_builtins(report)}
    for name, holder in _LISTS:
        items = plain[holder] if holder else plain
        more = len(items[name]) - SHOWN
        if more > 0:
            items[name] = items[name][:SHOWN]
            items[f"more_{name}"] = more
    return plain
