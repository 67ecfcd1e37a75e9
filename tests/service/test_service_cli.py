"""`vera serve` and `vera token` as a person types them: what is refused at the start, and how."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from vera.cli import main
from vera.service.records import held
from vera.service.tokens import read_file


def typed(*words: object) -> Result:
    return CliRunner().invoke(main, [*map(str, words)], catch_exceptions=False)


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    path = tmp_path / "tokens" / "tokens.json"
    assert typed("token", "add", "laptop", "--scope", "verify", "--token-file", path).exit_code == 0
    return path


def test_a_token_is_printed_once_and_listed_without_it(tokens: Path) -> None:
    made = typed("token", "add", "ci", "--per-hour", 5, "--token-file", tokens).stdout.strip()
    assert made.startswith("vera_")
    listed = json.loads(typed("token", "list", "--json", "--token-file", tokens).stdout)
    assert [(each["name"], each["scopes"], each["per_hour"]) for each in listed] == [
        ("laptop", ["verify"], 600),
        ("ci", ["verify", "research", "check", "read"], 5),
    ]
    assert made not in json.dumps(listed)
    assert typed("token", "remove", "ci", "--token-file", tokens).exit_code == 0
    assert "ci:" not in typed("token", "list", "--token-file", tokens).stdout
    gone = typed("token", "remove", "ci", "--token-file", tokens)
    assert (gone.exit_code, "There are: laptop" in gone.stderr) == (1, True)


def test_without_a_token_the_service_says_how_to_make_one(tmp_path: Path) -> None:
    ended = typed("serve", "--base-dir", tmp_path, "--token-file", tmp_path / "none.json")
    assert (ended.exit_code, "vera token add NAME" in ended.stderr) == (5, True)


def test_an_address_that_others_reach_has_to_be_allowed(tokens: Path) -> None:
    ended = typed("serve", "--host", "0.0.0.0", "--token-file", tokens)
    assert (ended.exit_code, "--allow-remote" in ended.stderr) == (2, True)


@pytest.mark.parametrize("command", ["serve", "dashboard", "mcp"])
@pytest.mark.parametrize("name", ["http://x", "x:80", "x/y", "", "::1", "a b"])
def test_a_name_that_no_host_can_have_is_refused(tokens: Path, command: str, name: str) -> None:
    ended = typed(command, "--allow-host", name, "--token-file", tokens)
    assert (ended.exit_code, "is no name of a host" in ended.stderr) == (2, True)


def test_two_services_do_not_work_under_one_base_folder(tmp_path: Path, tokens: Path) -> None:
    with held(tmp_path):
        ended = typed("serve", "--base-dir", tmp_path, "--port", 0, "--token-file", tokens)
    assert (ended.exit_code, "Another service works under" in ended.stderr) == (1, True)


def test_a_root_of_sessions_and_one_that_is_no_folder_are_refused(tmp_path: Path, tokens: Path) -> None:
    for root in (tmp_path, tmp_path / "none"):
        words = ("--input-root", root, "--token-file", tokens)
        assert typed("serve", "--base-dir", tmp_path, *words).exit_code == 2


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path, tokens: Path) -> None:
    folder = tmp_path / "serve" / read_file(tokens)[0].folder
    folder.parent.mkdir()
    folder.write_text("in its way")
    ended = typed("serve", "--base-dir", tmp_path, "--token-file", tokens, "--port", 0)
    assert (ended.exit_code, "Traceback" in ended.output) == (1, False)
    assert f"({folder})" in ended.stderr


def test_a_request_and_what_it_holds_are_not_given_twice(tmp_path: Path) -> None:
    path = tmp_path / "request.json"
    path.write_text('{"text": "The Elbe is a river.", "text": "It is not."}')
    twice = typed("verify", "--request", path, "--risk", "high")
    assert (twice.exit_code, "--risk" in twice.stderr) == (2, True)
    assert "comes twice" in typed("verify", "--request", path).stderr
    assert typed("verify", "--request", tmp_path / "none.json").exit_code == 1


def test_slots_of_this_machine_and_workers_do_not_go_together(tmp_path: Path, tokens: Path) -> None:
    words = ("serve", "--base-dir", tmp_path, "--token-file", tokens, "--port", 0)
    both = typed(*words, "--engine", "postgresql://vera@127.0.0.1:1/vera", "--slots", 3)
    assert (both.exit_code, "vera worker --slots N" in both.stderr) == (2, True)


def test_a_database_that_is_not_there_is_a_sentence_and_no_secret(tmp_path: Path, tokens: Path) -> None:
    words = ("serve", "--base-dir", tmp_path, "--token-file", tokens, "--port", 0)
    away = typed(*words, "--engine", "postgresql://vera:not-to-be-seen@127.0.0.1:1/vera")
    assert (away.exit_code, "postgresql://vera:***@127.0.0.1:1/vera cannot be reached" in away.stderr) == (
        5,
        True,
    )
    assert "not-to-be-seen" not in away.output + away.stderr
    odd = typed(*words, "--engine", "mysql://x")
    assert (odd.exit_code, "address of a Postgres database" in odd.stderr) == (2, True)
