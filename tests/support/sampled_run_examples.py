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
