"""Which endpoint traces go to, by a URL and the environment variables of the OTLP exporter."""

import pytest

from vera.export.otlp_endpoint import Endpoint, EndpointError, endpoint, headers_of


@pytest.mark.parametrize(
    ("url", "environment", "to"),
    [
        ("http://127.0.0.1:4318", {}, "http://127.0.0.1:4318/v1/traces"),
        ("http://127.0.0.1:4318/", {}, "http://127.0.0.1:4318/v1/traces"),
        ("https://otel.example/otlp", {}, "https://otel.example/otlp/v1/traces"),
        ("https://otel.example/v1/traces", {}, "https://otel.example/v1/traces"),
        ("", {}, "http://localhost:4318/v1/traces"),
        ("", {"OTEL_EXPORTER_OTLP_ENDPOINT": "https://a.example"}, "https://a.example/v1/traces"),
        ("", {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://a.example/in"}, "https://a.example/in"),
        (
            "",
            {
                "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://a.example/in",
                "OTEL_EXPORTER_OTLP_ENDPOINT": "https://b.example",
            },
            "https://a.example/in",
        ),
        ("http://[::1]:4318", {"OTEL_EXPORTER_OTLP_ENDPOINT": "https://b.example"}, "http://[::1]:4318/v1/traces"),
    ],
)  # fmt: skip
def test_the_path_is_added_to_a_base_url_and_the_url_wins_over_the_environment(
    url: str, environment: dict[str, str], to: str
) -> None:
    assert endpoint(url, environment).url == to


def test_headers_timeout_and_compression_come_from_the_environment() -> None:
    environment = {
        "OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Bearer%20abc, X-Project = a%2Cb ,",
        "OTEL_EXPORTER_OTLP_TIMEOUT": "2500",
        "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
    }
    found = endpoint("http://localhost", environment)
    assert found.headers == {"authorization": "Bearer abc", "x-project": "a,b"}
    assert (found.timeout_s, found.gzip) == (2.5, False)
    own = endpoint("http://localhost", {**environment, "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "k=v"})
    assert own.headers == {"k": "v"}
    plain = endpoint("http://localhost", {})
    assert (plain.headers, plain.timeout_s, plain.gzip) == ({}, 10.0, True)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("work/first", "is no address of a collector"),
        ("ftp://a.example", "is no address of a collector"),
        ("http://", "is no address of a collector"),
        ("http://[::1", "is no URL"),
        ("http://a.example:99999", "is no URL"),
        ("https://you:hunter2@a.example", "OTEL_EXPORTER_OTLP_HEADERS"),
        ("https://a.example/?key=hunter2", "OTEL_EXPORTER_OTLP_HEADERS"),
        ("https://a.example/a b", "a space or a control character"),
    ],
)
def test_a_url_that_cannot_be_used_is_said_in_a_sentence_without_its_key(url: str, says: str) -> None:
    with pytest.raises(EndpointError, match=says) as caught:
        endpoint(url, {})
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["hunter2", "=hunter2", "a b=hunter2", "key=hunter2%0d%0ax: y", "key=hunter2é"]
)
def test_a_header_that_is_none_is_said_without_its_value(text: str) -> None:
    with pytest.raises(EndpointError, match="Entry 2 of OTEL_EXPORTER_OTLP_HEADERS is no header") as caught:
        headers_of(f"good=1,{text}")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "0"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "Content-Length=1"),
        ("OTEL_EXPORTER_OTLP_HEADERS", ",".join(f"h{number}=1" for number in range(33))),
    ],
)
def test_a_setting_that_means_nothing_is_named(variable: str, value: str) -> None:
    with pytest.raises(EndpointError, match=variable):
        endpoint("http://localhost", {variable: value})


def test_only_plain_http_to_another_machine_is_warned_of() -> None:
    for url in ("http://localhost", "http://127.3.2.1", "https://a.example"):
        assert endpoint(url, {}).warning == ""
    assert endpoint("http://127.a.example", {}).warning
    said = Endpoint(url="http://a.example/v1/traces", headers={"key": "hunter2"}).warning
    assert "neither this machine nor https" in said and "keys" in said and "hunter2" not in said
