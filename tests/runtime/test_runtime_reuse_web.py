"""What is known of the web is not asked for again: no request, one conditional request, or a new page."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from support.fake_web import Reply
from support.small_web import ENGINE, Answer, SmallWeb, listing, page, small_web
from support.verified import replay
from vera import events
from vera.attestation.objects import Attestation, hexadecimal, parse
from vera.sandbox.fetch.receipt import Receipt
from vera.session import Reader
from vera.store import Store

SAID = "The Halden bridge is 412 metres long."
ONE, TWO, THREE = "http://one.test/bridge", "http://two.test/bridge", "http://three.test/bridge"
SEARCH = f"{ENGINE}/search"
DAY = 86_400

PROGRAM = """
import asyncio, json, sys, time
from pathlib import Path
from vera.runtime.reuse import verify_or_reuse
from vera.agent.thesis import ThesisJob
from vera.attestation.lenses import load_lens
from vera.attestation.request import request_of
from vera.config import load

base, options, calls = Path(sys.argv[1]), json.loads(sys.argv[2]), json.loads(sys.argv[3])
given = [one for one in options if one != "-c"]
own = ["verification.rule=literal", "model.base_url=builtin", f"run.base_dir={base}"]
settings = load([*given, *own], {}).settings
for number, call in enumerate(calls):
    request, budget = request_of(call["thesis"], **call["asked"])
    job = ThesisJob(request=request, lens=load_lens("general"), budget=budget)
    root = base / call["root"]
    said = []
    done = asyncio.run(
        verify_or_reuse(
            job, settings, base, root, time.time() + call["later"], say=said.append
        )
    )
    verified = done.verified
    print(json.dumps({
        "result": verified.result, "reused": verified.reused, "said": said,
        "attestation": verified.attestation_id, "supersedes": verified.attestation.supersedes,
        "sources": sorted(source.name for source in verified.sources.values()),
    }))
"""


@dataclass(frozen=True)
class Call:
    """A request, and so many seconds after now."""

    root: str
    thesis: str = SAID
    scope: str = "web"
    later: float = 0
    asked: Mapping[str, Any] | None = None

    def plain(self) -> dict[str, Any]:
        asked = {"scope": self.scope, **(self.asked or {})}
        return {"root": self.root, "thesis": self.thesis, "later": self.later, "asked": asked}


def ask(base: Path, web: SmallWeb, *calls: Call) -> list[dict[str, Any]]:
    """What each request came to, one after the other in one process; what was asked before is forgotten."""
    web.asked.clear()
    web.unchanged.clear()
    given = [json.dumps(web.options), json.dumps([call.plain() for call in calls])]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, base, *given],
        env={**os.environ, **web.environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def tagged(reply: Reply, tag: str) -> Reply:
    return replace(reply, headers=(*reply.headers, ("ETag", f'"{tag}"')))


def web_of(**tags: str) -> dict[str, Answer]:
    """Two publishers that say it, and one that says nothing of it."""
    say = {
        ONE: page("Bridges of the north", "A list.", SAID),
        TWO: page("Halden", "The town of Halden has two banks.", SAID, "Ferries go at noon."),
        THREE: page("Ferries", "Ferries go at noon."),
    }
    names = {ONE: "one", TWO: "two", THREE: "three"}
    pages: dict[str, Answer] = {
        url: tagged(reply, tags[names[url]]) if names[url] in tags else reply for url, reply in say.items()
    }
    pages[SEARCH] = listing(*((url, "A bridge", "of the small web") for url in say))
    return pages


def logged(root: Path, kind: type[events.Event]) -> list[Any]:
    return [record for _, record in Reader(root / "trace.jsonl").poll() if isinstance(record, kind)]


def agrees(root: Path) -> bool:
    return {level.verdict for level in replay(root).levels} == {"AGREES"}


def test_the_same_request_asks_no_server_and_searches_nothing(tmp_path: Path) -> None:
    with small_web(web_of()) as web:
        (first,) = ask(tmp_path, web, Call("one"))
        assert {ONE, TWO, SEARCH} <= set(web.asked)
        (again,) = ask(tmp_path, web, Call("two"))
        assert web.asked == []
    assert (first["result"], again["result"]) == ("SUPPORTED", "SUPPORTED")
    assert again["reused"]
    assert again["attestation"] == first["attestation"]
    assert not (tmp_path / "two").exists()


def test_other_constraints_ask_the_known_pages_first_and_search_nothing(tmp_path: Path) -> None:
    with small_web(web_of(one="a", two="b")) as web:
        ask(tmp_path, web, Call("one"))
        (again,) = ask(tmp_path, web, Call("two", asked={"deny_domains": "three.test"}))
        assert sorted(web.asked) == sorted(web.unchanged) == [ONE, TWO]
    assert (again["result"], again["reused"], again["sources"]) == ("SUPPORTED", False, [ONE, TWO])
    assert agrees(tmp_path / "two")


def test_a_denied_domain_is_not_asked_and_what_is_missing_is_searched(tmp_path: Path) -> None:
    with small_web(web_of(one="a", two="b")) as web:
        ask(tmp_path, web, Call("one"))
        (again,) = ask(tmp_path, web, Call("two", asked={"deny_domains": "two.test"}))
        assert TWO not in web.asked
        assert ONE in web.unchanged
        assert SEARCH in web.asked
    assert again["result"] != "SUPPORTED"


def test_a_disputed_thesis_stays_disputed_under_other_constraints(tmp_path: Path) -> None:
    pages = web_of()
    pages[THREE] = page("Ferries", "The Halden bridge is 399 metres long.")
    with small_web(pages) as web:
        (first,) = ask(tmp_path, web, Call("one"))
        (again,) = ask(tmp_path, web, Call("two", asked={"deny_domains": "nobody.test"}))
        (known,) = ask(tmp_path, web, Call("three", scope="kb"))
        assert web.asked == []
    assert [each["result"] for each in (first, again, known)] == ["DISPUTED"] * 3


def test_an_expired_verdict_is_renewed_by_asking_whether_its_pages_have_changed(tmp_path: Path) -> None:
    with small_web(web_of(one="a", two="b")) as web:
        call = Call("one", asked={"volatility": "fast"})
        (first,) = ask(tmp_path, web, call)
        (again,) = ask(tmp_path, web, replace(call, root="two", later=2 * DAY))
        assert sorted(web.asked) == sorted(web.unchanged) == [ONE, TWO]
    assert (again["result"], again["reused"]) == ("SUPPORTED", False)
    assert again["attestation"] != first["attestation"]
    assert "expired" in again["said"][0]
    before, after = (
        {each.source: each for each in logged(tmp_path / name, events.Evidence) if each.receipt}
        for name in ("one", "two")
    )
    assert {url: each.text for url, each in after.items()} == {url: before[url].text for url in after}
    assert {url: each.raw for url, each in after.items()} == {url: before[url].raw for url in after}
    receipts = [_receipt(tmp_path / "two", each) for each in after.values()]
    assert [(each.status, each.wire_size) for each in receipts] == [(304, 0), (304, 0)]
    assert all(each.http_status == 200 for each in after.values())
    assert agrees(tmp_path / "two")


def test_a_page_that_has_changed_is_taken_anew_and_decides(tmp_path: Path) -> None:
    call = Call("one", asked={"volatility": "fast"})
    pages = web_of(one="a", two="b")
    with small_web(pages) as web:
        ask(tmp_path, web, call)
        pages[TWO] = tagged(page("Halden", "The Halden bridge is 399 metres long."), "c")
        (again,) = ask(tmp_path, web, replace(call, root="two", later=2 * DAY))
        assert TWO in web.asked
        assert web.unchanged == [ONE]
    assert again["result"] != "SUPPORTED"
    assert agrees(tmp_path / "two")


def test_a_page_without_a_validator_is_fetched_whole(tmp_path: Path) -> None:
    with small_web(web_of(one="a")) as web:
        ask(tmp_path, web, Call("one"))
        (again,) = ask(tmp_path, web, Call("two", asked={"deny_domains": "three.test"}))
        assert sorted(web.asked) == [ONE, TWO]
        assert web.unchanged == [ONE]
    assert again["result"] == "SUPPORTED"


def test_scope_kb_takes_what_earlier_sessions_captured_and_asks_nobody(tmp_path: Path) -> None:
    with small_web(web_of()) as web:
        ask(tmp_path, web, Call("one"))
        (again,) = ask(tmp_path, web, Call("two", scope="kb"))
        assert web.asked == []
    assert (again["result"], again["sources"]) == ("SUPPORTED", [ONE, TWO])
    assert {each.tool for each in logged(tmp_path / "two", events.Evidence)} == {"kb"}
    assert agrees(tmp_path / "two")


def test_scope_kb_finds_sources_of_another_thesis_by_their_words(tmp_path: Path) -> None:
    other = "The town of Halden has two banks."
    with small_web(web_of()) as web:
        ask(tmp_path, web, Call("one"))
        (again,) = ask(tmp_path, web, Call("two", thesis=other, scope="kb"))
        assert web.asked == []
    assert {each.source for each in logged(tmp_path / "two", events.Evidence)} >= {TWO}
    assert again["result"] != "SUPPORTED", "one publisher is not two"


def test_of_a_page_only_its_newest_capture_is_known(tmp_path: Path) -> None:
    pages = web_of()
    with small_web(pages) as web:
        ask(tmp_path, web, Call("one"))
        pages[TWO] = page("Halden", "The town of Halden has two banks.", "Its bridge was taken down.")
        ask(tmp_path, web, Call("two", asked={"deny_domains": "nobody.test"}))
        (again,) = ask(tmp_path, web, Call("three", scope="kb"))
    assert again["result"] != "SUPPORTED"
    assert len({each.text for each in logged(tmp_path / "three", events.Evidence) if each.source == TWO}) == 1


def test_kb_gives_nothing_that_is_older_than_a_verdict_could_be(tmp_path: Path) -> None:
    with small_web(web_of()) as web:
        ask(tmp_path, web, Call("one"))
        (again,) = ask(tmp_path, web, Call("two", scope="web,kb", asked={"volatility": "live"}))
        assert {ONE, TWO} <= set(web.asked)
    assert {each.tool for each in logged(tmp_path / "two", events.Evidence) if not each.lead} == {"fetch"}
    assert again["result"] == "SUPPORTED"


@pytest.mark.parametrize("window", [{"not_before": "2024-01-01"}, {"not_after": "2022-12-31"}])
def test_kb_leaves_out_what_was_published_outside_the_time_window(
    tmp_path: Path, window: dict[str, str]
) -> None:
    pages = web_of()
    pages[ONE] = page("Bridges of the north", "Published on 3 May 2023.", SAID)
    with small_web(pages) as web:
        ask(tmp_path, web, Call("one"))
        ask(tmp_path, web, Call("two", scope="kb", asked=window))
    assert ONE not in {each.source for each in logged(tmp_path / "two", events.Evidence)}


def _receipt(root: Path, evidence: events.Evidence) -> Receipt:
    assert evidence.receipt is not None
    return msgspec.json.decode(Store(root / "store").get(evidence.receipt.sha256), type=Receipt)


def test_a_renewed_attestation_names_the_one_that_it_supersedes(tmp_path: Path) -> None:
    with small_web(web_of(one="a", two="b")) as web:
        call = Call("one", asked={"volatility": "fast"})
        (first,) = ask(tmp_path, web, call)
        (again,) = ask(tmp_path, web, replace(call, root="two", later=2 * DAY))
    stored = Store(tmp_path / "two" / "store").get(hexadecimal(again["attestation"]))
    assert parse(stored, Attestation).supersedes == again["supersedes"] == first["attestation"]
    assert agrees(tmp_path / "two")
