"""Which of a lane's candidates runs: they are checked, judged and chosen from, and it is said why."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from vera import events
from vera.model.types import Model
from vera.protocol import Action, Parsed, Turn
from vera.selection import checks, pattern, pipeline
from vera.selection.judge import ModelJudge
from vera.selection.options import Sampling, SelectionOptions
from vera.selection.registry import SelectorError, selector
from vera.selection.selector import SelectionContext
from vera.selection.templates import Templates
from vera.session import Session
from vera.state import Failing

Read = Callable[[events.Candidate], Parsed]
DryRun = Callable[[Turn], tuple[str, str]]


class Chooser:
    """Chooses in one lane of a session. `sampling` says how its candidates are sampled, `history_steps`
    how many steps the scene has that it is given. `plugins` are selectors of plugins, classes by their name.

    Raises SelectorError for an unusable selector or pattern.
    """

    def __init__(
        self,
        session: Session,
        lane: str,
        sampling: Sampling,
        options: SelectionOptions,
        judge_model: Model | None,
        templates: Templates,
        plugins: Mapping[str, Any] = {},
    ) -> None:
        self.sampling = sampling
        self.history_steps = options.history_steps
        self._session = session
        self._lane = lane
        self._how = options
        self._model = judge_model
        self._templates = templates
        self._plugins = plugins
        self._selector = selector(options.selector, plugins) if options.selector else None
        if options.selection_regex and (unfit := pattern.problem(options.selection_regex)):
            raise SelectorError(
                f"action_verifier.selection_regex cannot be used: {unfit}. Leave it out to have the line "
                "'FINAL: n' read."
            )

    def in_lane(self, lane: str) -> "Chooser":
        """The same for another lane of the session."""
        return Chooser(
            self._session, lane, self.sampling, self._how, self._model, self._templates, self._plugins
        )

    async def choose(
        self,
        sampled: events.Candidates,
        read: Read,
        would: DryRun,
        scene: SelectionContext,
        failing: Failing | None,
    ) -> events.Selection:
        """The selection for a step, which is not written down yet.

        `read` parses a candidate; `would` says which gate would send a turn back, and its words, ('', '') for
        none; `failing` is the call that failed last. Raises nothing but cancellation: a judge that fails,
        hangs or answers nonsense costs `deadline_s` at most, and the fallback decides.
        """
        began = time.monotonic()
        parsed = [read(each) for each in sampled.candidates]
        texts = [self._session.load(each.content) for each in sampled.candidates]
        entries = [pipeline.entry(one, text) for one, text in zip(parsed, texts, strict=True)]
        if self._selector is not None and pipeline.is_prepared(self._selector):
            entries = await self._checked(entries, parsed, would, failing)
        judge = None
        if self._model is not None:
            until = asyncio.get_running_loop().time() + self._how.deadline_s
            judge = ModelJudge(
                self._session, self._lane, sampled.step, self._model, self._templates, self._how, until
            )
        selection = await pipeline.select(sampled.step, entries, self._selector, scene, judge, self._how)
        return self._stored(selection, time.monotonic() - began)

    async def _checked(
        self,
        entries: Sequence[pipeline.CheckedCandidate],
        parsed: Sequence[Parsed],
        would: DryRun,
        failing: Failing | None,
    ) -> list[pipeline.CheckedCandidate]:
        """The candidates with what the checks say against them, the first that says something."""
        turns = [each.turn for each in parsed]
        syntax = await checks.bash_problems([_command(turn) for turn in turns])
        failed = self._failed(failing)
        error_type = failing.error_type if failing else ""
        checked = []
        for each, turn, problem in zip(entries, turns, syntax, strict=True):
            rejected, reason = "", ""
            if turn is None:
                pass
            elif problem:
                rejected, reason = checks.BASH_SYNTAX, problem
            elif again := checks.repeats(turn.action, failed, error_type):
                rejected, reason = checks.REPEATS_FAILURE, again
            else:
                rejected, reason = would(turn)
            checked.append(msgspec.structs.replace(each, rejected=rejected, reason=reason))
        return checked

    def _failed(self, failing: Failing | None) -> Action | None:
        if failing is None:
            return None
        args = json.loads(self._session.load(failing.args))
        return Action(tool=failing.tool, args=args)

    def _stored(self, selection: events.Selection, seconds: float) -> events.Selection:
        """The selection with its long texts in the store."""
        keep = self._session.text
        weighed = tuple(
            msgspec.structs.replace(each, action=keep(str(each.action))) for each in selection.weighed
        )
        return msgspec.structs.replace(
            selection, weighed=weighed, output=keep(str(selection.output)), seconds=round(seconds, 6)
        )


def _command(turn: Turn | None) -> str:
    command = turn.action.args.get("cmd") if turn and turn.action.tool == "shell" else None
    return command if isinstance(command, str) else ""
