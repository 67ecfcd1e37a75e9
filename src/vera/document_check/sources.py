"""The sources of a document: files of a folder, and pages of the web under the egress policy."""

import asyncio
import hashlib
import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec

from vera.agent.errors import SetupError
from vera.config.settings import EgressSettings
from vera.connectors.gathering import origins_of
from vera.connectors.values import INPUT
from vera.document_check.links import Named
from vera.evidence.reading import read_regular, walk
from vera.extraction.extractor import Extractor
from vera.extraction.source import Extracted, Unreadable, is_read_by_ocr
from vera.lane.capture import Capture
from vera.lane.tools import EvidenceDraft
from vera.sandbox.fetch.receipt import FetchError
from vera.text.span import Lines

FILES = 10_000
"""Files of a folder that are looked at; TITLED of them are opened to learn their titles."""

TITLED = 1000
FILE_BYTES = 64 << 20
SOURCE_BYTES = 8 << 20
"""The largest canonical text of one source that is read; FOLDER_BYTES is the same for all files of a folder
together, where any of them may hold a quotation."""

FOLDER_BYTES = 32 << 20
AT_ONCE_FROM_A_HOST = 2

LARGEST_FETCH = 16 << 20
"""Bytes of a page, before and after decompression."""

_INDEX = frozenset(("index", "default", "home"))
_WORD = re.compile(r"\w+")
_MIN_TITLE = 12
_KEYED = re.compile(r"(?:\A|/)@([^/]+)/[^/]+\Z")


class Missing(Exception):
    """A source that cannot be had; the message says why, as a sentence."""


class Folder:
    """The files of one folder, and which of them a document means. Links are not followed, nor is any path
    that leads out of the folder.

    A folder that connectors gathered knows the address of each page and the citation key of each attachment;
    `copied` is the folder whose files are among them.
    """

    def __init__(self, root: Path, extractor: Extractor, document: Path, copied: Path | None = None) -> None:
        self._root = root.resolve()
        self._copied = copied.resolve() if copied is not None else None
        self._by_address = {origin: path for path, origin in origins_of(self._root).items()}
        self._extractor = extractor
        own = document.resolve()
        self._base = own.parent
        entries = list(walk(self._root, FILES))
        self._skipped = {entry.path: entry.skipped for entry in entries if entry.skipped}
        copy = self._copy_of(own)
        self._paths = [
            entry.path for entry in entries if self._root / entry.path != own and entry.path != copy
        ]
        self._known = frozenset(self._paths)
        self._named: defaultdict[str, list[str]] = defaultdict(list)
        for path in self._paths:
            self._named[posixpath.basename(path).casefold()].append(path)
        self._said = {name: f" {_folded(name)} " for name in self._named}
        self._keyed = _by_key(self._paths) if self._by_address else {}
        self._read: dict[str, Extracted | Unreadable] = {}
        self._titles: dict[str, list[str]] | None = None
        self.hashes: dict[str, str] = {}
        """Path → sha256 of the file's bytes, of those that were read."""

    def find(self, source: Named, shared: frozenset[str]) -> str:
        """The path of the file that is meant. `shared` are the base names that several addresses of the
        document have. Raises Missing."""
        match source.kind:
            case "file":
                found = self._linked(source.target) or self._of_name(posixpath.basename(source.target))
            case "web":
                found = self._of_address(source.target, shared) or self._of_title(source.label)
            case _:
                found = self._of_note(source.target)
        if not found:
            raise Missing("No file in the sources folder matches it by path, name or title.")
        return found

    def text(self, path: str) -> Extracted:
        """The text of a file. Raises Missing."""
        if path in self._skipped:
            raise Missing(f"{path}: {self._skipped[path]}.")
        if path not in self._read:
            try:
                data = read_regular(self._root, path, FILE_BYTES)
                extracted = self._extractor.extract(data, path)
                if len(extracted.text) > SOURCE_BYTES:
                    raise Unreadable(f"its text is larger than {SOURCE_BYTES >> 20} MB")
                self._read[path] = extracted
                self.hashes[path] = hashlib.sha256(data).hexdigest()
            except Unreadable as error:
                self._read[path] = error
        read = self._read[path]
        if isinstance(read, Unreadable):
            raise Missing(f"{path}: {read}.")
        return read

    def raw(self, path: str) -> bytes:
        """The bytes of a file. Raises Unreadable."""
        return read_regular(self._root, path, FILE_BYTES)

    def texts(self) -> tuple[dict[str, bytes], int]:
        """The texts of all files by path, at most FOLDER_BYTES of them, and how many files were left out.
        What OCR read is not among them: words that it lacks may be on the page."""
        found: dict[str, bytes] = {}
        size = left_out = 0
        for path in self._paths:
            try:
                extracted = self.text(path)
            except Missing:
                continue
            text = extracted.text if size < FOLDER_BYTES and not is_read_by_ocr(extracted.extractor) else b""
            if size + len(text) > FOLDER_BYTES or not text:
                left_out += 1
                continue
            found[path] = text
            size += len(text)
        return found, left_out

    def _copy_of(self, document: Path) -> str:
        """The copy of the document among the files that connectors gathered, '' for none."""
        path = path_in(self._copied, document) if self._copied is not None else ""
        return f"{INPUT}/{path}" if path else ""

    def _linked(self, target: str) -> str:
        """The file at a path as written: seen from the document, or from the folder."""
        path = target.partition("?")[0].replace("\\", "/")
        seen, written = Path(posixpath.normpath(self._base / path)), posixpath.normpath(path.lstrip("/"))
        candidates = [path_in(self._root, seen), written]
        if self._copied is not None:
            candidates += [f"{INPUT}/{each}" for each in (path_in(self._copied, seen), written)]
        return next((each for each in candidates if each in self._known), "")

    def _of_name(self, name: str) -> str:
        paths = self._named.get(name.casefold(), [])
        if len(paths) > 1:
            raise Missing(f"{len(paths)} files of the folder of sources are called {name}.")
        return paths[0] if paths else ""

    def _of_address(self, url: str, shared: frozenset[str]) -> str:
        """The file that mirrors an address (example.org/a/b.html), or has the base name of its path."""
        try:
            parts = urlsplit(url)
        except ValueError:
            return ""
        if gathered := self._by_address.get(parts._replace(fragment="").geturl()):
            return gathered
        path = unquote(parts.path).strip("/")
        mirrored = [f"{parts.netloc}/{path}".rstrip("/"), f"{parts.netloc}/{path}/index.html"]
        for each in map(posixpath.normpath, mirrored):
            if each in self._known:
                return each
        name = base_name(url)
        return "" if not name or name in shared else self._of_name(name)

    def _of_title(self, label: str) -> str:
        wanted = _folded(label)
        if len(wanted) < _MIN_TITLE:
            return ""
        return self._one(self._known_titles().get(wanted, []), label)

    def _of_note(self, note: str) -> str:
        """The file attached to the entry of a citation key; else the one whose name, or else whose title, is
        in a note; of several the longest."""
        if keyed := self._keyed.get(note.casefold()):
            if len(keyed) > 1:
                raise Missing(f"{len(keyed)} files are attached to the entry {note[:80]}.")
            return keyed[0]
        said = f" {_folded(note)} "
        names = [name for name, shown in self._said.items() if shown in said]
        names += [name for name in self._named if name.rpartition(".")[0] == note.casefold()]
        if names:
            return self._of_name(max(names, key=len))
        titles = self._known_titles()
        held = [title for title in titles if len(title) >= _MIN_TITLE and f" {title} " in said]
        return self._one(titles[max(held, key=len)], note) if held else ""

    def _one(self, paths: Sequence[str], label: str) -> str:
        if len(paths) > 1:
            raise Missing(f"{len(paths)} files of the folder of sources have the title {label[:80]}.")
        return paths[0] if paths else ""

    def _known_titles(self) -> Mapping[str, list[str]]:
        if self._titles is None:
            self._titles = defaultdict(list)
            for path in self._paths[:TITLED]:
                try:
                    title = self.text(path).title
                except Missing:
                    continue
                self._titles[_folded(title)].append(path)
        return self._titles


def path_in(root: Path, path: Path) -> str:
    """A path as it is seen from the folder `root`; '' for one that lies outside."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else ""


def _by_key(paths: Iterable[str]) -> dict[str, list[str]]:
    """The files that are attached to the entry of each citation key."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path in paths:
        if keyed := _KEYED.search(path):
            found[keyed[1].casefold()].append(path)
    return found


def base_name(url: str) -> str:
    """The file name that an address ends in, in lower case; '' for none that tells one page from another."""
    try:
        name = posixpath.basename(unquote(urlsplit(url).path)).casefold()
    except ValueError:
        return ""
    stem, dot, _ = name.rpartition(".")
    return name if dot and stem and stem not in _INDEX else ""


def shared_names(sources: Sequence[Named]) -> frozenset[str]:
    """The base names that several addresses have, so that none of them is meant by the name alone."""
    counted = Counter(base_name(source.target) for source in sources if source.kind == "web")
    return frozenset(name for name, count in counted.items() if count > 1)


async def fetch_all(
    urls: Sequence[str], capture: Capture, now: Callable[[str], None], keep: Callable[[EvidenceDraft], None]
) -> dict[str, EvidenceDraft | Missing]:
    """The pages, a few at once and fewer of one host; of each what came, or why nothing did.

    `keep` gets each page with its raw bytes, which are dropped afterwards; what it raises ends all.
    """
    hosts: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(AT_ONCE_FROM_A_HOST))
    workers = asyncio.Semaphore(8)
    done: dict[str, EvidenceDraft | Missing] = {}

    async def get(url: str) -> None:
        async with hosts[_host(url)], workers:
            try:
                draft = await capture.get(url)
            except (FetchError, Unreadable) as error:
                text = str(error)
                done[url] = Missing(text if isinstance(error, FetchError) else f"It holds no text: {text}.")
                return
            keep(draft)
            done[url] = msgspec.structs.replace(draft, raw=None)
            if len(draft.text) > SOURCE_BYTES:
                done[url] = Missing(f"Its text is larger than {SOURCE_BYTES >> 20} MB.")
            now(f"{len(done)} of {len(urls)} pages")

    await asyncio.gather(*map(get, urls))
    return done


def open_capture(egress: EgressSettings, secrets: Iterable[str], extractor: Extractor) -> Capture:
    """A way to the web under the egress policy. Raises SetupError for a rule that cannot be understood."""
    from vera.agent.web import network_policy
    from vera.sandbox.egress.dial import Dialer
    from vera.sandbox.egress.secrets import Secrets
    from vera.sandbox.fetch.fetcher import Fetcher, FetchLimits

    policy = network_policy(egress)
    if policy is None:
        raise SetupError(
            "--fetch asks for pages, but egress.mode=none forbids them. Leave one of the two out.", 2
        )
    limits = FetchLimits(body=LARGEST_FETCH, wire=LARGEST_FETCH, total=60.0)
    fetcher = Fetcher(policy, Dialer(policy.addresses), secrets=Secrets(secrets), limits=limits)
    return Capture(fetcher, extractor)


def draft_of_file(source: str, path: str, extracted: Extracted) -> EvidenceDraft:
    """A file as evidence for what the document calls `source`."""
    lines = len(Lines(extracted.text))
    return EvidenceDraft(
        tier="captured",
        source=source,
        summary=f"file {path}",
        text=extracted.text,
        first=1,
        last=lines,
        lines=lines,
        title=extracted.title,
        media_type=extracted.media_type,
        extractor=extracted.extractor,
        pages=extracted.pages,
        marks=extracted.marks,
        dated=extracted.dated,
    )


def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc.lower()
    except ValueError:
        return ""


def _folded(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))
