"""The JSON Schemas (draft 2020-12) of the objects and of the files that others read, made from the code.

`python -m vera.attestation.schemas DIR` writes them, one file an object; `docs/schemas` holds them.
"""

import inspect
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import msgspec

from vera.attestation.ahdb.entries import AnyEntry
from vera.attestation.dsse import DsseEnvelope
from vera.attestation.objects import (
    KINDS,
    AnyObject,
    ClaimResult,
    Cluster,
    Digest,
    Hyperthesis,
    Omission,
    Reason,
    Result,
)
from vera.evidence.claim import Relation
from vera.session.seal import Seal

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schemas() -> dict[str, dict[str, Any]]:
    """The schema of each kind of object by the name in its tag: `request`, `thesis`, `card`, …

    What a schema cannot say, `vera.attestation.objects.parse` checks: that the bytes are in canonical form,
    which leaves out members with their default value and keeps sets sorted.
    """
    return {name_of(kind): _schema(kind) for kind in KINDS}


def file_schemas() -> dict[str, dict[str, Any]]:
    """The schema of each form that other programs read, by its name: `envelope` (attestation.json), `seal`
    (seal.json), `journal` (a line of the AHDB's journal) and `verify` (what `vera verify --json` prints)."""
    return {
        "envelope": form("envelope", DsseEnvelope),
        "seal": form("seal", Seal),
        "journal": _journal(),
        "verify": form("verify", VerifyOutput, later=True),
    }


class SpanHandle(msgspec.Struct, frozen=True, kw_only=True):
    """Lines of a stored text: `canonical` is the id of the text, `sha256` that of the bytes."""

    canonical: Digest
    evidence: str
    start: int
    end: int
    first: int
    last: int
    sha256: Digest


class ConfidenceOutput(msgspec.Struct, frozen=True, kw_only=True):
    """How sure a label is; `calibrated` is always false: it is the consistency of the reader, not truth."""

    method: str
    calibrated: bool
    agree: int = 1
    votes: int = 1
    low_bp: int = 0


class SupersederOutput(msgspec.Struct, frozen=True, kw_only=True):
    """Lines of another file that say that a card's span no longer holds; not `explicit`, it is a hint."""

    source: str
    canonical: Digest
    evidence: str
    first: int
    last: int
    explicit: bool


class CardOutput(msgspec.Struct, frozen=True, kw_only=True):
    """An evidence card as pointers: what one span says of one claim."""

    card_id: Digest
    source_handle: Digest
    source: str
    tier: str
    span_handle: SpanHandle
    claim_link: str
    relation: Relation
    confidence: ConfidenceOutput
    notes: str
    superseded_by: tuple[SupersederOutput, ...] = ()


class CoverageMap(msgspec.Struct, frozen=True, kw_only=True):
    """What was looked at."""

    clusters: tuple[Cluster, ...]
    sources: int
    searches: int
    query_families: int
    new_sources_per_further_query_bp: int
    cut: str


class VerifyOutput(msgspec.Struct, frozen=True, kw_only=True):
    """What `vera verify --json` prints. A later version may add members."""

    result: Result
    reason: Reason
    exit_code: int
    thesis: str
    thesis_id: Digest
    request_id: Digest
    attestation_id: Digest
    verifier_version: str
    evidence_set_hash: Digest
    issued_at: str
    expires_at: str
    claims: tuple[ClaimResult, ...]
    cards: tuple[CardOutput, ...]
    coverage_map: CoverageMap
    contradictions: tuple[tuple[Digest, Digest], ...]
    omissions: tuple[Omission, ...]
    hyperthesis: tuple[Hyperthesis, ...]
    receipts: tuple[Digest, ...]
    session: str
    reused: bool


def name_of(kind: type[AnyObject]) -> str:
    """The name of a kind of object: `request` of `request/v1`."""
    return str(kind.__struct_config__.tag).partition("/")[0]


def file_name(name: str) -> str:
    """`card.schema.json`."""
    return f"{name}.schema.json"


def rendered(schema: Mapping[str, Any]) -> bytes:
    """The schema as it is in its file."""
    return msgspec.json.format(msgspec.json.encode(schema), indent=2) + b"\n"


def write(folder: Path) -> None:
    """Write every schema into `folder`, which is made where it does not exist. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, schema in {**schemas(), **file_schemas()}.items():
        (folder / file_name(name)).write_bytes(rendered(schema))


def form(name: str, kind: type[msgspec.Struct], *, later: bool = False) -> dict[str, Any]:
    """The schema of a struct; with `later` other members may be beside its own."""
    definitions = _closed([kind])
    own = definitions.pop(kind.__name__)
    if later:
        del own["additionalProperties"]
    head = {"$schema": DIALECT, "$id": f"urn:vera:{name}"}
    return {**head, **own, **({"$defs": definitions} if definitions else {})}


def _journal() -> dict[str, Any]:
    """An entry of any register, and the hash in which its line ends."""
    kinds = list(get_args(AnyEntry))
    definitions = _closed(kinds)
    for kind in kinds:
        definition = definitions[kind.__name__]
        definition["properties"]["hash"] = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
        definition["required"] = [*definition["required"], "hash"]
    entries = [{"$ref": f"#/$defs/{kind.__name__}"} for kind in kinds]
    return {"$schema": DIALECT, "$id": "urn:vera:journal", "anyOf": entries, "$defs": definitions}


def _closed(kinds: Sequence[type[msgspec.Struct]]) -> dict[str, Any]:
    """The definitions of structs and of their parts. Unknown members are refused everywhere."""
    _, definitions = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    for definition in definitions.values():
        if definition.get("type") == "object" and "properties" in definition:
            definition["additionalProperties"] = False
        if "description" in definition:
            definition["description"] = inspect.cleandoc(definition["description"])
    return dict(definitions)


def _schema(kind: type[AnyObject]) -> dict[str, Any]:
    """The schema of one kind. Unknown members are refused everywhere, also in the parts of other rooms."""
    _, definitions = msgspec.json.schema_components([kind])
    for definition in definitions.values():
        definition["additionalProperties"] = False
        definition["description"] = inspect.cleandoc(definition.get("description", ""))
    own = definitions.pop(kind.__name__)
    tag = str(kind.__struct_config__.tag)
    head = {"$schema": DIALECT, "$id": f"urn:vera:{tag.replace('/', ':')}"}
    return {**head, **own, **({"$defs": definitions} if definitions else {})}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m vera.attestation.schemas DIR")
    write(Path(sys.argv[1]))
