"""What a change of a session's files has to be reported by, and the changes that alter nothing promised, each
by a rule with its reason."""

import hashlib
import re
from collections.abc import Callable
from typing import NamedTuple

from assurance.tamper_originals import Files, Original

SESSION = ("trace.jsonl", "seal.json", "attestation.json", "answer.md")
LEDGERS = ("notes.md", "evidence.jsonl", "move_ledger.jsonl", "query_ledger.jsonl")
BLOB = re.compile(r"store/([0-9a-f]{2})/\1[0-9a-f]{62}\Z")


class Rule(NamedTuple):
    """Changes that nobody is promised to see. `holds` looks at one file of an original: its name, and its
    bytes before and after (None: there is none)."""

    name: str
    reason: str
    holds: Callable[[Original, str, bytes | None, bytes | None], bool]


RULES = (
    Rule(
        "a file that nothing rests on",
        "Trajectory, logs of containers and tags are covered by no seal, and no verdict rests on them.",
        lambda of, name, before, after: (
            _own(name) in ("trajectory.traj.json", "tags.json")
            or _own(name).startswith(("container", "session.log"))
        ),
    ),
    Rule(
        "a projection that is not there",
        "Notes and ledgers are made from the log at any time, and no bundle has them.",
        lambda of, name, before, after: _own(name) in LEDGERS and after is None,
    ),
    Rule(
        "an answer page that is not there",
        "A replay says that answer.md is not here; the answer itself is in the log.",
        lambda of, name, before, after: _own(name) == "answer.md" and after is None,
    ),
    Rule(
        "a page or ledger under a seal of the first format",
        "Such a seal holds the end of the log alone; VERA stopped to write it before its first release.",
        lambda of, name, before, after: of.name.startswith("older") and _own(name) in ("answer.md", *LEDGERS),
    ),
    Rule(
        "the signer's public key in the store",
        "It lies there for readers: whoever checks takes the key from the seal and the envelopes.",
        lambda of, name, before, after: name.endswith(f"/{of.keyid}") and after is None,
    ),
    Rule(
        "a file in the store that is no blob",
        "No record names it, since a record names a blob by 64 hexadecimal digits; a replay says so.",
        lambda of, name, before, after: "store/" in name and before is None and not BLOB.search(name),
    ),
    Rule(
        "a blob more",
        "Its bytes are those of its name, and nothing names it.",
        lambda of, name, before, after: (
            BLOB.search(name) is not None and before is None and _is_named(name, after)
        ),
    ),
    Rule(
        "reviews",
        "They change no verdict and no exit code: the report of a replay lists each that is not whole.",
        lambda of, name, before, after: _own(name) == "reviews.jsonl",
    ),
)
"""The rules, in the order in which they are asked."""


def unpromised(original: Original, after: Files) -> str:
    """The rule by which none of the changes need be reported, '' where one of them must be."""
    found, before = "", original.files
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        rule = next((rule for rule in RULES if rule.holds(original, name, old, new)), None)
        if rule is None:
            return ""
        found = rule.name
    return found


def _own(name: str) -> str:
    """The name within its session, also within that of a thesis."""
    return re.sub(r"^theses/[0-9]{4,8}/", "", name)


def _is_named(name: str, data: bytes | None) -> bool:
    return data is not None and hashlib.sha256(data).hexdigest() == name.rpartition("/")[2]
