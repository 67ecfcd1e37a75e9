"""The child process of `EmbeddedServer`: `python -m vera.model.embedded_child FILE`.

Reads one line of JSON from stdin (the key must not be in the arguments, where every user of the machine
could read it), serves the file on a free loopback port, says so in one line on stdout, and lives until stdin
ends: that is, no longer than its parent.
"""

import ctypes
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

READY = "vera-embedded-ready "
PR_SET_PDEATHSIG = 1


def main() -> None:
    settings = json.loads(sys.stdin.readline())
    # Loading holds the interpreter's lock for as long as it takes, so nothing here could notice the end of
    # stdin; meanwhile the kernel watches. Not afterwards: its signal follows the death of the parent's
    # thread too.
    _die_with_parent(signal.SIGKILL)
    server = _serve(sys.argv[1], settings)
    _die_with_parent(0)
    sys.stdout.write(READY + json.dumps({"address": server.listening_address}) + "\n")
    sys.stdout.flush()
    sys.stdin.read()
    # An orderly exit would wait for a generation that is still running.
    os._exit(0)


def _serve(path: str, settings: dict[str, Any]) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = path
    params.model_alias = {Path(path).name}
    params.n_ctx = settings["context_tokens"]
    params.n_parallel = settings["parallel"]
    if settings["embedding"]:
        # A model that reads both ways has to have a whole text in one batch.
        params.embedding, params.n_batch = True, settings["context_tokens"]
        params.n_ubatch = settings["context_tokens"]
    for cpu in (params.cpuparams, params.cpuparams_batch):
        cpu.n_threads, cpu.poll = settings["threads"], 0
    params.cache_ram_mib = settings["prompt_cache_mib"]
    params.api_keys = [settings["key"]]
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.cors_origins = ""
    params.use_jinja, params.ui = True, False
    return xllamacpp.Server(params)


def _die_with_parent(with_signal: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(with_signal))


if __name__ == "__main__":
    main()
