"""Where a model server lives: the base URL in one form, and whether it is this machine or this network."""

import ipaddress
import socket
from urllib.parse import SplitResult, urlsplit

from vera.model.types import ModelError

LOCAL_SUFFIXES = (".localhost", ".local", ".lan", ".internal", ".home.arpa")
"""Names that never leave a private network: RFC 6761, 6762 and 8375, and ICANN's `.internal`."""

SHARED_SPACE = ipaddress.ip_network("100.64.0.0/10")
"""RFC 6598: not reachable from the internet; private overlay networks use it."""


def normalise(base_url: str) -> str:
    """The base URL as the client uses it: with scheme and path, no trailing slash.

    `127.0.0.1:1234` and `http://127.0.0.1:1234` become `http://127.0.0.1:1234/v1`; a path that is
    already there is kept (`https://example.org/api/v1`), without the name of a route at its end.

    Raises ModelError for what is no http(s) URL, and for one that carries a password or a query.
    """
    text = base_url.strip()
    if "://" not in text:
        text = f"http://{text}"
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise _unusable(base_url, "it is no URL") from None
    _insist_on_server(base_url, text, parts)
    path = parts.path.rstrip("/")
    for route in ("/chat/completions", "/completions", "/models"):
        path = path.removesuffix(route)
    shown_host = f"[{host}]" if ":" in host else host
    shown_port = f":{port}" if port is not None else ""
    return f"{parts.scheme.lower()}://{shown_host}{shown_port}{path or '/v1'}"


def _insist_on_server(base_url: str, text: str, parts: SplitResult) -> None:
    """Raises ModelError for what is no address of a server, or says more than one."""
    if parts.scheme.lower() not in ("http", "https"):
        raise _unusable(base_url, "it must begin with http:// or https://")
    if "@" in parts.netloc:
        raise ModelError(
            "The model's base URL carries a user name or password, which would be in every log. "
            "Give the key in the environment instead: OPENAI_API_KEY=…"
        )
    if not parts.hostname or " " in text or not text.isprintable():
        raise _unusable(base_url, "it names no host")
    if parts.query or parts.fragment:
        raise _unusable(base_url, "it has a part after ? or #")


def server_root(base_url: str) -> str:
    """The address that a server's own routes (`/props`, `/api/tags`) hang on: the base without `/v1`."""
    return base_url.removesuffix("/v1")


def host_of(base_url: str) -> str:
    """The host name or address of a normalised base URL."""
    return urlsplit(base_url).hostname or ""


def is_local(base_url: str) -> bool:
    """Whether the host is this machine or a private network, judged by its name alone (no look-up)."""
    host = host_of(base_url).rstrip(".").lower()
    address = _address(host)
    if address is not None:
        if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
            address = address.ipv4_mapped
        shared = isinstance(address, ipaddress.IPv4Address) and address in SHARED_SPACE
        return address.is_loopback or address.is_private or address.is_link_local or shared
    return host == "localhost" or host.endswith(LOCAL_SUFFIXES) or "." not in host


def disclosure(base_url: str) -> str:
    """One line that says which data goes where, for a person to read before the first call; '' if local.

    Raises ModelError as `normalise` does.
    """
    base = normalise(base_url)
    if is_local(base):
        return ""
    how = "" if base.startswith("https:") else ", unencrypted"
    return (
        f"Your question, the agent's notes and the passages it reads from your files are sent "
        f"to {host_of(base)}{how}. To keep them here, use a model on this machine: vera doctor"
    )


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.split("%")[0])
    except ValueError:
        pass
    # 134744072 and 0x08080808 are 8.8.8.8 to the system's resolver: numbers are addresses, never names.
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except (OSError, UnicodeError):
        return None


def _unusable(base_url: str, why: str) -> ModelError:
    shown = "".join(c for c in base_url[:100] if c.isprintable())
    return ModelError(
        f"{shown!r} cannot be the model's base URL: {why}. "
        "An example: --model-base-url http://127.0.0.1:1234/v1"
    )
