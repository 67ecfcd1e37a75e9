"""The files of `static/`, under addresses that change with their content and may be kept for ever."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from starlette.responses import Response

from vera.report import html

FOLDERS = (Path(__file__).parent / "static", Path(html.__file__).parent)
"""The page's own, and the stylesheet that it shares with the one-file report."""

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
}
_FOR_EVER = "public, max-age=31536000, immutable"


class StaticFiles:
    """All of them, read once: they are few and small. `prefix` is where they stand, one for all, so that one
    module can import another by its name."""

    def __init__(self, folders: Sequence[Path] = FOLDERS) -> None:
        found = (path for folder in folders for path in folder.glob("*"))
        paths = sorted(path for path in found if path.suffix in _TYPES and path.is_file())
        self._files = {path.name: (path.read_bytes(), _TYPES[path.suffix]) for path in paths}
        digest = hashlib.sha256()
        for name, (data, _) in self._files.items():
            digest.update(f"{name} {len(data)}\n".encode() + data)
        self._version = digest.hexdigest()[:16]
        self.prefix = f"/static/{self._version}"

    def answer(self, version: str, name: str) -> Response | None:
        """The file; None for no such one, also for one of an older version of the page."""
        if version != self._version or name not in self._files:
            return None
        data, media_type = self._files[name]
        return Response(data, media_type=media_type, headers={"cache-control": _FOR_EVER})
