"""The vocabulary of a run: whoever reads this file knows everything that can happen in one.

Every record of `trace.jsonl` is one of these structs, told apart by `type`. Text that may be large is a
`Text`: the string itself up to `INLINE_BYTES`, a `Blob` (its place in the store) above.
"""

import re
from typing import Any

import msgspec

FORMAT = 1
"""Version of the log format; a log of a newer format is refused, not guessed at."""

INLINE_BYTES = 4096
"""Texts longer than this live in the store, so that log lines stay short and are rarely torn."""


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


class Blob(msgspec.Struct, frozen=True):
    """Bytes in the store: their sha256 (hexadecimal) and their number."""

    sha256: str
    size: int


Text = str | Blob


def text_size(text: Text) -> int:
    """The UTF-8 size in bytes of a text, wherever it lives."""
    return text.size if isinstance(text, Blob) else len(text.encode("utf-8", "surrogatepass"))


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag=_snake):
    """What every record carries; the log fills these in when it appends.

    `seq` counts from 1 over the whole log, `ts` is Unix time in seconds, `lane` the lane it belongs to,
    `prev` the hash of the record before ('' for the first). The record's own hash is the last member of
    its line and covers the line's bytes up to there (see `session.log`).
    """

    seq: int = 0
    ts: float = 0.0
    lane: str = ""
    prev: str = ""


class Session(Event, frozen=True, kw_only=True):
    """The first record: which VERA began this log, under which settings (secrets left out).

    `origins` says for each setting that is not a packaged default who set it: person, folder, task,
    form or session.
    """

    format: int
    version: str
    settings: dict[str, Any]
    origins: dict[str, str] = {}


class PluginUsed(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A plugin of this run: its family and name, the distribution with its version ('' for a function that
    the caller handed in), the module, and the sha256 of that module's files ('' when they cannot be read)."""

    family: str
    name: str
    module: str
    distribution: str = ""
    version: str = ""
    sha256: str = ""


class PluginsLoaded(Event, frozen=True, kw_only=True):
    """Code of others was loaded into this run, by name, because the person enabled it."""

    plugins: tuple[PluginUsed, ...]


class ConnectorUsed(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A connector of this run: its name and kind, the version of its rules, the address, and the revision
    that its documents are of ('' for none).

    `bytes` are those of all its `documents`. `left_out` holds (name, reason), at most 50 of `left_out_count`;
    `ended_at` is the limit at which it was cut off.
    """

    name: str
    kind: str
    version: str
    address: str
    revision: str = ""
    documents: int = 0
    bytes: int = 0
    left_out: tuple[tuple[str, str], ...] = ()
    left_out_count: int = 0
    ended_at: str = ""


class ConnectorsRead(Event, frozen=True, kw_only=True):
    """Connectors gathered the documents of this run. `documents` is the list of all of them as JSON, with the
    origin, sha256 and size of each."""

    connectors: tuple[ConnectorUsed, ...]
    documents: Blob


class Task(Event, frozen=True, kw_only=True):
    """The question, and the folder it is asked about ('' for none)."""

    task: Text
    input_dir: str = ""


class ParentSession(Event, frozen=True, kw_only=True):
    """The finished session that this one goes on from, which was replayed before.

    `head` is the hash of its last record, `records` their number, `keyid` the key of its seal ('' for none),
    `signers` the keys of the sessions before it, the nearest first. `found` is what the replay found: AGREES,
    or what a person accepted, of it or of one before it. `log` and `seal` are its files (no seal: None), so
    that all of this can be checked without it; `name` is its folder. `question`, `answer` and `status` are
    what it asked and came to: shown, never counted. `left_out` counts captures that do not carry over.
    """

    head: str
    records: int
    found: str
    log: Blob
    question: Text
    seal: Blob | None = None
    keyid: str = ""
    signers: tuple[str, ...] = ()
    name: str = ""
    answer: Text = ""
    status: str = ""
    left_out: int = 0


class Corpus(Event, frozen=True, kw_only=True):
    """The input folder was indexed. `unreadable` holds (name, reason), at most 200 of `skipped` in all.

    `embedding` names the model by which passages are found by meaning too, '' for none: `embedded` of
    `chunks` have vectors, and `embedding_problem` says why there are no more, or ''.
    """

    files: int
    read: int
    size: int
    seconds: float
    skipped: int = 0
    unreadable: tuple[tuple[str, str], ...] = ()
    embedding: str = ""
    embedded: int = 0
    chunks: int = 0
    embedding_problem: str = ""


class ModelServer(Event, frozen=True, kw_only=True):
    """The model that will be asked, as the probe found it."""

    kind: str
    base_url: str
    model: str
    protocol: str
    context_tokens: int | None = None
    parallel: int = 1
    local: bool = True
    warnings: tuple[str, ...] = ()


class Sandbox(Event, frozen=True, kw_only=True):
    """A box was started for a lane, or none could be (`backend` none, `isolation` says why)."""

    backend: str
    isolation: str
    profile: str = ""
    work_dir: str = ""


class ContainerEvent(Event, frozen=True, kw_only=True):
    """Something in the life of a box: started, died, restored, closed."""

    event: str
    detail: str = ""


class LaneStarted(Event, frozen=True, kw_only=True):
    """A lane begins. `system` and `task_message` are the constant head of each of its prompts.

    `protocol` is the turn form, `prompt_sha256` the hash of the prompt templates that made the head,
    `high_tokens` the prompt size at which a context epoch ends (`max_bytes` a lower cap, 0 for none),
    `tail_steps` how many steps the next epoch keeps at most, `broken_shown` how many characters later prompts
    hold of a turn that broke the format (0: all of it, as in logs before this was written down).
    """

    purpose: str
    system: Text
    task_message: Text
    tools: tuple[str, ...]
    protocol: str
    system_role: str
    prompt_sha256: str
    high_tokens: int
    max_bytes: int
    tail_steps: int
    broken_shown: int = 0


class ContextEpoch(Event, frozen=True, kw_only=True):
    """A context epoch ends before `step`: the notes block is rebuilt, the tail keeps `tail_steps` steps."""

    step: int
    tail_steps: int
    prompt_bytes: int


class Model(Event, frozen=True, kw_only=True):
    """One model call. `input_bytes` is the prompt on the wire, `prefix_bytes` how much of it was the
    beginning of the prompt before; times in seconds; token counts as the server gave them. `candidates` is
    how many answers were asked for at once."""

    step: int
    scope: str
    latency_s: float
    candidates: int = 1
    first_byte_s: float = 0.0
    finish_reason: str = ""
    n_messages: int = 0
    input_bytes: int = 0
    prefix_bytes: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    attempts: int = 1
    truncated: str = ""
    error: str = ""


REPETITION = "repetition"
"""The finish reason of an answer that only repeated itself, so that its stream was ended here. The text is
kept without the repetition."""


class ModelIo(Event, frozen=True, kw_only=True):
    """The request by reference and the response whole.

    The request of a lane is what `lane.context.assemble` makes of the log up to record `at_seq`;
    `request_sha256` is the hash of those messages as JSON, so that anyone can build it again and compare.
    A call outside a lane's turns (the verifier's, a selector's) keeps its messages as `request`. Of a call
    that gave several candidates, `content` is the first; `other_bytes` is the size of the others' texts,
    which are in `candidates`.
    """

    step: int
    scope: str
    at_seq: int
    request_sha256: str
    request_bytes: int
    parameters: dict[str, Any]
    content: Text
    reasoning: Text = ""
    tool_calls: tuple[dict[str, Any], ...] = ()
    finish_reason: str = ""
    request: Text = ""
    other_bytes: int = 0


class Candidate(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A turn that the model might take, byte for byte as received, from call number `call` of its step."""

    content: Text
    reasoning: Text = ""
    tool_calls: tuple[dict[str, Any], ...] = ()
    finish_reason: str = ""
    call: int = 1


class Candidates(Event, frozen=True, kw_only=True):
    """Several turns were sampled for one step; one of them is to be chosen.

    `asked` is how many were wanted, `calls` how many model calls that took, `problem` why there are fewer.
    `seconds` of wall time.
    """

    step: int
    asked: int
    candidates: tuple[Candidate, ...]
    calls: int = 1
    problem: str = ""
    seconds: float = 0.0


class Weighed(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What selection made of one candidate.

    `action` is its action in the form in which equal actions are equal ('' when none could be read), `codes`
    what broke the format. `rejected` is the check that speaks against it (`bash_syntax`, `repeats_failure`,
    or the gate that would send it back), `reason` what it says. `group` is the number of its cluster of equal
    actions, from 1 in the order in which they came; 0 outside of all.
    """

    action: Text = ""
    codes: tuple[str, ...] = ()
    rejected: str = ""
    reason: str = ""
    group: int = 0


class Selection(Event, frozen=True, kw_only=True):
    """Candidate `selected` (from 0) of the step was chosen, and why.

    `selector` is the configured type or class, '' where the verifier is off. `decider` is what decided:
    `off`, `only_one` (one candidate was left, or one cluster), `agreement` (`stop_on_agreement`), `selector`,
    `tie_break` (the shortest of equals) or `fallback`; then `fallback` is the configured one and
    `fallback_reason` says what was wrong with the verdict. `weighed` has an entry for each candidate.
    `compared` are the candidates that were put to the judge, in that order, `scores` those of them by the
    selector's own measure, `margin` the distance of the first two. `parsed_index` is the judge's choice as it
    was read (a candidate, from 0), None for none; `output` the judge's replies as a JSON array. `seed` made
    the order. `seconds` of wall time.
    """

    step: int
    selected: int
    decider: str
    selector: str = ""
    reason: str = ""
    weighed: tuple[Weighed, ...] = ()
    compared: tuple[int, ...] = ()
    scores: tuple[float, ...] = ()
    margin: float | None = None
    parsed_index: int | None = None
    fallback: str = ""
    fallback_reason: str = ""
    judge_calls: int = 0
    output: Text = ""
    seed: int = 0
    seconds: float = 0.0


class Assistant(Event, frozen=True, kw_only=True):
    """The turn that was chosen, byte for byte as received; it waits to be acted on."""

    step: int
    content: Text
    tool_calls: tuple[dict[str, Any], ...] = ()
    finish_reason: str = ""


class PolicyNotesGuard(Event, frozen=True, kw_only=True):
    """A command changed or removed earlier bytes of /work/notes.md; it was restored from the host's copy."""

    step: int
    detail: str


class QuestionForm(Event, frozen=True, kw_only=True):
    """What kind of question the task asks, once for a run.

    `negative`: "no" or "none" may be the answer, so sources are demanded before it is given. `form` is the
    rule that matched or `read` (a model read the question); `reason` says it in a sentence.
    """

    negative: bool
    form: str
    reason: str


class Target(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An address that a call is about, and whose it is.

    `domain` is the registrable domain after archives were taken off, `source_class` one of official,
    regulatory, registry, primary_literature, commentary, search and unknown; `reason` says why.
    """

    url: str
    domain: str = ""
    source_class: str = "unknown"
    official: bool = False
    reason: str = ""


class Move(Event, frozen=True, kw_only=True):
    """What a tool call was as a move of the search; written before its result, and for a refused call too.

    `move_type` is non_search, initial, retry, reformulate, same_domain, source_shift or domain_shift.
    `query_family` is the same for queries that differ in nothing that matters, `query_vector` the intent:
    ground_truth, context, search or general. `outcome` is ok, failed or blocked (refused by a gate).
    `reached` are the addresses that answered with content, `visited` the registrable domains that a shell
    command was connected to, each once, and `asked_at` that of them which it asked its query. `fresh`: it
    brought lines that were not seen before; `found`: such lines that can be cited. `wrote` are the final-like
    files that a command wrote.
    """

    id: str
    step: int
    tool: str
    call: str = ""
    cmd: Text = ""
    targets: tuple[Target, ...] = ()
    query: str = ""
    query_family: str = ""
    query_vector: str = ""
    move_type: str = "non_search"
    outcome: str = "ok"
    failure_type: str = ""
    reached: tuple[Target, ...] = ()
    visited: tuple[str, ...] = ()
    asked_at: str = ""
    fresh: bool = False
    found: bool = False
    wrote: tuple[str, ...] = ()


class ConstraintAdded(Event, frozen=True, kw_only=True):
    """Something stands open that the model is told of until it is fixed. A key that is open already gets the
    new `text`."""

    step: int
    key: str
    text: str


class ConstraintResolved(Event, frozen=True, kw_only=True):
    """An open constraint is met, or means nothing any more; `reason` says which."""

    step: int
    key: str
    reason: str


class Policy(Event, frozen=True, kw_only=True):
    """A gate spoke. Each gate has its own record of this shape, named `policy_…`.

    `effect` is refuse (the action did not run), nudge (it was told something) or end (the run). `reason` says
    why, `way_forward` what to do instead. `subject` is what it was about (a domain, a query family, …),
    `count` how often and `limit` how often it may be, where the gate counts. `reply` is what the model is
    told in place of an observation; without one the words are in the call's observation.
    """

    step: int
    effect: str
    reason: str
    way_forward: str = ""
    tool: str = ""
    subject: str = ""
    count: int = 0
    limit: int = 0
    reply: Text = ""


class PolicyParseError(Policy, frozen=True, kw_only=True):
    """A turn that broke the format: nothing ran; `count` in a row, `codes` what was wrong."""

    effect: str = "nudge"
    reason: str = "the turn broke the format"
    codes: tuple[str, ...] = ()


class PolicyNotesGate(Policy, frozen=True, kw_only=True):
    """No note was written for too many steps: other tools wait for one."""


class PolicyPreToolNudge(Policy, frozen=True, kw_only=True):
    """An answer came before anything was looked at."""


class PolicyLengthNudge(Policy, frozen=True, kw_only=True):
    """Turns were cut off at the model's limit again and again. The room for one is doubled once."""


class PolicyReminder(Policy, frozen=True, kw_only=True):
    """The verifier's feedback is still open."""


class PolicyQueryMutation(Policy, frozen=True, kw_only=True):
    """The same family of queries again, and it brought nothing new."""


class PolicyQueryVector(Policy, frozen=True, kw_only=True):
    """A negative claim, and the same intent of searching again."""


class PolicyDomainShift(Policy, frozen=True, kw_only=True):
    """A negative claim that lacks sources, and the same domain again."""


class PolicySourceShift(Policy, frozen=True, kw_only=True):
    """Sources of one class failed again and again."""


class PolicyMoveChange(Policy, frozen=True, kw_only=True):
    """An unresolved run repeats one move."""


class PolicyStagnation(Policy, frozen=True, kw_only=True):
    """Unresolved turns brought no new evidence: an answer waits for a tool call."""


class PolicyStuck(Policy, frozen=True, kw_only=True):
    """Turns in a row brought nothing new: the model is told once what it tried, then the lane ends."""


class PolicyFailureEscalation(Policy, frozen=True, kw_only=True):
    """The same kind of failure again and again."""


class PolicySourceBudget(Policy, frozen=True, kw_only=True):
    """Enough domains were reached, and nothing is verified."""


class PolicySearchBudget(Policy, frozen=True, kw_only=True):
    """The run's searches are spent."""


class PolicyBraveDiscovery(Policy, frozen=True, kw_only=True):
    """Web access before anything was searched."""


class PolicyBraveBudget(Policy, frozen=True, kw_only=True):
    """The calls to Brave are spent."""


class PolicyBraveCircuit(Policy, frozen=True, kw_only=True):
    """Brave's circuit breaker is open."""


class PolicyRenderNudge(Policy, frozen=True, kw_only=True):
    """A page came without the text that a reader would see."""


class PolicyConclusionReady(Policy, frozen=True, kw_only=True):
    """A negative claim has its sources and has used its budget."""


class PolicyFinalizationStop(Policy, frozen=True, kw_only=True):
    """The same final-like file is written again and again."""


class PolicyDestructive(Policy, frozen=True, kw_only=True):
    """A command that plainly destroys."""


class PolicyAssertFirst(Policy, frozen=True, kw_only=True):
    """Files may not be changed yet: a thesis that has to hold first has no SUPPORTED attestation."""


class PolicyGate(Policy, frozen=True, kw_only=True):
    """A gate that has no separate record spoke: `gate` is its name."""

    gate: str = ""


class ToolStarted(Event, frozen=True, kw_only=True):
    """Written before the effect: a call without its `tool` record may have run, and is never run again.

    `recovered` names the deviations from the strict form of a turn that were accepted.
    """

    step: int
    call: str
    tool: str
    args: Text
    recovered: tuple[str, ...] = ()


class Tool(Event, frozen=True, kw_only=True):
    """A call's result. `obs` is the observation exactly as the model sees it from now on.

    `outcome` is ok, failed, refused or interrupted; `error_type` a stable word for what failed.
    `evidence` is the id it became, '' for none.
    """

    step: int
    call: str
    tool: str
    outcome: str
    obs: Text
    evidence: str = ""
    error_type: str = ""
    exit_code: int | None = None
    seconds: float = 0.0


class Carried(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where an evidence of the session before comes from: its `id` in that log, and when it was captured
    first (Unix time)."""

    id: str
    captured_ts: float


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What a page looked like in the browser that rendered it, as that browser says: a `picture` (WebP) of
    `width` times `height` pixels, and a `layout`, the pieces of its text with their places on it as JSON."""

    picture: Blob
    layout: Blob
    width: int
    height: int


class Evidence(Event, frozen=True, kw_only=True):
    """Bytes that can be cited. Line n of the evidence is line n of the canonical text `text`.

    `tier` is captured (taken by the host from /input, a fetch or a search) or observed (printed by the
    sandbox or read from /work). A `lead` can be followed but not cited in support. `first` and `last` are
    the lines that were shown. `raw` is what the text was made from, where that differs, by `extractor`.
    `within` says as JSON where a member of an archive or mailbox lay: the file, its sha256, the way to it.
    Of a fetched page `receipt` is the record of its retrieval as JSON, `http_status` how it was answered, and
    `low_signal` why its text is probably not what a reader would see ('' when it is).
    `marks` are the spans of the text that are struck out or hidden: kind, first byte, byte behind the last.
    `dated` is when the document's own metadata says that it was published: a day, or FIRST/LAST, '' for none.
    `carried` says that it comes from the session that this one goes on from.
    `opened` is the record of how a file of /input was read, as JSON: its path, size, hash and times.
    `origin` says where a connector had the file from ('' for a file that no connector gave).
    `shown` is what a rendered page looked like; nothing is concluded from it.
    """

    id: str
    call: str
    step: int
    tool: str
    tier: str
    source: str
    summary: str
    text: Blob
    lines: int
    first: int
    last: int
    lead: bool = False
    title: str = ""
    media_type: str = ""
    extractor: str = ""
    raw: Blob | None = None
    pages: tuple[int, ...] = ()
    exit_code: int | None = None
    receipt: Blob | None = None
    http_status: int | None = None
    low_signal: str = ""
    within: Blob | None = None
    marks: tuple[tuple[str, int, int], ...] = ()
    dated: str = ""
    carried: Carried | None = None
    opened: Blob | None = None
    origin: str = ""
    shown: Shown | None = None

    @property
    def captured_ts(self) -> float:
        """When it was captured (Unix time), in whichever session."""
        return self.carried.captured_ts if self.carried else self.ts


class Egress(Event, frozen=True, kw_only=True):
    """A connection to the outside: by a program in the box (`by` box), by the host's `fetch` or its `search`,
    by the browser that renders a page in its own box (`render`), or by a connector of the run (`connector`).

    `run` is the session's folder by name, as the engine's labels have it; with the record's `lane` it says
    for whom ('' in older logs). `verdict` is allowed, refused (by us, before a byte was passed on) or failed;
    `address` the one that was dialled. Bytes are those passed on, up towards the host; `started` is Unix
    time.
    """

    by: str
    host: str
    port: int
    method: str
    verdict: str
    run: str = ""
    url: str = ""
    address: str = ""
    reason: str = ""
    bytes_up: int = 0
    bytes_down: int = 0
    seconds: float = 0.0
    started: float = 0.0


class Search(Event, frozen=True, kw_only=True):
    """A search engine was asked, or passed over (`outcome` skipped).

    `kind` is web, news or papers. `outcome` is ok, empty, refused, failed, challenge or skipped; `cause` a
    stable word for why there are no results, and `reason` says it. `attempts` counts requests, `waited_s` the
    seconds waited before them; `started` is Unix time. `urls` are the addresses that were found. `rest_s` is
    how long the engine is left alone from the end of the call on (its circuit breaker is open).
    """

    engine: str
    kind: str
    query: str
    outcome: str
    cause: str = ""
    http_status: int | None = None
    results: int = 0
    waited_s: float = 0.0
    attempts: int = 0
    reason: str = ""
    started: float = 0.0
    seconds: float = 0.0
    urls: tuple[str, ...] = ()
    rest_s: float = 0.0


class Note(Event, frozen=True, kw_only=True):
    """A line or more appended to notes.md: by the model, or absorbed from a command's append."""

    step: int
    text: str
    by: str = "model"


class Status(Event, frozen=True, kw_only=True):
    """The epistemic state changed: IN_PROGRESS, BLOCKED, or one of the words of a verdict, and why."""

    step: int
    status: str
    reason: str = ""


class Cited(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One citation of an answer, resolved: `sha256` is that of the cited bytes `start` to `end` of the
    evidence's canonical text. When it could not be resolved, `problem` says why and the rest is empty."""

    evidence: str
    first: int = 0
    last: int = 0
    start: int = 0
    end: int = 0
    sha256: str = ""
    problem: str = ""


class Output(Event, frozen=True, kw_only=True):
    """A file that the agent left in /work/output, kept with the session; `problem` says why one was not."""

    path: str
    sha256: str = ""
    size: int = 0
    problem: str = ""


class TurnExam(Event, frozen=True, kw_only=True):
    """A model took short turns on a toy task before the run, or was known to: can it act?

    `model`, `server` and `weights` (file, size or quantisation, as far as known) say who, `prompt_sha256`
    with which prompt, `version` on which task. Of `of` turns `right` ones could be used; `kept` tells of an
    earlier session's, `sat_at` (seconds since 1970) when. `problem` says why it could not be finished.
    """

    model: str
    version: str
    prompt_sha256: str
    sat_at: float
    server: str = ""
    weights: str = ""
    kept: bool = False
    right: int = 0
    of: int = 0
    passed: bool = False
    problem: str = ""


class Mode(Event, frozen=True, kw_only=True):
    """Who acts from here on: `agent` (the model takes turns), `guided` or `quick` (the host searches and
    reads, the model writes from the lines). `reason` is a sentence for the person; `asked`: it was set."""

    mode: str
    reason: str
    asked: bool = False


class SubQuestions(Event, frozen=True, kw_only=True):
    """What a report answers, in this order: at most eight sub-questions of its task.

    `by` is who gave them: `person`, `model`, or `task` for those read off the task itself. `reason` says why.
    `left_out` are those of the task that are not asked; they are numbered behind the others and stay open.
    """

    questions: tuple[Text, ...]
    by: str
    reason: str = ""
    left_out: tuple[Text, ...] = ()

    @property
    def named(self) -> tuple[Text, ...]:
        """All that a report names, by number from 1: what is asked, then what is left out."""
        return (*self.questions, *self.left_out)


class SubAnswer(Event, frozen=True, kw_only=True):
    """A sub-question of a report is done. `number` counts from 1.

    `status` is the word for what was attested of its answer, the record `answer_seq` in round `round` of
    verification (both 0: there is none), and `reason` says why. `unfinished`: it was cut short, and goes on
    when the run is resumed.
    """

    number: int
    status: str
    reason: str
    round: int = 0
    answer_seq: int = 0
    unfinished: bool = False


class Heading(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What stands above an answer's text from character `at` on when it is shown, and its level (2 to 6). It
    is no part of the answer, and nothing is claimed by it."""

    at: int
    text: str
    level: int = 2


class Answer(Event, frozen=True, kw_only=True):
    """A final answer with its citations in order of appearance; `submitted` is the file it came from.

    `by` is who gave it: `model`, or `builtin` for the built-in one ('' in logs of an older VERA). `headings`
    are those of a report, in order.
    """

    step: int
    text: Text
    citations: tuple[Cited, ...] = ()
    submitted: str = ""
    by: str = ""
    headings: tuple[Heading, ...] = ()


class VerifyRequested(Event, frozen=True, kw_only=True):
    """What the session was asked to verify: the last of these before a round is the one that it answers.

    `request` is the stored request object (`request/v1`), `thesis_id` the id of its proposition
    (`sha256:…`). The rest is the budget, which is no part of the request: sources fetched or read, searches,
    tokens of all model calls, bytes taken in, seconds of wall time. `supersedes` is the id of an attestation
    on the same request in whose place the new one stands, '' for none.
    """

    request: Blob
    thesis_id: str
    sources: int
    searches: int
    tokens: int
    bytes: int
    seconds: float
    supersedes: str = ""


class AttestationReceived(Event, frozen=True, kw_only=True):
    """A lane that may not search asked for a verification, and this verdict came back.

    `handle` is how its answer cites it (`att_0001`). `attestation`, `thesis_id` and `request` are ids
    (`sha256:…`), `envelope` the signed envelope, kept here with every object that it names; `keyid` is who
    signed. `result`, `reason` and `expires_at` are those of the attestation, `cards` the ids of its cards.
    `session` is the folder in which was looked, below this session's own, with the bytes of the sources; it
    is a copy where a verdict of before was `reused`.
    """

    handle: str
    attestation: str
    thesis_id: str
    request: str
    result: str
    reason: str
    expires_at: str
    envelope: Blob
    keyid: str
    session: str
    cards: tuple[str, ...] = ()
    reused: bool = False


class LookUpSpent(Event, frozen=True, kw_only=True):
    """What a verification that the lane asked for has spent in its own `session`; it counts for this run.

    Tokens are those of the models that looked (`agent_…`) and judged (`verifier_…`).
    """

    session: str
    model_calls: int = 0
    unknown_calls: int = 0
    agent_prompt: int = 0
    agent_cached: int = 0
    agent_completion: int = 0
    verifier_prompt: int = 0
    verifier_cached: int = 0
    verifier_completion: int = 0
    searches: int = 0


class ClaimCarried(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A claim of an execution's answer, its place there in characters, and what carries it.

    `by` is the sub-claim of an attestation (`att_0001:c1`), or `computed` for a value that a clean box gave
    again; '' when nothing does, and `reason` says why. `against`: an attestation of it found it refuted or
    disputed. `word` is that of the attestation, VERIFIED for a computed value, '' where nothing was found.
    """

    claim: str
    start: int
    end: int
    load_bearing: bool = True
    by: str = ""
    reason: str = ""
    against: bool = False
    word: str = ""


class ExecutionVerdict(Event, frozen=True, kw_only=True):
    """The verdict on the answer of an execution, written as record `answer_seq`.

    `status` is its word: REFUTED or DISPUTED where an attestation speaks against a claim, PARTIAL where only
    some are carried, else the word of the weakest claim. `reason` says it in a sentence. `round` is the round
    of verification that took the computed values, 0 for none; `version` names the rule.
    """

    answer_seq: int
    status: str
    reason: str
    claims: tuple[ClaimCarried, ...]
    version: str
    round: int = 0


class VerifierStarted(Event, frozen=True, kw_only=True):
    """A round of verification begins on the answer written as record `answer_seq`.

    `rule` is who labels spans: `model`, `entailment` or `literal`. `model` names the verifier's model ('' for
    none) and `policy` is the stored policy object that the verdict will be computed under.
    """

    round: int
    answer_seq: int
    rule: str
    policy: Blob
    model: str = ""


class Derivation(Event, frozen=True, kw_only=True):
    """A command whose output the answer cites was run again in a clean box: fresh /work, same /input.

    `outcome` is `same` (the cited lines were printed again), `different`, `failed` (no exit 0) or
    `unavailable` (no box; `reason` says why). `output` is what it printed. `scripts` are the files of the
    workspace that were copied beside it (path, sha256). `without_input` says whether the same lines came
    when /input was empty: then the value rests on nothing but the command. `unmoved` are the cited lines with
    a number that came also when the contents of /input were changed. `searched` is how many files of /input
    a command that counted zero looked at, all of them: it found its own words when they were put there.
    `altered` are the cited lines of prose that stand so in no file of /input: a word was cut out, or halves
    were joined.
    """

    round: int
    evidence: str
    command: Text
    outcome: str
    output: Text = ""
    scripts: tuple[tuple[str, str], ...] = ()
    without_input: bool = False
    exit_code: int | None = None
    reason: str = ""
    unmoved: tuple[int, ...] = ()
    searched: int = 0
    altered: tuple[int, ...] = ()


class VersionSeen(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file of the input folder, taken as `evidence`, that says something of the evidence `cited` or has a
    later name. `shared` are names of the cited file that further files of the folder have, too."""

    cited: str
    evidence: str
    shared: tuple[str, ...] = ()


class VerifierVersions(Event, frozen=True, kw_only=True):
    """The input folder was searched for files that replace or amend the cited ones. `files` is how many were
    read, `problem` why not all that could matter."""

    round: int
    seen: tuple[VersionSeen, ...]
    files: int = 0
    problem: str = ""


class Audit(Event, frozen=True, kw_only=True):
    """The answer was checked without a model. `findings` is a JSON array of `vera.evidence.finding.Finding`;
    `claims_version` and `audit_version` name the rules that made them. `plugin_findings` is such an array of
    what checks of plugins said, '' without one: inputs that no replay computes again. `hard` and `soft`
    count both."""

    round: int
    claims: int
    hard: int
    soft: int
    findings: Text
    claims_version: str
    audit_version: str
    plugin_findings: Text = ""


class Question(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A yes/no question that would show a claim to be wrong, bound to a source.

    `source` is an evidence id, a path under /input or a URL; `label` one of `vera.audit.taxonomy.TAXONOMY`;
    `kind` is support, or coverage for the slots of a negative claim.
    """

    claim: str
    question: str
    source: str
    label: str
    kind: str = "support"


class VerifierQuestions(Event, frozen=True, kw_only=True):
    """What the verifier will look up, at most three. `problem` says why there are none, or fewer."""

    round: int
    questions: tuple[Question, ...]
    problem: str = ""


class VerifierCheck(Event, frozen=True, kw_only=True):
    """A question was looked up in its own lane, `check_lane`.

    `answer` is yes, no or unknown; `citations` are the captured spans or command receipts it rests on. One
    without any is `unknown`, and `reason` says so.
    """

    round: int
    check: int
    question: Question
    check_lane: str
    answer: str
    citations: tuple[Cited, ...] = ()
    reason: str = ""


class SpanLabel(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What lines `first` to `last` of an evidence say of a claim.

    `relation` is SUPPORTS, CONTRADICTS, QUALIFIES or IRRELEVANT, by `agree` of `votes` readings.
    """

    evidence: str
    first: int
    last: int
    relation: str
    agree: int = 1
    votes: int = 1


class VerifierLabels(Event, frozen=True, kw_only=True):
    """The spans of one claim were labelled, by the rule or model `maker` with the prompt `prompt_sha256`.

    `problem` says why a reading gave nothing (unparsable output is recorded, never guessed at).
    """

    round: int
    claim: str
    labels: tuple[SpanLabel, ...]
    maker: str
    prompt_sha256: str = ""
    problem: str = ""


class EntailmentModel(msgspec.Struct, frozen=True, kw_only=True):
    """An entailment judge: all that its labels depend on.

    `model` and `tokenizer` are the sha256 of its files, `labels` what each output stands for, `tokens` how
    many a pair may have. A label is given at `threshold_bp` and `margin_bp` above it, of shares rounded to
    `step_bp`, all in basis points; `rule` is the version of all else.
    """

    rule: str
    model: str
    tokenizer: str
    labels: tuple[str, ...]
    tokens: int
    threshold_bp: int
    margin_bp: int
    step_bp: int


class VerifierExam(Event, frozen=True, kw_only=True):
    """A model sat the exam of a judge before it was used, or an exam that it sat earlier was taken over.

    `model`, `server` and `weights` (file, size or quantisation, as far as known) say who, with the prompt
    `prompt_sha256`; `roles` what for: labels, scores. `seed` and `version` give the paper, `replies` are what
    it said, and `sat_at` (seconds since 1970) when; `kept` tells of an earlier session's. Of `of` items it
    had `right` ones, and called `accepted` of `refusable` items SUPPORTS that do not support. `problem` says
    why it could not be finished. Of an entailment judge `entailment` says what its labels depend on, and
    `prompt_sha256` is the hash of that.
    """

    model: str
    version: str
    seed: int
    roles: tuple[str, ...]
    replies: tuple[Text, ...]
    prompt_sha256: str
    sat_at: float
    server: str = ""
    weights: str = ""
    kept: bool = False
    right: int = 0
    of: int = 0
    accepted: int = 0
    refusable: int = 0
    passed: bool = False
    problem: str = ""
    entailment: EntailmentModel | None = None


class VerifierProbe(Event, frozen=True, kw_only=True):
    """A claim whose label is known beforehand was put to the judge, who could not tell it from another.

    `probe` is how it was made of a cited sentence: stated (the sentence itself, `expected` SUPPORTS), number
    (a number changed), negation (denied, or no longer), unrelated (lines of something else), or invented (a
    claim about something else, shown what was shown for the answer), all `expected` not SUPPORTS; '' when
    none could be made. `said` is the label by `maker` with the prompt `prompt_sha256`,
    '' when there is none, and then `problem` says why.
    """

    round: int
    probe: str = ""
    claim: str = ""
    evidence: str = ""
    first: int = 0
    last: int = 0
    expected: str = ""
    said: str = ""
    maker: str = ""
    prompt_sha256: str = ""
    problem: str = ""


class Score(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One reading of the whole answer by one criterion: `points` in hundredths, 100 (entirely wrong) to 400
    (entirely right), None when it could not be parsed. `method` is logprobs or reply; `order` how the claims
    were laid out, forward or backward."""

    criterion: str
    points: int | None
    method: str
    order: str = "forward"


class Instruction(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What to do about a claim, in words of ours: the judge picks `action`, claim, source and lines only.

    `action` is READ, FETCH, SEARCH, COMPUTE, CITE, REWORD, REMOVE or COVER.
    """

    claim: str
    action: str
    source: str = ""
    first: int = 0
    last: int = 0


class VerifierScore(Event, frozen=True, kw_only=True):
    """The judge's scores, and at most three instructions. `problem` says why a reading gave none."""

    round: int
    scores: tuple[Score, ...]
    instructions: tuple[Instruction, ...] = ()
    problem: str = ""


class Verifier(Event, frozen=True, kw_only=True):
    """The decision of a round. `attestation` is the id of the attestation made (`sha256:…`), and `envelope`
    the signed envelope in the store.

    `result` and `reason` are those of the attestation. `score` is in hundredths after the caps,
    `score_before_cap` before; None without a judge. `caps` are the reasons. `claims` are those that count
    for the verdict, `unchecked` the others. The rest is what the round cost.
    """

    round: int
    answer_seq: int
    result: str
    reason: str
    attestation: str
    envelope: Blob
    score: int | None = None
    score_before_cap: int | None = None
    caps: tuple[str, ...] = ()
    claims: int = 0
    unchecked: int = 0
    supported: int = 0
    disputed: int = 0
    hard: int = 0
    soft: int = 0
    unknown_checks: int = 0
    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    tool_calls: int = 0
    seconds: float = 0.0


class VerifierToAgent(Event, frozen=True, kw_only=True):
    """What the agent is told of a round: the score after caps and why, the findings, what to do.

    Its answer is taken back, and the lane goes on with this as the newest message.
    """

    round: int
    step: int
    content: Text
    score: int | None = None


class NextAction(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A step that the verifier proposes."""

    goal: str
    suggested_tools: tuple[str, ...] = ()
    success_criteria: str = ""
    source: str = ""


class VerifierGradient(Event, frozen=True, kw_only=True):
    """The feedback as data: what is missing, what is wrong, what to do next, when it is enough."""

    round: int
    step: int
    missing: tuple[str, ...]
    wrong: tuple[str, ...]
    next_actions: tuple[NextAction, ...]
    stop_when: str


class PolicyChoice(Event, frozen=True, kw_only=True):
    """A tool call after the verifier's feedback, and whether it followed a proposed action.

    The first such call is written down, and a later one that is the first to follow.
    """

    step: int
    tool: str
    matched: bool


class AnswerChosen(Event, frozen=True, kw_only=True):
    """The best verified answer of all rounds: the one of `round`, written as record `answer_seq`."""

    round: int
    answer_seq: int
    attestation: str
    reason: str


class LaneEnded(Event, frozen=True, kw_only=True):
    """A lane is over: `answered`, or the `reason` it stopped without an answer.

    Of those `model` says that its model could not be asked any more; the others are limits and gates.
    """

    reason: str
    detail: str = ""


class Recovered(Event, frozen=True, kw_only=True):
    """The log ended in an unfinished line (a crash while writing); its bytes were moved aside."""

    torn_bytes: int
    moved_to: str


class Resumed(Event, frozen=True, kw_only=True):
    """An interrupted run goes on under this version of VERA."""

    version: str


class RunEnd(Event, frozen=True, kw_only=True):
    """The last record of a run. `exit_code` as in the table of exit codes; `seconds` of wall time."""

    status: str
    reason: str
    exit_code: int
    steps: int
    seconds: float


Record = (
    Session
    | PluginsLoaded
    | ConnectorsRead
    | Task
    | ParentSession
    | Corpus
    | ModelServer
    | Sandbox
    | ContainerEvent
    | LaneStarted
    | ContextEpoch
    | Model
    | ModelIo
    | Candidates
    | Selection
    | Assistant
    | PolicyParseError
    | PolicyNotesGuard
    | QuestionForm
    | Move
    | ConstraintAdded
    | ConstraintResolved
    | PolicyNotesGate
    | PolicyPreToolNudge
    | PolicyLengthNudge
    | PolicyReminder
    | PolicyQueryMutation
    | PolicyQueryVector
    | PolicyDomainShift
    | PolicySourceShift
    | PolicyMoveChange
    | PolicyStagnation
    | PolicyStuck
    | PolicyFailureEscalation
    | PolicySourceBudget
    | PolicySearchBudget
    | PolicyBraveDiscovery
    | PolicyBraveBudget
    | PolicyBraveCircuit
    | PolicyRenderNudge
    | PolicyConclusionReady
    | PolicyFinalizationStop
    | PolicyDestructive
    | PolicyAssertFirst
    | PolicyGate
    | ToolStarted
    | Tool
    | Evidence
    | Egress
    | Search
    | Note
    | Status
    | Output
    | TurnExam
    | Mode
    | SubQuestions
    | SubAnswer
    | Answer
    | VerifyRequested
    | AttestationReceived
    | LookUpSpent
    | ExecutionVerdict
    | VerifierStarted
    | Derivation
    | VerifierVersions
    | Audit
    | VerifierQuestions
    | VerifierCheck
    | VerifierLabels
    | VerifierExam
    | VerifierProbe
    | VerifierScore
    | Verifier
    | VerifierToAgent
    | VerifierGradient
    | PolicyChoice
    | AnswerChosen
    | LaneEnded
    | Recovered
    | Resumed
    | RunEnd
)


def kind(event: Event) -> str:
    """The event's type as it is in the log: `tool_started`."""
    return str(event.__struct_config__.tag)


def gate_name(event: Event) -> str:
    """Which gate spoke: `policy_stuck`; of one without a separate record `policy_` and its name."""
    return f"policy_{event.gate}" if isinstance(event, PolicyGate) else kind(event)


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Record)


def encode(event: Event) -> bytes:
    """The event as one line of JSON without a newline."""
    return _encoder.encode(event)


def decode(line: bytes) -> Record:
    """The event of one line. Raises msgspec.DecodeError when it is not one of this vocabulary."""
    record: Record = _decoder.decode(line)
    return record
