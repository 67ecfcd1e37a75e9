"""Which actions are the same, and how they are shown."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vera.protocol import Action
from vera.selection.equal import normal_form, shown


def shell(command: str) -> str:
    return normal_form(Action(tool="shell", args={"cmd": command}))


def call(tool: str, **args: object) -> str:
    return normal_form(Action(tool=tool, args=dict(args)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ls -l", "  ls -l \n\n"),
        ("cd /input \nls", "cd /input\nls"),
        ("ls\r\npwd", "ls\npwd"),
        ("cat <<EOF\nx\nEOF", "cat <<EOF\nx\nEOF\n"),
        ("echo 'a  b'", "echo 'a  b' "),
    ],
)
def test_white_space_that_means_nothing_does_not_make_another_command(one: str, other: str) -> None:
    assert shell(one) == shell(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ls -l", "ls -la"),
        ("echo 'a  b'", "echo 'a b'"),
        ("echo 'a \nb'", "echo 'a\nb'"),
        ("echo a\\ ", "echo a\\"),
        ("cat <<EOF\nx \nEOF", "cat <<EOF\nx\nEOF"),
        ("cat <<EOF\nEOF ", "cat <<EOF\nEOF"),
        ("ls\npwd", "ls pwd"),
        ("LS", "ls"),
    ],
)
def test_white_space_that_may_mean_something_makes_another_command(one: str, other: str) -> None:
    assert shell(one) != shell(other)


def test_the_order_of_arguments_means_nothing() -> None:
    assert call("read", path="a.txt", first=1, last=9) == call("read", last=9, first=1, path="a.txt")
    assert call("read", path="a.txt", first=1) != call("read", path="a.txt", first=2)


@pytest.mark.parametrize("tool", ["search", "web_search", "brave_search", "brave_news"])
def test_queries_of_one_family_are_one_query(tool: str) -> None:
    assert call(tool, query="opening year of the bridge") == call(tool, query="Bridge: opening, years")
    assert call(tool, query="opening year of the bridge") != call(tool, query="height of the bridge")
    assert call(tool, query="…") != call(tool, query="!!")


def test_the_same_query_to_another_engine_is_another_call() -> None:
    assert call("web_search", query="a b", engine="arxiv") != call(
        "web_search", query="a b", engine="openalex"
    )


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://Example.org/a#part", "https://example.org/a", True),
        ("HTTPS://example.org", "https://example.org/", True),
        (" https://example.org/a ", "https://example.org/a", True),
        ("https://example.org/A", "https://example.org/a", False),
        ("https://example.org/a?q=1", "https://example.org/a?q=2", False),
        ("http://example.org/a", "https://example.org/a", False),
        ("https://Me@example.org/", "https://me@example.org/", False),
        ("https://[broken", "https://[broken", True),
        ("example.org", "example.org", True),
    ],
)
def test_an_address_is_the_same_without_its_fragment_and_whatever_the_case_of_its_host(
    one: str, other: str, same: bool
) -> None:
    assert (call("fetch", url=one) == call("fetch", url=other)) is same


def test_final_answers_are_compared_by_their_words() -> None:
    assert normal_form(Action(final="It opened\nin 1932. ")) == normal_form(
        Action(final="It opened in 1932.")
    )
    assert normal_form(Action(final="1932")) != normal_form(Action(final="1933"))
    assert normal_form(Action(final="ls")) != shell("ls")


def test_arguments_of_an_unexpected_type_are_compared_as_they_are() -> None:
    assert call("fetch", url=["a"]) == call("fetch", url=["a"])
    assert call("search", query=3) != call("search", query="3")


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (Action(tool="shell", args={"cmd": "ls\npwd\n"}), "shell\nls\npwd"),
        (Action(tool="read", args={"path": "ä.txt", "first": 1}), 'read\n{"first": 1, "path": "ä.txt"}'),
        (Action(tool="status"), "status"),
        (Action(final="1932 [ev_0001:3]"), "final answer\n1932 [ev_0001:3]"),
    ],
)
def test_an_action_is_shown_as_a_person_reads_it(action: Action, text: str) -> None:
    assert shown(action) == text


@settings(deadline=None)
@given(st.text(max_size=80))
def test_the_normal_form_of_a_command_is_stable(command: str) -> None:
    assert shell(command) == shell(command)
    assert shell(command + "\n") == shell(command) or "\\" in command
