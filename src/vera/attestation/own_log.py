"""Whether the log of a session is the user's: how much of it their key has sealed."""

from pathlib import Path

from vera.attestation.keys import KeyFileError, load_or_create, verify_hex
from vera.config.logged import Proof
from vera.session.log import LogError
from vera.session.seal import check


def proof_of(root: Path, keys: Path | None = None) -> tuple[Proof, str]:
    """How much of the log is sealed by this person's key, and a sentence for a log that does not fit its
    seal ('' where it does). `keys` is the folder of the key, by default the user's.

    A log that no one sealed, or someone else, proves nothing: it is no one's in particular.
    """
    try:
        found = check(root, verify_hex)
        if found.verdict == "BROKEN":
            return Proof(), found.sentence
        is_own = found.sealed > 0 and found.keyid == load_or_create(keys).keyid
    except (KeyFileError, LogError, OSError):
        return Proof(), ""
    return (Proof(found.sealed, found.sealed == found.records), "") if is_own else (Proof(), "")
