"""The one-file report: whole, without scripts or anything from elsewhere, safe whatever stands in a run."""

import re
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from selectolax.lexbor import LexborHTMLParser

from support.markup import problems, visible_text
from support.run_pages import DISPUTED, EXAMPLES, FINISHED, HOSTILE, with_text
from support.verified import verified
from vera.attestation.keys import Signer
from vera.cli.report import report
from vera.report.html.document import STYLESHEET, report_html
from vera.report.html.figures import announcement, figures
from vera.report.html.shown import MAX_CHARACTERS, shown_claims
from vera.report.html.wording import headline, tone
from vera.report.standing import LISTED, PHASES, VERDICTS
from vera.report.view.model import ClaimView, RunPage

MAX_BYTES = 6_000_000


def made(page: RunPage) -> str:
    return report_html(page, work_dir="./work/example", integrity="The log is whole.")


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_report_of_each_kind_of_run_is_valid_and_accessible(name: str) -> None:
    assert problems(made(EXAMPLES[name])) == []


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_nothing_that_stands_in_a_run_becomes_markup(text: str) -> None:
    html = made(with_text(FINISHED, text))
    assert problems(html) == []
    assert len(html.encode("utf-8", "replace")) < MAX_BYTES
    body = html.partition("</style>")[2]
    for harmful in ("<script", "<img", "onerror=alert(1)>", "onload=alert(1)>", "<![CDATA["):
        assert harmful not in body.replace(f"&lt;{harmful[1:]}", "")
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b\x00\x07\x1b\ud800]", html)


def test_a_report_loads_nothing_and_runs_nothing() -> None:
    html = made(FINISHED)
    tree = LexborHTMLParser(html)
    assert not tree.css("script, link, img, iframe, form, button, [src]")
    assert "url(" not in html and "@import" not in html
    policy = tree.css_first("meta[http-equiv]").attributes["content"] or ""
    assert policy.startswith("default-src 'none'")
    assert {node.attributes["href"][:1] for node in tree.css("a[href]")} == {"#"}  # type: ignore[index]  # a[href] has one


def test_every_link_of_a_report_leads_to_something_in_it() -> None:
    for page in EXAMPLES.values():
        tree = LexborHTMLParser(made(page))
        ids = {node.attributes["id"] for node in tree.css("[id]")}
        assert {(node.attributes["href"] or "")[1:] for node in tree.css("a[href]")} <= ids


def test_a_report_has_the_answer_claims_quotations_pictures_attestation_and_how_to_check_it() -> None:
    html = made(FINISHED)
    text = visible_text(html)
    for said in (
        "Verified",
        "139 kilometres longer than the Elbe",
        "The Rhine is 1,233 kilometres long, 865 of them navigable.",
        "read by literal/1",
        "qualifies",
        "What this evidence cannot rule out",
        "that they measure alike was not checked",
        "vera replay ./work/example",
        "The log is whole.",
        "Three steps without a note.",
    ):
        assert said in text
    assert html.count("<svg") == 2 + len(FINISHED.rounds)


def test_claims_of_a_report_are_open_so_that_a_print_has_all_of_them() -> None:
    tree = LexborHTMLParser(made(FINISHED))
    assert all("open" in claim.attributes for claim in tree.css("details.claim"))


def test_a_quotation_is_marked_only_when_it_holds() -> None:
    tree = LexborHTMLParser(made(DISPUTED))
    broken = tree.css_first("#claim-4")
    assert not broken.css("mark")
    assert "not those that were cited" in broken.text()
    claims = (
        msgspec.structs.replace(
            DISPUTED.claims[0],
            cards=(msgspec.structs.replace(DISPUTED.claims[0].cards[0], problem="Altered."),),
        ),
    )
    with_both = LexborHTMLParser(made(msgspec.structs.replace(DISPUTED, claims=claims)))
    assert not with_both.css("mark")
    assert "Altered." in with_both.css_first("#claim-1").text()


def test_lines_of_a_quotation_have_their_numbers_in_the_source() -> None:
    tree = LexborHTMLParser(made(FINISHED))
    second = tree.css_first("#claim-1").css("article")[1]
    assert [node.text() for node in second.css(".no")] == ["3", "4"]


def test_verdicts_stand_as_words_beside_their_colours() -> None:
    text = visible_text(made(DISPUTED))
    for verdict in ("supported", "contradicted", "disputed", "unresolved", "unchecked", "dropped"):
        assert text.count(verdict) >= 2
    for relation in ("supports", "contradicts", "qualifies", "irrelevant"):
        assert relation in text


def test_the_same_page_gives_the_same_bytes() -> None:
    assert made(FINISHED) == made(msgspec.structs.replace(FINISHED))


def test_the_stylesheet_can_stand_in_a_page() -> None:
    style = STYLESHEET.read_text("utf-8")
    assert "<" not in style and "url(" not in style and "@import" not in style
    for needed in ("light-dark(", "prefers-reduced-motion", "@media print", "tabular-nums", ":focus-visible"):
        assert needed in style


def test_what_a_page_shows_of_many_long_claims_is_bounded() -> None:
    card = msgspec.structs.replace(FINISHED.claims[0].cards[0], quotation=("x" * 100_000,) * 45)
    claim = ClaimView(key="c", text="x", verdict="supported", cards=(card,) * 100)
    shown = shown_claims([claim] * 2000)
    assert sum(len(line) for each in shown for one in each.cards for line in one.quotation) <= MAX_CHARACTERS
    assert all(each.more + len(each.cards) == 100 for each in shown)


def test_a_headline_says_where_a_run_stands() -> None:
    said = {name: (headline(page.header), tone(page.header)) for name, page in EXAMPLES.items()}
    assert said == {
        "empty": ("Not started", "new"),
        "running": ("Working", "busy"),
        "finished": ("Verified", "good"),
        "disputed": ("Disputed", "mixed"),
        "thesis": ("Refuted", "bad"),
    }
    assert announcement(FINISHED.header) == "Verified: 5 of 5 claims supported."
    assert figures(FINISHED.header)["tokens"] == "79\u202f465 / 5\u202f928"


@pytest.mark.parametrize(
    "tone", [each.tone for each in (*VERDICTS.values(), *PHASES.values(), *LISTED.values())]
)
def test_the_colour_of_each_word_can_be_read_on_its_ground(tone: str) -> None:
    """4.5 to 1 at least, in light and in dark (WCAG 2.2, 1.4.3)."""
    style = STYLESHEET.read_text()
    name = re.search(rf"\.tone-{tone} {{ --c: var\(--([a-z]+)\)", style)
    assert name
    pairs = dict(re.findall(r"--([a-z]+): light-dark\((#[0-9a-f]{6}, #[0-9a-f]{6})\)", style))
    for ink, ground in zip(pairs[name[1]].split(", "), pairs["panel"].split(", "), strict=True):
        one, other = sorted((luminance(ink), luminance(ground)))
        assert (other + 0.05) / (one + 0.05) >= 4.5


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_vera_report_writes_one_file_of_a_session(tmp_path: Path) -> None:
    root = tmp_path / "session"
    verified(root, Signer(Ed25519PrivateKey.generate()))
    done = CliRunner().invoke(report, [str(root), "--html"])
    assert done.exit_code == 0, done.output
    html = (root / "report.html").read_text("utf-8")
    assert problems(html) == []
    assert "The Elbe is 1094 kilometres long." in visible_text(html)
    assert html.count("<mark") == 3
    again = CliRunner().invoke(report, [str(root), "-o", "-"])
    assert again.stdout == html


def test_vera_report_says_what_is_wrong_with_a_session(tmp_path: Path) -> None:
    missing = CliRunner().invoke(report, [str(tmp_path)])
    assert missing.exit_code == 1
    assert "there is no session" in missing.output
    root = tmp_path / "session"
    verified(root, Signer(Ed25519PrivateKey.generate()))
    log = root / "trace.jsonl"
    log.write_bytes(log.read_bytes().replace(b"1094", b"1904", 1))
    altered = CliRunner().invoke(report, [str(root)])
    assert altered.exit_code == 1
    assert "broken" in altered.output and not (root / "report.html").exists()
