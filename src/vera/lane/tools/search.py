"""`search`: the full-text index of the input folder."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from vera.corpus import Found, Hit, IndexUnusable
from vera.lane.tools import Call, EvidenceDraft, Outcome, failed
from vera.protocol.turn import ToolSpec
from vera.sanitize import one_line, printed_name
from vera.text.span import Lines

DEFAULT_HITS = 8
_BY = {"meaning": "meaning", "both": "words and meaning"}

SPEC = ToolSpec(
    name="search",
    description=(
        'Search the input files by words (or a "phrase"). Shows the best passages with file and lines. '
        "A hit is a lead: read its lines before you cite them."
    ),
    properties={
        "query": {"type": "string"},
        "limit": {"type": "integer", "minimum": 1, "maximum": 20},
    },
    required=("query",),
)


class Searched(Protocol):
    """What is searched: a corpus, or the pages that a run captured."""

    def search(self, query: str, limit: int = DEFAULT_HITS) -> Found:
        """Raises IndexUnusable."""
        ...


class Search:
    """The tool over one corpus."""

    spec = SPEC

    def __init__(self, corpus: Searched, files: int) -> None:
        self._corpus = corpus
        self._files = files

    async def run(self, args: Mapping[str, Any], call: Call) -> Outcome:
        query = one_line(args["query"])
        if not query:
            return failed("search", "empty", "the query is empty; give the words to look for")
        try:
            # In a thread: files that have changed are indexed first, while other lanes go on.
            limit = args.get("limit", DEFAULT_HITS)
            found = await asyncio.to_thread(self._corpus.search, args["query"], limit)
        except IndexUnusable as error:
            return failed("search", "index", str(error))
        hits = found.hits
        if hits:
            count = f"{self._files} files indexed; {len(hits)} hits, best first; read a hit to cite it."
        else:
            count = f"{self._files} files indexed; no hit. Try other words, or fewer."
        body = "\n".join([count, *([found.note] if found.note else []), *_within(hits, call.room)])
        text = (body + "\n").encode("utf-8", "replace")
        lines = len(Lines(text))
        return Outcome(
            header=f'search "{query}" · captured',
            body=body,
            evidence=EvidenceDraft(
                tier="captured",
                source="search of the input folder",
                summary=f'search "{one_line(query, 80)}" · {len(hits)} hits',
                text=text,
                first=1,
                last=lines,
                lines=lines,
                lead=True,
                media_type="text/plain",
                extractor="search/1",
            ),
        )


def _within(hits: Sequence[Hit], room: int) -> list[str]:
    """The hits as lines, as many as fit; the first is always shown."""
    out: list[str] = []
    for rank, hit in enumerate(hits, 1):
        page = f" page {hit.page}" if hit.page else ""
        where = f"{printed_name(hit.path)} lines {hit.first}-{hit.last} of {hit.lines_total}{page}"
        by = "" if hit.by == "words" else f", by {_BY[hit.by]}"
        head = f"[{rank}] {where} (score {hit.score:.2f}{by})"
        body = [f"{number}| {line}" for number, line in enumerate(hit.text.split("\n"), hit.first)]
        room -= len(head) + sum(len(line.encode("utf-8", "replace")) + 1 for line in body)
        if room < 0 and rank > 1:
            out.append(f"[{len(hits) - rank + 1} more hits not shown]")
            break
        out += [head, *body]
    return out
