"""Quantities are read in the forms that people write, and a source backs them as people mean them."""

from decimal import Context, Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.text.quantity import CalendarDate, Quantity, quantities
from vera.text.quantity_index import QuantityIndex, backed, backing


def only(text: str) -> Quantity:
    (found,) = quantities(text)
    return found


def index(source: str) -> QuantityIndex:
    return QuantityIndex(quantities(source))


def backing_in(claim: str, source: str) -> str:
    return backing(only(claim), index(source))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,234", "1234"),
        ("1,234,567.89", "1234567.89"),
        ("1'234", "1234"),
        ("1\u202f234", "1234"),
        ("1 234 567", "1234567"),
        ("1.234,5", "1234.5"),
        ("1.234.567", "1234567"),
        ("12,34,567", "1234567"),
        ("12.34", "12.34"),
        (".974", "0.974"),
        ("2½", "2.5"),
        ("-5", "-5"),
        ("−5.5", "-5.5"),
        ("160 million", "160000000"),
        ("3.2bn", "3200000000"),
        ("10k", "10000"),
        ("5 lakh", "500000"),
        ("twenty-five", "25"),
        ("two dozen", "24"),
        ("one hundred and five", "105"),
        ("three hundred thousand", "300000"),
        ("two million three hundred thousand and six", "2300006"),
        ("half a million", "500000"),
        ("21st", "21"),
        ("twenty-first", "21"),
    ],
)
def test_numbers_are_exact_in_every_notation(text: str, value: str) -> None:
    found = only(text)
    assert found.value == Decimal(value)
    assert (found.start, found.end, found.text) == (0, len(text), text)


@pytest.mark.parametrize(
    "text",
    [
        "3 May 2021",
        "3rd of May, 2021",
        "May 3, 2021",
        "May 3rd 2021",
        "2021-05-03",
        "2021/5/3",
        "2021-05-03T11:59:07+00:00",
        "3-May-2021",
    ],
)
def test_dates_are_one_date_however_they_are_written(text: str) -> None:
    assert only(text).dates == (CalendarDate(2021, 5, 3),)


def test_a_numeric_date_keeps_both_readings_and_only_those_that_the_calendar_has() -> None:
    assert only("03/05/2021").dates == (CalendarDate(2021, 5, 3), CalendarDate(2021, 3, 5))
    assert only("25/12/2021").dates == (CalendarDate(2021, 12, 25),)
    assert not [found for found in quantities("31/31/2021") if found.kind == "date" and found.text != "2021"]


def test_ranges_of_days_and_years_are_two_dates() -> None:
    assert [found.dates[0] for found in quantities("August 22-24, 2017")] == [
        CalendarDate(2017, 8, 22),
        CalendarDate(2017, 8, 24),
    ]
    assert [found.dates[0].year for found in quantities("1997–2004")] == [1997, 2004]
    assert [found.dates[0].year for found in quantities("1997-98")] == [1997, 1998]


def test_words_that_look_like_months_and_numbers_are_not() -> None:
    assert list(quantities("You may march on; several hundred did. The top 10 may win."))[1:] == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("12.3 %", "percent"),
        ("13 per cent", "percent"),
        ("five percentage points", "amount"),
        ("$5 million", "money"),
        ("US$ 3.2bn", "money"),
        ("5 million euros", "money"),
        ("18 in (", "amount"),
        ("18-inch", "amount"),
        ("60 km/h", "amount"),
        ("13 years", "amount"),
        ("7:30 pm", "time"),
        ("19:30", "time"),
        ("the 1990s", "decade"),
        ("'80s", "decade"),
        ("the nineties", "decade"),
        ("20th century", "century"),
        ("twentieth century", "century"),
        ("two-thirds", "fraction"),
        ("3.11.7", "identifier"),
        ("5(b)", "identifier"),
        ("978-0-13-468599-1", "identifier"),
        ("555-867-5309", "identifier"),
        ("COVID-19", "identifier"),
        ("2018", "date"),
        ("mid-1990", "date"),
        ("yesterday", "relative"),
    ],
)
def test_kinds(text: str, kind: str) -> None:
    assert only(text).kind == kind


def test_what_is_said_once_of_a_range_holds_for_both_ends() -> None:
    first, second = quantities("$5–7 million")
    assert [first.value, second.value] == [Decimal(5_000_000), Decimal(7_000_000)]
    assert first.kind == second.kind == "money"
    assert [found.kind for found in quantities("the 19th and 20th centuries")] == ["century", "century"]
    assert only("5 ft 10 in (").value == 70


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("160 million", "the population was 160,342,111"),
        ("12.3 %", "12.34 percent"),
        ("13%", "12.8%"),
        ("about 5,000", "4,980 people"),
        ("more than 400", "412 students"),
        ("nearly 500", "480 students"),
        ("460 mm", "18 in (wide)"),
        ("5 ft 10 in", "178 cm"),
        ("75 °F", "24 °C"),
        ("two decades", "for 20 years"),
        ("24 months", "two years"),
        ("25", "twenty-five men"),
        ("twenty-five", "25 men"),
        ("1,200,000", "1.2 million"),
        ("5 million", "5m people"),
        ("seventh", "seven times"),
        ("the 1990s", "in 1997"),
        ("20th century", "born in 1997"),
        ("the '80s", "in 1984"),
        ("1997", "from 5 May 1997"),
        ("May 1997", "on 5 May 1997"),
        ("5 May", "on 5 May 1997"),
        ("5 May 1997", "On May 5 it opened. Copyright 1997"),
        ("7:30 pm", "at 19:30"),
        ("7:30", "at 7:30 p.m."),
        ("two-thirds", "67 percent"),
        ("978-0134685991", "ISBN 978-0-13-468599-1"),
        ("9/11", "on 11 September 2001"),
        ("1 234", "1,234 men"),
    ],
)
def test_what_a_source_says_in_another_form_is_backed(claim: str, source: str) -> None:
    assert backed(only(claim), index(source))


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("161 million", "160,342,111"),
        ("12.3 %", "12.36 %"),
        ("460 mm", "20 in (wide)"),
        ("457 mm", "460 mm"),
        ("5 kg", "5 miles"),
        ("$5 million", "€5 million"),
        ("the 1990s", "in 1987"),
        ("18th century", "in 1997"),
        ("1997", "in 1998"),
        ("6 May 1997", "5 May 1997"),
        ("5 May 1996", "5 May 1997"),
        ("3.11.7", "version 3.11.8"),
        ("7:30 am", "19:30"),
    ],
)
def test_what_a_source_does_not_say_is_absent(claim: str, source: str) -> None:
    assert backing_in(claim, source) == "absent"


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("5,000", "4,980 people"),
        ("-5 %", "fell by 5 %"),
        ("160.3 million", "Population (millions) 160.3"),
        ("1 March 2017", "By A. Writer on March 2, 2017. He said on Wednesday"),
        ("2016", "March 2, 2017: he left last year"),
        ("13 years", "from 1997 to 2010"),
        ("c. 1490", "made in 1491"),
    ],
)
def test_what_must_be_derived_is_unclear(claim: str, source: str) -> None:
    assert backing_in(claim, source) == "unclear"


def test_values_do_not_depend_on_the_decimal_context_of_the_caller() -> None:
    text = "-1.23456789 million people, 75 °F, two-thirds, 3½ miles, .974"
    expected = list(quantities(text))
    with localcontext(Context(prec=2)):
        assert list(quantities(text)) == expected
        assert all(backed(found, QuantityIndex(expected)) for found in expected)


@pytest.mark.parametrize(
    "piece",
    ["1", "1.", "1,", "1 ", "1-", "1/", "12:", "one ", "hundred ", "may 1 ", "A-1 ", "5 to ", "$", "1(a)"],
)
def test_hostile_repetition_is_read_to_its_end(piece: str) -> None:
    text = piece * (20_000 // len(piece))
    assert all(text[found.start : found.end] for found in quantities(text))


@given(st.text(alphabet="0123456789.,:/-–'$€%½ abMayonethird\n\u00a0", max_size=60))
def test_quantities_stand_in_order_where_they_say(text: str) -> None:
    end = 0
    for found in quantities(text):
        assert end <= found.start < found.end <= len(text)
        assert text[found.start : found.end] == found.text
        end = found.end


@given(st.text(alphabet="0123456789.,:/-–'$€%½ abMayonethird", max_size=60))
def test_a_text_backs_each_quantity_of_its_own(text: str) -> None:
    found = list(quantities(text))
    assert all(backed(quantity, QuantityIndex(found)) for quantity in found)


@given(st.integers(min_value=0, max_value=10**15), st.sampled_from(["", " million", " km", "%"]))
def test_a_whole_number_is_found_among_others_and_its_neighbour_is_not(number: int, unit: str) -> None:
    source = index(f"3 apples, {number:,}{unit}, and 77 pears")
    assert backed(only(f"{number:,}{unit}"), source)
    assert not backed(only(f"{number + 1000:,}{unit}"), source)


def test_a_year_is_absent_where_no_year_stands() -> None:
    assert backing_in("2018", "The plant opened last spring.") == "absent"
    assert backing_in("3 May 2018", "It opened on 3 May.") == "absent"


@pytest.mark.parametrize("source", ["7. Term\nIt lasts three years.", "# 7) Term", "   7. Years"])
def test_the_number_of_a_heading_is_no_amount(source: str) -> None:
    assert backing_in("7 years", source) == "absent"
    assert backing_in("7", source) == "stated"


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("1,250 euros", "Der Preis beträgt 1.250 Euro und ist sofort zu zahlen."),
        ("Die Miete ist 1.250 Euro und die Kaution", "1250 EUR"),
        ("7 years", "Die Frist ist 7 Jahre und beginnt mit der Abnahme."),
        ("three years", "Le délai est de 3 années pour les biens."),
        ("5 days", "between 5 and 10 days"),
    ],
)
def test_numbers_are_read_by_the_language_of_their_text(claim: str, source: str) -> None:
    assert backing_in(claim, source) == "stated"


@pytest.mark.parametrize(
    ("text", "beside", "value"),
    [
        ("61.000", "de", 61_000),
        ("61.000", "", 61),
        ("61.000", "en", 61),
        ("12 quince", "es", 12),
        ("quince", "es", 15),
        ("quinze", "fr", 15),
        ("venti", "it", 20),
        ("três", "pt", 3),
        ("cinco", "es", 5),
    ],
)
def test_the_language_beside_a_text_counts_where_its_words_tell_none(
    text: str, beside: str, value: int
) -> None:
    assert next(quantities(text, beside)).value == value


def test_the_language_of_the_words_counts_before_that_beside_them() -> None:
    found = next(quantities("The museum and the tower are of 61.000 m", "de"))
    assert found.value == 61


@pytest.mark.parametrize(("text", "beside"), [("quince", "en"), ("sei", "it"), ("once", "en"), ("mil", "")])
def test_a_number_word_of_another_language_is_no_number(text: str, beside: str) -> None:
    assert not list(quantities(text, beside))


@pytest.mark.parametrize(
    "text",
    [
        "3 maggio 1987",
        "3 de maio de 1987",
        "3 de mayo de 1987",
        "3 mai 1987",
        "3. Mai 1987",
        "il 3 maggio 1987",
    ],
)
def test_a_date_is_read_in_each_language(text: str) -> None:
    (found,) = quantities(text)
    assert found.dates == (CalendarDate(1987, 5, 3),)


def test_a_decimal_comma_makes_one_number_where_the_language_writes_it() -> None:
    (german,) = quantities("Der Turm ist 42,5 Meter hoch.", "de")
    assert (german.value, german.parts) == (Decimal("42.5"), ())
    (unsure,) = quantities("42,5")
    assert unsure.parts == (42, 5)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("该厂每年生产三十五万吨水泥。", 350_000),
        ("该厂每年生产35万吨水泥。", 350_000),
        ("该厂每年生产三十五千吨水泥。", 35_000),
        ("租金为叁仟元。", 3_000),
        ("共一亿二千万人。", 120_000_000),
        ("约三万五人。", 35_000),
        ("一百零三人。", 103),
        ("第三章", 3),
    ],
)
def test_numbers_in_chinese_numerals_are_read(text: str, value: int) -> None:
    (found,) = quantities(text)
    assert found.value == value


@pytest.mark.parametrize("text", ["千万不要", "十分统一", "万一下雨", "一些"])
def test_numerals_within_other_chinese_words_are_no_numbers(text: str) -> None:
    assert not list(quantities(text))


def test_what_sticks_to_a_number_on_the_screen_or_only_in_the_text_is_told_apart() -> None:
    assert [found.text for found in quantities("③5 minutes")] == ["5 minutes"]
    assert [found.value for found in quantities("1\u200b00 euro")] == [100]
    (code,) = quantities("the code 0420")
    assert (code.kind, code.parts) == ("identifier", ())


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("three years", "a period of thirty-six (36) months"),
        ("36 Monate", "für die Dauer von sechsunddreißig (36) Monaten"),
        ("10%", "more than 1 in 10 people"),
        ("10%", "one in ten people"),
        ("75 percent", "three out of four cases"),
        ("1 in 10", "10 % of the people"),
        ("September 2022", "revised in 09/2022"),
        ("September 2022", "revised in 2022-09"),
        ("3.3.2", "fixed in version 3.3.2"),
        ("v3.3.2", "fixed in 3.3.2"),
        ("1 MPa", "a pressure of 10 bar"),
        ("14:00 Uhr", "Die Sitzung beginnt um 14 Uhr."),
        ("12h30", "ouvre de 10 h à 12 h 30"),
        ("15. Mai", "Das Fest ist am 15.5. im Park und die Feier ist im Saal."),
        ("1.700.000 Euro", "Der Gewinn und die Einlage sind zusammen 1,7 Mio. Euro."),
        ("96,3 millions d'euros", "la dette est de 96.300.000 euros, et le reste est dans les comptes"),
        ("74 t", "74 Tonnen"),
        ("30 days", "kept for 30 d"),
        ("200 minutes", "restored in 3 h 20 min"),
        ("200 minutes", "restored in 3 hours and 20 minutes"),
    ],
)
def test_forms_of_contracts_reports_and_manuals_are_backed(claim: str, source: str) -> None:
    assert backing_in(claim, source) == "stated"


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("four years", "a period of thirty-six (36) months"),
        ("20%", "more than 1 in 10 people"),
        ("October 2022", "revised in 09/2022"),
        ("3.3.1", "fixed in version 3.3.2"),
        ("10 MPa", "a pressure of 10 bar"),
        ("14. Mai", "Das Fest ist am 15.5. im Park und die Feier ist im Saal."),
        ("3. März", "Nach Abschnitt 3.3. ist die Miete von dem Mieter zu zahlen."),
        ("15:00 Uhr", "Die Sitzung beginnt um 14 Uhr."),
    ],
)
def test_another_value_in_such_a_form_is_not_backed(claim: str, source: str) -> None:
    assert backing_in(claim, source) != "stated"


@pytest.mark.parametrize(
    ("text", "beside", "value"),
    [
        ("einundzwanzig", "de", "21"),
        ("achthundert", "de", "800"),
        ("zweihundertfünfzig", "de", "250"),
        ("vingt et un", "fr", "21"),
        ("huit cents", "fr", "800"),
        ("quatre-vingt-dix", "fr", "90"),
        ("ein Fünftel", "de", "0.2"),
        ("un quart", "fr", "0.25"),
        ("a quarter of the members", "", "0.25"),
    ],
)
def test_compound_numbers_and_shares_of_other_languages_are_read(text: str, beside: str, value: str) -> None:
    assert next(quantities(text, beside)).value == Decimal(value)


def test_a_quarter_of_time_and_words_like_numbers_are_none() -> None:
    assert list(quantities("a quarter of an hour, each quarter")) == []
    assert list(quantities("Die Kündigung, der Hund und die Stunde sind nicht ein Problem.")) == []


def test_a_unit_may_follow_in_the_next_line() -> None:
    assert backing_in("three years", "Shelf life 36\n     months unopened.") == "stated"
