"""A box shows the programs of the machine or of the image, and none of the documents that came with them."""

from collections.abc import Callable

import pytest
from sandbox_machine import BUBBLEWRAP, DOCKER, Machine, work_folder

from vera.sandbox import mounts

LISTED = " ".join(map(str, mounts.DOCUMENTS))
# Each needs files below /usr/share or /etc that must stay.
PROGRAMS = {
    "python": "python3 -c 'import ssl, zoneinfo; ssl.create_default_context(); zoneinfo.ZoneInfo(\"Japan\")'",
    "pip": "python3 -m venv --without-pip .v && .v/bin/python -c 'print(1)'",
    "perl": "perl -MPOSIX -MFile::Temp -e 'print strftime(\"%Y\", gmtime 0)'",
    "git": "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x",
    "locale": "LC_ALL=C.UTF-8 bash -c 'x=é; echo ${#x}' | grep -x 1",
    "certificates": "test -s /etc/ssl/certs/ca-certificates.crt",
    "terminfo": "test -d /usr/share/terminfo -o -d /lib/terminfo",
}


@pytest.fixture(params=[DOCKER, BUBBLEWRAP])
def shown(request: pytest.FixtureRequest, start: Callable[..., Machine]) -> Machine:
    return start(request.param)


def test_no_document_of_the_system_is_found(shown: Machine) -> None:
    assert shown.output(f"find {LISTED} -mindepth 1 2>/dev/null") == ""
    assert shown.output("ls -d /usr/share/doc/*/copyright 2>/dev/null") == ""


def test_nothing_can_be_written_in_their_place(shown: Machine) -> None:
    assert "written" not in shown.output("echo x >/usr/share/doc/x && echo written")


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_find_what_they_need(program: str, shown: Machine) -> None:
    name = {"python": "python3", "pip": "python3"}.get(program, program)
    if program in ("perl", "git") and shown.run(f"command -v {name}").exit_code != 0:
        assert program == "git" or shown.backend == "docker"
        return
    result = shown.run(PROGRAMS[program])
    assert result.exit_code == 0, (result.head + result.tail).decode()


@pytest.mark.parametrize("backend", [DOCKER, BUBBLEWRAP])
def test_an_earlier_run_in_the_input_folder_is_an_empty_folder(
    backend: str, start: Callable[..., Machine]
) -> None:
    with work_folder() as documents:
        (documents / "terms.txt").write_text("three years\n")
        for session in (documents / "work" / "a, b", documents / "closed" / "c", documents / "d"):
            (session / "workspace").mkdir(parents=True)
            (session / "trace.jsonl").write_text("{}\n")
            (session / "answer.md").write_text("seven years\n")
        (documents / "closed" / "own.txt").write_text("text\n")
        (documents / "closed").chmod(0o700)  # a sandbox's own user comes in as little as a mount does
        box = start(backend, input=documents)
        assert box.output("cd /input; find . -type f -not -path './closed/*' 2>/dev/null") == "./terms.txt\n"
        assert box.output("cat /input/d/answer.md /input/closed/c/answer.md 2>/dev/null") == ""
        assert "written" not in box.output("echo x >/input/d/x && echo written")
