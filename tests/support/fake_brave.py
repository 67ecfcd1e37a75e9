"""Brave's search interface on loopback: its wire format for web and news, and its ways to say no."""

import contextlib
import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from support.fake_web import Asked, FakeWeb, Reply, fake_web

KEY = "BSA-test-key-0123456789"

JSON = ("Content-Type", "application/json")


def web_result(number: int, **changes: Any) -> dict[str, Any]:
    """One result of /web/search."""
    return {
        "type": "search_result",
        "subtype": "generic",
        "title": f"Page <strong>{number}</strong> &amp; more",
        "url": f"https://site{number}.example/page",
        "description": f"About <strong>windows 12</strong>, number {number}.",
        "page_age": "2025-03-01T10:00:00",
        "age": "March 1, 2025",
        "profile": {"name": f"Site {number}", "url": f"https://site{number}.example", "img": "x"},
        "meta_url": {
            "scheme": "https",
            "netloc": f"site{number}.example",
            "hostname": f"site{number}.example",
        },
        "language": "en",
        "family_friendly": True,
        **changes,
    }


def news_result(number: int, **changes: Any) -> dict[str, Any]:
    """One result of /news/search."""
    return {
        "type": "news_result",
        "title": f"News {number}",
        "url": f"https://paper{number}.example/story",
        "description": f"Story {number}.",
        "age": "3 hours ago",
        "page_age": "2025-03-02T08:30:00",
        "meta_url": {"hostname": f"paper{number}.example"},
        "thumbnail": {"src": "https://img.example/x.jpg"},
        **changes,
    }


def web_answer(results: Sequence[Any]) -> Reply:
    part = {"web": {"type": "search", "results": list(results), "family_friendly": True}} if results else {}
    return as_json({"query": {"original": "q"}, "mixed": {"type": "mixed"}, "type": "search", **part})


def news_answer(results: Sequence[Any]) -> Reply:
    return as_json({"type": "news", "query": {"original": "q"}, "results": list(results)})


def as_json(value: object, status: int = 200, *headers: tuple[str, str]) -> Reply:
    return Reply(json.dumps(value).encode(), status, (JSON, *headers))


def error(status: int, code: str, detail: str, *headers: tuple[str, str]) -> Reply:
    """Brave's error object."""
    body = {"id": "1", "status": status, "code": code, "detail": detail, "meta": {}}
    return as_json({"type": "ErrorResponse", "error": body, "time": 1}, status, *headers)


def too_many(*headers: tuple[str, str]) -> Reply:
    return error(429, "RATE_LIMITED", "Request rate limit exceeded for plan.", *headers)


class FakeBrave:
    """Answers in turn with `script`, and when that is used up as the interface does."""

    def __init__(self, script: Sequence[Reply] = (), results: int = 12) -> None:
        self.script = list(script)
        self.results = results

    def __call__(self, asked: Asked) -> Reply:
        if asked.headers.get("x-subscription-token") != KEY:
            return error(422, "SUBSCRIPTION_TOKEN_INVALID", "The provided subscription token is invalid.")
        if self.script:
            return self.script.pop(0)
        count = min(self.results, int(asked.parameters.get("count", "20")))
        if asked.path == "/res/v1/web/search":
            return web_answer([web_result(number) for number in range(1, count + 1)])
        if asked.path == "/res/v1/news/search":
            return news_answer([news_result(number) for number in range(1, count + 1)])
        return Reply(b"not found", 404)


@contextlib.asynccontextmanager
async def fake_brave(
    script: Sequence[Reply] = (), *, results: int = 12, answer: Callable[[Asked], Reply] | None = None
) -> AsyncIterator[FakeWeb]:
    async with fake_web(answer or FakeBrave(script, results)) as web:
        yield web
