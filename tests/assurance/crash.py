"""Battery `crash`: a command meets one fault, and the same command, or `vera resume`, brings its work to its
end.

Each scenario is a command with all that it needs. Trial after trial goes through the calls that it makes, so
that each is met, and draws how. What holds afterwards is the promise; the scenarios say it in detail.
"""

import functools
import math
import random
import signal
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from assurance.batteries import Battery, Trial
from assurance.crash_batches import Cluster, Local, is_here
from assurance.crash_commands import Bundle, Check, Review, Thesis, Typed
from assurance.crash_model import model
from assurance.crash_servers import Dashboard, Service
from assurance.crash_sessions import RESULTS, Ask, BestOfN, Meaning, Run
from assurance.crash_stage import Ended, Stage, forget, no_traceback
from assurance.faults import DISK_BROKEN, DISK_FULL, MOMENT, READ_ONLY, Fault

Scenario = Run | Typed
SCENARIOS: dict[Scenario, int] = {
    Run(): 30,
    BestOfN(): 12,
    Meaning(): 8,
    Ask(): 8,
    Thesis(): 8,
    Check(): 6,
    Bundle(): 6,
    Review(): 6,
    Local(): 5,
    Cluster(): 3,
    Dashboard(): 3,
    Service(): 3,
}
"""Each with its share of the trials."""

ANY_MOMENT = 0.2
"""The share of kills at a moment that no call says."""
YEAR = 365 * 86_400
ROWS = {
    "killed": "kill -9, power cut",
    "stopped": "SIGTERM, SIGINT",
    "disk": "disk full, broken, read-only",
    "surroundings": "closed streams, clock, memory",
}


def attempt(trial: Trial) -> None:
    scenario, turn = scheduled(trial.number)
    if not is_here(scenario):
        trial.row = f"{scenario.name}: not tried, its part is not on this machine"
        return
    stage = Stage(trial.folder, trial.random)
    scenario.prepare(stage)
    usual = usually(scenario)
    trial.figures["calls"] = usual.calls
    kind, number = chosen(turn, usual.calls, trial.random)
    trial.row = f"{scenario.name}: {ROWS[kind]}"
    fault, power = drawn(kind, number, trial.random)
    if kind == "killed" and scenario.can_be_timed and trial.random.random() < ANY_MOMENT:
        fault = Fault(MOMENT, argument=trial.random.randint(1, usual.milliseconds))
    ended = scenario.first(stage, fault)
    try:
        if not ended.was_killed and fault.action != "memory":
            no_traceback(ended, fault)
        if power:
            stage.cut_power(ended)
        stage.nothing_runs()
        scenario.settle(stage, ended, fault, usual.code)
        stage.nothing_runs()
        stage.nothing_temporary(fault, [*scenario.given_up(stage), *not_removed(ended, fault)])
    except Exception as error:
        number = fault.number or len(ended.calls)
        where = ended.calls[number - 1] if len(ended.calls) >= number else "a call that it never made"
        what = f"{fault} {'and a cut of the power ' * power}at {where}"
        raise AssertionError(f"{what}, exit code {ended.code}: {ended.said[-500:]}") from error
    finally:
        forget(model())


def not_removed(ended: Ended, fault: Fault) -> list[Path]:
    """What the disk refused to remove: whoever wanted it gone can do no more."""
    failed = fault.action in ("fails", "fails-once") and 0 < fault.number <= len(ended.calls)
    call = ended.calls[fault.number - 1] if failed else None
    return [Path(call.path)] if call is not None and call.name == "unlink" else []


def chosen(turn: int, calls: int, random_: random.Random) -> tuple[str, int]:
    """The kind of a scenario's fault, and the call where it happens. Every other turn is a kill, and these go
    through all calls, one after the other in another order."""
    if turn % 2 == 0:
        return "killed", 1 + turn // 2 * coprime(calls) % calls
    kind = random_.choices(["stopped", "disk", "surroundings"], [2, 4, 1])[0]
    return kind, random_.randint(1, calls)


def coprime(number: int) -> int:
    """A step by which one goes through so many in an order of its own: of the golden section, about."""
    step = max(1, int(number * 0.618))
    while math.gcd(step, number) > 1:
        step += 1
    return step


def drawn(kind: str, number: int, draw: random.Random) -> tuple[Fault, bool]:
    """A fault of that kind at that call, and whether the power is cut with it."""
    if kind == "killed":
        action = draw.choice(["before", "inside", "behind", "power"])
        return Fault("behind" if action == "power" else action, number), action == "power"
    if kind == "stopped":
        return Fault("signal", number, draw.choice([signal.SIGTERM, signal.SIGINT])), False
    if kind == "disk":
        how = draw.choice(["fails", "fails", "fails-once"])
        error = READ_ONLY if how == "fails" and draw.random() < 0.2 else draw.choice([DISK_FULL, DISK_BROKEN])
        return Fault(how, number, error), False
    match draw.choice(["closed", "full", "memory", "clock"]):
        case "closed":
            return Fault("closed", number, draw.choice([0, 1, 2])), False
        case "full":
            return Fault("full", number, draw.choice([1, 2])), False
        case "memory":
            return Fault("memory", number, draw.randrange(64 << 20)), False
        case _:
            return Fault("clock", number, draw.choice([3600, 30 * YEAR])), False


@functools.cache
def order() -> Sequence[Scenario]:
    """Whose turn it is, repeated: all scenarios once, then each as often as its share says."""
    rest = [each for each, share in SCENARIOS.items() for _ in range(share - 1)]
    step = coprime(len(rest))
    return [*SCENARIOS, *(rest[at * step % len(rest)] for at in range(len(rest)))]


def scheduled(number: int) -> tuple[Scenario, int]:
    """The scenario of a trial, and how many trials it had before."""
    of = order()
    scenario = of[number % len(of)]
    before = sum(each is scenario for each in of[: number % len(of)])
    return scenario, number // len(of) * SCENARIOS[scenario] + before


class Usual(NamedTuple):
    """A command without a fault: how many calls it makes, its exit code, and how long it takes."""

    calls: int
    code: int
    milliseconds: int


@functools.cache
def usually(scenario: Scenario) -> Usual:
    """How the command goes without a fault, in a home that was used before."""
    with tempfile.TemporaryDirectory(prefix="vera-crash-") as folder:
        stage = Stage(Path(folder), random.Random(1))
        scenario.prepare(stage)
        began = time.monotonic()
        ended = scenario.first(stage)
        assert ended.code in RESULTS, ended
        return Usual(len(ended.calls), ended.code, int((time.monotonic() - began) * 1000))


BATTERY = Battery(
    name="crash",
    promise="After a fault the same command or `vera resume` brings the work to its end: nothing is lost or "
    "done twice, the session replays, and nothing is left running or lying about.",
    trials=5_000,
    slice=12,
    attempt=attempt,
    needs=("faults",),
)
