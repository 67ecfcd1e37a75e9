"""Who owns a web address: the domain that was registered, after archives and other wrappers are taken off."""

import ipaddress
import re
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

_URL_LIMIT = 4000
_WRAPPERS = 5

_TIMED = re.compile(
    r"/(?:\d{4,14}(?:\*|[a-z]{2}_)?|\d{4}\.\d{2}\.\d{2}-\d{6}|\*|o|newest|oldest|latest)/(?=\S)"
)
_ARCHIVES = frozenset({
    "web.archive.org", "wayback.archive.org", "web-beta.archive.org", "wayback.archive-it.org", "arquivo.pt",
    "webarchive.nationalarchives.gov.uk", "webarchive.loc.gov", "timetravel.mementoweb.org", "archive.today",
    "archive.is", "archive.ph", "archive.li", "archive.vn", "archive.fo", "archive.md", "webarchive.org.uk",
    "www.webarchive.org.uk", "web.archive.org.au", "webarchive.nla.gov.au", "vefsafn.is",
})  # fmt: skip
_READERS = frozenset({"r.jina.ai", "12ft.io", "freedium.cfd"})
_PARAMETERS = {
    "google": ("q", "url", "u"),
    "duckduckgo.com": ("uddg",),
    "l.facebook.com": ("u",),
    "lm.facebook.com": ("u",),
    "l.instagram.com": ("u",),
    "out.reddit.com": ("url",),
    "youtube.com": ("q",),
    "linkedin.com": ("url",),
    "slack-redir.net": ("url",),
    "webcitation.org": ("url",),
    "translate.yandex.com": ("url",),
    "12ft.io": ("q",),
}
_GOOGLE = re.compile(r"(?:www|translate|webcache)\.google(?:usercontent)?(?:\.[a-z]{2,3}){1,2}|google\.com")
_AMP_PATH = re.compile(
    r"/(?:(?:[aciprv]|ii|wp)/)?(?P<secure>s/)?(?P<rest>[a-z0-9-]{1,63}\.[^/\s]{1,250}(?:/.*)?)", re.I
)
_IP_PART = re.compile(r"0x[0-9a-f]{1,8}|0[0-7]{0,11}|[1-9][0-9]{0,9}")
_INSIDE = re.compile(r"(?i)https?:/{1,2}[^\s/?#&]{1,250}")
_SAME_OWNER = {"githubusercontent.com": "github.com"}
"""A second domain of one owner that holds the same documents, although anyone has a name below it."""
_LOOKS_LIKE_ADDRESS = re.compile(r"(?i)(?:https?:/{1,2})?[^\s/?#]{1,250}\.[^\s/?#]{1,250}(?:[/?#:]|$)")


def unwrap(url: str) -> str:
    """The address inside web archives, caches, AMP and redirect wrappers, at most five deep. What has no
    wrapper, or is no web address, comes back as it is.

    Only hosts that are known to wrap are unwrapped: any site may write another's address into its path.
    """
    address = url.strip()[:_URL_LIMIT]
    for _ in range(_WRAPPERS):
        inner = _inner(address)
        if not inner or inner == address:
            break
        address = inner
    return address


def registrable_domain(url: str) -> str:
    """The name that one owner registered: `bbc.co.uk` for `https://news.bbc.co.uk/1`, after unwrapping.

    By the Public Suffix List with its private part, so `foo.github.io` and `bar.github.io` are two owners.
    Names are in lower case and in the ASCII form of IDNA. An IP address is written in one way, and a public
    one is one owner whatever its port; other addresses, `localhost` and any name without a dot come with
    their port. '' for what is no web address (http or https).
    """
    located = _located(unwrap(url))
    if located is None:
        return ""
    split, host = located
    address = _ip_address(host)
    if address is None and "." in host:
        return _registered(host)
    host = str(address or host)
    if address is not None and address.is_global:
        return host
    return f"{host}:{_port(split)}" if _port(split) else host


def _registered(host: str) -> str:
    for other, owner in _SAME_OWNER.items():
        if host.endswith(f".{other}"):
            return owner
    return _suffixes().privatesuffix(host) or host


def named_domains(url: str) -> frozenset[str]:
    """The registrable domains of the addresses that an address has in its path or query, as that of a proxy
    has. Who writes another's address into his own can only lose by it: both count as one."""
    split = _split(url.strip()[:_URL_LIMIT])
    if split is None:
        return frozenset()
    inside = unquote(f"{split.path}?{split.query}")
    return frozenset(filter(None, map(registrable_domain, _INSIDE.findall(inside)[:_WRAPPERS])))


@lru_cache(maxsize=1)
def suffix_list_version() -> str:
    """The version of the Public Suffix List by which registrable domains are told."""
    from importlib.metadata import version

    return version("publicsuffixlist")


def _inner(address: str) -> str:
    """The address that this one wraps, '' for none."""
    located = _located(address)
    if located is None:
        return ""
    split, host = located
    path = split.path + (f"?{split.query}" if split.query else "")
    if host in _ARCHIVES:
        return _archived(path)
    if host.endswith(".translate.goog"):
        return _translated(host, split)
    if host.endswith(".cdn.ampproject.org") or (_GOOGLE.fullmatch(host) and path.startswith("/amp/")):
        return _amp(path)
    if host in _READERS and (inner := _address(path[1:])):
        return inner
    return _parameter(host, split)


def _archived(path: str) -> str:
    timed = _TIMED.search(path)
    if timed:
        return _address(path[timed.end() :])
    for head in ("/web/", "/"):
        if path.startswith((f"{head}http:/", f"{head}https:/")):
            return _address(path[len(head) :])
    return ""


def _translated(host: str, split: SplitResult) -> str:
    label = host.removesuffix(".translate.goog")
    return f"https://{label.replace('--', chr(0)).replace('-', '.').replace(chr(0), '-')}{split.path}"


def _amp(path: str) -> str:
    if path.startswith("/amp/"):
        path = path.removeprefix("/amp")
    found = _AMP_PATH.fullmatch(path)
    return f"{'https' if found['secure'] else 'http'}://{found['rest']}" if found else ""


def _parameter(host: str, split: SplitResult) -> str:
    bare = host.removeprefix("www.").removeprefix("html.")
    google = _GOOGLE.fullmatch(host)
    names = _PARAMETERS["google"] if google else _PARAMETERS.get(bare, ())
    if not names or (google and not re.match(r"/(?:url|translate|search|imgres)", split.path)):
        return ""
    values = _parameters(split.query)
    for name in names:
        value = values.get(name, [""])[0]
        if value.startswith("cache:"):
            value = re.sub(r"^cache:(?:[\w-]{1,40}:(?!/))?", "", value).split(" ")[0].split("+")[0]
        elif google and split.path.startswith("/search"):
            continue
        if inner := _address(value):
            return inner
    return ""


def _parameters(query: str) -> dict[str, list[str]]:
    """The parameters of a query; none where there are too many."""
    try:
        return parse_qs(query, max_num_fields=100)
    except ValueError:
        return {}


def _address(text: str) -> str:
    """`text` as an address with its scheme, '' when it does not look like one."""
    text = text.strip().lstrip("/")
    if re.match(r"(?i)https?%3a", text):
        text = unquote(text)
    if not _LOOKS_LIKE_ADDRESS.match(text):
        return ""
    scheme = re.match(r"(?i)(https?):/{1,2}", text)
    return f"{scheme[1].lower()}://{text[scheme.end() :]}" if scheme else f"http://{text}"


def _located(url: str) -> tuple[SplitResult, str] | None:
    """The parts of a web address, and its host; None where there is none."""
    split = _split(url)
    host = _host(split) if split else ""
    return (split, host) if split and host else None


def _split(url: str) -> SplitResult | None:
    try:
        # As browsers do (WHATWG URL): a backslash divides like a slash.
        split = urlsplit(url.strip().replace("\\", "/"))
    except ValueError:
        return None
    return split if split.scheme.lower() in {"http", "https"} else None


def _host(split: SplitResult) -> str:
    """The host in lower case and ASCII, without a last dot; '' for none."""
    host = (split.hostname or "").strip().rstrip(".").replace("。", ".")
    if not host or len(host) > 255 or any(char.isspace() for char in host):
        return ""
    if not host.isascii():
        try:
            host = host.encode("idna").decode("ascii")
        except UnicodeError:
            return ""
    return host.lower()


def _port(split: SplitResult) -> int | None:
    try:
        return split.port or {"http": 80, "https": 443}[split.scheme.lower()]
    except ValueError:
        return None


def _ip_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a host is, also as one number or in parts as `inet_aton` reads them (`0x7f.1`)."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return _ip_of_parts(host)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _ip_of_parts(host: str) -> ipaddress.IPv4Address | None:
    parts = host.split(".")
    if len(parts) > 4 or not all(_IP_PART.fullmatch(part) for part in parts):
        return None
    *first, last = map(_number, parts)
    if any(part > 255 for part in first) or last >> 8 * (4 - len(first)):
        return None
    return ipaddress.IPv4Address(last + sum(part << (24 - 8 * place) for place, part in enumerate(first)))


def _number(part: str) -> int:
    """A part of an IP address: hexadecimal (0x7f), octal (0177) or decimal."""
    return int(part, 16 if "x" in part else 8 if part[0] == "0" else 10)


@lru_cache(maxsize=1)
def _suffixes() -> "PublicSuffixList":
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()
