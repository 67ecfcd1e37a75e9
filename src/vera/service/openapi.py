"""The service described in OpenAPI 3.1, made from the structs that read its bodies and write its answers."""

import inspect
from collections.abc import Mapping
from functools import cache
from typing import Any, get_args

import msgspec

from vera.attestation.dsse import DsseEnvelope
from vera.attestation.objects import Card
from vera.attestation.schemas import VerifyOutput
from vera.document_check.run import Report
from vera.headline import Headline
from vera.service.bodies import ChatBody, CheckBody, ResearchBody, VerifyBody
from vera.service.chat import ChatReply, ModelList
from vera.service.problems import ErrorReply
from vera.service.progress import Progress
from vera.service.records import ID, JobView
from vera.service.stored import DIGEST
from vera.version import __version__

ERRORS: Mapping[str, str] = {
    "400": "The request does not fit, is no HTTP, or has a head that is much too long.",
    "401": "There is no token, or a wrong one.",
    "403": "The token or the service does not allow that.",
    "404": "There is no such thing for this token.",
    "405": "That cannot be done at this address.",
    "408": "The body did not come in time.",
    "409": "The job has not ended, or the Idempotency-Key came with another body before.",
    "413": "The body is too large.",
    "414": "The address is too long.",
    "415": "The body is no JSON.",
    "421": "The service is not called that.",
    "429": "The token has used up what it may do for now; Retry-After says when to ask again.",
    "431": "The headers are too long.",
    "502": "The run behind a chat came to no answer.",
    "503": "Too much is asked at one time; Retry-After says when to ask again.",
}

_EVERY = ("400", "401", "403", "404", "405", "414", "421", "429", "431", "503")
_WITH_BODY = ("408", "413", "415")
_REFS = "#/components/schemas/"
_KINDS = (
    VerifyBody,
    ResearchBody,
    CheckBody,
    ChatBody,
    ChatReply,
    ModelList,
    JobView,
    Progress,
    ErrorReply,
    Card,
    DsseEnvelope,
    VerifyOutput,
    Report,
)
_OPEN = ("JobView", "ErrorReply", "ErrorBody", "ChatReply", "ModelList", "Progress", "VerifyOutput", "Report")
"""Answers, to which a later version may add members."""


@cache
def document() -> dict[str, Any]:
    """The whole description."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "VERA",
            "version": __version__,
            "description": "Theses, questions and reports in; jobs with signed verdicts out.",
        },
        "security": [{"token": []}],
        "paths": _paths(),
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": _schemas(),
        },
    }


def _schemas() -> dict[str, Any]:
    _, found = msgspec.json.schema_components(_KINDS, ref_template=_REFS + "{name}")
    for name, schema in found.items():
        if "description" in schema:
            schema["description"] = inspect.cleandoc(schema["description"])
        if name in _OPEN:
            schema.pop("additionalProperties", None)
    found["Envelope"] = found.pop("DsseEnvelope")
    found["Result"] = {
        "description": "What the job's command prints as JSON, with the signed verdict as `envelope`.",
        "type": "object",
        "anyOf": [_ref("VerifyOutput"), _ref("ResearchOutput"), _ref("Report")],
        "properties": {"envelope": _ref("Envelope"), "exit_code": {"type": "integer"}},
        "required": ["exit_code"],
    }
    found["JobView"]["properties"]["result"] = {"anyOf": [_ref("Result"), {"type": "null"}], "default": None}
    found["ResearchOutput"] = _research_output()
    return dict(found)


def _research_output() -> dict[str, Any]:
    """Of what `vera run --json` prints, the members that a program relies on."""
    text = {"type": "string"}
    lists = {name: {"type": "array", "items": {"type": "object"}} for name in ("claims", "citations")}
    return {
        "description": "What `vera run --json` prints.",
        "type": "object",
        "properties": {
            "status": {"type": "string", "enum": list(get_args(Headline))},
            **dict.fromkeys(("answer", "answer_by", "reason", "attestation", "mode"), text),
            **lists,
        },
        "required": ["status", "answer", "attestation", "claims", "citations"],
    }


def _paths() -> dict[str, Any]:
    job, told = _json("JobView"), "The id of a job."
    events: dict[str, Any] = {"text/event-stream": {}}
    chat = {**_json("ChatReply"), **events}
    bundle: dict[str, Any] = {"application/zip": {}}
    return {
        "/healthz": {"get": _operation("Whether the service answers.", {"200": _any()}, security=[])},
        "/openapi.json": {"get": _operation("This description.", {"200": _any()}, security=[])},
        "/v1/verify": {"post": _asks("Verify a thesis.", "VerifyBody")},
        "/v1/research": {"post": _asks("Answer a question with citations.", "ResearchBody")},
        "/v1/check": {"post": _asks("Hold a report against the documents it cites.", "CheckBody")},
        "/v1/jobs/{id}": {
            "parameters": [_parameter("id", told, pattern=ID)],
            "get": _operation("A job, with its result once it is done.", {"200": job}),
            "delete": _operation("Cancel a job, for all who share it.", {"200": job}),
        },
        "/v1/jobs/{id}/events": {
            "parameters": [_parameter("id", told, pattern=ID)],
            "get": _operation(
                "Progress as server-sent events: status, progress (Progress), done (JobView).",
                {"200": events},
                parameters=[_parameter("Last-Event-ID", "Where to go on.", "header")],
            ),
        },
        "/v1/jobs/{id}/bundle": {
            "parameters": [_parameter("id", told, pattern=ID)],
            "get": _operation("The session as one file for 'vera replay'.", {"200": bundle}, more=("409",)),
        },
        **_stored(),
        "/v1/models": {"get": _operation("The models of a chat.", {"200": _json("ModelList")})},
        "/v1/chat/completions": {
            "post": _operation(
                "Answer the last message of the user, in the form of OpenAI's API.",
                {"200": chat},
                body="ChatBody",
                more=(*_WITH_BODY, "502"),
            )
        },
    }


def _stored() -> dict[str, Any]:
    """The addresses of what is kept by its hash."""
    digest = "The sha256 of the bytes: 64 hexadecimal digits, with or without 'sha256:'."
    raw: dict[str, Any] = {"application/octet-stream": {}}
    return {
        "/v1/cards/{id}": {
            "parameters": [_parameter("id", digest, pattern=DIGEST)],
            "get": _operation("An evidence card, in the bytes that its id names.", {"200": _json("Card")}),
        },
        "/v1/evidence/{id}": {
            "parameters": [_parameter("id", digest, pattern=DIGEST)],
            "get": _operation(
                "Stored bytes, or a span of them.",
                {"200": raw},
                parameters=[_parameter(each, "An offset in bytes.", "query") for each in ("start", "end")],
            ),
        },
    }


def _asks(words: str, body: str) -> dict[str, Any]:
    """An operation that starts a job."""
    key = _parameter("Idempotency-Key", "The same key and body get the same job.", "header")
    answers = {"202": _json("JobView")}
    return _operation(words, answers, body=body, more=(*_WITH_BODY, "409"), parameters=[key])


def _operation(
    words: str,
    answers: Mapping[str, Any],
    *,
    body: str = "",
    more: tuple[str, ...] = (),
    **members: Any,
) -> dict[str, Any]:
    said = {"200": "It was done.", "202": "A job does it."}
    wrong = {code: {"description": ERRORS[code], "content": _json("ErrorReply")} for code in (*_EVERY, *more)}
    found = {code: {"description": said[code], "content": content} for code, content in answers.items()}
    takes = {"requestBody": {"required": True, "content": _json(body)}} if body else {}
    return {"summary": words, **members, **takes, "responses": dict(sorted({**found, **wrong}.items()))}


def _parameter(name: str, words: str, where: str = "path", *, pattern: str = "") -> dict[str, Any]:
    schema = {"type": "string", **({"pattern": f"^{pattern}$"} if pattern else {})}
    return {"name": name, "in": where, "required": where == "path", "description": words, "schema": schema}


def _json(name: str) -> dict[str, Any]:
    return {"application/json": {"schema": _ref(name)}}


def _any() -> dict[str, Any]:
    return {"application/json": {"schema": {"type": "object"}}}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": _REFS + name}
