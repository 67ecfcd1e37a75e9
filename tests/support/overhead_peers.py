"""Other agents that play the same script as `support.overhead`, each as its own users start it."""

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from support import overhead
from support.overhead import COMMAND, Cost
from support.scripted_server import ScriptedServer
from vera.config import load
from vera.sandbox import recipe

TASK = "Count to 120, many times."

MINI = {
    "MSWEA_CONFIGURED": "true",
    "MSWEA_COST_TRACKING": "ignore_errors",
    "MSWEA_SILENT_STARTUP": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
}
"""The environment in which mini-swe-agent asks nothing of a person and nothing of the internet."""


@dataclass(frozen=True, kw_only=True)
class Peer:
    """`argv` takes the server, the session's folder and its steps, `reply` a command and its step."""

    name: str
    key: str
    argv: Callable[[ScriptedServer, Path, int], list[str]]
    reply: Callable[[str, int], str]
    environment: Callable[[ScriptedServer], Mapping[str, str]] = field(default=lambda server: {})


def found(prototype: Path | None, python: Path | None) -> tuple[list[Peer], list[str]]:
    """The peers that are here, and a sentence for each that is left out."""
    peers, left_out = [], []
    if prototype is None:
        left_out.append(
            "The VERA prototype is left out: name a checkout of it with --peer DIR. What is printed of it "
            "was measured on 2026-11-21 on a machine of this kind (2 virtual cores), with this script."
        )
    elif not (prototype / "run.py").is_file():
        raise SystemExit(f"{prototype} is no checkout of the VERA prototype: it has no run.py.")
    else:
        peers.append(_prototype(prototype.resolve()))
    if python is None:
        left_out.append(
            "mini-swe-agent is left out: name an interpreter that has it with --peer-python PYTHON."
        )
    else:
        peers.append(_mini_swe_agent(python))
    return peers, left_out


def session(peer: Peer, root: Path, steps: int, *commands: str) -> Cost:
    """A run of a peer as `overhead.session` is one of VERA."""
    root.mkdir(parents=True)

    def reply(index: int) -> str:
        command = commands[index] if index < len(commands) else COMMAND
        return peer.reply(command, index + 1)

    cost = overhead.measured(
        lambda server: peer.argv(server, root, steps),
        reply,
        root,
        environment=peer.environment,
    )
    return replace(cost, folder=overhead.folder_bytes(root))


def _prototype(checkout: Path) -> Peer:
    """Its notes gate, which wants a command of its own every third step, is set aside."""
    own = checkout / ".venv" / "bin" / "python"
    python = str(own) if own.exists() else "python3"

    def argv(server: ScriptedServer, root: Path, steps: int) -> list[str]:
        options = ["--task", TASK, "--work-dir", str(root), "--model-base-url", server.root]
        more = ["--model-name", server.model, "--max-steps", str(steps)]
        return [python, str(checkout / "run.py"), "run", *options, *more]

    def reply(command: str, step: int) -> str:
        action = overhead.text.render(overhead.turn("shell", cmd=command, thought=f"Step {step}, go on."))
        return action.replace("EVIDENCE_USED: []", f"EVIDENCE_USED: ev_{max(1, step - 1):04d}")

    return Peer(
        name="VERA prototype",
        key="prototype",
        argv=argv,
        reply=reply,
        environment=lambda server: {"NOTES_UPDATE_INTERVAL": "1000000"},
    )


def _mini_swe_agent(python: Path) -> Peer:
    """Its docker environment on the image that VERA's box has, its form for models without tool calls."""
    version = subprocess.run(
        [python, "-c", "from importlib.metadata import version; print(version('mini-swe-agent'))"],
        capture_output=True,
        text=True,
    )
    if version.returncode:
        raise SystemExit(f"{python} has no mini-swe-agent. Type: {python} -m pip install mini-swe-agent")
    image = recipe.image_name(load().settings.sandbox.base_image)

    def argv(server: ScriptedServer, root: Path, steps: int) -> list[str]:
        settings = {
            "model.model_class": "litellm_textbased",
            "model.model_kwargs.api_base": server.base_url,
            "environment.environment_class": "docker",
            "environment.image": image,
            "agent.agent_class": "default",
            "agent.step_limit": str(steps),
        }
        said = [f"--config={key}={value}" for key, value in settings.items()]
        model = f"--model=openai/{server.model}"
        start = [str(python), "-m", "minisweagent.run.mini", "--config=mini_textbased.yaml", *said, model]
        return [*start, f"--task={TASK}", "--yolo", "--exit-immediately", f"--output={root}/trajectory.json"]

    return Peer(
        name=f"mini-swe-agent {version.stdout.strip()}, docker",
        key="mini",
        argv=argv,
        reply=lambda command, step: f"Step {step}, go on.\n\n```mswea_bash_command\n{command}\n```",
        environment=lambda server: {"OPENAI_API_KEY": "none", **MINI},
    )
