"""Pictures hold no text; `vera.extraction.ocr` reads what is written on them where tesseract is installed."""

from vera.extraction.source import NEEDS_TESSERACT, Extracted, Unreadable

_KINDS = (
    (b"\x89PNG\r\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
)


def kind_of(data: bytes) -> str:
    """The media type of a picture that tesseract reads, '' for anything else."""
    return next((kind for magic, kind in _KINDS if data.startswith(magic)), "")


def extract(data: bytes, name: str) -> Extracted:
    """Raises Unreadable, always."""
    kind = kind_of(data).rpartition("/")[2].upper()
    raise Unreadable(f"a {kind} picture: {NEEDS_TESSERACT}")
