"""Refusals, as servers word them, and what is left out then."""

import json

import pytest

from support.asking import question
from vera.model.dialect import without_refused_field
from vera.model.failure import Failure
from vera.model.wire import Dialect


def refusal(message: str, status: int = 400, param: str | None = None) -> Failure:
    body = json.dumps({"error": {"message": message, "param": param}}).encode()
    return Failure("x", status=status, body=body)


@pytest.mark.parametrize(
    ("message", "changed"),
    [
        ("Unrecognized request argument supplied: stream_options", Dialect(stream_options=False)),
        ("Field 'n': Value must be between 1 <= value <= 1, but got 3", Dialect(n=False)),
        ("'n' : number must be at most 1", Dialect(n=False)),
        (
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead.",
            Dialect(token_field="max_completion_tokens"),
        ),
        (
            "Unsupported value: 'temperature' does not support 0.2 with this model.",
            Dialect(temperature=False),
        ),
    ],
)
def test_the_named_field_is_left_out(message: str, changed: Dialect) -> None:
    assert without_refused_field(Dialect(), question(n=3), refusal(message)) == changed


def test_a_validation_error_with_the_path_of_the_field_names_it() -> None:
    body = b'{"detail": [{"loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]}'
    failure = Failure("x", status=422, body=body)
    assert without_refused_field(Dialect(), question(), failure) == Dialect(stream_options=False)


@pytest.mark.parametrize("message", ["context size exceeded (n_ctx 2048)", "no"])
def test_another_reason_changes_nothing(message: str) -> None:
    assert without_refused_field(Dialect(), question(n=3), refusal(message)) is None


def test_another_status_changes_nothing() -> None:
    assert without_refused_field(Dialect(), question(), refusal("stream_options", 500)) is None


def test_a_field_that_was_left_out_already_is_not_the_reason_again() -> None:
    frugal = Dialect(stream_options=False)
    assert without_refused_field(frugal, question(), refusal("stream_options")) is None
