"""The shell's web is the web: pages that commands get with curl, wget or Python, over a small web with real
host names. Over http they are evidence; over https the observation proposes a `fetch` that works."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from support.cast import Cast
from support.cli import folded, records, vera
from support.scripted_server import ScriptedServer
from support.small_web import SmallWeb, moved, page, small_web
from support.turns import as_reply, final, turn
from vera import events
from vera.protocol import Turn
from vera.store import Store

pytestmark = pytest.mark.needs("bubblewrap")

SAID = "The bridge at Noren was opened on 3 March 1998."
WAYS = {
    "curl": "curl -sS -k {url}",
    "curl to a pipe": "curl -sS -k {url} | wc -c",
    "curl -L": "curl -sS -k -L {url}",
    "curl -o": "curl -sS -k -o page.html {url}; cat page.html",
    "wget": "wget -q --no-check-certificate -O - {url}",
    "urllib": (
        'python3 -c "import ssl, urllib.request as u; '
        "print(u.urlopen('{url}', context=ssl._create_unverified_context()).read())\""
    ),
    "fetch": "fetch {url}",
}
CLIENT = """
import http.client, os, ssl, sys
from urllib.parse import urlsplit
url, proxy = urlsplit(sys.argv[1]), urlsplit(os.environ["http_proxy"])
if url.scheme == "https":
    there = http.client.HTTPSConnection(proxy.hostname, proxy.port, context=ssl._create_unverified_context())
    there.set_tunnel(url.hostname, 443)
    there.request("GET", url.path)
else:
    there = http.client.HTTPConnection(proxy.hostname, proxy.port)
    there.request("GET", sys.argv[1], headers={"User-Agent": "python-requests/2.32", "Accept": "*/*"})
print(there.getresponse().read())
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that the sandbox's own user may enter; pytest's are closed to it when it runs as root."""
    with tempfile.TemporaryDirectory(prefix="vera-shell-web-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def site(name: str, scheme: str) -> str:
    return f"{scheme}://www.{name}.test/bridge"


def run(folder: Path, web: SmallWeb, turns: Sequence[Turn], question: str, code: int) -> ScriptedServer:
    (folder / "w" / "workspace").mkdir(parents=True)
    (folder / "w" / "workspace" / "client.py").write_text(CLIENT)
    with ScriptedServer([as_reply(each, "text") for each in turns]) as server:
        done = vera(
            "run", question, "--work-dir", "w", "--sandbox", "bubblewrap",
            "--model-base-url", server.root, "--protocol", "text", *web.options,
            "--verifier", "literal", "--verifier-rounds", 1, "-c", "notes.update_interval=100",
            "-c", "policy.source_budget=100", "-c", "policy.stuck_limit=0",
            cwd=folder, **web.environment,
        )  # fmt: skip
    assert done.returncode == code, (done.stdout, done.stderr)
    return server


def test_seven_ways_of_fetching_leave_a_reached_source_or_a_proposal_that_works(open_folder: Path) -> None:
    ways = {**WAYS, "http.client": "python3 /work/client.py {url}"}
    names = {f"{scheme}-{number}": (way, scheme) for scheme in ("http", "https")
             for number, way in enumerate(ways)}  # fmt: skip
    pages = {site(name, scheme): page(name, SAID) for name, (_, scheme) in names.items()}
    pages["http://old.test/bridge"] = moved(site("http-0", "http"))
    turns = [
        turn("shell", cmd=ways[way].format(url=site(name, scheme))) for name, (way, scheme) in names.items()
    ]
    turns += [turn("shell", cmd="curl -sSL http://old.test/bridge"), final("Opened 1998 [ev_0001:1].")]
    with small_web(pages) as web:
        server = run(open_folder, web, turns, "When was the bridge at Noren opened?", 3)
    system = server.requests[0].body["messages"][0]["content"]
    assert "Commands reach every public host, on ports 80 and 443" in system
    assert "`fetch URL`" in system
    told = [request.body["messages"][-1]["content"] for request in server.requests[1:]]
    state = folded(open_folder / "w")
    reached = [each.target.domain for each in state.lane("main").history.reached]
    moves = [each for each in records(open_folder / "w") if isinstance(each, events.Move)]
    for number, (name, (way, scheme)) in enumerate(names.items()):
        url = site(name, scheme)
        brought = (each for each in state.evidence.values() if each.step == number + 1)
        captured = [each for each in brought if each.source == url]
        if scheme == "http" or way == "fetch":
            (one,) = captured
            assert (one.tier, one.http_status) == ("captured", 200), way
            assert one.id in told[number]
            assert SAID in told[number]
            assert [each.domain for each in moves[number].reached] == [f"{name}.test"], way
        else:
            assert captured == [], way
            assert f"To cite it: fetch {url} (the tool, or the command in the shell)." in told[number], way
            assert moves[number].reached == ()
    assert len(reached) == len(ways) + 1
    assert moves[-1].reached[0].url == site("http-0", "http")
    store = Store(open_folder / "w" / "store")
    first = next(each for each in state.evidence.values() if each.source == site("http-0", "http"))
    assert first.tool == "shell"
    assert first.receipt is not None
    receipt = json.loads(store.get(first.receipt.sha256))
    assert (receipt["url"], receipt["status"]) == (site("http-0", "http"), 200)
    assert any(name.lower() == "user-agent" for name, _ in receipt["asked"])


ENGINE_PAGE = "http://find.test/search"
NEGATIVE_WEB = {
    ENGINE_PAGE: page("Results", "Acme newsroom: http://www.acme.test/newsroom"),
    "http://www.acme.test/newsroom": page("Acme newsroom", "Acme has not launched the Rocket 9."),
    "http://www.rocketnine.test/status": page("Rocket 9", "The Rocket 9 has not launched yet, Acme says."),
    "http://launchboard.test/next": page("Board", "The Acme Rocket 9 has not launched as of May."),
}


def test_a_negative_claim_resolves_with_shell_only_browsing_over_http(open_folder: Path) -> None:
    """What "none" needs is reached by commands alone: two official domains, another one, two intents."""
    urls = [f"{ENGINE_PAGE}?q=acme+rocket+9+launched", f"{ENGINE_PAGE}?q=acme+official+announcement+rocket",
            *list(NEGATIVE_WEB)[1:]]  # fmt: skip
    turns = [turn("shell", cmd=f"curl -sS '{url}'") for url in urls]
    said = "No, the Rocket 9 of Acme has not launched [ev_0006:2] [ev_0008:2] [ev_0010:2]."
    with small_web(NEGATIVE_WEB) as web, ScriptedServer(cast := Cast([*turns, final(said)])) as server:
        done = vera(
            "run", "Has Acme launched the Rocket 9 yet?", "--work-dir", "w", "--sandbox", "bubblewrap",
            "--model-base-url", server.root, "--protocol", "text", *web.options,
            "--official-domain", "rocketnine.test", "-c", "notes.update_interval=100",
            cwd=open_folder, **web.environment,
        )  # fmt: skip
    assert cast.asked["label"]
    state = folded(open_folder / "w")
    assert state.lane("main").history.constraints == ()
    assert [each.target.domain for each in state.lane("main").history.reached] == [
        "find.test", "acme.test", "rocketnine.test", "launchboard.test",
    ]  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-1].startswith("VERIFIED"), done.stdout
    assert vera("replay", "w", cwd=open_folder).returncode == 0


def test_the_same_question_inside_tls_is_asked_twice_and_then_fetched(open_folder: Path) -> None:
    url = "https://www.find.test/search?q=noren+bridge"
    turns = [turn("shell", cmd=f"curl -sSk '{url}'") for _ in range(3)]
    turns += [turn("shell", cmd=f"fetch '{url}'"), final("Opened 1998 [ev_0004:1].")]
    with small_web({"https://www.find.test/search": page("Found", SAID)}) as web:
        server = run(open_folder, web, turns, "When was the bridge at Noren opened?", 3)
    told = [request.body["messages"][-1]["content"] for request in server.requests[1:]]
    assert f"To cite it: fetch '{url}'" in told[0]
    assert "REFUSED: find.test was asked this, or hardly different, 2 times and brought no line" in told[2]
    assert f"Get its page with fetch {url}, which can be cited." in told[2]
    assert "CONNECT tunnel failed" in told[2] or "403" in told[2]
    assert SAID in told[3]
    state = folded(open_folder / "w")
    assert [each.source for each in state.evidence.values() if each.tier == "captured"] == [url]
    assert web.asked == ["https://www.find.test/search"] * 3


def test_an_answer_that_cites_the_output_of_curl_is_told_how_to_cite_the_page(open_folder: Path) -> None:
    """The page itself where it was captured; else how to fetch it."""
    pages = {
        "http://www.noren.test/bridge": page("Noren", SAID),
        "https://www.noren.test/town": page("Town", SAID),
    }
    turns = [
        turn("shell", cmd="curl -sS http://www.noren.test/bridge"),
        turn("shell", cmd="curl -sSk https://www.noren.test/town"),
        final("The bridge was opened on 3 March 1998 [ev_0001:1]. So says the town, in 1998 [ev_0003:1]."),
        final("The bridge at Noren was opened on 3 March 1998 [ev_0002:2]."),
    ]
    with small_web(pages) as web, ScriptedServer(Cast(turns)) as server:
        vera(
            "run", "When was the bridge at Noren opened, says http://www.noren.test/bridge?",
            "--work-dir", "w", "--sandbox", "bubblewrap", "--model-base-url", server.root,
            "--protocol", "text", *web.options, cwd=open_folder, **web.environment,
        )  # fmt: skip
    (told,) = [each for each in records(open_folder / "w") if isinstance(each, events.VerifierToAgent)]
    assert "To say what a page says, cite the page: it is ev_0002" in str(told.content)
    assert "cite the page: fetch https://www.noren.test/town, then cite its lines" in str(told.content)
    answer = (open_folder / "w" / "answer.md").read_text()
    assert f"> {SAID}" in answer
    assert "VERIFIED" in answer
