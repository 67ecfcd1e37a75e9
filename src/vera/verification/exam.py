"""A model takes the exam of a judge before it may label or score (`vera.attestation.exam`).

It is asked as it will be asked in the run: the same prompt, the same form of reply, as many spans. What it
says is logged, and a replay grades it again. A pass is kept for a week under the server's address, the model
with its file or quantisation, and the prompt; a run that uses it takes its replies over into its own log.
"""

import asyncio
import hashlib
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from vera import events
from vera.attestation.entailed import settings_sha256
from vera.attestation.exam import (
    MAX_REPLY_LENGTH,
    SPANS,
    VERSION,
    Grade,
    Role,
    Sheet,
    exam_of,
    grade,
    in_words,
    paper,
)
from vera.attestation.labelling import LabelReply, SpanReading
from vera.entailment.values import EntailmentError, PairReader, relation
from vera.evidence.prompt_quoting import fence, named
from vera.model.types import ModelInfo
from vera.session import Session
from vera.verification.ask import ask, room, together
from vera.verification.context import VerifierContext
from vera.verification.judge import SHORT, label_prompt
from vera.verification.kept_exams import keep, load
from vera.verification.presented_evidence import Exhibit, Kind, Shown, show

LANE = "exam"
SCOPE = "verifier_exam"

PASS_SECONDS = 7 * 86_400.0
FAILURE_SECONDS = 3600.0
"""How long a pass, and a failure, is kept: whoever fixes a server should not wait a week."""

MAX_SECONDS = 600.0
"""Of one exam. At 20 tokens a second it takes about one minute, a hopeless one some seconds."""

_KINDS: tuple[Kind, Kind] = ("cited", "passage")

Say = Callable[[str], None]


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """An exam in the cache. Its replies are graded when it is used."""

    seed: int
    sat_at: float
    replies: tuple[str, ...]


async def examined(context: VerifierContext, now: Say) -> VerifierContext:
    """The context with those models that may judge: one that has failed is not used.

    Without a judge the rule `literal` labels. A model that could not finish stays: its labels count for
    nothing, and a run that is resumed examines it again. An entailment judge that has failed stays beside the
    rule, where it can only lower; one that could not finish goes.
    """
    if context.options.rule == "entailment":
        return await _with_entailment(context, now)
    if context.options.rule != "model" or context.model is None:
        return context
    if context.reader is not None:
        read = await _sit(context.reading, ("labels",), now)
        if has_failed(read):
            context = msgspec.structs.replace(context, reader=None)
    judge = msgspec.structs.replace(context, reader=None)
    if has_failed(await _sit(judge, ("scores",) if context.reader else ("labels", "scores"), now)):
        options = msgspec.structs.replace(context.options, rule="literal")
        return msgspec.structs.replace(judge, model=None, options=options)
    return context


async def _with_entailment(context: VerifierContext, now: Say) -> VerifierContext:
    """The context with the entailment judge as far as it may judge."""
    assert context.entailment is not None
    options = msgspec.structs.replace(context.options, rule="literal")
    try:
        reader = await asyncio.to_thread(context.entailment)
        sat = await _sit_entailment(context, reader, now)
    except EntailmentError as error:
        _log_exam(context, _unusable(context.entailment_name, str(error)), now)
        return msgspec.structs.replace(context, options=options, entailment=None)
    return context if sat.passed else msgspec.structs.replace(context, options=options)


async def _sit_entailment(context: VerifierContext, reader: PairReader, now: Say) -> events.VerifierExam:
    """The exam of an entailment judge: of this process, kept, or sat now. Raises EntailmentError."""
    settings = settings_sha256(reader.about)
    for sat in reversed(context.session.state.own_exams):
        if (sat.prompt_sha256, sat.version) == (settings, VERSION) and not sat.problem:
            return sat
    path = context.exams / f"{_file_key(settings)}.json" if context.exams else None
    kept = _load(path) if path else None
    said = kept
    if said is None:
        now(f"examining {reader.name}: can it judge?")
        said = await asyncio.to_thread(sit_entailment, reader)
        if path is not None:
            keep(path, said)
    sat = _exam(reader.name, settings, ("labels",), said, context, kept=kept is not None)
    return _log_exam(context, msgspec.structs.replace(sat, entailment=reader.about), now)


def sit_entailment(reader: PairReader, seed: int | None = None, *, whole: bool = False) -> Kept:
    """What an entailment judge says to the paper of `seed` (None: one by lot), in the form of a label call's
    replies. It ends when the judge cannot pass any more (unless `whole`). Raises EntailmentError."""
    seed = _drawn(seed)
    replies: list[str] = []
    began = time.monotonic()
    for sheet in paper(seed):
        if _is_lost(seed, replies, whole):
            break
        if time.monotonic() - began > MAX_SECONDS:
            raise EntailmentError(f"The exam of {reader.name} took longer than {MAX_SECONDS:.0f} seconds.")
        shares = reader.read([item.text for item in sheet.items], sheet.claim)
        spans = tuple(SpanReading(index, relation(each)) for index, each in enumerate(shares, 1))
        replies.append(msgspec.json.encode(LabelReply(spans)).decode())
    return Kept(seed=seed, sat_at=time.time(), replies=tuple(replies))


def _drawn(seed: int | None) -> int:
    """The seed of a paper, by lot where none is given."""
    return secrets.randbelow(1 << 31) if seed is None else seed


def _file_key(settings: str) -> str:
    """The name of an entailment judge's exam in the cache: of other files or rules it is another."""
    return hashlib.sha256(f"entailment\n{settings}\n{VERSION}".encode()).hexdigest()


def _unusable(name: str, problem: str) -> events.VerifierExam:
    return events.VerifierExam(
        model=name,
        version=VERSION,
        seed=0,
        roles=("labels",),
        replies=(),
        prompt_sha256="",
        sat_at=time.time(),
        problem=problem,
    )


def has_failed(sat: events.VerifierExam) -> bool:
    """Whether the model was examined, and cannot judge."""
    return not sat.passed and not sat.problem


async def _sit(context: VerifierContext, roles: tuple[Role, ...], now: Say) -> events.VerifierExam:
    """The exam of the context's model: of this process, kept from another, or sat now. It is logged.

    One that the log holds from before the run was resumed counts for nothing: whoever can write to the
    session's folder could have put it there. The cache is the user's.
    """
    assert context.model is not None
    session, info, prompt = context.session, context.model.info, context.prompts.sha256("judge_label")
    name = info.name or info.kind
    who = (name, info.base_url, info.weights, prompt, VERSION)
    if known := _known(session, who, roles):
        return known
    path = context.exams / f"{_key(info, who)}.json" if context.exams else None
    kept = _load(path) if path else None
    sitting = Sitting(kept, "") if kept else None
    if sitting is None:
        now(f"examining {name}: can it judge?")
        sitting = await sit(context)
        if path is not None and not sitting.problem:
            keep(path, sitting.kept)
    sat = _exam(name, prompt, roles, sitting.kept, context, kept=kept is not None, problem=sitting.problem)
    return _log_exam(context, msgspec.structs.replace(sat, server=info.base_url, weights=info.weights), now)


def _known(session: Session, who: tuple[str, ...], roles: tuple[Role, ...]) -> events.VerifierExam | None:
    """The last exam of this process that the same model sat to its end, None for none."""
    for sat in reversed(session.state.own_exams):
        known = (sat.model, sat.server, sat.weights, sat.prompt_sha256, sat.version)
        if known == who and sat.roles == roles and not sat.problem and _is_fresh(sat.sat_at, True):
            return sat
    return None


def _exam(
    name: str,
    prompt: str,
    roles: tuple[Role, ...],
    said: Kept,
    context: VerifierContext,
    *,
    kept: bool,
    problem: str = "",
) -> events.VerifierExam:
    """The record of an exam, graded."""
    found = grade(said.seed, said.replies)
    return events.VerifierExam(
        model=name,
        version=VERSION,
        seed=said.seed,
        roles=roles,
        replies=tuple(context.session.text(reply) for reply in said.replies),
        prompt_sha256=prompt,
        sat_at=said.sat_at,
        kept=kept,
        right=found.right,
        of=found.of,
        accepted=found.accepted,
        refusable=found.refusable,
        passed=found.passed and not problem,
        problem=problem,
    )


def _log_exam(context: VerifierContext, sat: events.VerifierExam, now: Say) -> events.VerifierExam:
    logged = context.session.emit(sat, lane=LANE)
    now(in_words(exam_of(logged)))
    return logged


class Sitting(msgspec.Struct, frozen=True):
    """What was replied, and why the exam could not be finished ('' when it was)."""

    kept: Kept
    problem: str


async def sit(context: VerifierContext, seed: int | None = None, *, whole: bool = False) -> Sitting:
    """Have the context's model sit the exam with the paper of `seed` (None: one by lot).

    As many sheets at once as its server serves. It ends when the model cannot pass any more (unless `whole`),
    when the model gives no reply at all, or after MAX_SECONDS.
    """
    assert context.model is not None
    seed = _drawn(seed)
    sheets = list(enumerate(paper(seed), 1))
    at_once = max(1, context.model.info.parallel)
    replies: list[str] = []
    problem = ""
    try:
        async with asyncio.timeout(MAX_SECONDS):
            while sheets and not problem and not _is_lost(seed, replies, whole):
                part, sheets = sheets[:at_once], sheets[at_once:]
                for reply, failure in await together(context, (_answer(context, *each) for each in part)):
                    problem = problem or failure
                    replies += [reply] if not problem else []
    except TimeoutError:
        problem = f"it took longer than {MAX_SECONDS:.0f} seconds"
    return Sitting(Kept(seed=seed, sat_at=time.time(), replies=tuple(replies)), problem)


def _is_lost(seed: int, replies: Sequence[str], whole: bool) -> bool:
    """Whether the model cannot pass any more; never where the `whole` exam is to be sat."""
    return not whole and grade(seed, replies).hopeless


async def _answer(context: VerifierContext, number: int, sheet: Sheet) -> tuple[str, str]:
    """The reply to one sheet, and why there is none."""
    task = fence("task", named("task", sheet.question), SHORT).text
    claim = fence("claim c1", named("claim", sheet.claim), SHORT).text
    shown = _shown(context, number, sheet)
    reply = await ask(
        context,
        lane=LANE,
        step=number,
        scope=SCOPE,
        messages=label_prompt(context, task, claim, shown),
        form=LabelReply,
        lengths={"spans": (len(shown), len(shown))},
    )
    return reply.content[:MAX_REPLY_LENGTH], reply.problem if reply.unanswered else ""


def _shown(context: VerifierContext, number: int, sheet: Sheet) -> list[Shown]:
    """The spans as a label call shows those of a claim: some cited, some passages, whatever they say."""
    presented = []
    for index, item in enumerate(sheet.items, 1):
        lines = item.text.split("\n")
        lot = int(hashlib.sha256(item.text.encode()).hexdigest()[:4], 16)
        first = 1 + lot % 300
        presented.append(
            Exhibit(
                evidence=f"ev_{number:04d}",
                first=first,
                last=first + len(lines) - 1,
                kind=_KINDS[(lot + index) % 2],
                about=f"document {index}",
                rows=tuple((str(line), text) for line, text in enumerate(lines, first)),
            )
        )
    return show(presented, max(room(context), SPANS * SHORT))


def kept_grade(exams: Path, info: ModelInfo, prompt_sha256: str) -> Grade | None:
    """How a model did in an exam that is kept and fresh, whatever form its turns have; None for none."""
    who = (info.name or info.kind, info.base_url, info.weights, prompt_sha256, VERSION)
    for protocol in ("json_schema", "tools", "text"):
        known = msgspec.structs.replace(info, protocol=protocol)
        if kept := _load(exams / f"{_key(known, who)}.json"):
            return grade(kept.seed, kept.replies)
    return None


def _is_fresh(sat_at: float, passed: bool) -> bool:
    return 0 <= time.time() - sat_at <= (PASS_SECONDS if passed else FAILURE_SECONDS)


def _key(info: ModelInfo, who: Iterable[str]) -> str:
    """The name of an exam in the cache. A file that VERA serves itself has another address each time."""
    parts = ["" if info.own and part == info.base_url else part for part in who]
    return hashlib.sha256("\n".join([info.kind, info.protocol, *parts]).encode()).hexdigest()


def _load(path: Path) -> Kept | None:
    """A kept exam that is fresh; None for none."""
    kept = load(path, Kept)
    return kept if kept and _is_fresh(kept.sat_at, grade(kept.seed, kept.replies).passed) else None
