"""The values of connectors: a configured source, what every connector is, and its failures."""

import re
from collections.abc import Iterable, Mapping
from typing import Protocol
from urllib.parse import parse_qsl, unquote

import msgspec

from vera.connectors.basket import Basket
from vera.connectors.reach import Reach
from vera.sanitize import one_line

NAME = re.compile(r"[a-z][a-z0-9_-]{0,47}")
"""What a configured connector may be called: its name begins the names of its documents."""

INPUT = "input"
"""The name of the input folder where it is read beside connectors; no connector has it."""

MAX_SOURCES = 20
"""Of one run."""

MAX_ADDRESS = 4000

FORM = "NAME=KIND:ADDRESS, for example code=git:~/project#rev=v1.2"


class ConnectorError(Exception):
    """A source that cannot be used: a sentence for the person."""


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A configured connector: its name, its kind, the address, and the options after `#`."""

    name: str
    kind: str
    address: str
    options: Mapping[str, str] = {}

    def only(self, *known: str) -> None:
        """Raise ConnectorError for an option that this kind does not have."""
        for option in self.options:
            if option not in known:
                has = f"It has: {', '.join(known)}." if known else "It has none."
                raise ConnectorError(
                    f"The connector {self.name} has no option {one_line(option, 40)!a}. {has}"
                )

    def number(self, option: str, usual: int, most: int) -> int:
        """A whole number from 1 to `most`, `usual` where it is not given. Raises ConnectorError."""
        text = self.options.get(option, str(usual))
        if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= most):
            raise ConnectorError(f"The option {option} of {self.name} is a whole number from 1 to {most}.")
        return int(text)


class Connector(Protocol):
    """A kind of connector. `version` is that of its rules: what it takes and how it names documents."""

    version: str

    async def gather(self, source: Source, basket: Basket, reach: Reach) -> str:
        """Put the documents of a source into the basket; the revision that they are of, '' for none.

        What is not taken is named with `basket.leave_out`. Ends quietly when the basket is full. Raises
        ConnectorError when nothing can be gathered.
        """
        ...


def read_source(text: str) -> Source:
    """The source that `NAME=KIND:ADDRESS#option=value&…` means. Raises ConnectorError.

    A `#` or `%` in an address is written as `%23` or `%25`.
    """
    name, is_given, rest = text.strip().partition("=")
    kind, has_address, address = rest.partition(":")
    if name == INPUT:
        raise ConnectorError(f"No connector can be called {INPUT}: that is the input folder beside them.")
    if not is_given or not has_address or not address or not NAME.fullmatch(name):
        raise ConnectorError(f"{one_line(text, 80)!a} is no connector. Write it as {FORM}.")
    address, _, options = address.partition("#")
    if len(address) > MAX_ADDRESS or "\0" in text:
        raise ConnectorError(f"The address of the connector {name} is no address.")
    if kind != "site" and "://" not in address:
        address = unquote(address)
    return Source(name=name, kind=kind, address=address, options=_read_options(name, options))


def _read_options(name: str, text: str) -> dict[str, str]:
    try:
        return dict(parse_qsl(text, keep_blank_values=True, strict_parsing=bool(text), max_num_fields=20))
    except ValueError:
        raise ConnectorError(
            f"The options of the connector {name} cannot be read. Write them as #option=value&option=value."
        ) from None


def read_sources(lines: Iterable[str]) -> dict[str, Source]:
    """The sources by their names. Raises ConnectorError, also for a name that comes twice."""
    found: dict[str, Source] = {}
    for line in lines:
        source = read_source(line)
        if source.name in found:
            raise ConnectorError(f"Two connectors are called {source.name}. Give one of them another name.")
        found[source.name] = source
    return found
