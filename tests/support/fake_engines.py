"""Answers of the other engines in their wire formats, and pages that stand where answers should."""

import json
from collections.abc import Sequence
from typing import Any

from support.fake_web import Reply

HTML = ("Content-Type", "text/html; charset=utf-8")


def page(text: str, status: int = 200, *headers: tuple[str, str]) -> Reply:
    body = f"<!DOCTYPE html><html><head><title>{text}</title></head><body>{text}</body></html>"
    return Reply(body.encode(), status, (HTML, *headers))


CHALLENGE = page("Just a moment... verify you are human", 403, ("cf-mitigated", "challenge"))
SEARXNG_HTML = page('<meta name="generator" content="searxng/2026.2.6">', 200)


def searxng(results: Sequence[Any], unresponsive: Sequence[Any] = ()) -> Reply:
    body = {
        "query": "q",
        "number_of_results": 0,
        "results": list(results),
        "answers": [],
        "corrections": [],
        "infoboxes": [],
        "suggestions": [],
        "unresponsive_engines": list(unresponsive),
    }
    return Reply(json.dumps(body).encode())


SEARXNG_RESULT: dict[str, Any] = {
    "url": "https://found.example/a",
    "title": "A page",
    "content": "What it <b>says</b>",
    "publishedDate": "2024-05-06T00:00:00",
    "engine": "duckduckgo",
    "engines": ["duckduckgo", "qwant"],
    "category": "general",
    "score": 1.5,
}


def wikipedia(titles: Sequence[str]) -> Reply:
    found = [
        {
            "ns": 0,
            "title": title,
            "pageid": 7,
            "snippet": f'the <span class="searchmatch">{title}</span> &quot;is&quot;',
            "timestamp": "2025-01-02T03:04:05Z",
        }
        for title in titles
    ]
    query = {"searchinfo": {"totalhits": len(found)}, "search": found}
    return Reply(json.dumps({"batchcomplete": True, "query": query}).encode())


GOOD_WIKIPEDIA = wikipedia(["Ada Lovelace"])

OPENALEX_WORK: dict[str, Any] = {
    "id": "https://openalex.org/W1",
    "doi": "https://doi.org/10.1000/xyz",
    "display_name": "Deep <i>things</i>",
    "publication_date": "2021-07-08",
    "primary_location": {
        "landing_page_url": "https://journal.example/article/1",
        "source": {"display_name": "Journal of Things"},
    },
    "abstract_inverted_index": {"Things": [0], "are": [1, 3], "deep;": [2], "they": [4]},
    "cited_by_count": 42,
}


def openalex(works: Sequence[Any]) -> Reply:
    return Reply(json.dumps({"meta": {"count": len(works)}, "results": list(works)}).encode())


def atom(*entries: str, before: str = "") -> Reply:
    text = (
        f'<?xml version="1.0" encoding="UTF-8"?>{before}<feed xmlns="http://www.w3.org/2005/Atom">'
        f"<title>ArXiv Query</title>{''.join(entries)}</feed>"
    )
    return Reply(text.encode(), headers=(("Content-Type", "application/atom+xml"),))


ATOM_ENTRY = """<entry>
  <id>http://arxiv.org/abs/2601.16206v2</id>
  <updated>2026-01-23T00:00:00Z</updated>
  <published>2026-01-22T18:00:00Z</published>
  <title>Agents in
    a sandbox</title>
  <summary>  If x &lt; y, agents learn.  </summary>
  <author><name>A. Author</name></author>
</entry>"""
ATOM_ERROR = """<entry><id>https://arxiv.org/api/errors#incorrect_id_format</id><title>Error</title>
<summary>incorrect id format for 1</summary></entry>"""
