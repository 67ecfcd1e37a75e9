"""The table of risk tiers, and when a verdict expires."""

from pathlib import Path
from typing import Any, get_args

import pytest

import vera
from support.rounds import policy
from vera.attestation.lenses import load_lens
from vera.attestation.objects import Lens, Risk, Volatility
from vera.attestation.request import request_of
from vera.attestation.tiers import RISK_TIERS, STANDS_SECONDS, Thresholds, bars, expired, expires_at

ISSUED = "2026-11-22T01:30:00.000Z"


def until(issued: str = ISSUED, **values: Any) -> str:
    request, _ = request_of("The river is 312 km long.", scope="web", **values)
    return expires_at(request, issued)


def test_every_tier_and_every_volatility_has_a_row() -> None:
    assert set(RISK_TIERS) == set(get_args(Risk))
    assert set(STANDS_SECONDS) == set(get_args(Volatility))


def test_the_table_that_people_read_is_the_table_of_the_code() -> None:
    source = (Path(vera.__file__).parent / "attestation" / "tiers.py").read_text()
    for risk, tier in RISK_TIERS.items():
        expiry = {100: "in full", 50: "after half the time"}[tier.expiry_percent]
        row = (
            f"| {risk} | {tier.file_sources} | {tier.web_sources} "
            f"| {tier.readings} | {tier.min_score / 100:.1f} | {expiry} |"
        )
        assert row in source.splitlines()


def test_more_risk_never_asks_for_less() -> None:
    low, med, high = (RISK_TIERS[risk] for risk in get_args(Risk))
    for one, other in ((low, med), (med, high)):
        assert one.file_sources <= other.file_sources
        assert one.web_sources <= other.web_sources
        assert one.readings <= other.readings
        assert one.min_score <= other.min_score
        assert one.expiry_percent >= other.expiry_percent


def test_a_file_suffices_and_the_web_needs_two_at_any_tier() -> None:
    assert all(tier.file_sources == 1 and tier.web_sources >= 2 for tier in RISK_TIERS.values())


def test_a_lens_and_a_policy_raise_a_bar_and_never_lower_it() -> None:
    lens = Lens(name="mine", description="", file_sources=2, web_sources=1)
    assert bars("low", load_lens("general")) == Thresholds(1, 2, 300)
    assert bars("low", lens) == Thresholds(2, 2, 300)
    assert bars("high", lens, policy(min_score=200, web_sources=1)) == Thresholds(2, 3, 350)
    assert bars("low", lens, policy(min_score=380, web_sources=4)) == Thresholds(2, 4, 380)


@pytest.mark.parametrize(
    ("volatility", "risk", "expected"),
    [
        ("static", "low", ""),
        ("static", "high", ""),
        ("slow", "low", "2027-02-20T01:30:00.000Z"),
        ("slow", "med", "2027-02-20T01:30:00.000Z"),
        ("slow", "high", "2027-01-06T01:30:00.000Z"),
        ("fast", "med", "2026-11-23T01:30:00.000Z"),
        ("fast", "high", "2026-11-22T13:30:00.000Z"),
        ("live", "low", ISSUED),
        ("live", "high", ISSUED),
    ],
)
def test_how_soon_a_verdict_expires(volatility: str, risk: str, expected: str) -> None:
    assert until(volatility=volatility, risk=risk) == expected


def test_a_time_window_that_has_closed_never_expires() -> None:
    assert until(not_after="2026-11-21", volatility="fast") == ""
    assert until(not_after="2026-11-22", volatility="fast") != ""
    assert until(not_after="2030-01-01", volatility="fast") != ""
    assert until(not_before="2020-01-01", volatility="fast") != ""


def test_the_times_of_verdicts_are_in_utc() -> None:
    assert until("2026-11-22T03:30:00+02:00", volatility="live") == ISSUED


@pytest.mark.parametrize(
    ("expiry", "now", "over"),
    [
        ("", "2999-01-01T00:00:00Z", False),
        (ISSUED, ISSUED, True),
        (ISSUED, "2026-11-22T01:29:59.999Z", False),
        (ISSUED, "2026-11-22T01:30:00.001Z", True),
    ],
)
def test_a_verdict_stands_before_its_expiry(expiry: str, now: str, over: bool) -> None:
    assert expired(expiry, now) is over


def test_what_is_no_time_is_an_error() -> None:
    with pytest.raises(ValueError, match="yesterday"):
        until("yesterday")
