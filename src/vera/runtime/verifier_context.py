"""The verifier's context: the tools of its check lanes, and clean boxes, on this machine."""

import contextlib
import functools
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from vera import events
from vera.agent.folders import exams_folder
from vera.agent.lanes import Environment, sources
from vera.agent.rules import listed, rules_of
from vera.agent.web import Web
from vera.audit.case import AuditPolicy
from vera.config import Settings
from vera.config.settings import BUILT_IN
from vera.entailment.choose import open_reader
from vera.entailment.files import name_of
from vera.entailment.values import PairReader
from vera.lane.notes import NAME, NotesMirror
from vera.lane.prompts import Prompts
from vera.lane.tools import Call, Outcome, Tool
from vera.lane.tools.lazy_shell import LazyShell
from vera.lane.tools.read import SPEC as READ
from vera.lane.tools.read import Read
from vera.lane.tools.registry import toolset
from vera.lane.tools.shell import Shell
from vera.model.types import Model
from vera.runtime.models import by_entailment
from vera.runtime.place import BoxRecord
from vera.runtime.web import open_web
from vera.sandbox import recipe
from vera.sandbox.backends import open_box
from vera.sandbox.box import SupervisedBox
from vera.sandbox.spec import BoxSpec, Quota
from vera.sandbox.types import Box, CommandResult
from vera.session import Session
from vera.verification.context import Rule, VerifierContext, VerifierOptions
from vera.verification.plugin_checks import PluginCheck

CHECKS = "checks"
"""The folder of a session where check lanes work; each takes its own away again."""

CLEAN = "derive"
"""The lane in whose name clean boxes are in the record of boxes."""

MAX_TOOL_SECONDS = 120.0
"""Seconds of one command of the verifier: a check is a look-up, not a study."""


def open_verifier_context(
    *,
    session: Session,
    settings: Settings,
    place: Environment,
    model: Model | None,
    prompts: Prompts,
    options: VerifierOptions,
    plugin_checks: tuple[PluginCheck, ...] = (),
) -> VerifierContext:
    """The context of a run whose main lane works at `place`. Nothing starts before it is needed, and what a
    killed run left of its checks is taken away."""
    seconds = min(settings.sandbox.max_tool_seconds, MAX_TOOL_SECONDS)
    _clear_away(session.root)
    bench = _CheckTools(session, settings, place, seconds)
    judge = settings.verification.entailment_model
    return VerifierContext(
        session=session,
        model=model,
        prompts=prompts,
        open_tools=bench.open_tools,
        open_box=bench.open_clean_box if place.box is not None else None,
        options=msgspec.structs.replace(options, tool_seconds=seconds),
        exams=exams_folder(),
        corpus=place.corpus,
        entailment=_opens(Path(judge)) if options.rule == "entailment" else None,
        entailment_name=name_of(Path(judge)) if options.rule == "entailment" else "",
        plugin_checks=plugin_checks,
    )


def context_of(
    session: Session,
    settings: Settings,
    place: Environment,
    model: Model,
    verifier: Model | None,
    prompts: Prompts,
    plugin_checks: tuple[PluginCheck, ...],
) -> VerifierContext:
    """The context in which the answers of `model` at `place` are verified."""
    return open_verifier_context(
        session=session,
        settings=settings,
        place=place,
        model=verifier,
        prompts=prompts,
        options=verifier_options(settings, model, verifier, place),
        plugin_checks=plugin_checks,
    )


def _opens(judge: Path) -> Callable[[], PairReader]:
    """Opens the entailment judge when it is first needed, and gives the same afterwards."""
    return functools.cache(lambda: open_reader(judge))


class _CheckTools:
    """Opens what the context hands out, as the run is set up."""

    def __init__(self, session: Session, settings: Settings, place: Environment, seconds: float) -> None:
        self._session = session
        self._settings = settings
        self._place = place
        self._seconds = seconds
        task = session.state.task
        self._input = Path(task.input_dir) if task and task.input_dir else None

    @asynccontextmanager
    async def open_tools(self, lane: str) -> AsyncIterator[Sequence[Tool]]:
        """The tools of a check lane over a separate empty work folder."""
        place, session = self._place, self._session
        async with AsyncExitStack() as stack:
            folder = session.root / CHECKS / lane
            work = folder / "work"
            _remove(folder)
            work.mkdir(parents=True)
            stack.callback(_remove, folder)
            (folder / NAME).touch()
            web = self._open_web(lane)
            shell = None
            if place.box is not None:
                start = self._shell_starter(lane, folder, web, stack)
                shell = LazyShell(start, web.at_work if web else None)
            read = CapturedOnly(Read(place.corpus, work, place.extractor, place.input_name), lane)
            kit = sources(place, web, self._settings.brave.default_count)
            yield toolset(msgspec.structs.replace(kit, read=read, shell=shell))

    def _open_web(self, lane: str) -> Web | None:
        if self._place.web is None:
            return None
        return open_web(
            self._session,
            self._settings,
            self._place.web.search.engines,
            extractor=self._place.extractor,
            lane=lane,
        )

    def _shell_starter(
        self, lane: str, folder: Path, web: Web | None, stack: AsyncExitStack
    ) -> Callable[[], Awaitable[Tool]]:
        async def start() -> Tool:
            work = folder / "work"
            sandbox = self._settings.sandbox
            spec = BoxSpec(
                work=work,
                input=self._input,
                profile=sandbox.profile,
                privileged=sandbox.privileged,
                quota=Quota(sandbox.work_bytes, sandbox.work_files),
            )
            box = await stack.enter_async_context(self._started(spec, lane, web))
            self._session.emit(
                events.Sandbox(
                    backend=box.backend, isolation=box.isolation, profile=spec.profile, work_dir=box.work
                ),
                lane=lane,
            )
            pages = web.pages if web is not None else None
            return Shell(box, work, NotesMirror(folder / NAME, work), self._seconds, pages)

        return start

    @asynccontextmanager
    async def open_clean_box(self, work: Path, instead: Path | None) -> AsyncIterator[Box]:
        """A sealed box on `work`, with the run's input or with another folder `instead`. Raises BoxError."""
        source = None if self._input is None else instead or self._input
        async with self._started(BoxSpec(work=work, input=source, profile="sealed"), CLEAN, None) as box:
            yield self._moved(box, work) if box.backend == "host" else box

    def _moved(self, box: SupervisedBox, work: Path) -> Box:
        """The box without mounts: what commands and scripts call by the run's own paths is this box's."""
        moved = {str(self._session.workspace.resolve()): box.work}
        if self._input is not None:
            moved[str(self._input.resolve())] = box.input
        for path in work.rglob("*"):
            if path.is_file():
                path.write_text(renamed(path.read_text("utf-8"), moved), "utf-8")
        return Relocated(box, moved)

    @asynccontextmanager
    async def _started(self, spec: BoxSpec, lane: str, web: Web | None) -> AsyncIterator[SupervisedBox]:
        """A box of the kind that the main lane has, closed at the end. Raises BoxError."""
        assert self._place.box is not None
        settings, record = self._settings.sandbox, BoxRecord(self._session, lane)

        async def image() -> str:
            return recipe.image_name(settings.base_image)  # the main lane's box has it already

        with contextlib.closing(record):
            box = await open_box(
                self._place.box.backend,
                replace(spec, run=self._session.root.name, lane=lane),
                log=record.write,
                egress=web.proxy.serve if web else None,
                image=image,
                tell=record.tell,
            )
            try:
                yield box
            finally:
                await box.close()


class CapturedOnly:
    """`read` for a check lane: of the session's evidence it shows what was captured, and what is the lane's
    own, never what another lane's commands printed."""

    spec = READ

    def __init__(self, read: Read, lane: str) -> None:
        self._read = read
        self._lane = lane

    async def run(self, args: Mapping[str, Any], call: Call) -> Outcome:
        allowed = {
            name: evidence
            for name, evidence in call.evidence.items()
            if evidence.tier == "captured" or evidence.lane == self._lane
        }
        return await self._read.run(args, msgspec.structs.replace(call, evidence=allowed))


class Relocated:
    """A box in which commands of another place mean this one: paths are replaced before they run."""

    def __init__(self, box: Box, moved: Mapping[str, str]) -> None:
        self._box = box
        self._moved = moved
        self.backend, self.isolation = box.backend, box.isolation

    async def start(self) -> None:
        await self._box.start()

    async def run(self, command: str, *, timeout: float) -> CommandResult:
        return await self._box.run(renamed(command, self._moved), timeout=timeout)

    async def close(self) -> None:
        await self._box.close()


def renamed(text: str, moved: Mapping[str, str]) -> str:
    """The text with each of these paths replaced by its new one."""
    for old, new in moved.items():
        text = text.replace(old, new)
    return text


def _remove(folder: Path) -> None:
    """Take a check's folder away, and the folder of checks with the last of them."""
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):
        folder.parent.rmdir()


def _clear_away(root: Path) -> None:
    """Remove the folders of clean boxes and checks that a killed run has left in its session."""
    made = (left for name in (".derive-*", ".empty-*", ".input-*") for left in root.glob(name))
    for left in (*made, root / CHECKS):
        shutil.rmtree(left, ignore_errors=True)


def verifier_options(
    settings: Settings, model: Model, verifier: Model | None, place: Environment
) -> VerifierOptions:
    """How the verifier of this run works. The built-in model gets one round: told what is wrong, it would say
    the same again."""
    checked, policy = settings.verification, settings.policy
    box = place.box
    rule: Rule = "model" if verifier else "literal"
    return VerifierOptions(
        rule="entailment" if by_entailment(checked) else rule,
        rounds=1 if model.info.kind == BUILT_IN else checked.rounds,
        check_steps=checked.check_steps,
        readings=checked.readings,
        scores_apart=settings.run.effort == "thorough",
        answer_tokens=min(settings.model.max_tokens, 2000),
        system_role=settings.model.system_role,
        audit=AuditPolicy(
            not_before=checked.not_before,
            not_after=checked.not_after,
            web_sources=checked.web_sources,
            negative_official=policy.negative_claim_min_official,
            negative_independent=policy.negative_claim_min_independent,
            official_domains=tuple(listed(policy.official_domains)),
        ),
        scope=tuple(["files"] * (place.corpus is not None) + ["web"] * (place.web is not None)),
        sandbox=f"{box.backend}, {settings.sandbox.profile}" if box else "",
        rules=rules_of(settings),
        require=checked.require,
    )
