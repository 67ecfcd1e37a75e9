"""A question without a subject is never answered for sure: its words are in any text of times and prices."""

import pytest

from vera.builtin.acceptance import accepted
from vera.builtin.bare import is_bare
from vera.builtin.conversation import Excerpt
from vera.builtin.documents import Match
from vera.builtin.question import analyse
from vera.builtin.scoring import Window, windows
from vera.builtin.term_weights import weigh

ENGLISH = """The offer must be valid for as long as three years. A copy takes 2 days to make.
How much it costs: 5 dollars. It costs 5 dollars. The maximum is 12. The price was $5 in the year 2021.
The document says that it was made by Ada Holm, a person from the city of Oslo."""
GERMAN = """Das Angebot gilt so lange wie drei Jahre. Wie lange es dauert: Es dauert 2 Tage.
Wie viel es kostet: Das kostet 5 Euro. Preis: 5 Euro. Der Preis war im Jahr 2021 hoch, 5 Euro."""
FRENCH = """L'offre est valable pour un temps de trois ans. Cela prend du temps : 2 jours.
Une copie coûte 5 euros, ça coûte 5 euros. Le prix était de 5 euros en 2021."""
SPANISH = """La oferta dura un tiempo de tres años. El tiempo es de 2 días.
Una copia cuesta 5 euros. El precio era de 5 euros en el año 2021."""
ITALIAN = """L'offerta dura un tempo di tre anni. Il tempo è di 2 giorni.
Una copia costa 5 euro. Il prezzo era di 5 euro nell'anno 2021."""
PORTUGUESE = """A oferta dura um tempo de três anos. O tempo é de 2 dias.
Uma cópia custa 5 euros. O preço era de 5 euros no ano de 2021."""
CHINESE = """时间：三年
价格：5 元
一份副本要多少钱：要 5 元钱。"""


def best(question: str, text: str) -> Window | None:
    """The lines of a text that fit best."""
    lines = dict(enumerate(text.split("\n"), 1))
    seen = Excerpt("a.txt", len(lines), lines, 1, len(lines), "ev_0001")
    asked = analyse(question)
    found = accepted([windows(asked, weigh(asked, [seen]), seen, Match())])[0]
    return found[0] if found else None


@pytest.mark.parametrize(
    ("text", "questions"),
    [
        (ENGLISH, ["How long?", "When?", "Who?", "How much does it cost?", "How much?", "How many years?"]),
        (ENGLISH, ["What is the maximum?", "What is the price?", "What does the document say?"]),
        (GERMAN, ["Wie lange?", "Wann?", "Wer?", "Preis?", "Was kostet das?", "Wie viel kostet es?"]),
        (FRENCH, ["Combien de temps ?", "Quand ?", "Qui ?", "Combien ça coûte ?", "Quel est le prix ?"]),
        (SPANISH, ["¿Cuánto tiempo?", "¿Cuándo?", "¿Quién?", "¿Cuánto cuesta?", "¿Cuántos años?"]),
        (ITALIAN, ["Quanto tempo?", "Quando?", "Chi?", "Quanto costa?", "Quanti anni?"]),
        (PORTUGUESE, ["Quanto tempo?", "Quando?", "Quem?", "Quanto custa?", "Qual é o preço?"]),
        (CHINESE, ["多久？", "什么时候？", "谁？", "多少钱？", "需要多少时间？", "时间？", "价格？"]),
    ],
    ids=["en", "en 2", "de", "fr", "es", "it", "pt", "zh"],
)  # fmt: skip
def test_a_question_that_only_says_the_kind_of_its_answer_has_no_sure_answer(
    text: str, questions: list[str]
) -> None:
    for question in questions:
        window = best(question, text)
        assert window is None or not window.sure, question


@pytest.mark.parametrize(
    ("question", "text", "value"),
    [
        ("How long is the offer valid?", "The offer is valid for three years.", "three years"),
        ("How much does a copy cost?", "A copy costs 5 dollars.", "5 dollars"),
        ("What is the price of a copy?", "The price of a copy is 5 dollars.", "5 dollars"),
        ("Was kostet eine Kopie?", "Eine Kopie kostet 5 Euro.", "5 Euro"),
        ("Combien coûte une copie ?", "Une copie coûte 5 euros.", "5 euros"),
        ("¿Cuánto cuesta una copia?", "Una copia cuesta 5 euros.", "5 euros"),
        ("Quanto costa una copia?", "Una copia costa 5 euro.", "5 euro"),
        ("Quanto custa uma cópia?", "Uma cópia custa 5 euros.", "5 euros"),
    ],
)
def test_the_same_of_something_has(question: str, text: str, value: str) -> None:
    window = best(question, text)
    assert window is not None and window.sure and value in window.text


@pytest.mark.parametrize(
    "question", ["How long is --time?", "会议什么时候？", "用户是谁？", "What is the rent?"]
)
def test_an_option_or_another_noun_is_a_subject(question: str) -> None:
    assert not is_bare(analyse(question))
