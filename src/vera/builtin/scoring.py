"""Which lines answer a question: every window of at most six lines is scored, the best come first.

A window's score is its idf-weighted coverage of the question's terms (as in the passage-retrieval systems of
TREC that Tellex et al. compared in 2003), their nearness, and whether the sentence that covers most of them
also holds an expression of the kind asked for. What the headings, the lead-in of a list or the
document's name already say counts for the window in part.
"""

import math
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from vera.builtin.answer_type import Judge, Reading, Sentence, demand_of
from vera.builtin.conversation import Excerpt
from vera.builtin.documents import Match
from vera.builtin.entries import Entries, is_left_out
from vera.builtin.expressions import around_of, strength, told
from vera.builtin.languages import language_of
from vera.builtin.layout import MAX_CITED_LINES, Piece, asks, label_of
from vera.builtin.lexicon import STOPWORDS
from vera.builtin.question import Kind, Question
from vera.builtin.term_weights import SYNONYM, Lexis, closeness, layout_of, longest_run, matcher_of
from vera.builtin.words import is_cjk, words

MAX_CITED_CHARS = 640
"""About six lines of 100 characters: unwrapped text is cited in like amounts."""

MAX_TITLE_LENGTH = 100
"""Characters of a first line that is taken for the title of its document."""

_ANSWERED = 0.3


class Weights(msgspec.Struct, frozen=True):
    """What each kind of evidence is worth; tuned on the questions of `benchmarks/extractive.py`.

    They are no fine balance: halving or doubling any one of them moved at most 3 of 257 answers.
    """

    coverage: float = 0.6
    """Share of the question's weight in the window, its context included."""
    sentence: float = 0.3
    """The same of the best single sentence."""
    nearness: float = 0.2
    """Neighbouring words of the question stand near each other."""
    run: float = 0.12
    """A run of the question's words stands word for word."""
    title: float = 0.18
    """The heading or tag above says what the question asks about."""
    kind: float = 0.8
    """The window holds an expression of the kind asked for."""
    heading: float = 0.6
    """A word in a heading above, as a share of one in the window."""
    lead_in: float = 0.7
    """A word in the lead-in of a list."""
    asked: float = 0.9
    """A word in the question that the window answers in its document."""
    paragraph: float = 0.4
    """A word in the same paragraph before the window."""
    document: float = 0.3
    """A word anywhere in the excerpt."""
    named: float = 0.15
    """What a word still weighs when the document's name answers it."""
    rival: float = 0.4
    """Factor for a document that the question surely does not mean."""
    missing: float = 0.3
    """Loss for each of the heaviest words that is absent."""
    line: float = 0.016
    """Loss for each further line."""
    mid_sentence: float = 0.93
    """Factor for a window that begins within a sentence."""
    untitled: float = 0.8
    """Factor for a window without its paragraph's beginning, where an option or a command is asked for."""
    heading_only: float = 0.35
    """Factor for headings alone."""
    asking: float = 0.55
    """Factor for a window that ends in a question."""
    introducing: float = 0.9
    """Factor for a window that ends in a colon."""
    unspoken: float = 0.92
    """Factor for code and command lines."""


WEIGHTS = Weights()


class Said(msgspec.Struct, frozen=True):
    """A sentence that may answer, on the lines `first` to `last`: its words, the share of what is asked that
    it holds by itself, the share of the question's weight that is `missing` in it, and how many `terms` the
    question has. It `answers` where it says all that is demanded; if not, it `may` where it is likely enough.
    """

    text: str
    first: int
    last: int
    own: float
    missing: float
    length: int
    terms: int
    answers: bool
    may: bool


class Window(msgspec.Struct, frozen=True):
    """Lines that may answer: `score` is about 0 to 2, `coverage` their share of the question's weight.

    `sure` says that a sentence in them says all that the question demands (`answer_type`), and later, that
    one is likely enough to answer (`acceptance`). `phrase` has the words of them that are the answer, ''
    where that is not sure. `said` are their sentences that may answer.
    """

    path: str
    evidence: str
    first: int
    last: int
    score: float
    coverage: float
    kind: float
    text: str
    sure: bool = False
    phrase: str = ""
    said: tuple[Said, ...] = ()


def windows(
    question: Question, lexis: Lexis, excerpt: Excerpt, name: Match, weights: Weights = WEIGHTS
) -> list[Window]:
    """The windows of one excerpt with a score above 0, ranked."""
    scored = _Excerpt(question, lexis, excerpt, name, weights)
    return ranked(window for window in scored.windows() if window.score > 0)


def ranked(found: Iterable[Window]) -> list[Window]:
    """Windows of one excerpt, those that are sure first, best first; of equals the earlier one."""
    return sorted(found, key=lambda window: (not window.sure, -window.score, window.first, window.last))


class _Excerpt:
    """One excerpt while its windows are scored."""

    def __init__(
        self, question: Question, lexis: Lexis, excerpt: Excerpt, name: Match, weights: Weights
    ) -> None:
        self._question = question
        self._lexis = _without_named(lexis, name, weights)
        self._excerpt = excerpt
        self._name = name
        self._weights = weights
        self._matcher = matcher_of(lexis.terms)
        self._pieces = layout_of(excerpt)
        self._vectors = [self._matcher.vector(piece.words) for piece in self._pieces]
        around = _most(self._vectors, len(lexis.terms))
        self._far = [
            max(weights.document * value, name.certain if term.word.form in name.answered else 0.0)
            for value, term in zip(around, lexis.terms, strict=True)
        ]
        self._runs = [longest_run(question.sequence, piece.words) for piece in self._pieces]
        self._titles = [self._title(index) for index in range(len(self._pieces))]
        self._contexts = [self._context(index) for index in range(len(self._pieces))]
        self._kinds: dict[tuple[int, int], float] = {}
        self._around = around_of((piece.text for piece in self._pieces), excerpt.path)
        self._judge = Judge(question, demand_of(question), lexis, excerpt.path, around, self._around)
        self._sayings: dict[tuple[int, int], Said | None] = {}
        self._above: dict[str, list[float]] = {}
        self._opening = _opening(excerpt)
        self._entries = Entries(question, self._pieces)
        self._left_out = [float(is_left_out(term.word.form)) for term in lexis.terms]
        self._in_words = not any(is_cjk(term.word.form) for term in lexis.terms)

    def windows(self) -> Iterator[Window]:
        for first in range(len(self._pieces)):
            for last in self._ends(first):
                yield self._window(first, last)

    def _ends(self, first: int) -> Iterator[int]:
        start = self._pieces[first]
        size = 0
        for last in range(first, len(self._pieces)):
            piece = self._pieces[last]
            size += len(piece.text)
            if piece.last - start.first >= MAX_CITED_LINES or (last > first and size > MAX_CITED_CHARS):
                return
            if not self._belongs(first, last):
                return
            if last > first and (piece.heading or not self._seen_between(last)):
                return
            yield last

    def _seen_between(self, index: int) -> bool:
        """Whether all lines before a piece, back to the piece before it, were shown."""
        return _adjoin(self._pieces[index - 1], self._pieces[index], self._excerpt)

    def _belongs(self, first: int, last: int) -> bool:
        """Whether a piece is of the block of the first, or the first one introduces it or is in its list."""
        start = self._pieces[first]
        if self._pieces[last].block == start.block:
            return True
        return start.lead_in or start.heading or self._listed(first, last)

    def _listed(self, first: int, last: int) -> bool:
        """Whether two pieces are in one list: under the same lead-in, or as neighbouring rows."""
        one, other = self._pieces[first], self._pieces[last]
        return one.context == other.context and other.first - self._pieces[last - 1].last <= 1

    def _context(self, index: int) -> list[float]:
        """What the headings, the lead-in and the paragraph so far say, per term."""
        piece, weights = self._pieces[index], self._weights
        best = list(self._far)
        for depth, title in enumerate(reversed(piece.context)):
            if asks(title):
                worth = weights.asked
            else:
                worth = weights.lead_in if depth == 0 and title.endswith((":", "：")) else weights.heading
            for term, value in enumerate(self._matcher.vector(words(title))):
                best[term] = max(best[term], value * worth)
        for before in range(index - 1, max(-1, index - 12), -1):
            if self._pieces[before].block != piece.block:
                break
            worth = weights.asked if asks(self._pieces[before].text) else weights.paragraph
            for term, value in enumerate(self._vectors[before]):
                best[term] = max(best[term], value * worth)
        return best

    def _title(self, index: int) -> float:
        """How much of the question the nearest heading or tag says, and how little else."""
        best = 0.0
        for title in self._pieces[index].context[-2:]:
            tokens = list(words(title))[:12]
            if not tokens or title.endswith((":", "：")):
                continue
            telling = [word for word in tokens if word.form not in STOPWORDS and len(word.form) > 1]
            matched = [word for word in telling if self._matcher.found((word,))]
            precision = len(matched) / max(1, len(telling))
            best = max(best, precision * min(1.0, 2 * _share(self._matcher.vector(matched), self._lexis)))
        return best

    def _answers(self, index: int) -> float:
        """0.25 for what follows a question of the document: an answer rarely repeats the question's words."""
        return 0.25 if any(asks(title) for title in self._pieces[index].context) else 0.0

    def _missing(self, covered: Sequence[float]) -> float:
        """Less than 1 when the words that weigh most are not here at all."""
        heaviest = max(self._lexis.weights, default=0.0)
        lost = sum(
            (1.0 - value) * weight / heaviest
            for value, weight in zip(covered, self._lexis.weights, strict=True)
            if weight >= 0.85 * heaviest
        )
        return 1.0 / (1.0 + self._weights.missing * lost)

    def _window(self, first: int, last: int) -> Window:
        weights, lexis = self._weights, self._lexis
        parts = self._pieces[first : last + 1]
        inside = _most(self._vectors[first : last + 1], len(lexis.terms))
        context = self._contexts[first]
        covered = [max(own, around) for own, around in zip(inside, context, strict=True)]
        coverage = _share(covered, lexis)
        own = _share(inside, lexis)
        best_sentence, kind = 0.0, 0.0
        said: list[Said] = []
        for start, end in self._sentence_runs(first, last):
            vector = _most(self._vectors[start : end + 1], len(lexis.terms))
            share = _share([max(a, b) for a, b in zip(vector, self._contexts[start], strict=True)], lexis)
            best_sentence = max(best_sentence, share)
            held = self._kind(start, end)
            kind = max(kind, held * min(1.0, (share + 0.1) / (coverage + 1e-9)))
            if (start, end) not in self._sayings:
                self._sayings[start, end] = self._say(start, end)
            if found := self._sayings[start, end]:
                said.append(found)
        score = weights.coverage * coverage + weights.sentence * best_sentence
        score += weights.nearness * self._nearness(parts)
        score += weights.run * max(self._runs[first : last + 1]) + weights.title * self._titles[first]
        score *= min(1.0, (own + self._answers(first)) / 0.25) * self._missing(covered)
        if self._question.kind is not Kind.ANY:
            score *= (1 + weights.kind * kind) / (1 + 0.5 * weights.kind)
        score *= self._shape(parts) * self._beginning(first)
        score *= weights.rival + (1 - weights.rival) * self._name.fit
        return Window(
            path=self._excerpt.path,
            evidence=self._excerpt.evidence,
            first=parts[0].first,
            last=parts[-1].last,
            score=score,
            coverage=coverage,
            kind=kind,
            text="\n".join(part.text for part in parts),
            sure=any(each.answers for each in said),
            said=tuple(said),
        )

    def _say(self, first: int, last: int) -> Said | None:
        """The sentence of these pieces, if it may answer."""
        reading = self._reading(first, last)
        if not reading.own:
            return None
        parts = self._pieces[first : last + 1]
        states = not parts[-1].lead_in and not asks(parts[-1].text) and self._says_more(first, last)
        return Said(
            text=" ".join(word.form for part in parts for word in part.words),
            first=parts[0].first,
            last=parts[-1].last,
            own=reading.own,
            missing=reading.missing,
            length=sum(len(part.words) for part in parts),
            terms=len(self._lexis.terms),
            answers=reading.answers,
            may=reading.may and states and self._in_words,
        )

    def _reading(self, first: int, last: int) -> Reading:
        """What the sentence of these pieces says of what is asked."""
        sentence, context = self._sentence(first, last), self._pieces[first].context
        own, size = self._vectors[first : last + 1], len(self._lexis.terms)
        entry = self._entries.term(first, sentence.text)
        if self._pieces[first].columns or entry:
            own = [*own, self._heading(entry or context[-1])]
        if entry:
            own = [*own, self._left_out]
            sentence = msgspec.structs.replace(sentence, label=entry)
        above = [self._heading(title) for title in context]
        unasked = self._question.kind is Kind.ANY
        kind = told(self._question, sentence.text) if unasked else self._kind(first, last)
        kind = 1.0 if entry else kind
        return self._judge.reading(sentence, _most(own, size), _most(above, size), kind)

    def _says_more(self, first: int, last: int) -> bool:
        """Whether a sentence has a telling word that the question has not."""
        small = STOPWORDS | language_of(self._question.text.lower())
        return any(
            word.form not in small and all(value < SYNONYM for _, value in self._matcher.matches(word))
            for piece in self._pieces[first : last + 1]
            for word in piece.words
        )

    def _sentence(self, first: int, last: int) -> Sentence:
        piece, before = self._pieces[first], self._pieces[first - 1] if first else None
        return Sentence(
            text=" ".join(part.text for part in self._pieces[first : last + 1]),
            above=piece.context,
            before=before.text if before is not None and before.block == piece.block else "",
            label=label_of(piece.text) if first == last else "",
            opening=self._opening,
            heading=piece.heading,
        )

    def _heading(self, title: str) -> list[float]:
        if title not in self._above:
            self._above[title] = self._matcher.vector(words(title))
        return self._above[title]

    def _beginning(self, first: int) -> float:
        """Less for a window that leaves out its paragraph's beginning, where a manual names the option."""
        begins = first == 0 or self._pieces[first - 1].block != self._pieces[first].block
        return 1.0 if begins or self._question.kind is not Kind.CODE else self._weights.untitled

    def _sentence_runs(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        start = first
        for index in range(first, last + 1):
            if index == last or self._pieces[index + 1].sentence != self._pieces[start].sentence:
                yield start, index
                start = index + 1

    def _kind(self, first: int, last: int) -> float:
        key = (first, last)
        if key not in self._kinds:
            text = " ".join(piece.text for piece in self._pieces[first : last + 1])
            self._kinds[key] = strength(self._question, text, self._around)
        return self._kinds[key]

    def _nearness(self, parts: Sequence[Piece]) -> float:
        """The share of neighbouring question terms that stand near each other here, in order or not."""
        places: dict[int, list[int]] = {}
        position = 0
        for part in parts:
            for word in part.words:
                for index, value in self._matcher.matches(word):
                    if value >= SYNONYM:
                        places.setdefault(index, []).append(position)
                position += 1
        pairs = near = 0.0
        for left in range(len(self._lexis.terms) - 1):
            weight = min(self._lexis.weights[left], self._lexis.weights[left + 1])
            pairs += weight
            near += weight * closeness(places.get(left, ()), places.get(left + 1, ()))
        return near / pairs if pairs else 0.5

    def _shape(self, parts: Sequence[Piece]) -> float:
        weights = self._weights
        factor = 1.0 - weights.line * (parts[-1].last - parts[0].first)
        if not parts[0].starts:
            factor *= weights.mid_sentence if not parts[0].clause_start else math.sqrt(weights.mid_sentence)
        if not parts[-1].ends:
            factor *= math.sqrt(weights.mid_sentence)
        if all(part.heading for part in parts):
            factor *= weights.heading_only
        elif asks(parts[-1].text):
            factor *= weights.asking
        elif parts[-1].lead_in:
            factor *= weights.introducing
        elif not any(_spoken(part) for part in parts):
            factor *= weights.unspoken
        return factor


def _without_named(lexis: Lexis, name: Match, weights: Weights) -> Lexis:
    """The lexis in which words that the document's name answers weigh less, unless it answers them all."""
    answered = [term.word.form in name.answered for term in lexis.terms]
    if all(answered):
        return lexis
    reduced = [
        weight * (1.0 - (1.0 - weights.named) * name.certain if known else 1.0)
        for weight, known in zip(lexis.weights, answered, strict=True)
    ]
    return msgspec.structs.replace(lexis, weights=tuple(reduced))


def _opening(excerpt: Excerpt) -> str:
    """The title of the document as its first line, '' where that was not seen or is a sentence."""
    first = excerpt.lines.get(1, "").strip()
    return first if len(first) <= MAX_TITLE_LENGTH and not first.endswith(".") else ""


def _spoken(piece: Piece) -> bool:
    """Whether a piece reads like language rather than a command line or a code example."""
    return len(piece.words) >= 4 and not piece.text.lstrip().startswith(("$", ">>>", "#", "%"))


def _most(vectors: Sequence[Sequence[float]], size: int) -> list[float]:
    if not vectors:
        return [0.0] * size
    return list(map(max, zip(*vectors, strict=True))) if len(vectors) > 1 else list(vectors[0])


def _share(vector: Sequence[float], lexis: Lexis) -> float:
    return sum(value * weight for value, weight in zip(vector, lexis.weights, strict=True)) / lexis.total


def grown(window: Window, excerpt: Excerpt) -> Window:
    """The window widened as far as a citation may go: to its paragraph's borders, else by the sentences that
    follow; and by the heading right above if they lack what was asked for. An answer often stands next to
    the words that match.
    """
    layout = layout_of(excerpt)
    inside = [
        index
        for index, piece in enumerate(layout)
        if window.first <= piece.first and piece.last <= window.last
    ]
    if not inside:
        return window
    first, last = _in_paragraph(layout, inside[0], inside[-1])
    above = layout[first - 1] if first and window.kind < _ANSWERED else None
    if (
        above
        and above.heading
        and _fits(layout[first - 1 : last + 1])
        and _adjoin(above, layout[first], excerpt)
    ):
        first -= 1
    return msgspec.structs.replace(window, first=layout[first].first, last=layout[last].last)


def _in_paragraph(layout: Sequence[Piece], first: int, last: int) -> tuple[int, int]:
    """The pieces `first` to `last` with as much of their paragraph as a citation has room for."""
    block = [i for i, piece in enumerate(layout) if piece.block == layout[last].block]
    if _fits(layout[min(first, block[0]) : block[-1] + 1]):
        return min(first, block[0]), block[-1]
    while last < block[-1] and _fits(layout[first : last + 2]):
        last += 1
    while first > block[0] and _fits(layout[first - 1 : last + 1]):
        first -= 1
    return first, last


def _adjoin(one: Piece, other: Piece, excerpt: Excerpt) -> bool:
    """Whether nothing but shown blank lines stands between two pieces."""
    return all(number in excerpt.lines for number in range(one.last + 1, other.first))


def _fits(parts: Sequence[Piece]) -> bool:
    size = sum(len(part.text) for part in parts)
    return parts[-1].last - parts[0].first < MAX_CITED_LINES and size <= MAX_CITED_CHARS
