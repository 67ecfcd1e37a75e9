"""The text of a mail: what a reader sees, whatever the bytes are."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.containers import mail
from vera.extraction.canonical import extract
from vera.extraction.canonical.lines import LINE_LIMIT
from vera.extraction.canonical.mime import decoded_words, leaves, parameters_of
from vera.extraction.source import Unreadable


def text(data: bytes) -> str:
    return extract(data, "letter.eml").text.decode()


def test_a_mail_is_its_header_its_text_and_the_names_of_what_is_attached() -> None:
    made = extract(mail("Grüße", "Body\n", {"report ä.pdf": b"%PDF"}), "letter.eml")
    assert made.text.decode() == (
        "From: Ada <ada@example.org>\nTo: Ben <ben@example.org>\nDate: Thu, 01 Jan 2026 10:00:00 +0000\n"
        "Subject: Grüße\n\nBody\n\nAttachment: report ä.pdf (application/octet-stream, 4 bytes)\n"
    )
    assert (made.title, made.media_type, made.extractor) == ("Grüße", "message/rfc822", "eml/utf-8/rules-4")


def test_the_plain_form_comes_before_the_html_form() -> None:
    both = (
        b"Content-Type: multipart/alternative; boundary=x\n\n--x\nContent-Type: text/html\n\n<p>html</p>\n"
        b"--x\nContent-Type: text/plain\n\nplain\n--x--\n"
    )
    assert text(both) == "plain\n"


def test_of_an_html_mail_the_visible_text_counts() -> None:
    page = b"Subject: s\nContent-Type: text/html; charset=utf-8\n\n<p>seen<p hidden>unseen"
    assert text(page) == "Subject: s\n\nseen\n"
    assert "selectolax" in extract(page, "letter.eml").extractor


@pytest.mark.parametrize(
    ("header", "body"),
    [
        ("Content-Type: text/plain; charset=iso-8859-1", "gr\xfc\xdfe".encode("latin-1")),
        ("Content-Type: text/plain; charset=utf-7x", "grüße".encode()),
        ("Content-Type: text/plain\nContent-Transfer-Encoding: base64", base64.b64encode("grüße".encode())),
        ("Content-Type: text/plain\nContent-Transfer-Encoding: quoted-printable", b"gr=C3=BC=C3=9Fe"),
        ("Content-Type: multipart/mixed", "grüße".encode()),
        ("Content-Type: nonsense", "grüße".encode()),
    ],
)
def test_bodies_are_decoded_as_declared_or_as_they_are(header: str, body: bytes) -> None:
    assert text(f"Subject: s\n{header}\n\n".encode() + body) == "Subject: s\n\ngrüße\n"


def test_a_part_without_an_end_is_read_to_the_end() -> None:
    cut = b"Content-Type: multipart/mixed; boundary=x\n\n--x\n\nfirst\n--x\nX: y\n\nsecond"
    assert text(cut) == "first\nsecond\n"


def test_damaged_base64_gives_what_can_be_had() -> None:
    data = b"Content-Transfer-Encoding: base64\n\naGVsbG8g!!d29ybGQ"
    assert text(data) == "hello world\n"


def test_header_words_and_continued_parameters_are_decoded() -> None:
    assert decoded_words("=?utf-8?Q?Gr=C3=BC?= =?utf-8?B?w59l?= x") == "Grüße x"
    assert parameters_of("a/b; filename*0*=utf-8''gr%C3%BC; filename*1=e.txt") == {"filename": "grüe.txt"}


def test_a_mail_with_endless_parts_ends() -> None:
    many = b"Content-Type: multipart/mixed; boundary=x\n\n" + b"--x\n\na\n" * 50_000
    assert len(list(leaves(many))) == 1000


def test_a_mail_nested_in_itself_ends() -> None:
    nested = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(500))
    assert text(b"Subject: deep\n" + nested + b"\nend\n").startswith("Subject: deep\n")


@given(st.binary(max_size=400), st.sampled_from([b"", b"Content-Type: multipart/mixed; boundary=a\n\n--a\n"]))
def test_any_bytes_give_a_canonical_text_or_a_reason(data: bytes, start: bytes) -> None:
    try:
        made = extract(start + data, "x.eml").text.decode()
    except Unreadable:
        return
    assert made.endswith("\n")
    assert all(len(line) <= LINE_LIMIT for line in made.split("\n"))


PIECES = ["--a\n", "--a--\n", "\n", "x\n", "Content-Type: multipart/x; boundary=a\n", "=?"]


@given(st.lists(st.sampled_from(PIECES)))
def test_any_order_of_boundaries_gives_an_answer(pieces: list[str]) -> None:
    list(leaves("".join(pieces).encode()))
