"""VERA as a solver and as scorers of Inspect (https://inspect.aisi.org.uk), extra `inspect`.

| name | what it is |
|---|---|
| `vera/research` | solver: answers a sample with a run of VERA, not with the model of the task |
| `vera/verified` | scorer: by the word of the attestation that `vera/research` left |
| `vera/thesis` | scorer: verifies the answer of any solver as a thesis |

A sample names its documents in its metadata, as `input_dir`; it must lie in the folder `input_root` (the
working folder by default), and so must the sessions, in `base_dir`. What a run could not begin with (a
setting, a folder, a model) is an error of the sample. A model that is lost gives no answer.
"""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    NOANSWER,
    Score,
    Scorer,
    Target,
    accuracy,
    scorer,
    stderr,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import registry_info

from vera.api import RequestError, research_async, verify_async
from vera.headline import HOLDS

STORED = "vera"
"""What the solver leaves for the scorer, in the store of the sample."""


def _research(
    input_root: str = ".", base_dir: str = ".", overrides: str | list[str] = "", require: str = "quoted"
) -> Solver:
    """Answer a sample with `vera.research`, over the folder that its metadata names as `input_dir`.

    `overrides` are settings as of `-c` (`model.base_url=builtin`), one or a list. What the run says is the
    output of the sample: its answer where it holds, else nothing.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        done = await research_async(
            state.input_text,
            input_dir=await asyncio.to_thread(_documents, state.metadata, input_root),
            base_dir=base_dir,
            overrides=_listed(overrides),
            require="verified" if require == "verified" else "quoted",
        )
        state.output.completion = done.answer if done.exit_code == 0 else ""
        state.store.set(
            STORED,
            {
                "status": done.status,
                "reason": done.reason,
                "exit_code": done.exit_code,
                "answer": done.answer,
                "attestation": done.attestation_id,
                "session": str(done.session.resolve()),
            },
        )
        state.completed = True
        return state

    return solve


def _verified() -> Scorer:
    """Score by VERA's attested word: VERIFIED and QUOTED are correct, where the run ended with exit code 0;
    REFUTED and DISPUTED are incorrect; PARTIAL and UNRESOLVED are no answer.

    This says whether the answer is proved by its sources, not whether it equals the target.
    """

    async def score(state: TaskState, target: Target) -> Score:
        stored = state.store.get(STORED)
        if not isinstance(stored, Mapping):
            return Score(
                value=NOANSWER,
                explanation="No run of VERA answered this sample. Use the solver vera/research.",
                reason="scoring_failed",
            )
        return _scored(dict(stored), str(stored["answer"]))

    return score


def _thesis(input_root: str = ".", base_dir: str = ".", overrides: str | list[str] = "") -> Scorer:
    """Verify the answer of any solver as a thesis, over the folder that the sample's metadata names.

    The answer should be one or a few whole sentences. One that is no thesis (empty, or longer than 4000
    characters) is no answer.
    """

    async def score(state: TaskState, target: Target) -> Score:
        answer = state.output.completion.strip()
        folder = await asyncio.to_thread(_documents, state.metadata, input_root)
        try:
            # As a setting, so that the register of what is asserted lies there, too.
            done = await verify_async(
                answer, input_dir=folder, base_dir=Path(base_dir).resolve(), overrides=_listed(overrides)
            )
        except RequestError as error:
            why = "invalid_response_format" if answer else "no_response"
            return Score(value=NOANSWER, answer=answer, explanation=str(error), reason=why)
        found = {
            "status": done.word,
            "reason": done.reason,
            "exit_code": done.exit_code,
            "attestation": done.attestation_id,
            "session": str(done.session.resolve()),
        }
        return _scored(found, answer)

    return score


def _scored(found: dict[str, Any], answer: str) -> Score:
    """The score of an attested word, with the session in its metadata."""
    word, reason = str(found["status"]), str(found["reason"])
    values = {"REFUTED": INCORRECT, "DISPUTED": INCORRECT}
    value = CORRECT if word in HOLDS and found["exit_code"] == 0 else values.get(word, NOANSWER)
    why = f" ({reason})" if reason and reason != word else ""
    return Score(
        value=value,
        answer=answer,
        explanation=f"{word}{why}. Check it: vera replay {found['session']}",
        metadata=found,
    )


def _documents(metadata: Mapping[str, Any], input_root: str) -> Path | None:
    """The folder of documents of a sample. Raises RequestError for one outside of `input_root`: data sets
    come from others."""
    named = metadata.get("input_dir")
    if named is None:
        return None
    root = Path(input_root).resolve()
    folder = (root / str(named)).resolve()
    if not folder.is_relative_to(root):
        raise RequestError(f"input_dir {str(named)[:300]!r} leads out of {root}. Name that root: input_root.")
    return folder


def _listed(overrides: str | list[str]) -> list[str]:
    return [overrides] if isinstance(overrides, str) and overrides else list(overrides)


def _named(name: str, decorate: Callable[[str], Any]) -> Any:
    """What is registered as `vera/NAME`, however VERA is installed: Inspect puts the package before a name
    only where it lies in site-packages, which an editable installation does not."""
    made = decorate(name)
    return made if registry_info(made).name == f"vera/{name}" else decorate(f"vera/{name}")


_METRICS = [accuracy(), stderr()]

vera_research: Callable[..., Solver] = _named("research", lambda name: solver(name)(_research))
vera_verified = _named("verified", lambda name: scorer(metrics=_METRICS, name=name)(_verified))
vera_thesis = _named("thesis", lambda name: scorer(metrics=_METRICS, name=name)(_thesis))
