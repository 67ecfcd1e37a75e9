"""Which server found on this machine is used: one that is yours or the system's, once a person agreed."""

from pathlib import Path
from typing import Literal

import pytest

from vera.agent.found_server import FILE, Answer, Candidate, candidates, choose, recall, remember, unasked
from vera.config import ConfigError, load
from vera.model.owner import Owner
from vera.model.probe import Found

OLLAMA = "http://127.0.0.1:11434/v1"
OTHER = "http://127.0.0.1:8000/v1"


def candidate(
    kind: Literal["own", "system", "foreign", "unknown"] = "own", address: str = OLLAMA, uid: int = 1000
) -> Candidate:
    found = Found(kind="ollama", title="Ollama", base_url=address, models=("m",))
    return Candidate(found, Owner(kind=kind, name="someone", uid=uid))


def said(candidate: Candidate, use: bool) -> Answer:
    return Answer(address=candidate.found.base_url, uid=candidate.owner.uid, use=use)


def test_nothing_found_is_nothing_to_say() -> None:
    chosen = choose([], "", ())
    assert (chosen.found, chosen.sentence) == (None, "")


@pytest.mark.parametrize("kind", ["own", "system"])
def test_a_server_is_not_used_unasked_and_the_line_says_what_to_type(
    kind: Literal["own", "system"],
) -> None:
    chosen = choose([candidate(kind)], "", ())
    assert chosen.found is None
    assert "built-in" in chosen.sentence
    assert "--model-base-url auto" in chosen.sentence


@pytest.mark.parametrize("kind", ["own", "system"])
def test_auto_uses_a_server_of_ones_own_or_of_the_system_and_says_what_goes_there(
    kind: Literal["own", "system"],
) -> None:
    one = candidate(kind)
    chosen = choose([one], "auto", ())
    assert chosen.found == one.found
    assert chosen.sentence.startswith(f"model: Ollama at {OLLAMA}, run by someone: your question")
    assert "it also judges the answer" in chosen.sentence


def test_an_answer_is_remembered_for_its_address_and_its_owner() -> None:
    one = candidate()
    assert choose([one], "", [said(one, True)]).found == one.found
    assert choose([candidate(uid=1001)], "", [said(one, True)]).found is None
    assert choose([candidate(address=OTHER)], "", [said(one, True)]).found is None


def test_a_server_that_was_declined_is_not_named_again() -> None:
    one = candidate()
    assert choose([one], "", [said(one, False)]).sentence == ""
    assert unasked([one], [said(one, False)]) is None
    assert choose([one], "auto", [said(one, False)]).found == one.found


@pytest.mark.parametrize("kind", ["foreign", "unknown"])
@pytest.mark.parametrize("base_url", ["", "auto"])
def test_a_server_of_somebody_else_is_never_used_whatever_was_said(
    kind: Literal["foreign", "unknown"], base_url: str
) -> None:
    one = candidate(kind)
    chosen = choose([one], base_url, [said(one, True)])
    assert chosen.found is None
    assert f"--model-base-url {OLLAMA}" in chosen.sentence
    assert unasked([one], ()) is None


def test_behind_a_server_of_somebody_else_ones_own_is_used() -> None:
    mine = candidate(address=OTHER)
    assert choose([candidate("foreign"), mine], "auto", ()).found == mine.found
    assert unasked([candidate("foreign"), mine], ()) == mine


def test_a_server_without_a_model_is_no_candidate() -> None:
    assert candidates([Found(kind="ollama", title="Ollama", base_url=OLLAMA)]) == []


def test_a_found_server_answers_and_is_never_set_as_the_judge() -> None:
    assert load(["model.base_url=auto"]).settings.model.base_url == "auto"
    for judge in ("verification.model_base_url", "action_verifier.model.base_url"):
        for value in ("auto", "builtin"):
            with pytest.raises(ConfigError, match=judge):
                load([f"{judge}={value}"])


def test_answers_are_kept_in_place_of_earlier_ones(tmp_path: Path) -> None:
    one, other = candidate(), candidate(address=OTHER)
    for each, use in ((one, False), (other, True), (one, True)):
        remember(each, use=use, folder=tmp_path / "data")
    assert recall(tmp_path / "data") == (said(other, True), said(one, True))
    assert (tmp_path / "data" / FILE).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("data", [b"", b"{}", b"\xff", b'[{"address":1}]'])
def test_a_file_that_holds_no_answers_is_as_if_it_were_not_there(data: bytes, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(data)
    assert recall(tmp_path) == ()


def test_a_link_in_place_of_the_answers_is_not_followed(tmp_path: Path) -> None:
    one = candidate()
    remember(one, use=True, folder=tmp_path / "theirs")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / FILE).symlink_to(tmp_path / "theirs" / FILE)
    assert recall(tmp_path / "mine") == ()
