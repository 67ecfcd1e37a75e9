"""Looking for files of the input folder that replace or amend what an answer cites.

The index of the folder proposes files; of those that say something of a cited one, or have a later name, the
text is kept as evidence. What follows from them is decided by the audit (`vera.audit.versions`), which reads
the kept text, so that a replay needs no folder.
"""

import asyncio
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from vera import events
from vera.audit.case import Case
from vera.audit.checks.independence import is_web
from vera.audit.source_text import SourceText
from vera.audit.version_names import names_of
from vera.audit.versions import Pair
from vera.corpus import Corpus, Document, IndexUnusable, UnknownDocument
from vera.evidence.superseding import statements, tokens
from vera.extraction.source import Unreadable
from vera.sanitize import one_line
from vera.verification.context import VerifierContext, lane_of

TOOL = "versions"
MAX_CITED = 12
"""Cited files whose later versions are looked for."""

MAX_READ = 24
"""Files that are read for one cited file, and twice as many for one answer."""

MAX_BYTES = 16 << 20
MAX_KEPT = 24
SECONDS = 10.0
CUT_SHORT = "the search for later versions of cited files was cut short"

_HITS = 12
_MAX_NAMESAKES = 50

_SAYING = (
    "replaces replaced supersedes superseded cancels cancelled repeals amends amended deleted amendment",
    "ersetzt ersetzen aufgehoben geändert Änderung Nachtrag gestrichen hebt ändert",
    "remplace remplacé annule abroge abrogé modifie modifié avenant supprimé",
)
_EVERYTHING = (
    "this replaces everything all previous earlier documents",
    "ersetzt alle bisherigen früheren Dokumente",
    "remplace tous les documents précédents",
)


class Later(msgspec.Struct, frozen=True, kw_only=True):
    """A file that says something of the cited evidence `cited`, or has a later name."""

    cited: str
    document: Document
    shared: tuple[str, ...]


class Looked(msgspec.Struct, frozen=True, kw_only=True):
    """What a search for later versions found, how many `files` it read, and why not all (`problem`)."""

    found: tuple[Later, ...] = ()
    files: int = 0
    problem: str = ""


async def look_for_versions(context: VerifierContext, number: int, case: Case) -> None:
    """Search the folder once for a round, and log what was found. Without a folder, or where nothing of it is
    cited, nothing is logged."""
    session = context.session
    cited = cited_files(case)
    if context.corpus is None or not cited or session.state.rounds[number].versions is not None:
        return
    looked = await asyncio.to_thread(later_versions, context.corpus, cited, case.sources)
    seen = tuple(
        events.VersionSeen(
            cited=each.cited, evidence=_kept(context, number, each.document), shared=each.shared
        )
        for each in looked.found
    )
    session.emit(
        events.VerifierVersions(round=number, seen=seen, files=looked.files, problem=looked.problem),
        lane=lane_of(number),
    )


def cited_files(case: Case) -> tuple[events.Evidence, ...]:
    """The files that claims cite, each text once; no pages, and nothing that a sandbox printed."""
    found: dict[tuple[str, str], events.Evidence] = {}
    for claim in case.claims:
        for cite in claim.cites:
            each = case.evidence.get(cite.evidence)
            if each is not None and each.tier == "captured" and not each.lead and not is_web(each):
                found.setdefault((each.source, each.text.sha256), each)
    return tuple(found.values())


def later_versions(
    corpus: Corpus, cited: Sequence[events.Evidence], texts: Mapping[str, SourceText], skip: str = ""
) -> Looked:
    """The files of a folder that say something of the cited ones, or have a later name; never the file
    `skip`. Bounded in files, bytes and time."""
    search = _Search(corpus, skip)
    found: list[Later] = []
    for each in cited[:MAX_CITED]:
        text = texts.get(each.text.sha256)
        if text is not None:
            found += search.of(each, text.seen(each.marks))
    problem = search.problem
    if len(cited) > MAX_CITED:
        problem = problem or f"later versions of {len(cited) - MAX_CITED} cited files were not looked for"
    return Looked(found=tuple(found[:MAX_KEPT]), files=len(search.read), problem=problem)


class _Search:
    """One search over a folder: each file is read once."""

    def __init__(self, corpus: Corpus, skip: str) -> None:
        self._corpus = corpus
        self._skip = skip
        self._until = time.monotonic() + SECONDS
        self._room = MAX_BYTES
        self._everything: list[str] | None = None
        self._telling: set[str] = set()
        self.read: dict[str, Document | None] = {}
        self.problem = ""

    def of(self, cited: events.Evidence, text: SourceText) -> Iterator[Later]:
        """What there is about one cited file."""
        try:
            called = self._called(cited)
            paths = self._paths(cited, called)
        except IndexUnusable as problem:
            self.problem = str(problem)
            return
        for path in paths[:MAX_READ]:
            document = self._document(path)
            if document is None:
                continue
            other = as_evidence(document, cited.id)
            shared = _shared(cited, [each for each in called if each[0] not in (path, cited.source)])
            extracted = document.extracted
            pair = Pair(cited, text, other, SourceText(extracted.text, extracted.marks), shared)
            if pair.says_anything():
                yield Later(cited=cited.id, document=document, shared=tuple(sorted(shared)))
        if left := sum(path in self._telling for path in paths[MAX_READ:]):
            unread = f"{left} files that may speak of {one_line(cited.source, 80)} were not read"
            self.problem = self.problem or unread

    def _called(self, cited: events.Evidence) -> list[tuple[str, str]]:
        """(name, title) of files that are called like the cited one."""
        names = names_of(cited.source, cited.title)
        letters = ([word for word in tokens(name) if not word.isdigit()] for name in names[1:])
        bare = dict.fromkeys(map(" ".join, letters))
        found = {each for name in bare if name for each in self._corpus.called(name, _MAX_NAMESAKES)}
        return sorted(found)

    def _paths(self, cited: events.Evidence, called: Iterable[tuple[str, str]]) -> list[str]:
        """The files to read, the likeliest first: those of which a hit says that something is superseded,
        then those with its name in them, then those called like it."""
        ranked = [self._asked(query) for query in _queries(cited)]
        if self._everything is None:
            self._everything = [path for query in _EVERYTHING for path in self._asked(query)[:3]]
        likeliest = [path for row in zip(*map(_padded, ranked), strict=True) for path in row]
        wanted = [*likeliest, *(name for name, _ in called), *self._everything]
        left_out = ("", cited.source, self._skip)
        paths = [path for path in dict.fromkeys(wanted) if path not in left_out]
        return sorted(paths, key=lambda path: path not in self._telling)

    def _asked(self, query: str) -> list[str]:
        if not tokens(query):
            return []
        if time.monotonic() > self._until:
            self.problem = CUT_SHORT
            return []
        hits = self._corpus.search(query, _HITS).hits
        self._telling.update(hit.path for hit in hits if any(statements(hit.text)))
        return list(dict.fromkeys(hit.path for hit in hits))

    def _document(self, path: str) -> Document | None:
        if path in self.read:
            return self.read[path]
        if time.monotonic() > self._until or self._room <= 0 or len(self.read) >= 2 * MAX_READ:
            self.problem = CUT_SHORT
            return None
        try:
            document = self._corpus.document(path)
        except (UnknownDocument, Unreadable, IndexUnusable):
            self.read[path] = None
            return None
        self._room -= len(document.extracted.text)
        self.read[path] = document
        return document


def _shared(cited: events.Evidence, further: Iterable[tuple[str, str]]) -> set[str]:
    """The names of the cited file that one of `further`, each a name and a title, has as well."""
    others = {name for each in further for name in names_of(*each)}
    return others.intersection(names_of(cited.source, cited.title))


def _queries(cited: events.Evidence) -> list[str]:
    """What is asked about a file: its names, and what could say that it is superseded."""
    names = names_of(cited.source, cited.title)
    words = " ".join(dict.fromkeys(word for name in names[1:] for word in name.split()))
    return [*(f'"{name}"' for name in names[:3]), *(f"{saying} {words}" for saying in _SAYING)]


def _padded(paths: Sequence[str]) -> list[str]:
    return [*paths, *[""] * (_HITS - len(paths))][:_HITS]


def as_evidence(document: Document, evidence_id: str) -> events.Evidence:
    """A file as evidence of this id, not kept anywhere."""
    extracted = document.extracted
    return events.Evidence(
        id=evidence_id,
        call="",
        step=0,
        tool=TOOL,
        tier="captured",
        source=document.path,
        summary=f"later version · {one_line(document.path, 80)}",
        text=events.Blob(document.source, len(extracted.text)),
        lines=extracted.text.count(b"\n") + (not extracted.text.endswith(b"\n")),
        first=1,
        last=1,
        title=extracted.title,
        media_type=extracted.media_type,
        extractor=extracted.extractor,
        pages=extracted.pages,
        marks=extracted.marks,
        dated=extracted.dated,
    )


def _kept(context: VerifierContext, number: int, document: Document) -> str:
    """The id of the file's evidence in the session: that of an earlier round, or a new one."""
    session = context.session
    for known in session.state.evidence.values():
        if known.tool == TOOL and (known.source, known.text.sha256) == (document.path, document.source):
            return known.id
    text, store = document.extracted.text, session.store
    store.put(text)
    raw = None
    if document.raw != text:
        raw = events.Blob(store.put(document.raw), len(document.raw))
    within = None
    if document.held is not None:
        place = document.held.as_json()
        within = events.Blob(store.put(place), len(place))
    made = as_evidence(document, session.state.next_evidence_id())
    kept = session.emit(msgspec.structs.replace(made, raw=raw, within=within), lane=lane_of(number))
    return kept.id
