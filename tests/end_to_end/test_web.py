"""The web of a run: the host takes the page, a command in the box gets it from the host, each is an event."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.cli import folded, records, vera
from support.scripted_server import ScriptedServer
from support.site import serving
from support.turns import as_reply, final, turn
from vera import events
from vera.store import Store

PAGE = b"<html><title>Terms</title><body><p>An offer is valid for three years.</p></body></html>"


@pytest.fixture
def site() -> Iterator[str]:
    with serving({"/terms": PAGE}) as address:
        yield address


WITHOUT_JUDGE = ("--verifier", "literal", "--verifier-rounds", 1)


def run(tmp_path: Path, site: str, script: list[str], sandbox: str) -> tuple[ScriptedServer, str]:
    with ScriptedServer(script) as server:
        done = vera(
            "run", "How long is an offer valid?", "--work-dir", "w", "--sandbox", sandbox,
            "--model-base-url", server.root, "--protocol", "text",
            "-c", "egress.mode=allowlist", "-c", f"egress.allow={site.removeprefix('http://')}",
            "-c", "egress.allow_cidrs=127.0.0.0/8", *WITHOUT_JUDGE, cwd=tmp_path,
        )  # fmt: skip
    assert done.returncode == 3, done.stderr
    return server, done.stdout


def test_a_fetched_page_is_captured_with_its_receipt_and_can_be_cited(tmp_path: Path, site: str) -> None:
    script = [
        as_reply(turn("fetch", url=f"{site}/terms"), "text"),
        as_reply(turn("fetch", url=f"{site}/nothing"), "text"),
        as_reply(turn("fetch", url="http://169.254.169.254/latest/meta-data"), "text"),
        as_reply(final("Three years [ev_0001:1]."), "text"),
    ]
    server, out = run(tmp_path, site, script, "none")
    assert "> An offer is valid for three years." in out
    seen = [request.body["messages"][-1]["content"] for request in server.requests[1:]]
    assert "HTTP 200" in seen[0]
    assert "HTTP 404" in seen[1]
    assert "error" in seen[2]
    state = folded(tmp_path / "w")
    page = state.evidence["ev_0001"]
    assert (page.tier, page.http_status, page.source) == ("captured", 200, f"{site}/terms")
    store = Store(tmp_path / "w" / "store")
    assert page.raw is not None
    assert store.get(page.raw.sha256) == PAGE
    assert page.receipt is not None
    receipt = json.loads(store.get(page.receipt.sha256))
    assert (receipt["url"], receipt["status"], receipt["address"]) == (f"{site}/terms", 200, "127.0.0.1")
    made = [record for record in records(tmp_path / "w") if isinstance(record, events.Egress)]
    assert [(record.by, record.verdict) for record in made] == [
        ("fetch", "allowed"), ("fetch", "allowed"), ("fetch", "refused"),
    ]  # fmt: skip
    assert {record.run for record in made} == {"w"}


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that the sandbox's own user may enter; pytest's are closed to it when it runs as root."""
    with tempfile.TemporaryDirectory(prefix="vera-web-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.needs("bubblewrap")
def test_the_command_fetch_in_a_box_gets_the_page_from_the_host_and_it_is_captured(
    open_folder: Path, site: str
) -> None:
    commands = [
        f"fetch {site}/terms",
        f"curl -s --noproxy '' {site}/terms | tr a-z A-Z",
        "curl -s http://10.0.0.1/ ; true",
    ]
    script = [as_reply(turn("shell", cmd=command), "text") for command in commands]
    server, out = run(
        open_folder, site, [*script, as_reply(final("Three years [ev_0001:1]."), "text")], "bubblewrap"
    )
    assert "> An offer is valid for three years." in out
    state = folded(open_folder / "w")
    assert [(e.tool, e.tier) for e in state.evidence.values()] == [
        ("fetch", "captured"), ("shell", "observed"), ("shell", "observed"), ("shell", "captured"),
        ("shell", "observed"),
    ]  # fmt: skip
    seen = [request.body["messages"][-1]["content"] for request in server.requests[1:]]
    assert "ev_0001" in seen[0]
    assert "AN OFFER IS VALID" in seen[1]
    assert "CAPTURED ev_0004" in seen[1]
    made = [record for record in records(open_folder / "w") if isinstance(record, events.Egress)]
    assert [(record.by, record.verdict) for record in made] == [
        ("fetch", "allowed"), ("box", "allowed"), ("box", "refused"),
    ]  # fmt: skip
