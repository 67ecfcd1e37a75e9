"""A small web on loopback: sites with names of their own, a search engine that finds them, no internet.

    with small_web({"http://www.acme.test/newsroom": page("Newsroom", "Nothing new.")}) as web:
        done = vera("run", QUESTION, *web.options, cwd=folder, **web.environment)
    assert "http://www.acme.test/newsroom" in web.asked

One server answers for every host, by the Host header, on the ports 80 and 443 of the small web. `environment`
gives a run these names and ports (`fixtures/small_web/sitecustomize.py` says how); `options` open them by the
ordinary settings. What has no page answers 404; a name that stands in no address does not exist. Who asks for
a page with the ETag that it has is told that it has not changed (304).
"""

import json
import os
import ssl
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from support.fake_engines import HTML, searxng
from support.fake_web import Reply

NETWORK = Path(__file__).parents[1] / "fixtures" / "small_web"
ENGINE = "http://search.test"
LOOPBACK = "127.0.0.1"

Answer = Reply | Callable[[str], Reply]
"""What stands at an address: a reply, or what makes one of the query (`q`, `srsearch`) that it is asked."""


def page(title: str, *paragraphs: str, status: int = 200) -> Reply:
    """A page of ordinary text."""
    text = "".join(f"<p>{escape(paragraph)}</p>" for paragraph in paragraphs)
    return html(f"<title>{escape(title)}</title>", f"<h1>{escape(title)}</h1>{text}", status)


def html(head: str, body: str, status: int = 200) -> Reply:
    text = f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>'
    return Reply(text.encode(), status, (HTML,))


def moved(url: str) -> Reply:
    """A redirect."""
    return Reply(b"", 302, (HTML, ("Location", url)))


MISSING = page("No such page", "It may have moved.", status=404)


def listing(*results: tuple[str, str, str]) -> Reply:
    """A SearXNG answer of these pages: address, title, snippet."""
    return searxng([{"url": url, "title": title, "content": said} for url, title, said in results])


@dataclass
class SmallWeb:
    """The web at work; `asked` are the addresses that were asked for, without their queries, in order;
    `unchanged` those of which it was said that they have not changed."""

    pages: Mapping[str, Answer]
    ports: dict[int, int] = field(default_factory=dict)
    authority: str = ""
    asked: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """The hosts that there are."""
        return sorted({urlsplit(url).hostname or "" for url in self.pages})

    @property
    def environment(self) -> dict[str, str]:
        """For the process of the run: the names and ports of this web, and whom to trust over https."""
        return {
            "PYTHONPATH": os.pathsep.join(filter(None, [str(NETWORK), os.environ.get("PYTHONPATH", "")])),
            "SMALL_WEB": json.dumps({"names": self.names, "ports": self.ports}),
            "SSL_CERT_FILE": self.authority,
        }

    @property
    def options(self) -> Sequence[str]:
        """For `vera run`: this web may be reached, and its engine is the one to ask."""
        return (
            "-c", "egress.mode=public", "-c", f"egress.allow_cidrs={LOOPBACK}/32",
            "-c", "search.engines=searxng", "-c", f"search.searxng_url={ENGINE}",
            "-c", "search.searxng_min_interval_s=0",
        )  # fmt: skip

    def answer(self, url: str) -> Reply:
        """The reply to a GET of this address."""
        split = urlsplit(url)
        place = f"{split.scheme}://{split.netloc}{split.path}"
        self.asked.append(place)
        found = self.pages.get(place, MISSING)
        if isinstance(found, Reply):
            return found
        asked = parse_qs(split.query)
        return found((asked.get("q") or asked.get("srsearch") or [""])[0])


@contextmanager
def small_web(pages: Mapping[str, Answer]) -> Iterator[SmallWeb]:
    """Serves pages by address, until the end of the block."""
    web = SmallWeb(pages)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="vera-small-web-")))
        secured = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        secured.load_cert_chain(_certificate(folder / "server.pem", web.names))
        web.authority = str(folder / "server.pem")
        web.ports = {
            80: stack.enter_context(_serving(web, "http", None)),
            443: stack.enter_context(_serving(web, "https", secured)),
        }
        yield web


@contextmanager
def _serving(web: SmallWeb, scheme: str, secured: ssl.SSLContext | None) -> Iterator[int]:
    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            reply = web.answer(f"{scheme}://{self.headers['Host']}{self.path}")
            tag = dict(reply.headers).get("ETag", "")
            if tag and self.headers["If-None-Match"] == tag:
                web.unchanged.append(web.asked[-1])
                reply = Reply(b"", 304, (("ETag", tag),))
            self.send_response(reply.status)
            for name, value in reply.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, format: str, *args: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer((LOOPBACK, 0), Site)
    if secured is not None:
        server.socket = secured.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _certificate(path: Path, names: Sequence[str]) -> Path:
    """A key and its certificate for these names, signed by itself, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "the small web of a test")])
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(each) for each in names]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    return path
