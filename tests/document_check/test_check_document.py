"""Any document as an answer: which links belong to which statement, and what is found of them."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.audits import evidence_of
from vera.audit.case import AuditPolicy
from vera.document_check.document import Document, read, unsourced_quotations
from vera.document_check.findings import Findings, Held, findings
from vera.document_check.html import marked, unmarked
from vera.extraction.canonical.html import extract

REPORT = "Sales grew by 12 percent in 2019.\nThe board said: “We did not expect such a year at all.”\n"


def named(document: Document) -> dict[str, list[str]]:
    """Statement → the targets of its sources, of the statements that name one."""
    targets = {source.id: source.target for source in document.sources}
    return {
        claim.text: [targets[cite.evidence] for cite in claim.cites]
        for claim in document.claims
        if claim.cites and claim.form == "statement"
    }


@pytest.mark.parametrize(
    "link",
    [
        "[the report](https://a.org/r)",
        '[the report](<https://a.org/r> "A title")',
        "[the report](https://a.org/r#part-2)",
        "[the report][r]",
        "the report [r]",
        "the report[^1]",
        "the report [1]",
        "the report <https://a.org/r>",
        "the report (https://a.org/r)",
        '<a class="x" href="https://a.org/r">the report</a>',
        "the [report, see [2]](https://a.org/r)",
    ],
)
def test_each_form_of_a_link_names_the_source_of_its_sentence(link: str) -> None:
    text = f"""Before it nothing.

According to {link}, sales grew by 12 %. In 2018 they fell.

[r]: https://a.org/r "Title"
[^1]: Smith, 2020. https://a.org/r.

## References

[1] Smith, *Sales*, 2020, <https://a.org/r>
"""
    (statement, targets), *others = named(read(text)).items()
    assert statement.startswith("According to the")
    assert statement.endswith("sales grew by 12 %.")
    assert targets == ["https://a.org/r"]
    assert not others


def test_a_source_line_ends_a_paragraph_and_stands_for_its_sentences_without_a_link() -> None:
    document = read(
        "The town has 14 parks. It has 3 rivers ([map](m.png)). Source: [Parks](https://a.org/p).\n\n"
        "> The oldest park opened in 1874.\n\n[The gazette](https://a.org/g)\n"
    )
    assert named(document) == {
        "The town has 14 parks.": ["https://a.org/p"],
        "It has 3 rivers.": ["m.png"],
        "“The oldest park opened in 1874.”": ["https://a.org/g"],
    }


def test_a_link_at_the_end_of_a_paragraph_belongs_to_its_own_sentence_only() -> None:
    assert list(named(read("There are 14 parks. The oldest is of 1874 [x](https://a.org).\n"))) == [
        "The oldest is of 1874 x."
    ]


@pytest.mark.parametrize(
    ("bracket", "shown"),
    [
        ("([Vertrag](c.txt))", ""),
        ("([§ 4 des Vertrags](c.txt))", ""),
        ("(see [Okafor et al.](c.txt))", ""),
        ("([Okafor et al. (2021)](c.txt))", ""),
        ("(vgl. [Vertrag](c.txt) und [Anlage](c.txt))", ""),
        ("(cf.\n[the contract](c.txt))", ""),
        ("([the contract](c.txt) of 2021)", " (the contract of 2021)"),
        ("([the rent was raised to 5 euros](c.txt))", " (the rent was raised to 5 euros)"),
        ("under the [contract of 2021](c.txt)", " under the contract of 2021"),
    ],
)
def test_a_bracket_that_only_cites_is_no_part_of_the_statement(bracket: str, shown: str) -> None:
    document = read(f"The tenant pays 3 euros {bracket}. The rest is paid [later](d.txt) in 2022.\n")
    assert named(document) == {
        f"The tenant pays 3 euros{shown}.": ["c.txt"],
        "The rest is paid later in 2022.": ["d.txt"],
    }
    assert document.line_of(document.claims[-1].start) == 1 + bracket.count("\n")


def test_code_pictures_comments_and_places_in_the_document_name_no_source() -> None:
    text = (
        "Use `[a](https://a.org)` 5 times. ![5 cats](https://b.org/c.png) <!-- 7 [x](https://c.org) -->\n\n"
        "See [section 4](#four) and [mail](mailto:x@y.org).\n\n```\n[x](https://d.org) 12\n```\n"
        "[![8](https://e.org/badge.svg)](https://e.org)\n"
    )
    assert named(read(text)) == {}


def test_references_and_notes_are_no_statements_and_numbers_without_an_entry_no_sources() -> None:
    document = read(
        "There are 14 parks [2, 3].\n\n## Sources\n\n2. Book of 1999\n3. https://a.org\n\n"
        "## Next\n\nIn 5 [9].\n"
    )
    assert named(document) == {"There are 14 parks.": ["Book of 1999", "https://a.org"]}
    assert [claim.text for claim in document.claims] == ["There are 14 parks.", "In 5 [9]."]


def test_what_looks_like_a_citation_in_code_or_in_the_words_of_a_link_is_none() -> None:
    text = "Write `[ev_0002:3]` for 3 lines [a [ev_0002]](https://a.org). Then 5 [b](https://b.org).\n"
    assert list(named(read(text)).values()) == [["https://a.org"], ["https://b.org"]]


def test_a_citation_of_a_session_is_a_source_of_its_own_kind() -> None:
    (source,) = read("There are 14 parks [ev_0003:12].\n").sources
    assert (source.kind, source.target) == ("session", "ev_0003:12")


@given(st.text(alphabet='[]()!^<>`"“”#|-*1a.\n :/', max_size=300), st.booleans())
def test_every_line_of_a_document_stays_its_line(text: str, markdown: bool) -> None:
    document = read(text, markdown=markdown)
    assert document.text.count("\n") == text.count("\n")


def test_more_than_is_read_is_said() -> None:
    document = read(
        "".join(f"Item {number} is [here](https://a.org/{number}).\n\n" for number in range(10_050))
    )
    assert "10,000 were not read" in document.unread
    assert "nothing from line" in document.unread


PAGE = """<html><body>
<h1>Title</h1>
<p>According to <a
 href="https://a.org/?x=1&amp;y=2">the report</a>, sales grew by 12 %.
Staff fell to 47<sup><a href="#fn1">1</a></sup>.</p>
<!-- <p><a href="https://no.org">9</a></p> --><script>"<a href='https://no.org'>"</script>
<ul><li>First of 3 (<a href=https://b.org>[1]</a>)</ul>
<blockquote><p>The oldest park opened in 1874.</p></blockquote>
<p hidden>Hidden 77 <a href="https://no.org">x</a></p>
<ol><li id="fn1">Smith, 2019. <a href="https://c.org">Link</a> <a href="#ref1">up</a></li></ol>
"""


def test_an_html_page_keeps_its_links_lines_notes_and_quotations() -> None:
    page = marked(PAGE)
    text, lines = unmarked(extract(page.html.encode(), "page.html").text.decode())
    document = read(text, markdown=False, targets=page.targets, lines=lines)
    assert named(document) == {
        "According to the report, sales grew by 12 %.": ["https://a.org/?x=1&y=2"],
        "Staff fell to 47.": ["https://c.org"],
        "First of 3 “The oldest park opened in 1874.”": ["https://b.org"],
    }
    assert [document.line_of(claim.start) for claim in document.claims] == [2, 3, 3, 7]


@given(st.text(alphabet="<>/ap!-\"'= hrefid#1\n", max_size=200))
def test_any_page_is_marked_and_unmarked(text: str) -> None:
    page = marked(text)
    plain, lines = unmarked(page.html)
    assert len(lines) == (len(plain.split("\n")) if plain else 0)


def check(
    text: str, sources: dict[str, str], folder: dict[str, str] | None = None, **policy: str
) -> Findings:
    """The findings of a document whose sources are had when `sources` has their target."""
    document = read(text)
    held, missing = {}, {}
    for source in document.sources:
        if source.target in sources:
            evidence, data = evidence_of(source.id, sources[source.target], source=source.target)
            held[source.id] = Held(evidence, data)
        else:
            missing[source.id] = "It was not had."
    return findings(
        document,
        held,
        missing,
        names_of={source.id: source.target for source in document.sources},
        policy=AuditPolicy(web_sources=1, **policy),
        folder=None if folder is None else {name: each.encode() for name, each in folder.items()},
    )


def codes(found: Findings) -> list[tuple[int, str, str]]:
    return [(problem.line, problem.severity, problem.code) for problem in found.problems]


def test_what_stands_in_the_source_is_checked_and_what_does_not_is_a_hard_finding_on_its_line() -> None:
    text = "Sales grew by 12 % in 2019 [r](r.txt).\n\nSales grew by 13 %\nin 2019 [r](r.txt).\n"
    found = check(text, {"r.txt": REPORT})
    assert codes(found) == [(3, "hard", "amount_absent")]
    assert (found.claims, found.named, found.checked) == (2, 2, 2)
    assert "r.txt" in found.problems[0].message
    assert "ev_" not in found.problems[0].message


def test_an_altered_quotation_shows_the_difference() -> None:
    found = check("The board: “We did expect such a year at all” [r](r.txt).\n", {"r.txt": REPORT})
    (problem,) = [each for each in found.problems if each.severity == "hard"]
    assert problem.code == "quotation_false"
    assert "{+not+}" in problem.detail


def test_a_source_that_could_not_be_had_is_unchecked_with_its_lines_and_reason() -> None:
    found = check("It grew 5 % [x](x.txt).\n\nIt fell 6 % [x](x.txt).\n", {})
    assert [(each.source, each.reason, each.lines) for each in found.unchecked] == [
        ("x.txt", "It was not had.", (1, 3))
    ]
    assert (found.named, found.checked, found.problems) == (2, 0, ())


def test_what_a_missing_second_source_may_hold_is_unchecked_and_never_false() -> None:
    found = check("It grew 5 % in 2019 [r](r.txt) [x](x.txt).\n", {"r.txt": REPORT})
    assert (found.checked, found.problems, len(found.unchecked)) == (0, (), 1)


def test_a_quotation_without_a_source_is_a_hint_or_looked_for_in_the_folder() -> None:
    true = "He said “we did not expect such a year”.\n"
    altered = "He said “we did not expect such a month at all”.\n"
    nowhere = "He said “quite something else was in the letter”.\n"
    assert codes(check(true, {})) == [(1, "hint", "quotation_unsourced")]
    folder = {"r.txt": REPORT}
    assert codes(check(true, {}, folder)) == []
    assert codes(check(altered, {}, folder)) == [(1, "hard", "quotation_false")]
    assert codes(check(nowhere, {}, folder)) == [(1, "hint", "quotation_unsourced")]
    assert not unsourced_quotations(read(f"{true.strip()} [r](r.txt)"))


def test_the_sources_of_a_statement_are_read_once_under_their_hash() -> None:
    data = REPORT.encode()
    evidence, _ = evidence_of("ev_0001", REPORT)
    assert evidence.text.sha256 == hashlib.sha256(data).hexdigest()
    found = check("It grew by 12 % [a](a.txt). In 2019 [b](b.txt).\n", {"a.txt": REPORT, "b.txt": REPORT})
    assert [problem for problem in found.problems if problem.severity == "hard"] == []


def test_the_words_of_a_citing_bracket_are_not_checked_and_those_of_the_sentence_are() -> None:
    source = {"r.txt": "The tenant pays 3 euros.\n"}
    assert check("The tenant pays 3 euros ([Lease of 2021](r.txt)).\n", source).problems == ()
    found = check("The tenant pays 3 euros under the [Lease of 2021](r.txt).\n", source)
    assert "hard" in {problem.severity for problem in found.problems}


def test_the_year_of_a_date_with_a_short_month_is_checked() -> None:
    source = {"r.txt": "The dividend will be paid on 9 February 2024.\n"}
    assert check("The dividend is paid on 9 Feb. 2024 [r](r.txt).\n", source).count("hard") == 0
    found = check("The dividend is paid on 9 Feb. 2021 [r](r.txt).\n", source)
    assert found.count("hard") and "2021" in found.problems[0].claim
