"""Where a run stands: one word, sign and colour for each, the same in list, page, report and terminal."""

from collections.abc import Mapping

import msgspec

from vera.attestation.outcome import ALTERED, UNCHECKED, UNSEALED, UNTRUSTED, WITHHELD

MODEL_FAILED = "model_failed"
"""The phase of a run that stopped as its model could not be asked any more."""


class Standing(msgspec.Struct, frozen=True):
    """`tone` is the class that colours it on a page, `colour` its style in a terminal. No two have the same
    word, sign or tone."""

    word: str
    tone: str
    sign: str
    colour: str


VERDICTS: Mapping[str, Standing] = {
    "VERIFIED": Standing("Verified", "good", "✓", "bold green"),
    "QUOTED": Standing("Quoted", "literal", "❝", "bold cyan"),
    "PARTIAL": Standing("Partial", "partial", "◐", "yellow"),
    "UNRESOLVED": Standing("Unresolved", "open", "?", "bold yellow"),
    "DISPUTED": Standing("Disputed", "mixed", "≠", "bold magenta"),
    "REFUTED": Standing("Refuted", "bad", "✕", "bold red"),
    ALTERED: Standing("Altered", "altered", "⚠", "bold reverse red"),
    UNSEALED: Standing("Unsealed", "unsealed", "○", "bold blue"),
    UNTRUSTED: Standing("Unknown signer", "untrusted", "◇", "magenta"),
    UNCHECKED: Standing("Ended", "ended", "•", "bold"),
}
"""What a session says of its end (`vera.headline`, `vera.attestation.outcome`)."""

PHASES: Mapping[str, Standing] = {
    "new": Standing("Not started", "new", "–", "dim"),
    "working": Standing("Working", "busy", "…", "blue"),
    "verifying": Standing("Verifying", "verifying", "⋯", "cyan"),
    "ended": VERDICTS[UNCHECKED],
    "stopped": Standing("Stopped", "stopped", "■", "bold dim"),
    MODEL_FAILED: Standing("Model failed", "failed", "!", "red"),
}
"""What a run is doing, as `vera.report.view.model.Header` names it."""

LISTED: Mapping[str, Standing] = {
    "unread": Standing("Not read yet", "unread", "‥", "dim"),
    "unreadable": Standing("Unreadable", "unreadable", "∅", "red"),
}
"""What a list says of a session of which it knows no more."""

UNKNOWN = Standing("Unknown", "unknown", "·", "")
"""What a log of another version may hold."""


def standing(phase: str, verdict: str) -> Standing:
    """The standing of a run with this phase, and with this verdict of its end ('' before)."""
    if verdict and (phase == "ended" or verdict in WITHHELD):
        other = msgspec.structs.replace(UNKNOWN, word=verdict.replace("_", " ").capitalize())
        return VERDICTS.get(verdict, other)
    return PHASES.get(phase, UNKNOWN)


def state_in_words(state: str) -> str:
    """A verdict or a phase as a reader knows it."""
    known = VERDICTS.get(state) or PHASES.get(state) or LISTED.get(state)
    return known.word if known else state.replace("_", " ").capitalize()


def colour_of(word: str) -> str:
    """The style of a word in a terminal, '' for an unknown one."""
    every = (*VERDICTS.values(), *PHASES.values(), *LISTED.values())
    return next((each.colour for each in every if each.word == word), "")
