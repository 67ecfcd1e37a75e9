"""Where each claim rests, in three columns: claims, the cards that speak of them, their sources."""

from collections.abc import Iterator, Sequence

import msgspec

from vera.report.html.links import Links
from vera.report.pictures.strip import known
from vera.report.pictures.svg import element, fitting, hint, label, picture
from vera.report.view.model import RELATIONS, CardView, ClaimView
from vera.report.view.words import counted

MAX_CLAIMS = 40
MAX_CARDS = 80
"""Drawn at most; the rest is said below the picture."""

SAYS = {
    "SUPPORTS": "supports",
    "CONTRADICTS": "contradicts",
    "QUALIFIES": "qualifies",
    "IRRELEVANT": "irrelevant",
}
"""The relations as words."""

WIDTH = 960
ROW = 30
BOX = 22
TOP = 30
_CLAIM = (0, 336)
_CARD = (396, 248)
_SOURCE = (704, 256)
"""Left edge and width of the boxes of a column."""


class _Card(msgspec.Struct, frozen=True):
    card: CardView
    claim: int
    y: float


class _Claim(msgspec.Struct, frozen=True):
    claim: ClaimView
    number: int
    y: float


def graph_svg(claims: Sequence[ClaimView], base: str = "") -> str:
    """The picture; '' where no card speaks of a claim. Each box is a link: to the claim on the page, and
    below `base` to the cited lines and to the text that they are from."""
    links = Links(base)
    drawn, cards, height, left_out = _placed(claims)
    if not cards:
        return ""
    sources = _sources(cards)
    lowest = max([height, *(y + ROW for y in sources.values())])
    return picture(
        "graph",
        "Where the claims rest",
        describe(claims),
        WIDTH,
        lowest + 34,
        *_titles(),
        *(_edge(_right(_CLAIM), drawn[card.claim].y, _CARD[0], card.y, _relation(card)) for card in cards),
        *(_edge(_right(_CARD), card.y, _SOURCE[0], sources[_source(card.card)], "from") for card in cards),
        *(_claim_box(each) for each in drawn),
        *(_card_box(each, links) for each in cards),
        *(_source_box(card, sources, links) for card in _first_of_each(cards)),
        *_legend(lowest + 14, left_out),
        role="group",  # it has links in it
    )


def describe(claims: Sequence[ClaimView]) -> str:
    """The picture in words."""
    cards = [card for claim in claims for card in claim.cards]
    counts = [
        f"{sum(card.relation == each for card in cards)} {SAYS[each]}"
        for each in RELATIONS
        if any(card.relation == each for card in cards)
    ]
    return (
        f"{counted(len(claims), 'claim')}, {counted(len(cards), 'card')} ({', '.join(counts)}), "
        f"{counted(len({_source(card) for card in cards}), 'source')}. The list of claims has all of it."
    )


def source_name(card: CardView) -> str:
    """What a source is called where there is little room: its domain, or the name of its file."""
    return card.domain or card.source.rstrip("/").rpartition("/")[2] or card.source or "unknown source"


def _placed(claims: Sequence[ClaimView]) -> tuple[list[_Claim], list[_Card], float, int]:
    """Claims and cards with the height of their middle, the height of it all, and what is not drawn."""
    drawn: list[_Claim] = []
    cards: list[_Card] = []
    y, total = float(TOP), sum(len(claim.cards) for claim in claims)
    for claim in claims[:MAX_CLAIMS]:
        shown = [card for card in claim.cards if card.relation in SAYS][: MAX_CARDS - len(cards)]
        at = [y + ROW * number + ROW / 2 for number in range(max(1, len(shown)))]
        cards += [_Card(card, len(drawn), middle) for card, middle in zip(shown, at, strict=False)]
        drawn.append(_Claim(claim, len(drawn) + 1, (at[0] + at[-1]) / 2))
        y += ROW * len(at)
    return drawn, cards, y, max(0, len(claims) - MAX_CLAIMS) + total - len(cards)


def _source(card: CardView) -> str:
    return card.source_id or card.source


def _sources(cards: Sequence[_Card]) -> dict[str, float]:
    """The sources with the height of their middle: near their cards, and never on each other."""
    heights: dict[str, list[float]] = {}
    for each in cards:
        heights.setdefault(_source(each.card), []).append(each.y)
    wanted = sorted((sum(ys) / len(ys), source) for source, ys in heights.items())
    placed: dict[str, float] = {}
    lowest = TOP - ROW / 2
    for y, source in wanted:
        lowest = max(y, lowest + ROW)
        placed[source] = lowest
    return placed


def _first_of_each(cards: Sequence[_Card]) -> list[CardView]:
    return list({_source(each.card): each.card for each in reversed(cards)}.values())


def _right(column: tuple[int, int]) -> int:
    return column[0] + column[1]


def _relation(card: _Card) -> str:
    return SAYS[card.card.relation]


def _edge(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    bend = (x2 - x1) / 2
    d = f"M{x1:.1f} {y1:.1f}C{x1 + bend:.1f} {y1:.1f} {x2 - bend:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"
    return element("path", d=d, class_=f"edge {kind}")


def _box(column: tuple[int, int], y: float, class_: str, told: str, address: str, *inside: str) -> str:
    rect = element("rect", x=column[0] + 0.5, y=y - BOX / 2, width=column[1] - 1, height=BOX, rx=3)
    box = element("g", hint(told), rect, *inside, class_=f"box {class_}")
    # As in the timeline: for a pointer. The list of claims has the same links for a keyboard.
    return element("a", box, href=address, tabindex=-1, aria_hidden="true") if address else box


def _claim_box(each: _Claim) -> str:
    claim, verdict = each.claim, known(each.claim.verdict)
    return _box(
        _CLAIM,
        each.y,
        f"v-{verdict}",
        f"{claim.key}, {verdict}: {claim.text}",
        f"#claim-{each.number}",
        element("rect", x=_CLAIM[0] + 0.5, y=each.y - BOX / 2, width=5, height=BOX, rx=1, class_="edge-mark"),
        label(fitting(f"{claim.key} {claim.text}", _CLAIM[1] - 18), _CLAIM[0] + 12, each.y + 4, "name"),
    )


def _card_box(each: _Card, links: Links) -> str:
    card, says = each.card, _relation(each)
    place = _place(card)
    return _box(
        _CARD,
        each.y,
        f"card-box {says}",
        f"{place} {says}: {' '.join(card.quotation)[:300] or card.problem}",
        links.source(card) or f"#claim-{each.claim + 1}",
        label(says, _CARD[0] + 10, each.y + 4, "says"),
        label(fitting(place, _CARD[1] - 100), _right(_CARD) - 8, each.y + 4, "place"),
    )


def _place(card: CardView) -> str:
    """Where a card points, as a reader knows it: the source's box beside it has the name."""
    lines = ", ".join(f"{first}" if first == last else f"{first}–{last}" for first, last in card.marked)
    page = f"page {card.pdf.page}, " if card.pdf else ""
    return f"{page}{'line' if card.extent[0] == card.extent[1] else 'lines'} {lines}"


def _source_box(card: CardView, places: dict[str, float], links: Links) -> str:
    y, name = places[_source(card)], source_name(card)
    class_name = f" · {card.source_class}" if card.source_class else ""
    told = f"{card.source}{class_name}"
    return _box(
        _SOURCE,
        y,
        "source-box",
        told,
        links.text(card.source_id, 0, 0),
        label(fitting(name, _SOURCE[1] - 96), _SOURCE[0] + 10, y + 4, "name"),
        label(fitting(card.source_class, 70), _right(_SOURCE) - 8, y + 4, "place"),
    )


def _titles() -> Iterator[str]:
    for column, name in ((_CLAIM, "claims"), (_CARD, "cards"), (_SOURCE, "sources")):
        yield label(name, column[0] + 1, 14, "column")


def _legend(y: float, left_out: int) -> Iterator[str]:
    x = 1.0
    for name in SAYS.values():
        yield element("line", x1=x, x2=x + 44, y1=y, y2=y, class_=f"edge {name}")
        yield label(name, x + 52, y + 4, "key")
        x += 160
    if left_out:
        yield label(f"and {left_out} more in the list", WIDTH - 8, y + 4, "place")
