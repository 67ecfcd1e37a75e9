"""Progress of a run on stderr: a live line on a terminal, plain milestones elsewhere."""

import sys
import time
from typing import TextIO

from vera import events
from vera.agent.messages import points
from vera.attestation.report import counted
from vera.cli.exit import as_typed
from vera.report.printable import one_printable_line, printable
from vera.usage import EXTRACTS, GATHERING, GUIDED

UNREADABLE_SHOWN = 10

EFFECTS = {"refuse": "not run", "nudge": "told", "end": "ending"}
"""What a gate did, as it is said."""


class Progress:
    """Listens to a session's events and says what matters, in a line each.

    On a terminal the line of the moment is rewritten in place while a step is under way.
    """

    def __init__(self, stream: TextIO | None = None, *, quiet: bool = False) -> None:
        self._stream = stream or sys.stderr
        self._quiet = quiet
        self.live = self._stream.isatty()
        self._pending = False
        self._began = time.monotonic()
        self._why_extracts = "no usable answer from the model: "

    def say(self, line: str) -> None:
        """A line that stays."""
        if self._quiet:
            return
        self._clear()
        self._stream.write(printable(as_typed(line)) + "\n")
        self._stream.flush()

    def warn(self, line: str) -> None:
        """A line that the person must see, also where no progress was asked for."""
        self._clear()
        self._stream.write(printable(as_typed(f"vera: warning: {line}")) + "\n")
        self._stream.flush()

    def now(self, line: str) -> None:
        """What is going on at this moment; shown on a terminal only, and replaced by what comes next."""
        if self._quiet or not self.live:
            return
        self._clear()
        self._stream.write(one_printable_line(line[:100]))
        self._stream.flush()
        self._pending = True

    def done(self) -> None:
        """Take the live line away."""
        self._clear()

    def __call__(self, record: events.Record) -> None:
        if record.lane.startswith(("check-", "verify-", "exam")):
            self._verification(record)
            return
        match record:
            case events.Recovered():
                self.say(
                    f"recovered: {record.torn_bytes} unfinished bytes of the log moved to {record.moved_to}"
                )
            case events.Corpus():
                self._corpus(record)
            case events.LaneStarted() if record.lane.startswith(EXTRACTS):
                self.say(f"{self._why_extracts}looking for the closest lines")
            case events.LaneStarted() if record.lane.startswith(GATHERING):
                self.say("looking for pages on the web")
            case events.LaneStarted() if record.lane.startswith(GUIDED):
                self.say("the model writes from the lines that were found")
            case events.TurnExam():
                kept = ", from an earlier run" if record.kept else ""
                self.say(record.problem or f"turn exam: {record.right} of {record.of} turns{kept}")
            case events.Mode():
                self._why_extracts = ""
                self.say(f"mode: {record.reason}")
            case events.SubAnswer():
                self.say(f"sub-question {record.number}: {record.status}: {record.reason}")
            case events.ModelServer():
                self._model(record)
            case events.Sandbox():
                self.say(f"sandbox: {record.backend} ({record.isolation})")
            case events.Model() if record.error:
                self.say(f"step {record.step}: the model failed: {record.error}")
            case events.Model():
                self.now(f"step {record.step}: answered in {record.latency_s:.1f} s")
            case events.ToolStarted():
                self.now(f"step {record.step}: {record.tool} …")
            case events.Tool():
                evidence = f" → {record.evidence}" if record.evidence else ""
                problem = "" if record.outcome == "ok" else f" ({record.error_type})"
                self.say(f"step {record.step}: {record.tool}{evidence}{problem}")
            case events.Egress() if record.verdict == "refused":
                self.say(f"  refused: {record.host}:{record.port}: {record.reason}")
            case events.ConnectorsRead():
                for each in record.connectors:
                    revision = f" at {each.revision}" if each.revision else ""
                    left = f", {each.left_out_count} left out" if each.left_out_count else ""
                    cut = f" (it ended at {each.ended_at})" if each.ended_at else ""
                    gave = counted(each.documents, "document")
                    self.say(f"connector {each.name}{revision}: {gave}{left}{cut}")
            case events.PluginsLoaded():
                names = ", ".join(
                    f"{each.name} ({each.distribution or each.module})" for each in record.plugins
                )
                self.say(f"plugins, with your rights on this machine: {names}")
            case events.Search() if record.outcome not in ("ok", "empty"):
                self.say(f"  search: {record.engine} {record.outcome}: {record.reason}")
            case events.QuestionForm() if record.negative:
                self.say(f"question: {record.reason}")
            case events.PolicyParseError(effect="nudge"):
                self.say(f"step {record.step}: format error ({', '.join(record.codes)}), asked again")
            case events.Policy():
                did = EFFECTS.get(record.effect, record.effect)
                self.say(f"step {record.step}: {did} ({events.gate_name(record)}): {record.reason}")
            case events.ContextEpoch():
                self.now(f"step {record.step}: new context epoch")
            case events.Answer():
                self.say(f"step {record.step}: answer with {counted(len(record.citations), 'citation')}")
            case events.RunEnd():
                seconds = time.monotonic() - self._began
                took = f"{counted(record.steps, 'step')}, {seconds:.1f} s"
                self.say(f"{record.status}: {record.reason} ({took})")

    def _verification(self, record: events.Record) -> None:
        """What the verifier does; the steps of its lanes are a passing line only."""
        match record:
            case events.Model() if record.error:
                self.say(f"{record.lane}: the model failed: {record.error}")
            case events.ToolStarted():
                self.now(f"{record.lane}, step {record.step}: {record.tool} …")
            case events.Derivation():
                self._derivation(record)
            case events.Audit():
                found = f"{counted(record.hard, 'hard finding')}, {counted(record.soft, 'hint')}"
                checked = f"checked {counted(record.claims, 'claim')} against the sources"
                self.say(f"round {record.round}: {checked}: {found}")
            case events.VerifierExam():
                from vera.attestation.exam import exam_of, in_words

                self.say(f"exam: {in_words(exam_of(record))}")
            case events.VerifierQuestions():
                asked = counted(len(record.questions), "follow-up question")
                self.say(f"round {record.round}: {asked}, then scoring")
            case events.VerifierCheck():
                self.say(f"round {record.round}: {record.question.question} {record.answer}")
            case events.Verifier():
                self._decision(record)

    def _derivation(self, record: events.Derivation) -> None:
        again = "the same lines" if record.outcome == "same" else record.reason or record.outcome
        self.say(f"round {record.round}: {record.evidence} run again in a clean sandbox: {again}")

    def _decision(self, record: events.Verifier) -> None:
        score = f", score {points(record.score)} of 4" if record.score is not None else ""
        reason = f" ({record.reason})" if record.reason else ""
        stands = f"{record.supported} of {counted(record.claims, 'claim')} supported"
        self.say(f"round {record.round}: {record.result}{reason}, {stands}{score}")

    def _corpus(self, record: events.Corpus) -> None:
        state = f"{record.read} looked at in {record.seconds:.1f} s" if record.read else "index up to date"
        self.say(f"input: {counted(record.files, 'file')} with text, {record.size / 1e6:.1f} MB, {state}")
        for name, reason in record.unreadable[:UNREADABLE_SHOWN]:
            self.say(f"  not readable: {name}: {reason}")
        if record.embedding:
            why = f": {record.embedding_problem}" if record.embedding_problem else ""
            self.say(f"  by meaning ({record.embedding}): {record.embedded} of {record.chunks} chunks{why}")
        if record.skipped > UNREADABLE_SHOWN:
            self.say(f"  … and {record.skipped - UNREADABLE_SHOWN} more, which the log names")

    def _model(self, record: events.ModelServer) -> None:
        where = f" at {record.base_url}" if record.base_url else ""
        context = f", context {record.context_tokens} tokens" if record.context_tokens else ""
        self.say(f"model: {record.model} ({record.kind}{where}{context})")
        for warning in record.warnings:
            self.say(f"  {warning}")

    def _clear(self) -> None:
        if self._pending:
            self._stream.write("\r\x1b[2K")
            self._pending = False
