"""Hundreds of runs of one service, which one dashboard shows, for hours."""

import asyncio
import re
import time
from pathlib import Path
from typing import Any

import httpx
import psutil

from assurance.batteries import Trial
from assurance.soaking.series import Series, disk, held
from support.dashboards import Dashboard, dashboard_of
from support.scripted_server import ScriptedServer
from support.service_load import PATIENCE, Asked, Cluster, ask_one
from support.turns import answered_turns, final, observation, turn
from vera.protocol import text

LICENCES = Path(__file__).parents[3] / "examples" / "licences"
OFFER = re.compile(r"OBSERVATION (ev_\d+)[\s\S]*?^(\d+)\| +written offer, valid for at least", re.MULTILINE)
RUN = re.compile(r'href="(/s/[^"#?/]+)"')

LOOKS, LOOK_SECONDS = 5, 0.1


def runs_of(trial: Trial, runs: int, seconds: float, allowed: dict[str, float]) -> None:
    """So many runs, spread over so many seconds: service and dashboard hold what is allowed, and answer."""
    series = Series("100 runs")
    with ScriptedServer(reply) as model:
        place = Cluster(trial.folder, model, jobs=2)
        try:
            token = place.token("soak", at_once=4, per_hour=100_000)
            service = psutil.Process(place.serve("--input-root", LICENCES).pid)
            asyncio.run(asked(place, token, 0))
            [sessions] = place.base.glob("serve/soak-*")
            with dashboard_of(sessions, trial.folder / "dashboard-token") as board:
                shown = psutil.Process(board.process.pid)
                began = time.monotonic()
                for run in range(1, runs + 1):
                    measured = asyncio.run(asked(place, token, run))
                    measured |= looked_at(board)
                    measured |= at_rest("service: ", service) | at_rest("dashboard: ", shown)
                    series.note(run / 100, measured | {"disk, MB": disk(place.base)})
                    model.requests.clear()
                    time.sleep(max(0.0, began + run * seconds / runs - time.monotonic()))
            assert place.ended() == runs + 1
        finally:
            place.end()
    series.judge(trial, allowed)


def at_rest(prefix: str, process: psutil.Process) -> dict[str, float]:
    """The least of a few looks: what a request that is about to end still holds is no leak."""
    looks = []
    for _ in range(LOOKS):
        looks.append(held(prefix, process))
        time.sleep(LOOK_SECONDS)
    return {name: min(each[name] for each in looks) for name in looks[0]}


def reply(index: int, body: dict[str, Any]) -> str:
    """Searches the licences, reads the best one, and cites the line."""
    match answered_turns(body):
        case 0:
            said = turn("search", query="written offer valid three years spare parts")
        case 1:
            said = turn("read", path="GPL-3.txt", first=250, last=265)
        case _:
            found = OFFER.search(observation(body))
            assert found is not None, observation(body)
            said = final(f"The written offer must be valid for at least three years [{found[1]}:{found[2]}].")
    return text.render(said)


async def asked(place: Cluster, token: str, number: int) -> dict[str, float]:
    """One question, to its end."""
    question = Asked(token, f"For how long must written offer number {number} be valid?")
    async with httpx.AsyncClient(base_url=place.address, timeout=PATIENCE) as client:
        await ask_one(client, question)
    assert question.status == "done", question
    return {
        "service: taken in, ms": 1000 * (question.taken - question.sent),
        "service: answered in, s": question.heard - question.sent,
    }


def looked_at(board: Dashboard) -> dict[str, float]:
    """The pages of a person who watches; a stream is left in the middle."""
    with board.client(accept="text/html") as client:

        def page(name: str, path: str) -> str:
            began = time.monotonic()
            answer = client.get(path)
            assert answer.status_code == 200, (path, answer.text[:1000])
            measured[f"dashboard: {name} in, ms"] = 1000 * (time.monotonic() - began)
            return answer.text

        measured: dict[str, float] = {}
        newest = RUN.findall(page("list", "/"))[0]
        page("a run", newest)
        page("metrics", "/metrics")
        with client.stream("GET", f"{newest}/events") as stream:
            assert stream.status_code in (200, 204), newest
            next(stream.iter_raw(), b"")
    return measured
