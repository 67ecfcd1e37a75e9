"""Pages rendered by a real Chromium in a box of its own, from sites on loopback."""

import asyncio
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from support.box_image import Silent, base_image, image
from support.site import serving
from vera.sandbox import recipe
from vera.sandbox.egress.dial import Dialer
from vera.sandbox.egress.policy import NetworkPolicy
from vera.sandbox.egress.secrets import Secrets
from vera.sandbox.egress.types import Connection
from vera.sandbox.image import build_browser_image, exists
from vera.sandbox.render import chromium, renderer
from vera.sandbox.render.rendered import Answer, Picture, Piece, Rendered, RenderError
from vera.sandbox.render.renderer import Renderer, RenderLimits

CHROMIUM = [pytest.mark.needs("bubblewrap"), pytest.mark.needs("chromium")]
REAL = pytest.param("bubblewrap", marks=CHROMIUM)

PAGES = {
    "/app": b"""<!doctype html><html><head><title>Tariffs</title></head><body><div id="root"></div>
<script>setTimeout(async () => {
  const data = await (await fetch('/data')).text();
  document.getElementById('root').innerHTML = '<p>' + data + '</p>';
}, 4000)</script></body></html>""",
    "/data": "The tariff is 19 cents, café included.".encode(),
    "/inner": b"""<html><body><p id="said">none</p>
<script src="http://127.0.0.2/a.js"></script><script src="http://169.254.169.254/latest/b.js"></script>
<script>fetch('http://10.0.0.1/').then(r => r.text(), e => 'nothing came')
  .then(t => { document.getElementById('said').textContent = t })</script></body></html>""",
    "/loop": b"<html><body><p>Before.</p><script>while (true) {}</script></body></html>",
    "/alert": b"<html><body><script>alert(1); document.write('<p>After the alert.</p>')</script>",
    "/large": b"<html><body><script>document.body.append('y'.repeat(3e6))</script></body></html>",
    "/away": b"<html><body><script>location = 'http://169.254.169.254/'</script></body></html>",
    "/route": b"<html><body><script>document.write('<p>Route ' + location.hash + '</p>')</script>",
    "/blank": b"<html><body><script>location = 'about:blank'</script></body></html>",
}
MOVED = {"/old": "/alert", "/inside": "http://10.0.0.1/"}


@pytest.fixture
def site() -> Iterator[str]:
    with serving(PAGES, MOVED) as address:
        yield address


class Bench:
    """A renderer that may reach one loopback site, and the records of its connections."""

    def __init__(
        self,
        backend: str,
        site: str,
        *,
        seconds: float = 45.0,
        dom: int = 8 << 20,
        ports: tuple[int, ...] = (),
    ) -> None:
        self.records: list[Connection] = []
        open_ports = [80, 443, int(site.rpartition(":")[2]), *ports]
        policy = NetworkPolicy.of("public", ports=open_ports, allow_cidrs=["127.0.0.1/32"])
        self.renderer = Renderer(
            policy,
            Dialer(policy.addresses),
            backend=backend,
            base_image=base_image() if backend == "docker" else "debian:bookworm-slim",
            secrets=Secrets(["hunter2-hunter2"]),
            limits=RenderLimits(seconds=seconds, dom=dom),
            log=self.records.append,
        )

    def render(self, url: str) -> Rendered:
        return asyncio.run(self.renderer.render(url))

    def error(self, url: str) -> RenderError:
        with pytest.raises(RenderError) as caught:
            self.render(url)
        return caught.value


@pytest.mark.parametrize("backend", [REAL])
def test_what_scripts_bring_stands_in_the_dom_and_the_receipt_says_how(backend: str, site: str) -> None:
    bench = Bench(backend, site)
    page = bench.render(f"{site}/app")
    assert "<p>The tariff is 19 cents, café included.</p>" in page.dom.decode()
    receipt = page.receipt
    assert (receipt.status, receipt.url, receipt.media_type) == (200, f"{site}/app", "text/html")
    assert "Chrom" in receipt.browser
    assert receipt.backend == backend
    assert receipt.settled
    asked = [each.url for each in receipt.connections]
    assert {f"{site}/app", f"{site}/data"} <= set(asked)
    assert receipt.connection_count == len(bench.records)
    assert receipt.unknown


@pytest.mark.parametrize("backend", [REAL])
def test_a_picture_shows_the_page_and_where_its_text_is(backend: str, site: str) -> None:
    picture = Bench(backend, site).render(f"{site}/app").picture
    assert picture is not None and (picture.data[:4], picture.data[8:12]) == (b"RIFF", b"WEBP")
    (piece,) = msgspec.json.decode(picture.layout, type=list[Piece])
    assert piece.text == "The tariff is 19 cents, café included."
    assert 0 <= piece.x < piece.x + piece.width <= picture.width
    assert 0 <= piece.y < piece.y + piece.height <= picture.height


def test_what_the_box_leaves_as_a_picture_has_bounds(tmp_path: Path) -> None:
    """A page may have taken the browser over: what is no picture, or too large, is none."""
    picture, layout = tmp_path / renderer.PICTURE_FILE, tmp_path / renderer.LAYOUT_FILE
    good, pieces = b"RIFF\0\0\0\0WEBP", b'[["a",1,2,3,4]]'

    def read(data: bytes, text: bytes, height: int = 900) -> Picture | None:
        picture.write_bytes(data)
        layout.write_bytes(text)
        return renderer._read_picture(tmp_path, height)

    assert read(good, pieces) == Picture(data=good, layout=pieces, width=1000, height=900)
    assert read(b"<svg onload=alert(1)>", pieces) is None
    assert read(good + bytes(renderer.MAX_PICTURE), pieces) is None
    assert read(good, b"[" + b" " * renderer.MAX_LAYOUT + b"]") is None
    assert read(good, pieces, height=renderer.MAX_HEIGHT + 1) is None
    for text in (b"", b"[[1]]", b'[["a",1,2,3,"x"]]', b"[" * 100_000):
        assert read(good, text) is None
    picture.unlink()
    picture.symlink_to("/etc/passwd")
    assert renderer._read_picture(tmp_path, 900) is None


@pytest.mark.parametrize("backend", [REAL])
def test_private_addresses_give_a_rendered_page_nothing(backend: str, site: str) -> None:
    bench = Bench(backend, site)
    assert b"nothing came" in bench.render(f"{site}/inner").dom
    refused = {each.host for each in bench.records if each.verdict == "refused"}
    assert {"10.0.0.1", "169.254.169.254", "127.0.0.2"} <= refused
    assert all(each.address == "" for each in bench.records if each.verdict == "refused")


@pytest.mark.parametrize("backend", [REAL])
def test_a_page_that_moves_to_a_private_address_is_refused(backend: str, site: str) -> None:
    bench = Bench(backend, site)
    for path in ("/inside", "/away"):
        error = bench.error(f"{site}{path}")
        assert error.kind == "refused"
        assert "is no public address" in str(error)


@pytest.mark.parametrize("backend", [REAL])
def test_a_page_that_never_ends_is_cut(backend: str, site: str) -> None:
    error = Bench(backend, site, seconds=9.0).error(f"{site}/loop")
    assert error.kind == "timeout"
    assert "was not rendered" in str(error)


@pytest.mark.parametrize("backend", [REAL])
def test_an_error_page_keeps_its_status_and_a_redirect_its_end(backend: str, site: str) -> None:
    bench = Bench(backend, site)
    assert bench.render(f"{site}/nothing").receipt.status == 404
    moved = bench.render(f"{site}/old")
    assert (moved.receipt.requested, moved.receipt.url) == (f"{site}/old", f"{site}/alert")
    assert b"After the alert." in moved.dom


@pytest.mark.parametrize("backend", [REAL])
def test_a_fragment_reaches_the_page(backend: str, site: str) -> None:
    page = Bench(backend, site).render(f"{site}/route#/prices")
    assert b"Route #/prices" in page.dom
    assert page.receipt.url == f"{site}/route#/prices"


@pytest.mark.parametrize("backend", [REAL])
def test_a_dom_that_is_too_large_is_said(backend: str, site: str) -> None:
    error = Bench(backend, site, dom=1 << 20).error(f"{site}/large")
    assert error.kind == "too_large"


@pytest.mark.parametrize("backend", [REAL])
def test_a_page_that_leads_nowhere_is_said(backend: str, site: str) -> None:
    error = Bench(backend, site).error(f"{site}/blank")
    assert (error.kind, str(error)) == ("failed", f"{site}/blank leads to no web page but to 'about:blank'.")


@pytest.mark.parametrize("backend", [REAL])
def test_a_page_that_waits_for_an_answer_that_never_comes_is_taken_as_it_is(backend: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        script = f"fetch('http://127.0.0.1:{port}/'); document.write('<p>Without the rest.</p>')"
        with serving({"/": f"<html><body><script>{script}</script>".encode()}) as site:
            page = Bench(backend, site, ports=(port,), seconds=9.0).render(f"{site}/")
    assert b"<p>Without the rest.</p>" in page.dom
    assert not page.receipt.settled


@pytest.mark.parametrize("backend", [REAL])
def test_nothing_is_left_of_a_rendering(
    backend: str, site: str, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(work))
    assert Bench(backend, site).render(f"{site}/alert").dom
    assert list(work.glob("vera-render-*")) == []


@pytest.mark.needs("docker")
def test_the_docker_image_with_a_browser_renders_too(site: str) -> None:
    image()
    name = recipe.browser_image_name(recipe.image_name(base_image()))
    if not exists(name):
        assert asyncio.run(build_browser_image(base_image(), Silent())) == name
    page = Bench("docker", site).render(f"{site}/app")
    assert b"The tariff is 19 cents" in page.dom
    assert page.receipt.backend == "docker"


# Before any box


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("ftp://ok.test/", "url"),
        ("http://ok.test:22/", "refused"),
        ("http://ok.test/?key=hunter2-hunter2", "refused"),
    ],
)
def test_what_may_not_be_asked_is_refused_without_a_box(url: str, kind: str) -> None:
    bench = Bench("none", "http://127.0.0.1:8080")
    assert bench.error(url).kind == kind
    assert bench.records == []


@pytest.mark.parametrize("backend", ["none", "host"])
def test_a_run_without_a_sandbox_cannot_render_and_says_so(backend: str) -> None:
    bench = Bench(backend, "http://127.0.0.1:8080")
    error = bench.error("http://ok.test/")
    assert error.kind == "no_browser"
    assert f"this run's is {backend}" in str(error)
    assert not bench.renderer.can_render()


def test_without_a_browser_the_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chromium, "INSTALLED", (str(tmp_path / "chromium"),))
    monkeypatch.setattr(chromium, "ELSEWHERE", ())
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    error = Bench("bubblewrap", "http://127.0.0.1:8080").error("http://ok.test/")
    assert error.kind == "no_browser"
    assert "Chromium is not installed on this machine" in str(error)
    assert "sudo apt install chromium bubblewrap" in str(error)


def test_the_newest_browser_of_playwright_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chromium, "INSTALLED", ())
    monkeypatch.setattr(chromium, "ELSEWHERE", ())
    for number in (999, 1000, 1187):
        program = tmp_path / f"chromium-{number}" / "chrome-linux" / "chrome"
        program.parent.mkdir(parents=True)
        program.touch(0o755)
    found = chromium.installed(tmp_path, {"PLAYWRIGHT_BROWSERS_PATH": str(tmp_path)})
    assert found == chromium.Chromium("/input/chrome-linux/chrome", tmp_path / "chromium-1187")
    assert chromium.installed(tmp_path / "nobody", {}) is None


def test_another_sandbox_image_is_another_image_with_a_browser() -> None:
    names = {recipe.browser_image_name(each) for each in ("vera-sandbox:1", "vera-sandbox:2")}
    assert len(names) == 2
    assert all(name.startswith("vera-browser:") for name in names)


def test_an_answer_of_the_box_has_bounds() -> None:
    for text in (b'{"status": 7}', b'{"kind": "no_browser"}', b'{"browser": "%s"}' % (b"x" * 300), b"[]"):
        with pytest.raises(msgspec.ValidationError):
            msgspec.json.decode(text, type=Answer)
