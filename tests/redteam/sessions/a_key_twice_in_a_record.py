"""A record of the log has one name twice: one reader takes the first value, another one the last."""

import re

from redteam import altered
from redteam.place import Place
from vera.session.log import seal_line

CLAIM = "The run ended as VERIFIED."
TRICK = "The last record has its status twice, and its hash is made again."
MUST_NOT_BE = ("VERIFIED", "QUOTED")
TWIN = "The record as it is."
MUST_BE = "QUOTED"


def attack(place: Place) -> str:
    root = altered.session(place)
    log = root / "trace.jsonl"
    lines = log.read_bytes().splitlines()
    body = re.sub(rb',"hash":"[0-9a-f]*"', b"", lines[-1])
    body = body.replace(b'"status":"QUOTED"', b'"status":"VERIFIED","status":"QUOTED"')
    sealed, _ = seal_line(body)
    log.write_bytes(b"".join(line + b"\n" for line in lines[:-1]) + sealed)
    return altered.told(root)


def twin(place: Place) -> str:
    return altered.told(altered.session(place))
