"""The egress policy of a box: nothing, the hosts of a list, or the public internet."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from vera.sandbox.egress.address import AddressRule
from vera.sandbox.egress.authority import Authority, AuthorityError, parse_authority
from vera.sandbox.egress.types import Decision, Request

Mode = Literal["none", "allowlist", "public"]

WEB_PORTS = frozenset({80, 443})
ANY_LISTED_PORT = 0
PUBLIC_ONLY = AddressRule()


class PolicyError(ValueError):
    """A rule that a person wrote cannot be understood: a sentence that says which and why."""


@dataclass(frozen=True)
class HostRule:
    """One entry of an allow-list: a host, or with `below` the names below it and not the name itself.

    `port` is the only port it opens, or ANY_LISTED_PORT for the policy's own ports.
    """

    host: str
    below: bool = False
    port: int = ANY_LISTED_PORT

    @classmethod
    def parse(cls, text: str) -> "HostRule":
        """`pypi.org`, `*.example.org` (names below it), `mirror.lan:8081`, `10.0.0.5`. Raises PolicyError."""
        plain = text.strip()
        below = plain.startswith(("*.", "."))
        name = plain.removeprefix("*").removeprefix(".") if below else plain
        try:
            read = parse_authority(name, 1)
        except AuthorityError as error:
            raise PolicyError(f"{text!r} cannot be on an allow-list: {error}") from None
        if below and read.address is not None:
            raise PolicyError(f"{text!r} cannot be on an allow-list: nothing lies below an address.")
        has_port = name.rpartition("]")[2].count(":") == 1
        return cls(read.host, below, read.port if has_port else ANY_LISTED_PORT)

    def covers(self, host: str) -> bool:
        return host.endswith(f".{self.host}") if self.below else host == self.host


@dataclass(frozen=True)
class NetworkPolicy:
    """`none` refuses all, `public` allows every host, `allowlist` the hosts of `allow`; each on `ports`.

    Which addresses a host may have is `addresses`, in every mode: an allow-listed name that resolves to a
    private address is refused, and an address in a named range still has to be allowed as a host.
    """

    mode: Mode = "none"
    allow: tuple[HostRule, ...] = ()
    ports: frozenset[int] = WEB_PORTS
    addresses: AddressRule = PUBLIC_ONLY

    @classmethod
    def of(
        cls,
        mode: Mode,
        *,
        allow: Iterable[str] = (),
        ports: Iterable[int] = WEB_PORTS,
        allow_cidrs: Iterable[str] = (),
    ) -> "NetworkPolicy":
        """The policy that settings describe. Raises PolicyError."""
        try:
            addresses = AddressRule.of(allow_cidrs)
        except ValueError as error:
            raise PolicyError(f"This is no range of addresses: {error}. An example: 10.1.2.0/24") from None
        return cls(mode, tuple(HostRule.parse(text) for text in allow), frozenset(ports), addresses)

    def decide(self, request: Request) -> Decision:
        where = Authority(request.host, request.port)
        if self.mode == "none":
            return Decision(False, f"{where}: this sandbox has no network")
        if self.mode == "public":
            return self._port(request.port in self.ports, where, self.ports)
        covering = [rule for rule in self.allow if rule.covers(request.host)]
        if not covering:
            return Decision(False, f"{request.host} is not on this run's list of allowed hosts")
        open_ports = {rule.port for rule in covering if rule.port != ANY_LISTED_PORT}
        if any(rule.port == ANY_LISTED_PORT for rule in covering):
            open_ports |= self.ports
        return self._port(request.port in open_ports, where, open_ports)

    @staticmethod
    def _port(is_open: bool, where: Authority, open_ports: Iterable[int]) -> Decision:
        if is_open:
            return Decision(True)
        listed = ", ".join(str(port) for port in sorted(open_ports)) or "none"
        return Decision(False, f"{where}: of its ports only these may be connected to: {listed}")
