"""A page of a run: what it says of runs that are new, under way, ended, stopped, long, or not whole."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from support.executing import LASTS, execute, place
from support.gate_runs import act, answer, page, play, search
from support.gate_runs import fetch as fetching
from support.theses import THESIS, verified_thesis
from support.turns import final, turn
from support.verified import ANSWER, QUESTION, begin, decide, open_session, records, verified
from support.verified import answer as answered
from support.viewing import Viewed, empty, view, view_of
from vera import events
from vera.attestation.keys import Signer
from vera.config.loading import defaults
from vera.protocol import text
from vera.report.view.bars import MAX_BARS
from vera.report.view.changes import PARTS
from vera.report.view.fold import EVENTS_SHOWN
from vera.report.view.model import RunPage
from vera.report.view.recent_events import MAX_KEPT


@pytest.fixture(scope="module")
def signer() -> Signer:
    return Signer(Ed25519PrivateKey.generate())


@pytest.fixture
def folder() -> Iterator[Path]:
    with place() as made:
        yield made


def numbered(*records: events.Record) -> list[events.Record]:
    """The records as a log has them, a second apart, of the main lane."""
    return [
        msgspec.structs.replace(each, seq=seq, ts=1000.0 + seq, lane=each.lane or "main")
        for seq, each in enumerate(records, 1)
    ]


BEGUN: tuple[events.Record, ...] = (
    events.Session(format=1, version="1", settings={"run": {"max_steps": 30}, "budget": {"tokens": 5000}}),
    events.Task(task="How long is it?"),
)
CALL = events.ToolStarted(step=1, call="call_0001", tool="shell", args='{"cmd": "wc -l a.txt"}')
DONE = events.Tool(step=1, call="call_0001", tool="shell", outcome="ok", obs="3", seconds=0.5)


def test_a_folder_without_a_log_has_a_page(tmp_path: Path) -> None:
    shown = empty(tmp_path).page()
    assert (shown.offset, shown.header.phase, shown.events, shown.claims) == (0, "new", (), ())


def test_the_page_of_a_verified_run(tmp_path: Path, signer: Signer) -> None:
    decision = verified(tmp_path / "s", signer)
    shown = view(tmp_path / "s").page()
    header = shown.header
    assert (header.session, header.task, header.phase) == ("example", QUESTION, "ended")
    assert (header.verdict, header.status, header.rounds) == ("QUOTED", "QUOTED", 1)
    assert shown.answer == ANSWER
    assert shown.offset == (tmp_path / "s" / "trace.jsonl").stat().st_size
    assert shown.attestation is not None
    assert (shown.attestation.id, shown.attestation.result) == (decision.attestation, "SUPPORTED")
    assert (shown.attestation.keyid, shown.attestation.rule) == (signer.keyid, "literal")
    assert shown.attestation.hyperthesis
    (done,) = shown.rounds
    assert (done.result, done.answer, done.chosen) == ("SUPPORTED", ANSWER, True)
    assert [(each.claim, each.source_class, each.cards) for each in shown.coverage.cells] == [
        ("c1", "file", 1),
        ("c2", "file", 1),
        ("c3", "file", 1),
    ]
    assert [point.result for point in shown.timeline.scores] == ["SUPPORTED"]
    assert [bar.label for bar in shown.timeline.bars] == ["search", "read", "read", "round 1"]


def test_events_begin_where_the_one_before_ends(tmp_path: Path, signer: Signer) -> None:
    verified(tmp_path / "s", signer)
    viewed = view(tmp_path / "s")
    lines = viewed.fold.event_lines()
    log = (tmp_path / "s" / "trace.jsonl").read_bytes()
    starts = [0, *(at + 1 for at, byte in enumerate(log[:-1]) if byte == 10)]
    assert [line.offset for line in lines] == starts
    assert viewed.fold.event_lines(after=starts[-2]) == lines[-2:]
    assert viewed.fold.event_lines(after=viewed.fold.offset) == ()
    assert viewed.fold.event_lines(limit=3) == lines[-3:]


@pytest.mark.parametrize(
    ("more", "alive", "phase"),
    [
        ((), True, "working"),
        ((), False, "stopped"),
        ((events.RunEnd(status="UNRESOLVED", reason="", exit_code=3, steps=1, seconds=1),), True, "ended"),
    ],
)
def test_the_phase_of_a_run(more: tuple[events.Record, ...], alive: bool, phase: str, tmp_path: Path) -> None:
    viewed = view_of(tmp_path, numbered(*BEGUN, *more))
    assert viewed.page(alive=alive).header.phase == phase


def test_a_run_whose_answer_is_looked_at_is_verifying(tmp_path: Path) -> None:
    session = open_session(tmp_path / "s")
    begin(session, 1, answered(session))
    session.close()
    shown = view(tmp_path / "s").page(alive=True)
    assert shown.header.phase == "verifying"
    assert [(each.result, each.answer) for each in shown.rounds] == [("UNDER WAY", ANSWER)]
    assert shown.timeline.bars[-1].label == "round 1, under way"
    assert shown.attestation is None


def test_a_call_under_way_is_a_bar_until_it_is_back(tmp_path: Path) -> None:
    viewed = view_of(tmp_path, numbered(*BEGUN, CALL, events.Note(step=1, text="still")))
    shown = viewed.page(alive=True)
    assert shown.header.last_call == "shell wc -l a.txt"
    assert [(bar.label, bar.start, bar.end) for bar in shown.timeline.bars] == [
        ("shell, under way", 1003, 1004)
    ]
    viewed.add(msgspec.structs.replace(DONE, seq=5, ts=1005.0, lane="main"))
    assert [bar.label for bar in viewed.fold.timeline().bars] == ["shell"]
    other = msgspec.structs.replace(CALL, seq=6, ts=1006.0, lane="main", args="wc -l b.txt")
    viewed.add(other)
    assert viewed.page(alive=True).header.last_call == "shell wc -l b.txt"


def test_budgets_are_in_words_and_time_goes_on_while_a_process_works(tmp_path: Path) -> None:
    viewed = view_of(tmp_path, numbered(*BEGUN, CALL, DONE))
    budgets = {name: (used, most) for name, used, most in viewed.page(alive=True, now=1064.0).budgets}
    assert budgets["steps"] == ("0", "30")
    assert budgets["tokens"] == ("0", "5\u202f000")
    assert budgets["seconds"] == ("63", "unlimited")
    assert {name: used for name, used, _ in viewed.page(now=1064.0).budgets}["seconds"] == "3"


def test_the_cost_is_by_the_prices_in_the_log(tmp_path: Path) -> None:
    settings = {"budget": {**defaults({}).budget.model_dump(), "input_price": 2.0, "output_price": 10.0}}
    begun = events.Session(format=1, version="1", settings=settings)
    call = events.Model(step=1, scope="agent", latency_s=1, prompt_tokens=100_000, completion_tokens=5000)
    viewed = view_of(tmp_path, numbered(begun, call))
    assert viewed.page().header.cost == "0.25"
    viewed.add(msgspec.structs.replace(call, seq=3, ts=1003.0, lane="main"))
    assert viewed.page().header.cost == "0.5"
    assert view_of(tmp_path, numbered(*BEGUN, call)).page().header.cost == ""


def test_a_verdict_stays_on_the_page_while_the_next_round_goes_on(tmp_path: Path, signer: Signer) -> None:
    session = open_session(tmp_path / "s")
    begin(session, 1, answered(session))
    decision = decide(session, signer, 1)
    begin(session, 2, answered(session))
    session.close()
    shown = view(tmp_path / "s").page(alive=True)
    assert shown.attestation is not None
    assert shown.attestation.id == decision.attestation
    assert {claim.verdict for claim in shown.claims} == {"unchecked"}


def test_gates_that_fired_are_counted_with_their_last_words(tmp_path: Path) -> None:
    run = play(
        [search("Apple car"), fetching("http://apple.com/1"), act("note", text="x"), answer("In 2014.")],
        pages={"apple.com/1": page("One")},
        policy__negative_claim_min_official=1,
        notes__update_interval=1,
    )
    shown = view_of(tmp_path, run.records).page()
    spoken = {events.kind(each) for each in run.records if isinstance(each, events.Policy)}
    assert {gate.name for gate in shown.gates} == spoken
    for gate in shown.gates:
        assert gate.refused + gate.nudged + gate.ended == sum(
            events.kind(each) == gate.name for each in run.records
        )
        assert gate.last_said
    assert sum(bar.count for bar in shown.timeline.bars if bar.row == "gate") == sum(
        isinstance(each, events.Policy) for each in run.records
    )


def test_candidates_stand_side_by_side_with_the_reason_of_the_choice(tmp_path: Path) -> None:
    sampled = events.Candidates(
        step=1,
        asked=3,
        candidates=tuple(
            events.Candidate(content=text.render(turn("shell", cmd=f"ls {name}"))) for name in ("a", "b", "b")
        ),
    )
    viewed = view_of(tmp_path, numbered(*BEGUN, sampled))
    (open_choice,) = viewed.fold.choices()
    assert (open_choice.decider, [each.chosen for each in open_choice.candidates]) == ("", [False] * 3)
    weighed = tuple(
        events.Weighed(action=f"ls {name}", group=group) for name, group in (("a", 1), ("b", 2), ("b", 2))
    )
    viewed.add(
        numbered(
            *BEGUN,
            sampled,
            events.Selection(
                step=1,
                selected=1,
                decider="agreement",
                selector="pairwise",
                reason="two of three",
                weighed=weighed,
                seconds=0.5,
            ),
        )[-1]
    )
    (choice,) = viewed.fold.choices()
    assert (choice.selector, choice.decider, choice.reason) == ("pairwise", "agreement", "two of three")
    assert [(each.action, each.votes, each.chosen) for each in choice.candidates] == [
        ("ls a", 1, False),
        ("ls b", 2, True),
        ("ls b", 2, False),
    ]


def test_files_are_pictures_by_their_first_bytes_and_never_by_their_name(tmp_path: Path) -> None:
    viewed = view_of(tmp_path, numbered(*BEGUN))
    png = viewed.store.put(b"\x89PNG\r\n\x1a\n....")
    svg = viewed.store.put(b"<svg onload='alert(1)'/>")
    for seq, record in enumerate(
        (
            events.Output(path="plot.txt", sha256=png, size=12),
            events.Output(path="plot.png", sha256=svg, size=24),
            events.Output(path="big.bin", problem="It is larger than 50 MB."),
            events.Output(path="lost.bin", sha256="b" * 64, size=3),
        ),
        10,
    ):
        viewed.add(msgspec.structs.replace(record, seq=seq, ts=2000.0, lane="main"))
    files = viewed.page().files
    assert [(each.path, each.picture, each.problem) for each in files] == [
        ("plot.txt", True, ""),
        ("plot.png", False, ""),
        ("big.bin", False, "It is larger than 50 MB."),
        ("lost.bin", False, "The store does not hold its bytes."),
    ]


def test_the_page_of_a_session_that_verified_a_thesis(tmp_path: Path, signer: Signer) -> None:
    verified_thesis(tmp_path / "s", signer)
    shown = view(tmp_path / "s").page()
    assert shown.header.task == THESIS
    assert [claim.verdict for claim in shown.claims] == ["supported"]
    assert shown.attestation is not None
    assert shown.attestation.result == "SUPPORTED"


def test_the_page_of_an_execution_shows_what_carries_its_claims(folder: Path) -> None:
    run = execute(folder, [turn("verify", thesis=LASTS), final(f"{LASTS} [att_0001:c1]. It is 12 m long.")])
    shown = view(run.work).page()
    carried, alone = shown.claims
    assert (carried.verdict, alone.verdict) == ("supported", "unresolved")
    assert carried.reason.startswith("Carried by att_0001:c1: SUPPORTED")
    (card, *_) = carried.cards
    assert (card.relation, card.quotation) == ("SUPPORTS", (f"{LASTS}.",))
    assert (shown.header.claims, shown.header.supported) == (2, 1)
    shutil.rmtree(run.work / "theses")
    (card, *_) = view(run.work).page().claims[0].cards
    assert (card.quotation, card.problem) == ((), "Its text is not in the store.")


def test_a_session_without_its_store_still_has_a_page(tmp_path: Path, signer: Signer) -> None:
    verified(tmp_path / "s", signer)
    shutil.rmtree(tmp_path / "s" / "store")
    shown = view(tmp_path / "s").page()
    assert shown.header.verdict == "QUOTED"
    assert {claim.verdict for claim in shown.claims} == {"unchecked"}
    assert shown.attestation is not None
    assert "cannot be shown" in shown.attestation.reason
    assert shown.attestation.hyperthesis == ()


def test_a_log_that_makes_no_sense_has_a_page(tmp_path: Path) -> None:
    blob = events.Blob("no hash at all", -5)
    strange = numbered(
        events.Verifier(round=3, answer_seq=-1, result="?", reason="", attestation="nonsense", envelope=blob),
        events.VerifierStarted(round=9, answer_seq=77, rule="magic", policy=blob),
        events.Verifier(round=9, answer_seq=-1, result="?", reason="", attestation="nonsense", envelope=blob),
        events.AnswerChosen(round=1, answer_seq=2, attestation="", reason=""),
        events.Tool(step=-1, call="", tool="", outcome="?", obs=blob, seconds=-1e300),
        events.Model(step=0, scope="", latency_s=1e300),
        events.Selection(step=4, selected=99, decider="?"),
        events.Answer(step=1, text=blob),
        events.ExecutionVerdict(
            answer_seq=8,
            status="?",
            reason="",
            claims=(events.ClaimCarried(claim="c1", start=-4, end=10**9, by="att_0009:c1"),),
            version="",
        ),
        events.Output(path="../../etc/passwd", sha256="../../etc/passwd", size=-1),
    )
    shown = view_of(tmp_path, strange).page(alive=True, now=1e300)
    assert isinstance(shown, RunPage)
    assert [each.result for each in shown.rounds] == ["?"]
    assert shown.files[0].sha256 == ""
    assert msgspec.json.decode(msgspec.json.encode(shown), type=RunPage) == shown


def long_run(viewed: Viewed, steps: int) -> None:
    seq = 0
    for step in range(steps):
        for record in (CALL, DONE, events.PolicyReminder(step=step, effect="nudge", reason="again")):
            seq += 1
            viewed.fold.apply(msgspec.structs.replace(record, seq=seq, ts=float(seq), lane="main"), seq * 100)


def test_a_long_run_has_a_page_of_the_same_size(tmp_path: Path) -> None:
    viewed = empty(tmp_path)
    long_run(viewed, 5000)
    shown = viewed.page(alive=True)
    assert shown.header.events == 15_000
    assert len(shown.timeline.bars) <= MAX_BARS
    assert sum(bar.count for bar in shown.timeline.bars) == 10_000
    assert (len(shown.events), shown.events_left_out) == (EVENTS_SHOWN, 15_000 - EVENTS_SHOWN)
    assert len(viewed.fold.event_lines(limit=10**9)) == MAX_KEPT
    assert shown.events[-1].offset == 1_499_900


def test_only_the_newest_choices_are_kept_and_the_others_counted(tmp_path: Path) -> None:
    viewed = empty(tmp_path)
    one = events.Candidate(content="x")
    for step in range(1, 81):
        viewed.add(events.Candidates(seq=step, lane="main", step=step, asked=1, candidates=(one,)))
    shown = viewed.page()
    assert ([each.step for each in shown.choices], shown.choices_left_out) == (list(range(31, 81)), 30)


@pytest.mark.parametrize(
    ("record", "parts"),
    [
        (CALL, {"timeline"}),
        (events.Note(step=1, text="x"), set()),
        (events.ConstraintAdded(step=1, key="k", text="t"), {"constraints"}),
        (events.Output(path="a"), {"files"}),
        (
            events.RunEnd(status="UNRESOLVED", reason="", exit_code=3, steps=1, seconds=1),
            {"timeline", "answer", "claims", "rounds", "budgets"},
        ),
        (events.PolicyReminder(step=1, effect="nudge", reason=""), {"timeline", "gates"}),
        (
            events.VerifierLabels(round=1, claim="c1", labels=(), maker=""),
            {"answer", "claims", "coverage", "rounds"},
        ),
    ],
)
def test_a_record_tells_which_parts_it_changes(
    record: events.Record, parts: set[str], tmp_path: Path
) -> None:
    viewed = view_of(tmp_path, numbered(*BEGUN))
    before = dict(viewed.fold.changed)
    viewed.add(record)
    after = viewed.fold.changed
    assert set(after) == set(PARTS)
    assert {name for name in PARTS if after[name] > before[name]} == {"header", "events", *parts}


def test_a_part_that_changes_is_announced(tmp_path: Path, signer: Signer) -> None:
    """Whatever a record changes on the page, the number of that part grows."""
    verified(tmp_path / "s", signer)
    whole = view(tmp_path / "s")
    viewed = empty(tmp_path / "s")
    parts = [part for part in PARTS if part not in ("budgets", "timeline")]
    before, counted = viewed.page(), dict(viewed.fold.changed)
    for record in records(tmp_path / "s"):
        viewed.add(record)
        after, numbers = viewed.page(), dict(viewed.fold.changed)
        for part in parts:
            if getattr(after, part) != getattr(before, part):
                assert numbers[part] > counted[part], (part, record)
        before, counted = after, numbers
    assert before.claims == whole.page().claims
