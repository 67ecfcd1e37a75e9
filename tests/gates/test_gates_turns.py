"""The gates of a turn: notes, answers, format, length, feedback, stagnation, and what ends a run."""

import json

import pytest

from support.gating import BROUGHT, NOTHING_NEW, Outcome, Trial, rules_for
from vera import events
from vera.gates.kernel import Rules
from vera.text.question import negative_question

DRAFT = Outcome(fresh=False, found=False, wrote=("/work/output/report.md",))


# policy_notes_gate


def test_after_three_steps_without_a_note_other_tools_wait_for_one() -> None:
    trial = Trial(rules_for(notes_interval=3))
    for _ in range(3):
        assert not trial.shell("ls")
    assert "policy_notes_gate" in trial.shell("ls")
    assert trial.refused("note", {"text": "x"}) is None and trial.refused("submit", {"path": "x"}) is None
    assert trial.answer_refused() is None
    assert not trial.shell("ls", note="learnt"), "a NOTE line on the turn is a note"
    for _ in range(3):
        assert not trial.shell("ls")
    assert "policy_notes_gate" in trial.shell("ls")
    trial.note()
    assert not trial.shell("ls")


def test_a_lane_that_notes_in_time_never_meets_the_notes_gate() -> None:
    trial = Trial(rules_for(notes_interval=3))
    for step in range(12):
        assert not trial.shell("ls", note="learnt" if step % 3 == 2 else "")


# policy_pre_tool_nudge


def test_an_answer_before_any_tool_call_is_sent_back_once() -> None:
    trial = Trial(rules_for())
    assert "policy_pre_tool_nudge" in trial.answer()
    assert not trial.answer(), "an answer that needs no source is taken"


def test_an_answer_after_a_tool_call_is_not_sent_back() -> None:
    trial = Trial(rules_for())
    trial.shell("ls")
    assert not trial.answer()


@pytest.mark.parametrize("changes", [{"max_steps": 1}, {"pre_tool_nudges": 0}, {"tools": ("note",)}], ids=str)
def test_no_answer_is_sent_back_that_would_be_lost_or_cannot_look(changes: dict[str, object]) -> None:
    assert not Trial(rules_for(**changes)).answer()


def test_a_refused_call_is_no_tool_call() -> None:
    trial = Trial(rules_for(brave=True))
    assert trial.fetch("https://apple.com")
    assert trial.lane.history.calls == 0 and "policy_pre_tool_nudge" in trial.answer()


# policy_length_nudge, policy_parse_error


def test_turns_cut_off_twice_in_a_row_are_told_to_be_shorter_and_get_more_room_once() -> None:
    trial = Trial(rules_for(parse_error_limit=50))
    trial.broken(cut=True)
    assert not trial.spoken(events.PolicyLengthNudge)
    trial.broken(cut=True)
    trial.broken(cut=True)
    (first,) = trial.spoken(events.PolicyLengthNudge)
    assert "twice the room" in first.way_forward
    trial.shell("ls")
    trial.broken(cut=True)
    trial.broken(cut=True)
    again = trial.spoken(events.PolicyLengthNudge)[1]
    assert "much shorter" in again.way_forward and "twice the room" not in again.way_forward


def test_turns_that_break_the_format_at_full_length_are_no_length_problem() -> None:
    trial = Trial(rules_for())
    for _ in range(4):
        trial.broken()
    assert not trial.spoken(events.PolicyLengthNudge)


def test_five_broken_turns_in_a_row_end_a_run_and_a_whole_one_between_does_not() -> None:
    trial = Trial(rules_for())
    for _ in range(4):
        trial.broken()
    trial.shell("ls")
    trial.broken()
    assert trial.goes_on()
    for _ in range(4):
        trial.broken()
    assert not trial.goes_on()
    assert trial.spoken(events.PolicyParseError, "end")


# policy_reminder


def test_open_feedback_is_recalled_four_times_until_it_is_replaced() -> None:
    trial = Trial(rules_for(stagnation_limit=50))
    trial.shell("ls")
    trial.answer()
    advice = (events.NextAction(goal="read the filing", suggested_tools=("fetch",)),)
    trial.taken_back(advice=advice)
    for _ in range(6):
        trial.shell("ls")
    reminders = trial.spoken(events.PolicyReminder)
    assert len(reminders) == 4 and reminders[0].way_forward == "read the filing"
    trial.taken_back(advice=advice)
    trial.shell("ls")
    assert len(trial.spoken(events.PolicyReminder)) == 5


def test_feedback_that_is_followed_is_not_recalled() -> None:
    trial = Trial(rules_for(stagnation_limit=50))
    trial.taken_back()
    trial.emit(events.PolicyChoice(step=trial.lane.step, tool="fetch", matched=True))
    trial.fetch("https://sec.gov")
    assert not trial.spoken(events.PolicyReminder)


# policy_stagnation


def stagnant(rules: Rules) -> Trial:
    """An unresolved run of which some turns brought nothing new."""
    trial = Trial(rules)
    trial.call("read", {"path": "x"}, NOTHING_NEW, status="UNRESOLVED: nothing found")
    for _ in range(rules.stagnation_limit - 1):
        trial.call("read", {"path": "x"}, NOTHING_NEW)
    return trial


def test_an_unresolved_run_without_anything_new_must_run_a_tool_before_it_answers() -> None:
    trial = stagnant(rules_for())
    assert "policy_stagnation" in trial.answer()
    assert not trial.fetch("https://sec.gov/new")
    assert not trial.answer(), "new evidence is enough"


def test_an_answer_that_is_insisted_on_is_taken() -> None:
    """A model that gives its answer again and again is not kept from it until its steps are used."""
    trial = stagnant(rules_for(stagnation_limit=3))
    assert [bool(trial.answer()) for _ in range(4)] == [True, True, True, False]


def test_three_honest_attempts_are_enough_too() -> None:
    for limit in (1, 3):
        trial = stagnant(rules_for(stagnation_limit=limit))
        assert trial.answer()
        for _ in range(3):
            assert trial.answer_refused() is not None
            assert not trial.call("read", {"path": "x"}, NOTHING_NEW)
        assert not trial.answer()


def test_notes_and_refused_calls_are_no_attempts() -> None:
    trial = stagnant(rules_for(query_mutation_budget=1))
    trial.answer()
    trial.search("Apple car", NOTHING_NEW)
    owed = trial.lane.history.forced
    assert "policy_query_mutation" in trial.search("Apple car")
    trial.note()
    assert trial.lane.history.forced == owed == 2


def test_a_run_in_progress_or_one_that_finds_things_does_not_stagnate() -> None:
    trial = Trial(rules_for())
    for _ in range(9):
        trial.shell("ls", NOTHING_NEW)
    assert not trial.answer()
    trial = stagnant(rules_for(stagnation_limit=3))
    trial.shell("cat new", BROUGHT)
    assert trial.lane.status == "IN_PROGRESS" and not trial.answer()


def test_an_answer_for_which_no_attempts_are_left_is_taken() -> None:
    trial = stagnant(rules_for(max_steps=7, stagnation_limit=3))
    assert trial.lane.step == 3 and not trial.answer()


def test_a_file_handed_in_is_an_answer_and_waits_like_one() -> None:
    trial = stagnant(rules_for())
    assert "policy_stagnation" in trial.call("submit", {"path": "output/a.md"})
    assert trial.lane.answer is None


# policy_render_nudge


def test_a_page_without_its_text_is_to_be_rendered_before_it_is_given_up() -> None:
    trial, url = Trial(rules_for()), 'https://example.org/a"b'
    trial.fetch(url, Outcome(low_signal="it has 3 words"))
    (nudge,) = trial.spoken(events.PolicyRenderNudge)
    call = nudge.way_forward.partition(": ")[2].partition(" (in")[0]
    assert json.loads(call)["args"]["render"] is True
    assert trial.lane.history.reached == (), "it is no source that was reached with content"


def test_a_page_with_its_text_needs_no_such_nudge() -> None:
    trial = Trial(rules_for())
    trial.fetch("https://example.org/a")
    assert not trial.spoken(events.PolicyRenderNudge)


def test_where_nothing_can_be_rendered_an_archived_copy_is_named_once() -> None:
    trial, archived = Trial(rules_for(can_render=False)), "https://web.archive.org/web/https://example.org/a"
    trial.fetch("https://example.org/a", Outcome(low_signal="it has 3 words"))
    (nudge,) = trial.spoken(events.PolicyRenderNudge)
    call = nudge.way_forward.partition("copy: ")[2].removesuffix(".")
    assert json.loads(call) == {"tool": "fetch", "args": {"url": archived}} and "render" not in call
    trial.fetch(archived, Outcome(low_signal="it has 3 words"))
    assert len(trial.spoken(events.PolicyRenderNudge)) == 1, "an archive's copy has no copy"


# policy_conclusion_ready

READY = ("https://www.apple.com/a", "https://sec.gov/a", "https://reuters.com/a")


def with_sources(**changes: object) -> Trial:
    trial = Trial(rules_for(max_steps=10, **changes), negative=True)
    for url in READY:
        trial.fetch(url)
    return trial


def test_a_negative_claim_with_its_sources_and_its_budget_used_is_concluded() -> None:
    trial = with_sources()
    assert not {"official_sources", "independent_sources"} & trial.open_constraints().keys()
    while trial.lane.step < 6:
        assert trial.goes_on()
        trial.shell("ls")
    assert trial.spoken(events.PolicyConclusionReady, "nudge")[0].step == 5, "it is told before"
    assert not trial.goes_on()
    (ended,) = trial.spoken(events.PolicyConclusionReady, "end")
    assert ended.reason.startswith("stopped without a verified answer; 3 sources read. Official: apple.com (")
    assert "sec.gov (" in ended.reason and "Independent: reuters.com (" in ended.reason


@pytest.mark.parametrize("negative", [True, False])
def test_nothing_is_concluded_without_the_sources_or_of_another_question(negative: bool) -> None:
    trial = Trial(rules_for(max_steps=10), negative=negative)
    for url in READY[1:] if negative else READY:
        trial.fetch(url)
    while trial.lane.step < 9:
        trial.shell("ls")
    assert trial.goes_on() and not trial.spoken(events.PolicyConclusionReady)


def test_sources_that_come_late_leave_a_turn_to_say_what_was_found() -> None:
    trial = Trial(rules_for(max_steps=10), negative=True)
    while trial.lane.step < 6:
        trial.shell("ls")
    for url in READY:
        trial.fetch(url)
    assert trial.goes_on() and trial.answer_refused() is None
    trial.shell("ls")
    assert not trial.goes_on()


def test_an_answer_that_was_taken_back_may_be_mended_once_after_the_warning() -> None:
    trial = with_sources()
    while trial.lane.step < 5:
        trial.shell("ls")
    assert trial.goes_on() and not trial.answer()
    trial.taken_back()
    assert trial.lane.step == 6 and trial.goes_on(), "the feedback can be followed"
    trial.shell("ls")
    assert not trial.goes_on()


def test_a_question_over_a_folder_demands_no_sources_of_the_web() -> None:
    trial = Trial(rules_for(web_task=False, max_steps=10), negative=True)
    while trial.lane.step < 9:
        trial.shell("ls")
    assert not trial.open_constraints() and trial.goes_on()


@pytest.mark.parametrize(
    "task",
    [
        "Write a summary of the Python docs; do not use Wikipedia.",
        "Why is the sky blue, and not green?",
        "Summarise what actually happened in the report.",
    ],
)
def test_words_of_denial_in_a_task_make_no_negative_claim(task: str) -> None:
    assert negative_question(task).negative is False


@pytest.mark.parametrize("task", ["Has Apple launched a car yet?", "Is there any drug approved for this?"])
def test_a_question_that_may_be_answered_by_none_is_one(task: str) -> None:
    assert negative_question(task).negative is True


# policy_finalization_stop


def test_the_same_final_like_file_written_three_times_is_handed_in() -> None:
    trial = Trial(rules_for())
    trial.shell("write", DRAFT)
    trial.shell("write", DRAFT)
    assert "handed in" in trial.open_constraints()["policy_finalization_stop"] and trial.goes_on()
    trial.shell("write", DRAFT)
    assert not trial.goes_on()
    (ended,) = trial.spoken(events.PolicyFinalizationStop, "end")
    assert ended.subject == "/work/output/report.md"


def test_a_file_that_is_written_after_new_results_is_work() -> None:
    trial = Trial(rules_for())
    for number in range(6):
        trial.shell("write", DRAFT)
        trial.fetch(f"https://reuters.com/{number}")
    assert trial.goes_on() and not trial.spoken(events.PolicyFinalizationStop, "end")


def test_several_files_written_in_turn_are_not_one_again_and_again() -> None:
    trial = Trial(rules_for())
    for number in range(6):
        trial.shell("write", Outcome(fresh=False, found=False, wrote=(f"/work/output/report{number}.md",)))
    assert trial.goes_on()


# limits


def test_a_limit_of_zero_is_none() -> None:
    rules = rules_for(
        notes_interval=0,
        pre_tool_nudges=0,
        length_nudges=0,
        reminders=0,
        query_mutation_budget=0,
        query_vector_min=0,
        domain_shift_limit=0,
        source_shift_limit=0,
        move_repeat_limit=0,
        stagnation_limit=0,
        stuck_limit=0,
        failure_escalation_limit=0,
        source_budget=0,
        finalization_limit=0,
        parse_error_limit=0,
        negative_min_official=2000,
    )
    trial = Trial(rules, negative=True)
    for _ in range(6):
        assert not trial.search("Apple car", NOTHING_NEW)
        assert not trial.fetch("https://apple.com", NOTHING_NEW)
        assert not trial.fetch("https://apple.com", Outcome(failure="http_404", fresh=False))
        assert not trial.shell("write", DRAFT)
        trial.broken(cut=True)
        assert trial.goes_on()
    assert not trial.answer(status="UNRESOLVED")
    assert {type(each) for each in trial.spoken(events.Policy)} == {events.PolicyParseError}
