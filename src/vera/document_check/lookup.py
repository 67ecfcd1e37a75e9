"""Look up the references of a document at Crossref, OpenAlex and doi.org, under the egress policy."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from datetime import date

import msgspec

from vera.agent.errors import SetupError
from vera.agent.web import network_policy
from vera.config.settings import BibliographySettings, EgressSettings
from vera.document_check.findings import Problem
from vera.document_check.reference_findings import (
    IndexAnswer,
    Looked,
    ReferenceChecked,
    best,
    checked,
    problems,
)
from vera.document_check.references import Reference
from vera.sandbox.egress.dial import Dialer
from vera.sandbox.egress.secrets import Secrets
from vera.sandbox.fetch.exchange import Fields
from vera.sandbox.fetch.fetcher import Fetcher, FetchLimits
from vera.sandbox.fetch.receipt import Fetched
from vera.websearch import LIMITS, Clock, Query, instance_policy
from vera.websearch.client import EngineClient
from vera.websearch.searxng import check_url
from vera.websearch.works import Crossref, DoiRegistry, Index, OpenAlexWorks, Work, says_unregistered

_NOT_FOUND = 404


class Indexes(msgspec.Struct, frozen=True, kw_only=True):
    """Where references are looked up. `mailto` is an address that the indexes may write to, '' for none;
    `most` is how many references are looked up at most."""

    settings: BibliographySettings
    egress: EgressSettings
    secrets: tuple[str, ...] = ()
    mailto: str = ""
    most: int = 200


class Bibliography(msgspec.Struct, frozen=True, kw_only=True):
    """The references with what is known of them, the problems, and the bytes of the answers."""

    references: tuple[ReferenceChecked, ...]
    problems: tuple[Problem, ...]
    bodies: tuple[bytes, ...]


def look_up(
    references: Sequence[Reference],
    indexes: Indexes,
    now: Callable[[str], None],
    *,
    clock: Clock | None = None,
    limits: FetchLimits = LIMITS,
) -> Bibliography:
    """Ask the indexes about each reference, one after the other. `now` hears how far it is.

    Raises SetupError (2): an address of an index that cannot be read, or an egress policy that forbids all.
    """
    return asyncio.run(_look_up(references, indexes, now, clock or Clock(), limits))


async def _look_up(
    references: Sequence[Reference],
    indexes: Indexes,
    now: Callable[[str], None],
    clock: Clock,
    limits: FetchLimits,
) -> Bibliography:
    settings, mailto = indexes.settings, indexes.mailto
    crossref = _Asker(Crossref(settings.crossref_url, mailto), settings.crossref_url, indexes, clock, limits)
    openalex = _Asker(
        OpenAlexWorks(settings.openalex_url, mailto), settings.openalex_url, indexes, clock, limits
    )
    registry = _Asker(DoiRegistry(settings.doi_url), settings.doi_url, indexes, clock, limits)
    known: dict[tuple[str, str], Looked] = {}
    out: list[ReferenceChecked] = []
    said: list[Problem] = []
    for number, reference in enumerate(references, 1):
        key = ("doi", reference.doi.lower()) if reference.doi else ("title", reference.text)
        if key not in known:
            if len(known) >= indexes.most:
                looked = Looked(failed=f"more than {indexes.most} references; raise --max-links")
            elif reference.doi:
                looked = await _by_doi(reference.doi, crossref, openalex, registry)
            else:
                looked = await _by_title(reference, crossref, openalex)
            known[key] = looked
        out.append(checked(reference, known[key]))
        said += problems(reference, known[key])
        now(f"{number} of {len(references)} references")
    bodies = {**crossref.bodies, **openalex.bodies, **registry.bodies}
    return Bibliography(references=tuple(out), problems=tuple(said), bodies=tuple(bodies.values()))


class _Said(msgspec.Struct, frozen=True):
    """One answer of an index: its works (none: it has no such work), or why it could not be used."""

    works: tuple[Work, ...]
    answer: IndexAnswer
    body: bytes = b""

    @property
    def failed(self) -> str:
        return self.answer.reason


async def _by_doi(doi: str, crossref: "_Asker", openalex: "_Asker", registry: "_Asker") -> Looked:
    said = [await crossref.ask(doi), await openalex.ask(doi)]
    works = _named(said)
    if works:
        return Looked(works=works, answers=_answers(said))
    last = await registry.ask(doi)
    said.append(last)
    registered = True if last.works else False if says_unregistered(last.body) else None
    failed = next((each.failed for each in said if each.failed), "") if registered is None else ""
    return Looked(registered=registered, failed=failed, answers=_answers(said))


async def _by_title(reference: Reference, crossref: "_Asker", openalex: "_Asker") -> Looked:
    said: list[_Said] = []
    for index, words in ((crossref, reference.text), (openalex, reference.title)):
        came = await index.ask(words)
        work = best(came.works, reference)
        said.append(msgspec.structs.replace(came, works=(work,) if work else ()))
        if work is not None:
            break
    works = _named(said)
    failed = "" if works else next((each.failed for each in said if each.failed), "")
    return Looked(works=works, failed=failed, answers=_answers(said))


def _named(said: Iterable[_Said]) -> tuple[tuple[str, Work], ...]:
    return tuple((each.answer.index, each.works[0]) for each in said if each.works)


def _answers(said: Iterable[_Said]) -> tuple[IndexAnswer, ...]:
    return tuple(each.answer for each in said)


class _Asker:
    """One index with what has become of it: its intervals and back-off, and the bytes that it sent."""

    def __init__(self, index: Index, base: str, indexes: Indexes, clock: Clock, limits: FetchLimits) -> None:
        policy = network_policy(indexes.egress)
        if policy is None:
            raise SetupError(
                "--bibliography asks Crossref and OpenAlex, but egress.mode=none forbids it. Leave one of "
                "the two out.",
                2,
            )
        if problem := check_url(base):
            raise SetupError(f"bibliography.{index.name}_url: {problem}", 2)
        # A mirror may be in the local network. Under an allow-list it must be on the list as any host.
        narrow = instance_policy(base, policy) if policy.mode == "public" else policy
        self._index = index
        self._secrets = Secrets(indexes.secrets)
        self._fetcher = _Keeping(narrow, Dialer(narrow.addresses), secrets=self._secrets, limits=limits)
        self._client = EngineClient(index, clock)
        self.bodies: dict[str, bytes] = {}

    async def ask(self, text: str) -> _Said:
        """What the index has for a DOI or the words of a reference; a 404 is an answer, and says nothing."""
        query = Query(text=text, kind="papers", count=1, today=date.min)
        self._fetcher.forget()
        attempted = await self._client.search(query, self._fetcher, self._secrets)
        call, came = attempted.call, self._fetcher.last()
        reason = "" if attempted.answer or call.http_status == _NOT_FOUND else call.reason.rstrip(".")
        withheld = came is None or call.cause == "secret"
        answer = IndexAnswer(
            index=self._index.name,
            url=self._index.request(query).url,
            http_status=call.http_status,
            sha256="" if came is None or withheld else came.receipt.sha256,
            reason=reason,
        )
        if came is None or withheld:
            return _Said((), answer)
        self.bodies[came.receipt.sha256] = came.body
        return _Said(self._index.works(came.body) if attempted.answer else (), answer, came.body)


class _Keeping(Fetcher):
    """A fetcher that keeps the last response, whatever its status."""

    _last: Fetched | None = None

    def last(self) -> Fetched | None:
        return self._last

    def forget(self) -> None:
        self._last = None

    async def ask(self, url: str, fields: Fields) -> Fetched:
        self._last = await super().ask(url, fields)
        return self._last
