"""Fetching a model file from a hub: resumed, checked, bounded; each thing that goes wrong is one sentence."""

import fcntl
import resource
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from support.bombs import at_most, bomb
from support.fake_hub import FakeHub
from support.gguf_header import LLAMA, header
from vera.agent import hub as hub_module
from vera.agent import pulled_models
from vera.agent.errors import SetupError
from vera.agent.pull import OFFERED, asked_for, pull

REPO, FILE, NAME = "someone/Tiny-GGUF", "tiny-Q4_K_M.gguf", "tiny-Q4_K_M"
TINY = header(LLAMA) + b"\0" * (200 << 10)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr(hub_module.time, "sleep", lambda seconds: None)
    with FakeHub() as here:
        monkeypatch.setenv("HF_ENDPOINT", here.endpoint)
        here.put(REPO, FILE, TINY)
        yield here


def fetch(text: str = f"{REPO}:{FILE}") -> list[str]:
    said: list[str] = []
    pull(text, said.append, lambda line: None)
    return said


class Failed(NamedTuple):
    sentence: str
    code: int


def failure(text: str = f"{REPO}:{FILE}") -> Failed:
    with pytest.raises(SetupError) as error:
        fetch(text)
    return Failed(str(error.value), error.value.exit_code)


def parts() -> list[Path]:
    return pulled_models.parts_of(NAME)


def test_a_file_is_fetched_checked_and_kept_with_where_it_came_from(hub: FakeHub) -> None:
    said = fetch()
    assert "licence apache-2.0" in said[0] and "MB" in said[0] and hub.endpoint in said[0]
    (model,) = pulled_models.pulled()
    assert (model.name, model.repo, model.file, model.size) == (NAME, REPO, FILE, len(TINY))
    assert (model.licence, model.commit) == ("apache-2.0", hub.commit)
    assert pulled_models.path_of(NAME).read_bytes() == TINY
    kept = {path.name for path in pulled_models.folder().iterdir()}
    assert kept == {f"{NAME}.gguf", f"{NAME}.json"}, "one copy, and no part"


def test_a_second_pull_asks_nothing_and_changes_nothing(hub: FakeHub) -> None:
    fetch()
    before = len(hub.asked), pulled_models.pulled()
    (said,) = fetch()
    assert "is here already" in said
    assert (len(hub.asked), pulled_models.pulled()) == before


def test_a_connection_that_breaks_is_made_again_after_where_it_broke(hub: FakeHub) -> None:
    hub.breaks = [70_000, 1]
    fetch()
    assert hub.ranges[:2] == ["", "bytes=70000-"]
    assert len(hub.ranges) == 3
    assert pulled_models.path_of(NAME).read_bytes() == TINY


def test_what_an_interrupted_pull_received_is_not_fetched_again(hub: FakeHub) -> None:
    hub.breaks = [100_000, *[0] * hub_module.ATTEMPTS]
    assert failure().code == 5
    (part,) = parts()
    assert part.stat().st_size == 100_000
    assert "going on after" in fetch()[1]
    assert hub.ranges[-1] == "bytes=100000-"
    assert pulled_models.path_of(NAME).read_bytes() == TINY
    assert parts() == []


def test_a_hub_that_sends_the_whole_file_again_is_written_from_the_start(hub: FakeHub) -> None:
    hub.breaks, hub.knows_ranges = [100_000], False
    fetch()
    assert pulled_models.path_of(NAME).read_bytes() == TINY


def test_a_part_of_another_version_of_the_file_is_not_gone_on_with(hub: FakeHub) -> None:
    hub.breaks = [100_000, *[0] * hub_module.ATTEMPTS]
    failure()
    newer = header(LLAMA) + b"\1" * 5000
    hub.put(REPO, FILE, newer)
    fetch()
    assert hub.ranges[-1] == ""
    assert pulled_models.path_of(NAME).read_bytes() == newer
    assert parts() == []


def test_a_hub_that_always_breaks_off_is_given_up_and_says_so(hub: FakeHub) -> None:
    hub.breaks = [0] * 100
    found = failure()
    assert "cannot be reached" in found.sentence and "type the command again" in found.sentence
    assert len(hub.ranges) == hub_module.ATTEMPTS


def test_another_checksum_than_the_announced_one_deletes_what_came(hub: FakeHub) -> None:
    hub.put(REPO, FILE, TINY, sha256="0" * 64)
    found = failure()
    assert found.code == 1
    assert "SHA-256" in found.sentence and "deleted" in found.sentence
    assert pulled_models.pulled() == [] and parts() == []


def test_a_file_that_is_no_model_is_deleted(hub: FakeHub) -> None:
    hub.put(REPO, FILE, b"<html>" * 1000)
    found = failure()
    assert found.code == 1
    assert "not a GGUF model file" in found.sentence
    assert pulled_models.pulled() == [] and parts() == []


def test_a_hub_that_sends_more_than_it_announced_is_stopped(hub: FakeHub) -> None:
    hub.put(REPO, FILE, TINY, size=1000)
    found = failure()
    assert found.code == 1 and "more than the 1000 bytes" in found.sentence
    assert all(part.stat().st_size == 0 for part in parts())


@pytest.mark.parametrize("layers", [1, 2])
def test_bytes_that_a_hub_says_are_compressed_are_taken_as_they_came(layers: int, hub: FakeHub) -> None:
    hub.put(REPO, FILE, bomb(layers))
    hub.coding = ", ".join(["gzip"] * layers)
    with at_most(50):
        found = failure()
    assert "not a GGUF model file" in found.sentence


@pytest.mark.parametrize(
    ("what", "code", "words"),
    [
        ("someone/Nothing-GGUF:tiny.gguf", 2, "There is no model someone/Nothing-GGUF"),
        (f"{REPO}:other.gguf", 2, f"has no file other.gguf. It has: {FILE}"),
        ("tiny", 2, "is no model to pull. Give one of these names"),
        ("../../etc:passwd.gguf", 2, "is no model to pull"),
        (f"{REPO}:../../x.gguf", 2, "is no model to pull"),
        (f"{REPO}:model.safetensors", 2, "is no model to pull"),
        (f"{REPO}:big-00001-of-00003.gguf", 2, "one part of a model in several files"),
        ("a--b/c:x.gguf", 2, "no name of a repository"),
    ],
)
def test_what_cannot_be_pulled_is_a_sentence(what: str, code: int, words: str, hub: FakeHub) -> None:
    found = failure(what)
    assert found.code == code
    assert words in found.sentence
    assert "\n" not in found.sentence


def test_a_repository_with_terms_says_where_to_accept_them(hub: FakeHub) -> None:
    hub.gated = True
    found = failure()
    assert found.code == 5
    assert f"Accept its terms at {hub.endpoint}/{REPO}" in found.sentence and "HF_TOKEN" in found.sentence


@pytest.mark.parametrize(
    "card", [b"[]", b"5", b"<html>", b'{"id": 5, "tags": 5, "siblings": [5]}', b'{"id": "x", "tags": [[]]}']
)
def test_a_hub_that_describes_nothing_states_no_licence(card: bytes, hub: FakeHub) -> None:
    hub.card = card
    assert "no licence stated" in fetch()[0]
    assert "has no file other.gguf." in failure(f"{REPO}:other.gguf").sentence


@pytest.mark.parametrize("status", [401, 403])
def test_bytes_that_may_not_be_read_say_the_same(status: int, hub: FakeHub) -> None:
    hub.file_status = status
    found = failure()
    assert found.code == 5 and "Accept its terms" in found.sentence


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_hub_with_an_error_is_named_with_its_status(status: int, hub: FakeHub) -> None:
    hub.status = status
    found = failure()
    assert found.code == 5 and f"HTTP {status}" in found.sentence
    hub.status, hub.file_status = 0, status
    found = failure()
    assert found.code == 5 and str(status) in found.sentence


def test_a_hub_that_is_down_is_named(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    found = failure()
    assert found.code == 5
    assert "http://127.0.0.1:1 cannot be reached" in found.sentence and "HF_ENDPOINT" in found.sentence


def test_what_is_no_hub_is_told_from_one(hub: FakeHub) -> None:
    hub.commit = ""
    assert "is no hub of models" in failure().sentence


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HF_ENDPOINT", "ftp://example.org"),
        ("HF_ENDPOINT", "http://[::1"),
        ("HF_ENDPOINT", "https://user:word@example.org"),
        ("HF_TOKEN", "hf_é"),
        ("HF_TOKEN", "hf_a b"),
    ],
)
def test_an_address_or_a_token_that_is_none_is_refused(
    name: str, value: str, hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    found = failure()
    assert found.code == 2
    assert name in found.sentence and value not in found.sentence


def test_a_file_without_a_checksum_is_not_fetched(hub: FakeHub) -> None:
    hub.put(REPO, FILE, TINY, sha256="a-short-tag")
    found = failure()
    assert found.code == 5 and "checksum" in found.sentence
    assert hub.ranges == []


def test_a_disk_without_room_is_told_before_anything_is_fetched(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage("/")._replace(free=1_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    found = failure()
    assert found.code == 5
    assert "MB of disk, and 1 MB are free" in found.sentence
    assert hub.ranges == []


def test_a_disk_that_fills_up_meanwhile_keeps_what_came(hub: FakeHub) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        found = failure()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert found.code == 5 and "is full" in found.sentence
    assert [part.stat().st_size for part in parts()] == [100_000]
    fetch()
    assert pulled_models.path_of(NAME).read_bytes() == TINY


def test_two_pulls_of_one_model_do_not_write_into_one_part(hub: FakeHub) -> None:
    hub.breaks = [100_000, *[0] * hub_module.ATTEMPTS]
    failure()
    (part,) = parts()
    with part.open("r+b") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        found = failure()
    assert found.code == 5 and "Another" in found.sentence


def test_a_name_that_another_repository_has_taken_is_not_overwritten(hub: FakeHub) -> None:
    fetch()
    hub.put("other/Tiny-GGUF", FILE, TINY)
    found = failure(f"other/Tiny-GGUF:{FILE}")
    assert found.code == 2 and f"vera models remove {NAME}" in found.sentence


def test_the_token_goes_to_the_hub_and_not_where_the_bytes_are(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    fetch()
    to_hub = [key for _, path, _, key in hub.asked if "/bytes/" not in path]
    elsewhere = [key for _, path, _, key in hub.asked if "/bytes/" in path]
    assert set(to_hub) == {"Bearer hf_secret"} and set(elsewhere) == {""}


def test_the_token_never_travels_unencrypted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    for another_machine in ("http://mirror.example.org", "http://127.example.org"):
        monkeypatch.setenv("HF_ENDPOINT", another_machine)
        assert hub_module.Hub()._token is False
    monkeypatch.setenv("HF_ENDPOINT", "https://mirror.example.org")
    assert hub_module.Hub()._token == "hf_secret"


def test_without_the_extra_the_command_to_install_it_is_named(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_module, "find_spec", lambda name: None)
    found = failure()
    assert found.code == 5 and "[local]" in found.sentence


def test_a_model_is_removed_with_its_record_and_its_part(hub: FakeHub) -> None:
    fetch()
    assert pulled_models.remove(NAME) == len(TINY)
    assert list(pulled_models.folder().iterdir()) == []
    hub.breaks = [100_000, *[0] * hub_module.ATTEMPTS]
    failure()
    assert pulled_models.remove(NAME) == 100_000
    for name in (NAME, "../../etc/passwd", ""):
        with pytest.raises(SetupError, match="no pulled model"):
            pulled_models.remove(name)


def test_a_record_without_its_whole_file_counts_for_nothing(hub: FakeHub) -> None:
    fetch()
    pulled_models.path_of(NAME).write_bytes(b"GGUF")
    assert pulled_models.pulled() == []
    (pulled_models.folder() / "other.json").write_bytes(b"{")
    assert pulled_models.pulled() == []
    fetch()
    assert pulled_models.path_of(NAME).read_bytes() == TINY


def test_each_offer_can_be_asked_for_by_its_name_and_by_its_file() -> None:
    for offer in OFFERED:
        assert asked_for(offer.name) == (offer.name, offer.repo, offer.file)
        assert asked_for(f"{offer.repo}:{offer.file}")[1:] == (offer.repo, offer.file)
        assert offer.licence in ("apache-2.0", "mit")
    assert len(OFFERED) <= 5
