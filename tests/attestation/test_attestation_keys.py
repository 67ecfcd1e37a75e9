"""The signing key: made once, for its owner only, never where a sandbox can see it."""

import hashlib
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from hypothesis import given
from hypothesis import strategies as st

from vera.attestation import keys
from vera.attestation.keys import KeyFileError, load_or_create


def test_the_key_is_made_on_first_use_and_is_the_same_from_then_on(tmp_path: Path) -> None:
    first = load_or_create(tmp_path / "keys")
    again = load_or_create(tmp_path / "keys")
    assert first.keyid == again.keyid == hashlib.sha256(first.public).hexdigest()
    assert len(first.public) == 32
    assert keys.verify(first.public, again.sign(b"message"), b"message")


def test_only_its_owner_can_read_the_key_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        load_or_create(tmp_path / "keys")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "keys").stat().st_mode) == 0o700
    assert [path.name for path in (tmp_path / "keys").iterdir()] == [keys.FILE]
    assert stat.S_IMODE((tmp_path / "keys" / keys.FILE).stat().st_mode) == 0o600


def test_by_default_it_lies_in_the_users_data_folder() -> None:
    assert keys.default_folder().name == "keys"
    assert keys.default_folder().parent.name == "vera"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_a_key_that_others_can_reach_is_refused_with_what_to_type(tmp_path: Path, mode: int) -> None:
    load_or_create(tmp_path / "keys")
    (tmp_path / "keys" / keys.FILE).chmod(mode)
    with pytest.raises(KeyFileError, match="chmod 600"):
        load_or_create(tmp_path / "keys")


def test_a_folder_that_others_can_reach_is_refused(tmp_path: Path) -> None:
    load_or_create(tmp_path / "keys")
    (tmp_path / "keys").chmod(0o755)
    with pytest.raises(KeyFileError, match="chmod 700"):
        load_or_create(tmp_path / "keys")


def test_a_link_is_refused(tmp_path: Path) -> None:
    load_or_create(tmp_path / "real")
    (tmp_path / "keys").mkdir(mode=0o700)
    (tmp_path / "keys" / keys.FILE).symlink_to(tmp_path / "real" / keys.FILE)
    with pytest.raises(KeyFileError, match="is a link"):
        load_or_create(tmp_path / "keys")


def test_a_pipe_does_not_stop_the_program(tmp_path: Path) -> None:
    (tmp_path / "keys").mkdir(mode=0o700)
    os.mkfifo(tmp_path / "keys" / keys.FILE, 0o600)
    with pytest.raises(KeyFileError, match="is no file"):
        load_or_create(tmp_path / "keys")


RSA = generate_private_key(65537, 2048).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@pytest.mark.parametrize("content", [b"", b"not a key", RSA, b"\xff" * 20_000])
def test_a_file_that_holds_no_ed25519_key_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "keys").mkdir(mode=0o700)
    path = tmp_path / "keys" / keys.FILE
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(KeyFileError, match="does not hold an Ed25519 key"):
        load_or_create(tmp_path / "keys")


def test_the_key_never_lies_in_a_session_or_in_a_folder_that_a_sandbox_sees(tmp_path: Path) -> None:
    session = tmp_path / "session"
    session.mkdir()
    (session / "trace.jsonl").touch()
    with pytest.raises(KeyFileError, match="in the session"):
        load_or_create(session / "workspace" / "keys")
    (tmp_path / "link").symlink_to(tmp_path / "input")
    with pytest.raises(KeyFileError, match="which a sandbox can see"):
        load_or_create(tmp_path / "link" / "keys", outside=[tmp_path / "input"])
    assert not (tmp_path / "input").exists()


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(KeyFileError, match="Cannot keep a signing key"):
        load_or_create(tmp_path / "file" / "keys")


def test_many_at_once_get_one_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        ids = {signer.keyid for signer in pool.map(lambda _: load_or_create(tmp_path / "keys"), range(16))}
    assert len(ids) == 1
    assert [path.name for path in (tmp_path / "keys").iterdir()] == [keys.FILE]


def test_processes_at_once_get_one_key(tmp_path: Path) -> None:
    program = (
        "import sys, pathlib\n"
        "from vera.attestation.keys import load_or_create\n"
        "sys.stdin.read()\n"
        "print(load_or_create(pathlib.Path(sys.argv[1])).keyid)\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "keys")]
    started = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    assert len({process.communicate("")[0] for process in started}) == 1


def test_cryptography_is_loaded_when_a_key_is_first_used_and_not_before() -> None:
    program = "import sys, vera.attestation.keys; print('cryptography' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@given(st.binary(max_size=80), st.binary(max_size=80), st.binary(max_size=80))
def test_what_is_no_signature_is_not_accepted_and_raises_nothing(
    public: bytes, signature: bytes, message: bytes
) -> None:
    assert not keys.verify(public, signature, message)


def test_hexadecimal_has_one_spelling(tmp_path: Path) -> None:
    signer = load_or_create(tmp_path / "keys")
    keyid, public, signature = signer.seal(b"message")
    assert keyid == signer.keyid
    assert keys.verify_hex(public, signature, b"message")
    assert not keys.verify_hex(public, signature, b"another")
    assert not keys.verify_hex(public, signature.upper(), b"message")
    assert not keys.verify_hex(public, signature + " ", b"message")
    assert not keys.verify_hex("no key", signature, b"message")
