"""A page with what its session may say of how it ended (`vera.attestation.outcome`)."""

import msgspec

from vera.attestation.outcome import UNCHECKED, Outcome
from vera.report.view.model import EventLine, Header, RunPage
from vera.report.view.words import one_line

TELLS = frozenset({"status", "run_end", "execution_verdict"})
"""Records that say how a run ended: of a session that cannot be relied on their words are not repeated."""

NOT_REPEATED = "What it says of the verdict is not shown: it cannot be relied on."


def with_outcome(page: RunPage, outcome: Outcome) -> RunPage:
    """The page, saying of its verdict what may be said, and who signed. Where that is withheld, the words for
    the results of rounds are, too: what the log says of them stays, as the log's."""
    signed, rounds = page.attestation, page.rounds
    if signed is not None:
        signed = msgspec.structs.replace(signed, signed=one_line(outcome.signed))
    if outcome.is_withheld:
        signed = msgspec.structs.replace(signed, word="") if signed else None
        rounds = tuple(msgspec.structs.replace(each, word="") for each in rounds)
    return msgspec.structs.replace(
        page,
        header=header_with(page.header, outcome),
        attestation=signed,
        rounds=rounds,
        events=lines_with(page.events, outcome),
    )


def lines_with(lines: tuple[EventLine, ...], outcome: Outcome) -> tuple[EventLine, ...]:
    """The lines of records, without what those say that the outcome withholds."""
    is_looked_at = outcome.word != UNCHECKED or outcome.reason
    if not outcome.is_withheld or not is_looked_at:
        return lines
    return tuple(
        msgspec.structs.replace(line, text=NOT_REPEATED) if line.kind in TELLS else line for line in lines
    )


def header_with(header: Header, outcome: Outcome) -> Header:
    """The header, with the outcome in the place of what the log says."""
    if not outcome.word:
        return header
    return msgspec.structs.replace(
        header,
        verdict=one_line(outcome.word),
        reason=one_line(outcome.reason, 600),
        status=one_line(outcome.word),
    )
