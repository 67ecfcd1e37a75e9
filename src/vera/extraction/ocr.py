"""Text of scans and pictures, read by an installed tesseract under limits.

What it reads is a guess, letter by letter. So its name in an extractor (`ocr/tesseract-…`) says so of the
text, and no number of it proves or refutes anything (`vera.audit.checks.scanned`).
"""

import hashlib
import os
import re
import shutil
import subprocess
import threading
import time
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec
import platformdirs

from vera.decode_errors import DECODE_ERRORS
from vera.extraction.canonical.naming import extractor_name, first_line_title
from vera.extraction.canonical.picture import kind_of
from vera.extraction.canonical.rendered import canonical_lines
from vera.extraction.child import ask_child
from vera.extraction.page_picture import PageRequest
from vera.extraction.page_picture_client import page_pixels
from vera.extraction.source import NEEDS_TESSERACT, OCR, Extracted, Unreadable

RULES = 1
PAGES = 100
SECONDS = 240.0
"""Of wall time for one document. Another process that waits for the index waits longer."""

PAGE_SECONDS = 60
MEMORY = 2 << 30
LARGEST = 8 << 20
"""Bytes of text of one page or picture."""

SCALE = 2.5
"""Times the picture that a page is shown with: about 300 dots an inch for a sheet of A4 or Letter."""

LANGUAGES = ("eng", "deu", "fra", "spa", "ita", "por", "chi_sim")
"""Those that VERA works in. Of these the installed ones are used together."""

_PROBE_SECONDS = 10.0
_VERSION = re.compile(r"\Atesseract v?([0-9][0-9A-Za-z.-]{0,30})")


class Ocr(NamedTuple):
    """An installed tesseract: its path, its version, and the languages that it reads in."""

    program: str
    version: str
    languages: tuple[str, ...]

    @property
    def name(self) -> str:
        """For the name of an extractor: `tesseract-5.3.0-eng+deu`."""
        return f"tesseract-{self.version}-{'+'.join(self.languages)}"

    def read(self, data: bytes, name: str) -> Extracted:
        """The text of a scanned PDF or a picture, kept in the person's cache as it takes seconds a page.

        Raises Unreadable with the reason.
        """
        made_by = f"{self.program} {extractor_name(OCR, self.name, RULES)}\0"
        key = hashlib.sha256(made_by.encode("utf-8", "surrogateescape") + data).hexdigest()
        kept = Path(platformdirs.user_cache_dir("vera")) / "ocr" / key[:2] / key
        with suppress(OSError, *DECODE_ERRORS):
            return msgspec.msgpack.decode(kept.read_bytes(), type=Extracted)
        found = self._read(data, name)
        with suppress(OSError):
            kept.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            new = kept.with_name(f".{key}-{os.getpid()}-{threading.get_ident()}")
            new.write_bytes(msgspec.msgpack.encode(found))
            new.replace(kept)
        return found

    def _read(self, data: bytes, name: str) -> Extracted:
        until = time.monotonic() + SECONDS
        is_pdf = not (media_type := kind_of(data))
        pages = self._pages(data, until) if is_pdf else self._text(data, until).split("\f")
        lines: list[bytes] = []
        firsts: list[int] = []
        for page in pages[:PAGES]:
            firsts.append(len(lines) + 1)
            lines += canonical_lines(page.split("\n"))
        text = b"".join(line + b"\n" for line in lines)
        if not text.strip():
            raise Unreadable("OCR found no text in it")
        return Extracted(
            text=text,
            title=first_line_title(text, name),
            media_type=media_type or "application/pdf",
            extractor=extractor_name(OCR, self.name, RULES),
            pages=tuple(firsts) if is_pdf else (),
        )

    def _pages(self, data: bytes, until: float) -> list[str]:
        """The text of each page of a PDF; '' for one that cannot be drawn."""
        texts: list[str] = []
        count = 1
        while len(texts) < count:
            try:
                drawn = page_pixels(PageRequest(data, len(texts) + 1, larger=SCALE), _left(until))
            except Unreadable:
                if not texts:
                    raise
                texts.append("")
                continue
            count = drawn.pages
            if count > PAGES:
                raise Unreadable(f"it has {count} scanned pages; at most {PAGES} are read by OCR")
            picture = b"P6\n%d %d\n255\n" % (drawn.width, drawn.height) + drawn.pixels
            texts.append(self._text(picture, until))
        return texts

    def _text(self, picture: bytes, until: float) -> str:
        """What tesseract reads on a picture. Raises Unreadable when it does not end by itself in time."""
        languages = "+".join(self.languages)
        words = (str(MEMORY), str(PAGE_SECONDS), self.program, "stdin", "stdout", "-l", languages)
        code, text = ask_child(
            "vera.extraction.ocr_launch",
            picture,
            seconds=min(_left(until), PAGE_SECONDS),
            largest=LARGEST,
            arguments=(*words, "--dpi", "300"),
            environment={name: os.environ[name] for name in ("TESSDATA_PREFIX",) if name in os.environ},
        )
        if len(text) > LARGEST:
            raise Unreadable(f"OCR gives more than {LARGEST >> 20} MB of text")
        if code != 0:
            raise Unreadable(
                "OCR could not read it: it took too much time or memory, or the picture is damaged"
            )
        return text.decode("utf-8", "replace")


def is_scan(reason: str) -> bool:
    """Whether a file is unreadable because what it holds are pictures."""
    return reason.endswith(NEEDS_TESSERACT)


def installed() -> Ocr | None:
    """The tesseract on the PATH, None where there is none that works."""
    found = shutil.which("tesseract")
    if found is None or not Path(found).is_absolute():  # a PATH may begin in the working folder
        return None
    try:
        return _probed(found, Path(found).stat().st_mtime_ns, os.environ.get("TESSDATA_PREFIX", ""))
    except OSError:
        return None


@lru_cache(maxsize=4)
def _probed(program: str, changed_ns: int, data: str) -> Ocr | None:
    version = _VERSION.match(_said(program, "--version"))
    there = _said(program, "--list-langs").split()
    languages = tuple(each for each in LANGUAGES if each in there)
    return Ocr(program, version[1], languages) if version and languages else None


def _said(program: str, option: str) -> str:
    try:
        done = subprocess.run(
            [program, option],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_PROBE_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout[: 1 << 16].decode("utf-8", "replace")


def _left(until: float) -> float:
    """The seconds that a document has left. Raises Unreadable for none."""
    left = until - time.monotonic()
    if left <= 0:
        raise Unreadable(f"reading it by OCR takes more than {SECONDS:g} s")
    return left
