"""Pages by their addresses: each is kept with its receipt, and one that cannot be read is one sentence."""

import hashlib
from pathlib import Path

import msgspec
import pytest

from support.connecting import CLOSED, gathered, names, reaching
from support.site import serving
from vera.connectors import ConnectorError
from vera.connectors.basket import Gathered, Limits
from vera.connectors.gathering import DocumentList, Used, cache_folder, origins_of, receipts_of
from vera.connectors.reach import Reach
from vera.sandbox.egress.dial import Dialer
from vera.sandbox.egress.policy import NetworkPolicy
from vera.sandbox.egress.secrets import Secrets
from vera.sandbox.fetch.receipt import Receipt

PAGE = b"<html><head><title>Hall</title></head><body><p>The hall opens at nine.</p></body></html>"


def test_each_page_is_kept_under_its_address_with_its_receipt(tmp_path: Path) -> None:
    pages = {"/a/hall.html": PAGE, "/": b"<p>Home</p>", "/q?id=1": b"<p>One</p>"}
    with serving(pages, {"/moved": "/a/hall.html"}) as site:
        text = f"web=page:{site}/a/hall.html {site}/ {site}/q?id=1 {site}/moved {site}/"
        basket, revision = gathered(tmp_path, text, reaching(site))
    host = site.removeprefix("http://").replace(":", "_")
    kept = names(basket)
    assert (kept[:2], len(kept), revision) == (
        [f"web/{host}/a/hall.html", f"web/{host}/index.html"],
        3,
        "",
    )
    first = basket.documents[0]
    assert (tmp_path / first.name).read_bytes() == PAGE
    assert first.origin == f"{site}/a/hall.html"
    receipt = first.receipt
    assert receipt is not None
    assert (receipt.url, receipt.status, receipt.media_type) == (first.origin, 200, "text/html")
    assert (receipt.address, receipt.sha256) == ("127.0.0.1", first.sha256)


def test_two_pages_of_one_name_are_both_kept(tmp_path: Path) -> None:
    with serving({"/a": PAGE, "/a.html": b"<p>Another</p>"}) as site:
        basket, _ = gathered(tmp_path, f"web=page:{site}/a {site}/a.html", reaching(site))
    assert [each.rpartition("/")[2] for each in names(basket)] == ["a.html", "a-2.html"]


def test_one_that_cannot_be_read_is_one_sentence_and_nothing_is_left_out(tmp_path: Path) -> None:
    def why(text: str, reach: Reach, limits: Limits | None = None) -> str:
        with pytest.raises(ConnectorError) as refused:
            gathered(tmp_path, text, reach, *([limits] if limits else []))
        return str(refused.value)

    with serving({"/a": PAGE}, {"/round": "/round"}) as site:
        there = reaching(site)
        assert why(f"web=page:{site}/a {site}/none", there) == (
            f"{site}/none is not read: the server answered HTTP 404."
        )
        assert "was redirected more than 8 times" in why(f"web=page:{site}/round", there)
        assert why(f"web=page:{site}/a", CLOSED).startswith(
            f"{site}/a is not fetched: the network is closed for this run; open it with --egress public"
        )
        public = NetworkPolicy.of("public")
        assert f"{site}/a is not fetched" in why(
            f"web=page:{site}/a", Reach(public, Dialer(public.addresses))
        )
        small = Limits(documents=10, bytes=20, seconds=60.0)
        assert "beyond its limit of 20 bytes" in why(f"web=page:{site}/a", there, small)
        policy = NetworkPolicy.of("allowlist", allow=[site[7:]], allow_cidrs=["127.0.0.0/8"])
        withheld = Reach(policy, Dialer(policy.addresses), Secrets(["sk-0123456789"]))
        said = why(f"web=page:{site}/a?key=sk-0123456789", withheld)
        assert "sk-0123456789" not in said and "a key or password of this run" in said
    assert "cannot be fetched" in why(f"web=page:{site}/a", there)
    assert "is no web address" in why("web=page:nowhere", there)
    assert "has no option 'pages'" in why("web=page:http://x/#pages=3", there)
    assert "has no address" in why("web=page:%20", there)


def test_a_folder_of_somebody_else_that_looks_gathered_has_no_origins_and_no_receipts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A receipt is VERA's word that it fetched the bytes: a list in a project folder is not."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    there = Receipt(
        requested="https://nih.example/", url="https://nih.example/", status=200, redirects=(), headers=(),
        address="203.0.113.1", tls="", certificate="", media_type="text/plain", charset="", encoding="",
        size=1, wire_size=1, sha256="0" * 64, started=1.0, seconds=0.1,
    )  # fmt: skip
    document = Gathered(
        name="web/a.txt", origin="https://nih.example/", sha256="0" * 64, size=1, receipt=there
    )
    used = Used(name="web", kind="page", version="1", address="", revision="", documents=(document,))
    data = msgspec.json.format(msgspec.json.encode(DocumentList(connectors=(used,))), indent=1)
    for folder, is_ours in ((tmp_path, False), (cache_folder(), True)):
        place = folder / hashlib.sha256(data).hexdigest()[:24]
        (place / "documents").mkdir(parents=True)
        (place / "connectors.json").write_bytes(data)
        assert bool(origins_of(place / "documents")) == is_ours
        assert bool(receipts_of(place / "documents")) == is_ours
