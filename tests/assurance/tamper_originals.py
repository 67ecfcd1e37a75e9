"""Honest sessions, as files in memory: what the battery `tamper` changes. Made once in a process."""

import functools
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import vera
from assurance.tamper_checker import rejects
from support.executing import LASTS, execute
from support.turns import final, turn
from support.verified import ANSWER, answer, begin, decide, finish, open_session, replay, verified
from vera.attestation import reviews
from vera.attestation.integrity import check_integrity
from vera.attestation.keys import Signer, load_or_create
from vera.attestation.replay import reviews_of
from vera.attestation.signers import Signers
from vera.session import check

Files = Mapping[str, bytes]
"""Relative name → bytes."""

OLDER = Path(__file__).parents[1] / "fixtures" / "older"
FALSE = " The Oder is 9999 kilometres long [ev_0002:4]."


@dataclass(frozen=True)
class Original:
    """An honest session. `verdicts` is what a replay says of it, level by level; `earlier` a seal that its
    log had before, of the same key, and whole."""

    name: str
    files: Files
    keyid: str
    verdicts: tuple[str, ...]
    earlier: bytes = b""

    @property
    def signers(self) -> Signers:
        """Whoever trusts the key of this session, and no other."""
        return Signers(only=frozenset({self.keyid}))


@functools.cache
def signer() -> Signer:
    """The key of whoever runs the battery."""
    return load_or_create()


@functools.cache
def stranger() -> Signer:
    with tempfile.TemporaryDirectory(prefix="vera-stranger-") as folder:
        return load_or_create(Path(folder) / "keys")


@functools.cache
def originals() -> tuple[Original, ...]:
    """One of each kind, each of which replays."""
    with tempfile.TemporaryDirectory(prefix="vera-tamper-") as name:
        folder = Path(name)
        made = []
        for kind, make in MAKERS.items():
            (folder / kind).mkdir()
            root = make(folder / kind)
            keyid = check(root).keyid
            assert not rejects(root, keyid), kind
            verdicts = tuple(level.verdict for level in replay(root, (keyid,)).levels)
            assert set(verdicts) <= {"AGREES", "RULES_CHANGED"}, (kind, verdicts)
            made.append(Original(kind, files_of(root), keyid, verdicts, EARLIER.get(kind, b"")))
        return tuple(made)


EARLIER: dict[str, bytes] = {}


def files_of(root: Path) -> Files:
    """Every file of a session that VERA wrote, but what commands and the person put there."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not {"workspace", "output", "README.txt"} & {*path.relative_to(root).parts}
    }


def write(files: Files, root: Path) -> Path:
    """The files as a folder."""
    folders = {(root / name).parent for name in files}
    for folder in sorted(folders):
        folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (root / name).write_bytes(data)
    return root


def _good(folder: Path) -> Path:
    verified(folder / "s", signer())
    return folder / "s"


def _open(folder: Path) -> Path:
    verified(folder / "s", signer(), ANSWER + FALSE)
    return folder / "s"


def _two_rounds(folder: Path) -> Path:
    """A wrong answer, and then a right one; the seal behind the first verdict is kept."""
    session = open_session(folder / "s")
    begin(session, 1, answer(session, ANSWER + FALSE))
    decide(session, signer(), 1)
    EARLIER["two rounds"] = (folder / "s" / "seal.json").read_bytes()
    begin(session, 2, answer(session))
    finish(session, signer(), decide(session, signer(), 2))
    session.close()
    return folder / "s"


def _reviewed(folder: Path) -> Path:
    """Two claims that a person reviewed, one of them twice."""
    root = _good(folder)
    _, loaded = check_integrity(root, Signers(any_signer=True))
    assert loaded.seal is not None and loaded.chosen is not None and loaded.chosen.objects is not None
    claims = reviews.digests_of(loaded.chosen.objects[loaded.chosen.opened.attestation.thesis])  # type: ignore[arg-type,union-attr] # the thesis
    for label, (key, digest) in zip(("agree", "disagree"), claims.items(), strict=False):
        for said in (label, "unsure"):
            reviews.append(
                root,
                signer(),
                head=loaded.seal.hash,
                claim=key,
                claim_sha256=digest,
                label=said,
                note="I read it.",
            )
    found = reviews_of(root, loaded, Signers(any_signer=True), is_whole=True)
    assert found is not None and not found.bad
    return root


def _thesis(folder: Path) -> Path:
    vera.verify(f"{LASTS}.", work_dir=folder / "s", **_documents(folder))
    return folder / "s"


def _documents(folder: Path) -> dict[str, Any]:
    """How a question about one file is asked, without a model."""
    (folder / "documents").mkdir()
    (folder / "documents" / "offer.txt").write_text(f"{LASTS}.\n")
    return {
        "input_dir": folder / "documents",
        "base_dir": folder,
        "overrides": ["model.base_url=builtin"],
    }


def _followed(folder: Path) -> Path:
    """A question that follows a session."""
    told = _documents(folder)
    first = vera.research("How long is the written offer valid?", work_dir=folder / "first", **told)
    told |= {"parent": first.session, "input_dir": None}
    vera.research("For how many years is the written offer valid?", work_dir=folder / "s", **told)
    return folder / "s"


def _executed(folder: Path) -> Path:
    """An execution, with the session in which its thesis was verified."""
    done = execute(folder, [turn("verify", thesis=f"{LASTS}."), final(f"{LASTS} [att_0001:c1].")])
    assert done.status == "QUOTED", done.ended
    return folder / "work"


MAKERS: dict[str, Callable[[Path], Path]] = {
    "good": _good,
    "open": _open,
    "two rounds": _two_rounds,
    "reviewed": _reviewed,
    "thesis": _thesis,
    "followed": _followed,
    "executed": _executed,
}


def older(name: str, folder: Path) -> Path:
    """A session of the version before seals had a format."""
    from vera.attestation.bundle import unpack

    unpack(OLDER / f"{name}.zip", folder / "s")
    return folder / "s"


MAKERS |= {f"older, {name}": functools.partial(older, name) for name in ("verified", "thesis")}
