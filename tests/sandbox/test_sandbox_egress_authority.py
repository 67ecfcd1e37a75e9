"""One reading of host and port: whatever is accepted, every other program reads the same way."""

import ipaddress
import socket
from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vera.sandbox.egress.authority import AuthorityError, parse_authority, parse_url


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("pypi.org:443", "pypi.org", 443),
        ("PyPI.org.:443", "pypi.org", 443),
        ("xn--kln-sna.de:80", "xn--kln-sna.de", 80),
        ("my_bucket.s3.example:443", "my_bucket.s3.example", 443),
        ("93.184.216.34:80", "93.184.216.34", 80),
        ("[2001:DB8:0::1]:443", "2001:db8::1", 443),
        ("mirror:8081", "mirror", 8081),
    ],
)
def test_plain_hosts_are_read(text: str, host: str, port: int) -> None:
    read = parse_authority(text)
    assert (read.host, read.port) == (host, port)


ODD_HOSTS = [
    *("2130706433", "0x7f000001", "0X7f.1", "0177.0.0.1", "127.1", "127.0.1", "127.0.0.1.", "0", "1.2.3.4.5"),
    *(
        "１２７.0.0.1",
        "127。0。0。1",
        "ⓛocalhost",
        "köln.de",
        "ok.test\x00.evil.test",
        "ok.test%00.evil.test",
    ),
    *(
        "ok%2etest",
        "%6fk.test",
        "ok.test@evil.test",
        "user:pass@evil.test",
        "ok.test\\@evil.test",
        "a b.test",
    ),
    *("", ".", "..", "ok..test", ".ok.test", "-ok.test", "ok-.test", "a" * 64 + ".test", "a." * 127 + "test"),
    *(
        "::1",
        "[::1",
        "[::1]x",
        "[::1%lo]",
        "[::1%25lo]",
        "[127.0.0.1]",
        "[ok.test]",
        "[]",
        "[v1.x]",
        "a,b.test",
    ),
    *("ok.test#", "0x", "test.0x7f", "1.2.3.08", "ok.test\t", "ok.test\n", "*.ok.test"),
]


@pytest.mark.parametrize("host", ODD_HOSTS)
def test_a_host_with_two_readings_is_no_host(host: str) -> None:
    with pytest.raises(AuthorityError):
        parse_authority(f"{host}:443")
    with pytest.raises(AuthorityError):
        parse_url(f"http://{host}:443/ok.test")


@pytest.mark.parametrize(
    "text", ["ok.test/:443", "ok.test?:443", "http://ok.test:443", "ok.test:443/", "ok.test:443 "]
)
def test_an_authority_is_host_and_port_and_nothing_else(text: str) -> None:
    with pytest.raises(AuthorityError):
        parse_authority(text)


@pytest.mark.parametrize(
    "port", ["", "0", "65536", "00443", "+443", "-1", "4 43", "٤٤٣", "443x", "1" * 5000, "0x1bb"]
)
def test_a_port_is_a_plain_number(port: str) -> None:
    with pytest.raises(AuthorityError):
        parse_authority(f"ok.test:{port}")


def test_a_port_may_be_left_out_only_where_there_is_a_default() -> None:
    assert parse_authority("ok.test", 80).port == 80
    with pytest.raises(AuthorityError):
        parse_authority("ok.test")


@pytest.mark.parametrize(
    ("url", "shown", "target"),
    [
        ("http://ok.test", "http://ok.test/", "/"),
        ("HTTP://OK.test:80/a%20b?c=d", "http://ok.test/a%20b?c=d", "/a%20b?c=d"),
        ("http://ok.test?q", "http://ok.test/?q", "/?q"),
        ("https://ok.test:8443/@x:y", "https://ok.test:8443/@x:y", "/@x:y"),
        ("http://[2001:db8::1]:8080/", "http://[2001:db8::1]:8080/", "/"),
    ],
)
def test_urls_are_read_and_written_back(url: str, shown: str, target: str) -> None:
    read = parse_url(url)
    assert (str(read), read.target) == (shown, target)
    assert parse_url(shown) == read


@pytest.mark.parametrize(
    "url",
    [
        *(
            "ftp://ok.test/",
            "//ok.test/",
            "/path",
            "http:ok.test",
            "http:/ok.test",
            "http:///ok.test",
            "https//x",
        ),
        *(
            "http://ok.test/a b",
            "http://ok.test/\x01",
            "http://ok.test/ü",
            "http://ok.test/#f",
            "http://ok.test\\x",
        ),
        *(
            "http://ok.test/\\x",
            "file:///etc/passwd",
            "http://a" + "/" * 20_000,
            " http://ok.test/",
            "http://",
        ),
    ],
)
def test_what_is_no_plain_url_is_refused(url: str) -> None:
    with pytest.raises(AuthorityError):
        parse_url(url)


hosts = st.one_of(
    st.text(alphabet="aZ09.-_:@%[]\\/?#x,\x00\t é１。", max_size=20),
    st.from_regex(r"[0-9a-fx.]{1,16}", fullmatch=True),
    st.ip_addresses().map(str),
    st.ip_addresses(v=6).map(lambda a: f"[{a}]"),
    st.sampled_from(ODD_HOSTS),
)


@given(
    hosts,
    st.sampled_from(["", ":80", ":0443", ":65535", ":", ":x"]),
    st.sampled_from(["", "/", "?a@b", "/@c:1"]),
)
@example("127.0.0.1", "", "")
def test_what_is_accepted_is_read_the_same_by_other_programs(host: str, port: str, rest: str) -> None:
    text = f"http://{host}{port}{rest}"
    try:
        ours = parse_url(text).authority
    except AuthorityError:
        return
    standard = urlsplit(text)
    theirs = httpx.URL(text)
    for name, number in ((standard.hostname, standard.port), (theirs.host, theirs.port)):
        assert number in (ours.port, None)
        assert (name or "").rstrip(".") in (ours.host, host.strip("[]").lower().rstrip("."))
        assert same_host(name or "", ours.host)
    # What is taken for a name is an address to nobody: the C library reads 0x7f.1 and 017700000001 as one.
    if ours.address is None:
        with pytest.raises(OSError):
            socket.inet_aton(ours.host)


def same_host(theirs: str, ours: str) -> bool:
    try:
        return ipaddress.ip_address(theirs) == ipaddress.ip_address(ours)
    except ValueError:
        return theirs.rstrip(".").lower() == ours


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    for parse in (parse_authority, parse_url):
        try:
            read = parse(text)
        except AuthorityError as error:
            assert str(error).isascii()
        else:
            assert parse(str(read)) == read
