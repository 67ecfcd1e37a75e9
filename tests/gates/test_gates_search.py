"""The gates of the search: each fires when it should, has a twin in which it does not, and is over again."""

import pytest

from support.gating import BROUGHT, FAILED, LEADS, NOTHING_NEW, Outcome, Trial, rules_for
from vera import events
from vera.gates.kernel import Refuse

NOT_FOUND = Outcome(failure="http_404", fresh=False, found=False)


def gate_of(refused: object) -> str:
    assert isinstance(refused, tuple)
    return str(refused[0].name)


def refusal_of(refused: object) -> Refuse:
    assert isinstance(refused, tuple) and isinstance(refused[1], Refuse)
    return refused[1]


# policy_query_mutation


def test_the_same_query_a_third_time_without_a_line_to_cite_is_refused() -> None:
    trial = Trial(rules_for())
    assert not trial.search("Apple car launch") and not trial.search("launch of the Apple car")
    refused = trial.refused("web_search", {"query": "the Apple car's launch"})
    assert gate_of(refused) == "policy_query_mutation"
    assert refusal_of(refused).facts.count == 2
    proposed = refusal_of(refused).proposal
    assert trial.refused(proposed.tool, proposed.args) is None, "what it proposes is let through"


def test_a_search_of_the_files_that_failed_is_not_proposed_in_parts() -> None:
    """It finds any of its words, so a part of it finds no more."""
    trial = Trial(rules_for(tools=("search", "read"), subject="purple elephants"))
    for _ in range(2):
        trial.search("purple elephants dance", tool="search")
    refused = refusal_of(trial.refused("search", {"query": "purple elephants dance"}))
    assert refused.proposal.tool == "read"
    other = Trial(rules_for(tools=("search", "read"), subject="purple elephants in Kenya"))
    for _ in range(2):
        other.search("elephants dance waltz", tool="search")
    refused = refusal_of(other.refused("search", {"query": "elephants dance waltz"}))
    assert refused.proposal.args == {"query": "purple elephants in Kenya"}


def test_another_family_and_lines_to_cite_end_a_query_mutation() -> None:
    trial = Trial(rules_for())
    trial.search("Apple car launch")
    trial.search("Apple car launch")
    assert trial.refused("web_search", {"query": "Tesla battery recycling"}) is None
    trial.fetch("https://reuters.com/a")
    assert trial.refused("web_search", {"query": "Apple car launch"}) is None


def test_a_budget_of_two_counts_each_family_for_itself() -> None:
    """The prototype refused a retry of the first query and let identical repeats of the second pass."""
    trial = Trial(rules_for())
    for query in (
        "Apple car launch",
        "Tesla battery recycling",
        "Apple car launch",
        "Tesla battery recycling",
    ):
        assert not trial.search(query)
    assert trial.refused("web_search", {"query": "Apple car launch"}) is not None
    assert trial.refused("web_search", {"query": "Tesla battery recycling"}) is not None


def test_to_read_the_page_that_was_searched_for_is_no_repeated_query() -> None:
    trial = Trial(rules_for())
    trial.search("Apple car")
    trial.search("Apple car")
    assert trial.refused("fetch", {"url": "https://en.wikipedia.org/wiki/Apple_car"}) is None


def test_a_page_with_a_query_that_fails_again_and_again_is_refused() -> None:
    trial, url = Trial(rules_for()), "https://www.reuters.com/search?q=apple+car"
    trial.fetch(url, NOT_FOUND)
    trial.fetch(url, NOT_FOUND)
    assert gate_of(trial.refused("fetch", {"url": url})) == "policy_query_mutation"
    assert trial.refused("fetch", {"url": "https://apnews.com/search?q=apple+car"}) is None


def test_a_command_that_names_a_query_is_judged_by_no_gate_of_the_search() -> None:
    trial, cmd = Trial(rules_for()), "python plot.py 'https://example.org/search?q=apple+car'"
    for _ in range(5):
        assert not trial.shell(cmd)


def test_queries_in_any_script_have_a_family() -> None:
    trial = Trial(rules_for())
    trial.search("苹果 汽车 发布")
    trial.search("苹果 汽车 发布")
    assert trial.refused("web_search", {"query": "苹果 汽车 发布"}) is not None


# policy_query_vector


def test_before_a_negative_claim_a_second_search_has_another_intent() -> None:
    trial = Trial(rules_for(), negative=True)
    assert not trial.search("Apple car launch")
    refused = trial.refused("web_search", {"query": "Tesla battery recycling"})
    assert gate_of(refused) == "policy_query_vector"
    proposed = refusal_of(refused).proposal
    assert not trial.call(proposed.tool, proposed.args, LEADS)
    assert trial.refused("web_search", {"query": "Tesla battery recycling"}) is None
    assert "search_intents" not in trial.open_constraints()


def test_any_other_question_is_searched_as_one_likes() -> None:
    trial = Trial(rules_for())
    assert not trial.search("Apple car launch") and not trial.search("Tesla battery recycling")


def test_a_search_of_the_files_has_no_intent() -> None:
    trial = Trial(rules_for(), negative=True)
    assert not trial.search("Apple car", tool="search") and not trial.search("battery", tool="search")
    assert trial.lane.history.vectors == ()


def test_listing_a_folder_is_no_search_intent() -> None:
    """The prototype counted every command as the intent `general`."""
    trial = Trial(rules_for(), negative=True)
    trial.shell("ls")
    assert trial.lane.history.vectors == () and "search_intents" in trial.open_constraints()


# policy_domain_shift


def test_a_negative_claim_that_lacks_sources_leaves_a_domain_after_two_visits() -> None:
    trial = Trial(rules_for(), negative=True)
    trial.fetch("https://www.apple.com/a")
    trial.fetch("https://newsroom.apple.com/b")
    refused = trial.refused("fetch", {"url": "https://support.apple.com/c"})
    assert (
        gate_of(refused) == "policy_domain_shift" and "1 more official domain" in refusal_of(refused).reason
    )
    assert trial.refused("fetch", {"url": "https://sec.gov/c"}) is None
    trial.fetch("https://sec.gov/c")
    assert trial.refused("fetch", {"url": "https://support.apple.com/c"}) is None


def test_a_domain_may_be_read_on_when_the_sources_are_met_or_nothing_is_denied() -> None:
    for trial in (
        Trial(rules_for(), negative=False),
        Trial(rules_for(negative_min_official=1, negative_min_independent=0), negative=True),
        Trial(rules_for(web_task=False), negative=True),
    ):
        trial.fetch("https://www.apple.com/a")
        trial.fetch("https://www.apple.com/b")
        assert trial.refused("fetch", {"url": "https://www.apple.com/c"}) is None


def test_a_command_is_turned_away_at_the_tunnel_and_package_indexes_are_not() -> None:
    trial = Trial(rules_for(), negative=True)
    trial.fetch("https://www.apple.com/a")
    trial.fetch("https://www.apple.com/b")
    assert trial.refused("shell", {"cmd": "curl https://apple.com/c"}) is None, "its text is not judged"
    trial.shell("python crawl.py", Outcome(visits=("apple.com", "files.pythonhosted.org")))
    assert any("apple.com was visited 2 times" in said for said in trial.lane.history.turned_away)
    trial = Trial(rules_for(), negative=True)
    trial.fetch("https://pypi.org/a")
    trial.fetch("https://pypi.org/b")
    assert trial.gate_runner.connection("pypi.org") == ""


def test_a_command_that_names_many_domains_is_at_none_of_them() -> None:
    trial = Trial(rules_for(), negative=True)
    for _ in range(3):
        trial.shell("curl https://apple.com/a https://sec.gov/b")
    assert trial.refused("fetch", {"url": "https://apple.com/c"}) is None


# policy_source_shift, policy_failure_escalation


def test_sources_of_one_class_that_fail_open_a_constraint_until_another_class_answers() -> None:
    trial = Trial(rules_for())
    for host in ("reuters.com", "apnews.com", "en.wikipedia.org"):
        trial.fetch(f"https://{host}/a", NOT_FOUND)
    assert "a public body" in trial.open_constraints()["policy_source_shift"]
    assert (
        "press and encyclopedias" not in trial.open_constraints()["policy_source_shift"].split("class:")[-1]
    )
    assert len(trial.spoken(events.PolicySourceShift)) == 1
    trial.fetch("https://sec.gov/a")
    assert "policy_source_shift" not in trial.open_constraints()


def test_sources_of_several_classes_that_fail_open_none_nor_does_a_command_that_names_them() -> None:
    trial = Trial(rules_for())
    for host in ("reuters.com", "sec.gov", "apple.com"):
        trial.fetch(f"https://{host}/a", NOT_FOUND)
    for _ in range(3):
        trial.shell("grep nothing file # https://reuters.com/a", Outcome(failure="exit_code", fresh=False))
    assert not trial.spoken(events.PolicySourceShift)


def test_the_same_failure_three_times_demands_another_way_until_it_is_over() -> None:
    for over in (BROUGHT, Outcome(failure="timeout", fresh=False)):
        trial = Trial(rules_for())
        for host in ("reuters.com", "sec.gov"):
            trial.fetch(f"https://{host}/a", NOT_FOUND)
        assert not trial.spoken(events.PolicyFailureEscalation)
        trial.note()
        trial.fetch("https://apple.com/a", NOT_FOUND)
        assert "render" in trial.open_constraints()["policy_failure_escalation"], "a note is no success"
        trial.fetch("https://apple.com/b", over)
        assert "policy_failure_escalation" not in trial.open_constraints()


# policy_move_change


def unresolved(trial: Trial) -> Trial:
    trial.call("read", {"path": "x"}, NOTHING_NEW, status="UNRESOLVED: nothing found")
    return trial


def test_an_unresolved_run_that_repeats_a_move_is_told_to_make_another() -> None:
    trial = unresolved(Trial(rules_for(query_mutation_budget=10, stagnation_limit=50)))
    for _ in range(4):
        trial.search("Apple car", NOTHING_NEW)
    assert "policy_move_change" in trial.open_constraints()
    trial.search("Tesla battery recycling", NOTHING_NEW)
    assert "policy_move_change" not in trial.open_constraints()


def test_a_run_in_progress_may_repeat_a_move_and_a_note_between_ends_none() -> None:
    rules = rules_for(query_mutation_budget=10, stagnation_limit=50)
    trial = Trial(rules)
    for _ in range(5):
        trial.search("Apple car", NOTHING_NEW)
    assert not trial.spoken(events.PolicyMoveChange)
    trial = unresolved(Trial(rules))
    for _ in range(4):
        trial.search("Apple car", NOTHING_NEW)
        trial.note()
    assert trial.spoken(events.PolicyMoveChange)


# policy_source_budget


def hosts(count: int) -> list[str]:
    return [f"https://source{number}.example/" for number in range(count)]


def test_twelve_domains_read_and_nothing_verified_end_a_run_that_was_told_before() -> None:
    trial = Trial(rules_for())
    for url in hosts(11):
        assert not trial.spoken(events.PolicySourceBudget)
        trial.fetch(url)
        assert trial.goes_on()
    assert "Answer now" in trial.spoken(events.PolicySourceBudget, "nudge")[0].way_forward
    assert trial.answer_refused() is None
    trial.fetch("https://one-more.example/")
    assert not trial.goes_on()
    (ended,) = trial.spoken(events.PolicySourceBudget, "end")
    assert "source0.example (2023-11-14" in ended.reason and trial.lane.history.ending == ended


def test_naming_twelve_urls_is_no_source_budget() -> None:
    trial = Trial(rules_for(stuck_limit=0))
    trial.shell("echo " + " ".join(hosts(12)))
    for url in hosts(12):
        trial.fetch(url, NOT_FOUND)
    assert trial.goes_on() and not trial.spoken(events.PolicySourceBudget)


def test_a_command_that_reads_twelve_domains_at_once_leaves_a_turn_to_answer() -> None:
    trial = Trial(rules_for())
    trial.shell("python crawl.py", Outcome(visits=tuple(f"source{number}.example" for number in range(12))))
    assert trial.spoken(events.PolicySourceBudget, "nudge") and trial.goes_on()
    trial.shell("ls")
    assert not trial.goes_on()


def test_pages_of_a_search_engine_are_no_sources() -> None:
    trial = Trial(rules_for(source_budget=1), negative=True)
    trial.fetch("https://www.google.com/search?q=apple+car")
    assert trial.lane.history.reached == () and trial.goes_on()
    assert "independent_sources" in trial.open_constraints()


def test_a_resumed_run_may_read_as_many_domains_again() -> None:
    trial = Trial(rules_for(source_budget=3))
    for url in hosts(3):
        trial.fetch(url)
    assert not trial.goes_on()
    history = trial.lane.history.reopened(trial.lane.step)
    assert history.ending is None and len(history.reached) - history.read_before == 0


# policy_search_budget, policy_brave_*


def test_the_searches_of_a_run_are_spent_also_by_its_other_lanes() -> None:
    trial = Trial(rules_for(search_budget=2))
    trial.search("Apple car")
    assert trial.refused("web_search", {"query": "battery"}) is None
    trial.memory.emit(
        events.Search(engine="arxiv", kind="papers", query="", outcome="ok", results=1, attempts=1), lane="x"
    )
    assert gate_of(trial.refused("web_search", {"query": "battery"})) == "policy_search_budget"
    assert trial.refused("search", {"query": "battery"}) is None, "the files may be searched"
    assert trial.refused("fetch", {"url": "https://apple.com"}) is None


BRAVE = {"brave": True}


def test_with_a_key_for_brave_a_web_task_begins_with_a_search() -> None:
    trial = Trial(rules_for(**BRAVE))
    refused = trial.refused("fetch", {"url": "https://apple.com"})
    assert gate_of(refused) == "policy_brave_discovery"
    assert trial.gate_runner.connection("apple.com") and not trial.gate_runner.connection("pypi.org")
    for tool in ("read", "note", "shell", "web_search", "brave_news"):
        assert trial.refused(tool, {"query": "Apple car", "path": "x", "cmd": "ls", "text": "x"}) is None
    proposed = refusal_of(refused).proposal
    assert not trial.call(proposed.tool, proposed.args, LEADS)
    assert trial.refused("fetch", {"url": "https://apple.com"}) is None


@pytest.mark.parametrize("failed", [FAILED, Outcome(failure="rate_limited", fresh=False, rest_s=60)])
def test_an_attempt_that_failed_is_an_attempt(failed: Outcome) -> None:
    trial = Trial(rules_for(**BRAVE))
    trial.search("Apple car", failed, tool="brave_search")
    assert trial.refused("fetch", {"url": "https://apple.com"}) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"brave": False},
        {"brave_discovery_required": False},
        {"web_task": False},
        {"tools": ("read", "fetch")},
    ],
    ids=str,
)
def test_no_search_is_demanded_without_a_key_or_a_web_task(changes: dict[str, object]) -> None:
    trial = Trial(rules_for(**{**BRAVE, **changes}))
    assert trial.refused("fetch", {"url": "https://apple.com"}) is None


@pytest.mark.parametrize("limit", [{"brave_max_calls": 1}, {"search_budget": 1}], ids=str)
def test_no_search_is_demanded_of_brave_when_other_lanes_have_spent_it(limit: dict[str, int]) -> None:
    trial = Trial(rules_for(**BRAVE, **limit))
    trial.memory.emit(
        events.Search(engine="brave", kind="web", query="", outcome="ok", results=1, attempts=1), lane="x"
    )
    assert trial.refused("fetch", {"url": "https://apple.com"}) is None


def test_after_its_calls_brave_is_refused_and_the_other_engines_are_named() -> None:
    trial = Trial(rules_for(**BRAVE, brave_max_calls=1))
    assert not trial.search("Apple car", tool="brave_search")
    refused = trial.refused("brave_news", {"q": "battery"})
    assert gate_of(refused) == "policy_brave_budget"
    assert refusal_of(refused).proposal.tool == "web_search"
    assert trial.refused("web_search", {"query": "battery"}) is None


@pytest.mark.parametrize("spent", [{"brave_max_calls": 1}, {}], ids=["budget", "circuit"])
def test_where_brave_is_the_only_engine_no_other_is_proposed(spent: dict[str, int]) -> None:
    trial = Trial(rules_for(**{**BRAVE, "only_brave": True}, **spent))
    resting = Outcome(failure="rate_limited", fresh=False, rest_s=60)
    trial.search("Apple car", BROUGHT if spent else resting, tool="brave_search")
    refused = refusal_of(trial.refused("brave_search", {"q": "battery recycling"}))
    assert "web_search" not in refused.way_forward
    assert refused.proposal.tool == "read"


def test_zero_calls_to_brave_are_no_limit() -> None:
    trial = Trial(rules_for(**BRAVE, brave_max_calls=0))
    for query in ("Apple car", "battery recycling", "solar power"):
        assert not trial.search(query, tool="brave_search")


def test_an_open_breaker_refuses_brave_until_the_cool_down_is_over() -> None:
    trial = Trial(rules_for(**BRAVE))
    trial.search("Apple car", Outcome(failure="rate_limited", fresh=False, rest_s=60), tool="brave_search")
    refused = trial.refused("brave_search", {"q": "battery recycling"})
    assert gate_of(refused) == "policy_brave_circuit" and "59 s" in refusal_of(refused).reason
    trial.memory.ts += 59
    assert trial.refused("brave_search", {"q": "battery recycling"}) is None


# official or not


def test_carbuzz_is_not_official_for_a_question_about_cars() -> None:
    trial = Trial(rules_for("Has Apple released a car yet?"), negative=True)
    trial.fetch("https://carbuzz.com/apple")
    trial.fetch("https://hashnode.com/apple")
    assert trial.lane.history.domains(official=True) == ()
    trial.fetch("https://www.apple.com/newsroom")
    assert trial.lane.history.domains(official=True) == ("apple.com",)
