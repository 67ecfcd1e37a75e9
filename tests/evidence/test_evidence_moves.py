"""What a call is about, and what kind of move it makes after earlier ones."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.evidence.moves import MAX_TARGETS, CallIntent, aim, move_type, signature
from vera.evidence.official import official_names

NAMES = official_names("Has Apple released a car yet?")
MOVE_TYPES = {
    "non_search", "initial", "retry", "reformulate", "same_domain", "source_shift", "domain_shift",
}  # fmt: skip


def aimed(tool: str, **args: Any) -> CallIntent:
    return aim(tool, args, names=NAMES, official_domains=frozenset(), families=())


def domains(found: CallIntent) -> list[str]:
    return [target.domain for target in found.targets]


def test_a_fetch_is_about_its_address_without_the_archive() -> None:
    found = aimed("fetch", url="https://web.archive.org/web/2020/https://www.apple.com/newsroom/")
    (target,) = found.targets
    assert (target.url, target.domain) == ("https://www.apple.com/newsroom/", "apple.com")
    assert (target.official, target.source_class, found.vector) == (True, "official", "ground_truth")
    assert (found.query, found.family) == ("", "")


def test_a_page_of_results_is_a_search_and_no_source() -> None:
    found = aim(
        "fetch",
        {"url": "https://www.google.com/search?q=google+cars"},
        names=frozenset({"google"}),
        official_domains=frozenset(),
        families=(),
    )
    (target,) = found.targets
    assert (target.official, target.source_class) == (False, "search")
    assert (found.query, found.family, found.vector) == ("google cars", "car googl", "search")


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("web_search", {"query": "Apple  cars\n"}),
        ("brave_search", {"q": "Apple cars"}),
        ("brave_news", {"query": "Apple cars"}),
        ("search", {"query": "Apple cars", "q": ""}),
    ],
)
def test_a_search_has_a_query_and_no_address(tool: str, args: dict[str, str]) -> None:
    assert aimed(tool, **args) == CallIntent(tool, (), "Apple cars", "appl car", "search")


def test_a_query_joins_the_family_that_is_known() -> None:
    args = {"query": "release of the Apple cars 2025"}
    known = ["mountain tallest", "appl car releas"]
    found = aim("web_search", args, names=NAMES, official_domains=frozenset(), families=known)
    assert found.family == "appl car releas"


def test_a_command_is_about_every_address_in_it() -> None:
    found = aimed(
        "shell",
        cmd="curl -s 'https://carbuzz.com/a?x=1&y=2' && wget HTTP://news.BBC.co.uk/1; "
        "echo (see https://en.wikipedia.org/wiki/Apple_car), https://carbuzz.com/a?x=1&y=2 https://$HOST/x",
    )
    assert domains(found) == ["carbuzz.com", "bbc.co.uk", "wikipedia.org"]
    assert found.targets[0].url == "https://carbuzz.com/a?x=1&y=2"
    assert (found.query, found.family, found.vector) == ("Apple car", "appl car", "context")
    assert not any(target.official for target in found.targets)


def test_the_addresses_of_a_command_are_bounded() -> None:
    found = aimed("shell", cmd=" ".join(f"https://site{each}.example/" for each in range(1000)))
    assert len(found.targets) == MAX_TARGETS


def test_a_backslash_hides_no_host() -> None:
    assert domains(aimed("shell", cmd="curl http://evil.com\\@apple.com/")) == ["evil.com"]
    assert domains(aimed("fetch", url="http://evil.com\\@apple.com/")) == ["evil.com"]


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("shell", {"cmd": "ls -la"}),
        ("shell", {"cmd": None}),
        ("shell", {}),
        ("read", {"evidence": "https://apple.com/"}),
        ("note", {"text": "https://apple.com/"}),
        ("submit", {}),
        ("fetch", {"url": 5}),
        ("fetch", {"url": "no address"}),
        ("web_search", {"query": ["a"]}),
        ("unheard_of", {"url": "https://apple.com/"}),
    ],
)
def test_what_looks_nowhere_is_no_search(tool: str, args: dict[str, Any]) -> None:
    found = aimed(tool, **args)
    assert found == CallIntent(tool, (), "", "", "general")
    assert move_type(found, [("apple.com", "appl car")]) == "non_search"


def test_a_lone_surrogate_is_replaced() -> None:
    for tool, key in (("web_search", "query"), ("fetch", "url"), ("shell", "cmd")):
        found = aimed(tool, **{key: "https://a.example/?q=\ud800x"})
        assert msgspec.json.encode(found)


def visit(url: str) -> CallIntent:
    return aimed("fetch", url=url)


def asked(query: str) -> CallIntent:
    return aimed("web_search", query=query)


@pytest.mark.parametrize(
    ("move", "earlier", "kind"),
    [
        (asked("Apple car"), [], "initial"),
        (asked("Apple car"), [("", "")], "initial"),
        (asked("the Apple cars"), [("", "appl car")], "retry"),
        (asked("the Apple cars"), [("", "appl car"), ("b.example", "")], "retry"),
        (asked("tallest mountain"), [("", "appl car")], "reformulate"),
        (asked("Apple car"), [("a.example", "appl car")], "source_shift"),
        (asked("Apple car"), [("a.example", "")], "domain_shift"),
        (visit("https://a.example/1"), [("a.example", ""), ("b.example", "")], "same_domain"),
        (visit("https://a.example/?q=apple+car"), [("a.example", "")], "same_domain"),
        (visit("https://a.example/1"), [("a.example", "appl car")], "same_domain"),
        (visit("https://a.example/?q=apple+car"), [("a.example", "appl car")], "retry"),
        (visit("https://a.example/?q=mountain"), [("a.example", "appl car")], "reformulate"),
        (visit("https://b.example/?q=apple+car"), [("a.example", "appl car")], "source_shift"),
        (visit("https://b.example/?q=mountain"), [("a.example", "appl car")], "domain_shift"),
        (visit("https://b.example/"), [("", "appl car")], "domain_shift"),
    ],
)
def test_the_type_of_a_move(move: CallIntent, earlier: list[tuple[str, str]], kind: str) -> None:
    assert move_type(move, earlier) == kind


def test_the_signature_of_a_move() -> None:
    assert signature("retry", "apple.com", "appl car") == "retry:apple.com:appl car"


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(st.characters(), max_size=200), st.lists, max_leaves=5
)


@given(
    st.sampled_from(["fetch", "web_search", "brave_search", "search", "shell", "note", "x"]),
    st.dictionaries(st.sampled_from(["url", "query", "q", "cmd"]), JSON),
    st.lists(st.tuples(st.sampled_from(["", "a.example"]), st.text(max_size=20)), max_size=5),
)
def test_any_call_has_an_aim_and_a_move(
    tool: str, args: dict[str, Any], earlier: list[tuple[str, str]]
) -> None:
    found = aimed(tool, **args)
    assert move_type(found, earlier) in MOVE_TYPES


@given(
    st.text(max_size=200),
    st.sampled_from(["https://", "http://[", "https://a.", "https://user:pw@", "http://1."]),
)
def test_any_address_has_an_aim(text: str, head: str) -> None:
    for tool, key in (("fetch", "url"), ("shell", "cmd")):
        assert len(aimed(tool, **{key: f"{head}{text}"}).targets) <= MAX_TARGETS


@pytest.mark.parametrize("part", ["http:/", "https://a/", "https://", "a", "https://a.b?q="])
def test_a_long_hostile_command_is_read_in_part(part: str) -> None:
    assert len(aimed("shell", cmd=part * (1_000_000 // len(part))).targets) <= MAX_TARGETS
