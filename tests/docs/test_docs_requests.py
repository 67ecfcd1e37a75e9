"""docs/reference/verify-request.md says of requests, lenses, tiers and expiry what the code says."""

import re
from datetime import timedelta
from pathlib import Path
from typing import get_args

import pytest
from docs_pages import DOCS, blocks, first_cells, quoted, section

from vera.attestation import build, tiers
from vera.attestation.lenses import LENSES, load_lens
from vera.attestation.objects import Constraints, Output, Scope, VerifyRequest, Volatility
from vera.attestation.request import DOMAINS_LIMIT, THESIS_LIMIT, Budget
from vera.attestation.source_types import PRIMARY, SOURCE_TYPES
from vera.attestation.tiers import RISK_TIERS, STANDS_SECONDS
from vera.runtime import reuse

PAGE = "reference/verify-request.md"


def table(heading: str) -> list[list[str]]:
    """The cells of the rows that begin with a word in backticks."""
    lines = [line for line in section(PAGE, heading).split("\n") if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]


def names(heading: str) -> list[str]:
    return [word for row in table(heading) for word in quoted(row[0])]


def until(next_heading: str, heading: str) -> set[str]:
    """The words of the first column above the first heading below one."""
    above = section(PAGE, heading).partition(f"\n### {next_heading}")[0]
    return {word for cell in first_cells(above) for word in quoted(cell)}


def in_words(seconds: float) -> str:
    days, hours = seconds / 86_400, seconds / 3600
    if days < 1:
        return f"{hours:g} hours"
    return f"{days:g} day{'s' if days > 1 else ''}"


def test_every_member_of_a_request_is_documented_and_no_other() -> None:
    assert until("The thesis, and what identifies it", "The request") == set(VerifyRequest.__struct_fields__)


def test_every_constraint_is_documented_and_no_other() -> None:
    assert names("Constraints") == list(Constraints.__struct_fields__)


def test_every_scope_is_named() -> None:
    row = next(row for row in table("The request") if row[0] == "`scope`")
    assert set(quoted(row[1])) == set(get_args(Scope))


def test_the_budget_is_documented_with_its_defaults() -> None:
    usual = Budget()
    assert names("Budget") == list(Budget.__struct_fields__)
    for name, said, option in table("Budget"):
        assert re.findall(r"^\d+", said) == [f"{getattr(usual, quoted(name)[0]):.0f}"]
        assert quoted(option) == [f"--budget-{quoted(name)[0]}"]


def test_the_limits_are_those_of_the_code() -> None:
    assert f"At most {THESIS_LIMIT} characters" in section(PAGE, "The thesis, and what identifies it")
    assert f"at most {DOMAINS_LIMIT} " in section(PAGE, "Constraints")


def test_the_lenses_are_those_that_come_with_vera() -> None:
    assert names("Lenses")[: len(LENSES)] == list(LENSES)
    said = next(row[1] for row in table("Lenses") if row[0] == "`factual`")
    factual = load_lens("factual")
    assert f"{factual.web_sources} independent web sources" in said
    assert set(quoted(said)) == set(factual.required)


def test_the_lens_of_the_page_can_be_used(tmp_path: Path) -> None:
    (shown,) = [block.body for block in blocks((DOCS / PAGE).read_text()) if block.language == "yaml"]
    path = tmp_path / "audit.yaml"
    path.write_text(shown)
    assert load_lens(str(path), paths=True).name == "audit"


def test_every_type_of_source_is_documented() -> None:
    rows = table("Types of sources")
    assert [quoted(row[0])[0] for row in rows] == list(SOURCE_TYPES)
    assert {quoted(row[0])[0] for row in rows if row[2] == "yes"} == PRIMARY


def test_the_table_of_tiers_is_that_of_the_module_and_of_its_values() -> None:
    assert tiers.__doc__ is not None
    rows = [line for line in tiers.__doc__.split("\n") if line.startswith("|")]
    assert [line for line in section(PAGE, "Risk tiers").split("\n") if line.startswith("|")] == rows
    for risk, tier in RISK_TIERS.items():
        (row,) = [line for line in rows if line.startswith(f"| {risk} |")]
        values = (tier.file_sources, tier.web_sources, tier.readings)
        assert row.startswith(f"| {risk} | {' | '.join(map(str, values))} | {tier.min_score / 100:.1f} |")


@pytest.mark.parametrize("volatility", get_args(Volatility))
def test_how_long_a_verdict_stands_is_documented(volatility: Volatility) -> None:
    (row,) = [row for row in table("Expiry") if row[0] == f"`{volatility}`"]
    stands = STANDS_SECONDS[volatility]
    match stands:
        case None:
            assert row[1:] == ["for ever", "for ever"]
        case 0:
            assert row[1:] == ["for the moment of its issue", "likewise"]
        case seconds:
            short = timedelta(seconds=seconds) * RISK_TIERS["high"].expiry_percent / 100
            assert row[1:] == [in_words(seconds), in_words(short.total_seconds())]


def test_every_required_output_is_documented() -> None:
    assert names("Required outputs") == list(get_args(Output))


def test_the_settings_of_the_reuse_key_are_named() -> None:
    text = section(PAGE, "When a verdict is used again")
    assert all(f"`{name}`" in text for name in reuse._DECIDES)


def test_the_finding_of_an_answer_that_is_not_the_thesis_is_documented() -> None:
    rows = section("reference/findings.md", "Of theses").split("\n")
    (row,) = [line for line in rows if line.startswith("| `")]
    source = Path(build.__file__).read_text().partition("code=NOT_THE_THESIS")[2]
    assert row.startswith(f"| `{build.NOT_THE_THESIS}` | hard | `misread_task` |")
    assert re.match(r",\s+label=\"misread_task\",\s+severity=\"hard\"", source)
