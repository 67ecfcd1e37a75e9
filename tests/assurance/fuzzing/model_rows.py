"""What a model writes: into the parser of turns, into the lane, and into a whole run."""

import asyncio
import contextlib
import json
from collections.abc import Iterator
from typing import Any

import msgspec

from assurance.batteries import Trial
from assurance.fuzzing import mutate
from assurance.fuzzing.dialects import NATIVE_CALLS, REPLIES
from assurance.fuzzing.row import Row
from support.attacks import OFFLINE, attempt
from support.cast import Part
from support.lanes import INFO, new_session, open_lane
from vera import events
from vera.corpus import Corpus
from vera.extraction.extractor import Extractor
from vera.lane.tools.note import Note
from vera.lane.tools.read import Read
from vera.lane.tools.search import Search
from vera.lane.tools.submit import Submit
from vera.model.ollama import OllamaWire
from vera.model.openai import OpenAIWire
from vera.model.types import Completion, ModelError, Request
from vera.model.wire import IncompleteReply, ReplyError, UnreadableReply, Wire
from vera.protocol import Parsed, forms, json_schema, text, tools
from vera.protocol.fields import MAX_TEXT
from vera.session import check, rebuild

QUESTION = "For how many years must the written offer be valid?"
TERMS = "The terms.\n\nThe written offer must be valid for at least three years.\n"
STEPS = 6


def parse(trial: Trial) -> None:
    """A reply is a turn or errors, and a turn can be written again and read as the same turn."""
    said = reply(trial.random, MAX_TEXT + 10)
    sound(text.parse(said), text.render)
    sound(json_schema.parse(said), json_schema.render)
    calls = native(trial.random)
    parsed = tools.parse(said, calls)
    sound(parsed, lambda turn: json.dumps(tools.render(turn)))
    for form in ("text", "json_schema", "tools"):
        forms.parse(form, said, calls)


def reply(draw: mutate.Draw, most: int = 1 << 17) -> str:
    said = mutate.text(draw, REPLIES, most)
    if draw.random() < 0.01:
        said = (said * (most // max(1, len(said)) + 1))[:most]
    return said


def native(draw: mutate.Draw) -> list[dict[str, Any]]:
    """Calls beside the text, as loosely as a server may send them."""
    made: Any = mutate.value(draw, draw.choice(NATIVE_CALLS))
    return made if isinstance(made, list) else [made]


def sound(parsed: Parsed, render: Any) -> None:
    """A turn or errors, never both; and what the log and the store take."""
    assert (parsed.turn is None) == bool(parsed.errors)
    assert all(len(error.message.encode()) < 1000 for error in parsed.errors)
    if parsed.turn is not None:
        json.dumps(parsed.turn.action.args, allow_nan=False)
        render(parsed.turn).encode()


class Replying:
    """A model behind a real reader of a server's stream: each request is answered with what is drawn."""

    def __init__(self, draw: mutate.Draw, protocol: str) -> None:
        self._draw = draw
        self.info = msgspec.structs.replace(INFO, protocol=protocol)

    async def complete(self, request: Request) -> Completion:
        wire: Wire = self._draw.choice((OpenAIWire(), OllamaWire(8192)))
        reader = wire.reader(request)
        try:
            for line in streamed(self._draw, isinstance(wire, OllamaWire)):
                reader.feed(line)
            read = reader.close()
        except (IncompleteReply, ReplyError, UnreadableReply) as error:
            raise ModelError(str(error)[:200]) from None
        return Completion(choices=read.choices[:1], usage=read.usage)

    async def close(self) -> None:
        """Nothing to close."""


def streamed(draw: mutate.Draw, of_ollama: bool) -> Iterator[bytes]:
    """The lines in which a server sends one reply, a few of them changed."""
    said, calls, thought = reply(draw), native(draw), reply(draw) if draw.random() < 0.1 else ""
    size = max(1, len(said) // draw.choice((1, 3, 40)))
    messages: list[dict[str, Any]] = [{"content": said[at : at + size]} for at in range(0, len(said), size)]
    messages += [{"reasoning_content": thought, "thinking": thought}, {"tool_calls": calls}]
    done = draw.choice(("stop", "stop", "length", "tool_calls", ""))
    for message in messages:
        chunk = {"message": message} if of_ollama else {"choices": [{"index": 0, "delta": message}]}
        yield from line_of(draw, chunk, of_ollama)
    last: dict[str, Any] = {"done": True, "done_reason": done, "eval_count": 5}
    if not of_ollama:
        last = {"choices": [{"index": 0, "delta": {}, "finish_reason": done}], "usage": {"prompt_tokens": 9}}
    yield from line_of(draw, last, of_ollama)
    yield b"" if of_ollama else b"data: [DONE]"


def line_of(draw: mutate.Draw, chunk: dict[str, Any], of_ollama: bool) -> Iterator[bytes]:
    made = mutate.encoded(draw, chunk) if draw.random() < 0.05 else json.dumps(chunk).encode()
    yield (b"" if of_ollama else b"data: ") + made.replace(b"\n", b" ")
    yield b""


def lane(trial: Trial) -> None:
    """Replies of any kind end the lane; its log is whole, and its projections are the same again."""
    documents, work = trial.folder / "documents", trial.folder / "work"
    documents.mkdir()
    (documents / "terms.txt").write_text(TERMS)
    session = new_session(work)
    model = Replying(trial.random, trial.random.choice(("text", "json_schema", "tools")))
    with Extractor() as extractor, Corpus(documents, trial.folder / "index", extractor) as corpus:
        corpus.update()
        tools_ = [
            Search(corpus, 2),
            Read(corpus, session.workspace, extractor),
            Note(),
            Submit(session.workspace, lambda name, data: None),
        ]
        with contextlib.suppress(ModelError):
            asyncio.run(open_lane(session, model, tools=tools_, max_steps=STEPS).run())
    session.finish(events.RunEnd(status="UNRESOLVED", reason="", exit_code=3, steps=STEPS, seconds=0))
    session.close()
    assert check(work).verdict == "SEALED"
    assert rebuild(work) == []


def whole_run(trial: Trial) -> None:
    """A run ends with a named reason, can be shown and replays, whatever worker and judge write."""
    draw = trial.random
    said = [as_utf8(reply(draw)) for _ in range(STEPS)]
    parts = {part: judge(draw, part) for part in JUDGED}
    tried = attempt(
        trial.folder / "run",
        said,
        *OFFLINE,
        "--max-steps",
        STEPS,
        question=QUESTION,
        files={"terms.txt": TERMS},
        streams=draw.random() < 0.7,
        **parts,
    )
    assert tried.code in (0, 3, 4, 6), tried.ended.error
    assert tried.state.lane("main").status_reason or tried.ended.error
    assert tried.show().out
    assert tried.replay()[0] == 0


JUDGED: dict[str, Any] = {
    "decompose": {"questions": [{"claim": "C1", "question": "Is it so?", "source": "ev_0001", "label": "x"}]},
    "check": {"tool": "read", "args": {"path": "terms.txt"}},
    "label": {"spans": [{"index": 1, "relation": "SUPPORTS"}, {"index": 2, "relation": "IRRELEVANT"}]},
    "score": {"score": 4, "instructions": [{"claim": "C1", "action": "search", "label": "x"}]},
}


def judge(draw: mutate.Draw, part: str) -> Part:
    """A verifier that gives one of a few replies."""
    replies = [mutate.encoded(draw, JUDGED[part]).decode("utf-8", "replace") for _ in range(8)]
    return lambda body: draw.choice(replies)


def as_utf8(said: str) -> str:
    return said.encode("utf-8", "replace").decode()


ROWS = (
    Row("model output: the parser of turns", parse, seconds=5, megabytes=64, share=12),
    Row("model output: a lane", lane, seconds=15, megabytes=200, share=3),
    Row(
        "model output: a whole run with its verifier", whole_run, seconds=60, megabytes=400, share=1, wall=300
    ),
)
