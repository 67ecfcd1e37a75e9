"""A short run in which each kind of decision happens once."""

from pathlib import Path

from support.sampled_runs import SampledRun, said
from support.turns import final, turn
from vera import events

LIST = said(turn("shell", cmd="ls /input"))
LIST_AGAIN = said(turn("shell", thought="I look first.", cmd="ls /input"))
READ = said(turn("read", path="/input/terms.txt"))
BROKEN = "I think I should list the files."
GREP = said(turn("shell", cmd="grep -n 'years' /input/terms.txt"))
UNCLOSED = said(turn("shell", cmd="grep 'years"))
ANSWER = said(final("Three years."))
NO_NUMBER = "Both are fine."


def decided_run(root: Path) -> Path:
    """Agreement at step 1, the judge at 2, a fallback at 3, one turn without form at 4, an answer at 5."""
    run = SampledRun(
        root, action_verifier={"selection_index_base": 1, "model": {"key": "set", "name": "judge"}}
    )
    run.sample(LIST, LIST_AGAIN, READ, BROKEN, reasoning="The folder comes first.")
    run.choose(1, "agreement", (1, 1, 2, 0), selector="llm", reason="2 of 3 readable candidates agree")
    run.observe("terms.txt")
    run.sample(READ, GREP, UNCLOSED, calls=3)
    run.judge("FINAL: 2")
    run.choose(
        1, "selector", selector="llm", compared=(1, 0), scores=(1.5, 0.25), margin=1.25, parsed_index=1,
        replies=["FINAL: 2"], weighed=(
            events.Weighed(group=1), events.Weighed(group=2),
            events.Weighed(rejected="bash_syntax", reason="unexpected end of file", group=3),
        ),
    )  # fmt: skip
    run.observe("3: three years")
    run.sample(READ, LIST, problem="the server gave 2 of 4")
    run.judge(NO_NUMBER)
    run.judge(NO_NUMBER)
    run.choose(
        0, "fallback", (1, 2), selector="pairwise", compared=(0, 1), fallback="first_candidate",
        fallback_reason="no_number", replies=[NO_NUMBER, NO_NUMBER],
    )  # fmt: skip
    run.observe("The offer is valid for three years.")
    run.one_turn(BROKEN)
    run.format_error("Write the action as one line of JSON.")
    run.sample(ANSWER, READ)
    run.choose(0, "off", (1, 2))
    run.answer("Three years.")
    run.end()
    return run.close()


def four_candidates(root: Path) -> Path:
    """A step with four candidates of which a judge chose one, in words."""
    task = "For how long must a written offer of source code be valid under the GPL 3?"
    run = SampledRun(
        root, action_verifier={"selection_index_base": 1, "model": {"key": "set", "name": "judge"}}
    )
    run.sample(
        said(turn("search", thought="Look for the offer.", query="written offer source code valid years")),
        said(turn("read", thought="Section 6 speaks of conveying.", path="GPL-3.txt", first=245, last=268)),
        said(turn("shell", thought="Search all files.", cmd="grep -rn 'three years' .")),
        said(turn("search", thought="The offer again.", query="offer valid")),
    )
    run.judge("FINAL: 2")
    run.choose(
        1, "selector", (1, 2, 3, 1), selector="llm", compared=(1, 0, 2), scores=(2.0, 0.5, 0.25), margin=1.5,
        parsed_index=1,
        reason="Candidate 2 reads the section that decides it.",
        replies=[
            "Candidate 2 opens the section of the licence that the question is about, with its line numbers. "
            f"1 and 4 search once more for what is known; 3 reads every file. ({task})\nFINAL: 2"
        ],
    )  # fmt: skip
    run.observe("258: b) Convey the object code, accompanied by a written offer, valid for three years")
    run.end()
    return run.close()
