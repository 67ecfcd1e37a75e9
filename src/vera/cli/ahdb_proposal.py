"""A proposal for the AHDB, as it was typed: checked, with a sentence for what is wrong with it."""

from collections.abc import Mapping
from typing import Any

import msgspec

from vera.attestation.ahdb.director import PROMOTION
from vera.attestation.ahdb.entries import MAX_TESTS, Believe, Drive, Hypothesize, key_of, sentence
from vera.attestation.ahdb.proposals import PROPOSED, Proposal
from vera.attestation.proposition import RequestError, thesis_id

MAX_TEXT = 4000
MAX_KEY = 200

FIELDS = {
    "HYPOTHESIZE": ("tests", "budget"),
    "DRIVE": ("priority", "trade_off", "red_line"),
    "BELIEVE": ("prior", "tier", "trigger", "effect"),
}
"""What a proposal for each register must say."""
_OPTIONAL = {"HYPOTHESIZE": ("promotion",)}
_NOT_PROPOSED = {
    "ASSERT": "No one writes into ASSERT: a SUPPORTED attestation of the thesis does. "
    "Propose it as hypothesize, and have it verified.",
    "HYPERTHESIS": "HYPERTHESIS is what a verification could not see, so only an attestation writes it.",
    "RETRACT": "RETRACT is no register. To take an entry away type: vera ahdb retract SEQ --reason TEXT",
}


class ProposalError(ValueError):
    """Nothing that can be proposed: a sentence."""


def proposal(register: str, text: str, key: str | None, given: Mapping[str, Any]) -> Proposal:
    """The entry that these options make; those that were not given are None or ().

    A hypothesis has the id of its thesis as its key, so that a verification of the thesis decides it. Raises
    ProposalError.
    """
    name = register.upper()
    if name not in PROPOSED:
        known = f"There is no register {register[:40]!r}: give hypothesize, drive or believe."
        raise ProposalError(_NOT_PROPOSED.get(name, known))
    said = {field: value for field, value in given.items() if value not in (None, ())}
    if missing := [_option(field) for field in FIELDS[name] if field not in said]:
        raise ProposalError(f"{name} also needs {', '.join(missing)}.")
    known_fields = FIELDS[name] + _OPTIONAL.get(name, ())
    if strange := [_option(field) for field in said if field not in known_fields]:
        raise ProposalError(f"{', '.join(strange)} cannot be said of {name}.")
    members = {"text": checked("TEXT", text), **_checked(said)}
    identity = _identity(name, members["text"], key)
    entry: Proposal = msgspec.convert(
        {"register": name, "actor": "person", **identity, **members}, Hypothesize | Drive | Believe
    )
    return entry


def checked(option: str, text: str) -> str:
    """`text` on one line. Raises ProposalError when it is empty or too long."""
    if not text.strip():
        raise ProposalError(f"{option} is empty.")
    if len(text) > MAX_TEXT:
        raise ProposalError(f"{option} is longer than {MAX_TEXT} characters.")
    return sentence(text)


def _checked(said: Mapping[str, Any]) -> dict[str, Any]:
    members = dict(said)
    for field, value in said.items():
        if isinstance(value, str):
            members[field] = checked(_option(field), value)
        elif isinstance(value, tuple):
            members[field] = tuple(checked(_option(field), each) for each in value)
    if len(members.get("tests", ())) > MAX_TESTS:
        raise ProposalError(f"Give at most {MAX_TESTS} --test.")
    return members


def _identity(register: str, text: str, key: str | None) -> dict[str, str]:
    if register == "HYPOTHESIZE":
        if key is not None:
            raise ProposalError("--key cannot be said of HYPOTHESIZE: its key is the id of its thesis.")
        try:
            name = thesis_id(text)
        except RequestError as error:
            raise ProposalError(str(error)) from None
        return {"key": name, "thesis_id": name, "promotion": PROMOTION}
    if key is None:
        return {"key": key_of("DRIVE" if register == "DRIVE" else "BELIEVE", text)}
    if len(key) > MAX_KEY:
        raise ProposalError(f"--key is longer than {MAX_KEY} characters.")
    return {"key": checked("--key", key)}


def _option(field: str) -> str:
    return "--test" if field == "tests" else "--" + field.replace("_", "-")
