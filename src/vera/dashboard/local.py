"""Addresses within the dashboard: where a browser may be sent after it was let in."""

from urllib.parse import parse_qsl, urlencode

MAX_ADDRESS = 8192


def local_address(text: str) -> str:
    """`text` when it is a path of this server with or without a query, otherwise `/`.

    No other server can be named: browsers read `//host`, `/\\host` and paths with line breaks or tabs in them
    as addresses of one.
    """
    if len(text) > MAX_ADDRESS or not text.startswith("/") or text[1:2] in ("/", "\\"):
        return "/"
    return text if all("!" <= char <= "~" and char != "\\" for char in text) else "/"


def without_token(raw_path: bytes, query: bytes) -> str:
    """The address that was asked for, without `token=…` in its query."""
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True, encoding="utf-8", errors="replace")
    rest = urlencode([(name, value) for name, value in pairs if name != "token"])
    path = raw_path.partition(b"?")[0].decode("latin-1")
    return local_address(f"{path}?{rest}" if rest else path)
