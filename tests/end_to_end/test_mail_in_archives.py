"""A question that a mail in a mailbox in a zip answers: cited, verified, and replayed offline."""

import hashlib
import json
from pathlib import Path

from support.cli import records, vera
from support.containers import mail, mbox, zipped
from vera import events
from vera.session.session import load_text
from vera.store import Store

NAME = "takeout.zip!/Takeout/Mail/All mail.mbox!/m000002.eml"


def test_a_mail_in_a_mailbox_in_a_zip_is_cited_verified_and_replayed(tmp_path: Path) -> None:
    documents = tmp_path / "documents"
    documents.mkdir()
    box = mbox(
        mail("Lunch", "Shall we have lunch on Friday?\n"),
        mail("The warehouse", "The warehouse in Aarhus has 1240 square metres of floor space.\n"),
        mail("Weather", "It rains.\n"),
    )
    (documents / "takeout.zip").write_bytes(zipped({"Takeout/Mail/All mail.mbox": box}))
    question = "How many square metres of floor space does the warehouse in Aarhus have?"
    done = vera(
        "run", question, "--input-dir", documents, "--work-dir", "w", "--sandbox", "none", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "1240" in done.stdout
    work = tmp_path / "w"
    shown = json.loads(vera("show", work, "--json", cwd=tmp_path).stdout)
    assert {cited["source"] for cited in shown["citations"]} == {NAME}

    log = records(work)
    read = next(
        each for each in log if isinstance(each, events.Evidence) and each.source == NAME and each.raw
    )
    assert read.raw is not None
    raw = (work / "store" / read.raw.sha256[:2] / read.raw.sha256).read_bytes()
    assert raw in box
    assert hashlib.sha256(raw).hexdigest() == read.raw.sha256
    assert read.extractor.startswith("eml/")
    whole = hashlib.sha256((documents / "takeout.zip").read_bytes()).hexdigest()
    told = next(each for each in log if isinstance(each, events.Tool) and each.evidence == read.id)
    observation = load_text(Store(work / "store"), told.obs)
    assert f"lay in takeout.zip (sha256 {whole}): zip member 1" in observation
    assert f"mbox member 2 at byte {box.index(raw)}, {len(raw)} bytes" in observation
    assert read.within is not None
    lay = json.loads(Store(work / "store").get(read.within.sha256))
    assert (lay["file"], lay["sha256"]) == ("takeout.zip", whole)
    assert [(step["kind"], step["number"]) for step in lay["steps"]] == [("zip", 1), ("mbox", 2)]
    assert lay["steps"][1]["offset"] == box.index(raw) and lay["steps"][1]["bytes"] == len(raw)

    (documents / "takeout.zip").unlink()
    replayed = vera("replay", work, "--json", cwd=tmp_path)
    assert replayed.returncode == 0, replayed.stdout
    levels = [(level["name"], level["verdict"]) for level in json.loads(replayed.stdout)["levels"]]
    assert levels == [("L0", "AGREES"), ("L1", "AGREES"), ("L2", "AGREES")]
