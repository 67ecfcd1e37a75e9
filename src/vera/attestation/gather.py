"""What a verdict is computed from, collected from a log and its store.

The same log and store give the same record, live before the verdict is written and in every replay after it.
No sentence in it depends on where the session lies.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeVar

import msgspec

from vera import events
from vera.attestation import exam
from vera.attestation.entailed import settings_sha256
from vera.attestation.look_up import looked
from vera.attestation.objects import (
    KEY_LIMIT,
    NAME_LIMIT,
    TEXT_LIMIT,
    Entailment,
    Exam,
    Kind,
    Lens,
    ObjectError,
    Policy,
    Proposition,
    VerifyRequest,
    bounded,
    hexadecimal,
    parse,
)
from vera.attestation.proposition import RequestError, thesis_id
from vera.attestation.record import Asked, Record
from vera.attestation.request import Budget
from vera.audit.case import Lookup
from vera.decode_errors import DECODE_ERRORS
from vera.evidence.citation import find_citations
from vera.evidence.finding import PLUGIN, Finding
from vera.session.log import seal_line
from vera.state import RunState
from vera.store import Store, StoreError

MAX_ANSWER_BYTES = 16 << 20
MAX_TEXT_BYTES = 256 << 20
"""Of all texts that one verdict rests on together; what lies above cannot be read."""
MAX_LOOKUPS = 10_000
_MAX_QUERY = 2000

_HITS = re.compile(r"(?:^|[^0-9])([0-9]{1,9}) (?:hits?|results?)\Z")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_QUERY_ARGUMENTS = ("query", "q")
_ASKING = events.Task | events.SubQuestions | events.SubAnswer | events.Resumed

Event = TypeVar("Event", bound=events.Event)


class GatherError(ValueError):
    """A round of which no verdict can be computed: a sentence that says why.

    `missing` is the sha256 of the blob that would be needed, '' when it is not that.
    """

    def __init__(self, sentence: str, missing: str = "") -> None:
        super().__init__(sentence)
        self.missing = missing


def gather(records: Sequence[events.Record], store: Store, number: int) -> Record:
    """The record of one round of verification: the last one of that number that was begun.

    `records` is the log from its beginning; what follows the round's verdict is not looked at. Raises
    GatherError when the round, its answer or its policy is not there.
    """
    begin = _last_start(records, number)
    verdict = _verdict_after(records, begin, number)
    before = records[:verdict]
    started = before[begin]
    assert isinstance(started, events.VerifierStarted)
    within = [each for each in before[begin:] if getattr(each, "round", number) == number]
    texts = _Texts(store)
    answer = texts.load(_answer(before, started.answer_seq).text, "The answer")
    evidence = {each.id: each for each in before if isinstance(each, events.Evidence)}
    derivations = tuple(texts.inlined(each) for each in _of_kind(within, events.Derivation))
    checks = tuple(_of_kind(within, events.VerifierCheck))
    labels = tuple(_of_kind(within, events.VerifierLabels))
    lookups = tuple(_lookups(before, texts))
    versions = tuple(seen for each in _of_kind(within, events.VerifierVersions) for seen in each.seen)
    _read(texts, evidence, _pointed_at(answer, derivations, checks, labels, versions), derivations)
    last = before[-1]
    return Record(
        task=_task(before, texts),
        answer=answer,
        round=number,
        policy=_policy(store, started.policy),
        evidence=evidence,
        texts=texts.found,
        unreadable=texts.unreadable,
        lookups=lookups,
        derivations=derivations,
        checks=checks,
        labels=labels,
        scores=tuple(score for each in _of_kind(within, events.VerifierScore) for score in each.scores),
        verifier=_verifier(before, started),
        log=(last.seq, _hash_of(records, verdict - 1)),
        issued_at=rfc3339(last.ts),
        notes=tuple(_problems(within)),
        probes=tuple(_of_kind(within, events.VerifierProbe)),
        exams=tuple(_graded(each, texts) for each in _of_kind(before, events.VerifierExam)),
        versions=versions,
        plugin_findings=_plugin_findings(within, texts),
        asked=_asked(before[:begin], store, texts),
    )


def _of_kind(records: Iterable[events.Record], kind: type[Event]) -> Iterator[Event]:
    return (each for each in records if isinstance(each, kind))


def _read(
    texts: "_Texts",
    evidence: Mapping[str, events.Evidence],
    pointed_at: Iterable[str],
    derivations: Iterable[events.Derivation],
) -> None:
    """Read the texts of the evidence that is pointed at, and the scripts of the derivations."""
    for pointed in pointed_at:
        if (found := evidence.get(pointed)) is not None:
            texts.want(found.text)
    for derivation in derivations:
        for _, sha256 in derivation.scripts:
            texts.want_script(sha256)


def logged_findings(audit: events.Audit, load: Callable[[events.Text], str]) -> tuple[Finding, ...]:
    """All findings that an audit wrote down: ours, then those of plugins. Raises msgspec.MsgspecError for
    anything else."""
    texts = [load(each) for each in (audit.findings, audit.plugin_findings) if each]
    return tuple(finding for text in texts for finding in msgspec.json.decode(text, type=tuple[Finding, ...]))


def _plugin_findings(within: Iterable[events.Record], texts: "_Texts") -> tuple[Finding, ...]:
    """What checks of plugins found in a round, as it was logged: inputs, which nothing computes again.

    One that does not say of itself that it is a plugin's raises GatherError, as does what is no finding.
    """
    found: tuple[Finding, ...] = ()
    for each in within:
        if isinstance(each, events.Audit) and each.plugin_findings:
            text = texts.load(each.plugin_findings, "What plugins found")
            try:
                found = msgspec.json.decode(text, type=tuple[Finding, ...])
            except DECODE_ERRORS as error:
                raise GatherError(f"What plugins found is no list of findings: {error}.") from None
    if any(not finding.code.startswith(PLUGIN) for finding in found):
        raise GatherError("A finding that is logged as a plugin's has a code of VERA's own.")
    return found


def _graded(sat: events.VerifierExam, texts: "_Texts") -> Exam:
    """The exam, graded again from its replies; that of another version has no grade here.

    Raises GatherError when a reply is missing, or the log has other figures than the replies give.
    """
    known = Exam(
        model=bounded(sat.model, NAME_LIMIT),
        version=bounded(sat.version, KEY_LIMIT),
        roles=tuple(bounded(role, KEY_LIMIT) for role in sat.roles),
        prompt=bounded(sat.prompt_sha256, KEY_LIMIT),
        sat_at=rfc3339(sat.sat_at),
        unfinished=bounded(sat.problem, TEXT_LIMIT),
        entailment=_entailment(sat),
    )
    if sat.version != exam.VERSION:
        return known
    replies = [texts.load(reply, "A reply of the judge's exam") for reply in sat.replies]
    found = exam.grade(sat.seed, replies)
    logged = exam.Grade(right=sat.right, of=sat.of, accepted=sat.accepted, refusable=sat.refusable)
    if found != logged or found.passed != sat.passed:
        raise GatherError(f"The exam of {sat.model} is logged with other figures than its replies give.")
    return exam.graded(known, found)


def _entailment(sat: events.VerifierExam) -> Entailment | None:
    """What the labels of an entailment judge depend on, None for a language model.

    Raises GatherError when it is not what its hash says, or not of the form that is attested.
    """
    if sat.entailment is None:
        return None
    if settings_sha256(sat.entailment) != sat.prompt_sha256:
        raise GatherError(f"The exam of {sat.model} is logged with other settings than their hash says.")
    try:
        return msgspec.convert(msgspec.to_builtins(sat.entailment), Entailment)
    except msgspec.ValidationError as error:
        raise GatherError(f"The entailment judge {sat.model} has no valid settings: {error}.") from None


def rfc3339(seconds: float) -> str:
    """Unix time as RFC 3339 in UTC, with milliseconds. Raises GatherError for an invalid time."""
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        raise GatherError(f"The time {seconds!r} in the log is no time.") from None
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _last_start(records: Sequence[events.Record], number: int) -> int:
    for index in range(len(records) - 1, -1, -1):
        record = records[index]
        if isinstance(record, events.VerifierStarted) and record.round == number:
            return index
    raise GatherError(f"Round {number} of verification was never begun.")


def _verdict_after(records: Sequence[events.Record], begin: int, number: int) -> int:
    """The index of the round's verdict, the length of the log when there is none yet."""
    for index in range(begin, len(records)):
        record = records[index]
        if isinstance(record, events.Verifier) and record.round == number:
            return index
    return len(records)


def _hash_of(records: Sequence[events.Record], index: int) -> str:
    """The hash of a record: the next one names it, of the newest it is computed from its line."""
    if index + 1 < len(records):
        return records[index + 1].prev
    return seal_line(events.encode(records[index]))[1]


def _answer(before: Sequence[events.Record], seq: int) -> events.Answer:
    record = before[seq - 1] if 1 <= seq <= len(before) else None
    if not isinstance(record, events.Answer) or record.seq != seq:
        raise GatherError(f"Record {seq}, which the verdict is about, is no answer.")
    return record


def _policy(store: Store, blob: events.Blob) -> Policy:
    return _object(store, blob.sha256, Policy, "The policy {} of the verdict")


def _asked(before: Sequence[events.Record], store: Store, texts: "_Texts") -> Asked | None:
    """What the session was asked to verify, by the last record of it; None for nothing."""
    record = next((each for each in reversed(before) if isinstance(each, events.VerifyRequested)), None)
    if record is None:
        return None
    request = _object(store, record.request.sha256, VerifyRequest, "The request {}")
    proposition = _object(store, hexadecimal(request.thesis), Proposition, "The thesis {} of the request")
    lens = _object(store, hexadecimal(request.rubric), Lens, "The lens {} of the request")
    if record.thesis_id != request.thesis or _thesis_id(request.text) != request.thesis:
        raise GatherError("The thesis of the request is not the one that its text states.")
    if record.supersedes and not _DIGEST.fullmatch(record.supersedes):
        raise GatherError("What the request supersedes is no attestation's id.")
    return Asked(
        request=request,
        proposition=proposition,
        lens=lens,
        budget=Budget(**{name: getattr(record, name) for name in Budget.__struct_fields__}),
        looked=looked(before, texts.text, texts.raw),
        supersedes=record.supersedes,
    )


def _thesis_id(text: str) -> str:
    try:
        return thesis_id(text)
    except RequestError as error:
        raise GatherError(f"The request cannot be verified. {error}") from None


def _object(store: Store, sha256: str, kind: type[Kind], what: str) -> Kind:
    """An object of the store; `what` names it in sentences, with {} for its hash."""
    try:
        return parse(store.get(sha256), kind)
    except StoreError:
        raise GatherError(f"{what.format(sha256)} is not in the store.", sha256) from None
    except ObjectError as error:
        raise GatherError(f"{what.format(sha256)} is {error}.") from None


def _task(before: Sequence[events.Record], texts: "_Texts") -> str:
    """What was asked when the round began: the sub-question of then, else the task."""
    state = RunState(each for each in before if isinstance(each, _ASKING))
    return texts.load(state.question, "The task") if state.question is not None else ""


def _verifier(before: Sequence[events.Record], started: events.VerifierStarted) -> str:
    """Who gives the verdict: the version of VERA that wrote the round, and the model or rule."""
    version = ""
    for record in reversed(before):
        if isinstance(record, events.Session | events.Resumed):
            version = record.version
            break
    return f"vera {version}, {started.rule}" + (f" {started.model}" if started.model else "")


def _problems(within: Iterable[events.Record]) -> Iterator[str]:
    """What the questions, the score and the search for later versions gave less than they should, as it was
    logged, each once.

    (A problem with labels is in them.)
    """
    seen = {""}
    for record in within:
        if isinstance(record, events.VerifierQuestions | events.VerifierScore | events.VerifierVersions):
            if record.problem not in seen:
                yield record.problem
            seen.add(record.problem)


def _pointed_at(
    answer: str,
    derivations: Iterable[events.Derivation],
    checks: Iterable[events.VerifierCheck],
    labels: Iterable[events.VerifierLabels],
    versions: Iterable[events.VersionSeen],
) -> Iterator[str]:
    """The ids of all evidence that the verdict may have to read."""
    yield from (citation.evidence for citation in find_citations(answer))
    yield from (derivation.evidence for derivation in derivations)
    yield from (cited.evidence for check in checks for cited in check.citations)
    yield from (check.question.source for check in checks)
    yield from (label.evidence for labelled in labels for label in labelled.labels)
    yield from (seen.evidence for seen in versions)


def _lookups(before: Iterable[events.Record], texts: "_Texts") -> Iterator[Lookup]:
    """The searches that gave something to follow, or said that there is nothing, in order."""
    calls: dict[str, events.ToolStarted] = {}
    count = 0
    for record in before:
        if isinstance(record, events.ToolStarted):
            calls[record.call] = record
        elif isinstance(record, events.Evidence) and (record.lead or record.tool == "search"):
            call = calls.get(record.call)
            query = _query(texts.text(call.args)) if call else ""
            if not query:
                continue
            count += 1
            if count > MAX_LOOKUPS:
                return
            hits = _HITS.search(record.summary[-100:])
            yield Lookup(tool=record.tool, query=query, evidence=record.id, hits=int(hits[1]) if hits else 0)


def _query(arguments: str) -> str:
    try:
        decoded = msgspec.json.decode(arguments)
    except DECODE_ERRORS:
        return ""
    if not isinstance(decoded, dict):
        return ""
    for name in _QUERY_ARGUMENTS:
        if isinstance(value := decoded.get(name), str):
            return " ".join(value.split())[:_MAX_QUERY]
    return ""


class _Texts:
    """Texts by sha256, each read once, as many as fit into MAX_TEXT_BYTES."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._room = MAX_TEXT_BYTES
        self.found: dict[str, bytes] = {}
        self.unreadable: dict[str, str] = {}

    def want(self, blob: events.Blob) -> None:
        """Read a text, or note why it cannot be read."""
        if blob.sha256 in self.found or blob.sha256 in self.unreadable:
            return
        if blob.size > self._room:
            self.unreadable[blob.sha256] = f"the texts of one verdict hold at most {MAX_TEXT_BYTES} bytes"
            return
        data = self._get(blob.sha256)
        if data is not None:
            self.found[blob.sha256] = data
            self._room -= len(data)

    def want_script(self, sha256: str) -> None:
        """Read a script by its hash, whose size the log does not say; one that was not kept is left out."""
        try:
            size = self._store.path(sha256).stat().st_size
        except (StoreError, OSError):
            return
        self.want(events.Blob(sha256, size))

    def inlined(self, derivation: events.Derivation) -> events.Derivation:
        """The derivation with its command and output as strings, so that a pure check can read them."""
        return msgspec.structs.replace(
            derivation, command=self.text(derivation.command), output=self.text(derivation.output)
        )

    def text(self, text: events.Text) -> str:
        """The string, '' for one that cannot be read (it is then among the unreadable)."""
        if isinstance(text, str):
            return text
        data = self._get(text.sha256) if text.size <= MAX_ANSWER_BYTES else None
        return "" if data is None else data.decode("utf-8", "replace")

    def raw(self, blob: events.Blob) -> bytes | None:
        """Stored bytes that are looked through once and not kept, None for what cannot be read."""
        return self._get(blob.sha256) if blob.size <= MAX_ANSWER_BYTES else None

    def load(self, text: events.Text, what: str) -> str:
        """The string. Raises GatherError when it cannot be read."""
        if isinstance(text, str):
            return text
        if text.size > MAX_ANSWER_BYTES:
            raise GatherError(f"{what} is larger than {MAX_ANSWER_BYTES >> 20} MB.")
        data = self._get(text.sha256)
        if data is None:
            raise GatherError(f"{what} is not in the store: blob {text.sha256}.", text.sha256)
        return data.decode("utf-8", "replace")

    def _get(self, sha256: str) -> bytes | None:
        """The bytes; where there are none, the reason is kept in words that name no place."""
        try:
            if not self._store.has(sha256):
                self.unreadable[sha256] = "it is not in the store"
                return None
            return self._store.get(sha256)
        except StoreError:
            self.unreadable[sha256] = "its stored bytes were altered"
        except OSError:
            self.unreadable[sha256] = "its stored bytes cannot be read"
        return None
