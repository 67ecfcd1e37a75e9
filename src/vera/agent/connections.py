"""The gates at the tunnel: which hosts the commands of a lane may reach now."""

from collections.abc import Callable

from vera.sandbox.egress.types import Decision, Policy, Request


class GatedPolicy:
    """The egress policy of a box, and on top of it what a lane's gates say of each connection.

    `judge` gets host and URL ('' for a TLS tunnel) and gives a sentence for a connection that may not be made
    now, '' for any other; None until there is a lane at work.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.judge: Callable[[str, str], str] | None = None

    def decide(self, request: Request) -> Decision:
        """What the egress policy refuses is refused by it; the gates are asked about the rest."""
        decision = self._policy.decide(request)
        if not decision.allowed or self.judge is None:
            return decision
        objection = self.judge(request.host, request.url)
        return Decision(False, objection) if objection else decision
