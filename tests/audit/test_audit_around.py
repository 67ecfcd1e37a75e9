"""What stands beside a sentence in its row of a table takes it back."""

import pytest

from support.cited import cited, place
from vera.audit.around import taken_back

ROWS = """# Requirements

| Ref. | {} | {} |
|---|---|---|
| S-02 | The account is locked after five failures. | kept |
| S-03 | {} | {} |
"""
EXPIRES = "The password expires after 90 days."


def is_taken_back(sentence: str, *, heads: tuple[str, str] = ("Rule", "Status"), state: str = "kept") -> bool:
    table = ROWS.format(*heads, sentence, state)
    return taken_back(sentence, sentence, "", place(cited(sentence, table, first=6, last=6)))


@pytest.mark.parametrize(
    ("sentence", "state"),
    [
        (EXPIRES, "withdrawn"),
        (EXPIRES, "dropped"),
        ("Das Passwort läuft nach 90 Tagen ab.", "zurückgezogen"),
        ("Das Passwort läuft nach 90 Tagen ab.", "entfallen"),
        ("Le mot de passe expire après 90 jours.", "abandonnée"),
        ("Le mot de passe expire après 90 jours.", "retirée"),
        ("La contraseña caduca a los 90 días.", "descartada"),
        ("La contraseña caduca a los 90 días.", "anulada"),
        ("密码九十天后过期。", "已放弃"),
    ],
)
def test_a_state_that_gives_a_row_up(sentence: str, state: str) -> None:
    assert is_taken_back(sentence, state=state)


@pytest.mark.parametrize(
    "state", ["kept", "retenue", "umgesetzt", "vigente", "abandoned mines are listed", ""]
)
def test_other_states_do_not(state: str) -> None:
    assert not is_taken_back(EXPIRES, state=state)


@pytest.mark.parametrize("head", ["Myth", "Irrtum", "Idées reçues", "Mito", "Repealed wording"])
def test_a_column_that_sets_its_cells_aside(head: str) -> None:
    assert is_taken_back(EXPIRES, heads=(head, "Fact"))


@pytest.mark.parametrize("head", ["Fact", "Wahrheit", "Réalité", "No", "Wording in force"])
def test_other_columns_do_not(head: str) -> None:
    assert not is_taken_back(EXPIRES, heads=(head, "Myth"))
