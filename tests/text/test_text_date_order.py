"""Dates of digits are read as their text says, or as its other dates tell."""

import pytest

from vera.text.date_order import date_orders, in_order
from vera.text.quantity import CalendarDate, quantities

DAY_FIRST, MONTH_FIRST = CalendarDate(2023, 4, 3), CalendarDate(2023, 3, 4)


def readings(text: str) -> tuple[CalendarDate, ...]:
    """Those of the first date of a text that can be read both ways."""
    found = tuple(quantities(text))
    at = next(at for at, each in enumerate(found) if len(each.dates) > 1)
    return in_order(found, lambda: date_orders(text, found))[at].dates


@pytest.mark.parametrize(
    "said",
    [
        "All dates are written day/month/year. It ends on 03/04/2023.",
        "Date (DD/MM/YYYY): 03/04/2023",
        "Datum (TT.MM.JJJJ): 03.04.2023",
        "Alle Datumsangaben: Tag.Monat.Jahr. Ende: 03.04.2023.",
        "Dates au format jj/mm/aaaa. Fin : 03/04/2023.",
        "Fechas: día/mes/año. Termina el 03/04/2023.",
        "Dates are given with the day first. It ends on 03-04-2023.",
        "Dates are in British format. It ends on 03/04/23.",
        "It began on 25/12/2018 and ends on 03/04/2023.",
        "Begonnen am 25.12.2018, beendet am 03.04.2023.",
    ],
)
def test_a_text_that_has_the_day_first(said: str) -> None:
    assert readings(said) == (DAY_FIRST,)


@pytest.mark.parametrize(
    "said",
    [
        "All dates are month/day/year. It ends on 03/04/2023.",
        "Date (MM/DD/YYYY): 03/04/2023",
        "Format mm/jj/aaaa. Fin : 03/04/2023.",
        "Dates are in US format. It ends on 03/04/2023.",
        "The dates have the month before the day. It ends on 3/4/2023.",
        "It began on 12/25/2018 and ends on 03/04/2023.",
    ],
)
def test_a_text_that_has_the_month_first(said: str) -> None:
    assert readings(said) == (MONTH_FIRST,)


@pytest.mark.parametrize(
    "said",
    [
        "It ends on 03/04/2023.",
        "It ends on 03/04/2023, and began on 05/06/2018.",
        "It ends on 03/04/2023. Of the others some are of 25/12/2018, some of 12/25/2018.",
        "Dates are DD/MM/YYYY before 2020 and MM/DD/YYYY since. It ends on 03/04/2023.",
        "It ends on 03/04/2023. Version of 25.12.2018.",
        "It ends on 03/04/2023. Invoices of 25/12/18.",
        "The first day of the month. The year 2023 is that of 03/04/2023.",
    ],
)
def test_a_text_that_leaves_it_open(said: str) -> None:
    assert readings(said) == (DAY_FIRST, MONTH_FIRST)
