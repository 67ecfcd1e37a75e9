"""The example plugin in a real run: used, named in the log, and replayed where it is not installed."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

import vera as api
from support.choosing import server
from support.cli import records, vera
from support.plugin_packages import on_path, put, put_example
from support.turns import answered_turns, as_reply, final, turn
from vera import events
from vera.attestation.gather import GatherError, gather
from vera.config import defaults
from vera.store import Store

NAMES = ("weekday", "shouting", "long_query", "readers_first", "calendar")
MEETING = (
    "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART:20261123\r\n"
    "SUMMARY:The board meets in the hall.\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)
QUESTION = "Where does the board meet on 23 November 2026?"
LONG = "where does the board of the company meet on the day of 23 November 2026"
ANSWER = "THE BOARD MEETS IN THE HALL [ev_0002:1].\n\n2026-11-23 is a Monday [ev_0001:1]."
SCRIPT = [
    as_reply(said, "text")
    for said in (
        turn("weekday", day="2026-11-23"),
        turn("search", query=LONG),
        turn("read", path="board.ics"),
        final(ANSWER),
    )
]


@dataclass(frozen=True)
class Plugged:
    """A run with plugins: its session, and how the process ended."""

    work: Path
    code: int
    said: str

    @property
    def log(self) -> list[events.Record]:
        return records(self.work)


def run(folder: Path, *more: object, script: list[Any] = SCRIPT) -> Plugged:
    (folder / "input").mkdir()
    (folder / "input" / "board.ics").write_text(MEETING)
    with server(lambda index, body: script[min(answered_turns(body), len(script) - 1)]) as model:
        done = vera(
            "run", QUESTION, "--input-dir", "input", "--work-dir", "work", "--sandbox", "none",
            "--egress", "none", "--verifier", "literal", "--verifier-rounds", 1, "--protocol", "text",
            "--mode", "agent", *more,
            cwd=folder, MODEL_BASE_URL=model.base_url, **on_path(folder / "site"),
        )  # fmt: skip
    return Plugged(folder / "work", done.returncode, done.stderr)


@pytest.fixture(scope="module")
def plugged(tmp_path_factory: pytest.TempPathFactory) -> Plugged:
    folder = tmp_path_factory.mktemp("plugged")
    put_example(folder / "site")
    enabled = [word for name in NAMES for word in ("--plugin", name)]
    return run(folder, *enabled, "--num-candidates", 2, "--action-verifier", "readers_first")


def test_the_log_names_each_plugin_with_version_and_hash(plugged: Plugged) -> None:
    (loaded,) = [each for each in plugged.log if isinstance(each, events.PluginsLoaded)]
    assert {each.name for each in loaded.plugins} == set(NAMES)
    assert {(each.distribution, each.version) for each in loaded.plugins} == {
        ("vera-example-plugin", "0.1.0")
    }
    assert {len(each.sha256) for each in loaded.plugins} == {64}
    assert "plugins, with your rights on this machine: weekday (vera-example-plugin)" in plugged.said


def test_each_family_does_its_part(plugged: Plugged) -> None:
    log = plugged.log
    evidence = {each.id: each for each in log if isinstance(each, events.Evidence)}
    assert (evidence["ev_0001"].tier, evidence["ev_0001"].extractor) == ("observed", "plugin/weekday")
    assert evidence["ev_0002"].extractor == "plugin:calendar/vera-example-plugin-0.1.0"
    (refused,) = [each for each in log if isinstance(each, events.PolicyGate)]
    assert (refused.gate, refused.effect, refused.limit) == ("long_query", "refuse", 12)
    assert {each.selector for each in log if isinstance(each, events.Selection)} == {"readers_first"}


def test_a_plugin_check_that_says_hard_without_leave_is_a_hint(plugged: Plugged) -> None:
    (audit,) = [each for each in plugged.log if isinstance(each, events.Audit)]
    assert isinstance(audit.plugin_findings, str)
    (found,) = json.loads(audit.plugin_findings)
    assert (found["code"], found["severity"]) == ("plugin:shouting.capitals", "soft")


def test_what_a_plugin_tool_says_supports_no_claim(plugged: Plugged) -> None:
    (verdict,) = [each for each in plugged.log if isinstance(each, events.Verifier)]
    assert (verdict.claims, verdict.supported, plugged.code) == (2, 1, 3)
    assert "is a Monday [ev_0001:1]. (unresolved)" in (plugged.work / "answer.md").read_text()


def test_the_session_replays_where_the_plugin_is_not_installed(plugged: Plugged) -> None:
    replayed = vera("replay", plugged.work, cwd=plugged.work.parent)
    assert replayed.returncode == 0
    assert "1 finding of the plugin shouting: not recomputed" in replayed.stdout
    assert "made by a plugin's format" in replayed.stdout
    assert "1 stored as they came" in replayed.stdout


def test_a_check_that_the_person_lets_be_hard_ends_the_claim(tmp_path: Path) -> None:
    put_example(tmp_path / "site")
    done = run(
        tmp_path, "--plugin", "shouting", "--plugin", "calendar", "-c", "plugins.hard_checks=shouting",
        script=[SCRIPT[2], as_reply(final("THE BOARD MEETS IN THE HALL [ev_0001:1]."), "text")],
    )  # fmt: skip
    (verdict,) = [each for each in done.log if isinstance(each, events.Verifier)]
    assert (verdict.supported, verdict.hard) == (0, 1)
    assert vera("replay", done.work, cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("vera.yaml", "plugins:\n  enabled: weekday\n"),
        (".env", "VERA_PLUGINS__ENABLED=weekday\n"),
        ("vera.yaml", "plugins:\n  hard_checks: shouting\n"),
    ],
)
def test_a_project_folder_cannot_enable_a_plugin(tmp_path: Path, file: str, text: str) -> None:
    put_example(tmp_path / "site")
    (tmp_path / file).write_text(text)
    done = run(tmp_path)
    assert done.code == 2
    assert "plugins." in done.said and "cannot" in done.said
    assert not done.work.exists()


def test_a_task_file_cannot_enable_a_plugin(tmp_path: Path) -> None:
    put_example(tmp_path / "site")
    line = {"name": "one", "task": "What?", "settings": {"plugins.enabled": "weekday"}}
    (tmp_path / "tasks.jsonl").write_text(json.dumps(line) + "\n")
    done = vera("batch", "tasks.jsonl", cwd=tmp_path, **on_path(tmp_path / "site"))
    assert done.returncode != 0
    assert "plugins.enabled" in done.stdout + done.stderr


def test_a_plugin_that_cannot_be_loaded_starts_no_run(tmp_path: Path) -> None:
    put(tmp_path / "site", "broken_part", "raise RuntimeError('no\\x1b[31m')", {"tools": {"broken": "tool"}})
    done = run(tmp_path, "--plugin", "broken")
    assert done.code == 2
    assert "The plugin broken of strange-parts cannot be loaded" in done.said
    assert "Traceback" not in done.said and "\x1b" not in done.said
    assert not done.work.exists()


async def lengths(text: str, at_least: int = 1) -> dict[str, int]:
    """Count the letters of the words of a text."""
    await asyncio.sleep(0)
    return {word: len(word) for word in text.split() if len(word) >= at_least}


def test_functions_of_a_python_program_are_called(tmp_path: Path) -> None:
    script = [as_reply(said, "text") for said in (turn("lengths", text="a hall", at_least=2), final("Four."))]
    with server(lambda index, body: script[min(answered_turns(body), 1)]) as model:
        settings = defaults(
            {
                "model.base_url": model.base_url,
                "model.protocol": "text",
                "run.mode": "agent",
                "sandbox.backend": "none",
                "egress.mode": "none",
                "verification.rule": "literal",
                "verification.rounds": 1,
            }
        )
        outcome = api.research(
            "How long is the word hall?", tools=[lengths], work_dir=tmp_path / "work", settings=settings
        )
    log = records(outcome.session)
    (tool,) = [each for each in log if isinstance(each, events.Tool)]
    assert (tool.tool, tool.outcome) == ("lengths", "ok")
    assert isinstance(tool.obs, str) and '"hall": 4' in tool.obs
    (loaded,) = [each for each in log if isinstance(each, events.PluginsLoaded)]
    (used,) = loaded.plugins
    assert (used.family, used.name, used.distribution) == ("tools", "lengths", "")


@pytest.mark.parametrize(
    ("findings", "said"),
    [
        (
            '[{"code":"number_absent","label":"fabricated","severity":"hard","message":"No."}]',
            "a code of VERA's own",
        ),
        ('[{"code":"plugin:x.y"}]', "is no list of findings"),
        ("[" * 2000, "is no list of findings"),
    ],
)
def test_a_log_cannot_pass_other_findings_off_as_a_plugins(
    plugged: Plugged, findings: str, said: str
) -> None:
    log = [
        msgspec.structs.replace(each, plugin_findings=findings) if isinstance(each, events.Audit) else each
        for each in plugged.log
    ]
    assert gather(plugged.log, Store(plugged.work / "store"), 1).plugin_findings
    with pytest.raises(GatherError, match=said):
        gather(log, Store(plugged.work / "store"), 1)
