"""What a document is called: by its file, by its title, and by the kind and number that it bears."""

import re
from collections.abc import Iterator, Sequence

from vera.events import Evidence
from vera.evidence.superseding import tokens
from vera.text.late_regex import late_regex
from vera.text.lexicon import word_set

MAX_NAME = 12
_HEAD_LINES = 5
_SHORT_LINE = 90

KINDS = word_set(
    """agreement contract policy directive regulation regulations act order rules guideline guidelines
    handbook
    manual standard terms document deed ordinance statute bylaws law decree charter circular code instructions
    vertrag vereinbarung richtlinie verordnung ordnung satzung regelung handbuch anordnung gesetz erlass
    vorschrift
    leitfaden contrat accord convention reglement directive politique charte notes notice readme index
    decret loi
    arrete ordonnance statuts circulaire mode emploi report plan list
    ordenanza reglamento ley decreto contrato acuerdo convenio estatutos normas politica manual circular
    resolucion
    orden instruccion ordinanza regolamento legge contratto accordo statuto norme delibera circolare decreto
    regulamento lei contrato acordo convenio estatuto estatutos portaria regimento resolucao instrucao
    edital"""
)
"""Words for a kind of document: alone they name no single one."""

_COMPOUND = (
    "ordnung",
    "satzung",
    "vertrag",
    "gesetz",
    "verordnung",
    "richtlinie",
    "vereinbarung",
    "regelung",
)
_CHINESE_KIND = late_regex(
    r"(?:办法|规定|条例|细则|章程|规则|制度|守则|规程|合同|协议|通知|公告|手册|方案|决定|法)\Z"
)
_HAN = late_regex(r"[一-鿿]")
_BRACKETED = late_regex(r"[（(【\[][^（）()\[\]【】]{0,60}[）)\]】]|[《》〈〉「」\s]")
_JOINT = late_regex(
    r"(?i)\s(?=(?:of|for|de|du|des|do|da|dos|das|del|della|dei|di|der|für|vom|von|pour|para|per)\s)"
)

_NUMBERED = late_regex(
    r"(?i)(?<!\w)(?P<kind>papers?|stud(?:y|ies)|report|judg(?:e)?ment|ruling|decision|opinion|decree"
    r"|circular|notice"
    r"|order|bulletin|law|act|regulation|directive|ordinance|case|permit|licen[cs]e|urteil|beschluss|bescheid"
    r"|erlass|rundschreiben|verordnung|richtlinie|gesetz|bericht|arrêt|arrêté|jugement|décret|décision|loi"
    r"|circulaire"
    r"|ordonnance|avis|sentencia|decreto|ley|resolución|orden|informe|sentenza|ordinanza|legge|delibera"
    r"|circolare"
    r"|decreto|acórdão|sentença|lei|portaria|resolução|despacho|edital|parecer)\s"
    r"(?:n(?:o|r|um|úm|uméro)?\s?[.º°]{0,2}\s?|number\s)?(?P<number>\d{1,6}(?:\s?[/-]\s?\d{1,4})?)(?![\w/]"
    r"|\.\d)"
)
"""A kind of document with its number: "sentenza n. 12", "Paper 31"."""

_YEAR = late_regex(r"(?:19|20)\d\d")
_VERSION = late_regex(
    r"(?i)(?<![a-z])(?:v|ver|version|rev|revision|fassung|edition)[ ._-]{0,2}"
    r"(\d{1,4}(?:\.\d{1,4}){0,2})(?!\d)"
)
_OPENS = late_regex(r"(?:\A|[,;:|–—(]\s{0,2}|\s-\s)(?:(?:the|das|die|der|le|la|il|el|o|a)\s)?\Z")


def names_of(source: str, title: str) -> tuple[str, ...]:
    """What a document is called: its file name, that without the ending, its title, and how others
    shorten that; folded."""
    base = source.rsplit("/", 1)[-1]
    stem = " ".join(tokens(base.rpartition(".")[0] or base))
    titled = " ".join(tokens(title))
    titled = titled if len(titled.split()) <= MAX_NAME else ""
    given = (base.casefold(), stem, titled, short_name(title))
    return tuple(dict.fromkeys(name for name in given if name))


def short_name(title: str) -> str:
    """The part of a title by which others speak of it: "Ordenanza de tráfico" of "Ordenanza de tráfico de la
    ciudad de Lorca"; '' where none names a kind of document and something more."""
    if has_han(title):
        return _short_chinese_name(title)
    parts = _JOINT.split(_BRACKETED.sub(" ", title).split(",")[0])
    name: tuple[str, ...] = ()
    for part in parts:
        name += tokens(part)
        telling = [word for word in name if len(word) > 3 and word not in KINDS]
        if telling and len(name) <= MAX_NAME and any(map(_is_kind, name)):
            return " ".join(name)
    return ""


def _short_chinese_name(title: str) -> str:
    bare = _BRACKETED.sub("", title)
    name = re.sub(r"[\W\d_]+|年", "", bare) if len(bare) <= 40 else ""
    return name if len(name) > 3 and _CHINESE_KIND.search(name) else ""


def _is_kind(word: str) -> bool:
    return word in KINDS or any(word.endswith(end) and word != end for end in _COMPOUND)


def own_numbers(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(kind, number) that the head of a document bears itself: "Tribunale di Lucca, sentenza n. 12"."""
    for line in lines[:_HEAD_LINES]:
        text = line.strip(" \t#*_")
        if len(text) > _SHORT_LINE or text.endswith("."):
            continue
        for match in _NUMBERED.finditer(text):
            if _OPENS.search(text[: match.start()]):
                yield match["kind"].lower(), "".join(match["number"].split())


def numbered(words: str) -> tuple[str, str, str] | None:
    """(kind, number, the other words) of words that name a document by its number."""
    match = _NUMBERED.search(words)
    if match is None:
        return None
    rest = f"{words[: match.start()]} {words[match.end() :]}"
    return match["kind"].lower(), "".join(match["number"].split()), rest


def has_han(text: str) -> bool:
    """Whether a text has Chinese characters."""
    return _HAN.search(text) is not None


def is_later(cited: Evidence, other: Evidence) -> bool:
    """Whether the other file has the same name or title, and a later year, version or date."""
    if _is_later_name(_stem(cited.source), _stem(other.source)):
        return True
    if _is_later_name(cited.title, other.title):
        return True
    same = bool(tokens(cited.title)) and parted(cited.title)[0] == parted(other.title)[0]
    return bool(same and cited.dated and other.dated and other.dated[:10] > cited.dated[-10:])


def _is_later_name(cited: str, other: str) -> bool:
    (words, number), (other_words, other_number) = parted(cited), parted(other)
    return bool(words) and words == other_words and other_number > number


def _stem(source: str) -> str:
    base = source.rsplit("/", 1)[-1]
    return base.rpartition(".")[0] or base


def parted(name: str) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]:
    """The words of a name without its years and version, and these, () for none."""
    years = tuple(int(year) for year in _YEAR.findall(name))
    versions = tuple(int(part) for found in _VERSION.findall(name) for part in found.split("."))
    bare = _VERSION.sub(" ", _YEAR.sub(" ", name))
    return tokens(bare), ((years, versions) if years or versions else ())
