"""`vera verify` with what cannot be verified: one clear sentence, no traceback, no session left behind."""

from pathlib import Path

import pytest

from support.cli import folded, vera

SO = "It is so."
WEB = ("--scope", "web")

SENTENCES: dict[str, tuple[tuple[str, ...], str]] = {
    "an empty thesis": (("", *WEB), 'the thesis is empty. Type: vera verify "THESIS" --input-dir DIR'),
    "a thesis of blanks": ((" \n\t ", *WEB), "the thesis is empty."),
    "a thesis without a word": (("?!…", *WEB), ""),
    "no thesis": (WEB, 'there is no thesis. Type: vera verify "THESIS" --input-dir DIR'),
    "a domain on both lists": (
        (SO, *WEB, "--allow-domain", "a.test", "--deny-domain", "a.test"),
        "The domain a.test is both allowed and denied. Take it out of one list.",
    ),
    "a time window that ends before it begins": (
        (SO, *WEB, "--not-before", "2024-01-01", "--not-after", "2023-01-01"),
        "The time window is empty: it begins on 2024-01-01 and ends on 2023-01-01.",
    ),
    "a day that is none": ((SO, *WEB, "--not-before", "soon"), "not_before"),
    "no sources": (
        (SO, *WEB, "--max-sources", "0"),
        "The budget of sources is zero, so nothing can be looked up. Give more, or none.",
    ),
    "no searches": ((SO, *WEB, "--max-searches", "0"), "The budget of searches is zero"),
    "no tokens": ((SO, *WEB, "--max-tokens", "0"), "The budget of tokens is zero"),
    "no bytes": ((SO, *WEB, "--max-bytes", "0"), "The budget of bytes is zero"),
    "no seconds": ((SO, *WEB, "--max-seconds", "0"), "The budget of seconds is zero"),
    "less than no tokens": ((SO, *WEB, "--max-tokens", "-1"), "The budget of tokens cannot be -1."),
    "seconds that are no number": ((SO, *WEB, "--max-seconds", "nan"), "The budget of seconds"),
    "an unknown lens": ((SO, *WEB, "--lens", "nope"), 'There is no lens "nope". Known are general, factual'),
    "an unknown scope": (
        (SO, "--scope", "moon"),
        'scope cannot be "moon". It is one of web, kb, files, connectors.',
    ),
    "an unknown type of source": ((SO, *WEB, "--source-type", "gossip"), "source_types cannot be"),
    "an unknown output": ((SO, *WEB, "--require", "certainty"), "required cannot be"),
    "files without a folder": (
        (SO, "--scope", "files"),
        "The scope names files, and no folder of files was given.",
    ),
    "a folder that is not there": ((SO, "--input-dir", "nowhere"), "The input folder nowhere does not exist"),
    "a closed web": (
        (SO, *WEB, "--egress", "none"),
        "Nothing can be looked at: the web may not be reached by these settings. Give files with "
        "--input-dir DIR, or --scope web.",
    ),
    "no earlier session": (
        (SO, "--scope", "kb"),
        "Nothing can be looked at: no earlier session under this base folder has a source that may count.",
    ),
    "no connector": (
        (SO, "--scope", "connectors"),
        "Nothing can be looked at: no connector is named or configured.",
    ),
}


@pytest.mark.parametrize("what", SENTENCES)
def test_bad_input_is_one_sentence_and_leaves_nothing(what: str, tmp_path: Path) -> None:
    arguments, sentence = SENTENCES[what]
    done = vera("verify", *arguments, "--work-dir", "w", "--json", cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    (said,) = done.stderr.splitlines()
    assert said.startswith("vera: ") and sentence in said
    assert "Traceback" not in said and done.stdout == ""
    assert not (tmp_path / "w").exists()


def test_a_thesis_of_100_kb_is_refused_before_anything_is_looked_up(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("It is so, and it is so. " * 4200)
    done = vera("verify", "--thesis", "@thesis.txt", *WEB, "--work-dir", "w", cwd=tmp_path)
    assert done.returncode == 2
    (said,) = done.stderr.splitlines()
    assert "100799 characters, and at most 4000" in said and len(said) < 400
    assert not (tmp_path / "w").exists()


def test_a_folder_with_nothing_to_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "documents").mkdir()
    done = vera("verify", SO, "--input-dir", "documents", "--work-dir", "w", cwd=tmp_path)
    assert done.returncode == 1
    (said,) = done.stderr.splitlines()
    assert said.startswith("vera: ") and "documents" in said
    assert not (tmp_path / "w").exists()


def test_no_name_of_a_file_hides_it_from_a_thesis(tmp_path: Path) -> None:
    names = (
        "price list  2026.txt",
        " leading.txt",
        "no\u00a0break.txt",
        "two\nlines.txt",
        f"{'n' * 170}.txt",
    )
    (tmp_path / "input").mkdir()
    for number, name in enumerate(names):
        (tmp_path / "input" / name).write_text(f"The zebra gadget costs {215 + number} euros.\n")
    thesis = "The zebra gadget costs 999 euros."
    done = vera("verify", thesis, "--input-dir", "input", "--json", cwd=tmp_path)
    assert done.returncode == 4, done.stdout
    (session,) = (tmp_path / "work").iterdir()
    assert {each.source for each in folded(session).evidence.values() if not each.lead} == set(names)
