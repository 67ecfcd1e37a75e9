"""What a review of the pages found on 2026-11-22, each with the test that holds it right, or why it stays."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

DEFECTS = {
    "a refuted thesis is amber, and under the heading Answer": (
        "report/test_report_html.py",
        "test_a_headline_says_where_a_run_stands",
    ),
    "the number of a section backs a number with a unit": (
        "evidence/test_evidence_quantity.py",
        "test_the_number_of_a_heading_is_no_amount",
    ),
    "a model server that failed is told as a process that is gone": (
        "dashboard/test_dashboard_runs_keys.py",
        "test_a_model_server_that_failed_is_named_as_what_ended_the_run",
    ),
    "the form of a start stays on a page whose run has ended": (
        "browser/test_browser_live.py",
        "test_a_run_is_started_and_watched_to_its_end_without_loading_the_page_again",
    ),
    "a run that ended is live, with a green dot": (
        "browser/test_browser_forms.py",
        "test_a_run_that_ended_is_at_rest_and_without_a_green_dot",
    ),
    "what the model was asked is on no page": (
        "dashboard/test_dashboard_steps.py",
        "test_a_step_shows_all_of_it",
    ),
    "no page for a step, and no link from timeline and events": (
        "browser/test_browser_reading.py",
        "test_steps_are_walked_by_links_and_by_keys",
    ),
    "a list without search, filter, sorting and pages": (
        "dashboard/test_dashboard_session_index.py",
        "test_a_list_is_sorted_and_filtered_by_its_address",
    ),
    "more than 100 sessions are not listed": (
        "dashboard/test_dashboard_session_index.py",
        "test_ten_thousand_are_listed_a_page_at_a_time",
    ),
    "a batch is rows of hashes without a summary": (
        "dashboard/test_dashboard_session_index.py",
        "test_a_batch_is_summed_up_with_a_link_to_its_failures",
    ),
    "an extract has no words to read, and an answer is below the fold": (
        "browser/test_browser_first_screen.py",
        "test_the_answer_and_its_first_cited_line_are_above_the_fold",
    ),
    "nothing can be exported or shared from the page": (
        "dashboard/test_dashboard_shares.py",
        "test_the_page_links_each_file_and_each_is_saved_never_shown",
    ),
    "two runs cannot be compared": (
        "dashboard/test_dashboard_two_runs.py",
        "test_two_sessions_of_the_list_are_compared",
    ),
    "the form has no thesis, files, candidates, network": (
        "dashboard/test_dashboard_start.py",
        "test_dropped_files_are_kept_in_the_session_and_read_by_its_run",
    ),
    "a session is made before anything was asked": (
        "dashboard/test_dashboard_start.py",
        "test_the_form_makes_no_session_until_it_is_sent",
    ),
    "an error of the form is a page without a way back": (
        "dashboard/test_dashboard_start.py",
        "test_what_is_wrong_is_told_beside_each_field_and_nothing_is_lost",
    ),
    "Back loses what was typed": (
        "browser/test_browser_forms.py",
        "test_what_was_typed_is_there_again_after_back",
    ),
    "a citation that no card has is text": (
        "report/test_report_html_answer.py",
        "test_a_citation_of_what_no_card_has_leads_nowhere",
    ),
    "a stored text names the claim that it supports, not what it says": (
        "dashboard/test_dashboard_pages_texts.py",
        "test_cited_lines_are_marked_in_the_stored_text",
    ),
    "the claim that was open is closed after Back": (
        "browser/test_browser_forms.py",
        "test_the_claim_that_was_open_is_open_again_after_back",
    ),
    "an exported call of a model has no input": (
        "report/test_report_otel.py",
        "test_a_request_that_was_kept_is_sent_with_content_its_newest_messages_cut",
    ),
    "Arabic is laid out from left to right": (
        "browser/test_browser_forms.py",
        "test_arabic_begins_at_the_right_and_chinese_is_drawn",
    ),
    "seven tabs use up the connections of a browser": (
        "browser/test_browser_live.py",
        "test_seven_tabs_are_live_each_when_it_is_looked_at",
    ),
}
"""What was wrong → the file and the test."""

LEFT = {
    "pages are not compressed": (
        "A page holds a token of the login beside text of others, and compressing both together tells of the "
        "token by its length (the attack BREACH). On this machine it would save nothing."
    ),
    "a large log that is read for the first time has no state for that": (
        "100,000 records take 3 s of a processor, once. The list does say how many sessions are missing."
    ),
    "a run that was started in a terminal has no stop on its page": (
        "Its shell waits for it, and a dashboard ends only what a dashboard started."
    ),
}
"""What was wrong → why it stays."""


@pytest.mark.parametrize("defect", DEFECTS)
def test_each_has_a_test(defect: str) -> None:
    file, name = DEFECTS[defect]
    assert re.search(rf"^def {name}\(", (TESTS / file).read_text(), re.MULTILINE), (file, name)


def test_what_stays_has_a_reason() -> None:
    assert all(len(reason) > 40 for reason in LEFT.values()) and not DEFECTS.keys() & LEFT.keys()
