"""Bad input to the verifier: each ends in a named reason, with nothing lost, UNRESOLVED at worst."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.attacks import OFFLINE, Attempt, Files, attempt, vera_here
from support.cast import final, turn
from vera import events
from vera.headline import OPEN
from vera.protocol import Turn

QUESTION = "How long must a written offer be valid?"
FILES: Files = {
    "terms.txt": "Terms\n\nA written offer must be valid for at least three years.\nIt is free of charge.\n",
}
TRUE = "A written offer must be valid for at least three years [ev_0001:3]."
READ = turn("read", path="terms.txt")


def run(folder: Path, *worker: Turn | str, files: Files = FILES, **more: Any) -> Attempt:
    return attempt(folder, worker, *OFFLINE, question=QUESTION, files=files, streams=False, **more)


EMPTY = {
    "nothing": "",
    "white space": "  \n\t ",
    "a full stop": ".",
    "hidden": "\u200b\u2060",
    "a heading": "# ",
}


@pytest.mark.parametrize("answer", EMPTY.values(), ids=EMPTY)
def test_an_empty_answer_is_never_what_holds(tmp_path: Path, answer: str) -> None:
    tried = run(tmp_path, READ, *[final(answer)] * 6)
    assert tried.status == "UNRESOLVED", "of the worker's answer"
    assert tried.state.extracts is not None and tried.state.extracts.by == "builtin"
    assert (tried.state.lane("main").status, tried.code) == ("QUOTED", 0), "extracts answer in its place"


LONG = {
    "sentences": f"{TRUE}\n\n" * 1000 + " " * 860_000,
    "one sentence": "word " * 60_000 + "[ev_0001:3].",
    "one number": "9" * 950_000,
    "brackets": "[" * 950_000,
    "citations": "[ev_0001:3]" * 86_000,
}


@pytest.mark.parametrize("answer", LONG.values(), ids=LONG)
def test_an_answer_of_almost_a_megabyte_ends_in_a_named_reason(tmp_path: Path, answer: str) -> None:
    tried = run(tmp_path, READ, final(answer))
    assert tried.status in OPEN
    tried.is_sound()
    answered = next(record for record in tried.records() if isinstance(record, events.Answer))
    assert isinstance(answered.text, events.Blob)
    assert tried.store.get(answered.text.sha256).decode() == answer, "a part of the answer was lost"


@pytest.mark.parametrize(
    ("length", "status"), [(300, "VERIFIED"), (3000, "UNRESOLVED"), (40_000, "UNRESOLVED")]
)
@pytest.mark.parametrize(
    "between", [" of paper", ",\n  and", " \x01\u2028"], ids=["words", "lines", "controls"]
)
def test_a_claim_whose_end_no_judge_could_read_is_not_supported(
    tmp_path: Path, between: str, length: int, status: str
) -> None:
    """The judge is shown a part of a long claim: what it supports may be the harmless part."""
    padding = between * (length // len(between))
    said = f"A written offer must be valid for at least three years{padding} and is worthless [ev_0001:3]."
    tried = run(tmp_path, READ, final(said))
    assert tried.status == status
    if status == "UNRESOLVED":
        assert tried.verdict == ("INCONCLUSIVE", "BUDGET")
    tried.is_sound()


def test_an_answer_of_more_than_a_megabyte_is_refused_as_a_turn(tmp_path: Path) -> None:
    tried = run(tmp_path, READ, final("word " * 220_000), final(TRUE))
    assert [record.codes for record in tried.records() if isinstance(record, events.PolicyParseError)] == [
        ("too_long",)
    ]
    tried.is_verified()


def test_ten_thousand_citations_are_too_many_to_read_and_it_is_said(tmp_path: Path) -> None:
    sentence = "It must be valid for at least three years " + "[ev_0001:3]" * 100 + ". "
    tried = run(tmp_path, READ, final(sentence * 100 + TRUE))
    assert tried.status == "UNRESOLVED" and "too_many_citations" in tried.hard()
    tried.is_sound()


def test_a_hundred_true_sentences_are_verified(tmp_path: Path) -> None:
    """The twin of the long ones."""
    lines = "".join(f"Room {n} holds {n * 7} chairs.\n" for n in range(1, 41))
    said = " ".join(f"Room {n} holds {n * 7} chairs [ev_0001:{n}]." for n in range(1, 41))
    run(tmp_path, turn("read", path="rooms.txt"), final(said), files={"rooms.txt": lines}).is_verified()


INVALID = {
    "Latin-1": "Prämie\n\nDas Angebot gilt 3 Jahre für jeden.\n".encode("latin-1"),
    "cut characters": b"Offers\n\nThe offer is valid for 3 years \xe2\x82 and so on.\nEnd \xff\xfe.\n",
    "NUL bytes": b"Offers\n\nThe offer is valid\x00 for 3 years.\n",
    "surrogates": b"Offers\n\nThe offer is valid for 3 years. \xed\xa0\x80\n",
}


@pytest.mark.parametrize("data", INVALID.values(), ids=INVALID)
def test_a_source_that_is_no_utf_8_can_be_cited_or_is_said_to_be_unreadable(
    tmp_path: Path, data: bytes
) -> None:
    files = {**FILES, "odd.txt": data}
    tried = run(
        tmp_path,
        turn("read", path="odd.txt"),
        READ,
        final("It is valid for 3 years [ev_0001:3]."),
        files=files,
    )
    tried.is_sound()
    if evidence := tried.state.evidence.get("ev_0001"):
        kept = evidence.raw or evidence.text
        if evidence.source == "odd.txt":
            assert tried.store.get(kept.sha256) == data, "the bytes that were read are not kept"


def after_reading(folder: Path, change: Callable[[Path], object]) -> Callable[[], object]:
    return lambda: change(folder / "documents" / "terms.txt")


CHANGES: dict[str, Callable[[Path], object]] = {
    "rewritten": lambda path: path.write_text("Terms\n\nA written offer is valid for nine years.\n"),
    "emptied": lambda path: path.write_text(""),
    "removed": lambda path: path.unlink(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_source_that_changes_after_it_was_read_is_judged_by_what_was_read(
    tmp_path: Path, change: Callable[[Path], object]
) -> None:
    tried = run(tmp_path, READ, final(TRUE), during=after_reading(tmp_path, change))
    tried.is_verified()


def test_what_only_the_changed_file_says_is_not_verified(tmp_path: Path) -> None:
    nine = final("A written offer is valid for nine years [ev_0001:3].")
    tried = run(tmp_path, READ, nine, during=after_reading(tmp_path, CHANGES["rewritten"]))
    assert tried.status == "UNRESOLVED" and "amount_absent" in tried.hard()
    tried.is_sound()


def blob_of(folder: Path) -> Path:
    """The stored text of the first evidence."""
    text = (folder / "documents" / "terms.txt").read_bytes()
    (found,) = [path for path in (folder / "work" / "store").glob("*/*") if path.read_bytes() == text]
    return found


def remove(path: Path) -> None:
    path.unlink()


def alter(path: Path) -> None:
    data = path.read_bytes().replace(b"three", b"seven")
    path.chmod(0o644)
    path.write_bytes(data)


@pytest.mark.parametrize("harm", [remove, alter])
def test_a_blob_that_is_lost_while_the_agent_works_is_a_hard_finding(
    tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    tried = run(tmp_path, READ, final(TRUE), during=lambda: harm(blob_of(tmp_path)))
    assert tried.status == "UNRESOLVED" and tried.hard() & {"bytes_missing", "bytes_altered"}
    assert tried.state.lane("main").status_reason
    assert "cannot be shown" in tried.show().out
    code, report = tried.replay()
    assert code in (0, 1)
    if code:
        assert {level["verdict"] for level in report["levels"]} & {"MISSING", "ALTERED"}


@pytest.mark.parametrize("harm", [remove, alter])
def test_a_blob_that_is_lost_after_the_verdict_is_named_by_show_and_replay(
    tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    tried = run(tmp_path, READ, final(TRUE))
    tried.is_verified()
    harm(blob_of(tmp_path))
    shown = vera_here("show", tried.work, cwd=tmp_path)
    assert shown.code == 1 and "cannot be shown" in shown.out
    code, report = tried.replay()
    assert code == 1 and report["levels"][0]["verdict"] in ("MISSING", "ALTERED")


def test_a_folder_of_sources_that_is_gone_during_verification_takes_no_verdict_away(tmp_path: Path) -> None:
    """A check lane cannot read the file again; what was stored suffices for the rest."""

    def away() -> None:
        (tmp_path / "documents").rename(tmp_path / "elsewhere")

    run(tmp_path, READ, final(TRUE), during=away).is_verified()
