"""Connectors in whole runs: a citation into the right bytes, the record, a replay without the source."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from support.cli import folded, records, vera
from support.connecting import ZoteroFolder, repository
from support.licence_run import EXAMPLES
from support.plugin_packages import on_path, put
from support.site import serving
from vera import RequestError, SetupError, check, events, verify

QUESTION = "For how long must a written offer for source code be valid under GPL version 3?"
THESIS = "GPL version 3 requires the written offer to be valid for at least three years."
LICENCE = (EXAMPLES / "GPL-3.txt").read_bytes()


def cited(work: Path) -> events.Evidence:
    """The evidence of the first citation, whose bytes are held against its hash."""
    evidence = next(each for each in folded(work).evidence.values() if not each.lead)
    blob = evidence.raw or evidence.text
    data = work / "store" / blob.sha256[:2] / blob.sha256
    found = data if data.is_file() else next((work / "store").rglob(blob.sha256))
    assert hashlib.sha256(found.read_bytes()).hexdigest() == blob.sha256
    return evidence


def used(work: Path) -> events.ConnectorUsed:
    (read,) = [each for each in records(work) if isinstance(each, events.ConnectorsRead)]
    return read.connectors[0]


@pytest.mark.needs("git")
def test_a_run_and_a_thesis_over_a_repository_replay_without_it(tmp_path: Path) -> None:
    revision = repository(tmp_path / "r", {"docs/GPL-3.txt": LICENCE})
    source = f"--connector=code=git:{tmp_path}/r"
    run = vera("run", QUESTION, source, "--work-dir", "w", "--sandbox", "none", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert f"code@{revision}/docs/GPL-3.txt, lines" in run.stdout
    evidence = cited(tmp_path / "w")
    assert evidence.text.sha256 == hashlib.sha256(LICENCE).hexdigest()
    assert evidence.origin.startswith(f"git {tmp_path}/r at {revision}: docs/GPL-3.txt")
    told = used(tmp_path / "w")
    assert (told.kind, told.version, told.revision, told.documents) == ("git", "1", revision, 1)
    asked = vera("verify", THESIS, source, "--json", "--work-dir", "v", cwd=tmp_path)
    assert asked.returncode == 0, asked.stderr + asked.stdout
    assert json.loads(asked.stdout)["result"] == "SUPPORTED"
    shutil.rmtree(tmp_path / "r")
    for work in ("w", "v"):
        replay = vera("replay", work, cwd=tmp_path)
        assert replay.returncode == 0, replay.stdout + replay.stderr


def test_a_site_is_read_under_the_egress_policy_of_the_run(tmp_path: Path) -> None:
    head = b"<html><head><title>GPL version 3</title></head><body><pre>"
    page = head + LICENCE.replace(b"<", b"&lt;") + b"</pre></body></html>"
    pages = {"/docs/GPL-3.html": page, "/docs/": b'<a href="GPL-3.html">GPL</a><a href="none.html">x</a>'}
    with serving(pages) as site:
        host = site.removeprefix("http://")
        source = f"--connector=laws=site:{site}/docs/"
        closed = vera("run", QUESTION, source, "--egress", "none", cwd=tmp_path)
        opened = (
            "-c", "egress.mode=allowlist", "-c", f"egress.allow={host}",
            "-c", "egress.allow_cidrs=127.0.0.0/8",
        )  # fmt: skip
        run = vera("run", QUESTION, source, *opened, "--work-dir", "w", "--sandbox", "none", cwd=tmp_path)
        asked = vera("verify", THESIS, source, *opened, "--json", "--work-dir", "v", cwd=tmp_path)
    assert closed.returncode == 2
    assert "the network is closed for this run" in closed.stderr
    assert run.returncode == 0, run.stderr
    evidence = cited(tmp_path / "w")
    assert evidence.raw is not None
    assert evidence.raw.sha256 == hashlib.sha256(page).hexdigest()
    assert evidence.origin == f"{site}/docs/GPL-3.html"
    made = [each for each in records(tmp_path / "w") if isinstance(each, events.Egress)]
    assert {each.by for each in made} == {"connector"}
    assert f"{site}/docs/GPL-3.html" in {each.url for each in made}
    verdict = json.loads(asked.stdout)
    assert verdict["result"] == "SUPPORTED", asked.stdout
    left = f"The connector laws left out 1 of what it found. {site}/docs/none.html: the server answered 404."
    assert left in asked.stdout
    assert vera("replay", "w", cwd=tmp_path).returncode == 0
    assert vera("replay", "v", cwd=tmp_path).returncode == 0


def test_an_attachment_is_cited_by_its_key(tmp_path: Path) -> None:
    zotero = ZoteroFolder(tmp_path / "Zotero")
    key = zotero.add("storage:GPL-3.txt", citationKey="fsf2007", title="GPL")
    (zotero.home / "storage" / key).mkdir()
    (zotero.home / "storage" / key / "GPL-3.txt").write_bytes(LICENCE)
    source = f"--connector=library=zotero:{zotero.home}"
    run = vera("run", QUESTION, source, "--work-dir", "w", "--sandbox", "none", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "library/@fsf2007/GPL-3.txt, lines" in run.stdout
    assert "from [@fsf2007] GPL" in run.stdout
    assert cited(tmp_path / "w").text.sha256 == hashlib.sha256(LICENCE).hexdigest()
    shutil.rmtree(zotero.home)
    assert vera("replay", "w", cwd=tmp_path).returncode == 0


def test_a_request_names_connectors_and_configures_none(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "GPL-3.txt").write_bytes(LICENCE)
    mine = {"VERA_CONNECTORS__CONFIGURED": f"laws=folder:{tmp_path}/d"}

    def ask(**asked: object) -> tuple[int, str]:
        (tmp_path / "request.json").write_text(json.dumps({"text": THESIS, **asked}))
        done = vera("verify", "--request", "request.json", "--json", cwd=tmp_path, **mine)
        return done.returncode, done.stdout + done.stderr

    assert ask(connectors=["laws"])[0] == 0
    assert ask(scope=["connectors"])[0] == 0
    code, said = ask(connectors=["papers"])
    assert (code, "There is no connector 'papers'. Configured are: laws." in said) == (2, True)
    code, said = ask(connectors=["x=folder:/etc"])
    assert (code, "That is no request" in said) == (2, True)
    code, said = ask(connectors=["laws"], scope=["web"])
    assert (code, "the scope leaves them out" in said) == (2, True)


def test_an_execution_takes_no_connector(tmp_path: Path) -> None:
    done = vera("run", QUESTION, "--lane", "execute", "--connector", "x=folder:/etc", cwd=tmp_path)
    assert (done.returncode, "--connector and addresses with --input are for research" in done.stderr) == (
        2,
        True,
    )


def test_a_project_folder_configures_no_connector(tmp_path: Path) -> None:
    for key, value in (("configured", "x=folder:/etc"), ("use", "x=folder:/etc")):
        (tmp_path / "vera.yaml").write_text(f"connectors:\n  {key}: {value}\n")
        done = vera("run", QUESTION, cwd=tmp_path)
        assert done.returncode == 2
        assert f"connectors.{key}: " in done.stderr
        assert "cannot decide for you" in done.stderr


def test_python_and_the_scope(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents of a connector count under the scope `connectors`, those of the folder under `files`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "GPL-3.txt").write_bytes(LICENCE)
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "other.txt").write_text("The hall opens at nine.\n")
    builtin = ["model.base_url=builtin"]
    laws = f"laws=folder:{tmp_path}/d"
    both = verify(THESIS, connectors=[laws], input_dir="e", overrides=builtin)
    assert both.result == "SUPPORTED"
    assert {each.name for each in both.sources.values()} == {"laws/GPL-3.txt"}
    assert (
        verify(THESIS, connectors=[laws], input_dir="e", scope="files", overrides=builtin).result
        != "SUPPORTED"
    )
    for wrong, said in (("laws", "There is no connector 'laws'"), ("laws=ftp:/x", "unknown kind 'ftp'")):
        with pytest.raises(SetupError, match=said):
            verify(THESIS, connectors=[wrong], overrides=builtin)
    with pytest.raises(RequestError):
        verify(THESIS, connectors=[laws], scope="moon", overrides=builtin)


def test_a_plugin_brings_a_kind_of_connector(tmp_path: Path) -> None:
    source = (
        "def shelf(source, basket):\n"
        "    source.only()\n"
        "    with open(source.address, 'rb') as file:\n"
        "        basket.add('GPL-3.txt', file.read(), 'the shelf')\n"
        "    return 'edition 2'\n"
    )
    site = put(tmp_path / "site", "shelves", source, {"connectors": {"shelf": "shelf"}})
    (tmp_path / "GPL-3.txt").write_bytes(LICENCE)
    words = ("run", QUESTION, "--connector", f"books=shelf:{tmp_path}/GPL-3.txt", "--sandbox", "none")
    unknown = vera(*words, cwd=tmp_path, **on_path(site))
    assert (unknown.returncode, "unknown kind 'shelf'" in unknown.stderr) == (2, True)
    run = vera(*words, "--plugin", "shelf", "--work-dir", "w", cwd=tmp_path, **on_path(site))
    assert run.returncode == 0, run.stderr
    told = used(tmp_path / "w")
    assert (told.kind, told.version, told.revision) == ("shelf", "strange-parts-1.0", "edition 2")
    failed = vera(*words[:3], "books=shelf:/none", "--plugin", "shelf", cwd=tmp_path, **on_path(site))
    assert failed.returncode == 2
    assert "of the plugin shelf, gave nothing: it failed with FileNotFoundError" in failed.stderr


def test_a_question_that_follows_a_check_and_a_batch_read_connectors(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "GPL-3.txt").write_bytes(LICENCE)
    laws = f"--connector=laws=folder:{tmp_path}/d"
    first = vera("run", QUESTION, laws, "--work-dir", "w", "--sandbox", "none", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    asked = vera(
        "ask", "--session", "w", "How long must an offer be valid?", laws, "--work-dir", "a", cwd=tmp_path
    )
    assert asked.returncode == 0, asked.stderr
    assert used(tmp_path / "a").name == "laws"
    thesis = vera("ask", "--session", "w", "--thesis", THESIS, laws, "--work-dir", "t", cwd=tmp_path)
    assert thesis.returncode == 0, thesis.stdout + thesis.stderr
    assert used(tmp_path / "t").documents == 1

    mine = {"VERA_CONNECTORS__CONFIGURED": f"laws=folder:{tmp_path}/d"}
    tasks = [
        {"task": QUESTION},
        {"thesis": THESIS},
        {"task": QUESTION, "input_dir": "d", "name": "own"},
    ]
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(each) + "\n" for each in tasks))
    done = vera("batch", "tasks.jsonl", laws, "--base-dir", "b", cwd=tmp_path, **mine)
    assert done.returncode == 0, done.stdout + done.stderr
    sources = {}
    for log in (tmp_path / "b" / "runs").glob("*/1/trace.jsonl"):
        state = folded(log.parent)
        assert state.task is not None
        sources[log.parent] = {each.source for each in state.evidence.values() if not each.lead}
    assert sorted(map(sorted, sources.values())) == [
        ["GPL-3.txt"],
        ["laws/GPL-3.txt"],
        ["laws/GPL-3.txt"],
    ]
    tasks = [{"thesis": THESIS, "settings": {"connectors.use": name}} for name in ("laws", "x=folder:/etc")]
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(each) + "\n" for each in tasks))
    named = vera("batch", "tasks.jsonl", "--base-dir", "c", cwd=tmp_path, **mine)
    assert named.returncode == 1 and "connectors.use: x=folder:/etc reads files" in named.stderr
    assert "2 tasks: 1 done, 1 failed (1 QUOTED)" in named.stdout


def test_a_check_finds_sources_by_address_by_key_and_beside_those_of_a_folder(tmp_path: Path) -> None:
    page = b"<html><title>Hours</title><body><p>The hall of Arden opens at nine.</p></body></html>"
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "GPL-3.txt").write_bytes(LICENCE)
    with serving({"/docs/": b'<a href="hours">x</a>', "/docs/hours": page}) as site:
        (tmp_path / "report.md").write_text(
            f'It says "the hall of Arden opens at ten" ([hours]({site}/docs/hours#top)).\n\n'
            'The offer is "valid for at least three years" ([GPL](s/GPL-3.txt)).\n'
        )
        opened = (
            *("-c", "egress.mode=allowlist", "-c", f"egress.allow={site[7:]}"),
            *("-c", "egress.allow_cidrs=127.0.0.0/8"),
        )
        site_of = f"--connector=hand=site:{site}/docs/"
        done = vera("check", "report.md", site_of, "--sources", "s", *opened, "--json", cwd=tmp_path)
        alone = vera("check", "report.md", "--connector=x=folder:/none", cwd=tmp_path)
        python = check(
            str(tmp_path / "report.md"),
            connectors=[f"laws=folder:{tmp_path}/s"],
            overrides=["model.base_url=builtin"],
        )
    report = json.loads(done.stdout)
    host = site[7:].replace(":", "_")
    assert [(each["kind"], each["where"]) for each in report["sources"]] == [
        ("web", f"hand/{host}/docs/hours.html"),
        ("file", "input/GPL-3.txt"),
    ]
    problems = {(each["line"], each["severity"]) for each in report["findings"]["problems"]}
    assert (done.returncode, (1, "hard") in problems, 3 in dict(problems)) == (4, True, False)
    assert report["notes"] == ["The connector hand gave 2 documents."]
    assert (alone.returncode, "/none is no folder" in alone.stderr) == (2, True)
    assert [each.where for each in python.sources] == ["", "laws/GPL-3.txt"]
