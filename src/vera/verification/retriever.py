"""The retriever looks for evidence about the sub-claims of a thesis, and answers with citations of it.

It takes the place of a language model in other lanes (`vera.model.types.Model`), so that a thesis is
verified by the same loop, log and replay as an answer; but it is a plain program. No text that it reads can
make it do anything: it asks its queries, opens what was found within budget and constraints, and cites the
lines that could carry a sub-claim, each sub-claim word for word as it was asked. What the lines say is
decided elsewhere.

On the web it asks for each sub-claim as it stands and for what would contradict it before it believes that
enough was found, and it stops asking when query families bring nothing new (Good–Turing,
`vera.attestation.coverage.enough`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

import msgspec

from vera.attestation.coverage import enough
from vera.audit.checks.time_window import outside
from vera.audit.source_text import SourceText
from vera.corpus import Corpus, IndexUnusable, UnknownDocument
from vera.evidence.claim import Claim
from vera.evidence.domains import registrable_domain
from vera.evidence.hosts import entry_of, host_of
from vera.evidence.official import owner
from vera.evidence.queries import is_search_engine
from vera.extraction.source import Unreadable
from vera.model.types import Choice, Completion, ModelInfo, Request
from vera.protocol.text import render
from vera.protocol.turn import Action, Turn
from vera.sanitize import printed_name
from vera.verification.families import MAX_FAMILIES, families, web_families
from vera.verification.lookup_history import Seen
from vera.verification.passages import Passage, best, cluster_numbers, file_evidence, finds_in

NAME = "seeker/1"
PER_CLAIM = 6
"""Places that one sub-claim cites at most."""

FILE_FAMILIES = 3
FILES_LOOKED_AT = 12
"""Files of the corpus that are looked at for one sub-claim."""

HITS = 10
PER_DOMAIN = 2
PER_QUERY = 5
"""Results of one query that are opened before the next one is asked."""

BOTH_SIDES = 2
"""Query families that are asked in any case: the claim, and what would contradict it."""

Cap = Literal["sources", "searches"]


class Lead(msgspec.Struct, frozen=True, kw_only=True):
    """A source of an earlier session that may speak of the thesis: taken by the tool `kb` under its id
    `source`, or by `fetch` again from its address `name`.

    `carried`: cards about this very thesis point at it, for it or against it.
    """

    tool: str
    source: str
    name: str
    carried: bool = False


class SearchPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is looked for, and how far. Limits of 0 are none.

    `literal`: the mechanical rule decides, so only lines that it can decide on are cited; otherwise a model
    reads the likeliest lines. `sources` bounds opened documents, `searches` asked queries, `bytes` what came
    from the web and was read of files. A claim needs `needed` independent pages, or `files_needed` sources
    when a file is among them. Domains,
    classes of sources and the names of the subject are as in `vera.evidence.official`, the days `not_before`
    and `not_after` as in the audit's policy.
    """

    claims: tuple[Claim, ...]
    literal: bool
    web: bool
    files: bool
    sources: int = 0
    searches: int = 0
    bytes: int = 0
    needed: int = 2
    files_needed: int = 1
    allow_domains: tuple[str, ...] = ()
    deny_domains: tuple[str, ...] = ()
    source_types: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    not_before: str = ""
    not_after: str = ""
    names: frozenset[str] = frozenset()
    official_domains: frozenset[str] = frozenset()
    earlier: tuple[Lead, ...] = ()


class _Step(NamedTuple):
    """A thing to do, and the cap of the budget that it takes from; `again` takes nothing more of it. `size`
    is how many bytes it takes in, where that is known before."""

    cap: Cap
    turn: Turn
    again: bool = False
    size: int = 0


def _never() -> bool:
    return False


class EvidenceRetriever:
    """A `Model` without a language model. What it knows is read off the session's log.

    `seen` is what its lane has taken in. `out_of_time` says whether the time of the look-up is spent: then
    it answers with what it has.
    """

    def __init__(
        self,
        seen: Seen,
        plan: SearchPlan,
        corpus: Corpus | None,
        out_of_time: Callable[[], bool] = _never,
    ) -> None:
        self._plan = plan
        self._corpus = corpus
        self._out_of_time = out_of_time
        self._seen = seen
        self._finds: dict[tuple[str, str], list[Passage]] = {}
        self._sizes: dict[str, int] = {}
        self._clusters: dict[int, dict[str, int]] = {}
        self._cut: str | None = None

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(kind="builtin", name=NAME, protocol="text", local=True)

    async def complete(self, request: Request) -> Completion:
        """The next turn: a search, a page to open, or the answer. Never raises."""
        turn = self._next()
        return Completion(choices=(Choice(content=render(turn)),) * max(1, request.n))

    async def close(self) -> None:
        """Nothing is held open."""

    def cut(self) -> str:
        """The cap that kept the look-up from going on: sources, searches, bytes or seconds; '' for none."""
        if self._cut is None:
            self._next()
        return self._cut or ""

    def answer(self) -> str:
        """Each sub-claim as it was asked, with the places that could carry it."""
        return "\n\n".join(self._stated(claim) for claim in self._plan.claims)

    def finds(self, claim: Claim) -> list[Passage]:
        """The places that are worth citing for the claim, best first: those the rule decides on, then (with a
        model to read them) the likeliest."""
        found = [*self._file_finds(claim), *self._page_finds(claim)]
        if self._plan.literal:
            found = [find for find in found if find.relation != "IRRELEVANT"]
        return best(found, self._cluster_of(), PER_CLAIM)

    def _next(self) -> Turn:
        """The first step that the budget allows, else the answer."""
        self._cut = "seconds" if self._out_of_time() else ""
        for step in () if self._cut else self._steps():
            spent = "" if step.again else self._spent(step)
            if not spent:
                self._cut = None
                return step.turn
            self._cut = self._cut or spent
        self._cut = self._cut or self._overrun()
        return Turn(thought="Nothing is left to look at.", action=Action(final=self.answer()))

    def _overrun(self) -> str:
        """The cap of bytes, where a page did not fit into it or what was taken in is more; else ''."""
        plan, seen = self._plan, self._seen
        return "bytes" if plan.bytes and (seen.over_budget or seen.bytes > plan.bytes) else ""

    def _spent(self, step: _Step) -> str:
        """The cap that does not allow one more, '' when there is room. Where no source may be opened any
        more, searching for them is no use."""
        plan, seen, cap = self._plan, self._seen, step.cap
        if plan.bytes and (seen.bytes >= plan.bytes or seen.bytes + step.size > plan.bytes):
            return "bytes"
        if plan.sources and seen.sources >= plan.sources:
            return "sources"
        return cap if cap == "searches" and 0 < plan.searches <= seen.searches else ""

    def _steps(self) -> Iterator[_Step]:
        """What is still to be done, in order."""
        yield from self._of_earlier()
        if self._plan.files and self._corpus is not None:
            for claim in self._plan.claims:
                yield from self._in_files(claim)
        if self._plan.web:
            yield from self._on_the_web()

    def _of_earlier(self) -> Iterator[_Step]:
        """What earlier sessions found, before anything is searched: it costs a look, or one request."""
        for lead in self._plan.earlier:
            if not lead.carried and all(self._is_settled(claim) for claim in self._plan.claims):
                return
            if lead.tool == "kb" and lead.source not in self._seen.opened:
                yield _step("sources", "An earlier session had this source.", "kb", source=lead.source)
            elif lead.tool == "fetch" and lead.name not in self._seen.opened:
                yield _step(
                    "sources", "An earlier session had this page; has it changed?", "fetch", url=lead.name
                )

    def _in_files(self, claim: Claim) -> Iterator[_Step]:
        """Ask the corpus in each family, then read what could carry the claim."""
        for query in families(claim.text, FILE_FAMILIES):
            if self._seen.asked("search", query) is None:
                yield _step(
                    "searches", f"Look for {claim.key} in the files.", "search", query=query, limit=HITS
                )
        for find in self.finds(claim):
            if find.path and not self._seen.evidence_of(find):
                args = {"path": printed_name(find.path), "first": find.first, "last": find.last}
                read = _step("sources", f"These lines may speak of {claim.key}.", "read", **args)
                again = find.path in self._seen.files
                yield read._replace(again=again, size=self._sizes.get(find.path, 0))

    def _on_the_web(self) -> Iterator[_Step]:
        """Ask for every sub-claim in turn, family by family, and open the first results of each; in the end
        open what was left."""
        plan = self._plan
        queries = {claim.key: web_families(claim.text) for claim in plan.claims}
        # Both sides were asked for when the thesis was verified before; all that spoke of it was taken first.
        both = 0 if any(lead.carried for lead in plan.earlier) else BOTH_SIDES
        for rank in range(MAX_FAMILIES):
            for claim in plan.claims:
                for query in queries[claim.key][rank : rank + 1]:
                    if rank < both or not self._is_enough(claim, queries[claim.key][:rank]):
                        yield from self._ask_and_open(claim, query, self._at_first())
        for claim in plan.claims:
            yield from self._open_the_rest(claim, queries[claim.key])

    def _at_first(self) -> int:
        """How many results of a query are opened before the next one is asked."""
        plan = self._plan
        share = plan.sources // (BOTH_SIDES * max(1, len(plan.claims))) if plan.sources else PER_QUERY
        return max(plan.needed, min(PER_QUERY, share))

    def _open_the_rest(self, claim: Claim, queries: Iterable[str]) -> Iterator[_Step]:
        for query in queries:
            if not self._is_settled(claim) and self._seen.asked("web_search", query) is not None:
                yield from self._open(claim, query, HITS)

    def _is_enough(self, claim: Claim, queries: Iterable[str]) -> bool:
        """Whether to ask no more: enough was found, or these families bring nothing new."""
        calls = [self._seen.asked("web_search", query) for query in queries]
        return self._is_settled(claim) or enough([self._seen.urls(call) for call in calls if call])

    def _ask_and_open(self, claim: Claim, query: str, most: int) -> Iterator[_Step]:
        if self._seen.asked("web_search", query) is not None:
            yield from self._open(claim, query, most)
            return
        language = {"language": self._plan.languages[0]} if self._plan.languages else {}
        yield _step("searches", f"Look for {claim.key} on the web.", "web_search", query=query, **language)

    def _open(self, claim: Claim, query: str, most: int) -> Iterator[_Step]:
        """Open results of a query that was asked, until `most` of them are."""
        call = self._seen.asked("web_search", query)
        urls = self._seen.urls(call) if call else ()
        left = most - sum(url in self._seen.opened for url in urls)
        for url in list(self._wanted(urls))[: max(0, left)]:
            yield _step("sources", f"A result for {claim.key}.", "fetch", url=url)

    def _wanted(self, urls: Iterable[str]) -> Iterator[str]:
        """The results that the constraints allow and that were not opened, not many of one domain; whoever
        speaks officially first."""
        plan, opened = self._plan, self._seen.opened
        per_domain: dict[str, int] = {}
        for url in opened:
            domain = registrable_domain(url)
            per_domain[domain] = per_domain.get(domain, 0) + 1
        wanted: list[tuple[bool, str]] = []
        for url in urls:
            domain, host = registrable_domain(url), host_of(url)
            if url in opened or per_domain.get(domain, 0) >= PER_DOMAIN or is_search_engine(host):
                continue
            if not allowed(host, plan.allow_domains, plan.deny_domains):
                continue
            owned = owner(url, names=plan.names, official_domains=plan.official_domains)
            if not plan.source_types or owned.source_class in plan.source_types:
                wanted.append((not owned.official, url))
        yield from (url for _, url in sorted(wanted, key=lambda each: each[0]))

    def _is_settled(self, claim: Claim) -> bool:
        """Whether enough independent sources say it, by the rule."""
        cluster_of = self._cluster_of()
        found = (*self._file_finds(claim), *self._page_finds(claim))
        saying = [find for find in found if find.relation == "SUPPORTS" and not find.outside]
        sources = {cluster_of.get(find.document, find.document) for find in saying}
        only_web = all(find.web for find in saying)
        return len(sources) >= (self._plan.needed if only_web else self._plan.files_needed)

    def _stated(self, claim: Claim) -> str:
        cites = [
            f"[{evidence}:{find.first}-{find.last}]"
            for find in self.finds(claim)
            if (evidence := self._seen.evidence_of(find))
        ]
        return " ".join([claim.text, *dict.fromkeys(cites)])

    def _file_finds(self, claim: Claim) -> Iterator[Passage]:
        """Of the files that searches for the claim named; each file is looked at once."""
        if self._corpus is None:
            return
        paths: dict[str, None] = {}
        for query in families(claim.text, FILE_FAMILIES):
            known = self._seen.asked("search", query)
            paths.update(dict.fromkeys(self._seen.paths(known) if known is not None else ()))
        for path in list(paths)[:FILES_LOOKED_AT]:
            if (claim.key, path) not in self._finds:
                self._finds[claim.key, path] = list(self._in_file(claim, path))
            yield from self._finds[claim.key, path]

    def _in_file(self, claim: Claim, path: str) -> Iterator[Passage]:
        assert self._corpus is not None
        try:
            document = self._corpus.document(path)
        except (UnknownDocument, Unreadable, IndexUnusable):
            return
        self._sizes[path] = len(document.extracted.text)
        text = SourceText(document.extracted.text, document.extracted.marks)
        file = file_evidence(path, document.extracted.title, text, document.extracted.dated)
        late = bool(outside(file, text, self._plan.not_before, self._plan.not_after))
        yield from finds_in(claim, file, text, path=path, outside=late)

    def _page_finds(self, claim: Claim) -> Iterator[Passage]:
        for page in self._seen.pages:
            if (claim.key, page.id) not in self._finds:
                text = self._seen.text(page)
                late = bool(outside(page, text, self._plan.not_before, self._plan.not_after))
                self._finds[claim.key, page.id] = list(finds_in(claim, page, text, outside=late))
            yield from self._finds[claim.key, page.id]

    def _cluster_of(self) -> Mapping[str, int]:
        """Of each page the number of its cluster, computed once for each number of pages."""
        count = len(self._seen.pages)
        if count not in self._clusters:
            numbers = cluster_numbers([(page, self._seen.text(page)) for page in self._seen.pages])
            self._clusters = {count: numbers}
        return self._clusters[count]


def allowed(host: str, allow: Iterable[str], deny: Iterable[str]) -> bool:
    """Whether constraints let a host be reached; a domain in them stands for the names below it, too."""
    only = frozenset(allow)
    return not entry_of(host, frozenset(deny)) and (not only or bool(entry_of(host, only)))


def _step(cap: Cap, thought: str, tool: str, **args: Any) -> _Step:
    return _Step(cap, Turn(thought=thought, action=Action(tool=tool, args=args)))
