"""VERIFY_REQUEST as JSON from outside: the object itself, of which only the text has to be there.

What the object holds beside what was asked (the ids of proposition, rubric and corpus) is made here again,
and must be the same where it is given.
"""

import json
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from vera.attestation.objects import (
    Constraints,
    Digest,
    Key,
    OptionalDigest,
    Output,
    Risk,
    Scope,
    VerifyRequest,
    Volatility,
)
from vera.attestation.proposition import THESIS_LIMIT, RequestError

REQUEST_BYTES = 1 << 20
"""Of a request as JSON."""

_IDS = {
    "thesis": "another text than the request's has this id",
    "rubric": "the lens of that name is another one here",
    "corpus": "the folder does not hold now what it held when the request was made",
}


ConnectorName = Annotated[str, Meta(pattern="^[a-z][a-z0-9_-]{0,47}$", max_length=48)]
"""A request names a connector that the person configured, and can configure none."""


class BudgetAsked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the look-up may cost; what is left out is the default (`vera.attestation.request.Budget`)."""

    sources: Annotated[int, Meta(ge=1, le=10_000)] | None = None
    searches: Annotated[int, Meta(ge=1, le=10_000)] | None = None
    tokens: Annotated[int, Meta(ge=1, le=10**9)] | None = None
    bytes: Annotated[int, Meta(ge=1, le=1 << 40)] | None = None
    seconds: Annotated[float, Meta(gt=0, le=604_800)] | None = None


class RequestAsked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A request to verify a thesis (VERIFY_REQUEST), with its budget.

    `text` is the thesis. Without a `scope` the folder of documents is looked at where there is one, else the
    web. `thesis`, `rubric` and `corpus` may be left out; given, they must be what they are here.
    `connectors` names configured connectors, for the scope `connectors`; without names it is all of them.
    """

    kind: Literal["request/v1"] = "request/v1"
    text: Annotated[str, Meta(min_length=1, max_length=THESIS_LIMIT)]
    thesis: OptionalDigest = ""
    lens: Key = "general"
    rubric: OptionalDigest = ""
    scope: Annotated[tuple[Scope, ...], Meta(max_length=10)] = ()
    constraints: Constraints = Constraints()
    risk: Risk = "med"
    volatility: Volatility = "slow"
    required: Annotated[tuple[Output, ...], Meta(max_length=10)] = ()
    corpus: OptionalDigest = ""
    connectors: Annotated[tuple[ConnectorName, ...], Meta(max_length=20)] = ()
    budget: BudgetAsked = BudgetAsked()

    def arguments(self) -> dict[str, Any]:
        """What `request_of` takes beside text, lens and corpus."""
        given = {name: getattr(self.constraints, name) for name in Constraints.__struct_fields__}
        return {
            **{name: value for name, value in given.items() if value},
            **{name: getattr(self, name) for name in ("risk", "volatility", "required")},
            **({"scope": self.scope} if self.scope else {}),
            **{name: getattr(self.budget, name) for name in BudgetAsked.__struct_fields__},
        }

    def insist_on_ids(self, request: VerifyRequest) -> None:
        """Raises RequestError where an id of the object is not that of the request made from it."""
        for name, why in _IDS.items():
            given: Digest = getattr(self, name)
            if given and given != getattr(request, name):
                raise RequestError(f"{name} is not what it says: {why}. Leave it out to ask anyway.")


def read_request(data: bytes) -> RequestAsked:
    """The request in these bytes. Raises RequestError."""
    if len(data) > REQUEST_BYTES:
        raise RequestError(f"The request is larger than {REQUEST_BYTES >> 20} MB.")
    try:
        insist_on_unique_members(data)
        return msgspec.json.decode(data, type=RequestAsked)
    except ValueError as error:
        raise RequestError(f"That is no request: {error}. See docs/reference/verify-request.md.") from None


def insist_on_unique_members(data: bytes) -> None:
    """Raises ValueError, in a few words, for what is no JSON in UTF-8, or has a member twice: two readers
    could take it for two different things."""
    try:
        json.loads(data.decode("utf-8"), object_pairs_hook=_unique)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except UnicodeDecodeError:
        raise ValueError("it is not in UTF-8") from None


def _unique(members: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in members:
        if name in found:
            raise ValueError(f"the member {name[:80]!r} comes twice")
        found[name] = value
    return found
