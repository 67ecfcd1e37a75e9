"""A round of verification in words."""

from vera import events
from vera.attestation.exam import exam_of, in_words
from vera.evidence.citation import place_name
from vera.headline import JUDGED
from vera.report.view.words import Load, counted, line_of_text, points

MAX_NAMED = 4


def tell(record: events.Record, load: Load) -> str:
    """The record in words; '' for one that another teller knows."""
    match record:
        case events.VerifierStarted():
            by = record.model if record.rule in JUDGED else f"the rule {record.rule}"
            return f"Round {record.round} of verification begins, by {by or 'a model'}."
        case events.Derivation():
            why = f": {record.reason}" if record.reason else ""
            command = line_of_text(record.command, load, 120)
            return f"{record.evidence} computed again, {record.outcome}{why} ({command})"
        case events.VerifierVersions():
            less = f" ({record.problem})" if record.problem else ""
            found = counted(len(record.seen), "file")
            return f"{found} may replace or amend a cited one, of {record.files} that were read{less}."
        case events.Audit():
            found = f"{record.hard} hard and {counted(record.soft, 'soft finding')}"
            return f"The audit found {found} in {counted(record.claims, 'claim')}."
        case events.VerifierQuestions():
            asked = "; ".join(each.question for each in record.questions[:MAX_NAMED])
            less = f" ({record.problem})" if record.problem else ""
            return f"{counted(len(record.questions), 'question')} to look up{less}: {asked or 'none'}"
        case events.VerifierCheck():
            why = f" ({record.reason})" if record.reason else ""
            return f"Check {record.check}, {record.answer}{why}: {record.question.question}"
        case events.VerifierLabels():
            return _labels(record)
        case events.VerifierExam():
            earlier = " (kept from an earlier session)" if record.kept else ""
            return f"The exam of a judge: {in_words(exam_of(record))}{earlier}."
        case events.VerifierProbe():
            if not record.probe:
                return f"No probe could be made: {record.problem}"
            said = record.said or f"nothing ({record.problem})"
            return f"Probe {record.probe}, expected {record.expected}, the judge said {said}: {record.claim}"
        case events.VerifierScore():
            read = ", ".join(f"{each.criterion} {points(each.points)}" for each in record.scores[:MAX_NAMED])
            less = f" ({record.problem})" if record.problem else ""
            return f"The judge's readings of 1 to 4{less}: {read or 'none'}"
        case events.Verifier():
            why = f" ({record.reason})" if record.reason else ""
            of = f"{record.supported} of {counted(record.claims, 'claim')} supported"
            score = f", score {points(record.score)} of 4" if record.score is not None else ""
            return f"Round {record.round} is decided, {record.result}{why}: {of}{score}"
        case events.VerifierToAgent():
            return f"The agent is told: {line_of_text(record.content, load)}"
        case events.VerifierGradient():
            wrong = f"{len(record.missing)} missing, {len(record.wrong)} wrong"
            goals = "; ".join(each.goal for each in record.next_actions[:MAX_NAMED])
            return f"Advice ({wrong}): {goals or record.stop_when}"
        case events.AnswerChosen():
            return f"The answer of round {record.round} is chosen: {record.reason}"
        case _:
            return ""


def _labels(labelled: events.VerifierLabels) -> str:
    named = [
        f"{place_name(each.evidence, each.first, each.last)} {each.relation}"
        for each in labelled.labels[:MAX_NAMED]
    ]
    more = len(labelled.labels) - len(named)
    said = ", ".join(named) + (f" and {more} more" if more > 0 else "")
    less = f" ({labelled.problem})" if labelled.problem else ""
    return f"Claim {labelled.claim} by {labelled.maker}{less}: {said or 'no line was labelled'}"
