"""A model server that is found on this machine: used after a person said so once, never for being there.

On a loopback port anybody with an account can listen. So a server is used by itself only when it is yours or
a system account's, and you agreed to it: by the setting `auto`, or once on a terminal, which is remembered by
address and owner in the user's data folder.
"""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec
import platformdirs

from vera.config.settings import AUTO
from vera.decode_errors import DECODE_ERRORS
from vera.model.owner import Owner, owner_of
from vera.model.probe import Found

BUILT_IN_ANSWERS = "the built-in one"
"""What is said of the model where no other is used."""

FILE = "servers.json"
MAX_REMEMBERED = 200
_MAX_BYTES = 1 << 20


class Candidate(msgspec.Struct, frozen=True):
    """A server with a model, and the owner of its program."""

    found: Found
    owner: Owner

    @property
    def place(self) -> str:
        """What it is and where, for a sentence."""
        return f"{self.found.title} at {self.found.base_url}"


class Answer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a person said of the server at an address, run by an account."""

    address: str
    uid: int
    use: bool


class Choice(msgspec.Struct, frozen=True):
    """The server to use, None for none, and the line that says what goes where, or why none is used ('' when
    there is nothing to say)."""

    found: Found | None
    sentence: str


def candidates(found: Sequence[Found]) -> list[Candidate]:
    """The servers with a model, in their order, each with its owner."""
    return [Candidate(each, owner_of(each.base_url)) for each in found if each.models]


def choose(
    seen: Sequence[Candidate], base_url: str, answers: Sequence[Answer], otherwise: str = BUILT_IN_ANSWERS
) -> Choice:
    """Which of the servers is used, under the setting `model.base_url` and what was answered before;
    `otherwise` names the model that answers where none is."""
    allowed = [each for each in seen if each.owner.may_be_asked_about]
    for each in allowed:
        if base_url == AUTO or remembered(each, answers):
            return Choice(each.found, _used(each))
    if allowed:
        declined = remembered(allowed[0], answers) is False
        return Choice(None, "" if declined else _not_asked(allowed[0], otherwise))
    return Choice(None, _not_yours(seen[0], otherwise) if seen else "")


def unasked(seen: Sequence[Candidate], answers: Sequence[Answer]) -> Candidate | None:
    """The server that a person can be asked about: the first that may be used, unless one is used already or
    this one was asked about."""
    allowed = [each for each in seen if each.owner.may_be_asked_about]
    if not allowed or any(remembered(each, answers) for each in allowed):
        return None
    return None if remembered(allowed[0], answers) is False else allowed[0]


def remembered(candidate: Candidate, answers: Sequence[Answer]) -> bool | None:
    """What was said of this server, None when it was not asked about."""
    for each in answers:
        if (each.address, each.uid) == (candidate.found.base_url, candidate.owner.uid):
            return each.use
    return None


def recall(folder: Path | None = None) -> tuple[Answer, ...]:
    """The answers of before; none where the file is not one of ours or belongs to another user."""
    path = (folder or default_folder()) / FILE
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if os.fstat(descriptor).st_uid != os.geteuid():
                return ()
            return msgspec.json.decode(file.read(_MAX_BYTES), type=tuple[Answer, ...])
    except (OSError, *DECODE_ERRORS):
        return ()


def remember(candidate: Candidate, *, use: bool, folder: Path | None = None) -> None:
    """Keep an answer, in place of an earlier one about the same server. Raises OSError."""
    folder = folder or default_folder()
    new = Answer(address=candidate.found.base_url, uid=candidate.owner.uid, use=use)
    kept = [each for each in recall(folder) if (each.address, each.uid) != (new.address, new.uid)]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=".new-")
    with os.fdopen(descriptor, "wb") as file:
        file.write(msgspec.json.encode([*kept, new][-MAX_REMEMBERED:]))
    Path(temporary).replace(folder / FILE)


def default_folder() -> Path:
    """The user's data folder."""
    return Path(platformdirs.user_data_dir("vera", appauthor=False))


def what_goes_there(candidate: Candidate) -> str:
    """What a found server gets, and what it decides."""
    return (
        f"{candidate.place}, run by {candidate.owner.name}: your question, the agent's notes and the "
        "passages it reads go there, and without a separate verifier it also judges the answer"
    )


def _used(each: Candidate) -> str:
    return f"model: {what_goes_there(each)}"


def _not_asked(each: Candidate, otherwise: str) -> str:
    return (
        f"model: {otherwise}. {each.place} was found, run by {each.owner.name}, and is not used "
        "unasked. To use it: --model-base-url auto (or model.base_url: auto in your settings)"
    )


def _not_yours(each: Candidate, otherwise: str) -> str:
    return (
        f"model: {otherwise}. {each.place} was found, run by {each.owner.name}, and is not used: it is "
        f"not yours. If you trust whoever runs it: --model-base-url {each.found.base_url}"
    )
