"""The same request again: the verdict of before, where it stands. Nothing is opened, asked or fetched for it.

A verdict is found under its reuse key: the request, and every setting and version that decides how it is
verified. What is found is not believed: the session is read whole, its key and versions are computed from
what it holds, and its signatures, ids and bytes are checked. What does not hold is passed over with a
sentence, and the thesis is verified again.
"""

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from pathlib import Path

import msgspec

from vera import events
from vera.agent.conclusion import Result, result_of
from vera.agent.follow_up import Parent
from vera.agent.knowledge import Knowledge, sealed_sessions
from vera.agent.past_sessions import Earlier, Unusable, open_earlier
from vera.agent.thesis import ThesisJob, narrowed, settings_for
from vera.agent.verdict_index import IndexedVerdict, find, in_flight, keep
from vera.agent.verification_result import Verified, verified_of
from vera.attestation import reduce
from vera.attestation.ahdb.proof import Refused, open_verified
from vera.attestation.build import literal_version
from vera.attestation.gather import rfc3339
from vera.attestation.integrity import ATTESTATION
from vera.attestation.objects import (
    Attestation,
    Coverage,
    Digest,
    ObjectError,
    Policy,
    canonical,
    digest,
    hexadecimal,
    parse,
)
from vera.attestation.request import Budget, request_key
from vera.attestation.tiers import expired
from vera.audit.claims import VERSION as CLAIMS_VERSION
from vera.audit.registry import VERSION as AUDIT_VERSION
from vera.config import Settings, public
from vera.config.settings import BUILT_IN
from vera.evidence.domains import suffix_list_version
from vera.evidence.reading import read_regular
from vera.extraction.source import Unreadable
from vera.headline import EXIT_CODES, HOLDS, exit_code
from vera.runtime.setup import open_signer
from vera.runtime.thesis import Say, look_up
from vera.session import SessionError, insist_on_place
from vera.session.session import FOLDER_MODE, TRACE
from vera.state import RunState
from vera.store import Store, StoreError
from vera.verification.exam import FAILURE_SECONDS, has_failed

MAX_ENVELOPE_BYTES = 64 << 20
CLOCK_SKEW_SECONDS = 300
"""How far ahead another clock may be whose verdict is used."""

_DECIDES = ("verification", "policy", "egress")
"""The sections of the settings that decide how a thesis is verified, beside the model."""
_IN_FLIGHT = "another run verifies the same; waiting for its verdict"
_MODEL = ("base_url", "name", "file")


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict, and the run that came to it."""

    verified: Verified
    result: Result


def _silent(_: str) -> None:
    """No-op callback."""


def reuse_key(inquiry: ThesisJob, settings: Settings) -> Digest:
    """The key under which a verdict on this request by these rules is found again.

    The budget is not in it. Where the model is whichever one is found, so it is in the key: a verdict stands
    until it expires, though another model was started since.
    """
    decided = public(settings_for(settings, inquiry))
    return _key(request_key(inquiry.request), decided, _versions_now())


async def verify_or_reuse(
    inquiry: ThesisJob,
    settings: Settings,
    base: Path,
    root: Path,
    now_ts: float | None = None,
    *,
    chosen: bool = False,
    fresh: bool = False,
    trust: Collection[str] = (),
    parent: Parent | None = None,
    say: Say = _silent,
    now: Say = _silent,
) -> Answered:
    """The verdict on a request: that of an earlier session under `base` where one stands, else of a new one
    at `root`.

    `now_ts` is Unix time, by default that of the clock. `chosen` says that a person named `root`: what is
    used again is then copied there whole. `fresh` verifies again. `trust` holds key ids whose verdicts count
    like one's own. One that goes on from a `parent` is always new, and is not used again. While an equal
    request is looked for, in this process or another, this one waits for its verdict, as long as the
    budget allows at most; one with another budget may come to another verdict, and is not waited for.

    Raises as `look_up` does, and SessionError when `root` cannot be copied to or holds other files.
    """
    insist_on_place(root)
    inquiry = narrowed(inquiry, settings)
    if parent is not None:
        result = await look_up(inquiry, settings, root, parent=parent, say=say, now=now)
        return _answered(RunState(_records(root)), root, result)

    def look() -> "tuple[Opened | None, Answered | None]":
        at = time.time() if now_ts is None else now_ts
        whole = _whole(inquiry, settings, base, trust=trust, say=say)
        return whole, None if fresh else _standing(whole, inquiry, base, at, say)

    def given(found: Answered) -> Answered:
        found = _required(found, settings.verification.require)
        return _brought(found, root) if chosen else found

    whole, found = look()
    if found is not None:
        return given(found)
    patience = 0.0 if fresh else inquiry.budget.seconds
    key = shared_key(inquiry, settings)
    async with in_flight(base, key, patience, lambda: now(_IN_FLIGHT)) as waited:
        if waited:
            whole, found = look()
            if found is not None:
                return given(found)
        earlier = Knowledge(base, {open_signer(inquiry.input_dir).keyid, *trust})
        supersedes = whole.attestation_id if whole else ""
        result = await look_up(
            inquiry, settings, root, earlier=earlier, supersedes=supersedes, say=say, now=now
        )
        answered = _answered(RunState(_records(root)), root, result)
        remember(inquiry, settings, base, answered, say=say)
        return answered


def reusable(
    inquiry: ThesisJob,
    settings: Settings,
    base: Path,
    now_ts: float,
    *,
    trust: Collection[str] = (),
    say: Say = _silent,
) -> Answered | None:
    """The standing verdict on a request, None where there is none; `say` is told why one was passed over.

    Only reads. Raises SetupError when there is no key of one's own to check signatures with.
    """
    inquiry = narrowed(inquiry, settings)
    whole = _whole(inquiry, settings, base, trust=trust, say=say)
    return _standing(whole, inquiry, base, now_ts, say)


def shared_key(inquiry: ThesisJob, settings: Settings) -> Digest:
    """The key of requests that one look-up answers at a time: equal, by the same rules, with one budget."""
    caps = {
        name: f"{cap:.16g}"
        for name, cap in msgspec.structs.asdict(narrowed(inquiry, settings).budget).items()
    }
    return digest(canonical({"key": reuse_key(inquiry, settings), "budget": caps}))


def _whole(
    inquiry: ThesisJob, settings: Settings, base: Path, *, trust: Collection[str], say: Say
) -> "Opened | None":
    """The last verdict on a request that holds, whether it still stands or not."""
    key = reuse_key(inquiry, settings)
    entry = find(base, key)
    if entry is None:
        return None
    try:
        keys = {open_signer(inquiry.input_dir).keyid, *trust}
        return open_verdict(base, entry.session, inquiry, key, keys)
    except Unusable as why:
        say(_not_used(entry.session, why))
        return None


def _standing(
    whole: "Opened | None", inquiry: ThesisJob, base: Path, now_ts: float, say: Say
) -> Answered | None:
    if whole is None:
        return None
    try:
        whole.refuse_unless_standing(inquiry.budget, now_ts)
        if "kb" in inquiry.request.scope and whole.attestation.result != "SUPPORTED":
            _refuse_if_more_is_known(base, whole)
        return whole.answered()
    except Unusable as why:
        say(_not_used(whole.earlier.root.relative_to(base).as_posix(), why))
        return None


def _not_used(session: str, why: Unusable) -> str:
    return f"An earlier verdict on this request, in {session}, is not used. {why}"


def remember(
    inquiry: ThesisJob, settings: Settings, base: Path, answered: Answered, *, say: Say = _silent
) -> bool:
    """Note where the verdict lies, so that it is found again; whether that was done.

    A session outside of `base` is not noted, and neither is one without an attested request.
    """
    attestation = answered.verified.attestation
    try:
        relative = answered.verified.session.resolve().relative_to(base.resolve()).as_posix()
        keep(
            base,
            IndexedVerdict(
                key=reuse_key(inquiry, settings),
                thesis=inquiry.request.thesis,
                request=attestation.request,
                attestation=answered.verified.attestation_id,
                session=relative,
                result=attestation.result,
                issued_at=attestation.issued_at,
                expires_at=attestation.expires_at,
            ),
        )
    except (ValueError, OSError) as error:
        say(f"The verdict will not be found again: {error}.")
        return False
    return True


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """An earlier verdict of which everything holds; whether it still stands is asked after."""

    earlier: Earlier
    state: RunState
    attestation: Attestation
    attestation_id: Digest
    coverage: Coverage
    budget: Budget

    def refuse_unless_standing(self, budget: Budget, now_ts: float) -> None:
        """Raises Unusable for a verdict that has expired, or that another look could change: more of a budget
        can be spent, or the judge that failed may sit its exam again."""
        attestation, moment = self.attestation, rfc3339(now_ts)
        if expired(attestation.expires_at, moment):
            raise Unusable(f"It expired at {attestation.expires_at}.")
        if not expired(attestation.issued_at, rfc3339(now_ts + CLOCK_SKEW_SECONDS)):
            raise Unusable(f"It says that it was issued at {attestation.issued_at}, which is yet to come.")
        if attestation.reason == "JUDGE_UNRELIABLE":
            raise Unusable("No reading of its judge could be used.")
        exams = self.state.exams
        if exams and has_failed(exams[-1]) and not 0 <= now_ts - exams[-1].sat_at <= FAILURE_SECONDS:
            raise Unusable("Its judge had failed the exam, which it may pass now.")
        if self._nobody_answered():
            raise Unusable("No search engine answered then.")
        if attestation.reason == "BUDGET" and (more := self._more_than_then(budget)):
            raise Unusable(f"Its budget was spent, and now there is more: {', '.join(more)}.")

    def answered(self) -> Answered:
        """The verdict as it was given."""
        result = result_of(self.state, Store(self.earlier.root / "store"))
        return _answered(self.state, self.earlier.root, result, reused=True)

    def _nobody_answered(self) -> bool:
        asked = [each for each in self.earlier.records if isinstance(each, events.Search)]
        return bool(asked) and all(each.outcome not in ("ok", "empty") for each in asked)

    def _more_than_then(self, budget: Budget) -> list[str]:
        """The caps that would let the look-up go further: the one that ended it, any where none is named."""
        names = Budget.__struct_fields__
        caps = [self.coverage.cut] if self.coverage.cut in names else names
        return [name for name in caps if getattr(budget, name) > getattr(self.budget, name)]


def open_verdict(
    base: Path, relative: str, inquiry: ThesisJob, key: Digest, trust: Collection[str]
) -> Opened:
    """The verdict of the session at `relative` under `base` on this request, made under `key`.

    Raises Unusable unless the log is whole and sealed by one of `trust`, the envelope is signed by one, every
    object has its id, the reduction gives the result, the bytes of each source are there, and the request and
    the rules are those of the key.
    """
    earlier = open_earlier(base, relative, trust)
    try:
        state = RunState(earlier.records)
        decision = _decision(state)
        envelope = read_regular(earlier.root, ATTESTATION, MAX_ENVELOPE_BYTES)
        if hashlib.sha256(envelope).hexdigest() != decision.envelope.sha256:
            raise Unusable(f"Its {ATTESTATION} is not the one that its log names.")
        read = _reader(earlier)
        verified = open_verified(
            envelope,
            read,
            trust=trust,
            thesis_id=inquiry.request.thesis,
            request=request_key(inquiry.request),
        )
        attestation = verified.attestation
        if verified.attestation_id != decision.attestation:
            raise Unusable("Its envelope holds another attestation than its log names.")
        if attestation.log != (decision.seq - 1, decision.prev):
            raise Unusable("Its attestation was made at another place of the log, or of another log.")
        policy = parse(read(attestation.policy), Policy)
        if _key(attestation.request, _settings(state), _versions(policy)) != key:
            raise Unusable("It was made under other rules.")
        for source in verified.sources.values():
            for name in filter(None, (source.canonical, source.raw, source.retrieval)):
                read(name)
    except (Unreadable, Refused, ObjectError, StoreError, OSError) as error:
        raise Unusable(str(error)) from None
    return Opened(
        earlier=earlier,
        state=state,
        attestation=attestation,
        attestation_id=verified.attestation_id,
        coverage=verified.coverage,
        budget=_budget(state),
    )


def copy_session(source: Path, target: Path) -> None:
    """Copy a finished session to a new or empty folder, whole or not at all.

    Blobs, which never change, are linked where they can be. Nothing else than plain files is copied. Raises
    SessionError.
    """
    temporary = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if os.path.lexists(target) and (target.is_symlink() or any(target.iterdir())):
            raise SessionError(f"{target} is not empty. Choose another work folder.")
        temporary = Path(tempfile.mkdtemp(dir=target.parent, prefix=".vera-copy-"))
        temporary.chmod(FOLDER_MODE)
        for folder, _, names in os.walk(source, followlinks=False):
            inner = temporary / Path(folder).relative_to(source)
            inner.mkdir(exist_ok=True)
            for name in names:
                _copy(Path(folder) / name, inner / name, link=Path(folder).parent == source / "store")
        temporary.rename(target)
    except OSError as error:
        raise SessionError(f"Cannot copy the session to {target}: {error.strerror or error}.") from None
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)


def _copy(source: Path, target: Path, *, link: bool) -> None:
    if source.is_symlink() or not source.is_file():
        return
    if link:
        try:
            os.link(source, target, follow_symlinks=False)
            return
        except OSError:
            pass
    shutil.copy2(source, target, follow_symlinks=False)


def _required(found: Answered, require: str) -> Answered:
    """The verdict with the exit code that it has where `require` is asked for now."""
    verified = found.verified
    if verified.word not in HOLDS:
        return found
    code = exit_code(verified.word, EXIT_CODES[verified.word], require)
    return msgspec.structs.replace(found, verified=msgspec.structs.replace(verified, exit_code=code))


def _brought(found: Answered, root: Path) -> Answered:
    """The verdict with its session at `root`."""
    verified = found.verified
    if root.resolve() == verified.session.resolve():
        return found
    copy_session(verified.session, root)
    return msgspec.structs.replace(found, verified=msgspec.structs.replace(verified, session=root))


def _answered(state: RunState, root: Path, result: Result, *, reused: bool = False) -> Answered:
    verified = verified_of(state, Store(root / "store"), root, result.exit_code, reused=reused)
    return Answered(verified=verified, result=result)


def _records(root: Path) -> list[events.Record]:
    from vera.session import Reader

    return [record for _, record in Reader(root / TRACE).poll()]


def _refuse_if_more_is_known(base: Path, opened: Opened) -> None:
    """Raises Unusable when a session under `base` has ended since: it may know what was not found then."""
    issued = datetime.fromisoformat(opened.attestation.issued_at).timestamp()
    for name, ended in sealed_sessions(base):
        if ended > issued and base / name != opened.earlier.root:
            raise Unusable("Other sessions under the base folder have ended since.")


def _decision(state: RunState) -> events.Verifier:
    chosen = state.rounds.get(state.chosen.round) if state.chosen else None
    if state.ended is None or chosen is None or chosen.decision is None:
        raise Unusable("Its run has not ended with a verdict.")
    return chosen.decision


def _reader(earlier: Earlier) -> Callable[[Digest], bytes]:
    return lambda name: earlier.bytes_of(hexadecimal(name))


def _settings(state: RunState) -> Mapping[str, object]:
    return state.session.settings if state.session else {}


def _budget(state: RunState) -> Budget:
    asked = state.requested
    if asked is None:
        raise Unusable("Its log has no request.")
    return Budget(**{name: getattr(asked, name) for name in Budget.__struct_fields__})


def _key(request: Digest, settings: Mapping[str, object], versions: Mapping[str, str]) -> Digest:
    """From a request, the settings of a run as its log has them, and the versions of the rules."""
    rules = {
        "settings": {name: _deciding(settings.get(name)) for name in _DECIDES},
        "model": _model(settings),
        "versions": dict(versions),
        **_plugins(settings),
    }
    return digest(canonical({"request": request, "rules": rules}))


def _deciding(section: object) -> object:
    """A section of settings without what decides the exit code only, and limits that no look-up has."""
    if not isinstance(section, Mapping):
        return section
    return {name: value for name, value in section.items() if name not in ("require", "gate_limits")}


def _plugins(settings: Mapping[str, object]) -> dict[str, object]:
    """The plugins of a run, whose checks and formats its verdict rests on; nothing for a run without any."""
    section = settings.get("plugins")
    if not isinstance(section, Mapping) or not section.get("enabled"):
        return {}
    return {"plugins": [section["enabled"], section.get("hard_checks", "")]}


def _model(settings: Mapping[str, object]) -> object:
    """What of the settings says which model verifies; None where a mechanical rule does."""
    model, verification = settings.get("model"), settings.get("verification")
    if not isinstance(model, Mapping) or not isinstance(verification, Mapping):
        return None
    own = {name: model.get(name) for name in _MODEL}
    built_in = own["base_url"] == BUILT_IN and not own["file"] and not verification.get("model_base_url")
    return None if verification.get("rule") == "literal" or built_in else own


def _versions(policy: Policy) -> dict[str, str]:
    return {
        "claims": policy.claims,
        "audit": policy.audit,
        "reduce": policy.reduce,
        "literal": policy.literal,
        "suffix_list": policy.suffix_list,
    }


def _versions_now() -> dict[str, str]:
    return {
        "claims": CLAIMS_VERSION,
        "audit": AUDIT_VERSION,
        "reduce": reduce.VERSION,
        "literal": literal_version(asked=True),
        "suffix_list": suffix_list_version(),
    }
