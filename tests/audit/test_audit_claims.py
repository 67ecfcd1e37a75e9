"""An answer becomes claims: which sentences, with which citations, and nothing checkable left outside."""

import re
from itertools import pairwise

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vera.audit.claims import CLAIM_LIMIT, split
from vera.audit.pointers import lead_of
from vera.builtin.answer import answer_text
from vera.builtin.scoring import Window
from vera.disclosure import EARLIER, NEAREST, NO_SYNTHESIS, NOTHING
from vera.evidence.citation import CITATION_LIMIT, find_citations
from vera.evidence.claim import Claim

NAMES = ("GPL-3.txt", "docs/MPL 2.0.txt", "https://acme.example/a", "Acme bought Widget", "Paris")


def told(answer: str) -> list[tuple[str, list[str]]]:
    return [(claim.text, marks(claim)) for claim in split(answer, NAMES)]


def marks(claim: Claim) -> list[str]:
    return [f"{cite.evidence}:{cite.first}" for cite in claim.cites]


def forms(answer: str) -> list[str]:
    return [claim.form for claim in split(answer, NAMES)]


def _window(path: str, *, sure: bool) -> Window:
    return Window(path, "ev_0003", 1, 2, score=1.0, coverage=1.0, kind=1.0, text="", sure=sure)


@pytest.mark.parametrize(
    ("answer", "texts"),
    [
        (
            "Acme Inc. was founded in 1997. It grew in 1998.",
            ["Acme Inc. was founded in 1997.", "It grew in 1998."],
        ),
        ("He paid 3.5 million at No. 5 St. James.", ["He paid 3.5 million at No. 5 St. James."]),
        ("J. R. Smith left the U.S. in 1997. The end.", ["J. R. Smith left the U.S. in 1997.", "The end."]),
        (
            "He left for the U.S. The firm stayed in Oslo.",
            ["He left for the U.S.", "The firm stayed in Oslo."],
        ),
        ("It has e.g. 3 parts, i.e. A, B etc. and more.", ["It has e.g. 3 parts, i.e. A, B etc. and more."]),
        (
            "In 1997... it ended. See https://x.com/a.b?c=1.",
            ["In 1997... it ended.", "See https://x.com/a.b?c=1."],
        ),
        ("Am 3. Mai 1997 begann es.", ["Am 3. Mai 1997 begann es."]),
        ("成立于1997年。关闭于2004年。", ["成立于1997年。", "关闭于2004年。"]),
        ("He said “It is 42.” She said 43.", ["He said “It is 42.”", "She said 43."]),
    ],
)
def test_where_sentences_end(answer: str, texts: list[str]) -> None:
    assert [text for text, _ in told(answer)] == texts


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        ("It is red [ev_1:2].", [("It is red.", ["ev_1:2"])]),
        ("It is red. [ev_1:2]", [("It is red.", ["ev_1:2"])]),
        ("It is red.\n[ev_1:2] [ev_2:3]", [("It is red.", ["ev_1:2", "ev_2:3"])]),
        ("It is red.\n\n[ev_1:2]", [("It is red.", ["ev_1:2"])]),
        (
            "It is red [ev_1:2]. It is blue. [ev_2:3]",
            [("It is red.", ["ev_1:2"]), ("It is blue.", ["ev_2:3"])],
        ),
        (
            "Price: low [ev_1:2]\nColour: red [ev_2:3]",
            [("Price: low", ["ev_1:2"]), ("Colour: red", ["ev_2:3"])],
        ),
        ("**Short answer:** It is red [ev_1:2].", [("It is red.", ["ev_1:2"])]),
        ("**It** is `red` [ev_1:2, 4; ev_2:3].", [("It is red.", ["ev_1:2", "ev_1:4", "ev_2:3"])]),
        (
            "- It is red [ev_1:2]\n- It is blue [ev_2:3]",
            [("It is red", ["ev_1:2"]), ("It is blue", ["ev_2:3"])],
        ),
    ],
)
def test_a_citation_belongs_to_the_sentence_it_ends(answer: str, claims: list[tuple[str, list[str]]]) -> None:
    assert told(answer) == claims


def test_a_citation_does_not_reach_the_sentences_before() -> None:
    assert told("It has 42 rooms. It was built in 1997 [ev_1:2].") == [
        ("It has 42 rooms.", []),
        ("It was built in 1997.", ["ev_1:2"]),
    ]


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        (
            "A was founded in 1997 [ev_1:2] and sold in 2004 [ev_2:9].",
            [("A was founded in 1997", ["ev_1:2"]), ("A … sold in 2004.", ["ev_2:9"])],
        ),
        (
            "A was founded in 1997 [ev_1:2], but B was sold in 2004 [ev_2:9].",
            [("A was founded in 1997", ["ev_1:2"]), ("B was sold in 2004.", ["ev_2:9"])],
        ),
        (
            "A was founded in 1997, and B was sold in 2004 [ev_2:9].",
            [("A was founded in 1997", ["ev_2:9"]), ("B was sold in 2004.", ["ev_2:9"])],
        ),
        (
            "A opened in 1997 [ev_1:2], closed in 2004 [ev_2:9] and was sold in 2010.",
            [
                ("A opened in 1997", ["ev_1:2"]),
                ("A … closed in 2004", ["ev_2:9"]),
                ("A … was sold in 2010.", []),
            ],
        ),
    ],
)
def test_a_compound_sentence_becomes_its_clauses(answer: str, claims: list[tuple[str, list[str]]]) -> None:
    assert told(answer) == claims


@pytest.mark.parametrize(
    "answer",
    [
        "The price was 42 [ev_1:2] euros [ev_2:9].",
        "In 1997 [ev_1:2], A was founded [ev_2:9].",
        "Bob denied that A was founded in 1997 [ev_1:2] and was sold in 2004 [ev_2:9].",
        "If A was founded in 1997 [ev_1:2] and was sold in 2004 [ev_2:9], it is gone [ev_3:1].",
        "A was not founded in 1997 [ev_1:2] and sold in 2004 [ev_2:9].",
        "A was founded in 1997 [ev_1:2] or sold in 2004 [ev_2:9].",
        "A was sold in 2004 [ev_2:9] because it was bankrupt [ev_1:2].",
        "A owns ships built in 1997 [ev_1:2] and trains built in 2004 [ev_2:9].",
        "A has ships built in 1997 [ev_1:2] and sold in 2004 [ev_2:9].",
        "He wrote “A was founded in 1997 [ev_1:2] and was sold in 2004” [ev_2:9].",
        "A was founded in 1997 and sold in 2004 [ev_2:9].",
    ],
)
def test_what_would_say_less_alone_stays_whole(answer: str) -> None:
    (claim,) = split(answer)
    assert claim.end - claim.start == len(answer)
    assert len(claim.cites) == len(find_citations(answer))


@pytest.mark.parametrize(
    "answer",
    [
        "# Results\n\n---\n",
        "## 2. Who is Marie Curie?\n",
        "What did they find?",
        "Searched the input files for: “Acme 1997”; “harbour”.",
        answer_text([], ["Acme 1997", "harbour"]),
        answer_text([], []),
        answer_text([], [], documents=False),
        answer_text([_window("a.txt", sure=False), _window("b.txt", sure=False)], []),
        f"{EARLIER[0]} {NO_SYNTHESIS}\n1. {NEAREST} [ev_0001:1-2]",
        f"{NOTHING} {NO_SYNTHESIS}\n{EARLIER[1]}",
    ],
)
def test_what_is_no_claim(answer: str) -> None:
    assert split(answer) == ()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("The offer is a bad bargain and the seller always lies.", 1),
        ("Here is what I found.", 1),
        ("Evidence is thin. Documents are listed below.", 2),
        ("The reasons are as follows:\n- it is cheap\n- it is good", 2),
        ("Under the Mozilla Public License:\n\n- Yes.\n- no\n- cheap", 3),
        ("Das Angebot:\n\n- billig\n- gut", 2),
        ("这里是答案：\n\n- yes", 1),
        ("Yes.", 1),
        ("Is it cheap? No!", 1),
        ("| offer | ✓ |\n|---|---|\n| seller | ✓ |", 1),
        ("```\nrm file\n```", 1),
        ("The offer is void:", 1),
        ("# Offer\n\nThe offer is void:\n", 1),
        ("No lines were found that answer this question, and the offer is void.", 1),
        ("Nearest lines found here: the offer is void.", 1),
    ],
)
def test_a_sentence_without_anything_to_check_is_a_claim_that_bears_no_load(answer: str, said: int) -> None:
    claims = split(answer)
    assert len(claims) == said
    assert all(claim.form == "statement" and not claim.load_bearing for claim in claims)


@pytest.mark.parametrize(
    "answer",
    [
        "42",
        "Paris.",
        "It closed in the spring of 1997.",
        "It has three parts.",
        "It was sold for seven million:",
        "It lies in Norway.",
        "Acme lied about it.",
        "Marie Curie found it.",
        "NASA found it.",
        "They call it “the best one”.",
        "It happened on a Monday.",
        "## 42 people died\n",
        "## Marie Curie was murdered\n",
        "Marie Curie was murdered by the following:",
        "Did you know that Bob stole it?",
        "1997. That was the year.",
        "| City | large |",
        "> It died",
        "```\nx = 42\n```",
        "[x](https://acme.example/1997)",
    ],
)
def test_what_is_an_uncited_claim(answer: str) -> None:
    assert [(claim.form, claim.cites, claim.load_bearing) for claim in split(answer)] == [
        ("statement", (), True)
    ]


def test_a_name_known_from_elsewhere_is_one_at_the_start_too() -> None:
    assert told("She met Curie [ev_1:2]. Curie died of anaemia.")[1] == ("Curie died of anaemia.", [])


@pytest.mark.parametrize(
    "line",
    [
        "1. GPL-3.txt [ev_3:1-2]",
        "- **`gpl-3.TXT`** [ev_3:1]",
        "See “MPL 2.0.txt”, lines 12-14 [ev_3:12-14].",
        "docs/MPL 2.0.txt (page 3) [ev_3:12]",
        "- https://acme.example/a [ev_3:1]",
        "- acme.example/a/ [ev_3:1]",
        "Acme bought Widget, lines 3-4 [ev_3:3-4]",
        "- [ev_3:1]",
        "Source: [ev_3:1]",
    ],
)
def test_a_line_that_only_points_is_an_extract(line: str) -> None:
    assert forms(line) == ["extract"]


@pytest.mark.parametrize(
    "line",
    [
        "Acme bought Widget [ev_3:1].",
        "- Paris [ev_3:1]",
        "GPL-3.txt says so [ev_3:1]",
        "GPL-4.txt [ev_3:1]",
        "GPL-3.txt, 42 times [ev_3:1]",
    ],
)
def test_a_title_or_anything_more_is_a_statement(line: str) -> None:
    assert forms(line) == ["statement"]


def test_the_built_in_models_answer_is_extracts() -> None:
    windows = [_window(path, sure=True) for path in ("LICENSE", "a b.txt")]
    claims = split(answer_text(windows, []), ["LICENSE", "a b.txt"])
    assert [(claim.form, claim.text) for claim in claims] == [("extract", "LICENSE"), ("extract", "a b.txt")]


@pytest.mark.parametrize(
    "name", ["[a](b).txt", "report [final].pdf", "【a】.txt", "src/__init__.py", "a`b`.txt"]
)
def test_an_extract_names_a_file_whose_name_has_brackets_or_is_like_markup(name: str) -> None:
    for phrase in ("", "three years"):
        window = msgspec.structs.replace(_window(name, sure=True), phrase=phrase)
        assert [claim.form for claim in split(answer_text([window], []), [name])] == ["extract"]


def test_an_extract_may_begin_with_words_of_its_lines_and_no_other_answer_may() -> None:
    window = msgspec.structs.replace(_window("LICENSE", sure=True), phrase="three years")
    answer = answer_text([window], [])
    (claim,) = split(answer, ["LICENSE"])
    assert (claim.form, lead_of(claim.text)) == ("extract", "three years")
    (line,) = answer.splitlines()[1:]
    assert [claim.form for claim in split(line, ["LICENSE"])] == ["statement"]
    other = answer.replace("LICENSE", "It is said so")
    assert [claim.form for claim in split(other, ["LICENSE"])] == ["statement"]


@pytest.mark.parametrize(
    "answer",
    [
        "The documents do not state the price.",
        "The provided sources don't say when the firm was founded.",
        "No source mentions the price or the delivery date.",
        "None of the documents gives the population of Paris.",
        "I found no information about the owner in the files.",
        "I could not determine the price from the documents.",
        "The price is not stated in the documents I searched.",
        "There is no mention of the owner in the provided documents.",
    ],
)
def test_that_the_sources_do_not_tell_is_no_statement_about_the_world(answer: str) -> None:
    assert [(claim.form, claim.load_bearing) for claim in split(answer)] == [("absence", False)]


@pytest.mark.parametrize(
    "answer",
    [
        "The documents do not say it, but it was 42 in 1997.",
        "The documents do not state the price of 42 euros.",
        "The documents do not state the price; Acme is bankrupt.",
        "The documents do not state the price (Acme is bankrupt).",
        "The documents do not state the price and Acme is bankrupt.",
        "The documents do not state the price and Acme lied.",
        "The documents do not state the price - Acme lied.",
        "The documents do not mention that Acme is bankrupt.",
        "The documents do not say why Acme went bankrupt.",
        "The documents do not say it because Acme lied.",
        "The documents do not mention Acme, the thief.",
        "The documents do not say “Acme lied”.",
        "Acme lied and the price is not stated in the documents.",
        "No source mentions Acme which is bankrupt.",
    ],
)
def test_nothing_rides_along_with_an_absence(answer: str) -> None:
    assert any(claim.form == "statement" and claim.load_bearing for claim in split(answer))


def test_a_cited_absence_is_a_statement() -> None:
    assert forms("The document does not state the price [ev_1:1-20].") == ["statement"]


def test_the_rows_of_a_table_are_claims_with_the_numbers_of_its_head() -> None:
    answer = (
        "| City | 2020 |\n|---|---|\n| Oslo | 42 [ev_1:2] |\n| Rome | 43 |\n| x | y |\n\nSource: [ev_2:1-9]\n"
    )
    assert told(answer) == [
        ("Oslo; 2020: 42", ["ev_1:2"]),
        ("Rome; 2020: 43", ["ev_2:1"]),
        ("x; 2020: y", ["ev_2:1"]),
    ]


def test_a_head_with_a_unit_belongs_to_its_numbers_and_one_that_denies_to_its_cells() -> None:
    table = "| Tent | Weight in pounds | False |\n|---|---|---|\n| Kestrel | 14 [ev_0001:3] | It is red. |"
    assert split(table)[0].text == "Kestrel; Weight in pounds: 14 pounds; False: It is red."


@pytest.mark.parametrize(
    ("lead", "turned"),
    [
        ("It is not true that:", True),
        ("Verboten ist:", True),
        ("Si vous êtes membre :", True),
        ("以下说法不正确：", True),
        ("The following rules apply:", False),
        ("Se aplican estas reglas:", False),
        ("Hausordnung:", False),
    ],
)
def test_a_lead_in_that_turns_its_items_is_part_of_each(lead: str, turned: bool) -> None:
    answer = f"{lead}\n- dogs may come in [ev_0001:3].\n- so may cats [ev_0001:4].\n\nIt is so [ev_0001:5]."
    begun = f"{lead} ".replace(" :", ":") if turned else ""
    said = [claim.text.replace(" :", ":") for claim in split(answer)]
    assert said[-3:] == [f"{begun}dogs may come in.", f"{begun}so may cats.", "It is so."]


def test_quotes_and_code_belong_to_the_cited_sentence_before() -> None:
    assert told("Acme wrote [ev_1:2]:\n\n> We died\n> in 1997\n> — Bob\n\nIt ended.") == [
        ("Acme wrote: “We died in 1997” — Bob", ["ev_1:2"]),
        ("It ended.", []),
    ]
    assert told("The port is set [ev_1:2]:\n```\nport = 80\n```")[0] == (
        "The port is set: port = 80",
        ["ev_1:2"],
    )
    assert told("> We died in 1997 [ev_1:2]") == [("“We died in 1997”", ["ev_1:2"])]


def test_more_claims_than_are_read_become_one_that_nothing_supports() -> None:
    answer = "It is 42 [ev_1:2].\n\n" * (CLAIM_LIMIT // 2) + "It is 43.\n\n" * CLAIM_LIMIT
    claims = split(answer)
    assert len(claims) == CLAIM_LIMIT
    assert (claims[-1].cites, claims[-1].form, claims[-1].load_bearing) == ((), "statement", True)
    assert claims[-1].end == len(answer)
    assert claims[-2].end <= claims[-1].start


def test_more_citations_than_are_read_become_one_claim_too() -> None:
    answer = "It is [ev_1:2] " * (CITATION_LIMIT + 3)
    claims = split(answer)
    assert claims[-1].end == len(answer)
    assert claims[-1].cites == ()
    assert sum(len(claim.cites) for claim in claims) <= CITATION_LIMIT


@pytest.mark.parametrize(
    "piece",
    [
        "a", "1 ", "A. ", "A was founded in 1997 [ev_1:2] and sold in 2004 [ev_2:9] ", "[ev_1:1]", "...",
        "\n> ", "\n- a", "|a", "```", "**", "“", "(", "[a](", "\\", " and was ", ":\n", "?\n", " ",
        "lines 1,", "Source: ", "It is [ev_1:1].\n\n",
    ],
)  # fmt: skip
def test_hostile_text_takes_linear_time(piece: str) -> None:
    # Quadratic work would not end within the test's time limit.
    assert len(split(piece * (300_000 // len(piece)), NAMES)) <= CLAIM_LIMIT


PIECES = st.sampled_from(
    [
        "1997", "42%", "3.5", "Acme", "Marie Curie", "was", "sold", "and", "but", ", and ", "; ", ".", ". ",
        "? ", ": ", "\n", "\n\n", "- ", "1. ", "2) ", "> ", "# ", "| ", "|", "\n|---|---|\n", "```\n", "**",
        "`", "_", "“", "”", '"', "(", ")", "[ev_0001:2]", "[ev_0002:3-4; 7]", "【ev_3:1】", "[1]", "U.S.",
        "The documents do not state ", "e.g. ", "it ", "the ", "\t", "½", "٣", "—", "\\", "[a](b)",
        "Source: ", "GPL-3.txt", "\r\n", "  ",
    ]
)  # fmt: skip
LIST_MARK = re.compile(r"[ \t]*\(?[0-9]{1,4}[.)][ \t]+|[ \t]*#+[ \t]+(?:[0-9]{1,2}\.)+[ \t]+")


@example("```1997")
@given(st.lists(PIECES, max_size=40).map("".join))
def test_every_number_stands_in_a_claim(answer: str) -> None:
    claims = split(answer, NAMES)
    covered = [False] * len(answer)
    for claim in claims:
        covered[claim.start : claim.end] = [True] * (claim.end - claim.start)
    for citation in find_citations(answer):
        covered[citation.start : citation.end] = [True] * (citation.end - citation.start)
    for line in re.finditer(r"[^\n]*", answer):
        if mark := LIST_MARK.match(answer, line.start(), line.end()):
            covered[mark.start() : mark.end()] = [True] * (mark.end() - mark.start())
    outside = [char for char, inside in zip(answer, covered, strict=True) if char.isnumeric() and not inside]
    assert outside == []


@given(st.lists(PIECES, max_size=40).map("".join))
def test_claims_are_in_order_and_hold_each_citation(answer: str) -> None:
    claims = split(answer, NAMES)
    assert [claim.key for claim in claims] == [f"c{number}" for number in range(1, len(claims) + 1)]
    assert all(0 <= claim.start < claim.end <= len(answer) for claim in claims)
    assert all(before.end <= after.start for before, after in pairwise(claims))
    written = {(each.evidence, each.first, each.last) for each in find_citations(answer)}
    assert {(cite.evidence, cite.first, cite.last) for claim in claims for cite in claim.cites} == written
    assert split(answer, NAMES) == claims


@given(st.text(max_size=200))
def test_any_text_gives_claims(answer: str) -> None:
    assert all("[ev_" not in claim.text for claim in split(answer))
