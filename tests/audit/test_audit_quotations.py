"""What stands in quotation marks must stand in a cited source, character by character."""

import pytest

from support.audits import case_of, evidence_of, page_of
from vera.audit.checks.quotations import quotations
from vera.evidence.finding import Finding

PAGE = """The Bridge
It opened on 27 May 1937 and “cost more than expected”, said Anna.
The engineer did not say that it was safe in a storm.
It is 1,280 metres long and carries six lanes.
"""


def findings(answer: str, text: str = PAGE, task: str = "", **fields: object) -> list[Finding]:
    return list(quotations(case_of(answer, evidence_of("ev_0001", text, **fields), task=task)))


def codes(found: list[Finding]) -> list[tuple[str, str]]:
    return [(finding.severity, finding.code) for finding in found]


@pytest.mark.parametrize(
    "answer",
    [
        "The page says “It opened on 27 May 1937” [ev_0001:2].",
        'It "cost more than expected" [ev_0001:2], and is "1,280 metres long" [ev_0001:4].',
        "As it says [ev_0001:4]:\n\n> It is 1,280 metres long\n> and carries six lanes.\n",
        "It says “It opened on 27 May 1937 … said Anna” [ev_0001:2].",
        "It says “**It opened** on 27 May 1937” [ev_0001:2].",
    ],
)
def test_a_true_quotation_has_no_finding(answer: str) -> None:
    assert findings(answer) == []


def test_one_or_two_words_that_stand_nowhere_are_a_hint() -> None:
    assert codes(findings("It was a “huge success” [ev_0001:2].")) == [("soft", "quotation_term")]
    assert findings("It was a “great success” [ev_0001:2] of “Anna”.", "Anna had great success.\n" * 2) == []
    assert findings("It was a “huge success”.") == []


def test_a_title_that_stands_nowhere_is_a_hint_and_an_altered_one_is_false() -> None:
    text = "The Long Road to Bridge Number 2, a book.\n"
    assert codes(findings("Anna wrote “Through the Looking-Glass” [ev_0001:1].", text)) == [
        ("soft", "quotation_term")
    ]
    assert findings("Anna wrote “The Long Road to Bridge Number 2” [ev_0001:1].", text) == []
    for altered in ("The Long Roid to Bridge Number 2", "The Long Road to Bridge Number 3"):
        assert codes(findings(f"Anna wrote “{altered}” [ev_0001:1].", text)) == [("hard", "quotation_false")]


def test_a_quotation_over_two_sentences_is_one() -> None:
    text = "It was late. Nobody was there to see it.\n"
    assert findings("He writes “It was late. Nobody was there to see it.” [ev_0001:1]", text) == []
    false = findings("He writes “It was late. Somebody was there to see it.” [ev_0001:1]", text)
    assert codes(false) == [("hard", "quotation_false")]


def test_an_altered_quotation_is_false_and_the_difference_is_shown() -> None:
    (found,) = findings("The page says “It opened on 28 May 1937” [ev_0001:2].")
    assert (found.severity, found.code, found.label) == ("hard", "quotation_false", "fabricated")
    assert (found.claim, found.evidence, found.first) == ("c1", "ev_0001", 2)
    assert "[-28-] {+27+}" in found.detail


def test_every_changed_character_is_caught() -> None:
    quote = "It is 1,280 metres long and carries six lanes"
    for index, char in enumerate(quote):
        if char.isalnum():
            changed = quote[:index] + ("7" if char != "7" else "8") + quote[index + 1 :]
            assert codes(findings(f"It says “{changed}” [ev_0001:4].")) == [("hard", "quotation_false")]


def test_a_quotation_that_cuts_a_word_is_false() -> None:
    (found,) = findings("It was “supported by nobody” [ev_0001:1].", "It was unsupported by nobody.\n")
    assert found.severity == "hard" and "inside a word" in found.message


def test_an_invented_quotation_is_false() -> None:
    (found,) = findings("Anna said “we never planned any such tunnel” [ev_0001:2].")
    assert found.code == "quotation_false" and "nothing like it" in found.message


def test_a_quotation_from_elsewhere_in_the_source_names_the_right_lines() -> None:
    (found,) = findings("It “carries six lanes” [ev_0001:2].")
    assert (found.severity, found.code, found.label) == ("hard", "quotation_not_in_span", "wrong_evidence")
    assert (found.first, found.last) == (4, 4)


def test_one_of_several_sources_suffices() -> None:
    case = case_of(
        "It “carries six lanes” [ev_0002:1] [ev_0001:4].",
        evidence_of("ev_0001", PAGE),
        page_of("ev_0002", "Another page\n"),
    )
    assert list(quotations(case)) == []


def test_a_quotation_without_a_source_is_a_hard_finding() -> None:
    (found,) = findings("Anna said “it carries six lanes”.")
    assert (found.severity, found.code, found.label) == ("hard", "quotation_uncited", "missing_source")


def test_the_words_of_the_question_may_be_repeated_without_a_source() -> None:
    assert (
        findings("You asked about “the longest bridge of all”.", task="What is the longest bridge of all?")
        == []
    )


def test_the_title_of_a_page_counts() -> None:
    assert (
        findings("The page “A History of Bridges” tells it [ev_0001:2].", title="A History of Bridges") == []
    )


def test_what_is_said_not_to_stand_there_need_not() -> None:
    assert findings("The page does not mention “the great storm of 1940” [ev_0001:1-4].") == []


def test_an_ellipsis_that_leaves_out_a_negation_of_its_sentence_is_false() -> None:
    (found,) = findings("It says “The engineer … say that it was safe” [ev_0001:3].")
    assert (found.severity, found.code) == ("hard", "quotation_gap")


def test_strings_in_code_are_no_quotations() -> None:
    assert findings('It prints this [ev_0001:1]:\n\n```\nprint("hello there big world")\n```\n') == []


def test_a_citation_that_does_not_hold_is_left_to_the_citation_check() -> None:
    assert findings("It “carries six lanes” [ev_0009:1].") == []


def test_a_pdf_may_break_words() -> None:
    answer = "It says “the agreement of the parties” [ev_0001:1]."
    assert findings(answer, "the agree ment of the parties\n", media_type="application/pdf") == []
    assert codes(findings(answer, "the agree ment of the parties\n")) == [("hard", "quotation_false")]


@pytest.mark.parametrize(
    ("quoted", "expected"),
    [
        ("Über den Fluss führt eine Brücke", []),
        ("über den Fluss führt eine Brücke", []),
        ("über den Fluss führt keine Brücke", [("hard", "quotation_false")]),
    ],
)
def test_the_case_of_any_letter_does_not_matter(quoted: str, expected: list[tuple[str, str]]) -> None:
    text = "Über den Fluss führt eine Brücke.\n"
    assert codes(findings(f"Es heißt “{quoted}” [ev_0001:1].", text)) == expected


def test_a_quotation_of_the_title_or_of_a_heading_over_the_lines_is_true() -> None:
    text = "Bridges\n\n# The long road to the bridge\n\nIt opened in 1937 and was closed in 1950.\n"
    title = "A history of the northern bridges"
    for quoted in ("the long road to the bridge", "a history of the northern bridges"):
        assert findings(f"Under “{quoted}” it says so [ev_0001:5].", text, title=title) == []
    altered = findings("Under “a history of the southern bridges” it says so [ev_0001:5].", text, title=title)
    assert codes(altered) == [("hard", "quotation_false")]


@pytest.mark.parametrize("title", ["A \ud800 bridge of words", "\udcff\udc80 bridge", "İ" * 50])
def test_a_title_with_any_code_point_is_read(title: str) -> None:
    found = findings("It says “it opened on 28 May 1937” [ev_0001:2].", title=title)
    assert codes(found) == [("hard", "quotation_false")]
    assert findings("It says “it opened on 27 May 1937” [ev_0001:2].", title=title) == []


FRAMES = """The mayor never said: "We will close the pool at noon."
Alves said: "The bridge is safe for now." Costa said: "The bridge will fall down."
Kim said: "My manager told me: 'You are dismissed from today.'"
"""


@pytest.mark.parametrize(
    ("answer", "codes_found"),
    [
        ('The mayor said: "We will close the pool at noon." [ev_0001:1]', [("hard", "quotation_frame")]),
        ('The mayor never said: "We will close the pool at noon." [ev_0001:1]', []),
        ('Costa said: "The bridge is safe for now." [ev_0001:2]', [("hard", "quotation_frame")]),
        ('Alves said: "The bridge is safe for now." [ev_0001:2]', []),
        ('One engineer said: "The bridge is safe for now." [ev_0001:2]', []),
        ('Kim said: "You are dismissed from today." [ev_0001:3]', [("hard", "quotation_frame")]),
    ],
)
def test_a_quotation_belongs_to_whom_its_source_gives_it(
    answer: str, codes_found: list[tuple[str, str]]
) -> None:
    assert codes(findings(answer, FRAMES)) == codes_found


def test_an_ellipsis_that_leaves_a_denial_out_in_chinese() -> None:
    found = findings("李先生说：“我……签过合同。” [ev_0001:1]", "李先生说：“我没有签过合同。”\n")
    assert codes(found) == [("hard", "quotation_gap")]


TWO_SPEAKERS = """Er nannte es „teuer“. Arslan sagte: „Die Molkerei hat Geld verdient.“ Berg sagte: „Gut.“

„Ich gehe nicht“, sagte Kurz und „komme im Herbst wieder“.

"We took it, but Anna took more of it", said Kim. Anna said nothing.

Er nannte es »teuer«. Arslan sagte: »Die Halle hat Geld verdient.« Berg ging.

Der Kurs nannte es „zu teuer". Lind sagte: „Die Bahn hat Geld verdient.“

« Cette année a été marquée par une sécheresse sans précédent dans nos
zones de production », déclare Marc Vuillet, directeur général depuis six
ans. La directrice financière, Nadia Benhaddou, précise :
« Nous n'avons fermé aucun site cette année. »

Kurz sagte: „Mein Chef sagte: ‚Ihr zieht heute noch um.‘“

"We have never hidden behind the weather," as I told the staff in March, "and shall not begin now."
Marcus Feld, Chief Executive

Dr. Jens Wachtel kam mit Ralf Berg. „Wir ziehen hier nie wieder um“, sagte der Finanzvorstand.

Anna Costa came with Tom Ray. "We will never move again from here", said the Chief Executive.

Der Vorsitzende Mehmet Arslan sagte: „Die Fabrik hat Geld verdient.“ Die Genossenschaft und Berg gingen.

Kim said: “My manager told me that “you are dismissed from today”.”
"""

FRAME = [("hard", "quotation_frame")]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("„Die Molkerei hat Geld verdient“, sagte Arslan [ev_0001:1].", []),
        ("„Die Molkerei hat Geld verdient“, sagte Berg [ev_0001:1].", FRAME),
        ("Kurz will „komme im Herbst wieder“ gesagt haben [ev_0001:3].", []),
        ("Kim said: “We took it” [ev_0001:5].", []),
        ("Anna said: “We took it” [ev_0001:5].", FRAME),
        ("„Die Halle hat Geld verdient“, sagte Arslan [ev_0001:7].", []),
        ("„Die Halle hat Geld verdient“, sagte Berg [ev_0001:7].", FRAME),
        ("„Die Bahn hat Geld verdient“, sagte Lind [ev_0001:9].", []),
        ("« Nous n'avons fermé aucun site », précise Nadia Benhaddou [ev_0001:14].", []),
        ("« Nous n'avons fermé aucun site », assure le directeur, Marc Vuillet [ev_0001:14].", FRAME),
        ("Kurz sagte: „Ihr zieht heute noch um“ [ev_0001:16].", FRAME),
        ("Kim said: “you are dismissed from today” [ev_0001:27].", FRAME),
        ("„Wir ziehen hier nie wieder um“, sagte Jens Wachtel [ev_0001:21].", []),
        ('"We will never move again from here", said Anna Costa [ev_0001:23].', []),
        ("Der Chef der Genossenschaft sagte: „Die Fabrik hat Geld verdient.“ [ev_0001:25]", []),
        ("Jens Berg sagte: „Die Fabrik hat Geld verdient.“ [ev_0001:25]", FRAME),
        ('Marcus Feld said: "We have never hidden behind the weather," [ev_0001:18]', []),
    ],
)
def test_who_speaks_is_seen_in_any_quotation_marks(answer: str, expected: list[tuple[str, str]]) -> None:
    assert codes(findings(answer, TWO_SPEAKERS)) == expected


TWO_SOURCES = [
    evidence_of("ev_0001", "Harcourt said: “She never raised her voice at all.”\n"),
    evidence_of("ev_0002", "Oberdieck said: “Two half-empty plants are too dear.”\n"),
]


@pytest.mark.parametrize("between", [" [ev_0001:1]\n\n", " [ev_0001:1] "])
@pytest.mark.parametrize(
    ("second", "expected"),
    [
        ("Two half-empty plants are too dear", []),
        ("Two half-empty plants are not too dear", [("hard", "quotation_false")]),
    ],
)
def test_a_paragraph_or_a_citation_parts_two_quotations(
    between: str, second: str, expected: list[tuple[str, str]]
) -> None:
    answer = (
        f"Harcourt said: “She never raised her voice at all”{between}“{second}”, said Oberdieck [ev_0002:1]."
    )
    assert codes(list(quotations(case_of(answer, *TWO_SOURCES)))) == expected


@pytest.mark.parametrize("between", [" ", "\n", " [ev_0001:3] "])
def test_two_quotations_in_a_row_leave_out_what_is_between_them(between: str) -> None:
    found = findings(f"It says “The engineer did”{between}“say that it was safe” [ev_0001:3].")
    assert codes(found) == [("hard", "quotation_gap")]
