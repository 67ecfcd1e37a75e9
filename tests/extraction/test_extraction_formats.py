"""Every file gives a text or a reason; the formats that are text keep theirs."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.documents import make_docx, make_pdf, make_xlsx, paragraph
from vera.extraction.canonical import FORMATS, LINE_LIMIT, extract
from vera.extraction.source import Extracted, Unreadable

SUFFIXES = [suffix for known in FORMATS for suffix in known.suffixes]
SEEDS = [
    make_pdf(["Some text"], ["more"]),
    make_docx(paragraph("Some text")),
    make_xlsx('<row><c r="A1"><v>1</v></c></row>'),
    b"{\\rtf1 {\\strike Some} text{\\footnote note}\\par more}",
    b"<html><table><tr><td>a<pre>b</table>",
    b'{"a": [1, 2, {"b": "c"}]}' * 30,
    "größer\r\n".encode("utf-16"),
]


def try_extract(data: bytes, name: str) -> Extracted | Unreadable:
    try:
        return extract(data, name)
    except Unreadable as error:
        return error


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A document with some bytes replaced, and cut somewhere."""
    data = bytearray(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(0, 8))):
        position = draw(st.integers(0, len(data) - 1))
        data[position : position + draw(st.integers(0, 3))] = draw(st.binary(max_size=3))
        if not data:
            break
    return bytes(data[: draw(st.integers(0, len(data)))] if draw(st.booleans()) else data)


@given(st.binary(max_size=300) | damaged(), st.sampled_from([*SUFFIXES, "", ".weird", "/"]))
def test_every_file_gives_a_canonical_text_or_a_reason(data: bytes, suffix: str) -> None:
    found = try_extract(data, "name" + suffix)
    if isinstance(found, Unreadable):
        assert str(found)
        return
    lines = found.text.decode().split("\n")
    assert lines.pop() == ""
    assert all(len(line) <= LINE_LIMIT for line in lines)
    assert found.title and len(found.title) <= 120
    assert found.pages == tuple(sorted(found.pages))


@given(damaged(), st.sampled_from(SUFFIXES))
def test_the_same_bytes_give_the_same_text(data: bytes, suffix: str) -> None:
    assert str(try_extract(data, "name" + suffix)) == str(try_extract(data, "name" + suffix))


@pytest.mark.parametrize(
    ("data", "name", "reason"),
    [
        (b"", "a.txt", "empty"),
        (b" \n\t\n", "a.txt", "no text"),
        (bytes(range(256)) * 10, "a.txt", "binary"),
        (b"\x89PNG\r\n\x1a\n", "a.txt", "PNG"),
        (b"\x7fELF\x02", "a", "program"),
        (b"PK\x03\x04" + b"\0" * 26 + b"mimetypeapplication/epub+zipPK", "a.epub", "broken"),
        (
            b"PK\x03\x04" + b"\0" * 26 + b"mimetypeapplication/vnd.oasis.opendocument.graphicsPK",
            "a.odg",
            "OpenDocument file that is no text",
        ),
    ],
)
def test_a_file_that_is_no_text_is_named_with_its_reason(data: bytes, name: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        extract(data, name)


def test_a_file_over_the_limit_of_its_format_is_refused() -> None:
    with pytest.raises(Unreadable, match="larger than 32 MB"):
        extract(b"<html>" + b"x" * (32 << 20), "a.html")


@pytest.mark.parametrize("name", ["Makefile", "main.py", "notes.unknown", "dir.d/file"])
def test_any_other_text_is_plain_text(name: str) -> None:
    assert extract(b"some text\n", name).media_type == "text/plain"


def test_suffixes_are_read_without_case() -> None:
    assert extract(b"a,b\n", "A.CSV").media_type == "text/csv"


def test_markdown_is_kept_and_named_by_its_first_heading() -> None:
    data = b"intro\n\n```sh\n# no heading\n```\n\n## The *real* one ##\n"
    found = extract(data, "a.md")
    assert found.text == data
    assert found.title == "The *real* one"
    assert found.extractor == "md/utf-8/rules-4"
    assert extract(b"Set by line\n===\n", "a.md").title == "Set by line"
    assert extract(b"no heading\n", "a.md").title == "no heading"


def test_rows_are_kept_as_they_are_and_named_by_their_file() -> None:
    data = b'name,note\n"Smith, J.","two\nlines"\n'
    found = extract(data, "dir/people.csv")
    assert found.text == data
    assert found.title == "people.csv"
    assert extract(b"a\tb\n1\t2\n", "a.tsv").media_type == "text/tab-separated-values"
    assert extract(b'{"a": 1}\n{"a": 2}\n', "a.jsonl").text == b'{"a": 1}\n{"a": 2}\n'


def test_json_with_lines_is_kept() -> None:
    data = b'{\n "a": 1.10\n}\n'
    assert extract(data, "a.json").text == data


def test_json_in_one_long_line_is_laid_out_with_every_token_kept() -> None:
    value = [{"id": number, "name": 'a "b" [c], {d}', "list": list(range(40))} for number in range(5)]
    source = json.dumps(value).replace("3,", "3.10,")
    text = extract(source.encode(), "a.json").text
    assert text.decode().split() != source.split()
    assert text.count(b"\n") > 20
    assert json.loads(text) == json.loads(source)
    assert b"3.10" in text


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=8), inner, max_size=6),
    max_leaves=40,
)


@given(JSON)
def test_laid_out_json_means_the_same(value: object) -> None:
    source = json.dumps([value] * 3 + ["x" * 80] * 6)
    text = extract(source.encode(), "a.json").text
    # A line rule may cut inside a long string; what is compared is the text without line ends.
    if all(len(string) < 200 for string in source.split('"')):
        assert json.loads(text, strict=False) == json.loads(source)


@pytest.mark.parametrize(
    "source", ["[" * 5000, '{"a":' * 2000, '["' + "\\" * 4001, '["\\"' * 1000, "[1,2" * 2000 + "]" * 9000]
)
def test_broken_json_is_laid_out_without_growing_out_of_bounds(source: str) -> None:
    text = extract(source.encode(), "a.json").text
    assert len(text) < 40 * len(source)
    assert b"".join(text.split()) == b"".join(source.encode().split())
