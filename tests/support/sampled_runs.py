"""A run made by hand whose steps have several candidates, as the lane, the judge and the tools log them."""

import json
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from vera import events
from vera.protocol import Turn, text
from vera.session import Session

START = 1_700_000_000.0


class SampledRun:
    """A session at work in its main lane; `step` is the number of the newest turn."""

    def __init__(self, root: Path, *, system_role: str = "system", **settings: Mapping[str, Any]) -> None:
        seconds = (START + number for number in count())
        self.session = Session.create(root, dict(settings), lambda: next(seconds))
        self.step = 0
        self.session.emit(events.Task(task="How long is the offer valid?"), lane="")
        self.session.emit(
            events.LaneStarted(
                purpose="research", system="You are a researcher.", task_message="PRIMARY TASK: how long?",
                tools=("shell",), protocol="text", system_role=system_role, prompt_sha256="",
                high_tokens=24_000, max_bytes=0, tail_steps=4,
            )
        )  # fmt: skip

    def model_call(
        self, scope: str, content: str, *, tokens: tuple[int, int] = (100, 20), n: int = 1
    ) -> None:
        """A call of the agent's model or of the judge; `tokens` of its prompt and its answers."""
        self.session.emit(
            events.Model(
                step=self.step, scope=scope, latency_s=0.5, candidates=n, finish_reason="stop",
                prompt_tokens=tokens[0], completion_tokens=tokens[1], cached_tokens=tokens[0] // 2,
            )
        )  # fmt: skip
        self.session.emit(
            events.ModelIo(
                step=self.step, scope=scope, at_seq=0, request_sha256="", request_bytes=0,
                parameters={"model": "small", "temperature": 0.2}, content=self.session.text(content),
                reasoning="The folder comes first." if scope == "agent" else "",
            )
        )  # fmt: skip

    def sample(self, *contents: str, calls: int = 1, problem: str = "", reasoning: str = "") -> None:
        """Candidates of the next step, all from one call or each from its own."""
        self.step += 1
        for number in range(calls):
            self.model_call("agent", contents[number], n=1 if calls > 1 else len(contents))
        self.session.emit(
            events.Candidates(
                step=self.step,
                asked=max(len(contents), 4) if problem else len(contents),
                candidates=tuple(
                    events.Candidate(
                        content=self.session.text(content),
                        reasoning=reasoning,
                        finish_reason="stop",
                        call=number if calls > 1 else 1,
                    )
                    for number, content in enumerate(contents, 1)
                ),
                calls=calls,
                problem=problem,
                seconds=1.25,
            )
        )

    def judge(self, reply: str) -> None:
        """One call of whoever chooses."""
        self.model_call("selector", reply, tokens=(300, 5))

    def choose(self, selected: int, decider: str, groups: Sequence[int] = (), **members: Any) -> None:
        """The choice, and the chosen turn; `groups` are the clusters of the candidates."""
        if replies := members.pop("replies", ()):
            members |= {"judge_calls": len(replies), "output": json.dumps(list(replies))}
        weighed = tuple(events.Weighed(group=group) for group in groups)
        self.session.emit(
            events.Selection(
                step=self.step,
                selected=selected,
                decider=decider,
                **{"weighed": weighed, "seconds": 0.75, **members},
            )
        )
        sampled = self.session.state.lane("main").sampled
        assert sampled is not None
        self.take(sampled.candidates[selected].content)

    def one_turn(self, content: str) -> None:
        """A turn as without sampling."""
        self.step += 1
        self.model_call("agent", content)
        self.take(self.session.text(content))

    def take(self, content: events.Text) -> None:
        self.session.emit(events.Assistant(step=self.step, content=content, finish_reason="stop"))

    def observe(self, printed: str, exit_code: int = 0) -> None:
        """The turn's command ran and printed this."""
        call = self.session.state.next_call_id()
        self.session.emit(events.ToolStarted(step=self.step, call=call, tool="shell", args="{}"))
        self.session.emit(
            events.Tool(
                step=self.step, call=call, tool="shell", outcome="ok", obs=self.session.text(printed),
                exit_code=exit_code, seconds=0.01,
            )
        )  # fmt: skip

    def format_error(self, reply: str) -> None:
        self.session.emit(events.PolicyParseError(step=self.step, count=1, codes=("no_action",), reply=reply))

    def answer(self, words: str) -> None:
        """The turn's final answer; it ends the lane."""
        self.session.emit(events.Answer(step=self.step, text=self.session.text(words)))
        self.session.emit(events.LaneEnded(reason="answered"))

    def end(self, exit_code: int = 3, reason: str = "nothing supports it") -> None:
        self.session.emit(events.Status(step=self.step, status="UNRESOLVED", reason=reason))
        self.session.finish(
            events.RunEnd(
                status="UNRESOLVED", reason=reason, exit_code=exit_code, steps=self.step, seconds=9.0
            )
        )

    def close(self) -> Path:
        self.session.close()
        return self.session.root


def said(turn: Turn) -> str:
    """The turn as a model writes it."""
    return text.render(turn)
