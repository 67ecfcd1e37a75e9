"""The machine on which the commands of a page are typed, with the servers that a reader would have.

Started in a network namespace, this reads a request a line and answers with a line when the page is done. The
commands of a page are files, sourced by one bash in their order; `vera` is a fork of a process that has VERA
loaded (`support.forked`).
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from support import fake_index, postgres
from support.forked import forks
from support.otlp_collector import OtlpCollector
from support.scripted_server import ScriptedServer
from support.turns import final, turn
from vera.protocol import text

DRIVER = r"""
LAST=/dev/null CODE=0
stop() { kill $(cat "/proc/$STARTED/task/$STARTED/children") "$STARTED"; wait "$STARTED" 2>/dev/null; }
for STEP in "$1"/*.sh; do
  if [ -e "$STEP.before" ]; then . "$STEP.before"; fi
  if [ -e "$STEP.port" ]; then
    . "$STEP" >"$STEP.out" 2>"$STEP.err" </dev/null &
    STARTED=$! PORT=$(cat "$STEP.port")
    for TRY in $(seq 600); do
      if [ "$PORT" = 0 ] || (exec 3<>"/dev/tcp/127.0.0.1/$PORT") 2>/dev/null; then
        echo 0 >"$STEP.code"
        break
      fi
      kill -0 "$STARTED" 2>/dev/null || break
      sleep 0.1
    done
    [ -e "$STEP.code" ] || break
  else
    (exit "$CODE")
    . "$STEP" >"$STEP.out" 2>"$STEP.err" </dev/null
    CODE=$?
    echo "$CODE" >"$STEP.code"
    [ "$CODE" = "$(cat "$STEP.wanted")" ] || break
  fi
  LAST=$STEP.out
done
"""
MODELS = {1234: "NAME", 8000: "NAME", 11434: "qwen3:8b"}
"""Port → the model that is loaded there, as the pages call it."""


def main() -> None:
    os.environ["TYPED_FORKS"] = forks().address
    with contextlib.ExitStack() as stack:
        for line in sys.stdin:
            request = json.loads(line)
            for name in request["servers"]:
                request["environment"] |= SERVERS[name](stack)
            sys.stdout.write(json.dumps({"in_time": typed(request)}) + "\n")
            sys.stdout.flush()


def typed(request: dict[str, Any]) -> bool:
    """Type the commands of one page. Whether they ended in time."""
    shell = subprocess.Popen(
        ["bash", "-c", DRIVER, "bash", request["steps"]],
        cwd=request["cwd"],
        env={**os.environ, **request["environment"]},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        shell.wait(request["seconds"])
        return True
    except subprocess.TimeoutExpired:
        return False
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGKILL)
        shell.wait()


@cache
def model(stack: contextlib.ExitStack) -> dict[str, str]:
    """A model that searches once and answers with a sentence that cites nothing."""
    for port, name in MODELS.items():
        stack.enter_context(ScriptedServer(searches_once, exam="script", model=name, port=port))
    return {}


def searches_once(index: int, body: dict[str, Any]) -> str:
    if any(message["role"] == "assistant" for message in body["messages"]):
        return text.render(final("The documents say when patent licences end."))
    return text.render(turn("search", query="patent licences end"))


@cache
def collector(stack: contextlib.ExitStack) -> dict[str, str]:
    stack.enter_context(OtlpCollector(port=4318))
    return {}


@cache
def postgres_server(stack: contextlib.ExitStack) -> postgres.Server:
    return stack.enter_context(postgres.server(5432))


def database(stack: contextlib.ExitStack) -> dict[str, str]:
    """The databases `vera` and `batch`, empty."""
    server = postgres_server(stack)
    for name in ("vera", "batch"):
        server.query("postgres", f"drop database if exists {name} with (force)")
        server.create_database(name)
    return {"PGPASSWORD": postgres.PASSWORD}


@cache
def index(stack: contextlib.ExitStack) -> dict[str, str]:
    """Crossref, OpenAlex and doi.org, which know the two licences of examples/library."""
    titles = ("GNU General Public License, version 3", "Apache License, version 2.0")
    found = stack.enter_context(
        fake_index.fake_index({"/crossref/works": fake_index.crossref_search(*titles)})
    )
    base = f"http://127.0.0.1:{found.port}"
    return {
        f"VERA_BIBLIOGRAPHY__{name.upper()}_URL": f"{base}/{name}" for name in ("crossref", "openalex", "doi")
    }


SERVERS = {"model": model, "collector": collector, "database": database, "index": index}
"""What a page may need → what starts it, and gives variables of the environment."""

if __name__ == "__main__":
    main()
