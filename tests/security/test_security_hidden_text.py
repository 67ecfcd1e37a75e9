"""Text that is struck out or hidden is no proof: each way to strike or hide beside its honest twin.

The worker cites the very lines. Under the rule `literal` and under a judge that always says yes, a claim that
rests on such text is not verified, and one that rests on what stands there is.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from support.attacks import OFFLINE, Attempt, attempt
from support.cast import final, turn
from support.documents import make_docx, make_pdf, make_xlsx, paragraph
from vera import events
from vera.session import load_text

QUESTION = "How long must a written offer be valid?"
FALSE = "A written offer must be valid for seven years."
STRIKE = "text-decoration:line-through"
TRUE = "A written offer must be valid for three years."


def page(struck: str, head: str = "") -> str:
    return f"<html><head>{head}</head><body><h1>Terms</h1>{struck}<p>{TRUE}</p></body></html>"


def runs(properties: str) -> bytes:
    return make_docx(paragraph("Terms") + paragraph(FALSE, properties) + paragraph(TRUE))


def rows(hidden: str, columns: str = "") -> bytes:
    cell = '<c r="A{}" t="inlineStr"><is><t>{}</t></is></c>'
    lines = (f"<row>{cell.format(1, 'Terms')}</row>", f"<row {hidden}>{cell.format(2, FALSE)}</row>")
    return make_xlsx("".join(lines) + f"<row>{cell.format(3, TRUE)}</row>" + columns)


def drawn() -> bytes:
    return make_pdf(["Terms", FALSE, TRUE]).replace(b"BT /F1", b"72 709.6 300 0.8 re f BT /F1")


DOCUMENTS: dict[str, tuple[str, Callable[[], str | bytes]]] = {
    "s of a page": ("terms.html", lambda: page(f"<p><s>{FALSE}</s></p>")),
    "del of a page": ("terms.html", lambda: page(f"<del><p>{FALSE}</p></del>")),
    "line-through in a style": (
        "terms.html", lambda: page(f"<p style='text-decoration:line-through'>{FALSE}</p>"),
    ),
    "line-through by class": (
        "terms.html", lambda: page(f"<p class=o>{FALSE}</p>", f"<style>.o{{{STRIKE}}}</style>"),
    ),
    "display none by class": (
        "terms.html", lambda: page(f"<p class=o>{FALSE}</p>", "<style>.o{display:none}</style>"),
    ),
    "visibility": ("terms.html", lambda: page(f"<p style='visibility:hidden'>{FALSE}</p>")),
    "off the screen": ("terms.html", lambda: page(f"<p style='position:absolute;left:-9999px'>{FALSE}</p>")),
    "white on white": ("terms.html", lambda: page(f"<p style='color:#ffffff'>{FALSE}</p>")),
    "strike of Word": ("terms.docx", lambda: runs("<w:strike/>")),
    "double strike of Word": ("terms.docx", lambda: runs("<w:dstrike/>")),
    "deletion of Word": (
        "terms.docx",
        lambda: make_docx(
            paragraph("Terms")
            + f"<w:p><w:del><w:r><w:delText>{FALSE}</w:delText></w:r></w:del></w:p>"
            + paragraph(TRUE)
        ),
    ),
    "hidden row": ("terms.xlsx", lambda: rows('hidden="1"')),
    "line of a PDF": ("terms.pdf", drawn),
    "tildes of Markdown": ("terms.md", lambda: f"# Terms\n~~{FALSE}~~\n{TRUE}\n"),
    "comment of Markdown": ("terms.md", lambda: f"# Terms\n<!-- {FALSE} -->\n{TRUE}\n"),
}  # fmt: skip


def run(folder: Path, kind: str, claim: str, line: int, rule: str) -> Attempt:
    name, make = DOCUMENTS[kind]
    worker = [turn("read", path=name), final(f"{claim.rstrip('.')} [ev_0001:{line}].")]
    options = (*OFFLINE, "--verifier", rule)
    return attempt(folder, worker, *options, question=QUESTION, files={name: make()})


@pytest.mark.parametrize("rule", ["literal", "model"])
@pytest.mark.parametrize("kind", DOCUMENTS)
def test_struck_or_hidden_text_is_no_proof_and_what_stands_is(tmp_path: Path, kind: str, rule: str) -> None:
    attack = run(tmp_path / "attack", kind, FALSE, 2, rule)
    assert attack.code == 3 and attack.hard("c1") & {"struck_text", "hidden_text"}, attack.findings
    attack.is_sound()
    run(tmp_path / "twin", kind, TRUE, 3, rule).is_verified()


def test_a_struck_word_within_a_sentence_is_not_part_of_it(tmp_path: Path) -> None:
    struck = "<p>A written offer must be valid for <s>seven</s> three years.</p>"
    files = {"terms.html": page("", "").replace(f"<p>{TRUE}</p>", struck)}
    for number, (claim, code) in enumerate(((FALSE, 3), (TRUE, 0))):
        for rule in ("literal", "model"):
            worker = [turn("read", path="terms.html"), final(f"{claim.rstrip('.')} [ev_0001:2].")]
            options = (*OFFLINE, "--verifier", rule)
            tried = attempt(tmp_path / f"{rule}{number}", worker, *options, question=QUESTION, files=files)
            assert tried.code == code, tried.findings


def test_the_reader_of_a_file_is_told_what_is_struck_out(tmp_path: Path) -> None:
    tried = run(tmp_path, "s of a page", FALSE, 2, "model")
    shown = [load_text(tried.store, each.obs) for each in tried.records() if isinstance(each, events.Tool)]
    assert f"2| [struck out: {FALSE}]" in shown[0]


def test_that_something_is_struck_out_can_be_said(tmp_path: Path) -> None:
    claim = "The sentence that a written offer must be valid for seven years is struck out."
    run(tmp_path, "s of a page", claim, 2, "model").is_verified()


def test_a_claim_cannot_borrow_the_words_from_the_struck_text(tmp_path: Path) -> None:
    said = "The old sign is struck out after seven years."
    files = {"terms.html": page(f"<p><s>{said}</s></p>")}
    worker = [turn("read", path="terms.html"), final(f"{said.rstrip('.')} [ev_0001:2].")]
    tried = attempt(tmp_path, worker, *OFFLINE, question=QUESTION, files=files)
    assert tried.code == 3 and "struck_text" in tried.hard("c1")


def test_what_is_shown_of_the_source_shows_the_mark(tmp_path: Path) -> None:
    tried = run(tmp_path, "s of a page", FALSE, 2, "model")
    assert re.search(r"\[struck out: A written offer", tried.show().out)
