"""`fetch` with `render`: a script-only page has no text by plain fetch, and yields it rendered."""

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

APP = b"""<!doctype html><html><head><title>Terms</title></head><body><div id="root"></div>
<script>document.getElementById('root').innerHTML = '<p>An offer is valid for ' + 'three years.</p>'</script>
</body></html>"""


@pytest.fixture
def site() -> Iterator[str]:
    with serving({"/app": APP}) as address:
        yield address


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that the sandbox's own user may enter; pytest's are closed to it when it runs as root."""
    with tempfile.TemporaryDirectory(prefix="vera-render-test-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def run(folder: Path, site: str, script: list[str], sandbox: str) -> tuple[list[str], str]:
    with ScriptedServer(script) as server:
        done = vera(
            "run", "How long is an offer valid?", "--work-dir", "w", "--sandbox", sandbox,
            "--model-base-url", server.root, "--protocol", "text",
            "-c", "egress.mode=allowlist", "-c", f"egress.allow={site.removeprefix('http://')}",
            "-c", "egress.allow_cidrs=127.0.0.0/8", "--verifier", "literal", "--verifier-rounds", 1,
            cwd=folder,
        )  # fmt: skip
        seen = [request.body["messages"][-1]["content"] for request in server.requests[1:]]
    assert done.returncode in (0, 3), done.stderr
    return seen, done.stdout


@pytest.mark.needs("bubblewrap")
@pytest.mark.needs("chromium")
def test_a_script_only_page_yields_its_text_rendered_and_it_can_be_cited(
    open_folder: Path, site: str
) -> None:
    script = [
        as_reply(turn("fetch", url=f"{site}/app"), "text"),
        as_reply(turn("fetch", url=f"{site}/app", render=True), "text"),
        as_reply(turn("shell", cmd=f"fetch --render {site}/app"), "text"),
        as_reply(final("Three years [ev_0002:1]."), "text"),
    ]
    seen, out = run(open_folder, site, script, "bubblewrap")
    assert "HTTP 200 · 0 lines" in seen[0]
    assert "1| An offer is valid for three years." in seen[1]
    assert "An offer is valid for three years." in seen[2]
    assert "> An offer is valid for three years." in out
    state, store = folded(open_folder / "w"), Store(open_folder / "w" / "store")
    plain, rendered = state.evidence["ev_0001"], state.evidence["ev_0002"]
    assert (plain.lines, plain.low_signal) == (0, "its element #root is empty until its scripts have run")
    assert (rendered.tier, rendered.http_status, rendered.source) == ("captured", 200, f"{site}/app")
    assert rendered.extractor.startswith("html/")
    assert rendered.raw is not None
    assert b"valid for three years" in store.get(rendered.raw.sha256)
    assert rendered.receipt is not None
    receipt = json.loads(store.get(rendered.receipt.sha256))
    assert "Chrom" in receipt["browser"]
    assert receipt["connections"][0]["url"] == f"{site}/app"
    made = [record for record in records(open_folder / "w") if isinstance(record, events.Egress)]
    assert [record.by for record in made if record.url == f"{site}/app"] == ["fetch", "render", "render"]
    assert {record.by for record in made} == {"fetch", "render"}


def test_without_a_browser_the_model_is_told_and_the_run_goes_on(tmp_path: Path, site: str) -> None:
    script = [
        as_reply(turn("fetch", url=f"{site}/app", render=True), "text"),
        as_reply(turn("fetch", url=f"{site}/app", render="yes"), "text"),
        as_reply(final("Nothing was found."), "text"),
    ]
    seen, _ = run(tmp_path, site, script, "none")
    assert "No page can be rendered" in seen[0]
    assert "'render' must be of type boolean" in seen[1]
    tools = [record for record in records(tmp_path / "w") if isinstance(record, events.Tool)]
    assert tools[0].error_type == "no_browser"
