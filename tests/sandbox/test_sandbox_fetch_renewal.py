"""A page that was fetched before is asked for on the condition that it has changed."""

import asyncio
from collections.abc import Callable

import msgspec
import pytest

from support.fake_web import Asked, FakeWeb, Reply, fake_web, fetcher_to
from vera.sandbox.fetch.fetcher import FetchLimits
from vera.sandbox.fetch.receipt import Fetched, FetchError
from vera.sandbox.fetch.renewal import confirmed, validators

TEXT = (("Content-Type", "text/plain; charset=utf-8"),)
TAG = ("ETag", '"v1"')
DATE = ("Last-Modified", "Mon, 03 Nov 2025 10:00:00 GMT")
LIMITS = FetchLimits(body=1 << 20, wire=1 << 20, redirects=2, silence=0.5, total=3.0)


def twice(
    answer: Callable[[Asked], Reply],
    path: str = "/page",
    kept: Callable[[Fetched], Fetched] = lambda got: got,
) -> tuple[Fetched, Fetched, FakeWeb]:
    """What two fetches of a path bring, the second one knowing the first."""

    async def run() -> tuple[Fetched, Fetched, FakeWeb]:
        async with fake_web(answer) as web:
            fetcher = fetcher_to(web.port, limits=LIMITS)
            first = kept(await fetcher.fetch(web.url + path))
            fetcher = fetcher_to(web.port, limits=LIMITS)
            fetcher._kept = {first.receipt.url: first}.get
            return first, await fetcher.fetch(web.url + path), web

    return asyncio.run(run())


def unless_known(asked: Asked) -> Reply:
    if asked.headers.get("if-none-match") == TAG[1]:
        return Reply(b"", 304, (TAG,))
    return Reply(b"Hello.", headers=(*TEXT, TAG, DATE))


def test_a_page_that_has_not_changed_is_the_kept_bytes_under_a_new_receipt() -> None:
    first, again, web = twice(unless_known)
    assert web.asked[1].headers["if-none-match"] == TAG[1]
    assert web.asked[1].headers["if-modified-since"] == DATE[1]
    assert (again.body, again.status) == (b"Hello.", 200)
    receipt = again.receipt
    assert (receipt.status, receipt.wire_size) == (304, 0)
    assert (receipt.size, receipt.sha256) == (first.receipt.size, first.receipt.sha256)
    assert (receipt.media_type, receipt.charset) == ("text/plain", "utf-8")
    assert receipt.started > first.receipt.started


def test_it_can_be_asked_again_after_that() -> None:
    _, again, _ = twice(unless_known)
    assert set(validators(again.receipt)) == {("If-None-Match", TAG[1]), ("If-Modified-Since", DATE[1])}


def test_a_page_that_has_changed_is_the_new_bytes() -> None:
    pages = iter((b"Hello.", b"Good evening."))
    _, again, web = twice(lambda asked: Reply(next(pages), headers=(*TEXT, TAG)))
    assert "if-none-match" in web.asked[1].headers
    assert (again.body, again.status, again.receipt.status) == (b"Good evening.", 200, 200)


def test_without_a_validator_the_page_is_simply_fetched() -> None:
    _, again, web = twice(lambda asked: Reply(b"Hello.", headers=TEXT))
    assert not {"if-none-match", "if-modified-since"} & web.asked[1].headers.keys()
    assert again.receipt.status == 200


def test_the_condition_goes_only_to_the_address_that_gave_the_bytes() -> None:
    def answer(asked: Asked) -> Reply:
        if asked.path == "/old":
            return Reply(b"", 302, (("Location", "/new"),))
        return unless_known(asked)

    _, again, web = twice(answer, "/old")
    assert [each.path for each in web.asked] == ["/old", "/new", "/old", "/new"]
    assert "if-none-match" not in web.asked[2].headers
    assert "if-none-match" in web.asked[3].headers
    assert (again.body, again.receipt.status, len(again.receipt.redirects)) == (b"Hello.", 304, 1)


def test_an_unasked_304_brings_no_bytes() -> None:
    _, again, _ = twice(lambda asked: Reply(b"", 304, TEXT))
    assert (again.body, again.status) == (b"", 304)


@pytest.mark.parametrize("value", ["", " ", "a\nb", "a\x00", "é", "x" * 2000])
def test_a_validator_that_is_no_plain_line_is_not_sent(value: str) -> None:
    first, _, _ = twice(unless_known)
    receipt = msgspec.structs.replace(first.receipt, headers=(("etag", value), ("last-modified", value)))
    assert validators(receipt) == ()


def test_of_an_error_page_nothing_is_asked_again() -> None:
    first, _, _ = twice(lambda asked: Reply(b"No.", 404, (*TEXT, TAG)))
    assert validators(first.receipt) == ()


def test_a_confirmed_page_keeps_how_its_bytes_came() -> None:
    first, again, _ = twice(unless_known)
    before = msgspec.structs.replace(first.receipt, encoding="gzip")
    made = confirmed(msgspec.structs.replace(first, receipt=before), again.receipt)
    assert made.receipt.encoding == "gzip"


def test_redirects_are_still_counted() -> None:
    async def run() -> None:
        async with fake_web(lambda asked: Reply(b"", 302, (("Location", "/again"),))) as web:
            await fetcher_to(web.port, limits=LIMITS).fetch(web.url)

    with pytest.raises(FetchError, match="redirected more than"):
        asyncio.run(run())
