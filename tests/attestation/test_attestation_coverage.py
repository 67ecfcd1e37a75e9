"""Coverage: which sources are one, what is missing and where to look, what disagrees."""

from hypothesis import given
from hypothesis import strategies as st

from support.rounds import WATER, case, check, evidence, label, labels, page, sha256
from vera import events
from vera.attestation.cards import Cards, make_cards
from vera.attestation.coverage import contradictions, cover, is_web
from vera.attestation.objects import CheckResult, Coverage, Source, digest, object_id
from vera.audit.case import Case, Lookup
from vera.evidence.claim import Cite, Claim

THESIS = digest(b"thesis")
WORDS = [f"word{number} stands here and there" for number in range(60)]
STORY = "\n".join(WORDS).encode() + b"\n"
OTHER = "\n".join(f"sentence {number} of another story" for number in range(60)).encode() + b"\n"


def claim(key: str, *cites: Cite, load_bearing: bool = True) -> Claim:
    return Claim(key=key, text="It is so.", start=0, end=9, cites=cites, load_bearing=load_bearing)


def covered(found: Case, *given: events.VerifierLabels, checks: tuple[CheckResult, ...] = ()) -> Coverage:
    return cover(found, cards_of(found, *given), checks)


def cards_of(found: Case, *given: events.VerifierLabels) -> Cards:
    return make_cards(found, THESIS, given, by_rule=False)


def groups(found: Coverage, cards: Cards) -> list[set[str]]:
    """The clusters as the names of their sources."""
    return [{cards.sources[source].name for source in cluster.sources} for cluster in found.clusters]


def two(first: events.Evidence, second: events.Evidence, *texts: bytes) -> Case:
    return case([claim("c1", Cite("ev_0001", 1), Cite("ev_0002", 1))], [first, second], texts)


def test_pages_of_two_publishers_are_two_clusters_with_their_cards() -> None:
    pages = (page("ev_0001", "https://a.example/1", STORY), page("ev_0002", "https://b.org/2", OTHER))
    found = two(*pages, STORY, OTHER)
    given = labels("c1", label("ev_0001", 1, 1), label("ev_0002", 1, 1))
    coverage = covered(found, given)
    assert [cluster.key for cluster in coverage.clusters] == ["a.example", "b.org"]
    assert all(len(cluster.cards) == 1 for cluster in coverage.clusters)
    assert (coverage.sources, coverage.omissions) == (2, ())


def test_two_pages_of_one_registrable_domain_are_one() -> None:
    pages = (page("ev_0001", "https://a.b.co.uk/1", STORY), page("ev_0002", "https://c.b.co.uk/", OTHER))
    (cluster,) = covered(two(*pages, STORY, OTHER)).clusters
    assert cluster.key == "b.co.uk"
    assert len(cluster.sources) == 2


def test_a_copy_at_another_publisher_is_one_with_its_original() -> None:
    longer = STORY + b"This newspaper added a line.\n"
    pages = (page("ev_0001", "https://a.example/1", STORY), page("ev_0002", "https://b.org/2", longer))
    assert len(covered(two(*pages, STORY, longer)).clusters) == 1


def test_each_file_is_its_own_cluster_unless_it_is_a_copy() -> None:
    assert (
        len(covered(two(evidence("ev_0001", STORY), evidence("ev_0002", OTHER), STORY, OTHER)).clusters) == 2
    )
    assert len(covered(two(evidence("ev_0001", STORY), evidence("ev_0002", STORY), STORY)).clusters) == 1


def test_a_file_whose_name_looks_like_an_address_joins_no_domain() -> None:
    file = Source(name="https.a.example.html", tier="captured", canonical=digest(b"x"))
    printed = Source(name="https://a.example/ | head", tier="derived", canonical=digest(b"x"))
    fetched = Source(name="HTTPS://a.example/", tier="captured", canonical=digest(b"x"))
    assert [is_web(source) for source in (file, printed, fetched)] == [False, False, True]


def test_a_card_less_changes_no_cluster() -> None:
    pages = (page("ev_0001", "https://a.example/1", STORY), page("ev_0002", "https://a.example/2", OTHER))
    found = two(*pages, STORY, OTHER)
    every, one = labels("c1", label("ev_0001", 1, 1), label("ev_0002", 1, 1)), labels("c1")
    assert groups(covered(found, every), cards_of(found, every)) == groups(
        covered(found, one), cards_of(found, one)
    )


def test_omissions_say_what_is_missing_and_where_to_look() -> None:
    found = case(
        [
            claim("c1", Cite("ev_0001", 2)),
            claim("c2", Cite("ev_0001", 2, 9)),
            claim("c3"),
            claim("c4", load_bearing=False),
            claim("c5", Cite("ev_0002", 1)),
        ],
        [evidence("ev_0001"), evidence("ev_0002", OTHER)],
        [WATER],
        unreadable={sha256(OTHER): "it is not in the store"},
    )
    unknown = CheckResult(claim="c1", question="Is it 312?", source="ev_0001", label="x", answer="unknown")
    given = (labels("c1", label("ev_0001", 2, 2)), labels("c2", label("ev_0001", 9, 9)))
    told = [(each.cell, each.pointer) for each in covered(found, *given, checks=(unknown,)).omissions]
    assert told == [
        ("c2", "ev_0001:2-9"),
        ("c2", "ev_0001:2-9"),
        ("c3", ""),
        ("c5", "ev_0002:1"),
        ("c5", "ev_0002:1"),
        ("ev_0002.txt", "ev_0002"),
        ("c1", "ev_0001"),
        ("c2", "ev_0001:9"),
    ]


def test_an_answered_check_is_no_omission_and_searches_are_counted() -> None:
    yes = CheckResult(claim="c1", question="Is it?", source="", label="x", answer="yes")
    lookups = (Lookup(tool="search", query="river", evidence="ev_0002", hits=3),)
    found = case([claim("c1", Cite("ev_0001", 2))], [evidence("ev_0001")], lookups=lookups)
    coverage = covered(found, labels("c1", label("ev_0001", 2, 2)), checks=(yes,))
    assert (coverage.omissions, coverage.searches) == ((), 1)
    assert check("c1", "yes").answer == "yes"


def test_a_card_that_says_nothing_leaves_the_claim_open() -> None:
    found = case([claim("c1", Cite("ev_0001", 2))], [evidence("ev_0001")])
    (omission,) = covered(found, labels("c1", label("ev_0001", 2, 2, "IRRELEVANT"))).omissions
    assert omission.cell == "c1"


@given(st.lists(st.tuples(st.integers(1, 3), st.sampled_from(["SUPPORTS", "CONTRADICTS", "QUALIFIES"]))))
def test_every_card_that_disagrees_is_in_a_pair(given: list[tuple[int, str]]) -> None:
    """And there are never more pairs than cards."""
    text = b"".join(b"line %d\n" % number for number in range(len(given) + 1))
    claims = [claim(f"c{key}", Cite("ev_0001")) for key in (1, 2, 3)]
    found = case(claims, [evidence("ev_0001", text)], [text])
    labelled = [
        labels(f"c{key}", label("ev_0001", line, line, relation))
        for line, (key, relation) in enumerate(given, 1)
    ]
    cards = cards_of(found, *labelled).cards
    pairs = contradictions(cards)
    assert len(pairs) <= len(cards)
    for supporting, contradicting in pairs:
        assert cards[supporting].claim == cards[contradicting].claim
        assert (cards[supporting].relation, cards[contradicting].relation) == ("SUPPORTS", "CONTRADICTS")
    sides = {(card.claim, card.relation) for card in cards.values()}
    opposite = {"SUPPORTS": "CONTRADICTS", "CONTRADICTS": "SUPPORTS"}
    disagreeing = {
        object_id(card) for card in cards.values() if (card.claim, opposite.get(card.relation)) in sides
    }
    assert {card for pair in pairs for card in pair} == disagreeing
