"""What the extractive model makes of a question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.builtin.expressions import strength
from vera.builtin.languages import language_of
from vera.builtin.question import MAX_TERMS, Kind, analyse, identifiers_in
from vera.text.stopwords import ENGLISH, FRENCH, GERMAN, ITALIAN, PORTUGUESE, SPANISH


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("For how many years must a written offer be valid?", Kind.COUNT),
        ("How long may parental leave last?", Kind.DURATION),
        ("How old must loose objects be?", Kind.DURATION),
        ("How often is the sensor asked?", Kind.FREQUENCY),
        ("How tall is the tower?", Kind.MEASURE),
        ("How much did the crane cost?", Kind.MONEY),
        ("What percentage of the revenue came from Asia?", Kind.PERCENT),
        ("When was the light first lit?", Kind.DATE),
        ("In what year was it electrified?", Kind.DATE),
        ("At what time must an absence be reported?", Kind.CLOCK),
        ("Who designed the tower?", Kind.PERSON),
        ("Where is the lens shown?", Kind.PLACE),
        ("Which option keeps it in the foreground?", Kind.CODE),
        ("Which configuration file holds the proxy?", Kind.PATH),
        ("To which email address do I write?", Kind.LINK),
        ("Which version of TLS is needed?", Kind.VERSION),
        ("What is photosynthesis?", Kind.DEFINITION),
        ("What is an orphan in RPP?", Kind.DEFINITION),
        ("What does NCAS stand for?", Kind.EXPANSION),
        ("Why is landing forbidden?", Kind.REASON),
        ("How do I reset the alarm?", Kind.METHOD),
        ("May I charge a fee for a copy?", Kind.PERMISSION),
        ("What happens if the token expires?", Kind.ANY),
        ("茶叶可以保存多少个月？", Kind.COUNT),
        ("", Kind.ANY),
    ],
)
def test_the_kind_of_the_answer(question: str, kind: Kind) -> None:
    assert analyse(question).kind is kind


def test_terms_are_content_words_and_names_weigh_more() -> None:
    question = analyse("For how many years must a written offer be valid under the GPL version 3?")
    weights = {term.word.form: term.weight for term in question.terms}
    assert list(weights) == ["years", "written", "offer", "valid", "gpl", "version", "3"]
    assert weights["gpl"] > weights["offer"]
    assert [unit.form for unit in question.units] == ["years"]


def test_the_noun_that_names_the_kind_weighs_little() -> None:
    weights = {
        term.word.form: term.weight for term in analyse("In what year was the light electrified?").terms
    }
    assert weights["year"] < weights["electrified"]


def test_question_words_of_chinese_are_no_terms() -> None:
    assert [term.word.form for term in analyse("水温是多少？").terms] == ["水温"]


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("How many years is the offer valid?", "valid for three years", "valid under section 3"),
        ("How many copies may be made?", "at most 40 copies", "the copies of 2024"),
        ("How long is the period?", "a period of 14 days", "a period that is long"),
        ("When was it lit?", "lit on 4 October 1871", "lit by the keeper"),
        ("Who designed it?", "designed by Ingrid Halvorsen", "designed in a hurry"),
        ("Where is the file stored?", "stored in /etc/frostd.conf", "stored by default"),
        ("Which option is quiet?", "use -q to be quiet", "it is quiet"),
        ("What does RPP stand for?", "the Relay Parcel Protocol", "the relay hands parcels on"),
        ("What is an orphan?", "An orphan is a parcel without a mailbox.", "Return each orphan at once."),
        ("How much is the fee?", "the fee is 18 euros", "the fee is due"),
        ("What percentage was saved?", "saved 6.4 per cent", "saved a lot"),
        ("To which email address do I write?", "write to a@b.example", "write a letter"),
    ],
)
def test_an_answer_of_the_kind_is_told_from_a_mention(question: str, answer: str, other: str) -> None:
    asked = analyse(question)
    assert strength(asked, answer) > strength(asked, other)


def test_what_the_question_says_itself_is_no_answer() -> None:
    assert strength(analyse("When did the storm of 1952 end?"), "the storm of 1952") == 0.0


@given(st.text())
def test_any_text_is_a_question(text: str) -> None:
    question = analyse(text)
    assert len(question.terms) <= MAX_TERMS
    assert 0.0 <= strength(question, text) <= 1.0


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Was bedeutet umask?", Kind.DEFINITION),
        ("Was heißt Umleitung?", Kind.DEFINITION),
        ("Was ist DHCP?", Kind.DEFINITION),
        ("Was ist umask in der Datei?", Kind.ANY),
        ("Was macht umask?", Kind.ANY),
        ("Wozu dient umask?", Kind.ANY),
        ("Wie heißt der Benutzer?", Kind.NAME),
        ("Wo liegt umask?", Kind.PLACE),
        ("Wer pflegt umask?", Kind.PERSON),
        ("Wann erscheint umask?", Kind.DATE),
        ("Qu'est-ce que umask ?", Kind.DEFINITION),
        ("Qu’est-ce qu’un serveur de noms ?", Kind.DEFINITION),
        ("Que signifie umask ?", Kind.DEFINITION),
        ("À quoi sert umask ?", Kind.ANY),
        ("Comment s'appelle le fichier ?", Kind.NAME),
        ("Où se trouve umask ?", Kind.PLACE),
        ("Pourquoi umask ?", Kind.REASON),
        ("¿Qué significa umask?", Kind.ANY),
        ("¿Has leído umask?", Kind.ANY),
        ("¿Quién mantiene umask?", Kind.PERSON),
        ("Che cosa significa umask?", Kind.ANY),
        ("Chi mantiene umask?", Kind.PERSON),
        ("Perché umask?", Kind.REASON),
        ("O que significa umask?", Kind.ANY),
        ("Quem mantém umask?", Kind.PERSON),
        ("Para que serve umask?", Kind.ANY),
        ("Was it released?", Kind.PERMISSION),
        ("Was the file moved?", Kind.PERMISSION),
        ("Who maintains umask?", Kind.PERSON),
    ],
)
def test_the_question_word_decides_the_language_of_a_question(question: str, kind: Kind) -> None:
    assert analyse(question).kind is kind


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("was bedeutet umask?", GERMAN),
        ("wozu dient umask?", GERMAN),
        ("welche datei?", GERMAN),
        ("qu'est-ce que umask ?", FRENCH),
        ("à quoi sert umask ?", FRENCH),
        ("quelles options ?", FRENCH),
        ("¿dónde está umask?", SPANISH),
        ("por qué umask?", SPANISH),
        ("a che cosa serve umask?", ITALIAN),
        ("quali file?", ITALIAN),
        ("quale è il file?", ITALIAN),
        ("quais arquivos?", PORTUGUESE),
        ("qual é o arquivo?", PORTUGUESE),
        ("onde fica umask?", PORTUGUESE),
        ("was it umask?", ENGLISH),
        ("chi mantiene umask?", ITALIAN),
        ("chi-square test: what is it?", ENGLISH),
        ("who is who?", ENGLISH),
        ("umask", ENGLISH),
    ],
)
def test_words_of_asking_tell_languages_apart(question: str, language: frozenset[str]) -> None:
    assert language_of(question) is language


def test_a_default_setting_is_a_value() -> None:
    assert analyse("What is the default setting for MAX_COLUMN?").kind is Kind.COUNT
    assert analyse("Which setting holds the default?").kind is Kind.CODE


def test_only_a_port_in_which_one_is_can_be_a_place() -> None:
    assert analyse("In which port did the ship lie?").kind is Kind.PLACE
    assert analyse("At what size is the log cut?").kind is Kind.COUNT


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Ein Systembenutzer namens ftp wird erstellt.", True),
        ("Ein Systembenutzer mit dem Namen ftp wird erstellt.", True),
        ("Ein Systembenutzer für Server wird erstellt.", False),
    ],
)
def test_a_german_name_stands_behind_a_word_that_says_so(text: str, named: bool) -> None:
    question = analyse("Wie heißt der Systembenutzer, der erstellt wird?")
    assert (strength(question, text) == 1.0) is named


@pytest.mark.parametrize("unit", ["a.", "a_", "x1", "-", "_", "a-."])
def test_a_long_word_is_no_identifier_that_takes_long(unit: str) -> None:
    assert len(identifiers_in(unit * 100_000)) <= 1
    assert identifiers_in(f"How is max_size set by --force in a.b.c? {unit * 1000}!")[:3] == (
        "max_size",
        "--force",
        "a.b.c",
    )
