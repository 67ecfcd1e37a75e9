"""What `vera serve` costs beside its runs, and what it keeps under load: on one machine, and over a cluster.

.venv/bin/python benchmarks/service_load.py [--requests N] [--workers N] [--only machine|cluster]

So many requests come at one moment, from as many tokens as they need; every question is asked twice. A model
server that answers after the latency is scripted. On the cluster one worker is killed and Postgres restarted
(as after a crash) while they run. Counted is what the files and the model server say afterwards: jobs, those
that ended once, questions of which one search was begun, and requests beyond a quota that were refused.

Overhead is what a request takes beside its run: what the client waits, less the life of the run's process,
from when it is about to be started to when it is gone. It is measured with requests that come one after
another to an idle service, so that nothing waits in a queue. On the cluster the fork servers note when they
fork and when a fork is gone (`NOTING`). "As before 2026-11-26" counts the run from when its attempt is noted
to when its output was last written: the settings that a worker reads before it forks were no overhead then,
and the end of the process was.

All at once, parts of the overhead beside the queue: from the request to its 202 (taken), from one run's end
to the beginning of the next in its place (handed over), and from a run's end to when the client hears of it
(told).
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import httpx

import isolation
from support import postgres
from support.postgres import Server
from support.service_load import (
    EACH,
    Asked,
    Cluster,
    Run,
    ask_all,
    ask_one,
    cluster,
    gaps,
    kill,
    lives,
    median,
    percentile,
    questions,
    runs_of,
    times_asked,
    trouble,
)

NOTING = """
import atexit, os, sys, time

if "vera.batch.fork_server" in sys.orig_argv:
    notes = os.open(os.environ["NOTES_OF_FORKS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    about_to_fork, wait4 = [0.0], os.wait4

    def note(*words):
        os.write(notes, ("\\t".join(map(str, words)) + "\\n").encode())

    def before():
        about_to_fork[0] = time.time()

    def in_fork():
        atexit.register(lambda: note("run", os.getpid(), about_to_fork[0], *sys.argv))

    def waited(pid, options):
        done = wait4(pid, options)
        note("gone", pid, time.time())
        return done

    os.register_at_fork(before=before, after_in_child=in_fork)
    os.wait4 = waited
"""
"""A `sitecustomize` for the fork servers of workers."""


async def one_after_another(place: Cluster, name: str, count: int) -> list[Asked]:
    token = place.token(name, at_once=1)
    asked = [Asked(token, f"Which sky is number {n}?") for n in range(count)]
    async with httpx.AsyncClient(base_url=place.address, timeout=60.0) as client:
        for each in asked:
            await ask_one(client, each)
    return asked


async def over_quota(place: Cluster) -> tuple[int, int]:
    """Twice as many questions as a token may have at once, behind all others in the queue: how many were
    taken and refused. Those that were taken are cancelled."""
    headers = {"authorization": f"Bearer {place.token('eager')}"}
    async with httpx.AsyncClient(base_url=place.address, timeout=60.0, headers=headers) as client:
        bodies = [{"question": f"Which quota has sky number {n}?"} for n in range(2 * EACH)]
        answers = [await client.post("/v1/research", json=body) for body in bodies]
        taken = [answer.json()["id"] for answer in answers if answer.status_code == 202]
        for job in taken:
            await client.delete(f"/v1/jobs/{job}")
    return len(taken), sum(answer.status_code == 429 for answer in answers)


def load(given: argparse.Namespace, server: Server | None) -> None:
    name = "cluster" if server else "one machine"
    url = server.url(server.create_database()) if server else ""
    with tempfile.TemporaryDirectory() as folder:
        if server:
            (Path(folder) / "site").mkdir()
            (Path(folder) / "site" / "sitecustomize.py").write_text(NOTING)
            paths = [f"{folder}/site", os.environ.get("PYTHONPATH", "")]
            os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        os.environ["NOTES_OF_FORKS"] = f"{folder}/forks"
        with cluster(Path(folder), url, latency=given.latency, jobs=given.workers) as place:
            asked = questions(place, given.requests)
            place.token("first")
            place.serve()
            workers = [place.worker() for _ in range(given.workers if server else 0)]
            asyncio.run(one_after_another(place, "warm-up", 2))
            alone = asyncio.run(one_after_another(place, "alone", given.single))
            as_before = runs_of(place)
            single = overhead(alone, lives(place, Path(folder) / "forks"))
            began = time.monotonic()
            jobs = place.ended()
            steps = []
            if server:
                steps = [
                    (jobs + given.requests // 10, lambda: kill(workers[0])),
                    (jobs + given.requests // 5, server.restart_at_once),
                ]

            async def all_of_it() -> tuple[int, int]:
                everything = asyncio.create_task(ask_all(place, asked))
                while not all(each.taken for each in asked):  # noqa: ASYNC110 - a benchmark may look
                    await asyncio.sleep(0.05)
                over = await over_quota(place)
                await asyncio.gather(everything, trouble(place, steps))
                return over

            quota = asyncio.run(all_of_it())
            seconds = time.monotonic() - began
            mine = {each.job for each in asked}
            runs = [run for run in lives(place, Path(folder) / "forks") if run.job in mine]
            report(name, asked, runs, times_asked(place), seconds)
        print(f"{f'taken of a quota of {EACH}, refused':<34}{quota[0]:>8}, {quota[1]} of {2 * EACH} requests")
        row("overhead, one after another", single)
        if server:
            row("  as before 2026-11-26", overhead(alone, as_before))
        row("  taken, at once", [each.taken - each.sent for each in asked if not each.refused])
        row("  handed over, at once", [gap for gap in gaps(runs, given.workers) if 0 <= gap < 2])
        ends = {run.job: run.ended for run in runs}
        row("  told, at once", [each.heard - ends[each.job] for each in asked if each.job in ends])
    print()


def overhead(asked: list[Asked], runs: list[Run]) -> list[float]:
    took = {run.job: run.ended - run.began for run in runs}
    return [each.heard - each.sent - took[each.job] for each in asked]


def report(name: str, asked: list[Asked], runs: list[Run], searched: dict[str, int], seconds: float) -> None:
    attempts = {run.job: run.attempts for run in runs}
    question = {each.question: each.job for each in asked}
    once = [text for text, job in question.items() if searched.get(text, 0) <= attempts.get(job, 0)]
    again = sum(each.refused for each in asked)
    print(f"{name}: {len(asked)} requests in {seconds:.1f} s, {again} asked again after 503")
    print(f"{'jobs':<34}{len({each.job for each in asked}):>8} for {len(question)} questions")
    print(f"{'ended done':<34}{sum(each.status == 'done' for each in asked):>8} of {len(asked)} requests")
    print(f"{'ended once':<34}{sum(run.committed == 1 for run in runs):>8} of {len(runs)} jobs")
    print(f"{'begun again by another worker':<34}{sum(run.attempts > 1 for run in runs):>8}")
    print(f"{'searched once':<34}{len(once):>8} of {len(question)} questions (once for each attempt)")


def row(name: str, seconds: list[float]) -> None:
    p50, p95 = median(seconds) * 1000, percentile(seconds, 0.95) * 1000
    print(f"{name:<34}{p50:>8.0f} ms p50{p95:>8.0f} ms p95")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--single", type=int, default=10)
    parser.add_argument("--only", choices=["machine", "cluster"])
    given = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # a person's Python keeps what it has compiled
    with tempfile.TemporaryDirectory() as home:
        isolation.apply(isolation.private_environment(Path(home)))
        print(f"{os.cpu_count()} processors, model latency {given.latency:g} s")
        if given.only != "cluster":
            load(given, None)
        if given.only != "machine":
            with postgres.server() as server:
                load(given, server)


if __name__ == "__main__":
    main()
