"""The seeker: looks for evidence about the sub-claims of a thesis, and answers with citations of it.

It stands where a language model stands in other lanes (`vera.model.types.Model`), so that a thesis is
verified by the same loop, log and replay as an answer; but it is a plain program. No text that it reads can
make it do anything: it asks its queries, opens what was found within budget and constraints, and cites the
lines that could carry a sub-claim, each sub-claim word for word as it was asked. What the lines say is
decided elsewhere.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from vera import events
from vera.attestation.coverage import enough
from vera.audit.case import Place
from vera.audit.checks.independence import is_web
from vera.audit.source_text import SourceText
from vera.evidence.claim import Claim
from vera.evidence.domains import registrable_domain
from vera.evidence.official import owner
from vera.evidence.source import Unreadable
from vera.model.types import Choice, Completion, ModelInfo, Request
from vera.protocol.text import render
from vera.protocol.turn import Action, Turn
from vera.search.corpus import Corpus, IndexUnusable, UnknownDocument
from vera.session import Reader, Session
from vera.session.session import TRACE
from vera.store import StoreError
from vera.verification.families import families

NAME = "seeker/1"
PER_CLAIM = 6
"""Places that one sub-claim cites at most."""

PER_DOCUMENT = 3
FILES_LOOKED_AT = 12
"""Files of the corpus that are looked at for one sub-claim."""

HITS = 10
PER_DOMAIN = 2
_HIT = re.compile(r"^\[\d{1,3}\] (.{1,400}) lines \d{1,9}-\d{1,9} of \d{1,9}", re.MULTILINE)
_URL = re.compile(r"^ {4}(https?://\S{1,2000})$", re.MULTILINE)


class Lead(msgspec.Struct, frozen=True, kw_only=True):
    """A source of an earlier session that may speak of the thesis: taken by the tool `kb` under its id
    `source`, or by `fetch` again from its address `name`."""

    tool: str
    source: str
    name: str


class Quest(msgspec.Struct, frozen=True, kw_only=True):
    """What is looked for, and how far. Limits of 0 are none.

    `literal`: the mechanical rule decides, so only lines that it can decide on are cited; otherwise a model
    reads the likeliest lines. `sources` bounds opened documents, `searches` asked queries, `bytes` what was
    read of documents; `needed` is how many
    independent web domains support a claim. Domains, classes of sources and the names of the subject are as
    in `vera.evidence.official`.
    """

    claims: tuple[Claim, ...]
    literal: bool
    web: bool
    files: bool
    sources: int = 0
    searches: int = 0
    bytes: int = 0
    needed: int = 2
    allow_domains: tuple[str, ...] = ()
    deny_domains: tuple[str, ...] = ()
    source_types: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()
    official_domains: frozenset[str] = frozenset()
    earlier: tuple[Lead, ...] = ()


class Seeker:
    """A `Model` without a language model. What it knows is read off the session's log."""

    def __init__(self, session: Session, lane: str, quest: Quest, corpus: Corpus | None) -> None:
        self._session = session
        self._lane = lane
        self._quest = quest
        self._corpus = corpus
        self._past = _Past(session, lane)
        self._finds: dict[str, list[_Find]] = {}

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(kind="builtin", name=NAME, protocol="text", local=True)

    async def complete(self, request: Request) -> Completion:
        """The next turn: a search, a page to open, or the answer. Never raises."""
        turn = self._next()
        return Completion(choices=(Choice(content=render(turn)),) * max(1, request.n))

    async def close(self) -> None:
        """Nothing is held open."""

    def _next(self) -> Turn:
        for step in self._steps():
            return step
        return Turn(thought="Nothing is left to look at.", action=Action(final=self.answer()))

    def _steps(self) -> Iterator[Turn]:
        """What is still to be done, in order; only the first is taken."""
        yield from self._of_earlier()
        for claim in self._quest.claims:
            if self._quest.files and self._corpus is not None:
                yield from self._in_files(claim)
        if self._quest.web:
            yield from self._on_the_web()

    def _of_earlier(self) -> Iterator[Turn]:
        """What earlier sessions found, before anything is searched: it costs a look, or one request."""
        for lead in self._quest.earlier:
            if self._sources_spent() or all(self._is_settled(claim) for claim in self._quest.claims):
                return
            if lead.tool == "kb" and lead.source not in self._past.opened:
                yield _turn("An earlier session had this source.", "kb", {"source": lead.source})
            elif lead.tool == "fetch" and lead.name not in self._past.opened:
                yield _turn("An earlier session had this page; has it changed?", "fetch", {"url": lead.name})

    def _in_files(self, claim: Claim) -> Iterator[Turn]:
        """Ask the corpus in each family, then read what could carry the claim."""
        for query in families(claim.text, 3):
            if not self._past.asked("search", query) and not self._searches_spent():
                yield _turn(f"Look for {claim.key} in the files.", "search", {"query": query, "limit": HITS})
        for find in self.finds(claim):
            if find.path and not self._past.has(find) and not self._sources_spent():
                args = {"path": find.path, "first": find.first, "last": find.last}
                yield _turn(f"These lines may speak of {claim.key}.", "read", args)

    def _on_the_web(self) -> Iterator[Turn]:
        for claim in self._quest.claims:
            asked: list[tuple[str, ...]] = []
            for query in families(claim.text):
                known = self._past.asked("web_search", query)
                if known is None:
                    if self._searches_spent() or self._is_settled(claim) or enough(asked):
                        break
                    args: dict[str, Any] = {"query": query}
                    if self._quest.languages:
                        args["language"] = self._quest.languages[0]
                    yield _turn(f"Look for {claim.key} on the web.", "web_search", args)
                    return
                asked.append(tuple(registrable_domain(url) for url in self._past.urls(known)))
                for url in self._wanted(self._past.urls(known)):
                    if self._sources_spent() or self._is_settled(claim):
                        break
                    yield _turn(f"A result for {claim.key}.", "fetch", {"url": url})

    def _wanted(self, urls: Iterable[str]) -> Iterator[str]:
        """The results that the constraints allow and that were not opened, not many of one domain."""
        quest, opened = self._quest, self._past.opened
        per_domain: dict[str, int] = {}
        for url in opened:
            domain = registrable_domain(url)
            per_domain[domain] = per_domain.get(domain, 0) + 1
        for url in urls:
            domain = registrable_domain(url)
            if url in opened or per_domain.get(domain, 0) >= PER_DOMAIN:
                continue
            if not allowed(domain, quest.allow_domains, quest.deny_domains):
                continue
            owned = owner(url, names=quest.names, official_domains=quest.official_domains)
            if quest.source_types and owned.source_class not in quest.source_types:
                continue
            yield url

    def _is_settled(self, claim: Claim) -> bool:
        """Whether enough independent domains were found that say it, by the rule."""
        if not self._quest.literal:
            return False
        domains = {
            registrable_domain(find.source) for find in self.finds(claim) if find.relation == "SUPPORTS"
        }
        return len(domains) >= self._quest.needed

    def _sources_spent(self) -> bool:
        full = bool(self._quest.sources) and len(self._past.sources) >= self._quest.sources
        return full or self._bytes_spent()

    def _bytes_spent(self) -> bool:
        return bool(self._quest.bytes) and self._past.bytes >= self._quest.bytes

    def _searches_spent(self) -> bool:
        return bool(self._quest.searches) and self._past.searches >= self._quest.searches

    def cut(self) -> str:
        """The cap that kept the look-up from going on: sources, searches or bytes; '' for none."""
        if all(self._is_settled(claim) for claim in self._quest.claims):
            return ""
        if self._sources_spent():
            return "bytes" if self._bytes_spent() else "sources"
        return "searches" if self._searches_spent() else ""

    def answer(self) -> str:
        """Each sub-claim as it was asked, with the places that could carry it."""
        return "\n\n".join(self._stated(claim) for claim in self._quest.claims)

    def _stated(self, claim: Claim) -> str:
        cites = []
        for find in self.finds(claim):
            evidence = self._past.evidence_of(find)
            if evidence is not None:
                cites.append(f"[{evidence}:{find.first}-{find.last}]")
        return " ".join([claim.text, *dict.fromkeys(cites[:PER_CLAIM])])

    def finds(self, claim: Claim) -> "list[_Find]":
        """The places that could carry the claim, best first: those the rule decides on, else (with a model to
        read them) the likeliest."""
        found = [
            *(self._file_finds(claim) if self._corpus is not None else ()),
            *self._web_finds(claim),
        ]
        decided = [find for find in found if find.relation != "IRRELEVANT"]
        if self._quest.literal:
            return decided[:PER_CLAIM]
        others = [find for find in found if find.relation == "IRRELEVANT"]
        return [*decided, *others][:PER_CLAIM]

    def _file_finds(self, claim: Claim) -> "list[_Find]":
        """Of the files that searches for the claim named; looked at once for each set of them."""
        paths: dict[str, None] = {}
        for query in families(claim.text, 3):
            known = self._past.asked("search", query)
            for path in self._past.paths(known) if known is not None else ():
                paths.setdefault(path)
        chosen = list(paths)[:FILES_LOOKED_AT]
        key = "\n".join([claim.key, *chosen])
        if key not in self._finds:
            self._finds[key] = _ranked(find for path in chosen for find in self._in_file(claim, path))
        return self._finds[key]

    def _in_file(self, claim: Claim, path: str) -> "Iterator[_Find]":
        assert self._corpus is not None
        try:
            document = self._corpus.document(path)
        except (UnknownDocument, Unreadable, IndexUnusable):
            return
        text = SourceText(document.extracted.text)
        yield from _in_text(claim, text, path, path, document.extracted.title)

    def _web_finds(self, claim: Claim) -> "list[_Find]":
        key = f"{claim.key}\n{len(self._past.pages)}"
        if key not in self._finds:
            self._finds[key] = _ranked(
                find
                for page in self._past.pages
                for find in _in_text(
                    claim, self._text(page), page.source, "", "" if is_web(page) else page.title
                )
            )
        return self._finds[key]

    def _text(self, page: events.Evidence) -> SourceText:
        try:
            return SourceText(self._session.store.get(page.text.sha256))
        except StoreError:
            return SourceText(b"")


class _Find(msgspec.Struct, frozen=True, kw_only=True):
    """Lines of a document: of the file `path`, or ('') of the page `source`."""

    source: str
    path: str
    first: int
    last: int
    relation: str
    rank: int


_ORDER = {"SUPPORTS": 0, "CONTRADICTS": 0, "QUALIFIES": 1, "IRRELEVANT": 2}


def _ranked(finds: "Iterable[_Find]") -> "list[_Find]":
    return sorted(finds, key=lambda find: (_ORDER[find.relation], find.rank))


def _in_text(claim: Claim, text: SourceText, source: str, path: str, title: str) -> "Iterator[_Find]":
    """The likeliest places of one document, with what the rule says of each."""
    from vera.audit import containment

    if not len(text.lines):
        return
    evidence = _as_evidence(source, title, text)
    for rank, (first, last) in enumerate(containment.spans(text, claim.text, PER_DOCUMENT)):
        place = Place(evidence, text, first, last)
        about = "" if is_web(evidence) else containment.about(evidence, text)
        yield _Find(
            source=source,
            path=path,
            first=first,
            last=last,
            relation=containment.label(claim, place, about),
            rank=rank,
        )


def _as_evidence(source: str, title: str, text: SourceText) -> events.Evidence:
    """The document as the evidence that reading it would make."""
    return events.Evidence(
        id="ev_0000",
        call="",
        step=0,
        tool="read",
        tier="captured",
        source=source,
        summary="",
        text=events.Blob("", len(text.data)),
        lines=len(text.lines),
        first=1,
        last=len(text.lines),
        title=title,
    )


class _Past:
    """What a lane has asked and opened, from the log; it listens to what comes."""

    def __init__(self, session: Session, lane: str) -> None:
        self._session = session
        self._lane = lane
        self._calls: dict[tuple[str, str], str] = {}
        self._leads: dict[str, events.Evidence] = {}
        self._reads: dict[tuple[str, int, int], str] = {}
        self.pages: list[events.Evidence] = []
        self.opened: set[str] = set()
        self.sources: set[str] = set()
        self.searches = 0
        self.bytes = 0
        for _, record in Reader(session.root / TRACE).poll():
            self._note(record)
        session.subscribe(self._note)

    def _note(self, record: events.Record) -> None:
        if record.lane != self._lane:
            return
        if isinstance(record, events.ToolStarted):
            args = json.loads(self._session.load(record.args))
            self._calls[(record.tool, str(args.get("query", "")))] = record.call
            self.searches += record.tool in ("search", "web_search")
            if record.tool == "fetch":
                self.opened.add(str(args.get("url", "")))
            elif record.tool == "kb":
                self.opened.add(str(args.get("source", "")))
        elif isinstance(record, events.Evidence):
            self._brought(record)

    def _brought(self, evidence: events.Evidence) -> None:
        if evidence.lead:
            self._leads[evidence.call] = evidence
            return
        if evidence.source not in self.sources:
            self.bytes += evidence.raw.size if evidence.raw else evidence.text.size
        self.sources.add(evidence.source)
        if evidence.tool in ("fetch", "kb"):
            self.opened.add(evidence.source)
            if (evidence.http_status or 200) < 300:
                self.pages.append(evidence)
                self._reads[(evidence.source, 0, 0)] = evidence.id
        else:
            self._reads[(evidence.source, evidence.first, evidence.last)] = evidence.id

    def asked(self, tool: str, query: str) -> str | None:
        """The call that asked this, None when nobody has."""
        return self._calls.get((tool, query))

    def has(self, find: _Find) -> bool:
        return self.evidence_of(find) is not None

    def evidence_of(self, find: _Find) -> str | None:
        """The evidence in which the lines stand."""
        if not find.path:
            return self._reads.get((find.source, 0, 0))
        return self._reads.get((find.path, find.first, find.last))

    def paths(self, call: str) -> Sequence[str]:
        """The files that a search of the corpus named, best first."""
        return [found[1] for found in _HIT.finditer(self._lead(call))]

    def urls(self, call: str) -> Sequence[str]:
        """The addresses that a search of the web named, best first."""
        return [found[1] for found in _URL.finditer(self._lead(call))]

    def _lead(self, call: str) -> str:
        evidence = self._leads.get(call)
        if evidence is None:
            return ""
        try:
            return self._session.store.get(evidence.text.sha256).decode("utf-8", "replace")
        except StoreError:
            return ""


def allowed(domain: str, allow: Sequence[str], deny: Sequence[str]) -> bool:
    """Whether the constraints let a registrable domain be opened."""
    if any(_covers(each, domain) for each in deny):
        return False
    return not allow or any(_covers(each, domain) for each in allow)


def _covers(listed: str, domain: str) -> bool:
    return domain == listed or registrable_domain(f"https://{listed}/") == domain


def _turn(thought: str, tool: str, args: Mapping[str, Any]) -> Turn:
    return Turn(thought=thought, action=Action(tool=tool, args=dict(args)))
