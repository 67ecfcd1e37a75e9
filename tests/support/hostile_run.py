"""An attacker's session: markup and scripts in every text that a run can hold, and a verified answer."""

import json
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from support.verified import answer, begin, decide, finish, keep
from vera import events
from vera.attestation.keys import Signer
from vera.dashboard.ledgers import COLUMNS
from vera.session import Session

MARKUP = (
    "<script>alert('ran')</script>",
    "<img src=x onerror=alert('ran')>",
    "\"'><svg onload=alert('ran')><a href=\"javascript:alert('ran')\">link</a>",
    "</textarea></title></style></pre><iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "' autofocus onfocus='alert(1)' style='background:url(http://evil.example/x)",
    "\u202egpj.exe\u2066 \x1b[2J <meta http-equiv=refresh content='0;url=http://evil.example/'>",
)
ALL = " ".join(MARKUP)
PAGE = "".join(f"Line {number} {text} of the dam.\n" for number, text in enumerate(MARKUP, 1)).encode()
"""A stored text whose lines are cited."""

LEDGERS = ("evidence.jsonl", "move_ledger.jsonl", "query_ledger.jsonl")
FILE_NAMES = ("<img src=x onerror=alert(1)>.png", '"onload=alert(1) x=".html', "javascript:alert(1).svg")


def make(root: Path) -> None:
    """Write it: one round, whose claims cite the lines with the markup."""
    session, signer = open_session(root), Signer(Ed25519PrivateKey.from_private_bytes(bytes(32)))
    try:
        claims = " ".join(f"Line {number} {text} of the dam [ev_0001:{number}]." for number, text in _short())
        begin(session, 1, answer(session, f"## {MARKUP[0]}\n\n{claims}\n\n```\n{ALL}\n```\n"))
        finish(session, signer, decide(session, signer, 1))
    finally:
        session.close()
    for name in ("notes.md", "run.log", "container.log", "container_events.log"):
        (root / name).write_text(f"{ALL}\n")
    for name, columns in zip(LEDGERS, COLUMNS.values(), strict=True):
        record = {"sha256": ALL, "lane": ALL, **dict.fromkeys(columns, ALL), ALL: [ALL]}
        (root / name).write_text(f"{ALL}\n{json.dumps(record)}\n")


def open_session(root: Path) -> Session:
    """The session up to its answer, with more of it in each record."""
    moments = (1_795_000_000.0 + number for number in range(100_000))
    session = Session.create(root, {}, lambda: next(moments))
    session.emit(events.Task(task=ALL, input_dir=ALL), lane="")
    session.emit(events.ModelServer(kind="openai", base_url=ALL, model=ALL, protocol="text", warnings=(ALL,)))
    keep(session, "read", {"path": ALL}, ALL, PAGE, title=ALL)
    speak(session)
    for name in FILE_NAMES:
        data = f"<script>alert('ran')</script>{name}".encode()
        session.emit(events.Output(path=name, sha256=session.store.put(data), size=len(data)))
    session.emit(events.Output(path=ALL, problem=ALL))
    return session


def speak(session: Session, step: int = 1) -> None:
    """A record of each of the kinds that carry text of others."""
    text = session.text(ALL)
    session.emit(events.Model(step=step, scope="agent", latency_s=0.5, error=ALL, truncated=ALL))
    asked = session.text(json.dumps([{"role": ALL, "content": each} for each in (ALL, '{"a": "<script>"}')]))
    session.emit(
        events.ModelIo(
            step=step, scope=ALL, at_seq=0, request_sha256=ALL, request_bytes=1, parameters={},
            content=text, reasoning=text, request=asked,
        )
    )  # fmt: skip
    session.emit(events.Assistant(step=step, content=text))
    session.emit(events.ToolStarted(step=step, call=f"call_{step}", tool="shell", args=text))
    session.emit(
        events.Tool(step=step, call=f"call_{step}", tool="shell", outcome="failed", obs=text, error_type=ALL)
    )
    session.emit(events.Note(step=step, text=ALL))
    session.emit(events.Status(step=step, status="BLOCKED", reason=ALL))
    session.emit(events.ConstraintAdded(step=step, key=ALL, text=ALL))
    session.emit(events.PolicyDestructive(step=step, effect="refuse", reason=ALL, tool=ALL, subject=ALL))
    session.emit(events.ContainerEvent(event=ALL, detail=ALL))
    session.emit(
        events.Egress(by="box", host=ALL, port=80, method=ALL, verdict="refused", url=ALL, reason=ALL)
    )
    session.emit(events.Search(engine=ALL, kind="web", query=ALL, outcome="ok", reason=ALL, urls=(ALL,)))
    session.emit(
        events.Candidates(
            step=step,
            asked=2,
            candidates=tuple(events.Candidate(content=text) for _ in range(2)),
            problem=ALL,
        )
    )
    session.emit(
        events.Selection(
            step=step,
            selected=0,
            decider="judge",
            selector=ALL,
            reason=ALL,
            weighed=tuple(
                events.Weighed(action=text, codes=(ALL,), rejected=ALL, reason=ALL, group=1) for _ in range(2)
            ),
            fallback_reason=ALL,
            output=json.dumps([ALL]),
        )
    )


def _short() -> list[tuple[int, str]]:
    """The lines that an answer can hold in a sentence of its own."""
    return [(number, text) for number, text in enumerate(MARKUP, 1) if "\x1b" not in text]
