"""The files that were handed in with an answer."""

from vera import events
from vera.report.view.model import FileView
from vera.report.view.words import one_line
from vera.store import Store, StoreError

MAX_FILES = 500

_PATH_SHOWN = 400
_HEAD = 12
_PICTURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a")


def file_views(outputs: tuple[events.Output, ...], store: Store) -> tuple[FileView, ...]:
    """A line for each file, of many the first."""
    return tuple(_view(each, store) for each in outputs[:MAX_FILES])


def _view(output: events.Output, store: Store) -> FileView:
    problem, head = one_line(output.problem), b""
    if not problem:
        try:
            with store.path(output.sha256).open("rb") as file:
                head = file.read(_HEAD)
        except (StoreError, OSError):
            problem = "The store does not hold its bytes."
    return FileView(
        path=one_line(output.path, _PATH_SHOWN),
        size=output.size,
        sha256=output.sha256 if not problem else "",
        picture=is_picture(head),
        problem=problem,
    )


def is_picture(head: bytes) -> bool:
    """Whether a file that begins so is a PNG, JPEG, GIF or WebP. An SVG does not count: it may hold
    scripts."""
    return head.startswith(_PICTURES) or (head[:4] == b"RIFF" and head[8:12] == b"WEBP")
