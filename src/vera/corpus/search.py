"""A search: candidates from the index, their bytes from where they lie, the best lines of each."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from vera.corpus.analyzer import Analyzer
from vera.corpus.candidates import Candidate, candidates, counted, live
from vera.corpus.fetch import Passage, fetch
from vera.corpus.folder import Folder
from vera.corpus.index import Index
from vera.corpus.query import Counts, Query, Term, read
from vera.corpus.values import By, Found, Hit, Stats
from vera.corpus.windows import InName, Window, best_window, in_name, rounded_out
from vera.embedding.values import EmbeddingError

if TYPE_CHECKING:
    from vera.corpus.meaning import Meaning, Nearest

_SAME_FILE = 0.93  # each further hit in a file counts so much less, that others are heard too
_NEAREST = 40
"""Passages that are proposed by their meaning."""


class _Ranked(msgspec.Struct, frozen=True):
    passage: Passage
    window: Window
    by: By = "words"

    @property
    def text(self) -> bytes:
        return b"\n".join(self.passage.lines[self.window.first : self.window.last + 1])


def search(
    index: Index,
    folder: Folder,
    analyzer: Analyzer,
    text: str,
    limit: int,
    meaning: "Meaning | None" = None,
) -> tuple[Found, frozenset[str]]:
    """The best passages for a query, and the names of files that changed since they were indexed.

    A changed file gives no hit: every passage is of bytes that the index has seen. With `meaning` passages
    close in meaning are found too, unless the query quotes a phrase; where that fails a note says so.
    """
    stats = index.stats()
    if not stats.chunks:
        return Found(hits=(), note="Nothing has been indexed yet."), frozenset()
    query = read(text, _counts(index, stats), analyzer)
    if not query.terms and not query.phrases:
        return Found(hits=(), note="The query holds no word that could be looked for."), frozenset()
    query, note = _possible(query)
    wanted = candidates(index.db, query)
    nearest, problem = _near(meaning, index, query, text)
    if nearest is not None:
        wanted = [*wanted, *_closest(index, nearest, wanted)]
    passages, changed = fetch(index, folder, wanted)
    ranked = by_words = _rank(query, passages, analyzer)
    if nearest is not None:
        try:
            ranked = _rank_by_both(query, passages, by_words, nearest, analyzer)
        except EmbeddingError as error:
            problem = _by_words_only(error)
    hits = tuple(_hit(query, one) for one in _diverse(ranked, limit))
    if not by_words and not note:
        note = _no_passage(query)
    return Found(hits=hits, note=" ".join(filter(None, (note, problem)))), changed


def _counts(index: Index, stats: Stats) -> Counts:
    """What is counted in the index; rows that are dead are left out."""
    dead = index.dead() > 0
    return Counts(
        chunks=stats.chunks,
        names=stats.files,
        of_chunks=partial(counted, index.db, "body", "chunk" if dead else ""),
        of_names=partial(counted, index.db, "name", "file" if dead else ""),
    )


def _near(meaning: "Meaning | None", index: Index, query: Query, text: str) -> tuple["Nearest | None", str]:
    """What is closest to the query in meaning, None where that is not asked; and why it cannot be told."""
    if meaning is None or query.phrases:
        return None, ""
    try:
        return meaning.near(index, text), ""
    except EmbeddingError as error:
        return None, _by_words_only(error)


def _by_words_only(error: EmbeddingError) -> str:
    return f"Searched by words only: {error}"


def _closest(index: Index, nearest: "Nearest", wanted: Sequence[Candidate]) -> Collection[Candidate]:
    """The closest chunks in meaning that are not wanted yet."""
    proposed = {one.id for one in wanted}
    return live(index.db, [each for each in nearest.best(_NEAREST) if each not in proposed]).values()


def _possible(query: Query) -> tuple[Query, str]:
    """The query without quoted phrases that are nowhere (their words stay), and a note that says so."""
    absent = [phrase.word for phrase in query.phrases if not phrase.frequency]
    if not absent:
        return query, ""
    kept = tuple(phrase for phrase in query.phrases if phrase.frequency)
    named = ", ".join(f'"{phrase[:80]}"' for phrase in absent)
    return Query(terms=query.terms, phrases=kept), f"No passage holds the exact words {named}."


def _no_passage(query: Query) -> str:
    words = ", ".join(term.word for term in query.terms[:8])
    return f"No passage holds a word of the query: {words}."


def _rank(query: Query, passages: Sequence[Passage], analyzer: Analyzer) -> list[_Ranked]:
    """The best window of each passage, best first; equals in order of name and place."""
    stems = _stems(query.phrases + query.terms)
    names = _names(query, passages, analyzer)
    texts = [one.text.decode(errors="replace") for one in passages]
    ranked = []
    for passage, places in zip(passages, analyzer.places(texts, stems), strict=True):
        window = best_window(query, places, names[passage.file.id])
        if window is not None:
            ranked.append(_Ranked(passage, rounded_out(window, passage.lines)))
    return sorted(ranked, key=_order)


def _rank_by_both(
    query: Query,
    passages: Sequence[Passage],
    by_words: Sequence[_Ranked],
    nearest: "Nearest",
    analyzer: Analyzer,
) -> list[_Ranked]:
    """The windows that words found and the passages of the closest chunks, by both scores together.

    Raises EmbeddingError.
    """
    nearest.look_at([one.passage for one in by_words])
    close = set(nearest.best(_NEAREST))
    weight = _weight(by_words)
    held = {one.passage.candidate.id for one in by_words if one.window.matched}
    ranked: list[_Ranked] = []
    for one in by_words:
        cosine = _cosine(nearest, one)
        by: By = "both" if one.passage.candidate.id in close else "words"
        ranked.append(_Ranked(one.passage, _scored(one.window, weight, cosine), by))
    for passage, window, cosine in _shown(query, passages, nearest, analyzer):
        by = "both" if window.matched and passage.candidate.id in held else "meaning"
        ranked.append(_Ranked(passage, _scored(window, weight, cosine), by))
    return sorted(ranked, key=_order)


def _cosine(nearest: "Nearest", one: _Ranked) -> float:
    """How close in meaning the closest piece is that the window touches."""
    window = one.window
    return max(
        (
            cosine
            for piece, cosine in nearest.of(one.passage)
            if piece.first <= window.last and window.first <= piece.last
        ),
        default=0.0,
    )


def _shown(
    query: Query, passages: Sequence[Passage], nearest: "Nearest", analyzer: Analyzer
) -> Iterator[tuple[Passage, Window, float]]:
    """Each piece that was compared in meaning, with its score by words and its cosine."""
    shown = [(passage, *lines) for passage in passages for lines in nearest.of(passage)]
    texts = [b"\n".join(passage.lines[piece.first : piece.last + 1]) for passage, piece, _ in shown]
    names = _names(query, passages, analyzer)
    read = analyzer.places([text.decode(errors="replace") for text in texts], _stems(query.terms))
    for (passage, piece, cosine), places in zip(shown, read, strict=True):
        found = best_window(query, places, names[passage.file.id]) or Window(0, 0, 0.0, ())
        yield passage, Window(piece.first, piece.last, found.score, found.matched), cosine


def _weight(by_words: Sequence[_Ranked]) -> float:
    """What a score by words counts beside a cosine: the square of the best one.

    So words decide where a passage holds nearly all of them (about 1.2), and meaning where none does
    (0.1). Chosen on half of the questions of benchmarks/retrieval.py.
    """
    return by_words[0].window.score ** 2 if by_words else 0.0


def _scored(window: Window, weight: float, cosine: float) -> Window:
    """The window, scored by words, with both scores in one."""
    return msgspec.structs.replace(window, score=(weight * window.score + max(cosine, 0.0)) / (1 + weight))


def _names(query: Query, passages: Sequence[Passage], analyzer: Analyzer) -> dict[int, InName]:
    """What of the query the name of each passage's file says."""
    files = {one.file.id: one.file.known_as for one in passages}
    stems = _stems(query.phrases + query.terms)
    in_names = [in_name(query, places) for places in analyzer.places(list(files.values()), stems)]
    return dict(zip(files, in_names, strict=True))


def _order(one: _Ranked, factor: float = 1.0) -> tuple[float, str, int]:
    return -round(one.window.score * factor, 6), one.passage.file.name, one.passage.candidate.start


def _stems(terms: Iterable[Term]) -> frozenset[str]:
    return frozenset(stem for term in terms for sequence in term.stems for stem in sequence)


def _diverse(ranked: Sequence[_Ranked], limit: int) -> list[_Ranked]:
    """The first `limit`, without the same lines or the same text twice, a file's second hit counting less."""
    remaining, chosen = list(ranked), list[_Ranked]()
    taken = Counter[int]()
    said: set[bytes] = set()
    while remaining and len(chosen) < limit:
        best = min(remaining, key=lambda one: _order(one, _SAME_FILE ** taken[one.passage.file.id]))
        remaining.remove(best)
        if best.text in said or any(_overlap(best, other) for other in chosen):
            continue
        said.add(best.text)
        taken[best.passage.file.id] += 1
        chosen.append(best)
    return chosen


def _overlap(one: _Ranked, other: _Ranked) -> bool:
    if one.passage.file.id != other.passage.file.id:
        return False
    (first, last), (other_first, other_last) = _numbers(one), _numbers(other)
    return first <= other_last and other_first <= last


def _numbers(one: _Ranked) -> tuple[int, int]:
    """The window's first and last line as numbers of the document."""
    line = one.passage.candidate.line
    return line + one.window.first, line + one.window.last


def _hit(query: Query, one: _Ranked) -> Hit:
    passage, file = one.passage, one.passage.file
    first, last = _numbers(one)
    return Hit(
        path=file.name,
        title=file.title,
        score=round(one.window.score, 4),
        first=first,
        last=last,
        chunk_first=passage.candidate.line,
        chunk_last=passage.candidate.line + len(passage.lines) - 1,
        lines_total=file.lines,
        page=file.page_of(first),
        text=one.text.decode(errors="replace"),
        source=file.source,
        matched=one.window.matched,
        missing=tuple(term.word for term in query.terms if term.word not in one.window.matched),
        by=one.by,
    )
