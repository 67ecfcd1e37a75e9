"""A git repository at a revision: the bytes of its blobs, as the system's git reads them.

Nothing of the repository runs: no hooks, no filters, no file-system monitor, no credential helper, no
configuration of the person. Each blob is hashed again, and must have the hash that git names it by.
"""

import asyncio
import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from vera.connectors.basket import LARGEST, Basket
from vera.connectors.reach import Reach, Unreachable
from vera.connectors.values import ConnectorError, Source
from vera.sandbox.egress.types import Connection
from vera.sanitize import one_line

MAX_LISTING = 64 << 20
"""Bytes of the list of a commit's files."""

MAX_OBJECT_FILES = 200_000
"""Files and folders of a repository's objects that are looked at for links."""

MAX_ANSWER = 1 << 16
"""Bytes of any other answer and of messages."""

FETCH_FACTOR = 2
"""A remote repository may take so many times the byte limit of the source on the disk."""

PINNING_SINCE = (2, 37)
"""The first version of git that dials the address that it is given (`http.curloptResolve`)."""

_VERSION = re.compile(r"git version ([0-9]{1,4})\.([0-9]{1,4})")
_REVISION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/@+-]{0,199}")
_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_POINTER = b"version https://git-lfs.github.com/spec/"
_POLL_SECONDS = 0.1
_ALWAYS = (
    "--no-pager",
    "--no-replace-objects",
    "--literal-pathspecs",
    "-c", "core.hooksPath=/dev/null",
    "-c", "core.fsmonitor=false",
    "-c", "safe.directory=*",
    "-c", "credential.helper=",
    "-c", "core.askPass=",
    "-c", "protocol.allow=never",
    "-c", "fetch.recurseSubmodules=false",
    "-c", "gc.auto=0",
    "-c", "maintenance.auto=false",
)  # fmt: skip


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A path of a commit: its mode, the kind and hash of its object, its size (0 for what is no blob)."""

    path: str
    mode: str
    kind: str
    hash: str
    size: int


class Git:
    """`git:PATH` or `git:https://…`: the files of a commit. Options: `rev` (HEAD), `path` (a folder)."""

    version = "1"

    async def gather(self, source: Source, basket: Basket, reach: Reach) -> str:
        """Put the files of the commit into the basket; the revision is the commit's full hash.

        Submodules, links and Git LFS pointers are left out. Raises ConnectorError.
        """
        source.only("rev", "path")
        revision, inside = source.options.get("rev", "HEAD"), source.options.get("path", "").strip("/")
        if not _REVISION.fullmatch(revision) or ".." in revision:
            raise ConnectorError(
                f"The connector {source.name}: {one_line(revision, 60)!a} is no revision. "
                "Give a branch, a tag or the hash of a commit."
            )
        if shutil.which("git") is None:
            raise ConnectorError(f"The connector {source.name} needs git. Install it: apt install git")
        with tempfile.TemporaryDirectory(prefix="vera-git-") as place:
            repository = await _repository(source, revision, Path(place), basket, reach)
            commit = await repository.commit("refs/vera/fetched" if repository.is_fetched else revision)
            basket.prefix = f"{source.name}@{commit}"
            await _take(repository, source, commit, inside, basket)
        return commit


class _Repository(msgspec.Struct, frozen=True, kw_only=True):
    """A repository on this machine, and who asks for it; `kept` is where its objects lie, None for one
    that was fetched."""

    folder: Path
    home: Path
    name: str
    basket: Basket
    is_fetched: bool = False
    kept: Path | None = None

    async def commit(self, revision: str) -> str:
        """The full hash of a revision's commit. Raises ConnectorError."""
        said = await self.ask(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
        )
        found = said.decode("ascii", "replace").strip().splitlines()[-1:]
        if not found or not _HASH.fullmatch(found[0]):
            raise ConnectorError(f"The connector {self.name}: there is no commit {revision!a}.")
        return found[0]

    async def ask(self, *words: str, most: int = MAX_ANSWER) -> bytes:
        """What git answers, at most `most` bytes. Raises ConnectorError."""
        async with _started(self, words) as process:
            assert process.stdout is not None
            data = await _within(self, _read(process.stdout, most))
            if data is None:
                raise ConnectorError(f"The connector {self.name}: git says more than {most} bytes.")
            return data


async def _repository(
    source: Source, revision: str, place: Path, basket: Basket, reach: Reach
) -> _Repository:
    home = place / "home"
    home.mkdir()
    if "://" in source.address:
        return await _fetched(source, revision, place, basket, reach)
    folder = Path(source.address).expanduser().resolve()
    objects = await asyncio.to_thread(_own_objects, folder)
    if objects is None:
        raise ConnectorError(f"The connector {source.name}: {source.address} is no repository.")
    if why := await asyncio.to_thread(_leads_out, objects):
        raise ConnectorError(
            f"The connector {source.name}: {source.address} takes files from elsewhere ({why}). "
            "Give the folder of a whole clone, not a worktree or a shared one."
        )
    return _Repository(folder=folder, home=home, name=source.name, basket=basket, kept=objects.parent)


def _own_objects(folder: Path) -> Path | None:
    """The folder of the objects of a repository, in `.git` or bare; None where there is none. One above
    `folder` is not looked for, though git would."""
    for place in (folder / ".git", folder):
        if os.path.lexists(place / "objects") and (place / "HEAD").is_file():
            return place / "objects"
    return None


def _leads_out(objects: Path) -> str:
    """What of a repository is not in it, '' for nothing: git would follow a link, a worktree's `commondir`
    and the alternates of its objects to any other repository of this machine."""
    if any(place.is_symlink() for place in (objects.parent, objects)):
        return "its objects are behind a link"
    if os.path.lexists(objects.parent / "commondir"):
        return "it is a worktree"
    if any(os.path.lexists(objects / "info" / name) for name in ("alternates", "http-alternates")):
        return "it borrows objects"
    seen = 0
    for folder, names, files in os.walk(objects, followlinks=False):
        seen += len(names) + len(files)
        if seen > MAX_OBJECT_FILES:
            return f"more than {MAX_OBJECT_FILES} files of objects were not looked at"
        if link := next((name for name in (*names, *files) if (Path(folder) / name).is_symlink()), ""):
            return f"the object {link} is a link"
    return ""


async def _fetched(source: Source, revision: str, place: Path, basket: Basket, reach: Reach) -> _Repository:
    """The one commit of a remote repository, fetched from an address that the egress policy admits."""
    url = source.address
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or parts.username or parts.password or parts.query:
        raise ConnectorError(
            f"The connector {source.name}: only http and https are fetched, without a password in the "
            "address. Clone it yourself, and give the folder of the clone."
        )
    try:
        read, address = await reach.address_of(url)
    except Unreachable as error:
        raise ConnectorError(f"The connector {source.name} cannot fetch {url}: {error}.") from None
    host, port = read.authority.host, read.authority.port
    repository = _Repository(
        folder=place / "bare", home=place / "home", name=source.name, basket=basket, is_fetched=True
    )
    repository.folder.mkdir()
    await _insist_on_pinning(repository)
    await repository.ask("init", "--quiet", "--bare", "--template=", ".")
    pinned = f"[{address}]" if ":" in address else address
    words = (
        "-c", f"protocol.{parts.scheme}.allow=always",
        "-c", "http.followRedirects=false",
        "-c", f"http.curloptResolve={host.strip('[]')}:{port}:{pinned}",
        "-c", "http.proxy=",
        "-c", "transfer.fsckObjects=true",
        "fetch", "--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules",
        "--end-of-options", str(read), f"+{revision}:refs/vera/fetched",
    )  # fmt: skip
    began, started, why = time.monotonic(), time.time(), "it was given up"
    try:
        await _bounded_fetch(repository, words, place)
        why = ""
    except ConnectorError as error:
        why = str(error)
        raise
    finally:
        reach.note(
            Connection(
                host=host,
                port=port,
                method="GET",
                url=str(read),
                address=address,
                verdict="failed" if why else "allowed",
                reason=one_line(why, 300),
                bytes_up=0,
                bytes_down=_size_of(place),
                seconds=time.monotonic() - began,
                started=started,
            )
        )
    return repository


async def _insist_on_pinning(repository: _Repository) -> None:
    """Raises ConnectorError where git is older than PINNING_SINCE."""
    found = _VERSION.search((await repository.ask("version")).decode("ascii", "replace"))
    if found is None or (int(found[1]), int(found[2])) < PINNING_SINCE:
        raise ConnectorError(
            f"The connector {repository.name}: fetching needs git 2.37 or newer. Clone it yourself."
        )


async def _bounded_fetch(repository: _Repository, words: Sequence[str], place: Path) -> None:
    """Run the fetch; it is ended when the folder grows beyond its limit, or the time is over."""
    most = FETCH_FACTOR * repository.basket.limits.bytes
    async with _started(repository, words) as process:
        assert process.stderr is not None
        said = asyncio.create_task(_read(process.stderr, MAX_ANSWER))
        try:
            while process.returncode is None:
                await asyncio.wait({asyncio.ensure_future(process.wait())}, timeout=_POLL_SECONDS)
                if _size_of(place) > most:
                    raise ConnectorError(
                        f"The connector {repository.name}: the repository is larger than {most} bytes."
                    )
                if not repository.basket.seconds_left and process.returncode is None:
                    raise _too_slow(repository)
            if process.returncode:
                message = one_line((await said or b"").decode("utf-8", "replace"), 300)
                raise ConnectorError(f"The connector {repository.name}: git cannot fetch it: {message}")
        finally:
            said.cancel()


async def _take(repository: _Repository, source: Source, commit: str, inside: str, basket: Basket) -> None:
    entries = await _entries(repository, commit, inside)
    async with _started(repository, ("cat-file", "--batch")) as process:
        for entry in entries:
            if why := _why_not(entry, basket):
                basket.leave_out(entry.path, why)
                continue
            data = await _within(repository, _blob(process, entry))
            if data is None or _hash(data, len(entry.hash)) != entry.hash:
                basket.leave_out(entry.path, "its bytes are not in the repository, or have another hash")
            elif len(data) < 1024 and data.startswith(_POINTER):
                basket.leave_out(entry.path, "a Git LFS pointer: its content is not in the repository")
            else:
                basket.add(entry.path, data, f"git {source.address} at {commit}: {entry.path} ({entry.hash})")


async def _entries(repository: _Repository, commit: str, inside: str) -> list[Entry]:
    """The files of a commit, or those below a folder of it, at least one. Raises ConnectorError."""
    words = ["ls-tree", "-r", "-z", "-l", "--full-tree", "--end-of-options", commit]
    listing = await repository.ask(*words, *([inside] if inside else []), most=MAX_LISTING)
    entries = [_entry(line) for line in listing.split(b"\0") if line]
    if not entries:
        where = f" below {inside}" if inside else ""
        raise ConnectorError(f"The connector {repository.name}: the commit has no file{where}.")
    return entries


def _why_not(entry: Entry, basket: Basket) -> str:
    if entry.kind != "blob":
        return "a submodule, which is not followed"
    if entry.mode == "120000":
        return "a link, which is not followed"
    return basket.why_not(entry.size)


def _entry(line: bytes) -> Entry:
    """A line of `git ls-tree -l -z`: mode, kind, hash, size, a tab, the path."""
    head, _, path = line.partition(b"\t")
    mode, kind, name, size = head.decode("ascii", "replace").split()
    return Entry(
        path=path.decode("utf-8", "surrogateescape"),
        mode=mode,
        kind=kind,
        hash=name,
        size=int(size) if size.isdigit() else 0,
    )


async def _blob(process: asyncio.subprocess.Process, entry: Entry) -> bytes | None:
    """The bytes of a blob; None where the repository does not have it."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(f"{entry.hash}\n".encode())
    await process.stdin.drain()
    head = (await process.stdout.readline()).split()
    if len(head) != 3 or head[1] != b"blob" or not head[2].isdigit() or int(head[2]) > LARGEST:
        return None
    data = await process.stdout.readexactly(int(head[2]))
    await process.stdout.readexactly(1)
    return data


def _hash(data: bytes, length: int) -> str:
    """The hash by which git names a blob, of either of its two object formats."""
    named = b"blob %d\0" % len(data) + data
    return hashlib.sha256(named).hexdigest() if length == 64 else hashlib.sha1(named).hexdigest()


async def _within(repository: _Repository, work: Awaitable[bytes | None]) -> bytes | None:
    """What the work gives in the time of the source; None where git ended before. Raises ConnectorError."""
    try:
        async with asyncio.timeout(repository.basket.seconds_left):
            return await work
    except TimeoutError:
        raise _too_slow(repository) from None
    except (asyncio.IncompleteReadError, BrokenPipeError, ConnectionResetError, ValueError):
        return None


def _too_slow(repository: _Repository) -> ConnectorError:
    seconds = repository.basket.limits.seconds
    return ConnectorError(
        f"The connector {repository.name}: git was not done after {seconds:g} s. Raise connectors.seconds."
    )


async def _read(stream: asyncio.StreamReader, most: int) -> bytes | None:
    """All of a stream, None when that is more than `most` bytes."""
    pieces, size = [], 0
    while piece := await stream.read(1 << 16):
        size += len(piece)
        if size > most:
            return None
        pieces.append(piece)
    return b"".join(pieces)


@asynccontextmanager
async def _started(
    repository: _Repository, words: Sequence[str]
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A git without the environment of the person; it ends with its children when the block is left."""
    process = await asyncio.create_subprocess_exec(
        "git",
        *_ALWAYS,
        *words,
        cwd=repository.folder,
        env=_environment(repository),
        stdin=asyncio.subprocess.PIPE if "cat-file" in words else asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE if "fetch" in words else asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.stdin is not None:
            process.stdin.close()
        if process.returncode is None:
            _kill(process.pid)
        await process.wait()


def _kill(group: int) -> None:
    try:
        os.killpg(group, 9)
    except ProcessLookupError:
        return


def _environment(repository: _Repository) -> dict[str, str]:
    home = str(repository.home)
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": home,
        "XDG_CONFIG_HOME": home,
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "false",
        "GIT_ALLOW_PROTOCOL": "http:https" if repository.is_fetched else "none",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_CEILING_DIRECTORIES": str(repository.folder.parent),
        **({"GIT_DIR": str(repository.kept)} if repository.kept else {}),
    }


def _size_of(place: Path) -> int:
    """Bytes of all files below a folder, as far as they can be looked at."""
    total = 0
    for folder, _, names in os.walk(place):
        for name in names:
            with suppress(OSError):
                total += (Path(folder) / name).lstat().st_size
    return total
