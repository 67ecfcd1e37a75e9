"""Fetching a model file for this machine: from a short list of small models, or any GGUF file of a hub."""

import errno
import fcntl
import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from io import BufferedRandom
from pathlib import Path

import msgspec

from vera.agent import pulled_models
from vera.agent.errors import SetupError
from vera.agent.hub import Hub, HubFile
from vera.agent.pulled_models import NAME, Pulled
from vera.model.gguf import SHARD, read_gguf
from vera.model.types import ModelError

SPARE_BYTES = 256 << 20
"""Left free on the disk beside the model."""

MB = 1_000_000
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_PLACE = re.compile(
    r"(?P<repo>[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}):"
    r"(?P<file>(?:[A-Za-z0-9][\w.+-]*/){0,4}[A-Za-z0-9][\w.+-]*\.gguf)",
    re.ASCII,
)

Say = Callable[[str], None]


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """A model with a short name: its file, and its size in GB, context in tokens and licence as published."""

    name: str
    repo: str
    file: str
    gigabytes: float
    context: int
    licence: str


OFFERED = (
    Offer(
        name="qwen2.5-1.5b",
        repo="Qwen/Qwen2.5-1.5B-Instruct-GGUF",
        file="qwen2.5-1.5b-instruct-q4_k_m.gguf",
        gigabytes=1.1,
        context=32_768,
        licence="apache-2.0",
    ),
    Offer(
        name="granite-3.3-2b",
        repo="ibm-granite/granite-3.3-2b-instruct-GGUF",
        file="granite-3.3-2b-instruct-Q4_K_M.gguf",
        gigabytes=1.5,
        context=131_072,
        licence="apache-2.0",
    ),
    Offer(
        name="qwen3-4b-2507",
        repo="unsloth/Qwen3-4B-Instruct-2507-GGUF",
        file="Qwen3-4B-Instruct-2507-Q4_K_M.gguf",
        gigabytes=2.5,
        context=262_144,
        licence="apache-2.0",
    ),
    Offer(
        name="granite-3.3-8b",
        repo="ibm-granite/granite-3.3-8b-instruct-GGUF",
        file="granite-3.3-8b-instruct-Q4_K_M.gguf",
        gigabytes=4.9,
        context=131_072,
        licence="apache-2.0",
    ),
)
"""From the smallest to the largest. Nothing here was measured by VERA."""


def asked_for(text: str) -> tuple[str, str, str]:
    """(name, repository, file) of what was typed: a name of OFFERED, or REPO:FILE. Raises SetupError (2)."""
    for offer in OFFERED:
        if text == offer.name:
            return offer.name, offer.repo, offer.file
    found = _PLACE.fullmatch(text)
    if found is None:
        names = ", ".join(offer.name for offer in OFFERED)
        raise SetupError(
            f"{text!r} is no model to pull. Give one of these names: {names}; or REPO:FILE.gguf, such as "
            f"{OFFERED[0].repo}:{OFFERED[0].file}",
            2,
        )
    file = found["file"].rpartition("/")[2]
    name = file.removesuffix(".gguf")
    if SHARD.search(file):
        raise SetupError(
            f"{file} is one part of a model in several files. Fetch all of them yourself, then give the "
            "first one: --model-file FILE.gguf",
            2,
        )
    if not NAME.fullmatch(name):
        raise SetupError(f"{file} cannot be the name of a model: letters, digits, '.', '_' and '-' only.", 2)
    return name, found["repo"], found["file"]


def pull(text: str, say: Say, now: Say) -> Pulled:
    """Fetch a model, unless it is here; `say` gets lines that stay, `now` how far it is.

    What is received stays in a part that the next pull goes on with. Raises SetupError: a mistake (2), the
    hub or the disk is not ready (5), the file is not what the hub announced or no model (1).
    """
    name, repo, file = asked_for(text)
    here = pulled_models.named(name)
    if here is not None:
        if (here.repo, here.file) == (repo, file):
            say(f"{name} is here already: {pulled_models.path_of(name)}")
            return here
        raise SetupError(
            f"There is another model of the name {name}, from {here.repo}. Type: vera models remove {name}", 2
        )
    hub = Hub()
    now(f"asking {hub.endpoint} …")
    wanted = hub.look(repo, file)
    licence = f"licence {wanted.licence}" if wanted.licence else "no licence stated"
    say(f"{name}: {file} of {hub.endpoint}/{repo}, {wanted.size / MB:.0f} MB, {licence}")
    try:
        return _bring(name, hub, wanted, say, now)
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise SetupError(
                f"The disk of {pulled_models.folder()} is full. Make room and type it again: what was "
                "received is kept.",
                5,
            ) from None
        raise


def _bring(name: str, hub: Hub, wanted: HubFile, say: Say, now: Say) -> Pulled:
    folder = pulled_models.folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"{name}.{wanted.sha256[:16]}.part"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "r+b") as part:
        _only_one(part, name)
        for stale in pulled_models.parts_of(name):
            if stale != path:  # of another version of the file
                stale.unlink(missing_ok=True)
        have = part.seek(0, os.SEEK_END)
        if have > wanted.size:
            have = part.truncate(0)
        _ask_for_room(folder, wanted.size - have, name)
        if have:
            say(f"going on after {have / MB:.0f} MB")
        hub.fetch(wanted, part, _told(name, wanted.size, have, now))
        now(f"{name}: checking {wanted.size / MB:.0f} MB")
        _check(part, path, wanted)
        model = Pulled(
            name=name,
            hub=hub.endpoint,
            repo=wanted.repo,
            file=wanted.file,
            commit=wanted.commit,
            sha256=wanted.sha256,
            size=wanted.size,
            licence=wanted.licence,
            pulled_at=time.time(),
        )
        say(f"{name} is complete, its SHA-256 is the hub's: {pulled_models.keep(model, path)}")
    return model


def _only_one(part: BufferedRandom, name: str) -> None:
    try:
        fcntl.flock(part, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise SetupError(f"Another 'vera models pull' is fetching {name} now.", 5) from None


def _ask_for_room(folder: Path, needed: int, name: str) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed + SPARE_BYTES:
        raise SetupError(
            f"{name} needs {(needed + SPARE_BYTES) / MB:.0f} MB of disk, and {free / MB:.0f} MB are free in "
            f"{folder}. Make room, or set XDG_DATA_HOME to a folder of another disk.",
            5,
        )


def _told(name: str, size: int, have: int, now: Say) -> Callable[[int], None]:
    """Says about twice a second how much is here, and how fast it comes."""
    began = last = time.monotonic()

    def received(total: int) -> None:
        nonlocal last
        moment = time.monotonic()
        if moment - last < 0.5:
            return
        last = moment
        speed = (total - have) / (moment - began)
        left = f", {(size - total) / speed:.0f} s left" if speed > 0 else ""
        now(f"{name}: {total / MB:.0f} of {size / MB:.0f} MB, {speed / MB:.1f} MB/s{left}")

    return received


def _check(part: BufferedRandom, path: Path, wanted: HubFile) -> None:
    """Delete a part that is not the announced file, or no model. Raises SetupError (1)."""
    part.flush()
    part.seek(0)
    problem = ""
    if hashlib.file_digest(part, "sha256").hexdigest() != wanted.sha256:
        problem = "its SHA-256 is not the one that the hub announced. Type the command again"
    else:
        try:
            read_gguf(path)
        except ModelError as error:
            problem = str(error).replace(str(path), "it").rstrip(".")
    if problem:
        with suppress(OSError):
            path.unlink()
        raise SetupError(f"{wanted.file} of {wanted.repo} was deleted: {problem}.", 1)
