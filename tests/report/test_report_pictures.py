"""Pictures: well-formed, bounded, without styles, and told in words too."""

from itertools import pairwise
from math import inf, nan
from xml.etree import ElementTree

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.run_pages import CLAIMS, DISPUTED, EXAMPLES, HOSTILE, START, card, timeline, with_text
from vera.report.pictures.axis import duration, ticks
from vera.report.pictures.graph import MAX_CARDS, MAX_CLAIMS, graph_svg
from vera.report.pictures.strip import MAX_CELLS, in_words, strip_svg
from vera.report.pictures.svg import hatch
from vera.report.pictures.timeline import MAX_BARS, timeline_svg
from vera.report.view.model import VERDICTS, Bar, ClaimView, ScorePoint, Timeline

MAX_BYTES = 400_000


def drawn(svg: str) -> ElementTree.Element:
    """The picture, well-formed, bounded, and with nothing that a strict policy forbids."""
    assert len(svg.encode("utf-8", "replace")) < MAX_BYTES
    root = ElementTree.fromstring(svg)
    allowed = {"svg", "title", "desc", "g", "rect", "line", "path", "polyline", "circle", "text", "a"}
    assert {element.tag.rpartition("}")[2] for element in root.iter()} <= allowed
    names = {name for element in root.iter() for name in element.attrib}
    assert not {name for name in names if name.startswith("on") or name in ("style", "fill", "stroke")}
    for element in root.iter():
        address = element.get("href", "#")
        assert address.startswith(("#", "/s/")) and (address == "#" or element.tag.endswith("}a"))
    return root


def of_class(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [element for element in root.iter() if name in element.get("class", "").split()]


def texts(root: ElementTree.Element) -> str:
    return " ".join(root.itertext())


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_pictures_of_each_page_are_well_formed_and_described(name: str) -> None:
    page = EXAMPLES[name]
    pictures = [timeline_svg(page.timeline), strip_svg("s", [claim.verdict for claim in page.claims])]
    pictures += [graph] if (graph := graph_svg(page.claims)) else []
    for picture in pictures:
        root = drawn(picture)
        has_links = any(element.tag.endswith("}a") for element in root.iter())
        assert root.get("role") == ("group" if has_links else "img")
        title, description = root[0], root[1]
        assert root.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
        assert title.text and description.text


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_texts_of_an_attacker_stay_texts(text: str) -> None:
    page = with_text(EXAMPLES["disputed"], text)
    for svg in (timeline_svg(page.timeline), graph_svg(DISPUTED.claims), strip_svg("s", [text] * 5)):
        root = drawn(svg)
        assert not {"\u202e", "\x00", "\x1b"} & set(texts(root))


def test_a_hostile_claim_is_drawn_as_text() -> None:
    claims = [
        msgspec.structs.replace(
            claim,
            text=HOSTILE[0],
            cards=tuple(msgspec.structs.replace(each, source=HOSTILE[1], domain="") for each in claim.cards),
        )
        for claim in CLAIMS
    ]
    assert "<script>" in texts(drawn(graph_svg(claims)))


def test_what_failed_is_hatched_and_taller() -> None:
    bars = (
        Bar(row="tool", start=START, end=START + 5, label="shell"),
        Bar(row="tool", start=START + 5, end=START + 9, label="fetch", failed=True),
    )
    root = drawn(timeline_svg(Timeline(start=START, end=START + 10, bars=bars)))
    good, failed = of_class(root, "bar")
    assert not of_class(good, "hatch") and of_class(failed, "hatch")
    heights = [
        float(next(e for e in bar if e.tag.endswith("rect")).get("height", "0")) for bar in (good, failed)
    ]
    assert heights[0] < heights[1]
    assert "(1 marked as failed)" in texts(root)


def test_the_score_stands_over_the_rows_only_when_there_is_one() -> None:
    assert of_class(drawn(timeline_svg(timeline())), "scores")
    without = timeline(under_way=True)
    assert not of_class(drawn(timeline_svg(without)), "enough")
    unscored = msgspec.structs.replace(
        without, scores=(ScorePoint(ts=START, round=1, score=None, result="X"),)
    )
    assert not of_class(drawn(timeline_svg(unscored)), "score")


def test_a_very_short_bar_can_be_seen() -> None:
    bars = (Bar(row="model", start=START, end=START + 0.001, label="x"),)
    root = drawn(timeline_svg(Timeline(start=START, end=START + 100_000, bars=bars)))
    (rect,) = [e for e in of_class(root, "bar")[0] if e.tag.endswith("rect")]
    assert float(rect.get("width", "0")) >= 1.5


numbers = st.floats(allow_nan=True, allow_infinity=True)


@given(
    st.lists(
        st.tuples(st.sampled_from(["model", "tool", "verify", "gate", "odd"]), numbers, numbers), max_size=20
    ),
    numbers,
    numbers,
    st.lists(st.tuples(numbers, st.one_of(st.none(), st.integers(-10_000, 10_000))), max_size=5),
)
def test_no_time_and_no_score_leads_out_of_the_picture(
    bars: list[tuple[str, float, float]],
    start: float,
    end: float,
    scores: list[tuple[float, int | None]],
) -> None:
    made = Timeline(
        start=start,
        end=end,
        bars=tuple(Bar(row=row, start=a, end=b, label="x", failed=True) for row, a, b in bars),
        scores=tuple(ScorePoint(ts=ts, round=1, score=score, result="") for ts, score in scores),
    )
    root = drawn(timeline_svg(made))
    _, _, width, height = map(float, root.get("viewBox", "").split())
    for element in root.iter():
        for name, most in (("x", width), ("cx", width), ("y", height), ("cy", height)):
            assert 0 <= float(element.get(name, "0")) <= most


def test_pictures_are_bounded_whatever_a_run_has() -> None:
    bars = tuple(
        Bar(row="model", start=START + n, end=START + n + 0.5, label="x" * 1000, failed=True, offset=n)
        for n in range(5000)
    )
    root = drawn(timeline_svg(Timeline(start=START, end=START + 5000, bars=bars)))
    assert len(of_class(root, "bar")) == MAX_BARS
    many = [
        ClaimView(
            key=f"c{n}",
            text="x" * 3000,
            verdict="supported",
            cards=tuple(
                card("SUPPORTS", f"ev_{k}", 1, "y" * 2000, f"https://a{k}.de/{n}") for k in range(50)
            ),
        )
        for n in range(100)
    ]
    root = drawn(graph_svg(many))
    assert len(of_class(root, "card-box")) <= MAX_CARDS
    assert len(of_class(root, "box")) <= MAX_CLAIMS + 2 * MAX_CARDS
    assert "more in the list" in texts(root)


def test_each_relation_has_an_edge_and_a_word_of_its_own() -> None:
    root = drawn(graph_svg(DISPUTED.claims))
    for word in ("supports", "contradicts", "qualifies", "irrelevant"):
        assert of_class(root, word)
        assert word in texts(root)


def test_no_two_boxes_of_a_column_lie_on_each_other() -> None:
    root = drawn(graph_svg(DISPUTED.claims))
    for x in {rect.get("x") for rect in root.iter() if rect.tag.endswith("rect")}:
        tops = sorted(
            float(rect.get("y", "0"))
            for box in of_class(root, "box")
            for rect in box
            if rect.tag.endswith("rect") and rect.get("x") == x and not rect.get("class")
        )
        assert all(below - above >= 22 for above, below in pairwise(tops))


def test_claims_without_cards_have_no_graph() -> None:
    assert graph_svg([]) == ""
    assert graph_svg([ClaimView(key="c1", text="x", verdict="unchecked")]) == ""


def test_a_strip_has_a_cell_a_claim_and_shares_of_many() -> None:
    assert len(of_class(drawn(strip_svg("a", VERDICTS)), "cell")) == len(VERDICTS)
    many = ["supported"] * MAX_CELLS + ["contradicted"]
    cells = of_class(drawn(strip_svg("a", many)), "cell")
    assert len(cells) == 2
    assert in_words(many) == "40 supported, 1 contradicted"
    assert in_words(["<odd>"]) == "1 unchecked"
    assert in_words([]) == "no claims"


def test_verdicts_against_a_claim_are_hatched() -> None:
    cells = of_class(drawn(strip_svg("a", VERDICTS)), "cell")
    hatched = {cell.get("class", "").split()[-1] for cell in cells if of_class(cell, "hatch")}
    assert hatched == {"v-contradicted", "v-disputed", "v-dropped"}


def test_hatching_stays_within_its_rectangle() -> None:
    path = ElementTree.fromstring(hatch(10, 20, 33, 12, "hatch")).get("d", "")
    for point in path.replace("M", " ").replace("L", " ; ").replace(";", " ").split("  "):
        for x, y in zip(*[iter(map(float, point.split()))] * 2, strict=True):
            assert 10 <= x <= 43 and 20 <= y <= 32


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.0, "0 s"),
        (3.21, "3.2 s"),
        (59.6, "1 min"),
        (252.0, "4 min 12 s"),
        (7500.0, "2 h 5 min"),
        (90_000.0, "1 d 1 h"),
        (nan, "0 s"),
        (inf, "0 s"),
        (-3.0, "0 s"),
    ],
)
def test_a_length_of_time_as_people_say_it(seconds: float, said: str) -> None:
    assert duration(seconds) == said


@given(st.floats(min_value=1e-3, max_value=1e9))
def test_an_axis_has_few_round_steps(seconds: float) -> None:
    found = ticks(seconds)
    assert len(found) <= 8
    assert all(0 < at <= seconds * 1.001 for at, _ in found)
