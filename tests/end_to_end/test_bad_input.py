"""Bad input: one clear sentence each, and its exit code."""

import fcntl
import json
import os
from pathlib import Path

import pytest

from support.cast import Cast, final
from support.cli import vera
from support.scripted_server import ScriptedServer


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "a.txt").write_text("The colour of the sky is blue.\n")
    return folder


def one_sentence(stderr: str) -> str:
    lines = [line for line in stderr.splitlines() if line.startswith("vera: ")]
    assert len(lines) == 1, stderr
    assert "Traceback" not in stderr
    return lines[0]


def test_no_such_input_folder(tmp_path: Path) -> None:
    done = vera(
        "run", "Why?", "--input-dir", tmp_path / "nowhere", "--work-dir", tmp_path / "w", cwd=tmp_path
    )
    assert done.returncode == 2
    assert "does not exist" in one_sentence(done.stderr)
    assert not (tmp_path / "w").exists()


def test_an_input_that_is_a_file(tmp_path: Path, documents: Path) -> None:
    done = vera("run", "Why?", "--input-dir", documents / "a.txt", cwd=tmp_path)
    assert done.returncode == 2
    assert "is not a folder" in one_sentence(done.stderr)


@pytest.mark.parametrize("arguments", [["--task", "  "], ["--task", "-"], [""]])
def test_an_empty_task(arguments: list[str], tmp_path: Path) -> None:
    done = vera("run", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert "the question is empty" in one_sentence(done.stderr)


def test_no_task_two_tasks_and_a_task_file_that_is_not_there(tmp_path: Path) -> None:
    assert "there is no question" in one_sentence(vera("run", cwd=tmp_path).stderr)
    assert "given twice" in one_sentence(vera("run", "a", "--task", "b", cwd=tmp_path).stderr)
    done = vera("run", "--task", "@none.txt", cwd=tmp_path)
    assert done.returncode == 2
    assert "none.txt cannot be read" in one_sentence(done.stderr)


def test_an_unreachable_model(tmp_path: Path) -> None:
    done = vera("run", "Why?", "--model-base-url", "http://127.0.0.1:9", "--work-dir", "w", cwd=tmp_path)
    assert done.returncode == 5
    assert "127.0.0.1:9" in one_sentence(done.stderr)
    assert not (tmp_path / "w").exists()


def test_a_model_that_goes_away_in_the_middle_leaves_a_run_to_resume(tmp_path: Path) -> None:
    with ScriptedServer(["nonsense"]) as server:  # the second request is answered with HTTP 400
        done = vera(
            "run", "Why?", "--model-base-url", server.root, "--work-dir", "w", "--sandbox", "none",
            "--protocol", "text", cwd=tmp_path,
        )  # fmt: skip
    assert done.returncode == 5
    assert "vera resume" in one_sentence(done.stderr)
    with ScriptedServer(Cast([final("Because.")])) as server:
        done = vera("resume", "w", "-c", f"model.base_url={server.root}", cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    assert done.stdout.startswith("Because.")


def test_a_work_folder_in_use(tmp_path: Path, documents: Path) -> None:
    (tmp_path / "w").mkdir()
    with (tmp_path / "w" / "trace.jsonl").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        done = vera("run", "Why?", "--input-dir", documents, "--work-dir", "w", cwd=tmp_path)
    assert done.returncode == 1
    assert "in use by another run" in one_sentence(done.stderr)


def test_a_resumed_run_is_told_what_resume_takes(tmp_path: Path, documents: Path) -> None:
    with ScriptedServer(["nonsense"]) as server:
        words = ("--input-dir", documents, "--sandbox", "none", "--protocol", "text")
        vera("run", "Why?", "--model-base-url", server.root, "--work-dir", "w", *words, cwd=tmp_path)
    away = documents.rename(tmp_path / "away")
    resume = ("resume", "w", "-c", "model.base_url=builtin", "-c", "verification.rule=model")
    done = vera(*resume, cwd=tmp_path)
    assert "(vera resume: -c run.input_dir=DIR)" in one_sentence(done.stderr)
    done = vera(*resume, "-c", f"run.input_dir={away}", cwd=tmp_path)
    assert "-c verification.model_base_url=ADDRESS" in one_sentence(done.stderr)
    done = vera(*resume, "-c", f"run.input_dir={away}", "-c", "verification.rule=literal", cwd=tmp_path)
    assert done.returncode in (0, 3), done.stderr


def test_a_finished_work_folder_is_neither_run_nor_resumed_again(tmp_path: Path, documents: Path) -> None:
    arguments = ("run", "What colour is the sky?", "--input-dir", documents, "--work-dir", "w")
    assert vera(*arguments, cwd=tmp_path).returncode == 0
    before = (tmp_path / "w" / "trace.jsonl").read_bytes()
    for again in (("run", "What colour is grass?", *arguments[2:]), ("resume", "w")):
        done = vera(*again, cwd=tmp_path)
        assert done.returncode == 1
        assert "has finished" in one_sentence(done.stderr)
        assert "vera show w" in done.stderr
    assert (tmp_path / "w" / "trace.jsonl").read_bytes() == before


def test_the_same_command_again_opens_a_folder_beside_the_finished_one(
    tmp_path: Path, documents: Path
) -> None:
    arguments = ("run", "What colour is the sky?", "--input-dir", documents, "--work-dir", "w")
    vera(*arguments, cwd=tmp_path)
    before = (tmp_path / "w" / "trace.jsonl").read_bytes()
    for name in ("w-2", "w-3"):
        done = vera(*arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert f"w holds a finished run of this question; this one is in {name}" in done.stderr
        assert (tmp_path / name / "trace.jsonl").exists()
    assert (tmp_path / "w" / "trace.jsonl").read_bytes() == before


def test_a_broken_log_is_named_with_its_line(tmp_path: Path, documents: Path) -> None:
    vera("run", "What colour is the sky?", "--input-dir", documents, "--work-dir", "w", cwd=tmp_path)
    path = tmp_path / "w" / "trace.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[3] = lines[3].replace(b'"', b"'", 1)
    path.write_bytes(b"".join(lines))
    for command in ("show", "resume", "rebuild"):
        done = vera(command, "w", cwd=tmp_path)
        assert done.returncode == 1
        assert "broken at line 4" in one_sentence(done.stderr)


def test_a_folder_without_a_session(tmp_path: Path) -> None:
    for command in ("show", "resume", "rebuild"):
        done = vera(command, tmp_path, cwd=tmp_path)
        assert done.returncode == 1
        assert "no session" in one_sentence(done.stderr)


def test_an_unknown_setting_is_an_error_with_a_suggestion(tmp_path: Path) -> None:
    done = vera("run", "Why?", "-c", "run.max_step=5", cwd=tmp_path)
    assert done.returncode == 2
    assert "run.max_steps" in done.stderr
    assert "Traceback" not in done.stderr


def test_files_that_cannot_be_read_are_named_and_the_rest_is_used(tmp_path: Path, documents: Path) -> None:
    (documents / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4)
    (documents / "link.txt").symlink_to("/etc/passwd")
    done = vera("run", "What colour is the sky?", "--input-dir", documents, "--work-dir", "w", cwd=tmp_path)
    assert done.returncode == 0
    assert "not readable: picture.png" in done.stderr
    assert "not readable: link.txt" in done.stderr


def test_a_folder_in_which_nothing_can_be_read_ends_the_run(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.bin").write_bytes(bytes(range(256)) * 20)
    done = vera("run", "Why?", "--input-dir", "in", "--work-dir", "w", cwd=tmp_path)
    assert done.returncode == 1
    assert "a.bin" in one_sentence(done.stderr)
    (tmp_path / "in" / "a.bin").unlink()
    assert vera("run", "Why?", "--input-dir", "in", "--work-dir", "w", cwd=tmp_path).returncode == 1


def test_a_work_folder_that_cannot_be_made(tmp_path: Path, documents: Path) -> None:
    (tmp_path / "file").write_text("x")
    done = vera("run", "Why?", "--input-dir", documents, "--work-dir", "file/w", cwd=tmp_path)
    assert done.returncode == 1
    sentence = "Cannot use file/w as work folder: file is no folder. Choose another work folder."
    assert sentence in one_sentence(done.stderr)


def test_no_space_left_is_said_in_one_sentence_and_the_run_can_be_resumed(
    tmp_path: Path, documents: Path
) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full, which Linux has")
    full = tmp_path / "full.py"
    full.write_text(
        "import os, sys\n"
        "from vera.session import log\n"
        "real, count = os.write, [0]\n"
        "def write(fd, data):\n"
        '    if data.startswith(b\'{"type":"tool"\'):\n'
        "        return real(os.open('/dev/full', os.O_WRONLY), data)\n"
        "    return real(fd, data)\n"
        "os.write = write\n"
        "from vera.cli import main\n"
        "main(prog_name='vera')\n"
    )
    import subprocess
    import sys

    arguments = ["run", "What colour is the sky?", "--input-dir", str(documents), "--work-dir", "w"]
    done = subprocess.run(
        [sys.executable, str(full), *arguments], cwd=tmp_path, capture_output=True, text=True, env=os.environ
    )
    assert done.returncode == 1
    assert "No space left on device" in one_sentence(done.stderr)
    resumed = vera("resume", "w", "--json", cwd=tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    assert json.loads(resumed.stdout)["citations"]
