"""The objects of an attestation: frozen, hashed over canonical JSON, named by that hash.

An object's id is `sha256:` and the sha256 of its canonical form (RFC 8785), which is also the name of the
blob in the store that holds it: whoever has the store can check each id with `sha256sum`. The member `kind`
names the object and the version of its form (`card/v1`); a member that has its default value is left out.
There are no floating-point numbers: scores are hundredths, shares basis points, times RFC 3339 in UTC. Every
text is bounded (`bounded` cuts one to size). The JSON Schemas are in `docs/schemas`.
"""

import hashlib
from typing import Annotated, ClassVar, Literal, TypeVar

import msgspec
import rfc8785
from msgspec import Meta

from vera.audit.case import AuditPolicy
from vera.decode_errors import DECODE_ERRORS
from vera.evidence.claim import Relation
from vera.evidence.finding import Finding

KEY_LIMIT = 128
NAME_LIMIT = 2000
TEXT_LIMIT = 4000
THESIS_LIMIT = 20_000
NOTE_LIMIT = 280
SURROUNDING_LIMIT = 64

Digest = Annotated[str, Meta(pattern="^sha256:[0-9a-f]{64}$", max_length=71)]
"""`sha256:` and 64 hexadecimal digits."""
HexDigest = Annotated[str, Meta(pattern="^[0-9a-f]{64}$", max_length=64)]
OptionalDigest = Annotated[str, Meta(pattern=r"^(sha256:[0-9a-f]{64})?(?!\n)$", max_length=71)]
"""A digest, or '' for none."""
Digests = Annotated[tuple[Digest, ...], Meta(extra_json_schema={"uniqueItems": True})]
"""A set of digests: sorted, each once."""
Key = Annotated[str, Meta(max_length=KEY_LIMIT)]
Name = Annotated[str, Meta(max_length=NAME_LIMIT)]
LongText = Annotated[str, Meta(max_length=TEXT_LIMIT)]
Count = Annotated[int, Meta(ge=0, le=2**53 - 1)]
"""A number of things, or a place: what every JSON reader holds exactly (RFC 8785, section 3.2.2.3)."""
LineNumber = Annotated[int, Meta(ge=1, le=2**53 - 1)]
BasisPoints = Annotated[int, Meta(ge=0, le=10_000)]
Day = Annotated[str, Meta(pattern=r"^([0-9]{4}-[0-9]{2}-[0-9]{2})?(?!\n)$", max_length=10)]
"""A day of the calendar, RFC 3339, or '' for none."""
Points = Annotated[int, Meta(ge=0, le=400)]
"""Hundredths of a point, 100 (entirely wrong) to 400 (entirely right); 0 for none."""
Timestamp = Annotated[
    str,
    Meta(
        pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|\+00:00)(?!\n)$",
        max_length=40,
    ),
]
OptionalTimestamp = Annotated[
    str,
    Meta(
        pattern=r"^([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|\+00:00))?(?!\n)$",
        max_length=40,
    ),
]

Result = Literal["SUPPORTED", "DISPUTED", "UNSUPPORTED", "INCONCLUSIVE"]
Reason = Literal[
    "", "REFUTED", "NO_EVIDENCE", "PARTIAL", "BUDGET", "COVERAGE", "JUDGE_UNRELIABLE", "SCORE", "FINDINGS"
]
"""Why a result is not SUPPORTED (the table is in `vera.attestation.reduce`)."""
Risk = Literal["low", "med", "high"]
"""What hangs on the verdict (`vera.attestation.tiers` says what follows from it)."""
Scope = Literal["web", "kb", "files", "connectors"]
"""Where may be looked: the web, the evidence of earlier sessions, the given files, connected services."""
Volatility = Literal["static", "slow", "fast", "live"]
"""How soon what a thesis speaks of may be otherwise."""
Output = Literal["evidence_cards", "coverage_map", "contradictions", "omissions"]
"""What whoever asks must be given; without it there is no decided result."""
Boundary = Literal[
    "missing_data", "tool_limit", "permission", "cost", "time", "semantics", "adversary", "model_limit",
    "frame_lock",
]  # fmt: skip


class Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What objects are made of. The members named in `sets` are kept sorted, each element once."""

    sets: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for name in self.sets:
            msgspec.structs.force_setattr(self, name, tuple(sorted(set(getattr(self, name)))))


class Object(Part, frozen=True, kw_only=True, tag_field="kind"):
    """What has an id. The tag carries the version of the form, so that it is part of the bytes."""


class SubClaim(Part, frozen=True, kw_only=True):
    """A claim of the thesis: what must hold. `form` as in `vera.evidence.claim.Claim`."""

    key: Key
    text: LongText
    form: Key = "statement"
    load_bearing: bool = True


class Thesis(Object, frozen=True, kw_only=True, tag="thesis/v1"):
    """What is attested: for an answer, the question, the digest of the answer's bytes, and its claims.

    `text` is the question in Unicode normalisation form C with white space folded; in a session that was
    asked to verify something, the text of that request, and `lens` the name of its lens. A claim of form
    `extract` states that certain lines of a source are there; its text says so.
    """

    text: Annotated[str, Meta(max_length=THESIS_LIMIT)]
    sub_claims: tuple[SubClaim, ...]
    answer: OptionalDigest = ""
    lens: Key = ""


class Proposition(Object, frozen=True, kw_only=True, tag="proposition/v1"):
    """What a thesis says, whatever way it is set: its id is the THESIS_ID.

    `text` is the folded form (`vera.attestation.request.folded`), so that two theses that differ only in
    letter case, white space, the kind of quotation marks and dashes, or the last full stop have one id. The
    text as a person wrote it is in the request.
    """

    text: Annotated[str, Meta(min_length=1, max_length=THESIS_LIMIT)]


class Quota(Part, frozen=True, kw_only=True, omit_defaults=False):
    """How many sources of a type (`vera.attestation.source_types`) a lens wants for each claim."""

    source_type: Key
    count: LineNumber = 1


class Lens(Object, frozen=True, kw_only=True, tag="lens/v1", omit_defaults=False):
    """A named rubric: what to look for and how much of it is enough.

    `guidance` is for whoever takes a thesis apart. Of `quotas` each that is not met is an omission.
    `file_sources` and `web_sources` can raise how many independent sources a claim needs, and not lower it.
    `required` are outputs that every request under this lens asks for.
    """

    sets: ClassVar[tuple[str, ...]] = ("required",)

    name: Key
    description: LongText
    guidance: LongText = ""
    quotas: tuple[Quota, ...] = ()
    file_sources: LineNumber = 1
    web_sources: LineNumber = 1
    required: tuple[Output, ...] = ()


class Constraints(Part, frozen=True, kw_only=True, omit_defaults=False):
    """Which sources may count. A domain stands for all hosts under it; an empty set is no constraint.

    A web page counts when it was not published before `not_before` nor after `not_after`.
    """

    sets: ClassVar[tuple[str, ...]] = ("allow_domains", "deny_domains", "source_types", "languages")

    allow_domains: tuple[Name, ...] = ()
    deny_domains: tuple[Name, ...] = ()
    not_before: Day = ""
    not_after: Day = ""
    source_types: tuple[Key, ...] = ()
    languages: tuple[Key, ...] = ()


class VerifyRequest(Object, frozen=True, kw_only=True, tag="request/v1", omit_defaults=False):
    """A thesis that someone wants verified, and how (VERIFY_REQUEST).

    `thesis` is the id of its proposition and `text` what the verified answer must restate word for word.
    `lens` names the rubric whose id is `rubric`. `corpus` is a digest of what the scope `files` held, so that
    the same thesis over another folder is another request. The budget is no part of it: what a request was
    allowed to cost does not change what it asks, so its id is the key under which a verdict is used again.
    As in a policy every value is spelled out.
    """

    sets: ClassVar[tuple[str, ...]] = ("scope", "required")

    thesis: Digest
    text: Annotated[str, Meta(min_length=1, max_length=TEXT_LIMIT)]
    lens: Key
    rubric: Digest
    scope: Annotated[tuple[Scope, ...], Meta(min_length=1)]
    constraints: Constraints = Constraints()
    risk: Risk = "med"
    volatility: Volatility = "slow"
    required: tuple[Output, ...] = ()
    corpus: OptionalDigest = ""


class Policy(Object, frozen=True, kw_only=True, tag="policy/v1", omit_defaults=False):
    """Under which rules the result is computed; every value is spelled out.

    `rule` is who labels spans; `min_score` in hundredths; `file_sources` and `web_sources` how many
    independent sources a claim needs; `scope` where was looked; `claims`, `audit`, `literal`, `reduce` the
    versions of the rules, `suffix_list` that of the public suffixes; `sandbox` how commands were isolated.
    """

    sets: ClassVar[tuple[str, ...]] = ("scope",)

    rule: Literal["model", "entailment", "literal"]
    audit_policy: AuditPolicy
    claims: Key
    audit: Key
    reduce: Key
    literal: Key = ""
    suffix_list: Key = ""
    min_score: Points = 300
    file_sources: LineNumber = 1
    web_sources: LineNumber = 2
    scope: tuple[Name, ...] = ()
    sandbox: Name = ""


class Source(Object, frozen=True, kw_only=True, tag="source/v1"):
    """Bytes and the text made from them.

    `name` is the path, the URL, or the command; `raw` is left out where the text is the raw bytes, and
    `retrieval` is the receipt of how they came from the web. `tier` is captured (taken by the host), derived
    (printed by the sandbox, and again by a clean one) or observed (printed by the sandbox only).
    """

    name: Name
    tier: Literal["captured", "derived", "observed"]
    canonical: Digest
    raw: OptionalDigest = ""
    extractor: Name = ""
    media_type: Name = ""
    retrieval: OptionalDigest = ""


class SpanSelector(Part, frozen=True, kw_only=True):
    """Bytes `start` to `end` of a canonical text, lines `first` to `last`, with their hash and surroundings
    (TextPositionSelector and TextQuoteSelector of the W3C Web Annotation model, the quote by its hash)."""

    start: Count
    end: Count
    first: LineNumber
    last: LineNumber
    sha256: Digest
    prefix: Annotated[str, Meta(max_length=SURROUNDING_LIMIT)] = ""
    suffix: Annotated[str, Meta(max_length=SURROUNDING_LIMIT)] = ""


class Confidence(Part, frozen=True, kw_only=True):
    """How sure a label is: `agree` of `votes` readings by `method`.

    `low_bp` is the one-sided 95 % lower bound of their share (Wilson, 1927), in basis points: consistency of
    the reader, not truth. A rule has none.
    """

    method: Key
    agree: Count = 1
    votes: Count = 1
    low_bp: BasisPoints = 0


class Superseder(Part, frozen=True, kw_only=True):
    """A place of another file that says that a card's span no longer holds: the file's `name`, the hash of
    its `canonical` text, its evidence id and lines. `explicit`: it replaces just this document or clause, so
    the card decides nothing; else it is a hint."""

    name: Name
    canonical: Digest
    evidence: Key
    span: SpanSelector
    explicit: bool = False


class Card(Object, frozen=True, kw_only=True, tag="card/v1"):
    """An evidence card: what one span says of one claim.

    `evidence` is its id in the session; `maker` the rule, or the model with the hash of its prompt.
    `superseded_by` are places of other files that say that the span no longer holds, left out for none.
    """

    thesis: Digest
    source: Digest
    evidence: Key
    span: SpanSelector
    claim: Key
    relation: Relation
    confidence: Confidence
    maker: Name
    notes: Annotated[str, Meta(max_length=NOTE_LIMIT)] = ""
    superseded_by: tuple[Superseder, ...] = ()

    @property
    def is_superseded(self) -> bool:
        """Whether another file replaces explicitly what the span says."""
        return any(each.explicit for each in self.superseded_by)


class Cluster(Part, frozen=True, kw_only=True):
    """Sources that count as one: copies of each other, or of one registrable domain.

    `types` are the types of its sources, told only where something was asked to be verified.
    """

    sets: ClassVar[tuple[str, ...]] = ("sources", "cards", "types")

    key: Name
    sources: Digests
    cards: Digests
    types: tuple[Key, ...] = ()


class Omission(Part, frozen=True, kw_only=True):
    """Something that was not covered: which `cell` (a claim, a source), why, and where to look."""

    cell: Name
    why: LongText
    pointer: Name = ""


class Caps(Part, frozen=True, kw_only=True):
    """The budget of a look-up: documents, queries, tokens of model calls, bytes taken in, milliseconds."""

    sources: Count
    searches: Count
    tokens: Count
    bytes: Count
    milliseconds: Count


class Coverage(Object, frozen=True, kw_only=True, tag="coverage/v1"):
    """What the cards cover: clusters of sources, what is missing, and cards that disagree.

    Each card that disagrees with another about a claim is in a pair (supporting, contradicting).
    `sources` and `searches` count what was used and what was asked. Of a look-up for a request, `families`
    counts its different queries, `novelty_bp` is the share of new sources that one more query is expected to
    bring (Good–Turing, `novelty`), `budget` its caps, and `cut` the cap that ended it, '' for none.
    """

    sets: ClassVar[tuple[str, ...]] = ("contradictions",)

    clusters: tuple[Cluster, ...]
    omissions: tuple[Omission, ...] = ()
    contradictions: tuple[tuple[Digest, Digest], ...] = ()
    sources: Count = 0
    searches: Count = 0
    families: Count = 0
    novelty_bp: BasisPoints = 0
    cut: Key = ""
    budget: Caps | None = None


class Hyperthesis(Part, frozen=True, kw_only=True):
    """What this evidence cannot rule out: a blind spot, its kind, the risk, the bound that was kept, and the
    mechanical rule that named it."""

    blind_spot: LongText
    boundary: Boundary
    risk: LongText
    bound: LongText
    detector: Key


class CheckResult(Part, frozen=True, kw_only=True):
    """A verifier's question and its answer."""

    claim: Key
    question: LongText
    source: Name
    label: Key
    answer: Literal["yes", "no", "unknown"]
    kind: Literal["support", "coverage"] = "support"


class Reading(Part, frozen=True, kw_only=True):
    """One reading of the whole answer by the judge; `points` is 0 when it could not be parsed."""

    criterion: Key
    points: Points = 0
    method: Key = ""
    order: Key = ""


class Unread(Part, frozen=True, kw_only=True):
    """A claim whose spans were not read, or not in a way that could be parsed, and why."""

    claim: Key
    why: LongText


class Entailment(Part, frozen=True, kw_only=True):
    """An entailment judge: all that its labels depend on.

    `model` and `tokenizer` are the sha256 of its files, `labels` what each output stands for (supported,
    contradicted, neither), `tokens` how many a pair may have. A label is given at `threshold_bp` and
    `margin_bp` above it, of shares rounded to `step_bp`; `rule` is the version of all else.
    """

    rule: Key
    model: HexDigest
    tokenizer: HexDigest
    labels: tuple[Key, ...]
    tokens: Count
    threshold_bp: BasisPoints
    margin_bp: BasisPoints
    step_bp: BasisPoints


class Exam(Part, frozen=True, kw_only=True):
    """The exam that a model sat before it was used (`vera.attestation.exam`), graded again from its replies.

    `roles` are what it was examined for: labels, scores. Of `of` spans with a known label it labelled `right`
    ones rightly, at least the share `right_low_bp` with 95 % confidence (Wilson, one-sided); of `refusable`
    spans that do not support their claim it called `accepted` ones SUPPORTS, at most the share
    `accepted_high_bp`. `prompt` is the sha256 of the prompt that it was examined with, of an entailment judge
    that of `entailment`; `unfinished` why there are fewer answers than were asked.
    """

    sets: ClassVar[tuple[str, ...]] = ("roles",)

    model: Name
    version: Key
    roles: tuple[Key, ...]
    prompt: Key = ""
    sat_at: OptionalTimestamp = ""
    right: Count = 0
    of: Count = 0
    accepted: Count = 0
    refusable: Count = 0
    right_low_bp: BasisPoints = 0
    accepted_high_bp: BasisPoints = 10_000
    passed: bool = False
    unfinished: LongText = ""
    entailment: Entailment | None = None


class Scores(Part, frozen=True, kw_only=True):
    """The judge's score in hundredths before and after the caps (0: none), and the caps' reasons."""

    before: Points = 0
    after: Points = 0
    readings: Count = 0
    unparsed: Count = 0
    caps: tuple[LongText, ...] = ()


class ClaimResult(Part, frozen=True, kw_only=True):
    """The result for one claim: `supports` and `contradicts` count independent clusters."""

    claim: Key
    result: Result
    reason: Reason = ""
    supports: Count = 0
    contradicts: Count = 0


class Findings(Object, frozen=True, kw_only=True, tag="findings/v1"):
    """What the audit found, what the checks answered, and how the judge read.

    `limits` are the parts of the round that gave less than they should, in words. `probes` counts the claims
    with a known label that the judge labelled, `probes_right` those that it labelled as known, and `unprobed`
    says why there were none, or fewer than were made. `exams` are those that the models sat which were to
    judge, in order: of each role the last one counts.
    """

    findings: tuple[Finding, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    readings: tuple[Reading, ...] = ()
    unread: tuple[Unread, ...] = ()
    limits: tuple[LongText, ...] = ()
    probes: Count = 0
    probes_right: Count = 0
    unprobed: LongText = ""
    exams: tuple[Exam, ...] = ()


class Attestation(Object, frozen=True, kw_only=True, tag="attestation/v1"):
    """The verdict, and everything it was computed from, by hash.

    `evidence_set` is the digest of the list of card ids; `log` is the number and hash of the log's record at
    which it was made; `receipts` the retrievals and readings of its sources; `verifier` who labelled.
    `hyperthesis` is never empty. `request` is what was asked to be verified, and `expires_at` from when on
    the verdict no longer stands (the time of `issued_at`: for that moment only).
    """

    sets: ClassVar[tuple[str, ...]] = ("cards", "receipts")

    thesis: Digest
    policy: Digest
    findings: Digest
    coverage: Digest
    cards: Digests
    evidence_set: Digest
    result: Result
    reason: Reason
    claims: tuple[ClaimResult, ...]
    scores: Scores
    hyperthesis: Annotated[tuple[Hyperthesis, ...], Meta(min_length=1)]
    verifier: Name
    issued_at: Timestamp
    log: tuple[Count, Annotated[str, Meta(pattern="^[0-9a-f]{64}$", max_length=64)]]
    round: LineNumber = 1
    receipts: Digests = ()
    request: OptionalDigest = ""
    expires_at: OptionalTimestamp = ""
    supersedes: OptionalDigest = ""


AnyObject = (
    Proposition | Lens | VerifyRequest | Thesis | Policy | Source | Card | Coverage | Findings | Attestation
)
KINDS: tuple[type[AnyObject], ...] = (
    Proposition,
    Lens,
    VerifyRequest,
    Thesis,
    Policy,
    Source,
    Card,
    Coverage,
    Findings,
    Attestation,
)
Kind = TypeVar(
    "Kind",
    Proposition,
    Lens,
    VerifyRequest,
    Thesis,
    Policy,
    Source,
    Card,
    Coverage,
    Findings,
    Attestation,
)


class ObjectError(ValueError):
    """Bytes that are no object of the wanted kind, or not in canonical form."""


def canonical(value: object) -> bytes:
    """The canonical JSON (RFC 8785) of a struct or of plain values. Raises ObjectError for what has none."""
    try:
        return rfc8785.dumps(msgspec.to_builtins(value))
    except (rfc8785.CanonicalizationError, UnicodeError, TypeError) as error:
        raise ObjectError(str(error)) from None


def digest(data: bytes) -> Digest:
    """`sha256:…` of bytes."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def hexadecimal(name: Digest) -> str:
    """The 64 digits of a digest, which name its blob in the store."""
    return name.removeprefix("sha256:")


def object_id(value: AnyObject) -> Digest:
    """The object's id: the digest of its canonical form."""
    return digest(canonical(value))


def parse(data: bytes, kind: type[Kind]) -> Kind:
    """The object that these bytes are.

    Raises ObjectError unless they are its canonical form, byte for byte.
    """
    try:
        value = msgspec.json.decode(data, type=kind)
    except DECODE_ERRORS as error:
        raise ObjectError(f"not a {kind.__name__}: {error}") from None
    if canonical(value) != data:
        raise ObjectError(f"a {kind.__name__} that is not in canonical form")
    return value


def bounded(text: str, limit: int) -> str:
    """`text` as an object may hold it: valid Unicode, at most `limit` characters.

    What is longer is cut and ends in the sha256 of the whole, so that different texts stay different.
    """
    valid = text.encode("utf-8", "replace").decode("utf-8")
    if len(valid) <= limit:
        return valid
    whole = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    mark = f"… (cut; sha256 of the whole {whole})"
    return valid[: limit - len(mark)] + mark
