"""A run that searches the web: its own SearXNG instance, a lead that cannot be cited, the page that can."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from support.cast import Cast, final, turn
from support.cli import folded, records, vera
from support.scripted_server import ScriptedServer
from vera import events

PAGE = b"<html><title>Terms</title><body><p>An offer is valid for three years.</p></body></html>"
QUESTION = "How long is an offer valid?"


class Instance(BaseHTTPRequestHandler):
    """A SearXNG instance that finds one page, which the same server holds."""

    def do_GET(self) -> None:
        if urlsplit(self.path).path == "/search":
            host = self.headers["Host"]
            found = {"url": f"http://{host}/terms", "title": "Terms", "content": "An offer is valid for …"}
            self._send(json.dumps({"query": "q", "results": [found]}).encode(), "application/json")
        else:
            self._send(PAGE, "text/html; charset=utf-8")

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""


@pytest.fixture
def instance() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Instance)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_what_a_search_finds_is_a_lead_and_the_page_is_evidence(instance: str, tmp_path: Path) -> None:
    said = "An offer is valid for three years"
    cast = Cast(
        [
            turn("web_search", query="offer valid years"),
            final(f"{said} [ev_0001:2]."),
            turn("fetch", url=f"{instance}/terms"),
            final(f"{said} [ev_0002:1]."),
        ]
    )
    with ScriptedServer(cast) as server:
        done = vera(
            "run", QUESTION, "--work-dir", "w", "--sandbox", "none", "--model-base-url", server.root,
            "--protocol", "text", "-c", "search.engines=searxng", "-c", f"search.searxng_url={instance}",
            "-c", "egress.mode=allowlist", "-c", f"egress.allow={instance.removeprefix('http://')}",
            "-c", "egress.allow_cidrs=127.0.0.0/8", "-c", "verification.web_sources=1", cwd=tmp_path,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "lead" in str(cast.bodies["worker"][2]["messages"][-1]["content"])
    state = folded(tmp_path / "w")
    assert [(each.tool, each.lead) for each in state.evidence.values()] == [
        ("web_search", True),
        ("fetch", False),
    ]
    (search,) = [each for each in records(tmp_path / "w") if isinstance(each, events.Search)]
    assert (search.engine, search.outcome, search.results) == ("searxng", "ok", 1)
    assert state.searches == {"searxng": 1}
    assert [each.by for each in records(tmp_path / "w") if isinstance(each, events.Egress)] == [
        "search",
        "fetch",
    ]
    assert vera("replay", "w", cwd=tmp_path).returncode == 0


def test_an_engine_that_there_is_not_is_said_before_a_session_is_begun(tmp_path: Path) -> None:
    with ScriptedServer([]) as server:
        done = vera(
            "run", QUESTION, "--work-dir", "w", "--sandbox", "none", "--model-base-url", server.root,
            "-c", "search.engines=altavista", cwd=tmp_path,
        )  # fmt: skip
    assert done.returncode == 2 and "altavista" in done.stderr and "wikipedia" in done.stderr
    assert not (tmp_path / "w").exists()


@pytest.mark.parametrize(
    "written",
    [
        "search: {searxng_url: 'http://10.0.0.1:8080'}",
        "verification: {web_sources: 1}",
        "policy: {negative_claim_min_official: 0}",
    ],
)
def test_a_file_of_the_working_folder_cannot_open_or_lower_anything(written: str, tmp_path: Path) -> None:
    (tmp_path / "vera.yaml").write_text(written)
    done = vera("run", QUESTION, "--work-dir", "w", cwd=tmp_path)
    assert done.returncode == 2 and "cannot decide for you" in done.stderr
