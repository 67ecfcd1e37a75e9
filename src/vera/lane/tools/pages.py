"""Pages that a run captured, and what it carries over from the session before, searched and read as files
of an input folder are, each under its address or name."""

from collections.abc import Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any

import msgspec

from vera.corpus import Corpus, Found, Hit
from vera.events import Evidence
from vera.lane.tools import Call, Outcome, Tool
from vera.lane.tools.read import SPEC
from vera.sanitize import named, one_line
from vera.state import RunState
from vera.store import Store, StoreError
from vera.text.passages import Passages

MAX_PAGES = 200
MAX_BYTES = 16 << 20
"""Pages that are searched, the newest, and the bytes of their text together."""

AROUND = 2
"""Lines that a hit has before and after the one that was found."""

NAME_SHOWN = 300


def pages_of(state: RunState) -> dict[str, Evidence]:
    """The pages of the web that the run captured with their content, and the documents that it carries over,
    by address on one line: of each address the newest, of all the newest MAX_PAGES."""
    found: dict[str, Evidence] = {}
    for each in reversed(tuple(state.evidence.values())):
        if _is_page(each) and _has_content(each):
            found.setdefault(one_line(each.source, NAME_SHOWN), each)
        if len(found) == MAX_PAGES:
            break
    return found


def _is_page(evidence: Evidence) -> bool:
    """Whether it came from the web, or from the session before."""
    came = evidence.receipt is not None or evidence.carried is not None
    return came and evidence.tier == "captured" and not evidence.lead


def _has_content(evidence: Evidence) -> bool:
    is_answer = (evidence.http_status or 200) < 400
    return is_answer and bool(evidence.lines) and not evidence.low_signal


class Pages:
    """Searched as a corpus is, together with the `corpus` of the input folder where there is one."""

    def __init__(self, pages: Mapping[str, Evidence], store: Store, corpus: Corpus | None) -> None:
        self._corpus = corpus
        self._texts: dict[str, list[str]] = {}
        self._places: list[tuple[str, int]] = []
        self._sources = {name: page.text.sha256 for name, page in pages.items()}
        size = 0
        for name, page in pages.items():
            size += page.text.size
            if size > MAX_BYTES:
                break
            try:
                text = store.get(page.text.sha256)
            except StoreError:
                continue
            self._texts[name] = text.decode("utf-8", "replace").removesuffix("\n").split("\n")
            self._places += [(name, number) for number in range(1, len(self._texts[name]) + 1)]
        self._passages = Passages(list(chain.from_iterable(self._texts.values())))

    def search(self, query: str, limit: int = 8) -> Found:
        """The best lines of the pages with those around them, in turn with the hits in the files.

        Raises IndexUnusable.
        """
        files = self._corpus.search(query, limit) if self._corpus is not None else Found(hits=())
        both = chain.from_iterable(zip_longest(files.hits, self._hits(query, limit)))
        return Found(hits=tuple(hit for hit in both if hit is not None)[:limit], note=files.note)

    def _hits(self, query: str, limit: int) -> Sequence[Hit]:
        best = [each for each in self._passages.best(query, limit) if each.score > 0]
        top = max((each.score for each in best), default=1.0)
        hits: list[Hit] = []
        for each in best:
            name, number = self._places[each.first - 1]
            lines = self._texts[name]
            first, last = max(1, number - AROUND), min(len(lines), number + AROUND)
            if any(hit.path == name and hit.first <= number <= hit.last for hit in hits):
                continue
            hits.append(
                Hit(
                    path=name,
                    title="",
                    score=each.score / top,
                    first=first,
                    last=last,
                    chunk_first=first,
                    chunk_last=last,
                    lines_total=len(lines),
                    page=None,
                    text="\n".join(lines[first - 1 : last]),
                    source=self._sources[name],
                    matched=(),
                    missing=(),
                )
            )
        return hits


class ReadPages:
    """`read`, which also takes the address of a captured page."""

    spec = SPEC

    def __init__(self, pages: Mapping[str, Evidence], read: Tool) -> None:
        self._pages = pages
        self._read = read

    async def run(self, args: Mapping[str, Any], call: Call) -> Outcome:
        path = args["path"].strip()
        page = next((self._pages[name] for name in _names(path) if name in self._pages), None)
        if page is None:
            return await self._read.run(args, call)
        outcome = await self._read.run({**args, "path": page.id}, call)
        name = one_line(args["path"], NAME_SHOWN)
        header = outcome.header.replace(f"read {page.id} ({page.source})", f"read {name}", 1)
        return msgspec.structs.replace(outcome, header=header)


def _names(path: str) -> tuple[str, ...]:
    """The names of a page that a path may be: as search shows it, and as it is."""
    return named(path), path, path.removeprefix("/input/")
