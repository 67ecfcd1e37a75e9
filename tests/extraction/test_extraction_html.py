"""HTML: the complete visible text, block by block."""

import pytest

from vera.extraction.canonical import extract
from vera.extraction.source import Unreadable


def text_of(html: str) -> str:
    return extract(html.encode(), "a.html").text.decode()


def test_blocks_are_lines_and_inline_elements_are_not() -> None:
    assert text_of("<h1>Title</h1><p>A <b>bo</b>ld\n  word &amp; more<br>next<div>x<div>y</div>z</div>") == (
        "Title\nA bold word & more\nnext\nx\ny\nz\n"
    )


def test_a_list_item_is_a_line() -> None:
    assert text_of("<ul><li>one<li>two <ul><li>inner</ul></ul>") == "one\ntwo\ninner\n"


def test_preformatted_text_keeps_its_lines_and_spaces() -> None:
    assert text_of("<p>a</p><pre>\n  def f():\n\n      return <b>1</b>   \n</pre><p>b</p>") == (
        "a\n  def f():\n\n      return 1\nb\n"
    )


def test_table_cells_are_kept_apart_by_tabs_also_empty_ones() -> None:
    html = (
        "<table><tr><th>Year</th><th></th><th>kt</th></tr><tr><td>1990</td><td></td><td>5</td></tr></table>"
    )
    assert text_of(html) == "Year\t\tkt\n1990\t\t5\n"


def test_a_row_whose_cells_have_paragraphs_is_still_a_row() -> None:
    assert text_of("<table><tr><td><p>Apple</p><p>Inc.</p></td><td>7</td></tr></table>") == "Apple Inc.\t7\n"


def test_a_table_that_arranges_a_page_gives_its_paragraphs() -> None:
    column = "".join(f"<p>Paragraph {i} with a few words in it.</p>" for i in range(20))
    lines = text_of(f"<table><tr><td>menu</td><td>{column}</td></tr></table>").split("\n")
    assert lines[:2] == ["menu", "Paragraph 0 with a few words in it."]


def test_a_table_in_a_cell_keeps_its_rows() -> None:
    inner = "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>"
    assert text_of(f"<table><tr><td>{inner}</td><td>x</td></tr></table>") == "a\tb\nc\td\nx\n"


def test_raised_digits_do_not_join_the_number_before_them() -> None:
    assert text_of(
        "<p>10<sup>6</sup> t in 1990<sup>3</sup>, 21<sup>st</sup>, H<sub>2</sub>O, s<sup>-1</sup>"
    ) == ("10⁶ t in 1990³, 21st, H2O, s⁻¹\n")


@pytest.mark.parametrize(
    "secret",
    [
        "<div hidden>S</div>",
        "<p style='color: red; display : NONE'>S</p>",
        "<span style='font-size:0px'>S</span>",
        "<span style='opacity: 0'>S</span>",
        "<dialog>S</dialog>",
        "<div popover>S</div>",
        "<script>S</script><style>S</style><template><p>S</p></template><noscript>S</noscript>",
        "<iframe>S</iframe><object>S</object><video>S</video><canvas>S</canvas>",
        "<svg><title>S</title><desc>S</desc><script>S</script></svg>",
        "<!-- S --><input value=S><img alt=S>",
        "<div hidden><p>S</p><table><tr><td>S</td></tr></table></div>",
    ],
)
def test_hidden_text_is_left_out(secret: str) -> None:
    assert text_of(f"<body><p>before</p>{secret}<p>after</p>") == "before\nafter\n"


@pytest.mark.parametrize("style", ["opacity: 0.5", "font-size: 0.8em", "display: block", "opacity:1"])
def test_visible_text_with_a_style_is_kept(style: str) -> None:
    assert text_of(f"<p style='{style}'>shown</p>") == "shown\n"


def test_the_text_of_drawings_and_open_dialogs_is_kept() -> None:
    assert (
        text_of("<svg><text>Label</text><text>2024</text></svg><dialog open>Hi</dialog>")
        == "Label\n2024\nHi\n"
    )


def test_invisible_characters_are_removed_and_text_is_normalised() -> None:
    assert (
        text_of("<p>e\u0301 so\u00adft ze\u200bro non\u00a0break ta\U000e0041g</p>")
        == "é soft zero non break tag\n"
    )


@pytest.mark.parametrize(
    "head",
    [
        '<meta charset="windows-1251">',
        "<META http-equiv='Content-Type' content='text/html; charset=windows-1251'>",
        '<?xml version="1.0" encoding="windows-1251"?>',
    ],
)
def test_the_declared_charset_is_used(head: str) -> None:
    page = f"{head}<p>Привет, мир</p>".encode("cp1251")
    assert extract(page, "a.html").text.decode() == "Привет, мир\n"


def test_valid_utf8_is_believed_more_than_a_wrong_declaration() -> None:
    assert text_of('<meta charset="iso-8859-1"><p>größer</p>') == "größer\n"


def test_the_title_is_the_pages_own_else_its_first_heading_else_its_first_line() -> None:
    def title(html: str) -> str:
        return extract(html.encode(), "a.html").title

    assert title("<title> A &amp;\n B </title><h1>H</h1>") == "A & B"
    assert title("<p>x<h1>Head<i>ing</i></h1>") == "Heading"
    assert title("<p>first</p>") == "first"


def test_a_title_holds_nothing_that_steers_a_terminal() -> None:
    assert extract("<title>a\x1b[31mb\u202ec</title><p>x".encode(), "a.html").title == "a\ufffd[31mb\ufffdc"


def test_a_page_without_a_suffix_is_known_by_its_first_tag() -> None:
    page = b"<!-- saved -->\n<!DOCTYPE html>\n<p>text"
    assert extract(page, "index").media_type == "text/html"
    assert extract(page, "index.txt").media_type == "text/plain"


def test_a_page_without_text_is_reported() -> None:
    with pytest.raises(Unreadable, match="no text"):
        text_of("<script>app()</script>")


@pytest.mark.parametrize(
    "tag", ["div", "b", "table", "table><tr><td", "ul><li", "pre", "sup", "svg", "a href=x"]
)
def test_deep_nesting_is_read(tag: str) -> None:
    assert text_of(f"<{tag}>" * 2000 + "deep").strip() == "deep"


def test_text_after_closed_elements_and_stray_ends_is_found() -> None:
    assert text_of("</p></td>a</div></b>b<td>c</table>d") == "abcd\n"
