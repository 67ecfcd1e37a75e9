"""Connectors over HTTP: a body names those of the service, and can configure none."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from support.services import THESIS, Service
from vera.service.problems import Refused
from vera.service.work import Place, work_of


@pytest.fixture
def service(tmp_path: Path) -> Service:
    return Service(tmp_path, egress=True, settings={"connectors.configured": "laws=folder:/srv/laws"})


def body(**members: Any) -> bytes:
    return msgspec.json.encode(members)


def test_a_body_names_configured_connectors(service: Service, tmp_path: Path) -> None:
    place = Place(folder=tmp_path, session=tmp_path / "s", base=tmp_path)
    research = work_of("research", body(question="Who?", connectors=["laws"]), service.terms)
    assert "--connector=laws" in research.arguments(place)
    verify = work_of("verify", body(text=THESIS, connectors=["laws"]), service.terms)
    assert verify.stdin is not None
    assert msgspec.json.decode(verify.stdin)["connectors"] == ["laws"]
    assert verify.share != work_of("verify", body(text=THESIS), service.terms).share
    for work in (research, verify):
        assert "connectors.use=" in work.arguments(place)


@pytest.mark.parametrize("name", ["papers", "x=folder:/etc", "laws\nx=folder:/etc", "-h", ""])
@pytest.mark.parametrize(("kind", "asks"), [("research", {"question": "Who?"}), ("verify", {"text": THESIS})])
def test_any_other_name_is_refused(service: Service, kind: Any, asks: dict[str, str], name: str) -> None:
    with pytest.raises(Refused) as refused:
        work_of(kind, body(**asks, connectors=[name]), service.terms)
    assert refused.value.status == 400
