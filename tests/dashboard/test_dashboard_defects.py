"""What a review of the pages found on 2026-11-22: each defect, missing part and visual problem with the tests
that hold it right, or the reason why a part of it stays."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

DEFECTS = {
    "A1 a refuted thesis is amber, and under the heading Answer": (
        "end_to_end/test_defects_of_pages.py::"
        "test_a_thesis_that_was_refuted_is_red_under_its_own_heading_everywhere",
        "report/test_report_html_wording.py::test_a_refuted_thesis_is_red_under_its_own_heading",
        "report/test_report_html.py::test_a_headline_says_where_a_run_stands",
        "browser/test_browser_first_screen.py::test_the_answer_and_its_first_cited_line_are_above_the_fold",
    ),
    "A2 the number of a section backs a number with a unit": (
        "audit/test_audit_numbers.py::"
        "test_no_sentence_says_that_the_number_of_a_section_is_the_one_of_the_claim",
        "text/test_text_quantity.py::test_the_number_of_a_heading_is_no_amount",
    ),
    "A3 a model server that failed is told as a process that is gone": (
        "report/test_report_standing.py::"
        "test_a_model_server_that_failed_has_one_word_in_page_list_and_terminal",
        "dashboard/test_dashboard_runs_keys.py::"
        "test_a_model_server_that_failed_is_named_as_what_ended_the_run",
        "browser/test_browser_first_screen.py::"
        "test_a_run_without_an_answer_says_where_it_stands_above_the_fold",
    ),
    "A4 the form of a start stays on a page whose run has ended": (
        "browser/test_browser_live.py::"
        "test_a_run_is_started_and_watched_to_its_end_without_loading_the_page_again",
    ),
    "A5 a run that ended is live, its empty parts say yet, and one that never began is of 1970": (
        "end_to_end/test_defects_of_pages.py::"
        "test_what_a_run_that_ended_does_not_have_is_not_said_to_come_yet",
        "end_to_end/test_defects_of_pages.py::test_an_evaluation_without_a_time_has_no_day",
        "browser/test_browser_forms.py::test_a_run_that_ended_is_at_rest_and_without_a_green_dot",
        "dashboard/test_dashboard_pages.py::"
        "test_a_part_that_holds_nothing_of_a_run_that_ended_is_named_and_not_shown",
        "dashboard/test_dashboard_pages.py::test_a_session_that_has_not_begun_has_no_time_in_the_list",
    ),
    "A6 what the model was asked is on no page": (
        "dashboard/test_dashboard_steps.py::test_each_prompt_is_the_one_that_show_prints",
    ),
    "B1 no page for a step, and no link from timeline and events": (
        "dashboard/test_dashboard_steps.py::test_a_step_begins_when_its_model_is_asked",
        "dashboard/test_dashboard_steps.py::test_a_step_shows_all_of_it",
        "dashboard/test_dashboard_steps.py::test_what_is_new_is_open_and_the_rest_is_folded",
        "browser/test_browser_reading.py::test_steps_are_walked_by_links_and_by_keys",
        "dashboard/test_dashboard_steps.py::test_events_lead_to_their_steps",
        "dashboard/test_dashboard_steps.py::test_findings_lead_to_the_step_whose_answer_they_are_about",
        "dashboard/test_dashboard_steps.py::test_gates_lead_to_the_step_at_which_they_fired_last",
    ),
    "B2 a list that is not live, without search, filter, sorting, pages and a summary of batches": (
        "dashboard/test_dashboard_session_index.py::test_words_of_task_and_answer_find_a_session",
        "dashboard/test_dashboard_session_index.py::test_a_list_is_sorted_and_filtered_by_its_address",
        "dashboard/test_dashboard_session_index.py::test_ten_thousand_are_listed_a_page_at_a_time",
        "dashboard/test_dashboard_session_index.py::test_the_same_link_sorts_the_other_way_round",
        "dashboard/test_dashboard_session_index.py::test_a_batch_is_summed_up_with_a_link_to_its_failures",
        "dashboard/test_dashboard_session_index.py::"
        "test_the_cost_of_a_batch_is_that_of_its_sessions_and_one_without_end_is_not_added_up",
        "dashboard/test_dashboard_session_index.py::test_batches_that_are_not_shown_are_told",
        "browser/test_browser_live_list.py::test_the_list_changes_without_loading_the_page_again",
    ),
    "B3 an extract has no words to read": (
        "end_to_end/test_defects_of_pages.py::"
        "test_the_answer_of_the_first_command_of_the_readme_has_words_on_its_page",
        "browser/test_browser_first_screen.py::test_the_answer_and_its_first_cited_line_are_above_the_fold",
    ),
    "B4 the answer is below the fold": (
        "browser/test_browser_first_screen.py::test_the_answer_and_its_first_cited_line_are_above_the_fold",
    ),
    "B5 nothing can be exported, shared or copied": (
        "dashboard/test_dashboard_shares.py::test_the_page_links_each_file_and_each_is_saved_never_shown",
        "dashboard/test_dashboard_shares.py::test_the_table_has_a_row_a_card",
        "browser/test_browser_previews.py::test_a_citation_and_the_commands_that_check_it_are_copied",
        "report/test_report_html_citing.py::test_a_file_is_cited_with_its_lines_its_day_and_its_hash",
    ),
    "B6 no comparison, no run again, no next question, no verdict of a person, no tags, no removal": (
        "dashboard/test_dashboard_two_runs.py::test_two_sessions_of_the_list_are_compared",
        "end_to_end/test_ask_again.py::test_in_the_dashboard_a_question_a_thesis_and_the_same_question_again",
        "end_to_end/test_ask_again.py::"
        "test_through_the_page_a_question_follows_and_the_same_is_asked_with_other_settings",
        "dashboard/test_dashboard_again.py::"
        "test_a_session_and_those_that_are_it_run_again_are_found_by_the_hash_of_a_first_record",
        "end_to_end/test_reviewed_session.py::"
        "test_a_review_goes_from_the_page_and_the_command_into_every_form_of_the_session",
        "dashboard/test_dashboard_keeping.py::test_tags_are_kept_found_and_taken_away",
        "dashboard/test_dashboard_keeping.py::test_removing_asks_first_and_removes_what_was_named",
    ),
    "B7 the form lacks thesis, files, candidates and network, makes sessions, and loses what was typed": (
        "dashboard/test_dashboard_start.py::test_a_thesis_is_verified_and_looked_up_again",
        "dashboard/test_dashboard_start.py::test_dropped_files_are_kept_in_the_session_and_read_by_its_run",
        "dashboard/test_dashboard_start.py::test_the_form_makes_no_session_until_it_is_sent",
        "dashboard/test_dashboard_start.py::test_what_is_wrong_is_told_beside_each_field_and_nothing_is_lost",
        "browser/test_browser_forms.py::test_what_was_typed_is_there_again_after_back",
        "browser/test_browser_forms.py::test_what_was_typed_to_ask_again_is_there_again_after_back",
        "browser/test_browser_forms.py::test_what_was_typed_on_the_page_of_a_run_is_on_the_page_that_refuses_it",
        "dashboard/test_dashboard_refused_forms.py::test_wrong_limits_of_a_resume_stand_beside_their_fields",
        "dashboard/test_dashboard_refused_forms.py::test_a_tag_that_is_too_long_stands_in_its_field_again",
        "dashboard/test_dashboard_refused_forms.py::"
        "test_a_review_of_a_page_that_is_out_of_date_keeps_its_note",
        "dashboard/test_dashboard_refused_forms.py::"
        "test_what_could_not_be_removed_is_asked_again_with_the_reason",
        "dashboard/test_dashboard_refused_forms.py::"
        "test_a_question_that_cannot_follow_is_kept_with_its_reason",
    ),
    "B8 a citation that does not resolve is grey text without a reason": (
        "end_to_end/test_defects_of_pages.py::"
        "test_the_reason_of_a_citation_that_leads_nowhere_is_read_without_a_pointer",
        "report/test_report_html_answer.py::test_a_citation_without_a_card_says_what_is_wrong_with_it",
    ),
    "B9 a stored text names the claim that it supports, not what it says, and cannot be checked or saved": (
        "browser/test_browser_proof.py::test_the_stored_text_that_a_citation_leads_to_has_these_lines_marked",
        "dashboard/test_dashboard_pages_texts.py::test_cited_lines_are_marked_in_the_stored_text",
        "dashboard/test_dashboard_steps.py::test_a_stored_text_is_saved_whole_and_no_other_file_is",
    ),
    "B10 the claim that was open is closed after Back": (
        "browser/test_browser_forms.py::test_the_claim_that_was_open_is_open_again_after_back",
    ),
    "B11 an exported call of a model has no input, no kind and no cost": (
        "export/test_export_otel.py::"
        "test_with_content_a_turn_has_what_is_new_in_its_prompt_since_the_turn_before",
        "export/test_export_otel.py::test_each_span_has_a_kind_of_openinference_and_its_session",
        "export/test_export_otel.py::test_a_call_has_its_cost_by_the_prices_in_the_log_and_its_payer",
    ),
    "B12 Arabic is laid out from left to right": (
        "browser/test_browser_proof.py::"
        "test_quoted_arabic_begins_at_the_right_and_a_name_keeps_its_direction",
        "browser/test_browser_forms.py::test_arabic_begins_at_the_right_and_chinese_is_drawn",
    ),
    "B13 pages are not compressed": (
        "dashboard/test_dashboard_app.py::"
        "test_pages_are_compressed_for_who_takes_it_and_streams_and_pictures_never",
        "dashboard/test_dashboard_guard.py::test_each_answer_has_another_form_token_and_each_is_taken",
    ),
    "B14 a large log that is read for the first time has no state for that": (
        "dashboard/test_dashboard_app.py::test_a_large_log_that_is_being_read_says_so_and_how_far_it_is",
    ),
    "B15 a run of a terminal or a batch has no stop on its page": (
        "dashboard/test_dashboard_stop.py::test_a_run_of_a_terminal_finishes_with_what_it_knows",
        "dashboard/test_dashboard_stop.py::test_a_run_of_a_batch_is_stopped_and_the_batch_goes_on_without_it",
        "dashboard/test_dashboard_stop.py::test_a_session_from_somebody_else_stops_nothing",
    ),
    "B16 seven windows use up the connections of a browser": (
        "browser/test_browser_live.py::test_eight_pages_that_are_all_seen_are_live_over_one_stream",
        "browser/test_browser_live.py::test_seven_tabs_are_live_each_when_it_is_looked_at",
    ),
    "1 amber over a red cross": ("report/test_report_html.py::test_a_headline_says_where_a_run_stands",),
    "3 an answer without words": (
        "browser/test_browser_first_screen.py::test_the_answer_and_its_first_cited_line_are_above_the_fold",
    ),
    "4 a wall of cut JSON for what the model was asked": (
        "dashboard/test_dashboard_steps.py::test_json_is_laid_out_and_other_text_is_not",
        "dashboard/test_dashboard_steps.py::test_what_is_new_is_open_and_the_rest_is_folded",
    ),
    "5 ledgers are raw lines": (
        "dashboard/test_dashboard_ledgers.py::test_a_record_is_a_row_that_leads_to_its_text_and_its_step",
    ),
    "6 a list of hashes, seven runs a screen": (
        "browser/test_browser_reading.py::test_a_session_of_the_list_is_one_line_and_on_a_phone_a_few",
    ),
    "7 lines that overlap are three cards": (
        "report/test_report_cited_lines.py::test_the_same_reading_is_said_once_and_another_one_beside_it",
        "report/test_report_html_shown.py::"
        "test_readings_of_lines_that_overlap_are_one_excerpt_with_all_of_them",
    ),
    "8 words of the graph run into each other, and its boxes are no links": (
        "browser/test_browser_proof.py::test_no_words_of_the_graph_lie_on_each_other_or_leave_their_box",
        "report/test_report_pictures.py::test_no_two_boxes_of_a_column_lie_on_each_other",
        "report/test_report_html_wording.py::"
        "test_the_boxes_of_the_graph_of_claims_lead_to_claims_and_cited_lines",
    ),
    "9 a number has several forms": (
        "report/test_report_html_wording.py::test_a_number_and_an_age_have_one_form",
    ),
    "10 failed, stopped and not begun are all amber": (
        "report/test_report_standing.py::test_no_two_have_a_word_a_sign_or_a_colour_in_common",
        "report/test_report_html_wording.py::"
        "test_failed_stopped_and_never_begun_have_each_a_word_and_no_colour_of_a_verdict",
    ),
    "11 one fact has six words": (
        "report/test_report_html_wording.py::test_the_result_of_a_round_is_a_word_and_its_reason_has_no_code",
        "test_headline.py::test_the_word_of_a_verdict",
    ),
    "12 findings are orders to the model": (
        "report/test_report_html_orders.py::test_a_reader_is_told_what_is_wrong_and_not_what_to_write",
    ),
    "13 a changed claim is one that went and one that came": (
        "report/test_report_html_answer.py::"
        "test_the_end_of_a_sentence_is_not_marked_as_new_when_a_sentence_follows",
        "report/test_report_html_answer.py::"
        "test_the_same_claim_stands_beside_itself_and_a_changed_one_beside_what_it_was",
        "report/test_report_html_answer.py::test_a_citation_changes_as_a_whole",
        "dashboard/test_dashboard_two_runs.py::"
        "test_what_changed_between_two_answers_names_sources_and_not_the_ids_of_the_log",
    ),
    "14 candidates three and one, without the judge's words": (
        "browser/test_browser_proof.py::test_four_candidates_are_two_by_two_with_the_words_of_the_judge",
        "report/test_report_selection_words.py::test_a_step_says_how_it_was_decided_and_marks_the_chosen_one",
        "dashboard/test_dashboard_steps.py::test_a_step_shows_all_of_it",
    ),
    "15 a new session is thirteen empty parts, and the form does not say what was found": (
        "dashboard/test_dashboard_start.py::test_the_form_makes_no_session_until_it_is_sent",
        "dashboard/test_dashboard_found_models.py::"
        "test_models_that_were_found_are_offered_and_servers_without_any_are_not",
    ),
    "also: lines are marked that the answer does not cite": (
        "browser/test_browser_proof.py::test_the_cited_lines_are_marked_and_those_around_them_are_not",
        "browser/test_browser_proof.py::test_a_preview_shows_every_line_that_its_citation_names",
        "report/test_report_cited_lines.py::test_they_are_named_copied_and_cut_out_and_no_others",
    ),
    "also: times are UTC alone": (
        "browser/test_browser_previews.py::test_times_are_of_the_readers_zone_with_utc_in_the_title",
    ),
    "also: targets lower than 24 pixels on a phone": (
        "browser/test_browser_first_screen.py::test_each_kind_of_run_is_accessible_on_a_phone",
    ),
    "also: all rows of the dashboard of Grafana are open, without cost and links": (
        "metrics/test_metrics_assets.py::test_all_rows_but_the_first_two_are_folded",
        "metrics/test_metrics_assets.py::test_an_active_runs_name_leads_to_its_page",
    ),
}
"""What was wrong (the visual problems by their numbers; there is no second) → the tests, as FILE::NAME."""

LEFT = {
    "B6 a run does not fork from a step": (
        "What a run read after a step would be lost or be read twice, and the log would no longer be one "
        "chain. The same question again, with other settings, and a question that follows are new sessions."
    ),
    "B6 a session is not renamed": (
        "Its folder is its name, and bundles, ledgers and the sessions that follow it name that folder. Tags "
        "are what a person calls it."
    ),
    "B7 a program can make an empty session (POST /new)": (
        "Scripts that were written before name a session first and start its run then. No page has its form."
    ),
    "B7 a form of another login is refused in a sentence, without what was typed": (
        "What was typed would come back in a page with a token that is good, also where another site sent it."
    ),
    "B7 the form does not choose the verifier's model or official domains": (
        "They decide what counts as proved, so they are set where a person configures VERA, and not in a "
        "form that an address can fill in."
    ),
    "also: the page has no switch for dark and light": (
        "It follows the setting of the system, as other pages do; a switch would have to be kept somewhere."
    ),
}
"""What stays → why."""


@pytest.mark.parametrize("defect", DEFECTS)
def test_each_has_tests(defect: str) -> None:
    assert DEFECTS[defect]
    for each in DEFECTS[defect]:
        file, _, name = each.partition("::")
        assert re.search(rf"^def {name}\(", (TESTS / file).read_text(), re.MULTILINE), each


def test_none_is_left_out() -> None:
    labels = {defect.partition(" ")[0] for defect in DEFECTS}
    known = {f"A{n}" for n in range(1, 7)} | {f"B{n}" for n in range(1, 17)} | {str(n) for n in range(1, 16)}
    assert labels - {"also:"} == known - {"2"}


def test_what_stays_has_a_reason() -> None:
    assert all(len(reason) > 40 for reason in LEFT.values()) and not DEFECTS.keys() & LEFT.keys()
