"""From a judged host to a connection: look the name up once, check each address, dial a checked one.

Between check and dial no name is read again, so a name server that answers differently the second time
("DNS rebinding") gains nothing.
"""

import asyncio
import os
import socket
import ssl
from collections.abc import Awaitable, Callable
from ipaddress import ip_address
from typing import TypeVar

from vera.sandbox.egress.address import Address, AddressRule
from vera.sandbox.egress.authority import Authority
from vera.sandbox.egress.resolve import Resolver, SystemResolver
from vera.sandbox.egress.types import FailedError, RefusedError

MAX_ADDRESSES = 6
"""Of the addresses of one name, how many are tried."""

NEXT_AFTER_SECONDS = 4.0
"""How long an address may stay silent while there is another one to try."""

T = TypeVar("T")


class Dialer:
    """Connects to what `rule` admits. `resolver` is asked once for each connection."""

    def __init__(
        self,
        rule: AddressRule,
        *,
        resolver: Resolver | None = None,
        lookup_seconds: float = 10.0,
        connect_seconds: float = 15.0,
    ) -> None:
        self._rule = rule
        self._resolver = resolver or SystemResolver()
        self._lookup_seconds = lookup_seconds
        self._connect_seconds = connect_seconds

    async def addresses(self, where: Authority) -> list[Address]:
        """The addresses that may be dialled, at least one. Raises RefusedError or FailedError."""
        found = [where.address] if where.address is not None else await self._look_up(where.host)
        refusals = {address: self._refusal(address) for address in found}
        admitted = [address for address, refusal in refusals.items() if not refusal]
        if not admitted:
            said = next(iter(refusals.values()))
            raise RefusedError(said if where.address is not None else f"{where.host}: {said}")
        return admitted

    async def dial(self, where: Authority, connect: Callable[[str, int], Awaitable[T]]) -> tuple[T, Address]:
        """What `connect(address, port)` gives for the first address that answers, and that address.

        `connect` gets an address as text, never a name, and raises OSError when no one answers there.
        """
        addresses = await self.addresses(where)
        loop = asyncio.get_running_loop()
        until = loop.time() + self._connect_seconds
        problem = ""
        for count, address in enumerate(addresses, 1):
            wait = until - loop.time()
            if count < len(addresses):
                wait = min(wait, NEXT_AFTER_SECONDS)
            try:
                async with asyncio.timeout(max(0.0, wait)):
                    return await connect(str(address), where.port), address
            except TimeoutError:
                problem = f"{address} did not answer in time"
            except OSError as error:
                problem = f"{address}: {in_words(error)}"
        status = 504 if loop.time() >= until else 502
        raise FailedError(f"{where} cannot be reached: {problem}", status=status)

    def _refusal(self, address: Address) -> str:
        if said := self._rule.refusal(address):
            return said
        # Its public address is a way round every service of this machine that trusts the local network.
        if not self._rule.names(address) and is_own(address):
            return f"{address} is an address of the machine that VERA runs on"
        return ""

    async def _look_up(self, name: str) -> list[Address]:
        try:
            async with asyncio.timeout(self._lookup_seconds):
                texts = await self._resolver(name)
        except TimeoutError:
            raise FailedError(f"{name}: its name server did not answer in time", status=504) from None
        except OSError as error:
            raise FailedError(f"{name} has no address: {in_words(error)}") from None
        found: list[Address] = []
        for text in texts[:MAX_ADDRESSES]:
            try:
                found.append(ip_address(text))
            except ValueError:
                continue
        if not found:
            raise FailedError(f"{name} has no address")
        return found


def in_words(error: OSError) -> str:
    """The system's own few words for an error; asyncio puts addresses and tuples into its messages."""
    if isinstance(error, ssl.SSLError):
        return (
            (getattr(error, "verify_message", "") or error.reason or "TLS failed").lower().replace("_", " ")
        )
    if error.errno is not None and error.errno > 0:
        return os.strerror(error.errno).lower()
    return (error.strerror or str(error) or type(error).__name__).lower()


def is_own(address: Address) -> bool:
    """Whether the address belongs to this machine. Nothing is sent: a datagram socket only takes a route."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((str(address), 9))
            return ip_address(probe.getsockname()[0]) == address
    except OSError:
        return False
