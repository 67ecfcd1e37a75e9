"""A stream that only repeats itself is ended, and its text is kept without the repetition."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.asking import answer, question, until
from support.scripted_server import Raw, ScriptedServer
from vera.model.ollama import OllamaWire
from vera.model.repetition import LOOK_EVERY, MIN_REPEATED, MIN_TIMES, WINDOW, WatchedText
from vera.model.types import Completion
from vera.model.wire import Dialect

ROOT = Path(__file__).parents[2]
BEGUN = "The licence says in its second section that copies may be made. "
LOOPS = {
    "a letter": "x",
    "blanks": " \n",
    "words": "and so on, ",
    "a line": "| no | no | yes |\n",
    "a sentence": "I will search the folder for the number of days that are asked for. ",
    "a paragraph": " ".join(
        f"Sentence {number} of the paragraph is not like the others." for number in range(20)
    ),
}
PIECES = 4
"""Characters of a piece, as a server streams them."""


def pieces(text: str, size: int = PIECES) -> Iterator[str]:
    for start in range(0, len(text), size):
        yield text[start : start + size]


def watched(text: str, size: int = PIECES) -> WatchedText:
    watch = WatchedText()
    for piece in pieces(text, size):
        watch.add(piece)
    return watch


@pytest.mark.parametrize("unit", LOOPS.values(), ids=LOOPS)
def test_a_loop_is_found_soon_and_its_unit_is_kept_once(unit: str) -> None:
    watch, written = WatchedText(), 0
    for piece in pieces(BEGUN + unit * 3000):
        watch.add(piece)
        written += len(piece)
        if watch.loops:
            break
    assert (
        watch.loops
        and written <= len(BEGUN) + max(MIN_REPEATED, MIN_TIMES * len(unit)) + len(unit) + LOOK_EVERY
    )
    kept = watch.cut()
    assert BEGUN.startswith(kept) or kept.startswith(BEGUN)
    assert len(kept) <= len(BEGUN) + 2 * len(unit)


@pytest.mark.parametrize("size", [1, 7, 95, 4096, 1_000_000])
def test_a_piece_of_any_size_is_watched(size: int) -> None:
    watch = watched(BEGUN + "over and over " * 3000, size)
    assert watch.loops and len(watch.cut()) < len(BEGUN) + 30


def test_a_unit_longer_than_the_window_allows_is_not_seen() -> None:
    long = "".join(f"{number} is one of them. " for number in range(WINDOW // 40))
    assert not watched(long * 3).loops


def test_no_text_of_this_project_and_no_table_is_taken_for_a_loop() -> None:
    files = [
        path for name in ("docs", "examples", "src/vera/agent") for path in sorted((ROOT / name).rglob("*"))
    ]
    texts = [path for path in files if path.suffix in (".md", ".py", ".txt", ".html", ".csv", ".yaml", ".j2")]
    assert len(texts) > 100
    read = {path: path.read_text(encoding="utf-8", errors="replace") for path in texts}
    assert [path for path, text in read.items() if watched(text, 64).loops] == []
    table = "".join(
        f"| {year} | {year * 37 % 1009} | {'yes' if year % 3 else 'no'} |\n" for year in range(1900, 2100)
    )
    rows = json.dumps(
        [{"id": number, "name": f"n{number}", "value": number * 17 % 101} for number in range(300)]
    )
    assert not watched(table).loops and not watched(rows).loops
    assert not watched("-" * 300 + "\n" + BEGUN).loops
    for row in ("| 0 | 0 |\n", "- [ ] open\n", "0,0,0,0\n"):
        assert not watched(BEGUN + row * 90).loops


@given(st.lists(st.text(max_size=300)), st.text(min_size=1, max_size=40))
def test_whatever_is_written_what_is_kept_is_its_beginning(said: list[str], unit: str) -> None:
    watch = WatchedText()
    for piece in (*said, *[unit] * 40):
        watch.add(piece)
    text = "".join((*said, *[unit] * 40))
    assert text.startswith(watch.whole()) and watch.whole().startswith(watch.cut())
    assert watch.loops or watch.whole() == text


# On the wire


def openai_stream(unit: str, times: int, field: str = "content") -> Raw:
    deltas = ({"choices": [{"index": 0, "delta": {field: said}}]} for said in (BEGUN, *[unit] * times))
    return Raw(*(b"data: %s\n\n" % json.dumps(delta).encode() for delta in deltas))


def ollama_stream(unit: str, times: int, field: str = "content") -> Raw:
    lines = (
        {"message": {"role": "assistant", field: said}, "done": False} for said in (BEGUN, *[unit] * times)
    )
    return Raw(*(json.dumps(line).encode() + b"\n" for line in lines))


def asked_of(kind: str, reply: object) -> tuple[Completion, ScriptedServer]:
    with ScriptedServer([reply], kind=kind) as server:
        if kind == "ollama":
            done = answer(server, question(), wire=OllamaWire(32_768), dialect=Dialect(n=False))
        else:
            done = answer(server, question())
        asyncio.run(until(lambda: server.cancelled))
    return done, server


@pytest.mark.parametrize("kind", ["openai", "ollama"])
def test_a_stream_without_end_is_ended_with_a_reason_of_its_own(kind: str) -> None:
    stream = ollama_stream if kind == "ollama" else openai_stream
    done, server = asked_of(kind, stream("again and again ", 50_000))
    (choice,) = done.choices
    assert choice.finish_reason == "repetition"
    assert choice.content == BEGUN + "again and again"
    assert done.usage.prompt_tokens is None and 30 <= (done.usage.completion_tokens or 0) < 5000
    assert len(server.requests) == done.attempts == 1
    assert server.cancelled == 1


@pytest.mark.parametrize(("kind", "field"), [("openai", "reasoning_content"), ("ollama", "thinking")])
def test_reasoning_that_loops_is_ended_too(kind: str, field: str) -> None:
    stream = ollama_stream if kind == "ollama" else openai_stream
    done, _ = asked_of(kind, stream("but wait, ", 20_000, field))
    (choice,) = done.choices
    assert (choice.finish_reason, choice.content) == ("repetition", "")
    assert choice.reasoning == BEGUN + "but wait,"


def test_arguments_of_a_call_that_loop_are_ended_too() -> None:
    def piece(arguments: str) -> bytes:
        call = {"index": 0, "id": "c", "function": {"name": "shell", "arguments": arguments}}
        return (
            b"data: %s\n\n"
            % json.dumps({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}).encode()
        )

    done, _ = asked_of("openai", Raw(piece('{"cmd": "'), *[piece("ls && ")] * 20_000))
    (choice,) = done.choices
    assert choice.finish_reason == "repetition"
    assert choice.tool_calls[0]["function"]["arguments"] == '{"cmd": "ls && '


def test_of_several_candidates_one_may_loop_while_another_goes_on() -> None:
    def piece(index: int, said: str, finish: str | None = None) -> bytes:
        choice = {"index": index, "delta": {"content": said}, "finish_reason": finish}
        return b"data: %s\n\n" % json.dumps({"choices": [choice]}).encode()

    looping = [piece(0, "round and round ")] * 200
    with ScriptedServer(
        [Raw(*looping, piece(1, "A whole answer."), piece(1, "", "stop"), *looping)]
    ) as server:
        first, second = answer(server, question(n=2)).choices
    assert (first.content, first.finish_reason) == ("round and round ", "repetition")
    assert (second.content, second.finish_reason) == ("A whole answer.", "stop")


@pytest.mark.parametrize(("finish", "kept"), [("length", "repetition"), ("stop", "stop")])
def test_a_whole_reply_that_loops_is_cut_only_if_the_limit_ended_it(finish: str, kept: str) -> None:
    said = BEGUN + "-" * 2000
    message = {"content": said, "finish_reason": finish}
    with ScriptedServer([message], streams=False) as server:
        (choice,) = answer(server).choices
    assert choice.finish_reason == kept
    assert choice.content == (BEGUN + "-" if kept == "repetition" else said)


def test_what_comes_after_the_look_at_which_it_was_found_is_bounded() -> None:
    watch = watched("loop " * 800)
    assert watch.loops
    for _ in range(1000):
        watch.add("more " * 1000)
    assert watch.dropped and len(watch.whole()) < 2 * MIN_REPEATED
