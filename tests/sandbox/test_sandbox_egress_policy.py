"""Which hosts and ports each mode opens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.sandbox.egress.policy import NetworkPolicy, PolicyError
from vera.sandbox.egress.types import Request


def allowed(policy: NetworkPolicy, host: str, port: int = 443) -> bool:
    decision = policy.decide(Request(method="CONNECT", host=host, port=port))
    assert decision.allowed == (not decision.reason)
    return decision.allowed


def test_none_opens_nothing() -> None:
    assert not allowed(NetworkPolicy(), "pypi.org")
    assert not allowed(NetworkPolicy.of("none", allow=["pypi.org"]), "pypi.org")


def test_public_opens_every_host_on_the_ports_of_the_web() -> None:
    policy = NetworkPolicy.of("public")
    assert allowed(policy, "example.org", 443)
    assert allowed(policy, "example.org", 80)
    assert not allowed(policy, "example.org", 22)
    assert not allowed(policy, "example.org", 8080)


def test_an_allow_list_opens_its_names_and_nothing_that_looks_like_them() -> None:
    policy = NetworkPolicy.of("allowlist", allow=["ok.test", "*.sub.test", ".dot.test", "Upper.TEST."])
    for host in ("ok.test", "a.sub.test", "a.b.sub.test", "x.dot.test", "upper.test"):
        assert allowed(policy, host), host
    for host in ("notok.test", "ok.test.evil.test", "x.ok.test", "sub.test", "dot.test", "xsub.test", "test"):
        assert not allowed(policy, host), host


def test_an_entry_may_open_a_port_of_its_own_and_only_that() -> None:
    policy = NetworkPolicy.of(
        "allowlist", allow=["mirror.lan:8081", "10.0.0.5:3141", "both.test", "both.test:99"]
    )
    assert allowed(policy, "mirror.lan", 8081)
    assert not allowed(policy, "mirror.lan", 443)
    assert allowed(policy, "10.0.0.5", 3141)
    assert not allowed(policy, "10.0.0.6", 3141)
    assert allowed(policy, "both.test", 443)
    assert allowed(policy, "both.test", 99)


def test_an_address_must_stand_on_the_list_like_a_name() -> None:
    policy = NetworkPolicy.of("allowlist", allow=["ok.test", "[2001:DB8::1]"], allow_cidrs=["10.0.0.0/8"])
    assert not allowed(policy, "10.0.0.5")
    assert allowed(policy, "2001:db8::1")


@pytest.mark.parametrize(
    "entry", ["", "*", "*.", "a b", "http://ok.test", "*.10.0.0.1", "ok.test:x", "ok.test/", "a*b"]
)
def test_an_entry_that_cannot_be_read_is_an_error(entry: str) -> None:
    with pytest.raises(PolicyError, match="allow-list"):
        NetworkPolicy.of("allowlist", allow=[entry])


def test_a_range_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(PolicyError, match="An example"):
        NetworkPolicy.of("public", allow_cidrs=["10.0.0.1/8"])


@given(st.from_regex(r"[a-z.]{0,10}ok\.test[a-z.]{0,10}", fullmatch=True))
def test_no_name_but_the_listed_one_is_allowed(host: str) -> None:
    assert allowed(NetworkPolicy.of("allowlist", allow=["ok.test"]), host) == (host == "ok.test")
