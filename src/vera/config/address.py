"""When two addresses of a server are the same: a key belongs to the one that it was given for."""

from urllib.parse import urlsplit

PORTS = {"http": 80, "https": 443}


def server_of(address: str) -> tuple[str, str, int] | None:
    """Scheme, host and port of an address (the origin of RFC 6454); None for what names no host."""
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        scheme = parts.scheme.lower()
        port = parts.port or PORTS.get(scheme, 0)
    except ValueError:
        return None
    host = (parts.hostname or "").rstrip(".").lower()
    return (scheme, host, port) if host and scheme in PORTS else None


def is_same_server(one: str, other: str) -> bool:
    """Whether both name the same scheme, host and port."""
    server = server_of(one)
    return server is not None and server == server_of(other)


def is_same_address(one: str, other: str) -> bool:
    """Whether both name the same server and path; `/v1` at the end makes no difference."""
    return one == other or (is_same_server(one, other) and _path(one) == _path(other))


def _path(address: str) -> str:
    path = urlsplit(address if "://" in address else f"http://{address}").path.rstrip("/")
    return path.removesuffix("/v1").rstrip("/")
