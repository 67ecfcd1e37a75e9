"""What a research run gives back: the answer with its marks, what it cites, and how it ended."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from vera.agent import spending
from vera.agent.conclusion import Result
from vera.agent.lanes import AGENT
from vera.report.answer import MarkedClaim, Quote
from vera.report.search_summary import as_json as checked_as_json
from vera.sanitize import one_line
from vera.session import load_text
from vera.state import RunState
from vera.store import Store

SUB_QUESTION_SHOWN = 1000


class SubAnswered(msgspec.Struct, frozen=True, kw_only=True):
    """A sub-question of a report, with the word for its answer and why; an empty `status` where it has not
    been answered yet."""

    question: str
    status: str = ""
    reason: str = ""


class Researched(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a run. `session` is its folder, `input_dir` that of its documents ('' for none), `spent`
    what it cost, by the names of `vera run --json`, `mode` who acted: agent, guided or quick. `sub_answers`
    are the sub-questions of a report with what came of each; none for another run."""

    question: str
    result: Result
    session: Path
    input_dir: str
    spent: Mapping[str, Any]
    mode: str = "agent"
    sub_answers: tuple["SubAnswered", ...] = ()

    @property
    def verified(self) -> bool:
        """Whether a judge read that the cited lines support every statement. False for QUOTED: it was not
        judged."""
        return self.status == "VERIFIED"

    @property
    def answer(self) -> str:
        """The answer with the marks of its claims, '' where none was reached."""
        return self.result.report.text

    @property
    def status(self) -> str:
        return self.result.status

    @property
    def reason(self) -> str:
        return self.result.reason

    @property
    def exit_code(self) -> int:
        """As of `vera run`."""
        return self.result.exit_code

    @property
    def attestation_id(self) -> str:
        """'' where nothing was attested."""
        return self.result.report.attestation

    @property
    def claims(self) -> tuple[MarkedClaim, ...]:
        return self.result.report.claims

    @property
    def citations(self) -> tuple[Quote, ...]:
        """What each citation of the answer points at, cut out of the store and held against its hash."""
        return self.result.report.quotes

    def as_dict(self) -> dict[str, Any]:
        """As `vera run --json` prints it."""
        report = self.result.report
        return {
            "work_dir": str(self.session),
            "status": self.status,
            "reason": self.reason,
            "exit_code": self.exit_code,
            "steps": self.result.steps,
            "spent": self.spent,
            "input_dir": self.input_dir,
            "answer": report.text,
            "answer_by": report.by,
            "mode": self.mode,
            "mode_reason": report.mode,
            "sub_questions": [msgspec.to_builtins(each) for each in self.sub_answers],
            "checked": checked_as_json(report.checked),
            "last_turn": report.last_turn,
            "attestation": report.attestation,
            "attestations": list(report.attestations),
            "claims": [
                {
                    "claim": claim.key,
                    "mark": claim.mark,
                    "text": claim.text,
                    "findings": list(claim.findings),
                }
                for claim in report.claims
            ],
            "citations": [
                {
                    "citation": quote.label,
                    "evidence": quote.evidence,
                    "source": quote.source,
                    "first": quote.first,
                    "last": quote.last,
                    "page": quote.page,
                    "tier": quote.tier,
                    "at": quote.at,
                    "quote": "\n".join(quote.lines),
                    "sha256": quote.sha256,
                    "text_sha256": quote.text_sha256,
                    "problem": quote.problem,
                }
                for quote in report.quotes
            ],
        }


def researched_of(state: RunState, session: Path, result: Result, question: str = "") -> Researched:
    """The outcome of the run in a session."""
    return Researched(
        question=question,
        result=result,
        session=session,
        input_dir=state.task.input_dir if state.task else "",
        spent=spending.spent(state),
        mode=state.mode.mode if state.mode else AGENT,
        sub_answers=tuple(_sub_answers(state, session)),
    )


def _sub_answers(state: RunState, session: Path) -> Iterator[SubAnswered]:
    """The sub-questions of a report in their order. Raises StoreError."""
    store = Store(session / "store")
    for number, question in enumerate(state.sub_questions.named if state.sub_questions else (), 1):
        done = state.sub_answers.get(number)
        yield SubAnswered(
            question=one_line(load_text(store, question), SUB_QUESTION_SHOWN),
            status=done.status if done else "",
            reason=done.reason if done else "",
        )
