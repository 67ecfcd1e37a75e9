"""What earlier sessions know: found by an index that proves nothing, and checked before it is used."""

import asyncio
import shutil
from pathlib import Path

import msgspec
import pytest

from support.verified import PAGE, RIVERS, read_file, ticking, verified
from vera import events
from vera.agent.follow_up import carry, open_parent
from vera.agent.knowledge import FOLDER, Knowledge
from vera.attestation.keys import Signer, load_or_create
from vera.attestation.request import request_of
from vera.attestation.signers import Signers
from vera.lane.tools import Call
from vera.lane.tools.kb import Kb, NotKept
from vera.session import Session
from vera.store import Store

NOW = ticking()() + 60
CLAIM = "The Elbe is 1094 kilometres long."


@pytest.fixture
def signer(tmp_path: Path) -> Signer:
    return load_or_create(tmp_path / "keys")


@pytest.fixture
def base(tmp_path: Path, signer: Signer) -> Path:
    verified(tmp_path / "base" / "rivers", signer)
    return tmp_path / "base"


def sources(base: Path, signer: Signer) -> dict[str, str]:
    """The id of each source by its name."""
    return {known.evidence.source: known.id for known in Knowledge(base, {signer.keyid}).sources}


def test_what_the_host_captured_is_known_and_what_only_leads_is_not(base: Path, signer: Signer) -> None:
    assert sources(base, signer).keys() == {"rivers.txt", "sources.html"}


def test_a_source_comes_with_its_bytes_and_those_that_it_was_made_from(base: Path, signer: Signer) -> None:
    knowledge = Knowledge(base, {signer.keyid})
    kept = knowledge.source(sources(base, signer)["sources.html"])
    assert (kept.raw, kept.session, kept.evidence.source) == (PAGE, "rivers", "sources.html")
    assert b"Giant Mountains" in kept.text


def test_a_second_look_reads_the_index_and_finds_the_same(base: Path, signer: Signer) -> None:
    first = Knowledge(base, {signer.keyid}).sources
    assert len(list(base.joinpath(*FOLDER).iterdir())) == 1
    assert Knowledge(base, {signer.keyid}).sources == first


def test_a_source_is_found_by_the_words_of_a_claim(base: Path, signer: Signer) -> None:
    request, _ = request_of(CLAIM, scope="kb")
    (lead,) = Knowledge(base, {signer.keyid}).leads(request, [CLAIM], NOW)
    assert (lead.tool, lead.name) == ("kb", "rivers.txt")
    request, _ = request_of("Copper melts at 1085 degrees.", scope="kb")
    assert Knowledge(base, {signer.keyid}).leads(request, [request.text], NOW) == ()


def test_files_of_another_session_count_only_within_the_scope_kb(base: Path, signer: Signer) -> None:
    request, _ = request_of(CLAIM, scope="files,web")
    assert Knowledge(base, {signer.keyid}).leads(request, [CLAIM], NOW) == ()


def test_an_old_source_is_no_lead_where_things_change_fast(base: Path, signer: Signer) -> None:
    request, _ = request_of(CLAIM, scope="kb", volatility="fast")
    assert Knowledge(base, {signer.keyid}).leads(request, [CLAIM], NOW)
    assert not Knowledge(base, {signer.keyid}).leads(request, [CLAIM], NOW + 2 * 86_400)


def test_what_a_stranger_sealed_is_not_known(base: Path, tmp_path: Path) -> None:
    assert Knowledge(base, {load_or_create(tmp_path / "others").keyid}).sources == ()


def test_a_forged_index_entry_brings_nothing(base: Path, signer: Signer) -> None:
    Knowledge(base, {signer.keyid})
    path = next(base.joinpath(*FOLDER).iterdir())
    path.write_bytes(path.read_bytes().replace(b"rivers.txt", b"forged.txt"))
    knowledge = Knowledge(base, {signer.keyid})
    forged = next(known for known in knowledge.sources if known.evidence.source == "forged.txt")
    assert knowledge.source(forged.id).evidence.source == "rivers.txt", "what the log has counts"
    renamed = msgspec.structs.replace(forged, id="sha256:" + 64 * "0")
    path.write_bytes(path.read_bytes().replace(forged.id.encode(), renamed.id.encode()))
    with pytest.raises(NotKept, match="does not have this source"):
        Knowledge(base, {signer.keyid}).source(renamed.id)


@pytest.mark.parametrize("data", [b"", b"{", b"null", b"\xff", b"[1]"])
def test_a_broken_index_is_made_again(base: Path, signer: Signer, data: bytes) -> None:
    expected = Knowledge(base, {signer.keyid}).sources
    next(base.joinpath(*FOLDER).iterdir()).write_bytes(data)
    assert Knowledge(base, {signer.keyid}).sources == expected


def test_altered_bytes_are_not_brought(base: Path, signer: Signer) -> None:
    source = sources(base, signer)["rivers.txt"]
    store = Store(base / "rivers" / "store")
    for path in store.root.glob("*/*"):
        if path.read_bytes() == RIVERS:
            path.chmod(0o644)
            path.write_bytes(RIVERS.replace(b"1094", b"1194"))
    with pytest.raises(NotKept, match="was altered"):
        Knowledge(base, {signer.keyid}).source(source)


def test_a_session_whose_log_was_altered_is_not_used(base: Path, signer: Signer) -> None:
    source = sources(base, signer)["rivers.txt"]
    knowledge = Knowledge(base, {signer.keyid})
    trace = base / "rivers" / "trace.jsonl"
    trace.write_bytes(trace.read_bytes().replace(b"rivers.txt", b"rapids.txt"))
    with pytest.raises(NotKept, match="rivers is not used"):
        knowledge.source(source)


def test_links_and_hidden_folders_are_no_sessions(base: Path, signer: Signer, tmp_path: Path) -> None:
    shutil.move(base / "rivers", tmp_path / "elsewhere")
    (base / "rivers").symlink_to(tmp_path / "elsewhere")
    shutil.copytree(tmp_path / "elsewhere", base / ".hidden")
    assert Knowledge(base, {signer.keyid}).sources == ()


def test_a_base_that_is_not_there_knows_nothing(tmp_path: Path, signer: Signer) -> None:
    assert Knowledge(tmp_path / "nowhere", {signer.keyid}).sources == ()


def test_the_tool_kb_brings_a_source_as_captured_evidence(base: Path, signer: Signer, tmp_path: Path) -> None:
    tool = Kb(Knowledge(base, {signer.keyid}))
    call = Call(room=1000, store=Store(tmp_path / "store"), evidence={})
    outcome = asyncio.run(tool.run({"source": sources(base, signer)["sources.html"]}, call))
    draft = outcome.evidence
    assert draft is not None
    assert (outcome.outcome, draft.tier, draft.source, draft.raw) == ("ok", "captured", "sources.html", PAGE)
    assert "of rivers" in outcome.header


@pytest.mark.parametrize("source", ["sha256:" + 64 * "0", "", "../../etc/passwd", "x\ny" * 1000])
def test_the_tool_kb_says_when_it_has_no_such_source(
    base: Path, signer: Signer, tmp_path: Path, source: str
) -> None:
    tool = Kb(Knowledge(base, {signer.keyid}))
    call = Call(room=1000, store=Store(tmp_path / "store"), evidence={})
    outcome = asyncio.run(tool.run({"source": source}, call))
    assert (outcome.outcome, outcome.error_type, outcome.evidence) == ("failed", "not_found", None)
    assert "No earlier session" in outcome.header
    assert len(outcome.header) < 300


@pytest.mark.parametrize("has_old_index", [False, True])
def test_what_was_carried_over_from_a_stranger_and_read_again_is_not_known(
    tmp_path: Path, signer: Signer, *, has_old_index: bool
) -> None:
    """A person accepted the session once; what was read from a file of one's own in it is known."""
    verified(tmp_path / "theirs", load_or_create(tmp_path / "others"))
    parent = open_parent(tmp_path / "theirs", signers=Signers(own=signer.keyid), trust_session=True)
    session = Session.create(tmp_path / "base" / "mine", {})
    session.emit(events.Task(task="How long is it?"), lane="")
    carry(session, parent)
    for each in tuple(session.state.evidence.values()):
        session.emit(msgspec.structs.replace(each, id=session.state.next_evidence_id(), tool="read"))
    read_file(session, "own.txt", b"The Oder is 866 kilometres long.\n")
    session.finish(
        events.RunEnd(status="UNRESOLVED", reason="", exit_code=3, steps=1, seconds=0), signer.seal
    )
    session.close()
    if has_old_index:
        Knowledge(tmp_path / "base", {signer.keyid})
        path = next((tmp_path / "base").joinpath(*FOLDER).iterdir())
        old = path.read_bytes().replace(b'"version":2,', b"").replace(b"own.txt", b"old.txt")
        path.write_bytes(old)
    assert sources(tmp_path / "base", signer).keys() == {"own.txt"}
