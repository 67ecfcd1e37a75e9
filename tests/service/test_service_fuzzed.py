"""Requests that schemathesis makes from the OpenAPI document: no reply is a 500, and each is as described."""

from collections import Counter
from collections.abc import Iterator

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from support.services import SAYS, THESIS, Service, ask, bearer, ended, scripted
from vera.service.openapi import document
from vera.store import Store

EXAMPLES = 20
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
WITHOUT_TOKEN = {name: each for name, each in document().items() if name != "security"}
"""The tests send the token, so none is made up."""
SCHEMA = schemathesis.openapi.from_dict(WITHOUT_TOKEN)
OPERATIONS = {
    f"{each.method.upper()} {each.path}": each for each in (r.ok() for r in SCHEMA.get_all_operations())
}
MADE = [
    (name, mode)
    for name, each in OPERATIONS.items()
    for mode in GenerationMode
    if mode is GenerationMode.POSITIVE or each.body or list(each.iter_parameters())
]
seeded = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


class Fuzzed:
    """A service with one job that is done, and bytes in its session."""

    def __init__(self, client: httpx.Client, token: str, known: dict[str, str]) -> None:
        self.client = client
        self.token = token
        self.known = known

    def make_meaningful(self, case: Case) -> bool:
        """Name something that is there, where chance would never hit it; whether the path names it now. What
        was wrong with such a request may have been its path."""
        kind = case.path.split("/")[2:3]
        is_named = bool(kind) and kind[0] in self.known
        if is_named:
            case.path_parameters["id"] = self.known[kind[0]]
        if kind == ["chat"] and isinstance(case.body, dict) and isinstance(case.body.get("messages"), list):
            case.body["model"] = "vera"
            case.body["messages"].append({"role": "user", "content": "Why?"})
        return is_named

    def send(self, case: Case) -> httpx.Response:
        """The request of a case, with the token."""
        made = case.as_transport_kwargs(base_url="http://127.0.0.1")
        return self.client.request(
            case.method,
            made["url"],
            params=made.get("params"),
            headers={**(made.get("headers") or {}), **bearer(self.token)},
            json=made.get("json"),
            content=made.get("data"),
        )


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fuzzed]:
    service = Service(tmp_path_factory.mktemp("fuzzed"))
    token = service.token(at_once=10_000, per_hour=1_000_000)
    with service.running(scripted(SAYS), most_waiting=5) as client:
        done = ended(client, token, ask(client, token, "verify", {"text": THESIS}).json()["id"])
        (base,) = service.terms.base.glob("serve/*-*")
        sha256 = Store(base / "work" / done["id"] / "store").put(b"Some bytes.")
        known = {"jobs": done["id"], "evidence": sha256, "cards": sha256}
        yield Fuzzed(client, token, known)


@pytest.mark.parametrize(("name", "mode"), MADE)
def test_no_request_gets_a_500_and_every_reply_is_as_the_document_says(
    name: str, mode: GenerationMode, fuzzed: Fuzzed
) -> None:
    operation, codes = OPERATIONS[name], Counter[int]()

    @given(case=operation.as_strategy(generation_mode=mode))
    @seeded
    def once(case: Case) -> None:
        is_named = sum(codes.values()) % 2 == 1 and fuzzed.make_meaningful(case)
        answer = fuzzed.send(case)
        codes[answer.status_code] += 1
        excluded = [negative_data_rejection] if is_named else []
        case.validate_response(answer, checks=CHECKS, excluded_checks=excluded)

    once()
    assert codes
