"""docs/reference/events.md names every event, and of each every member and no other."""

import ast
import typing
from pathlib import Path

import msgspec
import pytest
from docs_pages import DOCS, first_cells, quoted, section

import vera
from vera import events

PAGE = "reference/events.md"
RECORDS = {struct.__struct_config__.tag: struct for struct in typing.get_args(events.Record)}
PARTS = {
    name: struct
    for name, struct in vars(events).items()
    if isinstance(struct, type)
    and issubclass(struct, msgspec.Struct)
    and not issubclass(struct, events.Event)
}
COMMON = set(events.Event.__struct_fields__)
OF_A_GATE = set(events.Policy.__struct_fields__) - COMMON
GATES = "A gate speaks"
SOURCE = Path(vera.__file__).parent


def members(heading: str) -> set[str]:
    return {word for cell in first_cells(section(PAGE, heading)) for word in quoted(cell)}


def fields(struct: type[msgspec.Struct]) -> set[str]:
    """The members of a struct, without those that stand in every record, or in every gate's."""
    shared = COMMON if issubclass(struct, events.Event) else set()
    if issubclass(struct, events.Policy):
        shared = COMMON | OF_A_GATE
    return set(struct.__struct_fields__) - shared


ALIKE = [name for name, struct in RECORDS.items() if issubclass(struct, events.Policy) and not fields(struct)]
"""Records of gates that have the members of every gate's record and no other: they share one table."""

OWN = [name for name in [*RECORDS, *PARTS] if name not in ALIKE]


@pytest.mark.parametrize("name", OWN)
def test_every_member_of_a_record_is_documented_and_no_other(name: str) -> None:
    assert members(str(name)) == fields({**RECORDS, **PARTS}[name])


def test_the_records_of_gates_are_listed_in_their_order_after_the_members_they_share() -> None:
    shared = section(PAGE, GATES).partition("\n### ")[0]
    listed = [word for cell in first_cells(shared) for word in quoted(cell)]
    assert set(listed[: len(OF_A_GATE)]) == OF_A_GATE
    assert listed[len(OF_A_GATE) :] == ALIKE


def test_what_stands_in_every_record_is_documented() -> None:
    assert members("In every record") == {*COMMON, "hash"}


def test_no_event_is_documented_that_does_not_exist() -> None:
    headings = {line[4:] for line in (DOCS / PAGE).read_text().split("\n") if line.startswith("### ")}
    assert headings == set(OWN)


def test_every_word_of_error_type_is_documented() -> None:
    """The second argument of each `failed(…)` in the lane."""
    used = {
        node.args[1].value
        for path in (SOURCE / "lane").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "failed"
        and len(node.args) > 1
        and isinstance(node.args[1], ast.Constant)
    }
    assert "no_such_lines" in used
    assert used <= set(quoted(section(PAGE, "tool")))
