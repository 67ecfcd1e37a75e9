"""The form offers the models of the servers that were found on this machine, and waits for none."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import msgspec

from support.dashboard_runs import runs_in
from vera.dashboard.found_models import FoundModels
from vera.dashboard.run_form import StartForm
from vera.model.probe import Found

SERVER = Found(kind="ollama", title="Ollama", base_url="http://127.0.0.1:11434", models=("small", "large"))
EMPTY = Found(kind="vllm", title="vLLM", base_url="http://127.0.0.1:8000")


def form(base: Path, **values: str) -> StartForm:
    made = runs_in(base).form(None)
    return msgspec.structs.replace(made, values={**made.values, "model_base_url": "", **values})


def test_models_that_were_found_are_offered_and_servers_without_any_are_not(tmp_path: Path) -> None:
    looked = 0

    async def look() -> Sequence[Found]:
        nonlocal looked
        looked += 1
        return [SERVER, EMPTY]

    async def twice() -> StartForm:
        found = FoundModels(look)
        await found.on(form(tmp_path))
        return await found.on(form(tmp_path))

    made = asyncio.run(twice())
    assert made.models == ("small", "large")
    assert made.model_sentence == "Found on this machine: Ollama at http://127.0.0.1:11434 (small, large)."
    assert looked == 1, "what was found is kept for a while"


def test_nobody_waits_for_a_server_that_does_not_answer(tmp_path: Path) -> None:
    async def look() -> Sequence[Found]:
        await answers.wait()
        return [SERVER]

    async def asked() -> tuple[StartForm, StartForm]:
        found = FoundModels(look)
        first = await found.on(form(tmp_path))
        answers.set()
        return first, await found.on(form(tmp_path))

    answers = asyncio.Event()
    before, after = asyncio.run(asked())
    assert (before.models, after.models) == ((), ("small", "large"))


def test_where_a_model_is_configured_none_is_looked_for(tmp_path: Path) -> None:
    async def look() -> Sequence[Found]:
        raise AssertionError("nothing is asked")

    configured = form(tmp_path, model_base_url="http://127.0.0.1:1234")
    assert asyncio.run(FoundModels(look).on(configured)) == configured
