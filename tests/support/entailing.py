"""Sessions whose answer an entailment judge verified: the real path, with a judge that the test trained."""

import asyncio
import tempfile
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path

from support.tiny_entailment import Pairs, write_judge
from support.verified import answer, begin, finish, gathered, open_session
from vera import events
from vera.attestation.build import case_of
from vera.attestation.keys import Signer
from vera.attestation.replay import replay as replay_by
from vera.attestation.report import Report
from vera.attestation.signers import Signers
from vera.audit.case import place_of, statements
from vera.entailment.choose import open_reader
from vera.entailment.files import name_of
from vera.evidence.prompt_quoting import MAX_LINE_LENGTH
from vera.lane.prompts import Prompts
from vera.session import Session
from vera.verification.context import VerifierContext, VerifierOptions
from vera.verification.probes import probes_of
from vera.verification.verifier import verify

REWORDED = (
    "The length of the Elbe amounts to 1094 kilometres [ev_0002:2]. "
    "It is in the Giant Mountains that the Elbe rises [ev_0003:2]."
)
"""Two claims in other words than their lines: the rule `literal` finds neither."""

QUOTED = "The Elbe is 1094 kilometres long [ev_0002:2]. The Elbe rises in the Giant Mountains [ev_0003:2]."
"""Two claims in the words of their lines."""


def pairs_of(text: str, labels: Mapping[int, str] | None = None) -> Pairs:
    """Every pair of this answer that a judge is shown: its claims, SUPPORTS but where `labels` says otherwise
    of the claim with this number, and its probes."""
    with tempfile.TemporaryDirectory() as folder:
        session = open_session(Path(folder) / "session")
        begin(session, 1, answer(session, text))
        case = case_of(gathered(session, 1))
        session.close()
    shown = {}
    for made in probes_of(case, MAX_LINE_LENGTH):
        place = place_of(case, made.cite)
        assert place is not None
        shown[made.claim, place.plain.span.text] = "SUPPORTS" if made.kind == "stated" else "IRRELEVANT"
    for number, (claim, cited) in enumerate(statements(case), 1):
        for place in cited:
            shown[claim.text, place.plain.span.text] = (labels or {}).get(number, "SUPPORTS")
    return shown


@cache
def _trained(text: str, labels: tuple[tuple[int, str], ...], always: str) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        write_judge(Path(folder), pairs_of(text, dict(labels)), always=always)
        return {each.name: each.read_bytes() for each in Path(folder).iterdir()}


def trained(
    folder: Path, text: str = REWORDED, labels: Mapping[int, str] | None = None, *, always: str = ""
) -> Path:
    """A judge for the pairs of this answer, in `folder`."""
    folder.mkdir(parents=True)
    for name, data in _trained(text, tuple((labels or {}).items()), always).items():
        (folder / name).write_bytes(data)
    return folder


def entailed(
    root: Path,
    signer: Signer,
    judge: Path,
    text: str = REWORDED,
    *,
    threads: int = 0,
    exams: Path | None = None,
) -> events.Verifier:
    """A finished session at `root` whose answer this judge verified in one round."""
    session = open_session(root)
    try:
        answer(session, text)
        decision = asyncio.run(_verified(session, signer, judge, threads, exams))
        finish(session, signer, decision)
    finally:
        session.close()
    return decision


async def _verified(
    session: Session, signer: Signer, judge: Path, threads: int, exams: Path | None
) -> events.Verifier:
    context = VerifierContext(
        session=session,
        model=None,
        prompts=Prompts(),
        open_tools=_no_tools,
        open_box=None,
        options=VerifierOptions(rule="entailment"),
        exams=exams,
        entailment=partial(open_reader, judge, threads),
        entailment_name=name_of(judge),
    )
    return await verify(context, signer, last=True, now=_silent)


def replayed(root: Path, judge: Path | None) -> Report:
    """A replay for somebody who accepts any key and names this judge."""
    return replay_by(root, Signers(any_signer=True), 2, judge)


def _no_tools(lane: str) -> object:
    raise AssertionError(f"{lane} asked for tools")


def _silent(_: str) -> None:
    """No-op callback."""
