"""Whether another file of the folder says that cited lines no longer hold as they stand.

A file can say of a document, or of a numbered clause of it, that it replaces it. It is believed about nothing
but what it names: by file name, by title, or by the clause of a document that it names. What says less (all
of a kind, a part without its number, an amendment without a clause, a plan, a name that other files share, a
file that the cited one replaces in turn) and a later year, version or date alone are hints.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Literal

import msgspec

from vera.audit.case import Case, CitedLines
from vera.audit.checks.set_aside import is_aside
from vera.audit.source_text import SourceText
from vera.audit.version_names import (
    KINDS,
    MAX_NAME,
    has_han,
    is_later,
    names_of,
    numbered,
    own_numbers,
    parted,
)
from vera.events import Evidence
from vera.evidence.superseding import (
    MAX_CHARACTERS,
    Statement,
    Thing,
    chinese_number,
    held,
    plain_number,
    same_word,
    statements,
    tokens,
)
from vera.text.headings import over
from vera.text.late_regex import late_regex
from vera.text.lexicon import word_set
from vera.text.span import Lines
from vera.text.whole_sentences import line

MAX_FOUND = 4
"""Of one place, what is said of it."""

_REACH = 200
"""Lines above a line in which the number of its clause is looked for."""

_HEAD_LINES = 30

Kind = Literal["clause", "document", "part", "everything", "later"]

_NUMBERED = late_regex(
    r"(?i)\s{0,12}(?:#{1,6}\s{1,4})?[*_]{0,2}(?:(?P<word>clause|section|article|art\.|§|paragraph|ziffer"
    r"|abschnitt|artikel|punkt|nr\.|nummer|rule|item|klausel|art[íi]culo|articolo|artigo|cl[áa]usula"
    r"|clausola|sezione|secci[óo]n|seção|apartado|comma"
    r"|par[áa]grafo|absatz)\s{0,3}(?:n[.º°]{1,2}\s?)?)?"
    r"(?P<number>\d{1,3}[a-z]?(?:\.\d{1,3}){0,4})(?P<end>[.):º°ª,–—]?)[*_]{0,2}(?=\s|\Z|[.(])"
)
_CHINESE_NUMBERED = late_regex(
    r"\s{0,12}(?:#{1,6}\s)?[*_]{0,2}第(?P<number>[一二三四五六七八九十百零〇两\d]{1,7})[条條](?!第)"
)
_SUB = late_regex(r"\s{0,12}\((?P<number>\d{1,3}|[a-z])\)\s")
_HEAD = 600
"""Characters of a text in which it says what it is."""

_EDITION = late_regex(
    r"(?i)versions?|edition|editions|revisions?|issue|fassung(?:en)?|ausgaben?|versionen|éditions?|edición"
    r"|ediciones"
    r"|versi(?:ón|ones|on)|version[ei]|edizion[ei]|edicion(?:es)?|vers(?:ão|ões|ao|oes)|edição|edicao|版本?"
)
_PREVIOUS = late_regex(
    r"(?i)\b(?:previous|prior|earlier|preceding|former|vorherige\w?|frühere\w?|bisherige\w?|vorige\w?"
    r"|précédente?s?"
    r"|antérieure?s?|ancienne?s?|anterior(?:es)?|previ[ao]s?|precedent[ei])\b|此前|以前|旧"
)
_FILE = late_regex(r"[^\s\"'“”„«»()<>|*]{1,200}\.[A-Za-z][A-Za-z0-9]{0,5}(?![\w])")

_FILLER = word_set(
    """a an the of to in its their entirety whole entire dated date version edition revision issue document
    file text entitled called named known titled title with as prior previous earlier former existing current
    old original above said on s
    der die das den dem des vom von im zu zum zur bisherige bisherigen bisheriger alte alten alter fruhere
    fruheren fruherer vorherige vorherigen datei dokument dokuments fassung ausgabe gesamte gesamten ganze
    sowie genannte genannten mit titel
    le la les l du de d au aux ancien ancienne precedent precedente fichier texte totalite intitule intitulee
    datee
    january february march april may june july august september october november december januar februar marz
    mai juni juli oktober dezember janvier fevrier mars avril juin juillet aout septembre octobre novembre
    decembre st nd rd th er in
    application operation effect validity anwendung geltung vigueur application effet
    dell all sull nell dall l d un une une
    el los las lo del al y e por la el aplicacion vigencia efectos validez eficacia vigente texto fecha
    llamado
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre anterior antiguo
    antigua ciudad
    il lo gli i dello della dei degli delle dal dalla nel nella applicazione efficacia vigore testo data anno
    gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre precedente vecchio vecchia
    o os as do da dos das no na nos nas ao aos aplicacao vigencia eficacia texto ano anterior antigo antiga
    janeiro fevereiro marco maio junho julho setembro outubro dezembro"""
)
_VAGUE = _FILLER | KINDS
_HAN, _AROUND = late_regex(r"([一-鿿])"), r" \1 "
_HAN_FILLER = late_regex(
    r"年|月|日|的|之|中|原|旧|版本?|文件|全文|同时|公布|发布|印发|制定|施行|实施|修订|于|由|本市?|我[校院司]|[号第有关上述该]|\W"
)
_ALL = word_set(
    """everything all any every each other others else files texts versions these this that here folder and or
    todos todas todo toda tutti tutte tutto qualquer anteriores
    alles alle allen samtliche samtlichen dokumente dateien fassungen ordner und oder tous toutes tout toute
    documents fichiers anciens anciennes precedents dossier et ou"""
)


class Superseding(msgspec.Struct, frozen=True, kw_only=True):
    """What the file `evidence` says in lines `first` to `last` of cited lines. `explicit`: it replaces just
    these; else a hint. `kind`: the cited clause, the whole document, an unnamed part of it, everything of a
    kind, or nothing but a later name or date."""

    evidence: str
    first: int
    last: int
    kind: Kind
    explicit: bool
    text: str = ""


def superseding(case: Case, place: CitedLines) -> tuple[Superseding, ...]:
    """What the files that were looked at say of a place, what is explicit first; at most MAX_FOUND."""
    found: dict[tuple[str, int], Superseding] = {}
    for seen in case.versions:
        cited, other = case.evidence.get(seen.cited), case.evidence.get(seen.evidence)
        text = case.sources.get(other.text.sha256) if other else None
        if cited is None or other is None or text is None:
            continue
        if (cited.source, cited.text.sha256) != (place.evidence.source, place.evidence.text.sha256):
            continue
        pair = Pair(
            place.evidence,
            place.source.seen(place.evidence.marks),
            other,
            text.seen(other.marks),
            seen.shared,
        )
        for each in pair.about(clauses_of(place), place.plain.span.text):
            key = (each.evidence, each.first)
            if key not in found or each.explicit > found[key].explicit:
                found[key] = each
    ordered = sorted(found.values(), key=lambda each: (not each.explicit, each.kind == "later"))
    return tuple(ordered[:MAX_FOUND])


class Pair:
    """A cited document and another file of the folder. `shared`: names of the cited one that further files
    have, too, so that they name no single one."""

    def __init__(
        self,
        cited: Evidence,
        cited_text: SourceText,
        other: Evidence,
        other_text: SourceText,
        shared: Iterable[str] = (),
    ) -> None:
        self._cited, self._cited_text = cited, cited_text
        self._other, self._other_text = other, other_text
        self._names = names_of(cited.source, cited.title)
        own = set(names_of(other.source, other.title))
        self._shared = frozenset(shared) | (set() if is_later(cited, other) else own)

    def says_anything(self) -> bool:
        """Whether the other file says anything of the cited document, whichever clause it is about."""
        if self._is_same():
            return False
        return any(True for _ in self._named()) or is_later(self._cited, self._other)

    def about(self, clauses: Sequence[str], span: str = "") -> Iterator[Superseding]:
        """What it says of lines of the cited document that are in these clauses, with the text `span`."""
        if self._is_same():
            return
        found = list(self._named())
        told = False
        by_clause = any(thing.clauses for _, thing, _, _ in found)
        circular = bool(found) and self._turned()
        for statement, thing, kind, firm in found:
            explicit = firm and statement.firm and not circular and not self._is_aside(statement)
            if statement.wording is not None and not _takes_out(statement.wording, span):
                told = True
                continue
            if thing.clauses:
                fits = _fits(thing.clauses, clauses)
                if fits == "no":
                    continue
                kind, explicit = "clause", explicit and fits == "yes"
            elif statement.wording is not None:
                kind = "clause"
            elif statement.heads and by_clause:
                continue
            elif kind == "document" and not statement.replaces:
                if by_clause:  # its clauses say what it amends
                    continue
                kind, explicit = "part", False
            told = True
            yield self._saying(statement, kind, explicit and kind in ("clause", "document"))
        if not told and not by_clause and is_later(self._cited, self._other):
            first = next((n for n in range(1, _HEAD_LINES) if self._line(n).strip()), 1)
            yield Superseding(
                evidence=self._other.id,
                first=first,
                last=first,
                kind="later",
                explicit=False,
                text=self._line(first).strip()[:200],
            )

    def _is_same(self) -> bool:
        return self._cited.source == self._other.source or self._cited.text.sha256 == self._other.text.sha256

    def _saying(self, statement: Statement, kind: Kind, explicit: bool) -> Superseding:
        return Superseding(
            evidence=self._other.id,
            first=statement.first,
            last=statement.last,
            kind=kind,
            explicit=explicit,
            text=statement.text[:400],
        )

    def _named(self) -> Iterator[tuple[Statement, Thing, Kind, bool]]:
        """(statement, thing, kind, firm) of what concerns the cited document: named, or by a clause of it in
        a file that is about it."""
        said = stated(self._other_text.text[:MAX_CHARACTERS])
        about = self._is_about(said)
        for statement in said:
            named = list(self._meant(statement))
            for thing, kind, firm in named:
                yield statement, thing, kind, firm
            if named or not about:
                continue
            if statement.wording is not None and not statement.things:
                yield statement, Thing(words=""), "clause", True
            for thing in statement.things:
                if thing.clauses and self._is_short(thing.words):
                    yield statement, thing, "clause", True
                    break

    def _is_about(self, said: Iterable[Statement]) -> bool:
        """Whether the other file is about the cited document: an amendment of it, or its head says so."""
        return any(
            named == "document" and firm
            for statement in said
            if statement.heads or not statement.replaces
            for _, named, firm in self._meant(statement)
            if not statement.heads or statement.first <= _HEAD_LINES
        )

    def _meant(self, statement: Statement) -> Iterator[tuple[Thing, Kind, bool]]:
        """The things of a statement that are the cited document: what is in a row after one that names
        more than a document is not among them."""
        things = statement.things
        if len(things) > 1:
            whole, *rest = things
            if (meant := self._kind(whole)) and meant[0] == "document":
                yield whole, *meant
                return
            things = tuple(rest)
        for number, thing in enumerate(things):
            if meant := self._kind(thing):
                yield thing, *meant
                return
            if number and not self._is_name(thing):
                return

    def _kind(self, thing: Thing) -> tuple[Kind, bool] | None:
        """What of the cited document a thing is, and whether it names it and no other; None for nothing."""
        words, named = self._without_file(thing.words)
        if named:
            whole = _VAGUE.issuperset(tokens(words)) and not thing.everything
            return ("document", named == "firm") if whole else ("part", False)
        for by in (self._by_names, self._by_number, self._by_version):
            if found := by(thing):
                return found
        if thing.everything and not thing.clauses and _is_all(tokens(thing.words)):
            return "everything", False
        return None

    def _by_names(self, thing: Thing) -> tuple[Kind, bool] | None:
        """What of the cited document a thing is by its longest name in it: a title that others have is not
        made unique by a part of it."""
        said = tokens(thing.words)
        meant = [
            (found, len(name))
            for name in self._names[1:]
            if (found := self._by_name(name, said, everything=thing.everything))
        ]
        return max(meant, key=lambda each: (each[0][0] == "document", each[1]))[0] if meant else None

    def _by_name(self, name: str, said: Sequence[str], *, everything: bool) -> tuple[Kind, bool] | None:
        """What of the cited document words are that hold a name of it; a number that it does not have means
        another one."""
        if has_han(name):
            return self._by_chinese_name(name, said)
        wanted = tuple(name.split())
        at = held(wanted, said)
        if at is None:
            return None
        rest = self._beside(said, at)
        if any(word.isdigit() and not self._has_number(word) for word in rest):
            return None
        if everything or not all(map(str.isdigit, rest)):
            return ("part", False) if len(said) <= MAX_NAME else None
        return "document", not _VAGUE.issuperset(wanted) and name not in self._shared

    def _beside(self, said: Sequence[str], at: Collection[int]) -> list[str]:
        """The words beside the name at these places that are neither vague nor of the cited title."""
        titled = {word for word in tokens(self._cited.title) if word.isalpha()}
        return [
            word
            for number, word in enumerate(said)
            if number not in at and word not in _VAGUE and word not in titled
        ]

    def _by_chinese_name(self, name: str, said: Sequence[str]) -> tuple[Kind, bool] | None:
        """The same of a name in Chinese, which has no spaces: what is left of the words must be a date."""
        before, found, after = "".join(said).partition(name)
        rest = _HAN_FILLER.sub(" ", f"{before} {after}").split()
        if not found or not all(word.isdigit() and self._has_number(word) for word in rest):
            return None
        return "document", name not in self._shared

    def _by_number(self, thing: Thing) -> tuple[Kind, bool] | None:
        """The cited document by its kind and number, "sentenza n. 12": firm where the words name its issuer,
        too, or the other file is of the same one."""
        named = numbered(thing.words)
        if named is None or named[:2] not in set(own_numbers(self._cited_text.text[:_HEAD].split("\n"))):
            return None
        kind, _, rest = named
        own = {word for word in tokens(self._cited_text.text[:_HEAD]) if word.isalpha()}
        issuer = [word for word in tokens(rest) if word not in _FILLER and not word.isdigit()]
        if not own.issuperset(issuer):
            return None
        heads = (self._cited_text.text[:_HEAD], self._other_text.text[:_HEAD])
        mine, others = ({w for w in tokens(head.split("\n\n")[0]) if len(w) > 3} for head in heads)
        common = (mine & others) - _VAGUE - {kind}
        return "document", bool(issuer) or len(common) > 1

    def _by_version(self, thing: Thing) -> tuple[Kind, bool] | None:
        """The cited document as a version of the other one: "version 1", "the edition of 2015", "all previous
        versions" in a later one of the same title."""
        if not (_EDITION.search(thing.words) and self._is_series() and self._is_edition(thing.words)):
            return None
        numbers = set(chain(*parted(thing.words)[1])) or {
            int(each) for each in re.findall(r"(?<!\d)\d{1,4}(?!\d)", thing.words)
        }
        named = f"{self._cited.source} {self._cited.title} {self._cited_text.text[:_HEAD]}"
        if any(re.search(rf"(?<!\d){number}(?!\d)", named) is None for number in numbers):
            return None
        return "document", bool(numbers) or thing.everything or _PREVIOUS.search(thing.words) is not None

    def _is_edition(self, words: str) -> bool:
        """Whether words say no more than which edition of the cited document."""
        own = {word for name in self._names for word in name.split()}
        rest = (word for word in tokens(words) if word.isalpha() and word not in _FILLER | _ALL)
        return all(word in own or _EDITION.fullmatch(word) for word in rest)

    def _is_series(self) -> bool:
        """Whether the other file is a later version of the cited one: by its name or title, and the words of
        the cited title are all in the other."""
        if not is_later(self._cited, self._other):
            return False
        mine, others = set(parted(self._cited.title)[0]), set(tokens(self._other.title))
        return bool(mine) and mine <= others | {
            "version",
            "edition",
            "ausgabe",
            "fassung",
            "versione",
            "versao",
        }

    def _has_number(self, number: str) -> bool:
        return re.search(rf"(?<!\d){number}(?!\d)", self._cited_text.text) is not None

    def _without_file(self, words: str) -> tuple[str, str]:
        """The words without the cited file's name, and whether that was there: firm, shared or ''."""
        base = self._names[0]
        for match in _FILE.finditer(words):
            path = match[0].rstrip(".,;:").casefold()
            if path == self._cited.source.casefold() or path.rsplit("/", 1)[-1] == base:
                whole = "/" in path and path == self._cited.source.casefold()
                named = "shared" if base in self._shared and not whole else "firm"
                return words.replace(match[0], " "), named
        return words, ""

    def _is_name(self, thing: Thing) -> bool:
        """Whether a thing looks like a document's name and nothing more."""
        return bool(_FILE.fullmatch(thing.words.strip())) or len(tokens(thing.words)) <= 4

    def _is_short(self, words: str) -> bool:
        """Whether words can mean the document that the file is about: none, "the Agreement"."""
        known = {word for name in self._names for word in tokens(name)} | KINDS
        return all(word in _FILLER or any(same_word(word, each) for each in known) for word in tokens(words))

    def _turned(self) -> bool:
        """Whether the cited document says in its turn that it replaces the other one."""
        back = Pair(self._other, self._other_text, self._cited, self._cited_text)
        return any(statement.replaces for statement, _, kind, _ in back._named() if kind != "everything")

    def _is_aside(self, statement: Statement) -> bool:
        lines = self._other_text.lines
        headings = over(lambda number: line(lines, number), statement.first)
        return any(map(is_aside, headings))

    def _line(self, number: int) -> str:
        lines = self._other_text.lines
        return line(lines, number) if number <= len(lines) else ""


@lru_cache(maxsize=64)
def stated(text: str) -> tuple[Statement, ...]:
    """What a text says of this kind (`vera.evidence.superseding`), kept for the next look at it."""
    return tuple(statements(text))


def clauses_of(place: CitedLines) -> tuple[str, ...]:
    """The numbers of the clauses in which cited lines stand: 7.2 is in 7, too; () for none."""
    lines = place.source.lines
    found = [own for number in range(place.first, place.last + 1) if (own := _clause_at(lines, number))]
    if not found or not _own_number(line(lines, place.first)):
        for number in range(place.first - 1, max(0, place.first - _REACH), -1):
            if above := _clause_at(lines, number):
                sub = _SUB.match(line(lines, place.first))
                found.insert(0, f"{above}.{sub['number']}" if sub else above)
                break
    return tuple(dict.fromkeys(found))


def _takes_out(wording: tuple[str, str], span: str) -> bool:
    """Whether lines have the words that are taken out, and not those that are put there."""
    old, new, said = map(_spaced, (*wording, span))
    return old.strip() != "" and old in said and not (old in new and new in said)


def _spaced(text: str) -> str:
    """Its words with a space around each, and of Chinese each character."""
    return f" {' '.join(tokens(_HAN.sub(_AROUND, text)))} "


def _clause_at(lines: Lines, number: int) -> str:
    return _own_number(line(lines, number))


def _own_number(text: str) -> str:
    """The number of the clause that a line begins, '' for none."""
    found = _NUMBERED.match(text)
    if found is None:
        chinese = _CHINESE_NUMBERED.match(text)
        return chinese_number(chinese["number"]) if chinese else ""
    number = found["number"]
    marked = found["word"] or found["end"].strip(",–—") or "." in number or text.lstrip().startswith("#")
    return plain_number(number) if marked else ""


def _fits(said: Iterable[str], cited: Sequence[str]) -> Literal["yes", "maybe", "no"]:
    """Whether clauses that are named are those of cited lines: a clause has its sub-clauses in it."""
    if not cited:
        return "maybe"
    named = tuple(said)
    if any(own == each or own.startswith(f"{each}.") for each in named for own in cited):
        return "yes"
    return "maybe" if any(each.startswith(f"{own}.") for each in named for own in cited) else "no"


def _is_all(said: Sequence[str]) -> bool:
    """Whether words say all there is: "everything", "all previous documents and policies"."""
    vague = _VAGUE | _ALL
    return all(any(same_word(word, each) for each in vague) for word in said)
