"""The same request again costs nothing, and what is used again holds."""

import asyncio
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from vera import events
from vera.agent.folders import corpus_digest
from vera.agent.thesis import ThesisJob
from vera.agent.verdict_index import FOLDER, IndexedVerdict, find, keep
from vera.attestation.keys import load_or_create
from vera.attestation.lenses import load_lens
from vera.attestation.objects import hexadecimal
from vera.attestation.replay import replay
from vera.attestation.request import request_of
from vera.attestation.signers import Signers
from vera.config import Settings, defaults
from vera.runtime.reuse import Answered, reusable, reuse_key, shared_key, verify_or_reuse
from vera.runtime.setup import open_signer
from vera.session import Reader, SessionError
from vera.session.seal import Seal
from vera.session.seal import write as write_seal
from vera.session.session import TRACE
from vera.store import Store
from vera.verification.exam import FAILURE_SECONDS

THESIS = "The Elbe is 1094 kilometres long."
OTHER = "The Rhine is 1233 kilometres long."
RIVERS = "Rivers of Europe\nThe Elbe is 1094 kilometres long.\nThe Rhine is 1233 kilometres long.\n"
DAY = 86_400.0


@dataclass
class Bench:
    """A base folder with an input folder beside it; `said` is what the person was told."""

    base: Path
    files: Path
    said: list[str] = field(default_factory=list)
    count: int = 0

    def settings(self, **changes: object) -> Settings:
        return defaults(
            {
                "verification.rule": "literal",
                "model.base_url": "builtin",
                "egress.mode": "none",
                "run.base_dir": str(self.base),
                **{name.replace("__", "."): value for name, value in changes.items()},
            }
        )

    def inquiry(self, thesis: str = THESIS, **asked: object) -> ThesisJob:
        request, budget = request_of(thesis, corpus=corpus_digest(self.files), **asked)
        return ThesisJob(request=request, lens=load_lens("general"), budget=budget, input_dir=self.files)

    def verify(self, inquiry: ThesisJob, settings: Settings | None = None, **how: Any) -> Answered:
        self.count += 1
        root = self.base / f"run-{self.count}"
        return asyncio.run(
            verify_or_reuse(
                inquiry,
                settings or self.settings(),
                self.base,
                how.pop("root", root),
                say=self.said.append,
                **how,
            )
        )

    def standing(self, inquiry: ThesisJob, after: float = 1.0) -> Answered | None:
        """The verdict that stands so many seconds after the last one."""
        last = max(path.stat().st_mtime for path in self.base.glob("*/seal.json"))
        return reusable(inquiry, self.settings(), self.base, last + after, say=self.said.append)

    @property
    def sessions(self) -> dict[str, bytes]:
        return {path.parent.name: path.read_bytes() for path in sorted(self.base.glob("*/trace.jsonl"))}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    files = tmp_path / "rivers"
    files.mkdir()
    (files / "rivers.txt").write_text(RIVERS)
    return Bench(tmp_path / "base", files)


def test_the_same_request_gives_the_verdict_of_before_and_no_new_session(bench: Bench) -> None:
    first = bench.verify(bench.inquiry())
    before = bench.sessions
    again = bench.verify(bench.inquiry())
    assert (first.verified.result, first.verified.reused) == ("SUPPORTED", False)
    assert again.verified.reused
    assert again.verified.attestation_id == first.verified.attestation_id
    assert again.verified.session == first.verified.session
    assert (again.result.status, again.result.exit_code) == ("QUOTED", 0)
    assert bench.sessions == before


def at_once(bench: Bench, *how: dict[str, Any]) -> list[Answered]:
    """The same request several times at one time, each as `how` says."""

    async def ask() -> list[Answered]:
        runs = (
            verify_or_reuse(
                bench.inquiry(), bench.settings(), bench.base, bench.base / f"at-once-{number}", **each
            )
            for number, each in enumerate(how)
        )
        return await asyncio.gather(*runs)

    return asyncio.run(ask())


def test_equal_requests_at_one_time_are_looked_for_once(bench: Bench) -> None:
    said: list[str] = []
    found = at_once(bench, *[{"now": said.append}] * 4)
    assert sorted(each.verified.reused for each in found) == [False, True, True, True]
    assert len({each.verified.attestation_id for each in found}) == 1
    assert len(bench.sessions) == 1
    assert said.count("another run verifies the same; waiting for its verdict") == 3
    assert not list((bench.base / ".vera" / "in-flight").iterdir())


def test_requests_with_another_budget_do_not_wait_for_each_other(bench: Bench) -> None:
    usual, small = bench.inquiry(), bench.inquiry(sources=1)
    assert reuse_key(usual, bench.settings()) == reuse_key(small, bench.settings())
    assert shared_key(usual, bench.settings()) != shared_key(small, bench.settings())


def test_a_budget_beyond_the_limit_of_the_settings_is_that_limit(bench: Bench) -> None:
    settings = bench.settings(budget__seconds=60)
    keys = {shared_key(bench.inquiry(seconds=each), settings) for each in (60, 600)}
    assert len(keys) == 1


def test_a_fresh_look_waits_for_no_other(bench: Bench) -> None:
    found = at_once(bench, {}, {"fresh": True})
    assert [each.verified.reused for each in found] == [False, False]


def test_a_lock_that_a_dead_process_left_holds_nothing_up(bench: Bench) -> None:
    folder = bench.base / ".vera" / "in-flight"
    folder.mkdir(parents=True)
    name = f"{hexadecimal(shared_key(bench.inquiry(), bench.settings()))}.lock"
    (folder / name).write_bytes(b"")
    assert not bench.verify(bench.inquiry()).verified.reused


def test_where_no_lock_can_be_made_the_thesis_is_verified_all_the_same(bench: Bench, tmp_path: Path) -> None:
    (bench.base / ".vera").mkdir(parents=True)
    (bench.base / ".vera" / "in-flight").symlink_to(tmp_path)
    assert bench.verify(bench.inquiry()).verified.result == "SUPPORTED"
    assert not list(tmp_path.glob("*.lock"))


def test_row_86_a_file_has_a_receipt_in_the_attestation(bench: Bench) -> None:
    verified = bench.verify(bench.inquiry()).verified
    (receipt,) = verified.attestation.receipts
    read = json.loads(Store(verified.session / "store").get(hexadecimal(receipt)))
    data = (bench.files / "rivers.txt").read_bytes()
    assert (read["path"], read["size"], read["sha256"]) == (
        "rivers.txt", len(data), hashlib.sha256(data).hexdigest(),
    )  # fmt: skip
    assert datetime.fromisoformat(read["read_at"]) <= datetime.now(UTC)
    assert all(
        level.verdict == "AGREES" for level in replay(verified.session, Signers(any_signer=True)).levels
    )


def test_a_receipt_that_was_altered_is_reported(bench: Bench) -> None:
    verified = bench.verify(bench.inquiry()).verified
    (receipt,) = verified.attestation.receipts
    name = hexadecimal(receipt)
    (blob,) = (verified.session / "store").rglob(f"*{name[2:]}*")
    blob.chmod(0o600)
    blob.write_bytes(b"{}")
    assert replay(verified.session, Signers(any_signer=True)).levels[0].verdict == "ALTERED"


def test_a_thesis_that_is_only_set_otherwise_is_another_request_of_the_same_thesis(bench: Bench) -> None:
    bench.verify(bench.inquiry())
    again = bench.verify(bench.inquiry("the elbe is 1094 kilometres long"))
    assert not again.verified.reused
    assert again.verified.request.thesis == bench.inquiry().request.thesis


def test_another_budget_is_the_same_request(bench: Bench) -> None:
    bench.verify(bench.inquiry())
    assert bench.verify(bench.inquiry(sources=3, seconds=5)).verified.reused


@pytest.mark.parametrize("asked", [{"risk": "high"}, {"not_before": "2020-01-01"}, {"lens": "factual"}])
def test_another_constraint_is_another_request(bench: Bench, asked: dict[str, str]) -> None:
    lens = load_lens(asked.get("lens", "general"))
    other = msgspec.structs.replace(bench.inquiry(**asked), lens=lens)
    assert reuse_key(other, bench.settings()) != reuse_key(bench.inquiry(), bench.settings())


def test_a_changed_input_folder_is_another_request(bench: Bench) -> None:
    bench.verify(bench.inquiry())
    (bench.files / "rivers.txt").write_text(RIVERS.replace("1094", "1100"))
    again = bench.verify(bench.inquiry())
    assert not again.verified.reused
    assert again.verified.result != "SUPPORTED"


def test_other_rules_are_another_key_and_another_look(bench: Bench) -> None:
    bench.verify(bench.inquiry())
    other = bench.settings(verification__web_sources=5)
    assert reuse_key(bench.inquiry(), other) != reuse_key(bench.inquiry(), bench.settings())
    assert not bench.verify(bench.inquiry(), other).verified.reused


def test_other_plugins_are_another_key(bench: Bench) -> None:
    keys = {
        reuse_key(bench.inquiry(), bench.settings(plugins__enabled=enabled, plugins__hard_checks=hard))
        for enabled, hard in (("", ""), ("shouting", ""), ("shouting", "shouting"))
    }
    assert len(keys) == 3
    limited = bench.settings(policy__gate_limits="calendar=3")
    assert reuse_key(bench.inquiry(), limited) in keys


def test_without_a_language_model_it_does_not_matter_which_one_is_set(bench: Bench) -> None:
    other = bench.settings(model__base_url="http://127.0.0.1:9/v1")
    assert reuse_key(bench.inquiry(), other) == reuse_key(bench.inquiry(), bench.settings())
    judged = bench.settings(model__base_url="http://127.0.0.1:9/v1", verification__rule="auto")
    assert reuse_key(bench.inquiry(), judged) != reuse_key(bench.inquiry(), other)


def test_a_person_can_ask_for_a_fresh_look(bench: Bench) -> None:
    bench.verify(bench.inquiry())
    assert not bench.verify(bench.inquiry(), fresh=True).verified.reused


def test_what_has_expired_is_not_used(bench: Bench) -> None:
    inquiry = bench.inquiry(volatility="fast")
    bench.verify(inquiry)
    assert bench.standing(inquiry, after=DAY - 60) is not None
    assert bench.standing(inquiry, after=DAY + 60) is None
    assert "expired at" in bench.said[-1]


def test_a_verdict_on_something_live_is_never_used_again(bench: Bench) -> None:
    bench.verify(bench.inquiry(volatility="live"))
    assert not bench.verify(bench.inquiry(volatility="live")).verified.reused


def test_a_verdict_of_tomorrow_is_not_used(bench: Bench) -> None:
    bench.verify(bench.inquiry())
    assert bench.standing(bench.inquiry(), after=-DAY) is None
    assert "yet to come" in bench.said[-1]


def test_a_spent_budget_stands_until_there_is_more_to_spend(bench: Bench) -> None:
    unspoken = "The Danube is 2850 kilometres long. The Oder is 840 kilometres long."
    first = bench.verify(bench.inquiry(unspoken, searches=1))
    assert (first.verified.result, first.verified.reason) == ("INCONCLUSIVE", "BUDGET")
    assert bench.verify(bench.inquiry(unspoken, searches=1)).verified.reused
    again = bench.verify(bench.inquiry(unspoken, searches=9))
    assert not again.verified.reused
    assert any("now there is more: searches" in sentence for sentence in bench.said)


def test_a_verdict_without_its_judge_stands_as_long_as_the_failed_exam_is_kept(bench: Bench) -> None:
    from support import exams
    from support.scripted_server import ScriptedServer

    def wrong(index: int, body: dict[str, Any]) -> str:
        _, spans = exams.asked(body)
        return exams.labelled(["SUPPORTS"] * len(spans))

    with ScriptedServer(wrong, exam="script") as server:
        judged = bench.settings(verification__rule="auto", model__base_url=server.base_url)
        first = bench.verify(bench.inquiry(), judged)
    (sat,) = (
        record
        for _, record in Reader(first.verified.session / TRACE).poll()
        if isinstance(record, events.VerifierExam)
    )
    assert not sat.passed and first.verified.result == "SUPPORTED"

    def standing(after: float) -> Answered | None:
        return reusable(bench.inquiry(), judged, bench.base, sat.sat_at + after, say=bench.said.append)

    assert standing(FAILURE_SECONDS - 60) is not None
    assert standing(FAILURE_SECONDS + 60) is None
    assert "Its judge had failed the exam, which it may pass now." in bench.said[-1]


# What lies in the base folder is not believed


def entry_of(bench: Bench, inquiry: ThesisJob) -> IndexedVerdict:
    found = find(bench.base, reuse_key(inquiry, bench.settings()))
    assert found is not None
    return found


def test_an_entry_that_points_at_the_verdict_on_another_thesis_is_passed_over(bench: Bench) -> None:
    bench.verify(bench.inquiry())
    bench.verify(bench.inquiry(OTHER))
    forged = msgspec.structs.replace(entry_of(bench, bench.inquiry()), session="run-2")
    keep(bench.base, forged)
    assert bench.standing(bench.inquiry()) is None
    assert "run-2, is not used. It answers another VERIFY_REQUEST" in bench.said[-1]


def test_an_entry_that_points_at_a_verdict_by_weaker_rules_is_passed_over(bench: Bench) -> None:
    weak = bench.settings(verification__web_sources=7)
    bench.verify(bench.inquiry(), weak)
    found = find(bench.base, reuse_key(bench.inquiry(), weak))
    assert found is not None
    keep(bench.base, msgspec.structs.replace(found, key=reuse_key(bench.inquiry(), bench.settings())))
    assert bench.standing(bench.inquiry()) is None
    assert "under other rules" in bench.said[-1]


@pytest.mark.parametrize("session", ["../outside", "/etc", "run-1/../run-1", "nowhere", "link", "", "a\0b"])
def test_an_entry_leads_nowhere_but_to_a_folder_below_the_base(bench: Bench, session: str) -> None:
    bench.verify(bench.inquiry())
    shutil.copytree(bench.base / "run-1", bench.base.parent / "outside")
    (bench.base / "link").symlink_to(bench.base.parent / "outside")
    keep(bench.base, msgspec.structs.replace(entry_of(bench, bench.inquiry()), session=session))
    assert bench.standing(bench.inquiry()) is None


def test_an_entry_cannot_prolong_a_verdict(bench: Bench) -> None:
    inquiry = bench.inquiry(volatility="fast")
    bench.verify(inquiry)
    keep(bench.base, msgspec.structs.replace(entry_of(bench, inquiry), expires_at="2999-01-01T00:00:00Z"))
    assert bench.standing(inquiry, after=2 * DAY) is None


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff" * 100, b"x" * 100_000])
def test_an_entry_that_cannot_be_read_is_none(bench: Bench, data: bytes) -> None:
    bench.verify(bench.inquiry())
    path = next(bench.base.joinpath(*FOLDER).iterdir())
    path.write_bytes(data)
    assert bench.standing(bench.inquiry()) is None
    assert not bench.verify(bench.inquiry()).verified.reused
    assert bench.verify(bench.inquiry()).verified.reused


def test_an_entry_that_is_a_link_is_none_and_is_replaced(bench: Bench, tmp_path: Path) -> None:
    bench.verify(bench.inquiry())
    path = next(bench.base.joinpath(*FOLDER).iterdir())
    elsewhere = tmp_path / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    before = elsewhere.read_bytes()
    assert bench.standing(bench.inquiry()) is None
    bench.verify(bench.inquiry())
    assert not path.is_symlink()
    assert elsewhere.read_bytes() == before


def flip(path: Path, at: int = -40) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.chmod(0o644)
    path.write_bytes(bytes(data))


def store_of(root: Path, kind: type[events.Evidence] = events.Evidence) -> Path:
    """The text of the first file that was read."""
    evidence = next(
        record
        for _, record in Reader(root / TRACE).poll()
        if isinstance(record, kind) and record.tool == "read"
    )
    return root / "store" / evidence.text.sha256[:2] / evidence.text.sha256


def unseal(root: Path) -> None:
    (root / "seal.json").unlink()


def sealed_by_a_stranger(root: Path) -> None:
    stranger = load_or_create(root.parent.parent / "keys")
    records = list(Reader(root / TRACE).poll())
    reader = Reader(root / TRACE)
    list(reader.poll())
    write_seal(root, Seal(seq=len(records), hash=reader.head), stranger.seal)


def cut_tail(root: Path) -> None:
    lines = (root / TRACE).read_bytes().splitlines(keepends=True)
    (root / TRACE).write_bytes(b"".join(lines[:-1]))


ALTERATIONS: dict[str, Callable[[Path], None]] = {
    "a byte of the log": lambda root: flip(root / TRACE, 900),
    "the tail of the log cut": cut_tail,
    "a byte of the envelope": lambda root: flip(root / "attestation.json"),
    "no envelope": lambda root: (root / "attestation.json").unlink(),
    "a byte of a source": lambda root: flip(store_of(root), 20),
    "a source taken away": lambda root: store_of(root).unlink(),
    "no seal": unseal,
    "the seal of a stranger": sealed_by_a_stranger,
    "the session taken away": shutil.rmtree,
}


@pytest.mark.parametrize("how", ALTERATIONS)
def test_an_altered_session_is_passed_over_with_a_sentence(bench: Bench, how: str) -> None:
    bench.verify(bench.inquiry())
    ALTERATIONS[how](bench.base / "run-1")
    again = bench.verify(bench.inquiry())
    assert not again.verified.reused
    assert again.verified.result == "SUPPORTED"
    assert any("in run-1, is not used." in sentence for sentence in bench.said)


def test_a_strangers_verdict_counts_only_when_its_key_is_trusted(bench: Bench) -> None:
    bench.verify(bench.inquiry())
    own = open_signer(None).keyid
    keys = Path(os.environ["XDG_DATA_HOME"]) / "vera" / "keys"
    shutil.move(keys, keys.with_name("keys-before"))
    try:
        assert bench.standing(bench.inquiry()) is None
        assert f"key {own}, which is not trusted" in bench.said[-1]
        at = (bench.base / "run-1" / "seal.json").stat().st_mtime
        found = reusable(bench.inquiry(), bench.settings(), bench.base, at, trust=[own])
        assert found is not None
    finally:
        shutil.rmtree(keys)
        shutil.move(keys.with_name("keys-before"), keys)


# A session at the place that a person named


def test_a_named_work_folder_gets_the_session_whole(bench: Bench, tmp_path: Path) -> None:
    first = bench.verify(bench.inquiry())
    again = bench.verify(bench.inquiry(), chosen=True, root=tmp_path / "mine" / "here")
    assert again.verified.reused
    assert again.verified.session == tmp_path / "mine" / "here"
    replayed = replay(again.verified.session, Signers(any_signer=True))
    assert {level.verdict for level in replayed.levels} == {"AGREES"}
    trace = first.verified.session / TRACE
    assert not (again.verified.session / TRACE).samefile(trace)
    assert (again.verified.session / TRACE).read_bytes() == trace.read_bytes()


def test_a_named_work_folder_that_is_not_empty_is_left_alone(bench: Bench, tmp_path: Path) -> None:
    bench.verify(bench.inquiry())
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("Dear")
    with pytest.raises(SessionError, match="Choose a new or empty folder"):
        bench.verify(bench.inquiry(), chosen=True, root=tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["letter.txt"]


def test_the_folder_of_the_verdict_itself_may_be_named(bench: Bench) -> None:
    first = bench.verify(bench.inquiry())
    again = bench.verify(bench.inquiry(), chosen=True, root=first.verified.session)
    assert again.verified.session == first.verified.session


def test_a_session_outside_the_base_is_no_verdict_to_find(bench: Bench, tmp_path: Path) -> None:
    bench.verify(bench.inquiry(), root=tmp_path / "elsewhere")
    assert "will not be found again" in bench.said[-1]
    assert not bench.verify(bench.inquiry()).verified.reused


ONCE = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_runtime_reuse import Bench
bench = Bench(Path(sys.argv[2]), Path(sys.argv[3]))
print(bench.verify(bench.inquiry(), root=bench.base / sys.argv[4]).verified.result)
"""


def test_two_processes_at_once_both_get_a_verdict_and_one_is_found_again(bench: Bench) -> None:
    argv = [sys.executable, "-c", ONCE, str(Path(__file__).parent), str(bench.base), str(bench.files)]
    both = [subprocess.Popen([*argv, name], stdout=subprocess.PIPE, text=True) for name in ("one", "two")]
    assert [each.communicate(timeout=120)[0].split()[-1:] for each in both] == [["SUPPORTED"]] * 2
    assert bench.verify(bench.inquiry()).verified.reused
    assert not list(bench.base.joinpath(*FOLDER).glob(".new-*"))


# What a folder holds


def test_a_folders_digest_tells_names_sizes_and_times(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one")
    first = corpus_digest(tmp_path)
    assert corpus_digest(tmp_path) == first
    (tmp_path / "a.txt").write_text("two")
    second = corpus_digest(tmp_path)
    (tmp_path / "a.txt").rename(tmp_path / "b.txt")
    third = corpus_digest(tmp_path)
    (tmp_path / "c.txt").touch()
    assert len({first, second, third, corpus_digest(tmp_path)}) == 4


def test_a_folders_digest_follows_no_link_and_leaves_out_what_vera_keeps(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (inside / "link").symlink_to(outside)
    first = corpus_digest(inside)
    (outside / "new.txt").write_text("new")
    (inside / ".vera" / "requests").mkdir(parents=True)
    (inside / ".vera" / "requests" / "x.json").write_text("{}")
    assert corpus_digest(inside) == first


def test_a_folder_that_is_not_there_has_a_digest(tmp_path: Path) -> None:
    assert corpus_digest(tmp_path / "nowhere").startswith("sha256:")
