"""The digest of an index: one hash over all that was indexed, however it came about.

Over every file and member in order of names: name, sha256 of its bytes, extractor, sha256 of its text,
title, the reason when it has no text, where it lay, and each chunk with its place and hash; then every
container with its sha256. Nothing in it tells when, where or in how many attempts it was made.
"""

import hashlib
import sqlite3

import msgspec

VERSION = "index-content/1"
_FILES = (
    "SELECT name, raw_sha256, extractor, source, title, unreadable, container, hex(place), length, lines, "
    "first_chunk, last_chunk FROM file ORDER BY name"
)
_CHUNKS = "SELECT start, end, line, hex(digest) FROM chunk WHERE id BETWEEN ? AND ? ORDER BY id"
_CONTAINERS = "SELECT name, kind, sha256, whole FROM container ORDER BY name"


def content_digest(db: sqlite3.Connection) -> str:
    """`sha256:…` of the index's content. Reads every row of files and chunks once."""
    sha256 = hashlib.sha256()
    encode = msgspec.json.Encoder().encode
    sha256.update(encode(VERSION) + b"\n")
    for *told, first, last in db.execute(_FILES):
        sha256.update(encode(told) + b"\n")
        for chunk in db.execute(_CHUNKS, (first, last)):
            sha256.update(encode(chunk) + b"\n")
    for container in db.execute(_CONTAINERS):
        sha256.update(encode(container) + b"\n")
    return f"sha256:{sha256.hexdigest()}"
