"""Where a sentence ends, and where a full stop ends none."""

from itertools import pairwise

import pytest

from vera.text.sentences import END


def cut(text: str) -> list[str]:
    ends = [0, *(match.end() for match in END.finditer(text)), len(text)]
    return [part for start, end in pairwise(ends) if (part := text[start:end].strip())]


@pytest.mark.parametrize(
    "text",
    [
        "Das Museum wurde am 3. Mai 1987 von Clara Lindt eröffnet.",
        "Der Vertrag endet am 31. Dezember 2024 ohne Kündigung.",
        "Er stammt aus dem 19. Jahrhundert und gehört der Stadt.",
        "Dr. Lindt and Mr. No. 4 met at St. Paul.",
        "J. P. Smith led it.",
        "The dividend is payable on 9 Feb. 2024 and 3 Sept. 2025.",
        "Die Molkerei verdiente 1,7 Mio. Euro und zahlte 2 Mrd. Kronen.",
    ],
)
def test_a_stop_within_a_sentence_ends_none(text: str) -> None:
    assert cut(text) == [text]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Es waren 3. Maibäume stehen dort.", ["Es waren 3.", "Maibäume stehen dort."]),
        ("It has 3. March is cold.", ["It has 3.", "March is cold."]),
        ("It opened in Feb. It closed later.", ["It opened in Feb.", "It closed later."]),
        ("Sie kostete 5 Mio. Die Stadt zahlte.", ["Sie kostete 5 Mio.", "Die Stadt zahlte."]),
        ("Open? Yes! “Good.” Then go.", ["Open?", "Yes!", "“Good.”", "Then go."]),
        ("博物馆开放。塔高42.5米。", ["博物馆开放。", "塔高42.5米。"]),
    ],
)
def test_a_sentence_ends_at_its_stop(text: str, sentences: list[str]) -> None:
    assert cut(text) == sentences
