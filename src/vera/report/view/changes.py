"""Which parts of a page a record changes."""

from typing import get_args

from vera import events

PARTS = (
    "header",
    "timeline",
    "claims",
    "coverage",
    "rounds",
    "choices",
    "gates",
    "constraints",
    "budgets",
    "files",
    "attestation",
    "answer",
    "events",
)
"""The parts of a page by the names of their members in `RunPage`."""

EACH = ("header", "events")
"""What every record changes."""

_ANSWER = ("answer", "claims", "coverage")
"""The answer has the cited lines of its claims beside it."""

_ROUND = ("timeline", "claims", "coverage", "rounds")
_VERDICT = (*_ROUND, "attestation", "answer", "budgets")
_BY_TYPE: dict[type[events.Event], tuple[str, ...]] = {
    events.Session: ("budgets",),
    events.VerifyRequested: ("budgets",),
    events.Model: ("timeline", "budgets"),
    events.ModelIo: ("budgets",),
    events.ModelServer: ("budgets",),
    events.LookUpSpent: ("budgets",),
    events.Search: ("budgets",),
    events.Assistant: ("budgets",),
    events.ToolStarted: ("timeline",),
    events.Tool: ("timeline",),
    events.LaneEnded: ("timeline",),
    events.Candidates: ("choices",),
    events.Selection: ("choices",),
    events.PolicyNotesGuard: ("timeline", "gates"),
    events.ConstraintAdded: ("constraints",),
    events.ConstraintResolved: ("constraints",),
    events.Output: ("files",),
    events.Move: ("coverage",),
    events.Answer: _ANSWER,
    events.SubAnswer: _ANSWER,
    events.VerifierToAgent: ("answer",),
    events.AttestationReceived: _ANSWER,
    events.VerifierStarted: (*_ROUND, "answer"),
    events.Audit: ("answer", "claims", "rounds"),
    events.VerifierLabels: (*_ANSWER, "rounds"),
    events.VerifierCheck: ("answer", "claims", "rounds"),
    events.VerifierScore: ("rounds",),
    events.Verifier: _VERDICT,
    events.AnswerChosen: _VERDICT,
    events.ExecutionVerdict: _VERDICT,
    events.RunEnd: ("timeline", "answer", "claims", "rounds", "budgets"),
    events.Resumed: (*_VERDICT, "constraints"),
}


def parts_of(kind: type[events.Event]) -> tuple[str, ...]:
    """The parts that a record of this type changes, besides EACH."""
    if issubclass(kind, events.Policy):
        return ("timeline", "gates")
    return _BY_TYPE.get(kind, ())


BY_TYPE = {kind: parts_of(kind) for kind in get_args(events.Record)}
