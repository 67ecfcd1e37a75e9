"""A round of verification about a thesis: what was asked, as a record and as a real session."""

from pathlib import Path

from support.rounds import WATER, evidence, record
from support.verified import ticking
from vera import events
from vera.attestation.lenses import load_lens
from vera.attestation.look_up import Looked
from vera.attestation.objects import Lens
from vera.attestation.record import Asked, Record
from vera.attestation.request import proposition_of, request_objects, request_of, requested
from vera.session import Session

RIVER = "The river is 312 km long."


def asked(thesis: str = RIVER, looked: Looked | None = None, **values: object) -> Asked:
    """What was asked; `values` as `request_of` takes them."""
    lens = values.pop("lens", "general")
    lens = lens if isinstance(lens, Lens) else load_lens(str(lens))
    request, budget = request_of(thesis, lens=lens, **values)  # type: ignore[arg-type] # its own arguments
    return Asked(
        request=request,
        proposition=proposition_of(thesis),
        lens=lens,
        budget=budget,
        looked=looked or Looked(files=1),
    )


def thesis_record(
    answer: str = "The river is 312 km long [ev_0001:2].",
    *found: events.Evidence,
    about: Asked | None = None,
    texts: tuple[bytes, ...] = (WATER,),
    **changed: object,
) -> Record:
    """A record of a session that was asked to verify RIVER, over one file unless others are given."""
    return record(answer, found or (evidence("ev_0001"),), texts, asked=about or asked(), **changed)


def open_asked(root: Path, thesis: str, **values: object) -> Session:
    """A session with the request in its log and its store."""
    session = Session.create(root, {}, ticking())
    ask = asked(thesis, **values)
    for data in request_objects(ask.request, ask.lens).values():
        session.store.put(data)
    session.emit(events.Task(task=ask.request.text, input_dir="rivers"))
    session.emit(requested(ask.request, ask.budget))
    return session
