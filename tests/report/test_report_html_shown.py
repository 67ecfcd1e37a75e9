"""What of a claim a page shows: excerpts that overlap are one, and what speaks against it is beside it."""

import msgspec

from vera.report.html.shown import excerpts, proofs
from vera.report.view.model import CardView, ClaimView

TEXT = tuple(f"line {number}" for number in range(1, 40))


def card(first: int, last: int, **changed: object) -> CardView:
    made = CardView(
        id=f"{first}-{last}", relation="SUPPORTS", evidence="ev_0001", first=first, last=last,
        source="a.txt", source_id="ab" * 32, quotation=TEXT[first - 1 : last],
    )  # fmt: skip
    return msgspec.structs.replace(made, **changed)


def claim(*cards: CardView, verdict: str = "supported") -> ClaimView:
    return ClaimView(key="c1", text="It lasts three years.", verdict=verdict, cards=cards)


def test_readings_of_lines_that_overlap_are_one_excerpt_with_all_of_them() -> None:
    made = excerpts((card(3, 6), card(20, 22), card(5, 9)))
    assert [(each.card.first, each.card.last, len(each.readings)) for each in made] == [
        (3, 9, 2),
        (20, 22, 1),
    ]
    assert made[0].card.quotation == TEXT[2:9]


def test_what_says_something_else_or_is_of_another_text_or_is_not_whole_stays_apart() -> None:
    for other in (
        card(3, 6, relation="CONTRADICTS"),
        card(3, 6, source_id="cd" * 32),
        card(3, 6, problem="altered", quotation=()),
        card(3, 6, quotation=TEXT[2:4]),
        card(7, 9),
    ):
        assert len(excerpts((card(3, 6), other))) == 2


def test_what_speaks_against_a_claim_is_beside_the_lines_that_decide_it() -> None:
    for_it, against = card(3, 6), card(20, 22, relation="CONTRADICTS")
    nothing = card(30, 31, relation="IRRELEVANT")
    (held,) = proofs((claim(for_it, against, nothing),), "It lasts three years [ev_0001:3-6].")
    assert (held.card, held.other_side, held.others) == (for_it, (against,), 2)
    (refuted,) = proofs((claim(for_it, against, verdict="contradicted"),), "It lasts.")
    assert (refuted.card, refuted.other_side) == (against, (for_it,))
