"""Files that say that cited lines no longer hold: what they are believed about, and what is only a hint."""

import hashlib
from collections.abc import Sequence

import msgspec
import pytest

from vera.audit.case import Case, place_of
from vera.audit.checks.superseded import superseded
from vera.audit.source_text import SourceText
from vera.audit.versions import clauses_of
from vera.events import Blob, Evidence, VersionSeen
from vera.evidence.claim import Cite, Claim
from vera.extraction.canonical import extract

LEASE = """Lease Agreement
dated 1 March 2019

4. Pets
The tenant may keep one dog.

7. Rent
7.1 The rent is 1,000 euros a month.
7.2 It is due on the third working day.
"""
PETS, RENT, DUE = 5, 8, 9

MIETVERTRAG = """Mietvertrag
vom 1. März 2019

§ 4 Tiere
(1) Der Mieter darf einen Hund halten.

§ 7 Miete
(1) Die Miete beträgt 1.000 Euro.
(2) Sie ist am dritten Werktag fällig.
"""
BAIL = """Bail d'habitation
du 1er mars 2019

Article 7 Loyer
Le loyer est de 1 000 euros par mois.
"""


def case_of(
    text: str,
    *others: tuple[str, str],
    line: int = RENT,
    name: str = "lease.txt",
    shared: Sequence[str] = (),
    dated: str = "",
    other_dated: str = "",
) -> Case:
    """One claim that cites a line of the file `name`, and further files of the folder that were found."""
    files = {"ev_0001": (name, text, dated)}
    files |= {f"ev_{number:04}": (*each, other_dated) for number, each in enumerate(others, 2)}
    evidence, sources = {}, {}
    for identity, (path, content, date) in files.items():
        extracted = extract(content.encode(), path)
        sha256 = hashlib.sha256(extracted.text).hexdigest()
        sources[sha256] = SourceText(extracted.text)
        lines = len(sources[sha256].lines)
        evidence[identity] = Evidence(
            id=identity, call="", step=0, tool="read", tier="captured", source=path, summary="",
            text=Blob(sha256, len(extracted.text)), lines=lines, first=1, last=lines, title=extracted.title,
            marks=extracted.marks, dated=date,
        )  # fmt: skip
    claim = Claim(key="c1", text="It is so.", start=0, end=9, cites=(Cite("ev_0001", line, line),))
    seen = tuple(
        VersionSeen(cited="ev_0001", evidence=identity, shared=tuple(shared))
        for identity in files
        if identity != "ev_0001"
    )
    return Case(task="", answer="", claims=(claim,), evidence=evidence, sources=sources, versions=seen)


def codes(case: Case) -> list[str]:
    return [finding.code for finding in superseded(case)]


def said(sentence: str, shared: Sequence[str] = ()) -> list[str]:
    """The codes when another file says the sentence."""
    return codes(case_of(LEASE, ("other.txt", f"Memo\n\n{sentence}\n"), shared=shared))


@pytest.mark.parametrize(
    "sentence",
    [
        "This contract replaces lease.txt.",
        "Replaces: lease.txt",
        "With effect from 1 May this supersedes the Lease Agreement of 1 March 2019.",
        "lease.txt is hereby cancelled.",
        "The Lease Agreement is repealed and replaced by this contract.",
        "Clause 7 of the Lease Agreement is deleted and replaced with the following:",
        "Clause 7.1 of lease.txt shall read: The rent is 1,200 euros.",
        "This memo amends clause 7 of the lease.",
        "Clauses 6 to 8 of the Lease Agreement are repealed.",
        "This revokes memo.txt, lease.txt and notes.txt.",
        "The Lease Agreement is no longer in force.",
        "Diese Vereinbarung ersetzt lease.txt.",
        "Cette convention annule et remplace lease.txt.",
    ],
)
def test_a_file_that_replaces_what_is_cited_is_believed(sentence: str) -> None:
    assert said(sentence) == ["superseded"]


@pytest.mark.parametrize(
    "sentence",
    [
        "This contract does not replace lease.txt.",
        "Nothing in this memo amends clause 7 of lease.txt.",
        "lease.txt remains in force and replaces memo.txt.",
        "This memo supplements lease.txt, and memo.txt is replaced by it.",
        "This contract replaces sublease.txt.",
        "This contract replaces the Lease Agreement of 3 May 2014.",
        "This contract replaces the Lease Agreement for Bicycles.",
        "Clause 4 of the Lease Agreement is deleted.",
        "Clause 7.2 of lease.txt is repealed.",
        "Does this contract replace lease.txt?",
        "You can redistribute it and/or modify it under the terms of the Lease Agreement.",
        "The parties can amend lease.txt.",
        "Under lease.txt, clause 7 applies.",
        "lease.txt replaces memo.txt.",
        "This Agreement supersedes all prior agreements between the parties.",
    ],
)
def test_a_file_that_says_something_else_demotes_nothing(sentence: str) -> None:
    assert "superseded" not in said(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "This contract may replace lease.txt.",
        "It is planned that this contract replaces lease.txt.",
        "If both sign, this contract replaces lease.txt.",
        "This contract replaces lease.txt only for the garage.",
        "This contract replaces the rules on heating in lease.txt.",
        "This replaces everything.",
        "This replaces all previous documents.",
        "This memo amends the Lease Agreement.",
        "Alle bisherigen Dokumente werden aufgehoben.",
    ],
)
def test_what_says_less_is_a_hint(sentence: str) -> None:
    assert said(sentence) == ["maybe_superseded"]


def test_one_planted_file_demotes_nothing_but_what_it_names() -> None:
    planted = "Notice\n\nThis replaces everything in this folder. It also replaces memo.txt.\n"
    assert codes(case_of(LEASE, ("zzz.txt", planted))) == ["maybe_superseded"]
    assert codes(case_of("Memo\nDogs may stay.\n", ("zzz.txt", planted), name="memo.txt", line=2)) == [
        "superseded"
    ]


def test_an_amendment_of_another_clause_says_nothing_of_the_cited_one() -> None:
    amendment = (
        "amendment.txt",
        "First Amendment to the Lease Agreement\n\n1. Clause 4 is deleted.\n\n"
        "2. Clause 7.1 of the Lease shall read:\nThe rent is 1,200 euros a month.\n",
    )
    assert codes(case_of(LEASE, amendment, line=PETS)) == ["superseded"]
    (found,) = superseded(case_of(LEASE, amendment, line=RENT))
    assert (found.code, found.evidence, found.first, found.last) == ("superseded", "ev_0002", 5, 5)
    assert "amendment.txt, line 5 [ev_0002:5]" in found.message
    assert "lease.txt, line 8 [ev_0001:8]" in found.message
    assert codes(case_of(LEASE, amendment, line=DUE)) == []


def test_an_amendment_without_a_clause_is_a_hint() -> None:
    amendment = ("amendment.txt", "First Amendment to the Lease Agreement\n\nThe rent goes up.\n")
    assert codes(case_of(LEASE, amendment)) == ["maybe_superseded"]


def test_clause_numbers_mean_the_document_that_the_amendment_is_about() -> None:
    other = ("amendment.txt", "First Amendment to the Garage Contract\n\nClause 7 is deleted.\n")
    assert codes(case_of(LEASE, other)) == []


def test_two_files_that_replace_each_other_are_hints() -> None:
    lease = LEASE + "\nThis Lease Agreement replaces contract.txt.\n"
    contract = ("contract.txt", "New contract\n\nThis contract replaces lease.txt.\n")
    assert codes(case_of(lease, contract)) == ["maybe_superseded"]


def test_a_file_does_not_replace_itself() -> None:
    lease = LEASE + "\nThis contract replaces lease.txt.\n"
    assert codes(case_of(lease, ("lease.txt", lease))) == []
    assert codes(case_of(lease, ("copy.txt", lease))) == []


def test_a_name_that_further_files_have_is_a_hint() -> None:
    sentence = "This contract replaces the Lease Agreement."
    assert said(sentence) == ["superseded"]
    assert said(sentence, shared=["lease agreement"]) == ["maybe_superseded"]
    assert said("This contract replaces lease.txt.", shared=["lease agreement"]) == ["superseded"]


def test_a_statement_under_a_heading_that_sets_it_aside_is_a_hint() -> None:
    other = ("memo.md", "# Memo\n\n## Rejected\n\nThis contract replaces lease.txt.\n")
    assert codes(case_of(LEASE, other)) == ["maybe_superseded"]


def test_struck_out_text_says_nothing() -> None:
    assert codes(case_of(LEASE, ("memo.md", "# Memo\n\n~~This contract replaces lease.txt.~~\n"))) == []


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("policy-2019.txt", "policy-2023.txt"),
        ("policy.txt", "policy-v2.txt"),
        ("policy v1.txt", "policy v2.txt"),
    ],
)
def test_a_later_name_alone_is_a_hint(name: str, other: str) -> None:
    text = "Travel\nTrains are second class.\n"
    assert codes(case_of(text, (other, "Journeys\nTrains are first class.\n"), name=name, line=2)) == [
        "maybe_superseded"
    ]
    assert codes(case_of(text, (name, "Journeys\nTrains are first class.\n"), name=other, line=2)) == []


def test_a_later_date_alone_is_a_hint() -> None:
    later = ("new.txt", "Lease Agreement\nThe rent is 1,200 euros.\n")
    assert codes(case_of(LEASE, later, dated="2019-03-01", other_dated="2021-03-01")) == ["maybe_superseded"]
    assert codes(case_of(LEASE, later, dated="2021-03-01", other_dated="2019-03-01")) == []
    assert codes(case_of(LEASE, ("memo-1.txt", "Memo\nIt rains.\n"), name="memo-0.txt")) == []


@pytest.mark.parametrize(
    ("sentence", "line", "found"),
    [
        (
            "§ 7 Abs. 1 des Mietvertrags vom 1. März 2019 wird durch folgende Fassung ersetzt:",
            8,
            ["superseded"],
        ),
        ("§ 7 Abs. 1 des Mietvertrags vom 1. März 2019 wird durch folgende Fassung ersetzt:", 9, []),
        ("Hiermit wird § 7 des Mietvertrags aufgehoben.", 9, ["superseded"]),
        ("Diese Vereinbarung hebt § 4 des Mietvertrags auf.", 8, []),
        ("Dieser Vertrag ersetzt den Mietvertrag vom 1. März 2019.", 8, ["superseded"]),
        ("Dieser Vertrag ersetzt den Mietvertrag nicht.", 8, []),
        ("Hiermit ersetzt dieser Vertrag den Mietvertrag.", 8, ["superseded"]),
        ("Falls beide zustimmen, ersetzt dieser Vertrag den Mietvertrag.", 8, ["maybe_superseded"]),
    ],
)
def test_german(sentence: str, line: int, found: list[str]) -> None:
    other = ("nachtrag.txt", f"Vereinbarung\n\n{sentence}\n")
    assert codes(case_of(MIETVERTRAG, other, line=line, name="mietvertrag.txt")) == found


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("La présente convention remplace le bail d'habitation du 1er mars 2019.", ["superseded"]),
        ("L'article 7 du bail d'habitation est abrogé.", ["superseded"]),
        ("L'article 4 du bail d'habitation est abrogé.", []),
        ("La présente convention ne remplace pas le bail d'habitation.", []),
        ("La présente convention pourrait remplacer bail.txt.", []),
    ],
)
def test_french(sentence: str, found: list[str]) -> None:
    other = ("avenant.txt", f"Convention\n\n{sentence}\n")
    assert codes(case_of(BAIL, other, line=5, name="bail.txt")) == found


def test_a_place_knows_the_number_of_its_clause() -> None:
    case = case_of(LEASE)
    numbers = {line: place_of(case, Cite("ev_0001", line, line)) for line in (2, PETS, RENT, DUE)}
    assert {line: clauses_of(place) for line, place in numbers.items() if place} == {
        2: (), PETS: ("4",), RENT: ("7.1",), DUE: ("7.2",)
    }  # fmt: skip


def test_without_a_file_that_was_found_nothing_is_said() -> None:
    case = case_of(LEASE, ("other.txt", "This contract replaces lease.txt.\n"))
    assert codes(msgspec.structs.replace(case, versions=())) == []


CODES = {
    "es": (
        "Reglamento de la piscina de Soria\n\nArtículo 3\nAbre a las nueve.\n\nArtículo 4\nHay perros.\n",
        7,
    ),
    "it": (
        "Regolamento del mercato di Siena\n\nArticolo 3\nChiude alle due.\n\nArticolo 4\nCi sono cani.\n",
        7,
    ),
    "pt": ("Regulamento da praia de Tavira\n\nArtigo 3\nAbre às nove.\n\nArtigo 4\nHá cães na praia.\n", 7),
    "zh": ("图书馆管理办法\n\n第三条 图书馆九点开门。\n第四条 读者可以带水。\n", 4),
}


@pytest.mark.parametrize(
    ("language", "sentence", "found"),
    [
        ("es", "Se deroga el artículo 4 del reglamento de la piscina.", ["superseded"]),
        ("es", "Quedan suspendidos los artículos 3 y 4 del reglamento de la piscina.", ["superseded"]),
        ("es", "El reglamento de la piscina dejó de estar en vigor.", ["superseded"]),
        ("es", "Se deroga el artículo 3 del reglamento de la piscina.", []),
        ("es", "No se deroga el artículo 4 del reglamento de la piscina.", []),
        ("es", "El artículo 4 del reglamento de la biblioteca queda sin efecto.", []),
        ("it", "È sospesa l'applicazione dell'articolo 4 del regolamento del mercato.", ["superseded"]),
        ("it", "Il consiglio ha revocato l'articolo 4 del regolamento del mercato.", ["superseded"]),
        ("it", "L'articolo 4 del regolamento del mercato non è abrogato.", []),
        ("pt", "Revoga-se o artigo 4 do regulamento da praia.", ["superseded"]),
        ("pt", "O regulamento da praia de Tavira deixou de vigorar em 2020.", ["superseded"]),
        ("pt", "O artigo 4 do regulamento do porto foi revogado.", []),
        ("zh", "《图书馆管理办法》第四条自2020年5月1日起停止执行。", ["superseded"]),
        ("zh", "即日起废止《图书馆管理办法》。", ["superseded"]),
        ("zh", "《图书馆管理办法》第四条未废止。", []),
        ("zh", "《学生图书馆管理办法》废止。", []),
    ],
)
def test_further_languages(language: str, sentence: str, found: list[str]) -> None:
    text, line = CODES[language]
    assert codes(case_of(text, ("later.txt", f"X\n\n{sentence}\n"), line=line, name="law.txt")) == found


def test_an_amendment_does_not_end_its_own_clauses() -> None:
    text = "Amendment to the Lease\n\n1. Clause 4 is deleted.\n\n4. This amendment is signed twice.\n"
    assert codes(case_of(text, line=5, name="amendment.txt")) == []
    assert codes(case_of("Notice\n\nClause 4 shall read:\nA dog may stay.\n", line=4, name="n.txt")) == []


def test_a_number_or_a_version_names_a_document() -> None:
    verdict = "Tribunale di Lucca, sentenza n. 12\n\nIl confine segue il torrente.\n"
    appeal = "Corte d'appello\n\nLa sentenza n. {} del Tribunale di {} è annullata.\n"
    for number, place, found in ((12, "Lucca", ["superseded"]), (13, "Lucca", []), (12, "Pisa", [])):
        other = ("appello.txt", appeal.format(number, place))
        assert codes(case_of(verdict, other, line=3, name="primo.txt")) == found
    first, later = "Tank C-8, version 1\n\nRinse it.\n", "{}, version 2\n\nThis replaces version 1.\n"
    for title, found in (("Tank C-8", ["superseded"]), ("Press P-3", ["maybe_superseded"])):
        assert codes(case_of(first, ("m_v2.txt", later.format(title)), line=3, name="m_v1.txt")) == found
