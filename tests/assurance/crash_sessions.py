"""Commands that write a session, begun with a fault and brought to their end; and what holds of one then."""

from collections.abc import Sequence
from pathlib import Path

from assurance.crash_model import EFFECT, TASK, TERMS, model
from assurance.crash_stage import Ended, Stage, Warm, no_traceback
from assurance.faults import NOTHING, Fault
from support.cli import folded, records
from support.tiny_embedding import tiny_embedding
from support.verified import replay
from vera import events
from vera.session import check, rebuild
from vera.session.session import RESUMABLE

RESULTS = {0, 3, 4}
"""Exit codes of a command that came to its end."""
MOST_AGAIN = 4
COLD = 0.1
"""The share of trials in a home in which nothing was done before."""
WARM = Warm()
LOSSY = ("fails", "fails-once", "memory")
"""Actions after which a result may be weaker than without a fault: a look-up that failed is no look-up."""


class Run:
    """`vera run` with a model, commands on this machine, and a verification of two rounds."""

    name = "run"
    options: Sequence[str] = ()
    has_effect = True
    can_be_timed = True

    def prepare(self, stage: Stage) -> None:
        self.documents(stage)
        if stage.random.random() >= COLD:
            WARM.into(stage, self.name, self.whole)

    def whole(self, stage: Stage) -> None:
        """A run from its beginning to its end."""
        self.documents(stage)
        ended = self.first(stage)
        assert ended.code in RESULTS, ended

    def documents(self, stage: Stage) -> None:
        stage.put("documents/terms.txt", TERMS)

    def session(self, stage: Stage) -> Path:
        return stage.base / "work"

    def words(self, stage: Stage) -> list[str]:
        given = ["run", "--task", TASK, "--input-dir", "documents", "--model-base-url", model().root]
        given += ["--protocol", "text", "--sandbox", "host"]
        return [*given, "--work-dir", "work", "--quiet", *self.options]

    def again(self, stage: Stage) -> list[str]:
        """`vera resume`. What no seal holds yet, the person says again."""
        said = [f"model.base_url={model().root}", "sandbox.backend=host", "run.input_dir=documents"]
        return ["resume", "work", "--quiet", *(word for each in said for word in ("-c", each))]

    def first(self, stage: Stage, fault: Fault = NOTHING) -> Ended:
        return stage.vera(*self.words(stage), fault=fault)

    def settle(self, stage: Stage, ended: Ended, fault: Fault, usual: int) -> None:
        """Bring the run to its end, and hold it against what is promised. `usual` is its exit code without a
        fault."""
        session = self.session(stage)
        before = whole_lines(session)
        log = records(session) if before else []
        code = ended.code if is_over(session, log) else self.finish(stage)
        if any(isinstance(each, events.LaneStarted) for each in log):
            assert whole_lines(session).startswith(before), "a record was lost"
        is_whole(session)
        if fault.action not in LOSSY:
            assert folded(session).ended.exit_code == usual, folded(session).ended  # type: ignore[union-attr]  # it has ended
        if self.has_effect:
            effect_happened_once(session)
        keep_trajectory(stage, session)
        self.more(stage, code)

    def finish(self, stage: Stage) -> int:
        """The command that goes on, until the run has come to its end; its exit code."""
        session = self.session(stage)
        for _ in range(MOST_AGAIN):
            log = records(session) if (session / "trace.jsonl").exists() else []
            begun = any(isinstance(each, events.LaneStarted | events.Answer) for each in log)
            ended = stage.vera(*(self.again(stage) if begun else self.words(stage)))
            no_traceback(ended, NOTHING)
            if ended.code in RESULTS:
                return ended.code
            assert ended.code in RESUMABLE, f"it does not go on: {ended.code} {ended.said}"
        raise AssertionError(f"it does not come to its end: {ended.code} {ended.said}")

    def given_up(self, stage: Stage) -> list[Path]:
        """No folder: the run goes on in its own."""
        return []

    def more(self, stage: Stage, code: int) -> None:
        """What else is true."""


class BestOfN(Run):
    """The same with three candidates for each step, and a judge among them."""

    name = "best of N"
    options = ("--num-candidates", "3", "--action-verifier", "llm")


class Meaning(Run):
    """`vera run` without a model, over documents that are found by meaning, too."""

    name = "search by meaning"
    has_effect = False

    def documents(self, stage: Stage) -> None:
        tiny_embedding(stage.base / "tiny")
        for number in range(3):
            stage.put(f"documents/{number}.txt", f"alpha beta {number}\n" + "gamma beta alpha\n" * 40)

    def words(self, stage: Stage) -> list[str]:
        return [
            "run",
            "--task",
            "What is alpha beta 2?",
            "--input-dir",
            "documents",
            *self.builtin,
            *self.place,
        ]

    def again(self, stage: Stage) -> list[str]:
        said = ["run.input_dir=documents", "search.embedding=tiny"]
        return ["resume", "work", "--quiet", *self.builtin, *(word for each in said for word in ("-c", each))]

    builtin = ("-c", "model.base_url=builtin")
    place = ("--embedding-file", "tiny", "--work-dir", "work", "--quiet")

    def more(self, stage: Stage, code: int) -> None:
        """The index ends as it would have without an interruption."""
        done = stage.vera("index", "documents", "--json", "-c", "search.embedding=tiny")
        assert done.code == 0, done.said


class Ask(Run):
    """`vera ask`: a question that follows a finished session."""

    name = "follow-up"
    has_effect = False

    def prepare(self, stage: Stage) -> None:
        WARM.into(stage, self.name, self.parent, base=True)

    def parent(self, stage: Stage) -> None:
        stage.put("documents/terms.txt", TERMS)
        asked = "How long must a written offer be valid?"
        made = stage.vera(
            "run", "--task", asked, "--input-dir", "documents", *self.builtin, "--work-dir", "first"
        )
        assert made.code in RESULTS, made

    def words(self, stage: Stage) -> list[str]:
        return [
            "ask",
            "--session",
            "first",
            "Must it be valid for years?",
            "--work-dir",
            "work",
            *self.builtin,
        ]

    def again(self, stage: Stage) -> list[str]:
        return ["resume", "work", "--quiet", *self.builtin]

    builtin = ("-c", "model.base_url=builtin")


def is_over(session: Path, log: Sequence[events.Record]) -> bool:
    """Whether a run has come to its end, and its seal says so."""
    last = log[-1] if log else None
    ended = isinstance(last, events.RunEnd) and last.exit_code in RESULTS
    return ended and check(session).verdict == "SEALED"


def is_whole(session: Path) -> None:
    """Sealed, numbered without a gap, no id twice, the projections as the log makes them, and it replays."""
    log = records(session)
    found = check(session)
    assert found.verdict == "SEALED", found.sentence
    assert [each.seq for each in log] == list(range(1, len(log) + 1))
    for kind, member in ((events.Evidence, "id"), (events.ToolStarted, "call"), (events.Tool, "call")):
        ids = [getattr(each, member) for each in log if isinstance(each, kind)]
        assert len(set(ids)) == len(ids), f"{kind.__name__}: an id repeats: {ids}"
    report = replay(session, (), 2)
    assert report.exit_code in (0, 3), report
    assert rebuild(session) == [], "a projection is not what the log makes"


def effect_happened_once(session: Path) -> None:
    """The command that counts itself ran once; not at all only where it was interrupted before."""
    count = session / "workspace" / EFFECT
    ran = count.read_text().splitlines() if count.exists() else []
    cut_off = any(
        isinstance(each, events.Tool) and each.tool == "shell" and each.outcome != "ok"
        for each in records(session)
    )
    assert ran == ["ran"] or (ran == [] and cut_off), ran


def keep_trajectory(stage: Stage, session: Path) -> None:
    """The one file that is made when all is over, and again by a command of its own."""
    if not (session / "trajectory.traj.json").exists():
        made = stage.vera("export", session, "--trajectory")
        assert made.code == 0, made.said


def whole_lines(session: Path) -> bytes:
    """The records that are whole in a log; none where there is no log."""
    try:
        data = (session / "trace.jsonl").read_bytes()
    except FileNotFoundError:
        return b""
    return data[: data.rfind(b"\n") + 1]
