"""Asking for a session that may not search: each thesis is verified in its own session, below the
asking one, and its verdict is opened and checked before anything of it is taken in.

One level deep: a session that verifies a thesis does not have `verify` itself.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from vera import events
from vera.agent.errors import SetupError
from vera.agent.thesis import ThesisJob
from vera.agent.verification_result import Verified
from vera.attestation.ahdb.proof import Refused, keep_proof, open_verified, reader
from vera.attestation.dsse import MAX_BYTES
from vera.attestation.integrity import ATTESTATION
from vera.attestation.keys import Signer
from vera.attestation.objects import Lens, ObjectError, VerifyRequest, canonical
from vera.attestation.request import Budget, request_key
from vera.config import Settings
from vera.evidence.reading import read_regular
from vera.extraction.source import Unreadable
from vera.lane.budget import Budget as RunBudget
from vera.lane.tools.verify import CannotVerify
from vera.model.types import ModelError
from vera.session import LogError, Reader, Session, SessionError
from vera.session.session import TRACE
from vera.state import RunState
from vera.store import Store, StoreError
from vera.usage import RunUsage

THESES = "theses"
"""The folder of a session in which its theses are verified, a session each."""

MIN_TOKENS = 2000
"""Tokens below which nothing is looked up any more: the answer needs some, too."""

Verification = Callable[[ThesisJob, Settings, Path], Awaitable[Verified]]
"""Gives the verdict on a thesis: that of a session at the path, or an earlier one, which is copied there."""


class SubSession:
    """Verifies requests for one lane of a session, within what is left of the run's budget.

    `input_dir` is the folder that the scope `files` stands for. A verdict counts only when it is signed by
    `signer`'s key and answers the very request.
    """

    def __init__(
        self,
        session: Session,
        lane: str,
        settings: Settings,
        signer: Signer,
        budget: RunBudget,
        verify: Verification,
    ) -> None:
        self._session = session
        self._lane = lane
        self._settings = settings
        self._keyid = signer.keyid
        self._budget = budget
        self._verify = verify

    async def __call__(
        self, request: VerifyRequest, lens: Lens, budget: Budget
    ) -> events.AttestationReceived:
        """The record of the verdict on a request, as it was logged. Raises CannotVerify."""
        settings = self._with_what_is_left("web" in request.scope)
        folder = settings.run.input_dir if "files" in request.scope else None
        inquiry = ThesisJob(request=request, lens=lens, budget=budget, input_dir=folder)
        root = self._next_folder()
        reused = False
        try:
            verified = await self._verify(inquiry, settings, root)
            reused = verified.reused
        except (SetupError, SessionError, ModelError, LogError, StoreError, ObjectError) as error:
            raise CannotVerify(str(error)) from None
        except (OSError, LookupError) as error:
            raise CannotVerify(f"The look-up could not be finished: {error}.") from None
        finally:
            if not reused:
                self._count(root)
        return self.take_in(verified.session, request, reused=reused)

    def take_in(self, session: Path, request: VerifyRequest, *, reused: bool) -> events.AttestationReceived:
        """Check the verdict of a session on a request, keep its proof, and log it.

        Raises CannotVerify for one that is forged, of another request, or not whole.
        """
        own, read = self._session, reader(Store(session / "store"))
        key = request_key(request)
        try:
            envelope = read_regular(session, ATTESTATION, MAX_BYTES)
            opened = open_verified(envelope, read, trust={self._keyid}, thesis_id=request.thesis, request=key)
            keep_proof(envelope, opened, read, own.store)
            own.store.put(canonical(opened.attestation))
        except (Refused, Unreadable, StoreError, OSError) as error:
            raise CannotVerify(f"The verdict that came back is not used. {error}") from None
        attestation = opened.attestation
        place = session.resolve().relative_to(own.root.resolve())
        return own.emit(
            events.AttestationReceived(
                handle=own.state.next_attestation_handle(),
                attestation=opened.attestation_id,
                thesis_id=request.thesis,
                request=key,
                result=attestation.result,
                reason=attestation.reason,
                expires_at=attestation.expires_at,
                envelope=events.Blob(own.store.put(envelope), len(envelope)),
                keyid=opened.keyid,
                session=str(place),
                cards=attestation.cards,
                reused=reused,
            ),
            lane=self._lane,
        )

    def _with_what_is_left(self, web: bool) -> Settings:
        """The settings of the look-up. Raises CannotVerify when the run's budget leaves nothing for one."""
        limits, spent = self._budget.limits, self._session.state.spent
        left: dict[str, float] = {}
        if limits.tokens:
            left["tokens"] = limits.tokens - self._budget.tokens - MIN_TOKENS
        if limits.seconds:
            left["seconds"] = limits.seconds - spent.seconds
        if limits.cost:
            left["cost"] = (limits.cost - self._budget.cost) / 10**12
        if limits.searches and web:
            left["searches"] = limits.searches - spent.searches
        for name, amount in left.items():
            if amount <= 0:
                raise CannotVerify(f"The budget of {name} leaves no further look-up. Answer with what holds.")
        settings = self._settings
        return settings.model_copy(
            update={
                "budget": settings.budget.model_copy(update=left),
                "run": settings.run.model_copy(
                    update={"lane": "research", "require_theses": "", "work_dir": None}
                ),
            }
        )

    def _next_folder(self) -> Path:
        folder = self._session.root / THESES
        number = sum(1 for _ in folder.iterdir()) + 1 if folder.is_dir() else 1
        return folder / f"{number:04d}"

    def _count(self, root: Path) -> None:
        """What a look-up has spent counts for the run, however the look-up ended."""
        try:
            state = RunState(record for _, record in Reader(root / TRACE).poll())
        except (LogError, OSError):
            return
        spent = state.spent
        self._budget.add(spent)
        self._session.emit(_spent(root.name, spent), lane=self._lane)


def _spent(name: str, spent: RunUsage) -> events.LookUpSpent:
    return events.LookUpSpent(
        session=f"{THESES}/{name}",
        model_calls=spent.model_calls,
        unknown_calls=spent.unknown_calls,
        searches=spent.searches,
        **{f"agent_{key}": value for key, value in msgspec.structs.asdict(spent.agent).items()},
        **{f"verifier_{key}": value for key, value in msgspec.structs.asdict(spent.verifier).items()},
    )
