"""Whose program listens on a port: one's own, a system account's, another person's, or unknown."""

import os
import socket

import pytest

from vera.model import owner
from vera.model.owner import first_person, is_loopback, owner_of, parse_table

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"


def line(address: str, port: int, uid: int, state: str = "0A") -> str:
    rest = f"00000000:0000 {state} 00000000:00000000 00:00000000 00000000  {uid}  0 1 1"
    return f"   0: {address}:{port:04X} {rest}\n"


def test_the_table_of_the_kernel_names_the_owner_of_a_listening_port() -> None:
    table = HEAD + line("0100007F", 11434, 998) + line("00000000", 8000, 1001) + line("0100007F", 1234, 0)
    assert parse_table(table, 11434) == {998}
    assert parse_table(table, 8000) == {1001}
    assert parse_table(table, 1234) == {0}
    assert parse_table(table, 1235) == frozenset()


def test_a_connection_is_no_listener_and_both_of_two_listeners_count() -> None:
    table = HEAD + line("0100007F", 8000, 5, "01") + line("0100007F", 8000, 7) + line("00000000", 8000, 9)
    assert parse_table(table, 8000) == {7, 9}


@pytest.mark.parametrize("table", ["", HEAD, HEAD + "x\n", HEAD + "0: a b 0A\n"])
def test_a_table_without_lines_names_no_owner(table: str) -> None:
    assert parse_table(table, 8000) == frozenset()


@pytest.mark.parametrize(
    ("text", "first"),
    [("", 1000), ("UID_MIN 500\n", 500), ("#UID_MIN 5\nSYS_UID_MIN 100\nUID_MIN\t2000", 2000)],
)
def test_the_first_person_is_where_the_system_says(text: str, first: int) -> None:
    assert first_person(text) == first


def test_a_program_of_ones_own_is_ones_own() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        found = owner_of(f"http://127.0.0.1:{listener.getsockname()[1]}/v1")
    assert (found.kind, found.name, found.uid) == ("own", "you", os.getuid())


@pytest.mark.parametrize(
    ("uids", "kind"),
    [({0}, "system"), ({998}, "system"), ({1001}, "foreign"), ({65534}, "foreign"), ({998, 1001}, "foreign"),
     ({4242, 0}, "system"), (set(), "unknown")],
)  # fmt: skip
def test_an_owner_is_judged_by_the_worst_listener(
    uids: set[int], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, "listening", lambda port: frozenset(uids))
    monkeypatch.setattr("vera.model.owner.first_person", lambda text: 1000)
    monkeypatch.setattr(os, "getuid", lambda: 4242)
    found = owner_of("http://127.0.0.1:11434/v1")
    assert found.kind == kind
    assert found.may_be_asked_about is (kind == "system")


def test_a_machine_that_hides_its_owners_has_unknown_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """No /proc and no lsof, as in some containers."""
    monkeypatch.setattr(owner, "_TABLES", ())
    monkeypatch.setenv("PATH", "")
    assert owner_of("http://127.0.0.1:11434").kind == "unknown"


def test_a_host_is_this_machine_only_when_it_says_so() -> None:
    own = ("localhost", "LOCALHOST.", "a.localhost", "127.0.0.1", "127.3.2.1", "::1")
    others = ("127.example.org", "127.0.0.1.example.org", "localhost.example", "10.0.0.1", "otel", "")
    assert [host for host in (*own, *others) if is_loopback(host)] == [*own]


@pytest.mark.parametrize(
    "address", ["http://gpu.local:11434", "http://192.168.1.5:8000/v1", "http://127.example.org:8000/v1"]
)
def test_a_server_of_another_machine_is_not_yours(address: str) -> None:
    found = owner_of(address)
    assert not found.may_be_asked_about
    assert found.name == "another machine"
