"""Pages of runs as values: empty, under way, finished, disputed, of a thesis; and texts of an attacker."""

import hashlib
from typing import Any, TypeVar

import msgspec

from vera.report.view.model import (
    AttestationView,
    Bar,
    CandidateView,
    CardView,
    ChoiceView,
    CitedSource,
    ClaimView,
    Coverage,
    CoverageCell,
    EventLine,
    FileView,
    GateView,
    Header,
    ReviewsView,
    ReviewView,
    RoundView,
    RunPage,
    ScorePoint,
    Timeline,
)

S = TypeVar("S", bound=msgspec.Struct)

START = 1_795_336_203.0
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style></title></textarea><svg onload=alert(1)>",
    "javascript:alert(1)",
    "' autofocus onfocus='alert(1)",
    "{{ 7*7 }}{% raw %}",
    "\u202egnp.exe\u2066 hidden \u2069\u200b",
    "\x00\x1b[2J\x07 controls \ud800",
    "]]><!-- --!><![CDATA[",
    "long " * 200_000,
    "unbroken" * 125_000,
)
"""Texts that are put in every place of a page where a text stands."""


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def header(**given: Any) -> Header:
    values: dict[str, Any] = {
        "session": "./work/rivers",
        "task": "Which is longer, the Elbe or the Rhine, by how much, and where does each rise?",
        "phase": "ended",
        "verdict": "VERIFIED",
        "reason": "each claim that bears load is supported by the lines that it cites",
        "status": "VERIFIED",
        "started_ts": START,
        "last_ts": START + 252,
        "ended_ts": START + 252,
        "step": 14,
        "max_steps": 80,
        "events": 412,
        "rounds": 2,
        "score": 350,
        "claims": 5,
        "supported": 5,
        "tokens": (("agent", 58_455, 41_200, 4_724), ("verifier", 21_010, 9_000, 1_204)),
        "cost": "$0.042",
        "tool_calls": 17,
        "tool_errors": 2,
        "searches": 4,
        "model": "qwen3-30b-a3b",
        "last_call": "submit /work/output/answer.md",
    }
    return Header(**{**values, **given})


def card(relation: str, evidence: str, first: int, text: str, source: str, **given: Any) -> CardView:
    lines = tuple(text.split("\n"))
    domain = source.split("/")[2].removeprefix("www.") if "//" in source else ""
    values: dict[str, Any] = {
        "id": "sha256:" + sha(evidence + text + relation),
        "relation": relation,
        "evidence": evidence,
        "first": first,
        "last": first + len(lines) - 1,
        "source": source,
        "source_id": sha(source),
        "domain": domain,
        "source_class": "official" if domain.endswith(".de") else "reference" if domain else "file",
        "tier": "captured",
        "at": START + 30,
        "quotation": lines,
        "maker": "literal/1",
    }
    return CardView(**{**values, **given})


BFG = "https://www.bafg.de/DE/rivers/elbe"
IKSR = "https://www.iksr.org/en/rhine/about"
WIKI = "https://en.wikipedia.org/wiki/Elbe"

CLAIMS = (
    ClaimView(
        key="c1",
        text="The Elbe is 1,094 kilometres long.",
        verdict="supported",
        reason="2 independent sources say so.",
        digest=sha("The Elbe is 1,094 kilometres long."),
        reviews=(
            ReviewView(label="agree", note="Read it.", at=START, signed="by your key", standing="COUNTED"),
            ReviewView(label="unsure", note="", at=START, signed="by an unknown key", standing="UNTRUSTED"),
        ),
        cards=(
            card(
                "SUPPORTS",
                "ev_0002",
                12,
                "From its source to its mouth the Elbe is 1,094 kilometres long.",
                BFG,
            ),
            card(
                "SUPPORTS",
                "ev_0005",
                3,
                "The Elbe (Czech: Labe) is one of the major rivers of Central Europe.\n"
                "Its total length is 1,094 kilometres (680 mi).",
                WIKI,
                maker="qwen3-30b-a3b",
            ),
        ),
    ),
    ClaimView(
        key="c2",
        text="The Rhine is 1,233 kilometres long.",
        verdict="supported",
        reason="1 independent source says so, and it is official for it.",
        cards=(
            card(
                "SUPPORTS", "ev_0003", 7, "The Rhine is 1,233 kilometres long, 865 of them navigable.", IKSR
            ),
            card("QUALIFIES", "ev_0006", 41, "Until 2010 its length was given as 1,320 kilometres.", WIKI),
        ),
    ),
    ClaimView(
        key="c3",
        text="The Rhine is 139 kilometres longer than the Elbe.",
        verdict="supported",
        reason="Computed from c1 and c2, and computed again in a clean sandbox: 139.",
        cards=(
            card(
                "SUPPORTS",
                "ev_0009",
                1,
                "139",
                "shell: python3 difference.py",
                tier="observed",
                source_class="computed",
            ),
        ),
    ),
    ClaimView(
        key="c4",
        text="The Elbe rises in the Giant Mountains.",
        verdict="supported",
        reason="1 independent source says so.",
        cards=(
            card(
                "SUPPORTS",
                "ev_0005",
                9,
                "The Elbe rises at an elevation of about 1,386 metres in the Giant Mountains.",
                WIKI,
            ),
        ),
    ),
    ClaimView(
        key="c5",
        text="The Rhine rises in the Swiss Alps.",
        verdict="supported",
        reason="1 independent source says so.",
        load_bearing=False,
        cards=(card("SUPPORTS", "ev_0003", 2, "It rises in the Swiss Alps, at the Tomasee.", IKSR),),
    ),
)

ANSWER = """## Answer

The Rhine is the longer of the two: it is 139 kilometres longer than the Elbe [ev_0009:1].

- The Elbe is 1,094 kilometres long [ev_0002:12; ev_0005:3-4].
- The Rhine is 1,233 kilometres long [ev_0003:7].

The Elbe rises in the Giant Mountains [ev_0005:9]. The Rhine rises in the Swiss Alps [ev_0003:2].
"""
FIRST_ANSWER = """## Answer

The Rhine is the longer of the two: it is 226 kilometres longer than the Elbe.

- The Elbe is 1,094 kilometres long [ev_0002:12].
- The Rhine is 1,320 kilometres long [ev_0006:41].

The Elbe rises in the Giant Mountains [ev_0005:9].
"""


def timeline(steps: int = 14, *, under_way: bool = False) -> Timeline:
    bars = []
    at = START + 2
    for step in range(steps):
        asked = 3.0 + (step * 7 % 5)
        bars.append(Bar(row="model", start=at, end=at + asked, label=f"step {step + 1}", offset=step * 900))
        at += asked + 0.3
        took = 0.6 + (step * 11 % 9)
        failed = step in (4, 9)
        name = ("shell", "fetch", "read", "search")[step % 4]
        bars.append(
            Bar(row="tool", start=at, end=at + took, label=name, failed=failed, offset=step * 900 + 400)
        )
        at += took + 0.4
        if step in (5, 8):
            bars.append(
                Bar(row="gate", start=at, end=at, label="policy_notes", failed=step == 8, offset=step)
            )
        if step in (10, 13):
            bars.append(
                Bar(row="verify", start=at, end=at + 22, label=f"round {1 + (step == 13)}", offset=step)
            )
            at += 23
    scores = (
        ScorePoint(ts=at - 46, round=1, score=200, result="UNSUPPORTED"),
        ScorePoint(ts=at - 1, round=2, score=350, result="SUPPORTED"),
    )
    return Timeline(start=START, end=at, bars=tuple(bars), scores=() if under_way else scores)


EVENTS = tuple(
    EventLine(
        offset=900 * number,
        seq=number + 1,
        ts=START + 6 * number,
        lane="check-2.1" if number % 11 == 10 else "main",
        kind=("model", "assistant", "tool_started", "tool", "evidence", "policy_notes")[number % 6],
        step=number // 6 + 1,
        text=(
            "The model was asked: 4,210 tokens in, 212 out, 3.1 s.",
            "Turn 3: The page of the authority should have the length of the river.",
            "fetch https://www.bafg.de/DE/rivers/elbe",
            "fetch: exit 0 in 0.8 s, 48 lines",
            "ev_0002: Federal Institute of Hydrology, the Elbe (48 lines, captured)",
            "Three steps without a note: write down what you know.",
        )[number % 6],
        failed=number in (15, 27),
    )
    for number in range(42)
)

CHOICES = (
    ChoiceView(
        step=3,
        selector="pairwise",
        decider="judge",
        reason="Candidate 2 asks the authority itself; the others search again for what is known.",
        fallback_reason="",
        margin=0.34,
        judge_calls=6,
        seconds=11.4,
        candidates=(
            CandidateView(
                index=1,
                action='search {"query": "Elbe length kilometres"}',
                text="THOUGHT: I should search for the length.",
                votes=2,
                group=1,
                score=0.33,
            ),
            CandidateView(
                index=2,
                action='fetch {"url": "https://www.bafg.de/DE/rivers/elbe"}',
                text="THOUGHT: The page of the authority should have it.",
                votes=1,
                group=2,
                score=0.67,
                chosen=True,
                reason="Leads to a primary source.",
            ),
            CandidateView(
                index=3,
                action="",
                text="The Elbe is about 1,100 km long, as everybody knows.",
                votes=0,
                group=3,
                rejected="parse",
                reason="There is no action line.",
                codes=("no_action", "no_thought"),
            ),
        ),
    ),
)

ATTESTATION = AttestationView(
    id="sha256:" + sha("attestation"),
    result="SUPPORTED",
    reason="",
    keyid=sha("key"),
    issued_at="2026-11-22T08:14:15.000Z",
    expires_at="2027-02-20T08:14:15.000Z",
    rule="model",
    word="VERIFIED",
    hyperthesis=(
        (
            "frame lock",
            "Lengths were taken as the authorities give them; that they measure alike was not checked.",
        ),
        (
            "tool limit",
            "Text that a page hides or adds by a script was not read. The raw bytes are kept.",
        ),
        ("cost", "2 searches gave hits of which not all were read. Only lines that were read carry a card."),
    ),
)

OTHER_CLAIMS = (
    *(msgspec.structs.replace(claim, cards=()) for claim in (CLAIMS[0], CLAIMS[3])),
    ClaimView(
        key="c2",
        text="The Rhine is 1,320 kilometres long.",
        verdict="contradicted",
        reason="2 independent sources say otherwise.",
    ),
    ClaimView(key="c4", text="The Rhine is 226 kilometres longer than the Elbe.", verdict="unresolved"),
)

ROUNDS = (
    RoundView(
        round=1,
        result="UNSUPPORTED",
        reason="c2 is contradicted by 2 sources",
        score=200,
        answer=FIRST_ANSWER,
        claims=OTHER_CLAIMS,
        word="UNRESOLVED",
        findings=("The number 1,320 is not in the cited source ev_0006: give the value that is there.",),
        caps=("the only source of c2 is a reference work, and it says 'until 2010'",),
    ),
    RoundView(
        round=2,
        result="SUPPORTED",
        reason="",
        score=350,
        answer=ANSWER,
        claims=tuple(msgspec.structs.replace(claim, cards=()) for claim in CLAIMS),
        chosen=True,
        word="VERIFIED",
    ),
)

FINISHED = RunPage(
    offset=48_211,
    sources=tuple(
        CitedSource(name, source)
        for name, source in {each.evidence: each.source for claim in CLAIMS for each in claim.cards}.items()
    ),
    header=header(),
    timeline=timeline(),
    claims=CLAIMS,
    reviews=ReviewsView(
        sentence="3 reviews: 1 counts, 1 by an unknown key, 1 altered.",
        bad=((3, "ALTERED", "its signature does not match"),),
        is_open=True,
    ),
    coverage=Coverage(
        claims=("c1", "c2", "c3", "c4", "c5"),
        source_classes=("official", "reference", "computed"),
        cells=(
            CoverageCell(claim="c1", source_class="official", cards=1),
            CoverageCell(claim="c1", source_class="reference", cards=1),
            CoverageCell(claim="c2", source_class="official", cards=1),
            CoverageCell(claim="c2", source_class="reference", cards=1),
            CoverageCell(claim="c3", source_class="computed", cards=1),
            CoverageCell(claim="c4", source_class="reference", cards=1),
            CoverageCell(claim="c5", source_class="official", cards=1),
        ),
        omissions=(("c4, official", "The page of the authority says nothing of the place (ev_0002)."),),
    ),
    rounds=ROUNDS,
    choices=CHOICES,
    choices_left_out=3,
    gates=(
        GateView(
            name="policy_notes",
            refused=1,
            nudged=4,
            ended=0,
            last_step=9,
            last_said="Three steps without a note. Write one NOTE: line with what you know and what is open.",
        ),
        GateView(
            name="policy_repeat",
            refused=2,
            nudged=0,
            ended=0,
            last_step=6,
            last_said="This command ran before with the same output. Read ev_0004 or change the query.",
        ),
    ),
    constraints=(("two_sources", "The length of the Rhine needs a second independent source."),),
    budgets=(
        ("steps", "14", "80"),
        ("tokens", "85\u202f393", "400\u202f000"),
        ("seconds", "252", "unlimited"),
        ("search requests", "4", "12"),
        ("rounds of verification", "2", "3"),
    ),
    files=(
        FileView(path="output/answer.md", size=612, sha256=sha("answer.md")),
        FileView(path="output/lengths.png", size=20_480, sha256=sha("lengths.png"), picture=True),
        FileView(
            path="output/pipe", size=0, sha256="", problem="It is no regular file, so it was not taken."
        ),
    ),
    attestation=ATTESTATION,
    answer=ANSWER,
    events=EVENTS,
    events_left_out=370,
)

EMPTY = RunPage(
    offset=0,
    header=header(
        task="", phase="new", verdict="", reason="", status="", started_ts=0.0, last_ts=0.0, ended_ts=None,
        step=0, max_steps=0, events=0, rounds=0, score=None, claims=0, supported=0, tokens=(), cost="",
        tool_calls=0, tool_errors=0, searches=0, model="", last_call="",
    ),
    timeline=Timeline(start=0.0, end=0.0),
)  # fmt: skip

RUNNING = msgspec.structs.replace(
    FINISHED,
    header=header(
        phase="working", verdict="", reason="", status="", ended_ts=None, last_ts=START + 90, step=8,
        rounds=0, score=None, claims=0, supported=0, events=180, tool_calls=9,
        last_call="fetch https://www.bafg.de/DE/rivers/elbe",
    ),
    timeline=timeline(8, under_way=True),
    claims=(),
    coverage=Coverage(),
    rounds=(),
    files=(),
    attestation=None,
    answer="",
    events_left_out=0,
)  # fmt: skip

DISPUTED = msgspec.structs.replace(
    FINISHED,
    header=header(
        verdict="DISPUTED", status="DISPUTED", reason="a claim that bears load is disputed", score=200,
        claims=6, supported=1,
    ),
    claims=(
        CLAIMS[0],
        ClaimView(
            key="c2",
            text="The Rhine is 1,320 kilometres long.",
            verdict="contradicted",
            reason="1 independent source says otherwise.",
            findings=("hard: the number 1,320 is not in the cited line",),
            cards=(
                card("CONTRADICTS", "ev_0003", 7, "The Rhine is 1,233 kilometres long.", IKSR),
                card("QUALIFIES", "ev_0006", 41, "Until 2010 its length was given as 1,320 km.", WIKI),
            ),
        ),
        ClaimView(
            key="c3",
            text="The source of the Rhine is the Tomasee.",
            verdict="disputed",
            reason="1 independent source says so, 1 independent source says otherwise.",
            cards=(
                card("SUPPORTS", "ev_0003", 2, "It rises at the Tomasee.", IKSR),
                card("CONTRADICTS", "ev_0007", 5, "Its longest headstream is the Rein da Medel.", WIKI),
                card("IRRELEVANT", "ev_0008", 1, "The lake lies at 2,345 metres.", BFG),
            ),
        ),
        ClaimView(
            key="c4",
            text="The Elbe was longer in 1850.",
            verdict="unresolved",
            reason="Cited lines say it only with a qualification.",
            cards=(
                card(
                    "QUALIFIES",
                    "ev_0005",
                    88,
                    "",
                    WIKI,
                    quotation=(),
                    problem="The stored bytes are not those that were cited, so they are not shown.",
                ),
            ),
        ),
        ClaimView(key="c5", text="The Oder is shorter.", verdict="unchecked", reason="No line was read."),
        ClaimView(
            key="c6",
            text="The Elbe is called 'mother of rivers'.",
            verdict="dropped",
            reason="Its quotation is in no cited source.",
        ),
    ),
    attestation=msgspec.structs.replace(ATTESTATION, result="INCONCLUSIVE", reason="DISPUTED"),
)  # fmt: skip

THESIS = msgspec.structs.replace(
    FINISHED,
    header=header(
        task="The Elbe is longer than the Rhine.", verdict="REFUTED", status="REFUTED",
        reason="the cited lines say otherwise", score=None, claims=1, supported=0, rounds=1, cost="",
    ),
    claims=(
        ClaimView(
            key="c1",
            text="The Elbe is longer than the Rhine.",
            verdict="contradicted",
            reason="2 independent sources say otherwise.",
            cards=(card("CONTRADICTS", "ev_0003", 7, "The Rhine is longer than the Elbe.", IKSR),),
        ),
    ),
    rounds=(msgspec.structs.replace(ROUNDS[0], answer="The Elbe is longer than the Rhine."),),
    choices=(),
    choices_left_out=0,
    answer="The Elbe is longer than the Rhine.",
    thesis=True,
)  # fmt: skip


def with_text(value: S, text: str) -> S:
    """The struct with `text` in every place where a text stands, however deep."""
    return _with_text(value, text)  # type: ignore[no-any-return] # a Struct again


def _with_text(value: Any, text: str) -> Any:
    match value:
        case msgspec.Struct():
            changed = {name: _with_text(getattr(value, name), text) for name in value.__struct_fields__}
            return type(value)(**changed)
        case tuple():
            return tuple(_with_text(each, text) for each in value)
        case str():
            return text
        case _:
            return value


EXAMPLES = {
    "empty": EMPTY,
    "running": RUNNING,
    "finished": FINISHED,
    "disputed": DISPUTED,
    "thesis": THESIS,
}
