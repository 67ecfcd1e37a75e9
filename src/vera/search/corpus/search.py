"""A search: candidates from the index, their bytes from where they lie, the best lines of each."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial

import msgspec

from vera.search.corpus.analyzer import Analyzer
from vera.search.corpus.candidates import Candidate, candidates, counted
from vera.search.corpus.folder import Folder
from vera.search.corpus.index import File, Index, digest, ended
from vera.search.corpus.query import Counts, Query, Term, read
from vera.search.corpus.schema import Damaged
from vera.search.corpus.values import Found, Hit
from vera.search.corpus.windows import Window, best_window, in_name, rounded_out

_SAME_FILE = 0.93  # each further hit in a file counts so much less, that others are heard too


class _Passage(msgspec.Struct, frozen=True):
    candidate: Candidate
    file: File
    text: bytes

    @property
    def lines(self) -> list[bytes]:
        return self.text.removesuffix(b"\n").split(b"\n")


class _Ranked(msgspec.Struct, frozen=True):
    passage: _Passage
    window: Window

    @property
    def text(self) -> bytes:
        return b"\n".join(self.passage.lines[self.window.first : self.window.last + 1])


def search(
    index: Index, folder: Folder, analyzer: Analyzer, text: str, limit: int
) -> tuple[Found, frozenset[str]]:
    """The best passages for a query, and the names of files that changed since they were indexed.

    A changed file gives no hit: every passage is of bytes that the index has seen.
    """
    stats = index.stats()
    if not stats.chunks:
        return Found(hits=(), note="Nothing has been indexed yet."), frozenset()
    counts = Counts(
        chunks=stats.chunks,
        names=stats.files,
        of_chunks=partial(counted, index.db, "body"),
        of_names=partial(counted, index.db, "name"),
    )
    query = read(text, counts, analyzer)
    if not query.terms and not query.phrases:
        return Found(hits=(), note="The query holds no word that could be looked for."), frozenset()
    query, note = _possible(query)
    passages, changed = _fetch(index, folder, candidates(index.db, query))
    ranked = _rank(query, passages, analyzer)
    hits = tuple(_hit(query, one) for one in _diverse(ranked, limit))
    if not ranked and not note:
        words = ", ".join(term.word for term in query.terms[:8])
        note = f"No passage holds a word of the query: {words}."
    return Found(hits=hits, note=note), changed


def _possible(query: Query) -> tuple[Query, str]:
    """The query without quoted phrases that stand nowhere (their words stay), and a note that says so."""
    absent = [phrase.word for phrase in query.phrases if not phrase.frequency]
    if not absent:
        return query, ""
    kept = tuple(phrase for phrase in query.phrases if phrase.frequency)
    named = ", ".join(f'"{phrase[:80]}"' for phrase in absent)
    return Query(terms=query.terms, phrases=kept), f"No passage holds the exact words {named}."


def _fetch(
    index: Index, folder: Folder, wanted: Sequence[Candidate]
) -> tuple[list[_Passage], frozenset[str]]:
    """The passages with their text, and the names of the files that are no longer what was indexed."""
    files = index.files(sorted({candidate.file for candidate in wanted}))
    changed: set[str] = set()
    passages: list[_Passage] = []
    for number, file in sorted(files.items(), key=lambda item: item[1].name):
        mine = sorted((one for one in wanted if one.file == number), key=lambda one: one.start)
        texts = _texts(index, folder, file, mine)
        if texts is None:
            changed.add(file.name)
        else:
            passages += [_Passage(one, file, text) for one, text in zip(mine, texts, strict=True)]
    return passages, frozenset(changed)


def _texts(index: Index, folder: Folder, file: File, wanted: Sequence[Candidate]) -> list[bytes] | None:
    """The text of some chunks of a file; None when the file is no longer what was indexed."""
    ranges = [(one.start, one.end) for one in wanted]
    lies_in = index.container(file.container) if file.container else file
    if lies_in is None:
        return None
    pieces = folder.pieces(lies_in.name, lies_in.stamp, ranges if file.verbatim else ())
    if pieces is None:
        return None
    if file.verbatim:
        texts = [ended(piece, end - start) for piece, (start, end) in zip(pieces, ranges, strict=True)]
    else:
        texts = [index.kept(file.id, start, end) for start, end in ranges]
    if all(digest(text) == one.digest for text, one in zip(texts, wanted, strict=True)):
        return texts
    if file.verbatim:
        return None
    raise Damaged(f"the text of {file.name}")


def _rank(query: Query, passages: Sequence[_Passage], analyzer: Analyzer) -> list[_Ranked]:
    """The best window of each passage, best first; equals in order of name and place."""
    stems = _stems(query.phrases + query.terms)
    files = {one.file.id: one.file.known_as for one in passages}
    in_names = [in_name(query, places) for places in analyzer.places(list(files.values()), stems)]
    names = dict(zip(files, in_names, strict=True))
    texts = [one.text.decode(errors="replace") for one in passages]
    ranked = []
    for passage, places in zip(passages, analyzer.places(texts, stems), strict=True):
        window = best_window(query, places, names[passage.file.id])
        if window is not None:
            ranked.append(_Ranked(passage, rounded_out(window, passage.lines)))
    return sorted(ranked, key=_order)


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
    )
