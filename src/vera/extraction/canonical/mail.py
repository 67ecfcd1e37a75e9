"""Mail: the header fields that a reader sees, the text of the message, and the names of what is attached."""

import re
from collections.abc import Iterable, Sequence

from vera.extraction.canonical import html
from vera.extraction.canonical.mime import Part, decoded_words, head, leaves
from vera.extraction.canonical.naming import bounded, extractor_name, file_title
from vera.extraction.canonical.text import canonical
from vera.extraction.marks import HIDDEN, lifted, marked, unmarked
from vera.extraction.source import Extracted

RULES = 4

_SHOWN = ("From", "To", "Cc", "Date", "Subject")
_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"[^\W_]+")
_ADDRESS = re.compile(r"<?\b(?:https?://|mailto:)[^\s>]{1,2000}>?|\[(?:image: |cid:)[^\]\n]{0,200}\]")
_FROM_LINE = re.compile(rb"(?:From |>From ).*\r?\n")


def extract(data: bytes, name: str) -> Extracted:
    """From, To, Cc, Date and Subject, an empty line, the text, and a line for each attachment.

    Of the forms in which the text is sent the plain one counts, else the HTML one's visible text. Where both
    are sent, a line of the plain one with a word that the other does not have is marked: most programs show
    the other.
    """
    if line := _FROM_LINE.match(data, 0, 1000):
        data = data[line.end() :]
    fields, _ = head(data)
    shown = [
        f"{field}: {_SPACE.sub(' ', decoded_words(fields[field.lower()])).strip()}"
        for field in _SHOWN
        if field.lower() in fields
    ]
    parts = list(leaves(data))
    written, programs = _text([part for part in parts if not part.is_attachment])
    attached = [attachment_line(part) for part in parts if part.is_attachment]
    pieces = [_utf8(shown), written.strip(b"\r\n"), _utf8(attached)]
    subject = bounded(decoded_words(fields.get("subject", "")))
    text, marks = lifted(canonical(b"\n\n".join(filter(None, pieces))))
    return Extracted(
        text=text,
        title=subject or file_title(name),
        media_type="message/rfc822",
        extractor=extractor_name("eml", "+".join(programs) or "utf-8", RULES),
        marks=marks,
    )


def _utf8(lines: list[str]) -> bytes:
    return unmarked("\n".join(lines)).encode("utf-8", "replace")


def attachment_line(part: Part) -> str:
    """What the text of a mail says of an attachment: its name, type and size."""
    return f"Attachment: {_own_name(part)} ({part.media_type}, {len(part.content())} bytes)"


def attachment_name(part: Part) -> str:
    """`p2-report.pdf`: its number among the parts, and its own name."""
    return f"p{part.number}-{_own_name(part)}"


def _own_name(part: Part) -> str:
    """The name that a part gives itself, without what no name should have."""
    own = re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff/\\!]+", "_", part.name)[-100:].strip(" .")
    if not own:
        own = "message.eml" if part.media_type == "message/rfc822" else "part"
    if part.media_type == "message/rfc822" and not own.lower().endswith(".eml"):
        own += ".eml"
    return own


def _text(parts: Iterable[Part]) -> tuple[bytes, list[str]]:
    """The text of the parts, and the programs that made it, in order of names."""
    parts = list(parts)
    plain = [part for part in parts if part.media_type != "text/html"]
    made = [part.text() for part in plain]
    pages = [html.with_markers(part.text()[0]) for part in parts if part.media_type == "text/html"]
    if any(text.strip() for text, _ in made):
        own = _plain([text for text, _ in made], pages)
        return "\n".join(own).encode(), sorted({program for _, program in made})
    return b"\n".join(pages), [html.program()] if pages else []


def _plain(texts: Iterable[bytes], pages: Sequence[bytes]) -> list[str]:
    """The texts of the plain form, held against the HTML form where that was sent as well."""
    own = [unmarked(text.decode("utf-8", "replace")) for text in texts]
    return [_held_against(text, b"\n".join(pages)) for text in own] if pages else own


def _held_against(text: str, page: bytes) -> str:
    """The plain form with marks on the lines that say a word which the HTML form does not."""
    shown = set(_WORD.findall(page.decode("utf-8", "replace").lower()))
    return "\n".join(
        marked(line, HIDDEN) if set(_WORD.findall(_ADDRESS.sub(" ", line).lower())) - shown else line
        for line in text.split("\n")
    )
