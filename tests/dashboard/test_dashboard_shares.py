"""Files of a session for others: each is what the command line writes, and nothing else is given out."""

import csv
import io
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from starlette.exceptions import HTTPException

from support import licence_run
from support.cli import vera
from support.dashboards import Dashboard, dashboard_of
from support.run_pages import FINISHED
from vera.dashboard.sessions import SessionFolder
from vera.dashboard.shares import claims_table, share
from vera.report.html.wording import SHARES
from vera.report.view.model import CardView, ClaimView

EXAMPLE = "/s/work~2Fexample"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("shares")
    licence_run.make(base)
    return base


@pytest.fixture(scope="module")
def served(base: Path) -> Iterator[Dashboard]:
    with dashboard_of(base, base.parent / "keys" / "token") as dashboard:
        yield dashboard


def test_the_page_links_each_file_and_each_is_saved_never_shown(served: Dashboard) -> None:
    with served.client() as client:
        text = client.get(EXAMPLE).text
        for name in SHARES:
            assert f'href="{EXAMPLE}/share/{name}" download' in text
            saved = client.get(f"{EXAMPLE}/share/{name}")
            assert saved.status_code == 200 and saved.content
            assert saved.headers["content-disposition"] == f'attachment; filename="{name}"'
            assert saved.headers["x-content-type-options"] == "nosniff"
        report = client.get(f"{EXAMPLE}/share/report.html").text
        assert 'href="#note-1"' in report and 'id="note-1"' in report


def test_the_bundle_replays_and_the_attestation_is_that_of_the_session(
    served: Dashboard, base: Path, tmp_path: Path
) -> None:
    with served.client() as client:
        (tmp_path / "bundle.zip").write_bytes(client.get(f"{EXAMPLE}/share/bundle.zip").content)
        attestation = client.get(f"{EXAMPLE}/share/attestation.json").content
    assert attestation == (base / "work" / "example" / "attestation.json").read_bytes()
    replayed = vera("replay", "bundle.zip", cwd=tmp_path)
    assert replayed.returncode == 0, replayed.stderr


def test_the_table_has_a_row_a_card(served: Dashboard) -> None:
    with served.client() as client:
        rows = list(csv.DictReader(io.StringIO(client.get(f"{EXAMPLE}/share/claims.csv").text)))
    assert {row["claim"] for row in rows} == {"c1", "c2", "c3"}
    assert {row["verdict"] for row in rows} == {"supported"}
    assert all(len(row["sha256"]) == 64 and int(row["first_line"]) <= int(row["last_line"]) for row in rows)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@sum", "\t=1", "=HYPERLINK(0)"])
def test_no_cell_is_a_formula(text: str) -> None:
    card = CardView(
        id="", relation="SUPPORTS", evidence="ev_0001", first=1, last=2, source=text, source_id="ab"
    )
    claim = ClaimView(key="c1", text=text, verdict="supported", reason=text, cards=(card,))
    bare = msgspec.structs.replace(claim, cards=())
    for row in list(csv.reader(io.StringIO(claims_table([claim, bare]))))[1:]:
        assert not [cell for cell in row if cell.startswith(("=", "+", "-", "@", "\t"))]


@pytest.mark.parametrize("name", ["trace.jsonl", "..%2fattestation.json", "report", ""])
def test_no_other_file_is_given_out(served: Dashboard, name: str) -> None:
    assert served.get_raw(f"{EXAMPLE}/share/{name}") == 404


def test_who_has_no_token_gets_none(served: Dashboard) -> None:
    with served.stranger() as client:
        for name in SHARES:
            assert client.get(f"{EXAMPLE}/share/{name}").status_code in (303, 401, 403)


@pytest.mark.parametrize("is_there", ["not", "as a link", "as a pipe"])
def test_an_attestation_is_never_read_through_a_link_or_from_a_pipe(is_there: str, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("a secret")
    file = tmp_path / "attestation.json"
    if is_there == "as a link":
        file.symlink_to(tmp_path / "secret.txt")
    elif is_there == "as a pipe":
        os.mkfifo(file)
    with pytest.raises(HTTPException, match="This session has no attestation"):
        share("attestation.json", SessionFolder(id="x", name="x", path=tmp_path), FINISHED, list)


def test_nothing_of_an_altered_session_is_shared(served: Dashboard, base: Path) -> None:
    folder = shutil.copytree(base / "work" / "example", base / "work" / "altered")
    log = folder / "trace.jsonl"
    log.write_bytes(log.read_bytes().replace(b"three years", b"seven years"))
    with served.client() as client:
        for name in SHARES:
            answer = client.get(f"/s/work~2Faltered/share/{name}")
            assert (answer.status_code, "altered" in answer.text) == (409, True)
