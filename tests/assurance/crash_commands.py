"""Commands that are typed again when they were cut off: a thesis, a check, a bundle, a review."""

import json
from pathlib import Path

from assurance.crash_model import TERMS
from assurance.crash_sessions import WARM, Run, is_over, is_whole, keep_trajectory, records
from assurance.crash_stage import Ended, Stage, no_traceback
from assurance.faults import NOTHING, Fault
from support.verified import replay
from vera.attestation.ahdb.entries import Assert
from vera.attestation.ahdb.journal import Journal
from vera.attestation.bundle import replay_bundle
from vera.attestation.signers import Signers

BUILTIN = ("-c", "model.base_url=builtin")
THESIS = "A written offer must be valid for three years."


class Typed:
    """A command that is typed once more after a fault, and then does what it would have done at first."""

    name = ""
    given: tuple[str, ...] = ()
    can_be_timed = True

    def prepare(self, stage: Stage) -> None:
        """What the command needs."""
        stage.put("documents/terms.txt", TERMS)

    def first(self, stage: Stage, fault: Fault = NOTHING) -> Ended:
        return stage.vera(*self.given, fault=fault)

    def settle(self, stage: Stage, ended: Ended, fault: Fault, usual: int) -> None:
        """Type it again, and hold what it came to against what is promised."""
        done = self.first(stage)
        no_traceback(done, NOTHING)
        assert done.code == usual, f"typed again it ends with {done.code}: {done.said}"
        self.holds(stage, done)

    def holds(self, stage: Stage, done: Ended) -> None:
        """What is true then."""

    def given_up(self, stage: Stage) -> list[Path]:
        """Folders of the first command that the second one does not go on with."""
        return []


class Thesis(Typed):
    """`vera verify`, whose verdict goes into the register."""

    name = "thesis and register"
    given = ("verify", THESIS, "--input-dir", "documents", "--base-dir", ".", *BUILTIN)

    def settle(self, stage: Stage, ended: Ended, fault: Fault, usual: int) -> None:
        """A verdict that could not be entered is used again as it is; `--fresh` enters one."""
        if "ahdb: not entered" in ended.said:
            again = stage.vera(*self.given, "--fresh")
            assert again.code == usual, again
        super().settle(stage, ended, fault, usual)

    def over(self, stage: Stage) -> list[Path]:
        sessions = [path.parent for path in (stage.base / "work").glob("*/trace.jsonl")]
        return [each for each in sessions if is_over(each, records(each))]

    def given_up(self, stage: Stage) -> list[Path]:
        """The look-up of a thesis begins again in another folder."""
        return sorted({*(stage.base / "work").iterdir()} - {*self.over(stage)})

    def holds(self, stage: Stage, done: Ended) -> None:
        sessions = list((stage.base / "work").iterdir())
        over = self.over(stage)
        assert over
        for each in over:
            is_whole(each)
            keep_trajectory(stage, each)
        content = Journal(stage.base).read()
        asserted = [entry for entry in content.entries if isinstance(entry, Assert)]
        assert len({entry.attestation for entry in asserted}) == len(asserted) >= 1, content
        again = self.first(stage)
        assert (again.code, len(list((stage.base / "work").iterdir()))) == (done.code, len(sessions))
        assert Journal(stage.base).read().head == content.head, "the same verdict is recorded twice"


class Check(Typed):
    """`vera check`, with a folder that keeps what it found."""

    name = "check of a document"
    given = ("check", "report.md", "--sources", "documents", "--json", "--keep", "kept")

    def prepare(self, stage: Stage) -> None:
        super().prepare(stage)
        stage.put("report.md", 'The file says "valid for seven years" [1].\n\n[1]: terms.txt\n')

    def holds(self, stage: Stage, done: Ended) -> None:
        found = json.loads(done.out)
        assert [each["code"] for each in found["findings"]["problems"]] == [
            "quotation_false",
            "amount_absent",
        ]


class Finished(Typed):
    """A command for a session that has ended."""

    def prepare(self, stage: Stage) -> None:
        WARM.into(stage, "finished", Run().whole, base=True)


class Bundle(Finished):
    """`vera export --bundle`, which never writes over a file."""

    name = "bundle"
    given = ("export", "work", "--bundle", "first.zip")

    def settle(self, stage: Stage, ended: Ended, fault: Fault, usual: int) -> None:
        file = stage.base / "first.zip"
        if not file.exists():
            super().settle(stage, ended, fault, usual)
        report = replay_bundle(file, Signers(any_signer=True))
        assert report.exit_code == 0, report
        is_whole(stage.base / "work")


class Review(Finished):
    """`vera review`: a signed line of what a person says of a claim."""

    name = "review"
    given = ("review", "work", "--claim", "1", "--agree", "--note", "It stands there.")

    def holds(self, stage: Stage, done: Ended) -> None:
        report = replay(stage.base / "work", (), 0)
        assert report.reviews is not None
        standings = [each.standing for each in report.reviews.reviews]
        assert not report.reviews.bad, report.reviews
        assert len(standings) in (1, 2), standings
