"""Which places are cited: both sides, every independent source before a second place of one."""

from hypothesis import given
from hypothesis import strategies as st

from vera.evidence.claim import Relation
from vera.verification.passages import Passage, best


def find(page: str, relation: Relation = "SUPPORTS", first: int = 1, **fields: bool) -> Passage:
    return Passage(page=page, path="", first=first, last=first, relation=relation, web=True, **fields)


def test_seven_that_agree_do_not_crowd_out_the_one_that_does_not() -> None:
    finds = [find(f"ev_{number}") for number in range(7)]
    chosen = best([*finds, find("ev_9", "CONTRADICTS")], {}, 6)
    assert [each.page for each in chosen] == ["ev_0", "ev_9", "ev_1", "ev_2", "ev_3", "ev_4"]


def test_copies_do_not_crowd_out_an_independent_source() -> None:
    copies = [find(f"ev_{number}") for number in range(7)]
    chosen = best([*copies, find("ev_9")], {f"ev_{number}": 1 for number in range(7)}, 2)
    assert [each.page for each in chosen] == ["ev_0", "ev_9"]


def test_of_one_page_the_second_place_comes_after_the_other_pages() -> None:
    chosen = best([find("ev_1"), find("ev_1", first=5), find("ev_2")], {}, 3)
    assert [(each.page, each.first) for each in chosen] == [("ev_1", 1), ("ev_2", 1), ("ev_1", 5)]


def test_what_the_rule_does_not_decide_comes_after_what_it_does() -> None:
    finds = [find("ev_1", "IRRELEVANT"), find("ev_2", "QUALIFIES"), find("ev_3", "CONTRADICTS")]
    assert [each.page for each in best(finds, {}, 3)] == ["ev_3", "ev_2", "ev_1"]


def test_a_page_from_another_time_is_cited_last() -> None:
    finds = [find("ev_1", outside=True), find("ev_2", "IRRELEVANT")]
    assert [each.page for each in best(finds, {}, 2)] == ["ev_2", "ev_1"]


RELATIONS = st.sampled_from(("SUPPORTS", "CONTRADICTS", "QUALIFIES", "IRRELEVANT"))
FINDS = st.lists(
    st.builds(find, st.sampled_from(("ev_1", "ev_2", "ev_3")), RELATIONS, st.integers(1, 9)), max_size=30
)


@given(FINDS, st.integers(0, 8))
def test_each_place_is_chosen_once_and_both_sides_are_there(finds: list[Passage], most: int) -> None:
    chosen = best(finds, {"ev_1": 1, "ev_2": 1}, most)
    assert len(chosen) == len(set(chosen)) == min(most, len(set(finds)))
    if most >= 2:
        sides = {each.relation for each in finds} & {"SUPPORTS", "CONTRADICTS"}
        assert sides <= {each.relation for each in chosen}
