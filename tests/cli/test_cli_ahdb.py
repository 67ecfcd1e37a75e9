"""`vera ahdb`: what stands, how it came to be so, what a person may write, and what nobody may."""

import json
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from support.theses import THESIS, verified_thesis
from vera.attestation.ahdb.admission import assert_from
from vera.attestation.ahdb.entries import encode
from vera.attestation.ahdb.journal import Journal, hash_of, parse_lines
from vera.attestation.keys import Signer, load_or_create
from vera.attestation.proposition import thesis_id
from vera.cli import main
from vera.session.log import seal_line


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A base folder, and a person with no settings and no key yet."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "base"


def vera(base: Path, *arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(main, ["ahdb", *arguments, "--base-dir", str(base)])
    return done.exit_code, done.stdout, done.stderr


def asserted(base: Path, signer: Signer, name: str = "session", **asked: str) -> None:
    found = verified_thesis(base / "work" / name, signer, **asked)  # type: ignore[arg-type] # its own arguments
    now = datetime.now(UTC)
    assert_from(found.envelope, found.store, Journal(base), **found.asked, signer=signer, now=now)


DRIVE = ["drive", "Ship by May", "--priority", "1", "--trade-off", "speed", "--red-line", "no unproved claim"]
HYPOTHESIS = ["hypothesize", THESIS, "--test", "Read rivers.txt.", "--budget", "One file."]
BELIEF = ["believe", "There is no network.", "--prior", "the profile", "--tier", "high"]
BELIEF += ["--trigger", "egress", "--effect", "no fetch"]


def test_nothing_stands_where_there_is_no_journal_and_none_is_made(base: Path) -> None:
    assert vera(base, "show") == (0, f"{base}/.vera/ahdb.jsonl is empty.\n", "")
    assert vera(base, "history")[1] == f"{base}/.vera/ahdb.jsonl has no entries.\n"
    assert not base.exists()


def test_show_prints_register_by_register(base: Path) -> None:
    for proposed in (DRIVE, BELIEF, HYPOTHESIS):
        assert vera(base, "propose", *proposed)[0] == 0
    code, out, _ = vera(base, "show")
    assert code == 0
    assert [line for line in out.splitlines() if line.isupper()] == ["HYPOTHESIZE", "DRIVE", "BELIEVE"]
    assert "    1  Ship by May\n       priority 1; trade-off: speed; red line: no unproved claim" in out


def test_an_assert_is_shown_to_the_person_whose_key_signed_it(base: Path) -> None:
    asserted(base, load_or_create())
    code, out, _ = vera(base, "show")
    assert code == 0
    assert out.startswith("ASSERT\n")
    assert "Looked at: files." in out
    assert "HYPERTHESIS" in out


def test_a_journal_that_another_key_signed_is_not_used_until_it_is_trusted(
    base: Path, tmp_path: Path
) -> None:
    other = load_or_create(tmp_path / "theirs")
    asserted(base, other)
    code, out, err = vera(base, "show")
    assert code == 1
    assert out == ""
    assert "which is not trusted (--trust KEYID)" in err
    assert vera(base, "show", "--trust", other.keyid)[0] == 0


def test_show_as_json_has_the_entries_as_they_stand_in_the_journal(base: Path) -> None:
    vera(base, "propose", *DRIVE)
    vera(base, "propose", *DRIVE)
    code, out, _ = vera(base, "show", "--json")
    (entry,) = json.loads(out)["entries"]
    assert (code, entry["seq"], entry["red_line"]) == (0, 2, "no unproved claim")
    line = json.loads((base / ".vera" / "ahdb.jsonl").read_bytes().splitlines()[-1])
    assert entry == line


def test_a_hypothesis_bears_the_id_of_its_thesis(base: Path) -> None:
    _, out, _ = vera(base, "propose", *HYPOTHESIS, "--json")
    entry = json.loads(out)
    assert entry["key"] == entry["thesis_id"] == thesis_id(THESIS)
    assert entry["promotion"].startswith("A SUPPORTED attestation")
    assert entry["actor"] == "person"


def test_a_later_entry_of_the_same_key_takes_the_place_of_the_former(base: Path) -> None:
    vera(base, "propose", *DRIVE, "--key", "date")
    vera(base, "propose", "drive", "Ship by June", *DRIVE[2:], "--key", "date")
    out = vera(base, "show")[1]
    assert "Ship by June" in out
    assert "Ship by May" not in out
    assert "Ship by May" in vera(base, "history")[1]


def test_retract_takes_an_entry_away_and_history_keeps_it(base: Path) -> None:
    vera(base, "propose", *DRIVE)
    code, out, _ = vera(base, "retract", "1", "--reason", "It shipped.")
    assert code == 0
    assert "RETRACT DRIVE (PERSON)  It shipped." in out
    assert vera(base, "show")[1].endswith(" is empty.\n")
    assert len(vera(base, "history")[1].splitlines()) == 2


@pytest.mark.parametrize("name", ["assert", "ASSERT", "Assert"])
def test_nobody_writes_into_assert(name: str, base: Path) -> None:
    code, _, error = vera(base, "propose", name, THESIS)
    assert code == 2
    assert error == (
        "vera: No one writes into ASSERT: a SUPPORTED attestation of the thesis does. "
        "Propose it as hypothesize, and have it verified.\n"
    )
    assert not base.exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["hyperthesis", "x"], "only an attestation writes it"),
        (["retract", "x"], "vera ahdb retract SEQ --reason TEXT"),
        (["wish", "x"], "There is no register 'wish': give hypothesize, drive or believe."),
        (["drive", "x", "--priority", "1"], "DRIVE also needs --trade-off, --red-line."),
        ([*DRIVE, "--prior", "x"], "--prior cannot be said of DRIVE."),
        (["drive", " ", *DRIVE[2:]], "TEXT is empty."),
        (["drive", "x" * 4001, *DRIVE[2:]], "TEXT is longer than 4000 characters."),
        ([*DRIVE, "--key", " "], "--key is empty."),
        ([*DRIVE, "--key", "x" * 201], "--key is longer than 200 characters."),
        ([*HYPOTHESIS, "--key", "x"], "its key is the id of its thesis"),
        ([*HYPOTHESIS, *["--test", "x"] * 5], "Give at most 5 --test."),
        ([*HYPOTHESIS[:3], "", "--budget", "x"], "--test is empty."),
        (["hypothesize", "Is it so?", *HYPOTHESIS[2:]], "no statement"),
    ],
)
def test_what_cannot_be_proposed_is_a_sentence(arguments: list[str], sentence: str, base: Path) -> None:
    code, out, error = vera(base, "propose", *arguments)
    assert (code, out) == (2, "")
    assert sentence in error
    assert not base.exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["9", "--reason", "x"], "There is no entry 9; the journal has 1."),
        (["1", "--reason", " "], "--reason is empty."),
        (["one", "--reason", "x"], "not a valid integer"),
        (["1"], "Missing option '--reason'"),
    ],
)
def test_what_cannot_be_retracted_is_a_sentence(arguments: list[str], sentence: str, base: Path) -> None:
    vera(base, "propose", *DRIVE)
    code, _, error = vera(base, "retract", *arguments)
    assert code == 2
    assert sentence in error


def test_a_key_id_that_is_none_is_wrong_usage(base: Path) -> None:
    code, _, error = vera(base, "show", "--trust", "abc")
    assert code == 2
    assert "is no key id" in error


def test_a_broken_journal_is_a_sentence(base: Path) -> None:
    vera(base, "propose", *DRIVE)
    journal = base / ".vera" / "ahdb.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b"May", b"Jun"))
    for command in (["show"], ["history"], ["propose", *DRIVE], ["retract", "1", "--reason", "x"]):
        code, out, error = vera(base, *command)
        assert (code, out) == (1, "")
        assert "The AHDB journal is broken at line 1: its bytes do not match its hash." in error


def test_a_torn_line_is_said(base: Path) -> None:
    vera(base, "propose", *DRIVE)
    with (base / ".vera" / "ahdb.jsonl").open("ab") as file:
        file.write(b"{")
    assert "the last 1 bytes of the journal are no whole entry" in vera(base, "show")[2]
    assert "moved to .vera/ahdb.jsonl.torn" in vera(base, "propose", *DRIVE)[2]
    assert vera(base, "history")[2] == ""


def test_a_line_behind_the_signed_head_is_named_and_the_exit_code_is_1(base: Path) -> None:
    vera(base, "propose", *DRIVE)
    vera(base, "retract", "1", "--reason", "No longer.")
    journal = base / ".vera" / "ahdb.jsonl"
    first, second = journal.read_bytes().splitlines(keepends=True)
    proposed, last = parse_lines(first + second).entries
    entry = msgspec.structs.replace(proposed, seq=3, ts=last.ts, prev=hash_of(last))
    journal.write_bytes(first + second + seal_line(encode(entry))[0])
    code, out, _ = vera(base, "show")
    assert code == 1
    assert out.startswith("NOT SIGNED: line 3 stands behind the signed head of the journal.")
    assert "Ship by May" not in out
    code, out, error = vera(base, "history")
    assert (code, len(out.splitlines())) == (1, 2)
    assert "line 3 stands behind the signed head" in error
    assert json.loads(vera(base, "show", "--json")[1])["unsigned"] == 1
    assert "bytes of 1 lines that were not signed were moved" in vera(base, "propose", *BELIEF)[2]
    assert vera(base, "show")[0] == 0


def test_a_journal_of_an_older_vera_opens_and_is_said_to_be_unsealed(base: Path) -> None:
    vera(base, "propose", *DRIVE)
    (base / ".vera" / "ahdb.head.json").unlink()
    code, out, error = vera(base, "show")
    assert (code, "Ship by May" in out) == (0, True)
    assert "this journal is unsealed" in error
    assert "this journal is unsealed" in vera(base, "history")[2]
    assert json.loads(vera(base, "show", "--json")[1])["head"] == ""
    vera(base, "propose", *BELIEF)
    assert vera(base, "show")[2] == ""


def test_row_93_blind_spots_are_shown_under_their_thesis(base: Path) -> None:
    asserted(base, load_or_create())
    out = vera(base, "show")[1]
    spots = out.partition("HYPERTHESIS\n")[2].splitlines()
    named = [line.strip() for line in spots if line.strip().startswith("Of the thesis: ")]
    assert named == [f"Of the thesis: {THESIS}".rstrip(".")]
    assert spots[0].strip() == named[0]


def test_row_93_of_two_theses_each_has_its_own_blind_spots_under_it(base: Path) -> None:
    signer = load_or_create()
    asserted(base, signer)
    other = "The Rhine is 1233 kilometres long."
    asserted(base, signer, "other", thesis=other, text=f"{other.rstrip('.')} [ev_0002:3].")
    spots = vera(base, "show")[1].partition("HYPERTHESIS\n")[2].splitlines()
    heads = [number for number, line in enumerate(spots) if line.strip().startswith("Of the thesis: ")]
    assert [spots[at].strip() for at in heads] == [
        f"Of the thesis: {each.rstrip('.')}" for each in (THESIS, other)
    ]
    assert heads[0] == 0
    assert all(len(part) > 1 for part in (spots[: heads[1]], spots[heads[1] :]))


def test_no_control_code_of_an_entry_reaches_the_terminal(base: Path) -> None:
    vera(base, "propose", "drive", "red \x1b[31m", *DRIVE[2:])
    for command in ("show", "history"):
        assert "\x1b" not in vera(base, command)[1]
        assert "\x1b" not in vera(base, command, "--json")[1]


def test_by_default_the_base_folder_is_that_of_the_settings(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vera(base, "propose", *DRIVE)
    done = CliRunner().invoke(main, ["ahdb", "show"])
    assert done.stdout.endswith(" is empty.\n")
    monkeypatch.chdir(base)
    assert "Ship by May" in CliRunner().invoke(main, ["ahdb", "show"]).stdout
