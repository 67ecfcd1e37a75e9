"""The checker of the page about the format: it imports nothing of ours, and finds what was changed."""

import hashlib
import json
import random
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from docs_pages import DOCS

from support.altering import CHANGES
from support.verified import ANSWER, PAGE, QUESTION, RIVERS, verified
from vera.attestation import bundle
from vera.attestation.bundle import pack
from vera.attestation.envelope import open_envelope
from vera.attestation.keys import Signer, load_or_create

PAGE_OF_IT = DOCS / "reference" / "attestation-format.md"
PROGRAM = re.compile(r"<!-- program: check\.py -->\n```python\n(.*?)```", re.DOTALL)
OLDER = Path(__file__).parents[1] / "fixtures" / "older"
HONEST = 50
ALTERED = 50

Check = Callable[[Path], int]


def program() -> str:
    found = PROGRAM.search(PAGE_OF_IT.read_text("utf-8"))
    assert found is not None
    return found[1]


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return load_or_create(tmp_path_factory.mktemp("keys") / "keys")


@pytest.fixture(scope="module")
def check(tmp_path_factory: pytest.TempPathFactory, signer: Signer) -> Check:
    """The exit code of the program, as its own process without anything of ours."""
    file = tmp_path_factory.mktemp("checker") / "check.py"
    file.write_text(program(), "utf-8")

    def run(session: Path) -> int:
        done = subprocess.run(
            [sys.executable, "-I", str(file), str(session), signer.keyid],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            cwd=file.parent,
        )
        return done.returncode

    return run


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory, signer: Signer) -> list[Path]:
    """Honest sessions that differ: their answers have another order, and some are not verified."""
    base = tmp_path_factory.mktemp("honest")
    sentences = [*re.findall(r"[^.]+\.", ANSWER), " The Oder is 9999 kilometres long [ev_0002:4]."]
    for number in range(HONEST):
        chosen = random.Random(number).sample(sentences, 1 + number % len(sentences))
        verified(base / str(number), signer, "".join(chosen).strip())
        for path in (base / str(number)).glob("store/*/*"):
            path.chmod(0o644)
    return [base / str(number) for number in range(HONEST)]


def test_it_is_short_and_imports_nothing_of_ours() -> None:
    assert len(program().splitlines()) <= 105
    imported = set(re.findall(r"^(?:from|import) (.+)$", program(), re.MULTILINE))
    assert not any("vera" in each for each in imported)
    assert hashlib.sha256(bundle.README.encode()).hexdigest() in program()
    assert all(each in program() for each in bundle._EARLIER_READMES)
    assert QUESTION and PAGE and RIVERS


def test_it_verifies_honest_bundles_and_folders(check: Check, sessions: list[Path], tmp_path: Path) -> None:
    for session in sessions:
        pack(session, tmp_path / f"{session.name}.zip")
        assert check(tmp_path / f"{session.name}.zip") == 0, session.name
    for session in sessions[:5]:
        assert check(session) == 0


def test_it_rejects_altered_bundles(
    check: Check, sessions: list[Path], signer: Signer, tmp_path: Path
) -> None:
    stranger = load_or_create(tmp_path / "stranger")
    kinds = [kind for kind in CHANGES if kind != "made file"]
    for number in range(ALTERED):
        random_ = random.Random(f"checker {number}")
        root, file = tmp_path / str(number), tmp_path / f"{number}.zip"
        shutil.copytree(sessions[number], root)
        if number % 2:
            pack(root, file)
            file.write_bytes(altered_file(file.read_bytes(), random_))
            assert check(file) != 0, number
        else:
            kind = kinds[number // 2 % len(kinds)]
            CHANGES[kind](root, stranger, random_)
            zipped(root, file)
            assert check(file) != 0, (number, kind)
            assert check(root) != 0, (number, kind)


def test_it_sees_what_is_only_written_otherwise_or_not_there(
    check: Check, sessions: list[Path], tmp_path: Path
) -> None:
    """Each of these has whole hashes and good signatures."""
    seal = json.loads((sessions[0] / "seal.json").read_bytes())
    opened = open_envelope((sessions[0] / "attestation.json").read_bytes())
    card = opened.attestation.cards[0].removeprefix("sha256:")
    others = {
        "digits": {"seal.json": _seal({**seal, "sig": seal["sig"].upper()})},
        "order": {"seal.json": _seal(dict(reversed(seal.items())))},
        "card": {f"store/{card[:2]}/{card}": b""},
        "member": {"more.txt": b"x"},
    }
    for name, files in others.items():
        root = shutil.copytree(sessions[0], tmp_path / name)
        for file, data in files.items():
            (root / file).write_bytes(data) if data else (root / file).unlink()
        zipped(root, tmp_path / f"{name}.zip", more=tuple(each for each in files if each == "more.txt"))
        assert check(tmp_path / f"{name}.zip") != 0, name


def _seal(members: dict[str, object]) -> bytes:
    return json.dumps(members).encode() + b"\n"


def test_it_verifies_a_session_of_an_older_version(tmp_path: Path) -> None:
    (tmp_path / "check.py").write_text(program(), "utf-8")
    for file in sorted(OLDER.glob("*.zip")):
        done = subprocess.run(
            [sys.executable, "-I", str(tmp_path / "check.py"), str(file)],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "every byte holds, signed by" in done.stdout


def altered_file(data: bytes, random_: random.Random) -> bytes:
    """One byte is another one, or there are bytes that are no member's."""
    at = random_.randrange(len(data))
    return random_.choice(
        [
            data[:at] + bytes([data[at] ^ random_.randrange(1, 256)]) + data[at + 1 :],
            random_.randbytes(1 + at % 100) + data,
            data + random_.randbytes(1 + at % 100),
            data.replace(b"not make it true", b"now make it true"),
        ]
    )


def zipped(root: Path, file: Path, more: tuple[str, ...] = ()) -> None:
    """A bundle of a session as it is, whatever it is: what `pack` writes, without what it refuses."""
    names = ["README.txt", "answer.md", "attestation.json", "seal.json", "trace.jsonl", *more]
    members = {name: (root / name).read_bytes() for name in names[1:] if (root / name).exists()}
    members |= {path.relative_to(root).as_posix(): path.read_bytes() for path in root.glob("store/*/*")}
    members["README.txt"] = bundle.README.encode()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(members):
            archive.writestr(bundle._member(name, len(members[name])), members[name])
