"""The audit finds the faults that are planted in the fixtures, and says little of the originals."""

from random import Random
from typing import Any

import pytest
from checks import mutants, mutations
from checks.library import Library, case_of, load
from checks.mutants import Original

from vera.text.quotation import find_quotations


@pytest.fixture(scope="module")
def library() -> Library:
    return load()


@pytest.fixture(scope="module")
def figures() -> dict[str, Any]:
    return mutations.measure(seed=0)


@pytest.mark.parametrize("kind", [name for name, kind in mutations.KINDS.items() if kind.wanted is not None])
def test_enough_of_the_faults_of_a_kind_are_found(kind: str, figures: dict[str, Any]) -> None:
    found = figures[kind]
    assert found["n"] >= 25
    assert found["caught"] >= mutations.KINDS[kind].wanted * found["n"]


def test_the_kinds_that_must_all_be_found_are_those_of_hashes_ids_quotations_and_copies() -> None:
    assert {name for name, kind in mutations.KINDS.items() if kind.wanted == 1.0} >= {
        "stored_byte",
        "cited_id",
        "cited_lines",
        "quotation_character",
        "copy_on_another_site",
        "archive_wrapper",
        "same_site",
    }


@pytest.mark.parametrize(
    "kind", ["date", "number_word", "name", "cited_source", "negation_in", "negation_out"]
)
def test_hints_find_most_faults_of_other_kinds(kind: str, figures: dict[str, Any]) -> None:
    assert 2 * figures[kind]["caught"] > figures[kind]["n"] > 0


def test_a_page_that_speaks_to_its_reader_changes_nothing(figures: dict[str, Any]) -> None:
    injected = figures[mutations.INJECTED]
    assert injected["caught"] == injected["n"] > 100


def test_originals_raise_few_hard_findings(figures: dict[str, Any]) -> None:
    assert figures["originals"] >= 60
    assert figures["false_alarms_hard"] <= mutations.FALSE_ALARMS_WANTED * figures["originals"]


def test_some_originals_are_verified_as_quoted_and_no_false_statement_is(library: Library) -> None:
    supported = 0
    for statement in library.statements:
        original = Original(library, statement)
        supported += mutations.verdict(statement, library.pages)[1] == "SUPPORTED"
        for mutant in mutants.number_absent(original, Random(0)):
            assert mutations.verdict(mutant.statement, mutant.pages)[1] != "SUPPORTED"
    assert supported >= 5


def test_the_same_seed_gives_the_same_figures() -> None:
    assert mutations.measure(seed=3, limit=4) == mutations.measure(seed=3, limit=4)


@pytest.mark.parametrize("kind", mutations.KINDS)
def test_each_mutant_differs_from_its_original(kind: str, library: Library) -> None:
    for statement in library.statements:
        for mutant in mutations.KINDS[kind].make(Original(library, statement), Random(1)):
            assert (mutant.statement, mutant.pages) != (statement, library.pages)


def test_a_number_that_is_planted_as_absent_stands_nowhere_on_the_cited_pages(library: Library) -> None:
    for statement in library.statements:
        original = Original(library, statement)
        for mutant in mutants.number_absent(original, Random(2)):
            (new,) = mutants.values(mutant.statement.text) - mutants.values(statement.text)
            assert new not in mutants.values(original.seen)


def test_every_quotation_of_the_fixtures_stands_in_the_cited_lines(library: Library) -> None:
    quoted = 0
    for statement in library.statements:
        for quotation in find_quotations(statement.text):
            quoted += 1
            assert quotation.text.lower() in Original(library, statement).span.lower()
    assert quoted >= 9


def test_every_fixture_statement_is_one_claim_that_cites_what_it_says(library: Library) -> None:
    for statement in library.statements:
        (claim,) = case_of(statement, library.pages).claims
        assert claim.cites == statement.cites
