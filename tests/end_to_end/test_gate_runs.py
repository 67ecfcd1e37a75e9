"""Each gate in a whole run: one in which it speaks exactly when it should, and a twin in which it does not.

This file has the table of them and the gates of a turn's form and of answers; `test_gate_runs_search.py`,
`…_brave.py` and `…_box.py` have those of the search, of Brave and of commands.
"""

import ast
from pathlib import Path

import pytest

from support.fake_web import Reply
from support.gate_runs import (
    ORDINARY,
    act,
    answer,
    check_refused,
    cut,
    fetch,
    missing,
    page,
    play,
    search,
)
from vera import events
from vera.gates.registry import GATES

PAIRS = {
    "policy_stuck": (
        "test_a_model_that_repeats_itself_is_told_once_and_its_run_ends",
        "test_a_model_that_finds_something_now_and_then_is_let_be",
    ),
    "policy_notes_gate": ("test_a_fourth_call_without_a_note_waits_for_one", "test_a_note_line_is_a_note"),
    "policy_notes_guard": (
        "test_notes_that_a_command_lost_are_put_back",
        "test_what_a_command_appends_to_the_notes_is_kept",
    ),
    "policy_pre_tool_nudge": (
        "test_an_answer_before_anything_was_looked_at_is_asked_once",
        "test_an_answer_after_a_look_is_taken",
    ),
    "policy_length_nudge": (
        "test_turns_that_are_cut_again_get_twice_the_room_once",
        "test_a_whole_turn_between_two_that_were_cut_ends_the_row",
    ),
    "policy_reminder": (
        "test_feedback_that_is_not_followed_is_brought_to_mind_four_times",
        "test_feedback_that_is_followed_is_not_brought_to_mind",
    ),
    "policy_choice": (
        "test_feedback_that_is_not_followed_is_brought_to_mind_four_times",
        "test_a_call_before_any_feedback_is_no_choice",
    ),
    "policy_choice_matched": (
        "test_feedback_that_is_followed_is_not_brought_to_mind",
        "test_feedback_that_is_not_followed_is_brought_to_mind_four_times",
    ),
    "policy_query_mutation": (
        "test_a_query_that_brought_nothing_is_not_asked_a_third_time",
        "test_a_query_may_be_asked_again_once_something_was_found",
    ),
    "policy_query_vector": (
        "test_a_search_for_none_needs_another_intent",
        "test_a_task_that_says_do_not_is_no_negative_claim",
    ),
    "policy_domain_shift": (
        "test_a_domain_is_not_visited_a_third_time_while_sources_are_missing",
        "test_a_task_that_says_do_not_is_no_negative_claim",
    ),
    "policy_source_shift": (
        "test_a_class_of_sources_that_fails_three_times_gives_a_constraint",
        "test_failures_of_several_classes_ask_for_no_other_class",
    ),
    "policy_move_change": (
        "test_a_move_that_is_repeated_while_unresolved_gives_one_constraint",
        "test_a_move_that_is_repeated_in_a_run_that_gets_on_is_let_be",
    ),
    "policy_stagnation": (
        "test_an_answer_of_a_run_that_stands_still_waits_for_new_evidence",
        "test_a_run_that_finds_something_now_and_then_does_not_stand_still",
    ),
    "policy_failure_escalation": (
        "test_the_same_failure_three_times_gives_a_constraint_until_something_works",
        "test_failures_of_several_kinds_are_no_row",
    ),
    "policy_source_budget": (
        "test_the_twelfth_domain_that_answers_ends_the_run",
        "test_a_command_that_names_twelve_urls_has_read_none_of_them",
    ),
    "policy_search_budget": (
        "test_the_searches_of_a_run_are_spent",
        "test_without_a_budget_searches_have_no_end",
    ),
    "policy_brave_discovery": (
        "test_a_page_waits_for_a_search",
        "test_a_task_over_a_folder_needs_no_search",
    ),
    "policy_brave_budget": (
        "test_the_calls_to_brave_are_spent",
        "test_brave_without_a_bound_is_asked_on",
    ),
    "policy_brave_circuit": (
        "test_the_breaker_opens_and_closes_for_the_gate_when_it_does_for_the_engine",
        "test_a_429_that_an_answer_follows_opens_no_breaker",
    ),
    "policy_render_nudge": (
        "test_a_page_without_its_text_is_to_be_rendered",
        "test_a_short_page_that_is_whole_needs_no_browser",
    ),
    "policy_conclusion_ready": (
        "test_a_negative_claim_with_its_sources_is_concluded",
        "test_carbuzz_is_not_official_for_a_question_about_cars",
    ),
    "policy_finalization_stop": (
        "test_a_report_that_is_written_again_and_again_is_handed_in_through_verification",
        "test_a_report_that_grows_with_what_is_found_is_let_be",
    ),
    "policy_parse_error": (
        "test_five_broken_turns_in_a_row_end_the_run",
        "test_a_whole_turn_between_broken_ones_ends_the_row",
    ),
    "policy_destructive": (
        "test_a_command_that_destroys_does_not_run",
        "test_a_grep_for_mount_is_not_destructive",
    ),
}
"""Gate → the run in which it speaks, and its twin."""

BROKEN = "I think that it was in 2014."
SITE = {f"a.example/{number}": page(f"Page {number}") for number in range(1, 10)}


def of_site(number: int) -> str:
    return f"http://a.example/{number}"


def test_each_gate_has_a_run_and_a_twin() -> None:
    gates = {gate.name for gate in GATES}
    assert gates | {"policy_notes_guard", "policy_choice", "policy_choice_matched"} == PAIRS.keys()
    written = {
        each.name
        for path in Path(__file__).parent.glob("test_gate_runs*.py")
        for each in ast.walk(ast.parse(path.read_text()))
        if isinstance(each, ast.FunctionDef)
    }
    assert {name for pair in PAIRS.values() for name in pair} <= written


def test_a_fourth_call_without_a_note_waits_for_one() -> None:
    calls = [fetch(of_site(number)) for number in (1, 2, 3, 4)]
    run = play(
        [*calls, act("note", text="Nothing."), fetch(of_site(4))], pages=SITE, notes__update_interval=3
    )
    assert run.spoken("policy_notes_gate") == [(4, "refuse")]
    assert run.record("policy_notes_gate") == {
        "step": 4,
        "effect": "refuse",
        "reason": "3 steps have passed without a note.",
        "way_forward": "Write the same turn again with a NOTE line that says what you have learnt (or call "
        "note): old observations leave your view, notes stay.",
        "tool": "fetch",
        "count": 3,
        "limit": 3,
    }
    assert run.told(4) == (
        "NOT RUN (policy_notes_gate). 3 steps have passed without a note. Write the same turn again with a "
        "NOTE line that says what you have learnt (or call note): old observations leave your view, notes "
        "stay."
    )
    check_refused(run, 4, "policy_notes_gate")
    assert run.told(6).startswith("OBSERVATION ev_0004 · fetch http://a.example/4 · HTTP 200")
    assert run.sites.asked == [f"a.example/{number}" for number in (1, 2, 3, 4)]


def test_a_note_line_is_a_note() -> None:
    calls = [fetch(of_site(number)) for number in (1, 2, 3)]
    run = play([*calls, fetch(of_site(4), note="Nothing so far.")], pages=SITE, notes__update_interval=3)
    assert run.spoken("policy_notes_gate") == []
    assert len(run.sites.asked) == 4


def test_an_answer_before_anything_was_looked_at_is_asked_once() -> None:
    run = play([answer("Four."), answer("Four.")], task="What is two and two?")
    assert run.record("policy_pre_tool_nudge") == {
        "step": 1,
        "effect": "nudge",
        "reason": "You have looked at nothing yet, and what is not cited is not verified.",
        "way_forward": "Use a tool first. If the answer needs no source, give it again.",
        "count": 1,
        "limit": 1,
    }
    assert run.told(1) == (
        "Your answer is not taken yet (policy_pre_tool_nudge). You have looked at nothing yet, and what is "
        "not cited is not verified. Use a tool first. If the answer needs no source, give it again."
    )
    assert [each for each in run.at(1) if not each.startswith("model")] == [
        "assistant",
        "policy_pre_tool_nudge",
    ]
    assert [each.step for each in run.of(events.Answer)] == [2]
    assert run.spoken("policy_pre_tool_nudge") == [(1, "nudge")]


def test_an_answer_after_a_look_is_taken() -> None:
    run = play([fetch(of_site(1)), answer("In 2014 [ev_0001:1].")], pages=SITE)
    assert run.spoken("policy_pre_tool_nudge") == []
    assert [each.step for each in run.of(events.Answer)] == [2]


def test_an_answer_for_which_no_turn_is_left_is_taken_at_once() -> None:
    run = play([answer("Four.")], task="What is two and two?", run__max_steps=1)
    assert run.spoken("policy_pre_tool_nudge") == []
    assert run.lane.answer is not None


def test_turns_that_are_cut_again_get_twice_the_room_once() -> None:
    run = play([cut(), cut(), fetch(of_site(1)), cut(), cut(), cut()], pages=SITE)
    assert run.spoken("policy_length_nudge") == [(2, "nudge"), (5, "nudge")]
    said = (
        "POLICY policy_length_nudge: 2 turns in a row were cut off at the limit of one turn. Write a much "
        "shorter turn: one line of thought, then the action. Long texts go into a file under /work, part by "
        "part."
    )
    assert run.told(2).splitlines()[-2:] == [
        f"{said} From now on a turn has twice the room.",
        "Write the whole turn again. (2 of 5 in a row; then the run ends.)",
    ]
    assert run.told(5).splitlines()[-2] == said
    assert [request.body["max_tokens"] for request in run.server.requests] == [4096, 4096, *[8192] * 5]
    assert [each for each in run.at(2) if each.startswith("policy")] == [
        "policy_length_nudge",
        "policy_parse_error",
    ]


def test_a_whole_turn_between_two_that_were_cut_ends_the_row() -> None:
    run = play([cut(), fetch(of_site(1)), cut(), BROKEN, cut()], pages=SITE)
    assert run.spoken("policy_length_nudge") == []
    assert "policy_length_nudge" not in run.told(5)


def test_a_model_that_repeats_itself_is_told_once_and_its_run_ends() -> None:
    again = fetch(of_site(1), note="I look at it again.")
    run = play([again] * 13, pages=SITE)
    assert run.spoken("policy_stuck") == [(6, "nudge"), (13, "end")]
    assert "Tried: fetch http://a.example/1." in run.told(6) and "Do one of these instead: " in run.told(6)
    assert run.lane.ended is not None and run.lane.ended.reason == "stuck"
    assert run.result is not None and run.result.exit_code == 3
    assert run.result.reason == "no answer was reached: 12 turns in a row brought nothing new"


def test_a_model_that_finds_something_now_and_then_is_let_be() -> None:
    again = [fetch(of_site(1), note="Again.")] * 3
    run = play([turn for number in range(2, 8) for turn in (*again, fetch(of_site(number)))], pages=SITE)
    assert run.spoken("policy_stuck") == []


def broken(count: int) -> list[str]:
    """Turns that break the format, each in other words."""
    return [f"I think that it was in {2014 + number}." for number in range(count)]


def test_broken_turns_in_the_same_words_end_the_run_sooner() -> None:
    run = play([fetch(of_site(1)), *[BROKEN] * 5], pages=SITE)
    assert run.spoken("policy_parse_error") == [(4, "end")]
    assert run.record("policy_parse_error")["count"] == 5


def test_five_broken_turns_in_a_row_end_the_run() -> None:
    run = play([fetch(of_site(1)), *broken(5)], pages=SITE)
    assert run.spoken("policy_parse_error") == [(6, "end")]
    assert run.record("policy_parse_error") == {
        "step": 6,
        "effect": "end",
        "reason": "5 turns in a row broke the format",
        "count": 5,
        "limit": 5,
    }
    assert [run.told(step).splitlines()[-1] for step in (2, 3, 4, 5)] == [
        f"Write the whole turn again. ({count} of 5 in a row; then the run ends.)" for count in (1, 2, 3, 4)
    ]
    assert run.asked() == 6
    assert run.history(6).calls == 1
    assert run.lane.ended is not None and run.lane.ended.reason == "parse_error"
    assert run.result is not None and run.result.exit_code == 3
    assert run.result.reason == "no answer was reached: 5 turns in a row broke the format"


def test_a_whole_turn_between_broken_ones_ends_the_row() -> None:
    run = play([*broken(4), fetch(of_site(1)), *broken(4)], pages=SITE)
    assert run.spoken("policy_parse_error") == []
    assert run.result is None


FACT = {**SITE, "a.example/fact": page("Apple began to work on a car in 2014")}
WRONG = [fetch("http://a.example/fact"), answer("Apple began to work on a car in 1999 [ev_0001:1].")]
"""A page, and an answer that it does not carry: the verifier takes it back and proposes to read again."""

READ_AGAIN = act("read", path="ev_0001")


def test_feedback_that_is_not_followed_is_brought_to_mind_four_times() -> None:
    run = play([*WRONG, *[fetch(of_site(number)) for number in range(1, 6)]], pages=FACT)
    assert run.told(2).startswith("VERIFICATION of your answer, round 1 of 3: not verified.")
    assert [(each.step, each.tool, each.matched) for each in run.of(events.PolicyChoice)] == [
        (3, "fetch", False)
    ]
    assert run.spoken("policy_reminder") == [(step, "nudge") for step in (3, 4, 5, 6)]
    (advice,) = run.of(events.VerifierGradient)
    goal = advice.next_actions[0].goal
    assert goal.startswith("Read ")
    assert run.record("policy_reminder", 3) == {
        "step": 6,
        "effect": "nudge",
        "reason": "The verifier's feedback of round 1 is still open.",
        "way_forward": goal,
        "tool": "fetch",
        "count": 4,
        "limit": 4,
    }
    assert run.told(3).splitlines()[-2] == (
        f"POLICY policy_reminder: The verifier's feedback of round 1 is still open. {goal}"
    )
    assert "policy_reminder" not in run.told(7)


def test_feedback_that_is_followed_is_not_brought_to_mind() -> None:
    run = play([*WRONG, READ_AGAIN, fetch(of_site(1))], pages=FACT)
    assert [(each.step, each.tool, each.matched) for each in run.of(events.PolicyChoice)] == [
        (3, "read", True)
    ]
    assert run.spoken("policy_reminder") == []


def test_feedback_that_a_later_call_follows_is_not_brought_to_mind_after_it() -> None:
    run = play([*WRONG, fetch(of_site(1)), READ_AGAIN, fetch(of_site(2))], pages=FACT)
    assert [(each.step, each.matched) for each in run.of(events.PolicyChoice)] == [(3, False), (4, True)]
    assert run.spoken("policy_reminder") == [(3, "nudge")]


def test_feedback_that_is_replaced_is_brought_to_mind_anew() -> None:
    run = play([*WRONG, fetch(of_site(1)), WRONG[1], fetch(of_site(2))], pages=FACT)
    told = [run.record("policy_reminder", number) for number in (0, 1)]
    assert [(each["step"], each["way_forward"][:5], each["count"]) for each in told] == [
        (3, "Read ", 1), (5, "Read ", 1),
    ]  # fmt: skip
    assert run.record("policy_reminder", 1)["reason"] == "The verifier's feedback of round 2 is still open."


def test_a_search_of_the_web_follows_the_advice_to_search() -> None:
    unsaid = [fetch(of_site(1)), answer("It was in autumn [ev_0001:1].")]
    run = play([*unsaid, search("apple car 1999")], pages=FACT)
    (advice,) = run.of(events.VerifierGradient)
    assert advice.next_actions[0].goal.startswith("Search ")
    assert [each.matched for each in run.of(events.PolicyChoice)] == [True]


def test_a_call_before_any_feedback_is_no_choice() -> None:
    run = play(WRONG, pages=FACT)
    assert run.of(events.PolicyChoice) == []
    assert run.spoken("policy_reminder") == []


def test_an_answer_of_a_run_that_stands_still_waits_for_new_evidence() -> None:
    """A refused answer neither brings anything nor resets what is counted."""
    again = fetch(of_site(1), status="UNRESOLVED")
    give_up = answer("Nothing was found.", status="UNRESOLVED")
    run = play(
        [again, again, again, again, give_up, give_up, fetch(of_site(2), status="UNRESOLVED"), give_up],
        pages=SITE,
    )
    assert run.spoken("policy_stagnation") == [(5, "refuse"), (6, "refuse")]
    assert run.record("policy_stagnation") == {
        "step": 5,
        "effect": "refuse",
        "reason": "3 unresolved turns in a row brought no new evidence.",
        "way_forward": "Run a tool that brings new evidence before you answer. 3 honest attempts are enough.",
        "count": 3,
        "limit": 3,
    }
    assert run.told(5) == (
        "NOT RUN (policy_stagnation). 3 unresolved turns in a row brought no new evidence. Run a tool that "
        "brings new evidence before you answer. 3 honest attempts are enough."
    )
    assert [run.history(step).idle for step in (1, 2, 3, 4)] == [0, 1, 2, 3]
    assert [run.history(step).forced for step in (4, 5, 6, 7)] == [0, 3, 3, 0]
    assert run.history(6).idle >= 3
    assert run.history(7).idle == 0
    assert [each.step for each in run.of(events.Answer)] == [8]


def test_three_honest_attempts_are_enough_for_an_answer() -> None:
    again = fetch(of_site(1), status="UNRESOLVED")
    give_up = answer("Nothing was found.", status="UNRESOLVED")
    run = play([again] * 4 + [give_up, again, again, give_up, again, give_up], pages=SITE)
    assert run.spoken("policy_stagnation") == [(5, "refuse"), (8, "refuse")]
    assert run.told(8).endswith("1 honest attempts are enough.")
    assert [each.step for each in run.of(events.Answer)] == [10]


def test_a_page_that_is_not_there_is_nothing_new() -> None:
    """Its server's words about that are kept, and are no new evidence."""
    pages = {f"a.example/{number}": missing(f"There is no page {number} here.") for number in range(5)}
    lost = [fetch(of_site(number), status="UNRESOLVED") for number in (1, 2, 3)]
    run = play([*lost, answer("Nothing was found.", status="UNRESOLVED")], pages=pages)
    assert [(move.outcome, move.fresh, move.found) for move in run.of(events.Move)] == [
        ("failed", False, False)
    ] * 3
    assert run.spoken("policy_stagnation") == [(4, "refuse")]


def test_a_run_that_finds_something_now_and_then_does_not_stand_still() -> None:
    turns = [fetch(of_site(number), status="UNRESOLVED") for number in (1, 1, 1, 2, 2, 2)]
    run = play([*turns, answer("Nothing was found.", status="UNRESOLVED")], pages=SITE)
    assert run.spoken("policy_stagnation") == []
    assert [each.step for each in run.of(events.Answer)] == [7]


def test_the_same_failure_three_times_gives_a_constraint_until_something_works() -> None:
    dead = [fetch(f"http://{host}/x") for host in ("reddit.com", "sec.gov", "b.example", "arxiv.org")]
    run = play([*dead, fetch(of_site(1))], pages=SITE)
    assert run.spoken("policy_failure_escalation") == [(3, "nudge")]
    said = (
        "3 calls in a row failed in the same way (http_404). Get at it in another way: another domain, "
        "another interface or tool."
    )
    record = run.record("policy_failure_escalation")
    assert (record["subject"], record["count"], record["limit"], record["tool"]) == (
        "http_404",
        3,
        3,
        "fetch",
    )
    assert run.told(3).splitlines()[-2:] == [
        f"OPEN CONSTRAINT policy_failure_escalation: {said}",
        "Step 3 of 80.",
    ]
    assert run.told(4).splitlines()[-2:] == ["1| There is no such page.", "Step 4 of 80."]
    assert run.told(5).splitlines()[-2:] == ["CONSTRAINT MET policy_failure_escalation", "Step 5 of 80."]
    assert run.changes() == [(3, "+", "policy_failure_escalation"), (5, "-", "policy_failure_escalation")]
    assert run.statuses()[0] == (1, "BLOCKED")


def test_failures_of_several_kinds_are_no_row() -> None:
    pages = {"b.example/x": missing("It broke.", 500)}
    dead = [fetch(f"http://{host}/x") for host in ("reddit.com", "b.example", "sec.gov")]
    run = play(dead, pages=pages)
    assert run.spoken("policy_failure_escalation") == []
    assert run.changes() == []


def test_evidence_that_there_is_not_gives_one_constraint_until_it_is_mended() -> None:
    """The ids of a turn that do not exist; an empty list is fine before there is any evidence."""
    run = play(
        [
            fetch(of_site(1)),
            fetch(of_site(2), used=["ev_0001", "ev_0099"]),
            fetch(of_site(3), used=["ev_0099"]),
            fetch(of_site(4), used=["ev_0001"]),
        ],
        pages=SITE,
    )
    assert run.changes() == [(2, "+", "evidence_used"), (4, "-", "evidence_used")]
    said = (
        "OPEN CONSTRAINT evidence_used: EVIDENCE_USED names no evidence with ev_0099: use ids that an "
        "observation gave you."
    )
    assert said in run.told(2)
    assert "evidence_used" not in run.told(3)
    assert "CONSTRAINT MET evidence_used" in run.told(4)


@pytest.mark.needs("bubblewrap")
@pytest.mark.needs("chromium")
def test_a_page_without_its_text_is_to_be_rendered() -> None:
    body = b'<!doctype html><html><body><div id="root"></div><script>start()</script></body></html>'
    pages = {"a.example/app": Reply(body, headers=(("Content-Type", "text/html"),))}
    run = play([fetch("http://a.example/app")], pages=pages, renders=True)
    assert run.spoken("policy_render_nudge") == [(1, "nudge")]
    assert run.told(1).splitlines() == [
        "OBSERVATION ev_0001 · fetch http://a.example/app · HTTP 200 · 0 lines · captured",
        "(empty)",
        "POLICY policy_render_nudge: http://a.example/app came without the text that a reader would see: its "
        "element #root is empty until its scripts have run. Before you give it up, have it rendered: "
        '{"tool":"fetch","args":{"url":"http://a.example/app","render":true}} '
        "(in the shell: fetch --render URL).",
        "Step 1 of 80.",
    ]
    assert run.history(1).reached == ()
    without = play([fetch("http://a.example/app")], pages=pages)
    assert "Pages cannot be rendered here." in without.told(1)


@pytest.mark.needs("bubblewrap")
@pytest.mark.needs("chromium")
def test_a_short_page_that_is_whole_needs_no_browser() -> None:
    run = play(
        [fetch("http://a.example/short")], pages={"a.example/short": missing("Sold out.", 200)}, renders=True
    )
    assert run.spoken("policy_render_nudge") == []


def test_where_two_gates_speak_the_earlier_one_decides() -> None:
    """A note is due and the query was asked too often: the notes come first in the registry."""
    run = play(
        [
            search("windows release"),
            search("release of windows"),
            search("the windows release"),
            search("windows car", note="x"),
        ],
        task=ORDINARY,
        notes__update_interval=2,
    )
    assert run.spoken("policy_notes_gate") == [(3, "refuse")]
    assert run.spoken("policy_query_mutation") == []
