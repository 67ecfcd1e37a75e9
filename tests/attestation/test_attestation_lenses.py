"""Lenses: the two that come with VERA, and a person's own from a file."""

import os
from importlib.resources import files
from pathlib import Path

import pytest

from vera.attestation.lenses import LENS_BYTES, LENSES, load_lens
from vera.attestation.objects import Lens, Quota, canonical, object_id, parse
from vera.attestation.proposition import RequestError
from vera.attestation.request import request_of

MINE = """\
name: contracts
description: What a contract says.
guidance: One claim for each duty.
quotas:
  - {source_type: file, count: 2}
file_sources: 2
web_sources: 3
required: [omissions, evidence_cards]
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(MINE)
    return path


@pytest.mark.parametrize("name", LENSES)
def test_a_lens_that_comes_with_vera_is_whole(name: str) -> None:
    lens = load_lens(name)
    assert lens.name == name
    assert lens.description and lens.guidance
    assert parse(canonical(lens), Lens) == lens


def test_every_packaged_lens_is_listed() -> None:
    packaged = files("vera").joinpath("lenses").iterdir()
    assert {each.name for each in packaged} == {f"{name}.yaml" for name in LENSES}


def test_a_factual_claim_wants_a_primary_source() -> None:
    assert load_lens("factual").quotas == (Quota(source_type="primary"),)


def test_a_person_may_name_a_file(mine: Path) -> None:
    lens = load_lens(str(mine), paths=True)
    assert (lens.name, lens.file_sources, lens.web_sources) == ("contracts", 2, 3)
    assert lens.required == ("evidence_cards", "omissions")
    request, _ = request_of("The tenant pays 900 euro.", lens=lens)
    assert (request.lens, request.rubric) == ("contracts", object_id(lens))
    assert request.required == ("evidence_cards", "omissions")


def test_a_changed_lens_makes_another_request(mine: Path) -> None:
    before = load_lens(str(mine), paths=True)
    mine.write_text(MINE.replace("web_sources: 3", "web_sources: 4"))
    after = load_lens(str(mine), paths=True)
    one, other = (request_of("The tenant pays 900 euro.", lens=lens)[0] for lens in (before, after))
    assert object_id(one) != object_id(other)


def test_no_other_agent_may_name_a_file(mine: Path) -> None:
    with pytest.raises(RequestError, match=r"There is no lens .* Known are general, factual\.$"):
        load_lens(str(mine))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is no YAML: it must hold the members of a lens"),
        ("- a\n- b\n", "is no YAML: it must hold the members of a lens"),
        ("name: [", "is no YAML: while parsing"),
        ("\tname: x", "is no YAML"),
        ("a: &a [1]\nb: *a\n", "is no YAML: it holds aliases"),
        ("[" * 3000, "is no YAML"),
        (MINE + "kind: card/v1\n", "is no YAML: it must hold"),
        (MINE + "colour: red\n", "is no lens: Object contains unknown field `colour`"),
        (MINE.replace("file_sources: 2", "file_sources: 0"), "is no lens"),
        (MINE.replace("file_sources: 2", "file_sources: many"), "is no lens"),
        (MINE.replace("web_sources: 3", "web_sources: 21"), "cannot be used: it asks for 21 sources"),
        (MINE.replace("source_type: file", "source_type: blog"), 'cannot be used: "blog" is no type'),
        (MINE.replace("name: contracts", "name: ''"), "cannot be used: its name is empty"),
        (MINE.replace("omissions", "jokes"), "is no lens"),
        (MINE.replace("One claim", "x" * 5000), "is no lens"),
    ],
)
def test_a_file_that_is_no_lens_is_refused_in_a_sentence(mine: Path, text: str, sentence: str) -> None:
    mine.write_text(text)
    with pytest.raises(RequestError) as refused:
        load_lens(str(mine), paths=True)
    assert str(refused.value).startswith(f"The lens {mine} {sentence}")
    assert "\n" not in str(refused.value)


def test_two_quotas_for_one_type_are_refused(mine: Path) -> None:
    mine.write_text(MINE.replace("quotas:\n", "quotas:\n  - {source_type: file}\n"))
    with pytest.raises(RequestError, match="two quotas"):
        load_lens(str(mine), paths=True)


def test_what_is_no_plain_file_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "large.yaml").write_bytes(b"#" * (LENS_BYTES + 1))
    (tmp_path / "latin.yaml").write_bytes(b"name: caf\xe9")
    for name, said in {
        "pipe.yaml": "is no plain file",
        "missing.yaml": "cannot be read: No such file",
        "large.yaml": "is larger than 64 kB",
        "latin.yaml": "it is not UTF-8",
        "nul\0.yaml": "cannot be read",
    }.items():
        with pytest.raises(RequestError, match=said):
            load_lens(str(tmp_path / name), paths=True)
    with pytest.raises(RequestError, match=r"cannot be read|is no plain file"):
        load_lens(f"{tmp_path}/", paths=True)
