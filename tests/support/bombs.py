"""Bytes that unfold to many more, and how much memory a reader of them took."""

import functools
import gzip
import tracemalloc
import zlib
from collections.abc import Iterator
from contextlib import contextmanager


@functools.cache
def bomb(layers: int, megabytes: int = 512) -> bytes:
    """Bytes that unfold to so many MB of zeros: packed by gzip once, or so many times."""
    packer = zlib.compressobj(1, wbits=31)
    zeros = bytes(1 << 20)
    made = b"".join(packer.compress(zeros) for _ in range(megabytes)) + packer.flush()
    for _ in range(layers - 1):
        made = gzip.compress(made, 9)
    return made


@contextmanager
def at_most(megabytes: int) -> Iterator[None]:
    """The block holds no more memory at once, as Python counts it."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < megabytes << 20, f"{peak >> 20} MB"
