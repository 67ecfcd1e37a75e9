"""What the gates cost: a step's share of all of them, asked about every kind of action, after 200 steps.

    python benchmarks/gates.py              200 steps
    python benchmarks/gates.py --steps N    after N steps

"ask" is the whole registry over one action; "call" is what stands before a tool call: its aim, the registry;
"fold" is one step's records into the lane's history; "a step" is all that a step with one call asks. A
"refused" call is sent back with a proposal.
"""

import argparse
import platform
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from support.gating import NOTHING_NEW, Outcome, Trial, rules_for
from vera import events
from vera.agent.rules import listed
from vera.config import defaults
from vera.gates.kernel import BrokenTurn, Connection, FinalAnswer, NextTurn, Observed, ToolCall, ask
from vera.gates.registry import GATES
from vera.history import fold

ROUNDS = 2000
REPEATED = "Apple car official announcement 2031"
COMMAND = "cd /work && python analyse.py --in data.csv > out.txt 2>&1 && grep -n total out.txt | head -20"


def lane(steps: int) -> Trial:
    """A negative question whose run is long and whose gates all have something to look at."""
    trial = Trial(
        rules_for(
            brave=True,
            notes_interval=3,
            source_budget=1000,
            max_steps=10 * steps,
            destructive=tuple(listed(defaults().policy.destructive)),
        ),
        negative=True,
    )
    for step in range((steps - 2) // 4):
        trial.search(f"Apple car topic{step} part{step}", NOTHING_NEW, tool="brave_search", note="learnt")
        trial.fetch(f"https://source{step}.example/a{step}", Outcome(), note="learnt")
        trial.fetch(f"https://reuters.com/{step}", Outcome(failure="http_404", fresh=False), note="learnt")
        trial.shell(COMMAND, NOTHING_NEW, note="learnt")
    for _ in range(2):
        trial.search(REPEATED, NOTHING_NEW, note="learnt")
    return trial


def measured(work: Callable[[], object]) -> float:
    """The median of ten means, in milliseconds."""
    means = []
    for _ in range(10):
        began = time.perf_counter()
        for _ in range(ROUNDS // 10):
            work()
        means.append((time.perf_counter() - began) * 1000 / (ROUNDS // 10))
    return sorted(means)[len(means) // 2]


def rows(trial: Trial) -> dict[str, float]:
    state, rules, aim = trial.state, trial.rules, trial.gate_runner.aim
    ts, step = trial.memory.ts + 1, trial.lane.step + 1
    calls = {
        "web_search": {"query": "Apple car production plans 2031"},
        "fetch": {"url": "https://www.sec.gov/filings/a"},
        "shell": {"cmd": COMMAND},
        "read": {"path": "/work/notes.md"},
    }
    table: dict[str, float] = {}
    for tool, args in calls.items():
        action = ToolCall(ts=ts, step=step, tool=tool, args=args, aim=aim(tool, args), noted=True)
        table[f"ask: {tool}"] = measured(lambda action=action: ask(GATES, state, action, rules))
        table[f"call: {tool}"] = measured(
            lambda tool=tool, args=args: ask(
                GATES,
                state,
                ToolCall(ts=ts, step=step, tool=tool, args=args, aim=aim(tool, args), noted=True),
                rules,
            )
        )
    repeated = {"query": REPEATED}
    refused = ToolCall(
        ts=ts, step=step, tool="web_search", args=repeated, aim=aim("web_search", repeated), noted=True
    )
    page = events.Target(url="https://sec.gov/", domain="sec.gov")
    for name, action in {
        "ask: answer": FinalAnswer(ts=ts, step=step),
        "ask: broken turn": BrokenTurn(ts=ts, step=step, cut=True),
        "ask: observed": Observed(
            ts=ts, step=step, tool="fetch", low_signal=(("https://a.org", "few words"),)
        ),
        "ask: next turn": NextTurn(ts=ts, step=step),
        "ask: connection": Connection(ts=ts, step=step, host="sec.gov", target=page),
        "refused: web_search": refused,
    }.items():
        table[name] = measured(lambda action=action: ask(GATES, state, action, rules))
    records = [each for each in trial.memory.records if getattr(each, "step", 0) == trial.lane.step]

    def fold_step() -> None:
        past = trial.lane.history
        for record in records:
            past = fold(past, record, unresolved=True, in_call=False)

    table["fold"] = measured(fold_step)
    slowest = max(value for name, value in table.items() if name.startswith("call:"))
    table["a step"] = slowest + table["ask: observed"] + table["ask: next turn"] + table["fold"]
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--steps", type=int, default=200)
    steps = parser.parse_args().steps
    print(f"{datetime.now(UTC):%Y-%m-%d} · Python {platform.python_version()} · {platform.platform()}")
    trial = lane(steps)
    print(f"{f'after {trial.lane.step} steps':24}{'ms':>10}")
    for name, value in rows(trial).items():
        print(f"{name:24}{value:>10.4f}")


if __name__ == "__main__":
    main()
