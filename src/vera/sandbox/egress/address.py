"""Which addresses belong to the public internet; everything else is refused unless it was named.

Source: the IANA special-purpose address registries (RFC 6890), read strictly: what is global only for
routers and anycast relays counts as special too, and so does every form that carries an IPv4 address inside
an IPv6 one, as the carried address would escape the judgement.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

SPECIAL_V4: tuple[tuple[IPv4Network, str], ...] = tuple(
    (IPv4Network(block), what)
    for block, what in (
        ("0.0.0.0/8", "this network"),
        ("10.0.0.0/8", "a private network"),
        ("100.64.0.0/10", "a carrier's shared network"),
        ("127.0.0.0/8", "this machine"),
        # The wire server of one cloud: its only metadata address that looks public.
        ("168.63.129.16/32", "a cloud's metadata service"),
        ("169.254.0.0/16", "link-local, where clouds keep their metadata"),
        ("172.16.0.0/12", "a private network"),
        ("192.0.0.0/24", "reserved for protocols"),
        ("192.0.2.0/24", "reserved for documentation"),
        ("192.88.99.0/24", "a relay between IPv4 and IPv6"),
        ("192.168.0.0/16", "a private network"),
        ("198.18.0.0/15", "reserved for benchmarks"),
        ("198.51.100.0/24", "reserved for documentation"),
        ("203.0.113.0/24", "reserved for documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
)

GLOBAL_V6 = IPv6Network("2000::/3")

SPECIAL_V6: tuple[tuple[IPv6Network, str], ...] = tuple(
    (IPv6Network(block), what)
    for block, what in (
        ("::/128", "this network"),
        ("::1/128", "this machine"),
        ("::/96", "an IPv4 address inside an IPv6 one"),
        ("::ffff:0:0/96", "an IPv4 address inside an IPv6 one"),
        ("64:ff9b::/96", "an IPv4 address inside an IPv6 one"),
        ("64:ff9b:1::/48", "an IPv4 address inside an IPv6 one"),
        ("2001::/32", "an IPv4 address inside an IPv6 one"),
        ("2001::/23", "reserved for protocols"),
        ("2001:db8::/32", "reserved for documentation"),
        ("2002::/16", "an IPv4 address inside an IPv6 one"),
        ("3fff::/20", "reserved for documentation"),
        ("fc00::/7", "a private network"),
        ("fe80::/10", "link-local, where clouds keep their metadata"),
        ("ff00::/8", "multicast"),
    )
)


def special(address: Address) -> str:
    """What is special about an address, in a few words; '' for one of the public internet."""
    if isinstance(address, IPv4Address):
        return next((what for block, what in SPECIAL_V4 if address in block), "")
    if address.scope_id:
        return "link-local, where clouds keep their metadata"
    found = next((what for block, what in SPECIAL_V6 if address in block), "")
    return found or ("" if address in GLOBAL_V6 else "reserved")


@dataclass(frozen=True)
class AddressRule:
    """Public addresses, and those of the ranges that a person named (a company's mirror, a test server).

    A range is compared with the address as it is: `127.0.0.0/8` does not admit `::ffff:127.0.0.1`.
    """

    named: tuple[Network, ...] = ()

    @classmethod
    def of(cls, ranges: Iterable[str]) -> "AddressRule":
        """Raises ValueError for text that is no range, or one with bits set behind its prefix."""
        return cls(tuple(ip_network(text.strip()) for text in ranges))

    def names(self, address: Address) -> bool:
        return any(address.version == network.version and address in network for network in self.named)

    def refusal(self, address: Address) -> str:
        """Why the address may not be dialled, in one sentence; '' when it may."""
        if self.names(address) or not (what := special(address)):
            return ""
        return f"{address} is no public address: {what}"
