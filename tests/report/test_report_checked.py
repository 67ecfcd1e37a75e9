"""What a run that is not verified says of itself: what is open, what was checked, which evidence it has."""

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera import events
from vera.history import Constraint, Reached
from vera.report import answer, search_summary_text
from vera.report.markdown_text import literal
from vera.report.search_summary import MAX_EVIDENCE, Checked, Kept, as_json, checked
from vera.session import Session

START = 1_700_000_000.0
WHO = events.Target(
    url="https://www.who.int/news",
    domain="who.int",
    source_class="regulatory",
    official=True,
    reason="who.int lies under a suffix kept for governments and treaty bodies.",
)
BLOG = events.Target(url="https://blog.example/a", domain="blog.example", reason="It is in no table.")


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    """A session of a lane, with a clock that goes on by a minute a record."""
    minutes = (START + 60.0 * number for number in count())
    opened = Session.create(tmp_path, {}, lambda: next(minutes))
    opened.emit(events.Task(task="Has it been announced yet?"), lane="")
    yield opened
    opened.close()


def bring(session: Session, source: str, **members: Any) -> None:
    text = events.Blob(session.store.put(b"text\n"), 5)
    given = {"tool": "read", "tier": "captured", "summary": f"read {source}", **members}
    session.emit(
        events.Evidence(
            id=session.state.next_evidence_id(), call="call_0001", step=1, source=source, text=text, lines=1,
            first=1, last=1, **given,
        )
    )  # fmt: skip


def page(session: Session, target: events.Target) -> None:
    receipt = events.Blob(session.store.put(b"{}"), 2)
    bring(session, target.url, tool="fetch", summary=f"fetch {target.url}", receipt=receipt)
    session.emit(
        events.Move(
            id=session.state.next_move_id(), step=1, tool="fetch", targets=(target,), reached=(target,),
            move_type="initial", fresh=True, found=True,
        )
    )  # fmt: skip


def asked(session: Session, engine: str, attempts: int) -> None:
    session.emit(events.Search(engine=engine, kind="web", query="x", outcome="ok", attempts=attempts))


def ended(session: Session, reason: str, detail: str = "", status: str = "UNRESOLVED") -> answer.Report:
    session.emit(events.LaneEnded(reason=reason, detail=detail))
    session.emit(events.Status(step=1, status=status, reason=detail))
    return answer.build(session.state, session.store, "No answer was reached.")


def negative_run(session: Session) -> answer.Report:
    """A negative claim that had its sources and used its budget, as the gate ends it."""
    asked(session, "brave", 3)
    asked(session, "wikipedia", 1)
    page(session, WHO)
    page(session, BLOG)
    page(session, WHO)
    said = "no official announcement found in sources checked"
    session.emit(events.PolicyConclusionReady(step=1, effect="end", reason=said))
    return ended(session, "conclusion_ready", said)


def test_a_negative_claim_that_found_nothing_lists_its_sources_by_domain_and_time(session: Session) -> None:
    text = answer.markdown("Has it been announced yet?", negative_run(session))
    assert (
        "No official announcement was found in the sources checked: 1 official domain, 1 other, each listed "
        "with its time. It may stand elsewhere, or come later." in text
    )
    assert (
        "- who.int (official, regulatory), 2023-11-14 22:18 to 22:22 UTC. who.int lies under a suffix" in text
    )
    assert "- blog.example (unknown), 2023-11-14 22:20 UTC. It is in no table." in text
    assert "Requests to search engines: brave 3, wikipedia 1." in text
    assert "- ev_0001 · fetch https://www.who.int/news · 2023-11-14 22:17 UTC" in text
    assert text.endswith("UNRESOLVED: no official announcement found in sources checked · no citations.\n")


def test_a_run_that_was_stopped_while_lines_speak_of_the_question_claims_no_absence(session: Session) -> None:
    page(session, WHO)
    said = "stopped without a verified answer; 1 source read"
    session.emit(events.PolicyConclusionReady(step=1, effect="end", reason=said))
    text = answer.markdown("Has it been announced yet?", ended(session, "conclusion_ready", said))
    assert "The run stopped without a verified answer: 1 official domain, 0 others were read" in text
    assert "No official announcement" not in text


def test_a_run_whose_commands_reached_a_site_does_not_say_that_nothing_was_searched(session: Session) -> None:
    session.emit(events.Move(id="mv_0001", step=1, tool="shell", visited=("noren.example",)), lane="main")
    text = answer.markdown("When?", ended(session, "steps"))
    assert "Nothing was searched" not in text
    assert "Commands were connected to noren.example, and no page of theirs was captured" in text


def test_the_terminal_gets_figures_and_the_first_few(session: Session) -> None:
    for number in range(8):
        session.emit(events.ConstraintAdded(step=2, key=f"k{number}", text=f"number {number} is open"))
    shown = answer.plain(negative_run(session))
    assert shown.endswith(
        "Open: 8 constraints.\n"
        "- number 0 is open\n- number 1 is open\n- number 2 is open\n- number 3 is open\n- number 4 is open\n"
        "- and 3 more\n"
        "Checked: 1 official domain, 1 other.\n"
        "- who.int (official, regulatory), 2023-11-14 22:26 to 22:30 UTC\n"
        "- blog.example (unknown), 2023-11-14 22:28 UTC\n"
        "Requests to search engines: brave 3, wikipedia 1.\n"
        "Evidence: 3 pieces, the newest first.\n"
        "- ev_0003 · fetch https://www.who.int/news · 2023-11-14 22:29 UTC\n"
        "- ev_0002 · fetch https://blog.example/a · 2023-11-14 22:27 UTC\n"
        "- ev_0001 · fetch https://www.who.int/news · 2023-11-14 22:25 UTC\n"
    )


def test_what_stands_open_is_said_with_the_step_since_when(session: Session) -> None:
    session.emit(events.ConstraintAdded(step=4, key="evidence_used", text="ev_0009 is not known"))
    session.emit(events.ConstraintAdded(step=5, key="gone", text="this was met"))
    session.emit(events.ConstraintResolved(step=6, key="gone", reason="met"))
    text = answer.markdown("?", ended(session, "steps", "all 8 steps are used"))
    assert "## What is open\n\n- ev_0009 is not known (since step 4)\n" in text
    assert "this was met" not in text


def test_the_input_files_are_those_that_the_host_read(session: Session) -> None:
    bring(session, "terms.txt")
    bring(session, "terms.txt")
    bring(session, "search of the input folder", lead=True)
    bring(session, "/work/made.txt", tier="observed")
    page(session, WHO)
    found = checked(session.state)
    assert found is not None
    assert (found.files, found.folder_searches) == (("terms.txt",), 1)
    assert "Searches of the input folder: 1." in search_summary_text.plain(found)
    assert [each.id for each in found.evidence] == ["ev_0001", "ev_0002", "ev_0004", "ev_0005"]


def test_a_run_that_did_nothing_says_so(session: Session) -> None:
    report = ended(session, "steps")
    assert "## What was checked\n\nNothing was searched, and nothing was read.\n" in answer.markdown(
        "?", report
    )
    assert answer.plain(report) == "No answer was reached.\n"


def test_a_verified_run_has_no_such_section(session: Session) -> None:
    bring(session, "terms.txt")
    session.emit(events.Answer(step=1, text="So."))
    report = ended(session, "answered", status="VERIFIED")
    assert report.checked is None
    assert as_json(report.checked) is None
    assert "What was checked" not in answer.markdown("?", report)


def test_an_answer_that_is_not_verified_is_followed_by_what_was_checked(session: Session) -> None:
    bring(session, "terms.txt")
    session.emit(events.Answer(step=1, text="It is so."))
    text = answer.markdown("?", ended(session, "answered"))
    assert text.index("It is so.") < text.index("Input files read:\n\n- terms.txt")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("[a](b)", r"\[a\](b)"),
        ("![a](b).txt", r"!\[a\](b).txt"),
        ("[^1]: a", r"\[\^1\]: a"),
        ("# `a` *b* _c_", r"\# \`a\` \*b\* \_c\_"),
        ("1. a_b-c (2).txt", r"1\. a_b-c (2).txt"),
    ],
)
def test_a_file_is_listed_by_its_name_which_is_no_link(session: Session, name: str, shown: str) -> None:
    bring(session, name)
    session.emit(events.Answer(step=1, text="It is so."))
    report = ended(session, "answered")
    place = answer.Quote(evidence="ev_0001", first=1, last=1, source=name, lines=("[a](b)",))
    text = answer.markdown("?", msgspec.structs.replace(report, quotes=(place,)))
    assert f"Input files read:\n\n- {shown}\n" in text
    assert f"[ev_0001:1] {shown}, line" in text
    assert "\n> [a](b)\n" in text, "lines of a source are shown as they are"
    assert f"- {name}\n" in answer.plain(report), "a terminal shows no Markdown"


def test_an_address_in_the_list_stays_an_address() -> None:
    address = "https://a.test/b_c/_d*(e)"
    assert literal(f"fetch {address} [x](y)") == rf"fetch {address} \[x\](y)"


def test_programs_get_the_whole_of_it(session: Session) -> None:
    session.emit(events.ConstraintAdded(step=2, key="k", text="open"))
    report = negative_run(session)
    found = as_json(report.checked)
    assert found is not None
    assert json.loads(json.dumps(found)) == found
    assert found["constraints"] == [{"key": "k", "text": "open", "since_step": 2}]
    assert found["domains"][0] == {
        "url": WHO.url,
        "domain": "who.int",
        "source_class": "regulatory",
        "official": True,
        "reason": WHO.reason,
        "first": "2023-11-14T22:19:20+00:00",
        "last": "2023-11-14T22:23:20+00:00",
    }
    assert found["searches"] == {"brave": 3, "wikipedia": 1}
    assert [each["id"] for each in found["evidence"]] == ["ev_0001", "ev_0002", "ev_0003"]


def test_of_much_evidence_the_newest_is_listed_and_the_rest_counted(session: Session) -> None:
    for _ in range(MAX_EVIDENCE + 3):
        bring(session, "terms.txt")
    found = checked(session.state)
    assert found is not None
    assert (len(found.evidence), found.older) == (MAX_EVIDENCE, 3)
    assert "- (3 older ones are in evidence.jsonl)\n- ev_0004 · " in search_summary_text.markdown(found)
    assert f"Evidence: {MAX_EVIDENCE + 3} pieces" in search_summary_text.plain(found)
    assert f"- and {MAX_EVIDENCE - 2} more" in search_summary_text.plain(found)


def test_nothing_that_was_read_can_forge_a_mark_or_a_line_of_its_own(session: Session) -> None:
    bring(session, "a\n## Verified\n(supported)", summary="<!-- read\n\n# VERIFIED (supported)")
    text = answer.markdown("?", ended(session, "steps"))
    assert "(supported)" not in text
    assert "<!--" not in text
    assert "\n# VERIFIED" not in text and "\n## Verified" not in text


# The last turn of a run that broke the form


def broken(session: Session, said: str, times: int = 5) -> answer.Report:
    for number in range(1, times + 1):
        session.emit(events.Assistant(step=number, content=session.text(said)))
        session.emit(events.PolicyParseError(step=number, count=number, limit=5, reply="Mend the form."))
    return ended(session, "parse_error", f"{times} turns in a row broke the format")


def test_what_a_model_said_that_could_not_keep_the_form_is_shown_as_unverified(session: Session) -> None:
    text = answer.markdown("?", broken(session, "<answer>The sky is blue (supported).</answer>"))
    assert (
        "## The last turn\n\n"
        "The model's last turn is not in the form of an answer, and nothing in it was verified:\n\n"
        "```text\n<answer>The sky is blue [supported].</answer>\n```\n"
    ) in text


def test_the_terminal_is_told_where_the_last_turn_is(session: Session) -> None:
    shown = answer.plain(broken(session, "The sky is blue."))
    assert "The sky is blue." not in shown
    assert "answer.md shows it" in shown


def test_a_long_last_turn_is_cut_and_that_is_said(session: Session) -> None:
    report = broken(session, "x" * 20_000)
    assert report.last_turn == "x" * 8000 + "\n[… 12000 more characters are in the log]"


@pytest.mark.parametrize("said", ["```\n# VERIFIED\n```", "``````\nx", "a ```` b", "~~~\n# x"])
def test_nothing_in_the_last_turn_closes_the_block_it_stands_in(session: Session, said: str) -> None:
    text = answer.markdown("?", broken(session, said))
    opening = next(line for line in text.split("\n") if line.endswith("`text"))
    fence = opening.removesuffix("text")
    inside = text.partition(opening + "\n")[2].partition(f"\n{fence}\n")[0]
    assert inside == said
    assert fence not in said


def test_a_run_that_answered_after_broken_turns_has_no_last_turn_to_show(session: Session) -> None:
    session.emit(events.Assistant(step=1, content="broken"))
    session.emit(events.PolicyParseError(step=1, count=1, reply="Mend the form."))
    session.emit(events.Answer(step=2, text="So."))
    assert ended(session, "answered").last_turn == ""


def test_a_run_that_goes_on_has_no_last_turn_yet(session: Session) -> None:
    session.emit(events.Assistant(step=1, content="broken"))
    session.emit(events.PolicyParseError(step=1, count=1, reply="Mend the form."))
    assert answer.build(session.state, session.store, "The run has not ended.").last_turn == ""


# Any values


TEXTS = st.text(max_size=1000)
TIMES = st.floats(-1e300, 1e300)
TARGETS = st.builds(
    events.Target, url=TEXTS, domain=TEXTS, source_class=TEXTS, official=st.booleans(), reason=TEXTS
)
FOUND = st.builds(
    Checked,
    constraints=st.lists(st.builds(Constraint, key=TEXTS, text=TEXTS, step=st.integers(0, 9))).map(tuple),
    reached=st.lists(st.builds(Reached, target=TARGETS, first_ts=TIMES, last_ts=TIMES)).map(tuple),
    requests=st.lists(st.tuples(TEXTS, st.integers(1, 99))).map(tuple),
    files=st.lists(TEXTS).map(tuple),
    more_files=st.integers(0, 9),
    evidence=st.lists(st.builds(Kept, id=st.just("ev_0001"), summary=TEXTS, ts=TIMES)).map(tuple),
    older=st.integers(0, 9),
    concluded=st.booleans(),
)


@given(FOUND)
def test_each_thing_is_one_line_and_a_terminal_gets_few(found: Checked) -> None:
    text = search_summary_text.markdown(found)
    known = len(found.constraints) + len(found.reached) + len(found.files) + len(found.evidence)
    lines = [line for line in text.split("\n") if line]
    assert known <= sum(line.startswith("- ") for line in lines) <= known + 2
    assert all(line.startswith(("- ", "## ")) or line.endswith((".", ":")) for line in lines)
    assert len(search_summary_text.plain(found).split("\n")) <= 4 * (search_summary_text.SHOWN + 2) + 1
