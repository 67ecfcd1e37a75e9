"""Steps for which several turns were sampled: the candidates side by side, and why one of them ran."""

from collections import deque

import msgspec

from vera import events
from vera.protocol import forms
from vera.report.candidate_steps import SampledStep, Seen, action_of
from vera.report.view.model import CandidateView, ChoiceView
from vera.report.view.words import Load, cut, one_line, read

MAX_CHOICES = 50
"""The newest are kept."""

MAX_CANDIDATES = 64
MAX_LANES = 100
TEXT_SHOWN = 4000
ACTION_SHOWN = 1000
REASON_SHOWN = 600
_KEPT_INLINE = 16_000


class Choices:
    """The newest sampled steps of all lanes: `add` takes the records of the log in order."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._protocols: dict[str, str] = {}
        self._sampled: deque[SampledStep] = deque(maxlen=MAX_CHOICES)
        self._count = 0
        self._shown: dict[int, ChoiceView] = {}

    @property
    def left_out(self) -> int:
        """How many older ones are not kept."""
        return self._count - len(self._sampled)

    def add(self, record: events.LaneStarted | events.Candidates | events.Selection) -> None:
        match record:
            case events.LaneStarted():
                self._protocols.pop(record.lane, None)
                self._protocols[record.lane] = record.protocol
                if len(self._protocols) > MAX_LANES:
                    del self._protocols[next(iter(self._protocols))]
            case events.Candidates():
                self._count += 1
                protocol = self._protocols.get(record.lane, "text")
                self._sampled.append(SampledStep(protocol=protocol, index_base=1, candidates=_slim(record)))
            case events.Selection():
                self._chose(record)

    def views(self) -> tuple[ChoiceView, ...]:
        """The oldest first. One that is decided is made once."""
        made = {}
        for sampled in self._sampled:
            seq = sampled.candidates.seq
            made[seq] = self._shown.get(seq) or choice_view(sampled, self._load)
        self._shown = {
            sampled.candidates.seq: made[sampled.candidates.seq]
            for sampled in self._sampled
            if sampled.selection is not None
        }
        return tuple(made.values())

    def _chose(self, selection: events.Selection) -> None:
        for index in range(len(self._sampled) - 1, -1, -1):
            sampled = self._sampled[index]
            if sampled.step == selection.step and sampled.candidates.lane == selection.lane:
                slim = msgspec.structs.replace(selection, output="")
                self._sampled[index] = msgspec.structs.replace(sampled, selection=slim)
                self._shown.pop(sampled.candidates.seq, None)
                return


def _slim(record: events.Candidates) -> events.Candidates:
    """The candidates without what is never shown: a log may come from anyone."""
    kept = tuple(
        msgspec.structs.replace(
            each,
            content=each.content[:_KEPT_INLINE] if isinstance(each.content, str) else each.content,
            reasoning="",
        )
        for each in record.candidates[:MAX_CANDIDATES]
    )
    return msgspec.structs.replace(record, candidates=kept)


def choice_view(sampled: SampledStep, load: Load) -> ChoiceView:
    """A sampled step as it is shown; one that is not decided has no selector and no decider."""
    selection = sampled.selection
    return ChoiceView(
        step=sampled.step,
        selector=one_line(selection.selector) if selection else "",
        decider=one_line(selection.decider) if selection else "",
        reason=one_line(selection.reason, REASON_SHOWN) if selection else "",
        fallback_reason=one_line(selection.fallback_reason, REASON_SHOWN) if selection else "",
        margin=selection.margin if selection else None,
        judge_calls=sampled.replies,
        seconds=sampled.candidates.seconds + (selection.seconds if selection else 0.0),
        candidates=tuple(
            _candidate(each, sampled.protocol, load, chosen=each.index == sampled.selected)
            for each in sampled.seen()
        ),
    )


def _candidate(seen: Seen, protocol: str, load: Load, *, chosen: bool) -> CandidateView:
    weighed, content = seen.weighed, read(seen.candidate.content, load)
    action = action_of(forms.parse(protocol, content, seen.candidate.tool_calls))
    return CandidateView(
        index=seen.index,
        action=cut(read(weighed.action, load) if action is None else action, ACTION_SHOWN),
        text=cut(content, TEXT_SHOWN),
        votes=seen.votes,
        group=weighed.group,
        rejected=one_line(weighed.rejected),
        reason=one_line(weighed.reason, REASON_SHOWN),
        codes=tuple(one_line(code) for code in weighed.codes[:20]),
        score=seen.score,
        chosen=chosen,
    )
