"""What a run leaves whose answer does not hold: what is open, what was checked, which evidence there is."""

from collections.abc import Iterable
from typing import Any

import msgspec

from vera import events
from vera.headline import HOLDS
from vera.history import Constraint, Reached
from vera.report.timestamps import utc
from vera.state import RunState
from vera.usage import EXTRACTS, GATHERING, PART

LANE = "main"

NOTHING_FOUND = "no official announcement found in sources checked"
"""Why a run ends that has its sources for a negative claim, where no line of them speaks of the question."""

MAX_FILES = 200
MAX_EVIDENCE = 200
"""Input files and evidence that are named, of the evidence the newest; evidence.jsonl has all of it."""

MAX_CONTACTS = 20
"""Domains that are named though no page of theirs was captured."""


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """An evidence that can be cited, in a line; `ts` is Unix time."""

    id: str
    summary: str
    ts: float


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """Where a search stands.

    `constraints` are open. `reached` are the registrable domains that answered with content, `requests`
    counts those to search engines, `folder_searches` searches of the input folder. `files` are the input
    files that were read, with `more_files` beyond them.
    `contacts` are further domains that commands were connected to and of which no page was captured.
    `evidence` is the newest that can be cited; `older` pieces came before. `concluded` says that the run
    ended because a negative claim had its sources, `silent` that no line of them speaks of the question.
    """

    constraints: tuple[Constraint, ...] = ()
    reached: tuple[Reached, ...] = ()
    requests: tuple[tuple[str, int], ...] = ()
    folder_searches: int = 0
    files: tuple[str, ...] = ()
    more_files: int = 0
    evidence: tuple[Kept, ...] = ()
    older: int = 0
    contacts: tuple[str, ...] = ()
    concluded: bool = False
    silent: bool = False

    def domains(self, *, official: bool) -> tuple[Reached, ...]:
        """The domains that speak officially on the subject, or the others."""
        return tuple(each for each in self.reached if each.target.official == official)


def checked(state: RunState) -> Checked | None:
    """What the lanes that answer have checked, and those that worked in their place; None for a run whose
    answer holds. Pure."""
    lane = state.lane(LANE)
    if state.status in HOLDS:
        return None
    brought = _brought(state)
    citable = [each for each in brought if not each.lead]
    files = tuple(dict.fromkeys(each.source for each in citable if _is_input(each)))
    newest = citable[-MAX_EVIDENCE:]
    reached = reached_in(state)
    return Checked(
        constraints=tuple(each for past in state.histories for each in past.constraints),
        reached=reached,
        requests=tuple((name, count) for name, count in state.searches.items() if count),
        folder_searches=sum(each.lead and _is_input(each) for each in brought),
        files=files[:MAX_FILES],
        more_files=len(files[MAX_FILES:]),
        evidence=tuple(Kept(id=each.id, summary=each.summary, ts=each.ts) for each in newest),
        older=len(citable) - len(newest),
        contacts=_contacts(state, reached),
        concluded=isinstance(lane.history.ending, events.PolicyConclusionReady),
        silent=lane.status_reason.startswith(NOTHING_FOUND),
    )


def _brought(state: RunState) -> list[events.Evidence]:
    """What the lanes that answer, and those that worked in their place, took in."""
    lanes = (LANE, PART, EXTRACTS, GATHERING)
    return [each for each in state.evidence.values() if each.lane.startswith(lanes)]


def _contacts(state: RunState, reached: Iterable[Reached]) -> tuple[str, ...]:
    """The first domains that commands were connected to, without those that were reached."""
    known = {each.target.domain for each in reached}
    contacts = dict.fromkeys(name for each in state.histories for name in each.contacts)
    return tuple(name for name in contacts if name not in known)[:MAX_CONTACTS]


def reached_in(state: RunState) -> tuple[Reached, ...]:
    """The domains that the lanes which answer have reached, each once, as it was reached first."""
    found: dict[str, Reached] = {}
    for each in (each for past in state.histories for each in past.reached):
        found.setdefault(each.target.domain, each)
    return tuple(found.values())


def as_json(found: Checked | None) -> dict[str, Any] | None:
    """The same for programs; times are ISO 8601 in UTC. None for a run whose answer holds."""
    if found is None:
        return None
    return {
        "constraints": [
            {"key": each.key, "text": each.text, "since_step": each.step} for each in found.constraints
        ],
        "domains": [
            {
                **msgspec.structs.asdict(each.target),
                "first": utc(each.first_ts).isoformat(timespec="seconds"),
                "last": utc(each.last_ts).isoformat(timespec="seconds"),
            }
            for each in found.reached
        ],
        "searches": dict(found.requests),
        "folder_searches": found.folder_searches,
        "files": list(found.files),
        "more_files": found.more_files,
        "evidence": [
            {"id": each.id, "summary": each.summary, "at": utc(each.ts).isoformat(timespec="seconds")}
            for each in found.evidence
        ],
        "older_evidence": found.older,
    }


def _is_input(evidence: events.Evidence) -> bool:
    """Whether the host took it from the input folder, and neither from a sandbox nor from the web."""
    return evidence.tier == "captured" and evidence.receipt is None
