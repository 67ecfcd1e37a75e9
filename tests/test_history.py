"""What gates know of a lane: counts and streaks, bounded, and nothing that did not happen."""

import msgspec

from support.gating import BROUGHT, NOTHING_NEW, Trial, rules_for
from vera import events
from vera.history import DOMAINS_KEPT, KEPT, History, Streak, fold
from vera.state import LaneState, fold_lane

NOTHING = History()


def folded(*records: events.Event, past: History = NOTHING, unresolved: bool = False) -> History:
    for record in records:
        past = fold(past, record, unresolved=unresolved, in_call=False)
    return past


def move(**changes: object) -> events.Move:
    return msgspec.structs.replace(events.Move(id="mv", step=1, tool="fetch"), **changes)


def target(domain: str, source_class: str = "unknown") -> events.Target:
    return events.Target(url=f"https://{domain}/", domain=domain, source_class=source_class)


def test_a_streak_counts_the_same_thing_in_a_row() -> None:
    assert Streak().then("a").then("a") == Streak("a", 2)
    assert Streak("a", 2).then("b") == Streak("b", 1)
    assert Streak("a", 2).then("") == Streak()


def test_ten_thousand_steps_keep_a_bounded_history() -> None:
    lane, sizes = LaneState(name="main"), []
    for step in range(1, 10_001):
        page = target(f"source{step}.example")
        for record in (
            events.ToolStarted(step=step, call="c", tool="fetch", args=""),
            events.PolicyDomainShift(step=step, effect="refuse", reason=f"turned away {step}"),
            events.ConstraintAdded(step=step, key=f"key {step}", text="open"),
            move(
                step=step,
                targets=(page,),
                reached=(page,),
                query_family=f"family {step}",
                query_vector=f"v{step}",
            ),
            events.Tool(step=step, call="c", tool="fetch", outcome="ok", obs=""),
        ):
            lane = fold_lane(lane, record)
        if step in (5_000, 10_000):
            sizes.append(len(msgspec.json.encode(lane.history)))
    assert sizes[1] < 1.05 * sizes[0]
    history = lane.history
    assert len(history.reached) == DOMAINS_KEPT
    assert {len(kept) for kept in (history.moves, history.families, history.tries, history.constraints)} == {
        KEPT
    }
    assert history.families[-1] == "family 10000" and history.calls == 10_000


def test_a_refused_call_is_no_evidence_no_call_and_does_not_end_a_stagnation() -> None:
    trial = Trial(rules_for(brave=True))
    trial.call("read", {"path": "x"}, NOTHING_NEW, status="UNRESOLVED: nothing found")
    before = trial.lane.history
    assert trial.fetch("https://apple.com/a", BROUGHT)
    after = trial.lane.history
    assert not trial.memory.state.evidence and after.calls == before.calls == 1
    assert (before.idle, after.idle) == (1, 2), "a refused turn brought nothing new either"
    for name in (
        "moves",
        "families",
        "tries",
        "vectors",
        "reached",
        "on_domain",
        "failures",
        "same_move",
        "forced",
    ):
        assert getattr(after, name) == getattr(before, name), name
    (blocked,) = [
        each for each in trial.memory.records if isinstance(each, events.Move) and each.tool == "fetch"
    ]
    assert blocked.outcome == "blocked" and blocked.failure_type == "policy_brave_discovery"


def test_queries_are_counted_until_a_line_can_be_cited() -> None:
    asked = move(tool="web_search", query_family="apple car")
    past = folded(asked, asked, move(tool="web_search", query_family="battery"))
    assert (past.tried("apple car"), past.tried("battery"), past.tried("x")) == (2, 1, 0)
    assert folded(move(fresh=True), past=past).tried("apple car") == 2
    assert folded(move(targets=(target("a.org"),), found=True, fresh=True), past=past).tries == ()


def test_a_page_with_a_query_is_counted_by_its_domain() -> None:
    past = folded(move(query_family="apple car", targets=(target("wiki.org"),)))
    assert past.tried("apple car") == 0 and past.tried("apple car", "wiki.org") == 1


def test_an_answer_is_owed_calls_only_once() -> None:
    refused = events.PolicyStagnation(step=1, effect="refuse", reason="", reply="no")
    past = folded(refused, refused, unresolved=True)
    assert past.forced == 3
    past = folded(move(tool="read"), refused, move(tool="note"), past=past, unresolved=True)
    assert past.forced == 2, "a second refusal does not begin again, and a note is no attempt"
    assert folded(move(tool="read", fresh=True), past=past, unresolved=True).forced == 0


def test_what_is_owed_is_forgotten_when_the_question_is_open_no_more() -> None:
    past = History(forced=2, idle=5)
    tool = events.Tool(step=1, call="c", tool="read", outcome="ok", obs="")
    assert (folded(tool, past=past).forced, folded(tool, past=past).idle) == (0, 0)


def test_domains_are_reached_with_content_once_each_and_search_engines_never() -> None:
    pages = (target("a.org"), target("google.com", "search"))
    past = folded(move(ts=5.0, reached=pages), move(ts=9.0, reached=pages))
    assert [(each.target.domain, each.first_ts, each.last_ts) for each in past.reached] == [
        ("a.org", 5.0, 9.0)
    ]


def test_connections_that_were_turned_away_are_those_of_the_call_of_now() -> None:
    refused = events.PolicyDomainShift(step=1, effect="refuse", reason="Hammered.", way_forward="Go on.")
    past = fold(History(), refused, unresolved=False, in_call=True)
    assert past.turned_away == ("Hammered. Go on.",)
    assert folded(events.ToolStarted(step=2, call="c", tool="shell", args=""), past=past).turned_away == ()


def test_constraints_are_replaced_by_key_and_resolved_one_by_one() -> None:
    add, resolve = events.ConstraintAdded, events.ConstraintResolved
    past = folded(
        add(step=1, key="a", text="1"), add(step=1, key="b", text="1"), add(step=2, key="a", text="2")
    )
    assert [(each.key, each.text) for each in past.constraints] == [("b", "1"), ("a", "2")]
    past = folded(resolve(step=3, key="b", reason="met"), resolve(step=3, key="x", reason="met"), past=past)
    assert [each.key for each in past.constraints] == ["a"]


def test_a_run_that_is_resumed_begins_its_limits_anew_and_keeps_what_it_knows() -> None:
    ended = events.PolicySourceBudget(step=9, effect="end", reason="enough")
    add = events.ConstraintAdded
    past = folded(
        move(reached=(target("a.org"),), wrote=("/work/report.md",)),
        add(step=1, key="official_sources", text="x"),
        add(step=1, key="policy_move_change", text="x"),
        ended,
    )
    again = past.reopened(9)
    assert past.ending == ended and again.ending is None
    assert (again.reopened_step, again.read_before, again.drafts) == (9, 1, Streak())
    assert again.reached == past.reached and again.last_spoke(events.PolicySourceBudget) == 0
    assert [each.key for each in again.constraints] == ["official_sources"]
