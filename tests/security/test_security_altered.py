"""A session that was changed says VERIFIED nowhere, and its replay says that it does not hold."""

import asyncio
import random
import re
import shutil
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from support.altering import CHANGES
from support.verified import ANSWER, answer, begin, decide, open_session, verified
from vera.attestation.bundle import pack, unpack
from vera.attestation.keys import Signer, load_or_create
from vera.attestation.known_outcomes import outcomes_of
from vera.attestation.outcome import outcome_here, outcome_of
from vera.attestation.signers import Signers
from vera.cli.list import look_at
from vera.cli.replay import replay
from vera.cli.report import report
from vera.cli.show import show
from vera.cli.watch import watch
from vera.dashboard import pages
from vera.dashboard.follow import Followers
from vera.dashboard.log_ends import read_ends
from vera.dashboard.overview import Overview
from vera.dashboard.query_params import Asked
from vera.dashboard.run_form import StartForm
from vera.dashboard.run_status import RunStatus, status_of
from vera.dashboard.session_index import Wanted
from vera.dashboard.sessions import Sessions
from vera.headline import OPEN

OLDER = Path(__file__).parents[1] / "fixtures" / "older"
SEEDS = 20
SAYS = re.compile(r"(?i)\b(?:verified|quoted)\b")
ASKED = Asked(nonce="n", static="/static/x")


@pytest.fixture(scope="module")
def mine() -> Signer:
    """The key of whoever runs these tests."""
    return load_or_create()


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return load_or_create(tmp_path_factory.mktemp("stranger") / "keys")


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory, mine: Signer) -> list[Path]:
    """Two honest sessions: one that is verified, and one that is not."""
    base = tmp_path_factory.mktemp("honest")
    verified(base / "good", mine)
    verified(base / "open", mine, ANSWER + " The Oder is 9999 kilometres long [ev_0002:4].")
    for path in base.rglob("store/*/*"):
        path.chmod(0o644)
    return [base / "good", base / "open"]


def surfaces(root: Path) -> dict[str, str]:
    """What every surface says of the session, without the text of its answer."""
    runner = CliRunner()
    said = {
        "show": runner.invoke(show, [str(root)]).output,
        "show --json": runner.invoke(show, [str(root), "--json"]).output,
        "report": runner.invoke(report, [str(root), "-o", "-"]).output,
    }
    sessions = Sessions(root.parent)
    folder = sessions.by_work_dir(root.name)
    said["list"] = " ".join(row.verdict for row in look_at([folder]))
    said |= asyncio.run(_pages(sessions, root.name))
    return said


async def _pages(sessions: Sessions, name: str) -> dict[str, str]:
    followers = Followers(
        lambda session: False, lambda session, header: pages.live_texts(header, RunStatus())
    )
    session = sessions.by_work_dir(name)
    follower = followers.of(session)
    page = await follower.page()
    run = status_of(session.path, session.log, lambda: read_ends(session.log), lambda: True)
    overview = Overview(sessions, followers)
    await overview.listed(Wanted())
    if overview._reading is not None:
        await overview._reading
    listed = await overview.listed(Wanted())
    overview.close()
    written = {
        "page": pages.render_run(ASKED, session, page, run, StartForm(), follower.changed),
        "index": pages.render_index(ASKED, listed),
        "live": "" if follower.problem else follower.frame_after(0)[1].decode(),
    }
    followers.close()
    return written


def test_an_honest_session_says_verified_on_every_surface(originals: list[Path]) -> None:
    assert CliRunner().invoke(replay, [str(originals[0])]).exit_code == 0
    for name, text in surfaces(originals[0]).items():
        assert SAYS.search(text), name
    assert "Signed by your key" in surfaces(originals[0])["show"]


def test_an_honest_session_that_is_not_verified_says_so(originals: list[Path]) -> None:
    assert CliRunner().invoke(replay, [str(originals[1])]).exit_code == 0
    said = surfaces(originals[1])
    assert said["list"] in OPEN and said["list"] in said["show"]


@pytest.mark.parametrize("kind", CHANGES)
def test_a_change_is_reported_and_no_surface_says_verified(
    originals: list[Path], tmp_path: Path, stranger: Signer, kind: str
) -> None:
    for seed in range(SEEDS):
        random_ = random.Random(f"{kind} {seed}")
        root = tmp_path / str(seed) / "changed"
        shutil.copytree(random_.choice(originals), root)
        CHANGES[kind](root, stranger, random_)
        done = CliRunner().invoke(replay, [str(root)])
        assert done.exit_code == 1, (kind, seed, done.output)
        for surface, text in surfaces(root).items():
            found = SAYS.search(text)
            assert not found, (kind, seed, surface, text[max(0, found.start() - 80) : found.end() + 80])


@pytest.mark.parametrize("seed", range(40))
def test_a_changed_bundle_does_not_replay(
    originals: list[Path], tmp_path: Path, stranger: Signer, seed: int
) -> None:
    random_ = random.Random(f"bundle {seed}")
    file = tmp_path / "b.zip"
    pack(originals[0], file)
    assert CliRunner().invoke(replay, [str(file)]).exit_code == 0
    data = file.read_bytes()
    file.write_bytes(_changed_bundle(data, random_))
    done = CliRunner().invoke(replay, [str(file)])
    assert done.exit_code == 1, done.output


def _changed_bundle(data: bytes, random_: random.Random) -> bytes:
    """A byte that is another one, or bytes that are no member's."""
    at = random_.randrange(len(data))
    directory = data.index(b"PK\x01\x02")
    return random_.choice(
        [
            data[:at] + bytes([data[at] ^ random_.randrange(1, 256)]) + data[at + 1 :],
            random_.randbytes(1 + at % 100) + data,
            data + random_.randbytes(1 + at % 100),
            data[:directory] + b"between" + data[directory:],
            data[:-2] + b"\x05\x00hello",
            data.replace(b"trust add NAME KEY", b"trust add EVE  KEY"),
        ]
    )


def test_a_member_that_is_written_again_is_told_from_the_one_that_was_sealed(
    originals: list[Path], tmp_path: Path
) -> None:
    for name, old, new in (
        ("README.txt", b"--any-signer", b"--all-signed"),
        ("answer.md", b"1094", b"1049"),
        ("trace.jsonl", b"1094", b"1049"),
    ):
        pack(originals[0], tmp_path / f"{name}.zip")
        unpack(tmp_path / f"{name}.zip", tmp_path / name)
        with zipfile.ZipFile(tmp_path / f"{name}.zip") as archive:
            members = {info: archive.read(info) for info in archive.infolist()}
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
            for info, data in members.items():
                archive.writestr(info, data.replace(old, new) if info.filename == name else data)
        assert CliRunner().invoke(replay, [str(tmp_path / f"{name}.zip")]).exit_code == 1, name


def test_a_session_of_an_unknown_key_says_so_until_the_key_is_trusted(
    tmp_path: Path, stranger: Signer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vera.attestation import signers

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    verified(tmp_path / "base" / "s", stranger)
    root = tmp_path / "base" / "s"
    done = CliRunner().invoke(replay, [str(root)])
    assert done.exit_code == 1
    assert "by an unknown key: VERA cannot say who made this" in done.output
    assert CliRunner().invoke(replay, [str(root), "--any-signer"]).exit_code == 0
    assert outcome_here(root).word == "UNTRUSTED"
    assert not any(SAYS.search(text) for text in surfaces(root).values())
    signers.add("eve", stranger.keyid)
    done = CliRunner().invoke(replay, [str(root)])
    assert (done.exit_code, "signed by eve, whom you trust" in done.output) == (0, True)
    assert outcome_here(root).word == "QUOTED"
    assert "by eve, whom you trust" in surfaces(root)["page"]


def test_an_honest_tail_that_was_never_sealed_reads_unsealed(tmp_path: Path, mine: Signer) -> None:
    verified(tmp_path / "s", mine)
    (tmp_path / "s" / "seal.json").unlink()
    assert outcome_here(tmp_path / "s").word == "UNSEALED"
    assert CliRunner().invoke(show, [str(tmp_path / "s")]).exit_code == 0
    running = open_session(tmp_path / "running")
    begin(running, 1, answer(running))
    decide(running, mine, 1)
    running.close()
    assert outcome_here(tmp_path / "running").word == ""


@pytest.mark.parametrize(
    ("name", "word"), [("verified", "QUOTED"), ("unresolved", "UNRESOLVED"), ("thesis", "QUOTED")]
)
def test_a_session_of_an_older_version_is_never_called_altered(tmp_path: Path, name: str, word: str) -> None:
    """Made by the version before seals had a format, with its rules, words and files."""
    unpack(OLDER / f"{name}.zip", tmp_path / "s")
    assert outcome_of(tmp_path / "s", Signers(any_signer=True)).word == word
    assert outcome_here(tmp_path / "s").word == "UNTRUSTED"
    (tmp_path / "s" / "answer.md").write_text("another answer")
    done = CliRunner().invoke(replay, [str(OLDER / f"{name}.zip"), "--any-signer", "--json"])
    assert done.exit_code in (0, 1)
    assert not re.search(r"ALTERED|BROKEN|DIFFERS", done.output)
    assert next(iter(outcomes_of([tmp_path / "s"]).values())).word == "UNTRUSTED"


def test_watching_a_changed_session_says_what_it_may_say(
    originals: list[Path], tmp_path: Path, stranger: Signer
) -> None:
    done = CliRunner().invoke(watch, [str(originals[0]), "--plain"])
    assert (done.exit_code, "QUOTED" in done.stdout) == (0, True)
    shutil.copytree(originals[0], tmp_path / "s")
    CHANGES["second signer"](tmp_path / "s", stranger, random.Random(0))
    done = CliRunner().invoke(watch, [str(tmp_path / "s"), "--plain"])
    assert (done.exit_code, "ALTERED" in done.stdout, SAYS.search(done.stdout)) == (1, True, None)
