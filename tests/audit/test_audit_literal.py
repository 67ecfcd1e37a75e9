"""The rule `literal`: each attack beside a benign twin."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.cited import cited, place
from vera.audit import containment
from vera.audit.case import CitedLines
from vera.audit.literal import VERSION, label, labels
from vera.evidence.claim import Claim, Relation

Rule = Callable[[Claim, CitedLines], Relation]


def relation(claim: str, span: str, form: str = "statement") -> str:
    case = cited(claim, span, form=form)
    return label(case.claims[0], place(case))


@pytest.mark.parametrize(
    ("span", "verbatim", "attack"),
    [
        ("Alpha bought Beta in 2019.", "Alpha bought Beta in 2019.", "Beta bought Alpha in 2019."),
        ("Alpha was bought by Beta.", "Alpha was bought by Beta.", "Alpha bought Beta."),
        ("The loss was 5 million.", "The loss was 5 million.", "The loss was 5."),
        ("The loss was $5 million.", "The loss was $5 million.", "The loss was 5 million."),
        ("The change was -5 %.", "The change was -5 percent.", "The change was 5 percent."),
        ("The rent is 1,800 euros.", "The rent is 1800 euros.", "The rent is 1801 euros."),
        ("The bridge may close in May.", "The bridge may close in May.", "The bridge closes in May."),
        ("Alpha is said to own Beta.", "Alpha is said to own Beta.", "Alpha owns Beta."),
        ("The son of Einstein died in 1982.", "The son of Einstein died in 1982.", "Einstein died in 1982."),
        ("Einstein's died in 1982.", "Einstein's died in 1982.", "Einstein died in 1982."),
        ("The vice president resigned.", "The vice president resigned.", "The president resigned."),
        ("If it rains, the match ends.", "If it rains, the match ends.", "The match ends."),
        ("It is false that Alpha pays.", "It is false that Alpha pays.", "Alpha pays."),
        ("Officials said the dam broke.", "Officials said the dam broke.", "The dam broke."),
        ("Revenue was 5 and cost was 7.", "Revenue was 5 and cost was 7.", "Revenue was 7."),
        ("Rent: 900 euros\nDeposit: 1,800 euros", "Deposit: 1,800 euros", "Rent: 1,800 euros"),
    ],
)
def test_words_turned_round_are_not_what_the_source_says(span: str, verbatim: str, attack: str) -> None:
    assert relation(verbatim, span) == "SUPPORTS"
    assert relation(attack, span) == "IRRELEVANT"


@pytest.mark.parametrize(
    ("claim", "span"),
    [
        ("The bridge opened in 1932.", "As is known, the bridge opened in 1932 after six years of work."),
        ("The dam therefore broke.", "The dam broke."),
        ("Copies of the program are free.",
         "1. This clause is about copies. Copies of the\n   program are free. Sources are not."),
        ("The rent is 900 euros per month.", "Rent: 900 euros per month\nDeposit: 1,800 euros"),
        ("The lease ends on 31 March 2027.", "**The lease** ends on 31 March 2027."),
        ("“The tenant doesn’t pay.”", "The tenant doesn't pay."),
        ("Zoë’s café opened.", "ZOE'S CAFE OPENED!"),
        ("本公司成立于1998年。", "本公司成立于1998年。总部在北京。"),
        ("A long line that is wrapped goes on after the end of it.",
         "A long line that is wrapped goes on after\nthe end of it. More follows."),
    ],
)  # fmt: skip
def test_how_it_is_set_does_not_matter(claim: str, span: str) -> None:
    assert relation(claim, span) == "SUPPORTS"


@pytest.mark.parametrize(
    ("claim", "span"),
    [
        ("The lease does not renew.", "The lease renews."),
        ("The lease renews.", "The lease does not renew."),
        ("A tenant keeps dogs.", "No tenant keeps dogs."),
        ("The gate isn't open.", "The gate is open."),
    ],
)
def test_the_same_words_denied_contradict(claim: str, span: str) -> None:
    assert relation(claim, span) == "CONTRADICTS"


@pytest.mark.parametrize(
    ("claim", "span"),
    [
        ("The bridge opened in 1932.", "The bridge opened in 1932 but was not painted."),
        ("The bridge opened in 1932.", "It is not true that the bridge opened in 1932."),
        ("The bridge opened in 1932.", "The tunnel did not open in 1932."),
        ("The bridge opened.", "The bridge opened. The bridge has not opened. The bridge not opened."),
        ("The lease renews.", "Does the lease renew? The lease renews?"),
        ("The dam broke.", "The dam. Broke."),
        ("The dam broke.", "- the dam\n- broke"),
        ("Yes.", "Yes."),
        ("The dam broke.", "***"),
        ("", "Something."),
    ],
)
def test_a_doubt_is_never_a_verdict(claim: str, span: str) -> None:
    assert relation(claim, span) == "IRRELEVANT"


def test_an_extract_says_only_that_the_lines_stand_there() -> None:
    assert relation("1. GPL-3.txt", "Nobody is named here.", form="extract") == "SUPPORTS"
    assert relation("The files do not tell.", "The files do not tell.", form="absence") == "IRRELEVANT"


def test_labels_name_their_maker_and_every_place() -> None:
    case = cited("The dam broke.", "The dam broke.", "The dam held.")
    (made,) = labels(case, 2)
    assert (made.round, made.claim, made.maker) == (2, "c1", VERSION)
    assert [(one.evidence, one.first, one.last, one.relation) for one in made.labels] == [
        ("ev_0001", 1, 1, "SUPPORTS"),
        ("ev_0002", 1, 1, "IRRELEVANT"),
    ]


def test_a_claim_without_a_place_has_no_labels() -> None:
    assert labels(cited("The dam broke.", "The dam broke.", first=7), 1) == ()


@given(st.lists(st.sampled_from(["dam", "broke", "not", "may", "5", "%", "of", "Beta", "said"]), min_size=1))
def test_only_words_in_their_order_support(claim: list[str]) -> None:
    span = "Beta said 5 % of the dam may not have broke."
    if relation(" ".join(claim), span) == "SUPPORTS":
        assert " ".join(claim) in "Beta said 5 % of dam may not"


def test_a_fragment_from_the_middle_of_a_sentence_is_not_supported() -> None:
    said = "The guarantee of the machine is seven years."
    for claim in ("Seven years.", "Is seven years.", "Seven."):
        assert relation(claim, said) == "IRRELEVANT"
    assert relation("Guarantee.", "Guarantee of the machine.") == "IRRELEVANT"
    assert relation("Seven years.", "Seven years.") == "SUPPORTS"
    assert relation("The guarantee ends.", "The guarantee ends with the lease.") == "SUPPORTS"
    assert relation("The fee is 5.", "| The fee | 5 |") == "SUPPORTS"
    assert relation("The guarantee of the machine is seven years.", f"{said} It is free.") == "SUPPORTS"


@pytest.mark.parametrize("claim", ["Never.", "Never!", "Not.", "Nicht.", "Keine.", "No!", "Ne pas."])
def test_a_negation_alone_states_nothing(claim: str) -> None:
    for span in ("Beta said the dam broke.", "It was never sold in winter.", "Not."):
        assert relation(claim, span) != "CONTRADICTS"


@pytest.mark.parametrize("span", ["a dam " * 200_000, "A. " * 300_000, "\n" * 79_000, "not dam " * 9_000])
def test_a_hostile_span_ends(span: str) -> None:
    assert relation("The dam broke.", span) == "IRRELEVANT"


@pytest.mark.parametrize(
    ("claim", "line"),
    [
        ("Haustiere sind im Haus erlaubt.", "Haustiere sind im Haus nicht erlaubt."),
        ("Haustiere sind im Haus nicht erlaubt.", "Haustiere sind im Haus erlaubt."),
        ("Der Mieter raucht im Keller.", "Der Mieter raucht niemals im Keller."),
        ("Les journaux sont prêtés.", "Les journaux ne sont pas prêtés."),
        ("Les journaux ne sont pas prêtés.", "Les journaux sont prêtés."),
        ("La taxe est due.", "La taxe n’est pas due."),
        ("Le locataire paie la taxe.", "Le locataire ne paie jamais la taxe."),
    ],
)
def test_a_german_or_french_negation_on_one_side_contradicts(claim: str, line: str) -> None:
    assert relation(claim, line) == "CONTRADICTS"
    assert relation(line, line) == "SUPPORTS"


@pytest.mark.parametrize(
    ("claim", "line"),
    [
        ("Der Mieter zahlt die Gebühr.", "Keineswegs: Der Mieter zahlt die Gebühr."),
        ("Der Mieter zahlt die Gebühr.", "Der Mieter zahlt die Gebühr nie."),
        ("Der Mieter zahlt die Gebühr.", "Falsch: Der Mieter zahlt die Gebühr."),
        ("Le locataire paie la taxe.", "Il est faux que le locataire paie la taxe."),
        ("Le locataire paie la taxe.", "Sans raison, le locataire paie la taxe."),
        ("Haustiere sind erlaubt.", "Es stimmt nicht: Haustiere sind erlaubt."),
        ("He lives in Portland.", "He lives in NE Portland."),
    ],
)
def test_a_german_or_french_denial_keeps_a_sentence_from_supporting(claim: str, line: str) -> None:
    assert relation(claim, line) != "SUPPORTS"


@pytest.mark.parametrize(
    ("line", "claims"),
    [
        ("Records must (not) be stored.", ["Records must be stored.", "Records must not be stored."]),
        ("Records must [not] be stored.", ["Records must be stored.", "Records must not be stored."]),
        ("Records must {never} be stored.", ["Records must be stored.", "Records must never be stored."]),
        ("Records must (or must not) be stored.", ["Records must be stored.", "Records must not be stored."]),
        ("Records must (may) be stored.", ["Records must be stored.", "Records may be stored."]),
        ("Records (must) be stored.", ["Records must be stored.", "Records must not be stored."]),
        ("The plan is (un)lawful today.", ["The plan is lawful today.", "The plan is unlawful today."]),
        ("Tiere sind (nicht) erlaubt.", ["Tiere sind erlaubt.", "Tiere sind nicht erlaubt."]),
        ("La taxe (n’)est (pas) due.", ["La taxe est due.", "La taxe n’est pas due."]),
        *(
            (f"Records must {each} be stored.", ["Records must be stored.", "Records must not be stored."])
            for each in (
                "（not）",
                "【not】",
                "〔not〕",
                "<not>",
                "«not»",
                "»not«",
                "「not」",
                "(not",
                "[not",
            )
        ),
        ("The plan is in force (repealed).", ["The plan is in force."]),
        ("The plan is in force [since superseded].", ["The plan is in force."]),
        ("The plan is in force (deleted in 1990 by the council of Ostley).", ["The plan is in force."]),
        ("Der Plan ist gültig (aufgehoben).", ["Der Plan ist gültig."]),
    ],
)
def test_a_bracketed_negation_or_alternative_proves_neither_reading(line: str, claims: list[str]) -> None:
    assert [relation(claim, line) for claim in claims] == ["IRRELEVANT"] * len(claims)
    assert relation(line, claims[0]) == "IRRELEVANT"
    assert relation(line, line) == "SUPPORTS"


@pytest.mark.parametrize(
    ("claim", "line"),
    [
        ("The records must be stored (5 years).", "The records must be stored (5 years)."),
        ("The records must be stored.", "The records must be stored (see section 4)."),
        ("The records must not be stored.", "The records must not be stored (section 4)."),
        ("The plan is in force.", "The plan is in force (in Berlin) today."),
        ("The plan is in force.", "The plan is in force （see section 4）."),
        ("The plan is in force.", "The plan is in force 【Berlin】."),
        ("The plan is in force.", "The plan is in force (deleted files are kept)."),
        ("The plan is in force.", "The plan is in force (see section 4."),
        ("The plan is not in force.", "The plan is not in force (section 4)."),
    ],
)
def test_other_brackets_take_nothing_away(claim: str, line: str) -> None:
    assert relation(claim, line) == "SUPPORTS"


@pytest.mark.parametrize("rule", [label, containment.label])
@pytest.mark.parametrize(
    "span",
    [
        "{} (repealed 2019).",
        "{} (aufgehoben 2019).",
        "{} (repealed and replaced).",
        "{} (this section was repealed).",
        "{} (ruled unconstitutional).",
        "{} (void).",
        "{}, which was abolished 2019.",
        "{}, which no longer holds.",
        "{}; repealed in 2019.",
        "{}, repealed 2019.",
        "{} – repealed.",
        "{}. (Repealed.)",
        "{}. (Repealed.) Owners may pay.",
        "{}.\n(Repealed.)",
        "{}. ☐",
        "☐\n{}.",
        "- [ ]\n{}.",
        "◯ {}.",
        "🞎 {}.",
        "( ) {}.",
        "1. [] {}.",
        "The following was repealed:\n- Owners may pay.\n- {}.",
        "The following is false.\n{}.",
        "It is not true that:\n- {}.",
        "Not:\n- {}.",
        "Repealed: {}.",
        "**Incorrect:** {}.",
        "~~{}.~~",
        "<del>{}.</del>",
    ],
)
def test_what_is_taken_back_before_or_behind_it_is_not_supported(rule: Rule, span: str) -> None:
    case = cited(
        "Tenants must store logs for two years.", span.format("Tenants must store logs for two years")
    )
    assert rule(case.claims[0], place(case)) != "SUPPORTS"


@pytest.mark.parametrize("rule", [label, containment.label])
@pytest.mark.parametrize(
    "span",
    [
        "○ {}",
        "☒ {}",
        "{} Other rules were repealed in 2019.",
        "{}\n(Adopted in 2019.)",
        "{}\n☐ Owners may pay.",
        "{}\n☐\nOwners may pay.",
        "☐\nOwners may pay.\n{}",
        "Repealed: 2\n{}",
        "The following applies:\n- {}",
        "The following was repealed:\n- Owners may burn logs.\n\nOther rules go on.\n\n{}",
        "The following is false.\nOwners may burn logs.\n{}",
    ],
)
def test_what_takes_another_sentence_back_takes_nothing_from_this_one(rule: Rule, span: str) -> None:
    case = cited(
        "Tenants must store logs for two years.", span.format("Tenants must store logs for two years.")
    )
    assert rule(case.claims[0], place(case)) == "SUPPORTS"


@pytest.mark.parametrize("rule", [label, containment.label])
def test_a_head_above_the_cited_lines_that_denies_counts(rule: Rule) -> None:
    claim = "Tenants must store logs for two years."
    for head, supported in (("The following was repealed:", False), ("The following applies:", True)):
        case = cited(claim, f"{head}\n- Owners may pay.\n- {claim}", first=3, last=3)
        assert (rule(case.claims[0], place(case)) == "SUPPORTS") is supported


def test_a_compass_point_is_no_negation() -> None:
    assert relation("He lives in Portland.", "He lives in NE Portland.") == "IRRELEVANT"


@pytest.mark.parametrize(
    ("line", "claim"),
    [
        ('Records must "not" be stored.', "Records must be stored."),
        ("Records must not (?) be stored.", "Records must be stored."),
        ("Records must not (?) be stored.", "Records must not be stored."),
        ("Records must be stored, which was abolished.", "Records must be stored."),
        ("- [ ] Records must be stored.", "Records must be stored."),
        ("□ The firm agrees. Records must be stored.", "Records must be stored."),
        ("费用为12元（不）。", "费用为12元。"),
        ("Die Akten sind aufzubewahren, was inzwischen aufgehoben ist.", "Die Akten sind aufzubewahren."),
    ],
)
def test_what_is_doubted_taken_back_or_not_ticked_proves_neither_reading(line: str, claim: str) -> None:
    assert relation(claim, line) == "IRRELEVANT"
    assert relation(line, line) in ("SUPPORTS", "IRRELEVANT")
    assert relation("费用为12元。", "费用为12元（见附件）。") == "SUPPORTS"
    assert relation("Records must be stored.", "- Records must be stored, which is useful.") == "SUPPORTS"


@pytest.mark.parametrize(
    ("claim", "limited"),
    [
        ("Der Bau begann im 19. Jahrhundert.", "Der Bau begann im 19. Jahrhundert v. Chr."),
        ("Die Frist ist der 3. Mai.", "Die Frist ist der 3. Mai nur für Studenten."),
        ("Der Kurs beginnt am 3. Mai.", "Der Kurs beginnt am 3. Mai oder am 4. Juni."),
        ("It fell in the 19th century.", "It fell in the 19th century BC."),
        ("Le délai est le 3 mai.", "Le délai est le 3 mai sauf pour les étudiants."),
    ],
)
def test_a_date_that_goes_on_with_a_limit_or_an_era_is_not_supported(claim: str, limited: str) -> None:
    assert relation(claim, claim) == "SUPPORTS"
    assert relation(claim, limited) != "SUPPORTS"


@pytest.mark.parametrize(
    ("claim", "line"),
    [
        ("Shipping is free of charge.", "Shipping is free of charge for orders of more than 80 dollars."),
        ("L'entrée est libre.", "L'entrée est libre pour les membres."),
        (
            "O contrato foi assinado por todos os sócios.",
            "O contrato foi assinado por todos os sócios, me-\nnos um.",
        ),
        ("The rate of interest rose to 3.", "The rate of interest rose to 3.\n75 percent in May."),
    ],
)
def test_what_goes_on_with_a_limit_is_not_supported(claim: str, line: str) -> None:
    assert relation(claim, line) == "IRRELEVANT"


@pytest.mark.parametrize(
    ("claim", "line"),
    [
        ("The hall was built in 1890.", "The hall was built in 1890 for the exhibition."),
        ("The house has a lift.", "☒ The house has a lift."),
        ("Das Unternehmen zahlt die Miete.", "Das Unter-\nnehmen zahlt die Miete."),
        ("It is a well-known fact of the town.", "It is a well-\nknown fact of the town."),
        ("Der Vor- und Nachteil gilt allen.", "Der Vor- und Nachteil gilt allen."),
        ("The rate of interest rose to 3.", "The rate of interest rose to 3.\n4. It had been 2 before."),
    ],
)
def test_what_goes_on_without_a_limit_is_supported(claim: str, line: str) -> None:
    assert relation(claim, line) == "SUPPORTS"
