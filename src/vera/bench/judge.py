"""The exam of a judge, sat whole by a model of one's choice: which kinds of lines it tells apart."""

import contextlib
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from vera.attestation.exam import KINDS, LANGUAGES, Answered, answered, grade
from vera.bench.figures import wilson
from vera.entailment.values import EntailmentError, PairReader
from vera.lane.prompts import Prompts
from vera.lane.tools import Tool
from vera.model.types import Model
from vera.session import Session
from vera.verification.context import VerifierContext, VerifierOptions
from vera.verification.exam import sit, sit_entailment

Replies = Sequence[str]


async def measure(model: Model, *, seed: int, papers: int) -> dict[str, Any]:
    """The figures of a model over the papers of `seed` and the seeds after it.

    `problem` says why a paper could not be finished; what was answered up to then is counted.
    """
    replies: list[tuple[int, Replies]] = []
    problem, began = "", time.monotonic()
    with tempfile.TemporaryDirectory(prefix="vera-exam-") as folder:
        session = Session.create(Path(folder) / "exam", {})
        try:
            context = VerifierContext(
                session=session,
                model=model,
                prompts=Prompts(),
                open_tools=_no_tools,
                open_box=None,
                options=VerifierOptions(),
            )
            for number in range(seed, seed + papers):
                sitting = await sit(context, number, whole=True)
                replies.append((number, sitting.kept.replies))
                if problem := sitting.problem:
                    break
            spent = session.state.spent
        finally:
            session.close()
    return {
        "model": model.info.name or model.info.kind,
        "server": model.info.base_url,
        "weights": model.info.weights,
        "problem": problem,
        **_graded(replies),
        "seconds": round(time.monotonic() - began, 1),
        "completion_tokens": spent.completion_tokens,
        "prompt_tokens": spent.prompt_tokens,
    }


def measure_file(reader: PairReader, *, seed: int, papers: int) -> dict[str, Any]:
    """The same figures of an entailment judge: it has a file in place of a server, and reads no tokens that
    are counted."""
    replies: list[tuple[int, Replies]] = []
    problem, began = "", time.monotonic()
    for number in range(seed, seed + papers):
        try:
            replies.append((number, sit_entailment(reader, number, whole=True).replies))
        except EntailmentError as error:
            problem = str(error)
            break
    return {
        "model": reader.name,
        "server": "",
        "weights": f"sha256:{reader.about.model}",
        "problem": problem,
        **_graded(replies),
        "seconds": round(time.monotonic() - began, 1),
        "completion_tokens": 0,
        "prompt_tokens": 0,
    }


def _graded(papers: Sequence[tuple[int, Replies]]) -> dict[str, Any]:
    """What was replied to each paper, by its seed, graded together."""
    items = [item for number, replies in papers for item in answered(number, replies)]
    grades = [grade(number, replies) for number, replies in papers]
    return {
        "papers": [{"passed": each.passed, "right": each.right, "of": each.of} for each in grades],
        "right": _share([each.is_right for each in items]),
        "false_accepts": _share([each.said == "SUPPORTS" for each in items if not each.item.supports]),
        "unread": _share([not each.said for each in items]),
        "kinds": {kind: _kind(items, kind) for kind in KINDS},
        "languages": {language: _language(items, language) for language in LANGUAGES},
    }


def _kind(items: Sequence[Answered], kind: str) -> dict[str, Any]:
    own = [each for each in items if each.item.kind == kind]
    return {
        **_share([each.is_right for each in own]),
        "supports": sum(each.said == "SUPPORTS" for each in own),
    }


def _language(items: Sequence[Answered], language: str) -> dict[str, Any]:
    return _share([each.is_right for each in items if each.language == language])


def _share(hits: Sequence[bool]) -> dict[str, Any]:
    return {"count": sum(hits), "of": len(hits), "interval": wilson(sum(hits), len(hits))}


def as_text(figures: dict[str, Any]) -> str:
    """The figures as a table for a person."""
    passed = sum(paper["passed"] for paper in figures["papers"])
    verdict = (
        f"{passed} of {len(figures['papers'])} papers passed"
        if len(figures["papers"]) > 1
        else ("passed" if passed else "cannot judge")
    )
    lines = [
        f"{figures['model']}: {verdict}",
        f"  right          {_row(figures['right'])}",
        f"  false accepts  {_row(figures['false_accepts'])}",
        f"  unreadable     {figures['unread']['count']} of {figures['unread']['of']}",
        f"  {figures['seconds']} s{_tokens(figures)}",
        "",
        f"  {'lines that':<38} {'right':>9} {'SUPPORTS':>9}",
    ]
    for kind, found in figures["kinds"].items():
        right = f"{found['count']} of {found['of']}"
        lines.append(f"  {KINDS[kind][0]:<38} {right:>9} {found['supports']:>9}")
    lines += [
        "",
        "  by language: "
        + ", ".join(
            f"{language} {found['count']} of {found['of']}"
            for language, found in figures["languages"].items()
        ),
    ]
    if figures["problem"]:
        lines += ["", f"  not finished: {figures['problem']}"]
    return "\n".join(lines)


def _tokens(figures: dict[str, Any]) -> str:
    read, said = figures["prompt_tokens"], figures["completion_tokens"]
    return f", {read} tokens in, {said} out" if read else ""


def _row(share: dict[str, Any]) -> str:
    interval = share["interval"]
    bounds = f", 95 % interval {interval[0]:.2f} to {interval[1]:.2f}" if interval else ""
    return f"{share['count']} of {share['of']}{bounds}"


def _no_tools(lane: str) -> AbstractAsyncContextManager[Sequence[Tool]]:
    """An exam has no check lanes."""
    return _none()


@contextlib.asynccontextmanager
async def _none() -> AsyncIterator[Sequence[Tool]]:
    yield ()
