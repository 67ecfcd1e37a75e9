"""The tool `verify_claim`: a thesis in, evidence cards and a signed verdict out, no text of a source."""

import asyncio
from typing import Any, get_args

from vera.agent.work_dir import default_work_dir
from vera.attestation.lenses import LENSES, load_lens
from vera.attestation.objects import Output, Risk, Scope, Volatility
from vera.attestation.request import AGENT_BUDGET, DOMAINS_LIMIT, LANGUAGES_LIMIT, THESIS_LIMIT, Budget
from vera.attestation.source_types import SOURCE_TYPES
from vera.config.settings import Required, requiring
from vera.mcp.service import (
    CONNECTORS,
    Arguments,
    Service,
    ServiceReply,
    Tell,
    ToolError,
    connectors_of,
    only,
)
from vera.runtime.connectors import connect_request
from vera.runtime.reuse import verify_or_reuse
from vera.runtime.thesis import inquiry_of

NAME = "verify_claim"
DESCRIPTION = (
    "State a claim that should hold and have it verified. A separate lane looks at the person's documents, "
    "and at the web where the scope says so; you get a status (VERIFIED: a judge read that the cited lines "
    "support it; QUOTED: it is in them word for word, and was not judged; PARTIAL, UNRESOLVED, DISPUTED, "
    "REFUTED), evidence cards that point at spans, what was not covered, and the id of a signed attestation. "
    "It takes seconds to minutes. Only VERIFIED entitles you to state the claim as a fact. Cite a QUOTED "
    "claim as a quotation of its source; get_evidence shows what a card points at."
)

_USUAL = Budget()


def _words(what: str, known: tuple[str, ...], most: int = 100) -> dict[str, Any]:
    each: dict[str, Any] = {"type": "string", "maxLength": 300}
    if known:
        each = {"type": "string", "enum": list(known)}
    return {"type": "array", "items": each, "maxItems": most, "description": what}


def _cap(name: str, what: str) -> dict[str, Any]:
    kind = "number" if name == "seconds" else "integer"
    usual, most = getattr(_USUAL, name), getattr(AGENT_BUDGET, name)
    described = f"{what} at most; {usual:g} by default."
    return {"type": kind, "exclusiveMinimum": 0, "maximum": most, "description": described}


ARGUMENTS: dict[str, Any] = {
    "thesis": {
        "type": "string",
        "minLength": 1,
        "maxLength": THESIS_LIMIT,
        "description": "What should hold, in one or a few whole sentences. Name things; no pronouns.",
    },
    "scope": _words("Where to look; the documents by default, else the web.", get_args(Scope)),
    "connectors": CONNECTORS,
    "risk": {"type": "string", "enum": list(get_args(Risk)), "description": "How much depends on it."},
    "volatility": {
        "type": "string",
        "enum": list(get_args(Volatility)),
        "description": "How soon it may change, which decides when the verdict expires.",
    },
    "lens": {"type": "string", "enum": list(LENSES), "description": "The rubric."},
    "allow_domains": _words("Look only at these domains.", (), DOMAINS_LIMIT),
    "deny_domains": _words("Never look at these domains.", (), DOMAINS_LIMIT),
    "not_before": {
        "type": "string",
        "maxLength": 40,
        "description": "Pages published before are no evidence. 2025-01-31",
    },
    "not_after": {
        "type": "string",
        "maxLength": 40,
        "description": "Pages published after are no evidence. 2025-01-31",
    },
    "source_types": _words("Only sources of these types count.", SOURCE_TYPES),
    "languages": _words("Languages to search in, by their codes.", (), LANGUAGES_LIMIT),
    "required": _words("Outputs without which the result is INCONCLUSIVE.", get_args(Output)),
    "require": {
        "type": "string",
        "enum": list(get_args(Required)),
        "description": "verified: the exit code is 3 for what is less than VERIFIED, also for QUOTED.",
    },
    "budget_sources": _cap("sources", "Documents to open"),
    "budget_searches": _cap("searches", "Queries to ask"),
    "budget_tokens": _cap("tokens", "Tokens to spend"),
    "budget_bytes": _cap("bytes", "Bytes to take in from the web"),
    "budget_seconds": _cap("seconds", "Seconds to take"),
}


async def verify_claim(service: Service, arguments: Arguments, tell: Tell) -> ServiceReply:
    """Verify a thesis in a session under the base, or find the standing verdict of before.

    Raises ToolError, and what `inquiry_of` and `verify_or_reuse` raise.
    """
    arguments = _as_named_now(arguments)
    only(arguments, ARGUMENTS)
    given = {name: value for name, value in arguments.items() if value is not None}
    _bounded(given)
    settings = requiring(service.settings, _require(given.pop("require", "quoted")))
    run = settings.run.model_copy(update={"input_dir": service.input_dir})
    settings = settings.model_copy(update={"run": run})
    given.pop("connectors", None)
    tell("looking for evidence")
    connected, scope = await connect_request(
        settings, given.pop("scope", None), connectors_of(arguments), tell
    )
    settings = connected.settings
    inquiry = await asyncio.to_thread(
        inquiry_of,
        given.pop("thesis", None),
        settings.run.input_dir,
        load_lens(_lens(given.pop("lens", LENSES[0]))),
        scope=scope,
        connections=connected.connections,
        **{name.removeprefix("budget_"): value for name, value in given.items()},
    )
    answered = await verify_or_reuse(
        inquiry,
        settings,
        service.base,
        default_work_dir(service.base, inquiry.request.text),
        say=tell,
        now=tell,
    )
    return ServiceReply(value=answered.verified.as_dict())


def _as_named_now(arguments: Arguments) -> Arguments:
    """The arguments with `budget_…` for caps that have their names of before, `max_…`. Raises ToolError for a
    cap that is given by both."""
    named: dict[str, Any] = dict(arguments)
    for name in Budget.__struct_fields__:
        if f"max_{name}" in named:
            if f"budget_{name}" in named:
                raise ToolError(f"budget_{name} and max_{name} are one cap. Give one of them.")
            named[f"budget_{name}"] = named.pop(f"max_{name}")
    return named


def _lens(value: object) -> str:
    if not isinstance(value, str):
        raise ToolError(f"lens is no text. Known are {', '.join(LENSES)}.")
    return value


def _require(value: object) -> Required:
    for known in get_args(Required):
        if value == known:
            return known  # type: ignore[no-any-return]  # one of the literal's own values
    raise ToolError("require is quoted or verified.")


def _bounded(given: dict[str, Any]) -> None:
    """Raises ToolError for a cap above what a caller may ask for."""
    for name in Budget.__struct_fields__:
        value, most = given.get(f"budget_{name}"), getattr(AGENT_BUDGET, name)
        if isinstance(value, int | float) and value > most:
            raise ToolError(f"budget_{name} is {value:g}, and the most is {most:g}.")
