"""What the exports are made of: a finished session as values."""

from collections.abc import Mapping

import msgspec

from vera.events import Evidence
from vera.report.answer import Quote, Report
from vera.report.view.model import RunPage


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """A session: its question, what it has to show, its page, and its evidence by id. `word` is what the
    session may say of its end (`vera.attestation.outcome`), and `reason` why."""

    task: str
    word: str
    reason: str
    report: Report
    page: RunPage
    evidence: Mapping[str, Evidence]


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A source that the answer cites: an address or the path of a file.

    `dated` is when it says that it was published (as `Evidence.dated`), `captured_ts` when its bytes were
    first taken (Unix time), `text_sha256` names the stored text, `places` are the cited lines by label.
    """

    source: str
    title: str
    dated: str
    captured_ts: float
    media_type: str
    text_sha256: str
    places: tuple[str, ...]

    @property
    def is_web(self) -> bool:
        return self.source.startswith(("http://", "https://"))


def sources_of(finished: Finished) -> list[Source]:
    """The sources that are cited and whose cited bytes are in the store, each once, in the order of the
    answer."""
    cited: dict[tuple[str, str], list[Quote]] = {}
    for quote in finished.report.quotes:
        if not quote.problem:
            cited.setdefault((quote.source, quote.text_sha256), []).append(quote)
    made = []
    for (source, sha256), quotes in cited.items():
        kept = [finished.evidence[quote.evidence] for quote in quotes]
        first = min(kept, key=lambda each: each.captured_ts)
        made.append(
            Source(
                source=source,
                title=next((each.title for each in kept if each.title), ""),
                dated=first.dated,
                captured_ts=first.captured_ts,
                media_type=first.media_type,
                text_sha256=sha256,
                places=tuple(dict.fromkeys(quote.label for quote in quotes)),
            )
        )
    return made


def note_of(source: Source, word: str) -> str:
    """What a reference says beside the source: the word of the answer, the cited lines, and their text."""
    places = ", ".join(source.places)
    return f"Cited in an answer by VERA: {word}. Lines: {places}. Stored text: sha256:{source.text_sha256}."
