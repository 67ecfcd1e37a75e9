"""docs/reference/session-folder.md has every member of a trajectory's `extra.verifier`, and no other."""

import json
import re
from pathlib import Path

from docs_pages import quoted, section

from support.sampled_run_examples import decided_run
from vera.report.trajectory import write_trajectory

PAGE = "reference/session-folder.md"


def test_every_member_of_the_selection_is_documented_and_no_other(tmp_path: Path) -> None:
    written = json.loads(write_trajectory(decided_run(tmp_path), lambda _: {}).read_bytes())
    selections = [each["extra"]["verifier"] for each in written["messages"] if "verifier" in each["extra"]]
    tables = section(PAGE, "trajectory.traj.json").split("| member | |")
    documented = [
        word
        for row in re.findall(r"^\| ((?:`[^`]+`(?:, )?)+) \|", tables[2], re.MULTILINE)
        for word in quoted(row)
    ]
    assert {frozenset(each) for each in selections} == {frozenset(documented)}
    assert {name.partition(".")[0] for name in quoted(tables[1])} >= {"info", "messages", "vera"}
