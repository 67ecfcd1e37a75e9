"""What a plain file keeps and takes back is marked; what only looks like it is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.extraction.canonical import extract
from vera.extraction.canonical.deletions import taken_out

HEAD = "--- a/policy.txt\n+++ b/policy.txt\n@@ -1,3 +1,3 @@\n"


def marks_of(text: str, name: str = "a.txt") -> list[str]:
    found = extract(text.encode(), name)
    assert {mark.kind for mark in found.marks} <= {"struck"}
    return [found.text[mark.start : mark.end].decode() for mark in found.marks]


@pytest.mark.parametrize(
    ("text", "out"),
    [
        (f"{HEAD} 3. Retention\n-Seven years.\n+Ten years.\n From the end.\n", ["-Seven years."]),
        (
            f"{HEAD}-Sieben Jahre.\n+Zehn Jahre.\n Kontext.\n Ende.\n\n- ein Punkt\n- noch einer\n",
            ["-Sieben Jahre."],
        ),
        (f"diff --git a/x b/x\nindex 1..2\n{HEAD} a\n-b\n+c\n d\n{HEAD}-e\n+f\n g\n h\n", ["-b", "-e"]),
        (f"{HEAD} a\n-b\n+c\n d\n@@ -9 +9 @@\n-e\n+f\n", ["-b", "-e"]),
        (f"{HEAD} a\n-b\n+c\n d\n-as many more as it likes\n", ["-b", "-as many more as it likes"]),
        ("--- a/x\n+++ b/x\n@@ -1 +0,0 @@\n--- a rule\n\\ No newline at end of file\n", ["--- a rule"]),
        (f"Subject: patch\n---\n{HEAD} a\n-b\n+c\n d\n-- \n2.39.1\n", ["-b"]),
        ("Rules\n- The period is seven years.\n+ plus\n", []),
        ("Title\n---\n- a\n+++ b\n@@ mentions @@\n- c\n", []),
        ("--- and +++ stand over a hunk, @@ -1,2 +1,2 @@ before it\n- c\n", []),
    ],
)
def test_lines_that_a_diff_takes_out(text: str, out: list[str]) -> None:
    assert marks_of(text) == out


CONFLICT = "<<<<<<< HEAD\nSeven days.\n=======\nThirty days.\n>>>>>>> draft"


@pytest.mark.parametrize(
    ("text", "out"),
    [
        (f"Returns\n{CONFLICT}\nBooks stay.\n", [CONFLICT]),
        (
            "<<<<<<<\na\n||||||| base\nb\n=======\nc\n>>>>>>>\nd\n",
            ["<<<<<<<\na\n||||||| base\nb\n=======\nc\n>>>>>>>"],
        ),
        (f"{CONFLICT}\nOne.\n{CONFLICT}\n", [CONFLICT, CONFLICT]),
        ("Returns\n=======\nThirty days.\n", []),
        ("<<<<<<< HEAD\nSeven days.\n", []),
        ("<<<<<<< HEAD\nSeven days.\n=======\nThirty days.\n", []),
        ("=======\nTitle\n=======\n>>>>>>> quoted seven times\n", []),
        ("    <<<<<<< HEAD\n    a\n    =======\n    b\n    >>>>>>> c\n", []),
    ],
)
def test_both_sides_of_a_conflict(text: str, out: list[str]) -> None:
    assert marks_of(text) == out
    assert marks_of(text, "a.md") == out


def test_a_conflict_that_markdown_shows_as_code_is_an_example() -> None:
    assert marks_of(f"Git writes\n\n```\n{CONFLICT}\n```\n", "a.md") == []


@pytest.mark.parametrize(
    ("text", "out"),
    [
        ("5.2 [Deleted: The Seller pays.]\nThe Buyer pays.\n", ["[Deleted: The Seller pays.]"]),
        ("[Gelöscht: Der Mieter zahlt.] Der Vermieter zahlt.\n", ["[Gelöscht: Der Mieter zahlt.]"]),
        ("Art. 2 [supprimé : Le bailleur paie.]\n", ["[supprimé : Le bailleur paie.]"]),
        ("§ 4 [GESTRICHEN: Die Frist [von § 3] endet.] Neu.\n", ["[GESTRICHEN: Die Frist [von § 3] endet.]"]),
        ("[eliminada: La cuota es de 84 euros.]\n", ["[eliminada: La cuota es de 84 euros.]"]),
        ("第二条 [已删除：卖方承担费用。]买方承担费用。\n", ["[已删除：卖方承担费用。]"]),
        ("[Deleted:]\nThe Seller pays.\n[Inserted:]\nThe Buyer pays.\nEnd.\n", ["The Seller pays."]),
        ("It lasts {--seven--}{++ten++} years.\n", ["--seven--"]),
        ("It lasts {~~seven~>ten~~} years.\n", ["seven"]),
        ("[Inserted: The Buyer pays.]\n[Note: deleted in 2020.]\n", []),
        ("[Deleted] by its author. It holds {++ten++} years.\n", []),
        ("Write `[Deleted: text]` or `{--text--}` for it.\n", []),
        ("{{-- a comment of a template --}}\n", []),
    ],
)
def test_text_between_marks_of_a_deletion(text: str, out: list[str]) -> None:
    assert marks_of(text) == out
    assert marks_of(text, "a.md") == out


def test_signs_that_are_no_deletion_in_a_program_are_none() -> None:
    assert marks_of("module Main {-- says what it does --}\n", "Main.hs") == []


@pytest.mark.parametrize(
    ("name", "text", "out"),
    [
        ("a.conf", "[retry]\n# max_retries = 5\nmax_retries = 2\n", ["# max_retries = 5"]),
        ("a.ini", "; port=80\nport=8080\n;host = old\n", ["; port=80", ";host = old"]),
        ("app.yaml", "retry:\n  # max: 5\n  max: 2\n  #idle-time: 20\n", ["  # max: 5", "  #idle-time: 20"]),
        (
            "x/.env",
            "#API_URL=https://old.example\nAPI_URL=https://new.example\n",
            ["#API_URL=https://old.example"],
        ),
        ("a.properties", "// keep.days = 7\nkeep.days = 14\n", ["// keep.days = 7"]),
        ("a.toml", '#names = ["a", "b"]  # old\nlevel = "warning"\n', ['#names = ["a", "b"]  # old']),
        ("a.conf", "# Owner: platform team\n# Last change: 2023-11-02, see ticket 4471\nport = 1\n", []),
        ("a.yaml", "# Owner: platform team\n# note: deprecated\nport: 1\n", []),
        ("a.conf", "# timeout = 20 means that it waits twenty seconds.\ntimeout = 30\n", []),
        ("a.conf", "# level = warning\nThis file has no settings.\n", []),
        ("a.conf", "#!/bin/sh\n# see https://example.org/a=b\na = 1\n", []),
        ("a.txt", "# max_retries = 5\nmax_retries = 2\n", []),
    ],
)
def test_settings_that_are_commented_out(name: str, text: str, out: list[str]) -> None:
    assert marks_of(text, name) == out


ROWS = "2023-03-28,4,moored\n2023-03-29,4,unloaded\n2023-04-01,4,sailed\n"


@pytest.mark.parametrize(
    ("name", "text", "out"),
    [
        ("a.csv", f"# void\ndate,berth,event\n{ROWS}# 2023-03-31,4,left\n", ["# 2023-03-31,4,left"]),
        ("a.csv", f"date,berth,event\n#2023-03-31,4,left\n{ROWS}", ["#2023-03-31,4,left"]),
        ("a.csv", "ort;zahl\nBonn;4\n// Köln;5\nUlm;6\nKiel;2\n", ["// Köln;5"]),
        ("a.tsv", "ville\tprix\nLyon\t4\n; Nice\t9\nBrest\t6\nLille\t2\n", ["; Nice\t9"]),
        ("a.csv", f"# date,berth,event\n{ROWS}", []),
        ("a.csv", f"date,berth,event\n{ROWS}# as told by the harbour master\n", []),
        ("a.csv", "place,name\n#1,Anna\n#2,Ben\n#3,Carl\n", []),
        ("a.csv", "tag,uses,likes\n#vera,4,5\nnone,3,2\nall,1,1\n", []),
        ("a.csv", "a,b\n1,2\n#N/A,3\n4,5\n6,7\n", []),
        ("a.csv", "note\none\n# two\nthree\nfour\n", []),
    ],
)
def test_rows_that_are_commented_out(name: str, text: str, out: list[str]) -> None:
    assert marks_of(text, name) == out


PIECES = st.sampled_from(
    [
        "--- a\n",
        "+++ b\n",
        "@@ -1,2 +1,2 @@\n",
        "-x\n",
        "+y\n",
        " z\n",
        "\n",
        "<<<<<<< a\n",
        "=======\n",
        ">>>>>>> b\n",
        "[Deleted: ",
        "]",
        "[Deleted:]",
        "{--",
        "--}",
        "{~~",
        "~>",
        "`",
        "# a = 1\n",
        "a = 2\n",
        "# 1,2\n",
        "3,4\n",
    ]
)


@given(st.lists(PIECES, max_size=30).map("".join), st.sampled_from([".txt", ".conf", ".csv", ".md"]))
def test_marks_are_in_order_and_none_is_over_another(text: str, suffix: str) -> None:
    data = text.encode()
    marks = taken_out(data, suffix, "text/csv" if suffix == ".csv" else "text/plain")
    ends = [place for mark in marks for place in (mark.start, mark.end)]
    assert ends == sorted(ends) and all(mark.start < mark.end <= len(data) for mark in marks)
