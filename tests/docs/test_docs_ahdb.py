"""docs/reference/ahdb.md and the code name the same registers, members, rules and causes."""

from typing import get_args

import msgspec
from docs_pages import DOCS, first_cells, quoted, section

from vera.attestation.ahdb.entries import REGISTERS, AnyEntry, Cause, JournalEntry
from vera.attestation.ahdb.policy import RULES, VERSION
from vera.cli.ahdb import ahdb

PAGE = "reference/ahdb.md"


def test_every_register_is_described_and_no_other() -> None:
    introduction = (DOCS / PAGE).read_text().partition("\n## ")[0]
    assert [name for cell in first_cells(introduction) for name in quoted(cell)] == list(REGISTERS)


def test_every_rule_of_the_policy_is_described_in_order() -> None:
    text = section(PAGE, "The only way into ASSERT")
    assert [name for cell in first_cells(text) for name in quoted(cell)] == [rule.name for rule in RULES]
    assert f"`{VERSION}`" in text


def test_every_member_of_an_entry_is_described_and_no_other() -> None:
    fields = {field.name for kind in get_args(AnyEntry) for field in msgspec.structs.fields(kind)}
    rows = [line.split(" | ") for line in section(PAGE, "The journal").split("\n") if line.startswith("| ")]
    named = {name for row in rows for name in quoted(row[0])}
    for row in rows:
        if row[0].startswith("| of "):
            named |= set(quoted(row[1].partition("(`")[0]))
    assert named - {"register", "hash"} == fields
    assert {field.name for field in msgspec.structs.fields(JournalEntry)} <= fields


def test_every_cause_of_a_retract_is_described() -> None:
    text = section(PAGE, "The journal")
    assert all(f"`{cause}`" in text for cause in get_args(Cause))


def test_the_registers_in_the_help_are_those_of_the_journal() -> None:
    assert ahdb.help is not None
    assert all(register in ahdb.help for register in REGISTERS)
