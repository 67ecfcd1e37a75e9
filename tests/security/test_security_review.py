"""Ways to make something false look verified that a review found, each with a twin that is fine."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.attacks import NO_SANDBOX, OFFLINE, Attempt, Sites, article, attempt, vera_here, write_all
from support.audits import case_of, page_of
from support.cast import final, turn
from support.cited import cited, place
from vera.attestation.objects import Card, Coverage, Findings, Policy, Source, SubClaim, Thesis
from vera.attestation.reduce import reduce
from vera.audit import AuditPolicy, literal
from vera.audit.checks.content import content
from vera.audit.claims import split
from vera.evidence.domains import registrable_domain
from vera.evidence.independence import SourceDoc, clusters
from vera.report.printable import printable, printable_json
from vera.sandbox.egress import resolve

QUESTION = "How long must a written offer be valid?"
FILES = {
    "terms.txt": "Terms\n\nA written offer must be valid for at least three years.\nThere were 15 offices.\n"
}
READ = turn("read", path="terms.txt")
TRUE = "A written offer must be valid for at least three years [ev_0001:3]."


def run(folder: Path, answer: str, *options: str, **parts: Any) -> Attempt:
    return attempt(folder, [READ, final(answer)], *OFFLINE, *options, question=QUESTION, files=FILES, **parts)


DISGUISED = {
    "zero-width characters": "the offer lasts s\u200beven years.",
    "tags": "the offer lasts se\U000e0041ven years.",
    "a digit of another script": "the offer lasts ٧ years.",
    "a digit in full width": "the offer lasts ７ years.",
    "a digit of mathematics": "the offer lasts 𝟕 years.",
    "a keycap": "the offer lasts 7️⃣ years.",
    "the keycap ten": "the offer lasts 🔟 years.",
    "a digit in a circle": "the offer lasts ➆ years.",
    "a script without capitals": "该要约有效期为七年。",
    "a comment of HTML": "<!-- it lasts 7 years -->",
    "the words of a picture": "![it lasts 7 years](https://example.org/a.png)",
    "a footnote": "[^1]: it lasts seven years.",
}


@pytest.mark.parametrize("hidden", DISGUISED.values(), ids=DISGUISED)
def test_a_disguised_statement_is_a_claim_that_bears_load(hidden: str) -> None:
    claims = split(f"{TRUE}\n\n{hidden}")
    assert [claim.load_bearing for claim in claims] == [True, True]
    assert not claims[1].cites


@pytest.mark.parametrize(
    "vague",
    [
        "the offer never ends.",
        "This rule was later abolished and is void.",
        "предложение никогда не кончается.",
        "```\nthe offer is void.\n```",
        "| the offer | was abolished |",
        "**the offer never ends.**",
    ],
)
def test_a_statement_without_anything_to_check_is_shown_as_unchecked(tmp_path: Path, vague: str) -> None:
    assert [claim.load_bearing for claim in split(f"{TRUE}\n\n{vague}")] == [True, False]
    tried = run(tmp_path, f"{TRUE}\n\n{vague}", "--verifier", "literal")
    assert tried.ended.out.count("(unchecked)") == 1 and "unchecked 1" in tried.ended.out
    assert (tried.status, tried.code) == ("PARTIAL", 3)


BESIDE = {
    "yes": "Yes.",
    "no": "No.",
    "yes at the front": "Yes!",
    "an item": "- renewable\n- transferable",
    "a table with a tick": "| renewable | ✓ |\n|---|---|\n| transferable | ✓ |",
    "a row of words": "| what | so |\n|---|---|\n| fee | none |",
    "another language": "Das Angebot ist wertlos.",
    "a lead-in to nothing": "The offer is void:",
    "an absence": "The documents do not state the price.",
    "words of the built-in model and more": "No lines were found that answer this question, so it is void.",
    "a label of the built-in model and more": "Nearest lines found, and the offer is void.",
}


@pytest.mark.parametrize("rule", ["model", "literal"])
@pytest.mark.parametrize("beside", BESIDE.values(), ids=BESIDE)
def test_an_unchecked_sentence_beside_a_supported_one_leaves_the_answer_partial(
    tmp_path: Path, beside: str, rule: str
) -> None:
    answer = f"{TRUE}\n\n{beside}" if beside.endswith(":") else f"{beside}\n\n## Terms\n\n{TRUE}"
    tried = run(tmp_path, answer, "--verifier", rule)
    assert (tried.status, tried.code) == ("PARTIAL", 3)
    assert "(unchecked)" in tried.ended.out


ORDERS = {
    "a heading": f"# Terms\n\n{TRUE}",
    "a lead-in": f"Here is what the sources say:\n\n{TRUE}",
    "a lead-in in German": f"Das steht in den Quellen:\n\n- {TRUE}",
    "a question": f"How long is it valid?\n\n{TRUE}",
    "a label": f"Answer: {TRUE}",
    "a nearest line": f"{TRUE}\n\n- Nearest lines found [ev_0001:1]",
}


@pytest.mark.parametrize("answer", ORDERS.values(), ids=ORDERS)
def test_what_only_orders_an_answer_lowers_nothing(tmp_path: Path, answer: str) -> None:
    tried = run(tmp_path, answer, "--verifier", "literal")
    assert (tried.status, tried.code) == ("QUOTED", 0)
    tried.is_verified()


NUMBERS = {
    "zero-width": "9\u200b9",
    "full width": "９９",
    "Arabic": "٩٩",
    "mathematics": "𝟗𝟗",
    "keycaps": "9️⃣9️⃣",
}


@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS)
def test_a_number_in_disguise_is_a_hard_finding(tmp_path: Path, number: str) -> None:
    tried = run(tmp_path / "run", f"There were {number} offices [ev_0001:4].")
    assert tried.status == "UNRESOLVED" and "number_absent" in tried.hard()
    write_all(tmp_path / "s", FILES)
    write_all(tmp_path, {"d.md": f"There were {number} offices ([terms](terms.txt)).\n"})
    assert vera_here("check", tmp_path / "d.md", "--sources", tmp_path / "s", cwd=tmp_path).code == 4


@pytest.mark.parametrize("number", ["1\u200b5", "１５", "١٥", "𝟏𝟓"])
def test_the_true_number_in_the_same_dress_is_verified(tmp_path: Path, number: str) -> None:
    run(tmp_path, f"There were {number} offices [ev_0001:4].").is_verified()


@pytest.mark.parametrize(("count", "code"), [(99, 4), (15, 0)])
def test_a_sentence_that_is_a_link_as_a_whole_is_checked(tmp_path: Path, count: int, code: int) -> None:
    write_all(tmp_path / "s", FILES)
    write_all(tmp_path, {"d.md": f"[There were {count} offices](terms.txt)\n"})
    done = vera_here("check", tmp_path / "d.md", "--sources", tmp_path / "s", "--json", cwd=tmp_path)
    assert done.code == code and json.loads(done.out)["findings"]["checked"] == 1


def test_what_is_struck_through_is_not_what_the_source_says(tmp_path: Path) -> None:
    files = {"terms.txt": "An offer must not be withdrawn by its maker.\n"}
    for number, (answer, status) in enumerate(
        [
            ("An offer must not be withdrawn by its maker [ev_0001:1].", "QUOTED"),
            ("An offer must ~~not~~ be withdrawn by its maker [ev_0001:1].", "UNRESOLVED"),
            ("An offer must <!-- not --> be withdrawn by its maker [ev_0001:1].", "UNRESOLVED"),
            ("An offer must <del>not</del> be withdrawn by its maker [ev_0001:1].", "UNRESOLVED"),
        ]
    ):
        tried = attempt(
            tmp_path / str(number), [READ, final(answer)], *OFFLINE, "--verifier", "literal",
            question="May an offer be withdrawn?", files=files,
        )  # fmt: skip
        assert tried.status == status, answer


ESCAPES = "\x1b[2J\x1b[8m\x1b]0;title\x07\x9b1A\x9d52;c;eA==\x07\x08\x0c\u202e21\u202c\u2066\x85\r\u2028"
CONTROLS = set("\x1b\x9b\x9d\x07\x08\x0c\x85\u202e\u202c\u2066\u2028")


def test_nothing_that_a_model_or_a_source_writes_acts_on_the_terminal(tmp_path: Path) -> None:
    files = {"terms.txt": "Terms\n\nAn offer is valid for three years. \x1b[8m\u202e21\u2066\n"}
    answer = f"An offer is valid for three years [ev_0001:3].\n\nIt is{ESCAPES} fine."
    tried = attempt(
        tmp_path, [turn("read", path=f"no{ESCAPES}such"), READ, final(answer)], *OFFLINE,
        question=QUESTION, files=files,
    )  # fmt: skip
    shown = [
        tried.ended,
        tried.show(),
        *(
            vera_here(*command, cwd=tmp_path)
            for command in (
                ("show", tried.work, "--json"),
                ("show", tried.work, "--evidence", "ev_0001"),
                ("show", tried.work, "--request", "2"),
                ("replay", tried.work),
                ("replay", tried.work, "--json"),
            )
        ),
    ]
    for each in shown:
        assert CONTROLS.isdisjoint(each.out) and CONTROLS.isdisjoint(each.error)
    assert CONTROLS.isdisjoint((tried.work / "answer.md").read_text("utf-8"))
    assert "\x1b" in json.loads(shown[2].out)["answer"], "as JSON nothing is lost"


def test_what_people_write_is_printed_as_it_is() -> None:
    text = "Straße, naïve, 日本語\u3000と, می\u200cخواهم, 👩\u200d🔬, 5\u202f000\u00a0€\n\tend"
    assert printable(text) == text
    assert json.loads(printable_json({"a": f"{text}{ESCAPES}"})) == {"a": f"{text}{ESCAPES}"}


def test_a_mark_that_the_model_types_is_not_printed_as_one(tmp_path: Path) -> None:
    answer = f"{TRUE}\n\nThere were 77 offices (supported). （Supported） ( supported )"
    tried = run(tmp_path, answer, "--verifier", "literal")
    assert tried.status == "PARTIAL"
    assert tried.ended.out.lower().count("(supported)") == 1
    assert "[supported]" in tried.ended.out
    assert "（" not in tried.ended.out


def test_the_verdict_in_answer_md_cannot_be_swallowed(tmp_path: Path) -> None:
    """By a comment, a tag or a block of code that is never closed; nor does an entity change a number."""
    answer = f"{TRUE}\n\nThere were &#55;7 offices.\n\n<!-- <details><style>\n\n```\nprint(42)"
    text = (run(tmp_path, answer, "--verifier", "literal").work / "answer.md").read_text("utf-8")
    assert "<!--" not in text and "<details" not in text and "&#55;" not in text.replace("&amp;#55;", "")
    lines = text.splitlines()
    fences = [line for line in lines if line.startswith("```")]
    assert fences == ["```", "```"]
    assert lines.index("(unchecked)") > lines.index("```", lines.index("```") + 1)


STORY = "\n".join(f"Sample number {count} melts at {count * 7} degrees." for count in range(30))


def together(*documents: tuple[str, str]) -> int:
    return len(
        clusters([SourceDoc(key=str(at), url=url, text=text) for at, (url, text) in enumerate(documents)])
    )


def test_a_story_of_short_lines_on_three_sites_is_one_source() -> None:
    """They look like boilerplate, and are all that there is."""
    sites = ["https://a.example/", "https://b.test/", "https://c.example.org/"]
    assert together(*((url, STORY) for url in sites)) == 1
    menu = "Skip to content\nAll rights reserved\n"
    own = [" ".join(f"{site}{word}" for word in range(60)) for site in "xyz"]
    assert together(*((url, menu + text) for url, text in zip(sites, own, strict=True))) == 3


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8:8080", "134744072", "0x08080808", "010.8.8.8", "8.8.2056", "[::ffff:8.8.8.8]", "u:p@8.8.8.8"],
)
def test_one_address_is_one_owner_however_it_is_written(address: str) -> None:
    assert registrable_domain(f"http://{address}/x") == "8.8.8.8"
    assert registrable_domain("http://8.8.4.4/x") == "8.8.4.4"


FALSE = "Vexium cures every cold"
PAGES = {
    f"{host}.example/page": article(
        title,
        *[f"{word} speaks of nothing else than the weather of the {word} coast today." for word in words],
    )
    for host, title, words in (
        ("alpha", FALSE, ("north", "south", "east")),
        ("beta", FALSE, ("west", "middle", "upper")),
        ("gamma", f"./ {FALSE}", ("lower", "outer", "inner")),
        ("delta", f"./ {FALSE}", ("left", "right", "far")),
    )
}
POINTING = {
    "beside lines": (f"{FALSE}, lines 1-2 [ev_0001:1-2] [ev_0002:1-2]", ("alpha", "beta")),
    "as extracts": (
        "These are extracts chosen by word match, not a synthesis: no model.\n\n"
        f"1. {FALSE} [ev_0001:2] [ev_0002:2]",
        ("alpha", "beta"),
    ),
    "like a path": (f"./ {FALSE} [ev_0001:2] [ev_0002:2]", ("gamma", "delta")),
}


@pytest.fixture(scope="module")
def sites() -> Iterator[Sites]:
    with Sites(PAGES) as served:
        yield served


@pytest.mark.parametrize("pointing", POINTING)
def test_the_title_of_a_page_is_no_pointer(
    tmp_path: Path, sites: Sites, monkeypatch: pytest.MonkeyPatch, pointing: str
) -> None:
    """A title is what its page's author wants it to be; an extract is supported by its lines alone."""
    monkeypatch.setattr(resolve, "_getaddrinfo", Sites.names)
    answer, hosts = POINTING[pointing]
    fetches = [turn("fetch", url=sites.url(f"{host}.example/page")) for host in hosts]
    tried = attempt(
        tmp_path, [*fetches, final(answer)], *NO_SANDBOX, *sites.options(), "--verifier", "literal",
        question="What does vexium do?",
    )  # fmt: skip
    assert tried.status == "UNRESOLVED"
    tried.is_sound()


def test_no_policy_supports_a_claim_without_a_card() -> None:
    policy = Policy(
        rule="literal", audit_policy=AuditPolicy(), file_sources=0, web_sources=0, min_score=0,
        claims="", audit="", reduce="",
    )  # fmt: skip
    thesis = Thesis(text="", sub_claims=(SubClaim(key="c1", text="x"),), answer="")
    cards: dict[str, Card] = {}
    sources: dict[str, Source] = {}
    reduced = reduce(
        thesis=thesis,
        policy=policy,
        findings=Findings(),
        coverage=Coverage(clusters=(), omissions=(), contradictions=(), sources=0, searches=0),
        cards=cards,
        sources=sources,
    )
    assert reduced.result == "INCONCLUSIVE"


LITERAL = [
    ("The fee is 5 euros.", "The fee is 5 euros.", "The fee is 5 000 euros."),
    ("The fee is 5.", "The fee is 5.", "The fee is 5×10⁶."),
    ("The fee is 5.", "The fee is 5.", "The fee is 5 °C."),
    ("The fee is 5 euros.", "The fee is 5 euros a day.", "The fee is 5 euros cheaper."),
    ("The earth is flat.", "The earth is flat here.", "The idea that the earth is flat spread."),
    ("The earth is flat.", "The earth is flat here.", "Some dreamed the earth is flat."),
    ("The earth is flat.", "The earth is flat here.", "The earth is flat only in stories."),
    ("The earth is flat.", "The earth is flat here.", "The earth is ~~flat~~ round."),
    ("The offer 🚫 is valid.", "The offer 🚫 is valid.", "The offer is valid."),
    ("The offer is ¬ valid.", "The offer is ¬ valid.", "The offer is valid."),
    ("Anna married Tom.", "Anna married Tom in Rome.", "Anna married Tom Jones."),
    (
        "Berlin is the capital of France.",
        "Berlin is the capital of France.",
        "Berlin is the capital of France Telecom.",
    ),
    ("The fee is 5.", "| The fee | 5 |", "| The fee | five |"),
    ("Alice is Bob.", "Alice is Bob.", "| Alice | Bob |"),
]


@pytest.mark.parametrize(("claim", "says", "does_not"), LITERAL)
def test_what_a_sentence_says_otherwise_is_not_literally_there(claim: str, says: str, does_not: str) -> None:
    for line, relation in ((says, "SUPPORTS"), (does_not, "IRRELEVANT")):
        case = cited(claim, line)
        assert literal.label(case.claims[0], place(case)) == relation, line


@pytest.mark.parametrize(("query", "found"), [("?t=Vexium+melts+at+812+degrees", True), ("?page=812", False)])
def test_a_page_with_the_statement_in_its_address_is_an_echo(query: str, found: bool) -> None:
    page = page_of("ev_0001", "Vexium melts at 812 degrees. " * 9, f"https://mirror.example/say{query}")
    codes = [each.code for each in content(case_of("Vexium melts at 812 degrees [ev_0001:1].", page))]
    assert codes == (["no_content"] if found else [])
