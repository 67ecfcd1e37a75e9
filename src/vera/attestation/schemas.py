"""The JSON Schemas (draft 2020-12) of the objects, made from the objects themselves.

`python -m vera.attestation.schemas DIR` writes them, one file an object; `docs/schemas` holds them.
"""

import inspect
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from vera.attestation.objects import KINDS, AnyObject

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schemas() -> dict[str, dict[str, Any]]:
    """The schema of each kind of object by the name in its tag: `request`, `thesis`, `card`, …

    What a schema cannot say, `vera.attestation.objects.parse` checks: that the bytes are in canonical form,
    which leaves out members with their default value and keeps sets sorted.
    """
    return {name_of(kind): _schema(kind) for kind in KINDS}


def name_of(kind: type[AnyObject]) -> str:
    """The name of a kind of object: `request` of `request/v1`."""
    return str(kind.__struct_config__.tag).partition("/")[0]


def file_name(name: str) -> str:
    """`card.schema.json`."""
    return f"{name}.schema.json"


def rendered(schema: Mapping[str, Any]) -> bytes:
    """The schema as it stands in its file."""
    return msgspec.json.format(msgspec.json.encode(schema), indent=2) + b"\n"


def write(folder: Path) -> None:
    """Write every schema into `folder`, which is made where it does not exist. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, schema in schemas().items():
        (folder / file_name(name)).write_bytes(rendered(schema))


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
