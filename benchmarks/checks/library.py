"""The fixtures of the mutation test: twelve made-up sources, and true statements with exact citations."""

import hashlib
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import msgspec

from vera.audit.case import AuditPolicy, Case
from vera.audit.claims import split
from vera.audit.source_text import SourceText
from vera.events import Blob, Evidence
from vera.evidence.citation import find_citations, place_name
from vera.evidence.claim import Cite

FIXTURES = Path(__file__).parent / "fixtures"
POLICY = AuditPolicy(not_before="2025-01-01")
"""Asked of every fixture: all of its web pages were published in 2025 or 2026."""


class Page:
    """A source: its evidence, and the bytes that the store gives for it; the date that it shows, and the id
    of the source that it is a copy of ('' for none)."""

    def __init__(self, evidence: Evidence, data: bytes, published: str = "", copy_of: str = "") -> None:
        self.evidence = evidence
        self.data = data
        self.published = published
        self.copy_of = copy_of

    @cached_property
    def source(self) -> SourceText:
        return SourceText(self.data)

    @property
    def is_web(self) -> bool:
        return self.evidence.http_status is not None

    def rewritten(self, text: str, **fields: object) -> "Page":
        """The page with another text, captured as such; `fields` are other members of its evidence."""
        data = text.encode()
        lines = len(SourceText(data).lines)
        evidence = msgspec.structs.replace(
            self.evidence, text=blob_of(data), lines=lines, first=min(1, lines), last=lines, **fields
        )
        return Page(evidence, data, self.published)

    def corrupted(self, data: bytes) -> "Page":
        """The page whose stored bytes are no longer those that were seen."""
        return Page(self.evidence, data, self.published)


Pages = Mapping[str, Page]


class Statement(msgspec.Struct, frozen=True):
    """A sentence without its full stop, and the places that it cites."""

    text: str
    cites: tuple[Cite, ...]

    @property
    def answer(self) -> str:
        """The statement as an answer of one sentence."""
        cited = "; ".join(place_name(each.evidence, each.first, each.last) for each in self.cites)
        return f"{self.text} [{cited}]."


class Library(msgspec.Struct, frozen=True):
    """The sources by id, and the true statements about them."""

    pages: Pages
    statements: tuple[Statement, ...]


def load() -> Library:
    """The fixtures, read from their files."""
    sources = msgspec.json.decode((FIXTURES / "sources.json").read_bytes(), type=list[_SourceRow])
    rows = msgspec.json.decode((FIXTURES / "claims.json").read_bytes(), type=list[_ClaimRow])
    return Library(
        pages={row.id: _page(row, FIXTURES / row.file) for row in sources},
        statements=tuple(_statement(row) for row in rows),
    )


def case_of(statement: Statement, pages: Pages) -> Case:
    """The statement as the only sentence of an answer. Every source is evidence; those cited can be read."""
    cited = {cite.evidence for cite in statement.cites}
    read = [page for name, page in pages.items() if name in cited]
    return Case(
        task="",
        answer=statement.answer,
        claims=split(statement.answer, [page.evidence.source for page in read]),
        evidence={name: page.evidence for name, page in pages.items()},
        sources={page.evidence.text.sha256: page.source for page in read},
        policy=POLICY,
    )


class _SourceRow(msgspec.Struct):
    id: str
    file: str
    source: str
    title: str = ""
    published: str = ""
    copy_of: str = ""


class _ClaimRow(msgspec.Struct):
    text: str
    cites: list[str]


def _page(row: _SourceRow, file: Path) -> Page:
    data = file.read_bytes()
    web = row.source.startswith("https://")
    lines = len(SourceText(data).lines)
    evidence = Evidence(
        id=row.id,
        call=row.id.replace("ev", "call"),
        step=int(row.id[3:]),
        tool="fetch" if web else "read",
        tier="captured",
        source=row.source,
        title=row.title,
        summary=f"{'fetch' if web else 'read'} {row.source}",
        text=blob_of(data),
        lines=lines,
        first=1,
        last=lines,
        http_status=200 if web else None,
    )
    return Page(evidence, data, row.published, row.copy_of)


def _statement(row: _ClaimRow) -> Statement:
    found = find_citations(f"[{'; '.join(row.cites)}]")
    return Statement(row.text, tuple(Cite(each.evidence, each.first, each.last) for each in found))


def blob_of(data: bytes) -> Blob:
    """What the log would say of these bytes."""
    return Blob(hashlib.sha256(data).hexdigest(), len(data))
