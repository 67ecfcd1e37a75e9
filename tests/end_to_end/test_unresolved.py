"""A run that is not verified says what is open, what it checked and what it has; its ledgers say how."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from support.cast import Cast
from support.cli import vera
from support.scripted_server import ScriptedServer
from support.site import serving
from support.turns import final, turn

PARAGRAPHS = "".join(
    f"<p>This is news number {number}, and none of it is about a date.</p>" for number in range(30)
)
PAGE = f"<html><title>News</title><body>{PARAGRAPHS}</body></html>".encode()


@pytest.fixture
def sites() -> Iterator[list[str]]:
    with ExitStack() as stack:
        yield [stack.enter_context(serving({"/news": PAGE})) for _ in range(3)]


def run(place: Path, server: ScriptedServer, question: str, *more: object) -> tuple[int, str, str]:
    done = vera(
        "run", question, "--work-dir", "w", "--sandbox", "none", "--protocol", "text",
        "--model-base-url", server.root, *more, cwd=place,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout, (place / "w" / "answer.md").read_text()


def rows(place: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (place / "w" / name).read_text().splitlines()]


def test_a_negative_claim_ends_with_the_sources_that_were_checked(tmp_path: Path, sites: list[str]) -> None:
    """Two official sites and an independent one, and none of them says it: the defaults ask for no more."""
    pages = [f"{site}/news" for site in sites]
    cast = Cast([turn("fetch", note="Nothing there.", url=url) for url in pages])
    hosts = [site.removeprefix("http://") for site in sites]
    with ScriptedServer(cast) as server:
        code, out, answer = run(
            tmp_path, server, "Has the date been announced yet?",
            "-c", "egress.mode=allowlist", "-c", f"egress.allow={','.join(hosts)}",
            "-c", "egress.allow_cidrs=127.0.0.0/8", "-c", f"policy.official_domains={hosts[0]},{hosts[1]}",
            "-c", "policy.negative_claim_max_steps=3",
        )  # fmt: skip
    assert code == 3
    for text in (out, answer):
        assert (
            "No official announcement was found in the sources checked: 2 official domains, 1 other" in text
        )
        assert "no official announcement found in sources checked" in text
        assert f"- {hosts[0]} (official), " in text
        assert f"- {hosts[2]} (unknown), " in text
    assert "was listed as official by a person." in answer
    shown = json.loads(vera("show", "w", "--json", cwd=tmp_path).stdout)
    assert [(each["domain"], each["official"]) for each in shown["checked"]["domains"]] == [
        (hosts[0], True), (hosts[1], True), (hosts[2], False),
    ]  # fmt: skip
    assert [each["id"] for each in shown["checked"]["evidence"]][:3] == ["ev_0001", "ev_0002", "ev_0003"]
    moves = rows(tmp_path, "move_ledger.jsonl")[:3]
    assert [move["urls"] for move in moves] == [[page] for page in pages]
    assert [move["evidence"] for move in moves] == [["ev_0001"], ["ev_0002"], ["ev_0003"]]
    assert all(move["reached"] == move["targets"] for move in moves)
    assert vera("rebuild", "w", cwd=tmp_path).stdout == "All files match the log. Nothing was rebuilt.\n"


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "sky.txt").write_text("About the sky.\n\nThe sky is blue on 12 days in May.\n")
    return folder


def test_a_query_that_is_asked_too_often_stands_in_the_ledgers_as_blocked(
    tmp_path: Path, documents: Path
) -> None:
    cast = Cast([turn("search", note="Nothing.", query="date of the announcement")])
    with ScriptedServer(cast) as server:
        code, out, _ = run(tmp_path, server, "When is it?", "--input-dir", documents, "--max-steps", 4)
    assert code == 6
    assert "Searches of the input folder: 2." in out
    queries = rows(tmp_path, "query_ledger.jsonl")
    assert [query["outcome"] for query in queries[:3]] == ["ok", "ok", "blocked"]
    assert len({query["query_family"] for query in queries}) == 1
    moves = rows(tmp_path, "move_ledger.jsonl")
    assert [move["id"] for move in moves] == [query["move"] for query in queries]
    assert moves[2]["failure_type"] == "policy_query_mutation"
    assert moves[2]["evidence"] == []


def test_what_a_model_said_is_kept_when_it_never_keeps_the_form(tmp_path: Path, documents: Path) -> None:
    cast = Cast([turn("read", path="sky.txt"), "I think it is <b>12 days</b>, see above."])
    with ScriptedServer(cast) as server:
        code, out, answer = run(tmp_path, server, "Who was king of Norway?", "--input-dir", documents)
    assert code == 3
    assert "```text\nI think it is <b>12 days</b>, see above.\n```" in answer
    assert "is not in the form of an answer, and nothing in it was verified" in answer
    assert "answer.md shows it" in out
    assert "Input files read:\n- sky.txt" in out


def test_an_answer_that_is_not_verified_is_followed_by_what_was_checked(
    tmp_path: Path, documents: Path
) -> None:
    cast = Cast([turn("read", path="sky.txt"), final("The sky is blue on 99 days [ev_0001:3].")])
    with ScriptedServer(cast) as server:
        code, out, answer = run(
            tmp_path, server, "How many days?", "--input-dir", documents, "--verifier-rounds", 1
        )
    assert code == 3
    assert "Input files read:\n- sky.txt" in out
    assert answer.index("## Cited") < answer.index("## What was checked") < answer.index("UNRESOLVED")


def test_a_verified_run_says_nothing_of_the_kind(tmp_path: Path, documents: Path) -> None:
    cast = Cast([turn("read", path="sky.txt"), final("The sky is blue on 12 days in May [ev_0001:3].")])
    with ScriptedServer(cast) as server:
        code, _, answer = run(tmp_path, server, "How many days?", "--input-dir", documents)
    assert code == 0
    assert "What was checked" not in answer
    assert json.loads(vera("show", "w", "--json", cwd=tmp_path).stdout)["checked"] is None
