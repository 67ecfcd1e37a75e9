"""Opens containers: `python -m vera.extraction.containers.unpacker CPU_SECONDS MEMORY_BYTES`.

It gets an order with an open file through the socket that is its standard input, and writes what it finds to
its standard output. It may not write files, start processes or leave core dumps, and ends with its owner.
"""

import contextlib
import os
import socket
import sys
import time
from collections.abc import Callable

import msgspec

from vera.extraction.containers.stream import Broken, Foreign, Meter, TooMuch
from vera.extraction.containers.values import Order, UnpackerMessage
from vera.extraction.containers.walk import Walk
from vera.extraction.messages import HEADER
from vera.extraction.worker import confine, cpu_limit, write_whole

ORDER_BYTES = 1 << 16
_MB = 1 << 20


def main(cpu_seconds: int, memory: int) -> None:
    """Serve until the socket is closed. From message to message it has `cpu_seconds` of processor time."""
    confine(memory)
    with socket.socket(fileno=0) as orders, open(1, "wb", buffering=0, closefd=False) as replies:

        def tell(told: UnpackerMessage) -> None:
            body = msgspec.msgpack.encode(told)
            write_whole(replies, HEADER.pack(len(body)))
            write_whole(replies, body)
            cpu_limit(int(time.process_time()) + 1 + cpu_seconds)

        while True:
            message, descriptors, _, _ = socket.recv_fds(orders, ORDER_BYTES, 1)
            if not message or not descriptors:
                return
            order = msgspec.msgpack.decode(message, type=Order)
            try:
                tell(_served(order, descriptors[0], tell))
            except MemoryError:
                tell(UnpackerMessage(ended=True, reason=f"it needs more than {memory // _MB} MB of memory"))
                return
            finally:
                os.close(descriptors[0])


def _served(order: Order, descriptor: int, tell: Callable[[UnpackerMessage], None]) -> UnpackerMessage:
    """Tell of all members; the last word."""
    meter = Meter(os.fstat(descriptor).st_size, lambda consumed: tell(UnpackerMessage(consumed=consumed)))
    try:
        for member in Walk(descriptor, order, meter).members():
            tell(UnpackerMessage(member=member, consumed=meter.consumed))
    except Foreign:
        return UnpackerMessage(ended=True, foreign=True)
    except (Broken, TooMuch) as error:
        return UnpackerMessage(ended=True, consumed=meter.consumed, reason=str(error))
    except OSError as error:
        return UnpackerMessage(
            ended=True, consumed=meter.consumed, reason=(error.strerror or "it cannot be read").lower()
        )
    except RecursionError:
        return UnpackerMessage(ended=True, consumed=meter.consumed, reason="it is nested too deeply")
    return UnpackerMessage(ended=True, consumed=meter.consumed)


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError, ConnectionError):
        main(int(sys.argv[1]), int(sys.argv[2]))
