"""VERA from Python: four functions and their awaited twins, loaded when they are asked for."""

import ast
import asyncio
import doctest
import inspect
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import vera
from vera import api
from vera.attestation.bundle import pack
from vera.config import defaults

ROOT = Path(__file__).parents[1]
LICENCES = ROOT / "examples" / "licences"
THESIS = "GPL version 3 requires the written offer to be valid for at least three years."
BUILT_IN = defaults({"model.base_url": "builtin"})
TWINS = ["verify", "research", "check", "replay"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder that has the examples where a clone has them."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_import_vera_loads_nothing_of_it() -> None:
    shown = subprocess.run(
        [sys.executable, "-c", "import sys, vera; print(*(n for n in sys.modules if n.startswith('vera')))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.split() == ["vera"]


def test_the_package_the_stub_and_the_module_name_the_same() -> None:
    stub = ast.parse((ROOT / "src/vera/__init__.pyi").read_bytes())
    stubbed = {
        alias.asname for node in ast.walk(stub) if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert vera._API == stubbed == set(api.__all__)
    assert set(api.__all__) <= set(dir(vera))
    assert all(getattr(vera, name) is getattr(api, name) for name in api.__all__)


def test_no_room_has_the_name_of_a_function() -> None:
    """The import of a room puts it into the package, in the place of what has the same name."""
    rooms = {path.stem for path in (ROOT / "src/vera").iterdir() if path.suffix in ("", ".py")}
    assert rooms & vera._API == set()


def test_what_is_no_name_of_the_package_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = vera.nothing  # type: ignore[attr-defined] # what must fail


@pytest.mark.parametrize("name", TWINS)
def test_twins_take_the_same_arguments_and_only_one_is_awaited(name: str) -> None:
    waits, awaited = getattr(vera, name), getattr(vera, f"{name}_async")
    assert inspect.signature(waits) == inspect.signature(awaited)
    assert (waits.__name__, waits.__doc__) == (name, awaited.__doc__)
    assert inspect.iscoroutinefunction(awaited)
    assert not inspect.iscoroutinefunction(waits)


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("name", TWINS)
def test_the_examples_of_the_documentation_run(name: str) -> None:
    (example,) = doctest.DocTestFinder().find(getattr(api, name), name, globs={**vars(api)})
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0


def test_the_examples_of_the_reference_run(place: Path) -> None:
    page = ROOT / "docs/reference/python-api.md"
    tried = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert tried.attempted > 5
    assert tried.failed == 0


def test_the_functions_that_wait_may_be_called_where_a_loop_runs(place: Path) -> None:
    async def of_a_notebook() -> tuple[int, str]:
        verdict = vera.verify(THESIS, input_dir=LICENCES, settings=BUILT_IN)
        return vera.replay(verdict.session).exit_code, verdict.result

    assert asyncio.run(of_a_notebook()) == (0, "SUPPORTED")


WHERE_A_LOOP_RUNS = """
import asyncio
from vera import api

async def work():
    print("begun", flush=True)
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        print("cancelled", flush=True)
        raise

async def of_a_notebook():
    api._blocking(work)()

asyncio.new_event_loop().run_until_complete(of_a_notebook())
"""


def test_an_interrupt_where_a_loop_runs_ends_the_work() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WHERE_A_LOOP_RUNS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    said, complained = process.communicate(timeout=60)
    assert said == "cancelled\n"
    assert "KeyboardInterrupt" in complained


def test_two_verifications_at_the_same_moment_have_folders_of_their_own(place: Path) -> None:
    async def both() -> set[Path]:
        asked = [
            vera.verify_async(THESIS, input_dir=LICENCES, settings=BUILT_IN, fresh=True) for _ in range(2)
        ]
        return {verdict.session for verdict in await asyncio.gather(*asked)}

    assert len(asyncio.run(both())) == 2


def test_the_register_of_what_is_asserted_lies_under_the_base_folder_that_is_given(place: Path) -> None:
    vera.verify(THESIS, input_dir="examples/licences", base_dir=place / "base", settings=BUILT_IN)
    assert (place / "base" / ".vera" / "ahdb.jsonl").is_file()
    assert not (place / ".vera").exists()


def test_a_bundle_replays_as_its_session_does(place: Path) -> None:
    verdict = vera.verify(THESIS, input_dir=LICENCES, settings=BUILT_IN, work_dir="mine")
    assert verdict.session == Path("mine")
    pack(Path("mine"), Path("mine.zip"))
    assert vera.replay("mine.zip") == vera.replay("mine")


def test_what_an_earlier_session_wrote_proves_nothing(place: Path) -> None:
    thesis = "The Oder is 866 kilometres long."
    vera.verify(thesis, input_dir=LICENCES, settings=BUILT_IN, work_dir="sp")
    Path("sp/bread.txt").write_text("Bread is made of flour and water.\n")
    again = vera.verify(thesis, input_dir="sp", settings=BUILT_IN, base_dir="other")
    assert again.word == "UNRESOLVED"
    assert {source.name for source in again.sources.values()} <= {"bread.txt"}
    Path("claims.md").write_text("The Oder is 866 kilometres long [1].\n\n[1]: sp/answer.md\n")
    (unchecked,) = vera.check("claims.md", sources="sp").findings.unchecked
    assert "no source" in unchecked.reason
    gathered = vera.verify(thesis, connectors=["mine=folder:sp"], settings=BUILT_IN, base_dir="gathered")
    assert gathered.word == "UNRESOLVED"


def test_research_gives_what_vera_run_prints(place: Path) -> None:
    outcome = vera.research(
        "For how long must a written offer for source code be valid under GPL version 3?",
        input_dir=LICENCES,
        settings=BUILT_IN,
    )
    assert (outcome.status, outcome.verified, outcome.exit_code) == ("QUOTED", False, 0)
    plain = outcome.as_dict()
    assert plain["answer"] == outcome.answer
    assert plain["attestation"] == outcome.attestation_id
    assert plain["work_dir"] == str(outcome.session)
    assert vera.replay(outcome.session).exit_code == 0


def test_what_is_less_than_required_has_exit_code_3(place: Path) -> None:
    given: dict[str, Any] = {"input_dir": LICENCES, "settings": BUILT_IN}
    first = vera.verify(THESIS, **given)
    again = vera.verify(THESIS, **given, require="verified")
    question = "For how long must a written offer for source code be valid under GPL version 3?"
    in_capitals: Any = "VERIFIED"
    answer = vera.research(question, **given, require=in_capitals)
    assert (first.word, first.exit_code) == ("QUOTED", 0)
    assert (again.word, again.exit_code, again.reused) == ("QUOTED", 3, True)
    assert (answer.status, answer.exit_code) == ("QUOTED", 3)
    assert answer.reason.endswith("; VERIFIED was required")


def test_progress_is_told_in_sentences(place: Path) -> None:
    said: list[str] = []
    vera.verify(THESIS, input_dir=LICENCES, settings=BUILT_IN, progress=said.append)
    assert said
    assert all(line == line.strip() and "\n" not in line for line in said)


UNKNOWN: list[Any] = ["verifed", True, None, ""]
"""What nothing can be required by."""

BAD: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "an empty thesis": (lambda: vera.verify(" ", input_dir=LICENCES), vera.RequestError, "thesis"),
    "files of no folder": (
        lambda: vera.verify(THESIS, scope="files", settings=BUILT_IN),
        vera.RequestError,
        "no folder",
    ),
    "no such folder": (
        lambda: vera.verify(THESIS, input_dir="none", settings=BUILT_IN),
        vera.SetupError,
        "none does not exist",
    ),
    "constraints that contradict": (
        lambda: vera.verify(THESIS, scope="web", allow_domains="a.org", deny_domains="a.org"),
        vera.RequestError,
        "both allowed and denied",
    ),
    "a budget of nothing": (
        lambda: vera.verify(THESIS, input_dir=LICENCES, budget_sources=0),
        vera.RequestError,
        "zero",
    ),
    "a budget of nothing by its older name": (
        lambda: vera.verify(THESIS, input_dir=LICENCES, max_sources=0),
        vera.RequestError,
        "zero",
    ),
    **{
        f"require={word!r} of {function.__name__}": (
            partial(function, THESIS, input_dir=LICENCES, settings=BUILT_IN, require=word),
            vera.RequestError,
            "There is no require=",
        )
        for word in UNKNOWN
        for function in (vera.verify, vera.research)
    },
    "no inputs": (
        lambda: vera.verify(THESIS, inputs=[], settings=BUILT_IN),
        vera.RequestError,
        "no input is given",
    ),
    "a question of no inputs": (
        lambda: vera.research("Why?", inputs=(), settings=BUILT_IN),
        vera.RequestError,
        "no input is given",
    ),
    "an input that is none": (
        lambda: vera.verify(THESIS, inputs=[5], settings=BUILT_IN),  # type: ignore[list-item] # that is tested
        vera.RequestError,
        "inputs holds 5",
    ),
    "a folder without a name": (
        lambda: vera.verify(THESIS, input_dir="", settings=BUILT_IN),
        vera.RequestError,
        "input_dir is empty",
    ),
    "a work folder without a name": (
        lambda: vera.research("Why?", input_dir=LICENCES, work_dir="", settings=BUILT_IN),
        vera.RequestError,
        "work_dir is empty",
    ),
    "a work folder of other files": (
        lambda: vera.research("Why?", input_dir=LICENCES, work_dir=".", settings=BUILT_IN),
        vera.SessionError,
        "Choose a new or empty folder",
    ),
    "a work folder of other files, for a thesis": (
        lambda: vera.verify(THESIS, input_dir=LICENCES, work_dir=".", settings=BUILT_IN),
        vera.SessionError,
        "holds files that are no session of VERA: 'examples'",
    ),
    "sources without a name": (
        lambda: vera.check("none.md", sources=""),
        vera.RequestError,
        "sources is empty",
    ),
    "a question that is none": (
        lambda: vera.research(None),  # type: ignore[arg-type] # that is tested
        vera.RequestError,
        "question is empty, or no text",
    ),
    "settings that are none": (
        lambda: vera.verify(THESIS, settings={"model": {}}),  # type: ignore[arg-type] # that is tested
        vera.ConfigError,
        "settings is no dict",
    ),
    "a sub-question that is none": (
        lambda: vera.research("Why?", sub_questions=[5], settings=BUILT_IN),  # type: ignore[list-item] # that is tested
        vera.RequestError,
        "sub_questions holds 5",
    ),
    "sub-questions in one text": (
        lambda: vera.research("Why?", sub_questions="How long?", settings=BUILT_IN),
        vera.RequestError,
        "sub_questions is a list of texts",
    ),
    "connectors in one text": (
        lambda: vera.verify(THESIS, connectors="zz", settings=BUILT_IN),
        vera.RequestError,
        "connectors is a list of texts",
    ),
    "overrides in one text": (
        lambda: vera.verify(THESIS, overrides="model.base_url=builtin"),
        vera.ConfigError,
        "overrides is a list of texts",
    ),
    "an unknown lens": (
        lambda: vera.verify(THESIS, input_dir=LICENCES, lens="rosy"),
        vera.RequestError,
        'no lens "rosy"',
    ),
    "an unknown setting": (
        lambda: vera.verify(THESIS, overrides=["model.bas_url=x"]),
        vera.ConfigError,
        "model.bas_url",
    ),
    "settings and overrides": (
        lambda: vera.verify(THESIS, settings=BUILT_IN, overrides=["a=b"]),
        vera.ConfigError,
        "not both",
    ),
    "an empty question": (lambda: vera.research(" "), vera.RequestError, "question is empty"),
    "a question of no folder": (
        lambda: vera.research("Why?", input_dir="none", settings=BUILT_IN),
        vera.SetupError,
        "none does not exist",
    ),
    "no such document": (lambda: vera.check("none.md"), vera.SetupError, "There is no file none.md"),
    "a date that is none": (
        lambda: vera.check("none.md", not_before="soon"),
        vera.SetupError,
        "not_before 'soon' is no date",
    ),
    "no session": (lambda: vera.replay("none"), vera.NoSession, "none"),
    "a level that is none": (lambda: vera.replay("none", level=3), vera.RequestError, "no level 3"),
    "a key id that is none": (lambda: vera.replay("none", trust=["x"]), vera.RequestError, "key ids"),
}


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_an_error_of_one_sentence_that_leaves_no_session(what: str) -> None:
    do, error, sentence = BAD[what]
    with pytest.raises(error) as raised:
        do()
    assert sentence in str(raised.value)
    assert not Path("work").exists()
