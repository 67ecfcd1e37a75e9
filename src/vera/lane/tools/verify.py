"""`verify`: a thesis goes out, a verdict comes back.

It is the only way by which a lane of execution learns anything that is not in its own workspace.

Who looks, and where, is handed in from above (`vera.runtime.execute`).
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from vera import events
from vera.attestation.lenses import load_lens
from vera.attestation.objects import Lens, ObjectError, VerifyRequest
from vera.attestation.request import AGENT_BUDGET, Budget, RequestError, request_of
from vera.lane.attested import in_words
from vera.lane.tools import Call, Outcome, failed
from vera.protocol.turn import ToolSpec
from vera.sanitize import one_line
from vera.store import StoreError

RISKS = ("low", "med", "high")

_CAPS = {f"budget_{name}": name for name in Budget.__struct_fields__}
"""The cap of the budget that each argument sets."""


def _cap(name: str) -> dict[str, Any]:
    kind = "number" if name == "seconds" else "integer"
    return {"type": kind, "minimum": 0, "maximum": getattr(AGENT_BUDGET, name)}


SPEC = ToolSpec(
    name="verify",
    description=(
        "Have a thesis verified by a separate lane: one to three plain statements of fact, each complete "
        "in itself. You get back a verdict, ids of evidence cards and what could not be ruled out, no text. "
        "scope is any of files, web, kb (by default what this run has); risk is low, med or high; volatility "
        "static, slow, fast or live; domains are separated by commas, days written 2025-01-31; required: "
        "outputs without which nothing is decided (evidence_cards, coverage_map, contradictions, omissions). "
        "It draws on your budget, of which budget_… caps what this one may take; the same request asked "
        "again costs nothing while its verdict holds."
    ),
    properties={
        "thesis": {"type": "string"},
        "scope": {"type": "string"},
        "risk": {"type": "string"},
        "volatility": {"type": "string"},
        "lens": {"type": "string"},
        "allow_domains": {"type": "string"},
        "deny_domains": {"type": "string"},
        "not_before": {"type": "string"},
        "not_after": {"type": "string"},
        "source_types": {"type": "string"},
        "languages": {"type": "string"},
        "required": {"type": "string"},
        **{argument: _cap(name) for argument, name in _CAPS.items()},
    },
    required=("thesis",),
)


class CannotVerify(Exception):
    """No verdict can be had: a sentence for the model, with what to do."""


Ask = Callable[[VerifyRequest, Lens, Budget], Awaitable[events.AttestationReceived]]
"""Verifies a request and gives the record of its verdict. Raises CannotVerify."""


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """Under which terms a run asks: where may be looked, the least risk tier, a digest of the files."""

    scope: tuple[str, ...]
    risk: str = "med"
    corpus: str = ""


class Verify:
    """The tool over a way to ask and the run's terms."""

    spec = SPEC

    def __init__(self, ask: Ask, terms: Terms) -> None:
        self._ask = ask
        self._terms = terms

    async def run(self, args: Mapping[str, Any], call: Call) -> Outcome:
        name = f"verify {one_line(args['thesis'], 80)}"
        try:
            lens = load_lens(args.get("lens") or "general")
            request, budget = self._request(args, lens)
        except RequestError as error:
            return failed(name, "bad_request", str(error))
        try:
            received = await self._ask(request, lens, budget)
            body = in_words(received, call.store)
        except CannotVerify as error:
            return failed(name, "not_verified", str(error))
        except (StoreError, ObjectError, OSError) as error:
            return failed(name, "unreadable", f"the verdict cannot be read ({error}); ask again")
        reason = f" ({received.reason})" if received.reason else ""
        until = f" · until {received.expires_at}" if received.expires_at else ""
        reused = " · as verified before" if received.reused else ""
        return Outcome(
            header=f"verify {received.handle} · {received.result}{reason}{until}{reused}", body=body
        )

    def _request(self, args: Mapping[str, Any], lens: Lens) -> tuple[VerifyRequest, Budget]:
        """The request within the run's terms. Raises RequestError."""
        terms = self._terms
        asked = [part.strip().lower() for part in args.get("scope", "").split(",") if part.strip()]
        if outside := [part for part in asked if part in ("files", "web") and part not in terms.scope]:
            have = ", ".join(terms.scope)
            raise RequestError(f"This run cannot look in {', '.join(outside)}. Its scope is {have}.")
        risk = args.get("risk", "").strip().lower() or terms.risk
        if risk in RISKS:
            risk = max(risk, terms.risk, key=RISKS.index)
        return request_of(
            args["thesis"],
            scope=asked or terms.scope,
            risk=risk,
            volatility=args.get("volatility") or "slow",
            lens=lens,
            allow_domains=args.get("allow_domains", ""),
            deny_domains=args.get("deny_domains", ""),
            not_before=args.get("not_before", ""),
            not_after=args.get("not_after", ""),
            source_types=args.get("source_types", ""),
            languages=args.get("languages", ""),
            required=args.get("required", ""),
            corpus=terms.corpus,
            **{name: args[argument] for argument, name in _CAPS.items() if argument in args},
        )
