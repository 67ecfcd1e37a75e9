"""A small session that was verified: a real log, store, attestation, envelope and seal."""

import json
from collections.abc import Callable, Collection, Iterator
from itertools import count
from pathlib import Path

import msgspec

from support.exams import sat
from vera import events
from vera.attestation import reduce
from vera.attestation.build import Built, build, case_of
from vera.attestation.envelope import seal_envelope
from vera.attestation.gather import gather
from vera.attestation.integrity import COVERED
from vera.attestation.keys import Signer
from vera.attestation.objects import Policy, canonical
from vera.attestation.record import Record
from vera.attestation.replay import replay as replay_by
from vera.attestation.report import Report
from vera.attestation.signers import Signers
from vera.audit import AuditPolicy, literal
from vera.audit.claims import VERSION as CLAIMS_VERSION
from vera.audit.registry import VERSION as AUDIT_VERSION
from vera.evidence.domains import suffix_list_version
from vera.extraction.canonical import extract
from vera.headline import EXIT_CODES, word_of
from vera.lane.answer import resolve
from vera.session import Reader, Session
from vera.text.span import Lines
from vera.verification.verifier import log_audit

QUESTION = "How long is the river Elbe, and where does it rise?"
RIVERS = (
    b"Rivers of Europe\nThe Elbe is 1094 kilometres long.\nThe Rhine is 1233 kilometres long.\n"
    b"They asked whether the Elbe is 1094 kilometres long.\n"
)
PAGE = (
    b"<!doctype html><html><head><title>Sources</title></head><body>"
    b"<h1>Sources of rivers</h1><p>The Elbe rises in the Giant Mountains.</p>"
    b"<p>The Rhine rises in the Alps.</p></body></html>\n"
)
ANSWER = (
    "The Elbe is 1094 kilometres long [ev_0002:2]. The Elbe rises in the Giant Mountains [ev_0003:2]. "
    "The Rhine is 1233 kilometres long [ev_0002:3]."
)
"""Three claims: two rest on a plain file, one on an HTML page."""

Build = Callable[[Record], Built]


def ticking(start: float = 1_764_000_000.0) -> Callable[[], float]:
    """A clock that goes on by a quarter of a second each time it is asked."""
    moments = (start + 0.25 * number for number in count())
    return lambda: next(moments)


def open_session(root: Path) -> Session:
    """A session with a question, a search and two files that were read: ev_0001 to ev_0003."""
    session = Session.create(root, {}, ticking())
    session.emit(events.Task(task=QUESTION, input_dir="rivers"))
    found = b"2 files indexed; 2 hits, best first; read a hit to cite it.\n[1] rivers.txt\n[2] sources.html\n"
    keep(
        session,
        "search",
        {"query": "Elbe length"},
        "search of the input folder",
        found,
        lead=True,
        extractor="search/1",
        summary='search "Elbe length" · 2 hits',
    )
    read_file(session, "rivers.txt", RIVERS)
    read_file(session, "sources.html", PAGE)
    return session


def read_file(session: Session, name: str, data: bytes) -> events.Evidence:
    """The evidence of a file that was read whole."""
    made = extract(data, name)
    raw = None if made.text == data else events.Blob(session.store.put(data), len(data))
    return keep(
        session,
        "read",
        {"path": name},
        name,
        made.text,
        title=made.title,
        media_type=made.media_type,
        extractor=made.extractor,
        raw=raw,
        marks=made.marks,
        dated=made.dated,
    )


def keep(
    session: Session, tool: str, args: dict[str, str], source: str, text: bytes, **members: object
) -> events.Evidence:
    """A call and the evidence it became, as a lane writes them."""
    state = session.state
    call, evidence_id = state.next_call_id(), state.next_evidence_id()
    lines = len(Lines(text))
    session.emit(events.ToolStarted(step=1, call=call, tool=tool, args=session.text(json.dumps(args))))
    evidence = msgspec.convert(
        {
            "id": evidence_id,
            "call": call,
            "step": 1,
            "tool": tool,
            "tier": "captured",
            "source": source,
            "summary": f"{tool} {source}",
            "text": events.Blob(session.store.put(text), len(text)),
            "lines": lines,
            "first": 1,
            "last": lines,
            **members,
        },
        events.Evidence,
        from_attributes=True,
    )
    evidence = session.emit(evidence)
    session.emit(events.Tool(step=1, call=call, tool=tool, outcome="ok", obs=source, evidence=evidence_id))
    return evidence


def answer(session: Session, text: str = ANSWER) -> events.Answer:
    """A final answer with its citations resolved."""
    citations = resolve(text, session.state.evidence, session.store)
    return session.emit(events.Answer(step=2, text=session.text(text), citations=citations))


def begin(session: Session, number: int, answered: events.Answer, judge: str = "", **policy: object) -> None:
    """A round of verification under the rule literal, up to the labels. With the name of a `judge` that sat
    the exam its labels are logged as those of this model."""
    data = canonical(
        msgspec.convert(
            {
                "kind": "policy/v1",
                "rule": "literal",
                "audit_policy": AuditPolicy(),
                "claims": CLAIMS_VERSION,
                "audit": AUDIT_VERSION,
                "reduce": reduce.VERSION,
                "literal": literal.VERSION,
                "suffix_list": suffix_list_version(),
                **policy,
            },
            Policy,
            from_attributes=True,
        )
    )
    session.emit(
        events.VerifierStarted(
            round=number,
            answer_seq=answered.seq,
            rule="literal",
            policy=events.Blob(session.store.put(data), len(data)),
        )
    )
    case = case_of(gathered(session, number))
    log_audit(session, number, case)
    if judge:
        session.emit(sat(judge))
    for labels in literal.labels(case, number):
        by = {"maker": judge, "prompt_sha256": sat(judge).prompt_sha256} if judge else {}
        session.emit(msgspec.structs.replace(labels, **by))


def gathered(session: Session, number: int) -> Record:
    """The record of a round, from the log as it is now."""
    return gather(records(session.root), session.store, number)


def records(root: Path) -> list[events.Record]:
    return [record for _, record in Reader(root / "trace.jsonl").poll()]


def decide(
    session: Session, signer: Signer, number: int, make: Build = build, **counts: int
) -> events.Verifier:
    """The verdict of a round, as the verifier keeps it, with its `counts` of claims; `make` stands in for one
    that cheats."""
    started = next(
        record
        for record in reversed(records(session.root))
        if isinstance(record, events.VerifierStarted) and record.round == number
    )
    built = make(gathered(session, number))
    for data in built.objects.values():
        session.store.put(data)
    session.store.put(signer.public)
    envelope = seal_envelope(built, signer)
    decision = session.emit(
        events.Verifier(
            round=number,
            answer_seq=started.answer_seq,
            result=built.attestation.result,
            reason=built.attestation.reason,
            attestation=built.attestation_id,
            envelope=events.Blob(session.store.put(envelope), len(envelope)),
            score=built.attestation.scores.after or None,
            **counts,
        )
    )
    session.seal(signer.seal)
    return decision


def finish(session: Session, signer: Signer, decision: events.Verifier, why: str = "") -> None:
    """Choose a verdict, write the files that show it, and end the run; `why` is its reason."""
    session.emit(
        events.AnswerChosen(
            round=decision.round,
            answer_seq=decision.answer_seq,
            attestation=decision.attestation,
            reason="the only one",
        )
    )
    (session.root / "attestation.json").write_bytes(session.store.get(decision.envelope.sha256))
    (session.root / "answer.md").write_text(f"# {QUESTION}\n\n{ANSWER}\n")
    status = word_of(session.state.rounds[decision.round].word)
    code = EXIT_CODES[status]
    session.emit(events.Status(step=2, status=status, reason=why))
    session.finish(
        events.RunEnd(status=status, reason=why, exit_code=code, steps=2, seconds=1.0), signer.seal
    )


def verified(root: Path, signer: Signer, text: str = ANSWER, make: Build = build) -> events.Verifier:
    """A finished session whose answer was verified in one round."""
    session = open_session(root)
    try:
        begin(session, 1, answer(session, text))
        decision = decide(session, signer, 1, make)
        finish(session, signer, decision)
    finally:
        session.close()
    return decision


def replay(session: Path, trust: Collection[str] = (), level: int = 2) -> Report:
    """A replay for somebody who accepts these keys; without any, whoever signed."""
    return replay_by(session, Signers(only=frozenset(trust), any_signer=not trust), level)


def files(root: Path) -> Iterator[Path]:
    """Every file that a replay needs."""
    yield from (root / name for name in ("trace.jsonl", "seal.json", "attestation.json"))
    yield from sorted((root / "store").glob("*/*"))


def covered(root: Path) -> Iterator[Path]:
    """Every file that the seal covers, and that holds anything."""
    yield from (path for name in COVERED if (path := root / name).exists() and path.stat().st_size)
