"""Gathering: the documents of a run's sources, kept as one folder that does not change any more.

The folder is named after the digest of its list, so that the same documents are the same folder, with the
same index. Beside the documents lies the list: of each its origin, hash and size, and what was left out.
"""

import asyncio
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import platformdirs

from vera.connectors.basket import Basket, Gathered, Limits
from vera.connectors.reach import Reach
from vera.connectors.values import INPUT, Connector, ConnectorError, Source
from vera.decode_errors import DECODE_ERRORS

DOCUMENTS = "documents"
LIST = "connectors.json"
MAX_LIST = 256 << 20
"""Bytes of a list."""

KEPT_SETS = 20
"""Folders that are kept; older ones go when they were not used for KEPT_SECONDS."""

KEPT_SECONDS = 7 * 86400.0


class Used(msgspec.Struct, frozen=True, kw_only=True):
    """What one source gave. `left_out` holds (name, reason) of the first of `left_out_count` things;
    `ended_at` is the limit at which the source was cut off, '' for none."""

    name: str
    kind: str
    version: str
    address: str
    revision: str
    documents: tuple[Gathered, ...]
    left_out: tuple[tuple[str, str], ...] = ()
    left_out_count: int = 0
    ended_at: str = ""


class DocumentList(msgspec.Struct, frozen=True, kw_only=True):
    """The list that lies beside the documents."""

    connectors: tuple[Used, ...]


def cache_folder() -> Path:
    """Where gathered documents are kept: in the person's cache. A folder elsewhere holds none, whatever its
    list says."""
    return Path(platformdirs.user_cache_dir("vera")) / "connected"


async def gather(
    sources: Sequence[tuple[Source, Connector]], limits: Limits, reach: Reach, cache: Path
) -> Path:
    """The folder below `cache` with the documents of the sources. Raises ConnectorError and OSError."""
    cache.mkdir(parents=True, exist_ok=True, mode=0o700)
    place = Path(tempfile.mkdtemp(prefix=".new-", dir=cache))
    try:
        (place / DOCUMENTS).mkdir()
        used = [await _gathered(each, kind, limits, reach, place / DOCUMENTS) for each, kind in sources]
        data = msgspec.json.format(msgspec.json.encode(DocumentList(connectors=tuple(used))), indent=1)
        (place / LIST).write_bytes(data)
        return await asyncio.to_thread(_kept, place, cache, data)
    finally:
        shutil.rmtree(place, ignore_errors=True)


async def _gathered(source: Source, connector: Connector, limits: Limits, reach: Reach, folder: Path) -> Used:
    basket = Basket(folder, source.name, limits)
    try:
        revision = await connector.gather(source, basket, reach)
    finally:
        basket.close()
    if not basket.documents:
        reasons = "; ".join(f"{name}: {why}" for name, why in basket.left_out[:3])
        raise ConnectorError(f"The connector {source.name} gave no document. {reasons}".rstrip())
    return Used(
        name=source.name,
        kind=source.kind,
        version=connector.version,
        address=source.address,
        revision=revision,
        documents=tuple(basket.documents),
        left_out=tuple(basket.left_out),
        left_out_count=basket.left_out_count,
        ended_at=basket.ended_at,
    )


def _kept(place: Path, cache: Path, data: bytes) -> Path:
    """The place of the documents from now on: a folder with the same documents where there is one."""
    final = cache / hashlib.sha256(data).hexdigest()[:24]
    if final.exists():
        if _is_whole(final, data):
            os.utime(final)
            return final / DOCUMENTS
        shutil.rmtree(final)
    place.rename(final)
    _forget_old(cache)
    return final / DOCUMENTS


def _is_whole(folder: Path, data: bytes) -> bool:
    """Whether a folder holds what its list says, and nothing else."""
    try:
        if (folder / LIST).read_bytes() != data:
            return False
        named = {each.name: each.sha256 for used in _decoded(data).connectors for each in used.documents}
        root = folder / DOCUMENTS
        there = {path.relative_to(root).as_posix() for path in root.rglob("*") if not path.is_dir()}
        return there == set(named) and all(
            hashlib.sha256((root / name).read_bytes()).hexdigest() == sha256 for name, sha256 in named.items()
        )
    except (OSError, ValueError):
        return False


def _forget_old(cache: Path) -> None:
    folders = sorted((path for path in cache.iterdir() if path.is_dir()), key=_time, reverse=True)
    for folder in folders[KEPT_SETS:]:
        if time.time() - _time(folder) > KEPT_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)


def _time(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return time.time()


def list_of(documents: Path) -> bytes:
    """The list of a folder of gathered documents, as it is kept; b"" for any other folder."""
    path = documents.parent / LIST
    try:
        is_ours = documents.resolve().parent.parent == cache_folder().resolve()
        if documents.name != DOCUMENTS or not is_ours or path.stat().st_size > MAX_LIST:
            return b""
        data = path.read_bytes()
    except OSError:
        return b""
    return data if hashlib.sha256(data).hexdigest()[:24] == documents.parent.name else b""


def used_in(documents: Path) -> tuple[Used, ...]:
    """What the sources gave that a folder was gathered from; empty for any other folder."""
    data = list_of(documents)
    try:
        return _decoded(data).connectors if data else ()
    except DECODE_ERRORS:
        return ()


def origins_of(documents: Path) -> dict[str, str]:
    """The origin of each document of a gathered folder by its name; empty for any other folder. A document
    of the input folder has none: no connector gave it."""
    used = (each for each in used_in(documents) if each.name != INPUT)
    return {each.name: each.origin for source in used for each in source.documents}


def receipts_of(documents: Path) -> dict[str, bytes]:
    """The receipt, as JSON, of each document of a gathered folder that was fetched by its address."""
    each = (document for used in used_in(documents) for document in used.documents)
    return {one.name: msgspec.json.encode(one.receipt) for one in each if one.receipt is not None}


def _decoded(data: bytes) -> DocumentList:
    return msgspec.json.decode(data, type=DocumentList)
