"""The check of computed values, with values: what a clean box printed, and what a claim makes of it."""

import hashlib
from collections.abc import Mapping
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.audit.case import Case
from vera.audit.checks.computed import computed
from vera.audit.program import Program
from vera.audit.source_text import SourceText
from vera.events import Blob, Derivation, Evidence, Text
from vera.evidence.claim import Cite, Claim
from vera.text.words import stems

TASK = "How many rows does sales.csv have for 2019, and what is their total?"


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def printed(number: int, text: str, tier: str = "observed") -> Evidence:
    """An evidence of two kinds: printed by a command, or captured from a file."""
    lines = text.count("\n")
    tool, source = ("shell", "a command") if tier == "observed" else ("read", "report.txt")
    return Evidence(
        id=f"ev_{number:04d}", call=f"call_{number:04d}", step=number, tool=tool, tier=tier, source=source,
        summary="", text=Blob(sha(text), len(text.encode())), lines=lines, first=1, last=lines,
        extractor="shell/bubblewrap" if tier == "observed" else "txt",
    )  # fmt: skip


def codes(
    said: str,
    command: Text,
    output: str,
    *,
    task: str = TASK,
    outcome: str = "same",
    without_input: bool = False,
    scripts: Mapping[str, str] | None = None,
    captured: str = "",
    form: str = "statement",
    load_bearing: bool = True,
    derived: bool = True,
) -> list[str]:
    """The findings of one claim that cites a command's whole output, and a captured text if one is given."""
    evidence = {"ev_0001": printed(1, output)}
    texts = [output, *(scripts or {}).values()]
    cites = [Cite("ev_0001")]
    if captured:
        evidence["ev_0002"] = printed(2, captured, "captured")
        cites.append(Cite("ev_0002"))
        texts.append(captured)
    derivation = Derivation(
        round=1,
        evidence="ev_0001",
        command=command,
        outcome=outcome,
        output=output,
        scripts=tuple((name, sha(text)) for name, text in (scripts or {}).items()),
        without_input=without_input,
    )
    claim = Claim(
        key="c1", text=said, start=0, end=len(said), cites=tuple(cites), form=form, load_bearing=load_bearing
    )
    case = Case(
        task=task,
        answer=said,
        claims=(claim,),
        evidence=evidence,
        sources={sha(text): SourceText(text.encode()) for text in texts},
        derivations={"ev_0001": derivation} if derived else {},
    )
    found = list(computed(case))
    assert all(each.label == "fabricated" and each.claim == "c1" for each in found)
    assert all(each.severity == "hard" or each.code == "constant_unexplained" for each in found)
    return [each.code for each in found]


AWK = "awk -F, '$1 == 2019 {n++; s += $3} END {print n, s}' /input/sales.csv"


@pytest.mark.parametrize(
    ("said", "command", "output"),
    [
        ("There are 12 rows for 2019 with a total of 3,480.5.", AWK, "12 3480.5\n"),
        ("The total is about 3,500.", AWK, "12 3480.5\n"),
        ("There are twelve rows.", AWK, "12 3480.5\n"),
        ("There are 2 rows.", AWK, "2 3480.5\n"),
        ("The total is 3.5 thousand.", AWK, "12 3480.5\n"),
        ("The share is 42.1 %.", "python3 -c 'import csv; ...' /input/sales.csv", "0.42134\n"),
        ("The share is 42.1 %.", "python3 share.py", "42.134\n"),
        ("The mean is 42.", "python3 mean.py", "41.7\n"),
        ("The longest has 3 words.", "python3 -c 'row[3]; f\"{x:.3f}\"' 2>&1", "3\n"),
        ("sales2019.csv has 14 rows.", "wc -l /input/sales2019.csv", "14 /input/sales2019.csv\n"),
        ("The last sale was on 3 May 2019.", "cut -d, -f1 /input/sales.csv | tail -1", "2019-05-03\n"),
        ("The commonest item is Walnut.", "cut -d, -f2 /input/sales.csv | sort | uniq -c", "7 Walnut\n"),
        ("The commonest item is “red paint”.", "python3 items.py", "red paint\n"),
    ],
)  # fmt: skip
def test_what_a_clean_box_printed_from_the_input_is_computed(said: str, command: str, output: str) -> None:
    assert codes(said, command, output) == []


@pytest.mark.parametrize(
    ("said", "command", "output", "code"),
    [
        ("There are 13 rows.", AWK, "12 3480.5\n", "value_not_printed"),
        ("The total was 3480.5 in 1987.", AWK, "12 3480.5\n", "value_not_printed"),
        ("The total is 3480.5.", "grep 3480.5 /input/sales.csv", "3480.5\n", "value_is_literal"),
        ("The total is 3,480.5.", "test -f /input/a && echo '3,480.5'", "3,480.5\n", "value_is_literal"),
        ("The total is 3 thousand.", "true /input/a; echo 3000", "3000\n", "value_is_literal"),
        ("The total is 3480.", "echo 3480.2 /input/a", "3480.2 /input/a\n", "value_is_literal"),
        ("It was on 3 May 2019.", "echo 2019-05-03 /input", "2019-05-03 /input\n", "value_is_literal"),
        ("There were sales in 2019.", AWK, "12 3480.5\n", "value_is_literal"),
        ("The commonest item is Maple.", "python3 items.py", "7 Walnut\n", "not_computed"),
        ("The commonest item is Walnut.", "grep -o Walnut /input/sales.csv", "Walnut\n", "not_computed"),
        ("All of it was sold.", "test -s /input/a && echo it was sold", "it was sold\n", "not_computed"),
    ],
)  # fmt: skip
def test_what_was_put_there_is_not(said: str, command: str, output: str, code: str) -> None:
    assert codes(said, command, output) == [code]


def test_the_value_asked_about_may_be_the_result_but_must_be_computed() -> None:
    task = "Does the file have 42 lines?"
    assert codes("It has 42 lines.", "wc -l < /input/a", "42\n", task=task) == []
    assert codes("It has 42 lines.", "echo 42", "42\n", task=task, without_input=True) == ["value_is_literal"]


def test_a_number_of_a_captured_source_need_not_be_computed() -> None:
    said = "Of the 1987 articles 12 are about sales."
    assert codes(said, "grep -c sales /input/a", "12\n") == ["value_not_printed"]
    assert codes(said, "grep -c sales /input/a", "12\n", captured="1987 articles\n") == []


@pytest.mark.parametrize("outcome", ["different", "failed"])
def test_what_is_not_printed_again_is_not_reproduced(outcome: str) -> None:
    assert codes("There are 12 rows.", AWK, "12\n", outcome=outcome) == ["not_reproduced"]


def test_without_a_clean_box_nothing_is_derived() -> None:
    assert codes("There are 12 rows.", AWK, "12\n", outcome="unavailable") == ["not_derived"]
    assert codes("There are 12 rows.", AWK, "12\n", derived=False) == ["not_derived"]


def test_a_claim_without_weight_needs_no_derivation() -> None:
    assert codes("There are 12 rows.", AWK, "12\n", derived=False, load_bearing=False) == []


def test_a_program_that_cannot_be_read_derives_nothing() -> None:
    assert codes("There are 12 rows.", Blob("0" * 64, 5000), "12\n") == ["not_derived"]
    assert codes("There are 12 rows.", "", "12\n") == ["not_derived"]


def test_a_script_is_part_of_the_program() -> None:
    made = codes("There are 12 rows.", "python3 n.py", "12\n", scripts={"n.py": "print(6 * 2)"})
    assert made == ["constant_unexplained"]
    assert codes("There are 12 rows.", "python3 n.py", "12\n", scripts={"n.py": "print(12)"}) == [
        "value_is_literal"
    ]


def test_output_is_no_source_to_point_at() -> None:
    assert codes("a command", "echo 12", "12\n", form="extract") == ["not_computed"]
    assert codes("The sources do not tell.", "echo 12", "12\n", form="absence") == []


@pytest.mark.parametrize(
    ("task", "captured", "expected"),
    [
        ("What is 17 times 23?", "", []),
        ("What is the product?", "", ["magic_constant"]),
        ("What is the product?", "It has 17 rows of 23 seats.\n", []),
    ],
)
def test_a_calculation_may_rest_on_the_task_and_on_cited_lines(
    task: str, captured: str, expected: list[str]
) -> None:
    found = codes("It is 391.", "echo $((17*23))", "391\n", task=task, captured=captured, without_input=True)
    assert found == expected


@pytest.mark.parametrize(
    "command",
    ["nproc", "python3 -c 'print(len(\"aaaaaaaa\"))'", "echo aaaaaaaa | wc -c", "echo $((4+4)) # 17"],
)
def test_what_rests_on_nothing_is_magic(command: str) -> None:
    found = codes("There are 8.", command, "8\n", task="How many of the 17 are left?", without_input=True)
    assert found == ["magic_constant"]


def test_letters_of_a_word_in_the_task_may_be_counted() -> None:
    task = "How long is “strawberries”, if 12 were its length?"
    command = "python3 -c 'print(len(\"strawberries\"))'"
    assert codes("It has 11 letters.", command, "11\n", task=task, without_input=True) == []


@given(st.integers(3, 10**9), st.sampled_from(["echo {}", "x={};", "print({})", "[{}, 5]", '"{}"', "a={}\n"]))
def test_every_number_that_stands_in_a_program_is_found(number: int, program: str) -> None:
    assert Decimal(number) in Program(program.format(number)).numbers


@pytest.mark.parametrize(
    "program",
    ["$7", "row[7]", "x 7>&1", "%.7f", "f'{x:.7f}'", "name7", "v7.1", "cut -f7", "utf-8", "head -7"],
)
def test_a_number_that_is_no_value_is_not(program: str) -> None:
    assert not {Decimal(7), Decimal(8)} & Program(program).numbers


@pytest.mark.parametrize("piece", ["8", "'", "\\x", "A", "0x", "echo ", "1,", "[", "-8 ", "%.", "$((", '"a'])
def test_a_hostile_program_takes_linear_time(piece: str) -> None:
    program = Program(piece * (300_000 // len(piece)))
    assert len(program.numbers) < 300_000
    assert program.constants is not None
    assert len(program.measured_text) < 300_000
    assert program.operands is not None and program.written is not None and program.turns_letters in (0, 1)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("awk -F, '{s+=$2} END {print s+3035}' /input/sales.csv", ["constant_unexplained"]),
        ("awk -F, '{s+=$2} END {print s}' /input/sales.csv", []),
        ("awk -F, '$1 == 2019 {s+=$2} END {print s}' /input/sales.csv", []),
        ("awk -F, '{s+=$2} END {print s/60}' /input/sales.csv", []),
    ],
    ids=["a summand from nowhere", "none", "a number of the task", "a unit"],
)
def test_a_number_from_nowhere_beside_the_input_is_told(command: str, expected: list[str]) -> None:
    assert codes("The total is 4242.", command, "4242\n") == expected


@pytest.mark.parametrize(
    ("command", "operands"),
    [
        ("wc -l < /input/a | awk '{print $1*707}'", {707}),
        ("awk '{s+=$2} END {print s+3035}' /input/a", {3035}),
        ("awk '{print $1 - 55}' /input/a", {55}),
        ("python3 -c 'print(len(rows) * 33)'", {33}),
        ("python3 -c 'print(33 * total)'", {33}),
        ("sed -n 12,20p /input/2020/data-2021.csv | cut -c5-80 | head -n 30", set()),
        ("awk '$3 > 500' /input/a/2020/b.csv", set()),
        ("sed 's/33/44/' /input/a", set()),
    ],
)
def test_a_program_calculates_with_its_operands(command: str, operands: set[int]) -> None:
    assert Program(command).operands == set(map(Decimal, operands))


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("sed 's/fire/theft/' /input/a", "theft"),
        ("sed -e 's|fire|theft|g' /input/a", "theft"),
        ("sed '1a\\theft' /input/a", "theft"),
        ("awk '{gsub(/fire/, \"theft\"); print}' /input/a", "theft"),
        ("python3 -c \"print(open('/input/a').read().replace('fire', 'theft'))\"", "theft"),
        ("grep -i theft /input/a", ""),
        ("sed -n 3p /input/a", ""),
    ],
)
def test_words_that_a_program_puts_in_place_of_others(command: str, words: str) -> None:
    assert set(Program(command).rewritten) == set(stems(words))


def test_letters_are_exchanged_but_not_their_case() -> None:
    assert Program("tr ab 42 < /input/a").turns_letters
    assert not Program("tr '[:upper:]' '[:lower:]' < /input/a | tr A-Z a-z | tr -d x").turns_letters
