"""Base URLs: one form, and what counts as local."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.model.types import ModelError
from vera.model.url import disclosure, is_local, normalise, server_root

LOCAL_HOSTS = [
    *("127.0.0.1", "localhost", "[::1]", "10.1.2.3", "192.168.0.9", "172.16.5.5", "[fd00::1]", "100.101.1.1"),
    *("gpu.local", "GPU.LOCAL.", "host.docker.internal", "ollama", "2130706433", "[::ffff:127.0.0.1]"),
]
OTHER_HOSTS = [
    *("api.openai.com", "8.8.8.8", "172.32.0.1", "[2001:4860:4860::8888]", "[::ffff:8.8.8.8]"),
    *("local.example.org", "127.0.0.1.example.org", "134744072", "0x08080808"),
]


@pytest.mark.parametrize(
    ("given_url", "used"),
    [
        ("http://127.0.0.1:1234", "http://127.0.0.1:1234/v1"),
        ("127.0.0.1:1234", "http://127.0.0.1:1234/v1"),
        ("localhost:11434/", "http://localhost:11434/v1"),
        ("https://api.example.org/v1/", "https://api.example.org/v1"),
        ("https://api.example.org/v1/chat/completions", "https://api.example.org/v1"),
        ("https://example.org/api/v1", "https://example.org/api/v1"),
        ("HTTPS://Example.org/v1beta/openai/", "https://example.org/v1beta/openai"),
        ("http://[::1]:8080", "http://[::1]:8080/v1"),
    ],
)
def test_a_base_url_is_completed_to_one_form(given_url: str, used: str) -> None:
    assert normalise(given_url) == used
    assert normalise(used) == used


@pytest.mark.parametrize("bad", ["", "ftp://host/v1", "http://", "http://h:99999", "http://a b/v1", "x?y=1"])
def test_what_is_no_http_url_is_refused_with_an_example(bad: str) -> None:
    with pytest.raises(ModelError, match="--model-base-url"):
        normalise(bad)


def test_a_password_in_the_url_is_refused_and_not_repeated() -> None:
    with pytest.raises(ModelError) as error:
        normalise("https://me:secret-word@example.org/v1")
    assert "secret-word" not in str(error.value)


@given(st.text(max_size=60))
def test_any_text_is_either_normalised_for_good_or_refused(text: str) -> None:
    try:
        base = normalise(text)
    except ModelError:
        return
    assert normalise(base) == base


def test_a_servers_own_routes_hang_on_the_base_without_v1() -> None:
    assert server_root("http://127.0.0.1:8080/v1") == "http://127.0.0.1:8080"


@pytest.mark.parametrize(
    "host",
    LOCAL_HOSTS,
)
def test_this_machine_and_private_networks_are_local(host: str) -> None:
    assert is_local(normalise(f"http://{host}:1234"))


@pytest.mark.parametrize(
    "host",
    OTHER_HOSTS,
)
def test_everything_else_is_not_local(host: str) -> None:
    assert not is_local(normalise(f"http://{host}:1234"))


def test_one_line_says_which_data_goes_to_a_host_that_is_not_local() -> None:
    line = disclosure("https://api.example.org")
    assert "api.example.org" in line
    assert "\n" not in line
    assert "files" in line
    assert "unencrypted" in disclosure("http://api.example.org")
    assert disclosure("http://192.168.1.5:1234") == ""
