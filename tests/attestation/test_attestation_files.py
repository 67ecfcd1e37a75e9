"""A statement about files: what is signed, what is refused, and what a check says of each file."""

import base64
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey

from vera.attestation import dsse
from vera.attestation.dsse import EnvelopeError
from vera.attestation.envelope import PREDICATE_TYPE
from vera.attestation.files import MAX_FILES, MAX_PREDICATE_BYTES, StatementError, attest_files, check_files
from vera.attestation.keys import Signer
from vera.attestation.objects import canonical

SIGNER = Signer(Ed25519PrivateKey.from_private_bytes(bytes(range(32))))
TYPE = "https://slsa.dev/provenance/v1"


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    for name, text in (("b.whl", "wheel"), ("a.tar.gz", "source")):
        (tmp_path / name).write_text(text)
    return [tmp_path / "b.whl", tmp_path / "a.tar.gz"]


def statement_of(envelope: bytes) -> dict[str, Any]:
    statement: dict[str, Any] = json.loads(base64.b64decode(json.loads(envelope)["payload"]))
    return statement


def signed(statement: dict[str, Any]) -> bytes:
    return dsse.sign(canonical(statement), SIGNER)


def test_what_was_signed_holds_by_name_and_bytes(files: list[Path]) -> None:
    envelope = attest_files(files, TYPE, b'{"built": "here"}', SIGNER)
    checked = check_files(envelope, files)
    assert checked.keyid == SIGNER.keyid
    assert [(each.name, each.why) for each in checked.files] == [("b.whl", ""), ("a.tar.gz", "")]
    assert checked.statement.predicate == {"built": "here"}
    assert [each["name"] for each in statement_of(envelope)["subject"]] == ["a.tar.gz", "b.whl"]


def test_the_order_of_files_and_of_members_changes_no_byte(files: list[Path]) -> None:
    one = attest_files(files, TYPE, b'{"a": 1, "b": 2}', SIGNER)
    assert attest_files(files[::-1], TYPE, b'{"b":2,"a":1}', SIGNER) == one


def test_a_tool_that_knows_only_dsse_verifies_it(files: list[Path]) -> None:
    envelope = json.loads(attest_files(files, TYPE, b"{}", SIGNER))
    key = SSlibKey(SIGNER.keyid, "ed25519", "ed25519", {"public": SIGNER.public.hex()})
    bare = [{name: each[name] for name in ("keyid", "sig")} for each in envelope["signatures"]]
    assert Envelope.from_dict({**envelope, "signatures": bare}).verify([key], 1)


def test_a_changed_a_renamed_and_an_unknown_file_are_told_apart(files: list[Path], tmp_path: Path) -> None:
    envelope = attest_files(files, TYPE, b"{}", SIGNER)
    renamed, unknown = tmp_path / "c.whl", tmp_path / "d.whl"
    shutil.copy(files[0], renamed)
    unknown.write_text("other")
    files[1].write_text("changed")
    assert [each.why for each in check_files(envelope, [renamed, unknown, files[1], files[0]]).files] == [
        "it was signed under the name b.whl",
        "the statement does not name it",
        "its bytes are not those that were signed",
        "",
    ]


@given(st.integers(0, 10_000), st.integers(0, 255))
def test_an_envelope_with_another_byte_does_not_hold(position: int, value: int) -> None:
    envelope = signed(
        {
            "_type": "https://in-toto.io/Statement/v1",
            "subject": [{"name": "a", "digest": {"sha256": "0" * 64}}],
            "predicateType": TYPE,
            "predicate": {},
        }
    )
    assert check_files(envelope, []).statement.predicate_type == TYPE
    position %= len(envelope)
    if envelope[position] != value:
        with pytest.raises(EnvelopeError):
            check_files(envelope[:position] + bytes([value]) + envelope[position + 1 :], [])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"_type": "https://in-toto.io/Statement/v0.1"}, "no https://in-toto.io/Statement/v1"),
        ({"subject": []}, "must name 1 to"),
        ({"subject": [{"name": "a", "digest": {"sha256": "0" * 64}}] * 2}, "each once"),
        ({"subject": [{"name": "a", "digest": {"sha512": "0" * 64}}]}, "no statement about files"),
        ({"predicate": []}, "no statement about files"),
        ({"more": 1}, "no statement about files"),
        ({"predicateType": PREDICATE_TYPE}, "vera replay"),
    ],
)
def test_a_statement_of_another_form_is_refused_though_it_is_signed(
    files: list[Path], change: dict[str, Any], says: str
) -> None:
    statement = statement_of(attest_files(files, TYPE, b"{}", SIGNER))
    with pytest.raises((EnvelopeError, StatementError), match=says):
        check_files(signed({**statement, **change}), files)


@pytest.mark.parametrize(
    ("predicate", "says"),
    [
        (b"[]", "no JSON object"),
        (b"{", "no JSON object"),
        (b'{"n": 1e400}', "no JSON object|no canonical form"),
        (b'{"n": 9007199254740993}', "no canonical form"),
        (b'{"x": "' + b"x" * MAX_PREDICATE_BYTES + b'"}', "larger than 1 MB"),
        (b'{"x":' * 100_000, "no JSON object"),
    ],
)
def test_a_predicate_that_cannot_be_signed_is_refused(files: list[Path], predicate: bytes, says: str) -> None:
    with pytest.raises(StatementError, match=says):
        attest_files(files, TYPE, predicate, SIGNER)


@pytest.mark.parametrize(
    "kind", ["", "provenance", "file:///etc/passwd", "https://x/" + "y" * 500, PREDICATE_TYPE]
)
def test_a_type_that_is_no_uri_or_is_that_of_a_session_is_refused(files: list[Path], kind: str) -> None:
    """No one makes an attestation of VERA by stating one."""
    with pytest.raises(StatementError):
        attest_files(files, kind, b"{}", SIGNER)


def test_a_folder_a_pipe_and_two_files_of_one_name_are_refused(files: list[Path], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    twin = tmp_path / "folder" / "b.whl"
    twin.parent.mkdir()
    twin.write_text("twin")
    for given_files, says in (
        ([tmp_path / "pipe"], "is no file"),
        ([tmp_path], "is no file"),
        ([files[0], twin], "Two files have the name b.whl"),
        ([], f"1 to {MAX_FILES} files"),
        ([files[0]] * (MAX_FILES + 1), f"1 to {MAX_FILES} files"),
    ):
        with pytest.raises(StatementError, match=says):
            attest_files(given_files, TYPE, b"{}", SIGNER)
