"""A key goes to the host it belongs to: runs that the dashboard starts, against servers that keep what they
are told; and what a form or a stranger's session may not bring."""

import asyncio
import json
import signal
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from support.dashboard_runs import (
    ANSWER,
    actions,
    arguments_of,
    environment_of,
    pid_of,
    runs_in,
    said,
    until_state,
    use_plain_machine,
    waiting_model,
)
from support.dashboards import app_of
from support.markup import visible_text
from support.scripted_server import ScriptedServer
from vera import events
from vera.config import load, public
from vera.config.handed import Allowed
from vera.dashboard import run_process
from vera.dashboard.run_environment import child_environment, withheld_keys
from vera.dashboard.runs import RunRefused, Runs
from vera.dashboard.sessions import SessionFolder, Sessions
from vera.session import Session

KEY = "sk-the-persons-key"


class Listener(ThreadingHTTPServer):
    """A server that keeps the Authorization header of every request, and has one model that only fails."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.heard: list[str | None] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def __enter__(self) -> "Listener":
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Answer(BaseHTTPRequestHandler):
    server: Listener

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""

    def do_GET(self) -> None:
        self.server.heard.append(self.headers.get("authorization"))
        is_list = self.path.endswith("/models")
        body = json.dumps({"object": "list", "data": [{"id": "m", "object": "model"}]}).encode()
        self.send_response(200 if is_list else 400)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.do_GET()


@pytest.fixture(autouse=True)
def plain_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    use_plain_machine(monkeypatch)


@pytest.fixture
def base(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    for path in tmp_path.glob("work/*/run.pid"):
        if (process := run_process.read(path.parent)) is not None:
            run_process.send(process, signal.SIGKILL, to_group=True)


def run_at(base: Path, address: str) -> SessionFolder:
    """Start a run at that address from the dashboard, which the person allows, and wait for its end."""

    async def run() -> SessionFolder:
        runs = Runs(base, Sessions(base), Allowed(settings=(f"model.base_url={address}",)))
        session = await runs.new()
        await runs.start(session, {"task": "What?", "model_base_url": address, "model_name": "m"})
        await until_state(runs, session, "failed", "ended", "stopped")
        return session

    return asyncio.run(run())


@pytest.mark.parametrize("place", ["environment", "own name", "user configuration", "named variable"])
def test_a_key_is_heard_by_its_own_host_and_by_no_other(
    base: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory, place: str
) -> None:
    config = tmp_path_factory.mktemp("config")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(config))
    (config / "vera").mkdir()
    with Listener() as mine, Listener() as stranger:
        monkeypatch.setenv("MODEL_BASE_URL", mine.address)
        match place:
            case "environment":
                monkeypatch.setenv("OPENAI_API_KEY", KEY)
            case "own name":
                monkeypatch.setenv("VERA_MODEL__KEY", KEY)
            case "user configuration":
                (config / "vera" / "config.yaml").write_text(f"model:\n  key: {KEY}\n")
            case _:
                (config / "vera" / "config.yaml").write_text("model:\n  key: env:MY_OWN_KEY\n")
                monkeypatch.setenv("MY_OWN_KEY", KEY)
        session = run_at(base, stranger.address)
        assert stranger.heard and set(stranger.heard) == {None}, said(session)
        assert mine.heard == []
        assert actions(session)[1]["without_keys"] == ["model.key"]
        session = run_at(base, mine.address.removesuffix("/v1"))
        assert set(mine.heard) == {f"Bearer {KEY}"}, said(session)
        heard = len(mine.heard)
        run_at(base, "")
        assert len(mine.heard) > heard and set(mine.heard) == {f"Bearer {KEY}"}
    for name in ("session.log", "run.log", "run.pid"):
        for path in base.glob(f"work/*/{name}"):
            assert KEY not in path.read_text()


def test_a_key_without_a_configured_address_goes_nowhere(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with Listener() as stranger:
        run_at(base, stranger.address)
        assert stranger.heard and set(stranger.heard) == {None}
    assert "no server" in runs_in(base).form(None).key_sentence


def test_neither_the_folder_nor_a_form_chooses_who_reads_what_the_run_reads(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with Listener() as stranger:
        runs, session = runs_in(base), Sessions(base).by_work_dir("./work/example")
        fields = {"task": "q", "model_base_url": stranger.address}
        with pytest.raises(RunRefused, match="the form of the dashboard cannot decide for you") as refused:
            asyncio.run(runs.start(session, fields))
        assert refused.value.status == 400
        assert f"vera dashboard --allow model.base_url={stranger.address}" in str(refused.value)
        (base / "vera.yaml").write_text(f"model:\n  base_url: {stranger.address}\n")
        with pytest.raises(RunRefused, match=r"file vera\.yaml:2 cannot decide for you"):
            asyncio.run(runs_in(base).start(session, {"task": "q"}))
        assert stranger.heard == []


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks at processes in /proc")
def test_a_withheld_key_is_not_even_in_the_environment_of_the_run(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("VERIFIER_API_KEY", "sk-of-the-verifier")

    async def run() -> None:
        with waiting_model() as server:
            runs = Runs(base, Sessions(base), Allowed(settings=(f"model.base_url={server.base_url}",)))
            session = await runs.new()
            address = {"model_base_url": server.base_url}
            await runs.start(session, {"task": "What?", **address})
            pid = pid_of(session)
            assert KEY not in environment_of(pid).values()
            assert not any(KEY in argument for argument in arguments_of(pid))
            run_process.send(run_process.identity(pid), signal.SIGKILL)
            await until_state(runs, session, "failed", "crashed")

    asyncio.run(run())


@pytest.mark.parametrize(
    ("configured", "typed", "same"),
    [
        ("https://api.example.org/v1", "https://api.example.org", True),
        ("https://api.example.org/v1", "https://API.example.org.:443/other", True),
        ("https://api.example.org/v1", "http://api.example.org/v1", False),
        ("https://api.example.org/v1", "https://api.example.org:8443/v1", False),
        ("https://api.example.org/v1", "https://api.example.org.evil.net/v1", False),
        ("https://api.example.org/v1", "https://example.org/v1", False),
        ("http://127.0.0.1:1234", "http://localhost:1234", False),
        ("127.0.0.1:1234", "http://127.0.0.1:1234/v1", True),
        ("https://api.example.org/v1", "builtin", False),
    ],
)
def test_an_address_is_its_keys_own_when_scheme_host_and_port_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, configured: str, typed: str, same: bool
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("MODEL_BASE_URL", configured)
    loaded = load(cwd=tmp_path)
    assert withheld_keys(loaded, {"model.base_url": typed}) == (() if same else ("model.key",))


def test_variables_that_configuration_names_reach_a_run_unless_they_hold_a_withheld_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "vera").mkdir()
    (tmp_path / "vera" / "config.yaml").write_text("model:\n  key: env:MINE\nbrave:\n  key: env:BRAVES\n")
    environ = {"MINE": "1", "BRAVES": "2", "OTHER": "3", "PATH": "/bin", "LC_ALL": "C", "MAX_STEPS": "5"}
    assert child_environment((), environ) == {name: environ[name] for name in environ if name != "OTHER"}
    assert "MINE" not in child_environment(("model.key",), environ)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, "the task is empty"),
        ({"task": " \n "}, "the task is empty"),
        ({"task": "a\0b"}, "zero byte"),
        ({"task": "a" * 200_001}, "longer than 200 kB"),
        ({"task": "q", "api_key": KEY}, "Keys are never taken from a browser"),
        ({"task": "q", "sandbox": "host"}, "is no field"),
        ({"task": "q", "privileged": "1"}, "is no field"),
        ({"task": "q", "profile": "host"}, "profile must be one of"),
        ({"task": "q", "effort": "huge"}, "effort must be one of"),
        ({"task": "q", "max_steps": "many"}, "run.max_steps must be a whole number"),
        ({"task": "q", "max_steps": "-1"}, "run.max_steps must be a whole number"),
        ({"task": "q", "max_steps": "10000001"}, "run.max_steps must be a whole number"),
        ({"task": "q", "budget_cost": "nan"}, "budget.cost must be"),
        ({"task": "q", "budget_seconds": "1e99"}, "budget.seconds must be"),
        ({"task": "q", "budget_tokens": "1.5"}, "budget.tokens must be"),
        ({"task": "q", "model_base_url": "file:///etc/passwd"}, "http or https address"),
        ({"task": "q", "model_base_url": "javascript:alert(1)"}, "http or https address"),
        ({"task": "q", "model_base_url": "http://user:word@example.org"}, "model.base_url must be"),
        ({"task": "q", "model_base_url": "http://example.org/?key=1"}, "model.base_url must be"),
        ({"task": "q", "model_name": "a\nb"}, "one line"),
        ({"task": "q", "model_name": "a" * 2001}, "one line of at most 2000"),
        ({"task": "q", "input_dir": "/etc"}, "below the base folder"),
        ({"task": "q", "input_dir": "../"}, "below the base folder"),
        ({"task": "q", "input_dir": "link"}, "below the base folder"),
        ({"task": "q", "input_dir": "file"}, "below the base folder"),
        ({"task": "q", "input_dir": "nowhere"}, "below the base folder"),
    ],
)
def test_a_field_that_is_wrong_is_answered_by_a_sentence_and_starts_nothing(
    base: Path, tmp_path_factory: pytest.TempPathFactory, fields: dict[str, str], sentence: str
) -> None:
    (base / "link").symlink_to(tmp_path_factory.mktemp("outside"))
    (base / "file").write_text("x")
    runs, session = runs_in(base), Sessions(base).by_work_dir("./work/example")
    with pytest.raises(RunRefused, match=sentence) as refused:
        asyncio.run(runs.start(session, fields))
    assert refused.value.status == 400
    assert KEY not in str(refused.value)
    assert not session.path.exists()


def test_values_that_look_like_options_are_none(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        runs = runs_in(base)
        session = await runs.new()
        (base / "--privileged").mkdir()
        (base / "--privileged" / "a.txt").write_text("text")
        fields = {"task": "--help", "model_name": "--profile=lab", "input_dir": "--privileged"}
        with ScriptedServer([ANSWER], exhausted="repeat") as server:
            monkeypatch.setenv("MODEL_BASE_URL", server.base_url)
            await runs.start(session, fields)
            await until_state(runs, session, "ended")
            assert server.requests[0].body["model"] == "--profile=lab"
            assert "--help" in str(server.requests[0].body["messages"][1]["content"])

    asyncio.run(run())


def test_the_form_shows_what_is_configured_and_offers_folders_of_the_base(
    base: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv("MAX_STEPS", "12")
    monkeypatch.setenv("MODEL_BASE_URL", "https://api.example.org/v1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for name in ("input", "papers", ".hidden", "work"):
        (base / name).mkdir()
    (base / "link").symlink_to(tmp_path_factory.mktemp("outside"))
    form = runs_in(base).form(None)
    assert form.values == {"max_steps": "12", "model_base_url": "https://api.example.org/v1"}
    assert form.input_folders == ("./input", "./papers")
    assert form.key_sentence == (
        "Your key goes to https://api.example.org/v1 only. A run at another address gets none."
    )
    assert KEY not in repr(form)


def test_settings_that_cannot_be_used_lock_the_form_with_a_sentence(base: Path) -> None:
    (base / "vera.yaml").write_text("model: [")
    runs = runs_in(base)
    form = runs.form(None)
    assert form.locked and "vera.yaml" in form.reason
    with pytest.raises(RunRefused, match=r"vera\.yaml") as refused:
        asyncio.run(runs.start(Sessions(base).by_work_dir("./work/x"), {"task": "q"}))
    assert refused.value.status == 503


def test_a_model_server_that_failed_is_named_as_what_ended_the_run(base: Path) -> None:
    session = strangers_session(base, {})
    held = Session.resume(session.path)
    error = "HTTP 500: broken (4 attempts)"
    held.emit(events.Model(step=1, scope="agent", latency_s=1.0, error=error), lane="main")
    held.close()
    status = runs_in(base).status(session)
    assert (status.state, status.can_resume) == ("stopped", True)
    assert status.words == "It stopped there, and can be resumed."
    with app_of(base) as client:
        shown = visible_text(client.get(f"/s/{session.id}").text)
    assert all(part in shown for part in ("Model failed", error, status.words))


def strangers_session(
    base: Path, settings: dict[str, object], *, input_dir: str = "", server: str = ""
) -> SessionFolder:
    """A session that was broken off, begun under those settings."""
    session = Sessions(base).by_work_dir("./work/strange")
    loaded = load((), settings, cwd=base)
    held = Session.create(session.path, public(loaded.settings))
    held.emit(events.Task(task="What?", input_dir=input_dir), lane="")
    if server:
        held.emit(events.ModelServer(kind="openai", base_url=server, model="m", protocol="text"), lane="")
    held.emit(
        events.LaneStarted(
            purpose="research",
            system="s",
            task_message="t",
            tools=(),
            protocol="text",
            system_role="system",
            prompt_sha256="0" * 64,
            high_tokens=24000,
            max_bytes=0,
            tail_steps=4,
        )
    )
    held.close()
    return session


@pytest.mark.parametrize(
    ("settings", "input_dir", "sentence"),
    [
        ({"sandbox.backend": "host"}, "", "sandbox.backend"),
        ({"search.searxng_url": "http://10.0.0.1"}, "", "search.searxng_url"),
        ({"egress.allow_cidrs": "10.0.0.0/8"}, "", "egress.allow_cidrs"),
        ({"action_verifier.verifier_class": "os.path"}, "", "verifier_class"),
        ({"model.base_url": "http://10.0.0.1"}, "", "decides who reads what the run reads"),
        ({"verification.web_sources": 1}, "", "asks for less before an answer counts as verified"),
        ({}, "/etc", "run.input_dir"),
        ({}, "", "Your key has not sealed this session"),
    ],
)
def test_a_session_that_reaches_into_this_machine_is_not_resumed_from_a_browser(
    base: Path, settings: dict[str, object], input_dir: str, sentence: str
) -> None:
    session = strangers_session(base, settings, input_dir=input_dir)
    runs = runs_in(base)
    assert runs.status(session).can_resume
    with pytest.raises(RunRefused, match=sentence) as refused:
        asyncio.run(runs.resume(session, {}))
    assert refused.value.status == 409
    assert "vera resume ./work/strange" in str(refused.value)
    assert not (session.path / "run.pid").exists()


def test_a_session_of_a_stranger_brings_nothing_to_the_address_in_its_log(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with Listener() as mine, Listener() as stranger:
        monkeypatch.setenv("MODEL_BASE_URL", mine.address)
        session = strangers_session(base, {"model.base_url": stranger.address}, server=stranger.address)
        with pytest.raises(RunRefused) as refused:
            asyncio.run(runs_in(base).resume(session, {}))
        assert refused.value.status == 409
        assert stranger.heard == mine.heard == []


def test_limits_of_a_resume_are_checked_too(base: Path) -> None:
    session = strangers_session(base, {})
    for fields, sentence in (({"max_steps": "x"}, "max_steps"), ({"task": "again"}, "no field")):
        with pytest.raises(RunRefused, match=sentence) as refused:
            asyncio.run(runs_in(base).resume(session, fields))
        assert refused.value.status == 400
