"""The labels of an entailment judge, computed again by a replay from the file that a person names.

What another processor computes can differ by a little, so a label is held against the shares of here with
a margin (`vera.entailment.values.reproduces`). One that does not fit is NOT_REPRODUCED: the bytes are whole,
and the arithmetic or the file differs. Without the file it is only said that nothing was computed again.
The file is never one that the session names: whoever wrote the session chose that name.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from vera import events
from vera.attestation import exam
from vera.attestation.build import case_of
from vera.attestation.entailed import MAX_READ, Read, read_claim
from vera.attestation.gather import GatherError, gather
from vera.attestation.integrity import Loaded
from vera.attestation.labelling import LabelReply, relations
from vera.attestation.record import Record
from vera.attestation.report import Remark, Verdict, counted
from vera.audit.case import Case, place_of
from vera.entailment.choose import reader_of
from vera.entailment.files import JudgeFiles, read_files
from vera.entailment.values import EntailmentError, PairReader, reproduces
from vera.evidence.citation import place_name
from vera.evidence.claim import Cite
from vera.protocol.json_reply import read_reply
from vera.store import StoreError

WHERE = "entailment judge"

MAX_PROBES = 20
"""Of a round that are read again; a round has four."""


def labels_again(loaded: Loaded, path: Path | None) -> Iterator[Remark]:
    """Remarks about every entailment judge whose labels or exams the log has."""
    sat = [each for each in loaded.records if isinstance(each, events.VerifierExam) and each.entailment]
    judges = {each.prompt_sha256: each for each in sat}
    if not judges:
        return
    files, why = _files(path)
    for settings, judge in judges.items():
        assert judge.entailment is not None
        if files is None:
            yield _not_again(judge, why)
        elif problem := _another(judge.entailment, files):
            verdict, sentence = problem
            yield Remark(verdict=verdict, where=WHERE, sentence=sentence)
        else:
            yield from _by(files, settings, judge, sat, loaded)


def _files(path: Path | None) -> tuple[JudgeFiles | None, str]:
    """The files of the judge, or why there are none."""
    if path is None:
        return None, "give it with --entailment-model"
    try:
        return read_files(path.expanduser()), ""
    except FileNotFoundError:
        return None, f"there is nothing at {path}"
    except EntailmentError as error:
        return None, str(error).rstrip(".")


def _not_again(judge: events.VerifierExam, why: str) -> Remark:
    assert judge.entailment is not None
    return Remark(
        where=WHERE,
        sentence=f"The labels of {judge.model} were not recomputed: the model file with sha256 "
        f"{judge.entailment.model} is not here ({why}).",
    )


def _another(then: events.EntailmentModel, files: JudgeFiles) -> tuple[Verdict, str] | None:
    """What is not as it was when the labels were given, None when all is."""
    now = files.about
    for what in ("model", "tokenizer"):
        if getattr(then, what) != getattr(now, what):
            return "NOT_REPRODUCED", (
                f"Another {what} file: the {what} of {files.name} has the sha256 {getattr(now, what)}, and "
                f"the labels were made with {getattr(then, what)}. Nothing was computed again."
            )
    if then != now:
        changed = [name for name in then.__struct_fields__ if getattr(then, name) != getattr(now, name)]
        return "RULES_CHANGED", f"The labels were made with other settings ({', '.join(changed)}) than here."
    return None


def _by(
    files: JudgeFiles,
    settings: str,
    judge: events.VerifierExam,
    sat: Sequence[events.VerifierExam],
    loaded: Loaded,
) -> Iterator[Remark]:
    """Everything that this judge said, said again."""
    again = 0
    try:
        reader = reader_of(files)
        for each in sat:
            if each.prompt_sha256 == settings:
                yield from _exam(each, reader, loaded)
        for record in _rounds(loaded):
            case = case_of(record)
            again += sum(each.prompt_sha256 == settings for each in record.labels)
            yield from _labels(record, case, settings, reader)
            yield from _probes(record, case, settings, reader)
    except EntailmentError as error:
        yield _not_again(judge, str(error).rstrip("."))
        return
    yield Remark(
        where=WHERE,
        sentence=f"{judge.model} (sha256 {files.about.model}) read {counted(again, 'claim')} again, with its "
        "exam and its probes.",
    )


def _rounds(loaded: Loaded) -> Iterator[Record]:
    """The rounds that ended, as a verdict is computed from them; one that cannot be has its own remark."""
    for each in loaded.rounds:
        try:
            yield gather(loaded.records[: each.event.seq], loaded.store, each.event.round)
        except GatherError:
            continue


def _exam(sat: events.VerifierExam, reader: PairReader, loaded: Loaded) -> Iterator[Remark]:
    """The replies to its exam, sheet by sheet."""
    if sat.version != exam.VERSION:
        return
    try:
        texts = [_text(each, loaded) for each in sat.replies[: len(exam.SHEETS)]]
    except StoreError:  # level 0 has said that it is missing
        return
    for number, (sheet, text) in enumerate(zip(exam.paper(sat.seed), texts, strict=False), 1):
        reply = read_reply(text, LabelReply)
        said = {} if isinstance(reply, str) else relations(reply, len(sheet.items))
        shares = reader.read([item.text for item in sheet.items], sheet.claim)
        if not all(reproduces(said.get(index, ""), each) for index, each in enumerate(shares, 1)):
            yield _differs(f"exam, sheet {number}", "It labels the lines of its exam otherwise here.")


def _text(reply: events.Text, loaded: Loaded) -> str:
    return reply if isinstance(reply, str) else loaded.store.get(reply.sha256).decode("utf-8", "replace")


def _labels(record: Record, case: Case, settings: str, reader: PairReader) -> Iterator[Remark]:
    claims = {claim.key: claim for claim in case.claims}
    by = [each for each in record.labels if each.prompt_sha256 == settings and each.labels]
    if len(by) > MAX_READ:
        yield _differs(f"round {record.round}", f"It labelled {len(by)} claims; it reads {MAX_READ} at most.")
    for logged in by[:MAX_READ]:
        claim = claims.get(logged.claim)
        read = read_claim(case, claim, reader) if claim else ()
        yield from _claim(f"round {record.round}, claim {logged.claim}", logged, read)


def _claim(where: str, logged: events.VerifierLabels, read: Sequence[Read]) -> Iterator[Remark]:
    """The labels of a claim against what the judge makes of its places here."""
    said = {(each.evidence, each.first, each.last): each.relation for each in logged.labels}
    found = {(each.place.evidence.id, each.place.first, each.place.last): each.shares for each in read}
    if said.keys() != found.keys():
        yield _differs(where, "The places that were labelled are not those that the claim cites.")
    for place in sorted(said.keys() & found.keys()):
        if not reproduces(said[place], found[place]):
            yield _differs(where, _otherwise(place_name(*place), said[place]))


def _probes(record: Record, case: Case, settings: str, reader: PairReader) -> Iterator[Remark]:
    for probe in record.probes[:MAX_PROBES]:
        if probe.prompt_sha256 != settings or not probe.said:
            continue
        place = place_of(case, Cite(probe.evidence, probe.first, probe.last))
        shares = reader.read([place.plain.span.text], probe.claim) if place else []
        if not shares or not reproduces(probe.said, shares[0]):
            where = place_name(probe.evidence, probe.first, probe.last)
            yield _differs(f"round {record.round}, probe {probe.probe}", _otherwise(where, probe.said))


def _otherwise(where: str, said: str) -> str:
    return f"{where} was labelled {said}, and is not here: another machine's arithmetic, or another file."


def _differs(where: str, sentence: str) -> Remark:
    return Remark(verdict="NOT_REPRODUCED", where=where, sentence=sentence)
