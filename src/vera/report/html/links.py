"""Addresses within the pages of a run. The one-file report has none: what it says is in it."""

import re
from urllib.parse import quote

import msgspec

from vera.report.view.model import CardView, ClaimView, FileView

_SHA256 = re.compile(r"[0-9a-f]{64}")


class Links(msgspec.Struct, frozen=True):
    """Addresses below `base` (`/s/…`); each is '' where there is no base, or nothing to lead to."""

    base: str = ""

    def source(self, card: CardView) -> str:
        """The stored text of a card with its lines marked."""
        return self.text(card.source_id, *card.extent)

    def text(self, sha256: str, first: int, last: int) -> str:
        """Lines of a stored text."""
        if not self.base or not _SHA256.fullmatch(sha256):
            return ""
        return f"{self.base}/source/{sha256}?first={max(0, first)}&last={max(0, last)}#L{max(0, first)}"

    def page_picture(self, card: CardView) -> str:
        """The page of a PDF on which the lines of a card begin, as a picture."""
        if not self.base or card.pdf is None or card.problem or not _SHA256.fullmatch(card.source_id):
            return ""
        return f"{self.base}/page/{card.source_id}?{_lines(card)}"

    def rendered_place(self, card: CardView) -> str:
        """Where the lines of a card were on a rendered page, as a picture."""
        if not self.base or card.shown is None or card.problem or not _SHA256.fullmatch(card.source_id):
            return ""
        return f"{self.base}/place/{card.source_id}?{_lines(card)}"

    def share(self, name: str) -> str:
        """A file of the session for others: `vera.dashboard.shares`."""
        return f"{self.base}/share/{name}" if self.base else ""

    def claim(self, claim: ClaimView) -> str:
        """The page of one claim with all of its cards."""
        return f"{self.base}/claim/{_quoted(claim.key)}" if self.base and claim.key else ""

    def thesis(self, claim: ClaimView) -> str:
        """The form in which the sentence of a claim is checked as a thesis."""
        return f"{self.base}/ask?claim={_quoted(claim.key)}" if self.base and claim.key else ""

    def step(self, step: int, lane: str = "main") -> str:
        """The page of one step of a lane."""
        if not self.base or step <= 0:
            return ""
        return f"{self.base}/steps/{step}" + (f"?lane={_quoted(lane)}" if lane != "main" else "")

    def steps(self, lane: str = "main", first: int = 0) -> str:
        """The steps of a lane from number `first` of them on."""
        asked = ([f"lane={_quoted(lane)}"] if lane != "main" else []) + ([f"first={first}"] if first else [])
        return f"{self.base}/steps" + ("?" + "&".join(asked) if asked else "") if self.base else ""

    def request(self, step: int, lane: str = "main") -> str:
        """What the model was sent at a step, as JSON."""
        found = self.step(step, lane).partition("?")
        return f"{found[0]}/request{found[1]}{found[2]}" if found[0] else ""

    def bytes(self, sha256: str) -> str:
        """A stored text to be saved."""
        return f"{self.base}/bytes/{sha256}" if self.base and _SHA256.fullmatch(sha256) else ""

    def file(self, file: FileView) -> str:
        """The bytes of a file that was handed in."""
        return f"{self.base}/file/{_quoted(file.path, '/')}" if self.base and not file.problem else ""

    def log(self, name: str, before: int = 0) -> str:
        """The end of a log, or what stands before a byte of it."""
        if not self.base:
            return ""
        return f"{self.base}/log/{name}" + (f"?before={before}" if before else "")


def _lines(card: CardView) -> str:
    first, last = card.extent
    return f"first={max(0, first)}&last={max(0, last)}"


def _quoted(text: str, safe: str = "") -> str:
    return quote(text[:2000].encode("utf-8", "surrogatepass"), safe=safe)
