"""The gates of the search in whole runs: queries, intents, domains, classes of sources, moves and budgets.

The table of the gates is in `test_gate_runs.py`."""

from support.fake_engines import page as html_page
from support.fake_engines import wikipedia
from support.fake_web import Asked, Reply
from support.gate_runs import (
    NEGATIVE,
    ORDINARY,
    STARTED,
    answer,
    check_refused,
    fetch,
    missing,
    page,
    play,
    search,
)
from vera import events
from vera.protocol import Turn

HOSTS = ("apple.com", "sec.gov", "carbuzz.com", "b.example", "c.example")
SITE = {f"{host}/{number}": page(f"{host} says {number}") for host in HOSTS for number in range(1, 10)}


def visits(host: str, *numbers: int) -> list[Turn]:
    return [fetch(f"http://{host}/{number}") for number in numbers]


FORBIDDING = "Has Apple launched a car in 2014? Do not use Wikipedia."
"""It asks for yes or no and says "not"; "none" is no answer to it."""


def test_a_query_that_brought_nothing_is_not_asked_a_third_time() -> None:
    """Word order, inflection and filler make no other query; the proposal of the refusal is let through."""
    same = ["windows release", "release of Windows", "the windows releases"]
    run = play([*map(search, same), search("Apple begin work car"), search("windows release")])
    assert run.spoken("policy_query_mutation") == [(3, "refuse"), (5, "refuse")]
    assert run.record("policy_query_mutation") == {
        "step": 3,
        "effect": "refuse",
        "reason": "This query, or one hardly different, was asked 2 times and brought no line to cite.",
        "way_forward": "Ask with materially different words, for example “Apple begin work car”, or read a "
        "result that you have.",
        "tool": "web_search",
        "subject": "releas window",
        "count": 2,
        "limit": 2,
    }
    assert run.told(3) == (
        "NOT RUN (policy_query_mutation). This query, or one hardly different, was asked 2 times and "
        "brought no line to cite. Ask with materially different words, for example “Apple begin work car”, "
        "or read a result that you have."
    )
    check_refused(run, 3, "policy_query_mutation")
    assert [each.query for each in run.of(events.Search)] == [*same[:2], "Apple begin work car"]
    assert [(each.query_family, each.outcome) for each in run.of(events.Move)][:3] == [
        ("releas window", "ok"), ("releas window", "ok"), ("releas window", "blocked"),
    ]  # fmt: skip


def test_a_query_may_be_asked_again_once_something_was_found() -> None:
    asked = search("windows release")
    run = play([asked, asked, *visits("b.example", 1), asked, asked], pages=SITE)
    assert run.spoken("policy_query_mutation") == []
    assert len(run.of(events.Search)) == 4


def test_a_page_that_is_not_there_gives_a_query_no_further_try() -> None:
    asked = search("windows release")
    run = play([asked, asked, fetch("http://b.example/gone"), asked], pages=SITE)
    assert run.spoken("policy_query_mutation") == [(4, "refuse")]


def test_leads_alone_do_not_make_a_query_one_that_brought_something() -> None:
    def hits(asked: Asked) -> Reply:
        return wikipedia([f"Windows {asked.parameters.get('srsearch', '')}"])

    run = play(
        [search("windows release"), search("release of windows"), search("windows release")], wiki=hits
    )
    assert run.spoken("policy_query_mutation") == [(3, "refuse")]


def test_a_search_for_none_needs_another_intent() -> None:
    plain, official = search("apple vehicle motor"), search("apple car official announcement")
    run = play([search("apple car"), plain, official, plain], task=NEGATIVE)
    assert run.spoken("policy_query_vector") == [(2, "refuse")]
    assert run.record("policy_query_vector") == {
        "step": 2,
        "effect": "refuse",
        "reason": "“None” may be the answer, and so far the search had one intent only (search).",
        "way_forward": "Search with another intent: the official source, the context, or in general; for "
        "example “apple vehicle motor official announcement”.",
        "tool": "web_search",
        "subject": "search",
        "count": 1,
        "limit": 2,
    }
    assert run.told(2) == (
        "NOT RUN (policy_query_vector). “None” may be the answer, and so far the search had one intent only "
        "(search). Search with another intent: the official source, the context, or in general; for example "
        "“apple vehicle motor official announcement”."
    )
    check_refused(run, 2, "policy_query_vector")
    assert [each.query for each in run.of(events.Search)] == [
        "apple car", "apple car official announcement", "apple vehicle motor",
    ]  # fmt: skip
    assert (3, "-", "search_intents") in run.changes()


def test_a_task_that_says_do_not_is_no_negative_claim() -> None:
    """Neither intents nor sources are demanded of it, and what it forbids is not its subject."""
    for task in (ORDINARY, FORBIDDING):
        run = play(
            [
                search("apple car"),
                search("apple vehicle motor"),
                *visits("apple.com", 1, 2, 3),
                fetch("http://en.wikipedia.org/1"),
            ],
            task=task,
            pages=SITE,
        )
        (form,) = run.of(events.QuestionForm)
        assert not form.negative, form
        assert run.changes() == []
        assert [each for each in run.records if isinstance(each, events.Policy)] == []
        assert [move.targets[0].official for move in run.of(events.Move) if move.targets] == [
            True,
            True,
            True,
            False,
        ]


def test_a_domain_is_not_visited_a_third_time_while_sources_are_missing() -> None:
    run = play(
        [*visits("apple.com", 1, 2, 3), *visits("b.example", 1), *visits("apple.com", 3)],
        task=NEGATIVE,
        pages=SITE,
    )
    assert run.spoken("policy_domain_shift") == [(3, "refuse")]
    assert run.record("policy_domain_shift") == {
        "step": 3,
        "effect": "refuse",
        "reason": "apple.com was visited 2 times in a row, and before “none” can be said 1 more official "
        "domain and 1 more independent domain must be reached.",
        "way_forward": "Go to another domain: search for one, or fetch another result.",
        "tool": "fetch",
        "subject": "apple.com",
        "count": 2,
        "limit": 2,
    }
    assert run.told(3) == (
        "NOT RUN (policy_domain_shift). apple.com was visited 2 times in a row, and before “none” can be "
        "said 1 more official domain and 1 more independent domain must be reached. Go to another domain: "
        "search for one, or fetch another result."
    )
    check_refused(run, 3, "policy_domain_shift")
    assert run.sites.asked == ["apple.com/1", "apple.com/2", "b.example/1", "apple.com/3"]


def test_a_domain_may_be_visited_on_once_the_sources_are_reached() -> None:
    run = play(
        [*visits("sec.gov", 1), *visits("b.example", 1), *visits("apple.com", 1, 2, 3, 4)],
        task=NEGATIVE,
        pages=SITE,
    )
    assert run.spoken("policy_domain_shift") == []
    assert len(run.sites.asked) == 6


def test_a_class_of_sources_that_fails_three_times_gives_a_constraint() -> None:
    failing = {
        "reddit.com/1": missing("a"),
        "medium.com/1": missing("b", 500),
        "bbc.com/1": missing("c", 403),
    }
    failing["quora.com/1"] = missing("d", 404)
    turns = [fetch(f"http://{place}") for place in failing]
    run = play([*turns, *visits("sec.gov", 1)], pages={**SITE, **failing})
    assert run.spoken("policy_source_shift") == [(3, "nudge")]
    said = (
        "3 sources in a row failed, all of one class: press and encyclopedias. Use a source of another "
        "class: the subject's own site, a public body, a registry, papers."
    )
    record = run.record("policy_source_shift")
    assert (record["subject"], record["count"], record["limit"]) == ("commentary", 3, 3)
    assert run.told(3).splitlines()[-2] == f"OPEN CONSTRAINT policy_source_shift: {said}"
    assert "policy_source_shift" not in run.told(4)
    assert run.told(5).splitlines()[-2] == "CONSTRAINT MET policy_source_shift"
    assert run.changes() == [(3, "+", "policy_source_shift"), (5, "-", "policy_source_shift")]


def test_failures_of_several_classes_ask_for_no_other_class() -> None:
    failing = {"reddit.com/1": missing("a"), "sec.gov/x": missing("b", 500), "bbc.com/1": missing("c", 403)}
    run = play([fetch(f"http://{place}") for place in failing], pages=failing)
    assert run.spoken("policy_source_shift") == []
    assert run.changes() == []


def test_a_move_that_is_repeated_while_unresolved_gives_one_constraint() -> None:
    again = fetch("http://b.example/1", status="UNRESOLVED")
    run = play([again] * 5 + [fetch("http://c.example/1", status="UNRESOLVED")], pages=SITE)
    assert run.spoken("policy_move_change") == [(4, "nudge")]
    said = (
        "The same move was made 3 times and left the question unresolved. Reformulate the query, or go to "
        "another source."
    )
    record = run.record("policy_move_change")
    assert (record["subject"], record["count"], record["limit"]) == ("same_domain:b.example:", 3, 3)
    assert run.told(4).splitlines()[-2] == f"OPEN CONSTRAINT policy_move_change: {said}"
    assert "policy_move_change" not in run.told(5)
    assert run.told(6).splitlines()[-2] == "CONSTRAINT MET policy_move_change"
    assert run.changes() == [(4, "+", "policy_move_change"), (6, "-", "policy_move_change")]


def test_a_move_that_is_repeated_in_a_run_that_gets_on_is_let_be() -> None:
    run = play([fetch("http://b.example/1")] * 5, pages=SITE)
    assert run.spoken("policy_move_change") == []


TWELVE = [f"s{number}.example" for number in range(1, 14)]
MANY = {f"{host}/": page(f"{host} has nothing") for host in TWELVE}


def test_the_twelfth_domain_that_answers_ends_the_run() -> None:
    """It is told one before; a page that is not there and a domain seen before do not count."""
    first = [fetch(f"http://{host}/") for host in TWELVE[:11]]
    more = [fetch("http://gone.example/"), first[0], fetch(f"http://{TWELVE[11]}/")]
    run = play([*first, *more], pages=MANY)
    assert run.spoken("policy_source_budget") == [(11, "nudge"), (14, "end")]
    assert run.told(11).splitlines()[-2] == (
        "POLICY policy_source_budget: 11 of the 12 domains that this run may read are read. Answer now with "
        "what you have and what is missing: the run ends after that."
    )
    listed = ", ".join(f"{host} (2027-01-15 08:00 UTC)" for host in TWELVE[:12])
    assert run.record("policy_source_budget", 1) == {
        "step": 14,
        "effect": "end",
        "reason": f"12 domains were read and nothing is verified. Official: none. Others: {listed}.",
        "count": 12,
        "limit": 12,
    }
    assert run.asked() == 14
    assert run.lane.ended is not None and run.lane.ended.reason == "source_budget"
    assert run.result is not None and run.result.exit_code == 3
    assert run.result.status == "UNRESOLVED"


def test_the_searches_of_a_run_are_spent() -> None:
    turns = [search("one thing"), search("another matter"), search("some third"), *visits("b.example", 1)]
    run = play(turns, pages=SITE, budget__searches=2)
    assert run.spoken("policy_search_budget") == [(3, "refuse")]
    assert run.record("policy_search_budget") == {
        "step": 3,
        "effect": "refuse",
        "reason": "The 2 searches of this run are spent.",
        "way_forward": "Fetch or read a result that you have, or answer with what you know and what is "
        "missing.",
        "tool": "web_search",
        "count": 2,
        "limit": 2,
    }
    assert run.told(3) == (
        "NOT RUN (policy_search_budget). The 2 searches of this run are spent. Fetch or read a result that "
        "you have, or answer with what you know and what is missing."
    )
    check_refused(run, 3, "policy_search_budget")
    assert run.told(4).startswith("OBSERVATION ev_0003 · fetch http://b.example/1 · HTTP 200")


def test_without_a_budget_searches_have_no_end() -> None:
    run = play([search(f"{word} {word}s") for word in ("wheel", "motor", "price", "plant", "patent")])
    assert len(run.of(events.Search)) == 5
    assert run.spoken("policy_search_budget") == []


def test_a_negative_claim_with_its_sources_is_concluded() -> None:
    """Of eight steps four are its budget; it is told one before and has a turn to answer."""
    turns = [*visits("apple.com", 1), *visits("sec.gov", 1), *visits("b.example", 1), *visits("c.example", 1)]
    run = play(turns, task=NEGATIVE, pages=SITE, run__max_steps=8)
    assert run.spoken("policy_conclusion_ready") == [(3, "nudge"), (4, "end")]
    told = run.record("policy_conclusion_ready")
    assert told["reason"] == "3 steps are used and the sources that “none” needs are reached."
    assert told["way_forward"].startswith("Answer ")
    assert run.told(3).splitlines()[2:] == [
        f"POLICY policy_conclusion_ready: {told['reason']} {told['way_forward']}",
        "CONSTRAINT MET independent_sources",
        "CONSTRAINT MET search_intents",
        "Step 3 of 8.",
    ]
    said = (
        "stopped without a verified answer; 4 sources read. Official: apple.com (2027-01-15 08:00 UTC), "
        "sec.gov (2027-01-15 08:00 UTC). Independent: b.example (2027-01-15 08:00 UTC), c.example "
        "(2027-01-15 08:00 UTC)."
    )
    assert run.record("policy_conclusion_ready", 1) == {
        "step": 4, "effect": "end", "reason": said, "count": 4, "limit": 4,
    }  # fmt: skip
    assert STARTED == 1_800_000_000  # 2027-01-15 08:00 UTC
    assert run.asked() == 4
    assert run.lane.ended is not None and run.lane.ended.reason == "conclusion_ready"
    assert run.result is not None and run.result.exit_code == 3
    assert "no official announcement found in sources checked" in run.result.reason


def test_a_concluded_run_does_not_say_that_nothing_was_found_where_a_line_speaks_of_it() -> None:
    """A page says the opposite of "none": the run says only that it stopped, and the closest lines answer."""
    told = html_page("Apple launched a car, the Apple Car, on 3 March 2026. " * 3)
    turns = [*visits("apple.com", 1), *visits("sec.gov", 1), *visits("b.example", 1), *visits("c.example", 1)]
    run = play(turns, task=NEGATIVE, pages={**SITE, "apple.com/1": told}, run__max_steps=8)
    assert run.lane.ended is not None and run.lane.ended.reason == "conclusion_ready"
    assert run.result is not None
    assert "no official announcement" not in run.result.reason
    assert "stopped without a verified answer; 4 sources read" in run.result.reason


def test_an_answer_after_the_warning_is_taken_and_has_a_turn_to_be_mended() -> None:
    """The verifier takes it back: the run ends behind the turn after that, not before it."""
    turns = [*visits("apple.com", 1), *visits("sec.gov", 1), *visits("b.example", 1)]
    run = play(
        [*turns, answer("Not yet [ev_0001:1]."), *visits("c.example", 1)],
        task=NEGATIVE,
        pages=SITE,
        run__max_steps=8,
    )
    assert [each.step for each in run.of(events.Answer)] == [4]
    assert run.told(4).startswith("VERIFICATION of your answer, round 1 of 3: not verified.")
    assert run.spoken("policy_conclusion_ready") == [(3, "nudge"), (5, "end")]


def test_carbuzz_is_not_official_for_a_question_about_cars() -> None:
    """The word in its name makes it nobody's own site, so one official source is missing to the end."""
    hosts = ("apple.com", "carbuzz.com", "b.example", "c.example", "carbuzz.com")
    turns = [fetch(f"http://{host}/{number}") for number, host in enumerate(hosts, 1)]
    run = play(turns, task=NEGATIVE, pages=SITE, run__max_steps=8)
    assert run.spoken("policy_conclusion_ready") == []
    assert [(move.targets[0].domain, move.targets[0].official) for move in run.of(events.Move)][:2] == [
        ("apple.com", True), ("carbuzz.com", False),
    ]  # fmt: skip
    assert [each.key for each in run.lane.history.constraints] == ["official_sources"]
