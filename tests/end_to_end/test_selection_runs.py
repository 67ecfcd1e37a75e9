"""Choosing in every kind of run: the execute lane, a class and templates of one's own, one script twice."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.attacks import vera_here, write_all
from support.choosing import (
    APART,
    BROKEN,
    GOOD,
    NOTED,
    QUESTION,
    READ,
    SEARCH,
    Chosen,
    Play,
    arguments,
    choose,
    is_judge,
    nobody,
    plain,
    prefers,
    resume,
    server,
)
from support.cli import vera
from support.executing import FILES, LASTS
from support.turns import final, turn
from vera import events

THREE = ("--num-candidates", 3)


# The execute lane


def test_an_execution_samples_too_and_the_look_ups_of_its_theses_do_not(tmp_path: Path) -> None:
    asks, waits = (
        turn("verify", thesis=LASTS, thought="I ask."),
        turn("note", text="later", thought="I wait."),
    )
    answers = final(f"{LASTS} [att_0001:c1].")
    play = Play([[waits, asks, BROKEN], [answers, waits]], judge=prefers(LASTS))
    documents = tmp_path / "documents"
    write_all(documents, FILES)
    with server(play) as worker:
        ended = vera_here(
            "run", "--lane", "execute", "--task", "Write the notice.", "--protocol", "text",
            "--work-dir", tmp_path / "w", "--base-dir", tmp_path, "--sandbox", "none", "--egress", "none",
            "--verifier", "literal", "--verifier-rounds", 1, "-c", "notes.update_interval=1000",
            "--input-dir", documents, "--model-base-url", worker.root, *THREE, "--action-verifier", "llm",
            cwd=tmp_path,
        )  # fmt: skip
    run = Chosen(tmp_path / "w", ended)
    assert run.ended.code == 0, run.ended.error
    assert run.acted == ["verify", "final"]
    assert run.deciders[0] == "selector"
    assert run.state.lane("main").status == "QUOTED"
    assert "I wait." not in json.dumps(play.prompts())
    theses = list((run.work / "theses").iterdir())
    assert len(theses) == 1, "the thesis was verified once"
    assert not [each for each in Chosen(theses[0]).records if isinstance(each, events.Candidates)]


# Gates and checks in a run with its real gates and its real shell


def test_in_a_run_the_notes_gate_is_a_filter(tmp_path: Path) -> None:
    noted = turn("read", path="terms.txt", note="line 3 has the term", thought="With a note.")
    play = Play([[READ], [SEARCH, SEARCH, noted], [GOOD]], judge=nobody)
    with server(play) as worker:
        run = choose(
            tmp_path, worker, *THREE, "--action-verifier", "majority", "-c", "notes.update_interval=1"
        )
    assert run.ended.code == 0, run.ended.error
    second = run.selections[1]
    assert [each.rejected for each in second.weighed] == ["policy_notes_gate", "policy_notes_gate", ""]
    assert run.acted == ["read", "read", "final"]
    assert not [each for each in run.records if isinstance(each, events.Policy)]


def test_commands_are_read_by_bash_before_one_runs(tmp_path: Path) -> None:
    unclosed = turn("shell", cmd="cat <(echo 'never closed", thought="Broken.")
    counts = turn("shell", cmd="echo ran >> count.txt; wc -l < count.txt", thought="Count.")
    play = Play([[unclosed, unclosed, counts], [READ], [GOOD]], judge=nobody)
    with server(play) as worker:
        run = choose(tmp_path, worker, *THREE, "--action-verifier", "majority", "--sandbox", "host")
    first = run.selections[0]
    assert [each.rejected for each in first.weighed] == ["bash_syntax", "bash_syntax", ""]
    assert (first.selected, first.decider) == (2, "only_one")
    assert (run.work / "workspace" / "count.txt").read_text() == "ran\n"


def test_a_command_that_has_just_failed_is_not_run_again(tmp_path: Path) -> None:
    fails = turn("shell", cmd="echo tried >> count.txt; false")
    again = turn("shell", cmd="echo tried >> count.txt; false", thought="Perhaps now.")
    play = Play([[fails], [again, again, READ], [READ], [GOOD]], judge=nobody)
    with server(play) as worker:
        run = choose(tmp_path, worker, *THREE, "--action-verifier", "majority", "--sandbox", "host")
    assert [each.rejected for each in run.selections[1].weighed] == ["repeats_failure", "repeats_failure", ""]
    assert run.acted[:2] == ["shell", "read"]
    assert (run.work / "workspace" / "count.txt").read_text() == "tried\n"


# A class of one's own

MAX_LENGTH = """
from vera.selection.selector import SelectorChoice


class Longest:
    judges = False

    async def select(self, options, scene, judge, how):
        chosen = max(range(len(options)), key=lambda place: options[place].size)
        return SelectorChoice(chosen=chosen, reason=f"the longest for {scene.task[:7]}")


class Raises:
    judges = False

    async def select(self, options, scene, judge, how):
        raise RuntimeError("I cannot choose")


class Asks:
    judges = True

    async def select(self, options, scene, judge, how):
        reply = await judge(scene, list(options))
        return SelectorChoice(chosen=int(reply.content[-1]) - 1, reason="asked", replies=(reply.content,))


class NoSelector:
    pass
"""


def with_class(tmp_path: Path, name: str, play: Play, *more: object) -> tuple[int, str, Chosen]:
    """A run in a process of its own that finds a module beside the documents by PYTHONPATH."""
    modules = tmp_path / "modules"
    modules.mkdir()
    (modules / "my_choosing.py").write_text(MAX_LENGTH)
    with server(play) as worker:
        typed = arguments(
            tmp_path, worker, *THREE, "-c", "action_verifier.enabled=true",
            "-c", f"action_verifier.verifier_class={name}", *more,
        )  # fmt: skip
        done = vera(*typed, cwd=tmp_path, PYTHONPATH=str(modules))
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr, Chosen(tmp_path / "w")


@pytest.mark.parametrize("name", ["my_choosing.Longest", "my_choosing:Longest"])
def test_a_class_of_ones_own_chooses(tmp_path: Path, name: str) -> None:
    code, error, run = with_class(tmp_path, name, Play([[NOTED, READ, SEARCH], [READ], [GOOD]], judge=nobody))
    assert code == 0, error
    first = run.selections[0]
    assert (first.selector, first.decider, first.reason) == (
        name,
        "selector",
        f"the longest for {QUESTION[:7]}",
    )
    assert run.acted == ["note", "read", "final"]


def test_a_class_of_ones_own_may_ask_the_judge(tmp_path: Path) -> None:
    play = Play([[NOTED, READ, SEARCH], [GOOD]], judge=prefers("terms.txt"))
    code, error, run = with_class(tmp_path, "my_choosing.Asks", play)
    assert code == 0, error
    assert run.acted == ["read", "final"] and run.selections[0].judge_calls == 1
    assert [each.scope for each in run.of(events.Model)].count("selector") == 1


def test_a_class_that_raises_costs_nothing_but_its_choice(tmp_path: Path) -> None:
    play = Play([[READ, NOTED], [GOOD]], judge=nobody)
    code, error, run = with_class(tmp_path, "my_choosing.Raises", play)
    assert code == 0, error
    first = run.selections[0]
    assert (first.fallback_reason, first.selected) == ("selector_error", 0)
    assert "RuntimeError: I cannot choose" in first.reason


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("my_choosing.NoSelector", "is no selector"),
        ("my_choosing.NotThere", "cannot be loaded"),
        ("no_such_module.Longest", "cannot be loaded"),
    ],
)
def test_a_class_that_is_none_is_said_before_anything_is_asked(tmp_path: Path, name: str, said: str) -> None:
    play = Play([[READ, NOTED], [GOOD]], judge=nobody)
    code, error, run = with_class(tmp_path, name, play)
    assert code == 2 and said in error
    assert not play.asked and not run.work.exists()


# Templates of one's own


def test_templates_are_taken_from_a_folder_by_their_name(tmp_path: Path) -> None:
    folder = tmp_path / "prompts"
    folder.mkdir()
    (folder / "terse.system.md.j2").write_text("You choose the next action of a research agent. Be terse.\n")
    (folder / "terse.selection.md.j2").write_text(
        "{{ task }}\n{% for candidate in candidates %}\nCandidate {{ candidate.number }}\n"
        "{{ candidate.action }}\n{% endfor %}\nWhich of the candidates {{ index_base }} to {{ last }}?\n"
    )
    play = Play([[NOTED, READ, SEARCH], [GOOD]], judge=prefers("terms.txt"))
    options = {"action_verifier__prompt_dir": folder, "action_verifier__prompt_name": "terse"}
    with server(play) as worker:
        run = choose(tmp_path, worker, *THREE, "--action-verifier", "llm", **options)
    assert run.acted == ["read", "final"]
    system, question = play.judged[0]["messages"]
    assert system["content"] == "You choose the next action of a research agent. Be terse."
    assert question["content"].endswith("Which of the candidates 1 to 3?") and QUESTION in question["content"]


def test_a_template_in_the_settings_counts_before_the_one_of_the_folder(tmp_path: Path) -> None:
    said = "You choose the next action of a research agent. One number, please."
    play = Play([[NOTED, READ, SEARCH], [GOOD]], judge=prefers("terms.txt"))
    with server(play) as worker:
        run = choose(
            tmp_path, worker, *THREE, "--action-verifier", "llm", action_verifier__system_template=said
        )
    assert run.acted == ["read", "final"]
    assert play.judged[0]["messages"][0]["content"] == said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"action_verifier__prompt_name": "absent", "action_verifier__prompt_dir": "."},
            "absent.system.md.j2 cannot be used",
        ),
        ({"action_verifier__system_template": "{{ nothing }}"}, "cannot be filled in"),
        ({"action_verifier__system_template": "{% if %}"}, "is no Jinja template"),
    ],
)
def test_a_template_that_cannot_be_used_is_said_before_anything_is_asked(
    tmp_path: Path, options: dict[str, str], said: str
) -> None:
    play = Play([[READ, NOTED], [GOOD]], judge=nobody)
    with server(play) as worker:
        run = choose(tmp_path, worker, *THREE, "--action-verifier", "llm", **options)
    assert run.ended.code == 2 and said in run.ended.error, run.ended.error
    assert not play.asked and not run.work.exists()


def test_a_regular_expression_and_a_first_number_of_ones_own_read_the_verdict(tmp_path: Path) -> None:
    def judge(body: dict[str, Any]) -> str:
        number = prefers("terms.txt")(body).rpartition(" ")[2]
        return f"FINAL: 9, or rather pick={number}"

    play = Play([[NOTED, READ, SEARCH], [GOOD]], judge=judge)
    with server(play) as worker:
        run = choose(
            tmp_path, worker, *THREE, "--action-verifier", "llm",
            action_verifier__selection_regex="pick=([0-9]+)", action_verifier__selection_index_base=0,
        )  # fmt: skip
    assert run.acted == ["read", "final"] and run.selections[0].parsed_index == 1
    assert "Candidate 0" in play.judged[0]["messages"][-1]["content"]


# The same again


@pytest.mark.parametrize("more", [(), APART], ids=["by n", "one request each"])
@pytest.mark.parametrize("kind", ["llm", "pairwise", "majority", "shortest", "random", "first_valid"])
def test_the_same_script_and_seed_give_the_same_selections_and_the_same_questions(
    tmp_path: Path, kind: str, more: tuple[str, ...]
) -> None:
    steps = [[NOTED, READ, SEARCH], [SEARCH, BROKEN, NOTED], [READ, SEARCH, NOTED], [GOOD]]

    def once(name: str) -> tuple[list[dict[str, Any]], list[str]]:
        play = Play(steps, judge=prefers("terms.txt", "written offer"))
        with server(play, usage=False) as worker:
            run = choose(
                tmp_path, worker, *THREE, "--action-verifier", kind, *more, name=name,
                action_verifier__seed=7, action_verifier__stop_on_agreement="false",
            )  # fmt: skip
            asked = [json.dumps(each.body["messages"]) for each in worker.requests if is_judge(each.body)]
        return [plain(each) for each in run.selections], sorted(asked)

    assert once("one") == once("two")


def test_another_seed_gives_another_random_choice(tmp_path: Path) -> None:
    found = set()
    for seed in range(6):
        with server(Play([[NOTED, READ, SEARCH], [READ], [GOOD]], judge=nobody)) as worker:
            run = choose(
                tmp_path, worker, *THREE, "--action-verifier", "random", name=f"w{seed}",
                action_verifier__seed=seed,
            )  # fmt: skip
        found.add(run.selections[0].selected)
    assert len(found) > 1


def test_a_resumed_run_that_has_ended_stays_as_it_is(tmp_path: Path) -> None:
    with server(Play([[NOTED, READ], [GOOD]], judge=prefers("terms.txt"))) as worker:
        run = choose(tmp_path, worker, "--num-candidates", 2, "--action-verifier", "llm")
        before = (run.work / "trace.jsonl").read_bytes()
        assert resume(run, worker).ended.code == 1
    assert (run.work / "trace.jsonl").read_bytes() == before
