"""A file that a run handed in, as an answer: pictures are shown, everything else is only ever saved."""

from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.responses import Response

from vera.report.view.model import FileView
from vera.store import Store

MAX_BYTES = 64 << 20

_PICTURES = (
    (b"\x89PNG\r\n\x1a\n", 0, "image/png"),
    (b"\xff\xd8\xff", 0, "image/jpeg"),
    (b"GIF8", 0, "image/gif"),
    (b"WEBP", 8, "image/webp"),
)
"""(bytes, where they stand, type): a name says nothing about what a file is."""


def download(file: FileView, store: Store) -> Response:
    """The file's bytes, which are those of its hash. Raises HTTPException (413), StoreError."""
    if file.size > MAX_BYTES:
        raise HTTPException(413, "That file is too large for the dashboard: it is in the session's folder.")
    data = store.get(file.sha256)
    picture = next((kind for magic, at, kind in _PICTURES if data[at : at + len(magic)] == magic), "")
    if picture and file.picture:
        return Response(data, media_type=picture, headers={"content-disposition": "inline"})
    return attachment(data, file.path.rpartition("/")[2])


def stored_bytes(sha256: str, store: Store) -> Response:
    """A text of the store, byte for byte. Raises HTTPException (404, 413), StoreError."""
    try:
        size = store.path(sha256).stat().st_size
    except OSError:
        raise HTTPException(404, "The store has no such text.") from None
    if size > MAX_BYTES:
        raise HTTPException(413, "That text is too large for the dashboard: it is in the session's folder.")
    return attachment(store.get(sha256), f"{sha256[:16]}.txt")


def attachment(data: bytes, name: str) -> Response:
    """Bytes that a browser saves and never opens."""
    quoted = quote(name.encode("utf-8", "surrogatepass"), safe="")
    return Response(
        data,
        media_type="application/octet-stream",
        headers={"content-disposition": f"attachment; filename*=UTF-8''{quoted}"},
    )
