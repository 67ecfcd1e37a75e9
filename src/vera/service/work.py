"""A body made into work: what a job is to do, checked against the terms, and the command that does it."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Literal, get_args

import msgspec

from vera.agent.errors import SetupError
from vera.agent.folders import corpus_digest
from vera.attestation.lenses import load_lens
from vera.attestation.objects import digest
from vera.attestation.request import RequestError
from vera.config import ConfigError, Settings
from vera.config.handed import Handed, Scalar
from vera.config.settings import requiring
from vera.dashboard.run_child import vera_command
from vera.runtime.connectors import sources_named
from vera.runtime.reuse import reuse_key
from vera.runtime.thesis import inquiry_of
from vera.service.bodies import AnyBody, CheckBody, ResearchBody, VerifyBody, decoded
from vera.service.problems import Refused
from vera.service.terms import Terms
from vera.version import __version__

Kind = Literal["verify", "research", "check"]
KINDS: tuple[Kind, ...] = get_args(Kind)

REPORT = "report.md"
BODIES: dict[Kind, type[AnyBody]] = {"verify": VerifyBody, "research": ResearchBody, "check": CheckBody}


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a job lies: `folder` holds its own files, `session` what it proves, `base` all of its token."""

    base: Path
    folder: Path
    session: Path


class Reach(msgspec.Struct, frozen=True, kw_only=True):
    """How far a job goes: the folder of documents that it reads (a real path, None for none), the mode of
    egress, and its seconds."""

    folder: Path | None
    egress: str
    seconds: float


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What a child gets. `share` is equal for requests that may share one job.

    `arguments` come after `vera`; `report` is the text of the file that is checked.
    """

    kind: Kind
    share: str
    reach: Reach
    arguments: Callable[[Place], list[str]]
    stdin: str = ""
    report: str = ""

    def command(self, place: Place) -> list[str]:
        """The command line of the child."""
        return vera_command(*self.arguments(place))


def work_of(kind: Kind, data: bytes, terms: Terms, accepted: Reach | None = None) -> Work:
    """What these bytes of a body ask for. With `accepted` the terms of a service have been asked before, on
    another machine: then the work goes so far, and has no `share`. Raises Refused (400, 403, 503)."""
    body = decoded(data, BODIES[kind])
    try:
        if isinstance(body, VerifyBody):
            return _verify(body, terms, accepted)
        if isinstance(body, ResearchBody):
            return _research(body, terms, accepted)
        return _check(body, terms, accepted)
    except RequestError as error:
        raise Refused(400, "invalid_request", str(error)) from None
    except ConfigError as error:
        raise Refused(403, "not_allowed", terms.hidden(str(error))) from None
    except SetupError as error:
        raise Refused(400, "invalid_request", terms.hidden(str(error))) from None
    except OSError as error:
        raise Refused(503, "unavailable", f"The input cannot be read: {error.strerror}.") from None


def _verify(body: VerifyBody, terms: Terms, accepted: Reach | None) -> Work:
    reach = accepted or _reach_of_thesis(body, terms)

    def arguments(place: Place) -> list[str]:
        words = ["verify", "--request", "-", *_common(place, reach, terms)]
        return [*words, *_required(body.require), *(["--fresh"] if body.fresh else [])]

    return Work(
        kind="verify",
        share="" if accepted else _share(*_asked_of_thesis(body, terms, reach)),
        reach=reach,
        arguments=arguments,
        stdin=msgspec.json.encode(body.asked()).decode(),
    )


def _reach_of_thesis(body: VerifyBody, terms: Terms) -> Reach:
    terms.within(body.budget)
    folder = terms.folder(body.input) if body.input or "files" in body.scope or not body.scope else None
    sources_named(terms.settings, body.connectors)
    web = "web" in body.scope or (not body.scope and folder is None and not body.connectors)
    return Reach(folder=folder, egress=terms.web(web), seconds=terms.time(body.budget.seconds))


def _asked_of_thesis(body: VerifyBody, terms: Terms, reach: Reach) -> list[object]:
    """What two requests have in common that may share a job."""
    inquiry = inquiry_of(body.text, reach.folder, load_lens(body.lens), **body.arguments())
    body.insist_on_ids(inquiry.request)
    settings = requiring(_with_egress(terms, reach.egress), body.require)
    asked = [reuse_key(inquiry, settings), msgspec.to_builtins(inquiry.budget), body.require, body.fresh]
    return [*asked, body.connectors]


def _research(body: ResearchBody, terms: Terms, accepted: Reach | None) -> Work:
    question = body.question.strip()
    if not question or "\0" in question:
        raise RequestError("The question is empty, or holds a zero byte. Ask it in a sentence.")
    sources_named(terms.settings, body.connectors)
    budget = body.budget
    reach = accepted or Reach(
        folder=terms.folder(body.input), egress=terms.web(body.web), seconds=terms.time(budget.seconds)
    )
    asked: dict[str, Scalar] = {
        "run.mode": None if body.mode == "auto" else body.mode,
        "budget.tokens": budget.tokens,
        "budget.searches": budget.searches,
        "run.max_steps": budget.steps,
        "verification.require": None if body.require == "quoted" else body.require,
    }
    given = {name: value for name, value in asked.items() if value is not None}
    handed = Handed(source="task", where="the request", text=question, settings=given)
    if accepted is None:  # else the process of the attempt says what it does not allow
        terms.insist_on_allowed(handed)

    def arguments(place: Place) -> list[str]:
        words = ["run", "--handed", "--lane", "research", "--form", body.form]
        words += [f"--connector={name}" for name in body.connectors]
        return [*words, *_common(place, reach, terms)]

    return Work(
        kind="research",
        share="" if accepted else _share_of_body(body, reach),
        reach=reach,
        arguments=arguments,
        stdin=handed.encode(),
    )


def _check(body: CheckBody, terms: Terms, accepted: Reach | None) -> Work:
    from vera.document_check.reading import insist_on_text
    from vera.document_check.run import require_date

    insist_on_text(body.text)
    for name in ("not_before", "not_after"):
        require_date(name, getattr(body, name))
    reach = accepted or Reach(
        folder=terms.folder(body.input), egress=terms.web(body.fetch), seconds=terms.seconds
    )

    def arguments(place: Place) -> list[str]:
        words = ["check", str(place.folder / REPORT), "--json", "--keep", str(place.session)]
        words += ["--sources", str(reach.folder)] if reach.folder else []
        words += ["--fetch", *terms.options()] if body.fetch else []
        for name in ("not_before", "not_after"):
            if value := getattr(body, name):
                words.append(f"--{name.replace('_', '-')}={value}")
        return [*words, *(["--strict"] if body.strict else []), *_required(body.require)]

    return Work(
        kind="check",
        share="" if accepted else _share_of_body(body, reach),
        reach=reach,
        arguments=arguments,
        report=body.text,
    )


def _common(place: Place, reach: Reach, terms: Terms) -> list[str]:
    """The options of `vera run` and `vera verify`. What the person set by options of the service comes first:
    where a job lies, what it reads and how far it reaches is never theirs."""
    words = [
        *terms.options(),
        "-c",
        "run.input_dir=null",
        "-c",
        "connectors.use=",
        "-c",
        f"budget.seconds={reach.seconds:g}",
        "--json",
        "-q",
    ]
    words += ["--work-dir", str(place.session), "--base-dir", str(place.base), "--egress", reach.egress]
    return [*words, *(["--input-dir", str(reach.folder)] if reach.folder else [])]


def _required(require: str) -> list[str]:
    return ["--require", require] if require != "quoted" else []


def _with_egress(terms: Terms, mode: str) -> Settings:
    egress = terms.settings.egress.model_copy(update={"mode": mode})
    return terms.settings.model_copy(update={"egress": egress})


def _share_of_body(body: ResearchBody | CheckBody, reach: Reach) -> str:
    corpus = corpus_digest(reach.folder) if reach.folder else ""
    return _share(msgspec.to_builtins(body), corpus, reach.egress, __version__)


def _share(*parts: object) -> str:
    return digest(msgspec.json.encode(parts, order="deterministic"))


def body_digest(kind: Kind, data: bytes) -> str:
    """What tells two bodies apart under one idempotency key."""
    return hashlib.sha256(kind.encode() + b"\0" + data).hexdigest()
