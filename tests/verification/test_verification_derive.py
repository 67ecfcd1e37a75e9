"""Commands that an answer cites run again in clean boxes: attacks on that, and their benign twins."""

import asyncio
import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.workers import Workplace, final, turn, verifier_context_of, workplace
from vera.agent.lanes import Environment
from vera.audit.checks.computed import computed
from vera.extraction.extractor import Extractor
from vera.verification.derive import derive_all, is_program, rests_on_nothing, scripts_of

LINUX = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the host backend needs Linux")
BACKENDS = [
    pytest.param("bubblewrap", id="bubblewrap", marks=pytest.mark.needs("bubblewrap")),
    pytest.param("host", id="host", marks=LINUX),
]
DATA = {"data.csv": "name,n\na,17\nb,25\nc,38\n", "words.txt": "whale sea whale\nship whale sea\n"}
SUM = "import csv\nprint(sum(int(row['n']) for row in csv.DictReader(open('/input/data.csv'))))\n"


@pytest.fixture(params=BACKENDS)
def place(request: pytest.FixtureRequest) -> Iterator[Workplace]:
    with workplace(request.param, DATA) as made:
        yield made


def write(name: str, content: str) -> str:
    """A command that writes a file of /work."""
    return f"mkdir -p $(dirname {name}); cat > {name} <<'END'\n{content}END"


def test_lines_of_an_input_file_are_counted_again(place: Workplace) -> None:
    work = place.run("wc -l /input/data.csv", final("The file has 4 lines [ev_0001:1]."))
    assert work.outcomes == ["same"]
    assert work.codes() == []


def test_a_script_that_sums_a_column_is_copied_and_runs_again(place: Workplace) -> None:
    work = place.run(write("sum.py", SUM), "python3 sum.py", final("The sum is 80 [ev_0002:1]."))
    assert [path for path, _ in work.derivations["ev_0002"].scripts] == ["sum.py"]
    assert work.codes() == []


def test_a_heredoc_that_reads_the_input_is_computed(place: Workplace) -> None:
    work = place.run(f"python3 - <<'END'\n{SUM}END", final("The sum is 80 [ev_0001:1]."))
    assert work.codes() == []


def test_a_word_that_was_counted_is_computed(place: Workplace) -> None:
    command = "tr -s ' ' '\\n' < /input/words.txt | sort | uniq -c | sort -rn | head -1"
    work = place.run(command, final("The most frequent word is “whale” [ev_0001:1]."))
    assert work.codes() == []


def test_a_rounded_mean_is_computed(place: Workplace) -> None:
    command = "awk -F, 'NR>1{s+=$2; n++} END{print s/n}' /input/data.csv"
    work = place.run(command, final("The mean is 26.7 [ev_0001:1]."))
    assert work.codes() == []


HOLDING = [
    "echo 80",
    "printf '%s\\n' 8'0'",
    f"echo {base64.b64encode(b'80').decode()} | base64 -d; echo",
    "printf '\\x38\\x30\\n'",
    "echo 08 | rev",
    "echo $((0x50))",
    "echo $((73+7))",
    "test -f /input/data.csv && echo 80",
    "total() { echo 80; }; total",
    "yes | head -80 | wc -l",
    "python3 -c 'print(len(\"" + "x" * 80 + "\"))'",
]


def test_a_value_that_the_command_holds_is_not_computed(place: Workplace) -> None:
    answer = [f"The sum is 80 [ev_{number:04d}:1]." for number in range(1, len(HOLDING) + 1)]
    work = place.run(*HOLDING, final("\n".join(answer)))
    assert work.outcomes == ["same"] * len(HOLDING)
    codes = {"value_is_literal", "magic_constant"}
    caught = {finding.claim for finding in computed(work.case()) if finding.code in codes}
    assert caught == {f"c{number}" for number in range(1, len(HOLDING) + 1)}


def test_a_value_written_to_work_and_read_back_is_not_computed(place: Workplace) -> None:
    work = place.run("echo 80 > /work/sum.txt", "cat sum.txt", final("The sum is 80 [ev_0002:1]."))
    assert work.codes() == ["not_reproduced"]


def test_a_file_of_work_read_by_the_host_is_not_computed(place: Workplace) -> None:
    work = place.run(
        "echo 80 > sum.txt", turn("read", path="/work/sum.txt"), final("The sum is 80 [ev_0002:1].")
    )
    assert work.outcomes == ["unavailable"]
    assert work.codes() == ["not_derived"]


@pytest.mark.parametrize("script", ["print(80)\n", "open('/input/data.csv')\nprint(80)\n"])
def test_a_script_that_holds_the_value_is_not_computed(place: Workplace, script: str) -> None:
    work = place.run(write("sum.py", script), "python3 sum.py", final("The sum is 80 [ev_0002:1]."))
    assert "value_is_literal" in work.codes()


def test_a_program_of_the_same_name_on_the_path_is_not_there_again(place: Workplace) -> None:
    fake = write("bin/wc", "#!/bin/sh\necho 80 /input/data.csv\n")
    work = place.run(
        f"{fake}\nchmod +x bin/wc; export PATH=/work/bin:$PATH; hash -r",
        "wc -l /input/data.csv",
        final("The file has 80 lines [ev_0002:1]."),
    )
    assert work.codes() == ["not_reproduced"]


def test_a_program_of_the_virtual_environment_is_not_there_again(place: Workplace) -> None:
    fake = write(".venv/bin/wc", "#!/bin/sh\necho 80\n")
    work = place.run(
        f"{fake}\nchmod +x .venv/bin/wc; hash -r",
        "wc -l /input/data.csv",
        final("The file has 80 lines [ev_0002:1]."),
    )
    assert work.codes() == ["not_reproduced"]


def test_a_function_of_an_earlier_command_is_not_there_again(place: Workplace) -> None:
    work = place.run(
        "wc() { echo 80; }", "wc -l /input/data.csv", final("The file has 80 lines [ev_0002:1].")
    )
    assert work.codes() == ["not_reproduced"]


def test_the_real_program_prints_the_same_after_all_that(place: Workplace) -> None:
    work = place.run(
        "mkdir -p bin; export PATH=/work/bin:$PATH",
        "wc -l /input/data.csv",
        final("The file has 4 lines [ev_0002:1]."),
    )
    assert work.codes() == []


def test_lines_read_again_by_their_id_are_those_of_the_command(place: Workplace) -> None:
    work = place.run(
        "cat /input/data.csv | tail -n +2 | cut -d, -f2 | sort -n",
        turn("read", path="ev_0001", first=3, last=3),
        final("The largest is 38 [ev_0002:3]."),
    )
    assert work.outcomes == ["same"]
    assert work.codes() == []


def test_only_the_cited_lines_must_come_again(place: Workplace) -> None:
    work = place.run("date +%N; wc -l < /input/data.csv", final("The file has 4 lines [ev_0001:2]."))
    assert work.outcomes == ["same"]
    moving = place.session.state.evidence["ev_0001"]
    assert moving.lines == 2


def test_output_that_changes_is_different(place: Workplace) -> None:
    work = place.run("date +%N", final("It is 5 [ev_0001:1]."))
    assert work.outcomes == ["different"]
    assert work.codes() == ["not_reproduced"]


def test_a_command_that_fails_in_a_clean_box_is_not_reproduced(place: Workplace) -> None:
    work = place.run("touch marker", "echo 4; test -e marker || exit 3", final("There are 4 [ev_0002:1]."))
    assert work.outcomes == ["failed"]
    assert "exit 3" in work.derivations["ev_0002"].reason


def test_a_calculation_with_numbers_of_the_task_needs_no_input() -> None:
    with workplace("host", DATA, "What is 17 times 23?") as place:
        work = place.run("echo $((17*23))", final("17 times 23 is 391 [ev_0001:1]."))
        assert work.derivations["ev_0001"].without_input
        assert work.codes() == []


def test_nothing_is_left_in_the_session_folder(place: Workplace) -> None:
    before = {path.name for path in place.session.root.iterdir()}
    place.run("wc -l /input/data.csv", final("The file has 4 lines [ev_0001:1]."))
    assert {path.name for path in place.session.root.iterdir()} - before <= {
        "container.log",
        "container_events.log",
        "store",
    }


def test_what_was_derived_is_not_run_again_and_without_a_sandbox_nothing_is(place: Workplace) -> None:
    work = place.run(
        "wc -l /input/data.csv", "wc -w /input/data.csv", final("The file has 4 lines [ev_0001:1].")
    )
    with Extractor() as extractor:
        context = verifier_context_of(place.session, Environment(extractor=extractor, box=None, corpus=None))
        again = asyncio.run(derive_all(context, 1, ["ev_0001", "ev_0002"]))
    assert again[0] == work.derivations["ev_0001"]
    assert (again[1].outcome, again[1].reason) == ("unavailable", "there is no sandbox to run it in")
    assert list(place.session.state.rounds[1].derivations) == list(again)


def test_a_script_that_is_a_link_out_of_the_workspace_is_not_copied(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "secret.py").write_text("key = 1\n")
    (tmp_path / "work" / "sum.py").symlink_to(tmp_path / "secret.py")
    assert scripts_of("python3 sum.py ../secret.py /etc/passwd", tmp_path / "work") == []


def test_scripts_are_found_by_every_way_to_name_them(tmp_path: Path) -> None:
    for name in ("a.py", "sub/b.py", "run", "data.txt", "c.sh"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("#!/bin/sh\n" if name == "run" else "1\n")
    command = f"cd sub && python3 b.py; ./run; bash $HOME/c.sh; python3 {tmp_path}/a.py < data.txt"
    assert sorted(script.path for script in scripts_of(command, tmp_path)) == [
        "a.py",
        "c.sh",
        "run",
        "sub/b.py",
    ]


def test_a_binary_is_no_script() -> None:
    assert not is_program("tool.py", b"\x7fELF\0", "")
    assert not is_program("tool.py", b"\xff\xfe", "")
    assert is_program("tool", b"#!/usr/bin/env python3\n", "")


@pytest.mark.parametrize(
    ("bare", "rests"),
    [(b"", False), (b"42\n", True), (b"lines:\n0\n", False), (b"lines:\n42\n", True)],
)
def test_a_line_with_a_number_that_comes_without_input_rests_on_nothing(bare: bytes, rests: bool) -> None:
    assert rests_on_nothing([b"lines:\n42"], bare) is rests


@pytest.mark.parametrize("named", ["link", "workspace"])
def test_a_script_is_found_by_the_path_of_a_link_that_holds_the_real_one(tmp_path: Path, named: str) -> None:
    workspace = tmp_path / "work"
    workspace.mkdir()
    (workspace / "a.py").write_text("1\n")
    link = Path(f"{tmp_path}/mnt{workspace}")
    link.parent.mkdir(parents=True)
    link.symlink_to(workspace)
    command = f"python3 {link if named == 'link' else workspace}/a.py"
    assert [script.path for script in scripts_of(command, link)] == ["a.py"]
