"""The commands of README, tutorial and how-to guides, typed in order as they stand there.

Each page is typed into a fresh clone with the examples, in a network that has only loopback. Files that a
reader saves are marked `<!-- file: NAME -->` on the page. A command ends with exit code 0, or as `ENDS` says.
`BEFORE` has what a reader types from the words of the page, `SERVES` what goes on until the page is done, and
`SERVERS` what a page needs around it. What is not typed here is in `NOT_TYPED`, with the reason.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TypeVar

import pytest
from docs_pages import DOCS, ROOT, blocks, name

from support.typed_pages import Step, World, clone_at, commands, world

PAGES = [ROOT / "README.md", DOCS / "index.md", DOCS / "tutorial.md", *sorted((DOCS / "how-to").glob("*.md"))]
SHELLS = ("sh", "bash")
TYPED = ("vera ", "python3 ", "curl ")
"""How a block without highlighting begins that holds commands."""

Row = tuple[str, str]
"""A page ("*" for any) and how the command begins."""

NOT_TYPED: dict[Row, str] = {
    ("*", ".venv/bin/python -m pip install "): "the environment of the tests has what it installs",
    ("*", "sudo apt install "): "the machine of the tests has what it installs",
    ("*", "vera models pull "): "downloads a gigabyte; test_agent_pull.py pulls from a hub on loopback",
    ("README", "python3 run.py test"): "it is what runs this",
    ("choose-a-judge", "vera bench judge --model-file"): "a model file of yours: test_bench_judge.py",
    ("evaluate", "vera eval made/"): "asks 200 questions: test_bench_eval_cli.py asks some",
    ("evaluate", "vera eval made-11/"): "asks 200 questions: test_bench_eval_cli.py asks some",
    ("evaluate", "python benchmarks/manuals.py"): "downloads the manuals of Debian packages",
    ("evaluate", "vera eval examples/"): "README.md has the same command",
    (
        "evaluate-with-inspect",
        "inspect eval",
    ): "a large part: test_interop_inspect.py runs it",
    ("evaluate-with-inspect", "vera replay"): "the session of the line before",
    ("export-to-opentelemetry", "OTEL_EXPORTER_OTLP_HEADERS"): "a collector on the internet",
    ("for-analysts", "vera eval"): "README.md has the same command",
    ("for-lawyers", "vera table"): "fill-a-table.md has the same command",
    ("make-a-release", "*"): "a release is made first: tests/release",
    ("render-a-page", ".venv/bin/playwright"): "downloads a browser",
    ("render-a-page", "SHA="): "the machine of the tests has no jq: test_render.py",
    ("render-a-page", "jq"): "the machine of the tests has no jq: test_render.py",
    ("run-a-small-model", "vera run"): "a model file of 93 MB: test_guided_smollm2.py",
    ("run-in-a-container", "*"): "test_release_container.py builds and runs the image",
    ("run-as-a-service", "vera resume"): "after a crash of the machine: test_service_jobs.py",
    ("sandbox-and-web", "vera doctor --sandbox"): "builds and starts each sandbox: tests/sandbox",
    ("steer-a-search", "jq"): "the machine of the tests has no jq: test_docs_ledgers.py",
    ("steer-a-search", "grep"): "the machine of the tests has no jq: test_docs_ledgers.py",
    (
        "use-a-connector",
        'vera run "When does the hall open?"',
    ): "a site of the web; the next one is not",
    ("use-a-model-server", "export OPENAI_API_KEY"): "a server on the internet",
    ("use-my-documents", "*--input https://"): "a site of the web: test_inputs.py fetches one from loopback",
    ("use-a-model-server", "*--model-base-url https://api.example.com"): "a server on the internet",
    ("use-a-model-server", "*--model-file FILE.gguf"): "a model file of yours: test_models.py serves one",
    ("watch-a-run", "ssh"): "another machine",
}
ENDS: dict[Row, int] = {
    ("*", "wait $!"): 130,
    ("README", "python3 run.py verify"): 4,
    ("tutorial", "vera replay work/changed"): 1,
    ("ask-again", "vera ask --session work/offer --thesis"): 4,
    ("check-a-document", "vera check notes.md --sources"): 4,
    ("check-a-document", "vera check notes.md --bibliography"): 3,
    ("check-in-ci", "vera check"): 4,
    ("choose-a-judge", "vera bench judge --model-base-url"): 1,
    ("choose-a-model", "vera bench judge"): 1,
    ("README", 'python3 run.py run "What may I not'): 3,
    ("for-analysts", 'vera run "What is the latest'): 3,
    ("render-a-page", "vera run"): 3,
    ("for-analysts", "vera check"): 4,
    ("for-lawyers", "vera verify"): 4,
    ("for-lawyers", "vera check"): 4,
    ("replay-a-session", "vera replay work/first --trust 630b"): 1,
    ("review-claims", "vera verify"): 4,
    ("fill-a-table", "vera table"): 3,
    ("run-many-tasks", "*--limit"): 3,
    ("tutorial", 'vera run "Which of these'): 3,
    ("use-a-model-server", "*--model-name NAME"): 3,
    ("verify-a-thesis", "*--work-dir work/five"): 4,
    ("verify-a-thesis", "*--work-dir work/military"): 3,
    ("verify-a-thesis", "*--work-dir work/convey"): 3,
    ("write-a-plugin", "*vera run"): 3,
    ("write-a-plugin", "vera verify"): 3,
    ("write-a-report", "vera run"): 3,
    ("sample-several-actions", "vera run"): 3,
    ("sandbox-and-web", "vera run"): 3,
    ("search-the-web", "vera run"): 3,
    ("steer-a-search", "vera run"): 3,
    ("review-claims", "vera rm"): 1,
}
BEFORE: dict[Row, str] = {
    ("README", "git clone"): """
git init -q ~/upstream && cp -R examples ~/upstream && git -C ~/upstream add -A
git -C ~/upstream -c user.name=a -c user.email=a@example.org commit -qm x
git config --global url."$HOME/upstream".insteadOf https://github.com/vera-agent/vera
""",
    ("check-a-citation", "python3 -m json.tool"): """CARD=$(python3 -c '
import json, sys
print(json.load(sys.stdin)["predicate"]["attestation"]["cards"][0][7:])
' <"$LAST")
""",
    ("choose-a-judge", "vera bench judge --entailment-model"): """PYTHONPATH=$TESTS python3 -c '
from pathlib import Path
from support.tiny_entailment import write_judge
write_judge(Path("models/nli-minilm"), {})
'
""",
    ("fill-a-table", "*--engine"): """
mkdir -p /mnt/vera
vera worker --engine postgresql://vera@db.example/batch --store /mnt/vera --slots 2 -q 2>/dev/null &
""",
    ("replay-a-session", "vera trust add anna"): "XDG_DATA_HOME=$PWD/anna vera key >anna.pem 2>/dev/null",
    ("replay-a-session", "vera trust add me"): "vera key >me.pem 2>/dev/null",
    ("run-as-a-service", "curl -s http://127.0.0.1:8855/v1/jobs/$JOB -H"): """JOB=$(python3 -c '
import json, sys
print(json.load(sys.stdin)["id"])
' <"$LAST")
""",
    ("run-as-a-service", "vera serve --engine"): """
stop
while (exec 3<>/dev/tcp/127.0.0.1/8855) 2>/dev/null; do sleep 0.1; done
mkdir -p /mnt/vera /mnt/papers
cp examples/lease/lease.pdf /mnt/papers
""",
    ("use-a-connector", '*3?" --connector "code=git'): """
git init -q . && git add examples
git -c user.name=a -c user.email=a@example.org commit -qm x
""",
    ("use-a-connector", 'vera run "What did Smith'): """PYTHONPATH=$TESTS python3 -c '
from pathlib import Path
from support.connecting import ZoteroFolder
home = Path.home() / "Zotero"
kept = home / "storage" / ZoteroFolder(home).add("storage:smith.txt", citationKey="smith2020")
kept.mkdir()
(kept / "smith.txt").write_text("Smith measured the length of the bridge: it is 120 metres.")
'
""",
    ("tutorial", 'vera run "When may I pass on'): "export PYTHONPATH=$PWD",
    ("stop-resume-limit", 'vera run "When may I pass on'): "export PYTHONPATH=$PWD",
    ("use-from-another-agent", "vera replay"): """
vera verify "The rent is 1,240 euros a month." --input-dir examples/lease --work-dir work/first -q >/dev/null
""",
    ("write-a-plugin", "vera plugins"): """PYTHONPATH=$TESTS python3 -c '
from pathlib import Path
from support.plugin_packages import put_example
put_example(Path("site"))
'
export PYTHONPATH=$PWD/site
""",
}
SERVES: dict[Row, int] = {
    ("*", "python3 examples/scripted-model.py"): 1235,
    ("README", "python3 run.py dashboard"): 8844,
    ("run-as-a-service", "vera serve"): 8855,
    ("run-as-a-service", "vera worker"): 0,
    ("run-on-several-machines", "vera worker"): 0,
    ("use-a-connector", "python3 -m http.server"): 8765,
    ("use-from-another-agent", "vera mcp --http"): 8856,
    ("watch-a-run", "vera dashboard"): 8844,
    ("watch-with-prometheus", "prometheus"): 9090,
}
SERVERS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        (
            *("README", "tutorial", "choose-a-judge", "evaluate", "run-many-tasks", "sample-several-actions"),
            *(
                "sandbox-and-web",
                "search-the-web",
                "steer-a-search",
                "use-a-model-server",
                "verify-an-answer",
            ),
            "for-analysts",
            "choose-a-model",
        ),
        ("model",),
    ),
    "check-a-document": ("index",),
    "export-to-opentelemetry": ("collector",),
    **dict.fromkeys(("fill-a-table", "run-as-a-service", "run-on-several-machines"), ("database",)),
}

NEEDS: dict[str, tuple[str, ...]] = {
    "choose-a-judge": ("onnx",),
    "render-a-page": ("chromium",),
    "watch-with-prometheus": ("promtool",),
    **{page: ("postgres",) for page, servers in SERVERS.items() if "database" in servers},
}
"""Parts of the machine (`tests/parts.py`) that a page needs beyond those of all."""

Found = TypeVar("Found")


def found(table: Mapping[Row, Found], page: Path, typed: str) -> Found | None:
    """The row of a table that is about this command. One that begins with "*" is about part of a command."""
    for (of, begin), value in table.items():
        fits = begin[1:] in typed if begin.startswith("*") else typed.startswith(begin)
        if of in ("*", page.stem) and fits:
            return value
    return None


def steps(page: Path) -> list[Step]:
    listed = []
    for typed in shown(page):
        if found(NOT_TYPED, page, typed) is None:
            before, wanted = found(BEFORE, page, typed) or "", found(ENDS, page, typed) or 0
            listed.append(Step(typed, before, found(SERVES, page, typed), wanted))
    return listed


@cache
def shown(page: Path) -> tuple[str, ...]:
    """Every command of a page."""
    of_shells = (
        block.body
        for block in blocks(page.read_text())
        if block.language in SHELLS or (block.language == "text" and block.body.startswith(TYPED))
    )
    return tuple(typed for body in of_shells for typed in commands(body))


@pytest.fixture(scope="module")
def around(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world(tmp_path_factory.mktemp("world")) as made:
        yield made


@pytest.mark.needs("bubblewrap", "curl", "git")
@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.needs(*NEEDS.get(page.stem, ()))) if page.stem in NEEDS else page
        for page in PAGES
        if steps(page)
    ],
    ids=name,
)
def test_the_commands_of_a_page_do_what_it_says(page: Path, around: World, tmp_path: Path) -> None:
    files = {block.file: block.body for block in blocks(page.read_text()) if block.file}
    clone, home = clone_at(tmp_path, files)
    done = around.typed(steps(page), clone, home, SERVERS.get(page.stem, ()))
    for each in done:
        how = f"{each.step.typed}\nended with {each.code}\n{each.out[-2000:]}\n{each.err[-2000:]}"
        assert each.code == each.step.ends, how
        assert not (each.step.typed.startswith("curl") and '"error":{' in each.out), how


@pytest.mark.parametrize(
    "table", [NOT_TYPED, ENDS, BEFORE, SERVES], ids=["NOT_TYPED", "ENDS", "BEFORE", "SERVES"]
)
def test_each_row_is_about_a_command_that_a_page_shows(table: dict[Row, object]) -> None:
    of_any = [(page, typed) for page in PAGES for typed in shown(page)]
    unused = [row for row, value in table.items() if not any(found({row: value}, *each) for each in of_any)]
    assert [row for row in unused if table[row] != 0] == []
