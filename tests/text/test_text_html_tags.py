"""The tags of a page, told from its text as browsers do, in linear time."""

import pytest

from vera.text.html_tags import Tag, tags


def read(html: str) -> list[Tag]:
    return list(tags(html, ("href", "id")))


def test_a_tag_has_the_first_attribute_of_each_wanted_name() -> None:
    (tag,) = read("<P ID = ' one ' id=two class=x hRef=a&amp;b/>")
    assert tag == Tag(0, 45, False, "p", {"id": "one", "href": "a&b/"})


@pytest.mark.parametrize(
    ("html", "names"),
    [
        ('<a ">">x</a>', ["a", "a"]),  # no value, so no quotation
        ("<a b='>'>x</a>", ["a", "a"]),
        ("<a b=c'>x'></a>", ["a", "a"]),
        ("1 < 2 <b>", ["b"]),
        ("<!-- <b> --><i>", ["i"]),
        ("<!-- <b>", []),
        ("<script>'<b>'</SCRIPT ><i>", ["script", "script", "i"]),
        ("<title>İİİ</title><i>", ["title", "title", "i"]),
        ("<script><b>", ["script"]),
        ("<b><i x='", ["b"]),
        ("<b></ i><!doctype x><i>", ["b", "i"]),
    ],
)
def test_only_tags_are_tags(html: str, names: list[str]) -> None:
    assert [tag.name for tag in read(html)] == names


@pytest.mark.parametrize(
    "unit", ['<a ">"', "<a b='\">\"'", '<a href="', "<a b=c ", "<script>", "<a =", "</a\t"]
)
def test_a_megabyte_of_hostile_markup_is_read(unit: str) -> None:
    read(unit * ((1 << 20) // len(unit)))
