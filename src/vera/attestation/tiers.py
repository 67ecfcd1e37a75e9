"""What hangs on a verdict, and what follows from it: the table of risk tiers, and when a verdict expires.

| risk | files | web | readings | min score | expires |
|---|---|---|---|---|---|
| low | 1 | 2 | 1 | 3.0 | in full |
| med | 1 | 2 | 2 | 3.0 | in full |
| high | 1 | 3 | 5 | 3.5 | after half the time |

`files` and `web` are how many independent sources it takes to support a claim or to refute it: a given
document is primary, so one is enough.
A tier, like a lens, only raises what a policy asks for.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

import msgspec

from vera.attestation.objects import Lens, Policy, Risk, VerifyRequest, Volatility

DAY = 86_400


class Tier(msgspec.Struct, frozen=True, kw_only=True):
    """One row: the quorum, how often the judge reads, the score in hundredths that it must reach, and which
    part of the usual time, in percent, a verdict stands."""

    file_sources: int
    web_sources: int
    readings: int
    min_score: int
    expiry_percent: int


RISK_TIERS: Mapping[Risk, Tier] = MappingProxyType({
    "low": Tier(
        file_sources=1, web_sources=2,
        readings=1, min_score=300, expiry_percent=100,
    ),
    "med": Tier(
        file_sources=1, web_sources=2,
        readings=2, min_score=300, expiry_percent=100,
    ),
    "high": Tier(
        file_sources=1, web_sources=3,
        readings=5, min_score=350, expiry_percent=50,
    ),
})  # fmt: skip

STANDS_SECONDS: Mapping[Volatility, int | None] = MappingProxyType(
    {"static": None, "slow": 90 * DAY, "fast": DAY, "live": 0}
)
"""How long a verdict stands, by how soon its matter changes; None: for ever."""


class Thresholds(msgspec.Struct, frozen=True):
    """What a claim needs to be supported: independent sources of each kind, and the score in hundredths."""

    file_sources: int
    web_sources: int
    min_score: int


def bars(risk: Risk, lens: Lens, policy: Policy | None = None) -> Thresholds:
    """The highest that tier, lens and policy ask for."""
    tier = RISK_TIERS[risk]
    return Thresholds(
        max(tier.file_sources, lens.file_sources, policy.file_sources if policy else 0),
        max(tier.web_sources, lens.web_sources, policy.web_sources if policy else 0),
        max(tier.min_score, policy.min_score if policy else 0),
    )


def expires_at(request: VerifyRequest, issued_at: str) -> str:
    """From when on a verdict on this request no longer stands, RFC 3339 in UTC; '' for never.

    One about a time window that has closed never expires: what was published in it does not change. Raises
    ValueError when `issued_at` is no RFC 3339 time.
    """
    issued = datetime.fromisoformat(issued_at).astimezone(UTC)
    closes = request.constraints.not_after
    if closes and closes < issued.date().isoformat():
        return ""
    seconds = STANDS_SECONDS[request.volatility]
    if seconds is None:
        return ""
    until = issued + timedelta(seconds=seconds * RISK_TIERS[request.risk].expiry_percent // 100)
    return until.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def expired(until: str, now: str) -> bool:
    """Whether a verdict that stands until `until` ('' for ever) no longer stands at `now`, RFC 3339 both.

    One that expires at the moment it was issued never stands afterwards. Raises ValueError for no time.
    """
    return bool(until) and datetime.fromisoformat(until) <= datetime.fromisoformat(now)
