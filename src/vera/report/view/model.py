"""The parts of a run's page as values, without markup. Texts are untrusted; who shows them escapes them.

Times are Unix seconds. Every list is bounded; where more happened, `left_out` says how many were left out.
"""

import msgspec

VERDICTS = ("supported", "contradicted", "disputed", "unresolved", "unchecked", "dropped")
"""What a claim came to. `contradicted`: the cited lines say otherwise; `disputed`: sources speak on both
sides; `unresolved`: looked at, and not enough either way; `unchecked`: no one has looked (yet), or the
verifier failed; `dropped`: its quotation is in no source."""

RELATIONS = ("SUPPORTS", "CONTRADICTS", "QUALIFIES", "IRRELEVANT")


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run stands, in one line.

    `phase` is what it is doing: new, working, verifying, ended, stopped (no process works on it and it has
    not ended), or model_failed (stopped by that). `verdict` is what the session may say of its end
    (`vera.attestation.outcome`), '' before; `reason` says why. `score`
    is in hundredths (100 to 400), None without a judge. `tokens` are (role, prompt, cached, completion).
    `last_call` is the last tool call on one line; `cost` '' where no price is known.
    """

    session: str
    task: str
    phase: str
    verdict: str
    reason: str
    status: str
    started_ts: float
    last_ts: float
    ended_ts: float | None
    step: int
    max_steps: int
    events: int
    rounds: int
    score: int | None
    claims: int
    supported: int
    tokens: tuple[tuple[str, int, int, int], ...]
    cost: str
    tool_calls: int
    tool_errors: int
    searches: int
    model: str
    last_call: str


class Bar(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True):
    """Something that took time: `row` is model, tool, verify or gate; a gate takes none. `offset` is the
    place of its record in the log, `step` of `lane` the step that it belongs to (0: none). Of long runs
    neighbours are one bar of `count`, `failed` if any was; then all but `count` is that of the first."""

    row: str
    start: float
    end: float
    label: str
    failed: bool = False
    count: int = 1
    offset: int = 0
    step: int = 0
    lane: str = "main"


class ScorePoint(msgspec.Struct, frozen=True, kw_only=True):
    """The score of a round in hundredths, and what the round decided."""

    ts: float
    round: int
    score: int | None
    result: str


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """The run from its first record to its last: at most 600 bars, of however many."""

    start: float
    end: float
    bars: tuple[Bar, ...] = ()
    scores: tuple[ScorePoint, ...] = ()


class PdfPlace(msgspec.Struct, frozen=True):
    """A page (from 1) of a stored PDF: the sha256 of its bytes, and the lines `first` to `last` of its text
    that the page has (`last` 0: to the end)."""

    sha256: str
    page: int
    first: int
    last: int = 0


class ShownPlace(msgspec.Struct, frozen=True):
    """What a rendered page looked like: the sha256 of its picture (WebP) and of where its text is on it, and
    its size in pixels."""

    picture: str
    layout: str
    width: int
    height: int


class CardView(msgspec.Struct, frozen=True, kw_only=True):
    """What lines of a source say of a claim. `relation` is one of RELATIONS.

    `quotation` are the cited lines as they are in the store, empty when the bytes are not those of the
    span's hash: then `problem` says so. `source` is its address or name, `source_id` the sha256 of the stored
    text, `domain` whose it is, `source_class` what kind (official, registry, …; '' unknown). `marks` is
    what of the text is struck out or hidden, `pdf` where the cited lines begin in a PDF, and `shown` what the
    page looked like in the browser that rendered it. `by_ocr`: the text was read from a picture. `cited` are
    those of its lines that the claim cites, as (first, last): a reader gets the lines around them, too.
    Empty where the claim cites none of them, or the evidence as a whole.
    """

    id: str
    relation: str
    evidence: str
    first: int
    last: int
    source: str
    source_id: str
    domain: str = ""
    source_class: str = ""
    tier: str = ""
    at: float = 0.0
    quotation: tuple[str, ...] = ()
    marks: tuple[tuple[str, int, int], ...] = ()
    problem: str = ""
    maker: str = ""
    pdf: PdfPlace | None = None
    by_ocr: bool = False
    shown: ShownPlace | None = None
    cited: tuple[tuple[int, int], ...] = ()

    @property
    def marked(self) -> tuple[tuple[int, int], ...]:
        """The lines that are marked for a reader: those that are cited, else all of them."""
        return self.cited or ((self.first, self.last),)

    @property
    def extent(self) -> tuple[int, int]:
        """The first and the last line that is marked."""
        return self.marked[0][0], self.marked[-1][1]


class ReviewView(msgspec.Struct, frozen=True, kw_only=True):
    """What a person said of a claim: `label` and `standing` as in `vera.attestation.reviews`, `at` Unix time,
    `signed` the owner of the key ("by your key")."""

    label: str
    note: str
    at: float
    signed: str
    standing: str


class ReviewsView(msgspec.Struct, frozen=True, kw_only=True):
    """What a page says of the reviews: a sentence about all ('' for none), those that are altered or foreign
    as (line, standing, why), and whether a claim can be reviewed now."""

    sentence: str = ""
    bad: tuple[tuple[int, str, str], ...] = ()
    is_open: bool = False


class ClaimView(msgspec.Struct, frozen=True, kw_only=True):
    """A claim of the answer, its verdict (one of VERDICTS) and why, with its cards. `digest` is the sha256 of
    its whole text where it was attested, else '', and `form` is then its form; `reviews` is what people said
    of it."""

    key: str
    text: str
    verdict: str
    reason: str = ""
    load_bearing: bool = True
    findings: tuple[str, ...] = ()
    cards: tuple[CardView, ...] = ()
    digest: str = ""
    form: str = ""
    reviews: tuple[ReviewView, ...] = ()


class CoverageCell(msgspec.Struct, frozen=True, kw_only=True):
    """How many cards a claim has from one class of sources; 0 is an omission."""

    claim: str
    source_class: str
    cards: int


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """What was looked at: claims by classes of sources, and what was left out: (cell, why)."""

    claims: tuple[str, ...] = ()
    source_classes: tuple[str, ...] = ()
    cells: tuple[CoverageCell, ...] = ()
    omissions: tuple[tuple[str, str], ...] = ()


class CitedSource(msgspec.Struct, frozen=True):
    """The source of an evidence that an answer cites: its id, its address or name, and of a PDF the line on
    which each page begins."""

    evidence: str
    source: str
    pages: tuple[int, ...] = ()


class RoundView(msgspec.Struct, frozen=True, kw_only=True):
    """One round of verification; `answer` is the text that was verified.

    `result` is that of its attestation and `word` what it means (`vera.headline`); UNDER WAY and '' while
    there is none. `step` is the one that gave the answer (0: none of the main lane's). The claims come
    without their cards.
    """

    round: int
    result: str
    reason: str
    score: int | None
    answer: str
    claims: tuple[ClaimView, ...] = ()
    findings: tuple[str, ...] = ()
    caps: tuple[str, ...] = ()
    chosen: bool = False
    step: int = 0
    word: str = ""


class CandidateView(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate turn, `index` from 0 in the order in which they came: its action ('' when none can be read)
    and its whole `text`. `votes` is how many, itself included, ask for the same action (0 outside of all
    clusters), `group` its cluster from 1, `rejected` the check that spoke against it and `reason` what that
    said, `score` the selector's own measure."""

    index: int
    action: str
    text: str
    votes: int
    group: int
    rejected: str = ""
    reason: str = ""
    codes: tuple[str, ...] = ()
    score: float | None = None
    chosen: bool = False


class ChoiceView(msgspec.Struct, frozen=True, kw_only=True):
    """The candidates of a step side by side, and why one of them ran; `decider` is '' while none was chosen.

    `seconds` are those of sampling and choosing together.
    """

    step: int
    selector: str
    decider: str
    reason: str
    fallback_reason: str
    margin: float | None
    judge_calls: int
    seconds: float
    candidates: tuple[CandidateView, ...] = ()


class GateView(msgspec.Struct, frozen=True, kw_only=True):
    """A gate that fired: how often by effect, and what it said last, at step `last_step` of `lane`."""

    name: str
    refused: int
    nudged: int
    ended: int
    last_step: int
    last_said: str
    lane: str = "main"


class FileView(msgspec.Struct, frozen=True, kw_only=True):
    """A file that was handed in; `picture` says that it may be shown as one (PNG, JPEG, GIF or WebP)."""

    path: str
    size: int
    sha256: str
    picture: bool = False
    problem: str = ""


class AttestationView(msgspec.Struct, frozen=True, kw_only=True):
    """The signed verdict: the `word` for it (`vera.headline`), its id, which key signed, and what the
    evidence cannot rule out, as (kind, sentences). `signed` names the owner of that key ("by your key"), ''
    before it was looked at.

    Where the store does not hold all of it, `reason` says so, and what cannot be read is empty.
    """

    id: str
    result: str
    reason: str
    keyid: str
    issued_at: str
    expires_at: str
    rule: str
    hyperthesis: tuple[tuple[str, str], ...] = ()
    signed: str = ""
    word: str = ""


class EventLine(msgspec.Struct, frozen=True, kw_only=True):
    """A record of the log on one line: `offset` is where it begins in the file (the id of its event), `kind`
    its type, `text` what it says, `failed` whether something went wrong."""

    offset: int
    seq: int
    ts: float
    lane: str
    kind: str
    step: int | None
    text: str
    failed: bool = False


class ParentView(msgspec.Struct, frozen=True, kw_only=True):
    """The session that a run goes on from: its question, answer and the word for its verdict, its folder, the
    hash of its last record, the key of its seal ('' for none), what its replay found, and how many of its
    captures carried over and did not."""

    question: str
    answer: str
    status: str
    name: str
    head: str
    keyid: str
    found: str
    carried: int
    left_out: int


class RunPage(msgspec.Struct, frozen=True, kw_only=True):
    """A run's page, as the log has it up to byte `offset`.

    `claims` and `coverage` are of the round of the chosen answer, else of the newest. `constraints` are
    (key, what stands open), `budgets` (name, used, limit) in words. `thesis`: the answer is a statement that
    was given to be verified. `parent` is what the run goes on from, `sources` are what its answers cite.
    """

    offset: int
    header: Header
    timeline: Timeline
    claims: tuple[ClaimView, ...] = ()
    coverage: Coverage = Coverage()
    rounds: tuple[RoundView, ...] = ()
    choices: tuple[ChoiceView, ...] = ()
    choices_left_out: int = 0
    gates: tuple[GateView, ...] = ()
    constraints: tuple[tuple[str, str], ...] = ()
    budgets: tuple[tuple[str, str, str], ...] = ()
    files: tuple[FileView, ...] = ()
    attestation: AttestationView | None = None
    answer: str = ""
    thesis: bool = False
    parent: ParentView | None = None
    sources: tuple[CitedSource, ...] = ()
    reviews: ReviewsView = ReviewsView()
    events: tuple[EventLine, ...] = ()
    events_left_out: int = 0
