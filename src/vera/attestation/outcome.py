"""What a session may say of how it ended: one value, which every page, list and command shows.

How a run ended is in the last record of its log. Anybody can write that, so it is shown only where every
byte of the session is whole (with those in which an execution's theses were verified), one accepted key
signed all of it, and the end is one that the attested result can have. Everything else has a word that
claims nothing:

- ALTERED: bytes, signatures or the status are not what was sealed and attested;
- UNSEALED: no seal holds the end of the log (a run was killed, or its end was cut off);
- UNTRUSTED: whole, and signed by a key of which VERA cannot say whose it is.

That the attested result follows from the log is computed by `vera replay`, not here.
"""

import hashlib
import os
import stat
from collections.abc import Collection, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path

import msgspec

from vera import events
from vera.attestation.integrity import ATTESTATION, COVERED, Loaded, Round
from vera.attestation.objects import Policy
from vera.attestation.parents import AGREES
from vera.attestation.replay_theses import FOLDER, check_with_theses, is_here
from vera.attestation.report import Level
from vera.attestation.signers import HOW_TO_TRUST, UNKNOWN, Signers, TrustError, known_signers
from vera.headline import EXIT_CODES, HOLDS, NOT_REQUIRED, OPEN, Headline, headline, word_of
from vera.version import __version__

ALTERED = "ALTERED"
UNSEALED = "UNSEALED"
UNTRUSTED = "UNTRUSTED"
UNCHECKED = "UNCHECKED"
"""The word of a run that has ended, before anything was looked at."""

WITHHELD = (ALTERED, UNSEALED, UNTRUSTED, UNCHECKED)
"""Words that replace a status when it cannot be relied on."""

NO_SEAL = "no signed seal holds the end of the log, which may have been cut off"

MAX_FILES = 100_000
"""How many files a fingerprint looks at: of the session, and of its theses' sessions together."""

TOO_MANY = f"more than {MAX_FILES:,} files, so a change of one would not be seen; 'vera show' reads them all"


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What may be said.

    `word` is the status, one of WITHHELD, or '' while the run has not ended; `reason` is that of the log, or
    why the status is withheld; `exit_code` None where it is. `signed` says who signed ("by your key"), '' for
    no one, and `keyid` is that key; `attestation` is the id of the verdict on the chosen answer.
    """

    word: str = ""
    reason: str = ""
    exit_code: int | None = None
    signed: str = ""
    keyid: str = ""
    attestation: str = ""

    @property
    def is_withheld(self) -> bool:
        return self.word in WITHHELD


def outcome_here(root: Path) -> Outcome:
    """`outcome_of` by the keys that this person knows. Raises NoSession, OSError."""
    try:
        signers = known_signers()
    except TrustError as error:
        return Outcome(word=UNTRUSTED, reason=str(error))
    return outcome_of(root, signers)


def withheld_after(found: str, root: Path) -> Outcome | None:
    """The outcome of a session that went on from one of which a replay `found` this, where its status is
    withheld. Raises NoSession, OSError."""
    if found == AGREES:
        return None
    outcome = outcome_here(root)
    return outcome if outcome.is_withheld else None


def withheld_code(code: int) -> int:
    """The exit code of a run whose status is withheld: nothing is proved either way."""
    return EXIT_CODES["UNRESOLVED"] if code in EXIT_CODES.values() else code


def outcome_of(root: Path, signers: Signers) -> Outcome:
    """What the session at `root` may say: reads all of it, and of an execution the sessions in which its
    theses were verified. Raises NoSession, OSError."""
    integrity, loaded = check_with_theses(root, signers)
    return judged(integrity, loaded, signers)


def judged(integrity: Level, loaded: Loaded, signers: Signers) -> Outcome:
    """The outcome of a session whose level 0 is known. Pure."""
    ended, seal = loaded.ended, loaded.seal
    keyid = seal.keyid if seal else ""
    if not keyid:
        keyid = next((each.opened.keyid for each in loaded.rounds if each.opened), "")
    known = Outcome(
        keyid=keyid,
        signed=signers.who(keyid) if keyid else "",
        attestation=loaded.chosen.event.attestation if loaded.chosen else "",
    )
    if integrity.verdict in ("BROKEN", "ALTERED", "DIFFERS", "MISSING"):
        return _withheld(known, ALTERED, integrity.sentence)
    if ended is None:
        return _withheld(known, UNSEALED, NO_SEAL) if _is_concluded(loaded) else known
    if problem := misstated(loaded):
        return _withheld(known, ALTERED, problem)
    if integrity.verdict == "UNTRUSTED":
        unknown = f"signed {UNKNOWN}. {HOW_TO_TRUST}"
        return _withheld(known, UNTRUSTED, integrity.sentence if signers.accepts(keyid) else unknown)
    if not loaded.is_sealed and (integrity.verdict == "UNSEALED" or ended.status != "UNRESOLVED"):
        return _withheld(known, UNSEALED, NO_SEAL)
    if integrity.verdict == "UNSEALED":
        return _withheld(known, UNSEALED, integrity.sentence)
    word, _ = _attested(loaded)
    return msgspec.structs.replace(known, word=word, reason=ended.reason, exit_code=ended.exit_code)


def _is_concluded(loaded: Loaded) -> bool:
    """Whether a log that does not end its run has a status that only the end of a run gives."""
    last = _last_status(loaded)
    return last is not None and last.status not in ("IN_PROGRESS", "BLOCKED", "UNRESOLVED")


def misstated(loaded: Loaded) -> str:
    """Why a run with this attested result cannot end with this status and exit code; '' when it can."""
    ended = loaded.ended
    if ended is None:
        return ""
    last = _last_status(loaded)
    if last is not None and (last.status, last.reason) != (ended.status, ended.reason):
        return "The run ends with another status than the one that was concluded."
    chosen = loaded.chosen.event.attestation if loaded.chosen else ""
    if loaded.seal and loaded.seal.exit_code is not None and loaded.seal.attestation != chosen:
        return "The seal names another attestation than that of the chosen answer."
    return _not_its_end(loaded, ended)


def _not_its_end(loaded: Loaded, ended: events.RunEnd) -> str:
    """Why the attested result cannot end with this status and exit code; '' when it can."""
    word, attested = _attested(loaded)
    forms = (loaded.seal.format,) if loaded.seal else (1, 2)
    known = [codes for form in forms if (codes := _ends(word, form).get(ended.status)) is not None]
    if not known:
        return f"The status is {_word(ended.status)}, and {attested}."
    if not any(ended.exit_code in codes for codes in known):
        return f"The exit code is {ended.exit_code} with {_word(ended.status)}, and {attested}."
    return ""


def _last_status(loaded: Loaded) -> events.Status | None:
    return next((each for each in reversed(loaded.records) if isinstance(each, events.Status)), None)


def _ends(word: Headline, form: int) -> Mapping[str, Collection[int]]:
    """The status that a run with this attested word ends with, and its exit codes. Under a seal of format 1
    the only words were VERIFIED and UNRESOLVED."""
    code, old = EXIT_CODES[word], form == 1
    if word in HOLDS:
        codes = {code} if old or word == "VERIFIED" else {code, NOT_REQUIRED}
        return {"VERIFIED" if old else word: codes}
    codes = {code, 5, 130} if code == EXIT_CODES["REFUTED"] else {code, 5, 6, 130}
    return {"UNRESOLVED" if old else word: codes}


def _attested(loaded: Loaded) -> tuple[Headline, str]:
    """The word for what was attested of the answer, and how to say it."""
    answer = next((each for each in reversed(loaded.records) if isinstance(each, events.Answer)), None)
    executed = next(
        (each for each in reversed(loaded.records) if isinstance(each, events.ExecutionVerdict)), None
    )
    if executed is not None and answer is not None and executed.answer_seq == answer.seq:
        word = _carried(executed)
        return word, "all its claims are carried" if word in HOLDS else "not all its claims are carried"
    if loaded.chosen is None:
        return "UNRESOLVED", "no answer was chosen"
    decision = loaded.chosen.event
    said = f"what was attested is {decision.result}" + (f" ({decision.reason})" if decision.reason else "")
    return headline(decision.result, decision.reason, _rule(loaded.chosen)), said


def _carried(executed: events.ExecutionVerdict) -> Headline:
    """The word of an execution. An older VERA wrote UNRESOLVED where an attestation speaks against it."""
    word = word_of(executed.status)
    against = [claim.reason for claim in executed.claims if claim.against]
    if word != "UNRESOLVED" or not against:
        return word
    return "REFUTED" if any("REFUTED" in reason for reason in against) else "DISPUTED"


def _rule(chosen: Round) -> str:
    """Who labelled spans by the attested policy; '' where it cannot be read."""
    if chosen.opened is None or chosen.objects is None:
        return ""
    policy = chosen.objects.get(chosen.opened.attestation.policy)
    return policy.rule if isinstance(policy, Policy) else ""


def _word(status: str) -> str:
    return status if status in OPEN else "a verified one"


def _withheld(known: Outcome, word: str, reason: str) -> Outcome:
    return msgspec.structs.replace(known, word=word, reason=reason)


def fingerprint(root: Path) -> str:
    """A digest that is another one when an outcome may be: of the name, inode, size and times of every file
    that it rests on, and of the keys that this person knows. '' when there are more than MAX_FILES files.

    A file's time of change (ctime) cannot be set back, so a changed byte shows.
    """
    try:
        known = repr(known_signers())
    except TrustError as error:
        known = str(error)
    told = hashlib.sha256(f"{__version__} {known}".encode())
    names = _names(root / FOLDER)
    if len(names) > MAX_FILES:
        return ""
    theses = [root / FOLDER / name for name in names if is_here(root, f"{FOLDER}/{name}")]
    for paths in (_files(root), chain.from_iterable(map(_files, theses))):
        for path in islice(paths, MAX_FILES):
            told.update(repr(_stat(path, path.relative_to(root).as_posix())).encode())
        if next(paths, None) is not None:
            return ""
    return told.hexdigest()


def _files(session: Path) -> Iterator[Path]:
    """What a check of one session reads, whether it is there or not."""
    for name in ("trace.jsonl", "seal.json", ATTESTATION, *COVERED):
        yield session / name
    for folder in _names(session / "store"):
        yield session / "store" / folder
        for name in _names(session / "store" / folder):
            yield session / "store" / folder / name


def _names(folder: Path) -> list[str]:
    """The first names in a folder, sorted; none where it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in islice(entries, MAX_FILES + 1))
    except OSError:
        return []


def _stat(path: Path, name: str) -> tuple[str, int, int, int, int] | None:
    """None for a folder, and where there is nothing."""
    try:
        about = path.lstat()
    except OSError:
        return None
    if stat.S_ISDIR(about.st_mode):
        return None
    return name, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns
