"""What begins, carries and ends a run, in words."""

from vera import events
from vera.report.view.words import Load, counted, line_of_text, one_line, size_in_words

PLUGINS_SHOWN = 8


def tell(record: events.Record, load: Load) -> str:
    """The record in words; '' for one that another teller knows."""
    match record:
        case events.Session():
            return f"A session of VERA {record.version} begins."
        case events.Task():
            about = f" (input folder {record.input_dir})" if record.input_dir else ""
            return f"Task{about}: {line_of_text(record.task, load)}"
        case events.ParentSession():
            accepted = (
                f", accepted although its replay found {record.found}" if record.found != "AGREES" else ""
            )
            return f"Goes on from {record.name}{accepted}: {line_of_text(record.question, load)}"
        case events.Corpus():
            skipped = f", {record.skipped} could not be" if record.skipped else ""
            of = f"{record.read} of {counted(record.files, 'file')} read{skipped}"
            meaning = _meaning(record) if record.embedding else ""
            return (
                f"The input folder is indexed: {of} ({size_in_words(record.size)}, {record.seconds:.1f} s)."
                f"{meaning}"
            )
        case events.ConnectorsRead():
            return " ".join(map(_connector, record.connectors[:PLUGINS_SHOWN]))
        case events.PluginsLoaded():
            named = [
                f"{each.name} of {each.distribution or each.module}"
                for each in record.plugins[:PLUGINS_SHOWN]
            ]
            return f"{counted(len(record.plugins), 'plugin')} loaded: {', '.join(named)}."
        case events.ModelServer():
            room = f", {record.context_tokens} tokens of context" if record.context_tokens else ""
            warned = f"; {'; '.join(record.warnings[:3])}" if record.warnings else ""
            return f"Model {record.model or 'without a name'} ({record.kind}{room}){warned}"
        case events.TurnExam():
            came = record.problem or f"{record.right} of {record.of} right"
            known = ", known from before" if record.kept else ""
            return f"Exam of taking turns, {record.model or 'the model'}: {came}{known}."
        case events.Mode():
            return f"Mode {record.mode}: {record.reason or 'no reason is given'}"
        case events.SubQuestions():
            asked = "; ".join(line_of_text(each, load) for each in record.questions)
            left = f"; {len(record.left_out)} of the task left out" if record.left_out else ""
            count = counted(len(record.questions), "sub-question")
            return f"{count} ({record.reason or record.by}{left}): {asked}"
        case events.SubAnswer():
            return f"Sub-question {record.number} is {record.status}: {one_line(record.reason)}"
        case events.Sandbox():
            if record.backend == "none":
                return f"No sandbox: {record.isolation}"
            return f"Sandbox {record.backend}: {record.isolation}"
        case events.ContainerEvent():
            return f"The sandbox {record.event}" + (f": {record.detail}" if record.detail else ".")
        case events.LaneStarted():
            tools = f"{counted(len(record.tools), 'tool')}, turns as {record.protocol}"
            return f"A lane begins: {record.purpose} ({tools})."
        case events.ContextEpoch():
            kept = counted(record.tail_steps, "step")
            return f"A new context epoch before step {record.step}: at most the last {kept} stay."
        case events.QuestionForm():
            return (
                f"{'A negative claim may be the answer' if record.negative else 'An ordinary question'}: "
                + (record.reason or record.form)
            )
        case events.ConstraintAdded():
            return f"Open: {record.text} ({record.key})"
        case events.ConstraintResolved():
            return f"No longer open: {record.key}. {record.reason}"
        case events.Status():
            return f"Status {record.status}" + (f": {record.reason}" if record.reason else ".")
        case events.LaneEnded():
            return f"The lane is over: {record.reason}" + (f", {record.detail}" if record.detail else ".")
        case events.Recovered():
            torn = size_in_words(record.torn_bytes)
            return f"The log ended in an unfinished line: {torn} were moved to {record.moved_to}."
        case events.Resumed():
            return f"The run goes on under VERA {record.version}."
        case events.RunEnd():
            spent = f"{counted(record.steps, 'step')}, {record.seconds:.1f} s"
            return (
                f"The run ends {record.status} ({spent}): {one_line(record.reason) or 'no reason is given'}"
            )
        case _:
            return ""


def _connector(used: events.ConnectorUsed) -> str:
    revision = f" at {used.revision}" if used.revision else ""
    left = f", {used.left_out_count} left out" if used.left_out_count else ""
    cut = f"; it ended at {used.ended_at}" if used.ended_at else ""
    gave = counted(used.documents, "document")
    return f"The connector {used.name} ({used.kind} {used.address}{revision}) gave {gave}{left}{cut}."


def _meaning(record: events.Corpus) -> str:
    why = f": {record.embedding_problem}" if record.embedding_problem else ""
    return f" {record.embedded} of {record.chunks} chunks are found by meaning ({record.embedding}){why}"
