"""Values that a nearly equal sentence has otherwise, and paraphrases that are left alone."""

import pytest

from support.cited import cited
from vera.audit.checks.altered import Line, altered, difference


def _told(claim: str, sentence: str, spoken: str = "en") -> str:
    return difference(Line(claim, spoken), [Line(sentence, spoken)])


@pytest.mark.parametrize(
    ("spoken", "claim", "sentence"),
    [
        ("es", "El curso admite como mínimo 20 alumnos.", "El curso admite como máximo 20 alumnos."),
        ("it", "Il corso ammette almeno 20 alunni.", "Il corso ammette al massimo 20 alunni."),
        ("pt", "O curso aceita pelo menos 20 alunos.", "O curso aceita até 20 alunos."),
        ("fr", "Le cours accepte au moins 20 élèves.", "Le cours accepte jusqu'à 20 élèves."),
        ("han", "报名人数至少50人。", "报名人数50人以下。"),
        ("de", "Rom wurde 753 n. Chr. gegründet.", "Rom wurde 753 v. Chr. gegründet."),
        ("it", "Roma fu fondata nel 753 d.C.", "Roma fu fondata nel 753 a.C."),
        ("han", "该城建于公元200年。", "该城建于公元前200年。"),
        ("fr", "Le congélateur reste à vingt degrés.", "Le congélateur reste à moins vingt degrés."),
        ("han", "冷库温度为18度。", "冷库温度为零下18度。"),
        ("en", "The ride takes 3¼ hours.", "The ride takes 3¾ hours."),
        ("en", "The star is 10^8 km away.", "The star is 10^9 km away."),
        ("en", "The jam holds 100 g of sugar per 38 g.", "The jam holds 38 g of sugar per 100 g."),
    ],
)
def test_a_value_that_the_sentence_has_otherwise_is_told(spoken: str, claim: str, sentence: str) -> None:
    assert _told(claim, sentence, spoken)


@pytest.mark.parametrize(
    ("spoken", "claim", "sentence"),
    [
        ("en", "Firms with at most 50 staff may apply.", "Firms with no more than 50 staff may apply."),
        ("en", "Firms with up to 50 staff may apply.", "Firms with 50 or fewer staff may apply."),
        (
            "en",
            "Revenue rose to 6 million in 2020.",
            "Revenue rose to 5 million in 2019 and 6 million in 2020.",
        ),
        ("en", "The fund lost 3.2 percent.", "The fund lost money: minus 3.2 percent."),
        ("en", "Ports 443 and 80 are open.", "Ports 80 and 443 are open."),
        ("en", "Sales of 5 cars in May and 7 in June.", "Sales of 7 in June and 5 cars in May."),
        ("en", "Augustus ruled from 27 BC to 14.", "Augustus ruled from 27 BC to 14 AD."),
        ("en", "The rate rose to 10 percent.", "The rate rose from 5 to 10 percent."),
        ("en", "The tour takes up to fifteen minutes.", "The tour takes between ten and fifteen minutes."),
        ("en", "Children under 12 may not enter.", "Only children at least 12 years old may enter."),
        ("fr", "L'eau gèle à moins 5 degrés.", "L'eau gèle à -5 degrés."),
        ("han", "报名人数不超过50人。", "报名人数最多50人。"),
        (
            "en",
            "The insurer pays 2,000 euros for water damage.",
            "The insurer pays 20,000 euros for fire damage and 2,000 euros for water damage.",
        ),
    ],
)
def test_another_wording_of_the_same_value_is_left_alone(spoken: str, claim: str, sentence: str) -> None:
    assert not _told(claim, sentence, spoken)


def test_what_is_shown_of_a_sentence_ends_with_its_words() -> None:
    claim = "Falls were reported by at least 31 participants in the trial."
    sentence = "Falls were reported by at most 31 participants in the trial."
    assert _told(claim, sentence) == "reported by at most 31 participants"
    assert _told("报名人数至少50人。", "报名人数50人以下。")


@pytest.mark.parametrize(
    ("claim", "page"),
    [
        (
            "The operating result was 1,310 thousand euros.",
            "The operating result was (1,310) thousand euros.",
        ),
        ("The net result was a profit of $1,310.", "Net result: $(1,310)"),
        ("Das Jahresergebnis betrug 2.410 Euro.", "Das Jahresergebnis betrug (2.410) Euro."),
        ("Le résultat net est de 845 milliers d'euros.", "Résultat net : (845) milliers d'euros"),
        ("La variación del saldo fue de 3,2 millones.", "Variación del saldo: (3,2) millones"),
        ("Net cash flow was 512 in 2020.", "| Item | 2020 |\n|---|---|\n| Net cash flow | (512) |"),
    ],
)
def test_a_result_in_brackets_is_a_loss(claim: str, page: str) -> None:
    (found,) = altered(cited(claim, page))
    assert (found.code, found.severity) == ("value_altered", "hard")


@pytest.mark.parametrize(
    ("claim", "page"),
    [
        ("The operating loss was 1,310 thousand euros.", "The operating result was (1,310) thousand euros."),
        ("The operating result was -1,310 euros.", "The operating result was (1,310) euros."),
        ("The operating result was (1,310) euros.", "The operating result was (1,310) euros."),
        ("Das Jahresergebnis der AG betrug -2.410 Euro.", "Das Jahresergebnis der AG betrug (2.410) Euro."),
        ("La perte nette est de 845 milliers d'euros.", "Résultat net : (845) milliers d'euros"),
        ("Staff costs were 4,600 thousand euros.", "Staff: (4,600) thousand euros"),
        ("Rent was 900 thousand euros.", "Rent: (900) thousand euros"),
        ("Income tax was 310 dollars.", "Income tax: (310) dollars"),
        ("Net cash outflow was 512 in 2020.", "| Item | 2020 |\n|---|---|\n| Net cash flow | (512) |"),
        ("The balance is due in 36 months.", "The balance is due in thirty-six (36) months."),
        ("The result of 48 patients was read.", "The result of 12 (48) patients was read."),
        ("The result of 2019 was good.", "The result of (2019) was good."),
        ("The result is in note 12.", "The result is in note: (12)."),
        ("The net result was 1,310 euros.", "Net result: (1,310) euros in 2019, 1,310 euros in 2020."),
    ],
)
def test_other_numbers_in_brackets_are_no_loss(claim: str, page: str) -> None:
    assert not list(altered(cited(claim, page)))
