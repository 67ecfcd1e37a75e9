"""A request to verify: what is taken, what is refused and in which words, and what two of them share."""

import hashlib
import json
import os
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.pythons import each_version, python
from vera import events
from vera.attestation.lenses import load_lens
from vera.attestation.objects import Digest, VerifyRequest, canonical, digest, object_id, parse
from vera.attestation.proposition import folded, normalised, proposition_of, thesis_id
from vera.attestation.request import (
    DOMAINS_LIMIT,
    THESIS_LIMIT,
    Budget,
    RequestError,
    request_key,
    request_objects,
    request_of,
    requested,
)

GPL = "GPL version 3 requires the written offer to be valid for at least three years"


def made(thesis: str = GPL, **values: object) -> VerifyRequest:
    return request_of(thesis, **values)[0]  # type: ignore[arg-type] # its own arguments


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"thesis": ""}, "The thesis is empty. State in a sentence what should hold."),
        ({"thesis": " \u200b … . "}, "The thesis is empty. State in a sentence what should hold."),
        ({"thesis": None}, "The thesis is no text. State in a sentence what should hold."),
        (
            {"thesis": "x" * 100_000},
            f"The thesis has 100000 characters, and at most {THESIS_LIMIT} are taken.",
        ),
        ({"thesis": "Is the river long?"}, "The thesis is no statement. State what should hold"),
        ({"thesis": "It is long [ev_0001:2]."}, "The thesis holds citations such as [ev_0001:2]."),
        ({"thesis": "x [ev_0003:3-5] y is z."}, "The thesis holds citations such as [ev_0003:3-5]."),
        ({"thesis": "It is\x00long."}, "The thesis holds characters that are no text."),
        ({"thesis": "It is \ud800 long."}, "The thesis holds characters that are no text."),
        ({"scope": ()}, "The scope is empty. Name where to look: web, kb, files, connectors."),
        ({"scope": ","}, "The scope is empty."),
        ({"scope": "files,moon"}, 'scope cannot be "moon". It is one of web, kb, files, connectors.'),
        ({"scope": 3}, "scope is no list: int."),
        ({"scope": [3]}, "scope is no text: int."),
        ({"risk": "huge"}, 'risk cannot be "huge". It is one of low, med, high.'),
        ({"risk": 2}, "risk is no text: int."),
        ({"volatility": ""}, 'volatility cannot be "". It is one of static, slow, fast, live.'),
        ({"lens": "sharp"}, 'There is no lens "sharp". Known are general, factual.'),
        ({"lens": "/etc/passwd"}, 'There is no lens "/etc/passwd". Known are general, factual.'),
        ({"lens": 7}, "lens is no text: int."),
        ({"thesis": "vm"}, '"vm" is one word. State in a sentence what should hold.'),
        ({"thesis": "«Donaudampfschiff.»"}, '"«Donaudampfschiff.»" is one word.'),
        ({"thesis": "水"}, '"水" is one word.'),
        ({"required": "cards"}, 'required cannot be "cards". It is one of evidence_cards, coverage_map'),
        ({"source_types": "blog"}, 'source_types cannot be "blog". It is one of file, computed, official'),
        (
            {"scope": "web", "allow_domains": "a.org", "deny_domains": "a.org"},
            "The domain a.org is both allowed and denied.",
        ),
        (
            {"scope": "web", "allow_domains": "x.a.org", "deny_domains": "A.org"},
            "The domain x.a.org is allowed, and a.org, under which it lies, is denied.",
        ),
        ({"allow_domains": "a.org"}, "Domains are allowed, and the web is not in the scope. Add web"),
        ({"scope": "web", "allow_domains": "not a domain"}, '"not a domain" is allowed and is no domain.'),
        ({"scope": "web", "deny_domains": "a..org"}, '"a..org" is denied and is no domain.'),
        (
            {"scope": "web", "deny_domains": [f"a{number}.org" for number in range(DOMAINS_LIMIT + 1)]},
            "101 domains are denied. Give at most 100.",
        ),
        (
            {"not_before": "2025-02-01", "not_after": "2025-01-31"},
            "The time window is empty: it begins on 2025-02-01 and ends on 2025-01-31.",
        ),
        ({"not_before": "2025-02-30"}, 'not_before is no date: "2025-02-30". Write it as 2025-01-31.'),
        ({"not_after": "yesterday"}, 'not_after is no date: "yesterday".'),
        ({"not_after": 2025}, "not_after is no text: int."),
        ({"source_types": "official"}, "Only sources of type official may count, and the scope holds files"),
        ({"languages": "english please"}, '"english please" is no language. Write its code, such as en'),
        ({"languages": ["en"] + [f"x{a}" for a in "abcdefghijklmnopqrstu"]}, "22 languages are asked for."),
        ({"sources": 0}, "The budget of sources is zero, so nothing can be looked up. Give more, or none."),
        ({"seconds": 0.0}, "The budget of seconds is zero, so nothing can be looked up."),
        ({"tokens": -1}, "The budget of tokens cannot be -1. It lies between 0 and 1000000000."),
        ({"bytes": True}, "The budget of bytes is no whole number: bool."),
        ({"searches": "3"}, 'The budget of searches is no whole number: "3".'),
        ({"seconds": float("nan")}, "The budget of seconds cannot be nan."),
        ({"seconds": float("inf")}, "The budget of seconds cannot be inf."),
        ({"seconds": "long"}, 'The budget of seconds is no number: "long".'),
    ],
)
def test_what_cannot_be_verified_is_refused_in_a_sentence(values: dict[str, object], sentence: str) -> None:
    with pytest.raises(RequestError) as refused:
        request_of(**{"thesis": GPL, **values})  # type: ignore[arg-type] # what is wrong is the point
    said = str(refused.value)
    assert said.startswith(sentence)
    assert said.endswith(".") and "\n" not in said and len(said) < 400


def test_a_request_holds_what_was_asked_in_one_form() -> None:
    request, budget = request_of(
        "  GPL version 3 \u200b requires it. ",
        scope="web, files,web",
        risk="HIGH",
        volatility="fast",
        lens="factual",
        allow_domains=["https://www.GNU.org/licenses", "*.fsf.org", "bücher.example"],
        deny_domains="evil.example",
        not_before=date(2020, 1, 2),
        not_after="2025-01-31T23:30:00-02:00",
        languages="EN, de",
        source_types=["official", "file"],
        required=["omissions"],
        sources=3,
        corpus=digest(b"files"),
    )
    assert request.text == "GPL version 3 requires it"
    assert request.scope == ("files", "web")
    assert (request.risk, request.volatility, request.lens) == ("high", "fast", "factual")
    assert request.constraints.allow_domains == ("fsf.org", "gnu.org", "xn--bcher-kva.example")
    assert request.constraints.deny_domains == ("evil.example",)
    assert (request.constraints.not_before, request.constraints.not_after) == ("2020-01-02", "2025-02-01")
    assert request.constraints.languages == ("de", "en")
    assert request.required == ("coverage_map", "evidence_cards", "omissions")
    assert budget == msgspec.structs.replace(Budget(), sources=3)


@pytest.mark.parametrize(
    "moment",
    [
        datetime(2025, 1, 31, 23, 30, tzinfo=timezone(timedelta(hours=-2))),
        datetime(2025, 2, 1, 1, 30, tzinfo=UTC),
        "2025-02-01T01:30:00Z",
        "2025-02-01",
    ],
)
def test_a_time_is_kept_as_its_day_in_utc(moment: object) -> None:
    assert made(not_after=moment).constraints.not_after == "2025-02-01"


def test_a_corpus_is_part_of_a_request_only_where_files_are_in_its_scope() -> None:
    one, other = digest(b"one folder"), digest(b"another")
    assert request_key(made(corpus=one)) != request_key(made(corpus=other))
    assert request_key(made(scope="web", corpus=one)) == request_key(made(scope="web", corpus=other))


def test_the_budget_is_no_part_of_the_key() -> None:
    assert request_key(made(sources=1)) == request_key(made(sources=9, seconds=3.5))


@pytest.mark.parametrize(
    "other",
    [
        {"scope": "web"},
        {"risk": "high"},
        {"volatility": "live"},
        {"lens": "factual"},
        {"not_before": "2020-01-01"},
        {"required": "omissions"},
        {"thesis": GPL + " and a day"},
    ],
)
def test_whatever_else_is_asked_makes_another_key(other: dict[str, Any]) -> None:
    assert request_key(made(**{"thesis": GPL, **other})) != request_key(made())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (GPL, GPL + "."),
        (GPL, GPL.upper()),
        (GPL, "  " + GPL.replace(" ", "\u00a0\n ") + " "),
        ('The "offer" is 5-6 pages', "The “offer” is 5–6 pages"),
        ("It's in the U.S.", "It’s in the U.S."),
        ("The ﬁle is ２ kB", "The file is 2 kB"),
        ("Caf\u00e9 opens at 9", "Cafe\u0301 opens at 9"),
        ("Straße 5 is closed", "STRASSE 5 is closed"),
    ],
)
def test_the_same_thesis_set_otherwise_has_the_same_thesis_id(one: str, other: str) -> None:
    assert thesis_id(one) == thesis_id(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("It holds 10² litres", "It holds 102 litres"),
        ("It takes ½ day", "It takes 1⁄2 day"),
        ("It is valid for 3 years", "It is valid for 4 years"),
        ("It is permitted", "It is not permitted"),
        ("It measures 5′", "It measures 5″"),
        ("It costs 5", "It costs −5"),
        ("It is in the U.S.", "It is in the US"),
    ],
)
def test_another_number_word_or_mark_makes_another_thesis(one: str, other: str) -> None:
    assert thesis_id(one) != thesis_id(other)


def test_letter_case_stays_in_the_text_and_in_the_key() -> None:
    loud, quiet = made("Polish is a language"), made("polish is a language")
    assert loud.thesis == quiet.thesis
    assert loud.text == "Polish is a language"
    assert request_key(loud) != request_key(quiet)


@given(st.text(max_size=200))
def test_folding_and_normalising_end_where_they_began(text: str) -> None:
    assert folded(folded(text)) == folded(text)
    try:
        said = normalised(text)
    except RequestError:
        return
    assert normalised(said) == said or said.endswith(".")
    assert thesis_id(said) == thesis_id(text)


@given(
    st.binary(max_size=300), st.sampled_from(["thesis", "allow_domains", "not_before", "languages", "risk"])
)
def test_any_text_gives_a_request_or_a_sentence(data: bytes, name: str) -> None:
    values: dict[str, object] = {"thesis": GPL, "scope": "web", name: data.decode("utf-8", "surrogateescape")}
    try:
        request, _ = request_of(**values)  # type: ignore[arg-type] # whatever comes
    except RequestError as error:
        assert str(error).endswith(".")
    else:
        assert parse(canonical(request), VerifyRequest) == request


def test_the_objects_of_a_request_are_what_its_record_names() -> None:
    lens = load_lens("factual")
    request, budget = request_of(GPL, lens=lens, sources=7)
    kept = request_objects(request, lens)
    assert set(kept) == {request.thesis, request.rubric, request_key(request)}
    assert all(digest(data) == name for name, data in kept.items())
    record = requested(request, budget)
    assert record.thesis_id == thesis_id(GPL) == object_id(proposition_of(GPL))
    assert kept[f"sha256:{record.request.sha256}"] == canonical(request)
    assert record.request.size == len(canonical(request))
    assert (record.sources, record.seconds) == (7, budget.seconds)
    assert events.decode(events.encode(record)) == record


def test_a_request_is_kept_with_its_own_lens_only() -> None:
    with pytest.raises(ValueError, match="another lens"):
        request_objects(made(lens="factual"), load_lens("general"))


PROGRAM = """
import sys
from vera.attestation.lenses import load_lens
from vera.attestation.request import request_objects, request_of
lens = load_lens("factual")
request, _ = request_of(
    sys.argv[1], lens=lens, scope={"web", "kb", "files"}, allow_domains={"b.org", "a.org"},
    required={"omissions", "contradictions"}, not_after="2025-01-31",
)
for name, data in sorted(request_objects(request, lens).items()):
    print(name, data.hex())
"""

CHECK = """
import hashlib, json, sys
for line in sys.stdin:
    name, data = line.split()
    values = json.loads(bytes.fromhex(data))
    again = json.dumps(values, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
    print("sha256:" + hashlib.sha256(again).hexdigest() == name)
"""


def objects_printed(seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    run = [sys.executable, "-c", PROGRAM, GPL]
    return subprocess.run(run, env=environment, check=True, timeout=60, capture_output=True, text=True).stdout


def test_the_ids_are_the_same_on_every_run() -> None:
    assert len({objects_printed(seed) for seed in ("0", "1", "4711")}) == 1


@pytest.mark.parametrize("version", ["", *each_version()])
def test_any_python_finds_the_same_ids_without_vera(version: str) -> None:
    checked = subprocess.run(
        [python(version) if version else sys.executable, "-c", CHECK],
        input=objects_printed("0"),
        check=True,
        timeout=60,
        capture_output=True,
        text=True,
    )
    assert checked.stdout.split() == ["True"] * 3


def test_the_ids_of_today_are_those_of_tomorrow() -> None:
    expected: dict[str, Digest] = {
        "thesis": "sha256:d72bfbc1166e0a712654e705aae9e560238877e4ec7290f3bd42733c046ad345",
        "general": "sha256:b2d6ddc4ae83a226c8a6a64e9070a2fb661343ca6cc791186c7cb0600279a78f",
        "factual": "sha256:9cf4e890305088132e559e636719eb8fd39333b23cf59f776af9e78121c7b10e",
        "request": "sha256:d99e851fd0f8797c4a215023e4ce12b64e5f0d02f1cec7f469bea5700eef4dc4",
    }
    found = {
        "thesis": thesis_id(GPL),
        "general": object_id(load_lens("general")),
        "factual": object_id(load_lens("factual")),
        "request": request_key(made()),
    }
    assert found == expected, "the id of a request changed: a verdict of before would not be found again"


def test_an_id_is_the_hash_of_the_bytes_in_the_store(tmp_path: Path) -> None:
    data = canonical(made())
    assert object_id(made()) == "sha256:" + hashlib.sha256(data).hexdigest()
    assert json.loads(data)["kind"] == "request/v1"
