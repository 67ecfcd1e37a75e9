"""What a look-up has asked and opened so far, read off its log."""

import json
import re
from collections.abc import Sequence

from vera import events
from vera.audit.source_text import SourceText
from vera.sanitize import named
from vera.session import Reader, Session
from vera.session.session import TRACE
from vera.store import StoreError
from vera.verification.passages import Passage

_HIT = re.compile(r"^\[\d{1,3}\] (.{1,8000}) lines \d{1,9}-\d{1,9} of \d{1,9}", re.MULTILINE)
_URL = re.compile(r"^ {4}(https?://\S{1,2000})$", re.MULTILINE)
_OVER_BUDGET = ("over_budget", "search_over_budget")


class Seen:
    """The past of one lane; it listens to what comes.

    `pages` are the documents of the web and of earlier sessions that came with content, `opened` the
    addresses and names that were tried. `sources` counts documents that were opened or tried, `searches`
    queries, `bytes` what came from the web, from earlier sessions and what was read of files. `over_budget`
    says whether a page, or a search engine's answer, was refused, since it is larger than what was left of
    the cap of bytes.
    """

    def __init__(self, session: Session, lane: str) -> None:
        self._session = session
        self._lane = lane
        self._calls: dict[tuple[str, str], str] = {}
        self._leads: dict[str, events.Evidence] = {}
        self._reads: dict[tuple[str, int, int], str] = {}
        self._texts: dict[str, SourceText] = {}
        self._tried = 0
        self.pages: list[events.Evidence] = []
        self.opened: set[str] = set()
        self.files: set[str] = set()
        self.searches = 0
        self.bytes = 0
        self.over_budget = False
        for _, record in Reader(session.root / TRACE).poll():
            self._note(record)
        session.subscribe(self._note)

    @property
    def sources(self) -> int:
        return self._tried + len(self.files)

    def asked(self, tool: str, query: str) -> str | None:
        """The call that asked this, None when no one has."""
        return self._calls.get((tool, query))

    def evidence_of(self, find: Passage) -> str:
        """The id of the evidence in which the lines stand, '' when they were not read."""
        return find.page or self._reads.get((find.path, find.first, find.last), "")

    def paths(self, call: str) -> Sequence[str]:
        """The files that a search of the corpus named, best first."""
        return [named(found[1]) for found in _HIT.finditer(self._lead(call))]

    def urls(self, call: str) -> Sequence[str]:
        """The addresses that a search of the web named, best first."""
        return [found[1] for found in _URL.finditer(self._lead(call))]

    def text(self, page: events.Evidence) -> SourceText:
        """The text of a page, empty when it cannot be read."""
        sha256 = page.text.sha256
        if sha256 not in self._texts:
            try:
                self._texts[sha256] = SourceText(self._session.store.get(sha256))
            except StoreError:
                self._texts[sha256] = SourceText(b"")
        return self._texts[sha256].seen(page.marks)

    def _lead(self, call: str) -> str:
        evidence = self._leads.get(call)
        return self.text(evidence).text if evidence else ""

    def _note(self, record: events.Record) -> None:
        if record.lane != self._lane:
            return
        if isinstance(record, events.ToolStarted):
            self._started(record)
        elif isinstance(record, events.Tool):
            self.over_budget = self.over_budget or record.error_type in _OVER_BUDGET
        elif isinstance(record, events.Egress):
            self.bytes += record.bytes_down
        elif isinstance(record, events.Evidence):
            self._brought(record)

    def _started(self, record: events.ToolStarted) -> None:
        args = json.loads(self._session.load(record.args))
        self._calls[(record.tool, str(args.get("query", "")))] = record.call
        self.searches += record.tool in ("search", "web_search")
        if record.tool in ("fetch", "kb"):
            self._tried += 1
            self.opened.add(str(args.get("url" if record.tool == "fetch" else "source", "")))

    def _brought(self, evidence: events.Evidence) -> None:
        if evidence.lead:
            self._leads[evidence.call] = evidence
        elif evidence.tool in ("fetch", "kb"):
            self.opened.add(evidence.source)
            self.bytes += evidence.text.size if evidence.tool == "kb" else 0
            if (evidence.http_status or 200) < 300 and not evidence.low_signal:
                self.pages.append(evidence)
        else:
            if evidence.source not in self.files:
                self.bytes += evidence.text.size
            self.files.add(evidence.source)
            self._reads[(evidence.source, evidence.first, evidence.last)] = evidence.id
