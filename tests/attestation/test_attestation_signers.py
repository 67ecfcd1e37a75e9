"""Whose signature counts: names and keys that a person trusts."""

import hashlib
import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner

from vera.attestation import signers
from vera.attestation.keys import Signer, default_folder, load_or_create
from vera.attestation.signers import Signers, TrustError, add, key_in, known_signers, names_in, remove
from vera.cli.key import key as key_command
from vera.cli.trust import trust as trust_command


@pytest.fixture
def other(tmp_path: Path) -> Signer:
    return load_or_create(tmp_path / "other")


@pytest.fixture
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty data folder of this person."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "mine"


def test_ones_own_key_is_known_and_looking_makes_none(folder: Path) -> None:
    assert known_signers(folder=folder) == Signers()
    assert not folder.exists()
    own = load_or_create(folder)
    assert known_signers(folder=folder).who(own.keyid) == "by your key"
    assert known_signers(folder=folder).accepts(own.keyid)


@pytest.mark.parametrize("spelling", ["pem", "hex", "HEX", "keyid"])
def test_a_key_is_trusted_by_name_however_it_is_given(folder: Path, other: Signer, spelling: str) -> None:
    given = {
        "pem": other.pem,
        "hex": other.public.hex(),
        "HEX": f" {other.public.hex().upper()}\n",
        "keyid": other.keyid,
    }[spelling]
    add("anna", key_in(given), folder)
    known = known_signers(folder=folder)
    assert known.who(other.keyid) == "by anna, whom you trust"
    assert known.accepts(other.keyid)
    remove("anna", folder)
    assert not known_signers(folder=folder).accepts(other.keyid)


def test_an_unknown_key_is_not_accepted_unless_any_is(other: Signer) -> None:
    assert Signers().who(other.keyid) == "by an unknown key: VERA cannot say who made this"
    assert not Signers().accepts(other.keyid)
    assert not Signers().accepts("")
    assert Signers(any_signer=True).accepts(other.keyid)


def test_trust_by_key_id_accepts_no_other_not_even_ones_own(folder: Path, other: Signer) -> None:
    own = load_or_create(folder)
    known = known_signers([other.keyid], folder=folder)
    assert known.accepts(other.keyid)
    assert known.who(other.keyid) == "by a key that --trust names"
    assert not known.accepts(own.keyid)


def test_the_names_are_for_this_user_alone(folder: Path, other: Signer) -> None:
    before = os.umask(0)
    try:
        add("anna", other.keyid, folder)
    finally:
        os.umask(before)
    assert stat.S_IMODE((folder / signers.FILE).stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (folder / signers.FILE).chmod(0o664)
    with pytest.raises(TrustError, match="chmod 600"):
        known_signers(folder=folder)


@pytest.mark.parametrize("name", ["", " ", "a b", "-x", "ann\n", "x" * 65, "\x1b[31m", "añna", "a/b"])
def test_a_name_that_could_mislead_is_refused(folder: Path, other: Signer, name: str) -> None:
    with pytest.raises(TrustError, match="no name for a key"):
        add(name, other.keyid, folder)


def test_a_name_keeps_its_key_and_a_key_its_name(folder: Path, other: Signer) -> None:
    add("anna", other.keyid, folder)
    add("anna", other.keyid, folder)
    with pytest.raises(TrustError, match="another key as anna"):
        add("anna", "0" * 64, folder)
    with pytest.raises(TrustError, match="this key as anna"):
        add("berta", other.keyid, folder)
    assert names_in(folder) == {other.keyid: "anna"}
    with pytest.raises(TrustError, match="no one by the name"):
        remove("berta", folder)


def test_a_key_and_its_id_are_one_key_under_one_name(folder: Path, other: Signer) -> None:
    forms = (other.public.hex(), other.keyid)
    for first, second in (forms, forms[::-1]):
        add("anna", first, folder)
        add("anna", second, folder)
        with pytest.raises(TrustError, match="this key as anna"):
            add("berta", first, folder)
        with pytest.raises(TrustError, match="this key as anna"):
            add("berta", second, folder)
        assert remove("anna", folder) == ""


@pytest.mark.usefixtures("own_data")
def test_a_key_that_was_kept_under_two_names_is_still_trusted_after_one_is_removed(other: Signer) -> None:
    add("anna", other.keyid)
    path = default_folder() / signers.FILE
    path.write_text(json.dumps({"anna": other.public.hex(), "berta": other.keyid}))
    done = CliRunner().invoke(trust_command, ["remove", "anna"])
    assert done.stdout == "You trust anna no longer. You still trust the same key as berta.\n"
    assert known_signers().who(other.keyid) == "by berta, whom you trust"
    assert CliRunner().invoke(trust_command, ["remove", "berta"]).stdout == "You trust berta no longer.\n"


@pytest.mark.usefixtures("own_data")
@pytest.mark.parametrize("given", [b"\377", b"\377" * 50_000, b"\0", b""])
def test_bytes_on_standard_input_that_are_no_key_are_a_sentence(given: bytes) -> None:
    done = CliRunner(charset="ascii").invoke(trust_command, ["add", "bob", "-"], input=given)
    assert isinstance(done.exception, SystemExit) and done.exit_code == 1
    assert "That is no Ed25519 key" in done.stderr


@pytest.mark.usefixtures("own_data")
def test_a_file_of_a_key_that_does_not_exist_is_told() -> None:
    done = CliRunner().invoke(trust_command, ["add", "bob", "nofile.pem"])
    assert done.exit_code == 1 and "there is no file nofile.pem" in done.stderr


@pytest.mark.parametrize("text", ["", "key", "0" * 63, "g" * 64, "-----BEGIN PUBLIC KEY-----\nAAAA\n"])
def test_what_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(TrustError, match="no Ed25519 key"):
        key_in(text)


def test_a_private_key_is_refused_with_what_to_ask_for(folder: Path) -> None:
    load_or_create(folder)
    with pytest.raises(TrustError, match="Ask for the public one"):
        key_in((folder / "ed25519.pem").read_text())


@pytest.mark.parametrize("content", [b"", b"[]", b'{"a b": "00"}', b'{"anna": 1}', b"\xff", b'{"anna": "0"}'])
def test_a_file_that_was_damaged_is_a_sentence(folder: Path, content: bytes) -> None:
    folder.mkdir(mode=0o700)
    (folder / signers.FILE).write_bytes(content)
    (folder / signers.FILE).chmod(0o600)
    with pytest.raises(TrustError, match="Move it away"):
        known_signers(folder=folder)


def test_two_at_once_lose_no_name(folder: Path) -> None:
    keys = [hashlib.sha256(b"%d" % number).hexdigest() for number in range(30)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda each: add(f"n{each[:20]}", each, folder), keys))
    assert set(names_in(folder)) == set(keys)


def test_the_commands_print_a_key_and_take_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = CliRunner()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "anna"))
    shown = runner.invoke(key_command)
    keyid = load_or_create().keyid
    assert keyid in shown.stderr
    (tmp_path / "anna.pem").write_text(shown.stdout)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "bert"))
    added = runner.invoke(trust_command, ["add", "anna", str(tmp_path / "anna.pem")])
    assert (added.exit_code, added.stdout) == (0, "You trust anna.\n")
    assert known_signers().who(keyid) == "by anna, whom you trust"
    assert "anna" in runner.invoke(trust_command, ["list"]).stdout
    assert runner.invoke(trust_command, ["add", "carl", "-"], input=shown.stdout).exit_code == 1
    assert runner.invoke(trust_command, ["remove", "anna"]).exit_code == 0
    assert runner.invoke(trust_command, ["add", "anna", "nonsense"]).exit_code == 1
    assert "You trust no key but your own" in runner.invoke(trust_command, ["list"]).stderr
