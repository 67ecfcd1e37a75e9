"""Several candidate turns for one step: in one request where the server can, else by several at once."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import msgspec

from vera.model.types import Completion, Model, ModelError, NotAsked, Request
from vera.selection.options import Sampling


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One model call of a step.

    `problem` says why there is no completion: the error's sentence, or "cancelled: …" for a straggler, whose
    cost no one knows. `latency_s` is wall time, from when the endpoint had a place for it. `made` is False
    when a budget did not allow it and nothing was sent.
    """

    request: Request
    completion: Completion | None = None
    problem: str = ""
    latency_s: float = 0.0
    made: bool = True


class Sampled(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of a step in the order of their requests, so that the same answers always make the same
    candidates. `problem` says why there are fewer candidates than were wanted; `seconds` of wall time.
    """

    calls: tuple[Call, ...]
    problem: str = ""
    seconds: float = 0.0


class NoCandidate(ModelError):
    """No call of the step was answered: the first error, and the `calls` for the log."""

    def __init__(self, message: str, calls: tuple[Call, ...], *, transient: bool = False) -> None:
        super().__init__(message, transient=transient)
        self.calls = calls


async def sample(model: Model, request: Request, sampling: Sampling) -> Sampled:
    """Ask for `sampling.num_candidates` turns; `request` is the one that a single turn would be asked by.

    One request asks for all of them, unless `use_n` is off or the server is known not to give several; what
    is then missing, or all of it when that request failed, is asked for by single requests, as many at once
    as the endpoint serves. The very first of N single requests is `request` itself, the others follow the
    sampling, each with its own seed where one is given.

    A call that takes `straggler_s` longer than the first answered one took is cancelled. Its time begins
    when the endpoint has a place for it. Failed, refused and cancelled calls cost no other call its answer.

    Raises NoCandidate when there is none; when no call was made at all, the NotAsked that refused the first.
    """
    began = time.monotonic()
    wanted = max(1, sampling.num_candidates)
    step = _Step(model, sampling.straggler_s)
    together: list[_Outcome] = []
    if sampling.use_n and wanted > 1 and model.info.gives_n is not False:
        together = await step.ask([_sampled(request, sampling, wanted)])
    missing = range(_candidates(together), wanted)
    singles = await step.ask([_single(request, sampling, number) for number in missing])
    outcomes = [*together, *singles]
    calls = tuple(outcome.call for outcome in outcomes)
    came = _candidates(outcomes)
    if not came:
        raise _none_of(outcomes, calls)
    problems = (outcome.call.problem for outcome in singles if outcome.call.problem)
    return Sampled(
        calls=calls,
        problem=next(problems, "") if came < wanted else "",
        seconds=time.monotonic() - began,
    )


class _Outcome(msgspec.Struct, frozen=True):
    call: Call
    error: ModelError | None = None


class _Step:
    """Makes the calls of one step and gives up on those that take too long beside the first answered one."""

    def __init__(self, model: Model, straggler_s: float) -> None:
        self._model = model
        self._straggler_s = straggler_s
        # The client has the same places; here they tell when a call's own time begins.
        self._places = asyncio.Semaphore(max(1, model.info.parallel))
        self._patience_s: float | None = None
        self._running: dict[asyncio.Timeout, float] = {}

    async def ask(self, requests: Sequence[Request]) -> list[_Outcome]:
        """The outcomes in the order of the requests. When it is cancelled, so are they all."""
        tasks = [asyncio.ensure_future(self._call(request)) for request in requests]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _call(self, request: Request) -> _Outcome:
        loop = asyncio.get_running_loop()
        async with self._places:
            began = loop.time()
            guard = asyncio.timeout_at(self._end(began))
            try:
                async with guard:
                    completion = await self._watched(request, guard, began)
            except TimeoutError:
                if not guard.expired():
                    raise
                took = loop.time() - began
                problem = f"cancelled: no answer within {took:.1f} s, and another had come"
                return _Outcome(Call(request=request, problem=problem, latency_s=took))
            except ModelError as error:
                took, made = loop.time() - began, not isinstance(error, NotAsked)
                return _Outcome(Call(request=request, problem=str(error), latency_s=took, made=made), error)
            took = loop.time() - began
            self._answered(took)
            return _Outcome(Call(request=request, completion=completion, latency_s=took))

    async def _watched(self, request: Request, guard: asyncio.Timeout, began: float) -> Completion:
        self._running[guard] = began
        try:
            return await self._model.complete(request)
        finally:
            del self._running[guard]

    def _answered(self, took: float) -> None:
        if self._patience_s is not None:
            return
        self._patience_s = took + max(0.0, self._straggler_s)
        for guard, began in self._running.items():
            guard.reschedule(self._end(began))

    def _end(self, began: float) -> float | None:
        """When a call that began then is a straggler, on the loop's clock; None before the first answer."""
        return None if self._patience_s is None else began + self._patience_s


def _sampled(request: Request, sampling: Sampling, n: int = 1) -> Request:
    return msgspec.structs.replace(
        request,
        n=n,
        temperature=request.temperature if sampling.temperature is None else sampling.temperature,
        max_tokens=request.max_tokens if sampling.max_tokens is None else sampling.max_tokens,
        sampling={**request.sampling, **sampling.fields},
    )


def _single(request: Request, sampling: Sampling, number: int) -> Request:
    """The request for one candidate, counted from 0: with its own seed, or it would repeat another."""
    if number == 0:
        return request
    sampled = _sampled(request, sampling)
    fields: dict[str, Any] = dict(sampled.sampling)
    if isinstance(fields.get("seed"), int):
        fields["seed"] += number
    return msgspec.structs.replace(sampled, sampling=fields)


def _candidates(outcomes: Sequence[_Outcome]) -> int:
    return sum(len(done.choices) for outcome in outcomes if (done := outcome.call.completion) is not None)


def _none_of(outcomes: Sequence[_Outcome], calls: tuple[Call, ...]) -> ModelError:
    """What to raise when no one answered: an error of the model rather than a call that was not made."""
    errors = [outcome.error for outcome in outcomes if outcome.error is not None]
    made = [error for error in errors if not isinstance(error, NotAsked)]
    if not made:
        return errors[0]
    failed = NoCandidate(str(made[0]), calls, transient=made[0].transient)
    failed.__cause__ = made[0]
    return failed
