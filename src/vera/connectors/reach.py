"""How a connector reaches the network: under the egress policy of the run, each connection noted."""

from collections.abc import Callable

from vera.sandbox.egress.authority import AuthorityError, Url
from vera.sandbox.egress.dial import Dialer
from vera.sandbox.egress.secrets import Secrets
from vera.sandbox.egress.types import Connection, Decision, FailedError, Policy, RefusedError, Request
from vera.sandbox.fetch.fetcher import USER_AGENT, Fetcher, FetchLimits
from vera.sandbox.fetch.url import normalise

MAX_CONNECTIONS = 20_000
"""That are noted. A source has fewer pages and sitemaps than this."""

CLOSED = (
    "the network is closed for this run; open it with --egress public, or name the host with egress.allow"
)

Judge = Callable[[str], str]
"""Why a URL may not be fetched, '' when it may."""


class Unreachable(Exception):
    """A host that may not be reached, or cannot be: a few words."""


class Reach:
    """The way to the network. `policy` is None where nothing may be reached; no address with one of the
    `secrets` in it is asked for."""

    user_agent = USER_AGENT

    def __init__(
        self, policy: Policy | None, dialer: Dialer | None = None, secrets: Secrets | None = None
    ) -> None:
        self._policy = policy
        self._dialer = dialer
        self._secrets = secrets
        self.connections: list[Connection] = []

    def fetcher(self, may: Judge, most: int) -> Fetcher:
        """Fetches what the policy and `may` both allow, redirects too; `most` bytes of one body.

        Raises Unreachable when the network is closed.
        """
        policy, dialer = self._open()
        limits = FetchLimits(body=most, wire=most)
        return Fetcher(_Narrowed(policy, may), dialer, secrets=self._secrets, limits=limits, log=self._note)

    async def address_of(self, url: str) -> tuple[Url, str]:
        """A URL as it is read here, and a checked address of its host, for a program that is to dial that
        address and no other. Raises Unreachable."""
        policy, dialer = self._open()
        try:
            read = normalise(url)
            where = read.authority
            asked = Request(method="GET", host=where.host, port=where.port, url=str(read))
            decision = policy.decide(asked)
            if not decision.allowed:
                raise Unreachable(decision.reason)
            return read, str((await dialer.addresses(where))[0])
        except (AuthorityError, RefusedError, FailedError) as error:
            raise Unreachable(str(error)) from None

    def note(self, connection: Connection) -> None:
        """Note a connection that another program made."""
        self._note(connection)

    def _open(self) -> tuple[Policy, Dialer]:
        if self._policy is None or self._dialer is None:
            raise Unreachable(CLOSED)
        return self._policy, self._dialer

    def _note(self, connection: Connection) -> None:
        if len(self.connections) < MAX_CONNECTIONS:
            self.connections.append(connection)


class _Narrowed:
    """A policy that refuses, beside what its inner one refuses, what `may` gives a reason against."""

    def __init__(self, policy: Policy, may: Judge) -> None:
        self._policy = policy
        self._may = may

    def decide(self, request: Request) -> Decision:
        decision = self._policy.decide(request)
        if not decision.allowed:
            return decision
        objection = self._may(request.url)
        return Decision(False, objection) if objection else decision
