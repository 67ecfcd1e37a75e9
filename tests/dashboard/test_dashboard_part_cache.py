"""Parts of a page are written out once while they show the same, and never for another than who asked."""

import re
from pathlib import Path

import msgspec
import pytest

from support.run_pages import EXAMPLES, FINISHED
from vera.dashboard import pages
from vera.dashboard.part_cache import SHOWN, KeptParts
from vera.dashboard.query_params import Asked
from vera.dashboard.run_form import StartForm
from vera.dashboard.run_status import RunStatus
from vera.dashboard.sessions import SessionFolder
from vera.report.html import environment
from vera.report.view.changes import PARTS
from vera.report.view.model import ReviewsView, RunPage

SESSION = SessionFolder(id="work~2Frivers", name="./work/rivers", path=Path("nowhere/work/rivers"))
RUN = RunStatus(state="ended", words="Ended.")
FORM = StartForm(locked=True, reason="A run starts once in a session.")
CHANGED = dict.fromkeys(PARTS, 1)
ASKED = Asked(nonce="abc", static="/static/1", form_token="mine")


def written(page: RunPage, kept: KeptParts | None, form_token: str = "one") -> str:
    asked = Asked(nonce="abc", static="/static/1", form_token=form_token)
    return pages.render_run(asked, SESSION, page, RUN, FORM, CHANGED, kept)


@pytest.mark.parametrize("name", SHOWN)
def test_a_kept_part_shows_nothing_but_the_members_that_it_is_kept_by(name: str) -> None:
    template = (environment.TEMPLATES / "part" / f"{name}.html.j2").read_text()
    assert set(re.findall(r"\bpage\.(\w+)", template)) <= set(SHOWN[name])
    assert set(SHOWN[name]) <= set(RunPage.__struct_fields__)
    assert not re.search(r"\b(asked|run|ago|live|hidden_token|session|work_dir|changed\.)\b", template)


def test_a_page_with_kept_parts_is_the_one_without_them() -> None:
    kept = KeptParts()
    for page in (*EXAMPLES.values(), *EXAMPLES.values()):
        assert written(page, kept) == written(page, None)


def kept_as(kept: KeptParts, page: RunPage, text: str, changed: dict[str, int] = CHANGED) -> str:
    return kept.part("claims", page, changed, ASKED, lambda asked, number: f"{text} {asked.form_token}")


def test_a_part_that_shows_the_same_is_not_written_again() -> None:
    kept = KeptParts()
    assert kept_as(kept, FINISHED, "first") == "first mine"
    again = msgspec.structs.replace(FINISHED, offset=FINISHED.offset + 1, gates=())
    assert kept_as(kept, again, "second") == "first mine"


def test_a_part_is_written_again_when_what_it_shows_is_another() -> None:
    kept = KeptParts()
    kept_as(kept, FINISHED, "first")
    other = msgspec.structs.replace(FINISHED, claims=FINISHED.claims[1:])
    assert kept_as(kept, other, "second") == "second mine"


def test_a_part_is_written_again_when_the_run_comes_to_rest() -> None:
    kept = KeptParts()
    stopped = msgspec.structs.replace(FINISHED.header, phase="stopped")
    working = msgspec.structs.replace(FINISHED.header, phase="working")
    for header, text in ((working, "first"), (stopped, "second"), (working, "third")):
        assert kept_as(kept, msgspec.structs.replace(FINISHED, header=header), text) == f"{text} mine"


def test_a_kept_part_has_the_number_that_it_has_now() -> None:
    kept = KeptParts()
    for number in (1, 2):
        asked = pages.render_parts(ASKED, SESSION, FINISHED, RUN, ["claims"], {"claims": number}, kept)
        assert f'data-part="claims" data-changed="{number}"' in asked
        assert kept_as(kept, FINISHED, "another", {"claims": number + 2}) != "another mine"
    assert re.findall('data-changed="([0-9]+)"', written(FINISHED, kept)) == ["1"] * len(PARTS)


def test_the_token_of_a_login_is_in_no_page_of_another() -> None:
    kept = KeptParts()
    assert 'value="one"' in written(FINISHED, kept, "one")
    assert 'value="one"' not in written(FINISHED, kept, "two")


def test_a_kept_part_has_the_token_of_who_asks_now() -> None:
    kept = KeptParts()
    other = msgspec.structs.replace(ASKED, form_token="theirs")
    for asked in (ASKED, other):
        part = kept.part("claims", FINISHED, CHANGED, asked, lambda asked, number: asked.form_token)
        assert part == asked.form_token


def test_a_part_is_written_again_when_somebody_reviews_a_claim() -> None:
    kept = KeptParts()
    kept_as(kept, FINISHED, "first")
    reviewed = msgspec.structs.replace(FINISHED, reviews=ReviewsView(sentence="1 review: 1 counts."))
    assert kept_as(kept, reviewed, "second") == "second mine"
