"""docs/reference/findings.md has every finding that a check can give, and says of each what the code says."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, get_args

from docs_pages import DOCS, first_cells, quoted, section

import vera
from vera.attestation import reduce
from vera.attestation.objects import Result
from vera.attestation.report import Verdict
from vera.audit.checks.wording import COVERED_PERCENT
from vera.audit.registry import FLOOR
from vera.audit.taxonomy import TAXONOMY
from vera.evidence.finding import Severity
from vera.report.answer import MARKS

PAGE = "reference/findings.md"
HOW_TO = "how-to/verify-an-answer.md"
CHECKS = Path(vera.__file__).parent / "audit" / "checks"
MAKERS = {"Finding", "_Fault", "_finding"}
SEVERITIES = frozenset(get_args(Severity))
CODE = re.compile(r"[a-z]+(?:_[a-z]+)*")


class Said(NamedTuple):
    """What the code or the page says of a finding; '' where that is decided elsewhere."""

    severity: str
    label: str


class Maker(NamedTuple):
    """A call that makes a finding: its words, and whether its code is a variable."""

    words: frozenset[str]
    open: bool

    @property
    def said(self) -> Said:
        return Said(*(" or ".join(sorted(self.words & known)) for known in (SEVERITIES, TAXONOMY.keys())))


def makers(module: ast.Module) -> Iterator[Maker]:
    for node in ast.walk(module):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in MAKERS:
            given = [*node.args, *(each.value for each in node.keywords)]
            given += [
                way for each in given if isinstance(each, ast.IfExp) for way in (each.body, each.orelse)
            ]
            words = {each.value for each in given if isinstance(each, ast.Constant)}
            variables = {getattr(each, "id", getattr(each, "attr", "")) for each in given}
            yield Maker(
                frozenset(word for word in words if isinstance(word, str) and CODE.fullmatch(word)),
                "code" in variables,
            )


def variable_codes(module: ast.Module) -> set[str]:
    """The codes that a variable `code` may hold: those written beside it, and those of a table it reads."""
    assigned = [
        node.value
        for node in ast.walk(module)
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "code"
    ]
    tables = {getattr(name, "id", "") for value in assigned for name in ast.walk(value)} - {""}
    assigned += [
        node.value
        for node in ast.walk(module)
        if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Dict)
        if getattr(node.target, "id", "") in tables
    ]
    values = [
        part for value in assigned for part in (value.values if isinstance(value, ast.Dict) else [value])
    ]
    constants = (each for value in values for each in ast.walk(value) if isinstance(each, ast.Constant))
    return {each.value for each in constants if isinstance(each.value, str)}


def in_the_code() -> dict[str, Said]:
    found: dict[str, Said] = {}
    for path in CHECKS.rglob("*.py"):
        module = ast.parse(path.read_bytes())
        made = list(makers(module))
        usual = [maker.said for maker in made if maker.open]
        for maker in made:
            for code in maker.words - SEVERITIES - TAXONOMY.keys():
                found[code] = _filled(maker.said, usual)
        for code in variable_codes(module):
            found[code] = _filled(Said("", ""), usual)
    return found


def _filled(said: Said, usual: list[Said]) -> Said:
    """What a call leaves open is what the module says where the code is a variable."""
    return Said(*(own or next(filter(None, rest), "") for own, *rest in zip(said, *usual, strict=True)))


def on_the_page() -> dict[str, Said]:
    table = section(PAGE, "Findings").partition("### Of documents")[0]
    rows = [line.split(" | ") for line in table.split("\n") if line.startswith("| `")]
    return {quoted(row[0])[0]: Said(row[1], quoted(row[2])[0]) for row in rows}


def test_every_finding_of_the_checks_is_documented_with_its_severity_and_label_and_no_other() -> None:
    assert "quotation_false" in in_the_code()
    assert on_the_page() == in_the_code()


def test_every_finding_of_a_document_alone_is_documented() -> None:
    from vera.document_check import findings as document_findings
    from vera.document_check import reference_findings

    constants = ast.walk(ast.parse(Path(document_findings.__file__).read_bytes()))
    codes = {
        each.value.value
        for each in constants
        if isinstance(each, ast.keyword) and each.arg == "code" and isinstance(each.value, ast.Constant)
    }
    written = ast.walk(ast.parse(Path(reference_findings.__file__).read_bytes()))
    codes |= {
        each.value
        for each in written
        if isinstance(each, ast.Constant) and str(each.value).startswith("reference_")
    }
    alone = {word for cell in first_cells(section(PAGE, "Of documents")) for word in quoted(cell)}
    assert alone == codes - in_the_code().keys()


def test_every_finding_that_a_document_can_have_is_a_rule_of_sarif_and_no_other() -> None:
    from vera.audit import meanings
    from vera.document_check import findings as document_findings

    alone = {word for cell in first_cells(section(PAGE, "Of documents")) for word in quoted(cell)}
    modules = {check.__module__.rpartition(".")[2] for check in document_findings.CHECKS} | {"superseded"}
    codes = set[str]()
    for name in modules:
        module = ast.parse((CHECKS / f"{name}.py").read_bytes())
        codes |= variable_codes(module)
        codes |= {word for maker in makers(module) for word in maker.words} - SEVERITIES - TAXONOMY.keys()
    codes -= {"empty_answer"}
    assert meanings.MEANINGS.keys() == codes | alone | {"source_unchecked"}


def test_the_taxonomy_is_that_of_the_code() -> None:
    table = section(PAGE, "Taxonomy")
    rows = {f"| `{name}` | `{label.group}` | {label.meaning} |" for name, label in TAXONOMY.items()}
    assert {line for line in table.split("\n") if line.startswith("| `")} == rows
    assert (len({label.group for label in TAXONOMY.values()}), len(TAXONOMY)) == (5, 13)
    assert "Five classes, thirteen labels" in table


def test_the_verdict_tables_are_those_of_the_reduction() -> None:
    assert reduce.__doc__ is not None
    rows = [line for line in reduce.__doc__.split("\n") if line.startswith("|")]
    assert [line for line in section(PAGE, "Verdicts").split("\n") if line.startswith("|")] == rows
    assert all(result in "\n".join(rows) for result in get_args(Result))


def test_every_cap_is_a_sentence_of_the_reduction() -> None:
    source = Path(reduce.__file__).read_text()
    caps = [cap for cell in first_cells(section(PAGE, "Caps")) for cap in quoted(cell)]
    told = re.findall(r"(?ms)^def _caps\w*\(.*?(?=^\S*(?:def|class) )", source)
    assert len(caps) == "".join(told).count('yield f"')
    for piece in (piece.strip(" .") for cap in caps for piece in cap.split("…")):
        assert piece in source


def test_the_share_of_words_is_that_of_the_code() -> None:
    assert f"less than {COVERED_PERCENT} %" in section(PAGE, "What is said")


def test_every_mark_of_a_claim_is_explained() -> None:
    marks = [word.strip("()") for cell in first_cells(section(HOW_TO, "The marks")) for word in quoted(cell)]
    assert set(marks) == set(MARKS)


def test_every_reason_of_an_unresolved_answer_is_explained() -> None:
    from vera.report.view.verdicts import WHY

    page = section(HOW_TO, "When it is PARTIAL or UNRESOLVED")
    assert [why for why in WHY.values() if why not in page] == []
    assert "the answer states nothing that could be verified" in page


def test_every_verdict_of_a_replay_is_explained() -> None:
    words = {
        word
        for cell in first_cells(section("how-to/replay-a-session.md", "Verdicts"))
        for word in quoted(cell)
    }
    assert words == set(get_args(Verdict))


def test_the_page_links_the_schemas() -> None:
    assert "../schemas/README.md" in (DOCS / PAGE).read_text()


def test_the_list_of_the_floor_is_that_of_the_registry() -> None:
    rows = [line for line in section(PAGE, "The floor").split("\n") if line.startswith("| ")]
    assert {code for row in rows for code in quoted(row.rpartition(" | ")[2])} == FLOOR
