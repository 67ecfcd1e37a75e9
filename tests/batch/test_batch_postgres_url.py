"""The address of a database: never shown with its password."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.batch.errors import BatchError
from vera.batch.postgres_url import Address, is_postgres, password_warning, redacted

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me@db:5432/batch", "postgresql://me@db:5432/batch"),
        ("postgresql://me:secret@db/batch", "postgresql://me:***@db/batch"),
        ("postgres://me:se:cr@et@db/batch", "postgres://me:***@db/batch"),
        ("postgresql:///batch?host=/run/pg&user=me", "postgresql:///batch?host=/run/pg&user=me"),
        ("postgresql://db/batch?password=secret&user=me", "postgresql://db/batch?password=***&user=me"),
        ("postgresql://[::1/batch?password=secret", "postgresql://***"),
        ("secret", "***"),
    ],
)
def test_an_address_is_shown_without_its_password(url: str, shown: str) -> None:
    assert redacted(url) == shown


@given(WORDS.filter(lambda word: len(word) > 6))
def test_no_password_survives_wherever_it_stands(password: str) -> None:
    from urllib.parse import quote

    for url in (
        f"postgresql://me:{quote(password, safe='')}@db/batch",
        f"postgresql://db/batch?password={quote(password, safe='')}",
    ):
        assert password not in redacted(url)
        assert quote(password, safe="") not in redacted(url)
        assert "list of processes" in password_warning(url)


def test_an_address_without_a_password_has_no_warning() -> None:
    assert password_warning("postgresql://me@db/batch") == ""


@pytest.mark.parametrize("url", ["", "local", "mysql://db/batch", "postgresql:/db", "http://db"])
def test_what_is_no_address_of_a_database_is_refused(url: str) -> None:
    assert not is_postgres(url)
    with pytest.raises(BatchError, match="postgresql://USER@HOST:5432/DATABASE") as refused:
        Address(url)
    assert refused.value.exit_code == 2


@pytest.mark.needs("postgres")
def test_a_wrong_part_of_an_address_is_named_without_the_password() -> None:
    with pytest.raises(BatchError, match="is no address of a database") as refused:
        Address("postgresql://me:secret@db/batch?no_such_option=1")
    assert "secret" not in str(refused.value)


@pytest.mark.needs("postgres")
def test_neither_text_nor_messages_of_an_address_have_a_secret() -> None:
    address = Address("postgresql://me:se%2Fcret@db/batch", password="other-word")
    error = ValueError("no user me with se/cret, se%2Fcret or other-word\nanywhere")
    for text in (str(address), repr(address), address.said(error)):
        assert not any(secret in text for secret in ("se/cret", "se%2Fcret", "other-word"))
    assert address.said(error) == "no user me with ***, *** or *** anywhere."
    assert address.parameters("vera", 5)["password"] == "se/cret"
