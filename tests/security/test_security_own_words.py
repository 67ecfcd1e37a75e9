"""What VERA or its agent wrote is no source: sessions that lie within the input folder."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from support.attacks import OFFLINE, Ended, vera_here, write_all
from support.cast import Cast, final, turn
from support.cli import folded
from support.scripted_server import ScriptedServer
from vera.protocol import Turn

QUESTION = "How long must a written offer be valid?"
FILES = {"terms.txt": "Terms\n\nA written offer must be valid for at least three years.\n"}
FALSE = "A written offer must be valid for at least seven years"


@pytest.fixture
def documents() -> Iterator[Path]:
    """A folder that the sandbox's own user may enter; pytest's are closed to it when it runs as root."""
    with tempfile.TemporaryDirectory(prefix="vera-documents-") as made:
        Path(made).chmod(0o755)
        write_all(Path(made), FILES)
        yield Path(made)


def run(documents: Path, name: str, worker: Sequence[Turn], *options: object) -> Ended:
    """A run whose session lies in the folder of its documents, as with `--input-dir .`."""
    with ScriptedServer(Cast(worker)) as server:
        return vera_here(
            "run", "--task", QUESTION, "--input-dir", documents, "--work-dir", documents / "work" / name,
            "--model-base-url", server.root, "--protocol", "text", "--verifier-rounds", 1, *options,
            cwd=documents,
        )  # fmt: skip


def test_what_an_earlier_run_answered_is_no_document_of_the_next(documents: Path) -> None:
    assert run(documents, "first", [final(f"{FALSE}.")], *OFFLINE).code == 3
    for number, name in enumerate(("answer.md", "notes.md", "trace.jsonl", "workspace/x.txt")):
        (documents / "work" / "first" / "workspace" / "x.txt").write_text(f"{FALSE}.\n")
        worker = [turn("read", path=f"work/first/{name}"), final(f"{FALSE} [ev_0001:1].")]
        done = run(documents, f"next-{number}", worker, *OFFLINE)
        state = folded(documents / "work" / f"next-{number}")
        assert {each.source for each in state.evidence.values() if not each.lead} == {"terms.txt"}
        assert (done.code, state.status) == (0, "QUOTED"), "by extracts from the document beside the session"
        assert state.extracts is not None and state.extracts.by == "builtin" and "seven" not in done.out


def test_the_documents_beside_earlier_runs_are_verified(documents: Path) -> None:
    run(documents, "first", [final(f"{FALSE}.")], *OFFLINE)
    true = "A written offer must be valid for at least three years [ev_0001:3]."
    assert run(documents, "next", [turn("read", path="terms.txt"), final(true)], *OFFLINE).code == 0
    done = vera_here("replay", documents / "work" / "next", cwd=documents)
    assert done.code == 0, done.out


@pytest.mark.needs("bubblewrap")
def test_a_sandbox_is_not_given_an_input_folder_that_holds_its_own_session(documents: Path) -> None:
    worker = [
        turn("shell", cmd="echo 7 years > /work/v.txt"),
        turn("shell", cmd="cat /input/work/one/workspace/v.txt"),
        final("It is 7 years [ev_0002:1]."),
    ]
    done = run(documents, "one", worker, "--sandbox", "bubblewrap", "--egress", "none")
    assert done.code == 5 and "holds VERA's own files" in done.error


@pytest.mark.needs("bubblewrap")
def test_an_earlier_answer_in_the_input_folder_is_nothing_to_compute_from(documents: Path) -> None:
    """The files are open to all: a sandbox of a user who is not root reads them as that user."""
    run(documents, "first", [final("It is 7 years.")], *OFFLINE)
    (documents / "work" / "first").chmod(0o755)
    (documents / "work" / "first" / "answer.md").chmod(0o644)
    with tempfile.TemporaryDirectory(prefix="vera-elsewhere-") as elsewhere:
        Path(elsewhere).chmod(0o755)
        worker = [
            turn("shell", cmd="sed -n 3p /input/work/first/answer.md"),
            final("It is 7 years [ev_0001:1]."),
        ]
        done = run(documents, f"{elsewhere}/next", worker, "--sandbox", "bubblewrap", "--egress", "none")
    assert done.code == 3 and "(unresolved)" in done.out, "there is no such file in the sandbox"
