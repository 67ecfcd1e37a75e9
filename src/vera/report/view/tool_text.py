"""What was done and what came of it, in words: calls, evidence, searches, connections, files, answers."""

from vera import events
from vera.evidence.citation import place_name
from vera.report.view.words import Load, call_line, counted, line_of_text, one_line, size_in_words


def tell(record: events.Record, load: Load) -> str:
    """The record in words; '' for one that another teller knows."""
    match record:
        case events.ToolStarted():
            return call_line(record.tool, record.args, load)
        case events.Tool():
            return _result(record)
        case events.Evidence():
            kind = "lead" if record.lead else record.tier
            lines = place_name("lines", record.first, record.last).replace(":", " ")
            return f"{record.id} ({kind}, {lines}): {record.summary}"
        case events.Move():
            return _move(record)
        case events.Egress():
            why = f": {record.reason}" if record.reason else ""
            place = record.url or f"{record.host}:{record.port}"
            moved = f", {size_in_words(record.bytes_down)} in" if record.bytes_down else ""
            asked = f"{record.method} {one_line(place, 160)}"
            return f"Connection by {record.by} {record.verdict}, {asked}{moved}{why}"
        case events.Search():
            came = f"{counted(record.results, 'result')}, {record.seconds:.1f} s"
            said = f": {record.reason}" if record.reason else ""
            return f"{record.engine} {record.outcome} ({came}) for {one_line(record.query, 120)}{said}"
        case events.Output():
            if record.problem:
                return f"File {one_line(record.path, 120)} was not kept: {record.problem}"
            return f"File {one_line(record.path, 120)} is handed in ({size_in_words(record.size)})."
        case events.Answer():
            cites = counted(len(record.citations), "citation")
            return f"An answer with {cites}: {line_of_text(record.text, load)}"
        case events.VerifyRequested():
            most = f"{counted(record.sources, 'source')}, {counted(record.searches, 'search', 'searches')}"
            return (
                f"A thesis is to be verified with at most {most} and {record.seconds:g} s: {record.thesis_id}"
            )
        case events.AttestationReceived():
            why = f" ({record.reason})" if record.reason else ""
            again = ", a verdict of before" if record.reused else ""
            cards = counted(len(record.cards), "card")
            return f"{record.handle}: {record.result}{why}, {cards} from {record.session}{again}"
        case events.LookUpSpent():
            calls = counted(record.model_calls, "model call")
            asked = counted(record.searches, "search request")
            return f"The look-up in {record.session} took {calls} and {asked}."
        case events.ExecutionVerdict():
            carried = sum(bool(each.by) for each in record.claims)
            of = f"{carried} of {counted(len(record.claims), 'claim')} carried"
            return f"The answer is {record.status} ({of}): {record.reason}"
        case _:
            return ""


def _result(result: events.Tool) -> str:
    parts = [f"{result.seconds:.1f} s"]
    if result.exit_code is not None:
        parts.append(f"exit code {result.exit_code}")
    if result.error_type:
        parts.append(result.error_type)
    if result.evidence:
        parts.append(result.evidence)
    return f"{result.tool} {result.outcome} ({', '.join(parts)})"


def _move(move: events.Move) -> str:
    failed = f", {move.failure_type}" if move.failure_type else ""
    about = one_line(move.query or ", ".join(each.url for each in move.targets[:3]), 160)
    on = f" on {about}" if about else ""
    return f"As a move of the search {move.tool} was {move.move_type} ({move.outcome}{failed}){on}"
