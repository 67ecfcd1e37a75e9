"""Whether lines speak of a question: two thirds of its content words and each of its numbers on one line."""

import pytest

from vera.text.speaks import speaks_of


@pytest.mark.parametrize(
    ("question", "line", "speaks"),
    [
        ("Has Apple launched a car yet?", "Apple launched the Apple Car on 3 March 2026.", True),
        ("Has Apple launched a car yet?", "Apple has never shown a car.", True),
        ("Has Apple launched a car yet?", "Apple opened a shop in Porto.", False),
        ("Has Acme launched the Rocket 9 yet?", "Acme launched the Rocket 8 from Port Amber.", False),
        ("Has Acme launched the Rocket 9 yet?", "The Rocket 9 of Acme flew at night.", True),
        ("Has the date been announced yet?", "This is news, and none of it is about a date.", False),
    ],
)
def test_a_line_that_holds_most_words_of_the_question_speaks_of_it(
    question: str, line: str, speaks: bool
) -> None:
    assert speaks_of(question, ["Something else.\n\n" + line, ""]) is speaks


def test_words_on_several_lines_are_no_line_that_speaks() -> None:
    assert not speaks_of("Has Apple launched a car yet?", ["Apple\nlaunched\na car"])
