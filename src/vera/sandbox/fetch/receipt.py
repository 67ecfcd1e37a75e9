"""What a fetch brings: the bytes, and a receipt of where they came from."""

from typing import Literal

import msgspec

Kind = Literal["url", "refused", "failed", "timeout", "too_large", "over_budget", "redirects", "encoding"]


class Hop(msgspec.Struct, frozen=True, kw_only=True):
    """A redirect that was followed: the URL that was asked, its status, and the address that answered."""

    url: str
    status: int
    address: str


class Receipt(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where bytes came from.

    `requested` is the URL as it was asked for, `url` the one that gave the bytes, after `redirects`.
    `headers` are those of the last response in order, names in lower case, without Set-Cookie. `address` is
    the one that was dialled; `tls` the protocol version and `certificate` the sha256 of the server's
    certificate (DER), both '' for plain HTTP. `media_type` and `charset` are the server's claim, in lower
    case. `size` and `sha256` are those of the body as it is stored; `encoding` is the content coding that was
    undone to get it ('' for none) and `wire_size` its size before. `started` is Unix time, `seconds` the wall
    time of all hops. Status 304: the server said that the bytes of an earlier retrieval still stand; these
    are the body.
    `asked` are the header lines of the request of a program in a box, whose page the host read while it
    passed; empty for one that the host asked for itself.
    """

    requested: str
    url: str
    status: int
    redirects: tuple[Hop, ...]
    headers: tuple[tuple[str, str], ...]
    address: str
    tls: str
    certificate: str
    media_type: str
    charset: str
    encoding: str
    size: int
    wire_size: int
    sha256: str
    started: float
    seconds: float
    asked: tuple[tuple[str, str], ...] = ()


class Fetched(msgspec.Struct, frozen=True, kw_only=True):
    """A response whatever its status: a page that says "not found" is bytes too."""

    receipt: Receipt
    body: bytes

    @property
    def status(self) -> int:
        """That of the response whose bytes these are: 200 where a 304 says that they still stand."""
        return 200 if self.receipt.status == 304 and self.body else self.receipt.status


class FetchError(Exception):
    """No bytes: a sentence for the model, the `kind` of reason, and the redirects that were followed."""

    def __init__(self, message: str, kind: Kind, redirects: tuple[Hop, ...] = ()) -> None:
        super().__init__(message)
        self.kind = kind
        self.redirects = redirects
