"""Guided mode: VERA searches and reads, the model writes from numbered lines; and how a run comes to it."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.attacks import OFFLINE, Ended, vera_here
from support.cast import Cast
from support.cli import folded, records
from support.scripted_server import Fault, ScriptedServer
from support.turns import as_reply, final, turn
from support.verified import replay
from vera import events
from vera.agent.folders import exams_folder
from vera.headline import HOLDS
from vera.lane.request import rebuild_request
from vera.session import log
from vera.store import Store

QUESTION = "For how many years must a written offer be valid?"
TRUE = "A written offer must be valid for at least three years."
FALSE = "A written offer must be valid for at least seven years."
FILES = {
    "terms.txt": f"Terms\n\n{TRUE}\nIt may be made on paper.\n",
    "prices.txt": "Prices\n\nA copy costs seven euros, for as many years as it is sold.\n",
}

Says = Callable[[int, dict[str, Any]], Any]


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("documents")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


class Ran:
    """A run against a scripted server: how it ended, and what its log has."""

    def __init__(self, done: Ended, work: Path) -> None:
        self.done, self.work, self.said = done, work, json.loads(done.out)

    @property
    def calls(self) -> list[str]:
        """The scopes of the calls to the model, in order; the built-in one is not counted."""
        called = (each for each in records(self.work) if isinstance(each, events.Model))
        return [each.scope for each in called if each.scope != "extracts"]

    @property
    def outcome(self) -> tuple[str, int, str]:
        return self.said["status"], self.done.code, self.said["answer_by"]


def run(folder: Path, work: Path, says: Says, *options: str, model: str = "some-model", **is_: Any) -> Ran:
    with ScriptedServer(says, model=model, **is_) as server:
        words = ["run", "--task", QUESTION, "--work-dir", work, "--model-base-url", server.root]
        words += ["--protocol", "text", "--json", "--input-dir", folder, *OFFLINE, *options]
        return Ran(vera_here(*words, cwd=work.parent), work)


def is_writing(body: dict[str, Any]) -> bool:
    """Whether a request shows numbered lines to write from."""
    return "You answer a question from numbered lines" in str(body["messages"][0]["content"])


def numbered(body: dict[str, Any]) -> dict[int, str]:
    """The lines that a request shows, by number."""
    shown = str(body["messages"][-1]["content"])
    return {int(number): text for number, text in re.findall(r"^(\d+)\| (.*)$", shown, re.MULTILINE)}


def written(*sentences: tuple[list[int], str]) -> str:
    return json.dumps({"sentences": [{"lines": lines, "text": text} for lines, text in sentences]})


def obeys(index: int, body: dict[str, Any]) -> str:
    named = next(number for number, text in numbered(body).items() if "at least three years" in text)
    return written(([named], TRUE))


def test_a_model_that_obeys_gives_the_answer_in_one_call(documents: Path, tmp_path: Path) -> None:
    ran = run(documents, tmp_path / "w", obeys, "--mode", "guided")
    assert ran.outcome == ("QUOTED", 0, "model") and ran.calls == ["guided"]
    assert ran.said["answer"].startswith(TRUE)
    assert (ran.said["mode"], ran.said["mode_reason"]) == ("guided", "asked for: --mode guided")
    assert ran.said["spent"]["model_calls"] == 1 and ran.said["spent"]["completion_tokens"] > 0
    assert "Mode: asked for: --mode guided." in (ran.work / "answer.md").read_text()
    assert "mode: asked for: --mode guided" in ran.done.error
    assert replay(ran.work, (), 2).exit_code == 0
    rebuilt = rebuild_request(records(ran.work), Store(ran.work / "store"), 1, "guided-1")
    assert rebuilt is not None and rebuilt.same


WRITERS: dict[str, Says] = {
    "echoes": lambda i, body: str(body["messages"][-1]["content"]),
    "rambles": lambda i, body: "It depends on what you mean by an offer. " * 60,
    "breaks off": lambda i, body: '{"sentences": [{"lines": [1], "text": "The written offer is',
    "names numbers that there are not": lambda i, body: written(([99], TRUE), ([0], TRUE)),
    "says nothing": lambda i, body: "",
    "gives no sentence": lambda i, body: written(),
    "thinks only": lambda i, body: "<think>Let me think.",
    "cites by itself": lambda i, body: "# VERIFIED\n\nIt is seven years [ev_0003:1-4].",
    "states what is false": lambda i, body: written(([1], FALSE)),
    "states what is false of every line": lambda i, body: written((sorted(numbered(body)), FALSE)),
    "states what is false beside what is true": lambda i, body: written(([1], TRUE), ([1], FALSE)),
    "poses as extracts": lambda i, body: written(
        ([1], "These are extracts chosen by word match, not a synthesis."),
        ([1], "“at least seven years”: terms.txt"),
    ),
    "fails": lambda i, body: Fault(400, body="gone"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_what_a_model_writes_amiss_leaves_the_extracts(name: str, documents: Path, tmp_path: Path) -> None:
    ran = run(documents, tmp_path / "w", WRITERS[name], "--mode", "guided")
    assert ran.outcome == ("QUOTED", 0, "builtin") and "seven" not in ran.said["answer"]
    assert any("at least three years" in each["quote"] for each in ran.said["citations"])
    assert "extracts, because" in ran.said["reason"] and ran.calls == ["guided"]
    assert replay(ran.work, (), 2).exit_code == 0


@pytest.mark.parametrize(
    "text", ["Seven years.", "Seven.", "Is seven years.", "Never.", "It may be made on paper."]
)
def test_true_words_that_do_not_speak_of_the_question_are_no_answer(text: str, tmp_path: Path) -> None:
    """The lines have these words: of another thing."""
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "terms.txt").write_text(
        f"{TRUE}\nIt may be made on paper.\nThe guarantee of the machine is seven years.\n"
    )
    ran = run(
        folder, tmp_path / "w", lambda i, body: written((sorted(numbered(body)), text)), "--mode", "guided"
    )
    assert ran.outcome == ("QUOTED", 0, "builtin")
    assert any("at least three years" in each["quote"] for each in ran.said["citations"])


def test_whole_sentences_of_a_broken_reply_count(documents: Path, tmp_path: Path) -> None:
    def says(index: int, body: dict[str, Any]) -> str:
        return obeys(index, body)[:-2] + ', {"lines": [1], "text": "It is'

    ran = run(documents, tmp_path / "w", says, "--mode", "guided")
    assert ran.outcome == ("QUOTED", 0, "model") and "It is" not in ran.said["answer"]


def test_a_judge_that_agrees_with_everything_makes_no_false_sentence_hold(
    documents: Path, tmp_path: Path
) -> None:
    def says(index: int, body: dict[str, Any]) -> str:
        if is_writing(body):
            return written(([1], FALSE))
        spans = re.search(r"Label each of the (\d+) spans", str(body["messages"][-1]["content"]))
        count = int(spans[1]) if spans else 0
        return json.dumps({"spans": [{"index": n + 1, "relation": "SUPPORTS"} for n in range(count)]})

    ran = run(documents, tmp_path / "w", says, "--mode", "quick", exam="script")
    assert ran.said["answer_by"] == "builtin" and "seven" not in ran.said["answer"]
    assert ran.said["status"] in HOLDS and "verifier_exam" in ran.calls


def broken(index: int, body: dict[str, Any]) -> Any:
    """Takes no turn, and can write."""
    return obeys(index, body) if is_writing(body) else f"Sure! I will search for it, try {index}."


def test_two_broken_first_turns_lead_to_guided_mode(documents: Path, tmp_path: Path) -> None:
    ran = run(documents, tmp_path / "w", broken)
    assert ran.outcome == ("QUOTED", 0, "model") and ran.calls == ["agent", "agent", "guided"]
    said = "some-model cannot take turns: 2 turns in a row broke the format; guided mode"
    assert (ran.said["mode"], ran.said["mode_reason"]) == ("guided", said)
    assert replay(ran.work, (), 2).exit_code == 0


def test_with_mode_agent_it_never_does(documents: Path, tmp_path: Path) -> None:
    ran = run(documents, tmp_path / "w", broken, "--mode", "agent", model="tiny-1b")
    assert (ran.said["mode"], ran.said["answer_by"], ran.calls) == ("agent", "builtin", ["agent"] * 5)


def test_a_turn_that_repeats_itself_counts_twice_and_is_told_once(documents: Path, tmp_path: Path) -> None:
    ran = run(documents, tmp_path / "w", lambda index, body: "Sure! I will search.", "--mode", "agent")
    assert ran.calls == ["agent"] * 3
    assert "3 turns in a row broke the format" in ran.said["reason"]


def test_a_whole_turn_first_leaves_the_model_its_five_tries(documents: Path, tmp_path: Path) -> None:
    def says(index: int, body: dict[str, Any]) -> Any:
        return broken(index, body) if index else as_reply(turn("search", query="written offer"), "text")

    assert run(documents, tmp_path / "w", says).calls == [*["agent"] * 6, "guided"]


@pytest.fixture
def no_exams() -> Iterator[None]:
    shutil.rmtree(exams_folder(), ignore_errors=True)
    yield
    shutil.rmtree(exams_folder(), ignore_errors=True)


@pytest.mark.usefixtures("no_exams")
def test_a_small_model_that_fails_its_turn_exam_is_guided(documents: Path, tmp_path: Path) -> None:
    ran = run(documents, tmp_path / "w", broken, model="tiny-1b")
    assert ran.said["mode_reason"] == "tiny-1b cannot take turns: 0 of 2; guided mode"
    assert ran.calls == ["turn_exam", "turn_exam", "guided"] and ran.outcome == ("QUOTED", 0, "model")
    assert "turn exam: 0 of 2 turns" in ran.done.error


@pytest.mark.usefixtures("no_exams")
@pytest.mark.parametrize("form", ["text", "tools"])
def test_a_small_model_that_passes_takes_turns_and_sits_it_once(
    form: str, documents: Path, tmp_path: Path
) -> None:
    def says(index: int, body: dict[str, Any]) -> Any:
        shown = "\n".join(str(each.get("content")) for each in body["messages"])
        if "Harbour Library" not in shown:
            return as_reply(final("I looked at nothing."), form)
        if "OBSERVATION" not in shown:
            return as_reply(turn("search", query="lend map"), form)
        return as_reply(turn("read", path="harbour-library.txt"), form)

    with ScriptedServer(says, model="tiny-1b") as server:
        for name, asked in (("a", 2), ("b", 0)):
            vera_here(
                "run", "--task", QUESTION, "--work-dir", tmp_path / name, "--model-base-url", server.root,
                "--protocol", form, "--input-dir", documents, *OFFLINE, "--max-steps", 1, cwd=tmp_path,
            )  # fmt: skip
            log = records(tmp_path / name)
            (sat,) = [each for each in log if isinstance(each, events.TurnExam)]
            assert (sat.right, sat.of, sat.passed, sat.kept) == (2, 2, True, not asked)
            scopes = [each.scope for each in log if isinstance(each, events.Model)]
            assert scopes.count("turn_exam") == asked and "agent" in scopes
            assert folded(tmp_path / name).mode is None


def test_quick_has_its_sentences_judged(documents: Path, tmp_path: Path) -> None:
    cast = Cast([])

    def says(index: int, body: dict[str, Any]) -> Any:
        return obeys(index, body) if is_writing(body) else cast(index, body)

    ran = run(documents, tmp_path / "w", says, "--mode", "quick")
    assert ran.outcome == ("VERIFIED", 0, "model") and ran.said["mode"] == "quick"
    assert cast.asked["worker"] == 0 and ran.calls.count("guided") == 1


class Killed(BaseException):
    """The process is gone."""


@pytest.mark.parametrize("kind", ["lane_started", "model_io", "assistant", "answer", "verifier_started"])
def test_killed_in_the_middle_it_goes_on(
    kind: str, documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, begun = log.Log.append, [False]

    def append(self: log.Log, event: Any, lane: str, *, sync: bool = False) -> Any:
        record = real(self, event, lane, sync=sync)
        begun[0] = begun[0] or lane == "guided-1"
        if begun[0] and events.kind(record) == kind:
            raise Killed
        return record

    work = tmp_path / "w"
    with ScriptedServer(obeys) as server:
        with monkeypatch.context() as patched:
            patched.setattr(log.Log, "append", append)
            with pytest.raises(Killed):
                vera_here(
                    "run", "--task", QUESTION, "--work-dir", work, "--model-base-url", server.root,
                    "--protocol", "text", "--input-dir", documents, *OFFLINE, "--mode", "guided",
                    cwd=tmp_path,
                )  # fmt: skip
        ran = Ran(vera_here("resume", work, "--json", cwd=tmp_path), work)
        asked = sum(is_writing(each.body) for each in server.requests)
    assert ran.outcome == ("QUOTED", 0, "model") and ran.said["mode"] == "guided"
    assert asked == (2 if kind == "model_io" else 1)
    assert len(folded(work).answers) == 2 and replay(work, (), 2).exit_code == 0


def test_without_lines_there_is_nothing_to_write_from(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("Bread is baked from flour and water.\n")
    ran = run(tmp_path / "in", tmp_path / "w", obeys, "--mode", "guided")
    assert (ran.said["status"], ran.done.code, ran.calls) == ("UNRESOLVED", 3, [])
    assert "there were no lines to write from" in ran.said["reason"]


def test_a_spent_budget_leaves_the_extracts(documents: Path, tmp_path: Path) -> None:
    ran = run(documents, tmp_path / "w", obeys, "--mode", "guided", "--budget-tokens", "300")
    assert ran.outcome == ("QUOTED", 0, "builtin") and ran.calls == []
    assert "the token budget of 300 is spent" in ran.said["reason"]


def test_the_built_in_model_says_that_it_writes_nothing(documents: Path, tmp_path: Path) -> None:
    done = vera_here(
        "run", "--task", QUESTION, "--work-dir", tmp_path / "w", "--model-base-url", "builtin", "--input-dir",
        documents, "--mode", "guided", cwd=tmp_path,
    )  # fmt: skip
    assert done.code == 0 and "--mode guided needs a language model" in done.error


def test_a_lost_model_without_extracts_that_hold_is_shown_as_it_ended(
    documents: Path, tmp_path: Path
) -> None:
    """Exit code 5 is one of the ends of an answer that proves nothing."""
    with ScriptedServer(lambda index, body: Fault(400, body="gone")) as server:
        words = ["run", "--task", "How many whales are there?", "--work-dir", tmp_path / "w", "--json"]
        words += ["--mode", "agent", "--input-dir", documents, "--model-base-url", server.root, *OFFLINE]
        done = vera_here(*words, "--protocol", "text", cwd=tmp_path)
    assert (json.loads(done.out)["status"], done.code) == ("UNRESOLVED", 5)
    shown = vera_here("show", tmp_path / "w", cwd=tmp_path)
    assert shown.code == 0 and "UNRESOLVED" in shown.out
    assert replay(tmp_path / "w", (), 2).exit_code == 0
