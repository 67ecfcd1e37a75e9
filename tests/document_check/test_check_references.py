"""Reading references: lists in Markdown and text, notes, DOIs in sentences, BibTeX."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.document_check.bibtex import entries
from vera.document_check.references import Reference, doi_of, of_bibtex, of_text


def only(text: str) -> Reference:
    (found,) = of_text(text.split("\n"))
    return found


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("See https://doi.org/10.1000/abc.", "10.1000/abc"),
        ("See [it](https://doi.org/10.1000/abc).", "10.1000/abc"),
        ("See (doi:10.1000/abc(1)9), too", "10.1000/abc(1)9"),
        ("See <https://doi.org/10.1000/abc>", "10.1000/abc"),
        ("See https://doi.org/10.1000%2Fabc", "10.1000/abc"),
        ("See **10.1000/abc**", "10.1000/abc"),
        ("[10.1000/abc](https://doi.org/10.1000/abc)", "10.1000/abc"),
    ],
)
def test_a_doi_is_read_without_what_is_around_it(text: str, doi: str) -> None:
    assert (only(text).doi, only(text).listed) == (doi, False)


@pytest.mark.parametrize(
    "text", ["Version 10.1000/2 of 110.1000/abc", "10.12/abc", "1.10.1000/abc", "10.1000/"]
)
def test_a_number_with_a_slash_is_no_doi(text: str) -> None:
    assert [each.doi for each in of_text([text]) if each.doi != "10.1000/2"] == []


@pytest.mark.parametrize(
    "text",
    [
        "doi:10.1002/(SICI)1097-4571(199806)49:8<693::AID-ASI4>3.0.CO;2-O",
        "doi:10.1000/abc-",
        "doi:10.1000/../secret",
        "doi:10.1000/ä",
    ],
)
def test_a_doi_that_may_have_been_cut_is_not_certain(text: str) -> None:
    assert not only(text).whole


LIST = """Text of 1999 “which quotes a few words” and more.

## References

[1] A. Author. “A study of many things in the north.” Journal 12(3):1998–2003, 2019.
    https://doi.org/10.1000/one
[2] Other, B. (2020). Another study of a few things. Journal, 4, 12.
- C. Third. “A page about a thing of interest”, 2021. https://example.org/page

# After

[^n]: D. Fourth, “The footnote names a work of many words” (2018).
"""


def test_a_list_gives_its_entries_with_doi_title_and_year_and_pages_are_no_years() -> None:
    first, second, third = of_text(LIST.split("\n"))
    assert (first.line, first.doi, first.years) == (6, "10.1000/one", (2019,))
    assert first.title == "A study of many things in the north"
    assert (second.line, second.title, second.years) == (7, "Another study of a few things", (2020,))
    assert (third.line, third.title) == (12, "The footnote names a work of many words")


def test_an_entry_with_two_dois_is_compared_with_neither() -> None:
    found = of_text(["References", "", "[1] X, 2019. 10.1000/a and 10.1000/b"])
    assert [(each.doi, each.listed) for each in found] == [("10.1000/a", False), ("10.1000/b", False)]


def test_an_entry_that_says_it_is_retracted_is_known_to_say_so() -> None:
    assert only("## References\n- Retracted: X (2019). 10.1000/a").retraction


def test_a_doi_of_an_address_is_that_of_doi_org_alone() -> None:
    assert doi_of("https://doi.org/10.1000/abc#x") == "10.1000/abc#x"
    assert doi_of("https://example.org/10.1000/abc") == ""


BIB = r"""@comment{ignored, doi = {10.1/x}}
@string{jan = "January"}
@Article{key1,
  title = {The {Good} {\"U}ber-Title of "a" Work \& More},
  author = "M{\"u}ller, A. and B",
  doi = {https://doi.org/10.1000/abc},
  year = 2019,
  month = jan # "-" # {02},
}
@misc{broken, title = {never closed
@misc(key3, title = {The third of them}, year = {2020})
"""


def test_bibtex_entries_are_read_with_nested_braces_and_joined_values() -> None:
    first, *_ = list(entries(BIB))
    assert (first.line, first.kind) == (3, "article")
    assert first.fields["title"] == 'The Good Uber-Title of "a" Work & More'
    assert (first.fields["doi"], first.fields["month"]) == ("https://doi.org/10.1000/abc", "jan-02")


@pytest.mark.parametrize("title", ["", "title={On cells}, "])
def test_a_bibtex_entry_that_says_it_is_retracted_is_known_to_say_so(title: str) -> None:
    (found,) = of_bibtex(f"@article{{a, doi={{10.1000/a}}, {title}note={{Retracted in 2021}}}}")
    assert found.retraction


def test_a_bibtex_reference_has_doi_title_and_year() -> None:
    first = of_bibtex(BIB)[0]
    assert (first.doi, first.years, first.whole, first.line) == ("10.1000/abc", (2019,), True, 3)


@pytest.mark.parametrize(
    "text", ["@" * 200_000, "@a{" * 60_000, "@a{k,t={" + "{" * 200_000, "@a{k," + "t=#" * 60_000]
)
def test_hostile_bibtex_ends(text: str) -> None:
    assert of_bibtex(text) == []


@given(st.text(alphabet='@{}(),="#\\ \n10./abc[]^:-“”', max_size=300))
def test_any_text_has_references_and_no_error(text: str) -> None:
    of_bibtex(text)
    for each in of_text(text.split("\n")):
        assert 1 <= each.line <= text.count("\n") + 1


@pytest.mark.parametrize(
    "text",
    [
        "1. Smith (2020). doi:10.1038/s41586-020\n   -2008-3",
        "1. Smith (2020). doi:10.1016/j.cell.2019.05\n.031",
        "1. Smith (2020). doi:10.1145/3292500.333\n   0701",
        "1. Smith (2020). https://doi.org/10.1000/182.pdf",
    ],
)
def test_a_doi_that_may_go_on_or_be_a_file_is_not_whole(text: str) -> None:
    found = of_text(["# References", "", *text.split("\n")])
    assert found and not any(each.whole for each in found)


@pytest.mark.parametrize(
    ("entry", "speaks"),
    [
        ('1. Smith (2018). "Retractable needles for safe injection of drugs" doi:10.1000/182', False),
        ('1. Smith (2018). "On the retraction of papers in medicine" doi:10.1000/182', False),
        ('1. Smith (2018). "Needles for safe injection of drugs" doi:10.1000/182 (retracted)', True),
    ],
)
def test_only_an_entry_that_says_so_itself_speaks_of_a_retraction(entry: str, speaks: bool) -> None:
    (found,) = of_text(["# References", "", entry])
    assert found.retraction is speaks
