"""Where traces are sent: an OTLP endpoint, from a URL and the environment variables of the OTLP exporter.

https://opentelemetry.io/docs/specs/otel/protocol/exporter/
"""

import re
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

import msgspec

from vera.model.owner import is_loopback

PATH = "/v1/traces"
DEFAULT = "http://localhost:4318"
DEFAULT_TIMEOUT_S = 10.0
MAX_TIMEOUT_S = 300.0
MAX_HEADERS = 32

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}")
_VALUE = re.compile(r"[\t -~]{0,8192}")
_OURS = frozenset({"accept-encoding", "content-encoding", "content-length", "content-type", "host"})


class EndpointError(Exception):
    """The endpoint or its settings cannot be used: a sentence for the person."""


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """An OTLP/HTTP endpoint for traces. `headers` may hold keys and are never shown."""

    url: str
    headers: Mapping[str, str]
    timeout_s: float = DEFAULT_TIMEOUT_S
    gzip: bool = True

    @property
    def is_loopback(self) -> bool:
        return is_loopback(urlsplit(self.url).hostname or "")

    @property
    def warning(self) -> str:
        """What a person should know before anything is sent; '' for nothing."""
        if self.is_loopback or self.url.startswith("https:"):
            return ""
        sent = "the spans and the keys in the headers" if self.headers else "the spans"
        return f"{self.url} is neither this machine nor https, so anyone on the way can read {sent}."


def endpoint(url: str, environment: Mapping[str, str]) -> Endpoint:
    """The endpoint of a base URL, to which `/v1/traces` is added; of the environment when `url` is ''.

    `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` is taken as it is, `OTEL_EXPORTER_OTLP_ENDPOINT` is a base URL.
    Headers (`…_HEADERS`), the timeout in milliseconds (`…_TIMEOUT`) and the compression (`…_COMPRESSION`:
    gzip, the default here, or none) come from the environment alone, those named for traces first.

    Raises EndpointError.
    """
    traces = environment.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "")
    if url:
        checked = _with_path(_checked(url))
    elif traces:
        checked = _checked(traces)
    else:
        checked = _with_path(_checked(environment.get("OTEL_EXPORTER_OTLP_ENDPOINT") or DEFAULT))
    return Endpoint(
        url=checked,
        headers=headers_of(_setting(environment, "HEADERS")),
        timeout_s=_timeout(_setting(environment, "TIMEOUT")),
        gzip=_is_gzip(_setting(environment, "COMPRESSION")),
    )


def headers_of(text: str) -> dict[str, str]:
    """`name=value,name=value` with percent-encoded values, as the variable has it. Raises EndpointError."""
    found: dict[str, str] = {}
    for number, pair in enumerate((each for each in text.split(",") if each.strip()), 1):
        name, equals, value = pair.partition("=")
        name, value = name.strip().lower(), unquote(value.strip())
        if not equals or not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            raise EndpointError(
                f"Entry {number} of OTEL_EXPORTER_OTLP_HEADERS is no header. Write name=value, with %2C for "
                "a comma and %20 for a space in the value, such as Authorization=Bearer%20KEY."
            )
        if name in _OURS:
            raise EndpointError(f"OTEL_EXPORTER_OTLP_HEADERS may not set {name}: take it out.")
        found[name] = value
    if len(found) > MAX_HEADERS:
        raise EndpointError(f"OTEL_EXPORTER_OTLP_HEADERS has {len(found)} headers; {MAX_HEADERS} at most.")
    return found


def _checked(url: str) -> str:
    text = url.strip()
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise EndpointError("The address of the collector is no URL.") from None
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise EndpointError(
            "The collector's URL carries a user name, or a part after ? or #. Keys do not belong there: give "
            "them in the environment, OTEL_EXPORTER_OTLP_HEADERS=name=value."
        )
    if parts.scheme.lower() not in ("http", "https") or not host:
        raise EndpointError(f"{text[:200]!r} is no address of a collector. Write it like {DEFAULT}.")
    if any(character.isspace() or not character.isprintable() for character in text):
        raise EndpointError("The collector's URL has a space or a control character in it.")
    return text


def _with_path(base: str) -> str:
    base = base.rstrip("/")
    return base if base.endswith(PATH) else base + PATH


def _setting(environment: Mapping[str, str], name: str) -> str:
    return environment.get(f"OTEL_EXPORTER_OTLP_TRACES_{name}") or environment.get(
        f"OTEL_EXPORTER_OTLP_{name}", ""
    )


def _timeout(text: str) -> float:
    if not text.strip():
        return DEFAULT_TIMEOUT_S
    if not re.fullmatch(r"\d{1,9}", text.strip()) or int(text) == 0:
        raise EndpointError(
            f"OTEL_EXPORTER_OTLP_TIMEOUT is {text[:40]!r}; it is a number of milliseconds, such as 10000."
        )
    return min(int(text) / 1000, MAX_TIMEOUT_S)


def _is_gzip(text: str) -> bool:
    if text.strip() not in ("", "gzip", "none"):
        raise EndpointError(f"OTEL_EXPORTER_OTLP_COMPRESSION is {text[:40]!r}; it is gzip or none.")
    return text.strip() != "none"
