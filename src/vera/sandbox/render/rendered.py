"""What rendering a page brings: the DOM, and a receipt of how it came to be."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from vera.sandbox.egress.types import Connection

Kind = Literal["no_browser", "url", "refused", "failed", "timeout", "too_large"]


Name = Annotated[str, Meta(max_length=200)]
Height = Annotated[int, Meta(ge=0, le=100_000)]
Status = Annotated[int, Meta(ge=100, le=599)]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What the program in the box (`driver.py`) says of the page. Untrusted: a page may have taken it over.

    `kind` and `problem` are '' when there is a DOM; `height` is that of its picture, 0 for none.
    """

    kind: Literal["", "failed", "timeout", "too_large"] = ""
    problem: str = ""
    browser: Name = ""
    url: str = ""
    status: Status | None = None
    media_type: Name = ""
    tls: Name = ""
    settled: bool = False
    height: Height = 0


class Piece(msgspec.Struct, frozen=True, array_like=True):
    """A piece of a page's text, and its place on the picture in pixels."""

    text: Annotated[str, Meta(max_length=20_000)]
    x: int
    y: int
    width: int
    height: int


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """What a page looked like: `data` is WebP, `layout` its `Piece`s as JSON, sizes are in pixels.

    Both are the browser's word. Nothing is concluded from them: they show a reader where cited lines stood.
    """

    data: bytes
    layout: bytes
    width: int
    height: int


class RenderReceipt(msgspec.Struct, frozen=True, kw_only=True):
    """Where a DOM came from.

    `requested` is the URL as it was asked for, `url` the one of the document in the end. `browser` is the
    program and version as it names itself, `backend` and `isolation` are those of its box. `status`,
    `media_type` and `tls` (protocol version) are the browser's word on the response that gave the document;
    `status` is None when it says none. `settled`: the page had used up its `page_seconds` (its own clock,
    which runs ahead while nothing is loaded), not merely its time. `connections` are all that the box made,
    in the order in which they began, the first MAX_CONNECTIONS of them; `connection_count` counts all.
    `size` and `sha256` are those of the DOM. `started` is Unix time, `seconds` wall time. `unknown` says in
    sentences what cannot be known of a page that was had in this way.
    """

    requested: str
    url: str
    browser: str
    backend: str
    isolation: str
    status: int | None
    media_type: str
    tls: str
    settled: bool
    page_seconds: float
    connections: tuple[Connection, ...]
    connection_count: int
    size: int
    sha256: str
    started: float
    seconds: float
    unknown: tuple[str, ...]


class Rendered(msgspec.Struct, frozen=True, kw_only=True):
    """A page as the browser had it in the end: its document, serialised as HTML in UTF-8, and its picture
    where there is one."""

    receipt: RenderReceipt
    dom: bytes
    picture: Picture | None = None


class RenderError(Exception):
    """No DOM: a sentence for the model, and the `kind` of reason."""

    def __init__(self, message: str, kind: Kind) -> None:
        super().__init__(message)
        self.kind = kind
