"""The web of a run: what a lane reaches it with, and what may be reached."""

from collections.abc import Callable

import msgspec

from vera.agent.errors import SetupError
from vera.agent.rules import listed
from vera.config.settings import EgressSettings, Settings
from vera.lane.at_work import AtWork
from vera.lane.capture import Capture, CommandPages
from vera.sandbox.egress.policy import NetworkPolicy, PolicyError
from vera.sandbox.egress.proxy import EgressProxy
from vera.sandbox.egress.types import Decision, Policy, Request
from vera.websearch import WebSearch

HOSTS_SHOWN = 20
"""Hosts of an allow-list that a prompt names."""


class Web(msgspec.Struct, frozen=True):
    """What a lane needs to reach the web: its own `capture` and `search`, the box's `proxy`, which asks the
    lane `at_work` of each connection, and the `pages` that commands get with other programs than `fetch`.
    `reach` says in words which hosts commands may reach."""

    capture: Capture
    search: WebSearch
    proxy: EgressProxy
    at_work: AtWork
    pages: CommandPages | None = None
    reach: str = ""


class GatedPolicy:
    """An egress policy, and on top of it what `judge` says of each connection: it gets host and URL ('' for a
    TLS tunnel) and gives a sentence for one that may not be made now, '' for any other."""

    def __init__(self, policy: Policy, judge: Callable[[str, str], str]) -> None:
        self._policy = policy
        self._judge = judge

    def decide(self, request: Request) -> Decision:
        """What the egress policy refuses is refused by it; the gates are asked about the rest."""
        decision = self._policy.decide(request)
        if not decision.allowed:
            return decision
        objection = self._judge(request.host, request.url)
        return Decision(False, objection) if objection else decision


def network_policy(egress: EgressSettings, *, closed: bool = False) -> NetworkPolicy | None:
    """What may be reached, None for nothing; `auto` is every public host, or nothing when `closed`.

    Raises SetupError (exit code 2) for a rule that cannot be understood.
    """
    mode = ("none" if closed else "public") if egress.mode == "auto" else egress.mode
    if mode == "none":
        return None
    try:
        return NetworkPolicy.of(mode, allow=listed(egress.allow), allow_cidrs=listed(egress.allow_cidrs))
    except PolicyError as error:
        raise SetupError(f"egress: {error}", 2) from None


def secrets_of(settings: Settings) -> list[str]:
    """Every key that must not leave this machine but to its own server."""
    keys = (
        settings.model.key,
        settings.verification.model_key,
        settings.action_verifier.model.key,
        settings.brave.key,
    )
    return [key.get_secret_value() for key in keys]


def reach_of(policy: NetworkPolicy) -> str:
    """Which hosts commands may reach, for a model."""
    if policy.mode == "public":
        return "every public host, on ports 80 and 443"
    shown = [f"{'*.' if rule.below else ''}{rule.host}" for rule in policy.allow[:HOSTS_SHOWN]]
    more = f" and {len(policy.allow) - HOSTS_SHOWN} more" if len(policy.allow) > HOSTS_SHOWN else ""
    return f"only {', '.join(shown)}{more}"
