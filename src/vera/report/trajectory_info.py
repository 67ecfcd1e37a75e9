"""A trajectory's run as a whole: how it ended, what it cost, how it was set up, its verdict."""

from collections.abc import Mapping
from typing import Any

import msgspec

from vera import events
from vera.report.candidate_steps import Load
from vera.state import RunState

LANE = "main"

Json = dict[str, Any]

_EXIT_STATUS = {
    "steps": "LimitsExceeded",
    "tokens": "LimitsExceeded",
    "cost": "LimitsExceeded",
    "time": "TimeExceeded",
    "parse_error": "RepeatedFormatError",
    "interrupted": "UserInterruption",
}
"""The reasons of a lane's end by mini-swe-agent's names; another reason stands as it is."""


def exit_status(state: RunState) -> str:
    """How the run ended, by mini-swe-agent's names; '' while it goes on. With an answer of the model it is
    Submitted."""
    if state.ended is None:
        return ""
    if _answer(state) not in (None, state.extracts):
        return "Submitted"
    ended = state.lane(LANE).ended
    reason = ended.reason if ended else state.ended.status
    return _EXIT_STATUS.get(reason, reason)


def submission(state: RunState, load: Load) -> str:
    """The text of the answer that was chosen, else of the last one; '' for none."""
    answer = _answer(state)
    return load(answer.text) if answer else ""


def info(state: RunState, load: Load, box: events.Sandbox | None, spent: Mapping[str, Any]) -> Json:
    """The key `info`. `spent` is as in `vera run --json`; a run without known prices has cost 0."""
    total = state.spent
    return {
        "exit_status": exit_status(state),
        "submission": submission(state, load),
        "model_stats": {
            "instance_cost": float(spent.get("cost") or 0),
            "api_calls": total.model_calls,
            "prompt_tokens": total.prompt_tokens,
            "completion_tokens": total.completion_tokens,
        },
        "config": _config(state, box),
    }


def vera(state: RunState, load: Load) -> Json:
    """The key `vera`: session, verdict, rounds, and what each of the models was given and gave."""
    session, lane, decided = state.session, state.lane(LANE), _decision(state)
    spent = {"agent": state.spent.agent, "verifier": state.spent.verifier, "selector": state.spent.selector}
    return {
        "version": session.version if session else "",
        "task": load(state.task.task) if state.task else "",
        "lane": lane.started.purpose if lane.started else "",
        "protocol": lane.started.protocol if lane.started else "",
        "status": state.status,
        "reason": lane.status_reason,
        "exit_code": state.ended.exit_code if state.ended else None,
        "attestation": decided.attestation if decided else "",
        "result": decided.result if decided else "",
        "rounds": _rounds(state),
        "attestations": {handle: each.attestation for handle, each in state.attestations.items()},
        "steps": lane.step,
        "spent": {name: msgspec.structs.asdict(tokens) for name, tokens in spent.items()},
        "seconds": state.spent.seconds,
        "records": state.seq,
    }


def _rounds(state: RunState) -> list[Json]:
    decided = [done.decision for done in state.rounds.values() if done.decision]
    return [
        {"round": each.round, "result": each.result, "score": each.score, "attestation": each.attestation}
        for each in decided
    ]


def _answer(state: RunState) -> events.Answer | None:
    return state.answers[state.chosen.answer_seq] if state.chosen else state.answer


def _decision(state: RunState) -> events.Verifier | None:
    return state.rounds[state.chosen.round].decision if state.chosen else None


def _config(state: RunState, box: events.Sandbox | None) -> Json:
    """How the run was set up. Of the settings only what is named here, and no key (the log has none)."""
    run, budget, model = (_section(state, name) for name in ("run", "budget", "model"))
    server = state.model_server
    agent = {
        "step_limit": run.get("max_steps"),
        "cost_limit": budget.get("cost"),
        "wall_time_limit_seconds": budget.get("seconds"),
        "candidate_sampling": _section(state, "candidate_sampling"),
        "verifier": _section(state, "action_verifier"),
    }
    asked = {
        "model_name": server.model if server else "",
        "model_kwargs": {"temperature": model.get("temperature"), "max_tokens": model.get("max_tokens")},
        "server": server.kind if server else "",
        "base_url": server.base_url if server else "",
    }
    environment = {
        "cwd": "/work",
        "backend": box.backend if box else "none",
        "isolation": box.isolation if box else "",
        "profile": box.profile if box else "",
    }
    return {
        "agent": {name: value for name, value in agent.items() if value not in (None, {})},
        "agent_type": "vera.lane.loop.Lane",
        "model": asked,
        "model_type": "vera.model",
        "environment": environment,
        "environment_type": f"vera.sandbox.{environment['backend']}",
    }


def _section(state: RunState, name: str) -> Json:
    settings = state.session.settings if state.session else {}
    section = settings.get(name)
    return _without_keys(section) if isinstance(section, Mapping) else {}


def _without_keys(section: Mapping[str, Any]) -> Json:
    """A section of the settings without what may be a secret."""
    return {
        name: _without_keys(value) if isinstance(value, Mapping) else value
        for name, value in section.items()
        if name != "key" and not name.endswith("_key")
    }
