"""A citation of a page that a browser rendered shows its place on the picture of that page."""

import base64
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from starlette.testclient import TestClient

from support import rendered_run
from support.dashboards import app_of
from support.verified import replay
from vera.attestation.keys import Signer
from vera.dashboard.rendered_places import found_boxes
from vera.sandbox.render.rendered import Picture, Piece
from vera.store import Store

WEBP = b"RIFF\x04\x00\x00\x00WEBPVP8 "
PIECES = (
    Piece("Terms of sale", 100, 20, 300, 40),
    Piece("The goods are delivered within ", 100, 400, 280, 20),
    Piece("nine days", 380, 400, 90, 20),
    Piece(" of the order, to the address that the", 470, 400, 300, 20),
    Piece("buyer names.", 100, 424, 110, 20),
    Piece("Prices hold for as long as the page shows them.", 100, 500, 400, 20),
)
PICTURE = Picture(data=WEBP, layout=msgspec.json.encode(PIECES), width=1000, height=700)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def client(base: Path) -> Iterator[TestClient]:
    with app_of(base) as client:
        yield client


def made(base: Path, picture: Picture | None = PICTURE) -> str:
    """The page of a session that cites the rendered page."""
    rendered_run.make(base / "work" / "terms", Signer(Ed25519PrivateKey.generate()), picture)
    return "/s/work~2Fterms"


def address(client: TestClient, page: str) -> str:
    found = re.search(r'<img src="(/s/[^"]+/place/[^"]+)"', client.get(page).text)
    assert found is not None, "there is a picture"
    return found[1].replace("&amp;", "&")


def test_the_cited_lines_are_in_frames_on_a_cut_of_the_picture(client: TestClient, base: Path) -> None:
    answer = client.get(address(client, made(base)))
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml")
    assert answer.text.count("<rect ") == 2, "a frame around each line of the sentence, and no other"
    top, height = map(int, re.search(r'viewBox="0 (\d+) 1000 (\d+)"', answer.text).groups())  # type: ignore[union-attr]  # it matches
    assert top < 400 and top + height > 444, "the lines are in the cut"
    assert base64.b64encode(WEBP).decode() in answer.text
    assert "script-src 'nonce-" in answer.headers["content-security-policy"]


def test_a_page_without_a_picture_has_none(client: TestClient, base: Path) -> None:
    assert "/place/" not in client.get(made(base, None)).text


def test_only_cited_lines_of_a_rendered_page_have_a_place(client: TestClient, base: Path) -> None:
    place = address(client, made(base))
    assert client.get(place.replace("/place/", "/page/")).status_code == 404, "it is no PDF"
    for other in (place.replace("first=", "first=1"), place.replace("last=", "last=9"), place[:-1] + "x"):
        assert client.get(other).status_code in (400, 404)
    assert client.get(f"/s/work~2Fterms/place/{'0' * 64}?first=1&last=1").status_code == 404


@pytest.mark.parametrize(
    ("layout", "why"),
    [
        (b"[]", "not found"),
        (b"[[1]]", "missing or was altered"),
        (b"\xff", "missing or was altered"),
        (b"[]" + b" " * (4 << 20), "too large"),
    ],
)
def test_a_picture_that_does_not_hold_the_lines_says_so(
    client: TestClient, base: Path, layout: bytes, why: str
) -> None:
    answer = client.get(address(client, made(base, msgspec.structs.replace(PICTURE, layout=layout))))
    assert answer.status_code == 422 and why in answer.text


def test_an_altered_picture_is_not_shown(client: TestClient, base: Path) -> None:
    page = made(base)
    place = address(client, page)
    store = Store(base / "work" / "terms" / "store")
    (blob,) = [each for each in store.root.glob("*/*") if each.read_bytes() == WEBP]
    blob.chmod(0o600)
    blob.write_bytes(WEBP + b"x")
    answer = client.get(place)
    assert answer.status_code == 422 and "missing or was altered" in answer.text


def test_a_session_with_a_picture_replays_and_one_whose_picture_is_gone_does_not(base: Path) -> None:
    signer = Signer(Ed25519PrivateKey.generate())
    root = base / "work" / "terms"
    rendered_run.make(root, signer, PICTURE)
    assert replay(root, {signer.keyid}).exit_code == 0
    (blob,) = [each for each in (root / "store").glob("*/*") if each.read_bytes() == WEBP]
    blob.unlink()
    assert replay(root, {signer.keyid}).exit_code == 1


def test_lines_are_found_whatever_breaks_them_and_one_that_is_not_there_is_left_out() -> None:
    assert found_boxes(PIECES, ["THE GOODS are  delivered", "within nine days of"]) == list(PIECES[1:4])
    assert found_boxes(PIECES, ["Something else", "Prices hold for as long"]) == [PIECES[5]]
    assert found_boxes(PIECES, ["a", "", "no such line at all"]) == []
