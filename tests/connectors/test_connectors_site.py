"""A web site as a connector: its sitemaps or its links, robots.txt, one origin, and budgets."""

import gzip
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.connecting import CLOSED, ENOUGH, gathered, names, reaching
from support.site import serving
from vera.connectors import ConnectorError
from vera.connectors.basket import Limits
from vera.connectors.reach import Reach
from vera.connectors.sitemap import MAX_BYTES, BadSitemap, links_of, read_sitemap
from vera.sandbox.egress.dial import Dialer
from vera.sandbox.egress.policy import NetworkPolicy

PAGE = b"<html><body><p>The hall opens at nine.</p></body></html>"
NS = "http://www.sitemaps.org/schemas/sitemap/0.9"


def sitemap(site: str, *paths: str, kind: str = "url") -> bytes:
    within = "".join(f"<{kind}><loc> {site}{path} </loc></{kind}>" for path in paths)
    root = "urlset" if kind == "url" else "sitemapindex"
    return f'<?xml version="1.0"?><{root} xmlns="{NS}">{within}</{root}>'.encode()


def linked(*targets: str) -> bytes:
    return "".join(f'<a href="{each}">x</a>' for each in targets).encode() + PAGE


def test_an_index_of_sitemaps_gzip_among_them_gives_the_pages_below_the_address(tmp_path: Path) -> None:
    pages: dict[str, bytes] = {"/docs/a.html": PAGE, "/docs/deep/": PAGE, "/shop/b.html": PAGE}
    with serving(pages) as site:
        pages["/robots.txt"] = f"Sitemap: {site}/index.xml\n".encode()
        pages["/index.xml"] = sitemap(site, "/one.xml.gz", "/broken.xml", kind="sitemap")
        pages["/one.xml.gz"] = gzip.compress(sitemap(site, "/docs/a.html", "/docs/deep/", "/shop/b.html"))
        pages["/broken.xml"] = b"<urlset>"
        basket, revision = gathered(tmp_path, f"hand=site:{site}/docs/", reaching(site))
    host = site.removeprefix("http://").replace(":", "_")
    assert (names(basket), revision) == (
        [f"hand/{host}/docs/a.html", f"hand/{host}/docs/deep/index.html"],
        "",
    )
    assert basket.documents[0].origin == f"{site}/docs/a.html"
    assert (tmp_path / names(basket)[0]).read_bytes() == PAGE
    assert basket.left_out == [
        (f"{site}/broken.xml", "a sitemap that cannot be read: no well-formed XML (line 1)")
    ]


def test_without_a_sitemap_links_below_the_address_are_followed(tmp_path: Path) -> None:
    """No link with `nofollow`, none out of the address, none to another origin; each page once."""
    with serving({}) as other:
        pages = {
            "/docs/": linked(
                "a.html", "/docs/a.html#part", "../shop/b.html", f"{other}/docs/x", "mailto:x@y.z"
            ),
            "/docs/a.html": linked("./") + b'<a rel="nofollow" href="c.html">',
            "/docs/c.html": PAGE,
            "/shop/b.html": PAGE,
        }
        with serving(pages) as site:
            reach = reaching(site, other)
            basket, _ = gathered(tmp_path, f"hand=site:{site}/docs/", reach)
    assert [each.origin for each in basket.documents] == [f"{site}/docs/", f"{site}/docs/a.html"]
    assert {each.url for each in reach.connections if other in each.url} == set()


def test_robots_txt_is_obeyed_at_redirects_too(tmp_path: Path) -> None:
    """RFC 9309: the longest rule decides, and a rule for VERA takes the place of that for everyone."""
    pages = {
        "/robots.txt": b"User-agent: *\nDisallow: /\n\nUser-agent: VERA\nDisallow: /docs/private\n"
        b"Allow: /docs/private/open.html\n",
        "/docs/": linked("private/x.html", "private/open.html", "moved.html"),
        "/docs/private/x.html": PAGE,
        "/docs/private/open.html": PAGE,
    }
    with serving(pages, {"/docs/moved.html": "/docs/private/x.html"}) as site:
        reach = reaching(site)
        basket, _ = gathered(tmp_path, f"hand=site:{site}/docs/", reach)
    assert [each.origin for each in basket.documents] == [f"{site}/docs/", f"{site}/docs/private/open.html"]
    refused = [why for _, why in basket.left_out]
    assert len(refused) == 2
    assert all("robots.txt of the site does not allow it" in why for why in refused)
    assert all(each.verdict == "refused" for each in reach.connections if each.url.endswith("/x.html"))


def test_a_redirect_to_another_site_is_refused_before_a_connection(tmp_path: Path) -> None:
    with serving({"/x": PAGE}) as other, serving({"/docs/": linked("m")}, {"/docs/m": f"{other}/x"}) as site:
        reach = reaching(site, other)
        basket, _ = gathered(tmp_path, f"hand=site:{site}/docs/", reach)
    assert len(basket.documents) == 1
    assert "it is not of the site of the connector" in dict(basket.left_out)[f"{site}/docs/m"]
    assert [each.verdict for each in reach.connections if each.url.startswith(other)] == ["refused"]


def test_budgets_end_a_visit_and_name_what_is_left(tmp_path: Path) -> None:
    pages = {
        "/": linked(*(f"/{number}" for number in range(5))),
        **{f"/{number}": PAGE for number in range(5)},
    }
    with serving(pages) as site:
        few, _ = gathered(tmp_path / "a", f"hand=site:{site}/#pages=2", reaching(site))
        small, _ = gathered(
            tmp_path / "b",
            f"hand=site:{site}/",
            reaching(site),
            Limits(documents=3, bytes=1 << 20, seconds=60),
        )
        slow_pages = {**pages, "/robots.txt": b"User-agent: *\nCrawl-delay: 100\n"}
        with serving(slow_pages) as slow, pytest.raises(ConnectorError, match="its time was over"):
            gathered(
                tmp_path / "c",
                f"hand=site:{slow}/",
                reaching(slow),
                Limits(documents=9, bytes=9999, seconds=5),
            )
    assert (len(few.documents), few.left_out_count) == (2, 4)
    assert few.left_out[0][1] == "beyond its limit of 2 pages"
    assert (len(small.documents), small.ended_at) == (3, "its limit of 3 documents")


def test_private_addresses_and_closed_networks_are_not_reached(tmp_path: Path) -> None:
    """The guard of the fetcher: without a rule for them, addresses of this machine are refused."""
    public = NetworkPolicy.of("public")
    with serving({"/": PAGE}) as site:
        for reach, said in (
            (CLOSED, "the network is closed"),
            (Reach(public, Dialer(public.addresses)), "robots.txt"),
        ):
            with pytest.raises(ConnectorError, match=said):
                gathered(tmp_path, f"hand=site:{site}/", reach)


def test_a_robots_txt_that_cannot_be_had_closes_the_site(tmp_path: Path) -> None:
    with (
        serving({}, {"/robots.txt": "http://127.0.0.1:9/robots.txt"}) as site,
        pytest.raises(ConnectorError) as said,
    ):
        gathered(tmp_path, f"hand=site:{site}/", reaching(site))
    assert "its robots.txt cannot be read, so nothing is fetched" in str(said.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hand=site:ftp://x.test/", "no web address"),
        ("hand=site:http://u:p@x.test/", "user name or password"),
        ("hand=site:http://x.test/#pages=0", "whole number"),
        ("hand=site:http://x.test/#depth=3", "has no option 'depth'. It has: pages."),
    ],
)
def test_bad_addresses_and_options(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConnectorError, match=said):
        gathered(tmp_path, text)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'<!DOCTYPE x [<!ENTITY a "b">]><urlset>&a;</urlset>', "document type"),
        (gzip.compress(b"<" + b" " * (MAX_BYTES + 1)), "larger than 50 MB"),
        (b"\x1f\x8bnonsense", "broken gzip"),
        (b"<a>" * 40, "nested too deeply"),
    ],
)
def test_hostile_sitemaps_are_refused(data: bytes, said: str) -> None:
    with pytest.raises(BadSitemap, match=said):
        read_sitemap(data)


def test_a_sitemap_may_be_text() -> None:
    assert read_sitemap(b"http://a.test/1\nhttp://a.test/2\nnonsense\n").pages == (
        "http://a.test/1",
        "http://a.test/2",
    )


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for given_data in (data, b"<urlset>" + data, b"\x1f\x8b" + data):
        try:
            read_sitemap(given_data)
        except BadSitemap:
            continue
    assert all(link.startswith("http") for link in links_of(b'<a href="' + data, "http://a.test/"))


def test_links_are_read_as_browsers_do_and_hostile_markup_ends_the_page() -> None:
    page = (
        b"<A HREF='/a?x=1&amp;y=2'>a</a><a href=/b rel='x NoFollow'>b</a><a title='>' href=/c>c</a>"
        b'<!-- <a href=/d> --><script>"<a href=/e>"</script><a href=/f#g>f</a><a href="/h">'
    )
    found = ["http://a.test/a?x=1&y=2", "http://a.test/c", "http://a.test/f", "http://a.test/h"]
    for rest in (b"", b"<![", b"<![<!", b"<a href='/i", b"<!-- ", b"</"):
        assert list(links_of(page + rest, "http://a.test/")) == found


def test_names_of_pages_stay_apart(tmp_path: Path) -> None:
    """A query, a path with dots, a long step and characters that no file has."""
    odd = ["/a?x=1", "/a?x=2", "/a", "/b/%2e%2e/c", f"/{'y' * 300}", "/%01z"]
    pages: Mapping[str, bytes] = {"/": linked(*odd), **dict.fromkeys(odd, PAGE)}
    with serving(pages) as site:
        basket, _ = gathered(tmp_path, f"hand=site:{site}/", reaching(site), ENOUGH)
    assert len(basket.documents) == len(odd) + 1
    assert not basket.left_out
