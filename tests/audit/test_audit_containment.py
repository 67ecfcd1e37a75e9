"""The rule `containment`: what supports, beside an attack that must not; forms, names, spans and labels."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from support.cited import cited, place
from vera.audit.case import CitedLines
from vera.audit.containment import VERSION, about, label, labels, spans
from vera.audit.containment_forms import forms, names
from vera.audit.containment_terms import tokens
from vera.audit.source_text import SourceText

FILE = "/input/GPL-3.txt\nGNU GENERAL PUBLIC LICENSE\nVersion 3, 29 June 2007"


def relation(claim: str, span: str, names_of: str = "", form: str = "statement") -> str:
    case = cited(claim, span, form=form)
    return label(case.claims[0], place(case), names_of)


@pytest.mark.parametrize(
    ("span", "true", "attack"),
    [
        ("Alpha bought Beta in 2019.", "Alpha bought Beta in 2019.", "Beta bought Alpha in 2019."),
        ("Alpha was bought by Beta.", "Alpha was bought by Beta.", "Alpha bought Beta."),
        ("Alpha was bought by Beta.", "Alpha was bought by Beta.", "Alpha is bought by Beta."),
        ("Alpha will be sold.", "Alpha will be sold.", "Alpha is sold."),
        ("The loss was $5 million.", "The loss was $5 million.", "The loss was 5 million."),
        ("The loss was 5 million.", "The loss was 5 million.", "The loss was 5."),
        ("The change was -5 %.", "The change was -5 percent.", "The change was 5 percent."),
        ("Members must be at least 18 years old.", "Members must be at least eighteen years old.",
         "Members must be 18 years old."),
        ("The drug cured nearly 50 patients.", "The drug cured nearly 50 patients.",
         "The drug cured 50 patients."),
        ("Each member has one vote.", "Every member has one vote.", "Each member has two votes."),
        ("All members except Alice voted.", "All members except Alice voted.", "All members voted."),
        ("Most members voted.", "Most members voted.", "All members voted."),
        ("The tenant may pay rent or leave.", "The tenant may pay rent or leave.", "The tenant must leave."),
        ("The tenant must pay rent or leave.", "The tenant must pay rent or leave.",
         "The tenant must pay rent."),
        ("Only members may vote.", "Only members may vote.", "Members may vote."),
        ("Members may only vote by post.", "Members may only vote by post.", "Members may vote by post."),
        ("If it rains, the match ends.", "The match ends if it rains.", "The match ends."),
        ("The lease ends in May unless the tenant objects.",
         "Unless the tenant objects, the lease ends in May.",
         "If the tenant objects, the lease ends in May."),
        ("You may sell the book in France.", "In France, you may sell the book.", "You may sell the book."),
        ("No tenant may keep dogs.", "A tenant may not keep dogs.", "A tenant may keep dogs."),
        ("Neither the owner nor the tenant may keep dogs.", "The tenant may not keep dogs.",
         "The tenant may keep dogs."),
        ("You must cause the files to carry a notice.", "The files must carry a notice.",
         "You must carry a notice."),
        ("You may charge a fee.", "A fee may be charged.", "A fee must be charged."),
        ("The bank gives Alice a loan.", "The bank gives a loan to Alice.", "Alice gives the bank a loan."),
        ("Alice's brother is a lawyer.", "The brother of Alice is a lawyer.", "Alice is a lawyer."),
        ("You may copy, modify, and distribute the Program.", "You may modify the Program.", "You may copy."),
        ("You must retain all copyright, patent, and attribution notices.",
         "You must retain all copyright notices.",
         "You must retain all copyright."),
        ("Alice is taller and older than Bob.", "Alice is older than Bob.", "Alice is taller."),
        ("Alice and Bob Smith resigned.", "Alice and Bob Smith resigned.", "Alice Smith resigned."),
        ("A unit is the whole Program or a work based on the Program.",
         "A unit is the whole Program or a work based on the Program.",
         "A unit is the work based or a whole Program on the Program."),
        ("Tom Jones sings.", "Tom Jones sings.", "Tom sings."),
        ("The minister of finance and justice resigned.", "The minister of finance and justice resigned.",
         "The minister of justice resigned."),
        ("A party that does not pay or work must leave.", "A party that does not pay or work must leave.",
         "A party that does not pay must leave."),
        ("Any work that holds text and images must be marked.",
         "Any work that holds text and images must be marked.",
         "Any work that holds text must be marked."),
        ("In 2019, Alpha bought the firm that Beta founded.",
         "In 2019, Alpha bought the firm that Beta founded.",
         "Alpha bought the firm that Beta founded in 2019."),
        ("The authors (at most five) must be listed.", "The authors (at most five) must be listed.",
         "The authors must be listed."),
        ("The following is required:\n- You must pay Alice.", "You must pay Alice.", "You must pay Bob."),
        ("The works that are derived from A, B, and the Program must be marked.",
         "The works that are derived from A, B, and the Program must be marked.",
         "The Program must be marked."),
    ],
)  # fmt: skip
def test_what_a_sentence_says_in_other_words_and_what_it_does_not_say(
    span: str, true: str, attack: str
) -> None:
    assert relation(true, span) == "SUPPORTS"
    assert relation(attack, span) != "SUPPORTS"


@pytest.mark.parametrize(
    ("claim", "span"),
    [
        ("The dam broke.", "Officials said the dam broke."),
        ("The dam broke.", "It is unlikely that the dam broke."),
        ("The city flooded.", "Nobody believes that the dam broke, and the city flooded."),
        ("Einstein died in 1982.", "The son of Einstein died in 1982."),
        ("Bob died.", "The sons of Alice, Carol, and Bob died."),
        ("Alice is bankrupt.", "Alice and Bob's company is bankrupt."),
        ("You must not sell it.", "No, you may sell it."),
        ("You may sell the book.", "The following is prohibited:\n- You may sell the book."),
        ("Alpha pays the rent.", "The following statements are false:\n- Alpha pays the rent."),
        ("You must give a copy that may be used.", "You must give a copy or an offer that may be used."),
        ("You must pay Alice if you do not work.", "You must pay Alice or Bob if you do not work."),
        ("You must delete any file that has a name.", "You must delete any file that has a name in English."),
        ("Code means a text.", "Code means a text for making changes."),
        ("The lease renews.", "Does the lease renew? The lease renews?"),
        ("", "Something."),
    ],
)  # fmt: skip
def test_a_doubt_is_never_support(claim: str, span: str) -> None:
    assert relation(claim, span) != "SUPPORTS"


@pytest.mark.parametrize(
    ("claim", "span"),
    [
        ("The offer is valid for five years.", "The offer is valid for three years."),
        ("The gate is not open.", "The gate is open."),
        ("The gate is open.", "The gate is not open."),
        ("You may keep dogs.", "You may not keep dogs."),
        ("You must pay a fee.", "You are not required to pay a fee."),
    ],
)
def test_one_number_or_one_negation_contradicts(claim: str, span: str) -> None:
    assert relation(claim, span) == "CONTRADICTS"


@pytest.mark.parametrize(
    ("claim", "span"),
    [
        ("You must pay a fee.", "You may pay a fee."),
        ("The terms of section 4 apply.", "The terms of section 5 apply."),
        ("The offer is valid for five years.", "The offer is valid for three years if you pay."),
        ("The offer is valid for five years.", "The offer was valid for three years."),
    ],
)
def test_a_contradiction_needs_the_same_sentence_and_the_opposite(claim: str, span: str) -> None:
    assert relation(claim, span) not in ("SUPPORTS", "CONTRADICTS")


def test_a_condition_that_is_left_out_qualifies() -> None:
    assert (
        relation("The lease ends in May.", "The lease ends in May unless the tenant objects.") == "QUALIFIES"
    )
    assert relation("You may sell the book.", "You may sell the book, provided that you pay.") == "QUALIFIES"


@pytest.mark.parametrize(
    "claim",
    [
        "GPL version 3 says that sublicensing is not allowed.",
        "Under the GPLv3, sublicensing is not allowed.",
        "According to GPL-3.0, sublicensing is not permitted.",
        "Under version 3 of the GNU General Public License, sublicensing is not allowed.",
        "The GNU General Public License does not allow sublicensing.",
        "GPL 3 prohibits sublicensing.",
        "Sublicensing is not allowed, says GPL version 3.",
    ],
)
def test_a_claim_may_name_the_document_instead_of_its_words(claim: str) -> None:
    span = "Sublicensing is not allowed; section 10 makes it unnecessary."
    assert relation(claim, span, FILE) == "SUPPORTS"
    assert relation(claim, span) != "SUPPORTS"


@pytest.mark.parametrize(
    "name",
    ["GPL version 2", "GPL-2.0", "version 2 of the GPL", "LGPL version 3", "AGPL version 3",
    "The Apache License",
     "The GNU Lesser General Public License version 3", "The GNU Affero General Public License", "GPL 3.1",
     "Only GPL version 3", "GPL version 3 or LGPL version 3"],
)  # fmt: skip
def test_another_name_or_version_is_another_document(name: str) -> None:
    assert (
        relation(f"{name} says that sublicensing is not allowed.", "Sublicensing is not allowed.", FILE)
        == "IRRELEVANT"
    )
    assert (
        relation(f"Under {name}, sublicensing is not allowed.", "Sublicensing is not allowed.", FILE)
        == "IRRELEVANT"
    )


def test_the_names_of_a_file_come_from_its_path_and_its_first_lines() -> None:
    assert ("gpl",) in {name.keys for name in names(FILE)}
    assert {name.version for name in names(FILE)} == {"3"}
    assert names("report.txt\nYesterday the dam broke") == names("report.txt")


def test_only_a_file_names_itself() -> None:
    web = cited("c", "GNU GENERAL PUBLIC LICENSE\nVersion 3\n", source="https://gpl.example/GPL-3.txt")
    file = cited("c", "GNU GENERAL PUBLIC LICENSE\nVersion 3\n", source="GPL-3.txt")
    assert about(place(web).evidence, place(web).source) == ""
    assert about(place(file).evidence, place(file).source).split("\n")[:2] == [
        "GPL-3.txt",
        "GNU GENERAL PUBLIC LICENSE",
    ]


def test_a_frame_says_who_must_and_who_may() -> None:
    keys = [[token.key for token in form.tokens] for form in forms("GPL 3 forbids you to sell copies.", FILE)]
    assert ["you", "must not", "sell", "copy"] in keys


def test_an_item_is_a_duty_by_the_head_of_its_list() -> None:
    text = "In addition, you must do these things:\n\nA. Keep the notices.\nB. Send Alice a copy of the text."
    assert relation("You must send Alice a copy of the text.", text) == "SUPPORTS"
    assert relation(
        "You must send Alice a copy of the text.", text.replace("these things", "one of these things")
    ) != ("SUPPORTS")


def test_the_sentence_is_read_whole_even_where_the_citation_cuts_it() -> None:
    text = "It is not the case, as some have said in a letter to us, that\nthe dam broke in the year 2019.\n"
    case = cited("The dam broke in the year 2019.", text, first=2, last=2)
    assert label(case.claims[0], place(case)) != "SUPPORTS"


def test_the_matched_words_must_be_within_the_cited_sentence() -> None:
    text = "The dam of the old town by the river broke\nin the year 2019.\nIt was rebuilt there.\n"
    claim = "The dam of the old town by the river broke in the year 2019."
    case = cited(claim, text, first=2, last=2)
    assert (place(case).first, place(case).last) == (1, 2)
    assert label(case.claims[0], place(case)) == "SUPPORTS"
    other = cited(claim, text, first=3, last=3)
    assert label(other.claims[0], place(other)) == "IRRELEVANT"


def test_a_file_that_says_nothing_but_the_thesis_is_not_taken_for_its_name() -> None:
    source, named = SourceText(b"The licence asks for no fee.\n"), "fee.txt\nThe licence asks for no fee."
    assert spans(source, "The licence asks for no fee", 3, named) == ((1, 1),)


def test_spans_hold_whole_sentences_best_first() -> None:
    lines = [
        "A heading",
        "",
        "The offer of the seller must be valid for",
        "at least three years.",
        "",
        "Other text.",
    ]
    source = SourceText("\n".join(lines).encode())
    assert spans(source, "The offer must be valid for three years.", 2)[0] == (3, 4)
    assert spans(SourceText(b""), "The offer.", 3) == ()
    assert len(spans(source, "The offer", 1)) == 1


def test_labels_name_their_maker_and_every_place() -> None:
    case = cited("The dam broke.", "The dam broke.", "The dam held.")
    (made,) = labels(case, 2)
    assert (made.round, made.claim, made.maker) == (2, "c1", VERSION)
    assert [one.relation for one in made.labels] == ["SUPPORTS", "IRRELEVANT"]
    assert labels(cited("The dam broke.", "The dam broke.", first=7), 1) == ()


def test_an_extract_says_only_that_the_lines_stand_there() -> None:
    assert relation("1. GPL-3.txt", "Nobody is named here.", form="extract") == "SUPPORTS"
    lines = "a written offer, valid for at least three\nyears, to give"
    assert relation("“at least three years”: GPL-3.txt", lines, form="extract") == "SUPPORTS"
    for said in ("at least seven years", "at least three days", "valid for three years"):
        assert relation(f"“{said}”: GPL-3.txt", lines, form="extract") == "IRRELEVANT"
    assert relation("The files do not tell.", "The files do not tell.", form="absence") == "IRRELEVANT"


@pytest.mark.parametrize(
    "span",
    ["a dam " * 6_000, "A. " * 12_000, "\n" * 39_000, "not dam , and or " * 2_300, "( " * 19_000, "1) " *
     13_000, "you may dam or " * 180, "* " * 19_000, "dam, " * 7_000],
)  # fmt: skip
def test_a_hostile_text_is_read_in_bounded_steps(span: str) -> None:
    claim = "You may not dam or dam the dam and the dam, or a dam, of the dam if not dam in 5 or 6 dams. " * 3
    assert relation(claim.strip(), span) in ("IRRELEVANT", "QUALIFIES")


_WORDS = [
    "the",
    "dam",
    "broke",
    "not",
    "may",
    "5",
    "%",
    "of",
    "Beta",
    "said",
    "only",
    "if",
    "and",
    "or",
    ",",
    "you",
]


@given(
    st.lists(st.sampled_from(_WORDS), min_size=1, max_size=12),
    st.lists(st.sampled_from(_WORDS), min_size=1, max_size=20),
)
@settings(max_examples=300, deadline=None)
def test_whatever_is_said_every_word_of_a_supported_claim_stands_in_the_source(
    claim: list[str], span: list[str]
) -> None:
    if relation(" ".join(claim), " ".join(span)) == "SUPPORTS":
        assert {"not", "5", "%", "only", "Beta", "dam"} & set(claim) <= set(span)


@given(st.text(max_size=200), st.text(max_size=400), st.text(max_size=60))
@example("NO", "", "")
@settings(max_examples=200, deadline=None)
def test_any_text_has_a_label(claim: str, span: str, names_of: str) -> None:
    assert relation(claim, span + "x", names_of) in ("SUPPORTS", "CONTRADICTS", "QUALIFIES", "IRRELEVANT")


DEBIAN = "The Debian Project was created by Ian Murdock in 1993, initially under the sponsorship of the FSF."


@pytest.mark.parametrize(
    ("span", "true", "attack"),
    [
        ("Acme Ltd. pays the rent.", "Acme Ltd. pays the rent.", "Acme Ltd. pays the tax."),
        ("The patient saw Dr. Smith.", "The patient saw Dr. Smith.", "The patient saw Smith."),
        ("You may pay Acme Ltd. only in May.", "You may pay Acme Ltd. only in May.", "You may pay Acme Ltd."),
        (DEBIAN, "The Debian Project was created by Ian Murdock.", "The Debian Project was created by Ian."),
        (DEBIAN, "The Debian Project was created by Ian Murdock in 1993.",
         "The Debian Project was created by Ian Murdock in 1994."),
        ("Beta was acquired by Alpha in May 1993.", "Beta was acquired by Alpha.",
         "Alpha was acquired by Beta."),
        ("Beta was bought by Alpha in 1993, initially in part.",
         "Beta was bought by Alpha in 1993, initially in part.", "Beta was bought by Alpha."),
        ("All members were paid in 1993.", "All members were paid in 1993.", "All members were paid."),
        ("Its population was 5 million in 1993.", "Its population was 5 million in 1993.",
         "Its population was 5 million."),
    ],
)  # fmt: skip
def test_a_full_stop_within_a_word_and_the_date_of_a_deed(span: str, true: str, attack: str) -> None:
    assert relation(true, span) == "SUPPORTS"
    assert relation(attack, span) != "SUPPORTS"


@pytest.mark.parametrize(
    ("claim", "span", "found"),
    [
        ("Visitors must smoke.", "Visitors must not smoke.", "CONTRADICTS"),
        ("Visitors must not smoke.", "Visitors must smoke.", "CONTRADICTS"),
        ("Visitors must smoke.", "Visitors must not smoke in the bar.", "IRRELEVANT"),
        ("Visitors must smoke.", "Guests must not smoke.", "IRRELEVANT"),
        ("No dividend was paid.", "A dividend was paid.", "CONTRADICTS"),
        ("A dividend was paid.", "No dividend was paid.", "CONTRADICTS"),
        ("The dividend was paid.", "The dividend was not paid.", "CONTRADICTS"),
        ("No dividend was paid.", "A dividend was paid in 1990.", "IRRELEVANT"),
        ("A dividend was paid.", "No dividend was paid in 1990.", "IRRELEVANT"),
        ("A dividend was paid.", "A dividend was not paid.", "IRRELEVANT"),
        ("No member may vote.", "A member may vote.", "CONTRADICTS"),
        ("No member may vote.", "A member may vote by post.", "IRRELEVANT"),
        ("You must sell it.", "You may sell it.", "IRRELEVANT"),
    ],
)
def test_one_changed_negation_or_modal_refutes_where_all_else_is_the_same(
    claim: str, span: str, found: str
) -> None:
    assert relation(claim, span) == found


def test_an_exception_behind_the_words_of_a_thesis_qualifies_it() -> None:
    law = "This License shall be governed by California law provisions"
    assert relation(law, f"{law} (except to the extent applicable law provides otherwise).") == "QUALIFIES"


@pytest.mark.parametrize("bracketed", ["（not）", "【not】", "〔not〕", "<not>", "«not»", "(not"])
def test_a_negation_in_any_brackets_proves_neither_reading(bracketed: str) -> None:
    line = f"Records must {bracketed} be stored."
    assert relation("Records must be stored.", line) not in ("SUPPORTS", "CONTRADICTS")
    assert relation("Records must not be stored.", line) not in ("SUPPORTS", "CONTRADICTS")
    assert relation("Records must be stored.", "Records must be stored（see section 4）.") != "CONTRADICTS"


@pytest.mark.parametrize("remark", ["(repealed)", "[superseded]", "(deleted in 1990)"])
def test_what_is_taken_back_in_brackets_is_not_supported(remark: str) -> None:
    assert relation("The plan is in force.", f"The plan is in force {remark}.") != "SUPPORTS"
    assert relation("The plan is in force.", "The plan is in force (see section 4).") == "SUPPORTS"


@pytest.mark.parametrize("doubted", ['"not"', "“not”", "'not'", "`not`", "not (?)", "not(?)", "not?"])
def test_a_negation_that_is_only_mentioned_or_doubted_proves_neither_reading(doubted: str) -> None:
    line = f"Records must {doubted} be stored."
    for claim in ("Records must be stored.", "Records must not be stored."):
        assert relation(claim, line) not in ("SUPPORTS", "CONTRADICTS")
        assert relation(line, claim) not in ("SUPPORTS", "CONTRADICTS")
    assert relation("Records must be stored.", "Records must *not* be stored.") == "CONTRADICTS"
    assert relation("Records must not be stored.", "Records must **not** be stored.") == "SUPPORTS"


@pytest.mark.parametrize(
    "rest",
    [
        ", which was abolished",
        ", which was abolished in 1990",
        ", a rule that was repealed in 1990",
        ", since revoked",
        " — this has been withdrawn",
    ],
)
def test_what_is_taken_back_in_a_clause_behind_it_is_not_supported(rest: str) -> None:
    claim = "Records must be stored."
    assert relation(claim, f"Records must be stored{rest}.") not in ("SUPPORTS", "CONTRADICTS")
    assert relation(claim, "Records must be stored, which is useful.") == "SUPPORTS"
    assert relation("The rule was abolished.", "The rule was abolished.") == "SUPPORTS"


@pytest.mark.parametrize("box", ["☐", "- [ ]", "□", "✗"])
def test_what_is_beside_a_box_that_is_not_ticked_is_not_supported(box: str) -> None:
    claim = "Records must be stored."
    assert relation(claim, f"{box} Records must be stored.") not in ("SUPPORTS", "CONTRADICTS")
    assert relation(claim, f"{box} The firm agrees. Records must be stored.") != "SUPPORTS"
    for ticked in ("☑", "☒"):
        assert relation(claim, f"{ticked} Records must be stored.") == "SUPPORTS"


def test_a_german_date_is_within_a_sentence() -> None:
    said = "Das Hafenmuseum wurde am 3. Mai 1987 von Clara Lindt eröffnet."
    assert [token.key for token in tokens(said)][4:7] == ["#3", "may", "#1987"]
    assert not any(token.tag == "mark" for token in tokens(said.rstrip(".")))


@pytest.mark.parametrize(
    ("claim", "span"),
    [
        ("Die Miete beträgt 1250 Euro.", "Die Miete beträgt 1.250 Euro."),
        ("Die Miete beträgt 1.250,00 Euro.", "Die Miete beträgt 1.250 Euro."),
        ("The rent is 1,250 euros.", "The rent is 1.250 euros."),
        ("The rent is 1250.00 euros.", "The rent is 1,250 euros."),
    ],
)
def test_the_same_number_in_another_spelling_denies_nothing(claim: str, span: str) -> None:
    assert relation(claim, span) != "CONTRADICTS"
    assert relation(claim, span.replace("250", "350")) == "CONTRADICTS"


@pytest.mark.parametrize(
    ("span", "claim", "expected"),
    [
        ("The pass costs 2.50 euros.", "The pass costs 2.5 euros.", "IRRELEVANT"),
        ("The pass costs 2.50 euros.", "The pass costs 2.6 euros.", "CONTRADICTS"),
        ("The gate opens at 09:00 on Mondays.", "The gate opens at 9:00 on Mondays.", "IRRELEVANT"),
        ("The slope is 12.5 %.", "The slope is 12.50 %.", "IRRELEVANT"),
        ("The slope is 12.5 %.", "The slope is 13.5 %.", "CONTRADICTS"),
    ],
)
def test_the_same_value_in_another_spelling_refutes_nothing(span: str, claim: str, expected: str) -> None:
    assert relation(claim, span) == expected


@pytest.mark.parametrize(
    ("span", "claim", "expected"),
    [
        (
            "The offer lasts for at least three years.",
            "The offer lasts for at least two years.",
            "IRRELEVANT",
        ),
        (
            "The offer lasts for at least three years.",
            "The offer lasts for at least five years.",
            "CONTRADICTS",
        ),
        ("The pier grew by more than 20 metres.", "The pier grew by more than 10 metres.", "IRRELEVANT"),
        ("The fee is at most 30 euros.", "The fee is at most 40 euros.", "IRRELEVANT"),
        ("The fee is at most 30 euros.", "The fee is at most 20 euros.", "CONTRADICTS"),
    ],
)
def test_a_bound_that_the_source_keeps_is_not_refuted(span: str, claim: str, expected: str) -> None:
    assert relation(claim, span) == expected


def test_a_ferry_at_one_hour_does_not_deny_one_at_another() -> None:
    claim = "A ferry leaves at 10:15 from pier 1."
    assert relation(claim, "A ferry leaves at 9:15 from pier 1.") == "IRRELEVANT"
    assert relation("The ferry costs 10 euros.", "The ferry costs 9 euros.") == "CONTRADICTS"


@pytest.mark.parametrize(
    "span",
    [
        "Suppose the boiler has a leak. The pressure falls to 5 bar.",
        "Imagine a leak in the boiler.\nThe pressure falls to 5 bar.",
        "Nehmen wir an, es leckt. The pressure falls to 5 bar.",
        "The pressure falls to 5 bar; this was so until 2019.",
        "The pressure falls to 5 bar; so stand es in der Zeitung, und es war falsch.",
        "The pressure falls to 5 bar, so der Hersteller; gemessen wurden sechs.",
        "The pressure falls to 5 bar. | no",
        "The pressure falls to 5 bar. | withdrawn",
        "The pressure falls to 5 bar. | abgelehnt",
        "The pressure falls to 5 bar. | not true",
    ],
)
@pytest.mark.parametrize("claim", ["The pressure falls to 5 bar.", "The pressure falls to 6 bar."])
def test_what_is_supposed_given_to_somebody_or_refused_beside_it_proves_and_refutes_nothing(
    span: str, claim: str
) -> None:
    assert relation(claim, span) == "IRRELEVANT"


@pytest.mark.parametrize(
    "span",
    [
        "The boiler has a leak. The pressure falls to 5 bar.",
        "The pressure falls to 5 bar; the valve opens.",
        "The pressure falls to 5 bar. | yes",
        "§ 3 The pressure falls to 5 bar.",
    ],
)
def test_the_same_sentence_without_that_is_held(span: str) -> None:
    assert relation("The pressure falls to 5 bar.", span) == "SUPPORTS"


CLAUSES = "3.1 The Tenant must not:\n\n(a) smoke; or\n(b) keep dogs.\n\n3.2 The rent is 900 euros.\n"


def test_a_clause_is_not_below_the_head_of_the_one_before() -> None:
    case = cited("The rent is 900 euros.", CLAUSES)
    whole = place(case)
    assert label(case.claims[0], CitedLines(whole.evidence, whole.source, 6, 6)) == "SUPPORTS"


@pytest.mark.parametrize(
    "head", ["1. The following statements are false:", "1. The following clause was repealed in 2020:"]
)
def test_a_head_without_lines_of_its_own_is_that_of_what_follows(head: str) -> None:
    assert relation("Tenants may keep dogs.", f"{head}\n2. Tenants may keep dogs.\n") != "SUPPORTS"


@pytest.mark.parametrize(
    ("number", "is_one"),
    [("3.1 ", True), ("§ 3.1 ", True), ("Clause 3.1 ", True), ("B4  ", True), ("x. ", True),
     ("Proposal: ", False), ("Alice: ", False)],
)  # fmt: skip
def test_the_number_of_a_clause_is_no_part_of_its_sentence(number: str, is_one: bool) -> None:
    said = "The rent is 900 euros."
    text = f"LEASE\n\n{number}{said}\n{'B5  ' if number[0] == 'B' else '3.2 '}The term is three years.\n"
    assert (relation(said, text) == "SUPPORTS") is is_one


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("Liter Wasser fließen.", "2.5 Liter Wasser fließen.\n2.6 Liter Bier fließen.\n"),
        ("Employees are present at night.", "1.5 Employees are present at night.\n"),
        ("Vitamin is added.", "B12  Vitamin is added.\n"),
    ],
)
def test_a_decimal_is_no_number_of_a_clause(claim: str, text: str) -> None:
    assert relation(claim, text) != "SUPPORTS"


@pytest.mark.parametrize("mark", ["[1]", "[^1]", "[2][3]"])
def test_the_mark_of_a_note_ends_the_sentence_before(mark: str) -> None:
    text = f"The drift is low.{mark}\nThe rent is 900 euros.\n"
    assert relation("The rent is 900 euros.", text) == "SUPPORTS"


@pytest.mark.parametrize(
    ("claim", "span"),
    [
        ("The fair opens on 1 Jan. 2022.", "The fair opens on 1 January 2022."),
        ("The fair opens on 2022-05-01.", "The fair opens on 1 May 2022."),
        ("The fair opens on May 1, 2022.", "The fair opens on 1 May 2022."),
        ("Der Markt beginnt am 06.07.2024.", "Der Markt beginnt am 6. Juli 2024."),
        ("The fee is €50.", "The fee is 50 euros."),
        ("The share is 15 %.", "The share is 15 per cent."),
        ("It holds 10000 books.", "It holds 10\u202f000 books."),
        ("It holds 10000 books.", "It holds 10,000 books."),
    ],
)
def test_values_are_equal_in_another_spelling(claim: str, span: str) -> None:
    assert relation(claim, span) == "SUPPORTS"
    assert relation(span, claim) == "SUPPORTS"


@pytest.mark.parametrize(
    ("claim", "span"),
    [
        ("The fair opens on 2022-01-05.", "The fair opens on 1 May 2022."),
        ("The fair opens on 03/04/2023.", "The fair opens on 3 April 2023."),
        ("The fee is €50.", "The fee is $50."),
        ("The fee is 50 euros.", "The fee is 50 million euros."),
        ("It holds ten books.", "It holds 10,000 books."),
        ("The parcel weighs £50.", "The parcel weighs 50 pounds."),
        ("Room 12300 people came.", "Room 12 300 people came."),
        ("Version 1 May 2022 was released.", "Version 1.5.2022 was released."),
        (
            "The firm has between 5 million and 10 million readers.",
            "The firm has between 5 and 10 million readers.",
        ),
        ("The dose is 1 mg.", "The dose is 1[0] mg."),
    ],
)
def test_another_value_is_another_one_in_any_spelling(claim: str, span: str) -> None:
    assert relation(claim, span) != "SUPPORTS"
    assert relation(span, claim) != "SUPPORTS"


@pytest.mark.parametrize(
    ("claim", "span"),
    [
        ("Berg was elected.", "It is not true that in 2019 A. Berg was elected."),
        ("A5 is void.", "It is not true that permit No. A5 is void."),
        ("Tenants may keep dogs.", "**Deleted.** Tenants may keep dogs."),
        ("转租房屋。", "一、租金每月三千元。\n二、承租人不得\n转租房屋。"),
        ("承租人可以养狗。", "三、仅在出租人同意后\n承租人可以养狗。"),
        (
            "Tenants may keep dogs.",
            "It is not true at all that under the section\n3.1 Tenants may keep dogs.\n3.2 More is here.",
        ),
        ("The rent is 500 euros.", "The rent is 500 euros.[1]\n\n[1] Not true."),
        ("The Tenant must leave.", "The Tenant must:\n- pay the rent; alternatively\n- leave.\n"),
    ],
)
def test_what_is_cut_out_of_a_sentence_is_not_said(claim: str, span: str) -> None:
    assert relation(claim, span) not in ("SUPPORTS", "CONTRADICTS")


@pytest.mark.parametrize(
    ("claim", "span", "expected"),
    [
        ("The council approved the repair of Pier 3.", "The council approved the repair of Pier 2.", False),
        ("Batch 7741 was recalled.", "Batch 7714 was recalled.", False),
        ("Flight 302 left from Gate 4.", "Flight 302 left from Gate 5.", False),
        ("The fee is 50 euros.", "The fee is 60 euros.", True),
        ("The fee is CHF 50.", "The fee is CHF 60.", True),
        ("Batch 7714 was recalled on 19 January 2024.", "Batch 7714 was recalled on 18 January 2024.", True),
    ],
)
def test_what_is_said_of_another_numbered_thing_denies_nothing(claim: str, span: str, expected: bool) -> None:
    assert (relation(claim, span) == "CONTRADICTS") is expected


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        ("A patrol follows each steam train, but not on days on which it rains.", "QUALIFIES"),
        ("A patrol follows each steam train; on days of rain this does not hold.", "QUALIFIES"),
        ("A patrol follows each steam train; tickets are sold in the hall.", "SUPPORTS"),
    ],
)
def test_a_second_half_may_take_back_the_first(span: str, expected: str) -> None:
    assert relation("A patrol follows each steam train.", span) == expected


@pytest.mark.parametrize(
    ("claim", "span"),
    [
        (
            "El límite en el túnel es de 60 km/h.",
            "El límite en el túnel es de 60 km/h. Está prohibido adelantar.",
        ),
        ("Am 8. Juli fiel der Pegel.", "Am 8. Juli fiel der Pegel.\nDer Stab wurde aufgelöst."),
        ("远景电机被宏达轴承收购。", "一、交易概述\n远景电机被宏达轴承收购。\n交易价格为三亿元。"),
        ("Batch 7714 was recalled.", "Batch 7714 was recalled.\nKeep it dry."),
        ("运费按月结算。", "一、本协议是原合同的组成部分。\n二、运费按月结算。\n三、冷藏车由甲方提供。"),
        ("Nobody gave me a release.", "Q. You signed it?\nA. No. Nobody gave me a release."),
    ],
)
def test_a_sentence_of_a_source_is_found_in_it(claim: str, span: str) -> None:
    text = SourceText(f"{span}\n".encode())
    assert relation(claim, span, f"/input/a.txt\n{span}") == "SUPPORTS"
    assert spans(text, claim, 3, f"/input/a.txt\n{span}")
