"""A small finished session whose answer cites a page as a browser rendered it."""

import base64
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from support.verified import answer as answered
from support.verified import begin, decide, finish, keep, ticking
from vera import events
from vera.agent.messages import reason
from vera.attestation.keys import Signer
from vera.extraction.canonical import extract
from vera.sandbox.render.driver import QUALITY, text_pieces
from vera.sandbox.render.rendered import Picture
from vera.session import Session

if TYPE_CHECKING:
    from playwright.sync_api import Page

ADDRESS = "https://pumps.example/terms"
OFFICE = "https://office.example/shops"
QUESTION = "Within how many days are goods delivered?"
ANSWER = "The goods are delivered within nine days of the order [ev_0001:{line}; ev_0002:2]."
OTHER = (
    b"Shops of pumps\nThe goods are delivered within nine days of the order.\nComplaints go to our office.\n"
)
PAGE = (
    "<!doctype html><title>Terms of sale</title>"
    "<style>body { font: 18px/1.5 sans-serif; max-width: 44em; margin: 2em auto } h1 { color: #1d5aa8 }"
    "aside { background: #f1f1ee; padding: 1em; margin-block: 1em }</style>"
    "<h1>Terms of sale</h1><aside>Valid for orders in our shop.</aside>"
    + "".join(f"<h2>{n}. Rule {n}</h2><p>Rule {n} says what to know of it.</p>" for n in range(1, 9))
    + "<h2>9. Delivery</h2><p>The goods are delivered within <b>nine days</b> of the order, to the address "
    "that the buyer names.</p><h2>10. Prices</h2><p>Prices hold for as long as the page shows them.</p>"
)


def picture_of(page: "Page") -> Picture:
    """What a page looks like, taken as the driver in the box takes it."""
    orders = page.context.new_cdp_session(page)
    page.set_viewport_size({"width": 1000, "height": 900})
    page.set_content(PAGE)
    height = int(orders.send("Page.getLayoutMetrics")["cssContentSize"]["height"])
    clip = {"x": 0, "y": 0, "width": 1000, "height": height, "scale": 1}
    options = {"format": "webp", "quality": QUALITY, "clip": clip, "captureBeyondViewport": True}
    data = base64.b64decode(orders.send("Page.captureScreenshot", options)["data"])
    pieces = text_pieces(orders.send("DOMSnapshot.captureSnapshot", {"computedStyles": []}), height)
    return Picture(data=data, layout=msgspec.json.encode(pieces), width=1000, height=height)


def make(root: Path, signer: Signer, picture: Picture | None) -> str:
    """The session in `root`; the sha256 of the text of its page."""
    dom = PAGE.encode()
    made = extract(dom, "dom.html")
    lines = made.text.decode().split("\n")
    line = next(number for number, line in enumerate(lines, 1) if line.startswith("The goods are"))
    session = Session.create(root, {}, ticking())
    put = session.store.put
    try:
        session.emit(events.Task(task=QUESTION))
        shown = None
        if picture is not None:
            shown = events.Shown(
                picture=events.Blob(put(picture.data), len(picture.data)),
                layout=events.Blob(put(picture.layout), len(picture.layout)),
                width=picture.width,
                height=picture.height,
            )
        evidence = keep(
            session,
            "fetch",
            {"url": ADDRESS, "render": True},
            ADDRESS,
            made.text,
            title="Terms of sale",
            media_type=made.media_type,
            extractor=made.extractor,
            raw=events.Blob(put(dom), len(dom)),
            shown=shown,
        )
        keep(session, "fetch", {"url": OFFICE}, OFFICE, OTHER, media_type="text/plain", extractor="text/1")
        begin(session, 1, answered(session, ANSWER.format(line=line)))
        decision = decide(session, signer, 1, claims=1, supported=1)
        finish(session, signer, decision, reason("QUOTED", decision))
    finally:
        session.close()
    return evidence.text.sha256
