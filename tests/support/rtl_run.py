"""A small finished session in Arabic and Chinese."""

from pathlib import Path

from support.verified import answer as answered
from support.verified import begin, decide, finish, read_file, ticking
from vera import events
from vera.agent.messages import reason
from vera.attestation.keys import Signer
from vera.session import Session

ARABIC = "يبلغ ارتفاع السد العالي ١١١ مترا."
CHINESE = "三峡大坝高185米。"
QUESTION = "كم يبلغ ارتفاع السد العالي؟ 三峡大坝有多高?"


def make(root: Path, signer: Signer) -> None:
    """The session in `root`: two texts, an answer that cites both."""
    session = Session.create(root, {}, ticking())
    try:
        session.emit(events.Task(task=QUESTION, input_dir="dams"))
        read_file(session, "السدود.txt", f"السدود\n{ARABIC}\n".encode())
        read_file(session, "大坝.txt", f"大坝\n{CHINESE}\n".encode())
        text = f"{ARABIC[:-1]} [ev_0001:2].\n\n{CHINESE[:-1]} [ev_0002:2]。"
        begin(session, 1, answered(session, text))
        decision = decide(session, signer, 1, claims=2, supported=2)
        finish(session, signer, decision, reason("QUOTED", decision))
    finally:
        session.close()
